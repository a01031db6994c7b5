"""The parsed tree of a file, walked as the runtime walks it.

Tree construction is turbohtml's (WHATWG's rules, as parse5's), and so are the walks where they can
be. What a ``<template>`` holds is no part of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from turbohtml import DocumentFragment, Element, Namespace, Node, Text, parse

from interop.adapters.memhtml import selects
from interop.adapters.memhtml.vocabulary import INLINE, PREFIX, escape_text

NOSCRIPT: Final = "noscript"
"""Its text has no references. The runtime writes it with some, and reads that again."""
_EDGE: Final = (False, " ")


def elements(root: Node, *tags: str) -> Sequence[Element]:
    """Give the elements of these names below a node; all of them without names."""
    found = root.find_all(list(tags)) if tags else root.find_all()
    if root.find("template") is None:
        return found
    # only what a template holds hangs below a fragment
    return [e for e in found if not any(isinstance(a, DocumentFragment) for a in e.ancestors)]


def _is_template(node: Node) -> bool:
    return isinstance(node, Element) and node.tag == "template" and node.namespace is Namespace.HTML


def is_below(element: Element, *tags: str) -> bool:
    """Does an element of one of these names hold this one?"""
    return any(isinstance(a, Element) and a.tag in tags for a in element.ancestors)


def direct_text(element: Element) -> str:
    """Give the text right in an element, not that of elements in it."""
    return "".join(n.data for n in element.children if isinstance(n, Text))


class Document(NamedTuple):
    """A parsed file: its elements, and those that the format speaks of."""

    root: Node
    elements: Sequence[Element]
    metas: Sequence[tuple[str, str, Element]]
    """Name and content of every meta of the head that has a name."""
    links: Sequence[Element]
    """The head's links whose relation begins as ours do."""
    articles: Sequence[Element]

    @property
    def article(self) -> Element | None:
        """Give the article, where there is exactly one."""
        return self.articles[0] if len(self.articles) == 1 else None


def document(text: str) -> Document:
    """Parse the text of a file."""
    root = selects.parsed(text, _parsed) if "<select" in text.lower() else _parsed(text)
    every = elements(root)
    head = next((e for e in every if e.tag == "head"), None)
    metas: list[tuple[str, str, Element]] = []
    links: list[Element] = []
    for element in elements(head, "meta", "link") if head is not None else ():
        if element.tag == "link":
            if (element.attr("rel") or "").startswith(PREFIX):
                links.append(element)
        elif (name := element.attr("name")) is not None:
            metas.append((name, element.attr("content") or "", element))
    return Document(root, every, metas, links, elements(root, "article"))


def _parsed(text: str) -> Node:
    # with scripts on, as parse5: what a <noscript> holds is text; and it knows no shadow roots
    return parse(
        text,
        positions=False,
        source_locations=True,
        scripting=True,
        allow_declarative_shadow_roots=False,
    )


def running_text(root: Node) -> str:
    """Give the text below an element that holds no ``<pre>`` and no template, as `segments` does.

    Two pieces of text have an edge between them where they do not stand in the same block.
    """
    found: list[str] = []
    block: Node | None = None
    for node in root.descendants:
        if isinstance(node, Text):
            holder = node.parent
            while isinstance(holder, Element) and holder is not root and holder.tag in INLINE:
                holder = holder.parent
            if holder is not block:
                found.append(" ")
                block = holder
            found.append(node.data)
        elif isinstance(node, Element) and node.tag not in INLINE:
            found.append(" ")
    return "".join(found)


def segments(
    root: Node, *, without_code: bool = False, written: bool = False
) -> Sequence[tuple[bool, str]]:
    """Give the text at and below a node in pieces, each with whether its white space counts.

    The edges of blocks are blanks. A loop, no recursion: a file may nest as deeply as it likes.
    """
    found: list[tuple[bool, str]] = []
    stack: list[tuple[bool, Node | None]] = [(False, root)]
    while stack:
        verbatim, node = stack.pop()
        if node is None:
            found.append(_EDGE)
        elif isinstance(node, Text):
            raw = written and isinstance(node.parent, Element) and node.parent.tag == NOSCRIPT
            found.append((verbatim, escape_text(node.data) if raw else node.data))
        else:
            if isinstance(node, Element):
                tag = node.tag
                if without_code and tag in ("pre", "code"):
                    continue
                if tag not in INLINE:
                    found.append(_EDGE)
                    stack.append((False, None))
                verbatim = verbatim or tag == "pre"
            if not _is_template(node):
                stack += [(verbatim, child) for child in reversed(node.children)]
    return found
