//! Keys are looked for where the other client has put them, and the other way round.

use steersman_memcached::Client;

use crate::keys;
use crate::peer::{Program, hexadecimal};
use crate::world::World;

/// The other client stores a thousand keys, each on one node; ours finds all of them, and it asks one node
/// only. Then ours stores, on empty nodes, and the other client finds all.
async fn agree(world: World, program: Program, placement: &str, keys: Vec<Vec<u8>>) {
    let mut peer = world.peer(program, placement);
    let client = world.client(placement);

    for (number, key) in keys.iter().enumerate() {
        peer.set(key, format!("theirs {number}").as_bytes());
    }
    assert_eq!(items(&client).await, keys.len(), "each key is on one node");
    for (number, key) in keys.iter().enumerate() {
        let found = client.get(key).await.unwrap();
        let found = found.map(|value| value.data);
        let theirs = format!("theirs {number}");
        assert_eq!(
            found.as_deref(),
            Some(theirs.as_bytes()),
            "{placement}: {}",
            key.escape_ascii()
        );
    }

    for (_, flushed) in client.flush_all().await {
        flushed.unwrap();
    }
    for (number, key) in keys.iter().enumerate() {
        client.set(key, format!("ours {number}")).await.unwrap();
    }
    for (number, key) in keys.iter().enumerate() {
        let ours = hexadecimal(format!("ours {number}").as_bytes());
        assert_eq!(
            peer.get(key),
            Some(ours),
            "{placement}: {}",
            key.escape_ascii()
        );
    }
}

/// How many items the nodes hold; none of them has none.
async fn items(client: &Client) -> usize {
    let mut count = 0;
    for (node, stats) in client.stats("").await {
        let stats = stats.unwrap();
        let items = stats.iter().find(|(name, _)| name == "curr_items");
        let items: usize = items.unwrap().1.parse().unwrap();
        assert!(items > 0, "{node} holds no key");
        count += items;
    }
    count
}

macro_rules! agree {
    ($($name:ident: $program:ident, $placement:literal, $keys:ident, $world:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            agree($world, Program::$program, $placement, keys::$keys()).await;
        }
    )*};
}

agree! {
    emcache: Emcache, "emcache", bytes, World::start();
    emcache_by_host_name: Emcache, "emcache", text, World::start().on("localhost");
}
