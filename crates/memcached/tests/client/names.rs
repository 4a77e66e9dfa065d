//! Nodes that are given by host name: which addresses are tried, and what becomes of connections
//! when the name stands for others.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_memcached::{
    Builder, Client, Connecting, Connector, Endpoint, ErrorKind, Resolved, Resolving,
};
use tokio::time::Instant;

use crate::network::{Attempts, Network, hit, network, settle};

const OLD: &str = "10.0.0.1:1";
const NEW: &str = "10.0.0.2:1";
const HOUR: Duration = Duration::from_secs(3600);

/// What the name stands for, by how often it was looked up before.
type Record = Box<dyn Fn(usize) -> io::Result<Resolved> + Send>;

/// The record, and when it was asked for.
#[derive(Clone)]
struct Names(Arc<Mutex<(Record, Vec<Instant>)>>);

impl Names {
    fn set(&self, record: Record) {
        self.0.lock().unwrap().0 = record;
    }

    fn lookups(&self) -> usize {
        self.0.lock().unwrap().1.len()
    }
}

fn addresses(texts: &[&str]) -> Resolved {
    Resolved::new(texts.iter().map(|text| text.parse::<SocketAddr>().unwrap()))
}

fn fixed(texts: &'static [&'static str]) -> Record {
    Box::new(move |_| Ok(addresses(texts)))
}

/// A network that has names besides.
struct Named(Network, Names);

impl Connector for Named {
    fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Connecting<'a> {
        self.0.connect(endpoint)
    }

    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Option<Resolving<'a>> {
        assert_eq!((host, port), ("cache", 1));
        let mut names = self.1.0.lock().unwrap();
        let answer = names.0(names.1.len());
        names.1.push(Instant::now());
        Some(Box::pin(async move { answer }))
    }

    fn connect_to<'a>(&'a self, _: &'a Endpoint, address: SocketAddr) -> Connecting<'a> {
        self.0.attempt(address.to_string())
    }
}

fn client_with(
    record: Record,
    options: impl FnOnce(Builder) -> Builder,
) -> (Client, Attempts, Names) {
    let (network, attempts) = network();
    let names = Names(Arc::new(Mutex::new((record, Vec::new()))));
    let builder = Client::builder()
        .node("n=cache:1")
        .connector(Named(network, names.clone()))
        .timeout(None)
        .stalled_after(None);
    (options(builder).build().unwrap(), attempts, names)
}

fn client(record: Record) -> (Client, Attempts, Names) {
    client_with(record, |builder| builder)
}

#[tokio::test(start_paused = true)]
async fn connections_move_when_the_name_does_and_no_request_is_lost() {
    let (client, mut attempts, names) = client(fixed(&[OLD]));
    let attempt = attempts.next().await;
    assert_eq!(attempt.endpoint, OLD);
    let mut old = attempt.accept();
    settle().await;
    let sent = tokio::spawn(client.get("k").into_future());
    old.expect("get k\r\n").await;

    names.set(fixed(&[NEW]));
    let changed = Instant::now();
    let attempt = attempts.next().await;
    assert_eq!(attempt.endpoint, NEW);
    assert!(changed.elapsed() <= Duration::from_secs(121));
    // Until the new connection stands the old one serves.
    let meanwhile = tokio::spawn(client.get("m").into_future());
    old.expect("get m\r\n").await;
    let mut new = attempt.accept();
    settle().await;
    let later = tokio::spawn(client.get("l").into_future());
    new.exchange("get l\r\n", "END\r\n").await;
    assert_eq!(later.await.unwrap().unwrap(), None);
    assert!(old.is_silent());
    old.reply("END\r\nEND\r\n").await;
    assert_eq!(sent.await.unwrap().unwrap(), None);
    assert_eq!(meanwhile.await.unwrap().unwrap(), None);
    old.closed().await;
    assert!(attempts.next_within(HOUR).await.is_none());
    let metrics = client.node("n").unwrap().metrics();
    assert_eq!(
        (metrics.cur_connections, metrics.connections_created),
        (1, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_missing_now_and_then_has_not_left() {
    let turns: Record = Box::new(|at| Ok(addresses(&[if at % 2 == 0 { OLD } else { NEW }])));
    let (client, mut attempts, names) = client(turns);
    let mut peer = attempts.next().await.accept();
    assert!(attempts.next_within(HOUR).await.is_none());
    assert!(names.lookups() > 60);
    assert!(peer.is_silent());
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn connections_stay_while_they_work_if_there_is_nowhere_to_go() {
    let (client, mut attempts, names) = client(fixed(&[OLD]));
    let mut old = attempts.next().await.accept();
    settle().await;
    names.set(Box::new(|_| {
        Err(io::Error::other("the name server is down"))
    }));
    assert!(attempts.next_within(HOUR).await.is_none());
    names.set(fixed(&[]));
    assert!(attempts.next_within(HOUR).await.is_none());
    names.set(fixed(&[NEW]));
    for _ in 0..5 {
        let attempt = attempts.next().await;
        assert_eq!(attempt.endpoint, NEW);
        attempt.refuse();
        let read = tokio::spawn(client.get("k").into_future());
        old.exchange("get k\r\n", "END\r\n").await;
        assert_eq!(read.await.unwrap().unwrap(), None);
    }
    assert_eq!(client.healthy_nodes().len(), 1);
    // The name goes back to the old address: there is nothing to do any more.
    names.set(fixed(&[OLD]));
    while let Some(attempt) = attempts.next_within(HOUR).await {
        attempt.refuse();
    }
    assert!(old.is_silent());
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_noreply_write_stays_behind_it() {
    let (client, mut attempts, names) = client(fixed(&[OLD]));
    let mut old = attempts.next().await.accept();
    settle().await;
    client.set("k", "v").noreply().await.unwrap();
    old.expect("set k 0 0 1\r\nv\r\n").await;
    names.set(fixed(&[NEW]));
    let mut new = attempts.next().await.accept();
    settle().await;
    let read = tokio::spawn(client.get("k").into_future());
    old.expect("get k\r\n").await;
    assert!(new.is_silent());
    old.reply("STORED\r\nEND\r\n").await;
    read.await.unwrap().unwrap();
    // At the next look it may go.
    old.closed().await;
    let read = tokio::spawn(client.get("k").into_future());
    new.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn noreply_writes_that_follow_each_other_do_not_keep_the_old_connection() {
    let (client, mut attempts, names) = client(fixed(&[OLD]));
    let mut old = attempts.next().await.accept();
    settle().await;
    client.set("k", "1").noreply().await.unwrap();
    old.expect("set k 0 0 1\r\n1\r\n").await;
    names.set(fixed(&[NEW]));
    let mut new = attempts.next().await.accept();
    tokio::time::sleep(Duration::from_secs(61)).await;
    // There is always another one before the last is answered.
    let write = tokio::spawn(client.set("k", "2").noreply().into_future());
    settle().await;
    let read = tokio::spawn(client.get("k").into_future());
    settle().await;
    assert!(old.is_silent() && new.is_silent());
    old.reply("STORED\r\n").await;
    let moved = new.expect("set k 0 0 1\r\n2\r\nget k\r\n");
    tokio::time::timeout(HOUR, moved).await.expect("they move");
    write.await.unwrap().unwrap();
    old.closed().await;
    new.reply(format!("STORED\r\n{}", hit("k", "2"))).await;
    assert_eq!(read.await.unwrap().unwrap().unwrap().data, "2");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_move_is_served_where_it_was_if_the_new_address_fails() {
    let (client, mut attempts, names) = client(fixed(&[OLD]));
    let mut old = attempts.next().await.accept();
    settle().await;
    client.set("k", "1").noreply().await.unwrap();
    old.expect("set k 0 0 1\r\n1\r\n").await;
    names.set(fixed(&[NEW]));
    let new = attempts.next().await.accept();
    tokio::time::sleep(Duration::from_secs(61)).await;
    let read = tokio::spawn(client.get("k").into_future());
    settle().await;
    assert!(old.is_silent());
    drop(new);
    attempts.next().await.refuse();
    let served = old.exchange("get k\r\n", "STORED\r\nEND\r\n");
    tokio::time::timeout(HOUR, served)
        .await
        .expect("it is served");
    assert_eq!(read.await.unwrap().unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_made_again_to_what_the_name_stands_for_then() {
    let (client, mut attempts, names) = client(fixed(&[OLD]));
    let old = attempts.next().await.accept();
    settle().await;
    names.set(fixed(&[NEW]));
    tokio::time::sleep(Duration::from_secs(2)).await;
    drop(old);
    let attempt = attempts.next().await;
    assert_eq!(attempt.endpoint, NEW);
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn names_are_looked_up_as_their_record_says_else_at_the_interval_or_never() {
    async fn lookups_in_ten_minutes(valid_for: Option<u64>, interval: Option<u64>) -> usize {
        let record: Record = Box::new(move |_| {
            let found = addresses(&[OLD]);
            Ok(match valid_for {
                Some(seconds) => found.valid_for(Duration::from_secs(seconds)),
                None => found,
            })
        });
        let interval = interval.map(Duration::from_secs);
        let (client, mut attempts, names) =
            client_with(record, |builder| builder.resolve_interval(interval));
        let peer = attempts.next().await.accept();
        let to_connect = names.lookups();
        tokio::time::sleep(Duration::from_secs(600)).await;
        drop((client, peer));
        names.lookups() - to_connect
    }
    let count = lookups_in_ten_minutes(None, Some(60)).await;
    assert!((10..=11).contains(&count), "{count}");
    assert_eq!(lookups_in_ten_minutes(None, None).await, 0);
    let count = lookups_in_ten_minutes(Some(5), Some(60)).await;
    assert!((119..=134).contains(&count), "{count}");
    let count = lookups_in_ten_minutes(Some(0), Some(60)).await;
    assert!((590..=670).contains(&count), "{count}");
    let count = lookups_in_ten_minutes(Some(400), Some(60)).await;
    assert_eq!(count, 1);
}

#[tokio::test(start_paused = true)]
async fn addresses_are_tried_in_turns_and_all_of_them() {
    let record = fixed(&["[fd00::1]:1", "[fd00::2]:1", "10.0.0.1:1"]);
    let (client, mut attempts, _) = client(record);
    let begun = Instant::now();
    let hangs = attempts.next().await;
    assert_eq!(hangs.endpoint, "[fd00::1]:1");
    let refuses = attempts.next().await;
    assert_eq!(refuses.endpoint, "10.0.0.1:1");
    assert!(begun.elapsed() >= Duration::from_millis(250));
    let refused = Instant::now();
    refuses.refuse();
    let last = attempts.next().await;
    assert_eq!(last.endpoint, "[fd00::2]:1");
    assert_eq!(refused.elapsed(), Duration::ZERO);
    let mut peer = last.accept();
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_name_without_an_address_and_one_that_cannot_be_resolved_say_so() {
    let failing: Record = Box::new(|_| Err(io::Error::other("no such name")));
    for (record, why) in [
        (failing, "cache cannot be resolved: no such name"),
        (fixed(&[]), "cache cannot be resolved: it has no address"),
    ] {
        let (client, _attempts, _) = client(record);
        let error = client.get("k").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[tokio::test]
async fn all_addresses_of_a_real_name_are_tried() {
    // That may be 127.0.0.1 alone, or ::1 before it, where nothing listens.
    let server = steersman_testkit::Server::start().await.unwrap();
    let node = format!("localhost:{}", server.addr().port());
    let client = Client::builder().node(node).build().unwrap();
    client.set("k", "v").await.unwrap();
    assert_eq!(client.get("k").await.unwrap().unwrap().data, "v");
}
