"""emcache on uvloop. `--autobatching` comes before the arguments of the contract."""

import asyncio
import itertools
import sys
import time

import emcache
import uvloop

from contract import COUNTING, OVER, WARM_UP, Count, Order, Phase, report


async def main(order, autobatching):
    client = await emcache.create_client(
        [emcache.MemcachedHostAddress(order.host, order.port)],
        min_connections=order.connections,
        max_connections=order.connections,
        autobatching=autobatching,
    )
    size = len(order.value)

    async def get(key):
        item = await client.get(key)
        return item is not None and len(item.value) == size

    async def set(key):
        await client.set(key, order.value)
        return True

    once = get if order.operation == "get" else set
    phase = Phase()

    async def work(number, count):
        keys = itertools.cycle([key.encode() for key in order.keys(number)])
        while phase.now != OVER:
            try:
                done = await once(next(keys))
            except (asyncio.TimeoutError, OSError, emcache.CommandError, emcache.StorageCommandError):
                done = False
            if phase.now == COUNTING:
                count.operations += done
                count.errors += not done

    counts = [Count() for _ in range(order.tasks)]
    tasks = [asyncio.create_task(work(number, count)) for number, count in enumerate(counts)]
    await asyncio.sleep(WARM_UP)
    began = time.perf_counter()
    phase.now = COUNTING
    await asyncio.sleep(order.seconds)
    phase.now = OVER
    seconds = time.perf_counter() - began
    await asyncio.gather(*tasks)
    report(counts, seconds)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    batched = arguments[:1] == ["--autobatching"]
    uvloop.run(main(Order.from_args(arguments[batched:]), batched))
