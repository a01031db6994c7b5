"""Put a store over a topic: splice what differs, append what is new, never take a row away.

Spec: docs/formats/memory-compiler.md, "Writing".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cached_property

from interop import fields
from interop.adapter import Context, Locked, Refusal, Supplied, Written
from interop.adapters.memory_compiler import cells, ledger, memory_tests, new_topic, reading, rows
from interop.adapters.memory_compiler.context_bullets import extra_of
from interop.adapters.memory_compiler.context_edits import ContextEdits
from interop.adapters.memory_compiler.fitting import WAY_OUT_STATUS, fit
from interop.adapters.memory_compiler.numbering import Numbering
from interop.adapters.memory_compiler.reading import Part, Topic
from interop.adapters.memory_compiler.settling import Change, Refused, settle
from interop.adapters.memory_compiler.table_edits import TableEdits
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import (
    CONTEXT,
    FILES,
    FORMAT,
    LATER_STATUS,
    OF_ROLE,
    TABLES,
    TESTS,
    UNSAID,
    Columns,
)
from interop.model import Body, Decision, Files, Memory, Record, Store
from interop.syntax import pipe_tables


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over the files of a topic."""
    anew: set[str] = set()
    while True:
        put = _Put(store, onto, context, anew)
        done = put.written()
        # what a new topic was begun with stood nowhere before: nothing of what is refused stays
        stays = {r.key for r in done.refused if r.key in done.records} if put.begun else set[str]()
        if not stays:
            return done
        anew |= stays


class _Put:
    """One put: changes are fitted, given their places, then made file by file."""

    def __init__(self, store: Store, onto: Files, context: Context, anew: Set[str]) -> None:
        self.store = store
        self.context = context
        self.files: dict[str, bytes] = dict(onto)
        self.fresh = not any(path in onto for path in FILES)
        if self.fresh:
            self.files |= new_topic.begin(store.records, context, anew)
        self.begun = len(self.files) > len(onto)
        self.topic = reading.read(self.files)
        self.version = self.topic.version
        if self.fresh:
            self.version = self.source.version
        self.records: dict[str, Record] = {}
        """Key in the store that was put -> the record that stands; a row that stays although it
        was not in the store stands under its own key."""
        self.supplied: list[Supplied] = []
        self.refused: list[Refusal] = []
        self.notes: list[str] = []
        self.changes: dict[str, list[Change]] = {}
        """Path -> what is to be done in that file."""

    def written(self) -> Written:
        gone = self._compare()
        locked = ledger.locked(self.files) if gone or self.changes else None
        if locked is not None:
            self._locked(locked, gone)
        else:
            self._remove(gone)
            self._tell_apart()
            self._number()
            self._make()
        order = {record.key: n for n, record in enumerate(self.store.records)}
        return Written(
            files=self.files,
            records=dict(
                sorted(self.records.items(), key=lambda item: order.get(item[0], len(order)))
            ),
            supplied=tuple(self.supplied),
            refused=tuple(self.refused),
            notes=tuple(self.notes),
        )

    def _compare(self) -> list[Record]:
        """Sort the records into what stands, what changes, and what is gone."""
        gone = {record.key: record for record in self.topic.records()}
        for record in self.store.records:
            current = gone.pop(record.key, None)
            if current is not None and record == current:
                self.records[record.key] = current
                continue
            fitted = fit(record, current, self.context)
            refusal = fitted if isinstance(fitted, Refusal) else None
            if not isinstance(fitted, Refusal):
                if current is not None and fitted.record == current:
                    self.records[record.key] = current
                    self.supplied += fitted.supplied
                    self._say_views(record, current)
                    continue
                supplied = list(fitted.supplied)
                meant = self._in_version(fitted.record, supplied)
                if isinstance(meant, Refusal):
                    refusal = meant
                else:
                    path = CONTEXT if meant.role == "memory" else OF_ROLE[meant.role].path
                    change = Change(record.key, current, meant, tuple(supplied))
                    self.changes.setdefault(path, []).append(change)
            if refusal is not None:
                self._refuse(refusal, current)
        return list(gone.values())

    def _say_views(self, record: Record, current: Record) -> None:
        """Say of a bullet whose annotation alone was to change that its text says that."""
        own, there = record.extra.get(FORMAT), current.extra.get(FORMAT)
        if record.role == "memory" and own != there:
            self.notes.append(
                f"{record.key}: as_of and evidence repeat the text; change them there"
            )

    def _in_version(self, record: Record, supplied: list[Supplied]) -> Record | Refusal:
        """Say a decision's status as the topic's version does."""
        if not isinstance(record, Decision) or self.version > 1 or record.status is None:
            return record
        current = self.topic.record(record.key)
        if LATER_STATUS.fullmatch(record.status) is None or (
            current is not None and fields.get(current, "status") == record.status
        ):
            return record
        if record.status == "Dropped":
            return Refusal(
                key=record.key,
                field="status",
                reason="'Dropped' is a status of the second version, and this topic is of the first"
                ", whose checker takes Active, Superseded",
                remedy=WAY_OUT_STATUS,
            )
        reason = "the first version says that, and not by what"
        supplied.append(Supplied(key=record.key, field="status", value="Superseded", reason=reason))
        return fields.replace(record, {"status": "Superseded"})

    def _refuse(self, refusal: Refusal, stays: Record | None) -> None:
        self.refused.append(refusal)
        if stays is not None:
            self.records[refusal.key] = stays

    def _locked(self, locked: Locked, gone: Iterable[Record]) -> None:
        """Change nothing at all."""
        for change in (c for path in sorted(self.changes) for c in self.changes[path]):
            refusal = Refusal(
                key=change.key,
                field="session",
                reason=locked.reason,
                remedy=locked.remedy,
            )
            self._refuse(refusal, change.current)
        for record in gone:
            self.records[record.key] = record
            self.notes.append(f"{record.key}: stays, because {locked.reason}; {locked.remedy}")

    def _remove(self, gone: Iterable[Record]) -> None:
        """Take bullets out; rows stay, since their ids are permanent."""
        for record in gone:
            if record.role == "memory":
                change = Change(record.key, record, None, ())
                self.changes.setdefault(CONTEXT, []).append(change)
                continue
            self.records[record.key] = record
            way = "give it a status that says so" if record.role != "tombstone" else "let it be"
            self.notes.append(f"{record.key}: stays, because rows are permanent here; {way}")

    def _tell_apart(self) -> None:
        """Let no new bullet say the very same as another: only their texts tell bullets apart."""
        part = self.topic.parts.get(CONTEXT)
        said = {fields.get(r, "body").text for r in part.records.values()} if part else set[str]()
        new = {c.key: c for c in self.changes.get(CONTEXT, ()) if c.current is None and c.meant}
        for record in (r for r in self.store.records if r.key in new):
            change = new[record.key]
            words = fields.get(change.meant, "body").text if change.meant else ""
            called = fields.get(record, "name") or fields.get(record, "title")
            fuller = cells.bullet(f"{words} ({called})") if called and words in said else words
            if fuller and fuller != words:
                change.meant = Memory(
                    key=record.key, body=Body(text=fuller), extra=extra_of(fuller)
                )
                reason = "another bullet says the very same, so its name tells them apart"
                change.supplied = (
                    Supplied(key=record.key, field="body", value=fuller, reason=reason),
                )
            said.add(fuller)

    def _number(self) -> None:
        """Give new rows their ids, and take out decisions that cannot stand."""
        numbering = Numbering(self.topic, self.store.records, self.context, self.changes)
        numbering.number()
        self.notes += numbering.notes
        for change, refusal in numbering.refused:
            self._refuse(refusal, change.current)

    # --- files ---

    def _make(self) -> None:
        """Make the changes, file by file; what cannot stand beside the rest is refused."""
        done = self.begun
        for path in sorted(self.changes):
            wanted = [c for c in self.changes[path] if c.meant is not None or c.current is not None]
            part = self.topic.parts.get(path)
            if part is None and path in self.files:
                self._unreadable(path, wanted)
                continue
            result = settle(self._edits(path, part), wanted)
            for change in wanted:
                self._settled(change, result.records.get(change.key), result.refused)
            self._moved(part, result.moved)
            if result.text is not None:
                self.files[path] = result.text.encode("utf-8")
                done = True
        if self.fresh and done:
            self._complete()

    def _edits(self, path: str, part: Part | None) -> ContextEdits | TableEdits:
        if path == CONTEXT:
            return ContextEdits(part)
        source = self.source.parts.get(path)
        return TableEdits(TABLES[path], part, source, second=self.version > 1)

    @cached_property
    def source(self) -> Topic:
        """Give the topic that the records come from; empty where they come from another format."""
        return reading.read(self.context.originals)

    def _unreadable(self, path: str, wanted: Iterable[Change]) -> None:
        for change in wanted:
            reason = f"{path} is not UTF-8, and is left as it is"
            self._refuse(
                Refusal(key=change.key, field="key", reason=reason, remedy=f"mend {path} first"),
                change.current,
            )

    def _settled(
        self, change: Change, stands: Record | None, refused: Mapping[str, Refused]
    ) -> None:
        why = refused.get(change.key)
        if why is None:
            if stands is not None:
                self.records[change.key] = stands
                self.supplied += change.supplied
                self._say_evidence(change, stands)
                self._say_id(change)
        elif change.meant is not None:
            refusal = Refusal(key=change.key, field=why.field, reason=why.reason, remedy=why.remedy)
            self._refuse(refusal, change.current)
        elif change.current is not None:
            self.records[change.key] = change.current
            self.notes.append(f"{change.key}: stays, because {why.reason}")

    def _say_evidence(self, change: Change, stands: Record) -> None:
        """Name a dash that is written for evidence: it is read as nothing, so no field shows it."""
        if not any(s.field == "evidence" and s.value == UNSAID for s in change.supplied):
            return
        if change.current is None or not self._says_nothing(change.current):
            status = fields.get(stands, "status")
            self.notes.append(
                f"{stands.key}: {UNSAID} stands for its evidence: what is {status} needs some, and "
                "nobody stated any"
            )

    def _says_nothing(self, row: Record) -> bool:
        """Does the evidence of a row say already that there is none?"""
        file = self.topic.parts.get(OF_ROLE[row.role].path)
        assert isinstance(file, TableFile), "a row stands in a table"
        column = file.columns.fields.index("evidence") + 1
        return bool(pipe_tables.values(file.text, file.rows[row.key])[column])

    def _say_id(self, change: Change) -> None:
        """Name an id that had to be another one than the record's own."""
        columns: Columns | None = OF_ROLE.get(change.meant.role) if change.meant else None
        if columns is None or change.current is not None:
            return
        own = rows.own_id(columns, change.key)
        if own is not None and own != change.id:
            reason = f"{own} was its id elsewhere; here ids are permanent, and this one was free"
            value = f"{columns.path}#{change.id}"
            self.supplied.append(Supplied(key=change.key, field="key", value=value, reason=reason))

    def _moved(self, part: Part | None, moved: Mapping[str, Record]) -> None:
        """Follow records whose address changed with the file: repeats of one text."""
        for key in part.records if part is not None else ():
            if key in moved and key in self.records:
                self.records[key] = moved[key]

    def _complete(self) -> None:
        """Create what a new topic needs: the four files, and tests, or no session can close.

        The second version has a register in the place of OPEN_ITEMS.md, and it is not known what
        its checker demands, so only files that say something are made.
        """
        if self.version > 1:
            return
        for path in FILES:
            if path not in self.files:
                text = self._edits(path, None).blank()
                self.files[path] = text.encode("utf-8")
        if TESTS not in self.files:
            self.files[TESTS] = memory_tests.FRESH.encode("utf-8")
            self.notes.append(
                f"{TESTS} holds one test that always passes: without tests no session can be closed"
            )
