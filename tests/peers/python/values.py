"""The values that `put` stores, by name: see ../README.md."""

import json

VALUES = {
    "text": "grüß dich 日本",
    "integer": 70_000,
    "negative": -5,
    "boolean": True,
    "json": json.dumps({"name": "Ada", "visits": [1, 2, 3]}),
    "long-text": "abcdef" * 1000,
    "long-bytes": bytes(5000),
    "object": ["of", {"this": "language"}],
}
