"""pymemcache: blocking, a thread for each task. Its pool fails when no connection is free, so the
threads queue for so many clients, each thread always for the same."""

import itertools
import sys
import threading

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheError

from contract import COUNTING, WARMING, Order, conduct_threads


def main(order):
    clients = [
        (threading.Lock(), Client((order.host, order.port), no_delay=True, timeout=1))
        for _ in range(order.connections)
    ]
    size = len(order.value)

    def get(client, key):
        value = client.get(key)
        return value is not None and len(value) == size

    def set(client, key):
        return client.set(key, order.value, noreply=False)

    once = get if order.operation == "get" else set

    def work(number, phase, count):
        lock, client = clients[number % len(clients)]
        keys = itertools.cycle(order.keys(number))

        def succeeds():
            try:
                with lock:
                    return once(client, next(keys))
            except (MemcacheError, OSError):
                return False

        while phase.now == WARMING:
            succeeds()
        while phase.now == COUNTING:
            if succeeds():
                count.operations += 1
            else:
                count.errors += 1

    conduct_threads(order, work)


if __name__ == "__main__":
    main(Order.from_args(sys.argv[1:]))
