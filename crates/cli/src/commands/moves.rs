//! `moves`: what a change of membership would move.

use std::fmt;
use std::io::Write;

use serde_json::Value;
use steersman_memcached::NodeConfig;
use steersman_selection::{NodeIndex, Placement};

use crate::answer::{Answer, Failure};
use crate::args::Moves;
use crate::context::Context;
use crate::json::Object;
use crate::keys;
use crate::nodes;
use crate::table::{Align, Table};
use crate::words::grouped;

pub(super) fn run(args: &Moves, context: &Context, out: &mut dyn Write) -> Result<Answer, Failure> {
    let after = change(args, context)?;
    let mut comparison = Comparison::new(context, &after)?;
    keys::for_each_or_sample(args.keys_from.as_deref(), |key| comparison.count(key))?;
    if context.settings.json {
        comparison.json().write_line(out)?;
    } else {
        comparison.write_table(args.keys_from.is_none(), out)?;
    }
    Ok(Answer::Yes)
}

/// The nodes after the change: those that stay in their order, then those that join.
fn change(args: &Moves, context: &Context) -> Result<Vec<NodeConfig>, Failure> {
    let mut after = context.nodes.clone();
    for text in &args.remove {
        let text = text.trim();
        let named = |name: &str| after.iter().position(|node| node.name() == name);
        let written = || {
            let node = nodes::parse(text, context.settings.scheme, "--remove").ok()?;
            Some(node.name().to_owned())
        };
        let at = named(text).or_else(|| named(&written()?)).ok_or_else(|| {
            let names: Vec<&str> = after.iter().map(NodeConfig::name).collect();
            Failure::told(format!(
                "--remove: {text:?} is none of the nodes {}",
                names.join(", ")
            ))
        })?;
        after.remove(at);
    }
    for text in &args.add {
        after.push(nodes::parse(text, context.settings.scheme, "--add")?);
    }
    if after.is_empty() {
        return Err(Failure::told(
            "no node would be left; keys would have nowhere to go",
        ));
    }
    Ok(after)
}

/// Where the same keys live before and after.
struct Comparison<'a> {
    before: Side<'a>,
    after: Side<'a>,
    keys: u64,
    /// Copies that would be on a node that does not hold them now.
    moved: u64,
}

/// One of the two memberships.
struct Side<'a> {
    placement: Placement,
    nodes: &'a [NodeConfig],
    /// How many copies each node has.
    copies: Vec<u64>,
    /// The nodes of the key looked at.
    best: Vec<NodeIndex>,
}

impl<'a> Side<'a> {
    /// The nodes, the last of which were given by `from`.
    fn new(
        context: &Context,
        nodes: &'a [NodeConfig],
        from: impl fmt::Display,
    ) -> Result<Self, Failure> {
        Ok(Self {
            placement: context.placement(nodes, from)?,
            nodes,
            copies: vec![0; nodes.len()],
            best: vec![NodeIndex::default(); context.replicas.min(nodes.len())],
        })
    }

    fn place(&mut self, key: &[u8]) {
        self.placement.replicas(key, &mut self.best);
        for index in &self.best {
            self.copies[index.get()] += 1;
        }
    }

    /// The names of the nodes of the key placed last.
    fn names(&self) -> impl Iterator<Item = &str> {
        let nodes = self.nodes;
        self.best.iter().map(|index| nodes[index.get()].name())
    }

    /// The node's part of all copies, if it is a member.
    fn share(&self, name: &str) -> Option<f64> {
        let at = self.nodes.iter().position(|node| node.name() == name)?;
        Some(ratio(self.copies[at], self.copies.iter().sum()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

impl<'a> Comparison<'a> {
    fn new(context: &'a Context, after: &'a [NodeConfig]) -> Result<Self, Failure> {
        Ok(Self {
            before: Side::new(context, &context.nodes, context.source)?,
            after: Side::new(context, after, "--add")?,
            keys: 0,
            moved: 0,
        })
    }

    fn count(&mut self, key: &[u8]) {
        self.keys += 1;
        self.before.place(key);
        self.after.place(key);
        let stays = |name: &str| self.before.names().any(|before| before == name);
        let comes = self.after.names().filter(|name| !stays(name)).count();
        self.moved += comes as u64;
    }

    fn moved_share(&self) -> f64 {
        ratio(self.moved, self.after.copies.iter().sum())
    }

    /// All nodes of either side: name, share before, share after.
    fn nodes(&self) -> Vec<(&'a str, Option<f64>, Option<f64>)> {
        let mut names: Vec<&str> = self.before.nodes.iter().map(NodeConfig::name).collect();
        for node in self.after.nodes {
            if self.before.share(node.name()).is_none() {
                names.push(node.name());
            }
        }
        let row = |name| (name, self.before.share(name), self.after.share(name));
        names.into_iter().map(row).collect()
    }

    fn json(&self) -> Object {
        let number = |share: Option<f64>| share.map_or(Value::Null, Value::from);
        let nodes = self.nodes().into_iter().map(|(name, before, after)| {
            Value::from(
                Object::default()
                    .with("name", name)
                    .with("before", number(before))
                    .with("after", number(after)),
            )
        });
        let nodes: Vec<Value> = nodes.collect();
        Object::default()
            .with("keys", self.keys)
            .with("moved", self.moved_share())
            .with("nodes", nodes)
    }

    fn write_table(&self, is_sample: bool, out: &mut dyn Write) -> Result<(), Failure> {
        let mut table = Table::new(
            ["NODE", "BEFORE", "AFTER"],
            [Align::Left, Align::Right, Align::Right],
        );
        let cell = |share: Option<f64>| share.map_or("-".to_owned(), percent);
        for (name, before, after) in self.nodes() {
            table.row([name.to_owned(), cell(before), cell(after)]);
        }
        table.write(out)?;
        let which = if is_sample { "sample keys" } else { "keys" };
        let copies = if self.after.best.len() > 1 {
            "copies of "
        } else {
            ""
        };
        writeln!(
            out,
            "moved: {} of the {copies}{} {which}",
            percent(self.moved_share()),
            grouped(self.keys)
        )?;
        Ok(())
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
