//! What the global options mean: checked once, used by every command.

use std::ffi::OsString;
use std::time::Duration;

use steersman_memcached::{Client, Error, ErrorKind, NodeConfig};
use steersman_selection::{Placement, Scheme};

use crate::answer::Failure;
use crate::args::Globals;
use crate::nodes;

/// The environment's variable with the nodes of the cluster.
pub(crate) const NODES_VARIABLE: &str = "STEERSMAN_NODES";

const DEFAULT_NODE: &str = "localhost:11211";

/// The cluster that is meant and how to talk to it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) nodes: Vec<NodeConfig>,
    /// The same nodes as they were written.
    pub(crate) nodes_as_given: Vec<String>,
    /// Nobody said which nodes are meant.
    nodes_are_default: bool,
    pub(crate) scheme: Scheme,
    pub(crate) replicas: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) json: bool,
}

impl Context {
    /// Checks the options; `variable` is the value of [`NODES_VARIABLE`].
    pub(crate) fn new(globals: Globals, variable: Option<OsString>) -> Result<Self, Failure> {
        let mut scheme: Scheme = globals.placement.parse()?;
        if let Some(bits) = globals.slot_bits {
            scheme = scheme.with_slot_bits(bits)?;
        }
        let mut texts = globals.nodes;
        if let Some(variable) = variable
            && texts.is_empty()
            && !variable.is_empty()
        {
            let variable = variable.into_string().map_err(|variable| {
                Failure::told(format!(
                    "{NODES_VARIABLE} is not UTF-8: {}",
                    variable.display()
                ))
            })?;
            texts.extend(variable.split(',').map(str::to_owned));
        }
        let nodes_are_default = texts.is_empty();
        if nodes_are_default {
            texts.push(DEFAULT_NODE.to_owned());
        }
        let nodes = texts.iter().map(|text| nodes::parse(text, scheme));
        Ok(Self {
            nodes: nodes.collect::<Result<_, _>>()?,
            nodes_as_given: texts.iter().map(|text| text.trim().to_owned()).collect(),
            nodes_are_default,
            scheme,
            replicas: globals.replicas.unwrap_or(1),
            timeout: globals.timeout.0,
            json: globals.json,
        })
    }

    /// A client of the cluster. It connects to a node when the first request for it comes.
    ///
    /// The one limit of a command is its time-out: connecting and silence have none of their own.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let builder = Client::builder()
            .nodes(self.nodes.iter().cloned())
            .placement(self.scheme)
            .timeout(self.timeout)
            .connection_timeout(self.timeout)
            .stalled_after(None)
            .min_connections(0);
        Ok(builder.build()?)
    }

    /// Where keys live on some nodes.
    pub(crate) fn placement<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a NodeConfig>,
    ) -> Result<Placement, Failure> {
        let members = nodes.into_iter().map(nodes::member);
        Ok(Placement::with_replicas(
            self.scheme,
            self.replicas,
            members,
        )?)
    }

    /// The failure of a command whose only request failed.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        Failure::told(format!("{error}{}", self.hint(error)))
    }

    /// The failure of a command of which `failed` of `all` parts failed, the first with `error`.
    pub(crate) fn failure_of_some(
        &self,
        error: &Error,
        failed: usize,
        all: usize,
        parts: &str,
    ) -> Failure {
        if all == 1 {
            return self.failure(error);
        }
        let hint = self.hint(error);
        Failure::told(format!("{failed} of {all} {parts} failed; {error}{hint}"))
    }

    /// What to do about an error, where there is more to say than the client can know.
    fn hint(&self, error: &Error) -> &'static str {
        match error.kind() {
            ErrorKind::Unreachable | ErrorKind::NoNodeReachable if self.nodes_are_default => {
                " (the default node, as no --node was given; `steersman demo` needs no memcached)"
            }
            ErrorKind::Timeout => " (--timeout sets how long to wait)",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    fn context(args: &str, variable: Option<&str>) -> Result<Context, Failure> {
        let args = ["steersman"].into_iter().chain(args.split_whitespace());
        let cli = Cli::try_parse_from(args).unwrap();
        Context::new(cli.globals, variable.map(OsString::from))
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
        for (args, variable) in [("--node= version", None), ("version", Some("a,"))] {
            let error = context(args, variable).unwrap_err();
            assert!(matches!(error, Failure::Told(why) if why.contains("is no node")));
        }
    }

    #[test]
    fn options_have_their_defaults_and_ranges() {
        let plain = context("version", None).unwrap();
        assert_eq!(plain.scheme, Scheme::default());
        assert_eq!(plain.timeout, Some(Duration::from_secs(1)));
        let given = context(
            "version --slot-bits 20 --timeout none --replicas 3 --json",
            None,
        );
        let given = given.unwrap();
        assert_eq!(given.scheme, Scheme::Rendezvous { slot_bits: 20 });
        assert_eq!((given.timeout, given.replicas, given.json), (None, 3, true));
        for (args, why) in [
            ("version --slot-bits 25", "8 to 24"),
            ("version --slot-bits 16 --placement emcache", "slot"),
        ] {
            let error = context(args, None).unwrap_err();
            assert!(matches!(error, Failure::Told(told) if told.contains(why)));
        }
    }
}
