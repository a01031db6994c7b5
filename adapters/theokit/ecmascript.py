r"""What the runtime's own language takes for blank, and how it counts characters.

The runtime trims, splits and matches with JavaScript's ``\s``, which differs from Python's: a byte
order mark is blank there, U+0085 and U+001C to U+001F are not. Its lengths are UTF-16 units.
"""

from __future__ import annotations

import re

BLANK = "\t\n\x0b\x0c\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
r"""The inside of a character class: what ``\s`` matches."""

_CHARS = (
    "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def trim(text: str) -> str:
    """Take the blanks off both ends."""
    return text.strip(_CHARS)


def trim_end(text: str) -> str:
    """Take the blanks off the end."""
    return text.rstrip(_CHARS)


def trimmed(text: str, start: int = 0) -> tuple[int, int]:
    """Say where the text from ``start`` on lies without the blanks at its ends."""
    rest = text[start:]
    end = start + len(trim_end(rest))
    first = min(start + len(rest) - len(rest.lstrip(_CHARS)), end)
    return first, end


def one_line(text: str) -> str:
    """Make every run of blanks one space, and take those at the ends away."""
    return trim(re.sub(f"[{BLANK}]+", " ", text))


def cut(text: str, units: int) -> str:
    """Give the first UTF-16 units of a text, never half a character."""
    data = text.encode("utf-16-le", "surrogatepass")[: 2 * units]
    return data.decode("utf-16-le", "ignore")


def visible(text: str) -> str:
    r"""Write half characters, which no UTF-8 file can hold, as visible escapes (``\ud800``)."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
