"""What a diff is made of, and how its changes are made in a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from interop import fields
from interop.fields import Value
from interop.model import Json, Record, Store

What: TypeAlias = Literal[
    "added", "removed", "moved", "changed", "archived", "restored", "order", "carried"
]
Tag: TypeAlias = Literal["content", "omission", "order", "noise", "agreed"]
"""content: something else is said; omission: one side says nothing; noise: what runtimes do by
themselves; agreed: both sides made the same change since the ancestor, so nothing differs."""
Side: TypeAlias = Literal["a", "b", "both", "conflict"]
"""Which side made a change since the common ancestor. ``both``: each changed it, and the changes go
together; ``conflict``: they do not, and a merge would ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference. Values are in JSON form, None where a side says nothing."""

    what: What
    tag: Tag
    key_a: str | None = None
    key_b: str | None = None
    """For a carried file: its path."""
    field: str | None = None
    at: tuple[str, ...] = ()
    """In a mapping the keys that lead to the value: ``("claude",)`` in ``kinds``."""
    a: Json = None
    b: Json = None
    probable: bool = False
    """The two records are only probably the same one."""
    similarity: float | None = None
    """How alike the texts of two such records are, in percent; None when only the place of the
    records says that they are one."""
    side: Side | None = None
    """None where there is no common ancestor, or it does not say."""
    base: Json = None
    """What the common ancestor said, where a side is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Everything in which two stores differ."""

    changes: tuple[Change, ...]
    since: str | None = None
    """The common ancestor in words, where there is one."""

    @property
    def same(self) -> bool:
        """Say whether nothing but order and noise differs."""
        return not any(map(counts, self.changes))


def counts(change: Change) -> bool:
    """Say whether a change makes two stores different."""
    return change.tag in ("content", "omission")


def patch(a: Store, changes: Sequence[Change]) -> Store:
    """Make the changes in a store: ``patch(a, compare(a, b))`` says what ``b`` says."""
    records = {r.key: r for r in a.records}
    carried = dict(a.carried)
    renamed: dict[str, Record] = {}
    order: list[str] | None = None
    edits: dict[str, list[Change]] = {}
    moves: dict[str, str] = {}
    for c in changes:
        if c.tag == "agreed":
            continue
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
            edits.setdefault(c.key_a or "", []).append(c)
    for key, record in records.items():
        to = moves.get(key, key)
        renamed[to] = fields.with_key(_edited(record, edits.get(key, ())), to)
    keys = order if order is not None else [moves.get(r.key, r.key) for r in a.records]
    rest = [k for k in renamed if k not in set(keys)]
    in_order = [renamed[k] for k in (*keys, *rest) if k in renamed]
    return replace(a, records=tuple(in_order), carried=carried)


def _edited(record: Record, edits: Iterable[Change]) -> Record:
    new: dict[str, Value] = {}
    for c in edits:
        name = c.field or ""
        if name == "role":
            return fields.from_json(cast("dict[str, Json]", c.b))
        if c.at:
            before: Mapping[str, Json] = new.get(name, fields.get(record, name)) or {}
            new[name] = _put(before, c.at, c.b)
        else:
            new[name] = None if c.b is None else fields.value_from_json(name, c.b)
    return fields.replace(record, new) if new else record


def _put(mapping: Mapping[str, Json], at: Sequence[str], value: Json) -> dict[str, Json]:
    """Set, or with None remove, a value in a mapping of mappings."""
    out = dict(mapping)
    first, *rest = at
    if rest:
        inner = out.get(first)
        out[first] = _put(inner if isinstance(inner, dict) else {}, rest, value)
    elif value is None:
        out.pop(first, None)
    else:
        out[first] = value
    return out
