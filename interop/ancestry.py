"""Which record of one store was which record of another, and what both last agreed on.

Both complements are asked: a conversion in either direction left lines, and the newest one about a
record counts. Stores further back on the way are reached through the lines of those between.
"""

from __future__ import annotations

from dataclasses import dataclass

from interop import fields
from interop.complement import Line, newest
from interop.match import Handle, match
from interop.model import Record
from interop.restore import Restored


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestor:
    """A record on which two stores once agreed."""

    source: str | None
    """Key of the record in the source as it is now; None when it is gone there."""
    destination: str | None
    """Key in the destination as it is now; None when it is gone, or was never in it."""
    base: Record
    generation: int
    line: Line | None
    carried: bool = False
    """True when the destination never had it: it only travels in its complement."""
    silent: bool = False
    """True when the source has it only in its complement: no opinion in a merge."""
    parted: bool = False
    """True when the source removed it and the destination was to keep it."""
    address: str | None = None
    """The key it had in the destination."""


def ancestors(
    source: Restored, source_handle: Handle, destination: Restored, destination_handle: Handle
) -> list[Ancestor]:
    """Give the newest ancestor of every record that the two stores have in common."""
    found: list[Ancestor] = []
    source_id, destination_id = source.store.id, destination.store.id
    lines = _about(destination, source_id)
    there = _trace([b for b, _ in lines], source.store.records, source_handle)
    here = {id(x): key for key, xs in destination.lines.items() for x in xs}
    for position, (base, line) in enumerate(lines):
        found.append(
            Ancestor(
                source=there.get(position),
                destination=here.get(id(line)),
                base=base,
                generation=line.generation,
                line=line,
                carried=line.to is None,
                parted=line.parted and position not in there,
                address=line.to,
            )
        )
    lines = _about(source, destination_id)
    there = _trace([b for b, _ in lines], destination.store.records, destination_handle)
    here = {id(x): key for key, xs in source.lines.items() for x in xs}
    for position, (base, line) in enumerate(lines):
        if line.parted:
            continue  # for the store that removed it, it is a new one
        found.append(
            Ancestor(
                source=here.get(id(line)),
                destination=there.get(position),
                base=base,
                generation=line.generation,
                line=line,
                silent=line.to is None,
                address=base.key,
            )
        )
    return _newest(found)


def _about(restored: Restored, store: str) -> list[tuple[Record, Line]]:
    """Give the lines that speak of a store, each with the record as it was there, in its order.

    A record that came here on two ways has two lines that tell of its beginnings, and they are one
    record there: the newer line counts.
    """
    out: list[tuple[Record, Line]] = []
    for lines in (*restored.lines.values(), restored.carried, restored.gone):
        told: set[tuple[str, str | None]] = set()
        for line in newest(lines):
            key = line.key if line.source == store else line.keys.get(store)
            if key is None or (key, line.to) in told:
                continue
            told.add((key, line.to))
            base = line.base if line.source == store else line.base_at(store)
            out.append((fields.with_key(base, key), line))
    place = {key: i for i, key in enumerate(restored.orders.get(store, ()))}
    return sorted(out, key=lambda item: place.get(item[0].key, -1))


def _trace(then: list[Record], now: tuple[Record, ...], handle: Handle) -> dict[int, str]:
    """Find records of an earlier state among those of today: position -> key."""
    pairs = match(then, now, handle=handle)
    return {p.left: now[p.right].key for p in pairs}


def _newest(found: list[Ancestor]) -> list[Ancestor]:
    """Keep one ancestor for each record; an older one of a record that has a newer is dropped."""
    sources: set[str] = set()
    destinations: set[str] = set()
    out: list[Ancestor] = []
    for a in sorted(found, key=lambda x: -x.generation):
        if (a.source is not None and a.source in sources) or (
            a.destination is not None and a.destination in destinations
        ):
            continue
        if a.source is not None:
            sources.add(a.source)
        if a.destination is not None:
            destinations.add(a.destination)
        out.append(a)
    return out
