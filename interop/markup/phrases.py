"""Running text of an article → Markdown: escapes, emphasis, links, code, raw tags."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from turbohtml import Comment, Element, Node, Text

from interop.markup.reading import parser
from interop.markup.vocabulary import (
    BLOCKS,
    VOIDS,
    attributes,
    is_comment,
    start_tag,
)


class Unsayable(Exception):
    """Markdown has no words for this; it has to be written as raw HTML."""


class Style(Enum):
    """How emphasis is written; the next one is tried where one is misread."""

    STARS = 0
    MIXED = 1
    TAGS = 2


_SPECIAL: Final = re.compile(r"[\\`*_<&!\[\](|\r]")
_REFERENCE: Final = re.compile(r"&(?:#[xX]?[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);")
_AROUND_LINE_END: Final = re.compile(r"(?<![ \t])[ \t]*\n[ \t\n]*")
_SPACE: Final = " \t\n\f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACE_AT_EDGE: Final = re.compile(rf"\A[{_SPACE}]+|(?<![{_SPACE}])[{_SPACE}]+\Z")
_MARKS: Final = re.compile(
    r"(?:[-+*](?=[ \t]|\Z)"  # a list item
    r"|>"  # a quote
    r"|\#{1,6}(?=[ \t]|\Z)"  # a heading
    r"|~~~"  # a fence
    r"|(?=[-=|:])[-=|:][-=|: \t]*\Z)"  # an underline, a rule, the second row of a table
)
_NUMBER: Final = re.compile(r"(\d{1,9})([.)])(?=[ \t]|\Z)", re.ASCII)
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]{1,31}:[!#-;=?-\[\]^_a-z{-~]*", re.ASCII | re.I)
_BARE: Final = re.compile(r"[^\s<>()\\&\x00-\x20\x7f]+")
_TICKS: Final = re.compile(r"`+")
_PUNCTUATION: Final = frozenset(string.punctuation)


@dataclass(slots=True)
class Phrases:
    """Writes running text in one place: a paragraph, a heading, a cell."""

    style: Style = Style.STARS
    one_line: bool = False
    in_cell: bool = False
    _out: list[str] = field(default_factory=list[str])
    _link: int = 0
    _above: list[str] = field(default_factory=list[str])

    def write(self, nodes: Sequence[Node]) -> str:
        """Write the nodes as Markdown; raises ``Unsayable`` at a block among them."""
        self._nodes(nodes)
        text = "".join(self._out).replace("\\\n", "\\\0")
        text = _AROUND_LINE_END.sub(" " if self.one_line else "\n", text).strip(" \t\n")
        # A break keeps its own line end, without the white space after it.
        text = re.sub(r"\\\0[ \t\n]*", "\\\n", text)
        if self.one_line:
            return _edges(text)
        text = "\n".join(_line_start(_edges(line)) for line in text.split("\n"))
        if text.startswith("["):
            # It would define a link otherwise.
            text = re.sub(r"\]:", r"]\\:", text, count=1)
        return text

    def _nodes(self, nodes: Sequence[Node]) -> None:
        for index, node in enumerate(nodes):
            if isinstance(node, Text):
                self._out.append(self._text(node.data))
            elif isinstance(node, Comment):
                comment = f"<!--{node.data}-->"
                if not is_comment(comment) or re.search(r"\n[ \t]*\n", comment):
                    raise Unsayable
                if self.one_line and "\n" in comment:
                    raise Unsayable
                self._out.append(comment)
            elif isinstance(node, Element):
                if node.tag in BLOCKS:
                    raise Unsayable
                self._element(node, node is nodes[-1] or _blank(nodes[index + 1 :]))

    def _element(self, element: Element, last: bool) -> None:
        tag = element.tag
        values = attributes(element)
        before = self._out[-1][-1:] if self._out else ""
        children = list(element.children)
        if tag == "br" and not values and not (last or self.one_line):
            self._out.append("\\\n")
            return
        if not (
            (tag == "code" and not values and self._code(children, before))
            or (tag in ("em", "strong") and not values and self._emphasis(tag, children, before))
            or (tag == "a" and self._anchor(children, values))
            or (tag == "img" and self._image(values))
        ):
            self._out.append(start_tag(tag, values.items()))
            if tag not in VOIDS:
                self._above.append("<")
                self._nodes(children)
                self._above.pop()
                self._out.append(f"</{tag}>")

    def _code(self, children: Sequence[Node], before: str) -> bool:
        text = "".join(n.data for n in children if isinstance(n, Text))
        if not text or before == "`" or any(not isinstance(n, Text) for n in children):
            return False
        text = re.sub(r"[\n\f\r]", " ", text)
        if self.in_cell:
            text = text.replace("|", "\\|")
        longest = {len(run) for run in _TICKS.findall(text)}
        ticks = next(n for n in range(1, len(longest) + 2) if n not in longest) * "`"
        padded = text.startswith(" ") and text.endswith(" ") and text.strip(" ")
        pad = " " if padded or text.startswith("`") or text.endswith("`") else ""
        self._out.append(f"{ticks}{pad}{text}{pad}{ticks}")
        return True

    def _emphasis(self, tag: str, children: Sequence[Node], before: str) -> bool:
        if self.style is Style.TAGS or not children:
            return False
        mark = "*"
        if self.style is Style.MIXED:
            parent = self._above[-1] if self._above else ""
            mark = "_" if before == "*" or parent == "*" else "*"
        marks = mark * (2 if tag == "strong" else 1)
        self._above.append(mark)
        self._out.append(marks)
        start = len(self._out)
        self._nodes(children)
        # White space inside the marks would unmake them.
        self._out[start:] = [_edges("".join(self._out[start:])), marks]
        self._above.pop()
        return True

    def _anchor(self, children: Sequence[Node], values: dict[str, str]) -> bool:
        href = values.get("href")
        if href is None or set(values) - {"href", "title"} or self._link:
            return False
        if not (target := _target(href, values.get("title"))):
            return False
        plain = "".join(n.data for n in children if isinstance(n, Text))
        alone = len(children) == 1 and plain == href
        if alone and "title" not in values and "%" not in href and _ADDRESS.fullmatch(href):
            self._out.append(f"<{href}>")
            return True
        self._out.append("[")
        self._link += 1
        self._nodes(children)
        self._link -= 1
        self._out.append(f"]{target}")
        return True

    def _image(self, values: dict[str, str]) -> bool:
        if not {"src", "alt"} <= set(values) <= {"src", "alt", "title"}:
            return False
        if not (target := _target(values["src"], values.get("title"))):
            return False
        self._link += 1
        alt = self._text(values["alt"]).replace("\n", "&#10;")
        self._link -= 1
        self._out.append(f"![{alt}]{target}")
        return True

    def _text(self, text: str) -> str:
        if not _SPECIAL.search(text):
            return text
        return _SPECIAL.sub(self._escaped, text)

    def _escaped(self, match: re.Match[str]) -> str:
        char, text, at = match[0], match.string, match.start()
        after = text[at + 1 : at + 2]
        before = text[at - 1 : at] if at else ""
        needed: bool
        if char == "\\":
            needed = not after or after.isspace() or after in _PUNCTUATION
        elif char == "*":
            needed = not (before.isspace() and after.isspace())
        elif char == "_":
            left = text[:at].rstrip("_")[-1:]
            right = text[at:].lstrip("_")[:1]
            needed = not (left.isalnum() and right.isalnum())
        elif char == "<":
            needed = not after or after in "/!?" or after.isalpha()
        elif char == "&":
            needed = _REFERENCE.match(text, at) is not None
        elif char == "!":
            needed = not after or after == "["
        elif char in "[]":
            needed = self._link > 0
        elif char == "(":
            needed = before == "]"
        elif char == "|":
            needed = self.in_cell
        elif char == "`":
            needed = True
        else:
            return "&#13;"
        return f"\\{char}" if needed else char


def _target(href: str, title: str | None) -> str | None:
    if title == "" or not parser().validateLink(href):
        return None
    if href and _BARE.fullmatch(href):
        written = href
    elif not href and title is None:
        written = ""
    else:
        written = f"<{_quoted(href, '<>')}>"
    return f"({written})" if title is None else f'({written} "{_quoted(title, chr(34))}")'


def _quoted(text: str, marks: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        char, at = match[0], match.start()
        if char == "\\" and match.string[at + 1 : at + 2] not in _PUNCTUATION:
            return "\\\\" if at + 1 == len(match.string) else char
        if char == "&" and not _REFERENCE.match(match.string, at):
            return char
        return f"&#{ord(char)};" if char.isspace() else f"\\{char}"

    return re.sub(rf"[\\&{marks}\n\r\t\f]", escaped, text)


def _blank(nodes: Sequence[Node]) -> bool:
    return all(isinstance(n, Text) and not n.data.strip(" \t\n\f\r") for n in nodes)


def _edges(line: str) -> str:
    """Spell the white space at a line's ends that a reader would strip."""
    return _SPACE_AT_EDGE.sub(lambda m: "".join(f"&#{ord(c)};" for c in m[0]), line)


def _line_start(line: str) -> str:
    if _MARKS.match(line):
        return f"\\{line}"
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line
