"""Edits to a text by span: what is not named stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """Replace ``text[start:end]`` by ``new``; ``start == end`` inserts."""

    start: int
    end: int
    new: str


def splice(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap; insertions at one place keep their order."""
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda e: (e.start, e.end)):
        assert at <= start <= end <= len(text), "edits overlap or lie outside the text"
        parts += (text[at:start], new)
        at = end
    parts.append(text[at:])
    return "".join(parts)


def lines(text: str) -> Iterable[tuple[int, int, int]]:
    r"""Yield (start, end of content, end) of each line; a line ends with LF or CRLF, nothing else.

    A text that ends in a line end has no empty last line: ``"a\n"`` is one line, ``""`` none.
    """
    at = 0
    while at < len(text):
        cut = text.find("\n", at)
        if cut < 0:
            yield at, len(text), len(text)
            return
        end = cut - 1 if cut > at and text[cut - 1] == "\r" else cut
        yield at, end, cut + 1
        at = cut + 1
