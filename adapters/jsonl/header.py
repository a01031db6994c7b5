"""The first line of a snapshot, which says that it is one, and of which version."""

from __future__ import annotations

from typing import cast

import orjson

from interop.model import Json

VERSION = 1
"""Of the lines; raised when a reader of the version before would take them wrong."""
BOM = b"\xef\xbb\xbf"
BLANK = b'{"type":"snapshot","format":"interop-jsonl","version":1,"model":1,"end":true}\n'
"""A snapshot that says nothing yet: its header, with the versions of lines and model, and with the
promise that a line ends it."""

_SHORTEST = '{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}'


def version(data: bytes) -> int | None:
    """Give the version that the header states, or None where the first line is none."""
    line = data.partition(b"\n")[0].removeprefix(BOM)
    if b'"interop-jsonl"' not in line[:200]:
        return None  # most files are none: their first line need not be parsed
    try:
        head = cast("Json", orjson.loads(line))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(head, dict):
        return None
    stated = head.get("version")
    ours = head.get("type") == "snapshot" and head.get("format") == "interop-jsonl"
    return stated if ours and isinstance(stated, int) and stated > 0 else None


def check(data: bytes) -> str | None:
    """Say why these bytes are no snapshot that can be read here, or None."""
    found = version(data)
    if found is None:
        return f"is no snapshot: its first line is not {_SHORTEST}"
    if found > VERSION:
        return f"is a snapshot of version {found}, made by a newer interop: upgrade memory-interop"
    return None
