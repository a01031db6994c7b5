"""What an article may say in HTML, and how it is written: names, constraints, escapes, comparison.

The tree is turbohtml's (WHATWG tree construction). Nothing here knows Markdown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import Final

from turbohtml import Comment, Element, Node, Text, parse_fragment


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS: Final = _names(
    "address aside blockquote caption col colgroup dd details div dl dt figcaption figure "
    "footer h1 h2 h3 h4 h5 h6 header hgroup hr li main nav ol p pre section summary table "
    "tbody td tfoot th thead tr ul"
)
"""Elements of blocks: the vocabulary, and those outside it that are harmless."""

STARTS: Final = _names(
    "address aside blockquote details div dl figure footer h1 h2 h3 h4 h5 h6 header hgroup hr "
    "main nav ol p pre section table ul"
)
"""Blocks that can stand by themselves, so that raw HTML in Markdown may begin with them."""

PHRASES: Final = _names(
    "a abbr b bdi bdo cite code data del dfn em i ins kbd mark q rp rt ruby s samp small span "
    "strong sub sup time u var"
)
"""Elements of running text: the vocabulary, and those outside it that are harmless."""

PHRASE_VOIDS: Final = frozenset(("br", "img", "wbr"))

VOIDS: Final = _names(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    "track wbr"
)
_RAW_TEXT: Final = frozenset(
    ("iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp")
)
_TEXT_ESCAPES: Final = {38: "&amp;", 60: "&lt;", 62: "&gt;", 160: "&nbsp;", 13: "&#13;"}
_ATTRIBUTE_ESCAPES: Final = {38: "&amp;", 34: "&quot;", 160: "&nbsp;", 13: "&#13;", 10: "&#10;"}
_MOMENT: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)Z)?", re.ASCII
)
_ATTRIBUTE: Final = r"""\s+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?"""
TAG: Final = re.compile(
    rf"<(?P<close>/)?(?P<name>[a-zA-Z][a-zA-Z0-9]*)(?P<attributes>(?:{_ATTRIBUTE})*)\s*/?>"
)
"""One whole start or end tag."""
_WHITE: Final = re.compile(r"[ \t\n\f\r]+")
_DEEP: Final = 80


def escape_text(text: str) -> str:
    """Escape running text: ``&``, ``<``, ``>``, U+00A0, and a CR, which HTML would fold."""
    return text.translate(_TEXT_ESCAPES)


def escape_attribute(value: str) -> str:
    """Escape an attribute's value: ``&``, ``"``, U+00A0, CR and LF."""
    return value.translate(_ATTRIBUTE_ESCAPES)


def comment_end(text: str, at: int = 0) -> int | None:
    """Give where a comment that begins at ``at`` ends; None when there is none.

    Only what HTML and Markdown parsers end at the same place counts as one.
    """
    if not text.startswith("<!--", at) or text.startswith((">", "->"), at + 4):
        return None
    ends, early = _comment_ends(text)
    n = bisect_left(ends, at + 4)
    if n == len(ends):
        return None
    m = bisect_left(early, at + 4)
    return None if m < len(early) and early[m] + 4 <= ends[n] else ends[n] + 3


@lru_cache(maxsize=8)
def _comment_ends(text: str) -> tuple[list[int], list[int]]:
    """Give where ``-->`` stands and where ``--!>`` does.

    Looked for once: a text of ten thousand comments that never end would else be read as often.
    """
    return [m.start() for m in re.finditer("-->", text)], [
        m.start() for m in re.finditer("--!>", text)
    ]


def is_comment(text: str) -> bool:
    """Is the whole text one comment?"""
    return comment_end(text) == len(text)


def start_tag(name: str, attributes: Iterable[tuple[str, str]] = ()) -> str:
    """Write a start tag with its attributes in the order of their names."""
    if not attributes:
        return f"<{name}>"
    written = [f' {key}="{escape_attribute(value)}"' for key, value in sorted(attributes)]
    return f"<{name}{''.join(written)}>"


def attributes(element: Element) -> dict[str, str]:
    """Give an element's attributes, values as text."""
    found: dict[str, str] = {}
    for name, value in element.attrs.items():
        found[name] = " ".join(value) if isinstance(value, list) else value or ""
    return found


def parse(html: str) -> list[Node]:
    """Parse the inner HTML of an article, with source spans; the nodes at its top."""
    return list(parse_fragment(html, "article", source_locations=True).children)


def serialise(node: Node) -> str:
    """Write a node in the article's canonical form."""
    if isinstance(node, Text):
        parent = node.parent
        raw = isinstance(parent, Element) and parent.tag in _RAW_TEXT
        return node.data if raw else escape_text(node.data)
    if isinstance(node, Comment):
        return f"<!--{node.data}-->"
    if not isinstance(node, Element):
        return node.html
    tag = node.tag
    start = start_tag(tag, attributes(node).items())
    if tag in VOIDS:
        return start
    inner = "".join(map(serialise, node.children))
    # HTML swallows one line end after <pre>; a text that begins with one needs two.
    swallowed = "\n" if tag == "pre" and inner.startswith("\n") else ""
    return f"{start}{swallowed}{inner}</{tag}>"


def too_deep(nodes: Sequence[Node]) -> bool:
    """Is the tree deeper than anything a person writes, so that walking it is not safe?"""
    level: Sequence[Node] = nodes
    for _ in range(_DEEP):
        level = [child for node in level for child in node.children]
        if not level:
            return False
    return True


def same_meaning(nodes: Iterable[Node]) -> str:
    """Write nodes so that two trees give the same text iff only white space sets them apart.

    White space is insignificant where a browser shows none: beside the edges of blocks and breaks,
    and in runs, outside ``<pre>``.
    """
    parts: list[str] = []
    # True while nothing visible followed the last edge of a block; white space there is dropped.
    edge = True

    def end_line() -> None:
        at = len(parts) - 1
        while at >= 0 and parts[at].startswith("<!--"):
            at -= 1
        if at >= 0 and not parts[at].startswith("<"):
            parts[at] = parts[at].removesuffix(" ")
            if not parts[at]:
                del parts[at]

    def visit(node: Node, pre: bool) -> None:
        nonlocal edge
        if isinstance(node, Text):
            text = node.data
            if not pre:
                text = _WHITE.sub(" ", text)
                if edge:
                    text = text.removeprefix(" ")
            if text:
                parts.append(escape_text(text))
                edge = False
            return
        if isinstance(node, Comment):
            parts.append(f"<!--{node.data}-->")
            return
        if not isinstance(node, Element):
            return
        tag = node.tag
        block = tag in BLOCKS or tag == "br"
        if block and not pre:
            end_line()
            edge = True
        parts.append(start_tag(tag, attributes(node).items()))
        if not block:
            edge = False
        for child in node.children:
            visit(child, pre or tag == "pre")
        if block:
            if not pre and tag != "pre":
                end_line()
            edge = True
        if tag not in VOIDS:
            parts.append(f"</{tag}>")

    for node in nodes:
        visit(node, False)
    end_line()
    return "".join(parts)


def clean(name: str, values: Iterable[tuple[str, str]]) -> bool:
    """May an element with these attributes stand in an article?"""
    moment = ""
    for key, value in values:
        if key in ("class", "style") or (key.startswith("on") and len(key) > 2):
            return False
        if key == "datetime":
            moment = value
    return name != "time" or _is_moment(moment)


def tag_of(source: str) -> Element | None:
    """Give the element that one start tag states, if it may stand in an article."""
    nodes = parse_fragment(source, "article").children
    element = nodes[0] if nodes else None
    if not isinstance(element, Element):
        return None
    return element if clean(element.tag, attributes(element).items()) else None


def clean_blocks(source: str) -> list[Node] | None:
    """Parse raw HTML that is nothing but whole, clean blocks and comments; None when it is not.

    The tags as written and the tree must agree, so nothing was moved or closed by the parser.
    """
    written: list[str] = []
    at = 0
    while (at := source.find("<", at)) >= 0:
        if comment := comment_end(source, at):
            at = comment
            continue
        if not (tag := TAG.match(source, at)):
            if source[at + 1 : at + 2].isspace():
                at += 1
                continue
            return None
        name = tag["name"].lower()
        if name not in BLOCKS and name not in PHRASES and name not in PHRASE_VOIDS:
            return None
        if not (tag["close"] and name in VOIDS):
            written.append(("/" if tag["close"] else "") + name)
        at = tag.end()
    nodes = parse(source)
    if too_deep(nodes):
        return None
    found: list[str] = []
    if not all(_collect(node, found) for node in nodes):
        return None
    for node in nodes:
        if isinstance(node, Text) and node.data.strip(" \t\n\f\r"):
            return None
        if isinstance(node, Element) and node.tag not in STARTS:
            return None
    implied = ("tbody", "/tbody")
    if [n for n in written if n not in implied] != [n for n in found if n not in implied]:
        return None
    return nodes


def _collect(node: Node, found: list[str]) -> bool:
    if not isinstance(node, Element):
        return True
    if not clean(node.tag, attributes(node).items()):
        return False
    found.append(node.tag)
    if not all(_collect(child, found) for child in node.children):
        return False
    if node.tag not in VOIDS:
        found.append(f"/{node.tag}")
    return True


def _is_moment(value: str) -> bool:
    if not (match := _MOMENT.fullmatch(value)):
        return False
    try:
        date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return False
    return True


def claims(nodes: Sequence[Node]) -> list[tuple[Element, bool]]:
    """Give each ``<mark>`` below these nodes, and whether it may be the claim where it stands.

    It may inside the first paragraph or list item, outside ``<aside>`` and ``<details>``, when it
    says something besides code.
    """
    first: Element | None = None
    found: list[tuple[Element, bool]] = []
    for node in nodes:
        if not isinstance(node, Element):
            continue
        for element in node.iter_elements(include_self=True):
            if element.tag in ("p", "li") and first is None:
                first = element
            if element.tag == "mark":
                above = list(element.ancestors)
                tags = {a.tag for a in above if isinstance(a, Element)}
                good = first is not None and any(a is first or a == first for a in above)
                found.append((element, good and not tags & {"aside", "details"} and _says(element)))
    return found


def _says(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    if isinstance(node, Element) and node.tag in ("code", "pre"):
        return False
    return any(_says(child) for child in node.children)
