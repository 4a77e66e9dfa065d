//! The configuration endpoint of ElastiCache, played by the embedded server and, byte by byte, by
//! the test.

use std::time::Duration;

use steersman_memcached::{Client, ElastiCache, Endpoint, ErrorKind, EventStream};
use steersman_testkit::{ClusterConfiguration, Ending, Server, Times};
use tokio::time::Instant;

use super::{LONG, names, news};
use crate::network::{Attempts, hit, network};

/// Real time passes in these tests: the endpoint is asked often.
const OFTEN: Duration = Duration::from_millis(10);

struct World {
    endpoint: Server,
    nodes: Vec<Server>,
    client: Client,
    events: EventStream,
}

impl World {
    /// Some nodes and an endpoint that lists none of them yet.
    async fn start() -> Self {
        let mut nodes = Vec::new();
        for _ in 0..3 {
            nodes.push(Server::start().await.unwrap());
        }
        let endpoint = Server::start().await.unwrap();
        let client = Client::builder()
            .discovery(ElastiCache::new(&endpoint.node()).unwrap())
            .discovery_interval(OFTEN)
            .build()
            .unwrap();
        let events = client.events();
        Self {
            endpoint,
            nodes,
            client,
            events,
        }
    }

    fn addresses(&self, which: &[usize]) -> Vec<String> {
        which.iter().map(|&at| self.nodes[at].node()).collect()
    }

    fn list(&self, version: u64, which: &[usize]) {
        let list = ClusterConfiguration::new(version, self.addresses(which));
        self.endpoint.configure(list);
    }

    fn text(&self, text: impl Into<steersman_memcached::Bytes>) {
        self.endpoint.configure(ClusterConfiguration::text(text));
    }

    /// Waits until the members are these nodes.
    async fn expect(&mut self, which: &[usize]) {
        let mut wanted = self.addresses(which);
        wanted.sort();
        while names(&self.client) != wanted {
            // Reasons of before may still be in the queue.
            let _ = news(&mut self.events).await;
        }
    }

    /// Waits until a list is refused for that reason.
    async fn refused(&mut self, why: &str) {
        loop {
            match news(&mut self.events).await {
                Err(reason) if reason.contains(why) => return,
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn the_list_grows_shrinks_and_flaps_and_reads_and_writes_go_on() {
    let mut world = World::start().await;
    world.list(1, &[0]);
    world.client.ready(LONG).await.unwrap();
    let worker = tokio::spawn({
        let client = world.client.clone();
        async move {
            for n in 0_u32.. {
                let key = format!("key-{}", n % 50);
                client.set(&key, "v").await.unwrap();
                if n % 10 == 0 && client.get("stop").await.unwrap().is_some() {
                    return n;
                }
            }
            0
        }
    });
    let steps: [&[usize]; 6] = [&[0, 1], &[0, 1, 2], &[2], &[1, 2], &[0], &[2, 1, 0]];
    for (version, which) in (2..).zip(steps) {
        world.list(version, which);
        world.expect(which).await;
    }
    world.client.set("stop", "").await.unwrap();
    assert!(worker.await.unwrap() > 0, "every call succeeded");
}

#[tokio::test]
async fn lies_and_garbage_leave_the_last_good_list() {
    let mut world = World::start().await;
    world.refused("no configuration endpoint").await;
    world.list(10, &[0, 1]);
    world.expect(&[0, 1]).await;
    let [a, c] = [0, 2].map(|at| world.nodes[at].node().replace(':', "||"));
    for (text, why) in [
        (String::new(), "in place of the number of its version"),
        ("11\n\n".to_owned(), "no nodes"),
        (format!("11\n{a} {c}9999\n"), "in place of a node"),
        (format!("11\n{a} h||0\n"), "in place of a node"),
        ("<html>".to_owned(), "in place of the number of its version"),
        (
            format!("9\n{c}\n"),
            "version 9 of the list is older than 10",
        ),
        (format!("11\n{}", "x".repeat(2 * 1024 * 1024)), "2097155"),
    ] {
        world.text(text);
        world.refused(why).await;
        world.expect(&[0, 1]).await;
    }
    // The same version is not read again, whatever it says.
    world.text(format!("10\n{c}\n"));
    let asked = world.endpoint.stats().accepted;
    world
        .endpoint
        .wait_for(|stats| stats.accepted > asked + 2)
        .await;
    world.expect(&[0, 1]).await;
    // A node that is listed twice is one node.
    world.text(format!("12\n{c} {a} {c}\n"));
    world.expect(&[0, 2]).await;
}

#[tokio::test]
async fn error_lines_broken_replies_and_outages_leave_the_last_good_list() {
    let mut world = World::start().await;
    world.list(1, &[0]);
    world.expect(&[0]).await;
    let script = world.endpoint.script();
    script.answer(Times::Always, "SERVER_ERROR busy\r\n");
    world.refused("SERVER_ERROR busy").await;
    world.endpoint.script().answer(Times::Always, "ERROR\r\n");
    world.refused("ERROR").await;
    world.endpoint.script().answer(Times::Always, "END\r\n");
    world.refused("CONFIG cluster").await;
    let huge = "CONFIG cluster 0 99999999999\r\n";
    world.endpoint.script().answer(Times::Always, huge);
    world.refused("99999999999").await;
    world.endpoint.script().clear();

    world.list(2, &[1]);
    world
        .endpoint
        .faults()
        .cut_replies(Times::Always, 30, Ending::Close);
    world.refused("closed").await;
    world.endpoint.stop().await;
    world.refused("refused").await;
    world.expect(&[0]).await;
    world.client.set("k", "v").await.unwrap();
    world.endpoint.faults().clear();
    world.endpoint.restart().await.unwrap();
    world.expect(&[1]).await;
}

#[tokio::test]
async fn older_engines_are_asked_by_key() {
    let mut world = World::start().await;
    let list = ClusterConfiguration::new(1, world.addresses(&[0, 2]));
    world.endpoint.configure(list.legacy());
    world.expect(&[0, 2]).await;
}

#[tokio::test]
async fn a_reply_may_be_split_anywhere() {
    let mut world = World::start().await;
    world.endpoint.faults().set_split(Some(1));
    world.list(1, &[0, 1, 2]);
    world.expect(&[0, 1, 2]).await;
}

/// A client whose endpoint is played by the test.
fn scripted(by_address: bool) -> (Client, Attempts) {
    let (network, attempts) = network();
    let endpoint = ElastiCache::new("cfg:1").unwrap().by_address(by_address);
    let builder = Client::builder().discovery(endpoint).connector(network);
    (builder.build().unwrap(), attempts)
}

fn reply(text: &str) -> String {
    format!("CONFIG cluster 0 {}\r\n{text}\r\nEND\r\n", text.len())
}

#[tokio::test(start_paused = true)]
async fn nodes_are_named_by_host_and_reached_by_host_or_address() {
    for by_address in [false, true] {
        let (client, mut attempts) = scripted(by_address);
        let attempt = attempts.next().await;
        assert_eq!(attempt.endpoint, "cfg:1");
        let list = reply("1\na.example|10.0.0.1|11211 b.example||2\n");
        let mut peer = attempt.accept();
        peer.exchange("config get cluster\r\n", &list).await;
        peer.closed().await;
        let mut dialled = [
            attempts.next().await.endpoint,
            attempts.next().await.endpoint,
        ];
        dialled.sort();
        let a = if by_address {
            "10.0.0.1:11211"
        } else {
            "a.example:11211"
        };
        assert_eq!(dialled, [a, "b.example:2"]);
        assert_eq!(names(&client), ["a.example:11211", "b.example:2"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_older_command_follows_on_the_same_connection() {
    let (client, mut attempts) = scripted(false);
    let mut events = client.events();
    let mut peer = attempts.next().await.accept();
    peer.exchange("config get cluster\r\n", "ERROR\r\n").await;
    let key = "AmazonElastiCache:cluster";
    peer.exchange(&format!("get {key}\r\n"), &hit(key, "1\nh||1\n"))
        .await;
    assert_eq!(news(&mut events).await, Ok(1));
    assert_eq!(names(&client), ["h:1"]);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_says_nothing_is_given_up_after_its_time_out() {
    let (client, mut attempts) = scripted(false);
    let mut events = client.events();
    let begun = Instant::now();
    let mut peer = attempts.next().await.accept();
    peer.expect("config get cluster\r\n").await;
    peer.reply("CONFIG cluster 0 5\r\n1\nh").await;
    peer.closed().await;
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    assert_eq!(
        news(&mut events).await,
        Err("no list came within 5s".to_owned())
    );
}

#[test]
fn an_endpoint_is_written_as_a_node_without_name_and_weight() {
    let endpoint = ElastiCache::new("cfg.example").unwrap();
    let port = Endpoint::Tcp {
        host: "cfg.example".to_owned(),
        port: 11211,
    };
    assert!(format!("{endpoint:?}").contains(&format!("{port:?}")));
    for (text, why) in [
        ("cfg:0", "is no node"),
        (
            "name=cfg",
            "leave the name and the weight out, as in \"cfg:11211\"",
        ),
        ("cfg:1*2", "as in \"cfg:1\""),
        ("cfg*1", "as in \"cfg:11211\""),
    ] {
        let error = ElastiCache::new(text).unwrap_err();
        assert_eq!(
            (error.kind(), error.option()),
            (ErrorKind::Config, Some("discovery"))
        );
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
}
