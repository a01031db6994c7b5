"""A diff as lines for a terminal: plain text, or with colours and the changed words marked."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from interop import textdiff
from interop.cli.text import amount, say, short, table
from interop.diff import Change, Diff
from interop.report import entries
from interop.report.entries import Entry, Facet
from interop.textdiff import Line, Skip
from interop.unseen import visible

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
    "conflict": "bold yellow",
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
    if found.since is not None:
        yield (Span(f"=== since {found.since}", "soft"),)
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
    pager = _pager() if len(texts) >= console.height and not console.is_dumb_terminal else []
    if not pager:
        console.print(*texts, sep="\n", soft_wrap=True)
        return
    with console.capture() as captured:
        console.print(*texts, sep="\n", soft_wrap=True)
    text = captured.get()
    if Path(pager[0]).name != "less":  # what another one makes of colours, nobody knows
        text = "".join(f"{line.plain}\n" for line in texts)
    # as git does: with colours, gone when it fits
    environment = {"LESS": "FRX", **os.environ}
    process = subprocess.Popen(pager, stdin=subprocess.PIPE, env=environment)
    try:
        # one that is left before the end has not read the rest, and that is no failure
        process.communicate(text.encode(errors="backslashreplace"))
    except KeyboardInterrupt:  # it is the pager's: less stays
        process.wait()


def _pager() -> list[str]:
    """Give the pager as the words of its command; nothing where it is turned off or not there."""
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:  # an open quote
        return []
    if not words or words[0] == "cat" or shutil.which(words[0]) is None:
        return []
    return words


def summary(found: Diff) -> Iterator[str]:
    """Give the counts by kind of change, then by field."""
    every = list(entries.entries(found))
    kinds = entries.counts(every).items()
    yield from table(["change", "records"], ([kind, f"{n:,}"] for kind, n in kinds))
    by_field = entries.by_field(found).items()
    sides = entries.counts_by_side(every).items()
    if sides:
        yield ""
        yield from table(
            [f"since {found.since}", "records"],
            ([entries.SIDES[side], f"{n:,}"] for side, n in sides),
        )
    if by_field:
        tags = ["content", "omission", "order", "noise"]
        if found.since is not None:
            tags.append("agreed")
        yield ""
        yield from table(
            ["field", *tags],
            ([name, *(f"{n[tag]:,}" if n[tag] else "-" for tag in tags)] for name, n in by_field),
        )


def _entry(entry: Entry) -> Iterator[Row]:
    keys = dict.fromkeys(filter(None, (entry.key_a, entry.key_b)))
    yield (Span(" -> ".join(keys) or "the store", "head"), *_sides(entry))
    if entry.probable:
        yield (Span(f"  ({entry.probably})", "soft"),)
    for change in entry.changes:
        yield from _change(change, side=entry.side is None)


def _sides(entry: Entry) -> Iterator[Span]:
    """Say who changed a record where that is one side; its changes say it where it is not."""
    if "conflict" in entry.sides:
        yield Span("  CONFLICT", "conflict")
    elif entry.side is not None and entry.changes[0].what not in ("added", "removed"):
        yield Span(f"  ({entries.SIDES[entry.side]})", "soft")


def _change(change: Change, *, side: bool) -> Iterator[Row]:
    word, remark = entries.verb(change), entries.remark(change, side=side)
    mark = f" ({remark})" if remark else ""
    if change.tag == "agreed":
        said = f"{'.'.join((change.field, *change.at))}: " if change.field else ""
        yield (Span(f"  {said}{word}{mark}", "soft"),)
        return
    if change.what in ("added", "removed"):
        words = short(entries.first_words(change), WIDTH)
        yield (Span(f"  {word}: ", change.what), Span(words))
        return
    if change.what not in ("changed", "order"):
        yield (Span(f"  {word}{mark}"),)
    before = entries.before(change)
    if before is not None and before.a is not None and "\n" not in before.a.rstrip("\n"):
        label = ".".join((change.field or "", *change.at))
        yield (Span(f"  = {label} before: {short(before.a, WIDTH)}", "soft"),)
    for facet in entries.facets(change):
        yield from _facet(facet, mark)


def _facet(facet: Facet, mark: str) -> Iterator[Row]:
    lines = facet.lines
    label = f"{facet.label}{mark}"
    ops = [line.op for line in lines]
    if ops in (["removed"], ["added"], ["removed", "added"]):
        for n, line in enumerate(lines):
            name = facet.label if n else label
            yield (Span(f"  {_MARKS[line.op]} {name}: ", line.op), *_line(line))
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
