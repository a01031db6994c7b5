"""Through another format and back: every byte and every field is the same again.

Where a format on the way demands a kind or a status that nobody declared, a placeholder is declared
in memory; it must leave no trace on the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from interop import fields
from interop.adapter import Adapter
from interop.check.laws import NOW, Law, difference, first_field
from interop.choices import Choices
from interop.convert import after, plan
from interop.disk.tree import Tree
from interop.errors import InteropError
from interop.model import Json, Record
from interop.plan import Plan
from interop.stores import Opened, assemble

_ROUNDS = 3
"""A record may wait for a kind, and once it has one for a status; more it cannot wait for."""

Declared = dict[str, dict[str, Json]]
"""Key of a record -> what was declared for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """One conversion into an empty place, in memory."""

    plan: Plan
    there: Opened
    declared: Declared


def through(store: Opened, via: Adapter) -> Law:
    """Through another format and back into an empty folder: the same bytes, the same records."""
    law = f"through {via.name}"
    count = len(store.restored.store.records)
    try:
        way = cross(store, via)
        home = cross(way.there, store.adapter, "check-back", declare=False)
    except InteropError as error:
        return Law(law=law, ok=False, difference=str(error), records=count)
    back = home.there
    full = {r.key: r for r in back.restored.store.records}
    apart = difference(store.tree.files, back.tree.files) or next(
        (
            f"{r.key}: {first_field(r, full.get(r.key))}"
            for r in store.restored.store.records
            if full.get(r.key) != r
        ),
        "",
    )
    trace = _trace(store, way.declared, full)
    carried = way.plan.count("carry")
    return Law(
        law=law,
        ok=not apart and not trace,
        difference=trace or apart,
        records=count,
        declared=sum(map(len, way.declared.values())),
        refused=carried,
        note="; ".join(filter(None, (_told(way.declared, trace), _whole(carried, via)))),
    )


def cross(
    source: Opened, via: Adapter, identity: str = "check-there", *, declare: bool = True
) -> Crossing:
    """Convert a store into an empty one of a format, with placeholders for what it demands.

    What cannot stand there travels in the complement.

    Raises:
        InteropError: no conversion can be planned.
    """
    # a value that a tombstone rejects is in the store already: the laws hold for it too
    every = frozenset(r.key for r in source.restored.store.records)
    # and nothing of it leaves this machine, so secrets are not looked for
    choices = Choices(accept_stale=True, allow_tombstoned=every, secrets="allow")
    there = empty(via, identity)
    declared: Declared = {}
    if declare and (via.statuses or (via.kinds is not None and via.kinds.required)):
        roles = {r.key: r.role for r in source.restored.store.records}
        for _ in range(_ROUNDS):
            waiting = placeholders(plan(source, there, choices, now=NOW), via, roles)
            if not waiting:
                break
            for key, stated in waiting.items():
                declared.setdefault(key, {}).update(stated)
            choices = replace(choices, decisions=declared)
    found = plan(source, there, replace(choices, carry=True), now=NOW)
    return Crossing(plan=found, there=after(found, there), declared=declared)


def empty(adapter: Adapter, identity: str) -> Opened:
    """Give a store in memory that has no file yet."""
    tree = Tree(files={}, complement=None, problems=())
    return assemble(adapter, Path(identity), tree, None, identity)


def placeholders(found: Plan, via: Adapter, roles: Mapping[str, str] | None = None) -> Declared:
    """Declare a kind, or a status, for every record of a plan that waits for one.

    ``roles`` says the role of each record, where statuses are to be declared too.
    """
    out: Declared = {}
    for key, ways in found.template.items():
        known = via.statuses.get((roles or {}).get(key, ""), ())
        if ways == {"kind": None} and via.kinds is not None:
            out[key] = {"kind": via.kinds.terms[0]}
        elif ways == {"status": None} and known:
            out[key] = {"status": known[0]}
    return out


def _trace(store: Opened, declared: Declared, back: Mapping[str, Record]) -> str:
    """Name the first placeholder that the record still has when it is home again."""
    for record in store.restored.store.records:
        again = back.get(record.key)
        for way in declared.get(record.key, {}) if again is not None else ():
            field = "kinds" if way == "kind" else way
            if again is not None and fields.get(record, field) != fields.get(again, field):
                value = declared[record.key][way]
                return f"{record.key}: the placeholder {way} {value!r} left a trace"
    return ""


def _told(declared: Declared, trace: str) -> str:
    if not declared:
        return ""
    words = sorted({f"{way} {value!r}" for d in declared.values() for way, value in d.items()})
    left = "" if trace else ", and left no trace"
    return (
        f"placeholders ({', '.join(words)}) were declared for {len(declared)} of the records{left}"
    )


def _whole(carried: int, via: Adapter) -> str:
    what = f"{carried} of the records cannot stand in {via.name} and travel whole beside it"
    return what if carried else ""
