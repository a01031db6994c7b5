"""New rows: their ids, which are permanent, and their cells.

Spec: docs/formats/memory-compiler.md, "Ids".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from interop.adapter import path_of
from interop.adapters.memory_compiler import tables
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import CLOSED, NOTHING, UNSAID, Columns
from interop.model import Record
from interop.syntax import pipe_tables

_DIGITS = "[0-9]{1,400}"
"""Far more than anybody counts to, and few enough to be a number."""
_NUMBERED = re.compile(rf"(.*?)(?<![0-9])({_DIGITS})", re.DOTALL)
_DIGIT = re.compile("[0-9]")
_ID = re.compile(r"[^\s|#~]+")
_REPEAT = re.compile(r"~\d+\Z")
_LETTER = re.compile(r"[^\W\d_]")
_WIDTH = 3


class Ids:
    """The ids of one file: which are taken, and which comes next."""

    def __init__(self, columns: Columns, file: TableFile | None, once: Collection[str]) -> None:
        """Look at a file, and at the keys that were given in the topic ``once``."""
        names = _names(file) if file is not None else []
        self.taken: set[str] = set(names)
        self.once = {own for key in once if (own := own_id(columns, key)) is not None}
        """Ids that were given before: only the record that had one can have it again."""
        ids = file.ids if file is not None else ()
        self.prefix, self.width = _way_of_writing(columns, ids or sorted(self.once))
        self.numbers = {number for name in names if (number := self._number(name)) is not None}
        """Of the ids that are written as those of this file are."""
        numbers = self.numbers | {n for name in self.once if (n := self._number(name)) is not None}
        if _LETTER.search(self.prefix):
            # An id that only a sentence still names was given to a row once; what goes on behind
            # the number (OI-010a) is a row beside that of the number.
            named = re.compile(rf"(?<![^\W_]){re.escape(self.prefix)}({_DIGITS})(?![0-9])")
            texts = (*self.once, file.text if file is not None else "")
            numbers |= {int(found[1]) for text in texts for found in named.finditer(text)}
        self.highest = max(numbers, default=0)

    def is_free(self, name: str) -> bool:
        """Can a row that had this id here have it again?"""
        if _ID.fullmatch(name) is None or name in self.taken:
            return False
        return self._number(name) not in self.numbers

    def take(self, name: str) -> str:
        """Note that an id is given away."""
        self.taken.add(name)
        number = self._number(name)
        if number is not None:
            self.numbers.add(number)
            self.highest = max(self.highest, number)
        return name

    def next(self) -> str:
        """Give the highest number and one, in the file's own way of writing it."""
        name = ""
        while not name or name in self.taken or name in self.once:
            self.highest += 1
            name = f"{self.prefix}{self.highest:0{self.width}}"
        return self.take(name)

    def _number(self, name: str) -> int | None:
        """Give the number of an id that is written as those of this file are."""
        found = _NUMBERED.fullmatch(name)
        return int(found[2]) if found and found[1] == self.prefix else None


def _names(file: TableFile) -> list[str]:
    """Give the ids of every row, also of those in tables that are none of this kind."""
    return [*file.ids, *(pipe_tables.values(file.text, row)[0] for row in file.scan.loose)]


def _way_of_writing(columns: Columns, ids: Iterable[str]) -> tuple[str, int]:
    """Say what most ids of a file begin with (of equals, the last), and how wide the highest is.

    What is counted is letters and a number, or a number alone. A date is no such id, and a second
    number behind one (``OI-002.5``) goes with the first.
    """
    numbered = [found for name in ids if (found := _NUMBERED.fullmatch(name))]
    counts = Counter(found[1] for found in numbered)
    plain = {prefix for prefix in counts if not _DIGIT.search(prefix)}

    def is_counted(prefix: str) -> bool:
        digit = _DIGIT.search(prefix)
        if digit is None:
            return True
        head = prefix[: digit.start()]
        beside = head in plain or (head == columns.prefix and counts[prefix] == 1)
        return _LETTER.search(prefix) is not None and not beside

    counted = [found for found in numbered if is_counted(found[1])]
    if not counted:
        return columns.prefix, _WIDTH
    prefix = max(reversed(counted), key=lambda found: counts[found[1]])[1]
    highest = max((int(f[2]), len(f[2])) for f in counted if f[1] == prefix)
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
    return UNSAID if field == "evidence" and is_closed(columns, record) else ""


def is_closed(columns: Columns, record: Record) -> bool:
    """Is this a row that says by what it is done, or why it is dropped?"""
    return columns.role == "task" and tables.value(record, "status") in CLOSED


def row(columns: Columns, name: str, record: Record, like: Sequence[str] = ()) -> tuple[str, ...]:
    """Give the cells of a new row.

    ``like`` are the cells of the row that it was in another topic: where they say nothing, nothing
    is said in the same way.
    """
    cells = [cell(columns, record, field) for field in columns.fields]
    for n, (field, said) in enumerate(zip(columns.fields, like[1:], strict=False)):
        unsaid = field in columns.optional and tables.value(record, field) is None
        if unsaid and said in NOTHING and not (field == "evidence" and cells[n]):
            cells[n] = said
    return (name, *cells)
