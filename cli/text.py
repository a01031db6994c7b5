"""How results and remarks are printed: escaped text, plain aligned tables, JSON lines."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from interop.errors import UsageError
from interop.model import Json
from interop.unseen import visible

if TYPE_CHECKING:
    from interop.outgoing import Policy


def short(text: str, width: int) -> str:
    """Give the beginning of a text on one line, at most so many columns wide."""
    line = visible(" ".join(text[: width * 8].split()))
    if columns(line) <= width:
        return line
    while columns(line) > width - 1:
        line = line[:-1]
    return f"{line.rstrip()}…"


def columns(text: str) -> int:
    """Say how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0  # drawn onto the character before it, or not at all
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay rows out in aligned columns, under their heads; the last column is not padded."""
    cells = [list(heads), *([visible(cell) for cell in row] for row in rows)]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(_padded(row, widths)).rstrip() for row in cells]


def _padded(row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    for cell, width in zip(row, widths, strict=True):
        yield cell + " " * (width - columns(cell))


def say(*lines: str) -> None:
    """Print lines of the result; what a terminal would obey is shown as escapes."""
    for line in lines:
        print(visible(line, keep="\t"))


def tell(*lines: str) -> None:
    """Print remarks, which are no part of the result, to stderr, after the result so far."""
    sys.stdout.flush()
    for line in lines:
        print(visible(line), file=sys.stderr)


def json_lines(objects: Iterable[Mapping[str, Json]]) -> None:
    """Print one JSON object a line."""
    from interop.fields import dumps  # text output does without orjson

    sys.stdout.flush()
    sys.stdout.buffer.writelines(dumps(item) + b"\n" for item in objects)
    sys.stdout.buffer.flush()


def amount(number: int, noun: str, plural: str = "") -> str:
    """Say a number of things: ``1 record``, ``2 records``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def policy_of(said: str | None) -> Policy | None:
    """Take what was said about secrets.

    Raises:
        UsageError: it is none of the three.
    """
    for one in ("warn", "refuse", "allow"):
        if said == one:
            return one
    if said is None:
        return None
    raise UsageError(f"--secrets: {said!r} is none of warn, refuse and allow")
