"""The guard of one conversion: what it refuses, what it lets through, and what it warns of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from interop import fields, guard, guarding
from interop.cases import Case
from interop.choices import Choices
from interop.complement import EARLIER, Allowed
from interop.errors import UsageError
from interop.guard import Collision, History, Name
from interop.merge import same
from interop.model import Record
from interop.stores import Opened


class Watch:
    """The tombstones of all stores that take part, and what was let through in spite of them."""

    def __init__(self, source: Opened, destination: Opened, choices: Choices) -> None:
        self.source, self.destination, self.choices = source, destination, choices
        taking_part = (source, destination, *choices.tombstones)
        self.stones = guarding.stones(taking_part)
        self._telling = guarding.Telling(taking_part if self.stones.values else ())
        self._now = {x for v in self.stones.values for x in _known_as(v.names, v.text)}
        self._stores = {x.store for x in self._now}
        self._let: dict[str, tuple[Allowed, ...]] = {}
        self._seen: set[str] = set()
        """Keys in the destination of records that were looked at."""
        self.notes: list[str] = []

    def check_named(self, keys: Iterable[str]) -> None:
        """See that a record that is to be let through is one.

        Raises:
            UsageError: there is no such record.
        """
        stores = (self.source, self.destination)
        known = {*keys, *(r.key for s in stores for r in s.restored.store.records)}
        for key in sorted(self.choices.allow_tombstoned - known):
            raise UsageError(
                f"--allow-tombstoned: {key!r} is no record here",
                "name it by its key, as the plan does",
            )

    def look(self, case: Case, merged: Record, *, fresh: bool) -> Sequence[Collision]:
        """Give what a record would state anew and nobody allowed; what stood before is warned of.

        In an empty place (``fresh``) nothing stood before, whatever files it begins with.
        """
        if not self.stones.values:
            return ()
        there = None if fresh else case.there
        if case.there is not None:
            self._seen.add(case.there.key)
        told = self._told(case)
        standing = guard.standing(there, merged, self.stones, told=told)
        found = guard.reasserted(there, merged, self.stones, told=told)
        only_kept = [c for c in found if self._is_only_kept(case, merged, c)]
        found = [c for c in found if c not in only_kept]
        standing = [*standing, *only_kept]
        before = self._before(case)
        if not (found or standing or before):
            return ()
        self._warn((case.key, c) for c in standing if not self._is_allowed(c, before))
        asked = case.key in self.choices.allow_tombstoned
        refused = [c for c in found if not (asked or self._stood(case, merged, c))]
        if refused:
            self._verbatim()
            return refused
        stated = [*found, *standing]
        said = {x for c in stated for x in _known_as(c.names, c.rejected)}
        kept = (x for x in before if self._as_now(x) in said or self._as_now(x) not in self._now)
        new = (
            Allowed(name.store, name.id, c.rejected)
            for c in (stated if asked else found)
            if not self._is_allowed(c, before)
            for name in (min(c.names),)
        )
        self._let[case.key] = tuple(sorted({*kept, *new}))
        if found:
            told_of = "; ".join(map(guard.sentence, found))
            self.notes.append(f"{case.key}: {told_of}; let through as was asked")
            self._verbatim()
        return ()

    def allowed(self, case: Case) -> tuple[Allowed, ...]:
        """Give the tombstones whose values a record may state where it now stands."""
        return self._let.get(case.key, self._before(case))

    def rest(self, records: Sequence[Record], gone: Collection[str]) -> None:
        """Warn of what stands in the destination's other records and stays there."""
        if not self.stones.values:
            return
        left = [r for r in records if r.key not in self._seen and r.key not in gone]
        told = self._telling.of(self.destination)
        self._warn(
            (c.key, c)
            for c in guard.collisions(left, self.stones, told=told)
            if not self._is_allowed(c, self._known(c.key))
        )

    def _told(self, case: Case) -> History:
        """Say what the record is cited by, wherever it stands."""
        places = [case.origin] if case.origin[0] else []
        if case.source is not None:
            places.append((self.source.raw.id, case.source.key))
        if case.there is not None:
            places.append((self.destination.raw.id, case.there.key))
        lines = (*case.lines, case.line) if case.line is not None else case.lines
        return self._telling.about(*places, lines=lines)

    def _before(self, case: Case) -> tuple[Allowed, ...]:
        """Give what was allowed here before; what was allowed elsewhere lets nothing in here."""
        own = self.destination.raw.id
        if case.there is not None:
            return self._known(case.there.key)
        line = case.line
        return line.allowed if line is not None and own not in (line.source, *line.keys) else ()

    def _known(self, key: str) -> tuple[Allowed, ...]:
        lines = self.destination.restored.lines.get(key, ())
        return tuple(dict.fromkeys(x for line in lines for x in line.allowed))

    def _is_only_kept(self, case: Case, merged: Record, collision: Collision) -> bool:
        """Is nothing told anew: is it kept in one file, or back where it stood?

        No runtime reads a snapshot; what is taken out of it again is looked at then.
        """
        name = collision.field.partition(".")[0]
        own = self.destination.raw.id
        stood = [x.base_at(own) for x in case.lines if own == x.source or own in x.keys]
        if self.destination.adapter.file is not None and case.source is not None:
            stood.append(case.source)
        value = fields.get(merged, name)
        return any(r.role == merged.role and same(value, fields.get(r, name)) for r in stood)

    def _stood(self, case: Case, merged: Record, collision: Collision) -> bool:
        """Was this allowed before? Of what an older version noted, what it let stand then."""
        before = self._before(case)
        if self._is_allowed(collision, before):
            return True
        line = case.line
        if EARLIER not in before or line is None or line.base.role != merged.role:
            return False
        name = collision.field.partition(".")[0]
        return same(fields.get(merged, name), fields.get(line.base, name))

    def _warn(self, standing: Iterable[tuple[str, Collision]]) -> None:
        for key, collision in standing:
            self.notes.append(f"{key}: {guard.sentence(collision)}; it stood there before")
            self._verbatim()

    def _verbatim(self) -> None:
        if guard.VERBATIM not in self.notes:
            self.notes.append(guard.VERBATIM)

    def _is_allowed(self, collision: Collision, allowed: Iterable[Allowed]) -> bool:
        known = {*_known_as(collision.names, collision.rejected)}
        return not known.isdisjoint(map(self._as_now, allowed))

    def _as_now(self, allowed: Allowed) -> Allowed:
        """Leave out a store that takes no part: it may be one that nobody remembers by its id."""
        return allowed if allowed.store in self._stores else allowed._replace(store="")


def _known_as(names: Iterable[Name], rejected: str) -> Iterator[Allowed]:
    """Give every way to note a tombstone: with a store, and without."""
    for name in names:
        yield Allowed(name.store, name.id, rejected)
        yield Allowed("", name.id, rejected)
