"""The whole store, read: records in order, with the spans that write needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interop.adapter import repeat_key
from interop.adapters.claude_code import index as indexes
from interop.adapters.claude_code import memory_file
from interop.adapters.claude_code.index import Entry, IndexFile, Names, Resolver
from interop.adapters.claude_code.memory_file import FORMAT, MemoryFile
from interop.model import Body, Files, Memory, Problem, Record, Store


@dataclass(frozen=True, slots=True)
class Reading:
    """A store and where everything in it stands."""

    files: Files
    records: Mapping[str, Memory]
    memories: Mapping[str, MemoryFile]
    indexes: Mapping[str, IndexFile]
    entries: Mapping[str, Entry]
    """Memory file -> the reference that gives it title and hook."""
    items: Mapping[str, tuple[str, int]]
    """Key of a record kept in an index -> the index and the number of the item."""
    carried: tuple[str, ...]
    unread: tuple[str, ...]
    """Paths of files that are not UTF-8."""

    def store(self) -> Store:
        """Give what the store says."""
        carried = {p: _digest(self.files[p]) for p in self.carried}
        for path, file in self.indexes.items():
            prose = file.prose()
            if prose.strip("\ufeff \t\r\n"):
                carried[path + "#"] = _digest(prose.encode("utf-8"))
        records: tuple[Record, ...] = tuple(self.records.values())
        return Store(
            format=FORMAT,
            records=records,
            carried=dict(sorted(carried.items())),
            problems=tuple(self._problems()),
        )

    def _problems(self) -> Iterator[Problem]:
        for path in self.unread:
            yield Problem(path=path, problem="not UTF-8, so nothing was read from it", unread=True)
        for path, file in self.memories.items():
            if file.blanked:
                yield Problem(
                    path=path,
                    problem="header was blanked: name is empty, description and type are missing",
                )


def read(files: Files, known: Reading | None = None) -> Reading:
    """Read a store; what is the same bytes as in a reading before is not parsed again."""
    memories: dict[str, MemoryFile] = {}
    texts: dict[str, str] = {}
    carried: list[str] = []
    unread: list[str] = []
    order = sorted(files)
    for path in order:
        if not path.endswith(".md"):
            carried.append(path)
            continue
        old = known.memories.get(path) if known is not None else None
        if old is not None and known is not None and known.files[path] is files[path]:
            memories[path] = old
            continue
        text = memory_file.decode(files[path])
        if text is None:
            carried.append(path)
            unread.append(path)
        elif indexes.is_index(path):
            texts[path] = text
        else:
            file = memory_file.read(path, text)
            if not file.has_header and indexes.is_document(path):
                carried.append(path)
            else:
                memories[path] = file
    records: dict[str, Memory] = {}
    if known is not None and _is_indexed_alike(files, memories, texts, unread, known):
        found, entries = known.indexes, known.entries
        records = _as_before(known, memories)
    else:
        paths = set(memories)
        paths |= {p for p in unread if not indexes.is_index(p) and not indexes.is_document(p)}
        names = _names(memories, texts)
        found = {
            p: indexes.read(p, t, Resolver(p.rpartition("/")[0], paths, names))
            for p, t in texts.items()
        }
        first: dict[str, Entry] = {}
        for path in indexes.in_order(found):
            for named, ref in indexes.entries(found[path]):
                first.setdefault(named, Entry(path, ref))
        entries = first
    return _assembled(
        files, order, memories, found, entries, tuple(carried), tuple(unread), records
    )


def beside(one: Files, other: Files) -> tuple[Store, Store]:
    """Read two stores, what is the same bytes in both only once."""
    first = read(one)
    second = {p: one[p] if one.get(p) == data else data for p, data in other.items()}
    return first.store(), read(second, first).store()


def _is_indexed_alike(
    files: Files,
    memories: Mapping[str, MemoryFile],
    texts: Mapping[str, str],
    unread: list[str],
    known: Reading,
) -> bool:
    """Do the same indexes stand beside memories of the same paths and names?"""
    return (
        texts.keys() == known.indexes.keys()
        and all(known.files[path] is files[path] for path in texts)
        and tuple(unread) == known.unread
        and memories.keys() == known.memories.keys()
        and all(
            file is memories[path] or file.memory.name == memories[path].memory.name
            for path, file in known.memories.items()
        )
    )


def _as_before(known: Reading, memories: Mapping[str, MemoryFile]) -> dict[str, Memory]:
    """Give the records whose files are the same, where the indexes are."""
    return {p: known.records[p] for p, file in memories.items() if file is known.memories[p]}


def _names(memories: Mapping[str, MemoryFile], texts: Mapping[str, str]) -> Names:
    names = Names()
    if any("[[" in text for text in texts.values()):
        for path, file in memories.items():
            names.add(path, file.memory.name)
    return names


def _assembled(
    files: Files,
    order: list[str],
    memories: Mapping[str, MemoryFile],
    found: Mapping[str, IndexFile],
    entries: Mapping[str, Entry],
    carried: tuple[str, ...],
    unread: tuple[str, ...],
    known: Mapping[str, Memory],
) -> Reading:
    records: dict[str, Memory] = {}
    items: dict[str, tuple[str, int]] = {}
    for path in order:
        if path in known:
            records[path] = known[path]
        elif path in memories:
            memory = memories[path].memory
            entry = entries.get(path)
            if entry is not None:
                file = found[entry.index]
                title, hook = file.title(entry.ref), file.hook(entry.ref)
                memory = memory_file.with_entry(memory, title, hook)
            records[path] = memory
        elif path in found:
            for number in found[path].notes:
                text = found[path].item_text(number)
                key = repeat_key(f"{path}#{_digest(text.encode('utf-8'))[:12]}", records)
                links = memory_file.wiki_links(text)
                records[key] = Memory(key=key, body=Body(text=text), links=links)
                items[key] = (path, number)
    return Reading(files, records, memories, found, entries, items, carried, unread)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
