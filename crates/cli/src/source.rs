//! Which nodes are meant, and where that was said.

use std::ffi::OsString;
use std::fmt;

use steersman_memcached::{Config, NodeConfig};
use steersman_selection::Scheme;

use crate::answer::Failure;
use crate::args::Globals;
use crate::config::{Origin, URL_VARIABLE};
use crate::errors::reason;
use crate::nodes;

/// The environment's variable with the nodes of the cluster.
pub(crate) const NODES_VARIABLE: &str = "STEERSMAN_NODES";

const DEFAULT_NODE: &str = "localhost:11211";

/// Where it was said which nodes are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Argument,
    Discovery,
    Config(Origin),
    Environment,
    /// Nowhere.
    Default,
    /// Nowhere, so that a node was started inside this process.
    Embedded,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Config(origin) => return origin.fmt(f),
            Self::Argument => "--node",
            Self::Discovery => "--discovery",
            Self::Environment => NODES_VARIABLE,
            Self::Default => "the default node",
            Self::Embedded => "the node inside this process",
        })
    }
}

/// The nodes that are meant.
pub(crate) struct Found {
    pub(crate) source: Source,
    pub(crate) nodes: Vec<NodeConfig>,
    /// The same nodes as they were written.
    pub(crate) as_given: Vec<String>,
}

impl Found {
    /// Takes the nodes out of the config, or leaves them to its discovery; `variable` is the value of
    /// [`NODES_VARIABLE`].
    pub(crate) fn new(
        globals: &Globals,
        config: &mut Config,
        origin: Option<Origin>,
        variable: Option<OsString>,
    ) -> Result<Self, Failure> {
        let of_config = std::mem::take(&mut config.nodes);
        let scheme = config.placement;
        if !globals.nodes.is_empty() {
            config.discovery = None;
            return Self::read(Source::Argument, &globals.nodes, scheme);
        }
        if let Some(url) = &globals.discovery {
            let source = url.parse().map_err(|error| {
                Failure::told(format!("{}: {}", Source::Discovery, reason(&error)))
            })?;
            config.discovery = Some(source);
            return Ok(Self::of(Source::Discovery, Vec::new()));
        }
        let variable = variable.filter(|variable| !variable.is_empty());
        if let Some(origin) = origin
            && (config.discovery.is_some() || !of_config.is_empty())
        {
            if origin == Origin::Variable && variable.is_some() {
                return Err(Failure::told(format!(
                    "{NODES_VARIABLE}: {URL_VARIABLE} says which nodes there are too: unset one of them"
                )));
            }
            return Ok(Self::of(Source::Config(origin), of_config));
        }
        let Some(variable) = variable else {
            return Self::read(Source::Default, &[DEFAULT_NODE.to_owned()], scheme);
        };
        let variable = variable.into_string().map_err(|variable| {
            Failure::told(format!(
                "{NODES_VARIABLE} is not UTF-8: {}",
                variable.display()
            ))
        })?;
        let texts: Vec<String> = variable.split(',').map(str::to_owned).collect();
        Self::read(Source::Environment, &texts, scheme)
    }

    fn of(source: Source, nodes: Vec<NodeConfig>) -> Self {
        Self {
            source,
            as_given: nodes.iter().map(|node| node.name().to_owned()).collect(),
            nodes,
        }
    }

    /// The nodes that are written so.
    fn read(source: Source, texts: &[String], scheme: Scheme) -> Result<Self, Failure> {
        let nodes = texts.iter().map(|text| nodes::parse(text, scheme, source));
        Ok(Self {
            source,
            nodes: nodes.collect::<Result<_, _>>()?,
            as_given: texts.iter().map(|text| text.trim().to_owned()).collect(),
        })
    }
}
