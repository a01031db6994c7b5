"""The put of a whole store: what differs is spliced into the files that are there.

Spec: docs/formats/memhtml.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from interop.adapter import Context, Refusal, Supplied, Written, path_of
from interop.adapters.memhtml import dates, head, memory_file, placement
from interop.adapters.memhtml.content_hash import content_hash
from interop.adapters.memhtml.document import document
from interop.adapters.memhtml.fitting import fit
from interop.adapters.memhtml.memory_file import MemoryFile, Skipped
from interop.adapters.memhtml.reading import memories
from interop.adapters.memhtml.vocabulary import FORMAT
from interop.model import Files, Memory, Record, Store
from interop.syntax.splice import Edit


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over the files: one memory a file, spliced statement by statement."""
    return _Put(store, onto, context).written()


@dataclass(frozen=True, slots=True)
class _Change:
    """A record that is to stand, and the file whose text is spliced for it."""

    key: str
    target: Memory
    supplied: tuple[Supplied, ...]
    base: MemoryFile | None
    """The record's file in ``onto`` or, of a new one, in the store that it comes from."""
    data: bytes
    found: MemoryFile
    """What the data says; its path is any, but right about the archive."""
    is_new: bool

    @property
    def hash(self) -> str:
        """Give the hash of its text."""
        return self.found.hash

    @property
    def is_copy(self) -> bool:
        """Is this a file of the store that the record comes from, as it is there?"""
        return self.is_new and self.base is not None and self.base.source.spliced(()) == self.data


class _Put:
    """One put. Texts are made first, then checked against each other, then given their places."""

    def __init__(self, store: Store, onto: Files, context: Context) -> None:
        self.store = store
        self.onto = onto
        self.context = context
        self.files: dict[str, bytes] = dict(onto)
        self.there = {f.path: f for f in memories(onto) if isinstance(f, MemoryFile)}
        self.records: dict[str, Record] = {}
        self.supplied: list[Supplied] = []
        self.refused: list[Refusal] = []
        self.notes: list[str] = []
        self.searches: dict[tuple[object, ...], Iterator[tuple[int, str]]] = {}
        """What tells where a new record may go -> the places that were not tried yet."""
        self.year = context.now[:4]

    def written(self) -> Written:
        wanted = {record.key for record in self.store.records}
        for path in self.there:
            if path not in wanted:
                del self.files[path]
        changes: list[_Change] = []
        for record in self.store.records:
            file = self.there.get(record.key)
            if file is not None and record == file.record:
                self.records[record.key] = record
                continue
            made = self._made(record, file)
            if isinstance(made, Refusal):
                self._refuse(made)
            elif made is not None:
                changes.append(made)
        self._place(self._apart(changes))
        order = [r.key for r in self.store.records if r.key in self.records]
        return Written(
            files=self.files,
            records={key: self.records[key] for key in order},
            supplied=tuple(self.supplied),
            refused=tuple(self.refused),
            notes=tuple(self.notes),
        )

    def _refuse(self, refusal: Refusal) -> None:
        self.refused.append(refusal)
        file = self.there.get(refusal.key)
        if file is not None:
            self.records[refusal.key] = file.record

    def _made(self, record: Record, file: MemoryFile | None) -> _Change | Refusal | None:
        """Fit a record and make its text; None when nothing of it is to change."""
        fitted = fit(record, file.record if file else None, self.context)
        if isinstance(fitted, Refusal):
            return fitted
        target = fitted.record
        assert isinstance(target, Memory), "only memories and tasks are fitted"
        if file is not None and target == file.record:
            self.records[record.key] = target
            self.supplied += fitted.supplied
            return None
        made = self._spliced(file or self._original(record), target, fitted.supplied, file)
        if isinstance(made, Refusal) and file is None:
            # its own file in another store says what this record does not: it gets a new one
            made = self._spliced(None, target, fitted.supplied, file)
        return made

    def _spliced(
        self,
        base: MemoryFile | None,
        target: Memory,
        supplied: tuple[Supplied, ...],
        file: MemoryFile | None,
    ) -> _Change | Refusal:
        """Make the text of a record, and see that it reads back as meant."""
        data = _text(base, target)
        if isinstance(data, Refusal):
            return data
        # any path will do to see what the text says; only the archive's differs
        found = memory_file.read(_somewhere(target), data)
        refusal = _unlike(found, target)
        if refusal is not None:
            return refusal
        assert isinstance(found, MemoryFile)
        return _Change(target.key, target, supplied, base, data, found, file is None)

    def _original(self, record: Record) -> MemoryFile | None:
        """Give the record's own file in the store of this format that it comes from."""
        data = self.context.originals.get(record.key)
        if data is None or not placement.is_memory(record.key):
            return None
        found = memory_file.read(record.key, data)
        return found if isinstance(found, MemoryFile) else None

    def _apart(self, changes: list[_Change]) -> list[_Change]:
        """Refuse what would be a second active memory of one text: it empties the index.

        Two that were so in their own store, and are copied as they are, stay as broken as they
        were: a copy is a copy.
        """
        copies = {c.key for c in changes if c.is_copy}
        holders: dict[str, set[str]] = {}
        for path, standing in self.there.items():
            if path in self.files and standing.competes:
                holders.setdefault(standing.hash, set()).add(path)
        good: list[_Change] = []
        waiting = changes
        while waiting:
            again: list[_Change] = []
            for change in waiting:
                file = self.there.get(change.key)
                others = holders.get(change.hash, set()) - {change.key}
                competes = memory_file.competes(change.target)
                was = file is not None and file.competes and file.hash == change.hash
                if competes and others and change.key in copies and others <= copies:
                    self.notes.append(_copied(change.key, min(others)))
                elif competes and others and not was:
                    again.append(change)
                    continue
                if file is not None and file.competes:
                    holders[file.hash].discard(file.path)
                if competes:
                    holders.setdefault(change.hash, set()).add(change.key)
                good.append(change)
            if len(again) == len(waiting):
                for change in again:
                    other = min(holders[change.hash] - {change.key})
                    self._refuse(_twin(change.key, other))
                break
            waiting = again
        return good

    def _place(self, changes: list[_Change]) -> None:
        """Give every text its path: what moves or is new, the addresses of last time first."""
        moving: list[_Change] = []
        for change in changes:
            stays = not change.is_new and placement.is_archived(change.key) == _archived(change)
            if stays:
                self._stand(change, change.key)
            else:
                moving.append(change)
                if not change.is_new:
                    del self.files[change.key]
        taken = placement.Taken(self.files)
        rest: list[_Change] = []
        for change in moving:
            path = next((p for p in self._known(change) if taken.is_free(p)), None)
            if path is None:
                rest.append(change)
            else:
                taken.add(path)
                self._stand(change, path)
        for change in rest:
            free = ((n, p) for n, p in self._candidates(change) if taken.is_free(p))
            n, path = next(free, (0, None))
            if path is not None:
                taken.add(path)
                if n:
                    self.supplied.append(
                        Supplied(
                            key=change.key,
                            field="key",
                            value=path,
                            reason="a file of the name that it would have is there already",
                        )
                    )
                self._stand(change, path)
                continue
            if not change.is_new:
                self.files[change.key] = self.onto[change.key]
                taken.add(change.key)
            self._refuse(_no_place(change.key))

    def _known(self, change: _Change) -> Iterator[str]:
        """Give the places that a record takes as they are, if they are free."""
        if not change.is_new:
            yield self._moved(change.key, change)
            return
        address = self.context.addresses.get(change.key)
        if address is not None and placement.is_memory(address):
            yield self._moved(address, change)
        own = path_of(change.key)
        if own == change.key and placement.is_memory(own) and _is_usable(own):
            yield self._moved(own, change)

    def _candidates(self, change: _Change) -> Iterator[tuple[int, str]]:
        """Give the places that a record may have, best first, each with its number from 0.

        New ones of one name share the search: a place that was taken for one is so for the next.
        """
        if not change.is_new:
            return enumerate(placement.beside(self._moved(change.key, change)))
        target = change.target
        kind, stem = target.kinds[FORMAT], placement.slug(target.title or "")
        where = placement.folder(kind, target.entities, target.tags)
        alike = (where, kind, stem, _archived(change), target.archived)
        if alike not in self.searches:
            paths = placement.candidates(stem, kind, where, self.context.now)
            self.searches[alike] = enumerate(self._moved(path, change) for path in paths)
        return self.searches[alike]

    def _moved(self, path: str, change: _Change) -> str:
        """Give a path as the state wants it: in the archive, or where it was before."""
        if _archived(change) == placement.is_archived(path):
            return path
        if _archived(change):
            year = dates.year_of(change.target.archived) or self.year
            return placement.archive_path(path, year)
        before = placement.origin(path)
        while placement.is_archived(before) and before != placement.origin(before):
            before = placement.origin(before)
        if placement.is_memory(before) and not placement.is_archived(before):
            return before
        return f"areas/inbox/{path.rpartition('/')[2]}"

    def _stand(self, change: _Change, path: str) -> None:
        """Let a record stand at a path, as ``read`` finds it there."""
        assert placement.is_archived(path) == _archived(change), "the path repeats the state"
        self.files[path] = change.data
        self.records[change.key] = dataclasses.replace(change.found.record, key=path)
        self.supplied += change.supplied


def _archived(change: _Change) -> bool:
    return change.target.state == "archived"


def _is_usable(path: str) -> bool:
    return all(part not in ("", ".", "..") for part in path.split("/"))


def _somewhere(target: Memory) -> str:
    return "archive/x.html" if target.state == "archived" else "areas/x.html"


def _stated_hash(record: Memory) -> object:
    """Give the content hash that a record states beside its text, as it is not that text's."""
    own = record.extra.get(FORMAT)
    return own.get("content-hash") if isinstance(own, dict) else None


def _text(base: MemoryFile | None, target: Memory) -> bytes | Refusal:
    """Give the bytes that state a target: the base spliced, or a new file."""
    archived = target.state == "archived"
    if base is None:
        text = head.new_file(target, archived=archived)
        article = document(text).article
        if article is None:
            return _refusal(target.key, "body", "the article would not end where it should")
        return head.with_hash(text, content_hash(article)).encode("utf-8")
    edits = list(head.edits(base, target, archived=archived))
    if target.body == base.record.body:
        if _stated_hash(target) is None and _stated_hash(base.record) is not None:
            edits += head.hash_edit(base, base.hash)  # a new file does not begin with a stale one
        return base.source.spliced(edits)
    start, end = base.body
    if memory_file.has_lost_bytes(base.source.text[start:end]):
        reason = "its text is not UTF-8, and writing it anew would lose bytes of it"
        return _refusal(target.key, "body", reason)
    edits.append(Edit(start, end, target.body.text))
    data = base.source.spliced(edits)
    found = memory_file.read(_somewhere(target), data)
    if isinstance(found, Skipped):
        return data
    return found.source.spliced(head.hash_edit(found, found.hash))


def _unlike(found: MemoryFile | Skipped, target: Memory) -> Refusal | None:
    """Say what of a text would not read back as meant; None when all of it does."""
    if isinstance(found, Skipped):
        return _refusal(target.key, "body", f"the runtime would skip it: {found.reason}")
    wanted = dataclasses.replace(target, key=found.path)
    if wanted == found.record:
        return None
    fields = [f.name for f in dataclasses.fields(wanted)]
    field = next(
        (f for f in fields if getattr(wanted, f) != getattr(found.record, f, None)), "role"
    )
    reason = "the rest of its file says otherwise"
    if field == "body":
        reason = "its HTML would not end where the article ends"
    return _refusal(target.key, field, reason)


def _refusal(key: str, field: str, reason: str) -> Refusal:
    return Refusal(
        key=key,
        field=field,
        reason=f"the file would not read back as meant: {reason}",
        remedy="change the file by hand, or let the record travel with --carry",
    )


def _twin(key: str, other: str) -> Refusal:
    return Refusal(
        key=key,
        field="body",
        reason=f"{other} has the same text, and two active memories of one text empty the index",
        remedy="merge the two, tell them apart, archive one, or let it travel with --carry",
    )


def _copied(key: str, other: str) -> str:
    return f"{key}: has the same text as {other}, as in the store it comes from: no index is built"


def _no_place(key: str) -> Refusal:
    return Refusal(
        key=key,
        field="key",
        reason="there is no free place for it: a file stands where its folder has to be",
        remedy="move that file away",
    )
