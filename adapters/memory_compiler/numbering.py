"""The ids of new rows, what points to them, and their order.

Spec: docs/formats/memory-compiler.md, "Ids".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from interop import fields
from interop.adapter import Context, Refusal, Supplied
from interop.adapters.memory_compiler import pointers, rows
from interop.adapters.memory_compiler.pointers import Pointer, Rows
from interop.adapters.memory_compiler.reading import Topic
from interop.adapters.memory_compiler.settling import Change
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import DECISIONS, TABLES
from interop.model import Record


class Numbering:
    """The new rows of one put: in an order that can stand, each with its id."""

    def __init__(
        self,
        topic: Topic,
        put: Sequence[Record],
        context: Context,
        changes: dict[str, list[Change]],
    ) -> None:
        self.topic = topic
        self.put = put
        self.context = context
        self.changes = changes
        self.refused: list[tuple[Change, Refusal]] = []
        self.notes: list[str] = []

    def number(self) -> None:
        """Order and number the new rows; decisions that cannot stand are taken out and refused."""
        if not any(path in self.changes for path in TABLES):
            return
        known = Rows(self.topic, self.put, self.context.originals)
        fitted = [(c, c.meant, c.supplied) for path in TABLES for c in self.changes.get(path, ())]
        while True:  # what is refused takes no id, so the others are numbered again
            for change, meant, supplied in fitted:
                change.id, change.meant, change.supplied = "", meant, supplied
            known.new = {path: {} for path in TABLES}
            for path in TABLES:
                for change in self._new(path):
                    known.add(path, change)
            for path in TABLES:
                self._give_ids(path, known)
            for path in TABLES:
                for change in self.changes.get(path, ()):
                    _follow(change, known)
            misplaced = self._misplaced()
            if not misplaced:
                break
            out = {id(change) for change, _ in misplaced}
            kept = [c for c in self.changes[DECISIONS] if id(c) not in out]
            self.changes[DECISIONS] = kept
            self.refused += misplaced
        self._say_what_stays(known)

    def _new(self, path: str) -> list[Change]:
        return [change for change in self.changes.get(path, ()) if change.current is None]

    def _give_ids(self, path: str, known: Rows) -> None:
        """Give new rows the ids of the last conversion, then the next ones, in their order."""
        columns, new = TABLES[path], self._new(path)
        if path == DECISIONS:
            new = _in_order(new, lambda change: _superseded(change, known))
            old = [c for c in self.changes.get(path, ()) if c.current is not None]
            self.changes[path] = [*old, *new]
        part = self.topic.parts.get(path)
        ids = rows.Ids(columns, part if isinstance(part, TableFile) else None, self.context.given)
        for change in new:
            name = rows.own_id(columns, self.context.addresses.get(change.key))
            if name is not None and ids.is_free(name):
                change.id = ids.take(name)
        for change in new:
            change.id = change.id or ids.next()

    def _misplaced(self) -> list[tuple[Change, Refusal]]:
        """Find decisions that supersede what does not stand above them."""
        part = self.topic.parts.get(DECISIONS)
        ids = part.ids if isinstance(part, TableFile) else ()
        above = set(ids)
        out: list[tuple[Change, Refusal]] = []
        for change in self.changes.get(DECISIONS, ()):
            target = fields.get(change.meant, "supersedes") if change.meant is not None else None
            if change.current is not None:
                fine = _may_supersede(change.current, target, ids)
            else:
                above.add(change.id)
                fine = target is None or target in above
            if not fine:
                refusal = Refusal(
                    key=change.key,
                    field="supersedes",
                    reason=f"supersedes {target!r}, and the checker takes one id that stands above",
                    remedy="bring that decision too, clear the field, or use --carry",
                )
                out.append((change, refusal))
        return out

    def _say_what_stays(self, known: Rows) -> None:
        """Say where a text names an id that is another one here, or belongs to another row."""
        moved = known.moved()
        named = pointers.Named(moved)
        for change in (c for path in sorted(self.changes) for c in self.changes[path]):
            if change.meant is None:
                continue
            followed = {supplied.field for supplied in change.supplied}
            names: dict[str, None] = {}
            for field, words in pointers.sentences(change):
                if field != "replacement" or "replacement" not in followed:
                    names.update(dict.fromkeys(named.within(words)))
            if names:
                told = ", ".join(f"{name}, which is {moved[name]} here" for name in names)
                self.notes.append(f"{change.key}: its text names {told}; it stays as it is written")
            for pointer in _changed(change):
                if pointer in known.astray(change.meant, self.topic):
                    self.notes.append(
                        f"{change.key}: {pointer.field} names {pointer.name}, and the row that has "
                        "this id here says something else; see whether it is the one"
                    )


def _follow(change: Change, known: Rows) -> None:
    """Let what a row points to anew be the ids that those rows have here."""
    if change.meant is None:
        return
    fresh = {pointer.field for pointer in _changed(change)}
    for field, words in known.followed(change.meant).items():
        if field in fresh:
            change.meant = fields.replace(change.meant, {field: words})
            reason = "the row that it points to has this id here"
            change.supplied += (Supplied(key=change.key, field=field, value=words, reason=reason),)


def _changed(change: Change) -> list[Pointer]:
    """Give the pointers that a change states: all of a new row, of another those that differ."""
    if change.meant is None:
        return []
    there = list(pointers.pointers(change.current)) if change.current is not None else []
    return [pointer for pointer in pointers.pointers(change.meant) if pointer not in there]


def _superseded(change: Change, known: Rows) -> Change | None:
    """Give the new decision that a new decision supersedes."""
    if change.meant is None:
        return None
    for pointer in pointers.pointers(change.meant):
        target = known.target(pointer)
        if pointer.field == "supersedes" and isinstance(target, Change):
            return target
    return None


def _in_order(new: Iterable[Change], above: Callable[[Change], Change | None]) -> list[Change]:
    """Put each below the one that has to stand above it; a circle is cut where it closes."""
    out: list[Change] = []
    seen: set[int] = set()
    for change in new:
        chain: list[Change] = []
        at: Change | None = change
        while at is not None and id(at) not in seen:
            seen.add(id(at))
            chain.append(at)
            at = above(at)
        out += reversed(chain)
    return out


def _may_supersede(current: Record, target: str | None, ids: Sequence[str]) -> bool:
    """Does a row that is there supersede one above it (or what it superseded before)?"""
    if target is None or target == fields.get(current, "supersedes"):
        return True
    own = rows.own_id(TABLES[DECISIONS], current.key)
    return target in (ids[: ids.index(own) + 1] if own in ids else ())
