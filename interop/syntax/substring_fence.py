r"""A header between the first two occurrences of ``---`` + line end, anywhere in the text.

Some readers do not look for fence lines: they open the file with universal newlines and call
``text.split("---\n", 2)``. What stands before the first occurrence is nobody's, and a header line
that ends in ``---`` closes the header. ``split`` finds the same three parts in the text as it is,
with its own line ends, so that they can be spliced.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"---(\r\n|\r|\n)")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Fenced(NamedTuple):
    """Where the parts of a text lie; offsets into the text as it is."""

    opening: int
    """Start of the first fence: what stands before it is no part."""
    header: int
    """Start of the header, after the first fence."""
    closing: int
    """End of the header, start of the second fence."""
    body: int
    """Start of the body, after the second fence; it runs to the end of the text."""
    line_end: str
    """The line end of the first fence."""


def split(text: str) -> Fenced | None:
    """Find the parts, or None where the reader would find fewer than three."""
    first = _FENCE.search(text)
    second = _FENCE.search(text, first.end()) if first else None
    if first is None or second is None:
        return None
    return Fenced(first.start(), first.end(), second.start(), second.end(), first[1])


def universal(text: str) -> str:
    """Give the text with every CRLF and every lone CR as LF, as Python's text mode reads it."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def fence_is_a_line(text: str, parts: Fenced) -> bool:
    """Does the second fence stand on a line of its own, rather than end a line of the header?"""
    return parts.closing == parts.header or text[parts.closing - 1] in "\r\n"


def first_line_end(text: str) -> str | None:
    """Give the first line end of a text, or None where it has none."""
    found = _LINE_END.search(text)
    return found[0] if found else None
