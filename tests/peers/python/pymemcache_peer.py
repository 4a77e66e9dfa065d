"""pymemcache: `pymemcache_peer.py PLACEMENT NODE=WEIGHT...`"""

import asyncio
import sys

from pymemcache.client.hash import HashClient
from pymemcache.serde import CompressedSerde

from session import serve
from values import VALUES


class Peer:
    def __init__(self, placement, nodes):
        servers = [node.rpartition("=")[0] for node in nodes]
        self.client = HashClient(servers, serde=CompressedSerde(), allow_unicode_keys=True, default_noreply=False)
        self.keys_are_bytes = placement == "pymemcache:bytes"

    def key(self, key):
        return key if self.keys_are_bytes else key.decode()

    async def set(self, key, value):
        assert self.client.set(self.key(key), value)

    async def get(self, key):
        return self.client.get(self.key(key))

    async def put(self, key, name):
        assert self.client.set(self.key(key), VALUES[name])


asyncio.run(serve(Peer(sys.argv[1], sys.argv[2:])))
