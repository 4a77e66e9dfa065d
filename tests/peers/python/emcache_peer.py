"""emcache: `emcache_peer.py PLACEMENT NODE=WEIGHT...`"""

import asyncio
import sys

import emcache

from session import serve
from values import VALUES


class Peer:
    def __init__(self, client):
        self.client = client

    async def set(self, key, value):
        await self.client.set(key, value)

    async def get(self, key):
        item = await self.client.get(key)
        return None if item is None else item.value

    async def put(self, key, name):
        """It stores bytes alone."""
        value = VALUES[name]
        await self.client.set(key, value if isinstance(value, bytes) else str(value).encode())


async def main():
    addresses = []
    for node in sys.argv[2:]:
        host, port = node.rpartition("=")[0].rsplit(":", 1)
        addresses.append(emcache.MemcachedHostAddress(host, int(port)))
    client = await emcache.create_client(addresses)
    await serve(Peer(client))
    await client.close()


asyncio.run(main())
