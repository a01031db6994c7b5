r"""``CONTEXT.md``: every top-level list item is a memory, its text is verbatim.

    ## Current facts

    - Docks in service: 212. *(as_of: 2026-05-04, evidence: dock register)*

The annotation is found softly and repeated in ``extra``; the text keeps it.
Spec: docs/formats/memory-compiler.md, "Context bullets".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from interop.adapter import repeat_key
from interop.adapters.memory_compiler.topic import CONTEXT, FORMAT
from interop.model import Body, Json, Memory
from interop.syntax import index_lines
from interop.syntax.index_lines import FENCE, Form, Index, Item, Line

_ANNOTATION = re.compile(
    r"\*\(as_of:\s*(?P<as_of>[^,()*]+?)\s*(?:,\s*evidence:\s*(?P<evidence>.*?))?\s*\)\*", re.DOTALL
)
_FACTS = "current facts"
"""The section that new facts go to."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """``CONTEXT.md``, read."""

    text: str
    lines: Index
    records: Mapping[str, Memory]
    items: Mapping[str, int]
    """Key of a record -> number of its item."""

    def item(self, key: str) -> Item:
        """Give the item of a record."""
        return self.lines.items[self.items[key]]

    def prose(self) -> str:
        """Give what is no bullet: headings, notes, tables."""
        out: list[str] = []
        at = 0
        for number in self.items.values():
            item = self.lines.items[number]
            out.append(self.text[at : item.start])
            at = item.stop
        return "".join([*out, self.text[at:]])


def parse(text: str) -> Index:
    """Read the lines of a text in which nothing refers to a file.

    A fence that opens and closes inside of an item is of the item, with the blank lines in it.
    """
    found = index_lines.parse(text, _refers_to_nothing)
    if all(line.kind != "fence" for line in found.lines):
        return found
    lines = list(found.lines)
    items = list(found.items)
    starts = {item.start: number for number, item in enumerate(items)}
    at = 0
    while at < len(lines):
        number = starts.get(lines[at].start) if lines[at].kind == "item" else None
        at += 1
        if number is None:
            continue
        first = at
        at = _end(text, lines, at)
        for n in range(first, at):
            lines[n] = lines[n]._replace(kind="more")
        last = lines[at - 1]
        items[number] = items[number]._replace(text_end=last.end, stop=last.stop)
    return found._replace(lines=tuple(lines), items=tuple(items))


def _end(text: str, lines: Sequence[Line], at: int) -> int:
    """Give the number of the line behind an item whose further lines begin at ``at``."""
    opened = FENCE.match(text[lines[at - 1].start : lines[at - 1].end])
    fence, before = (opened[1], at) if opened else ("", at)
    while at < len(lines):
        line = text[lines[at].start : lines[at].end]
        words = line.strip(" \t")
        if words and line[0] not in " \t":
            break
        if fence:
            if len(words) >= len(fence) and not words.strip(fence[0]):
                fence = ""
        elif not words or lines[at].kind == "comment":
            break
        elif lines[at].kind == "fence" and (opened := FENCE.match(line)):
            fence, before = opened[1], at
        at += 1
    return before if fence else at


def _refers_to_nothing(form: Form, target: str) -> bool:
    return False


def read(text: str) -> Bullets:
    """Read ``CONTEXT.md``."""
    lines = parse(text)
    records: dict[str, Memory] = {}
    items: dict[str, int] = {}
    for number, item in enumerate(lines.items):
        words = text[item.text_start : item.text_end]
        if words.strip():
            key = repeat_key(key_of(words), records)
            records[key] = Memory(key=key, body=Body(text=words), extra=extra_of(words))
            items[key] = number
    return Bullets(text, lines, records, items)


def key_of(words: str) -> str:
    """Give the address of a bullet: it has no id, so its text stands for it."""
    digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{CONTEXT}#{digest[:12]}"


def extra_of(words: str) -> dict[str, Json]:
    """Give what a bullet's annotation states, wrapped lines joined."""
    found = _ANNOTATION.search(" ".join(words.split("\n"))) if "as_of:" in words else None
    if found is None:
        return {}
    said: dict[str, Json] = {
        key: " ".join(stated.split()) for key, stated in found.groupdict().items() if stated
    }
    return {FORMAT: said}


def is_bullet(text: str, marker: str = "- ") -> bool:
    """Can a text stand as a top-level list item, and be read back as it is?"""
    if text.rfind("<!--") > text.rfind("-->") or not text.strip() or text[0] in " \t":
        return False  # a comment that is open here may be closed further below
    whole = f"{marker}{text}\n- z"
    items = parse(whole).items
    return len(items) == 2 and whole[items[0].text_start : items[0].text_end] == text


class Place(NamedTuple):
    """Where new bullets go."""

    offset: int
    items: int
    """How many items stand before it."""
    before: str
    """What has to stand between the text before and the first bullet."""
    line_end: str
    ended: bool
    """Does a line end follow the last bullet?"""


def place(bullets: Bullets) -> Place:
    """Say where new bullets go: the end of the section on current facts, else of the file."""
    text, lines = bullets.text, bullets.lines.lines
    heads = [n for n, line in enumerate(lines) if line.kind == "heading"]
    titles = [text[lines[n].start : lines[n].end].strip(" \t#").casefold() for n in heads]
    first, last = 0, len(lines)
    if _FACTS in titles:
        at = titles.index(_FACTS)
        depth = _depth(text, lines[heads[at]].start)
        first = heads[at] + 1
        last = next((n for n in heads[at + 1 :] if _depth(text, lines[n].start) <= depth), last)
    while last > first and lines[last - 1].kind == "blank":
        last -= 1
    line_end = "\r\n" if "\r\n" in text else "\n"
    if not last:
        return Place(0, 0, "", line_end, True)
    line = lines[last - 1]
    ended = line.end < line.stop
    before = "" if ended else line_end
    if line.kind not in ("item", "more"):
        before += line_end
    count = sum(item.start < line.stop for item in bullets.lines.items)
    return Place(line.stop, count, before, line_end, ended)


def _depth(text: str, start: int) -> int:
    rest = text[start:].lstrip(" ")
    return len(rest) - len(rest.lstrip("#"))
