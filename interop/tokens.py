"""Is a value stated in a text: folded, whole tokens, whatever the script.

    1.4.2   is in `moved to 1.4.2.`, and not in `1.4.2.1`
    25 €    is in `das kostet 25 €!`, and not in `1,25 €`
    東京    is in `明日東京へ行く`: Japanese puts no spaces between words

Spec: docs/guard.md, "What counts as stating it".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final


def fold(text: str) -> str:
    """Fold case, composition and runs of white space: texts that look alike become equal.

    What takes no room and is not seen (a soft hyphen, a zero-width space) is left out.
    """
    if text.isascii():
        text = text.lower()
    else:
        text = text.translate(_UNSEEN)
        # folding case takes some letters apart (`ǰ`), so they are composed again
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(text.split())


def speaks(text: str) -> bool:
    """Has it a letter or a digit, so that there is something to compare?"""
    return any(map(str.isalnum, text))


def unmarked(text: str) -> str:
    """Take back-ticks and quotation marks off that stand around the whole of a value."""
    text = text.strip()
    for _ in range(_MARKS_AT_MOST):
        if len(text) < 2 or text[-1] not in _QUOTES.get(text[0], ""):
            break
        inner = text[1:-1]
        marks = re.escape(text[0] + text[-1])
        if re.search(rf"(?<!\w)[{marks}]|[{marks}](?!\w)", inner.strip(text[0])):
            break  # `a`, `b` is not one value in marks; 'O'Brien' is
        text = inner.strip()
    return text


def of(text: str) -> set[str]:
    """Give the tokens of a folded text: its words, and characters where no spaces part the words.

    Other characters may be among them; whoever looks up a token looks for the value anyway.
    """
    if text.isascii():
        return set(_ASCII_TOKEN.findall(text))
    return set(_TOKEN.findall(text)).union(text)


def anchor(needle: str) -> str:
    """Give the token of a value that few texts have: its longest one.

    A text that states the value has it among its tokens, so it can be looked up.
    """
    words: list[str] = _TOKEN.findall(needle)
    if words:
        return max(words, key=len)
    return next(filter(str.isalnum, needle))


def states(text: str, needle: str) -> bool:
    """Is a value in a text as a whole token (or several)? Both are folded."""
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        if not _begins_before(text, at) and not _goes_on(text, end):
            return True
        at = text.find(needle, at + 1)
    return False


def _begins_before(text: str, at: int) -> bool:
    """Did the token that a value would begin at begin before it?"""
    near, beyond = text[at - 1 : at], text[max(at - 2, 0) : max(at - 1, 0)]
    if _is_joined(text[at], near, beyond):
        return True
    if near and near in _MINUS and _is_amount(text[at]):
        # a range (`10 €-25 €`) has a dash there, and no minus
        return not beyond or not (
            beyond in "%‰°" or unicodedata.category(beyond) in ("Sc", "Pe", "Pf")
        )
    return False


def _goes_on(text: str, end: int) -> bool:
    """Does the token that a value would end at go on after it?"""
    edge, near, beyond = text[end - 1], text[end : end + 1], text[end + 1 : end + 2]
    if near and near in "+#" and (edge in "+#" or _is_spaced_word(edge)):
        return True  # `C++`, `C#`: the token is not over, though nothing is beyond
    return _is_joined(edge, near, beyond)


def _is_joined(edge: str, near: str, beyond: str) -> bool:
    """Is the edge of a value in one token with what is near it, or joined to what is beyond?"""
    if not near or _UNSPACED_CHARACTER.match(edge):
        return False
    if _is_spaced_word(near):
        return True
    return near in _JOINING and _is_spaced_word(beyond)


def _is_spaced_word(character: str) -> bool:
    """Is it part of a word, in a script that puts spaces between words?"""
    if not character or _UNSPACED_CHARACTER.match(character):
        return False
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _is_amount(character: str) -> bool:
    return character.isdecimal() or unicodedata.category(character) == "Sc"


_UNSPACED: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # Han
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f\U0001aff0-\U0001b16f"  # Kana
    "\u3100-\u312f\u31a0-\u31bf\ua000-\ua4cf"  # Bopomofo, Yi
    "\u0e00-\u0e4f\u0e5a-\u0e7f\u0e80-\u0ecf\u0eda-\u0eff"  # Thai, Lao
    "\u0f00-\u0f1f\u0f34-\u0fff"  # Tibetan
    "\u1000-\u103f\u104a-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17df\u17ea-\u17ff"  # Khmer
    "\u1950-\u19cf\u1a20-\u1a7f\u1aa0-\u1aaf\uaa80-\uaadf\U00011700-\U0001172f\U00011740-\U0001174f"
    "\u1b00-\u1b4f\ua980-\ua9cf"  # after the scripts of Tai languages: Balinese, Javanese
)
"""Characters of scripts that put no spaces between words; their decimal digits are left out, since
a number is as whole in them as anywhere."""
_UNSPACED_CHARACTER: Final = re.compile(f"[{_UNSPACED}]")
_UNSEEN: Final[Mapping[int, None]] = dict.fromkeys(
    (
        *(0xAD, 0x34F, 0x61C, 0x180E, 0xFE0E, 0xFE0F, 0xFEFF, *range(0x200B, 0x2010)),
        *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xE0000, 0xE0080)),
    )
)
"""Characters that nobody sees: marks for breaking, joining and the direction of writing."""
_TOKEN: Final = re.compile(rf"[^\W_{_UNSPACED}]+")
_ASCII_TOKEN: Final = re.compile("[a-z0-9]+")
"""The same for a folded text in ASCII, three times as fast."""
_JOINING: Final = ".,-_:/'@+#" + "’‐‑"
"""What joins two parts of a token; after the first ten, other forms of apostrophe and hyphen."""
_MINUS: Final = "-−"
_MARKS_AT_MOST: Final = 16
"""Pairs of marks around each other that are taken off; nobody writes more, and a value that is
nothing but marks takes no time."""
_QUOTES: Final[Mapping[str, str]] = {
    "`": "`",
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“”",
    "‘": "’",
    "‚": "‘’",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
}
"""Opening mark -> the marks that close it."""
