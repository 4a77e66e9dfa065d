"""Where twemproxy puts keys: the questions and answers of make.py.

It has no library to ask, so this runs the proxy itself before real memcached servers, stores the keys
through it and looks where they are. Takes the path of `nutcracker`.
"""

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def process(port, *command):
    """Runs a program until it is no longer needed, from when it listens on the port."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                assert running.poll() is None, f"{command} has ended"
                time.sleep(0.01)
        yield
    finally:
        running.kill()
        running.wait()


def ask(stream, request):
    stream.write(request)
    stream.flush()
    return stream.readline()


def connect(port):
    return socket.create_connection(("127.0.0.1", port)).makefile("rwb")


def name_in_file(name):
    """A server that is given no name of its own has its address for one, without the usual port."""
    return name.removesuffix(":11211").strip("[]")


def owners(program, placement, members, keys):
    family, _, hash_name = placement.partition(":")
    ports = [free_port() for _ in members]
    front = free_port()
    with contextlib.ExitStack() as running:
        for port in ports:
            running.enter_context(process(port, "memcached", "-u", "root", "-l", "127.0.0.1", "-U", "0", "-p", str(port)))
        lines = ["pool:", f"  listen: 127.0.0.1:{front}", f"  hash: {hash_name}"]
        lines += [f"  distribution: {family.removeprefix('twemproxy-')}", "  servers:"]
        for port, (name, weight) in zip(ports, members):
            lines.append(f"   - 127.0.0.1:{port}:{weight} {name_in_file(name)}")
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "nutcracker.yml")
            config.write_text("\n".join(lines) + "\n")
            statistics = str(free_port())
            log = str(Path(folder, "log"))
            running.enter_context(process(front, program, "-c", str(config), "-s", statistics, "-o", log))
            proxy = connect(front)
            for key in keys:
                reply = ask(proxy, b"set " + key + b" 0 0 1\r\nx\r\n")
                assert reply == b"STORED\r\n", (key, reply)
        servers = [connect(port) for port in ports]
        for key in keys:
            holders = [n for n, server in enumerate(servers) if ask(server, b"touch " + key + b" 0\r\n") == b"TOUCHED\r\n"]
            assert len(holders) == 1, (key, holders)
            yield holders[0]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "nutcracker"
    for question in sys.stdin:
        placement, members, keys = question.rstrip("\n").split("\t")
        members = [member.rpartition("*")[::2] for member in members.split(" ")]
        keys = [bytes.fromhex(key) for key in keys.split(" ")]
        print(*owners(program, placement, members, keys), flush=True)


if __name__ == "__main__":
    main()
