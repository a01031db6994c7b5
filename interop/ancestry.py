"""Which record of one store was which record of another, and what both last agreed on.

Both complements are asked: a conversion in either direction left lines, and the newest one about a
record counts. Stores further back on the way are reached through the lines of those between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from interop import lineage, registry
from interop.complement import Line, newest
from interop.match import Handle, match
from interop.model import Memory, Record
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
    """True when a person decided that the destination has it and the source has not."""
    address: str | None = None
    """The key it had in the destination."""
    origin: str | None = None
    """The key it had in the source."""


def ancestors(
    source: Restored, source_handle: Handle, destination: Restored, destination_handle: Handle
) -> list[Ancestor]:
    """Give the newest ancestor of every record that the two stores have in common."""
    found: list[Ancestor] = []
    source_id, destination_id = source.store.id, destination.store.id
    lines = _about(destination, source_id)
    here = {id(x): key for key, xs in destination.lines.items() for x in xs}
    ended = _ended(lines, here, destination, source)
    there = _trace(lines, destination, source, source_handle, ended)
    for position, (base, when, line) in enumerate(lines):
        if id(line) in ended and here.get(id(line)) is not None and position not in there:
            continue  # it was put there again since, and is a new one
        found.append(
            Ancestor(
                source=there.get(position),
                destination=here.get(id(line)),
                base=base,
                generation=when,
                line=line,
                carried=line.to is None,
                parted=line.parted and position not in there,
                address=line.to,
                origin=base.key,
            )
        )
    lines = _about(source, destination_id)
    here = {id(x): key for key, xs in source.lines.items() for x in xs}
    ended = _ended(lines, here, source, destination)
    there = _trace(lines, source, destination, destination_handle, ended)
    for position, (base, when, line) in enumerate(lines):
        if id(line) in ended and here.get(id(line)) is not None and position not in there:
            continue
        # for the store that removed it, what a person decided to keep in the other is a new one
        anew = line.parted and position not in there
        found.append(
            Ancestor(
                source=here.get(id(line)),
                destination=there.get(position),
                base=base,
                generation=when,
                line=None if anew else line,
                silent=line.to is None,
                address=base.key,
                origin=line.to,
            )
        )
    return _newest(_carried(found, source, destination))


class Agreed(NamedTuple):
    """A record as a store and another one last agreed on it."""

    base: Record
    when: int
    line: Line | None
    """The store's line of it, if it has one."""
    key: str | None
    """Its key in the store then."""


class Identity:
    """What a line calls its record in every store that it tells of, also where it was moved since.

    By what survives there, as the handle of each store's format has it: an archived record has
    another key than the one by which stores further down the way know it. Where a store has two
    records of one handle (one live, one archived under the same name), their keys tell them apart.
    """

    def __init__(self, *known: Restored) -> None:
        formats = {s: name for one in known for s, name in one.formats.items()}
        formats |= {one.store.id: one.store.format for one in known}
        self.handles = {
            store: registry.get(name).handle
            for store, name in formats.items()
            if name in registry.names()
        }
        self.shared = frozenset(name for one in known for name in self._shared(one))

    def __call__(self, line: Line | None) -> frozenset[tuple[str, str]]:
        """Give (store, handle) for each store; of no line none."""
        told = line.places() if line is not None else ()
        return frozenset(
            exact if (name := self._lasting(*exact)) in self.shared else name for exact in told
        )

    def _lasting(self, store: str, key: str) -> tuple[str, str]:
        """Give what a key of a store is known by for good."""
        found = self.handles[store](Memory(key=key)) if store in self.handles else None
        return store, key if found is None else found

    def _shared(self, known: Restored) -> Iterable[tuple[str, str]]:
        """Give the handles under which a store's complement knows more than one record."""
        record: dict[tuple[str, str], set[tuple[str, str]]] = {}
        others = ((line,) for line in (*known.carried, *known.gone))
        for lines in (*known.lines.values(), *others):
            mine = {name for line in lines for name in line.places()}
            for name in tuple(mine):
                mine |= record.get(name, set())
            record |= dict.fromkeys(mine, mine)
        told: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for exact, one in record.items():
            told[self._lasting(*exact)].add(id(one))
        return (name for name, records in told.items() if len(records) > 1)

    def first(self, lines: Iterable[Line], others: Mapping[tuple[str, str], Line]) -> Line | None:
        """Give the newest of other lines, by their names, that speak of the record of these."""
        shared = [others[x] for line in lines for x in self(line) if x in others]
        return newest(shared)[0] if shared else None

    def agreed(
        self, line: Line, told: Iterable[Line], silent: Ancestor | None = None
    ) -> Agreed | None:
        """Give what a store last agreed on of the record that a line of another store carries.

        ``told`` are the store's own lines of it, ``silent`` what the other knows of the store.
        """
        found: list[Agreed] = []
        if silent is not None and silent.destination is not None:
            found.append(Agreed(silent.base, silent.generation, None, silent.destination))
        for x in told:
            for store, _ in self(line) & self(x):
                about = x.about(store)
                if about is not None:
                    found.append(Agreed(*about, x, x.to))
        return max(found, key=lambda one: (one.when, one.line is not None), default=None)


def says_the_same(one: Record, other: Record) -> bool:
    """Say whether two states of a record differ in nothing but the key."""
    return one.role == other.role and not lineage.apart(one, other)


def _carried(found: Sequence[Ancestor], source: Restored, destination: Restored) -> list[Ancestor]:
    """See to records that one of the two carries: it has them still, it only cannot say them.

    To be missed is no removal there. What the destination carries goes on travelling; what the
    source carries has no opinion, unless it was changed since: then it speaks for itself
    (interop.counterparts).
    """
    if not source.carried and not destination.carried:
        return list(found)
    identity = Identity(source, destination)
    away = {x: line for line in reversed(source.carried) for x in identity(line)}
    held = {x: line for line in reversed(destination.carried) for x in identity(line)}
    out: list[Ancestor] = []
    for a in found:
        told = identity(a.line if not (a.silent or a.parted) else None)
        if a.source is None and not told.isdisjoint(away):
            continue
        if a.destination is None and a.source is not None and not told.isdisjoint(held):
            a = replace(a, carried=True)
        out.append(a)
    seen = {a.source for a in out}
    for key, lines in source.lines.items() if held else ():
        if key not in seen and (line := identity.first(lines, held)) is not None:
            out.append(
                Ancestor(
                    source=key,
                    destination=None,
                    base=line.base,
                    generation=line.generation,
                    line=line,
                    carried=True,
                    origin=key,
                )
            )
    seen = {a.destination for a in out}
    for key, lines in destination.lines.items() if away else ():
        if key not in seen and (line := identity.first(lines, away)) is not None:
            last = identity.agreed(line, lines)
            if last is not None and says_the_same(last.base, line.base):
                out.append(
                    Ancestor(
                        source=None,
                        destination=key,
                        base=line.base,
                        generation=line.generation,
                        line=line,
                        silent=True,
                        address=key,
                    )
                )
    return out


class _About(NamedTuple):
    """A line that speaks of a store, the record as it was there, and since when."""

    base: Record
    when: int
    line: Line


def _about(restored: Restored, store: str) -> list[_About]:
    """Give the lines that speak of a store, each with the record as it was there and since when.

    They are in the order that the records had there. A record that came here on two ways has two
    lines that tell of its beginnings, and they are one record there: what was agreed last counts.
    """
    out: list[_About] = []
    groups = [*restored.lines.values()]
    apart: defaultdict[str | int, list[Line]] = defaultdict(list)
    for line in (*restored.carried, *restored.gone):
        apart[id(line) if line.to is None else line.to].append(line)
    for lines in (*groups, *apart.values()):
        known = [_About(*y, line) for line in newest(lines) if (y := line.about(store)) is not None]
        known.sort(key=lambda x: (-x.when, x.line.source != store))
        told: set[str] = set()
        for x in known:
            # two of its records may have become one here; what others tell is the same record
            if not told or (
                x.line.source == known[0].line.source == store and x.base.key not in told
            ):
                told.add(x.base.key)
                out.append(x)
    place = {key: i for i, key in enumerate(restored.orders.get(store, ()))}
    return sorted(out, key=lambda x: place.get(x.base.key, -1))


def _ended(
    lines: Sequence[_About], here: Mapping[int, str], own: Restored, other: Restored
) -> set[int]:
    """Say which lines speak of a record that was gone in both when the other was last written.

    The other was converted from here when it was gone here, and has not kept it. So it has become
    no other record, and one that stands here again was put there anew.
    """
    read = other.sources.get(own.store.id)
    if read is None:
        return set()
    then = frozenset((*read.tree, *read.order))
    return {
        id(line)
        for base, when, line in lines
        if line.to is not None and when < read.generation and base.key not in other.stood
        if line.to not in then and here.get(id(line)) not in then
    }


def _trace(
    lines: Sequence[_About],
    own: Restored,
    other: Restored,
    handle: Handle,
    ended: Collection[int],
) -> dict[int, str]:
    """Find records of an earlier state among those of today: position -> key."""
    now = other.store.records
    stood = own.stood.union(r.key for r in own.store.records)

    def is_another(line: Line, key: str) -> bool:
        """Does the other's own complement know what the line is guessed to be as another record?"""
        told = {known[0].key for x in other.lines[key] if (known := x.about(own.store.id))}
        return not told.isdisjoint(stood) and line.to not in told

    out: dict[int, str] = {}
    for p in match([x.base for x in lines], now, handle=handle):
        line, key = lines[p.left].line, now[p.right].key
        # what nobody converted there was written beside it; what was, may have been edited on
        if p.how != "near" or not (
            is_another(line, key) if key in other.lines else id(line) in ended
        ):
            out[p.left] = key
    return out


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
