"""Markdown → the article's inner HTML, block by block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

from interop.markup.blocks import Block
from interop.markup.reading import NESTING, read
from interop.markup.vocabulary import escape_text, is_comment, start_tag

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ALIGN: Final = re.compile(r"text-align:\s*(\w+)")
_EMPTY: Final = re.compile(r"<p>(?:[ \t\n\f]|&#13;)*</p>")
_WHITE: Final = " \t\n\f\r"
_CONTAINERS: Final = {
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "paragraph": "p",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
}
_LINEWISE: Final = frozenset(
    ("blockquote", "bullet_list", "ordered_list", "table", "thead", "tbody", "tr")
)
_PHRASES: Final = {"em": "em", "strong": "strong", "link": "a"}


def blocks_of_markdown(text: str) -> list[Block]:
    """Split a Markdown text into its top-level blocks, each with its HTML."""
    tokens = read(text)
    offsets = [m.start() for m in _LINE.finditer(text) if m.start() < len(text)]
    offsets.append(len(text))
    if any(token.level >= NESTING - 2 for token in tokens):
        start, end = _trim(text, 0, len(text))
        return [Block(start, end, code_block(text[start:end] + "\n", "markdown"))]
    blocks: list[Block] = []
    at = first = 0
    for index, token in enumerate(tokens):
        if token.level or token.nesting == 1:
            if not token.level:
                first = index
            continue
        opening = tokens[first] if token.nesting == -1 else token
        assert opening.map is not None, "a block token without lines"
        start, end = (offsets[min(n, len(offsets) - 1)] for n in opening.map)
        blocks += _unsaid(text, at, start)
        start, end = _trim(text, start, end)
        inner = tokens[first : index + 1] if token.nesting == -1 else [token]
        html = _render(inner)
        # A line of white space that is no blank line is an empty paragraph: nothing is said.
        empty = token.type == "paragraph_close" and _EMPTY.fullmatch(html)
        blocks.append(Block(start, end, "" if empty else html))
        at = end
    return [*blocks, *_unsaid(text, at, len(text))]


def code_block(content: str, info: str) -> str:
    """Write a block of code: a figure that holds nothing else."""
    # The last line end belongs to the fence, not to the code; empty lines alone are code.
    text = content.removesuffix("\n") if content.strip("\n") else content
    word = first_word(info)
    values: list[tuple[str, str]] = []
    if word:
        values.append(("data-lang", word))
    if info != word:
        values.append(("data-info", info))
    return f"<figure><pre>{start_tag('code', values)}{escape_text(text)}</code></pre></figure>"


def first_word(info: str) -> str:
    """Give the language among the words after a fence."""
    return re.split(rf"[{_WHITE}]", info, maxsplit=1)[0]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave blank lines at both ends to the separators, and the last line end with them."""
    while start < end:
        line = _LINE.match(text, start, end)
        assert line is not None
        if line[0].strip(" \t\r\n") or line.end() == start:
            break
        start = line.end()
    return start, start + len(text[start:end].rstrip(" \t\r\n"))


def _unsaid(text: str, start: int, end: int) -> list[Block]:
    """Give what stands between blocks and is no block: link definitions, kept as a comment."""
    start, end = _trim(text, start, end)
    if start == end:
        return []
    comment = f"<!--{text[start:end]}-->"
    return [Block(start, end, comment if is_comment(comment) else "")]


def _render(tokens: Sequence[Token]) -> str:
    out: list[str] = []
    for token in tokens:
        kind, _, half = token.type.rpartition("_")
        if half == "open" and kind in _CONTAINERS:
            if token.hidden:
                continue
            _break(out)
            out.append(_open(token, _CONTAINERS[kind]))
            if kind in _LINEWISE:
                out.append("\n")
        elif half == "close" and kind in _CONTAINERS:
            if token.hidden:
                continue
            if kind in _LINEWISE:
                _break(out)
            out.append(f"</{_CONTAINERS[kind]}>")
            if kind != "paragraph":
                out.append("\n")
        elif token.type == "heading_open":
            _break(out)
            out.append(f"<{token.tag}>")
        elif token.type == "heading_close":
            out.append(f"</{token.tag}>\n")
        elif token.type == "inline":
            if out and out[-1].endswith(("</p>", "</figure>")):
                out.append("\n")
            out.append(_inline(token.children or []))
        elif token.type == "hr":
            _break(out)
            out.append("<hr>\n")
        elif token.type in ("fence", "code_block"):
            _break(out)
            out += (code_block(token.content, unescapeAll(token.info).strip(_WHITE)), "\n")
        elif token.type == "html_block":
            _break(out)
            out.append(token.content)
        else:
            raise AssertionError(f"a block of an unknown type: {token.type}")
    return "".join(out).strip("\n")


def _break(out: list[str]) -> None:
    if out and not out[-1].endswith(("\n", "<li>")):
        out.append("\n")


def _open(token: Token, tag: str) -> str:
    values: list[tuple[str, str]] = []
    for name, value in token.attrs.items():
        if name == "start":
            values.append((name, str(value)))
        elif name == "style" and (align := _ALIGN.search(str(value))):
            values.append(("align", align[1]))
    return start_tag(tag, values)


def _inline(tokens: Sequence[Token]) -> str:
    out: list[str] = []
    for token in tokens:
        kind, _, half = token.type.rpartition("_")
        if token.type == "text":
            out.append(escape_text(token.content))
        elif token.type == "softbreak":
            out.append("\n")
        elif token.type == "hardbreak":
            out.append("<br>\n")
        elif token.type == "code_inline":
            out.append(f"<code>{escape_text(token.content)}</code>")
        elif token.type == "html_inline":
            out.append(token.content)
        elif token.type == "image":
            values = {name: str(value) for name, value in token.attrs.items()}
            values["alt"] = _plain(token.children or [])
            out.append(start_tag("img", values.items()))
        elif half == "open" and kind in _PHRASES:
            out.append(start_tag(_PHRASES[kind], ((k, str(v)) for k, v in token.attrs.items())))
        elif half == "close" and kind in _PHRASES:
            out.append(f"</{_PHRASES[kind]}>")
        else:
            raise AssertionError(f"a phrase of an unknown type: {token.type}")
    return "".join(out)


def _plain(tokens: Sequence[Token]) -> str:
    out: list[str] = []
    for token in tokens:
        if token.type == "image":
            out.append(_plain(token.children or []))
        elif token.type in ("softbreak", "hardbreak"):
            out.append("\n")
        elif token.type in ("text", "code_inline"):
            out.append(token.content)
    return "".join(out)
