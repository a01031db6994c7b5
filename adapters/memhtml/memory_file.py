"""One memory file: what it says, and the spans that say it.

Spec: docs/formats/memhtml.md, "What is a record".
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file that the runtime indexes."""

    path: str
    source: Source
    record: Memory
    metas: tuple[Statement, ...]
    links: tuple[Statement, ...]
    title: tuple[int, int]
    """Where the text of the title stands."""
    body: tuple[int, int]
    """Where the inner HTML of the article stands."""
    hash: str
    """The article's hash, whatever the head says."""
    warnings: tuple[str, ...]

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
    title = elements_named(parsed, "title")[0]
    metas = tuple(_metas(parsed, text))
    links = tuple(_links(parsed, text))
    body = _body(article, text)
    computed = content_hash(article)
    return MemoryFile(
        path=path,
        source=text,
        record=_record(path, text, _title(title), article, metas, links, body, computed),
        metas=metas,
        links=links,
        title=_inside(title, text),
        body=body,
        hash=computed,
        warnings=tuple(warnings(parsed)),
    )


def elements_named(parsed: Document, tag: str) -> list[Element]:
    """Give the elements of one name in a document."""
    return [e for e in parsed.elements if e.tag == tag]


def _title(element: Element) -> str:
    return collapse(canonical_text(element))


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


def _metas(parsed: Document, text: Source) -> Sequence[Statement]:
    found: list[Statement] = []
    for name, content, element in parsed.metas:
        if name != ROLE and not name.startswith(PREFIX):
            continue
        location = element.source_location
        span: SourceSpan | None = location.attrs.get("content") if location else None
        said = (text.at(span.start_offset), text.at(span.end_offset)) if span else None
        found.append(Statement(name.removeprefix(PREFIX), content, *_span(element, text), said))
    return found


def _links(parsed: Document, text: Source) -> Sequence[Statement]:
    found: list[Statement] = []
    for element in parsed.links:
        rel = rel_of(element.attr("rel") or "")
        assert rel is not None, "checked before"
        target = (element.attr("href") or "").removeprefix("/")
        found.append(Statement(rel, target, *_span(element, text)))
    return found


def _record(
    path: str,
    text: Source,
    title: str,
    article: Element,
    metas: Sequence[Statement],
    links: Sequence[Statement],
    body: tuple[int, int],
    computed: str,
) -> Memory:
    said: dict[str, str] = {}
    for meta in metas:
        said.setdefault(meta.name, meta.value)

    def every(name: str) -> tuple[str, ...]:
        return tuple(m.value for m in metas if m.name == name and m.value)

    inner = _SURROGATE.sub(_replaced, text.text[body[0] : body[1]])
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
        title=title,
        description=claim_of(marks[0]),
        body=Body(text=inner, media=HTML),
        kinds={FORMAT: said["type"]},
        tags=every("tag"),
        entities=every("entity"),
        links=tuple(Link(rel=link.name, target=link.value) for link in links),
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
