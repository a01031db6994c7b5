"""The blocks of a text: its top-level parts, and the text between them.

Blocks are spans of the text in order; what lies between two blocks, before the first and after
the last are separators, so spans and separators together are the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MARKDOWN: Final = "text/markdown"
HTML: Final = "text/html"
SEPARATOR: Final = {MARKDOWN: "\n\n", HTML: "\n"}
"""What stands between two blocks that are written anew."""
_LINE_END: Final = re.compile(r"\r\n?")


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block of a text, and what it is in the other medium."""

    start: int
    end: int
    other: str
    """The block in the other medium; empty when nothing of it is said there."""


def fold(text: str) -> str:
    """Give a block's text as two copies of it are compared: line ends folded, ends trimmed."""
    return _LINE_END.sub("\n", text).strip(" \t\n\f")


def join(parts: Sequence[str], media: str) -> str:
    """Join blocks that are written anew; empty ones are not there."""
    return SEPARATOR[media].join(part for part in parts if part)
