"""What each pair of formats keeps of each field: measured, never declared.

Specimens of one format are converted into another, in memory and by the planning that every
conversion uses; what is said here is what the plan measured on the bytes that it would write. Then
they are converted back, and what does not come home is ``lost``.

Spec: docs/check.md, "The loss matrix".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from interop import fields, registry
from interop.adapter import Adapter
from interop.check.crossing import cross, empty
from interop.check.laws import NOW
from interop.check.specimens import Specimens, specimens
from interop.choices import Choices
from interop.convert import plan
from interop.model import ROLES, Body, Json, Record
from interop.plan import Outcome
from interop.rendering import translated

Fate: TypeAlias = Literal["exact", "supplied", "carried", "refused", "lost"]
Unstated: TypeAlias = Literal["supplied", "refused"]

_WORST_FIRST: Sequence[Fate] = ("lost", "refused", "carried", "supplied", "exact")
_ARCHIVED = ("state", "archived")
"""Fields that are measured on an archived record."""
_WAYS = {"kind": "kinds", "status": "status"}
"""What a decisions file is asked for -> the field that could not stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What becomes of one field on the way from one format into another."""

    source: str
    destination: str
    role: str
    field: str
    fate: Fate | None
    """Of a value that the source states; None where the source has no place for it."""
    unstated: Unstated | None = None
    """What the destination does where nobody states it, if it demands the field."""


def measure(formats: Sequence[str] | None = None) -> list[Cell]:
    """Measure every ordered pair of formats (all of them, if none are named)."""
    adapters = [registry.get(name) for name in formats or registry.names()]
    made = {a.name: specimens(a) for a in adapters}
    return [
        cell
        for destination in adapters
        for source in adapters
        if source is not destination
        for cell in _pair(made[source.name], destination)
    ]


def _pair(source: Specimens, destination: Adapter) -> Iterator[Cell]:
    """Measure one way."""
    store = source.store
    records = {r.key: r for r in store.restored.store.records}
    free = frozenset(records)
    undeclared = plan(
        store, empty(destination, "loss"), Choices(allow_tombstoned=free), now=NOW
    ).template
    way = cross(store, destination, "loss")
    home = cross(way.there, store.adapter, "loss-back", declare=False).there
    again = {r.key: r for r in home.restored.store.records}
    seen = {r.key: r for r in way.there.seen.records}
    outcomes = {o.key: o for o in way.plan.outcomes}

    def fate_of(key: str, name: str) -> Fate | None:
        if key not in records or not _is_stated(records[key], name):
            return None
        home_again = again.get(key)
        if home_again is None or _differ(records[key], home_again, name):
            return "lost"
        there = seen.get(outcomes[key].to or "")
        return _fate(name, records[key], outcomes[key], there, undeclared)

    for role in ROLES:
        for name in fields.FIELDS[role]:
            ways = ("archived",) if name in _ARCHIVED and role == "memory" else ("full", "other")
            # of the ways in which the source can state it, the one that fares worst is told
            fate = _worst([fate_of(source.keys.get(f"{way} {role}", ""), name) for way in ways])
            bare = source.keys.get(f"bare {role}", "")
            yield Cell(
                source=store.adapter.name,
                destination=destination.name,
                role=role,
                field=name,
                fate=fate,
                unstated=_unstated(name, records.get(bare), outcomes.get(bare), undeclared),
            )


def _worst(fates: Iterable[Fate | None]) -> Fate | None:
    found = set(fates)
    return next((fate for fate in _WORST_FIRST if fate in found), None)


def _is_stated(record: Record, name: str) -> bool:
    """Does the record state the field? That it is live every format says, by having it."""
    return fields.get(record, name) not in (None, "live")


def _differ(one: Record, other: Record, name: str) -> bool:
    return bool(fields.get(one, name) != fields.get(other, name))


def _says(there: Record, record: Record, name: str) -> bool:
    """Does it say the same, be it in another medium that leads back to every byte?"""
    meant, says = fields.get(record, name), fields.get(there, name)
    if isinstance(meant, Body) and isinstance(says, Body):
        says = translated(says, meant.media)
    return bool(meant == says)


def _fate(
    name: str,
    record: Record,
    outcome: Outcome,
    there: Record | None,
    undeclared: Mapping[str, Json],
) -> Fate:
    """Say what becomes of a field that a record states."""
    waits = _waits(undeclared, record.key)
    if "carry" in waits or name in waits:
        return "refused"
    if outcome.action == "carry":
        return "carried"
    found = next((f.fate for f in outcome.fields if f.field == name), None)
    if found in ("exact", "restored"):
        # what the plan measured is measured once more on what would be read
        return "exact" if there is not None and _says(there, record, name) else "lost"
    return "supplied" if found == "supplied" else "carried" if found == "carried" else "lost"


def _unstated(
    name: str, record: Record | None, outcome: Outcome | None, undeclared: Mapping[str, Json]
) -> Unstated | None:
    """Say what becomes of a field that a record does not state."""
    if record is None or outcome is None or fields.get(record, name) is not None:
        return None
    if name in _waits(undeclared, record.key):
        return "refused"
    made = any(f.field == name and f.fate == "supplied" for f in outcome.fields)
    return "supplied" if made else None


def _waits(undeclared: Mapping[str, Json], key: str) -> set[str]:
    """Give the fields that a person has to decide on before the record can stand."""
    ways = undeclared.get(key)
    return {_WAYS.get(way, way) for way in ways} if isinstance(ways, dict) else set()


def page(cells: Sequence[Cell]) -> str:
    """Write the loss matrix as a page: one table for each destination."""
    destinations = dict.fromkeys(cell.destination for cell in cells)
    return "\n".join([_HEAD, *(_section(d, cells) for d in destinations)])


def _section(destination: str, cells: Sequence[Cell]) -> str:
    mine = [cell for cell in cells if cell.destination == destination]
    sources = list(dict.fromkeys(cell.source for cell in mine))
    rows: dict[tuple[str, str], list[str]] = {}
    for cell in mine:
        rows.setdefault((cell.role, cell.field), []).append(_said(cell))
    lines = [
        f"## Into {destination}\n",
        f"| field | {' | '.join(f'from {source}' for source in sources)} |",
        f"|---|{'---|' * len(sources)}",
    ]
    for (role, field), said in rows.items():
        same = role == "task" and rows.get(("memory", field)) == said
        if any(said) and not same:
            lines.append(f"| {role}: {field} | {' | '.join(said)} |")
    return "\n".join([*lines, ""])


def _said(cell: Cell) -> str:
    marks = {"supplied": "+", "refused": "!"}
    mark = marks[cell.unstated] if cell.unstated is not None else ""
    return " ".join(filter(None, (cell.fate, mark)))


_HEAD = """\
# The loss matrix

What becomes of each field of each record on the way from one format into another. Nothing here \
was written by hand: `make docs` converts specimens of every format into every other one, reads \
what would be written, converts it back, and writes this page; a test does the same and compares. \
[check.md](check.md) says how to try it on a store of your own.

| cell | what it says |
|---|---|
| exact | the destination says the same, perhaps in another medium that leads back to every byte |
| supplied | the destination says it in its own way (with a claim before it, as a moment); \
the value itself travels in the complement |
| carried | the destination has no place for it; it travels in the complement |
| refused | a kind or a status of another vocabulary: the record is named, and stands once \
somebody declares one |
| + | where nobody states it the destination demands it: a value is made up, marked, and taken \
back on the way home |
| ! | where nobody states it the destination demands it: the record is refused until somebody \
declares it |
| lost | it would not come home; no cell may say so |
| (empty) | the source has no place for it, and the destination does not ask for it |

A field is measured in each way in which a format can state it (a link in the header alone, or \
in the text too; a name that is not that of the file), and the cell says the one that fares \
worst. The values are ordinary ones: what a format would damage (a description of two lines) is \
fitted as its page says. `state` and `archived` are measured on an archived record; a \
destination without an archive carries it whole. Left out are rows without a cell, and fields of \
a task that fare as those of a memory. A format with no kinds or statuses of its own is measured \
with those of the first that has.
"""
