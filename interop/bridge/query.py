"""A user's words as a search: each word or quoted phrase, and which table can find it.

    locker "spare key" 倉庫 的      two words, a phrase, a run of three or more signs of a script
                                    without spaces, and one that only looking through all finds

No sign in a query has a meaning of its own but the quotation mark, and what is searched for is
handed to SQLite as a quoted string.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

MOST = 32
"""How many words of a query are looked for; a text that is pasted into it has more."""
LONGEST = 200
"""How many characters of one word or phrase are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing to look for."""

    text: str
    """Folded."""
    table: Literal["words", "pieces", ""]
    """The full-text table that can find it; none for what is too short or no word for either."""

    @property
    def match(self) -> str:
        """Say it as FTS5 wants it: one quoted string; a word also begins longer ones."""
        quoted = '"' + self.text.replace('"', '""') + '"'
        is_word = self.table == "words" and " " not in self.text and len(self.text) > 2
        return f"{quoted} *" if is_word else quoted


def terms(query: str) -> list[Term]:
    """Take a query apart; each thing to look for once."""
    found: dict[str, Term] = {}
    for match in _PART.finditer(storable(query)):
        phrase, word = match.groups()
        text = fold(phrase if phrase is not None else word)[:LONGEST].strip()
        if text and text not in found:
            found[text] = Term(text=text, table=_table(text))
        if len(found) == MOST:
            break
    return list(found.values())


def storable(text: str) -> str:
    """Give a text as SQLite can keep it: without NUL, where it would end, and half surrogates."""
    if text.isascii():
        return text.replace("\0", " ")
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def fold(text: str) -> str:
    """Fold what a search does not tell apart: case, width, composition, accents, harakat."""
    text = storable(text)
    if text.isascii():
        return " ".join(text.lower().split())
    apart = unicodedata.normalize("NFKD", text).casefold()
    kept = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    return " ".join(kept.split())


def needs_pieces(text: str) -> bool:
    """Has a text signs of a script that writes words together, or joins particles to them?"""
    return not text.isascii() and _JOINED.search(text) is not None


def _table(text: str) -> Literal["words", "pieces", ""]:
    if needs_pieces(text):
        return "pieces" if len(text) > 2 else ""
    return "words" if _WORD.search(text) else ""


_PART: Final = re.compile(r'"([^"]*)"|([^\s"]+)')
_WORD: Final = re.compile(r"[^\W_]")
_JOINED: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # Hebrew, Arabic, Syriac: prefixes are joined
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u1b00-\u1bff"  # Thai … Khmer, Tai
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul: particles are joined
    "\u2e80-\u312f\u31a0-\ua4cf\ua980-\ua9ff\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9f"  # Han, Kana
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
"""Scripts in which what people look for may stand inside a longer run of letters."""
_ACCENTS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]"
)
"""Marks of Latin, Greek, Cyrillic, Hebrew and Arabic that people leave out when they search."""
