"""What stands in a ``<select>``, as the runtime's parser has it.

HTML's rules have changed: a ``<select>`` may hold any elements now, and turbohtml follows. parse5,
which the runtime reads with, keeps to the older rules: it passes over every tag in one but those of
options, so what such a tag says or encloses is not there, and only its text is.

Spec: docs/formats/memhtml.md, "What is a record".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from turbohtml import DocumentFragment, Element, Namespace, Node

from interop.syntax.splice import Edit, splice

Parse = Callable[[str], Node]

_ROUNDS: Final = 8
"""How often a text is parsed again, where tags that are passed over hid another ``<select>``."""
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?][^>]*+|</(?![a-zA-Z])[^>]*+"
    r"|<(?P<close>/?)(?P<name>[a-zA-Z][^\t\n\f\r />]*+)"
    r"(?:[\t\n\f\r /]++|[^\t\n\f\r />][^\t\n\f\r />=]*+(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?)?)*+(?:>|\Z)""",
    re.DOTALL,
)
_OPTIONS: Final = ("option", "optgroup", "script")
_STARTS: Final = (*_OPTIONS, "hr", "html")
_TABLE: Final = ("caption", "table", "tbody", "tfoot", "thead", "tr", "td", "th")
_RAW: Final = ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
_INSTEAD: Final = "<option"


def parsed(text: str, parse: Parse) -> Node:
    """Parse a text so that the tree is the runtime's."""
    root = parse(text)
    ends: dict[int, int] = {}
    for _ in range(_ROUNDS):
        done = -1
        edits: list[Edit] = []
        tables = _tables(root) if root.find("table") is not None else []
        special = bool(tables) or root.find("template") is not None
        for element in _selects(root):
            start = _start(element)
            if start <= done:
                continue  # an earlier one swallowed it
            if start not in ends:
                around = _around(element, tables) if special else frozenset[str]()
                ends[start] = _pass_over(text, element, around, edits)
            done = ends[start]
        if not edits:
            break
        text = splice(text, edits)
        root = parse(text)
    return root


def _selects(root: Node) -> list[Element]:
    if root.find("select") is None:
        return []
    found = (e for e in root.find_all(["select"]) if e.namespace is Namespace.HTML)
    return sorted((e for e in found if e.source_location is not None), key=_start)


def _start(element: Element) -> int:
    location = element.source_location
    assert location is not None, "a select in a place of its own is never implied"
    return location.start_tag.start_offset


def _pass_over(text: str, select: Element, around: frozenset[str], edits: list[Edit]) -> int:
    """Take out the tags that are passed over, and say how far the element goes.

    U+0000 stands for each of their characters: a parser drops it, and every offset stays.
    """
    location = select.source_location
    assert location is not None, "only those that stand in the text are looked at"
    start, at = location.start_tag.start_offset, location.start_tag.end_offset
    templates = 0
    while (token := _TOKEN.search(text, at)) is not None:
        name, closes = (token["name"] or "").lower(), token["close"] == "/"
        at = token.end()
        if name == "template":
            if closes and not templates and _TEMPLATE in around:
                return token.start()
            templates = max(0, templates - 1) if closes else templates + 1
        elif name and not templates:
            if name in ("textarea", "keygen") and not closes:
                # they close it, but not in turbohtml; an option keeps what comes later from nothing
                edits.append(Edit(start, start + len(_INSTEAD), _INSTEAD))
                return token.start()
            if _ends(name, closes=closes, around=around):
                return token.start()
            if name not in (_OPTIONS if closes else _STARTS):
                edits.append(Edit(token.start(), at, "\0" * (at - token.start())))
        if not closes and name in (_RAW if templates else _RAW[:1]):
            end = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(text, at)
            at = end.start() if end is not None else len(text)
    return len(text)


def _ends(name: str, *, closes: bool, around: frozenset[str]) -> bool:
    """Does a tag close a ``<select>``, by itself or because it closes what is around?"""
    if name == "select":
        return True
    if name in _TABLE and not around.isdisjoint(_TABLE):
        return not closes or name in around
    return name == "input" and not closes


_TEMPLATE: Final = "template"


def _around(select: Element, tables: list[tuple[int, int]]) -> frozenset[str]:
    """Name the elements that a select stands in; from a table it has been moved before that."""
    start = _start(select)
    found = {
        a.tag if isinstance(a, Element) else _TEMPLATE
        for a in select.ancestors
        if isinstance(a, Element | DocumentFragment)
    }
    if any(begin < start < end for begin, end in tables):
        found.add("table")
    return frozenset(found)


def _tables(root: Node) -> list[tuple[int, int]]:
    """Give from where to where tables go, those in others left out."""
    found: list[tuple[int, int]] = []
    for table in root.find_all(["table"]):
        location = table.source_location
        if location is not None:
            begin, end = location.start_tag.start_offset, location.end_tag
            if not found or begin > found[-1][1]:
                found.append((begin, end.start_offset if end is not None else 1 << 62))
    return found
