"""libmc: a C++ client behind Python, blocking, a thread for each task, its own pool of
connections, for which threads wait."""

import sys

import libmc

from contract import Order, conduct_threads


def main(order):
    client = libmc.ThreadedClient([f"{order.host}:{order.port}"])
    client.config(libmc.MC_INITIAL_CLIENTS, order.connections)
    client.config(libmc.MC_MAX_CLIENTS, order.connections)
    size = len(order.value)

    def get(key):
        value = client.get(key)
        return value is not None and len(value) == size

    def set(key):
        return client.set(key, order.value)

    once = get if order.operation == "get" else set

    conduct_threads(order, lambda number: once)


if __name__ == "__main__":
    main(Order.from_args(sys.argv[1:]))
