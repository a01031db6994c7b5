"""A user's words as a search: each word or quoted phrase, and which table can find it.

    locker "spare key" 倉庫 的 C++    two words, a phrase, and what only looking through all finds:
                                      runs of one or two characters of a script without spaces,
                                      and short words that end in signs

Where a script without spaces meets another one, as in 新しいiPhoneを, a word begins: texts and
queries are parted there alike.

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
        return f"{self.exact} *" if self.is_word else self.exact

    @property
    def exact(self) -> str:
        """The same without the longer words that it begins."""
        return '"' + self.text.replace('"', '""') + '"'

    @property
    def is_word(self) -> bool:
        """Is it one word, which longer ones may begin with?"""
        return self.table == "words" and " " not in self.text

    @property
    def is_short(self) -> bool:
        """Does so much begin with it that the word itself has to count for more?"""
        return self.is_word and len(self.text) < _SHORT


def terms(query: str) -> list[Term]:
    """Take a query apart; each thing to look for once."""
    return [Term(text=text, table=_table(text)) for text in list(_parts(query))[:MOST]]


def left_out(query: str) -> tuple[str, ...]:
    """Say what of a query is not looked for."""
    parts = _parts(query)
    notes: list[str] = []
    if len(parts) > MOST:
        notes.append(
            f"only the first {MOST} words are looked for, and {len(parts) - MOST:,} are not"
        )
    if any(list(parts.values())[:MOST]):
        notes.append(f"of a word or phrase only {LONGEST} characters are looked for")
    return tuple(notes)


def _parts(query: str) -> dict[str, bool]:
    """Give each thing to look for, and whether it was longer."""
    found: dict[str, bool] = {}
    for match in _PART.finditer(storable(query)):
        phrase, word = match.groups()
        text = fold(phrase if phrase is not None else word)
        if _SIGNED.fullmatch(bare := _AROUND.sub("", text)):
            text = bare
        short = text[:LONGEST]
        if text != short and " " in short and text[LONGEST] != " ":
            short = short.rpartition(" ")[0]  # half a word is none
        if short := short.strip():
            found.setdefault(short, len(text) > LONGEST)
    return found


def storable(text: str) -> str:
    """Give a text as SQLite can keep it: without NUL, where it would end, and half surrogates."""
    if text.isascii():
        return text.replace("\0", " ")
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def fold(text: str) -> str:
    """Fold what a search does not tell apart: case, width, composition, accents, harakat.

    Where a script without spaces meets letters or digits of another one, a space parts the two.
    """
    text = storable(text)
    if text.isascii():
        return " ".join(text.lower().split())
    apart = unicodedata.normalize("NFKD", text).casefold().translate(_STROKES)
    kept = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    return " ".join(_SEAM.sub(" ", kept).split())


def needs_pieces(text: str) -> bool:
    """Has a text signs of a script that writes words together, or joins particles to them?"""
    return not text.isascii() and _JOINED.search(text) is not None


def _table(text: str) -> Literal["words", "pieces", ""]:
    if needs_pieces(text):
        return "pieces" if len(text) > 2 else ""
    return "words" if _WORD.search(text) and not _SIGNED.fullmatch(text) else ""


_SHORT: Final = 3
"""Letters from which on a word tells something alone."""
_SIGNED: Final = re.compile(r"[^\W_]{1,2}[+#]+")
"""C++ and C# are no C: of so short a word the signs behind it are a part."""
_AROUND: Final = re.compile(r"^[^\w+#]+|[^\w+#]+$")
_PART: Final = re.compile(r'"([^"]*)"|([^\s"]+)')
_WORD: Final = re.compile(r"[^\W_]")
_JOINING: Final = (
    "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # Hebrew, Arabic, Syriac: prefixes are joined
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u1b00-\u1bff"  # Thai … Khmer, Tai
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul: particles are joined
    "\u2e80-\u312f\u31a0-\ua4cf\ua980-\ua9ff\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9f"  # Han, Kana
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts in which what people look for may stand inside a longer run of letters."""
_JOINED: Final = re.compile(f"[{_JOINING}]")
_SEAM: Final = re.compile(
    rf"(?<=[{_JOINING}])(?=[^\W{_JOINING}])|(?<=[^\W{_JOINING}])(?=[{_JOINING}])"
)
_STROKES: Final = str.maketrans("đħıłøŧ", "dhilot") | str.maketrans({"æ": "ae", "œ": "oe"})
"""Letters with a stroke or without a dot, which Unicode does not take apart."""
_ACCENTS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0640\u064b-\u065f\u0670]"
)
"""Marks of Latin, Greek, Cyrillic, Hebrew and Arabic that people leave out when they search."""
