"""The long way: what any file says, and where it says it, by the tree that the runtime sees.

Spec: docs/formats/memhtml.md, "What is a record".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element, SourceSpan

from interop.adapters.memhtml import constraints
from interop.adapters.memhtml.content_hash import canonical_text, claim_of, content_hash
from interop.adapters.memhtml.document import Document, document, elements
from interop.adapters.memhtml.parts import Head, Parts, Statement
from interop.adapters.memhtml.source import Source
from interop.adapters.memhtml.vocabulary import PREFIX, ROLE, collapse, rel_of

_UNCLOSED = re.compile(r"</(?:body|html)[\s/>]", re.IGNORECASE)


def read(source: Source) -> Parts | str:
    """Give what a file says, or why the runtime skips it."""
    parsed = document(source.seen)
    reasons = constraints.violations(parsed)
    article = parsed.article
    if reasons or article is None:
        return "; ".join(reasons)
    return Parts(
        title=collapse(canonical_text(_title(parsed))),
        claim=claim_of(elements(article, "mark")[0]),
        metas=[(name, value) for name, value, _ in _stated(parsed)],
        links=list(map(_link, parsed.links)),
        body=_body(article, source),
        hash=content_hash(article),
    )


def head(source: Source) -> Head:
    """Give where everything stands that the head of a file states."""
    parsed = document(source.seen)
    return Head(
        tuple(_metas(parsed, source)),
        tuple(_links(parsed, source)),
        _inside(_title(parsed), source),
    )


def warnings(source: Source) -> list[str]:
    """Say what the runtime warns of and indexes all the same."""
    return constraints.warnings(document(source.seen))


def _title(parsed: Document) -> Element:
    return elements(parsed.root, "title")[0]


def _span(element: Element, source: Source) -> tuple[int, int]:
    location = element.source_location
    assert location is not None, "a meta, a link or a title is never implied"
    return source.at(location.start_tag.start_offset), source.at(location.start_tag.end_offset)


def _inside(element: Element, source: Source) -> tuple[int, int]:
    """Give the span between the tags of an element; what is never closed goes on to the end."""
    location = element.source_location
    assert location is not None, "a title or an article is never implied"
    start = source.at(location.start_tag.end_offset)
    if location.end_tag is not None:
        return start, max(start, source.at(location.end_tag.start_offset))
    match = _UNCLOSED.search(source.text, start)
    return start, match.start() if match else len(source.text)


def _body(article: Element, source: Source) -> tuple[int, int]:
    """Give the span of the article's inner HTML, less one line end directly inside each tag."""
    start, end = _inside(article, source)
    for mark in ("\r\n", "\n", "\r"):
        if source.text.startswith(mark, start, end):
            start += len(mark)
            break
    for mark in ("\r\n", "\n", "\r"):
        if source.text.endswith(mark, start, end):
            end -= len(mark)
            break
    return start, end


def _metas(parsed: Document, source: Source) -> Iterator[Statement]:
    for name, content, element in _stated(parsed):
        location = element.source_location
        span: SourceSpan | None = location.attrs.get("content") if location else None
        said = (source.at(span.start_offset), source.at(span.end_offset)) if span else None
        yield Statement(name, content, *_span(element, source), said)


def _stated(parsed: Document) -> Iterator[tuple[str, str, Element]]:
    """Give the metas that the format knows, by their names without the prefix."""
    for name, content, element in parsed.metas:
        if name == ROLE or name.startswith(PREFIX):
            yield name.removeprefix(PREFIX), content, element


def _links(parsed: Document, source: Source) -> Iterator[Statement]:
    for element in parsed.links:
        yield Statement(*_link(element), *_span(element, source))


def _link(element: Element) -> tuple[str, str]:
    """Give the relation and the target of a link."""
    rel = rel_of(element.attr("rel") or "")
    assert rel is not None, "checked before"
    return rel, (element.attr("href") or "").removeprefix("/")
