"""Put a store over files: splice what differs, leave everything else as it stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from interop.adapter import Context, Refusal, Supplied, Written, path_of
from interop.adapters.theokit import facts, fitting, index, layout, memory_file, names
from interop.adapters.theokit import reading as readings
from interop.adapters.theokit.index import NAME
from interop.adapters.theokit.memory_file import VOCABULARY, MemoryFile
from interop.adapters.theokit.reading import Reading
from interop.model import Files, Memory, Record, Store
from interop.syntax.splice import Edit, splice

NEW_FACT = f"{NAME}#"
"""Where a new fact is to stand; which key it gets is read afterwards."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do."""

    key: str
    """Key in the store that was put."""
    at: str
    """Key in the reading that it is done to; of a new file its path, of a new fact a mark."""
    memory: Memory | None
    """As it is to stand; None removes it."""
    supplied: tuple[Supplied, ...] = ()
    base: MemoryFile | str | None = None
    """For a new file or note the text that is spliced, where its own is known."""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of the changes: the store now, and where each record is."""

    now: Reading
    moved: Mapping[str, str]
    """Key before -> key now, of everything that stands."""
    failed: tuple[Change, ...]


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put ``store`` over ``onto``: splice what differs, and say what then stands there."""
    before = readings.read(onto)
    changes, refused, staying = _changes(store, before, context)
    settled = _settle(before, changes)
    failed = {c.key for c in settled.failed}
    places = {c.key: c.at for c in changes if c.is_new}
    records: dict[str, Record] = {}
    for record in store.records:
        at = settled.moved.get(places.get(record.key, record.key))
        if at is not None and at in settled.now.records:
            records[record.key] = settled.now.records[at]
    kept = [c.key for c in settled.failed if c.memory is None]
    records |= {key: settled.now.records[settled.moved[key]] for key in (*staying, *kept)}
    supplied = [
        s
        for change in changes
        if change.key not in failed
        for s in change.supplied
        if s.field not in ("title", "hook")
        or getattr(records.get(change.key), s.field, None) == s.value
    ]
    refused += [_refusal(c) for c in settled.failed if c.memory is not None]
    notes = [f"{key}: stays, because removing it would change another record" for key in kept]
    notes += (f"{key}: stays, because {fitting.JSON_IS_THE_RUNTIMES}" for key in staying)
    if before.index is None and NAME in onto and any(c.is_new for c in changes):
        notes.append(f"{NAME}: cannot be read, so no entry was added")
    return Written(
        files=dict(settled.now.files),
        records=records,
        supplied=tuple(supplied),
        refused=tuple(refused),
        notes=tuple(notes),
    )


def _refusal(change: Change) -> Refusal:
    return Refusal(
        key=change.key,
        field="body",
        reason="written like this, another record of the store would be read differently",
        remedy="change its words, or let it travel in the complement with --carry",
    )


# --- what is to be done ------------------------------------------------------------------------


def _changes(
    store: Store, before: Reading, context: Context
) -> tuple[list[Change], list[Refusal], list[str]]:
    """Give what is to be done, what is refused, and the keys of facts that stay unasked."""
    changes: list[Change] = []
    refused: list[Refusal] = []
    gone = dict.fromkeys(before.records)
    fresh: list[tuple[Memory, Memory, tuple[Supplied, ...]]] = []
    for record in store.records:
        current = before.records.get(record.key)
        gone.pop(record.key, None)
        if current is not None and record == current:
            continue
        fitted = fitting.fit(record, current, context)
        if isinstance(fitted, Refusal):
            refused.append(fitted)
            continue
        memory = fitted.record
        assert isinstance(record, Memory), "only memories are fitted"
        assert isinstance(memory, Memory), "only memories are fitted"
        if current is None:
            fresh.append((record, memory, fitted.supplied))
        elif memory != current:
            changes.append(Change(record.key, record.key, memory, fitted.supplied))
    staying = [key for key in gone if layout.is_facts_json(path_of(key))]
    for key in staying:
        del gone[key]
    changes += [Change(key, key, None) for key in gone]
    changes += _new(fresh, before, context, gone)
    return changes, refused, staying


def _new(
    fresh: Sequence[tuple[Memory, Memory, tuple[Supplied, ...]]],
    before: Reading,
    context: Context,
    gone: Collection[str],
) -> Iterable[Change]:
    """Give each new record its place; places of last time are given before others are allotted."""
    taken = Taken(p for p in before.files if p not in gone)
    taken.add(NAME)
    places: dict[str, str] = {}
    tried: dict[str, int] = {}
    for record, _, _ in fresh:
        place = fitting.wanted(record, context)
        if place is not None and fitting.is_fact(place):
            places[record.key] = f"{NEW_FACT}{len(places)}"
        elif place is not None and taken.is_free(place):
            places[record.key] = place
            taken.add(place)
    for record, fitted, supplied in fresh:
        memory, given = fitted, list(supplied)
        place = places.get(record.key)
        if place is None:
            stem = fitting.stem_for(record, memory.body.text)
            place = _allotted(stem, record.key, taken, tried, given)
        base = _base(record, context)
        stem = place.removesuffix(".md")
        if (
            memory.name != stem
            and layout.is_memory(place)
            and not _is_as_it_stood(memory, place, base)
        ):
            memory = _renamed(record, memory, stem, given)
        yield Change(record.key, place, memory, tuple(given), base, is_new=True)


def _allotted(
    base: str, key: str, taken: Taken, tried: dict[str, int], supplied: list[Supplied]
) -> str:
    """Give a new file the first free name: ``stem.md``, ``stem-2.md``, ….

    The runtime would overwrite somebody's note of that name, and on some disks the index. In
    ``tried`` stands how far each stem has been counted: nothing becomes free while names are given.
    """
    n = tried.get(base, 0) + 1
    while True:
        stem = base if n == 1 else f"{base}-{n}"
        if names.is_usable(stem) and taken.is_free(f"{stem}.md"):
            break
        n += 1
    tried[base] = n
    path = f"{stem}.md"
    taken.add(path)
    if n > 1:
        reason = f"{base}.md is taken, or means something else"
        supplied.append(Supplied(key=key, field="key", value=path, reason=reason))
    return path


def _renamed(record: Memory, memory: Memory, stem: str, supplied: list[Supplied]) -> Memory:
    supplied[:] = [s for s in supplied if s.field != "name"]
    if record.name is None or stem.startswith(f"{memory.name}-"):
        reason = "the name of a memory is the stem of its file"
        supplied.append(Supplied(key=memory.key, field="name", value=stem, reason=reason))
    return dataclasses.replace(memory, name=stem)


def _is_as_it_stood(memory: Memory, place: str, base: MemoryFile | str | None) -> bool:
    """Does it keep path and name of its own file elsewhere? Only then may the two differ."""
    return (
        isinstance(base, MemoryFile)
        and place == base.memory.key
        and memory.name == base.memory.name
    )


def _base(record: Memory, context: Context) -> MemoryFile | str | None:
    """Give the record's own file in the store of this format that it comes from."""
    data = context.originals.get(record.key)
    text = memory_file.decode(data) if data is not None else None
    if text is None:
        return None
    if layout.is_note(record.key):
        return text
    found = memory_file.read(record.key, text) if layout.is_memory(record.key) else ""
    return found if isinstance(found, MemoryFile) else None


class Taken:
    """The paths that stand, folders included, compared as file systems do."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: set[str] = set()
        self._files: set[str] = set()
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Make a path taken, and its folders."""
        folded = names.fold(path)
        self._files.add(folded)
        self._paths.add(folded)
        while "/" in folded:
            folded = folded.rpartition("/")[0]
            self._paths.add(folded)

    def is_free(self, path: str) -> bool:
        """Can a file of this path be made beside the others?"""
        folded = names.fold(path)
        return folded not in self._paths and folded.rpartition("/")[0] not in self._files


# --- doing it ----------------------------------------------------------------------------------


def _settle(before: Reading, changes: Sequence[Change]) -> Settled:
    """Make the changes; where one would change another record, find it by halves and leave it."""
    if not changes:
        return Settled(before, {k: k for k in before.records}, ())
    now = _applied(before, changes)
    moved = _moved(before, changes, now)
    if moved is not None:
        return Settled(now, moved, ())
    if len(changes) == 1:
        return Settled(before, {k: k for k in before.records}, tuple(changes))
    half = len(changes) // 2
    first = _settle(before, changes[:half])
    rest = [
        c if c.is_new else dataclasses.replace(c, at=first.moved.get(c.at, c.at))
        for c in changes[half:]
    ]
    second = _settle(first.now, rest)
    through = {k: second.moved[v] for k, v in first.moved.items() if v in second.moved}
    through |= {c.at: second.moved[c.at] for c in rest if c.is_new and c.at in second.moved}
    return Settled(second.now, through, first.failed + second.failed)


def _moved(before: Reading, changes: Sequence[Change], now: Reading) -> dict[str, str] | None:
    """Find every record again; None if one is not as it was, or not as it was meant to be."""
    by_key = {c.at: c for c in changes}
    meant: dict[str, Memory] = {}
    facts_meant: dict[str, list[tuple[str, Memory]]] = {}
    for key, record in before.records.items():
        change = by_key.get(key)
        memory = record if change is None else change.memory
        if memory is None:
            continue
        if key in before.items:
            facts_meant.setdefault(before.items[key][0], []).append((key, memory))
        else:
            meant[key] = memory
    for change in changes:
        if change.is_new and change.memory is not None:
            if change.at.startswith(NEW_FACT):
                facts_meant.setdefault(NAME, []).append((change.at, change.memory))
            else:
                meant[change.at] = change.memory
    if {k for k in now.records if k not in now.items} != set(meant):
        return None
    for key, memory in meant.items():
        there = now.records[key]
        if there != memory and (key not in by_key or not _as_meant(there, memory)):
            return None
    moved = {key: key for key in meant}
    return moved if _facts_moved(facts_meant, now, moved) else None


def _as_meant(there: Memory, meant: Memory) -> bool:
    """Does the file say what it was meant to? The index may have no room for title and hook."""
    names_of_fields = ("name", "description", "body", "kinds", "modified", "observations")
    return all(getattr(there, f) == getattr(meant, f) for f in names_of_fields)


def _facts_moved(
    meant: Mapping[str, list[tuple[str, Memory]]], now: Reading, moved: dict[str, str]
) -> bool:
    """Follow the facts of each file by their order; False if one came or went unasked."""
    after: dict[str, list[str]] = {}
    for key, (path, _) in now.items.items():
        after.setdefault(path, []).append(key)
    for path in {*after, *meant}:
        keys, wanted = after.get(path, []), meant.get(path, [])
        said = [(r.body, r.kinds, r.modified) for r in map(now.records.__getitem__, keys)]
        if said != [(m.body, m.kinds, m.modified) for _, m in wanted]:
            return False
        moved.update(zip((key for key, _ in wanted), keys, strict=True))
    return True


def _applied(before: Reading, changes: Sequence[Change]) -> Reading:
    """Make the changes: files first, then the facts, then what the index says of the files."""
    files = dict(before.files)
    edits: list[Edit] = []
    new_facts: list[str] = []
    gone: set[str] = set()
    entries: list[tuple[str, str | None, str | None]] = []
    for change in changes:
        memory = change.memory
        if change.at.startswith(NEW_FACT) and change.is_new:
            assert memory is not None
            kind = memory.kinds.get(VOCABULARY)
            new_facts.append(facts.line_of(memory.body.text, kind, memory.modified))
        elif change.at in before.items:
            edits += _fact_edits(before, change)
        elif memory is None:
            del files[change.at]
            gone.add(change.at)
        else:
            files[change.at] = _file(before, change, memory)
            old = before.records.get(change.at)
            if old is None or (old.title, old.hook) != (memory.title, memory.hook):
                if memory.title or memory.hook:
                    entries.append((change.at, memory.title, memory.hook))
                elif layout.is_memory(change.at):
                    gone.add(change.at)
    if before.index is not None or NAME not in files:
        text = before.index.text if before.index is not None else None
        spliced = splice(text, edits) if text is not None else None
        if new_facts:
            spliced = facts.added(spliced, new_facts)
        spliced = index.rewritten(spliced, gone, entries)
        if spliced is not None and spliced != text:
            files[NAME] = spliced.encode("utf-8")
    return readings.read(files, before)


def _fact_edits(before: Reading, change: Change) -> Iterable[Edit]:
    assert before.index is not None
    assert before.index.section is not None
    bullet = before.index.section.bullets[before.items[change.at][1]]
    memory = change.memory
    if memory is None:
        return [Edit(*bullet.line, "")]
    kind = memory.kinds.get(VOCABULARY)
    return facts.edits(before.index.text, bullet, memory.body.text, kind, memory.modified)


def _file(before: Reading, change: Change, memory: Memory) -> bytes:
    base = before.memories.get(change.at) or before.notes.get(change.at)
    if change.is_new:
        base = change.base
    if layout.is_note(change.at):
        note = base if isinstance(base, str) else "\n"
        text = memory_file.splice_note(note, memory.body.text)
    elif isinstance(base, MemoryFile):
        text = memory_file.splice_in(base, memory)
    else:
        text = memory_file.new(memory)
    return text.encode("utf-8")
