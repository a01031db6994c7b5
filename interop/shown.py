"""What people see of a text: without marks, the words that they part joined, blocks apart.

    Deposit: **25** €                       Deposit: 25 €
    <p>2026-<b>09</b>-01</p>                2026-09-01
    <td>25</td><td>€</td>                   25, and €

Spec: docs/guard.md, "What is read".
"""

from __future__ import annotations

import html
import re
from typing import Final


def of_html(markup: str) -> str:
    """Give the text that a page shows: elements of running text do not part words, blocks do.

    No value reaches over the edge of a block: two cells or paragraphs are two statements.
    Comments, attributes, scripts and style sheets are not shown.
    """
    if "<" not in markup:
        return html.unescape(markup)
    from turbohtml import Element, Node, Text, parse_fragment  # stores in Markdown never need it

    from interop.markup.vocabulary import BLOCKS

    shown: list[str] = []
    stack: list[Node | str] = [parse_fragment(markup, "article")]
    while stack:  # not a recursion: a text may nest as deeply as it likes
        node = stack.pop()
        if isinstance(node, str):
            shown.append(node)
        elif isinstance(node, Text):
            shown.append(node.data)
        elif isinstance(node, Element) and node.tag not in _UNSHOWN:
            edge = _EDGE if node.tag in BLOCKS or node.tag in _PARTING else ""
            if node.tag == "br":
                edge = "\n"
            shown.append(edge)
            stack.append(edge)
            stack.extend(reversed(node.children))
    return "".join(shown)


def of_markdown(text: str) -> str:
    """Give a text without the marks of emphasis and code, its escapes and entities resolved.

    Its comments stay: who reads Markdown as it is written reads them, too.
    """
    if _MARKED.search(text) is None:
        return text
    plain = _LINK.sub(_label, _TAG.sub("", text))
    for pattern in (_STARS, _LOW_LINES, _TICKS):
        plain = pattern.sub(r"\2", plain)
    return html.unescape(_ESCAPE.sub(r"\1", plain))


def _label(link: re.Match[str]) -> str:
    """Give what a link shows; a wiki link without a text of its own shows its target."""
    return link["label"] or link["text"] or link["target"] or ""


def parts_words(text: str) -> bool:
    """Stands anything inside a word of a Markdown text that is not shown, or shown otherwise?"""
    return _INSIDE.search(text) is not None


_EDGE: Final = "\0"
"""Between two blocks: no white space, no part of a token, and in no text that a parser gives."""
_PARTING: Final = frozenset(
    (
        *("article", "body", "button", "center", "dialog", "dir", "fieldset", "form", "legend"),
        *("menu", "optgroup", "option", "search", "select", "textarea", "title"),
    )
)
"""Elements that part words as blocks do, besides those that an article may have."""
_UNSHOWN: Final = frozenset(("iframe", "noembed", "noframes", "script", "style", "template"))

_MARKED: Final = re.compile(r"[\\&*_`~<\[]")
_LINK: Final = re.compile(
    r"(?<!\\)!?\[\[(?P<target>[^\[\]|\n]+)(?:\|(?P<text>[^\[\]\n]+))?\]\]"
    r"|(?<!\\)!?\[(?P<label>[^\[\]\n]+)\]"
    r"(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\[\]\n]*\])"
)
"""A wiki link; a link with its target, or with the name of one."""
_INSIDE: Final = re.compile(
    r"&[#\w]+;|[^\W_](?:[*`~]|\\[!-/:-@\[-`{-~]|</?[a-zA-Z][^<>]*>)+[^\W_]"
    r"|[^\W_]\W?!?\[|\](?:\]|\([^()\n]{0,400}\)|\[[^\[\]\n]*\])\W?[^\W_]"
)
"""An entity, which can be a letter, marks between two letters or digits, or the edge of a link
beside one."""
_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|code|del|em|i|ins|kbd|mark|s|small|span|strong|sub|sup|u|var)(?:\s[^<>]*)?>",
    re.IGNORECASE,
)
"""Tags of running text, as they stand in Markdown."""
_STARS: Final = re.compile(r"(?<![\\*~])(\*{1,3}|~~)(?![\s*~])([^*~\n]*[^\s*~\\])\1(?![*~])")
_LOW_LINES: Final = re.compile(r"(?<![\\\w])(_{1,3})(?![\s_])([^_\n]*[^\s_\\])\1(?!\w)")
_TICKS: Final = re.compile(r"(?<![\\`])(`{1,2})(?!`)([^`\n]*[^`\n])\1(?!`)")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
