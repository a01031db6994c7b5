"""The article's inner HTML → Markdown, block by block.

What Markdown can say is written in Markdown; everything else as raw HTML, which the reader of the
other direction takes back as it was. Each text is read again before it is given, so a block that
would be misread is written in the next, plainer way.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from turbohtml import Comment, Element, Node, Text

from interop.markup.blocks import HTML, MARKDOWN, Block, join
from interop.markup.phrases import Phrases, Style, Unsayable
from interop.markup.to_html import blocks_of_markdown, first_word
from interop.markup.vocabulary import BLOCKS, attributes, parse, same_meaning, serialise, too_deep

_WITH_BLANK_LINES: Final = re.compile(r"<pre\b.*?</pre>|<!--.*?-->|\n[ \t]*\n\s*", re.DOTALL)
_BLANK_LINE: Final = re.compile(r"\n([ \t]*)\n")
_HEADINGS: Final = {f"h{n}": n for n in range(1, 7)}
_RULES: Final = {"left": ":---", "center": ":---:", "right": "---:", "": "---"}
_WHITE: Final = " \t\n\f\r"


def blocks_of_html(text: str) -> list[Block]:
    """Split an article's inner HTML into its top-level blocks, each with its Markdown."""
    nodes = parse(text)
    if too_deep(nodes):
        start, end = _whole(text)
        return [Block(start, end, _fence(text[start:end] + "\n", "html"))]
    spans = _spans(text, nodes)
    written = [_write(group, Style.STARS) for _, _, group in spans]
    meant = [_meaning(group) for _, _, group in spans]
    if _read(join(written, MARKDOWN)) != "".join(meant):
        for n, (_, _, group) in enumerate(spans):
            for style in Style:
                written[n] = _write(group, style)
                if _read(written[n]) == meant[n]:
                    break
            else:
                written[n] = _raw(group)
    return [Block(start, end, md) for (start, end, _), md in zip(spans, written, strict=True)]


def spans_of_html(text: str) -> list[tuple[int, int]]:
    """Give where the blocks of an article's inner HTML stand, without saying them in Markdown."""
    nodes = parse(text)
    return [_whole(text)] if too_deep(nodes) else [(s, e) for s, e, _ in _spans(text, nodes)]


def _whole(text: str) -> tuple[int, int]:
    return len(text) - len(text.lstrip(_WHITE)), len(text.rstrip(_WHITE))


def _read(markdown: str) -> str:
    html = join([block.other for block in blocks_of_markdown(markdown)], HTML)
    return same_meaning(parse(html))


def _meaning(group: Sequence[Node]) -> str:
    meaning = same_meaning(group)
    # Running text outside any paragraph is read as one.
    bare = any(not isinstance(n, Comment) and not _is_block(n) and not _blank([n]) for n in group)
    return f"<p>{meaning}</p>" if bare else meaning


def _is_block(node: Node) -> bool:
    return isinstance(node, Element) and node.tag in BLOCKS


def _spans(text: str, nodes: Sequence[Node]) -> list[tuple[int, int, list[Node]]]:
    """Group nodes into blocks, and find the text of each.

    Only elements that are written in the text have a place; text and comments have the place that
    the elements around them leave.
    """
    offset = _offsets(text)
    located = [(n, m.source_location) for n, m in enumerate(nodes) if m.source_location]
    placed = [n for n, _ in located]
    starts = [place.start_tag.start_offset for _, place in located]
    spans: list[tuple[int, int, list[Node]]] = []
    loose: list[Node] = []
    at = 0

    def close(end: int) -> None:
        nonlocal at
        start = at + len(text[at:end]) - len(text[at:end].lstrip(_WHITE))
        end = start + len(text[start:end].rstrip(_WHITE))
        if loose and (start < end or not _blank(loose)):
            spans.append((start, end, list(loose)))
        elif start < end and spans:
            spans[-1] = (spans[-1][0], end, spans[-1][2])
        elif start < end:
            spans.append((start, end, []))
        at = max(at, end)
        loose.clear()

    for n, node in enumerate(nodes):
        place = node.source_location if _is_block(node) else None
        if place is None:
            if not (isinstance(node, Text) and not node.data.strip(_WHITE) and not loose):
                loose.append(node)
            continue
        start = offset(place.start_tag.start_offset)
        if start < at:
            # The parser moved something; what is entangled is one block.
            loose.append(node)
            continue
        close(start)
        if place.end_tag is not None:
            end = offset(place.end_tag.end_offset)
        elif node.children:
            following = bisect_right(placed, n)
            end = offset(starts[following] if following < len(starts) else len(text))
        else:
            end = offset(place.start_tag.end_offset)
        end = start + len(text[start : max(end, start)].rstrip(_WHITE))
        spans.append((start, end, [node]))
        at = end
    close(len(text))
    return spans


def _offsets(text: str) -> _Offsets:
    return _Offsets([m.start() for m in re.finditer("\r\n", text)], len(text))


class _Offsets:
    """The parser counts CR LF as one character; this counts it as two again."""

    def __init__(self, pairs: list[int], length: int) -> None:
        self._counted = [pair - n for n, pair in enumerate(pairs)]
        self._length = length

    def __call__(self, offset: int) -> int:
        return min(offset + bisect_left(self._counted, offset), self._length)


def _blank(nodes: Sequence[Node]) -> bool:
    return all(isinstance(n, Text) and not n.data.strip(_WHITE) for n in nodes)


def _write(group: Sequence[Node], style: Style) -> str:
    try:
        if not group:
            return ""
        if len(group) == 1 and isinstance(group[0], Element) and group[0].tag in BLOCKS:
            return _block(group[0], style, 0)
        comments = [n.data for n in group if isinstance(n, Comment)]
        if comments and all(isinstance(n, Comment) or _blank([n]) for n in group):
            return "\n".join(f"<!--{data}-->" for data in comments)
        return Phrases(style).write(group)
    except Unsayable:
        return _raw(group)


def _raw(nodes: Sequence[Node]) -> str:
    """Write nodes as one raw block: no blank line may be in it, for that would end it."""
    html = "".join(map(serialise, nodes)).strip(_WHITE)
    return _WITH_BLANK_LINES.sub(_without_blank_lines, html)


def _without_blank_lines(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith("<pre"):
        return _BLANK_LINE.sub(r"\n\1&#10;", text)
    # Between tags a blank line says nothing; in a comment there is no other way to write one.
    return re.sub(r"\n\s*\n", "\n", text)


def _block(element: Element, style: Style, depth: int) -> str:
    try:
        return _native(element, style, depth)
    except Unsayable:
        return _raw([element])


def _native(element: Element, style: Style, depth: int) -> str:
    tag, values, children = element.tag, attributes(element), list(element.children)
    if tag in ("ul", "ol"):
        return _list(element, style, depth)
    if tag == "figure":
        return _code(element)
    if tag == "table":
        return _table(element, style)
    if values or (_blank(children) and tag == "p"):
        raise Unsayable
    if tag == "p":
        return Phrases(style).write(children)
    if tag == "hr":
        return "___" if depth else "---"
    if tag == "blockquote":
        inner = "\n\n".join(_inside(children, style, depth + 1))
        return "\n".join(f"> {line}" if line else ">" for line in inner.split("\n"))
    if tag in _HEADINGS:
        return _heading(children, _HEADINGS[tag], style)
    raise Unsayable


def _heading(children: Sequence[Node], level: int, style: Style) -> str:
    breaks = any(isinstance(n, Element) and n.tag == "br" for n in children)
    if breaks and level <= 2:
        text = Phrases(style).write(children)
        # A longer line under a pipe would make it a table.
        rule = "-" if "|" in text else "---"
        return f"{text}\n{'===' if level == 1 else rule}"
    text = Phrases(style, one_line=True).write(children)
    if re.search(r"(?:^|[ \t])#+$", text):
        # A reader drops number signs at the end.
        text = f"{text[:-1]}\\#"
    return f"{'#' * level} {text}".rstrip(" ")


def _inside(children: Sequence[Node], style: Style, depth: int) -> list[str]:
    """Write the blocks of a container that holds nothing else."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, Element) and child.tag in BLOCKS:
            parts.append(_block(child, style, depth))
        elif isinstance(child, Comment):
            parts.append(_write([child], style))
        elif not _blank([child]):
            raise Unsayable
    return parts


def _list(element: Element, style: Style, depth: int) -> str:
    ordered = element.tag == "ol"
    values = attributes(element)
    start = values.pop("start", "1")
    if values or not re.fullmatch(r"\d{1,9}", start, re.ASCII) or "start" in values:
        raise Unsayable
    items: list[Element] = []
    for child in element.children:
        if isinstance(child, Element) and child.tag == "li" and not attributes(child):
            items.append(child)
        elif not _blank([child]):
            raise Unsayable
    if not items or (not ordered and start != "1"):
        raise Unsayable
    if ordered and len(str(int(start) + len(items))) > 9:
        raise Unsayable
    loose = any(isinstance(c, Element) and c.tag == "p" for item in items for c in item.children)
    second = _is_second(element)
    between = "\n\n" if loose else "\n"
    out: list[str] = []
    for n, item in enumerate(items):
        bullet = "*" if second else "-"
        mark = f"{int(start) + n}{')' if second else '.'} " if ordered else f"{bullet} "
        inside = list(item.children)
        parts = _inside(inside, style, depth + 1) if loose else _item(inside, style, depth)
        body = between.join(parts)
        indent = " " * len(mark)
        lines = body.split("\n")
        text = mark + "\n".join([lines[0], *(indent + s if s else s for s in lines[1:])])
        out.append(text.rstrip(" ") if not body else text)
    return between.join(out)


def _is_second(element: Element) -> bool:
    """Does a list follow a list, so that only another mark keeps them apart?"""
    second = False
    before = element.previous_sibling
    while before is not None:
        if isinstance(before, Element) and before.tag == element.tag:
            second = not second
        elif not _blank([before]):
            break
        before = before.previous_sibling
    return second


def _item(children: Sequence[Node], style: Style, depth: int) -> list[str]:
    """Write the parts of an item of a tight list: running text and blocks in turn."""
    parts: list[str] = []
    run: list[Node] = []

    def close() -> None:
        if not _blank(run):
            parts.append(Phrases(style).write(run))
        run.clear()

    for child in children:
        if isinstance(child, Element) and child.tag in BLOCKS:
            close()
            parts.append(_block(child, style, depth + 1))
        else:
            run.append(child)
    close()
    return parts


def _only(element: Element, tag: str) -> Element:
    children = [c for c in element.children if not _blank([c])]
    if len(children) != 1 or not isinstance(children[0], Element) or children[0].tag != tag:
        raise Unsayable
    return children[0]


def _code(figure: Element) -> str:
    pre = _only(figure, "pre")
    code = pre.children[0] if len(pre.children) == 1 else None
    if not isinstance(code, Element) or code.tag != "code" or attributes(figure) or attributes(pre):
        raise Unsayable
    values = attributes(code)
    info = values.pop("data-info", values.get("data-lang", ""))
    language = values.pop("data-lang", "")
    if values or any(not isinstance(n, Text) for n in code.children):
        raise Unsayable
    if language != first_word(info) or info != info.strip(_WHITE):
        raise Unsayable
    text = "".join(n.data for n in code.children if isinstance(n, Text))
    return _fence(text if not text.strip("\n") else text + "\n", info)


def _fence(content: str, info: str) -> str:
    mark = "~" if "`" in info else "`"
    longest = max((len(run) for run in re.findall(rf"{mark}+", content)), default=0)
    fence = mark * max(3, longest + 1)
    written = re.sub(r"([\\&])", r"\\\1", info).replace("\n", "&#10;").replace("\r", "&#13;")
    return f"{fence}{written}\n{content}{fence}"


def _table(table: Element, style: Style) -> str:
    sections = [c for c in table.children if not _blank([c])]
    tags = [c.tag if isinstance(c, Element) else "" for c in sections]
    if attributes(table) or tags not in (["thead"], ["thead", "tbody"]):
        raise Unsayable
    rows = [_rows(c) for c in sections if isinstance(c, Element)]
    if len(rows[0]) != 1 or (len(rows) > 1 and not rows[1]):
        raise Unsayable
    head = rows[0][0]
    body = rows[1] if len(rows) > 1 else []
    if any(len(row) != len(head) for row in body) or not head:
        raise Unsayable
    aligns = [_align(cell) for cell in head]
    if any(cell.tag != "th" for cell in head):
        raise Unsayable
    if any(
        c.tag != "td" or _align(c) != a for row in body for c, a in zip(row, aligns, strict=True)
    ):
        raise Unsayable
    lines = [_row(head, style), f"| {' | '.join(_RULES[a] for a in aligns)} |"]
    return "\n".join([*lines, *(_row(row, style) for row in body)])


def _rows(section: Element) -> list[list[Element]]:
    rows: list[list[Element]] = []
    for row in section.children:
        if _blank([row]):
            continue
        if (
            not isinstance(row, Element)
            or row.tag != "tr"
            or attributes(row)
            or attributes(section)
        ):
            raise Unsayable
        cells = [c for c in row.children if not _blank([c])]
        rows.append([c for c in cells if isinstance(c, Element)])
        if len(rows[-1]) != len(cells):
            raise Unsayable
    return rows


def _align(cell: Element) -> str:
    values = attributes(cell)
    align = values.pop("align", "")
    if values or align not in _RULES or (align == "" and "align" in attributes(cell)):
        raise Unsayable
    return align


def _row(cells: Sequence[Element], style: Style) -> str:
    texts = [Phrases(style, one_line=True, in_cell=True).write(list(c.children)) for c in cells]
    return f"| {' | '.join(texts)} |"
