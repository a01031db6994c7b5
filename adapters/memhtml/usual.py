"""The short path: a file in the form that the runtime and we write, read without a parser.

Its head has one element a line, metas before links; its article is made of plain elements that
stand in each other as the text shows. Whatever could make a parser build another tree, or the
runtime skip the file, takes the long way. A property test holds the two together.

Spec: docs/formats/memhtml.md, "The file" and "What is skipped".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from interop.adapters.memhtml.dates import is_moment
from interop.adapters.memhtml.parts import Parts
from interop.adapters.memhtml.source import Source
from interop.adapters.memhtml.vocabulary import (
    INLINE,
    META_ORDER,
    MOMENTS,
    PREFIX,
    REPEATED,
    REQUIRED,
    ROLE,
    STATUSES,
    TASK,
    TASK_STATUSES,
    TYPES,
    collapse,
    hash_of,
    is_href,
    one_blank,
    rel_of,
)

_HEAD = re.compile(
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>([^<]*)</title>\n'
    '((?:<meta name="[a-z-]+" content="[^"]*">\n)+)'
    '((?:<link rel="[a-z_-]+" href="[^"]*">\n)*)'
    "</head>\n<body>\n<article>\n"
)
_TAIL: Final = "\n</article>\n</body>\n</html>\n"
_META = re.compile('<meta name="([a-z-]+)" content="([^"]*)">')
_LINK = re.compile('<link rel="([a-z_-]+)" href="([^"]*)">')
_ODD_REFERENCE = re.compile("&(?!(?:amp|lt|gt|quot|nbsp);)")
_TAG = re.compile(r'<(/?[a-z]+|[a-z]+ [a-z-]+=)(?:(?<==)"([^"]*)")?>')
"""A tag: its name, or its name and that of its one attribute; and the attribute's value."""

_NAMES: Final = {**{PREFIX + name: name for name in META_ORDER}, ROLE: ROLE}
_DATED: Final = (*MOMENTS, "due")
_ATTRIBUTED: Final = {
    f"{pair}=": pair.partition(" ")[0]
    for pair in ("a href", "time datetime", "data value", "code data-lang", "abbr title")
}
_BLOCKS: Final = ("p", "ul", "ol", "dl", "section", "aside", "figure", "details", "pre")
_FLOW: Final = {"article", "section", "aside", "figure", "figcaption", "details", "li", "dt", "dd"}
_PHRASE: Final = {*_FLOW, *INLINE, "p", "summary", "pre"}
_WITHIN: Final = {
    **dict.fromkeys(_BLOCKS, _FLOW),
    **dict.fromkeys(INLINE, _PHRASE),
    "li": {"ul", "ol"},
    "dt": {"dl"},
    "dd": {"dl"},
    "figcaption": {"figure"},
    "summary": {"details"},
}
"""Element -> those that it may stand right in: there the parser closes and opens nothing itself."""
_MOST: Final = 1000
"""Tags in an article, or metas in a head: what is longer is not worth a place in a cache."""


def read(source: Source) -> Parts | None:
    """Read a file of the usual form; None is no verdict, only that it is to be parsed."""
    text = source.text
    head = _HEAD.match(text) if source.is_plain else None
    if head is None or not text.endswith(_TAIL) or "\0" in text:
        return None
    has_references = "&" in text
    if has_references and _ODD_REFERENCE.search(text):
        return None
    title, metas, links = head.groups()
    stated, linked = _metas(metas), _links(links)
    body = head.end(), len(text) - len(_TAIL)
    pieces = _TAG.split(text[body[0] : body[1]])
    tree = _tree(tuple(pieces[1::3])) if len(pieces) <= 3 * _MOST else None
    if stated is None or linked is None or tree is None:
        return None
    if not all(map(is_moment, [pieces[at] or "" for at in tree.moments])):
        return None
    claim = "".join([pieces[at] for at in tree.claim])
    pieces[1::3] = tree.edges
    pieces[2::3] = tree.nothing
    canonical = _canonical(pieces, tree.verbatim)
    if "<" in canonical:  # a tag that is none of ours
        return None
    if has_references:
        title, claim, canonical = map(_unescaped, (title, claim, canonical))
    title, claim = collapse(title), collapse(claim)
    if not title or not claim:
        return None
    return Parts(title, claim, stated, linked, body, hash_of(canonical))


def _metas(text: str) -> Sequence[tuple[str, str]] | None:
    names, values = zip(*_META.findall(text), strict=True)
    own = _own_names(names) if len(names) <= _MOST else None
    if own is None:
        return None
    if "&" in text:
        values = tuple(map(_unescaped, values))
    metas = list(zip(own, values, strict=True))
    said = dict(metas)
    status = said.get("task-status")
    if said["type"] not in TYPES or said["status"] not in STATUSES:
        return None
    if (status not in TASK_STATUSES) if said["type"] == TASK else status is not None:
        return None
    for name in _DATED:
        if name in said and not is_moment(said[name]):
            return None
    return metas


@lru_cache(maxsize=256)
def _own_names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Give the names without their prefix, where they are all known and as often as they may be."""
    own = tuple(_NAMES[name] for name in names if name in _NAMES)
    once = [name for name in own if name not in REPEATED]
    if len(own) < len(names) or len(set(once)) < len(once) or not {*REQUIRED}.issubset(once):
        return None
    return own


def _links(text: str) -> Sequence[tuple[str, str]] | None:
    found: list[tuple[str, str]] = []
    for token, href in _LINK.findall(text):
        rel = rel_of(token)
        target = _unescaped(href) if "&" in href else href
        if rel is None or not is_href(target):
            return None
        found.append((rel, target[1:]))
    return found


def _canonical(pieces: list[str], verbatim: Sequence[tuple[int, int]]) -> str:
    """Give the text on one line, but for what stands in a ``<pre>``."""
    if not verbatim:
        return one_blank("".join(pieces).strip(" ")).strip(" ")
    runs: list[str] = []
    around = 0
    for start, end in verbatim:
        code = pieces[start].removeprefix("\n") + "".join(pieces[start + 1 : end])
        if code:  # an empty one parts nothing
            runs += (one_blank("".join(pieces[around:start])), code)
            around = end
    runs.append(one_blank("".join(pieces[around:])))
    return "".join(runs).removeprefix(" ").removesuffix(" ")


def _unescaped(text: str) -> str:
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    return text.replace("&nbsp;", "\u00a0").replace("&amp;", "&")


class _Tree(NamedTuple):
    """What follows from an article's tags alone; places are those among the pieces of its HTML."""

    edges: tuple[str, ...]
    """What each tag is in the canonical text: a blank, or nothing."""
    nothing: tuple[str, ...]
    claim: tuple[int, ...]
    """Places of the claim's text."""
    moments: tuple[int, ...]
    """Places of what has to be a moment."""
    verbatim: tuple[tuple[int, int], ...]
    """From where to where a ``<pre>`` goes."""


@lru_cache(maxsize=256)
def _tree(tags: tuple[str, ...]) -> _Tree | None:
    """Check the tags of an article: many articles have the same."""
    opened = ["article"]
    edges: list[str] = []
    claim: list[int] = []
    moments: list[int] = []
    verbatim: list[tuple[int, int]] = []
    leading = marks = opening = 0
    for n, tag in enumerate(tags):
        closes = tag.startswith("/")
        name = tag[1:] if closes else _ATTRIBUTED.get(tag, tag)
        if name not in _WITHIN:
            return None
        if closes:
            if opened.pop() != name:
                return None
            if name == "pre":
                verbatim.append((opening, 3 * n + 1))
        elif opened[-1] not in _WITHIN[name] or (name in INLINE and name in opened):
            return None
        else:
            opened.append(name)
            leading += name in ("p", "li")
            if name == "mark":  # in the first paragraph or item, and not behind a fold
                marks += 1
                if leading != 1 or not {"p", "li"}.intersection(opened):
                    return None
                if {"aside", "details"}.intersection(opened):
                    return None
            elif name == "pre":
                opening = 3 * n + 3
            elif name == "time":
                moments.append(3 * n + 2)
        edges.append("" if name in INLINE else " ")
        if "mark" in opened and "code" not in opened:
            claim.append(3 * n + 3)
    if len(opened) > 1 or marks != 1:
        return None
    return _Tree(tuple(edges), ("",) * len(edges), tuple(claim), tuple(moments), tuple(verbatim))
