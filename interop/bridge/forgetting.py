"""Forgetting a record of the one store that is written, in the gentlest way that its format has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from interop import fields, guard, guarding
from interop.adapter import Context, Hold
from interop.bridge import writing
from interop.bridge.reading import Reading
from interop.bridge.results import Forgotten
from interop.bridge.writing import Outcome
from interop.errors import RefusedError, UsageError
from interop.guard import Stone
from interop.host import HostOptions
from interop.model import Decision, Memory, Record, Task, Tombstone
from interop.stores import Opened

_STONE = "#tombstone"
"""The key of a tombstone that stood nowhere yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be forgotten, and what was said about it."""

    key: str
    reason: str
    rejected: str | None = None
    replacement: str | None = None
    yes: bool = False
    purge: bool = False


def forget(reading: Reading, wish: Wish, *, wait: float, host: HostOptions | None) -> Forgotten:
    """Let a record be forgotten; see ``Bridge.forget``."""
    if not wish.reason.strip():
        raise UsageError("no reason was given", "say why it is to be forgotten")
    target = writing.target_of(reading)
    store = reading.index_of(target)
    key = _key_there(reading, wish.key, store)
    elsewhere = reading.sources(store, key)

    def decide(opened: Opened) -> Outcome[Forgotten]:
        return _Forgetting(reading, opened, wish, key).outcome()

    def purge(opened: Opened, answer: Forgotten) -> Forgotten:
        if not wish.purge:
            return answer
        from interop import pruning

        return replace(answer, purged=pruning.purge_held(opened, key).lines)

    answer, token = writing.write(
        reading,
        decide,
        wait=wait,
        host=host,
        after=purge,
    )
    answer = replace(answer, elsewhere=elsewhere)
    if token is None:
        return answer
    done = (f"committed as {token.commit}",) if token.commit else ()
    return replace(answer, notes=(*answer.notes, *done), commands=token.commands)


def _key_there(reading: Reading, key: str, store: int) -> str:
    """Give the key that the store which is written has for what is to be forgotten.

    Raises:
        UsageError: no store has such a record.
        RefusedError: only stores that are not written have it.
    """
    facts = reading.members(key)
    for fact in facts:
        for where, there in fact:
            if where == store:
                return there
    if not facts:
        raise UsageError(
            f"no record {key!r} in {', '.join(reading.names)}",
            "search gives the keys; STORE:KEY names a record of one store",
        )
    where, there = facts[0][0]
    raise RefusedError(
        reading.names[where],
        f"{there!r} stands in this store only, which is not written",
        f"forget it there; the bridge writes to {reading.write}",
    )


class _Forgetting:
    """One record on its way out of one store."""

    def __init__(self, reading: Reading, store: Opened, wish: Wish, key: str) -> None:
        self.store, self.wish, self.key = store, wish, key
        self.adapter = store.adapter
        self.context = Context(now=writing.moment())
        self.name = reading.write or store.label
        self.raw: Mapping[str, Record] = {r.key: r for r in store.raw.records}
        self.seen: Mapping[str, Record] = {r.key: r for r in store.seen.records}

    def outcome(self) -> Outcome[Forgotten]:
        """Decide how it is forgotten."""
        if self.key not in self.raw:
            raise UsageError(
                f"no record {self.key!r} in {self.store.label} any more", "search again"
            )
        if isinstance(self.seen[self.key], Tombstone):
            raise RefusedError(
                self.store.label,
                f"{self.key!r} is a tombstone: it is how forgetting is remembered",
                "let it stand; what it rejects can be let through record by record",
            )
        record = self.raw[self.key]
        if self.wish.purge:
            from interop import pruning

            pruning.check(self.store, self.key)
        if self.wish.purge and "tombstone" not in self.adapter.roles:
            return self.removed(record)
        if isinstance(record, Memory) and self.adapter.holds.get("state") is Hold.EXACT:
            return self.removed(record) if self.wish.purge else self.archived(record)
        if "tombstone" in self.adapter.roles:
            return self.tombstoned(record)
        return self.removed(record)

    def archived(self, record: Memory) -> Outcome[Forgotten]:
        """Archive it, as its runtime does."""
        answer = Forgotten(
            key=self.key, store=self.name, place=self.store.label, how="archived", to=self.key
        )
        if record.state == "archived":
            return Outcome(answer=replace(answer, already=True))
        moment = self.context.now if self.adapter.holds.get("archived") is Hold.EXACT else None
        gone = fields.replace(record, {"state": "archived", "archived": moment})
        put = writing.put(self.store, {**self.raw, self.key: gone}, self.context)
        stands = put.records[self.key]
        if fields.get(stands, "state") != "archived":
            raise RefusedError(
                self.store.label, f"{self.key!r} cannot be archived", "remove it by hand"
            )
        return Outcome(
            answer=replace(
                answer,
                to=stands.key,
                supplied=writing.added(put.supplied, self.key),
                notes=put.notes,
            ),
            changes=put.changes,
            label=self.label(),
            message=self.message(),
        )

    def tombstoned(self, record: Record) -> Outcome[Forgotten]:
        """Reject its value: a row stays and is cited, everything else is taken out."""
        stays = not isinstance(record, Memory) or isinstance(record, Task)
        name = self.key.partition("#")[2] if stays else None
        answer = Forgotten(key=self.key, store=self.name, place=self.store.label, how="tombstoned")
        before = next(
            (
                r
                for r in self.raw.values()
                if isinstance(r, Tombstone) and name and r.source == name
            ),
            None,
        )
        if before is not None:
            return Outcome(answer=replace(answer, to=before.key, already=True))
        stone = Tombstone(
            key=_STONE,
            subject=name,
            rejected=self.rejected(record),
            replacement=self.wish.replacement,
            date=self.context.now[:10],
            reason=_one_line(self.wish.reason),
            source=name,
        )
        target = dict(self.raw)
        if self.wish.purge and stays:
            raise RefusedError(
                self.store.label,
                f"{self.key!r} is a row, and rows of a table are never taken out",
                "forget it without purging",
            )
        if isinstance(record, Task):
            closed = {"status": "DROPPED", "evidence": record.evidence or stone.reason}
            target[self.key] = fields.replace(record, closed)
        elif not stays:
            del target[self.key]
        target[_STONE] = stone
        put = writing.put(self.store, target, self.context)
        stands = put.records[_STONE]
        assert isinstance(stands, Tombstone), "it is read back as it was written"
        return Outcome(
            answer=replace(
                answer,
                to=stands.key,
                supplied=(
                    *writing.added(put.supplied, _STONE),
                    *writing.added(put.supplied, self.key),
                ),
                notes=(*put.notes, *self.still_said(stands, set(target) - {_STONE})),
            ),
            changes=put.changes,
            label=self.label(),
            message=self.message(),
        )

    def rejected(self, record: Record) -> str:
        """Give the value that is wrong: as it was said, or the statement of the row itself."""
        if self.wish.rejected and self.wish.rejected.strip():
            return self.wish.rejected
        if isinstance(record, Decision) and record.decision:
            return record.decision
        if isinstance(record, Task) and record.body.text.strip():
            return record.body.text
        raise RefusedError(
            self.store.label,
            "nothing was written: its tombstone has to say which value is wrong",
            "give the rejected value",
        )

    def still_said(self, stone: Tombstone, keys: set[str]) -> tuple[str, ...]:
        """Name the records of the store that go on saying the value."""
        live = [r for r in self.store.restored.store.records if r.key in keys]
        told = guarding.history([self.store])
        found = guard.collisions(live, [Stone(record=stone)], told=told)
        return tuple(f"{c.key}: {guard.sentence(c)}" for c in found if c.key != self.key)

    def removed(self, record: Record) -> Outcome[Forgotten]:
        """Take it out, as far as the user agreed to that."""
        if not self.wish.yes:
            way = "it can be undone" if not self.wish.purge else "with purging nothing undoes it"
            raise RefusedError(
                self.store.label,
                f"{self.key!r} would be removed"
                + ("" if self.wish.purge else ": this format has no archive and no tombstones"),
                f"agree to it with --yes (yes=True); {way}",
            )
        put = writing.put(
            self.store, {k: r for k, r in self.raw.items() if k != self.key}, self.context
        )
        if self.key in put.records:
            raise RefusedError(
                self.store.label,
                f"{self.key!r} stays: its format does not let it go",
                "take it out by hand",
            )
        return Outcome(
            answer=Forgotten(
                key=self.key,
                store=self.name,
                place=self.store.label,
                how="removed",
                notes=(*put.notes, *self.kept_elsewhere()),
            ),
            changes=put.changes,
            label=self.label(),
            message=self.message(),
        )

    def kept_elsewhere(self) -> tuple[str, ...]:
        """Say what purging does not reach."""
        if not self.wish.purge or self.adapter.host is None:
            return ()
        return ("what is around the store goes on knowing the text: the history of its repository",)

    def label(self) -> str:
        """Say what was done and why, for ``interop undo``."""
        if self.wish.purge:
            return "forget a record for good"
        return f"forget {self.key}: {_one_line(self.wish.reason)}"

    def message(self) -> str:
        """Say on one line why, for those who read the history: which files it shows by itself."""
        if self.wish.purge:
            return "forget a record for good"
        return f"forget: {_one_line(self.wish.reason)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
