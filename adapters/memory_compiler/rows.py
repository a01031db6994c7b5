"""New rows: their ids, which are permanent, the ids that they point to, and their cells.

Spec: docs/formats/memory-compiler.md, "Ids".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from interop.adapter import path_of
from interop.adapters.memory_compiler import tables
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import CLOSED, UNSAID, Columns
from interop.model import Record

_NUMBERED = re.compile(r"(.*?)(\d+)", re.DOTALL)
_ID = re.compile(r"[^\s|#~]+")
_REPEAT = re.compile(r"~\d+\Z")
_WIDTH = 3
_BY = "Superseded by "


class Ids:
    """The ids of one file: which are taken, and which comes next."""

    def __init__(self, columns: Columns, file: TableFile | None) -> None:
        self.columns = columns
        self.taken: set[str] = set(file.ids) if file is not None else set()
        self.prefix, self.width = columns.prefix, _WIDTH
        highest = -1
        for name in self.taken:
            found = _NUMBERED.fullmatch(name)
            if found and (int(found[2][-18:]), name) > (highest, ""):
                highest = int(found[2][-18:])
                self.prefix, self.width = found[1], len(found[2])
        # An id that only a sentence still names was given to a row once: it is not given again.
        named = re.compile(re.escape(self.prefix) + r"(\d{1,18})(?!\d)")
        text = file.text if file is not None else ""
        self.highest = max([highest, 0, *(int(found[1]) for found in named.finditer(text))])

    def is_free(self, name: str) -> bool:
        """Can a new row have this id?"""
        return _ID.fullmatch(name) is not None and name not in self.taken

    def take(self, name: str) -> str:
        """Note that an id is given away."""
        self.taken.add(name)
        found = _NUMBERED.fullmatch(name)
        if found and found[1] == self.prefix:
            self.highest = max(self.highest, int(found[2][-18:]))
        return name

    def next(self) -> str:
        """Give the highest number and one, in the file's own way of writing it."""
        self.highest += 1
        return self.take(f"{self.prefix}{self.highest:0{min(self.width, 18)}}")


def own_id(columns: Columns, key: str | None) -> str | None:
    """Give the id that a record had in another topic, from its key there."""
    if key is None or path_of(key) != columns.path or "#" not in key:
        return None
    return _REPEAT.sub("", key.split("#", 1)[1])


def cell(columns: Columns, record: Record, field: str) -> str:
    """Give the words of one cell of a new or changed row."""
    words = tables.value(record, field)
    if words is not None:
        return words
    if field == "supersedes":
        return UNSAID
    closed = columns.role == "task" and getattr(record, "status", None) in CLOSED
    return UNSAID if field == "evidence" and closed else ""


def row(columns: Columns, name: str, record: Record) -> tuple[str, ...]:
    """Give the cells of a new row."""
    return (name, *(cell(columns, record, field) for field in columns.fields))


def in_order(new: Iterable[tuple[str, Record]], known: Iterable[str]) -> list[str]:
    """Order new decisions so that each stands below the one it supersedes.

    ``new`` is id -> record; those whose decision is in neither list are left out.
    """
    placed = set(known)
    waiting = dict(new)
    out: list[str] = []
    while True:
        ready = [
            name
            for name, record in waiting.items()
            if (target := getattr(record, "supersedes", None)) is None
            or target in placed
            or target == name
        ]
        if not ready:
            return out
        for name in ready:
            del waiting[name]
            placed.add(name)
            out.append(name)


def pointed(record: Record, renumbered: Mapping[str, str]) -> dict[str, str]:
    """Give the fields of a new row that point to a row whose id is another one here."""
    out: dict[str, str] = {}
    for field in ("supersedes", "replacement", "status"):
        words: str | None = getattr(record, field, None)
        by = _BY if field == "status" else ""
        if words is not None and words.startswith(by) and words[len(by) :] in renumbered:
            out[field] = by + renumbered[words[len(by) :]]
    return out
