r"""Characters that are obeyed or not shown, and how they are shown all the same.

One rule for the terminal and for the page: control characters, marks that turn the direction of
text around, zero-width and tag characters, and what no text may hold, each as its escape
(``\x1b``, ``\u202e``). Joiners and variation selectors of emoji stay: scripts need them.
"""

from __future__ import annotations

import re

PATTERN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags: text that no font shows
    "\ud800-\udfff\ufffe\uffff"  # what UTF-8 cannot say, or no text may
    "]"
)
"""Matches one such character."""


def escape(char: str) -> str:
    r"""Give a character as its escape, ``\x1b`` or ``\u202e``."""
    return char.encode("unicode_escape").decode("ascii")


def visible(text: str, keep: str = "") -> str:
    r"""Give a text with such characters as escapes (``\n``, ``\x1b``), except those to keep."""
    return PATTERN.sub(lambda m: m[0] if m[0] in keep else escape(m[0]), text)
