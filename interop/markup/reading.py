"""Markdown as this map reads it: CommonMark and pipe tables, and of raw HTML only what is clean.

A tag that may stand in an article, whole and balanced, is markup; any other ``<`` is text, as it
is for a Markdown reader with raw HTML turned off.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final, cast

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from interop.markup.vocabulary import (
    PHRASE_VOIDS,
    PHRASES,
    STARTS,
    TAG,
    attributes,
    claims,
    clean_blocks,
    comment_end,
    serialise,
    start_tag,
    tag_of,
)

NESTING: Final = 100
"""How deep blocks and phrases are read; the parser drops what lies deeper."""
_BLOCK_START: Final = re.compile(r"<(?:!--|([a-zA-Z][a-zA-Z0-9]*)(?=[\s/>]))")
_CLOSING: Final = {"pre": "</pre>", "!": "-->"}


@cache
def parser() -> MarkdownIt:
    """Give the one reader; its renderer is the reference for what a Markdown text says."""
    md = MarkdownIt("commonmark", {"maxNesting": NESTING})
    md.enable("table")
    # Targets stay as their author wrote them: a percent-encoded one is another string.
    setattr(md, "normalizeLink", str)  # noqa: B010 - a method, to the type checkers
    setattr(md, "normalizeLinkText", str)  # noqa: B010
    md.block.ruler.at("html_block", _html_block, {"alt": ["paragraph", "reference", "blockquote"]})
    md.inline.ruler.at("html_inline", _html_inline)
    md.core.ruler.push("vocabulary", _settle)
    return md


def read(text: str) -> list[Token]:
    """Give the tokens of a Markdown text."""
    # Without a last line end the parser takes another path through an unclosed fence.
    return parser().parse(text if text.endswith("\n") else f"{text}\n")


def _html_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    if state.is_code_block(first):
        return False
    at = state.bMarks[first] + state.tShift[first]
    if not state.src.startswith("<", at):
        return False
    start = _BLOCK_START.match(state.src, at, state.eMarks[first])
    if start is None or not (start[1] is None or start[1].lower() in STARTS):
        return False
    # Every line of an unclosed element may be where one begins: they are not tried for ever.
    spent = cast("int", state.env.get(_SPENT, 0))
    if spent > max(_TRIED, 10 * len(state.src)):
        return False
    closing = _CLOSING.get(start[1].lower() if start[1] else "!")
    line = first
    while line < last and state.sCount[line] >= state.blkIndent:
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        if closing is None and not text:
            break
        line += 1
        if closing is not None and closing in text:
            break
    content = state.getLines(first, line, state.blkIndent, True)
    state.env[_SPENT] = spent + len(content)
    # Most of what is no whole block never ends, and that is seen at less cost.
    if start[1] and start[1].lower() != "hr" and f"</{start[1].lower()}" not in content.lower():
        return False
    nodes = clean_blocks(content)
    if nodes is None:
        return False
    if silent:
        return True
    state.line = line
    token = state.push("html_block", "", 0)
    token.map = [first, line]
    token.content = "".join(map(serialise, nodes)).strip() + "\n"
    # What to show when it turns out that its claim cannot stand.
    token.meta = {"source": content.strip()}
    return True


_SPENT = "interop:tried"
_TRIED = 500_000
"""Characters of raw HTML that are looked at in one text, or ten times the text if that is more;
what comes after them is running text."""


def _html_inline(state: StateInline, silent: bool) -> bool:
    at = state.pos
    if state.src[at] != "<":
        return False
    if (end := comment_end(state.src, at)) and end <= state.posMax:
        content, meta = state.src[at:end], {"tag": "", "open": False}
    else:
        tag = TAG.match(state.src, at, state.posMax)
        if tag is None:
            return False
        name, end = tag["name"].lower(), tag.end()
        if name not in PHRASES and name not in PHRASE_VOIDS:
            return False
        if tag["close"]:
            if name in PHRASE_VOIDS or tag["attributes"]:
                return False
            content, meta = f"</{name}>", {"tag": name, "open": False}
        elif element := tag_of(tag[0]):
            content = start_tag(name, attributes(element).items())
            meta = {"tag": "" if name in PHRASE_VOIDS else name, "open": True}
        else:
            return False
    if not silent:
        token = state.push("html_inline", "", 0)
        token.content = content
        token.meta = {**meta, "source": state.src[at:end]}
    state.pos = end
    return True


def _settle(state: StateCore) -> None:
    """Make text of every raw tag that is not half of a pair, and of every claim out of place."""
    tokens: list[Token] = []
    # The level of the first paragraph or item while inside it; claims stand nowhere else.
    first: int | None = None
    inside, claimed = False, False
    for token in state.tokens:
        if token.type == "html_block":
            found = claims(clean_blocks(token.content) or ())
            if found and (claimed or first is not None or len(found) > 1 or not found[0][1]):
                tokens += _as_paragraph(token)
                first = -1 if first is None else first
                continue
            claimed = claimed or bool(found)
            if first is None and re.search(r"<(?:p|li)\b", token.content):
                first = -1
        elif token.type == "list_item_open" or (
            token.type == "paragraph_open" and not token.hidden
        ):
            if first is None:
                first, inside = token.level, True
        elif token.type in ("list_item_close", "paragraph_close") and token.level == first:
            inside = False
        elif token.type == "inline" and token.children:
            claimed = _pair(token.children, inside and not claimed) or claimed
        tokens.append(token)
    state.tokens = tokens


def _as_paragraph(block: Token) -> list[Token]:
    start = Token("paragraph_open", "p", 1, map=block.map, level=block.level, block=True)
    text = Token("text", "", 0, content=str(block.meta["source"]))
    inline = Token("inline", "", 0, map=block.map, level=block.level + 1, block=True)
    inline.content, inline.children = text.content, [text]
    return [start, inline, Token("paragraph_close", "p", -1, level=block.level, block=True)]


def _pair(children: list[Token], may_claim: bool) -> bool:
    """Find the pairs among raw tags; give back whether one of them is the claim."""
    raw = [i for i, token in enumerate(children) if token.type == "html_inline"]
    if not raw:
        return False
    opened: list[tuple[str, int]] = []
    paired: dict[int, int] = {}
    for at, token in enumerate(children):
        if token.type != "html_inline":
            if token.nesting == 1:
                opened.append((token.type.removesuffix("_open"), at))
            elif token.nesting == -1:
                kind = token.type.removesuffix("_close")
                while opened and opened.pop()[0] != kind:
                    pass
            continue
        meta: dict[str, Any] = token.meta
        if not meta["tag"]:
            paired[at] = at
        elif meta["open"]:
            opened.append((f"<{meta['tag']}", at))
        else:
            # A raw end tag closes a raw start tag of the same phrase, past unclosed raw ones.
            for depth in range(len(opened) - 1, -1, -1):
                name, start = opened[depth]
                if name == f"<{meta['tag']}":
                    paired[start], paired[at] = at, start
                    del opened[depth:]
                    break
                if not name.startswith("<"):
                    break
    claimed = False
    links = [i for i, token in enumerate(children) if token.type == "link_open"]
    for at in raw:
        token = children[at]
        keep = at in paired
        if keep and token.meta["open"] and token.meta["tag"] in ("a", "mark"):
            end = paired[at]
            if token.meta["tag"] == "a":
                inner = (
                    *links,
                    *(i for i in raw if children[i].meta["tag"] == "a" and i in paired),
                )
                keep = not any(at < i < end for i in inner) and not _linked(children, at)
            else:
                keep = may_claim and not claimed and _says(children[at + 1 : end])
                claimed = claimed or keep
            if not keep:
                del paired[at], paired[end]
        if at not in paired:
            token.type, token.content = "text", str(token.meta["source"])
    return claimed


def _linked(children: list[Token], at: int) -> bool:
    depth = sum(t.nesting for t in children[:at] if t.type in ("link_open", "link_close"))
    return depth > 0


def _says(tokens: list[Token]) -> bool:
    code = 0
    for token in tokens:
        if token.type == "html_inline" and token.meta["tag"] == "code":
            code += 1 if token.meta["open"] else -1
        if token.type == "text" and not code and token.content.strip():
            return True
    return False
