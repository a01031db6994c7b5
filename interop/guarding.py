"""The guard on real stores: whose tombstones count, and who is known by which id.

An id means a record in the store that gives it; another store may have a namesake. So ids are told
apart by their store, and a record that came from another store is known by its ids there, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from interop import fields, guard, roles, tokens
from interop.complement import Line
from interop.guard import Cite, History, Name, Stone
from interop.model import Decision, Memory, Record, Tombstone
from interop.plan import Outcome
from interop.rendering import marked
from interop.stores import Opened

_R = TypeVar("_R", Tombstone, Decision)


def stones(stores: Iterable[Opened]) -> guard.Values:
    """Compile the tombstones of stores; one that two of them hold counts once.

    One that only travels in a complement counts too: what it rejects is no better there.
    """
    found: list[Stone] = []
    for store in stores:
        known = Known(store)
        for record, lines in known.records(Tombstone):
            names = known.names(record.key)
            found.append(
                Stone(
                    record=record,
                    store=store.label,
                    id=known.id(record.key),
                    # it is known by its key where it has no id
                    names=names or frozenset({Name(tokens.fold(record.key), store.raw.id)}),
                    cites=tuple(_cites(record, ("replacement", "source"), lines, store.raw.id)),
                )
            )
    return guard.rejected_values(found)


def ids(store: Opened) -> dict[str, str]:
    """Give the ids by which records are cited where their key has none: key -> id.

    A rendering says its id in its marker; a record that was converted had one in a store on its
    way.
    """
    known = Known(store)
    keys = [r.key for r in store.raw.records] + [line.base.key for line in store.restored.carried]
    return {key: cited for key in keys if (cited := known.id(key)) is not None}


def history(stores: Sequence[Opened]) -> History:
    """Say which records of the first store are known by which ids, and what is superseded."""
    telling = Telling(stores)
    return telling.of(stores[0]) if stores else History()


class Telling:
    """What the records of several stores say about each other."""

    def __init__(self, stores: Iterable[Opened]) -> None:
        self._known = {store.raw.id: Known(store) for store in stores}
        self._superseded: set[Name] = set()
        for name, known in self._known.items():
            for record, lines in known.records(Decision):
                if record.supersedes:
                    said = _cites(record, ("supersedes",), lines, name)
                    named = {n for cite in said for n in guard.named_in(*cite)}
                    self._superseded |= named - known.names(record.key)

    def of(self, store: Opened) -> History:
        """Give what is told of the records of one of the stores, by their keys there."""
        known = self._known[store.raw.id]
        return History(
            names=lambda key: self._everywhere(known.names(key)),
            superseded=frozenset(self._superseded),
            marked=lambda key: self._everywhere(known.names(key) if known.is_marked(key) else ()),
        )

    def about(self, *places: tuple[str, str], lines: Iterable[Line] = ()) -> History:
        """Give what is told of one record, whatever its key is.

        Args:
            places: stores that have it, each with its key there.
            lines: what complements say of it besides.
        """
        found = [(self._known[store], key) for store, key in places if store in self._known]
        names = set[Name]().union(*(known.names(key) for known, key in found))
        names |= _on_the_way(lines, ())
        is_marked = any(known.is_marked(key) for known, key in found)
        return History(
            names=lambda _: self._everywhere(names),
            superseded=frozenset(self._superseded),
            marked=lambda _: self._everywhere(names if is_marked else ()),
        )

    def _everywhere(self, names: Collection[Name]) -> frozenset[Name]:
        """Add what the same record is cited by in the other stores, as their complements say."""
        return frozenset(names).union(*(self._links.get(name, ()) for name in names))

    @cached_property
    def _links(self) -> Mapping[Name, frozenset[Name]]:
        links: dict[Name, frozenset[Name]] = {}
        for known in self._known.values():
            for key in known.store.restored.lines:
                names = known.names(key)
                for name in names:
                    links[name] = links.get(name, names) | names
        return links


class Known:
    """The ids by which the records of a store are known."""

    def __init__(self, store: Opened) -> None:
        self.store = store

    def records(self, role: type[_R]) -> Iterator[tuple[_R, tuple[Line, ...]]]:
        """Give every record of a role with its lines, also those that only travel.

        A row that was converted got a new id, and so did what it points to: its key is of this
        store, and so is what it cites.
        """
        restored = self.store.restored
        here = {r.key: r for r in self.store.seen.records if isinstance(r, role)}
        for record in restored.store.records:
            if isinstance(record, role):
                lines = restored.lines.get(record.key, ())
                yield _citing_here(record, here.get(record.key)), lines
        for line in restored.carried:
            if isinstance(line.base, role):
                yield line.base, (line,)

    def names(self, key: str) -> frozenset[Name]:
        """Give what a record is cited by: its id here, and those in the stores on its way."""
        own = [*self._own(key)]
        found = {Name(tokens.fold(name), self.store.raw.id) for name in own}
        found |= _on_the_way(self._lines(key), own)
        return frozenset(name for name in found if tokens.speaks(name.id))

    def id(self, key: str) -> str | None:
        """Give the id of a record whose key has none: of its marker, else of the nearest store."""
        if "#" in key:
            return None
        said = self.marked_as(key)
        return said if said is not None else next(_stated(self._lines(key)), None)

    def marked_as(self, key: str) -> str | None:
        """Give the id in the marker of a rendering, also of one that no longer reads as one."""
        record = self._raw.get(key)
        memory = marked(record, self.store.adapter) if isinstance(record, Memory) else None
        return roles.id_said(memory) if memory is not None else None

    def is_marked(self, key: str) -> bool:
        """Is a record marked as a tombstone, a decision or a task, though it counts as a memory?"""
        return key in self._unread

    def _own(self, key: str) -> Iterator[str]:
        name = guard.id_in(key)
        if name is not None:
            yield name
            if "#" in name:  # a line of a file that is a store states the whole key of a row
                yield name.rpartition("#")[2]
        said = self.marked_as(key)
        if said is not None:
            yield said

    def _lines(self, key: str) -> tuple[Line, ...]:
        return (*self.store.restored.lines.get(key, ()), *self._carried.get(key, ()))

    @cached_property
    def _unread(self) -> frozenset[str]:
        raw, through = self.store.raw, self.store.seen
        return frozenset(p.path for p in through.problems[len(raw.problems) :])

    @cached_property
    def _raw(self) -> Mapping[str, Record]:
        return {r.key: r for r in self.store.raw.records}

    @cached_property
    def _carried(self) -> Mapping[str, tuple[Line, ...]]:
        out: dict[str, tuple[Line, ...]] = {}
        for line in self.store.restored.carried:
            out[line.base.key] = (*out.get(line.base.key, ()), line)
        return out


def remarked(store: Opened) -> Iterator[str]:
    """Say of each rendering whose marker has another id than its record where that is from."""
    known = Known(store)
    roles_of = {r.key: r.role for r in store.seen.records}
    for key, lines in store.restored.lines.items():
        if roles_of.get(key, "memory") == "memory":
            continue  # also a text that no longer reads as what it is marked as
        said = known.marked_as(key)
        stated = [*_stated(x for x in lines if x.base.role == roles_of[key])]
        if said is not None and stated and said not in stated:
            yield (
                f"{key} in {store.label}: its marker says {said}, and it is {stated[0]}; the id of "
                "a record is not changed by that"
            )


def broken(store: Opened, outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Say which renderings that no longer read as one are written on as the memories they are."""
    found = store.seen.problems[len(store.raw.problems) :]
    told = {p.path: p.problem for p in found}
    for outcome in outcomes:
        if outcome.action in ("add", "update", "carry") and outcome.key in told:
            yield f"{outcome.key}: {told[outcome.key]}"


def own(store: Opened, record: Tombstone) -> Stone:
    """Give a tombstone that is new to a store: what it cites are ids of that store."""
    said = (record.replacement, record.source)
    cites = tuple(Cite(text, store.raw.id) for text in said if text)
    return Stone(record=record, cites=cites)


def _on_the_way(lines: Iterable[Line], own: Iterable[str]) -> set[Name]:
    """Give the ids of a record in other stores.

    A store without ids of its own cites by those that its renderings say: the ones that came there,
    or else that went from there.
    """
    found: set[Name] = set()
    for line in lines:
        places = dict(line.places())
        stated = {store: name for store, key in places.items() if (name := guard.id_in(key))}
        found |= {Name(tokens.fold(name), store) for store, name in stated.items()}
        others = {*stated.values()} or {*own}
        found |= {
            Name(tokens.fold(name), store) for store in places.keys() - stated for name in others
        }
    return found


def _cites(
    record: Record, cells: Iterable[str], lines: Sequence[Line], store: str
) -> Iterator[Cite]:
    """Give what cites other records, each with the stores whose ids it names.

    What a cell says as it came is meant as it was there; what was followed, or edited since, is
    meant as it is here.
    """
    line = next((x for x in lines if x.base.role == record.role), None)
    for cell in cells:
        text: str | None = getattr(record, cell)
        if not text:
            continue
        if line is None or not text == fields.get(line.base, cell) == line.says(cell):
            yield Cite(text, store)
            continue
        yield Cite(text, line.source)
        yield from (
            Cite(text, further) for further in line.keys if _said_at(line, further, cell) == text
        )


def _said_at(line: Line, store: str, cell: str) -> object:
    return fields.get(line.base_at(store), cell)


def _citing_here(record: _R, here: _R | None) -> _R:
    """Give a record with the ids that it cites in this store, where those of its source differ."""
    if here is None or here == record:
        return record
    cites = {name: getattr(here, name) for name in _CITES if hasattr(here, name)}
    return replace(record, **cites)


_CITES = ("supersedes", "replacement", "source")


def _stated(lines: Iterable[Line]) -> Iterator[str]:
    """Give the ids that a record had in other stores, the nearest first."""
    keys = (key for line in lines for _, key in line.places())
    yield from (name for key in keys if (name := guard.id_in(key)) is not None)
