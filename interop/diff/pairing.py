"""Which record of one store is which of the other: linked, through an ancestor, or matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from interop import registry
from interop.ancestry import Ancestor, ancestors
from interop.diff.views import View, Words
from interop.match import NEAR, Handle, Pair, match, match_unlinked, similarity, words
from interop.model import Record, Store
from interop.restore import Restored
from interop.stores import Opened


class Match(NamedTuple):
    """The counterpart of a record."""

    right: int
    """Its position in the other store."""
    probable: bool = False
    similarity: float | None = None
    """In percent, of a probable one that was told by its text and not by its place."""


class Joined(NamedTuple):
    """Two records that are one record of the common ancestor."""

    left: int
    found: Match
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Two stores, record by record."""

    matches: Mapping[int, Match]
    """Position in A -> the counterpart in B."""
    view: View
    keys: bool = True
    """Addresses, order and other files can be compared: the two are of one format."""
    linked: tuple[Ancestor, ...] = ()
    """What conversions left."""

    @property
    def beside_b(self) -> frozenset[str]:
        """Keys of records of A that only travel beside B: they are not missing there."""
        return frozenset(x.source for x in self.linked if x.carried and x.source is not None)

    @property
    def beside_a(self) -> frozenset[str]:
        """Keys of records of B that only travel beside A."""
        known = (x.destination for x in self.linked if x.silent)
        return frozenset(key for key in known if key is not None)


def pair(a: Opened, b: Opened, through: Sequence[Joined] = ()) -> Paired:
    """Pair the records of two stores.

    ``through`` are pairs that a common ancestor showed. What conversions left is stronger, what is
    guessed there is weaker than what the two stores say themselves.
    """
    linked = tuple(ancestors(a.restored, a.adapter.handle, b.restored, b.adapter.handle))
    left, right = a.restored.store, b.restored.store
    apart = a.adapter is not b.adapter
    unlinked = apart and not linked
    known = Words.of(left, right, a.adapter, b.adapter) if unlinked else None
    matches = _linked(a, b, linked)
    taken = {m.right for m in matches.values()}
    _through(through, matches, taken, sure=True)
    _match(left, right, matches, taken, b.adapter.handle, by_key=not apart, said=known)
    _through(through, matches, taken, sure=False)
    adapters = (a.adapter, b.adapter) if apart else (a.adapter,)
    view = View(adapters=adapters, words=known)
    return Paired(matches=matches, view=view, keys=not apart, linked=linked)


def pair_stores(a: Store, b: Store, through: Sequence[Joined] = ()) -> Paired:
    """Pair the records of two stores of one format as they are."""
    matches: dict[int, Match] = {}
    taken: set[int] = set()
    _through(through, matches, taken, sure=True)
    _match(a, b, matches, taken, _handle_of(a), by_key=True, said=None)
    _through(through, matches, taken, sure=False)
    return Paired(matches=matches, view=View())


def join(a: Store, b: Store, base_a: Paired, base_b: Paired) -> list[Joined]:
    """Pair the records of two stores that are the same record of their common ancestor."""
    # what was matched across formats without a link is weaker than what the two say themselves
    linked = base_a.view.words is None and base_b.view.words is None
    out: list[Joined] = []
    for then, one in base_a.matches.items():
        other = base_b.matches.get(then)
        if other is None:
            continue
        probable, by_text = one.probable or other.probable, None
        if probable and all(m.similarity is not None for m in (one, other) if m.probable):
            by_text = similarity(a.records[one.right], b.records[other.right])
        found = Match(other.right, probable, by_text)
        out.append(Joined(one.right, found, linked and not probable))
    return out


def _handle_of(store: Store) -> Handle:
    """Give what tells records of a store's format apart; of an unknown one the names of files."""
    if registry.has(store.format):
        return registry.get(store.format).handle
    return lambda record: None if "#" in record.key else record.key


def _through(
    joined: Sequence[Joined], matches: dict[int, Match], taken: set[int], *, sure: bool
) -> None:
    for left, found, is_sure in joined:
        if is_sure == sure and left not in matches and found.right not in taken:
            matches[left] = found
            taken.add(found.right)


def _match(
    left: Store,
    right: Store,
    matches: dict[int, Match],
    taken: set[int],
    handle: Handle,
    *,
    by_key: bool,
    said: Words | None,
) -> None:
    """Match what has no counterpart yet."""
    free_a = [i for i in range(len(left.records)) if i not in matches]
    free_b = [j for j in range(len(right.records)) if j not in taken]
    ones = [left.records[i] for i in free_a]
    others = [right.records[j] for j in free_b]
    found: list[Pair]
    if said is not None:
        ones = [said.a_in_b.get(record.key, record) for record in ones]
        found = match_unlinked(ones, others, handle=handle)
    else:
        found = match(ones, others, handle=handle, by_key=by_key)
    for p in found:
        j = free_b[p.right]
        matches[free_a[p.left]] = Match(j, p.how == "near", p.score)
        taken.add(j)


def _linked(a: Opened, b: Opened, linked: tuple[Ancestor, ...]) -> dict[int, Match]:
    if not linked:
        return {}
    here = {r.key: i for i, r in enumerate(a.restored.store.records)}
    there = {r.key: j for j, r in enumerate(b.restored.store.records)}
    out: dict[int, Match] = {}
    for x in linked:
        if x.source is None or x.destination is None:
            continue
        i, j = here[x.source], there[x.destination]
        doubts = [
            similarity(x.base, record)
            for record, store, handle in (
                (a.restored.store.records[i], a.restored, a.adapter.handle),
                (b.restored.store.records[j], b.restored, b.adapter.handle),
            )
            if _guessed(x, record, store, handle)
        ]
        least = min(doubts, default=100.0)
        out[i] = Match(j, bool(doubts), least if doubts and least >= NEAR else None)
    return out


def _guessed(x: Ancestor, now: Record, store: Restored, handle: Handle) -> bool:
    """Was a record only nearly recognised as the one that was converted?"""
    if x.line is None:
        return False
    if any(x.line is line for line in store.lines.get(now.key, ())):
        # its own complement speaks of it, and says where it was not sure
        return any(key == now.key for _, key in store.guessed)
    if x.base.key == now.key or words(x.base) == words(now):
        return False
    own = handle(now)
    return own is None or own != handle(x.base)
