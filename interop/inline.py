"""The complement inside of the one file that a store is: taken out of it, and put back.

Its lines follow those of the store, as a block. Lines that somebody added behind them are the
store's all the same: a line is the complement's when it says so, wherever it stands.
"""

from __future__ import annotations

import re
from typing import cast

import orjson

from interop.model import Json

TYPES = ("complement", "source", "file", "record")
"""What the lines of a complement call themselves."""

_ROLE = b'{"role":"'
_FIRST = re.compile(rb'[ \t]*\{[ \t]*"type"[ \t]*:[ \t]*"(?:complement|source|file|record)"')
_TYPE = re.compile(rb'(?<!\\)"type"[ \t]*:')


def split(data: bytes) -> tuple[bytes, bytes | None]:
    """Give the store's own bytes and the complement's, or None where there is no complement."""
    own: list[bytes] = []
    beside: list[bytes] = []
    later = 0
    lines = data.split(b"\n")
    for line in lines:
        if _is_complement(line):
            beside.append(line)
            later = len(own)
        else:
            own.append(line)
    if not beside:
        return data, None
    marked = beside[0].startswith(_UNENDED)
    beside[0] = beside[0].removeprefix(_UNENDED)
    text = b"\n".join(own)
    if later == len(own) and own:
        text += b"\n"  # the last line of all is the complement's, so every other one ends
    if marked and own[later:] in ([], [b""]):
        text = text.removesuffix(b"\n")
    return text, b"".join(line + b"\n" for line in beside)


def join(own: bytes, complement: bytes | None) -> bytes:
    """Put the complement's lines behind the store's."""
    if complement is None:
        return own
    if not own or own.endswith(b"\n"):
        return own + complement
    return own + b"\n" + _UNENDED + complement


_UNENDED = b" "
"""Before the complement's first line: the line end before it is not the store's own."""


def _is_complement(line: bytes) -> bool:
    if line.startswith(_ROLE):
        return False  # by far the most lines
    if _FIRST.match(line):
        return True
    if b'"type"' not in line or not _TYPE.search(line):
        return False
    # another program may have written the line anew, with its members in another order
    try:
        item = cast("Json", orjson.loads(line))
    except orjson.JSONDecodeError:
        return False
    return isinstance(item, dict) and item.get("type") in TYPES and "role" not in item
