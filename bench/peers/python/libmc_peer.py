"""libmc: a C++ client behind Python, blocking, a thread for each task, its own pool of
connections, for which threads wait."""

import itertools
import sys

import libmc

from contract import COUNTING, WARMING, Order, conduct_threads


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

    def work(number, phase, count):
        keys = itertools.cycle(order.keys(number))
        while phase.now == WARMING:
            once(next(keys))
        while phase.now == COUNTING:
            if once(next(keys)):
                count.operations += 1
            else:
                count.errors += 1

    conduct_threads(order, work)


if __name__ == "__main__":
    main(Order.from_args(sys.argv[1:]))
