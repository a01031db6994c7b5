"""The whole store, read: records in order, with the spans that write needs."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from interop.adapter import repeat_key
from interop.adapters.theokit import facts, index, layout, legacy_json, memory_file
from interop.adapters.theokit.index import NAME, Entry
from interop.adapters.theokit.legacy_json import FactsJson
from interop.adapters.theokit.memory_file import FORMAT, VOCABULARY, MemoryFile
from interop.model import Body, Files, Memory, Problem, Store

NOT_UTF8 = "not UTF-8, so nothing was read from it"
MISPLACED = "in a sub-folder, not read"


@dataclass(frozen=True, slots=True)
class IndexFile:
    """``MEMORY.md`` as read."""

    text: str
    section: facts.Section | None
    entries: tuple[Entry, ...]


@dataclass(slots=True)
class Reading:
    """A store and where everything in it stands."""

    files: Files
    index: IndexFile | None = None
    records: dict[str, Memory] = field(default_factory=dict[str, Memory])
    memories: dict[str, MemoryFile] = field(default_factory=dict[str, MemoryFile])
    notes: dict[str, str] = field(default_factory=dict[str, str])
    """Path of a hand-written note -> its text."""
    json: dict[str, FactsJson] = field(default_factory=dict[str, FactsJson])
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """Path of a memory -> the entry that gives it title and hook."""
    items: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Key of a fact in a shared file -> the file and the number of the fact in it."""
    unread: dict[str, str] = field(default_factory=dict[str, str])
    """Path -> why nothing could be read from it."""

    def store(self) -> Store:
        """Give what the store says."""
        return Store(
            format=FORMAT,
            records=tuple(self.records.values()),
            carried=dict(sorted(self._carried())),
            problems=tuple(self._problems()),
        )

    def _carried(self) -> Iterator[tuple[str, str]]:
        for path, data in self.files.items():
            if layout.is_derived(path):
                continue
            if path in self.json:
                yield path + "#", _digest(legacy_json.prose(self.json[path]).encode("utf-8"))
            elif path == NAME and self.index is not None:
                prose = _prose(self.index, self.memories)
                if prose.strip("\ufeff \t\r\n"):
                    yield path + "#", _digest(prose.encode("utf-8"))
            elif path not in self.memories and path not in self.notes:
                yield path, _digest(data)

    def _problems(self) -> Iterator[Problem]:
        paths = {*self.unread, *self.json}
        if self.index is not None:
            paths.add(NAME)
        for path in sorted(paths):
            if path in self.unread:
                # without any header it may be a person's note, and was never meant as a memory
                why = self.unread[path]
                yield Problem(path=path, problem=why, unread=why != "no header")
            elif path in self.json and NAME in self.files:
                yield Problem(
                    path=path, problem=f"the runtime does not see these facts beside a {NAME}"
                )
            elif path == NAME and self.index is not None:
                for lost in facts.lost(self.index.text):
                    yield Problem(path=NAME, problem=f"line {lost.line}: {lost.problem}")


def read(files: Files, known: Reading | None = None) -> Reading:
    """Read a store; what is the same bytes as in a reading before is not parsed again."""
    out = Reading(files)
    for path in sorted(files):
        if known is not None and known.files.get(path) is files[path]:
            if path in known.memories:
                out.memories[path] = known.memories[path]
                continue
            if path in known.unread:
                out.unread[path] = known.unread[path]
                continue
        _file(out, path, files[path])
    _assemble(out)
    return out


def _file(out: Reading, path: str, data: bytes) -> None:
    memory, note, old = layout.is_memory(path), layout.is_note(path), layout.is_facts_json(path)
    misplaced = layout.may_be_misplaced(path)
    if not (memory or note or old or misplaced or path == NAME):
        return
    text = memory_file.decode(data)
    if text is None:
        if not misplaced:
            out.unread[path] = NOT_UTF8
    elif path == NAME:
        section = facts.read(text)
        out.index = IndexFile(text, section, index.read(text, section))
    elif memory:
        found = memory_file.read(path, text)
        if isinstance(found, MemoryFile):
            out.memories[path] = found
        else:
            out.unread[path] = found
    elif note:
        out.notes[path] = text
    elif old:
        read_json = legacy_json.read(text)
        if isinstance(read_json, FactsJson):
            out.json[path] = read_json
        elif read_json is not None:
            out.unread[path] = read_json
    elif isinstance(memory_file.read(path, text), MemoryFile):
        out.unread[path] = MISPLACED


def _assemble(out: Reading) -> None:
    if out.index is not None:
        for named in out.index.entries:
            if named.path in out.memories:
                out.entries.setdefault(named.path, named)
    for path in sorted(out.files):
        if path in out.memories:
            memory = out.memories[path].memory
            entry = out.entries.get(path)
            if entry is not None:
                memory = dataclasses.replace(memory, title=entry.title, hook=entry.hook)
            out.records[path] = memory
        elif path in out.notes:
            text = out.notes[path]
            words = text[slice(*memory_file.note_span(text))]
            out.records[path] = _with_text(path, words)
        elif path in out.json:
            for n, fact in enumerate(out.json[path].facts):
                _item(out, path, n, fact.text)
        elif path == NAME and out.index is not None and out.index.section is not None:
            for n, bullet in enumerate(out.index.section.bullets):
                _item(out, path, n, *facts.stated(out.index.text, bullet))


def _item(
    out: Reading, path: str, number: int, text: str, kind: str | None = None,
    modified: str | None = None,
) -> None:  # fmt: skip
    key = repeat_key(f"{path}#{_digest(text.encode('utf-8'))[:12]}", out.records)
    memory = _with_text(key, text)
    kinds = {VOCABULARY: kind} if kind else {}
    out.records[key] = dataclasses.replace(memory, kinds=kinds, modified=modified)
    out.items[key] = (path, number)


def _with_text(key: str, text: str) -> Memory:
    return Memory(key=key, body=Body(text=text), links=memory_file.links(text))


def _prose(file: IndexFile, memories: Mapping[str, MemoryFile]) -> str:
    """Give what is neither a fact nor an entry of a memory: headings, prose, pointers."""
    gone = [(e.start, e.stop) for e in file.entries if e.path in memories]
    gone += [b.line for b in file.section.bullets] if file.section is not None else []
    out: list[str] = []
    at = 0
    for start, end in sorted(gone):
        out.append(file.text[at:start])
        at = end
    return "".join([*out, file.text[at:]])


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
