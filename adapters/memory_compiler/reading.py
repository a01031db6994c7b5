"""A whole topic: the bullets and the three tables; whatever else is there is carried.

Spec: docs/formats/memory-compiler.md, "What is a record".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interop.adapters.memory_compiler import context_bullets, ledger, tables
from interop.adapters.memory_compiler.context_bullets import Bullets
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import CONTEXT, FILES, FORMAT, TABLES, is_derived
from interop.model import Files, Problem, Record, Store

Part = Bullets | TableFile


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, read."""

    files: Files
    parts: Mapping[str, Part]
    """Path -> what was read from it; a file that is no UTF-8 is missing."""
    unread: tuple[Problem, ...]
    open_sessions: tuple[str, ...]

    @property
    def version(self) -> int:
        """Say which version of the format the topic follows."""
        files = (part for part in self.parts.values() if isinstance(part, TableFile))
        return max((file.version for file in files), default=1)

    def record(self, key: str) -> Record | None:
        """Give the record of a key."""
        part = self.parts.get(key.split("#", 1)[0])
        return part.records.get(key) if part is not None else None

    def records(self) -> Iterator[Record]:
        """Every record, by path, then by place."""
        for path in sorted(self.parts):
            yield from self.parts[path].records.values()

    def store(self) -> Store:
        """Give what the topic says."""
        carried: dict[str, str] = {}
        for path, data in sorted(self.files.items()):
            part = self.parts.get(path)
            if part is not None and part.records:
                text = part.prose().encode("utf-8", "surrogatepass")
                carried[f"{path}#"] = hashlib.sha256(text).hexdigest()
            elif not is_derived(path):
                carried[path] = hashlib.sha256(data).hexdigest()
        problems = list(self.unread)
        for path in sorted(self.parts):
            part = self.parts[path]
            if isinstance(part, TableFile):
                problems += part.problems
        return Store(
            format=FORMAT,
            records=tuple(self.records()),
            carried=carried,
            problems=tuple(problems),
        )


def read(files: Files) -> Topic:
    """Read a topic."""
    parts: dict[str, Part] = {}
    unread: list[Problem] = []
    for path in sorted(FILES):
        if path not in files:
            continue
        try:
            text = files[path].decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8 ({error.reason} at byte {error.start}); the checker crashes"
            unread.append(Problem(path=path, problem=problem, unread=True))
            continue
        parts[path] = part_of(path, text)
    return Topic(files, parts, tuple(unread), ledger.open_sessions(files))


def part_of(path: str, text: str) -> Part:
    """Read one of the four files."""
    return context_bullets.read(text) if path == CONTEXT else tables.read(TABLES[path], text)
