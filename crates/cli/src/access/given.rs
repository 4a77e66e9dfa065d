//! Who asks and what secures the connection, whichever way that was said, and what the options are
//! called there: advice that names another way would not help.

use steersman_memcached::{Config, Error, ErrorKind, TlsFailure};

use crate::args;
use crate::config::Origin;

/// Where an option was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Arguments,
    Config(Origin),
}

impl Way {
    /// An option that the arguments and a config call by these names.
    pub(crate) fn option(self, argument: &str, option: &str) -> String {
        match self {
            Self::Arguments => argument.to_owned(),
            Self::Config(origin) => format!("`{option}` of {origin}"),
        }
    }

    /// Options that the arguments and a config call by these names.
    pub(crate) fn options<const N: usize>(self, names: [(&str, &str); N]) -> String {
        let (names, of) = match self {
            Self::Arguments => (
                names.map(|(argument, _)| argument.to_owned()),
                String::new(),
            ),
            Self::Config(origin) => (
                names.map(|(_, option)| format!("`{option}`")),
                format!(" of {origin}"),
            ),
        };
        match names.split_last() {
            Some((last, others @ [_, ..])) => format!("{} and {last}{of}", others.join(", ")),
            _ => format!("{}{of}", names.concat()),
        }
    }
}

/// How nodes are connected to, by arguments and config taken together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// Where it was said who asks, if it was.
    pub(crate) user: Option<Way>,
    /// Where TLS was asked for, if it was.
    pub(crate) tls: Option<Way>,
    /// Whether any certificate is taken.
    pub(crate) unverified: bool,
}

impl Given {
    /// The arguments come before the config, which is from `origin`.
    pub(super) fn new(args: &args::Access, config: &Config, origin: Option<Origin>) -> Self {
        let way = |argument, option| match origin {
            _ if argument => Some(Way::Arguments),
            Some(origin) if option => Some(Way::Config(origin)),
            _ => None,
        };
        Self {
            user: way(args.user.is_some(), config.user.is_some()),
            tls: way(args.tls, config.tls),
            unverified: args.insecure || (config.tls && !config.tls_verify),
        }
    }

    /// What the option is called that says who asks. Where nobody does, whoever asked for TLS in a config
    /// would say it there.
    pub(crate) fn user_option(self) -> String {
        let way = self.user.or(self.tls).unwrap_or(Way::Arguments);
        way.option("--user", "user")
    }

    /// The option that an error is about.
    pub(crate) fn hint(self, error: &Error) -> String {
        let tls = self.tls.unwrap_or(Way::Arguments);
        let option = match (error.kind(), error.tls_failure()) {
            (ErrorKind::Authentication, _) if self.user.is_none() => self.user_option(),
            (_, Some(TlsFailure::UnknownAuthority)) => tls.option("--ca", "tls_roots"),
            (_, Some(TlsFailure::WrongHost)) => tls.option("--server-name", "tls_server_name"),
            (_, Some(TlsFailure::ClientCertificate)) => tls.option("--cert", "tls_cert"),
            _ => return String::new(),
        };
        format!("; see {option}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_called_as_where_they_were_given() {
        let url = Way::Config(Origin::Url);
        assert_eq!(Way::Arguments.option("--ca", "tls_roots"), "--ca");
        assert_eq!(url.option("--ca", "tls_roots"), "`tls_roots` of --url");
        let both = [("--tls", "tls"), ("--ca", "tls_roots")];
        assert_eq!(Way::Arguments.options(both), "--tls and --ca");
        assert_eq!(url.options(both), "`tls` and `tls_roots` of --url");
    }

    #[test]
    fn arguments_come_before_a_config() {
        let mut config: Config = "memcached+tls://u:p@h?tls_verify=false".parse().unwrap();
        let from = Some(Origin::Variable);
        let by_config = Some(Way::Config(Origin::Variable));
        let mut args = args::Access::default();
        let given = Given::new(&args, &config, from);
        assert_eq!((given.user, given.tls), (by_config, by_config));
        assert!(given.unverified);
        args.user = Some("v".to_owned());
        let given = Given::new(&args, &config, from);
        assert_eq!((given.user, given.tls), (Some(Way::Arguments), by_config));
        config = Config::default();
        let given = Given::new(&args::Access::default(), &config, None);
        assert_eq!(given, Given::default());
    }
}
