"""One memory file: what it says, and the spans that say it.

Spec: docs/formats/memhtml.md, "What is a record".
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from turbohtml import Element, SourceSpan

from interop.adapters.memhtml import placement
from interop.adapters.memhtml.constraints import violations, warnings
from interop.adapters.memhtml.content_hash import canonical_text, claim_of, content_hash
from interop.adapters.memhtml.document import Document, document, elements
from interop.adapters.memhtml.source import Source, source
from interop.adapters.memhtml.vocabulary import FORMAT, OWN, PREFIX, ROLE, TASK, collapse, rel_of
from interop.model import Body, Json, Link, Memory, Task

HTML = "text/html"
_UNCLOSED = re.compile(r"</(?:body|html)[\s/>]", re.IGNORECASE)
_SURROGATE = re.compile("[\udc80-\udcff]+")
_KEPT = 4096
"""Parsed files that are kept: laws and conversions read the same bytes again and again."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A meta or a link of the head, and where it stands in the file's own text."""

    name: str
    """The meta's name without its prefix; of a link its relation."""
    value: str
    start: int
    end: int
    said: tuple[int, int] | None = None
    """Where a meta's ``content`` attribute stands; None where it has none."""


class _Head(NamedTuple):
    """Where everything stands that a head states."""

    metas: tuple[Statement, ...]
    links: tuple[Statement, ...]
    title: tuple[int, int]


@dataclass(frozen=True, slots=True)
class MemoryFile:
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
        return warnings(document(self.source.seen))

    @property
    def competes(self) -> bool:
        """Is this one of the memories of which no two may have the same text?"""
        return competes(self.record)


@dataclass(frozen=True, slots=True)
class Skipped:
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
    parsed = document(text.seen)
    reasons = violations(parsed)
    article = parsed.article
    if reasons or article is None:
        return Skipped(path, "; ".join(reasons))
    body = _body(article, text)
    computed = content_hash(article)
    record = _record(path, text, parsed, article, body, computed)
    return MemoryFile(path, text, record, body, computed)


@lru_cache(maxsize=64)
def _head(text: Source) -> _Head:
    parsed = document(text.seen)
    return _Head(
        tuple(_metas(parsed, text)),
        tuple(_links(parsed, text)),
        _inside(_title(parsed), text),
    )


def _title(parsed: Document) -> Element:
    return elements(parsed.root, "title")[0]


def _span(element: Element, text: Source) -> tuple[int, int]:
    location = element.source_location
    assert location is not None, "a meta, a link or a title is never implied"
    return text.at(location.start_tag.start_offset), text.at(location.start_tag.end_offset)


def _inside(element: Element, text: Source) -> tuple[int, int]:
    """Give the span between the tags of an element; what is never closed goes on to the end."""
    location = element.source_location
    assert location is not None, "a title or an article is never implied"
    start = text.at(location.start_tag.end_offset)
    if location.end_tag is not None:
        return start, max(start, text.at(location.end_tag.start_offset))
    match = _UNCLOSED.search(text.text, start)
    return start, match.start() if match else len(text.text)


def _body(article: Element, text: Source) -> tuple[int, int]:
    """Give the span of the article's inner HTML, less one line end directly inside each tag."""
    start, end = _inside(article, text)
    for mark in ("\r\n", "\n", "\r"):
        if text.text.startswith(mark, start, end):
            start += len(mark)
            break
    for mark in ("\r\n", "\n", "\r"):
        if text.text.endswith(mark, start, end):
            end -= len(mark)
            break
    return start, end


def _metas(parsed: Document, text: Source) -> Iterator[Statement]:
    for name, content, element in _stated(parsed):
        location = element.source_location
        span: SourceSpan | None = location.attrs.get("content") if location else None
        said = (text.at(span.start_offset), text.at(span.end_offset)) if span else None
        yield Statement(name, content, *_span(element, text), said)


def _stated(parsed: Document) -> Iterator[tuple[str, str, Element]]:
    """Give the metas that the format knows, by their names without the prefix."""
    for name, content, element in parsed.metas:
        if name == ROLE or name.startswith(PREFIX):
            yield name.removeprefix(PREFIX), content, element


def _links(parsed: Document, text: Source) -> Iterator[Statement]:
    for element in parsed.links:
        yield Statement(*_link(element), *_span(element, text))


def _link(element: Element) -> tuple[str, str]:
    """Give the relation and the target of a link."""
    rel = rel_of(element.attr("rel") or "")
    assert rel is not None, "checked before"
    return rel, (element.attr("href") or "").removeprefix("/")


def _record(
    path: str,
    text: Source,
    parsed: Document,
    article: Element,
    body: tuple[int, int],
    computed: str,
) -> Memory:
    metas = [(name, value) for name, value, _ in _stated(parsed)]
    said = dict(reversed(metas))  # of two the first counts

    def every(name: str) -> tuple[str, ...]:
        return tuple(value for n, value in metas if n == name and value) if name in said else ()

    inner = text.text[body[0] : body[1]]
    if not text.is_utf8:
        inner = _SURROGATE.sub(_replaced, inner)
    is_task = said["type"] == TASK
    archived = placement.is_archived(path)
    extra: dict[str, Json] = {}
    for name in OWN:
        if name == "alias":
            if aliases := every("alias"):
                extra[name] = list(aliases)
        elif name in said and not (
            (name == "status" and said[name] == status_of(archived=archived))
            or (name == "content-hash" and said[name] == computed)
            or (name == "due" and is_task)
        ):
            extra[name] = said[name]
    marks = elements(article, "mark")
    memory = Memory(
        key=path,
        title=collapse(canonical_text(_title(parsed))),
        description=claim_of(marks[0]),
        body=Body(text=inner, media=HTML),
        kinds={FORMAT: said["type"]},
        tags=every("tag"),
        entities=every("entity"),
        links=tuple(Link(rel=r, target=t) for r, t in map(_link, parsed.links)),
        created=said["created"],
        modified=said["updated"],
        session=said.get("session") or None,
        state="archived" if archived else "live",
        archived=said.get("archived"),
        extra={FORMAT: extra} if extra else {},
    )
    if not is_task:
        return memory
    return as_task(memory, said["task-status"], said.get("due"))


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
