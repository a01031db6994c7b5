"""Put a store over files: splice what differs, leave everything else as it stands."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from interop.adapter import Context, Refusal, Supplied, Written
from interop.adapters.claude_code import fitting, index_edits, memory_file, naming, reading
from interop.adapters.claude_code import index as indexes
from interop.adapters.claude_code.memory_file import HEADER_FIELDS, MemoryFile
from interop.adapters.claude_code.reading import Reading
from interop.model import Files, Memory, Record, Store
from interop.syntax import index_lines
from interop.syntax.splice import Edit, splice


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do."""

    key: str
    """Key in the store that was put."""
    at: str
    """Key in the reading that it is done to; of a new record the path it gets."""
    memory: Memory | None
    """As it is to stand; None removes it."""
    supplied: tuple[Supplied, ...] = ()
    base: MemoryFile | None = None
    """For a new record the file that is spliced, where its own is known."""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of the changes: the store now, and where each record is."""

    now: Reading
    moved: Mapping[str, str]
    """Key before -> key now, of everything that stands."""
    failed: tuple[Change, ...]
    notes: tuple[str, ...]


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put ``store`` over ``onto``: splice what differs, and say what then stands there."""
    before = reading.read(onto)
    changes, refused = _changes(store, before, context)
    settled = _settle(before, changes)
    failed = {c.key for c in settled.failed}
    records: dict[str, Record] = {}
    places = {c.key: c.at for c in changes if c.is_new}
    supplied: list[Supplied] = []
    for record in store.records:
        at = settled.moved.get(places.get(record.key, record.key))
        if at is not None and at in settled.now.records:
            records[record.key] = settled.now.records[at]
    for change in changes:
        if change.key not in failed and change.memory is not None:
            now = records.get(change.key)
            supplied += [s for s in change.supplied if _stands(s, now)]
    refused += [_refusal(c) for c in settled.failed if c.memory is not None]
    kept = [c.key for c in settled.failed if c.memory is None]
    records |= {key: settled.now.records[settled.moved[key]] for key in kept}
    why = [f"{key}: stays, because removing it would change another record" for key in kept]
    return Written(
        files=dict(settled.now.files),
        records=records,
        supplied=tuple(supplied),
        refused=tuple(refused),
        notes=(*settled.notes, *why),
    )


def _stands(supplied: Supplied, now: Record | None) -> bool:
    """Was this value written? An entry that stood there before keeps what it says."""
    if supplied.field not in ("title", "hook"):
        return True
    return getattr(now, supplied.field, None) == supplied.value


def _refusal(change: Change) -> Refusal:
    return Refusal(
        key=change.key,
        field="body" if fitting.is_item(change.at) else "name",
        reason="written like this, another record of the store would be read differently",
        remedy="change the name or the words that refer to a file, or let it travel with --carry",
    )


def _changes(store: Store, before: Reading, context: Context) -> tuple[list[Change], list[Refusal]]:
    changes: list[Change] = []
    refused: list[Refusal] = []
    gone = dict.fromkeys(before.records)
    fresh: list[tuple[Memory, tuple[Supplied, ...]]] = []
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
        assert isinstance(memory, Memory), "only memories are fitted"
        if current is None:
            fresh.append((memory, fitted.supplied))
        elif memory != current:
            changes.append(Change(record.key, record.key, memory, fitted.supplied))
    changes += [Change(key, key, None) for key in gone]
    changes += _new(fresh, before, context, gone)
    return changes, refused


def _new(
    fresh: Sequence[tuple[Memory, tuple[Supplied, ...]]],
    before: Reading,
    context: Context,
    gone: Iterable[str],
) -> Iterable[Change]:
    """Give each new record a path and a name that refer to nothing that stands there."""
    if not fresh:
        return
    away = set(gone)
    taken = naming.Taken(p for p in before.files if p not in away)
    words = _Mentions(before)
    for memory, given in fresh:
        supplied = list(given)
        stem = naming.stem_of(memory)
        own = naming.path_in(memory.key, context.originals)
        wanted = [p for p in (context.addresses.get(memory.key), own) if p]

        def is_free(path: str) -> bool:
            return taken.is_free(path) and not words.of_path(path)

        path = naming.choose(wanted, stem, is_free)
        taken.add(path)
        if path not in wanted and path != f"{stem}.md":
            supplied.append(
                Supplied(
                    key=memory.key,
                    field="key",
                    value=path,
                    reason=f"{stem}.md is taken, or is a word of the index",
                )
            )
        name = memory.name
        n = 2
        while name and words.of_name(name):
            name = f"{memory.name}-{n}"
            n += 1
        if name != memory.name and name:
            supplied.append(
                Supplied(
                    key=memory.key,
                    field="name",
                    value=name,
                    reason=f"a note of the index speaks of [[{memory.name}]]",
                )
            )
            memory = dataclasses.replace(memory, name=name)
        base = memory_file.read(path, context.originals[own]) if own else None
        yield Change(memory.key, path, memory, tuple(supplied), base, True)


class _Mentions:
    """The words of notes in an index that a new file or name would turn into references."""

    def __init__(self, before: Reading) -> None:
        self._paths: set[str] = set()
        self._names: set[str] = set()
        for path, file in before.indexes.items():
            note = partial(self._note, path.rpartition("/")[0])
            for number in file.notes:
                text = file.item_text(number)
                if ".md" in text or "[[" in text:
                    index_lines.parse(f"- {text}", note)

    def _note(self, folder: str, form: index_lines.Form, target: str) -> bool:
        if form == "wiki":
            self._names.add(indexes.normal(target.strip().removesuffix(".md")))
            self._names.add(indexes.normal(target))
        elif form != "link":
            path = index_lines.relative(target, ".md") or target
            self._paths |= {target, posixpath.normpath(posixpath.join(folder, path))}
        return False

    def of_name(self, name: str) -> bool:
        return indexes.normal(name) in self._names

    def of_path(self, path: str) -> bool:
        stem = path.removesuffix(".md")
        ways = (path, stem, stem.rpartition("/")[2])
        return path in self._paths or any(self.of_name(way) for way in ways)


def _settle(before: Reading, changes: Sequence[Change]) -> Settled:
    """Make the changes; where one would change another record, find it by halves and leave it."""
    if not changes:
        return Settled(before, {k: k for k in before.records}, (), ())
    now, notes = _applied(before, changes)
    moved = _moved(before, changes, now)
    if moved is not None:
        return Settled(now, moved, (), notes)
    if len(changes) == 1:
        return Settled(before, {k: k for k in before.records}, tuple(changes), ())
    half = len(changes) // 2
    first = _settle(before, changes[:half])
    rest = [
        c if c.is_new else dataclasses.replace(c, at=first.moved.get(c.at, c.at))
        for c in changes[half:]
    ]
    second = _settle(first.now, rest)
    through = {k: second.moved[v] for k, v in first.moved.items() if v in second.moved}
    through |= {c.at: second.moved[c.at] for c in rest if c.is_new and c.at in second.moved}
    return Settled(second.now, through, first.failed + second.failed, first.notes + second.notes)


def _moved(before: Reading, changes: Sequence[Change], now: Reading) -> dict[str, str] | None:
    """Find every record again; None if one is not as it was, or not as it was meant to be."""
    by_key = {c.at: c for c in changes}
    moved: dict[str, str] = {}
    for key, change in by_key.items():
        if change.is_new:
            moved[key] = key
    for key, memory in before.records.items():
        if key in before.items:
            continue
        asked = by_key.get(key)
        if asked is None or asked.memory is not None:
            moved[key] = key
        if asked is None and now.records.get(key) != memory:
            return None
    for change in changes:
        if not (change.is_new or change.at in before.items):
            there = now.records.get(change.at)
            if (change.memory is None) != (there is None):
                return None
        if change.memory is not None and change.at in moved:
            there = now.records.get(change.at)
            if there is None or not _as_meant(there, change.memory):
                return None
    return moved if _items_moved(before, by_key, now, moved) else None


def _as_meant(there: Memory, meant: Memory) -> bool:
    return there.body == meant.body and all(
        getattr(there, f) == getattr(meant, f) for f in HEADER_FIELDS
    )


def _items_moved(
    before: Reading, changes: Mapping[str, Change], now: Reading, moved: dict[str, str]
) -> bool:
    """Follow the notes of each index by their order; False if one came or went unasked."""
    after: dict[str, list[str]] = {}
    for key, (path, _) in now.items.items():
        after.setdefault(path, []).append(key)
    wanted: dict[str, list[tuple[str, str]]] = {}
    for key, (path, _) in before.items.items():
        change = changes.get(key)
        memory = before.records[key] if change is None else change.memory
        if memory is not None:
            wanted.setdefault(path, []).append((key, memory.body.text))
    for path in {*after, *wanted}:
        keys, meant = after.get(path, []), wanted.get(path, [])
        if [now.records[k].body.text for k in keys] != [text for _, text in meant]:
            return False
        moved.update(zip((key for key, _ in meant), keys, strict=True))
    return True


def _applied(before: Reading, changes: Sequence[Change]) -> tuple[Reading, tuple[str, ...]]:
    """Make the changes: files first, then what the index says of them."""
    files = dict(before.files)
    edits: dict[str, list[Edit]] = {}
    notes: list[str] = []
    gone = {c.at for c in changes if c.memory is None and c.at in before.memories}
    names: dict[str, tuple[str | None, str | None]] = {}
    for change in changes:
        if change.at in before.items and not change.is_new:
            path, number = before.items[change.at]
            item = before.indexes[path].lines.items[number]
            if change.memory is None:
                edit = Edit(item.start, item.stop, "")
            else:
                edit = Edit(item.text_start, item.text_end, change.memory.body.text)
            edits.setdefault(path, []).append(edit)
        elif change.memory is None:
            del files[change.at]
        else:
            files[change.at] = _file(before, change, change.memory)
            old = before.records.get(change.at)
            if old is not None and old.name != change.memory.name:
                names[change.at] = (old.name, change.memory.name)
    for path, file in before.indexes.items():
        if gone:
            cut, dangling = index_edits.removed(file, gone)
            edits.setdefault(path, []).extend(cut)
            notes += dangling
        if names:
            edits.setdefault(path, []).extend(index_edits.renamed(file, names))
        if edits.get(path):
            spliced = splice(file.text, index_edits.compatible(edits[path]))
            files[path] = spliced.encode("utf-8")
    now = reading.read(files, before)
    return _restated(now, changes, notes)


def _file(before: Reading, change: Change, memory: Memory) -> bytes:
    if not change.is_new:
        text = memory_file.splice_in(before.memories[change.at], memory)
    elif change.base is not None:
        text = memory_file.splice_in(change.base, memory)
    else:
        text = memory_file.new(memory)
    return text.encode("utf-8")


def _restated(
    now: Reading, changes: Sequence[Change], notes: list[str]
) -> tuple[Reading, tuple[str, ...]]:
    """Say titles and hooks in the index; records that it does not name get an entry."""
    edits: dict[str, list[Edit]] = {}
    said: dict[str, index_edits.Entries] = {}
    added: list[tuple[str, str | None, str | None]] = []
    for change in changes:
        meant, there = change.memory, now.records.get(change.at)
        if meant is None or there is None or fitting.is_item(change.at):
            continue
        entry = now.entries.get(change.at)
        if entry is None:
            if meant.title or meant.hook or change.is_new:
                added.append((change.at, meant.title, meant.hook))
            continue
        title, hook = meant.title, meant.hook
        if change.is_new:  # an entry stood there before its file: only what is stated counts
            guessed = {s.field for s in change.supplied}
            title = there.title if title is None or "title" in guessed else title
            hook = there.hook if hook is None or "hook" in guessed else hook
        if (title, hook) != (there.title, there.hook):
            for path in now.indexes if title is None else (entry.file,):
                if path not in said:
                    said[path] = index_edits.Entries(now.indexes[path])
                some = said[path].restated(change.at, title, hook)
                edits.setdefault(path, []).extend(some)
    if not edits and not added:
        return now, tuple(notes)
    files = dict(now.files)
    for path, some in edits.items():
        files[path] = splice(now.indexes[path].text, index_edits.compatible(some)).encode("utf-8")
    if added:
        root = now.indexes.get(indexes.NAME)
        if root is not None and edits.get(indexes.NAME):
            spliced = files[indexes.NAME].decode("utf-8")
            root = indexes.read(root.path, spliced, root.resolver)
        if root is None and not naming.Taken(files).is_free(indexes.NAME):
            notes.append(f"{indexes.NAME}: cannot be read, so no entry was added")
        else:
            files[indexes.NAME] = index_edits.appended(root, added).encode("utf-8")
    return reading.read(files, now), tuple(notes)
