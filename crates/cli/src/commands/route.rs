//! `route`: which node owns a key.

use std::io::{self, Write};

use serde_json::Value;
use steersman_selection::{NodeIndex, Placement};

use crate::answer::{Answer, Failure};
use crate::args::Route;
use crate::context::Context;
use crate::json::Object;
use crate::keys::{self, Next};

pub(super) fn run(args: Route, context: &Context, out: &mut dyn Write) -> Result<Answer, Failure> {
    let router = Router {
        placement: context.placement(&context.nodes, context.source)?,
        nodes: &context.nodes_as_given,
        json: context.settings.json,
    };
    let mut best = vec![NodeIndex::default(); context.replicas];
    keys::for_each(args.keys, args.keys_from.as_deref(), |key, next| {
        let count = router.placement.replicas(key, &mut best);
        router.write(key, &best[..count], out)?;
        if next == Next::Awaited {
            out.flush()?;
        }
        Ok(())
    })?;
    Ok(Answer::Yes)
}

struct Router<'a> {
    placement: Placement,
    /// By their index in the placement.
    nodes: &'a [String],
    json: bool,
}

impl Router<'_> {
    fn write(&self, key: &[u8], best: &[NodeIndex], out: &mut dyn Write) -> io::Result<()> {
        let nodes = best.iter().map(|index| &*self.nodes[index.get()]);
        if self.json {
            let nodes: Vec<Value> = nodes.map(Value::from).collect();
            return Object::bytes_of("key", key)
                .with("nodes", nodes)
                .write_line(out);
        }
        out.write_all(key)?;
        let mut separator = b"\t";
        for node in nodes {
            out.write_all(separator)?;
            out.write_all(node.as_bytes())?;
            separator = b",";
        }
        out.write_all(b"\n")
    }
}
