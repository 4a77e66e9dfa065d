//! The client's side of the meta commands against the real memcached and the embedded server.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use steersman_e2e::memcached::RealMemcached;
use steersman_memcached_protocol::meta::{
    Arithmetic, BinaryKey, Command, Delete, Get, Reply as MetaReply, Set, SetMode, Status, Ttl,
};
use steersman_memcached_protocol::{
    Connection, Expiry, Key, Limits, Reply, Request, ServerVersion,
};
use steersman_testkit::Server;

/// One connection to a server, blocking.
struct Client {
    stream: TcpStream,
    connection: Connection<()>,
    input: BytesMut,
}

impl Client {
    fn connect(addr: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(addr)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self {
            stream,
            connection: Connection::new(Limits::default()),
            input: BytesMut::new(),
        })
    }

    /// Sends the requests in one go and gives their replies.
    fn ask_all<'a>(
        &mut self,
        requests: impl IntoIterator<Item = Request<'a>>,
    ) -> io::Result<Vec<Reply>> {
        for request in requests {
            self.connection
                .submit(&request, ())
                .map_err(io::Error::other)?;
        }
        let mut output = self.connection.output();
        let bytes = output.copy_to_bytes(output.remaining());
        drop(output);
        self.stream.write_all(&bytes)?;
        let mut replies = Vec::new();
        while self.connection.in_flight() > 0 {
            let mut buffer = [0; 4096];
            let count = self.stream.read(&mut buffer)?;
            assert_ne!(count, 0, "the server closed the connection");
            self.input.extend_from_slice(&buffer[..count]);
            let mut sink = |(), reply| replies.push(reply);
            self.connection
                .feed(&mut self.input, &mut sink)
                .map_err(io::Error::other)?;
        }
        Ok(replies)
    }

    fn ask<'a>(&mut self, command: impl Into<Command<'a>>) -> io::Result<MetaReply> {
        let replies = self.ask_all([Request::Meta(command.into())])?;
        match replies.into_iter().next() {
            Some(Reply::Meta(reply)) => Ok(*reply),
            other => Err(io::Error::other(format!("{other:?} is no meta reply"))),
        }
    }
}

fn key(name: &str) -> Key<'_> {
    Key::new(name.as_bytes()).expect("tests use valid keys")
}

fn seconds(count: u64) -> Expiry {
    Expiry::after(Duration::from_secs(count), 0)
}

/// Plays it to the real server and to the embedded one.
async fn with_both(play: impl Fn(&mut Client) -> io::Result<()>) -> io::Result<()> {
    let real = RealMemcached::start()?;
    play(&mut Client::connect(real.addr())?)?;
    let embedded = Server::start().await?;
    play(&mut Client::connect(embedded.addr())?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_asked_and_understood() -> io::Result<()> {
    with_both(|client| {
        let (k, data) = (key("k"), Bytes::from_static(b"hello"));
        assert_eq!(client.ask(Command::Noop)?.status, Status::Noop);
        let all = Get::new(k)
            .value()
            .client_flags()
            .cas()
            .ttl()
            .size()
            .hit_before()
            .last_access()
            .return_key()
            .opaque(77);
        let miss = client.ask(all)?;
        assert_eq!(miss.status, Status::Miss);
        assert_eq!(miss.opaque, Some(77));
        let set = Set::new(k, &data).client_flags(5).return_cas().opaque(1);
        let stored = client.ask(set)?;
        assert_eq!(stored.status, Status::Done);
        let hit = client.ask(all)?;
        assert_eq!(hit.status, Status::Value);
        assert_eq!(hit.value.as_deref(), Some(&b"hello"[..]));
        assert_eq!(hit.cas, stored.cas);
        assert_eq!((hit.client_flags, hit.size), (Some(5), Some(5)));
        assert_eq!((hit.ttl, hit.hit_before), (Some(Ttl::Never), Some(false)));
        assert!(hit.last_access.is_some_and(|seconds| seconds < 10));
        assert_eq!(hit.key.as_deref(), Some(&b"k"[..]));
        assert_eq!(client.ask(all)?.hit_before, Some(true));

        let add = client.ask(Set::new(k, &data).mode(SetMode::Add))?;
        assert_eq!(add.status, Status::NotStored);
        let cas = stored.cas.unwrap_or_default();
        let swap = Set::new(k, &data).if_cas(cas + 100);
        assert_eq!(client.ask(swap)?.status, Status::Exists);
        let append = Set::new(k, &data).mode(SetMode::Append).if_cas(cas);
        assert_eq!(client.ask(append)?.status, Status::Done);
        let size = client.ask(Get::new(k).size().touch(seconds(1000)))?.size;
        assert_eq!(size, Some(10));
        let left = client.ask(Get::new(k).ttl())?.ttl;
        assert!(matches!(left, Some(Ttl::Seconds(990..=1000))), "{left:?}");

        let item = client.ask(Command::Inspect(k.into()))?;
        assert_eq!(item.status, Status::Item);
        let item = item.item.unwrap_or_default();
        assert_eq!(item.class, Some(1));
        assert!(matches!(item.ttl, Some(Ttl::Seconds(990..=1000))));
        assert_eq!(client.ask(Delete::new(k).if_cas(1))?.status, Status::Exists);
        assert_eq!(client.ask(Delete::new(k).opaque(3))?.opaque, Some(3));
        assert_eq!(client.ask(Delete::new(k))?.status, Status::NotFound);
        let gone = client.ask(Command::Inspect(k.into()))?;
        assert_eq!(gone.status, Status::Miss);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_reader_of_many_is_told_to_fill_and_to_renew() -> io::Result<()> {
    with_both(|client| {
        let (k, data) = (key("k"), Bytes::from_static(b"v"));
        let lease = |client: &mut Client| {
            let reply = client.ask(Get::new(k).value().cas().vivify(seconds(30)))?;
            Ok::<_, io::Error>((reply.won, reply.stale, reply.recaching, reply.cas))
        };
        let (won, stale, recaching, placeholder) = lease(client)?;
        assert_eq!((won, stale, recaching), (true, false, false));
        let (won, stale, recaching, cas) = lease(client)?;
        assert_eq!((won, stale, recaching), (false, false, true));
        assert_eq!(cas, placeholder);

        // Filled, unless somebody has changed the item meanwhile.
        let fill = Set::new(k, &data).if_cas(cas.unwrap_or_default());
        let fill = fill.expires(seconds(100));
        assert_eq!(client.ask(fill)?.status, Status::Done);
        assert_eq!(client.ask(fill)?.status, Status::Exists);
        let (won, stale, recaching, cas) = lease(client)?;
        assert_eq!((won, stale, recaching), (false, false, false));

        // Renewed before it expires.
        let early = Get::new(k).recache_below(200);
        assert!(client.ask(early)?.won);
        let second = client.ask(early)?;
        assert!(!second.won && second.recaching);

        // Marked stale, and served so while one renews it.
        let invalidate = Delete::new(k).invalidate(Some(seconds(60)));
        assert_eq!(client.ask(invalidate)?.status, Status::Done);
        let (won, stale, recaching, stale_cas) = lease(client)?;
        assert_eq!((won, stale, recaching), (true, true, false));
        assert_ne!(stale_cas, cas);
        let (won, stale, recaching, _) = lease(client)?;
        assert_eq!((won, stale, recaching), (false, true, true));
        // A late value, of before that, is kept as a stale one.
        let late = Set::new(k, &data)
            .if_cas(cas.unwrap_or_default())
            .invalidate();
        assert_eq!(client.ask(late)?.status, Status::Done);
        let (won, stale, recaching, _) = lease(client)?;
        assert_eq!((won, stale, recaching), (false, true, true));
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn binary_keys_and_counters() -> io::Result<()> {
    with_both(|client| {
        let bytes: Vec<u8> = (0..186).collect();
        let binary = BinaryKey::new(&bytes).map_err(io::Error::other)?;
        let count = Arithmetic::increment(binary, 5)
            .initial(40, Expiry::NEVER)
            .return_value()
            .return_key()
            .opaque(9);
        for expected in [40, 45, 50] {
            let reply = client.ask(count)?;
            assert_eq!(reply.number(), Some(expected));
            assert_eq!(reply.key.as_deref(), Some(&bytes[..]));
            assert_eq!(reply.opaque, Some(9));
        }
        let down = Arithmetic::decrement(binary, 100).return_value();
        assert_eq!(client.ask(down)?.number(), Some(0));
        let none = Arithmetic::increment(key("none"), 1).return_value();
        assert_eq!(client.ask(none)?.status, Status::NotFound);
        let read = client.ask(Get::new(binary).value().return_key().opaque(4))?;
        assert_eq!((read.number(), read.opaque), (Some(0), Some(4)));
        let removed = client.ask(Delete::new(binary).return_key())?;
        assert_eq!(removed.key.as_deref(), Some(&bytes[..]));

        let data = Bytes::from_static(b"v");
        client.ask(Set::new(binary, &data))?;
        let item = client.ask(Command::Inspect(binary.into()))?;
        assert_eq!(item.key.as_deref(), Some(&bytes[..]));
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_are_under_way_among_classic_ones() -> io::Result<()> {
    with_both(|client| {
        let names: Vec<_> = (0..200).map(|number| format!("key:{number}")).collect();
        let data: Vec<_> = names.iter().cloned().map(Bytes::from).collect();
        let sets = names.iter().zip(&data).map(|(name, data)| {
            let set = Set::new(key(name), data).return_key();
            Request::Meta(set.into())
        });
        client.ask_all(sets)?;
        let gets = (0_u32..).zip(&names).map(|(number, name)| {
            let get = Get::new(key(name)).value().return_key().opaque(number);
            match number % 3 {
                0 => Request::Get {
                    key: key(name),
                    cas: true,
                },
                _ => Request::Meta(get.into()),
            }
        });
        let replies = client.ask_all(gets)?;
        for (reply, data) in replies.into_iter().zip(data) {
            match reply {
                Reply::Value(value) => assert_eq!(value.data, data),
                Reply::Meta(reply) => assert_eq!(reply.value, Some(data)),
                other => panic!("{other:?}"),
            }
        }
        Ok(())
    })
    .await
}

#[test]
fn the_server_says_which_flags_it_knows() -> io::Result<()> {
    let real = RealMemcached::start()?;
    let mut client = Client::connect(real.addr())?;
    let replies = client.ask_all([Request::Version])?;
    let Some(Reply::Version(version)) = replies.first() else {
        panic!("{replies:?}");
    };
    let version = ServerVersion::parse(version).expect("memcached has a version");
    let (k, data) = (key("k"), Bytes::from_static(b"v"));
    let refused: [Command<'_>; 4] = [
        Get::new(k).new_cas(1).into(),
        Set::new(k, &data).new_cas(1).into(),
        Delete::new(k).remove_value().into(),
        Arithmetic::increment(k, 1).new_cas(1).into(),
    ];
    for command in refused {
        let replies = client.ask_all([Request::Meta(command)])?;
        let refused = matches!(replies[..], [Reply::Error(_)]);
        assert_eq!(
            command.check_version(version).is_err(),
            refused,
            "{command:?}"
        );
    }
    Ok(())
}
