"""The map between Markdown and the inner HTML of an article, and edits carried across it.

Pure functions over text. The two parsers are loaded by the first call, not by the import: a
command that maps nothing does not pay for them. Spec: docs/markup.md.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from interop.markup.blocks import HTML, MARKDOWN, Block, join

__all__ = [
    "HTML",
    "MARKDOWN",
    "Block",
    "Unclaimed",
    "carry_over",
    "loosened",
    "split",
    "translate",
    "unclaimed",
    "without_claim",
]


def translate(text: str, media: str, to: str) -> str:
    """Say a text in the other medium; the same medium gives the text itself.

    The media are ``text/markdown`` and ``text/html``, the inner HTML of an article.
    """
    if media == to:
        return text
    return join([block.other for block in split(text, media)], to)


def split(text: str, media: str) -> tuple[Block, ...]:
    """Split a text into its top-level blocks, each with what it is in the other medium.

    Blocks are in order and do not overlap; what is between them is separators, white space and
    nothing else.
    """
    from interop.markup.carry import blocks_of

    return blocks_of(text, media)


def without_claim(rich: str, media: str, seen: str, now: str) -> tuple[str, str]:
    """Take the claim out of HTML that a text was said in, as it was seen and as it is now.

    The claim repeats the description: its mark is no part of the text, and where it stands in a
    paragraph of its own that the text does not begin with, that paragraph was supplied.
    """
    bare = unclaimed(rich, media, seen)
    if bare is None:
        return seen, now
    after = unclaimed(rich, media, now)
    # a paragraph that somebody put before the text is a claim where nothing else was done
    if after is not None and (bare.supplied or after.text.split() == bare.text.split()):
        return bare.text, after.text
    return bare.text, _MARK.sub("", now)


class Unclaimed(NamedTuple):
    """HTML without the claim that was made for it."""

    text: str
    supplied: str
    """The paragraph of its own that it stood in and that is gone as well; else empty."""


def unclaimed(rich: str, media: str, html: str) -> Unclaimed | None:
    """Give the HTML that a text is said in without the claim that its format made for it.

    None where the text came from such an article: then the mark is its own.
    """
    whole = translate(rich, media, HTML)
    if _MARK.search(whole):
        return None
    lone = _LONE_CLAIM.match(html)
    if lone is None or _is_own(whole, lone[1], html[lone.end() :]):
        return Unclaimed(_MARK.sub("", html), supplied="")
    return Unclaimed(_MARK.sub("", html[lone.end() :]), supplied=html[: lone.end()])


def _is_own(whole: str, claim: str, rest: str) -> bool:
    """Is a paragraph that is all claim the beginning of the text itself, ``rest`` what follows?"""
    said = rf"\s*<p>\s*{re.escape(claim)}"
    begins, alone = re.compile(rf"{said}(?!\w)"), re.compile(rf"(?:{said}\s*</p>)*")
    if begins.match(whole) is None:
        return False
    repeats = [found.group().count("<p>") for t in (rest, whole) if (found := alone.match(t))]
    return begins.match(rest) is None or repeats[0] < repeats[1]


def loosened(html: str) -> str:
    """Put every item of a list in paragraphs where one of them is, as Markdown does.

    To a reader it is the same list; a mixed one cannot be said in Markdown.
    """
    if _LOOSE_ITEM.search(html) is None:
        return html
    return _TIGHT_ITEM.sub(r"<li><p>\1</p></li>", html)


_LOOSE_ITEM = re.compile(r"<li>\s*<p>")
_TIGHT_ITEM = re.compile(
    r"<li>((?:(?!</?(?:li|p|ul|ol|dl|pre|div|table|figure|blockquote)\b).)*)</li>", re.DOTALL
)
_LONE_CLAIM = re.compile(r"\A\s*<p>\s*<mark>((?:(?!</?(?:p|mark)>).)*)</mark>\s*</p>\s*", re.DOTALL)
_MARK = re.compile(r"</?mark>")


def carry_over(rich: str, rich_media: str, seen: str, now: str, seen_media: str) -> str:
    """Give ``rich`` with exactly the edits that led from ``seen`` to ``now``.

    ``seen`` is how ``rich`` looked in the other medium, translated by this version or an older
    one, perhaps trimmed or with other line ends; ``now`` is what somebody made of it. A block of
    ``now`` that is unchanged gives back the bytes of its block in ``rich``, an edited or new one
    is translated, a removed one is removed. Without edits the outcome is ``rich``, byte for byte.
    """
    from interop.markup.carry import carry

    return carry(rich, rich_media, seen, now, seen_media)
