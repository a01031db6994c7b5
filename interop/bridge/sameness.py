"""Which records of different stores are one fact: converted from one another, or saying the same.

Complements say which record was made from which, also through stores that nobody reads here. Where
no conversion links two records, only equal words do: near-equal ones stay two facts. A fact has at
most one record in each store.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from interop.stores import Opened

Edge: TypeAlias = tuple[int, str, int, str]
"""A store and a key in it, and the record of another store that it was converted from or into."""


class Member(NamedTuple):
    """A record as far as sameness looks at it."""

    store: int
    """Place of its store in the order of precedence."""
    key: str
    mark: bytes
    """Equal for records that say the same; empty for one that says nothing."""
    origins: tuple[str, ...]
    """What it was converted from: store ids with keys, one word each."""


def groups(members: Sequence[Member], edges: Iterable[Edge]) -> list[int]:
    """Give each record the position of the first one that is the same fact."""
    union = _Union([m.store for m in members])
    at = {(m.store, m.key): i for i, m in enumerate(members)}
    for store, key, other, other_key in edges:
        one, two = at.get((store, key)), at.get((other, other_key))
        if one is not None and two is not None:
            union.join(one, two)
    by_origin: defaultdict[Hashable, list[int]] = defaultdict(list)
    for i, member in enumerate(members):
        for origin in member.origins:
            by_origin[origin].append(i)
    by_words: defaultdict[Hashable, list[int]] = defaultdict(list)
    times: Counter[tuple[int, bytes]] = Counter()
    for i, member in enumerate(members):
        if member.mark:
            # of equal texts in one store, the first is the first of the other store's
            times[member.store, member.mark] += 1
            by_words[member.mark, times[member.store, member.mark]].append(i)
    for alike in (by_origin, by_words):
        for first, *rest in alike.values():
            for other in rest:
                union.join(first, other)
    return [union.first(i) for i in range(len(members))]


class _Union:
    """Sets of records that are joined as long as no store would be in one of them twice."""

    def __init__(self, stores: Sequence[int]) -> None:
        self._parent = list(range(len(stores)))
        self._stores = [{store} for store in stores]

    def first(self, i: int) -> int:
        while self._parent[i] != i:
            self._parent[i] = self._parent[self._parent[i]]
            i = self._parent[i]
        return i

    def join(self, i: int, j: int) -> None:
        i, j = sorted((self.first(i), self.first(j)))
        if i != j and not self._stores[i] & self._stores[j]:
            self._parent[j] = i
            self._stores[i] |= self._stores[j]


def related(store: Opened) -> tuple[str, ...]:
    """Give the ids of the stores that records of this one were converted from."""
    found = {line.source for line in store.restored.known}
    found.update(far for line in store.restored.known for far in line.keys)
    return tuple(sorted(found))


def origins(store: Opened) -> dict[str, tuple[str, ...]]:
    """Give what each record was converted from: key -> store ids with keys."""
    return {
        key: tuple(
            dict.fromkeys(f"{source} {there}" for line in lines for source, there in line.places())
        )
        for key, lines in store.restored.lines.items()
    }


def edges(one: Opened, other: Opened) -> list[tuple[str, str]]:
    """Give the pairs of keys of two stores that a conversion links, as they are called now."""
    from interop.ancestry import ancestors

    found = ancestors(one.restored, one.adapter.handle, other.restored, other.adapter.handle)
    return [
        (a.source, a.destination)
        for a in found
        if a.source is not None and a.destination is not None
    ]
