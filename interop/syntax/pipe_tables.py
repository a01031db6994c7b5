r"""Markdown pipe tables, with the span of each cell: as a strict checker sees them, and in full.

    | ID | Item | Status |
    |---|---|---|
    | A-1 | Exchange the locks | OPEN |

A pipe always splits: there is no escape, neither a backslash nor code. One pipe is taken off at
each end of a line, and cells lose the white space around their words. ``first_table`` is the rule
of a checker that takes the first table of a text and stops at the first odd line; ``scan`` is what
a person wrote: every table with a wanted header, with its rows after blank lines and comments too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from interop.syntax import index_lines
from interop.syntax.index_lines import Form, Line
from interop.syntax.splice import Edit

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""What ends a line for ``str.splitlines``, and so a row for the checker."""
_DASHES = re.compile(r":?-+:?")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")


class Cell(NamedTuple):
    """One cell: its words, and the place between the pipes; offsets into the text."""

    start: int
    end: int
    outer_start: int
    outer_end: int


class Row(NamedTuple):
    """One line of a table."""

    start: int
    end: int
    stop: int
    """Behind the line end."""
    cells: tuple[Cell, ...]
    opened: bool
    """Does it begin with a pipe?"""
    closed: bool
    """Does it end with a pipe?"""


class Table(NamedTuple):
    """A table with a wanted header."""

    header: Row
    alignment: Row | None
    """The alignment row directly below the header."""
    rows: tuple[Row, ...]
    """Without alignment rows."""


class Scan(NamedTuple):
    """Everything that stands in pipes."""

    tables: tuple[Table, ...]
    loose: tuple[Row, ...]
    """Lines in pipes that belong to no wanted table, alignment rows left out."""
    dashes: tuple[Row, ...]
    """Alignment rows that stand among the rows of a wanted table."""


class Seen(NamedTuple):
    """The first table of a text, as the checker cuts it."""

    start: int
    """Where its header line begins."""
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    """Start of the line and cells, of each row."""


def first_table(text: str) -> Seen | None:
    """Give the first table by the checker's rule.

    Its header is the first line that begins and ends with a pipe; it goes on to the first line
    that does not. All pipes at the ends of a line are taken off, so ``||`` there eats a cell.
    """
    at = 0
    header: tuple[str, ...] | None = None
    start = 0
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line in text.splitlines(keepends=True):
        words = line.strip()
        if not (words.startswith("|") and words.endswith("|")):
            if header is not None:
                break
        else:
            cells = tuple(cell.strip() for cell in words.strip("|").split("|"))
            if header is None:
                header, start = cells, at
            elif not all(_DASHES.fullmatch(cell) for cell in cells):
                rows.append((at, cells))
        at += len(line)
    return None if header is None else Seen(start, header, tuple(rows))


def values(text: str, row: Row) -> tuple[str, ...]:
    """Give the words of each cell of a row."""
    return tuple(text[cell.start : cell.end] for cell in row.cells)


def line_start(text: str, row: Row) -> int:
    """Give the start of a row's line; for a checker a byte order mark belongs to the line."""
    return 0 if row.start == 1 and text[:1] == "\ufeff" else row.start


def scan(text: str, wanted: Callable[[tuple[str, ...]], bool]) -> Scan:
    """Find every table whose header is ``wanted``, outside fences and comments.

    Blank lines, text and comments do not end a table; a heading does, or another table: a line
    that begins a block and has an alignment row below. A header that is repeated begins the table
    anew. A table without pipes at the ends has rows as wide as its header.
    """
    tables: list[tuple[Row, list[Row]]] = []
    alignments: dict[int, Row] = {}
    loose: list[Row] = []
    dashes: list[Row] = []
    current = False
    in_block = False
    lines = index_lines.parse(text, _refers_to_nothing).lines
    for n, line in enumerate(lines):
        if line.kind in ("fence", "comment"):
            in_block = False
            continue
        row = _row(text, line)
        if row is None:
            current = current and not _is_heading(text, lines, n)
            in_block = False
            continue
        cells = values(text, row)
        if _is_alignment(cells):
            if current:
                if tables[-1][0].stop == row.start:
                    alignments[row.start] = row
                else:
                    dashes.append(row)
        elif wanted(cells):
            tables.append((row, []))
            current = True
        elif not in_block and _is_header(text, lines, n):
            current = False
            loose.append(row)
        elif current and _belongs(row, tables[-1][0]):
            tables[-1][1].append(row)
        elif row.opened:
            loose.append(row)
        in_block = row.opened or current
    done = (Table(head, alignments.get(head.stop), tuple(rows)) for head, rows in tables)
    return Scan(tuple(done), tuple(loose), tuple(dashes))


def set_cell(text: str, row: Row, n: int, words: str) -> Edit:
    """Restate one cell; an empty one keeps a blank, since ``||`` at an edge would eat it."""
    cell = row.cells[n]
    padded = cell.outer_end - cell.outer_start > cell.end - cell.start
    if not words:
        if n == len(row.cells) - 1 and not row.closed:
            # Without its closing pipe an empty last cell would not be there at all.
            return Edit(cell.outer_start, cell.outer_end, "  |")
        return Edit(cell.start, cell.end, "" if padded else " ")
    if cell.start == cell.end:
        return Edit(cell.outer_start, cell.outer_end, f" {words} ")
    return Edit(cell.start, cell.end, words)


def written(cells: Sequence[str]) -> str:
    """Write a row, without its line end."""
    return f"| {' | '.join(cells)} |"


def append(text: str, after: Row, rows: Sequence[Sequence[str]]) -> Edit:
    """Put new rows directly behind a row, with its line end."""
    new = [written(cells) for cells in rows]
    line_end = text[after.end : after.stop]
    if not line_end:
        found = re.search(r"\r?\n", text)
        first = found[0] if found else "\n"
        return Edit(after.stop, after.stop, "".join(first + row for row in new))
    return Edit(after.stop, after.stop, "".join(row + line_end for row in new))


def _refers_to_nothing(form: Form, target: str) -> bool:
    return False


def _row(text: str, line: Line) -> Row | None:
    """Read a line as a row; None when there is no pipe in it."""
    start, end = _words(text, line.start, line.end)
    if text.find("|", start, end) < 0:
        return None
    opened = text[start] == "|"
    inner_start = start + 1 if opened else start
    closed = end > inner_start and text[end - 1] == "|"
    cells = tuple(_cells(text, inner_start, end - 1 if closed else end))
    return Row(line.start, line.end, line.stop, cells, opened, closed)


def _cells(text: str, start: int, end: int) -> Iterator[Cell]:
    while True:
        cut = text.find("|", start, end)
        stop = end if cut < 0 else cut
        yield Cell(*_words(text, start, stop), start, stop)
        if cut < 0:
            return
        start = cut + 1


def _words(text: str, start: int, end: int) -> tuple[int, int]:
    """Narrow a span to what is left of it without the white space around."""
    part = text[start:end]
    from_left = start + len(part) - len(part.lstrip())
    return (start, start) if from_left == end else (from_left, start + len(part.rstrip()))


def _is_alignment(cells: tuple[str, ...]) -> bool:
    return all(_DASHES.fullmatch(cell) for cell in cells)


def _is_header(text: str, lines: Sequence[Line], n: int) -> bool:
    """Is there an alignment row directly below this line?"""
    if n + 1 == len(lines) or lines[n + 1].kind in ("fence", "comment"):
        return False
    below = _row(text, lines[n + 1])
    return below is not None and _is_alignment(values(text, below))


def _is_heading(text: str, lines: Sequence[Line], n: int) -> bool:
    line = lines[n]
    underlines = n > 0 and lines[n - 1].kind == "text"
    return line.kind == "heading" or (
        underlines and _UNDERLINE.fullmatch(text, line.start, line.end) is not None
    )


def _belongs(row: Row, header: Row) -> bool:
    return row.opened or (not header.opened and len(row.cells) == len(header.cells))
