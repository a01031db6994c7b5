"""The claim that leads an article: found, marked in what is there, or supplied before it.

Spec: docs/formats/memhtml.md, "The claim".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from turbohtml import Element, Node, Text, unescape

from interop.adapters.memhtml.constraints import violations
from interop.adapters.memhtml.content_hash import canonical_text, claim_of
from interop.adapters.memhtml.document import Document, document, elements, is_below
from interop.adapters.memhtml.vocabulary import collapse, escape_text

_SENTENCE = re.compile(r"\s*(.*?[.!?])(?=\s|$)", re.DOTALL)
_PIECE = re.compile(r"<!--.*?-->|<(?P<close>/)?[a-zA-Z][^>]*>|&[#0-9a-zA-Z]+;|.", re.DOTALL)
_VOID = re.compile(r"<(?:br|wbr|img)\b", re.IGNORECASE)
_HEAD = (
    '<title>t</title><meta name="memhtml-type" content="semantic">'
    '<meta name="memhtml-status" content="active"><meta name="memhtml-created"'
    ' content="2000-01-01"><meta name="memhtml-updated" content="2000-01-01"><article>\n'
)
_OPEN = re.compile(r"\s*<p>")


@dataclass(frozen=True, slots=True)
class Claimed:
    """An article with its claim, and what had to be done for it."""

    html: str
    claim: str
    block: str = ""
    """The block that was supplied before the text; empty when the text itself holds the claim."""


@lru_cache(maxsize=4)
def inside(html: str) -> Document:
    """Parse an article's inner HTML as it will stand in a file; kept, as it is asked for again."""
    return document(f"{_HEAD}{html}\n</article>")


def objections(html: str) -> list[str]:
    """Say why the runtime would skip a file with this article."""
    return violations(inside(html))


def claimed(html: str, description: str | None, instead: str) -> Claimed | None:
    """Give the article with a claim: its own, its description, or its first sentence.

    ``instead`` is said where neither is there. None when nothing at all can be said.
    """
    parsed = inside(html)
    article = parsed.article
    if article is None:
        return None
    marks = elements(article, "mark")
    if marks:  # what is wrong with them is for the constraints to say
        return Claimed(html, claim_of(marks[0]))
    wanted = collapse(description or "")
    if wanted:
        marked = _mark_start(html, wanted)
        return _checked(marked, wanted) or _block(html, wanted)
    first = _first_block(article)
    if first is not None and "\r" not in html:  # the parser's offsets would not be the text's
        marked = _mark_sentence(html, first)
        if marked is not None and (found := _checked(marked, None)):
            return found
    text = collapse(canonical_text(article)) or collapse(instead)
    return _block(html, sentence(text)) if text else None


def sentence(text: str) -> str:
    """Give the first sentence of a text: up to the first ``.``, ``!`` or ``?`` before a blank."""
    text = collapse(text)
    match = _SENTENCE.match(text)
    return match[1] if match else text


def _block(html: str, claim: str) -> Claimed | None:
    block = f"<p><mark>{escape_text(claim)}</mark></p>"
    whole = f"{block}\n{html}" if html else block
    article = inside(whole).article
    if article is None:
        return None
    said = next((claim_of(m) for m in elements(article, "mark")), "")
    return Claimed(whole, said, block) if said else None


def _checked(html: str | None, claim: str | None) -> Claimed | None:
    """Give the marked text if its mark is a claim, and says what it is to say."""
    if html is None:
        return None
    parsed = inside(html)
    article = parsed.article
    if article is None or any("<mark>" in reason for reason in violations(parsed)):
        return None
    said = claim_of(elements(article, "mark")[0])
    return Claimed(html, said) if said and claim in (None, said) else None


def _mark_start(html: str, claim: str) -> str | None:
    """Mark the claim where the text begins with it: at a paragraph's start, as a whole word."""
    start = _OPEN.match(html)
    if start is None:
        return None
    at, end = start.end(), html.find("</p>", start.end())
    if end < 0:
        return None
    said = ""
    depth = 0
    for piece in _PIECE.finditer(html, at, end):
        depth += _deeper(piece)
        if piece.group()[0] != "<":
            said += unescape(piece.group())
        # the text is put on one line only where that can tell: it gets longer with every word
        if len(said) < len(claim) or piece.group().isspace():
            continue
        so_far = collapse(said)
        if len(so_far) > len(claim):
            return None
        if depth == 0 and so_far == claim:
            if html[piece.end() : piece.end() + 1].isalnum():
                return None
            return f"{html[:at]}<mark>{html[at : piece.end()]}</mark>{html[piece.end() :]}"
    return None


def _deeper(piece: re.Match[str]) -> int:
    if piece.group()[0] != "<" or piece.group().startswith("<!--") or _VOID.match(piece.group()):
        return 0
    return -1 if piece["close"] else 1


def _first_block(article: Element) -> Element | None:
    """Give the paragraph or list item that may hold the claim, down to its own paragraph."""
    first = next(iter(elements(article, "p", "li")), None)
    if first is None or is_below(first, "aside", "details"):
        return None
    own = next(iter(elements(first, "p")), None)
    if first.tag == "li" and own is not None and not _leads(first):
        return own
    return first


def _leads(item: Element) -> bool:
    """Does a list item begin with text of its own?"""
    child: Node | None = next(
        (c for c in item.children if not isinstance(c, Text) or c.data.strip()), None
    )
    return not (isinstance(child, Element) and child.tag == "p")


def _mark_sentence(html: str, first: Element) -> str | None:
    """Mark the first sentence of a paragraph; one that ends inside an element ends with it."""
    location = first.source_location
    if location is None:
        return None
    shift = len(_HEAD)
    start = location.start_tag.end_offset - shift
    closed = location.end_tag
    end = closed.start_offset - shift if closed is not None else len(html)
    inner = next(iter(elements(first, *_NESTED)), None)
    if inner is not None and inner.source_location is not None:
        end = min(end, inner.source_location.start_tag.start_offset - shift)
    pieces: list[tuple[str, int, int]] = []
    depth = 0
    for piece in _PIECE.finditer(html, start, end):
        depth += _deeper(piece)
        said = "" if piece.group()[0] == "<" else unescape(piece.group())
        pieces.append((said, piece.end(), depth))
    match = _SENTENCE.match("".join(said for said, _, _ in pieces))
    wanted = match.end() if match else len("".join(said for said, _, _ in pieces).rstrip())
    count = 0
    for said, stop, deep in pieces:
        count += len(said)
        if count >= wanted and deep <= 0:
            return f"{html[:start]}<mark>{html[start:stop]}</mark>{html[stop:]}"
    return None


_NESTED = ("ul", "ol", "p", "pre", "figure", "table", "blockquote", "dl", "details", "section")
