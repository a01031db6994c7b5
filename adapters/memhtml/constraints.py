"""What makes the runtime skip a file, in its own words, and what it only warns of.

Spec: docs/formats/memhtml.md, "What is skipped". The order of reasons is the runtime's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from interop.adapters.memhtml.content_hash import canonical_text
from interop.adapters.memhtml.dates import is_moment
from interop.adapters.memhtml.document import Document, direct_text, elements, is_below
from interop.adapters.memhtml.vocabulary import (
    FIGURE_ELEMENTS,
    JS_SPACE,
    KNOWN_ELEMENTS,
    LANGUAGE,
    META_ORDER,
    MOMENTS,
    PREFIX,
    REPEATED,
    REQUIRED,
    STATUSES,
    TASK,
    TASK_STATUSES,
    TYPES,
    is_href,
    rel_of,
)

_SHOWN = 40


def violations(document: Document) -> list[str]:
    """Say why the runtime skips a file; nothing when it does not."""
    article = document.article
    return [
        *_head(document),
        *_articles(document),
        *(_mark(article) if article is not None else ()),
        *_times(document),
        *_presentation(document),
        *_links(document),
        *_values(document),
    ]


def _head(document: Document) -> Iterator[str]:
    titles = elements(document.root, "title")
    if len(titles) != 1:
        yield f"{len(titles)} <title> elements: a memory file needs exactly one"
    elif not direct_text(titles[0]).strip(JS_SPACE):
        yield "empty <title>"
    counts: dict[str, int] = {}
    for name, _, _ in document.metas:
        counts[name] = counts.get(name, 0) + 1
    for name in REQUIRED:
        if PREFIX + name not in counts:
            yield f'missing required <meta name="{PREFIX}{name}">'
    for name, count in counts.items():
        if not name.startswith(PREFIX):
            continue
        own = name.removeprefix(PREFIX)
        if own not in META_ORDER:
            yield f'<meta name="{name}"> is outside the closed metadata vocabulary'
        elif count > 1 and own not in REPEATED:
            yield f'<meta name="{name}"> appears {count} times but is not repeatable'


def _articles(document: Document) -> Iterator[str]:
    count = len(document.articles)
    if not count:
        yield "no <article>: a memory file needs exactly one"
    elif count > 1:
        yield f"{count} <article> elements: a memory file needs exactly one"


def _mark(article: Element) -> Iterator[str]:
    marks = elements(article, "mark")
    if not marks:
        yield "no <mark>: the claim span is required"
        return
    if len(marks) > 1:
        yield f"{len(marks)} <mark> elements: exactly one span is the claim"
        return
    mark = marks[0]
    if not canonical_text(mark, without_code=True).strip(JS_SPACE):
        yield "empty <mark>: the claim span must say something"
    folded = False
    if is_below(mark, "aside"):
        folded = True
        yield "<mark> inside <aside>: the claim is never a caveat"
    if is_below(mark, "details"):
        folded = True
        yield "<mark> inside <details>: the claim is never behind a fold"
    if folded:
        return
    first = next(iter(elements(article, "p", "li")), None)
    if first is None:
        yield "<mark> outside any <p> or <li>: the claim must lead a paragraph or list item"
    elif not elements(first, "mark"):
        yield f"<mark> not in the first <{first.tag}>: the claim must lead the article"


def _times(document: Document) -> Iterator[str]:
    for element in elements(document.root, "time"):
        value = element.attr("datetime") if "datetime" in element.attrs else None
        if value is None:
            text = direct_text(element).strip(JS_SPACE)[:_SHOWN]
            yield f'<time> without datetime: "{text}"'
        elif not is_moment(value):
            yield f'<time datetime="{value}"> is not an ISO date or datetime'


def _presentation(document: Document) -> Iterator[str]:
    for element in document.elements:
        if element.tag in ("script", "style"):
            yield f"<{element.tag}> is forbidden: a memory file does not execute or style"
        for name in element.attrs:
            low = name.lower()
            if low in ("class", "style"):
                yield f"{low} attribute on <{element.tag}>: presentation is not memory"
            elif low.startswith("on") and len(low) > 2:
                yield f"{low} handler on <{element.tag}>: a memory file does not execute"


def _links(document: Document) -> Iterator[str]:
    for element in document.links:
        rel, href = element.attr("rel") or "", element.attr("href") or ""
        if rel_of(rel) is None:
            yield f'<link rel="{rel}"> is outside the closed edge vocabulary'
        if not href:
            yield f'<link rel="{rel}"> without href'
        elif not is_href(href):
            yield f'<link rel="{rel}" href="{href}"> is not repo-root-relative'


def _values(document: Document) -> Iterator[str]:
    said: dict[str, str] = {}
    for name, content, _ in document.metas:
        said.setdefault(name, content)
    kind = said.get(PREFIX + "type")
    if kind is not None and kind not in TYPES:
        yield f'<meta name="memhtml-type" content="{kind}"> is outside the type vocabulary'
    status = said.get(PREFIX + "status")
    if status is not None and status not in STATUSES:
        yield f'<meta name="memhtml-status" content="{status}"> is neither active nor archived'
    yield from _task(kind if kind in TYPES else None, said)
    for name in MOMENTS:
        value = said.get(PREFIX + name)
        if value is not None and not is_moment(value):
            yield f'<meta name="{PREFIX}{name}" content="{value}"> is not an ISO date or datetime'


def _task(kind: str | None, said: dict[str, str]) -> Iterator[str]:
    status, due = said.get(PREFIX + "task-status"), said.get(PREFIX + "due")
    if status is not None and kind != TASK:
        what = kind or "typeless"
        yield f'<meta name="memhtml-task-status"> on a {what} memory: only a task carries one'
    if status is not None and status not in TASK_STATUSES:
        what = f'<meta name="memhtml-task-status" content="{status}">'
        yield f"{what} is outside the vocabulary: {', '.join(TASK_STATUSES)}"
    if kind == TASK and status is None:
        yield 'a task requires <meta name="memhtml-task-status">'
    if due is not None and not is_moment(due):
        yield f'<meta name="memhtml-due" content="{due}"> is not an ISO date or datetime'


def warnings(document: Document) -> list[str]:
    """Say what the runtime warns of and indexes all the same."""
    found: dict[str, str] = {}
    for element in document.elements:
        tag, lang = element.tag, element.attr("data-lang")
        if lang is not None and not LANGUAGE.fullmatch(lang):
            found.setdefault(f"lang:{lang}", f'data-lang="{lang}" is not a language token')
        if tag in FIGURE_ELEMENTS:
            if not is_below(element, "figure"):
                reason = f"<{tag}> outside a <figure>: use a semantic element instead"
                found.setdefault(f"scoped:{tag}", reason)
        elif tag not in KNOWN_ELEMENTS:
            found.setdefault(f"unknown:{tag}", f"<{tag}> is outside the closed vocabulary")
    return list(found.values())


def odd_numbers(metas: list[tuple[str, str]]) -> Iterator[str]:
    """Say which numbers the runtime drops without a word, since they are none or out of range."""
    bounds = {"confidence": (0.0, 1.0), "importance": (1.0, 10.0), "reprieves": (0.0, 2.0**53)}
    for name, value in metas:
        if name not in bounds:
            continue
        low, high = bounds[name]
        number = _number(value)
        if (
            number is None
            or not low <= number <= high
            or (name != "confidence" and number != int(number))
        ):
            yield f"{PREFIX}{name} {value!r} is no such number: the runtime takes its default"


def _number(value: str) -> float | None:
    text = value.strip(JS_SPACE)
    plain = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII)
    return float(text) if plain else None
