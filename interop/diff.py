"""Two stores compared by record and field: data with a law, printed elsewhere.

``patch(a, compare(a, b)) == b`` in records, order and carried files, and comparing a store with
itself gives nothing. Every change found is tagged; which tags are shown, and which count for the
exit status, is decided where it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from interop import fields
from interop.adapter import Adapter, Context, Hold, Kinds
from interop.ancestry import ancestors
from interop.cases import LATEST
from interop.fields import FIELDS
from interop.match import match, match_unlinked
from interop.merge import same
from interop.model import Json, Record, Store
from interop.rendering import lower, seen_record
from interop.stores import Opened

What = Literal["added", "removed", "moved", "changed", "archived", "restored", "order", "carried"]
Tag = Literal["content", "omission", "order", "noise"]
"""content: something else is said; omission: one side says nothing; noise: what runtimes do by
themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference. Values are in JSON form, None where a side says nothing."""

    what: What
    tag: Tag
    key_a: str | None = None
    key_b: str | None = None
    """For a carried file: its path."""
    field: str | None = None
    a: Json = None
    b: Json = None
    probable: bool = False
    """The two records are only probably the same one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Everything in which two stores differ."""

    changes: tuple[Change, ...]

    @property
    def same(self) -> bool:
        """Say whether nothing but order and noise differs."""
        return all(c.tag in ("order", "noise") for c in self.changes)


def diff(a: Opened, b: Opened) -> Diff:
    """Compare two stores.

    Stores that a conversion has linked are compared restored: what each says in full. Two formats
    that were never linked are compared on the fields that both hold, each in the other's words, so
    that a store and its twin in another format show nothing.
    """
    linked = ancestors(a.restored, a.adapter.handle, b.restored, b.adapter.handle)
    left, right = a.restored.store, b.restored.store
    apart = a.adapter is not b.adapter
    at_a = {r.key: i for i, r in enumerate(left.records)}
    at_b = {r.key: i for i, r in enumerate(right.records)}
    pairs = {
        at_a[x.source]: (at_b[x.destination], False)
        for x in linked
        if x.source is not None and x.destination is not None
    }
    words = _Words.of(left, right, a.adapter, b.adapter) if apart and not linked else None
    taken = {j for j, _ in pairs.values()}
    free_a = [i for i in range(len(left.records)) if i not in pairs]
    free_b = [j for j in range(len(right.records)) if j not in taken]
    said: Mapping[str, Record] = words.a_in_b if words is not None else {}
    ones = [said.get(left.records[i].key, left.records[i]) for i in free_a]
    others = [right.records[j] for j in free_b]
    if words is not None:
        found = match_unlinked(ones, others, handle=b.adapter.handle)
    else:
        found = match(ones, others, handle=b.adapter.handle, by_key=not apart)
    for pair in found:
        pairs[free_a[pair.left]] = (free_b[pair.right], pair.how == "near")
    changes = _compare(left, right, pairs, _calm(a.adapter, b.adapter), keys=not apart, words=words)
    # what only travels beside the other store is not missing there
    beside_b = {x.source for x in linked if x.carried}
    beside_a = {x.destination for x in linked if x.silent}
    return Diff(
        changes=tuple(
            c
            for c in changes
            if not (c.what == "removed" and c.key_a in beside_b)
            and not (c.what == "added" and c.key_b in beside_a)
        )
    )


def compare(a: Store, b: Store) -> tuple[Change, ...]:
    """Compare two stores of one format as they are."""
    found = match(a.records, b.records, handle=lambda r: r.key)
    pairs = {p.left: (p.right, p.how == "near") for p in found}
    return tuple(_compare(a, b, pairs, lambda r: r, keys=True))


def patch(a: Store, changes: Sequence[Change]) -> Store:
    """Make the changes in a store: ``patch(a, compare(a, b))`` says what ``b`` says."""
    records = {r.key: r for r in a.records}
    carried = dict(a.carried)
    renamed: dict[str, Record] = {}
    order: list[str] | None = None
    edits: dict[str, dict[str, Json]] = {}
    moves: dict[str, str] = {}
    for c in changes:
        if c.what == "order":
            order = cast("list[str]", c.b)
        elif c.what == "carried":
            path = c.key_b or c.key_a or ""
            if c.b is None:
                del carried[path]
            else:
                carried[path] = str(c.b)
        elif c.what == "removed":
            del records[c.key_a or ""]
        elif c.what == "added":
            renamed[c.key_b or ""] = fields.from_json(cast("dict[str, Json]", c.b))
        elif c.what == "moved":
            moves[c.key_a or ""] = c.key_b or ""
        else:
            edits.setdefault(c.key_a or "", {})[c.field or ""] = c.b
    for key, record in records.items():
        new = {
            f: None if v is None else fields.value_from_json(f, v)
            for f, v in edits.get(key, {}).items()
        }
        to = moves.get(key, key)
        renamed[to] = fields.with_key(fields.replace(record, new), to)
    keys = order if order is not None else [moves.get(r.key, r.key) for r in a.records]
    rest = [k for k in renamed if k not in set(keys)]
    in_order = [renamed[k] for k in (*keys, *rest) if k in renamed]
    return replace(a, records=tuple(in_order), carried=carried)


def _compare(
    a: Store,
    b: Store,
    pairs: Mapping[int, tuple[int, bool]],
    calm: Callable[[Record], Record],
    *,
    keys: bool,
    words: _Words | None = None,
) -> list[Change]:
    out: list[Change] = []
    back = {j: i for i, (j, _) in pairs.items()}
    for i, record in enumerate(a.records):
        if i not in pairs:
            out.append(
                Change(what="removed", tag="content", key_a=record.key, a=fields.to_json(record))
            )
            continue
        j, probable = pairs[i]
        other = b.records[j]
        if keys and record.key != other.key:
            out.append(
                Change(
                    what="moved",
                    tag="content",
                    key_a=record.key,
                    key_b=other.key,
                    probable=probable,
                )
            )
        out += _fields(record, other, probable, words, calm)
    for j, record in enumerate(b.records):
        if j not in back:
            out.append(
                Change(what="added", tag="content", key_b=record.key, b=fields.to_json(record))
            )
    met = [pairs[i][0] for i in range(len(a.records)) if i in pairs]
    tail = [j for j in range(len(b.records)) if j not in back]
    if keys and (met != sorted(met) or (tail and met and tail[0] < max(met))):
        moved = met != sorted(met)
        out.append(
            Change(
                what="order",
                tag="order" if moved else "noise",
                a=[r.key for r in a.records],
                b=[r.key for r in b.records],
            )
        )
    if keys:
        for path in sorted({*a.carried, *b.carried}):
            here, there = a.carried.get(path), b.carried.get(path)
            if here != there:
                out.append(
                    Change(
                        what="carried",
                        tag="content",
                        key_a=path if here is not None else None,
                        key_b=path if there is not None else None,
                        a=here,
                        b=there,
                    )
                )
    return out


def _calm(one: Adapter, other: Adapter) -> Callable[[Record], Record]:
    """Leave out what either runtime changes by itself."""
    return lambda record: other.calm(one.calm(record))


def _fields(
    record: Record,
    other: Record,
    probable: bool,
    words: _Words | None,
    calm: Callable[[Record], Record],
) -> list[Change]:
    out: list[Change] = []
    if record.role != other.role:
        return [
            Change(
                what="changed",
                tag="content",
                key_a=record.key,
                key_b=other.key,
                field="role",
                a=fields.to_json(record),
                b=fields.to_json(other),
            )
        ]
    quiet, still = calm(record), calm(other)
    for name in FIELDS[record.role]:
        here, there = fields.get(record, name), fields.get(other, name)
        if here == there or (words is not None and words.alike(record, other, name)):
            continue
        tag: Tag = "content"
        if (
            name in LATEST
            or same(here, there)
            or fields.get(quiet, name) == fields.get(still, name)
        ):
            tag = "noise"
        elif here is None or there is None:
            tag = "omission"
        what: What = "changed"
        if name == "state":
            what = "archived" if there == "archived" else "restored"
        out.append(
            Change(
                what=what,
                tag=tag,
                key_a=record.key,
                key_b=other.key,
                field=name,
                a=None if here is None else fields.value_to_json(here),
                b=None if there is None else fields.value_to_json(there),
                probable=probable,
            )
        )
    return out


@dataclass(frozen=True, slots=True)
class _Words:
    """The records of two stores that were never linked, each said in the other's format."""

    a_in_b: Mapping[str, Record]
    b_in_a: Mapping[str, Record]
    both: frozenset[str]
    """The fields that both formats hold; a name is not one, each format makes it by its rules."""

    @classmethod
    def of(cls, a: Store, b: Store, one: Adapter, other: Adapter) -> _Words:
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


def _is_now(value: fields.Value) -> bool:
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
