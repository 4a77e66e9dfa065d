//! Values that the other clients stored as they store values of their languages' types, read by the codec
//! for their layout.

use serde::Deserialize;
use steersman_memcached::Client;
use steersman_memcached::codec::{
    CodecError, CodecErrorKind, Decode, Json, JsonText, Pylibmc, Pymemcache, Scalar, Spymemcached,
    Utf8,
};

use crate::peer::{Peer, Program};
use crate::world::World;

const TEXT: &str = "grüß dich 日本";
/// The length of `long-text`.
const LONG: usize = 6000;

#[derive(Debug, PartialEq, Deserialize)]
struct Visitor {
    name: String,
    visits: Vec<u8>,
}

fn ada() -> Visitor {
    Visitor {
        name: "Ada".to_owned(),
        visits: vec![1, 2, 3],
    }
}

/// A client of each side, on the same server.
struct Pair {
    peer: Peer,
    client: Client,
    #[expect(dead_code, reason = "it ends its server when it is dropped")]
    world: World,
}

impl Pair {
    fn start(program: Program, placement: &str) -> Self {
        let world = World::alone();
        Self {
            peer: world.peer(program, placement),
            client: world.client("rendezvous"),
            world,
        }
    }

    /// What the codec makes of the value of that name, which the other client stores.
    async fn exchange<T>(&mut self, codec: impl Decode<T> + Clone, name: &str) -> T {
        self.peer.put(name, name);
        let value = self.client.typed(codec).get(name).await;
        let value = value.unwrap_or_else(|error| panic!("{name}: {error}"));
        value.unwrap_or_else(|| panic!("{name} is not there"))
    }

    /// How the value is refused.
    async fn refusal(
        &mut self,
        codec: impl Decode<Scalar> + Clone,
        name: &str,
    ) -> (CodecErrorKind, String) {
        self.peer.put(name, name);
        let error = self.client.typed(codec).get(name).await.unwrap_err();
        let kind = error.codec_error().map(CodecError::kind);
        (kind.unwrap_or_else(|| panic!("{error}")), error.to_string())
    }

    /// How many bytes a server keeps for the value.
    async fn stored_len(&mut self, name: &str) -> usize {
        let value = self.client.get(name).await.unwrap();
        value.map_or(0, |value| value.data.len())
    }

    /// What all layouts with types have in common; `foreign` is what objects are serialised by.
    async fn exchange_all<C>(&mut self, codec: C, foreign: &str)
    where
        C: Clone + Decode<String> + Decode<i64> + Decode<Vec<u8>> + Decode<Scalar>,
        JsonText<C>: Decode<Visitor>,
    {
        let text: String = self.exchange(codec.clone(), "text").await;
        assert_eq!(text, TEXT);
        for (name, number) in [("integer", 70_000), ("negative", -5)] {
            let read: i64 = self.exchange(codec.clone(), name).await;
            assert_eq!(read, number);
        }
        let visitor: Visitor = self.exchange(JsonText(codec.clone()), "json").await;
        assert_eq!(visitor, ada());

        let long: String = self.exchange(codec.clone(), "long-text").await;
        assert_eq!(long, "abcdef".repeat(1000));
        let bytes: Vec<u8> = self.exchange(codec.clone(), "long-bytes").await;
        assert_eq!(bytes, [0; 5000]);
        for name in ["long-text", "long-bytes"] {
            assert!(self.stored_len(name).await < LONG / 10, "it is compressed");
        }

        let (kind, says) = self.refusal(codec, "object").await;
        assert_eq!(kind, CodecErrorKind::Unsupported);
        assert!(says.contains(foreign), "{says}");
    }
}

#[tokio::test]
async fn pymemcache_values() {
    let mut pair = Pair::start(Program::Pymemcache, "pymemcache");
    pair.exchange_all(Pymemcache, "Python's pickle").await;
    let (kind, says) = pair.refusal(Pymemcache, "boolean").await;
    assert_eq!(kind, CodecErrorKind::Unsupported);
    assert!(says.contains("pickle"), "{says}");
}

#[tokio::test]
async fn pylibmc_values() {
    let mut pair = Pair::start(Program::Pylibmc, "libmemcached-modula");
    pair.exchange_all(Pylibmc, "Python's pickle").await;
    let boolean: bool = pair.exchange(Pylibmc, "boolean").await;
    assert!(boolean);
}

#[tokio::test]
async fn spymemcached_values() {
    let mut pair = Pair::start(Program::Spymemcached, "spymemcached-modula");
    pair.exchange_all(Spymemcached, "Java").await;
    let boolean: bool = pair.exchange(Spymemcached, "boolean").await;
    assert!(boolean);
    let float: Scalar = pair.exchange(Spymemcached, "float").await;
    assert_eq!(float, Scalar::Float(1.5));
}

/// Bytes as they are: without flags that tell a type, and never compressed.
async fn exchange_plain(program: Program, placement: &str) {
    let mut pair = Pair::start(program, placement);
    for name in ["text", "integer", "json", "long-text", "long-bytes"] {
        pair.peer.put(name, name);
    }
    let texts = pair.client.typed(Utf8).read_unmarked();
    let objects = pair.client.typed(Json).read_unmarked();
    let text: Option<String> = texts.get("text").await.unwrap();
    assert_eq!(text.as_deref(), Some(TEXT));
    let number: Option<u32> = objects.get("integer").await.unwrap();
    assert_eq!(number, Some(70_000));
    let visitor: Option<Visitor> = objects.get("json").await.unwrap();
    assert_eq!(visitor, Some(ada()));
    assert_eq!(pair.stored_len("long-text").await, LONG);
    let bytes = pair.client.get("long-bytes").await.unwrap().unwrap();
    assert_eq!((&bytes.data[..], bytes.flags), (&[0; 5000][..], 0));
}

#[tokio::test]
async fn emcache_values() {
    exchange_plain(Program::Emcache, "emcache").await;
}

#[tokio::test]
async fn gomemcache_values() {
    exchange_plain(Program::Gomemcache, "gomemcache").await;
}
