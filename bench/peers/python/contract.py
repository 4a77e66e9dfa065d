"""The contract of the measured programs, for Python: the same as in ../../contract."""

import itertools
import json
import sys
import threading
import time
from dataclasses import dataclass

KEYS = 10_000
BYTES = 64 * 1024 * 1024
KEYS_PER_TASK = 16
WARM_UP = 0.2
WARMING, COUNTING, OVER = range(3)


@dataclass
class Order:
    """What a program is told to do."""

    host: str
    port: int
    connections: int
    tasks: int
    seconds: float
    operation: str
    value: bytes

    @classmethod
    def from_args(cls, args):
        if len(args) != 6 or args[4] not in ("get", "set"):
            sys.exit("usage: HOST:PORT CONNECTIONS TASKS SECONDS get|set VALUE_SIZE")
        host, port = args[0].rsplit(":", 1)
        return cls(
            host=host,
            port=int(port),
            connections=int(args[1]),
            tasks=int(args[2]),
            seconds=float(args[3]),
            operation=args[4],
            value=b"x" * int(args[5]),
        )

    def keys(self, task):
        """The keys of that task, as text."""
        count = max(1, min(KEYS, BYTES // max(1, len(self.value))))
        return [f"key{(task * 7919 + index * 31) % count:05}" for index in range(KEYS_PER_TASK)]


class Phase:
    """What all tasks look at before each operation."""

    def __init__(self):
        self.now = WARMING


class Count:
    """What a task did while operations were counted."""

    def __init__(self):
        self.operations = 0
        self.errors = 0


def conduct_threads(order, operation_of):
    """Runs a thread for each task, which does the operation_of(number) on one key after the other, and
    prints what came of it. An operation takes a key and says whether it succeeded."""
    phase = Phase()
    counts = [Count() for _ in range(order.tasks)]

    def work(number, count):
        keys = itertools.cycle(order.keys(number))
        once = operation_of(number)
        while phase.now == WARMING:
            once(next(keys))
        while phase.now == COUNTING:
            if once(next(keys)):
                count.operations += 1
            else:
                count.errors += 1

    threads = [
        threading.Thread(target=work, args=(number, count), daemon=True)
        for number, count in enumerate(counts)
    ]
    for thread in threads:
        thread.start()
    time.sleep(WARM_UP)
    began = time.perf_counter()
    phase.now = COUNTING
    time.sleep(order.seconds)
    phase.now = OVER
    seconds = time.perf_counter() - began
    for thread in threads:
        thread.join()
    report(counts, seconds)


def report(counts, seconds):
    """Prints the outcome."""
    operations = sum(count.operations for count in counts)
    errors = sum(count.errors for count in counts)
    print(json.dumps({"operations": operations, "seconds": seconds, "errors": errors}))
