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
    pymemcache: Pymemcache, "pymemcache", text, World::start();
    pymemcache_with_bytes: Pymemcache, "pymemcache:bytes", bytes, World::start();
    emcache: Emcache, "emcache", bytes, World::start();
    emcache_by_host_name: Emcache, "emcache", text, World::start().on("localhost");
    pylibmc_by_default: Pylibmc, "libmemcached-modula", bytes, World::start();
    pylibmc_modula_by_crc: Pylibmc, "libmemcached-modula:crc", bytes, World::start();
    pylibmc_ketama: Pylibmc, "libmemcached-ketama", bytes, World::start();
    pylibmc_ketama_by_md5: Pylibmc, "libmemcached-ketama:md5", bytes, World::start();
    pylibmc_ketama_weighted: Pylibmc, "libmemcached-ketama-weighted", bytes, World::start().weighted([1, 3, 2]);
    spymemcached_by_default: Spymemcached, "spymemcached-modula", text, World::start();
    spymemcached_modula_by_fnv: Spymemcached, "spymemcached-modula:fnv1a_64", text, World::start();
    spymemcached_ketama: Spymemcached, "spymemcached-ketama", text, World::start();
    spymemcached_ketama_weighted: Spymemcached, "spymemcached-ketama", text, World::start().weighted([1, 3, 2]);
    spymemcached_ketama_with_names_of_libmemcached:
        Spymemcached, "spymemcached-ketama:libmemcached", text, World::start().on("localhost");
    gomemcache: Gomemcache, "gomemcache", bytes, World::start();
}
