"""The complement inside of the one file that a store is: taken out of it, and put back.

Its lines follow those of the store, as a block, and behind them stands the line that ends the file:

    {"type":"end","complement":41}

Lines that somebody added behind them are the store's all the same: a line is the complement's when
it says so, wherever it stands. The end line tells a file that was cut off (a pipe that broke, a
disk that was full) from one that somebody edited: people add, reorder and remove lines, and leave
it; who cuts off takes it along.

Spec: docs/formats/jsonl.md, section 2.
"""

from __future__ import annotations

import re
from typing import NamedTuple, cast

import orjson

from interop.model import Json

TYPES = ("complement", "source", "file", "record")
"""What the lines of a complement call themselves."""
END = "end"
"""What the line calls itself that ends the file."""

_ROLE = b'{"role":"'
_FIRST = re.compile(rb'[ \t]*\{[ \t]*"type"[ \t]*:[ \t]*"(complement|source|file|record)"')
_TYPE = re.compile(rb'(?<!\\)"type"[ \t]*:')
_ENDED = re.compile(rb'(?<!\\)"end"[ \t]*:[ \t]*true')


class Parts(NamedTuple):
    """The parts of a file."""

    own: bytes
    """The store's own bytes."""
    complement: bytes | None
    """None where there is none."""
    cut: str | None
    """Why it is not whole, or None: its end is missing, or lines of its complement are."""


def split(data: bytes) -> tuple[bytes, bytes | None]:
    """Give the store's own bytes and the complement's, or None where there is no complement."""
    return parts(data)[:2]


def parts(data: bytes) -> Parts:
    """Take a file apart, and say whether it is whole.

    It has to have an end line where it has a complement, and one for each header that promises it
    (``"end": true``): files that were put one behind the other have several.
    """
    own: list[bytes] = []
    block: list[bytes] = []
    beside: list[bytes] = []
    ends: list[int] = []
    promised = later = 0
    for line in data.split(b"\n"):
        kind, item = _said(line)
        if kind is None:
            own.append(line)
            promised += not line.startswith(_ROLE) and _promises(line)
            continue
        later = len(own)
        block.append(line)
        if kind == END:
            stated = item.get("complement")
            ends.append(stated if isinstance(stated, int) else 0)
        else:
            beside.append(line.removeprefix(_UNENDED) if len(block) == 1 else line)
    cut = _cut(len(beside), ends, promised)
    if not block:
        return Parts(data, None, cut)
    text = b"\n".join(own)
    if later == len(own) and own:
        text += b"\n"  # the last line of all is no line of the store's, so every other one ends
    if block[0].startswith(_UNENDED) and own[later:] in ([], [b""]):
        text = text.removesuffix(b"\n")
    return Parts(text, b"".join(line + b"\n" for line in beside) if beside else None, cut)


def join(own: bytes, complement: bytes | None) -> bytes:
    """Put the complement's lines behind the store's, and the line that ends the file."""
    if not own and complement is None:
        return own
    beside = complement or b""
    block = beside + b'{"type":"end","complement":%d}\n' % beside.count(b"\n")
    if not own or own.endswith(b"\n"):
        return own + block
    return own + b"\n" + _UNENDED + block


_UNENDED = b" "
"""Before the first line that is not the store's: the line end before it is not its own either."""


def _cut(lines: int, ends: list[int], promised: int) -> str | None:
    if len(ends) < max(promised, 1 if lines else 0):
        return "was cut off: the line that ends it is missing, and whatever stood before that"
    if lines < max(ends, default=0):
        missing = max(ends) - lines
        return f"was cut: {missing:,} of the {max(ends):,} lines of its complement are missing"
    return None


def _said(line: bytes) -> tuple[str | None, dict[str, Json]]:
    """Give the type of a line that is not the store's own, with what an end line says."""
    if line.startswith(_ROLE):
        return None, {}  # by far the most lines
    match = _FIRST.match(line)
    if match is not None:
        return match[1].decode(), {}
    if b'"type"' not in line or not _TYPE.search(line):
        return None, {}
    # another program may have written the line anew, with its members in another order
    item = _object(line)
    kind = item.get("type")
    if isinstance(kind, str) and (kind == END or kind in TYPES) and "role" not in item:
        return kind, item
    return None, {}


def _promises(line: bytes) -> bool:
    """Does a line say that another one will end the file?"""
    if _ENDED.search(line) is None:
        return False
    item = _object(line.removeprefix(b"\xef\xbb\xbf"))
    return item.get("end") is True and "type" in item and "role" not in item


def _object(line: bytes) -> dict[str, Json]:
    try:
        item = cast("Json", orjson.loads(line))
    except orjson.JSONDecodeError:
        return {}
    return item if isinstance(item, dict) else {}
