"""The map between Markdown and the inner HTML of an article, and edits carried across it.

Pure functions over text. The two parsers are loaded by the first call, not by the import: a
command that maps nothing does not pay for them. Spec: docs/markup.md.
"""

from __future__ import annotations

import re

from interop.markup.blocks import HTML, MARKDOWN, Block, join

__all__ = ["HTML", "MARKDOWN", "Block", "carry_over", "loosened", "split", "translate"]


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


def carry_over(rich: str, rich_media: str, seen: str, now: str, seen_media: str) -> str:
    """Give ``rich`` with exactly the edits that led from ``seen`` to ``now``.

    ``seen`` is how ``rich`` looked in the other medium, translated by this version or an older
    one, perhaps trimmed or with other line ends; ``now`` is what somebody made of it. A block of
    ``now`` that is unchanged gives back the bytes of its block in ``rich``, an edited or new one
    is translated, a removed one is removed. Without edits the outcome is ``rich``, byte for byte.
    """
    from interop.markup.carry import carry

    return carry(rich, rich_media, seen, now, seen_media)
