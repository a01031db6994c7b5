"""Forgetting a record of the one store that is written, in the gentlest way that its format has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from interop import fields, guard, guarding
from interop.adapter import Context, Hold
from interop.bridge import naming, writing
from interop.bridge.reading import Meant, Reading
from interop.bridge.results import Forgotten, address
from interop.bridge.writing import Outcome
from interop.errors import RefusedError, UsageError
from interop.host import HostOptions
from interop.model import Decision, Memory, Record, Task, Tombstone
from interop.secrets import mask
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
    writing.check_texts(
        reason=wish.reason, rejected=wish.rejected or "", replacement=wish.replacement or ""
    )
    target = writing.target_of(reading)
    store = reading.index_of(target)
    facts, problems = reading.members(wish.key)
    if not facts:
        unread = f" (not read: {', '.join(p.store for p in problems)})" if problems else ""
        raise UsageError(
            f"no record {wish.key!r} in {', '.join(reading.names)}{unread}",
            "search gives the keys; STORE:KEY names a record of one store",
        )
    key, told = _key_there(reading, wish.key, facts, store)
    elsewhere = reading.sources(store, key)

    def decide(opened: Opened) -> Outcome[Forgotten]:
        return _Forgetting(reading, opened, wish, key).outcome()

    def purge(opened: Opened, answer: Forgotten) -> Forgotten:
        if not wish.purge:
            return answer
        from interop import pruning
        from interop.bridge import dropping

        lines = pruning.purge_held(opened, key).lines
        return replace(answer, purged=(*lines, *dropping.drop()))

    done = writing.write(
        reading,
        decide,
        wait=wait,
        host=host,
        after=purge,
    )
    answer, token = done.answer, done.token
    others = (p for p in problems if p.store != reading.write)
    answer = replace(
        answer,
        elsewhere=elsewhere,
        notes=(*told, *answer.notes),
        problems=(*others, *done.problems),
    )
    if token is None:
        return answer
    commits = (f"committed as {token.commit}",) if token.commit else ()
    return replace(answer, notes=(*answer.notes, *commits), commands=token.commands)


def _key_there(
    reading: Reading, key: str, facts: Sequence[Meant], store: int
) -> tuple[str, tuple[str, ...]]:
    """Give the key that the store which is written has for what is to be forgotten, and a remark.

    Its own record of that key is meant, whatever has the key elsewhere. Without one it is the fact
    that the key means in another store, which has to be one fact only.

    Raises:
        RefusedError: only stores that are not written have it, or the key means several facts.
    """

    def address_of(record: tuple[int, str]) -> str:
        return address(reading.names[record[0]], record[1])

    for fact in facts:
        for where, there in fact.named:
            if where == store:
                others = [address_of(other.named[0]) for other in facts if other is not fact]
                told = f"{', '.join(others)} says something else, and stays"
                return there, (told,) if others else ()
    here = [there for fact in facts for where, there in fact.members if where == store]
    if len(facts) > 1 and here:
        raise RefusedError(
            reading.names[store],
            f"{key!r} is no key here, and means {len(facts)} different records elsewhere",
            "name the one that is meant as STORE:KEY",
            [address_of(fact.named[0]) for fact in facts],
        )
    named = facts[0].named[0]
    if not here:
        raise RefusedError(
            reading.names[named[0]],
            f"{named[1]!r} stands in this store only, which is not written",
            f"forget it there; the bridge writes to {reading.write}",
        )
    return here[0], (f"{address_of(named)} is {address_of((store, here[0]))} here",)


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
        self.check_no_tombstone("archived")
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
        before = self.rejected_before(record, name) if name else None
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

    def rejected_before(self, record: Record, name: str) -> Tombstone | None:
        """Find the tombstone that rejects this very row; one may cite it for another reason.

        It says the value that is to be rejected; or, where none was said, it is about the row.
        """
        value = self.wish.rejected
        said = {_one_line(value if value and value.strip() else self.statement(record) or "")}
        for stone in self.raw.values():
            if not isinstance(stone, Tombstone) or stone.source != name:
                continue
            about = stone.subject == name and not (value and value.strip())
            if about or _one_line(stone.rejected or "") in said - {""}:
                return stone
        return None

    def check_no_tombstone(self, how: str) -> None:
        """Refuse what only a tombstone could keep: nothing that was said is dropped.

        Raises:
            UsageError: a value was said to be wrong, or right, and there will be no tombstone.
        """
        said = {"--rejected": self.wish.rejected, "--replacement": self.wish.replacement}
        given = [option for option, value in said.items() if value is not None]
        if given:
            raise UsageError(
                f"{self.key!r} would be {how} in {self.store.label}, without a tombstone: "
                f"{' and '.join(given)} would be lost",
                "say it in the reason",
            )

    @staticmethod
    def statement(record: Record) -> str | None:
        """Give what a row states."""
        if isinstance(record, Decision):
            return record.decision
        return record.body.text if isinstance(record, Task) else None

    def rejected(self, record: Record) -> str:
        """Give the value that is wrong: as it was said, or the statement of the row itself."""
        if self.wish.rejected and self.wish.rejected.strip():
            return self.wish.rejected
        stated = self.statement(record)
        if stated and stated.strip():
            return stated
        raise RefusedError(
            self.store.label,
            "nothing was written: its tombstone has to say which value is wrong",
            "give the rejected value",
        )

    def still_said(self, stone: Tombstone, keys: set[str]) -> tuple[str, ...]:
        """Name the records of the store that go on saying the value."""
        live = [r for r in self.store.restored.store.records if r.key in keys]
        told = guarding.history([self.store])
        found = guard.collisions(live, [guarding.own(self.store, stone)], told=told)
        return tuple(f"{c.key}: {guard.sentence(c)}" for c in found if c.key != self.key)

    def removed(self, record: Record) -> Outcome[Forgotten]:
        """Take it out, as far as the user agreed to that."""
        self.check_no_tombstone("removed")
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
        shown = naming.tellable(self.key, self.raw[self.key])
        return f"forget {shown}: {mask(_one_line(self.wish.reason))}"

    def message(self) -> str:
        """Say on one line why, for those who read the history: which files it shows by itself."""
        if self.wish.purge:
            return "forget a record for good"
        return f"forget: {mask(_one_line(self.wish.reason))}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
