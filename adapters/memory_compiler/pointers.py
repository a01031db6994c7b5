"""Ids that rows name: what points to a row follows it to the id that it has here.

    | D-007 | Rent the hall | Frost in November | 2026-09-28 | contract | D-001 | Active |

A pointer is an id and nothing else: in Supersedes, in Replacement, or behind ``Superseded by``. An
id inside of a sentence is text and stays as its author wrote it; a note says what it means here.
Spec: docs/formats/memory-compiler.md, "Ids".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from interop import fields
from interop.adapters.memory_compiler import reading, rows, tables
from interop.adapters.memory_compiler.reading import Topic
from interop.adapters.memory_compiler.settling import Change
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import (
    DECISIONS,
    OF_ROLE,
    OPEN_ITEMS,
    TABLES,
    TOMBSTONES,
)
from interop.model import Decision, Files, Record, Task, Tombstone

_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"\w")
_BY = "Superseded by "
_POINTING: Mapping[str, tuple[str, ...]] = {
    "supersedes": (DECISIONS,),
    "status": (DECISIONS,),
    "replacement": (DECISIONS, TOMBSTONES, OPEN_ITEMS),
}
"""Field -> the tables that it may point into."""


class Pointer(NamedTuple):
    """A field that is the id of a row."""

    field: str
    lead: str
    """What stands before the id: ``Superseded by``, or nothing."""
    name: str


def pointers(record: Record) -> Iterator[Pointer]:
    """Give the pointers of a record, whether their rows are there or not."""
    for field in _POINTING:
        words = fields.get(record, field)
        lead = _BY if field == "status" else ""
        if isinstance(words, str) and words.startswith(lead) and not isinstance(record, Task):
            yield Pointer(field, lead, words[len(lead) :])


class Rows:
    """What the ids of the source are here: those of new rows, and of rows that stand here."""

    def __init__(self, topic: Topic, put: Iterable[Record], originals: Files) -> None:
        self.new: dict[str, dict[str, Change]] = {path: {} for path in TABLES}
        """Path -> id in the source -> the new row."""
        self.here = dict(_standing(topic, put, originals))
        """Path -> id in the source -> id of the row that says the same here, ``""`` for none."""

    def add(self, path: str, change: Change) -> None:
        """Let a new row be found by the id that it had where it comes from."""
        own = rows.own_id(TABLES[path], change.key)
        if own is not None:
            self.new[path].setdefault(own, change)

    def target(self, pointer: Pointer) -> Change | str:
        """Give what a pointer means here: a new row, or an id."""
        for path in self._tables(pointer):
            change = self.new[path].get(pointer.name)
            if change is not None:
                return change
            name = self.here.get(path, {}).get(pointer.name)
            if name:
                return name
        return pointer.name

    def followed(self, record: Record) -> dict[str, str]:
        """Give the pointers that say another id here: field -> words."""
        out: dict[str, str] = {}
        for pointer in pointers(record):
            target = self.target(pointer)
            name = target.id if isinstance(target, Change) else target
            if name != pointer.name:
                out[pointer.field] = pointer.lead + name
        return out

    def astray(self, record: Record, topic: Topic) -> Iterator[Pointer]:
        """Give pointers to a row that is not here, where another row has its id."""
        for pointer in pointers(record):
            paths = self._tables(pointer)
            lost = any(self.here.get(path, {}).get(pointer.name) == "" for path in paths)
            taken = any(topic.record(f"{path}#{pointer.name}") for path in paths)
            if lost and taken and self.target(pointer) == pointer.name:
                yield pointer

    def moved(self) -> dict[str, str]:
        """Give the ids that are other ones here and can be told in a sentence: id -> id here."""
        out: dict[str, str] = {}
        for path in TABLES:
            found = {own: change.id for own, change in self.new[path].items()}
            for own, name in {**self.here.get(path, {}), **found}.items():
                if name and name != own and _LETTER.search(own):
                    out.setdefault(own, name)
        return out

    def _tables(self, pointer: Pointer) -> Sequence[str]:
        """Give the tables that a pointer may point into; a bare number may be anything."""
        if pointer.field == "replacement" and not _LETTER.search(pointer.name):
            return ()
        return _POINTING[pointer.field]


class Named:
    """Finds which of some ids a sentence names; of two that begin alike, the longer one.

    Ids are looked up by their lengths, of which there are few: a pattern of thousands of them would
    be tried one by one in every sentence.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = frozenset(ids)
        self._sizes = sorted({len(name) for name in self._ids}, reverse=True)
        first = "".join(sorted({name[0] for name in self._ids}))
        self._begins = re.compile(rf"(?<!\w)[{re.escape(first)}]") if first else None

    def within(self, text: str) -> list[str]:
        """Give the ids that a text names, each once, in its order."""
        if self._begins is None:
            return []
        found: dict[str, None] = {}
        begin = self._begins.search(text)
        while begin is not None:
            at = begin.start()
            name = next((text[at : at + n] for n in self._sizes if self._stands(text, at, n)), "")
            if name:
                found[name] = None
            begin = self._begins.search(text, at + (len(name) or 1))
        return list(found)

    def _stands(self, text: str, at: int, size: int) -> bool:
        return text[at : at + size] in self._ids and _WORD.match(text, at + size) is None


def _standing(
    topic: Topic, put: Iterable[Record], originals: Files
) -> Iterator[tuple[str, dict[str, str]]]:
    """Find the rows of the source's files among those that stand here, by what they say."""
    targets = {record.key: record for record in put}
    source = reading.read(originals)
    for path, columns in TABLES.items():
        there, part = source.parts.get(path), topic.parts.get(path)
        if not isinstance(there, TableFile):
            continue
        ids: dict[tuple[str | None, ...], set[str]] = {}
        for key, record in part.records.items() if part is not None else ():
            name = rows.own_id(columns, key)
            for said in (record, targets.get(key, record)):
                ids.setdefault(_telling(said), set()).add(name or "")
        found: dict[str, str] = {}
        for key, record in there.records.items():
            own = rows.own_id(columns, key) or ""
            same = ids.get(_telling(record), set())
            found.setdefault(own, own if own in same else min(same) if len(same) == 1 else "")
        yield path, found


def _telling(record: Record) -> tuple[str | None, ...]:
    """Give what tells a row from the others of its table."""
    if isinstance(record, Decision):
        return (record.decision,)
    if isinstance(record, Tombstone):
        return (record.subject, record.rejected)
    return (tables.value(record, "body"),)


def sentences(change: Change) -> Iterator[tuple[str, str]]:
    """Give what a change says anew that may hold an id: field and words, without pointers."""
    record = change.meant
    if record is None:
        return
    columns = OF_ROLE.get(record.role)
    for field in columns.fields if columns is not None else ("body",):
        words = tables.value(record, field)
        before = tables.value(change.current, field) if change.current is not None else None
        if words is not None and words != before and field not in ("supersedes", "status"):
            yield field, words
