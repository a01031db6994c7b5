"""A diff as lines for a terminal: plain text, or with colours and the changed words marked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from interop import textdiff
from interop.cli.text import amount, say, short, table, visible
from interop.diff import Change, Diff
from interop.report import entries
from interop.report.entries import Entry, Facet
from interop.textdiff import Line, Skip

WIDTH = 90
"""Columns of the first words of a record that is on one side alone."""
CONTEXT = 1
"""Equal lines shown around changed ones."""
LONG = 160
"""Characters of a line from which on what did not change in it is cut."""
AROUND = 30
"""Characters that are kept of it beside a change."""

_STYLES = {
    "head": "bold",
    "soft": "dim",
    "removed": "red",
    "added": "green",
    "removed word": "bold underline red",
    "added word": "bold underline green",
}
"""What each part looks like; a changed word is told apart without colours too."""
_MARKS = {"equal": " ", "removed": "-", "added": "+"}


class Span(NamedTuple):
    """A piece of a line and what it is: a key of the styles, or nothing."""

    text: str
    style: str = ""


Row = tuple[Span, ...]


def rows(found: Diff, a: str, b: str) -> Iterator[Row]:
    """Give the lines of a diff between two stores, record by record."""
    yield (Span(f"--- {a}", "removed"),)
    yield (Span(f"+++ {b}", "added"),)
    for entry in entries.entries(found):
        yield ()
        yield from _entry(entry)


def show(lines: Sequence[Row]) -> None:
    """Print lines; on a terminal in colour, and through the pager when they are many."""
    if not sys.stdout.isatty():
        say(*("".join(span.text for span in row) for row in lines))
        return
    from rich.console import Console  # slow to import, and only a person needs it
    from rich.text import Text

    console = Console(highlight=False)
    texts = [
        Text.assemble(*((visible(t, keep="\t"), _STYLES.get(s, "")) for t, s in row))
        for row in lines
    ]
    if len(texts) < console.height:
        console.print(*texts, sep="\n", soft_wrap=True)
        return
    pager = os.environ.get("PAGER", "less")
    os.environ.setdefault("LESS", "FRX")  # as git does: with colours, gone when it fits
    with console.pager(styles="less" in pager):
        console.print(*texts, sep="\n", soft_wrap=True)


def summary(found: Diff) -> Iterator[str]:
    """Give the counts by kind of change, then by field."""
    every = list(entries.entries(found))
    kinds = entries.counts(every).items()
    yield from table(["change", "records"], ([kind, f"{n:,}"] for kind, n in kinds))
    by_field = entries.by_field(found).items()
    if by_field:
        tags = ("content", "omission", "order", "noise")
        yield ""
        yield from table(
            ["field", *tags],
            ([name, *(f"{n[tag]:,}" if n[tag] else "-" for tag in tags)] for name, n in by_field),
        )


def _entry(entry: Entry) -> Iterator[Row]:
    keys = dict.fromkeys(filter(None, (entry.key_a, entry.key_b)))
    yield (Span(" -> ".join(keys) or "the store", "head"),)
    if entry.probable:
        yield (Span("  (probably the same record)", "soft"),)
    for change in entry.changes:
        yield from _change(change)


def _change(change: Change) -> Iterator[Row]:
    word, remark = entries.verb(change), entries.remark(change)
    mark = f" ({remark})" if remark else ""
    if change.what in ("added", "removed"):
        words = short(entries.first_words(change), WIDTH)
        yield (Span(f"  {word}: ", change.what), Span(words))
        return
    if change.what not in ("changed", "order"):
        yield (Span(f"  {word}{mark}"),)
    for facet in entries.facets(change):
        yield from _facet(facet, mark)


def _facet(facet: Facet, mark: str) -> Iterator[Row]:
    lines = facet.lines
    label = f"{facet.label}{mark}"
    ops = [line.op for line in lines]
    if ops in (["removed"], ["added"], ["removed", "added"]):
        for line in lines:
            yield (Span(f"  {_MARKS[line.op]} {label}: ", line.op), *_line(line))
        return
    yield (Span(f"  {label}:"),)
    for shown in textdiff.hunks(lines, CONTEXT):
        if isinstance(shown, Skip):
            yield (Span(f"    … {amount(shown.number, 'line')} the same", "soft"),)
        else:
            style = "" if shown.op == "equal" else shown.op
            yield (Span(f"    {_MARKS[shown.op]}", style), *_line(shown))


def _line(line: Line) -> Iterator[Span]:
    if line.op == "equal":
        yield Span(line.text)
        return
    long = len(line.text) > LONG
    alone = len(line.parts) == 1 and line.parts[0].op != "equal"
    for n, (op, text) in enumerate(line.parts):
        if op != "equal":
            yield Span(text, line.op if alone else f"{op} word")
        elif long:
            yield Span(_cut(text, first=n == 0, last=n == len(line.parts) - 1), line.op)
        else:
            yield Span(text, line.op)


def _cut(text: str, *, first: bool, last: bool) -> str:
    """Leave out of what did not change what is far from a change."""
    before, after = (0 if first else AROUND), (0 if last else AROUND)
    if len(text) <= before + after + 1:
        return text
    return f"{text[:before]}…{text[len(text) - after :]}"
