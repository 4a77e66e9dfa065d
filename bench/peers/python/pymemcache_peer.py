"""pymemcache: blocking, a thread for each task. Its pool fails when no connection is free, so the
threads queue for so many clients, each thread always for the same."""

import sys
import threading

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheError

from contract import Order, conduct_threads


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

    def operation_of(number):
        lock, client = clients[number % len(clients)]

        def succeeds(key):
            try:
                with lock:
                    return once(client, key)
            except (MemcacheError, OSError):
                return False

        return succeeds

    conduct_threads(order, operation_of)


if __name__ == "__main__":
    main(Order.from_args(sys.argv[1:]))
