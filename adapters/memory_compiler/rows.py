"""New rows: their ids, which are permanent, and their cells.

Spec: docs/formats/memory-compiler.md, "Ids".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from interop.adapter import path_of
from interop.adapters.memory_compiler import tables
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import CLOSED, UNSAID, Columns
from interop.model import Record
from interop.syntax import pipe_tables

_NUMBERED = re.compile(r"(.*?)(\d{1,18})", re.DOTALL)
_ID = re.compile(r"[^\s|#~]+")
_REPEAT = re.compile(r"~\d+\Z")
_LETTER = re.compile(r"[^\W\d_]")
_WIDTH = 3


class Ids:
    """The ids of one file: which are taken, and which comes next."""

    def __init__(self, columns: Columns, file: TableFile | None) -> None:
        given = _given(file) if file is not None else []
        self.taken: set[str] = set(given)
        self.prefix, self.width = _way_of_writing(columns, file.ids if file is not None else ())
        numbers = [number for name in given if (number := self._number(name)) is not None]
        if file is not None and _LETTER.search(self.prefix):
            # An id that only a sentence still names was given to a row once.
            named = re.compile(rf"(?<![^\W_]){re.escape(self.prefix)}(\d{{1,18}})(?!\d)")
            numbers += (int(found[1]) for found in named.finditer(file.text))
        self.highest = max(numbers, default=0)

    def is_free(self, name: str) -> bool:
        """Can a row that had this id here have it again?"""
        if _ID.fullmatch(name) is None or name in self.taken:
            return False
        number = self._number(name)
        return number is None or all(self._number(other) != number for other in self.taken)

    def take(self, name: str) -> str:
        """Note that an id is given away."""
        self.taken.add(name)
        self.highest = max(self.highest, self._number(name) or 0)
        return name

    def next(self) -> str:
        """Give the highest number and one, in the file's own way of writing it."""
        name = ""
        while not name or name in self.taken:
            self.highest += 1
            name = f"{self.prefix}{self.highest:0{self.width}}"
        return self.take(name)

    def _number(self, name: str) -> int | None:
        """Give the number of an id that is written as those of this file are."""
        found = _NUMBERED.fullmatch(name)
        return int(found[2]) if found and found[1] == self.prefix else None


def _given(file: TableFile) -> list[str]:
    """Give the ids of every row, also of those in tables that are none of this kind."""
    return [*file.ids, *(pipe_tables.values(file.text, row)[0] for row in file.scan.loose)]


def _way_of_writing(columns: Columns, ids: Iterable[str]) -> tuple[str, int]:
    """Say what most ids of a file begin with (of equals, the last), and how wide the highest is."""
    numbered = [found for name in ids if (found := _NUMBERED.fullmatch(name))]
    if not numbered:
        return columns.prefix, _WIDTH
    counts = Counter(found[1] for found in numbered)
    prefix = max(reversed(numbered), key=lambda found: counts[found[1]])[1]
    highest = max((int(f[2]), len(f[2])) for f in numbered if f[1] == prefix)
    return prefix, highest[1]


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
