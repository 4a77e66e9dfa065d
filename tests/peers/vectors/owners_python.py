"""Where pymemcache, uhashring, meta-memcache and memcachio put keys: the questions and answers of make.py."""

import sys
from pathlib import Path

from memcachio.pool import ClusterPool
from memcachio.types import TCPEndpoint
from meta_memcache.configuration import ServerAddress
from meta_memcache.connection.providers import HashRingConnectionPoolProvider
from meta_memcache.protocol import Key
from pymemcache.client.hash import HashClient
from uhashring import HashRing


def split(name):
    """Host and port of `host:port` or `[v6]:port`, or the path of a socket."""
    if name.startswith("unix:"):
        return name.removeprefix("unix:")
    host, port = name.rsplit(":", 1)
    return host.strip("[]"), int(port)


def pymemcache(variant, members):
    servers = [split(name) for name, _ in members]
    client = HashClient(servers, allow_unicode_keys=True)

    def owner(key):
        return servers.index(client._get_client(key if variant == "bytes" else key.decode()).server)

    return owner


def uhashring(variant, members):
    ring = HashRing(dict(members), hash_fn=variant or None)
    names = [name for name, _ in members]
    return lambda key: names.index(ring.get_node(key.decode()))


def meta_memcache(_variant, members):
    indices = {ServerAddress(*split(name)): index for index, (name, _) in enumerate(members)}
    provider = HashRingConnectionPoolProvider(indices)
    return lambda key: provider.get_pool(Key(key.decode()))


def memcachio(_variant, members):
    endpoints = [
        Path(place) if isinstance(place, str) else TCPEndpoint(*place)
        for place in (split(name) for name, _ in members)
    ]
    router = ClusterPool(endpoints)._router
    return lambda key: endpoints.index(router.get_node(key.decode()))


FAMILIES = {
    "pymemcache": pymemcache,
    "uhashring": uhashring,
    "uhashring by meta-memcache": meta_memcache,
    "memcachio": memcachio,
}


def main():
    for question in sys.stdin:
        placement, members, keys = question.rstrip("\n").split("\t")
        family, _, variant = placement.partition(":")
        members = [(name, int(weight)) for name, _, weight in (m.rpartition("*") for m in members.split(" "))]
        owner = FAMILIES[family](variant, members)
        print(*(owner(bytes.fromhex(key)) for key in keys.split(" ")), flush=True)


if __name__ == "__main__":
    main()
