"""The questions and answers between the tests and a peer, for Python: see ../README.md."""

import sys


async def serve(peer):
    """Answers each line until there are no more. The peer has the functions `set`, `get` and `put`, whose
    keys and raw values are bytes."""
    for line in sys.stdin:
        verb, key, *rest = line.split()
        try:
            key = bytes.fromhex(key)
            match verb:
                case "set":
                    await peer.set(key, bytes.fromhex(rest[0]))
                    answer = "ok"
                case "get":
                    value = await peer.get(key)
                    answer = "missing" if value is None else f"={value.hex()}"
                case "put":
                    await peer.put(key, rest[0])
                    answer = "ok"
                case _:
                    answer = f"error unknown verb {verb}"
        except Exception as error:
            answer = f"error {error!r}"
        print(answer, flush=True)
