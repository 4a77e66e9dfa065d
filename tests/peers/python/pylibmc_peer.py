"""pylibmc, and so libmemcached: `pylibmc_peer.py PLACEMENT NODE=WEIGHT...`"""

import asyncio
import sys

import pylibmc

from session import serve
from values import VALUES

FAMILIES = {
    "libmemcached-modula": {"distribution": "modula"},
    "libmemcached-ketama": {"ketama": True},
    "libmemcached-ketama-weighted": {"ketama_weighted": True},
}


class Peer:
    def __init__(self, placement, nodes):
        family, _, hash_name = placement.partition(":")
        behaviors = dict(FAMILIES[family])
        # Together: a hash that is set later is not that of the ring's points.
        if hash_name:
            behaviors["hash"] = hash_name
        self.client = pylibmc.Client([node.replace("=", ":") for node in nodes], behaviors=behaviors)

    async def set(self, key, value):
        assert self.client.set(key, value)

    async def get(self, key):
        return self.client.get(key)

    async def put(self, key, name):
        assert self.client.set(key, VALUES[name], min_compress_len=1000)


asyncio.run(serve(Peer(sys.argv[1], sys.argv[2:])))
