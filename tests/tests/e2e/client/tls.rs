//! TLS to a real memcached, with certificates made here: who is trusted, each way not to be, and
//! that nothing hangs however much is written.

use std::net::SocketAddr;

use bytes::Bytes;
use futures_util::future::try_join_all;
use steersman_e2e::authority::{Authority, Identity};
use steersman_e2e::memcached::RealMemcached;
use steersman_e2e::tls_peer::TlsPeer;
use steersman_memcached::{
    Builder, Client, Connecting, Connector, Credentials, Endpoint, Error, ErrorKind, NodeConfig,
    Result, Tls, TlsFailure, Transport,
};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

use super::{memcached, quick};

const HERE: &str = "127.0.0.1";

/// A memcached with TLS and the files that it was started with.
struct Server {
    memcached: RealMemcached,
    _folder: TempDir,
}

impl Server {
    fn start(identity: &Identity, more: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, pem: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, pem).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let chain = write("chain.pem", &identity.chain);
        let key = write("key.pem", &identity.key);
        let options = format!("ssl_chain_cert={chain},ssl_key={key}{more}");
        let mut all = vec!["-Z", "-o", &options];
        all.extend(arguments);
        let memcached = RealMemcached::start_guarded(&all);
        Self {
            memcached: memcached.unwrap_or_else(|error| panic!("{error}")),
            _folder: folder,
        }
    }

    fn client(&self, tls: Tls) -> Client {
        quick([self.memcached.node()]).tls(tls).build().unwrap()
    }
}

fn authority() -> Authority {
    Authority::new("ours").unwrap()
}

/// A server that is what it should be, and whom it has its certificate from.
fn good() -> (Server, Authority) {
    let authority = authority();
    let identity = authority.issue(&[HERE]).unwrap();
    (Server::start(&identity, "", &[]), authority)
}

fn trusting(authority: &Authority) -> Tls {
    Tls::new().roots(authority.pem())
}

async fn works(client: &Client) {
    client.set("k", "v").await.unwrap();
    assert_eq!(client.get("k").await.unwrap().unwrap().data, "v");
}

async fn refused(client: &Client) -> Error {
    client.get("k").await.unwrap_err()
}

async fn assert_refused(client: &Client, failure: TlsFailure) {
    let error = refused(client).await;
    assert_eq!(error.kind(), ErrorKind::Tls, "{error}");
    assert_eq!(error.tls_failure(), Some(failure), "{error}");
    assert!(!error.is_retryable() && !error.maybe_executed());
}

#[tokio::test]
async fn a_server_that_a_trusted_authority_vouches_for_is_served() {
    let (server, authority) = good();
    works(&server.client(trusting(&authority))).await;
    let other = Authority::new("other").unwrap();
    let both = trusting(&other).extra_ca(authority.pem());
    works(&server.client(both)).await;
}

#[tokio::test]
async fn a_lost_connection_is_made_anew() {
    let (mut server, authority) = good();
    let client = server.client(trusting(&authority));
    works(&client).await;
    server.memcached.restart().unwrap();
    while client.set("k", "v").await.is_err() {}
    works(&client).await;
}

#[tokio::test]
async fn each_fault_of_a_certificate_has_a_name() {
    let authority = authority();
    for (identity, failure) in [
        (authority.issue_expired(&[HERE]), TlsFailure::Expired),
        (authority.issue_early(&[HERE]), TlsFailure::NotYetValid),
        (authority.issue(&["127.0.0.2"]), TlsFailure::WrongHost),
        (authority.issue(&["localhost"]), TlsFailure::WrongHost),
        (
            Authority::new("theirs").unwrap().issue(&[HERE]),
            TlsFailure::UnknownAuthority,
        ),
        (
            Authority::new("ours").unwrap().issue(&[HERE]),
            TlsFailure::UnknownAuthority,
        ),
    ] {
        let server = Server::start(&identity.unwrap(), "", &[]);
        assert_refused(&server.client(trusting(&authority)), failure).await;
        works(&server.client(Tls::new().dangerously_without_verification())).await;
    }
}

#[tokio::test]
async fn the_name_to_expect_can_be_set() {
    let authority = authority();
    let identity = authority.issue(&["cache.internal"]).unwrap();
    let server = Server::start(&identity, "", &[]);
    let named = trusting(&authority).server_name("cache.internal");
    works(&server.client(named)).await;
    let other = trusting(&authority).server_name("other.internal");
    assert_refused(&server.client(other), TlsFailure::WrongHost).await;
}

#[tokio::test]
async fn a_server_may_want_a_client_certificate() {
    let authority = authority();
    let identity = authority.issue(&[HERE]).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    let ca = file.path().to_str().unwrap();
    let wanting = format!(",ssl_verify_mode=2,ssl_ca_cert={ca}");
    let server = Server::start(&identity, &wanting, &[]);

    let anonymous = server.client(trusting(&authority));
    assert_refused(&anonymous, TlsFailure::ClientCertificate).await;
    let by = |authority: &Authority| authority.issue(&["client"]).unwrap();
    let ours = by(&authority);
    let known = trusting(&authority).client_certificate(ours.chain, ours.key);
    works(&server.client(known)).await;
    let theirs = by(&Authority::new("theirs").unwrap());
    let unknown = trusting(&authority).client_certificate(theirs.chain, theirs.key);
    assert_refused(&server.client(unknown), TlsFailure::ClientCertificate).await;
}

#[tokio::test]
async fn who_mistakes_plain_for_tls_or_tls_for_plain_is_told() {
    let plain = memcached();
    let (tls, authority) = good();
    let client = quick([plain.node()]).tls(trusting(&authority));
    assert_refused(&client.build().unwrap(), TlsFailure::NotTls).await;

    let client = quick([tls.memcached.node()]).build().unwrap();
    let error = refused(&client).await;
    assert_eq!(error.kind(), ErrorKind::ConnectionLost);
    assert!(error.to_string().contains("does it want TLS?"), "{error}");
}

#[tokio::test]
async fn a_unix_socket_has_no_tls() {
    let tls = || Tls::new().dangerously_without_verification();
    let unix = Client::builder().node("unix:/run/m").tls(tls()).build();
    let error = unix.unwrap_err();
    assert_eq!(error.option(), Some("tls"));
    let client = Client::builder().node("n").tls(tls()).build().unwrap();
    let error = client.add_node("unix:/run/m").unwrap_err();
    assert_eq!(error.option(), Some("tls"));
}

#[tokio::test]
async fn credentials_travel_inside() {
    let authority = authority();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "joe:secret\n").unwrap();
    let identity = authority.issue(&[HERE]).unwrap();
    let server = Server::start(&identity, "", &["-Y", file.path().to_str().unwrap()]);
    let client = |password: &str| {
        quick([server.memcached.node()])
            .tls(trusting(&authority))
            .auth(Credentials::new("joe", password))
            .build()
            .unwrap()
    };
    works(&client("secret")).await;
    let error = refused(&client("wrong")).await;
    assert_eq!(error.kind(), ErrorKind::Authentication);
    let error = refused(&server.client(trusting(&authority))).await;
    assert_eq!(error.kind(), ErrorKind::Authentication);
}

/// All of it by one URL: the password has characters that have a meaning there.
#[tokio::test]
async fn a_url_says_who_asks_and_whom_to_trust() {
    let authority = authority();
    let identity = authority.issue(&["cache.internal"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (users, ca) = (
        write("users", "joe:p@ss/w:rd%\n"),
        write("ca", authority.pem()),
    );
    let server = Server::start(&identity, "", &["-Y", &users]);
    let node = server.memcached.node();
    let trust = format!("tls_roots={ca}&tls_server_name=cache.internal&timeout=10s");
    let build = |url: &str| Builder::from_url(url).unwrap().build().unwrap();

    works(&build(&format!(
        "memcached+tls://joe:p%40ss%2Fw%3Ard%25@{node}?{trust}"
    )))
    .await;
    let file = write("password", "p@ss/w:rd%\n");
    works(&build(&format!(
        "memcached+tls://joe@{node}?password_file={file}&{trust}"
    )))
    .await;

    let wrong = build(&format!("memcached+tls://joe:p%40ss@{node}?{trust}"));
    let error = refused(&wrong).await;
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(!format!("{error} {error:?}").contains("p@ss"), "{error:?}");
    let nobody = build(&format!("memcached+tls://{node}?{trust}"));
    assert_eq!(refused(&nobody).await.kind(), ErrorKind::Authentication);
    let stranger =
        format!("memcached+tls://joe:p%40ss@{node}?timeout=10s&tls_server_name=cache.internal");
    assert_refused(&build(&stranger), TlsFailure::UnknownAuthority).await;
}

#[tokio::test]
async fn whatever_a_connector_makes_is_secured() {
    /// Leads to one address, whatever is asked for.
    struct Tunnel(SocketAddr);
    impl Connector for Tunnel {
        fn connect<'a>(&'a self, _: &'a Endpoint) -> Connecting<'a> {
            Box::pin(async {
                let stream = TcpStream::connect(self.0).await?;
                Ok(Box::new(stream) as Box<dyn Transport>)
            })
        }
    }
    let authority = authority();
    let identity = authority.issue(&["cache.internal"]).unwrap();
    let server = Server::start(&identity, "", &[]);
    let endpoint = Endpoint::Tcp {
        host: "cache.internal".to_owned(),
        port: 1,
    };
    let client = Client::builder()
        .node(NodeConfig::new("far", endpoint))
        .connector(Tunnel(server.memcached.addr()))
        .tls(trusting(&authority))
        .build()
        .unwrap();
    works(&client).await;
}

/// memcached before 1.6.39 hangs when more than 16 KiB is sent to it over TLS unanswered.
#[tokio::test]
async fn any_amount_of_writes_is_answered() {
    let (server, authority) = good();
    for connections in [1, 2] {
        let client = quick([server.memcached.node()])
            .tls(trusting(&authority))
            .max_connections(connections)
            .build()
            .unwrap();
        sets(&client, 512, |_| 100).await.unwrap();
        sets(&client, 32, |_| 4_000).await.unwrap();
        sets(&client, 3, |_| 16_384).await.unwrap();
        sets(&client, 400, |n| 1 + n * 7_919 % 20_000)
            .await
            .unwrap();

        let large = Bytes::from(vec![b'x'; 900_000]);
        let mixed = (0..300).map(|number| {
            let (client, large) = (&client, &large);
            async move {
                match number % 30 {
                    0 => client.set("large", large.clone()).await.map(drop),
                    n if n % 2 == 0 => client.set(key(n), value(n, 100)).await.map(drop),
                    n => {
                        let got = client.get(key(n)).await?.expect("it was set");
                        assert_eq!(got.data.len(), 100);
                        Ok(())
                    }
                }
            }
        });
        sets(&client, 512, |_| 100).await.unwrap();
        try_join_all(mixed).await.unwrap();
        assert_eq!(client.get("large").await.unwrap().unwrap().data, large);
        let metrics = &client.connection_pool_metrics()[&server.memcached.node()];
        assert_eq!(metrics.connections_created, connections as u64);
    }
}

/// What a server is sent before it answers follows from the version that it says it has.
#[tokio::test]
async fn only_servers_that_hang_are_sent_no_more_than_they_can_take() {
    const SETS: usize = 300;
    let authority = authority();
    let identity = authority.issue(&[HERE]).unwrap();
    let command = "set key-000 0 0 100\r\n\r\n".len() + 100;
    let fit = 16 * 1024 / command;
    for (version, at_a_time) in [("1.6.39", SETS), ("1.6.38", fit)] {
        let listener = TcpListener::bind((HERE, 0)).await.unwrap();
        let node = listener.local_addr().unwrap().to_string();
        let client = quick([node])
            .tls(trusting(&authority))
            .max_connections(1)
            .build()
            .unwrap();
        let serve = async {
            let mut peer = TlsPeer::accept(&listener, &identity, version).await?;
            peer.read(at_a_time * command).await?;
            // With a window, an answer makes room for one more command, which has a record to itself.
            for _ in at_a_time..SETS {
                peer.write("STORED\r\n").await?;
                assert_eq!(peer.read_record().await?, command);
            }
            peer.write(&"STORED\r\n".repeat(at_a_time)).await?;
            Ok::<_, std::io::Error>(peer)
        };
        let sets = (0..SETS).map(|n| {
            client
                .set(format!("key-{n:03}"), value(n, 100))
                .into_future()
        });
        let (served, all) = tokio::join!(serve, try_join_all(sets));
        served.unwrap();
        all.unwrap();
    }
}

fn key(number: usize) -> String {
    format!("key-{number}")
}

fn value(number: usize, len: usize) -> String {
    format!("{number:0len$}")
}

/// Sets so many keys at a time to values of these lengths, and reads them back.
async fn sets(client: &Client, count: usize, len: impl Fn(usize) -> usize) -> Result<()> {
    let all = (0..count).map(|n| client.set(key(n), value(n, len(n))).into_future());
    try_join_all(all).await?;
    let all = try_join_all((0..count).map(|n| client.get(key(n)).into_future())).await?;
    for (n, got) in all.into_iter().enumerate() {
        assert_eq!(got.expect("it was set").data, value(n, len(n)));
    }
    Ok(())
}
