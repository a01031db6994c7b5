"""The whole store, read: records in order, with the spans that write needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from interop.adapter import repeat_key
from interop.adapters.claude_code import index as indexes
from interop.adapters.claude_code import memory_file
from interop.adapters.claude_code.index import Entry, IndexFile, Names, Resolver
from interop.adapters.claude_code.memory_file import FORMAT, MemoryFile, with_entry
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


class _Sorted(NamedTuple):
    """The files of a store by what they are."""

    memories: dict[str, None]
    """Paths of memory files, in order; some may turn out to be no UTF-8."""
    indexes: dict[str, str]
    """Index -> its text."""
    carried: list[str]
    unread: list[str]


def read(files: Files, known: Reading | None = None) -> Reading:
    """Read a store; what is the same bytes as in a reading before is not parsed again.

    Indexes are read first: what they say of a file is part of its record, which is made once.
    """
    paths, texts, carried, unread = _sorted(files)
    before = _known(files, paths, known)
    named: dict[str, str | None] | None = None
    if any("[[" in text for text in texts.values()):  # which may refer to any memory by its name
        for path in paths:
            if path not in before and (file := memory_file.read(path, files[path])) is not None:
                before[path] = file
        named = {path: before[path].memory.name for path in paths if path in before}
    if known is not None and _is_indexed_alike(files, paths, texts, named, known):
        found, entries = known.indexes, known.entries
    else:
        names = Names()
        for path, name in (named or {}).items():
            names.add(path, name)
        found = {
            p: indexes.read(p, t, Resolver(p.rpartition("/")[0], paths.keys(), names))
            for p, t in texts.items()
        }
        entries = indexes.first_entries(found)
    memories: dict[str, MemoryFile] = {}
    for path in paths:
        entry = entries.get(path)
        title, hook = (entry.title, entry.hook) if entry is not None else (None, None)
        if path in before:
            memories[path] = with_entry(before[path], title, hook)
        elif (file := memory_file.read(path, files[path], title, hook)) is not None:
            memories[path] = file
        else:
            unread.append(path)
    unread.sort()
    records, items = _records(memories, found)
    apart = (*carried, *unread)
    return Reading(files, records, memories, found, entries, items, apart, tuple(unread))


def _sorted(files: Files) -> _Sorted:
    memories: dict[str, None] = {}
    texts: dict[str, str] = {}
    carried: list[str] = []
    unread: list[str] = []
    for path in sorted(files):
        name = path.rpartition("/")[2]
        if not name.endswith(".md"):
            carried.append(path)
        elif name != indexes.NAME and name not in indexes.DOCUMENTS:
            memories[path] = None
        elif (text := memory_file.decode(files[path])) is None:
            unread.append(path)
        elif name == indexes.NAME:
            texts[path] = text
        elif memory_file.has_header(text):
            memories[path] = None
        else:
            carried.append(path)
    return _Sorted(memories, texts, carried, unread)


def _known(files: Files, paths: Iterable[str], known: Reading | None) -> dict[str, MemoryFile]:
    """Give the memory files that are the same bytes as in a reading before."""
    if known is None:
        return {}
    there = known.memories
    return {p: there[p] for p in paths if p in there and known.files[p] is files[p]}


def beside(one: Files, other: Files) -> tuple[Store, Store]:
    """Read two stores, what is the same bytes in both only once."""
    first = read(one)
    second = {p: one[p] if one.get(p) == data else data for p, data in other.items()}
    return first.store(), read(second, first).store()


def _is_indexed_alike(
    files: Files,
    paths: Mapping[str, None],
    texts: Mapping[str, str],
    named: Mapping[str, str | None] | None,
    known: Reading,
) -> bool:
    """Do the same indexes stand beside memories of the same paths and, if they count, names?"""
    resolver = next((file.resolver for file in known.indexes.values()), None)
    return (
        texts.keys() == known.indexes.keys()
        and all(known.files[path] is files[path] for path in texts)
        and (resolver is None or resolver.paths == paths.keys())
        and (named is None or named == {p: f.memory.name for p, f in known.memories.items()})
    )


def _records(
    memories: Mapping[str, MemoryFile], found: Mapping[str, IndexFile]
) -> tuple[dict[str, Memory], dict[str, tuple[str, int]]]:
    """Give the records in the order of their files, and where those of an index stand in it."""
    records: dict[str, Memory] = {}
    items: dict[str, tuple[str, int]] = {}
    for path in sorted([*memories, *found]):
        if path in memories:
            records[path] = memories[path].memory
            continue
        for number in found[path].notes:
            text = found[path].item_text(number)
            key = repeat_key(f"{path}#{_digest(text.encode('utf-8'))[:12]}", records)
            links = memory_file.wiki_links(text)
            records[key] = Memory(key=key, body=Body(text=text), links=links)
            items[key] = (path, number)
    return records, items


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
