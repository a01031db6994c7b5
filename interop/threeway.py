"""Two sets of edits to one text, put together line by line, or the place where they clash.

    base   one two three        both edits stand:   one 2 three four
    ours   one 2 three
    theirs one two three four

Bytes in, bytes out: a line is what ends with a line feed, and nothing is decoded. Edits clash where
they change the same line in two ways, or put two things at one place; what touches without
overlapping stands side by side, since a memory is often a line of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from interop.alignment import stretches


class _Edit(NamedTuple):
    """Lines ``start`` to ``end`` of the base become other ones."""

    start: int
    end: int
    lines: tuple[bytes, ...]


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Give the text with the edits of both sides, None where they clash."""
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    lines = _lines(base)
    edits = _together(_edits(lines, _lines(ours)), _edits(lines, _lines(theirs)))
    if edits is None:
        return None
    out: list[bytes] = []
    at = 0
    for edit in edits:
        out += lines[at : edit.start]
        out += edit.lines
        at = edit.end
    return _joined([*out, *lines[at:]])


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) if b"\r" not in data else _by_feed(data)


def _by_feed(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _joined(lines: Sequence[bytes]) -> bytes:
    """Join lines; one that had no end because it was the last gets one where it no longer is."""
    return b"".join(
        line if line.endswith(b"\n") or n == len(lines) else line + b"\n"
        for n, line in enumerate(lines, 1)
    )


def _edits(base: list[bytes], other: list[bytes]) -> list[_Edit]:
    return [
        _Edit(x.a, x.a_end, tuple(other[x.b : x.b_end]))
        for x in stretches(base, other)
        if not x.same
    ]


def _together(ours: Sequence[_Edit], theirs: Sequence[_Edit]) -> list[_Edit] | None:
    """Put two lists of edits in one order; the same edit on both sides is made once."""
    edits = sorted({*ours, *theirs}, key=lambda e: (e.start, e.end))
    for one, other in pairwise(edits):
        if other.start < one.end or (one.start, one.end) == (other.start, other.end):
            return None
    return edits
