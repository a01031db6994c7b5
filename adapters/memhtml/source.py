"""The bytes of a file, the text that an HTML parser sees in them, and the way back.

The parser sees no byte-order mark, LF for every line end and U+FFFD for every ill-formed byte
sequence. Its offsets are counted in that text; edits are made in the file's own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from interop.syntax.splice import Edit, splice

BOM = "\ufeff"
_UNLIKE = re.compile("\r\n|\r|[\udc80-\udcff]+")


class Source(NamedTuple):
    """A file as it is, and as the parser sees it."""

    text: str
    """Every byte of the file; an ill-formed one is a lone surrogate."""
    seen: str
    """What the parser is given."""
    starts: tuple[int, ...]
    """Offsets in ``seen`` from which on …"""
    shifts: tuple[int, ...]
    """… an offset in ``text`` is this much greater."""
    is_utf8: bool

    @property
    def has_bom(self) -> bool:
        """Does the file begin with a byte-order mark?"""
        return self.text.startswith(BOM)

    @property
    def is_plain(self) -> bool:
        """Does the parser see every character of the file as it stands there?"""
        return self.seen is self.text

    @property
    def newline(self) -> str:
        """Give the line end of the first line."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    def at(self, offset: int) -> int:
        """Give the offset in the file's own text of an offset in what the parser sees."""
        return offset + self.shifts[bisect_right(self.starts, offset) - 1]

    def spliced(self, edits: Iterable[Edit]) -> bytes:
        """Give the file with edits made, at offsets of its own text."""
        return splice(self.text, edits).encode("utf-8", "surrogateescape")


def source(data: bytes) -> Source:
    """Decode a file; any bytes will do."""
    try:
        text, is_utf8 = data.decode("utf-8"), True
    except UnicodeDecodeError:
        text, is_utf8 = data.decode("utf-8", "surrogateescape"), False
    begin = 1 if text.startswith(BOM) else 0
    if is_utf8 and not begin and "\r" not in text:
        return Source(text, text, (0,), (0,), True)
    starts, shifts = [0], [begin]
    parts: list[str] = []
    at = begin
    seen = 0
    for match in _UNLIKE.finditer(text, begin):
        parts.append(text[at : match.start()])
        seen += match.start() - at
        at = match.end()
        if match.group()[0] == "\r":
            parts.append("\n")
            seen += 1
            if len(match.group()) == 2:
                starts.append(seen)
                shifts.append(at - seen)
            continue
        for size in _runs(match.group().encode("utf-8", "surrogateescape")):
            parts.append("\ufffd")
            seen += 1
            if size > 1:
                starts.append(seen)
                shifts.append(shifts[-1] + size - 1)
    parts.append(text[at:])
    return Source(text, "".join(parts), tuple(starts), tuple(shifts), is_utf8)


def _runs(data: bytes) -> Iterable[int]:
    """Give the lengths of the ill-formed sequences that each become one U+FFFD."""
    at = 0
    while at < len(data):
        try:
            data[at:].decode("utf-8")
        except UnicodeDecodeError as error:
            yield error.end - error.start
            at += error.end
        else:
            return
