r"""Text from a store on its way into HTML: nothing of it is markup, and nothing of it is unseen."""

from __future__ import annotations

import html
import re

from interop import unseen

_LAYOUT = "\t\n"
"""What a page shows as it is meant."""


def shown(text: str) -> str:
    """Give a text as HTML, for an element or for an attribute in double quotes."""
    # Escaped first: the marks put in afterwards are the only markup.
    return unseen.PATTERN.sub(_marked, html.escape(text, quote=True))


def plain(text: str) -> str:
    """Give a text as HTML without any element, for a title or an attribute."""
    return unseen.visible(html.escape(text, quote=True), keep=_LAYOUT)


def _marked(found: re.Match[str]) -> str:
    char = found[0]
    return char if char in _LAYOUT else f"<code class=esc>{unseen.escape(char)}</code>"
