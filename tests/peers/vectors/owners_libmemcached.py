"""Where libmemcached puts keys: the questions and answers of make.py.

Takes the path of the shared library, or the system's libmemcached.so.11.
"""

import ctypes
import sys

HASH, KETAMA, DISTRIBUTION, KETAMA_WEIGHTED = 2, 3, 9, 16
KETAMA_SPY = 4
HASHES = ["one_at_a_time", "md5", "crc", "fnv1_64", "fnv1a_64", "fnv1_32", "fnv1a_32", "hsieh", "murmur", "jenkins", "murmur3"]

library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libmemcached.so.11")
library.memcached_create.restype = ctypes.c_void_p
library.memcached_create.argtypes = [ctypes.c_void_p]
library.memcached_free.argtypes = [ctypes.c_void_p]
library.memcached_behavior_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64]
library.memcached_server_add_with_weight.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint16, ctypes.c_uint32]
library.memcached_server_add_unix_socket_with_weight.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32]
library.memcached_generate_hash.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
library.memcached_generate_hash.restype = ctypes.c_uint32


def behave(client, behaviour, value):
    result = library.memcached_behavior_set(client, behaviour, value)
    assert result == 0, f"behaviour {behaviour} = {value}: {result}"


def configure(client, family, hash_name):
    if "weighted" in family:
        behave(client, KETAMA_WEIGHTED, 1)
    elif family == "libmemcached-ketama":
        behave(client, KETAMA, 1)
    if hash_name:
        behave(client, HASH, HASHES.index(hash_name))
    if family.endswith("-spy"):
        behave(client, DISTRIBUTION, KETAMA_SPY)


def main():
    for question in sys.stdin:
        placement, members, keys = question.rstrip("\n").split("\t")
        client = library.memcached_create(None)
        configure(client, *placement.partition(":")[::2])
        for member in members.split(" "):
            name, _, weight = member.rpartition("*")
            if name.startswith("unix:"):
                path = name.removeprefix("unix:").encode()
                result = library.memcached_server_add_unix_socket_with_weight(client, path, int(weight))
            else:
                host, port = name.rsplit(":", 1)
                host = host.strip("[]").encode()
                result = library.memcached_server_add_with_weight(client, host, int(port), int(weight))
            assert result == 0, f"{member}: {result}"
        keys = [bytes.fromhex(key) for key in keys.split(" ")]
        print(*(library.memcached_generate_hash(client, key, len(key)) for key in keys), flush=True)
        library.memcached_free(client)


if __name__ == "__main__":
    main()
