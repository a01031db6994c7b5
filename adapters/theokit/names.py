"""File names and titles, made from a text by the runtime's own rules.

Spec: docs/formats/theokit.md, section 4.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from interop.adapters.theokit.ecmascript import cut, one_line, trim

_STOPWORDS = (
    "the a an and or but is are was were be been being for of to in on at by with from as that this"
    " these those it its he she they we you i do does did has have had will would can could should"
    " must not no over under into onto than then when where which who why how all any each more"
    " most other some such only own same so too very just also about after before between during"
    " up down out off again once here there if because while"
)
STOPWORDS = frozenset(_STOPWORDS.split())
NEGATIONS = ("not", "no")
"""Stopwords that turn a sentence round: ``Use pnpm, not npm`` is called ``use-pnpm-npm``."""

_LONGEST = 32
_FIRST = 64
"""The first word alone may be this long; so may a name made from a whole sentence."""
_TITLE_WORDS = 4
_TITLE = 40
_MARKS = re.compile("[\u0300-\u036f]")
_BREAKS = re.compile("[^a-z0-9]+")
_LEGAL = re.compile("[a-z0-9][a-z0-9_-]*")
_ID_LENGTH = 128
_RESERVED = frozenset(
    ["memory", "dream-diary", "con", "prn", "aux", "nul"]
    + [f"{device}{n}" for device in ("com", "lpt") for n in range(1, 10)]
)
"""Stems that mean something else: the index, the diary, and what Windows takes for devices."""


def topic_words(text: str) -> list[str]:
    """Give the words of a text that say something: Latin letters and digits, no stopwords."""
    plain = _MARKS.sub("", unicodedata.normalize("NFD", text.lower()))
    return [w for w in _BREAKS.split(plain) if len(w) >= 2 and w not in STOPWORDS]


def slug_for(text: str) -> str:
    """Give the topic slug of a text, some 32 characters of whole words."""
    slug = ""
    for word in topic_words(text):
        longer = f"{slug}-{word}" if slug else word
        if len(longer) > (_LONGEST if slug else _FIRST):
            break
        slug = longer
    slug = slug or sentence_slug(text)
    return slug if _LEGAL.fullmatch(slug) else safe_id(text)


def sentence_slug(text: str) -> str:
    """Give the slug of the generations before topic slugs: the whole sentence, 64 characters."""
    return _BREAKS.sub("-", text.lower()).strip("-")[:_FIRST].rstrip("-")


def safe_id(text: str) -> str:
    """Give an id as a file name: itself in lower case, else a hash of it."""
    lower = text.lower()
    if len(lower) <= _ID_LENGTH and _LEGAL.fullmatch(lower):
        return lower
    data = text.encode("utf-8", "surrogatepass")
    return f"h-{hashlib.sha256(data).hexdigest()[:16]}"


def title_for(text: str) -> str:
    """Give the title of a text: its first topic words."""
    title = ""
    for word in topic_words(text)[:_TITLE_WORDS]:
        longer = f"{title} {word}" if title else word
        if title and len(longer) > _TITLE:
            break
        title = longer
    return title[:1].upper() + title[1:] if title else cut(trim(text), _TITLE)


def normal(text: str) -> str:
    """Give a text as the runtime compares it: two facts with one normal form are the same."""
    return re.sub(r"[.!?]+\Z", "", one_line(text.lower()))


def is_usable(stem: str) -> bool:
    """Can a new memory's file have this stem?"""
    return bool(_LEGAL.fullmatch(stem)) and len(stem) <= _ID_LENGTH and stem not in _RESERVED


def fold(path: str) -> str:
    """Give a path as file systems may compare it: without case, in one normal form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def loses_negation(stem: str, text: str) -> bool:
    """Is this the topic slug of a text, and did a ``not`` or ``no`` in it fall away?"""
    base = re.sub(r"-\d+\Z", "", stem)
    if base != slug_for(text) and stem != slug_for(text):
        return False
    words = _BREAKS.split(text.lower())
    return any(n in words and n not in stem.split("-") for n in NEGATIONS)
