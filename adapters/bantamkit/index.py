"""``index.md``: one line a live fact, derived, spliced for the facts that changed.

    - [[pump-pressure]] (project) — Pressure of the cargo bikes

The runtime writes it whole at every save, archive, restore and compact, in the order of the file
names, and never reads it. Stale lines of other facts stay until it does.
Spec: docs/formats/bantamkit.md, "The index".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from interop.syntax.splice import lines

PATH = "index.md"
BUDGET = 24_000
"""Bytes that the index may have before the runtime refuses to save."""
NEAR = 0.9
"""Share of the budget from which the runtime calls the store degraded."""
_LINE = re.compile(r"- \[\[(.*?)\]\] \(")


class Line(NamedTuple):
    """What the runtime writes for one live fact."""

    file: str
    """The file's name in ``facts/``, which orders the lines."""
    name: str
    text: str
    """Without its line end."""


def whole(facts: Iterable[Line]) -> bytes:
    """Give the index as the runtime writes it."""
    text = "".join(f"{line.text}\n" for line in sorted(facts, key=lambda line: line.file))
    return text.encode("utf-8")


def spliced(
    data: bytes,
    changes: Sequence[tuple[Line | None, Line | None]],
    standing: Sequence[Line],
) -> bytes:
    """Give the index with the lines of the changed facts restated.

    ``changes`` are the lines before and after of each fact whose line changed; ``standing`` are the
    lines of every other live fact.
    """
    # Bytes that are no UTF-8 pass through: the file is not ours to judge.
    text = data.decode("utf-8", "surrogateescape")
    rows = [(text[start:end], text[end:stop]) for start, end, stop in lines(text)]
    restated, new = _restated(rows, changes, standing)
    line_end = next((end for _, end in rows if end), "\n")
    files = {line.name: line.file for line in standing}
    files |= {after.name: after.file for _, after in changes if after is not None}
    out: list[str] = []
    pending = sorted(new, key=lambda line: line.file, reverse=True)
    for n, (row, end) in enumerate(rows):
        kept = restated.get(n, row)
        if kept is None:
            continue
        found = _LINE.match(kept)
        file = files.get(found[1], f"{found[1]}.md") if found else ""
        while pending and pending[-1].file < file:
            out.append(pending.pop().text + line_end)
        out.append(kept + (end or (line_end if pending else "")))
    out += [line.text + line_end for line in reversed(pending)]
    return "".join(out).encode("utf-8", "surrogateescape")


def named(text: str) -> Mapping[str, list[str]]:
    """Give the lines of an index by the name in them, without line ends."""
    out: dict[str, list[str]] = {}
    for start, end, _ in lines(text):
        found = _LINE.match(text[start:end])
        if found:
            out.setdefault(found[1], []).append(text[start:end])
    return out


def looks_like_one(data: bytes) -> bool:
    """Is every line of these bytes an index line?"""
    rows = data.decode("utf-8", "replace").splitlines()
    return all(_LINE.match(row) for row in rows)


def _restated(
    rows: Sequence[tuple[str, str]],
    changes: Sequence[tuple[Line | None, Line | None]],
    standing: Sequence[Line],
) -> tuple[dict[int, str | None], list[Line]]:
    """Give the rows that change (None: taken out), and the lines that have no row yet."""
    exact: dict[str, list[int]] = {}
    stale: dict[str, list[int]] = {}
    others = {line.text for line in standing}
    taken = {line.name for line in standing}
    for n, (row, _) in enumerate(rows):
        exact.setdefault(row, []).append(n)
        found = _LINE.match(row)
        if found and row not in others:
            stale.setdefault(found[1], []).append(n)
    restated: dict[int, str | None] = {}
    new: list[Line] = []
    # What is new comes last: it takes a line that nobody took out when its name was there before.
    for before, after in sorted(changes, key=lambda change: change[0] is None):
        line = before or after
        at: int | None = None
        if line is not None:
            # The very text, else a stale line of that name, unless another fact has the name too.
            places = exact.get(line.text, []) if before is not None else []
            places = places or ([] if line.name in taken else stale.get(line.name, []))
            at = next((n for n in places if n not in restated), None)
        in_place = after is not None and (before is None or before.file == after.file)
        if at is not None:
            restated[at] = after.text if in_place and after is not None else None
        if after is not None and (at is None or not in_place):
            new.append(after)
    return restated, new
