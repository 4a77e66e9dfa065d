//! Lists of nodes, from a configuration endpoint and as text.
//!
//! The input is taken for the value of a configuration, for the whole reply to `config get cluster`, and
//! for one node a line.

use bytes::{Buf, BytesMut};
use steersman_memcached::{Client, Endpoint, NodeConfig};
use steersman_memcached_protocol::{ClusterConfig, Connection, Limits, Reply, Request};

use crate::pieces::Cut;

/// Runs the target.
pub fn run(input: &[u8]) {
    configuration(input);
    let [whole, cut] = Cut::two(input).map(|cut| reply(cut.apply(input)));
    assert_eq!(whole, cut, "the pieces made a difference");
    if let Some(Reply::Value(value)) = &whole {
        configuration(&value.data);
    }
    if let Ok(text) = str::from_utf8(input) {
        text.lines().for_each(node);
    }
}

/// What is a configuration names usable nodes, and is one again when it is written plainly.
fn configuration(value: &[u8]) {
    let config = match ClusterConfig::parse(value) {
        Ok(config) => config,
        Err(error) => {
            // It shows a part of the value at most, and nothing that a terminal could obey.
            let message = error.to_string();
            assert!(
                message.len() < 1000 && !message.contains(char::is_control),
                "{message}"
            );
            return;
        }
    };
    assert!(!config.nodes.is_empty());
    let mut entries = Vec::new();
    for node in &config.nodes {
        assert!(node.port > 0 && !node.host.is_empty() && node.host.len() <= 255);
        let endpoint = Endpoint::Tcp {
            host: node.host.to_owned(),
            port: node.port,
        };
        // What a client takes is read as it is written.
        let written = endpoint.to_string();
        let member = NodeConfig::new(&*written, endpoint.clone());
        if Client::builder().node(member).build().is_ok() {
            let read: NodeConfig = written.parse().expect("what a client takes can be written");
            assert_eq!(read.endpoint(), &endpoint);
        }
        let address = node.address.unwrap_or_default();
        entries.push(format!("{}|{address}|{}", node.host, node.port));
    }
    let plain = format!("{}\n{}\n", config.version, entries.join(" "));
    assert_eq!(ClusterConfig::parse(plain.as_bytes()).as_ref(), Ok(&config));
}

/// What a client that asks for the configuration gets.
fn reply<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<Reply> {
    let limits = Limits {
        max_value_size: 1024,
        ..Limits::default()
    };
    let mut connection = Connection::new(limits);
    connection
        .submit(&Request::ClusterConfig, ())
        .expect("a connection that is open takes it");
    let length = connection.output().remaining();
    connection.output().advance(length);
    let mut reply = None;
    let mut input = BytesMut::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        let mut sink = |(), answer| assert!(reply.replace(answer).is_none(), "a second answer");
        if connection.feed(&mut input, &mut sink).is_err() {
            break;
        }
    }
    reply
}

/// A node that is read says where it is, and is the same when it is written in full.
fn node(line: &str) {
    let Ok(node) = line.parse::<NodeConfig>() else {
        return;
    };
    assert!(!node.name().is_empty() && node.weight() > 0);
    let full = format!("{}={}*{}", node.name(), node.endpoint(), node.weight());
    // A name with one of these in it is read as something else; a path is a name only of itself.
    let is_plain =
        !node.name().contains(['=', '/', ':']) && !node.endpoint().to_string().contains('=');
    if is_plain {
        assert_eq!(
            full.parse::<NodeConfig>().ok().as_ref(),
            Some(&node),
            "{full}"
        );
    }
}
