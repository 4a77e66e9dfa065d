//! `migrate-plan`: what a move to another placement or to other nodes would cost.

use std::fmt;
use std::io::Write;

use serde_json::Value;
use steersman_memcached::{Config, Endpoint, NodeConfig};
use steersman_selection::{Placement, Scheme};

use crate::answer::{Answer, Failure};
use crate::args::MigratePlan;
use crate::context::Context;
use crate::errors::reason;
use crate::json::Object;
use crate::keys;
use crate::nodes;
use crate::table::{Align, Table};
use crate::words::{grouped, percent};

/// The longest bar.
const BAR: usize = 20;

pub(super) fn run(
    args: &MigratePlan,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let mut plan = Plan::default();
    let from = match &args.from {
        Some(text) => plan.side(&text.0, context, "--from")?,
        None => plan.placed(context.settings.scheme, &context.nodes, context.source)?,
    };
    let to = plan.side(&args.to.0, context, "--to")?;
    keys::for_each_or_sample(args.keys_from.as_deref(), |key| plan.count(key, &from, &to))?;
    if context.settings.json {
        plan.json().write_line(out)?;
    } else {
        plan.write_table(args.keys_from.is_none(), out)?;
    }
    Ok(Answer::Yes)
}

/// Where the same keys live before and after.
#[derive(Default)]
struct Plan {
    /// Those of both sides.
    servers: Vec<Server>,
    keys: usize,
    moved: usize,
}

/// A server, by its address: the two sides may call it differently.
struct Server {
    endpoint: Endpoint,
    name: String,
    /// How many keys it has.
    before: usize,
    after: usize,
    /// How many of them move.
    leaving: usize,
    arriving: usize,
}

/// One of the two clusters.
struct Side {
    placement: Placement,
    /// The place among all servers of each node.
    servers: Vec<usize>,
}

impl Side {
    fn owner(&self, key: &[u8]) -> Option<usize> {
        let owner = self.placement.owner(key)?;
        Some(self.servers[owner.get()])
    }
}

impl Plan {
    /// The side that is written as a placement, or as a URL.
    fn side(&mut self, text: &str, context: &Context, option: &str) -> Result<Side, Failure> {
        if !text.contains("//") && !text.starts_with("unix:") {
            let scheme = text.parse::<Scheme>();
            let scheme = scheme.map_err(|error| Failure::told(format!("{option}: {error}")))?;
            return self.placed(scheme, &context.nodes, option);
        }
        let config = text.parse::<Config>();
        let config =
            config.map_err(|error| Failure::told(format!("{option}: {}", reason(&error))))?;
        if config.nodes.is_empty() {
            return Err(Failure::told(format!(
                "{option}: the URL names no nodes; write memcached://NODE[,NODE...]"
            )));
        }
        self.placed(config.placement, &config.nodes, option)
    }

    fn placed(
        &mut self,
        scheme: Scheme,
        nodes: &[NodeConfig],
        from: impl fmt::Display,
    ) -> Result<Side, Failure> {
        let placement = Placement::new(scheme, nodes.iter().map(nodes::member));
        let placement = placement.map_err(|error| Failure::told(format!("{from}: {error}")))?;
        let servers = nodes.iter().map(|node| self.server(node)).collect();
        Ok(Side { placement, servers })
    }

    /// The place of a node's server among all.
    fn server(&mut self, node: &NodeConfig) -> usize {
        let same = |server: &Server| server.endpoint == *node.endpoint();
        if let Some(known) = self.servers.iter().position(same) {
            return known;
        }
        self.servers.push(Server {
            endpoint: node.endpoint().clone(),
            name: node.name().to_owned(),
            before: 0,
            after: 0,
            leaving: 0,
            arriving: 0,
        });
        self.servers.len() - 1
    }

    fn count(&mut self, key: &[u8], from: &Side, to: &Side) {
        let (Some(before), Some(after)) = (from.owner(key), to.owner(key)) else {
            return;
        };
        self.keys += 1;
        self.servers[before].before += 1;
        self.servers[after].after += 1;
        if before != after {
            self.moved += 1;
            self.servers[before].leaving += 1;
            self.servers[after].arriving += 1;
        }
    }

    fn json(&self) -> Object {
        let server = |server: &Server| {
            Value::from(
                Object::default()
                    .with("name", &*server.name)
                    .with("address", server.endpoint.to_string())
                    .with("before", server.before)
                    .with("after", server.after)
                    .with("leaving", server.leaving)
                    .with("arriving", server.arriving),
            )
        };
        let servers: Vec<Value> = self.servers.iter().map(server).collect();
        Object::default()
            .with("keys", self.keys)
            .with("moved", self.moved)
            .with("nodes", servers)
    }

    fn write_table(&self, is_sample: bool, out: &mut dyn Write) -> Result<(), Failure> {
        let right = Align::Right;
        let mut table = Table::new(
            ["NODE", "BEFORE", "AFTER", "LEAVE", "ARRIVE", "OF ALL", ""],
            [Align::Left, right, right, right, right, right, Align::Left],
        );
        let most = self.servers.iter().map(|server| server.arriving).max();
        let most = most.unwrap_or(0).max(1);
        for server in &self.servers {
            let count = |keys: usize| grouped(keys as u64);
            table.row([
                server.name.clone(),
                count(server.before),
                count(server.after),
                count(server.leaving),
                count(server.arriving),
                percent(server.arriving, self.keys),
                "#".repeat((server.arriving * BAR).div_ceil(most)),
            ]);
        }
        table.write(out)?;
        let which = if is_sample { "sample keys" } else { "keys" };
        writeln!(
            out,
            "moved: {} of the {} {which}, {}",
            grouped(self.moved as u64),
            grouped(self.keys as u64),
            percent(self.moved, self.keys)
        )?;
        Ok(())
    }
}
