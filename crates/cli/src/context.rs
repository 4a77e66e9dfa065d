//! What the global options mean: checked once, used by every command.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use steersman_memcached::{Builder, Client, Config, DiscoverySource, Error, ErrorKind, NodeConfig};
use steersman_selection::{Placement, Scheme};

use crate::access::{Access, Given, PASSWORD_VARIABLE};
use crate::answer::Failure;
use crate::args::Globals;
use crate::config::{self, Origin, URL_VARIABLE};
use crate::discovery;
use crate::errors::{self, reason};
use crate::nodes;
use crate::source::{Found, NODES_VARIABLE, Source};

/// What the options mean that do not say which nodes are meant.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The name of the command.
    pub(crate) command: String,
    pub(crate) scheme: Scheme,
    pub(crate) timeout: Option<Duration>,
    pub(crate) json: bool,
}

impl Settings {
    /// What the arguments say, else the config.
    pub(crate) fn new(
        globals: &Globals,
        config: &Config,
        command: String,
    ) -> Result<Self, Failure> {
        let mut scheme = globals.placement.unwrap_or(config.placement);
        if let Some(bits) = globals.slot_bits {
            scheme = scheme.with_slot_bits(bits)?;
        }
        Ok(Self {
            command,
            scheme,
            timeout: globals.timeout.map_or(config.timeout, |limit| limit.0),
            json: globals.json,
        })
    }
}

/// What the environment says.
#[derive(Default)]
pub(crate) struct Environment {
    url: Option<OsString>,
    nodes: Option<OsString>,
    password: Option<OsString>,
}

impl Environment {
    /// Reads [`URL_VARIABLE`], [`NODES_VARIABLE`] and [`PASSWORD_VARIABLE`].
    pub(crate) fn read() -> Self {
        Self {
            url: std::env::var_os(URL_VARIABLE),
            nodes: std::env::var_os(NODES_VARIABLE),
            password: std::env::var_os(PASSWORD_VARIABLE),
        }
    }
}

/// The cluster that is meant and how to talk to it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) nodes: Vec<NodeConfig>,
    /// The same nodes as they were written.
    pub(crate) nodes_as_given: Vec<String>,
    pub(crate) source: Source,
    pub(crate) replicas: usize,
    access: Access,
    /// All other options.
    config: Config,
    /// Where they come from.
    origin: Option<Origin>,
    /// Whether it is an argument that says how many replicas there are.
    replicas_given: bool,
}

impl Context {
    /// Checks the options.
    pub(crate) fn new(
        globals: &Globals,
        command: String,
        environment: Environment,
    ) -> Result<Self, Failure> {
        let Environment {
            url,
            nodes: variable,
            password,
        } = environment;
        let (mut config, origin) = config::read(globals, url)?;
        let settings = Settings::new(globals, &config, command)?;
        let access = Access::new(&globals.access, password);
        access.adapt(&mut config)?;
        config.placement = settings.scheme;
        config.timeout = settings.timeout;
        config.replicas = globals.replicas.unwrap_or(config.replicas);
        let found = Found::new(globals, &mut config, origin, variable)?;
        let mut context = Self {
            replicas: config.replicas,
            replicas_given: globals.replicas.is_some(),
            nodes: found.nodes,
            nodes_as_given: found.as_given,
            source: found.source,
            access,
            settings,
            origin,
            config,
        };
        if let Some(source) = &context.config.discovery {
            context.nodes = context.discover(source)?;
            context.config.discovery = None;
            let names = context.nodes.iter().map(|node| node.name().to_owned());
            context.nodes_as_given = names.collect();
        }
        Ok(context)
    }

    /// Asks the source of the config which nodes there are.
    fn discover(&self, source: &DiscoverySource) -> Result<Vec<NodeConfig>, Failure> {
        let builder = Client::builder()
            .config(&self.config)
            .min_connections(0)
            .connection_timeout(self.settings.timeout)
            .discovery_timeout(self.settings.timeout);
        let builder = self.access.apply(builder)?;
        let nodes = discovery::discover(builder, source);
        nodes.map_err(|why| Failure::told(format!("{}: {why}", self.source)))
    }

    /// A client of the cluster. It connects to a node when the first request for it comes.
    ///
    /// The one limit of a command is its time-out: connecting and silence have none of their own.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        self.client_with(|builder| self.without_other_limits(builder))
    }

    /// A client of one node of the cluster alone, otherwise as [`client`](Self::client).
    pub(crate) fn client_of(&self, node: &NodeConfig) -> Result<Client, Failure> {
        self.build(std::slice::from_ref(node), |builder| {
            self.without_other_limits(builder)
        })
    }

    /// A client that sees all keys of the nodes, whatever prefix those of the cluster have.
    pub(crate) fn client_without_prefix(&self) -> Result<Client, Failure> {
        self.client_with(|builder| self.without_other_limits(builder).key_prefix(""))
    }

    fn without_other_limits(&self, builder: Builder) -> Builder {
        builder
            .connection_timeout(self.settings.timeout)
            .stalled_after(None)
            .min_connections(0)
    }

    /// A client of the cluster with further options.
    pub(crate) fn client_with(
        &self,
        options: impl FnOnce(Builder) -> Builder,
    ) -> Result<Client, Failure> {
        self.build(&self.nodes, options)
    }

    /// Connects to nodes as the options say.
    fn build(
        &self,
        nodes: &[NodeConfig],
        options: impl FnOnce(Builder) -> Builder,
    ) -> Result<Client, Failure> {
        let builder = Client::builder().config(&self.config).nodes(nodes);
        let builder = self.access.apply(builder)?;
        options(builder).build().map_err(|error| {
            let reason = reason(&error);
            let from_argument = |option| match option {
                "replicas" => self.replicas_given,
                option => self.access.has(option),
            };
            match (error.option(), self.origin) {
                (Some("node"), _) => Failure::told(format!("{}: {reason}", self.source)),
                (Some(option), Some(origin)) if !from_argument(option) => origin.failure(&error),
                (Some("auth"), _) => Failure::told(format!("--user: {reason}")),
                (Some(option @ ("replicas" | "tls")), _) => {
                    Failure::told(format!("--{option}: {reason}"))
                }
                _ => Failure::told(reason),
            }
        })
    }

    /// Takes a node inside this process for the cluster.
    pub(crate) fn embed(&mut self, node: &str) -> Result<(), Failure> {
        let asked_for = self.access.asked_for().or(match &self.config {
            config if config.tls => Some("`tls`"),
            config if config.user.is_some() => Some("`user`"),
            _ => None,
        });
        if let Some(option) = asked_for {
            return Err(Failure::told(format!(
                "{option}: give --node too: the node inside this process has no such thing"
            )));
        }
        self.source = Source::Embedded;
        self.nodes = vec![nodes::parse(node, self.settings.scheme, self.source)?];
        self.nodes_as_given = vec![node.to_owned()];
        Ok(())
    }

    /// Where keys live on some nodes, the last of which were given by `from`.
    pub(crate) fn placement<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a NodeConfig>,
        from: impl fmt::Display,
    ) -> Result<Placement, Failure> {
        let members = nodes.into_iter().map(nodes::member);
        let placement = Placement::with_replicas(self.settings.scheme, self.replicas, members);
        placement.map_err(|error| match error.kind() {
            steersman_selection::ErrorKind::InvalidReplicas => error.into(),
            _ => Failure::told(format!("{from}: {error}")),
        })
    }

    /// The failure of the command, whose requests for these keys failed.
    pub(crate) fn failure_of_keys<'a>(
        &self,
        failed: impl IntoIterator<Item = (&'a [u8], &'a Error)>,
    ) -> Failure {
        errors::of_keys(&self.settings.command, failed, |error| self.hint(error))
    }

    /// The failure of the command, whose requests to nodes themselves failed.
    pub(crate) fn failure_of_nodes<'a>(
        &self,
        failed: impl IntoIterator<Item = &'a Error>,
    ) -> Failure {
        errors::of_nodes(&self.settings.command, failed, |error| self.hint(error))
    }

    /// `REQUEST KEY at NODE: REASON`
    pub(crate) fn described(&self, request: &str, key: &[u8], error: &Error) -> String {
        let what = errors::described(request, &[key], error);
        format!("{what}{}", self.hint(error))
    }

    /// Who asks and what secures the connection.
    pub(crate) fn given(&self) -> Given {
        self.access.given(&self.config, self.origin)
    }

    /// What to do about an error, where there is more to say than the client can know.
    pub(crate) fn hint(&self, error: &Error) -> String {
        match error.kind() {
            ErrorKind::Unreachable | ErrorKind::NoNodeReachable
                if self.source == Source::Default =>
            {
                " (the default node, as no --node was given; `steersman demo` needs no memcached)"
                    .to_owned()
            }
            ErrorKind::Timeout => "; --timeout sets how long to wait".to_owned(),
            _ => self.given().hint(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;

    fn context(args: &str, variable: Option<&str>) -> Result<Context, Failure> {
        let args = ["steersman"].into_iter().chain(args.split_whitespace());
        let cli = Cli::read(args).unwrap();
        let environment = Environment {
            nodes: variable.map(OsString::from),
            ..Environment::default()
        };
        Context::new(&cli.globals, cli.name, environment)
    }

    fn names(args: &str, variable: Option<&str>) -> Vec<String> {
        let context = context(args, variable).unwrap();
        let names = context.nodes.iter().map(|node| node.name().to_owned());
        names.collect()
    }

    #[test]
    fn nodes_come_from_the_arguments_else_the_environment_else_the_default() {
        assert_eq!(
            names("--node a:1,b:2 --node c=d:3*4 version", Some("e")),
            ["a:1", "b:2", "c"]
        );
        assert_eq!(names("version", Some("e, f")), ["e", "f"]);
        assert_eq!(names("version", Some("")), ["localhost:11211"]);
        assert_eq!(names("version", None), ["localhost:11211"]);
        assert_eq!(names("--node a version --node b", None), ["b"]);
    }

    #[test]
    fn an_empty_node_is_a_mistake_not_the_default() {
        for (args, variable, from) in [
            ("--node= version", None, "--node: "),
            ("version", Some("a,"), "STEERSMAN_NODES: "),
        ] {
            let Err(Failure::Told(why)) = context(args, variable) else {
                panic!("{args} was taken");
            };
            assert!(
                why[0].starts_with(from) && why[0].contains("is no node"),
                "{why:?}"
            );
        }
    }

    #[test]
    fn options_have_their_defaults_and_ranges() {
        let plain = context("version", None).unwrap();
        assert_eq!(plain.settings.command, "version");
        assert_eq!(plain.settings.scheme, Scheme::default());
        assert_eq!(plain.settings.timeout, Some(Duration::from_secs(1)));
        let given = context(
            "version --slot-bits 20 --timeout none --replicas 3 --json",
            None,
        );
        let given = given.unwrap();
        let Settings {
            scheme,
            timeout,
            json,
            ..
        } = given.settings;
        assert_eq!(scheme, Scheme::Rendezvous { slot_bits: 20 });
        assert_eq!((timeout, given.replicas, json), (None, 3, true));
        for (args, why) in [
            ("version --slot-bits 25", "8 to 24"),
            ("version --slot-bits 16 --placement emcache", "slot"),
        ] {
            let error = context(args, None).unwrap_err();
            assert!(matches!(error, Failure::Told(told) if told[0].contains(why)));
        }
    }
}
