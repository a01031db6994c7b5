"""The parsed tree of a file, walked as the runtime walks it.

Tree construction is turbohtml's (WHATWG's rules, as parse5's). The walks are loops, not recursions,
since a file may nest as deeply as it likes; what a ``<template>`` holds is no part of the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from turbohtml import Element, Namespace, Node, Text, parse

from interop.adapters.memhtml.vocabulary import INLINE, PREFIX


def nodes(root: Node) -> Iterator[Node]:
    """Give a node and everything below it, in the order of the document."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if not _is_template(node):
            stack.extend(reversed(node.children))


def elements(root: Node, *tags: str) -> list[Element]:
    """Give the elements of these names at and below a node; all of them without names."""
    return [n for n in nodes(root) if isinstance(n, Element) and (not tags or n.tag in tags)]


def _is_template(node: Node) -> bool:
    return isinstance(node, Element) and node.tag == "template" and node.namespace is Namespace.HTML


def is_below(element: Element, *tags: str) -> bool:
    """Does an element of one of these names hold this one?"""
    return any(isinstance(a, Element) and a.tag in tags for a in element.ancestors)


def direct_text(element: Element) -> str:
    """Give the text right in an element, not that of elements in it."""
    return "".join(n.data for n in element.children if isinstance(n, Text))


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its elements, and those that the format speaks of."""

    elements: tuple[Element, ...]
    head: Element | None
    metas: tuple[tuple[str, str, Element], ...]
    """Name and content of every meta of the head that has a name."""
    links: tuple[Element, ...]
    """The head's links whose relation begins as ours do."""
    articles: tuple[Element, ...]

    @property
    def article(self) -> Element | None:
        """Give the article, where there is exactly one."""
        return self.articles[0] if len(self.articles) == 1 else None


def document(text: str) -> Document:
    """Parse the text of a file."""
    every = tuple(elements(parse(text, positions=False, source_locations=True)))
    head = next((e for e in every if e.tag == "head"), None)
    in_head = elements(head) if head is not None else []
    metas = [
        (name, e.attr("content") or "", e)
        for e in in_head
        if e.tag == "meta" and (name := e.attr("name")) is not None
    ]
    links = [e for e in in_head if e.tag == "link" and (e.attr("rel") or "").startswith(PREFIX)]
    articles = tuple(e for e in every if e.tag == "article")
    return Document(every, head, tuple(metas), tuple(links), articles)


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text, and whether its white space counts."""

    verbatim: bool
    text: str


def segments(root: Node, *, without_code: bool = False) -> Iterator[Segment]:
    """Give the text below a node in pieces; the edges of blocks are blanks."""
    edge = Segment(False, " ")
    stack: list[tuple[Node, bool] | Segment] = [(root, False)]
    while stack:
        top = stack.pop()
        if isinstance(top, Segment):
            yield top
            continue
        node, verbatim = top
        if isinstance(node, Text):
            yield Segment(verbatim, node.data)
            continue
        if isinstance(node, Element):
            if without_code and node.tag in ("pre", "code"):
                continue
            if node.tag not in INLINE:
                yield edge
                stack.append(edge)
            verbatim = verbatim or node.tag == "pre"
        if not _is_template(node):
            stack.extend((child, verbatim) for child in reversed(node.children))
