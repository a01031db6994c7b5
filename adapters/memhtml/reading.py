"""A whole store as it is read: the memories of the four folders, and what else is there.

Spec: docs/formats/memhtml.md, "What is a record".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from interop.adapters.memhtml import memory_file, placement
from interop.adapters.memhtml.memory_file import MemoryFile, Skipped
from interop.adapters.memhtml.vocabulary import FORMAT
from interop.model import Files, Problem, Record, Store


def memories(files: Files) -> Iterator[MemoryFile | Skipped]:
    """Read every file in the place of a memory, in the order of the paths."""
    for path in sorted(files):
        if placement.is_memory(path):
            yield memory_file.read(path, files[path])


def read(files: Files) -> Store:
    """Read every memory that the runtime indexes; whatever else is there is carried."""
    records: list[Record] = []
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for found in memories(files):
        if isinstance(found, Skipped):
            reason = f"skipped by the runtime: {found.reason}"
            problems.append(Problem(path=found.path, problem=reason, unread=True))
            continue
        records.append(found.record)
        problems += (Problem(path=found.path, problem=p) for p in _problems(found, seen))
    known = {record.key for record in records}
    carried = {
        path: hashlib.sha256(files[path]).hexdigest()
        for path in sorted(files)
        if path not in known and not placement.is_generated(path)
    }
    return Store(format=FORMAT, records=tuple(records), carried=carried, problems=tuple(problems))


def _problems(file: MemoryFile, seen: dict[str, str]) -> Iterator[str]:
    if file.source.has_bom:
        yield "BOM: indexed, but the CLI cannot read the file"
    if not file.source.is_utf8:
        yield "invalid UTF-8: read with U+FFFD"
    if file.competes:
        other = seen.setdefault(file.hash, file.path)
        if other != file.path:
            yield f"same text as {other}, both active: the index cannot be built"
