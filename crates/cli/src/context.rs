//! What the global options mean: checked once, used by every command.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use steersman_memcached::{Builder, Client, Error, ErrorKind, NodeConfig};
use steersman_selection::{Placement, Scheme};

use crate::access::{Access, PASSWORD_VARIABLE};
use crate::answer::Failure;
use crate::args::{self, Globals};
use crate::discovery;
use crate::errors::{self, reason};
use crate::nodes;

/// The environment's variable with the nodes of the cluster.
pub(crate) const NODES_VARIABLE: &str = "STEERSMAN_NODES";

const DEFAULT_NODE: &str = "localhost:11211";

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
    pub(crate) fn new(globals: &Globals, command: String) -> Result<Self, Failure> {
        let mut scheme: Scheme = globals.placement.parse()?;
        if let Some(bits) = globals.slot_bits {
            scheme = scheme.with_slot_bits(bits)?;
        }
        Ok(Self {
            command,
            scheme,
            timeout: globals.timeout.0,
            json: globals.json,
        })
    }
}

/// What the environment says.
pub(crate) struct Environment {
    nodes: Option<OsString>,
    password: Option<OsString>,
}

impl Environment {
    /// Reads [`NODES_VARIABLE`] and [`PASSWORD_VARIABLE`].
    pub(crate) fn read() -> Self {
        Self {
            nodes: std::env::var_os(NODES_VARIABLE),
            password: std::env::var_os(PASSWORD_VARIABLE),
        }
    }
}

/// Where it was said which nodes are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Argument,
    Discovery,
    Environment,
    /// Nowhere.
    Default,
    /// Nowhere, so that a node was started inside this process.
    Embedded,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Argument => "--node",
            Self::Discovery => "--discovery",
            Self::Environment => NODES_VARIABLE,
            Self::Default => "the default node",
            Self::Embedded => "the node inside this process",
        })
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
}

impl Context {
    /// Checks the options.
    pub(crate) fn new(
        globals: &Globals,
        command: String,
        environment: Environment,
    ) -> Result<Self, Failure> {
        let settings = Settings::new(globals, command)?;
        let access = Access::new(&globals.access, environment.password);
        let replicas = globals.replicas.unwrap_or(1);
        if let Some(url) = &globals.discovery {
            let builder = access.apply(Client::builder())?;
            let builder = builder
                .placement(settings.scheme)
                .min_connections(0)
                .connection_timeout(settings.timeout)
                .discovery_timeout(settings.timeout);
            let nodes = discovery::discover(url, builder)?;
            return Ok(Self {
                nodes_as_given: nodes.iter().map(|node| node.name().to_owned()).collect(),
                nodes,
                source: Source::Discovery,
                replicas,
                access,
                settings,
            });
        }
        let (source, texts) = choose_nodes(&globals.nodes, environment.nodes)?;
        let nodes = texts
            .iter()
            .map(|text| nodes::parse(text, settings.scheme, source));
        Ok(Self {
            nodes: nodes.collect::<Result<_, _>>()?,
            nodes_as_given: texts.iter().map(|text| text.trim().to_owned()).collect(),
            source,
            replicas,
            access,
            settings,
        })
    }

    /// A client of the cluster. It connects to a node when the first request for it comes.
    ///
    /// The one limit of a command is its time-out: connecting and silence have none of their own.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        self.client_with(|builder| self.without_other_limits(builder))
    }

    /// A client of one node of the cluster alone, otherwise as [`client`](Self::client).
    pub(crate) fn client_of(&self, node: &NodeConfig) -> Result<Client, Failure> {
        let builder = Client::builder().node(node.clone());
        self.build(builder, |builder| self.without_other_limits(builder))
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
        let builder = Client::builder()
            .nodes(self.nodes.iter().cloned())
            .placement(self.settings.scheme)
            .replicas(self.replicas);
        self.build(builder, options)
    }

    /// Connects as the options say.
    fn build(
        &self,
        builder: Builder,
        options: impl FnOnce(Builder) -> Builder,
    ) -> Result<Client, Failure> {
        let builder = builder.timeout(self.settings.timeout);
        let builder = self.access.apply(builder)?;
        options(builder).build().map_err(|error| {
            let reason = reason(&error);
            Failure::told(match error.option() {
                Some("node") => format!("{}: {reason}", self.source),
                Some(option @ ("replicas" | "tls")) => format!("--{option}: {reason}"),
                Some("auth") => format!("--user: {reason}"),
                _ => reason,
            })
        })
    }

    /// Takes a node inside this process for the cluster.
    pub(crate) fn embed(&mut self, node: &str) -> Result<(), Failure> {
        if let Some(option) = self.access.asked_for() {
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

    /// The options that say how nodes are connected to.
    pub(crate) fn access(&self) -> &args::Access {
        self.access.args()
    }

    /// What to do about an error, where there is more to say than the client can know.
    pub(crate) fn hint(&self, error: &Error) -> &'static str {
        match error.kind() {
            ErrorKind::Unreachable | ErrorKind::NoNodeReachable
                if self.source == Source::Default =>
            {
                " (the default node, as no --node was given; `steersman demo` needs no memcached)"
            }
            ErrorKind::Timeout => "; --timeout sets how long to wait",
            _ => self.access.hint(error),
        }
    }
}

/// The nodes that are meant, as they are written.
fn choose_nodes(
    given: &[String],
    variable: Option<OsString>,
) -> Result<(Source, Vec<String>), Failure> {
    if !given.is_empty() {
        return Ok((Source::Argument, given.to_vec()));
    }
    let Some(variable) = variable.filter(|variable| !variable.is_empty()) else {
        return Ok((Source::Default, vec![DEFAULT_NODE.to_owned()]));
    };
    let variable = variable.into_string().map_err(|variable| {
        Failure::told(format!(
            "{NODES_VARIABLE} is not UTF-8: {}",
            variable.display()
        ))
    })?;
    let nodes = variable.split(',').map(str::to_owned);
    Ok((Source::Environment, nodes.collect()))
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
            password: None,
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
