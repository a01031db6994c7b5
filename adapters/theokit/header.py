r"""The header of a memory file, read by the runtime's own rules, with the span of each value.

    ---
    name: dock-sensor
    description: "Two of nine report \"late\""
    metadata:
      node_type: memory
      type: project
    ---

Not YAML: a line is a key up to its first colon and a value to its end, nothing is a comment behind
a value, an empty value opens one level of indented lines, and a line without a colon spoils the
whole header. Where the runtime takes one quote off each end of a value, this reader decodes
complete quoted strings: they were written by ``JSON.stringify``.

Spec: docs/formats/theokit.md, section 2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from interop.adapters.theokit.ecmascript import BLANK, trim, visible
from interop.model import Json
from interop.syntax import header as fenced
from interop.syntax.splice import Edit, lines

Shape = Literal["string", "number", "boolean", "map", "list"]

_OPEN = re.compile(f"---[{BLANK}]*\n")
_CLOSE = re.compile(f"\n---[{BLANK}]*\n")
_NUMBER = re.compile("-?[0-9]+")
_ESCAPED = re.compile("[\\x7f-\\x9f\u2028\u2029\ufeff]")
MOST = 2**53 - 1
"""The largest whole number that the runtime keeps exact."""


class Entry(NamedTuple):
    """One statement of a key."""

    key: str
    raw: str
    """The value as written, on one line; empty for what stands in lines below."""
    shape: Shape
    start: int
    stop: int
    """Its lines, to behind the line end of the last."""
    value_start: int
    value_end: int
    pad: str
    """The blanks before its key."""
    below: tuple[Entry, ...] = ()
    """The statements of a map."""
    items: tuple[str, ...] = ()


class Header(NamedTuple):
    """A header that the runtime accepts."""

    entries: tuple[Entry, ...]
    close: int
    """Where the closing fence begins."""
    body: int
    """Where the body begins, blanks before it skipped as the runtime skips them."""
    eol: str


def parse(text: str) -> Header | str:
    """Read the header that a text begins with, or say why the runtime sees none."""
    found = _fences(text)
    if found is None:
        return _why_not(text)
    start, end, body = found
    eol = "\r\n" if text[text.find("\n") - 1] == "\r" else "\n"
    rows = [(s + start, e + start, t + start) for s, e, t in lines(text[start : end + 1])]
    entries = _entries(text, rows)
    return entries if isinstance(entries, str) else Header(entries, end + 1, body, eol)


def _fences(text: str) -> tuple[int, int, int] | None:
    r"""Give where the inside of the header begins and ends, and where the body begins.

    As ``^---\s*\n([\s\S]*?)\n---\s*\n`` finds them, without its way back through long blanks: the
    first fence takes all blank lines below it, and gives the last one up only if it must.
    """
    opened = _OPEN.match(text)
    if opened is None:
        return None
    start = opened.end()
    closed = _CLOSE.search(text, start)
    if closed is None and "\n" in text[3 : start - 1]:
        closed = _CLOSE.match(text, start - 1)
        start -= 1
    return (start, closed.start(), closed.end()) if closed is not None else None


def _why_not(text: str) -> str:
    if text[:1] == "\ufeff" and re.match(f"[{BLANK}]*---[{BLANK}]*\n", text):
        return "BOM before the header: the runtime does not see a header"
    if not re.match(f"---[{BLANK}]*\n", text):
        return "no header"
    if re.search(r"\n---[ \t]*\Z", text):
        return "no line end after the closing fence"
    return "the header is never closed, or it is empty"


def _entries(text: str, rows: Sequence[tuple[int, int, int]]) -> tuple[Entry, ...] | str:
    out: list[Entry] = []
    at = 0
    while at < len(rows):
        entry = _entry(text, rows[at])
        at += 1
        if isinstance(entry, str):
            return entry
        if entry is None:
            continue
        if not entry.raw:
            last = at
            while last < len(rows) and _belongs(text, rows[last]):
                last += 1
            while last > at and not trim(text[rows[last - 1][0] : rows[last - 1][1]]):
                last -= 1
            below = _below(text, entry, rows[at:last])
            if isinstance(below, str):
                return below
            entry, at = below, last
        out.append(entry)
    return tuple(out)


def _entry(text: str, row: tuple[int, int, int]) -> Entry | str | None:
    """Read one line: a statement, nothing, or why it spoils the header."""
    start, end, stop = row
    line = text[start:end]
    words = line.lstrip(" \t")
    if not trim(line) or words[0] == "#":
        return None
    colon = line.find(":")
    if colon < 0:
        return "header line without a colon"
    raw = trim(line[colon + 1 :])
    value_start = start + colon + 1
    if raw:
        value_start += line[colon + 1 :].index(raw)
    shape: Shape = "string"
    if raw in ("true", "false"):
        shape = "boolean"
    elif _NUMBER.fullmatch(raw):
        shape = "number"
    elif not raw:
        shape = "list"  # what the runtime makes of a key with nothing behind and below it
    pad = line[: len(line) - len(words)]
    return Entry(
        trim(line[:colon]), raw, shape, start, stop, value_start, value_start + len(raw), pad
    )


def _belongs(text: str, row: tuple[int, int, int]) -> bool:
    """Is this line indented, or blank?"""
    start, end, _ = row
    return text[start : start + 1] in (" ", "\t") if start < end else True


def _below(text: str, entry: Entry, rows: Sequence[tuple[int, int, int]]) -> Entry | str:
    """Read the indented lines below a key: one level, deeper ones count as of the same."""
    if not rows:
        return entry
    spoken = [w for s, e, _ in rows if (w := trim(text[s:e])) and w[0] != "#"]
    stop = rows[-1][2]
    if spoken and spoken[0].startswith("- "):
        items = tuple(decoded(w[2:].strip()) for w in spoken if w.startswith("- "))
        return entry._replace(items=items, stop=stop)
    found: list[Entry] = []
    for row in rows:
        one = _entry(text, row)
        if isinstance(one, str):
            return one
        if one is not None:
            found.append(one._replace(shape="string") if not one.raw else one)
    return entry._replace(shape="map" if found else "list", below=tuple(found), stop=stop)


def get(entries: Iterable[Entry], key: str) -> Entry | None:
    """Give the statement of a key that counts: of several the last one."""
    found = None
    for entry in entries:
        if entry.key == key:
            found = entry
    return found


def decoded(raw: str) -> str:
    """Decode one complete JSON string; anything else is as written, without quotes around it."""
    if raw[:1] == '"' and "\\" in raw:
        try:
            value = json.loads(raw)
        except ValueError:
            # complete, but no JSON: as the runtime reads it
            return raw[1:-1] if fenced.unquote(raw) != raw else raw
        return visible(value) if isinstance(value, str) else raw
    return fenced.unquote(raw)


def value(entry: Entry) -> Json:
    """Give what an entry states: scalars are strings as written."""
    if entry.shape == "map":
        return {e.key: value(e) for e in entry.below}
    if entry.items:
        return list(entry.items)
    return decoded(entry.raw)


def count(entry: Entry | None) -> int | None:
    """Give a positive whole number, or None: the runtime takes anything else for absent."""
    if entry is None or entry.shape != "number" or len(entry.raw) > 16:
        return None
    number = int(entry.raw)
    return number if 0 < number <= MOST else None


def quoted(text: str) -> str:
    """Write a text as the runtime writes descriptions: one JSON string."""
    return json.dumps(text, ensure_ascii=False)


def written(text: str) -> str:
    """Write a value plain if the runtime and this reader both read that back, else quoted."""
    if (
        text != ""
        and text == trim(text)
        and text[0] not in "\"'#"
        and text[-1] not in "\"'"
        and text not in ("true", "false")
        and not _NUMBER.fullmatch(text)
        and not re.search(r"[\x00-\x1f]", text)
        and not _ESCAPED.search(text)
    ):
        return text
    return quoted(text)


def set_value(text: str, entry: Entry, new: str) -> list[Edit]:
    """Put a value, as it is to be written, in the place of an entry's own."""
    gap = "" if text[entry.value_start - 1] in " \t" else " "
    return [Edit(entry.value_start, entry.value_end, gap + new)]


def clear(entries: Iterable[Entry], key: str) -> list[Edit]:
    """Take out every statement of a key."""
    return [Edit(e.start, e.stop, "") for e in entries if e.key == key]


def place(entries: Sequence[Entry], key: str, order: Sequence[str], otherwise: int) -> int:
    """Say where a new line goes: behind those before it in the order, else before the others."""
    rank = {k: n for n, k in enumerate(order)}
    before = [e.stop for e in entries if rank.get(e.key, len(rank)) < rank[key]]
    if before:
        return max(before)
    after = [e.start for e in entries if rank.get(e.key, -1) > rank[key]]
    return min(after) if after else otherwise
