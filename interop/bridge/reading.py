"""Reading stores as one: which there are, what they say, and which keys mean what.

What is asked for is answered from the index (interop.bridge.index), after a look at every store's
directory entries. A store that has changed is read anew, one that cannot be read says nothing and
is named. As long as nothing has changed, no adapter is imported and no memory is opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

import orjson

from interop.bridge import index as indexes
from interop.bridge import searching
from interop.bridge.index import Index
from interop.bridge.places import Place, name_of, place_of, problem_of
from interop.bridge.query import left_out, storable
from interop.bridge.refreshing import Refresh
from interop.bridge.results import Answer, Data, Found, Got, Source, StoreProblem
from interop.errors import InteropError, UsageError
from interop.model import State

if TYPE_CHECKING:
    from interop.guard import Stone
    from interop.stores import Opened

T = TypeVar("T")
_AT_ONCE = 500
"""How many groups are fetched with one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record in the index."""

    group: int
    store: int
    key: str
    role: str
    state: State
    data: bytes
    mark: bytes
    plain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """A fact that a key can mean: store and key of each of its records."""

    named: tuple[tuple[int, str], ...]
    """Those that have the very key."""
    members: tuple[tuple[int, str], ...]
    """All of them."""


class Reading:
    """The stores of one bridge."""

    def __init__(
        self,
        read: Sequence[str | Opened],
        write: str | Opened | None,
        problems: Sequence[StoreProblem] = (),
    ) -> None:
        self.unnamed: list[StoreProblem] = [*problems]
        """Stores that name no place: an unknown name, a format without a place of its own."""
        self._errors: list[InteropError] = []
        self.places: list[Place] = []
        at: int | None = None
        for named in (*read, *(() if write is None else (write,))):
            try:
                place = place_of(named)
            except InteropError as error:
                if named is write:
                    raise
                self.unnamed.append(problem_of(name_of(named), error))
                self._errors.append(error)
                continue
            at = self._placed(place)
        # the one to write is the last one that was placed
        self.target = None if write is None or at is None else self.places[at]
        self.write = None if self.target is None else self.target.name
        """The store that is written: of several names of its place the first."""

    def _placed(self, place: Place) -> int:
        """Give a place's position in the order of precedence: that of the first name for it."""
        for n, known in enumerate(self.places):
            if (both := known.met(place)) is not None:
                self.places[n] = both
                return n
        self.places.append(place)
        return len(self.places) - 1

    @property
    def names(self) -> tuple[str, ...]:
        """The stores that have a place, as they were named; each place once."""
        return tuple(place.name for place in self.places)

    def records(self, *, archived: bool) -> Answer:
        """Give every fact once, in order of precedence and place."""

        def all_of_them(index: Index) -> list[Found]:
            return list(self._found(index, None, archived=archived))

        return self._answer(all_of_them)

    def search(self, query: str, limit: int, *, archived: bool) -> Answer:
        """Give the facts that say a query's words, the best first."""

        def hits(index: Index) -> list[Found]:
            found = searching.search(index.connection, query, limit, archived=archived)
            by_group: Mapping[int, Found] = {}
            if found:
                groups = [hit.group for hit in found]
                by_group = dict(
                    zip(
                        sorted(groups),
                        self._found(index, sorted(groups), archived=archived),
                        strict=True,
                    )
                )
            return [
                Found(
                    data=by_group[hit.group].data,
                    sources=by_group[hit.group].sources,
                    score=hit.score,
                    excerpt=hit.excerpt,
                    partial=hit.partial,
                )
                for hit in found
            ]

        answer = self._answer(hits)
        return Answer(found=answer.found, problems=answer.problems, notes=left_out(query))

    def get(self, key: str) -> Got:
        """Give the record that a key names, and what else has that key."""

        def named(index: Index) -> list[Found]:
            once: dict[int, Found] = {}
            for group, store, key_there in self._named(index, key):
                if group not in once:
                    once[group] = self._led_by(index, group, store, key_there)
            return list(once.values())

        answer = self._answer(named)
        if not answer.found:
            unread = f" (not read: {', '.join(p.store for p in answer.problems)})"
            raise UsageError(
                f"no record {key!r} in {', '.join(self.names)}"
                + (unread if answer.problems else ""),
                "search gives the keys; STORE:KEY names a record of one store",
            )
        first, *others = answer.found
        return Got(found=first, others=tuple(others), problems=answer.problems)

    def members(self, key: str) -> tuple[list[Meant], tuple[StoreProblem, ...]]:
        """Give each fact that a key can mean, by precedence, and what could not be read."""

        def named(index: Index) -> list[Meant]:
            records: dict[int, list[tuple[int, str]]] = {}
            for group, store, key_there in self._named(index, key):
                records.setdefault(group, []).append((store, key_there))
            return [
                Meant(
                    named=tuple(there),
                    members=tuple(
                        index.connection.execute(
                            "SELECT store, key FROM records WHERE grp = ? ORDER BY store", [group]
                        ).fetchall()
                    ),
                )
                for group, there in records.items()
            ]

        return self._ask(named)

    def sources(self, store: int, key: str) -> tuple[Source, ...]:
        """Give every store that says what a record says, that record's own left out."""

        def others(index: Index) -> list[Source]:
            row = index.connection.execute(
                "SELECT grp FROM records WHERE store = ? AND key = ?", [store, key]
            ).fetchone()
            if row is None:
                return []
            found = self._led_by(index, row[0], store, key)
            return list(found.sources[1:])

        return tuple(self._ask(others)[0])

    def stones(self, without: str) -> tuple[list[Stone], tuple[StoreProblem, ...]]:
        """Give the tombstones of all stores but one, which its writer asks itself."""
        from interop import fields
        from interop.guard import Stone
        from interop.model import Tombstone

        def buried(index: Index) -> list[Stone]:
            rows: list[tuple[int, str | None, bytes]] = index.connection.execute(
                "SELECT store, cited, data FROM records WHERE role = 'tombstone' "
                "ORDER BY store, position"
            ).fetchall()
            out: list[Stone] = []
            for store, cited, data in rows:
                if self.places[store].anchor == without:
                    continue
                record = fields.from_json(orjson.loads(data))
                assert isinstance(record, Tombstone), "the role says so"
                out.append(Stone(record=record, store=self.places[store].name, id=cited))
            return out

        return self._ask(buried, strict=False)

    def index_of(self, place: Place) -> int:
        """Give a store's position in the order of precedence."""
        return next(n for n, known in enumerate(self.places) if known.anchor == place.anchor)

    # --- asking the index

    def _answer(self, ask: Callable[[Index], list[Found]]) -> Answer:
        found, problems = self._ask(ask)
        return Answer(found=tuple(found), problems=problems)

    def _ask(
        self, ask: Callable[[Index], T], *, strict: bool = True
    ) -> tuple[T, tuple[StoreProblem, ...]]:
        """Ask an index that is up to date; one that turns out to be damaged is made anew.

        Raises:
            InteropError: with ``strict``, when not one of the stores can be read.
        """
        path = indexes.path_for([place.anchor for place in self.places])
        fresh = Refresh(self.places, self.target.anchor if self.target is not None else None)
        index: Index | None = indexes.opened(path)
        try:
            for last in (False, True):
                try:
                    changes = fresh.changes(index)
                    if index is None or changes:
                        old, index = index, indexes.updated(path, index, fresh.changes)
                        if old is not None:
                            old.close()
                    if strict and not index.known and (self._errors or fresh.errors):
                        raise (self._errors + list(fresh.errors.values()))[0]
                    return ask(index), (*self.unnamed, *fresh.problems(index))
                except sqlite3.DatabaseError:
                    if last:
                        raise
                    if index is not None:
                        index.close()
                    index = None
        finally:
            if index is not None:
                index.close()
        raise AssertionError("the last try returns or raises")

    def _named(self, index: Index, key: str) -> list[tuple[int, int, str]]:
        """Give the records that a key can mean: group, store and key, in order of precedence."""
        key = storable(key)
        found: list[tuple[int, int, str]] = []
        for n, place in enumerate(self.places):
            known = index.known.get(n)
            names = place.names()
            if known is not None:
                names.add(known.place)
            for name in names:
                if key.startswith(f"{name}:"):
                    rest = key[len(name) + 1 :]
                    found += (
                        (group, n, rest)
                        for (group,) in index.connection.execute(
                            "SELECT grp FROM records WHERE key = ? AND store = ?", [rest, n]
                        )
                    )
        if not found:
            found = [
                (group, store, key)
                for group, store in index.connection.execute(
                    "SELECT grp, store FROM records WHERE key = ? ORDER BY store", [key]
                )
            ]
        return list(dict.fromkeys(found))

    def _led_by(self, index: Index, group: int, store: int, key: str) -> Found:
        """Give a fact, the record that was named before the others."""
        rows = list(_rows(index.connection, [group]))
        rows.sort(key=lambda row: (row.store, row.key) != (store, key))
        return self._fact(rows, index)

    def _found(
        self, index: Index, groups: Sequence[int] | None, *, archived: bool
    ) -> Iterator[Found]:
        """Give facts, a live record of each first; archived ones only where they are asked for."""
        chunks: Iterable[Sequence[int] | None] = [None]
        if groups is not None:
            chunks = (groups[i : i + _AT_ONCE] for i in range(0, len(groups), _AT_ONCE))
        for chunk in chunks:
            by_group: dict[int, list[Row]] = {}
            for row in _rows(index.connection, chunk):
                by_group.setdefault(row.group, []).append(row)
            for rows in by_group.values():
                rows.sort(key=lambda row: row.state != "live")
                if archived or rows[0].state == "live":
                    yield self._fact(rows, index)

    def _fact(self, rows: Sequence[Row], index: Index) -> Found:
        first = rows[0]
        sources: list[Source] = []
        for row in rows:
            differs = row.mark != first.mark
            sources.append(
                Source(
                    store=self.places[row.store].name,
                    place=index.known[row.store].place,
                    key=row.key,
                    state=row.state,
                    differs=differs,
                    data=_data(row) if differs else None,
                )
            )
        return Found(data=_data(first), sources=tuple(sources))


def _rows(connection: sqlite3.Connection, groups: Sequence[int] | None) -> Iterator[Row]:
    only = "" if groups is None else f"WHERE grp IN ({','.join(map(str, groups))})"
    # a group has the number of its first record, so that facts come in the order of the stores
    order = "ORDER BY grp, store, position"
    if groups is None:
        order = (
            "ORDER BY (SELECT first.store FROM records first WHERE first.id = records.grp), "
            "(SELECT first.position FROM records first WHERE first.id = records.grp), store"
        )
    query = f"SELECT grp, store, key, role, state, data, mark, plain FROM records {only} {order}"
    for group, store, key, role, state, data, mark, plain in connection.execute(query):
        yield Row(
            group=group,
            store=store,
            key=key,
            role=role,
            state=state,
            data=data,
            mark=mark,
            plain=plain,
        )


def _data(row: Row) -> Data:
    return cast("Data", orjson.loads(row.data))
