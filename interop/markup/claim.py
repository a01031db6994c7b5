"""The claim that a format marks in an article: made for a text that has none, and no part of it.

    <p><mark>Dock 7 jams.</mark> It freezes.</p>                      marked in the text
    <p><mark>About dock 7</mark></p> <p>Dock 7 jams. It freezes.</p>  in a paragraph of its own

Spec: docs/markup.md, "The claim".
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from interop.markup import HTML, translate

_MARK = re.compile(r"</?mark\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_LINE_END = "\n"
_END = re.compile(r"</mark>", re.IGNORECASE)
_ALONE = re.compile(
    r"\A\s*<p\b[^>]*>\s*<mark\b[^>]*>((?:(?!</?(?:p|mark)\b).)*)</mark>\s*</p>\s*",
    re.DOTALL | re.IGNORECASE,
)


class Unclaimed(NamedTuple):
    """HTML without the claim that was made for it."""

    text: str
    claim: str
    """The HTML up to the end of the claim; empty where there is none."""
    supplied: bool
    """Did the claim stand in a paragraph of its own, which is gone as well?"""


def is_claimed(html: str) -> bool:
    """Has an article a mark?"""
    return _MARK.search(html) is not None


def unclaimed(rich: str, media: str, html: str) -> Unclaimed | None:
    """Give the HTML that a text is said in, without the claim that its format made for it.

    None where the text came from such an article: then the mark is its own. A paragraph that is all
    claim, and all that stands there, is the text, unless the text is empty.
    """
    whole = translate(rich, media, HTML)
    if is_claimed(whole):
        return None
    alone = _ALONE.match(html)
    if alone is not None:
        rest = html[alone.end() :]
        if (rest.strip() or not whole.strip()) and not _is_own(whole, alone[1], rest):
            return Unclaimed(_MARK.sub("", rest), alone.group(), supplied=True)
    return _marked(html)


def without_claim(rich: str, media: str, seen: str, now: str) -> tuple[str, str]:
    """Take the claim out of HTML that a text was said in, as it was seen and as it is now.

    The claim repeats the description: its mark is no part of the text, and where it stands in a
    paragraph of its own that the text does not begin with, that paragraph was supplied.
    """
    found = _both(rich, media, seen, now)
    if found is None:
        return seen, now
    bare, after = found
    # a paragraph that somebody put before the text is a claim where nothing else was done
    if bare.supplied or after.text.split() == bare.text.split():
        return bare.text, after.text
    return bare.text, _MARK.sub("", now)


def is_changed_alone(rich: str, media: str, seen: str, now: str) -> bool:
    """Is what changed in an article the claim that was made for it, and nothing that it repeats?

    A claim in a paragraph of its own repeats nothing of the text.
    """
    found = _both(rich, media, seen, now)
    if found is None:
        return False
    bare, after = found
    return (bare.supplied and after.supplied) or bare.text.split() == after.text.split()


def _both(rich: str, media: str, seen: str, now: str) -> tuple[Unclaimed, Unclaimed] | None:
    """Give an article without its claim, as it was seen and as it is now.

    A runtime that corrects a memory writes another article. What leads that one is no edit of the
    claim that was supplied: it is the one that stood there only where it says the same, or where
    something of the text still follows it.
    """
    bare, after = unclaimed(rich, media, seen), unclaimed(rich, media, now)
    if bare is None or after is None:
        return None
    another = bare.supplied and after.supplied and _plain(after.claim) != _plain(bare.claim)
    if another and bare.text.strip() and not _share(bare.text, after.text):
        after = _marked(now)
    return bare, after


def _marked(html: str) -> Unclaimed:
    """Give HTML without its mark: what it marks stays."""
    end = _END.search(html)
    return Unclaimed(_MARK.sub("", html), html[: end.end()] if end else "", supplied=False)


_NEAR: Final = 80.0
"""Similarity in percent from which two lines are one, edited."""
_COMPARED: Final = 50
"""Lines that are compared with each other; more of them are only looked for."""


def _share(one: str, other: str) -> bool:
    """Has a text something of another one: a line of its HTML, as it was or edited?"""
    from rapidfuzz import fuzz, process

    left, right = _lines(one), _lines(other)
    if not left.keys().isdisjoint(right):
        return True
    lines = list(left)[:_COMPARED]
    return any(
        process.extractOne(line, lines, scorer=fuzz.ratio, score_cutoff=_NEAR) is not None
        for line in list(right)[:_COMPARED]
    )


def _lines(html: str) -> dict[str, None]:
    return dict.fromkeys(said for line in html.split("\n") if (said := _plain(line)))


def claimed_again(bare: Unclaimed, text: str) -> str | None:
    """Put a claim back before or into its text after edits; None where it has to be made anew.

    That is where its words changed, or where the text now begins with what was supplied before it.
    """
    if not bare.claim:
        return None
    if bare.supplied:
        if re.match(rf"{re.escape(_plain(bare.claim))}(?!\w)", _plain(text)):
            return None
        claim = bare.claim.rstrip()
        return f"{claim}{bare.claim[len(claim) :] or _LINE_END}{text}" if text else claim
    words = len(_MARK.sub("", bare.claim))
    # and the letter behind it: with another one the claim's last word would be another one
    if text[: words + 1] != bare.text[: words + 1]:
        return None
    return bare.claim + text[words:]


def _plain(html: str) -> str:
    return " ".join(_TAG.sub("", html).split())


def _is_own(whole: str, claim: str, rest: str) -> bool:
    """Is a paragraph that is all claim the beginning of the text itself, ``rest`` what follows?"""
    whole, claim, rest = (" ".join(text.split()) for text in (whole, claim, rest))
    said = rf"\s*<p>\s*{re.escape(claim)}"
    begins, alone = re.compile(rf"{said}(?!\w)"), re.compile(rf"(?:{said}\s*</p>)*")
    if begins.match(whole) is None:
        return False
    repeats = [found.group().count("<p>") for t in (rest, whole) if (found := alone.match(t))]
    return begins.match(rest) is None or repeats[0] < repeats[1]
