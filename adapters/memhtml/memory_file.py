"""One memory file: what it says, and the spans that say it.

Spec: docs/formats/memhtml.md, "What is a record".
"""

from __future__ import annotations

import dataclasses
import re
from functools import lru_cache
from typing import NamedTuple

from interop.adapters.memhtml import placement, usual
from interop.adapters.memhtml.parts import Head, Parts, Statement
from interop.adapters.memhtml.source import Source, source
from interop.adapters.memhtml.vocabulary import FORMAT, OWN, TASK
from interop.model import Body, Json, Link, Memory, Task

HTML = "text/html"
_SURROGATE = re.compile("[\udc80-\udcff]+")
_KEPT = 4096
"""Parsed files that are kept: laws and conversions read the same bytes again and again."""


class MemoryFile(NamedTuple):
    """A file that the runtime indexes; what only edits and lint ask for is parsed when asked."""

    path: str
    source: Source
    record: Memory
    body: tuple[int, int]
    """Where the inner HTML of the article stands."""
    hash: str
    """The article's hash, whatever the head says."""

    @property
    def metas(self) -> tuple[Statement, ...]:
        """Give the metas that the format knows, in their order."""
        return _head(self.source).metas

    @property
    def links(self) -> tuple[Statement, ...]:
        """Give the links, in their order."""
        return _head(self.source).links

    @property
    def title(self) -> tuple[int, int]:
        """Give where the text of the title stands."""
        return _head(self.source).title

    @property
    def warnings(self) -> list[str]:
        """Say what the runtime warns of and indexes all the same."""
        from interop.adapters.memhtml import parsed

        return parsed.warnings(self.source)

    @property
    def competes(self) -> bool:
        """Is this one of the memories of which no two may have the same text?"""
        return competes(self.record)


class Skipped(NamedTuple):
    """A file in the place of a memory that the runtime does not index, and its reason."""

    path: str
    reason: str


def competes(record: Memory) -> bool:
    """Is this an active memory that is no task: no two of them may have the same text."""
    return record.state == "live" and record.kinds.get(FORMAT) != TASK


@lru_cache(maxsize=_KEPT)
def read(path: str, data: bytes) -> MemoryFile | Skipped:
    """Read the file at the path of a memory."""
    text = source(data)
    parts = usual.read(text)
    return read_any(path, text) if parts is None else _file(path, text, parts)


def read_any(path: str, text: Source) -> MemoryFile | Skipped:
    """Read a file the long way, whatever its form."""
    from interop.adapters.memhtml import parsed  # a parser that the usual form does without

    parts = parsed.read(text)
    return Skipped(path, parts) if isinstance(parts, str) else _file(path, text, parts)


def _file(path: str, text: Source, parts: Parts) -> MemoryFile:
    return MemoryFile(path, text, _record(path, text, parts), parts.body, parts.hash)


@lru_cache(maxsize=64)
def _head(text: Source) -> Head:
    from interop.adapters.memhtml import parsed

    return parsed.head(text)


def _record(path: str, source: Source, parts: Parts) -> Memory:
    said = dict(reversed(parts.metas))  # of two the first counts

    def every(name: str) -> tuple[str, ...]:
        return tuple(v for n, v in parts.metas if n == name and v) if name in said else ()

    inner = source.text[slice(*parts.body)]
    if not source.is_utf8:
        inner = _SURROGATE.sub(_replaced, inner)
    kind = said["type"]
    archived = placement.is_archived(path)
    extra: dict[str, Json] = {}
    for name in OWN:
        if name not in said:
            continue
        if name == "alias":
            if aliases := every("alias"):
                extra[name] = list(aliases)
        elif not (
            (name == "status" and said[name] == status_of(archived=archived))
            or (name == "content-hash" and said[name] == parts.hash)
            or (name == "due" and kind == TASK)
        ):
            extra[name] = said[name]
    memory = Memory(
        key=path,
        title=parts.title,
        description=parts.claim,
        body=Body(text=inner, media=HTML),
        kinds={FORMAT: kind},
        tags=every("tag"),
        entities=every("entity"),
        links=tuple([Link(rel=rel, target=target) for rel, target in parts.links]),
        created=said["created"],
        modified=said["updated"],
        session=said.get("session") or None,
        state="archived" if archived else "live",
        archived=said.get("archived"),
        extra={FORMAT: extra} if extra else {},
    )
    return as_task(memory, said["task-status"], said.get("due")) if kind == TASK else memory


def as_task(memory: Memory, status: str | None, due: str | None) -> Task:
    """Give the task that a memory of type ``task`` is."""
    values = {f.name: getattr(memory, f.name) for f in dataclasses.fields(Memory)}
    return Task(**values, status=status, due=due)


def status_of(*, archived: bool) -> str:
    """Give the status that agrees with a place: the path decides, this only repeats it."""
    return "archived" if archived else "active"


def _replaced(match: re.Match[str]) -> str:
    """Show ill-formed bytes as the runtime sees them."""
    return match.group().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def has_lost_bytes(text: str) -> bool:
    """Are there bytes in it that are not UTF-8?"""
    return _SURROGATE.search(text) is not None
