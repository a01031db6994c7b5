"""How the records of two stores are held beside each other, and what counts as different.

Between two formats that were never linked, a record is compared in each other's words: what one of
them cannot say, or supplies by itself, is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from interop import fields
from interop.adapter import Adapter, Context, Hold, Kinds
from interop.cases import LATEST
from interop.diff.changes import Tag
from interop.fields import FIELDS, Value
from interop.merge import same
from interop.model import Json, Record, Store
from interop.rendering import lower, seen_record


class Piece(NamedTuple):
    """One place at which two records of a role say something else."""

    field: str
    at: tuple[str, ...]
    here: Value
    there: Value
    tag: Tag


@dataclass(frozen=True, slots=True)
class View:
    """Two stores seen beside each other."""

    adapters: tuple[Adapter, ...] = ()
    """The formats whose runtimes change something by themselves."""
    words: Words | None = None

    def pieces(self, record: Record, other: Record) -> Iterator[Piece]:
        """Give every place at which two records of one role say something else."""
        quiet: Record | None = None
        still: Record | None = None
        for name in FIELDS[record.role]:
            here, there = fields.get(record, name), fields.get(other, name)
            if here == there or (self.words is not None and self.words.alike(record, other, name)):
                continue
            if quiet is None or still is None:
                quiet, still = self._calm(record), self._calm(other)
            calm, calmer = fields.get(quiet, name), fields.get(still, name)
            for at, one, two in _apart(name, here, there):
                tag: Tag = "content"
                if name in LATEST or same(one, two) or value_at(calm, at) == value_at(calmer, at):
                    tag = "noise"
                elif one is None or two is None:
                    tag = "omission"
                yield Piece(name, at, one, two, tag)

    def edited(self, base: Record, now: Record, name: str, at: tuple[str, ...] = ()) -> bool:
        """Say whether somebody changed a value since; what a runtime does by itself is no edit."""
        then, value = (value_at(fields.get(r, name), at) for r in (base, now))
        if name in LATEST or same(then, value):
            return False
        if self.words is not None and self.words.alike(base, now, name):
            return False
        calm, still = (value_at(fields.get(self._calm(r), name), at) for r in (base, now))
        return not same(calm, still)

    def _calm(self, record: Record) -> Record:
        for adapter in self.adapters:
            record = adapter.calm(record)
        return record


def value_at(value: Value, at: Sequence[str]) -> Value:
    """Give what stands at a place in a mapping of mappings, None where nothing does."""
    for key in at:
        value = value.get(key) if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return value  # pyright: ignore[reportUnknownVariableType]


_KEYED = {"kinds": 1, "extra": 2}
"""Mappings that are compared key by key, and how deep: by vocabulary, by format and its key."""


def _apart(name: str, here: Value, there: Value) -> Iterator[tuple[tuple[str, ...], Value, Value]]:
    depth = _KEYED.get(name, 0)
    if depth:
        yield from _by_key((), here or {}, there or {}, depth)
    else:
        yield (), here, there


def _by_key(
    at: tuple[str, ...], here: Mapping[str, Json], there: Mapping[str, Json], depth: int
) -> Iterator[tuple[tuple[str, ...], Value, Value]]:
    if None in here.values() or None in there.values():
        # a null is a value here, and could not be told from a key that is not there
        yield at, (here or None) if not at else here, (there or None) if not at else there
        return
    for key in (*here, *(k for k in there if k not in here)):
        one, two = here.get(key), there.get(key)
        if depth > 1 and isinstance(one, dict) and isinstance(two, dict):
            yield from _by_key((*at, key), one, two, depth - 1) if one != two else ()
        elif one != two:
            yield (*at, key), one, two


@dataclass(frozen=True, slots=True)
class Words:
    """The records of two stores that were never linked, each said in the other's format."""

    a_in_b: Mapping[str, Record]
    b_in_a: Mapping[str, Record]
    both: frozenset[str]
    """The fields that both formats hold; a name is not one, each format makes it by its rules."""

    @classmethod
    def of(cls, a: Store, b: Store, one: Adapter, other: Adapter) -> Words:
        """Say the records of each store in the other's format."""
        both = {
            f
            for f, hold in one.holds.items()
            if hold is Hold.EXACT and other.holds.get(f) is Hold.EXACT and f != "name"
        }
        return cls(_said(a.records, other), _said(b.records, one), frozenset(both))

    def alike(self, record: Record, other: Record, field: str) -> bool:
        """Do both say the same in one format's words, or can one of them not say it at all?"""
        if field not in self.both:
            return True
        if field == "kinds":  # what stood in for a kind while it was said is no statement
            return False
        here, there = fields.get(record, field), fields.get(other, field)
        said, told = (
            fields.get(self.a_in_b[record.key], field),
            fields.get(self.b_in_a[other.key], field),
        )
        if (here is None and _is_now(said)) or (there is None and _is_now(told)):
            return True  # a date that a conversion supplies is when it was made, no statement
        return same(said, there) or same(here, told)


_NOW = "1970-01-01"
"""A moment at which nothing is converted: where it is said, it was supplied."""


def _is_now(value: Value) -> bool:
    return isinstance(value, str) and value.startswith(_NOW)


def _cannot(stated: Mapping[str, str], kinds: Kinds) -> bool:
    """Does a format refuse a record for its kind, or for having none?"""
    term = stated.get(kinds.vocabulary)
    return kinds.required if term is None else kinds.closed and term not in kinds.terms


def _said(records: Sequence[Record], into: Adapter) -> dict[str, Record]:
    """Say records in a format's words; a kind that it demands is stood in for."""
    kinds = into.kinds
    new: list[Record] = []
    for record in records:
        stated: Mapping[str, str] = fields.get(record, "kinds") or {}
        said = lower(record, into)
        if kinds is not None and said.role == "memory" and _cannot(stated, kinds):
            said = fields.replace(said, {"kinds": {**stated, kinds.vocabulary: kinds.terms[0]}})
        new.append(said)
    store = Store(format=into.name, records=tuple(new))
    context = Context(now=f"{_NOW}T00:00:00.000Z")
    written = into.write(store, {}, context).records
    return {r.key: seen_record(written.get(r.key, r), into) for r in records}
