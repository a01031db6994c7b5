r"""Text from a store on its way into HTML: nothing of it is markup, and nothing of it is unseen."""

from __future__ import annotations

import html
import re

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for the tab and the line end
    "\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff"  # tags: text that no font shows
    "\ud800-\udfff\ufffe\uffff"  # what UTF-8 cannot say, or no text may
    "]"
)
"""What a page would obey or not show: control, direction, zero width, tag characters. Joiners stay,
scripts and emoji need them."""


def shown(text: str) -> str:
    """Give a text as HTML, for an element or for an attribute in double quotes."""
    # Escaped first: the marks put in afterwards are the only markup.
    return _UNSEEN.sub(_marked, html.escape(text, quote=True))


def plain(text: str) -> str:
    """Give a text as HTML without any element, for a title or an attribute."""
    return _UNSEEN.sub(lambda m: escape(m[0]), html.escape(text, quote=True))


def escape(char: str) -> str:
    r"""Give a character as its escape, ``\x1b`` or ``\u202e``."""
    return char.encode("unicode_escape").decode("ascii")


def _marked(found: re.Match[str]) -> str:
    return f"<code class=esc>{escape(found[0])}</code>"
