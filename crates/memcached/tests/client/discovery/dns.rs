//! Nodes from DNS, told by a name server of the test's own.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_memcached::{
    AddressRecords, Builder, Client, DnsResolver, Event, Resolved, Resolver, Resolving, Sockets,
    SrvRecords,
};
use steersman_testkit::Server;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use super::{LONG, names, news};
use crate::network::network;

/// Real time passes in these tests: the name server is asked often.
const OFTEN: Duration = Duration::from_millis(10);

const A: u16 = 1;
const SRV: u16 = 33;

/// The data of all records of a name and type.
type Zone = HashMap<(String, u16), Vec<Vec<u8>>>;

/// A name server of one packet an answer, with a TTL of 0.
struct NameServer {
    zone: Arc<Mutex<Zone>>,
    addr: SocketAddr,
    task: JoinHandle<()>,
}

impl NameServer {
    async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addr = socket.local_addr().unwrap();
        let zone = Arc::new(Mutex::new(Zone::new()));
        let task = tokio::spawn(serve(socket, Arc::clone(&zone)));
        Self { zone, addr, task }
    }

    fn set(&self, name: &str, kind: u16, records: Vec<Vec<u8>>) {
        let mut zone = self.zone.lock().unwrap();
        zone.insert((name.to_owned(), kind), records);
    }

    fn resolver(&self) -> DnsResolver {
        DnsResolver::with_servers([self.addr]).unwrap()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(socket: UdpSocket, zone: Arc<Mutex<Zone>>) {
    let mut packet = [0; 1500];
    loop {
        let (len, peer) = socket.recv_from(&mut packet).await.unwrap();
        let reply = answer(&packet[..len], &zone.lock().unwrap());
        socket.send_to(&reply, peer).await.unwrap();
    }
}

/// Answers the one question of a query (RFC 1035, section 4.1).
fn answer(query: &[u8], zone: &Zone) -> Vec<u8> {
    let mut at = 12;
    let mut labels = Vec::new();
    while query[at] > 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).to_lowercase());
        at = end;
    }
    let question = &query[12..at + 5];
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    let name = labels.join(".");
    let is_known = zone.keys().any(|(known, _)| *known == name);
    let records = zone.get(&(name, kind)).cloned().unwrap_or_default();
    let mut reply = query[..2].to_vec();
    // A response with recursion; no such name if it has no records of any kind.
    reply.extend([0x85, if is_known { 0x80 } else { 0x83 }]);
    let count = u16::try_from(records.len()).unwrap();
    for field in [1, count, 0, 0] {
        reply.extend(field.to_be_bytes());
    }
    reply.extend(question);
    for data in records {
        // The name of the question, class IN, TTL 0.
        reply.extend([0xc0, 12]);
        reply.extend(kind.to_be_bytes());
        reply.extend([0, 1, 0, 0, 0, 0]);
        reply.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        reply.extend(data);
    }
    reply
}

fn service(priority: u16, weight: u16, port: u16, target: &str) -> Vec<u8> {
    let mut data = Vec::new();
    for field in [priority, weight, port] {
        data.extend(field.to_be_bytes());
    }
    for label in target.split('.').filter(|label| !label.is_empty()) {
        data.push(u8::try_from(label.len()).unwrap());
        data.extend(label.as_bytes());
    }
    data.push(0);
    data
}

fn address(last: u8) -> Vec<u8> {
    Ipv4Addr::new(127, 0, 0, last).octets().to_vec()
}

fn often(builder: Builder) -> Builder {
    builder.discovery_interval(OFTEN)
}

#[tokio::test]
async fn each_address_of_a_name_is_a_node() {
    let dns = NameServer::start().await;
    dns.set("cache.test", A, vec![address(2), address(1)]);
    let records = AddressRecords::new("cache.test:7").unwrap();
    let (network, _attempts) = network();
    let client = often(Client::builder())
        .discovery(records.resolver(dns.resolver()))
        .connector(network)
        .build()
        .unwrap();
    let mut events = client.events();
    assert_eq!(news(&mut events).await, Ok(2));
    assert_eq!(names(&client), ["127.0.0.1:7", "127.0.0.2:7"]);
    // Another order is no news.
    dns.set("cache.test", A, vec![address(1), address(2)]);
    dns.set("cache.test", A, vec![address(3), address(2)]);
    assert_eq!(news(&mut events).await, Ok(2));
    assert_eq!(names(&client), ["127.0.0.2:7", "127.0.0.3:7"]);
    // Neither does a name without addresses take any away.
    dns.set("cache.test", A, vec![]);
    news(&mut events).await.unwrap_err();
    assert_eq!(names(&client), ["127.0.0.2:7", "127.0.0.3:7"]);
}

#[tokio::test]
async fn each_target_of_a_service_is_a_node_by_its_name() {
    let dns = NameServer::start().await;
    let servers = [
        Server::start().await.unwrap(),
        Server::start().await.unwrap(),
    ];
    let [a, b] = servers.each_ref().map(|server| server.addr().port());
    dns.set("a.test", A, vec![address(1)]);
    dns.set("b.test", A, vec![address(1)]);
    let first = vec![service(1, 3, b, "b.test"), service(1, 0, a, "a.test")];
    dns.set("_memcache._tcp.test", SRV, first);
    let records = SrvRecords::resolved_by("_memcache._tcp.test", dns.resolver());
    let client = often(Client::builder())
        .discovery(records.weighted(true))
        .connector(Sockets::with_resolver(dns.resolver()))
        .build()
        .unwrap();
    let mut events = client.events();
    client.ready(LONG).await.unwrap();
    assert_eq!(news(&mut events).await, Ok(2));
    let (a, b) = (format!("a.test:{a}"), b);
    assert_eq!(names(&client), [a, format!("b.test:{b}")]);
    assert_eq!(
        client
            .node(&format!("b.test:{b}"))
            .unwrap()
            .config()
            .weight(),
        3
    );
    client.set("k", "v").await.unwrap();

    // Those of a lower priority do not count, nor do those that say that there is none.
    let then = vec![
        service(1, 1, b, "b.test"),
        service(1, 1, b, "."),
        service(2, 1, b, "c.test"),
    ];
    dns.set("_memcache._tcp.test", SRV, then);
    assert_eq!(news(&mut events).await, Ok(1));
    assert_eq!(names(&client), [format!("b.test:{b}")]);
}

/// Name servers turn long answers round: whoever took a part of each would see nodes come and go.
#[tokio::test(start_paused = true)]
async fn all_addresses_of_a_long_answer_are_nodes() {
    struct Turning(AtomicU16);
    impl Resolver for Turning {
        fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Resolving<'a> {
            let turn = self.0.fetch_add(7, Ordering::Relaxed);
            let address = move |n: u16| {
                let [high, low] = ((n + turn) % 300).to_be_bytes();
                SocketAddr::from(([10, 0, high, low], port))
            };
            Box::pin(async move { Ok(Resolved::new((0..300).map(address))) })
        }
    }
    let records = AddressRecords::new("cache:1").unwrap();
    let records = records.resolver(Turning(AtomicU16::new(0)));
    let (network, _attempts) = network();
    let client = Client::builder()
        .discovery(records)
        .connector(network)
        .min_connections(0)
        .build()
        .unwrap();
    let mut events = client.events();
    assert_eq!(news(&mut events).await, Ok(300));
    let before = names(&client);
    let quiet = tokio::time::timeout(LONG, async {
        while !matches!(events.recv().await, Some(Event::ListTaken { .. })) {}
    });
    assert!(quiet.await.is_err(), "the same nodes in another order");
    assert_eq!(names(&client), before);
}
