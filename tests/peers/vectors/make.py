"""Writes vectors: where the real clients put keys, for crates/selection/tests/vectors/peers.json.

Takes commands that answer, each with the word that placements begin with:

    make.py gomemcache=target/owners-go 'spymemcached=java -cp ... Owners' ... >peers.json

A command is asked by lines of a placement, the members as NAME*WEIGHT and the keys in hexadecimal, and
answers each by a line of the owners' indices.
"""

import json
import random
import shlex
import subprocess
import sys

LIBMEMCACHED_HASHES = "one_at_a_time md5 crc fnv1_64 fnv1a_64 fnv1_32 fnv1a_32 murmur jenkins murmur3".split()
TWEMPROXY_HASHES = "one_at_a_time md5 crc16 crc32 crc32a fnv1_64 fnv1a_64 fnv1_32 fnv1a_32 hsieh murmur jenkins".split()
SPYMEMCACHED_HASHES = "native crc fnv1_64 fnv1a_64 fnv1_32 fnv1a_32 ketama".split()


def text_keys(dice):
    keys = ["a", "~", "user:7", "session/0b1c?v=2", "x" * 249, "y" * 250, "'", '"', "'\"", "\\", "{tag}:1", "%00", "100%"]
    keys += ["é", "ÿ", "Ā", "日本語", "ключ:1", "a\u0301", "\U0001f600", "k\U0001f680y:\U00010348", "nb\u00a0sp", "ß" * 125]
    letters = "abcXYZ0189:_-./é語\U0001f600"
    keys += ["".join(dice.choices(letters, k=length)) for length in range(1, 41)]
    keys += [f"{dice.choice(['page', 'user', 'cart'])}:{dice.randrange(10**dice.randrange(1, 12))}" for _ in range(57)]
    return [key.encode() for key in keys]


def byte_keys(dice):
    """What no text in UTF-8 is, and what only some clients take for a key."""
    keys = [b"\x80", b"\xff" * 8, b"\x7f", b"\x01\x02", b"a\x1bz", b"\xc3", b"\xed\xa0\x80", b"it's\xff", b'"\xfe', b"'\"\xfd"]
    allowed = [*range(0x21, 0x7F), *range(0x80, 0x100)]
    return keys + [bytes(dice.choices(allowed, k=length)) for length in range(1, 51)]


def even(*names):
    return [(name, 1) for name in names]


def clusters(dice):
    ports = [11211, 11211, 11212, 22122, 1, 65535]

    def ip():
        return ".".join(str(dice.randrange(1, 255)) for _ in range(4))

    ips = even(*(f"{ip()}:{dice.choice(ports)}" for _ in range(12)))
    return {
        "one": even("10.0.0.1:11211"),
        "two": even("10.0.0.2:11211", "10.0.0.1:11211"),
        "default ports": even("10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.10:11211"),
        "one host": even(*(f"127.0.0.1:{port}" for port in (20003, 20001, 20002, 200))),
        "mixed": ips,
        "25": even(*(f"10.7.0.{n}:{11211 + n % 3}" for n in range(25, 0, -1))),
        "names": even("cache-b.example.com:11211", "cache-a.example.com:11211", "cache-a.example.com:11212", "z:11211", "localhost:11211"),
        "resolved": even("cache-b.example.com/10.0.0.2:11211", "cache-a.example.com/10.0.0.1:11211", "localhost/127.0.0.1:11212"),
        "IPv6": even("[2001:db8::7]:11211", "[::1]:11212", "10.0.0.1:11211"),
        "sockets": even("unix:/run/memcached/b.sock", "unix:/run/memcached/a.sock", "unix:/tmp/c"),
        "weights": [("10.0.0.1:11211", 1), ("10.0.0.2:11211", 3), ("10.0.0.3:11212", 2), ("10.0.0.9:11211", 7)],
        "equal weights": [(name, 2) for name, _ in ips[:5]],
        "weighted names": [("cache-b:11211", 5), ("cache-a:11211", 1), ("cache-a:11213", 4), ("c:11211", 100), ("long-name.example.com:1", 33)],
    }


def cases():
    """Placement, names of clusters and kinds of keys."""
    numeric = ["one", "two", "default ports", "one host", "mixed", "25"]
    named = [*numeric, "names"]
    weighted = ["weights", "equal weights", "weighted names"]
    yield "gomemcache", [*numeric, "IPv6", "sockets"], ["text", "bytes"]
    yield "pymemcache", [*named, "IPv6", "sockets"], ["text"]
    yield "pymemcache:bytes", [*named, "IPv6", "sockets"], ["text", "bytes"]
    yield "uhashring", [*named, *weighted], ["text"]
    yield "uhashring:ketama", [*named, *weighted], ["text"]
    yield "uhashring by meta-memcache", [*named, "IPv6"], ["text"]
    yield "memcachio", [*named, "IPv6", "sockets"], ["text"]
    yield "dalli", [*named, *weighted, "IPv6", "sockets"], ["text"]
    for hash_name in SPYMEMCACHED_HASHES:
        yield f"spymemcached-modula:{hash_name}", ["one", "two", "mixed"], ["text"]
    for variant in ["", ":libmemcached"]:
        yield f"spymemcached-ketama{variant}", [*numeric, "resolved", "weights", "equal weights"], ["text"]
    for hash_name in LIBMEMCACHED_HASHES:
        yield f"libmemcached-modula:{hash_name}", ["two", "mixed", "weights"], ["text", "bytes"]
        yield f"libmemcached-ketama:{hash_name}", ["mixed", "weights"], ["text", "bytes"]
        yield f"libmemcached-ketama-weighted:{hash_name}", ["mixed", "weights"], ["text", "bytes"]
        yield f"libmemcached-ketama-spy:{hash_name}", ["mixed"], ["text"]
        yield f"libmemcached-ketama-weighted-spy:{hash_name}", ["mixed"], ["text"]
    for family in ["ketama", "ketama-weighted", "ketama-spy", "ketama-weighted-spy"]:
        yield f"libmemcached-{family}", [*named, *weighted, "IPv6", "sockets"], ["text"]
    for hash_name in TWEMPROXY_HASHES:
        yield f"twemproxy-ketama:{hash_name}", ["weighted names"], ["text"]
        yield f"twemproxy-modula:{hash_name}", ["weighted names"], ["text"]
    for placement in ["twemproxy-ketama:fnv1a_64", "twemproxy-modula:fnv1a_64"]:
        yield placement, [*named, "weights", "equal weights"], ["text", "bytes"]


def ask(command, questions):
    answers = subprocess.run(shlex.split(command), input="".join(questions), text=True, stdout=subprocess.PIPE, check=True)
    return [[int(owner) for owner in line.split()] for line in answers.stdout.splitlines()]


def main():
    dice = random.Random(7)
    keys = {"text": text_keys(dice), "bytes": byte_keys(dice)}
    members = clusters(dice)
    wanted = [(placement, cluster, kind) for placement, names, kinds in cases() for cluster in names for kind in kinds]
    wanted = list(dict.fromkeys(wanted))
    vectors = []
    for argument in sys.argv[1:]:
        prefix, _, command = argument.partition("=")
        chosen = [case for case in wanted if case[0].startswith(prefix)]
        questions = []
        for placement, cluster, kind in chosen:
            names = " ".join(f"{name}*{weight}" for name, weight in members[cluster])
            questions.append(f"{placement}\t{names}\t{' '.join(key.hex() for key in keys[kind])}\n")
        answers = ask(command, questions)
        assert len(answers) == len(chosen), f"{command}: {len(answers)} answers to {len(chosen)} questions"
        for (placement, cluster, kind), owners in zip(chosen, answers):
            assert len(owners) == len(keys[kind]) and all(0 <= owner < len(members[cluster]) for owner in owners)
            scheme = placement.removesuffix(" by meta-memcache")
            vectors.append({"scheme": scheme, "cluster": cluster, "keys": kind, "owners": owners})
        print(f"{prefix}: {len(chosen)} vectors", file=sys.stderr)

    def lines(values):
        return ",\n".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values)

    print('{"keys":{')
    print(",\n".join(f'"{kind}":' + json.dumps([key.hex() for key in keys[kind]], separators=(",", ":")) for kind in keys))
    print('},"clusters":{')
    print(",\n".join(f'"{name}":' + json.dumps(members[name], separators=(",", ":")) for name in members))
    print('},"vectors":[')
    print(lines(vectors))
    print("]}")


if __name__ == "__main__":
    main()
