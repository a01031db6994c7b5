r"""Fenced headers, read line by line, with the span that states each value.

    ---
    name: dock-sensor
    description: Two of nine report late: see #ops
    metadata:
      type: project
    ---

What a YAML library refuses (an unquoted ``: ``), shortens (`` #``) or retypes (dates, ``yes``) is
text here. YAML's own rules are asked only for complete quoted strings, lists, flow values and block
scalars. Nothing is printed: edits are spliced into the text as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from interop.model import Json
from interop.syntax.splice import Edit, lines

if TYPE_CHECKING:
    import yaml

Style = Literal["plain", "single", "double", "lines", "block", "flow", "list", "map", "empty"]
"""How a value is written; ``lines`` is a scalar that goes on over indented lines."""

_OPEN = re.compile("\ufeff?---[ \t]*\r?\n")
_CLOSE = re.compile("\n---[ \t]*(?:\r?\n|\\Z)")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SINGLE = re.compile(r"'(?:[^']|'')*'")
_BLOCK = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])(?:[ \t]+#.*)?")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))",
    re.DOTALL,
)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_NAMED = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_MUST_ESCAPE = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]')
_INDICATORS = frozenset(",[]{}#&*!|>'\"%@`")
_DEPTH = 20
"""Deeper nesting is read as text: nobody writes it, and it would exhaust the stack."""


class Entry(NamedTuple):
    """One key of a header, or of a map in it; a line without a key has the key ``""``."""

    key: str
    text: str
    """The value as one scalar, unquoted; ``""`` for a map or a list in lines of its own."""
    style: Style
    start: int
    stop: int
    """Its lines: from the start of the first to behind the line end of the last."""
    value_start: int
    value_end: int
    indent: int
    children: tuple[Entry, ...] = ()


class Header(NamedTuple):
    """A fenced header; offsets count from the start of the whole text."""

    start: int
    """Where the opening fence begins: 0, or 1 after a byte order mark."""
    inner: int
    """Where the first line behind the opening fence begins."""
    close: int
    """Where the closing fence begins: a line put here is the last of the header."""
    end: int
    """Behind the line end of the closing fence."""
    eol: str
    entries: tuple[Entry, ...]


def find(text: str) -> tuple[int, int, int] | None:
    """Give (inner, close, end) of the header that a text begins with, or None."""
    opened = _OPEN.match(text)
    if opened is None:
        return None
    closed = _CLOSE.search(text, opened.end() - 1)
    return (opened.end(), closed.start() + 1, closed.end()) if closed else None


def parse(text: str) -> Header | None:
    """Read the header that a text begins with (after a byte order mark), or None."""
    found = find(text)
    if found is None:
        return None
    inner, close, end = found
    rows = [(s + inner, e + inner, t + inner) for s, e, t in lines(text[inner:close])]
    eol = "\r\n" if text[inner - 2] == "\r" else "\n"
    start = 1 if text[0] == "\ufeff" else 0
    return Header(start, inner, close, end, eol, tuple(_entries(text, rows, 0)))


Row = tuple[int, int, int]


def _entries(text: str, rows: Sequence[Row], depth: int) -> Iterable[Entry]:
    base: int | None = 0 if depth == 0 else None
    count = len(rows)
    at = 0
    while at < count:
        start, end, stop = rows[at]
        line = text[start:end]
        words = line.lstrip(" \t")
        if not words or words[0] == "#":
            at += 1
            continue
        indent = len(line) - len(words)
        if base is None:
            base = indent
        colon = words.find(":")
        key = unquote(words[:colon].rstrip(" \t")) if colon > 0 else ""
        if words[:2] in ("- ", "-"):
            key = ""
        inline = words[colon + 1 :] if key else words
        value = inline.strip(" \t")
        value_start = end - len(inline.lstrip(" \t"))
        last = at
        nxt = at + 1
        while nxt < count:
            s, e, _ = rows[nxt]
            first = text[s : s + 1] if s < e else ""
            if depth == 0 and first not in ("", " ", "\t", "#", "-"):
                break
            more = text[s:e].lstrip(" \t")
            width = e - s - len(more)
            if more and width > base:
                last = nxt
            elif more and more[0] != "#":
                if key and not value and width == base and more[:2] in ("- ", "-"):
                    last = nxt
                else:
                    break
            nxt += 1
        if last == at:
            style, scalar = _scalar(value)
            value_end = value_start + len(value)
            yield Entry(key, scalar, style, start, stop, value_start, value_end, indent)
        else:
            yield _long(text, key, value, value_start, rows[at : last + 1], indent, depth)
        at = last + 1


def _scalar(value: str) -> tuple[Style, str]:
    if not value:
        return "empty", ""
    mark = value[0]
    if mark == '"' and _DOUBLE.fullmatch(value):
        return "double", unquote(value)
    if mark == "'" and _SINGLE.fullmatch(value):
        return "single", unquote(value)
    if mark in "[{":
        return "flow", value
    return "plain", value


def _long(
    text: str, key: str, value: str, value_start: int, rows: Sequence[Row], indent: int, depth: int
) -> Entry:
    """Read an entry that goes on in the lines below its own."""
    start, value_end, stop = rows[0][0], rows[-1][1], rows[-1][2]
    below = rows[1:]
    words = [w for s, e, _ in below if (w := text[s:e].strip(" \t"))]
    spoken = [w for w in words if w[0] != "#"]
    children: tuple[Entry, ...] = ()
    style: Style = "lines"
    scalar = ""
    if value[:1] in ("|", ">") and _BLOCK.fullmatch(value):
        style = "block"
        read = _load("x: " + text[value_start:stop])
        scalar = str(read["x"]) if isinstance(read, dict) and "x" in read else "\n".join(words)
    elif value or not spoken:
        style, scalar = _joined([value, *(words if value[:1] in ('"', "'") else spoken)])
    elif spoken[0][:2] in ("- ", "-"):
        style = "list"
    elif spoken[0].find(":") > 0 and depth < _DEPTH:
        style = "map"
        children = tuple(_entries(text, below, depth + 1))
    else:
        style, scalar = _joined(spoken)
    return Entry(key, scalar, style, start, stop, value_start, value_end, indent, children)


def _joined(words: Iterable[str]) -> tuple[Style, str]:
    style, scalar = _scalar(" ".join(w for w in words if w))
    return ("flow" if style == "flow" else "empty" if style == "empty" else "lines"), scalar


def unquote(value: str) -> str:
    """Take the quotes off one complete quoted string; anything else is given back as it is.

    An escape that YAML does not know, or that would be half a character, stays as written.
    """
    if value[:1] == '"' and _DOUBLE.fullmatch(value):
        inner = value[1:-1]
        return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner
    if value[:1] == "'" and _SINGLE.fullmatch(value):
        return value[1:-1].replace("''", "'")
    return value


def _unescape(match: re.Match[str]) -> str:
    high, low, two, four, eight, one = match.groups()
    if high:
        code = 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00
        return chr(code)
    if one is not None:
        return _ESCAPES.get(one, match.group())
    code = int(two or four or eight, 16)
    return match.group() if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code)


def value(text: str, entry: Entry) -> Json:
    """Give an entry's value: lists are lists, maps are maps, every scalar is a string."""
    if entry.style == "map":
        return {c.key: value(text, c) for c in entry.children if c.key}
    if entry.style == "list":
        items = text[entry.value_start : entry.value_end]
        simple = [w for raw in items.split("\n") if (w := raw.strip(" \t\r")) and w[0] != "#"]
        if all(w[:2] == "- " and _is_scalar(w[2:].strip()) for w in simple):
            return [unquote(w[2:].strip(" \t")) for w in simple]
        read = _load(items)
        return read if read is not None else [w.removeprefix("-").strip() for w in simple]
    if entry.style == "flow":
        read = _load(entry.text)
        return read if read is not None else entry.text
    return entry.text


def _is_scalar(item: str) -> bool:
    """Is a list item a scalar whatever stands below it: quoted, or without a mark of YAML's?"""
    return unquote(item) != item or not re.search(r":(?:\s|\Z)|\A(?:- |[\[{|>&*!?])", item)


def _load(text: str) -> Json:
    """Read YAML into strings, lists and maps; None when it is invalid, has aliases or is too deep.

    Built from events, so that neither recursion nor a reference to itself can hurt.
    """
    import yaml  # most headers never need it, and it takes long to import

    stack: list[list[Json] | dict[str, Json]] = [[]]
    keys: list[str | None] = [None]

    def put(item: Json) -> None:
        into = stack[-1]
        if isinstance(into, list):
            into.append(item)
            return
        key = keys[-1]
        if key is None:
            keys[-1] = item if isinstance(item, str) else ""
        else:
            into[key] = item
            keys[-1] = None

    try:
        for event in events(text):
            if isinstance(event, yaml.AliasEvent):
                return None
            if isinstance(event, yaml.ScalarEvent):
                put(str(event.value))
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                new: list[Json] | dict[str, Json]
                new = [] if isinstance(event, yaml.SequenceStartEvent) else {}
                put(new)
                stack.append(new)
                keys.append(None)
                if len(stack) > _DEPTH:
                    return None
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                stack.pop()
                keys.pop()
    except (yaml.YAMLError, ValueError):  # ValueError: an escape beyond Unicode
        return None
    root = stack[0]
    if not (isinstance(root, list) and root) or _has_surrogate(root[0]):
        return None
    return root[0]


def _has_surrogate(item: Json) -> bool:
    return bool(re.search("[\ud800-\udfff]", repr(item)) or re.search(r"\\ud[89a-f]", repr(item)))


def events(text: str) -> Iterator[yaml.Event]:
    """Yield YAML's events, with the C parser where there is one.

    Raises:
        yaml.YAMLError: the text is not valid.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parsed: Iterator[yaml.Event] = yaml.parse(text, Loader=loader)  # pyright: ignore[reportUnknownVariableType]  # types-PyYAML leaves it open
    yield from parsed


def get(entries: Iterable[Entry], key: str) -> Entry | None:
    """Give the entry that states a key: of several the last one."""
    found = None
    for entry in entries:
        if entry.key == key:
            found = entry
    return found


def holds_plain(value: str) -> bool:
    """Can a value stand without quotes, for this reader and for YAML?"""
    return (
        value != ""
        and value == value.strip()
        and value[0] not in _INDICATORS
        and not (value[0] in "-?:" and (len(value) == 1 or value[1] in " \t"))
        and ": " not in value
        and ":\t" not in value
        and " #" not in value
        and "\t#" not in value
        and value[-1] != ":"
        and not _UNSAFE.search(value)
    )


def quoted(value: str, style: Style) -> str:
    """Write a value in single quotes if that is its style and holds it, else in double quotes."""
    if style == "single" and not _UNSAFE.search(value):
        return "'" + value.replace("'", "''") + "'"
    return '"' + _MUST_ESCAPE.sub(_escape, value) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def set_value(text: str, entry: Entry, written: str) -> Edit:
    """Put a value, as it is to be written, in the place of an entry's own."""
    gap = "" if text[entry.value_start - 1] in " \t" else " "
    return Edit(entry.value_start, entry.value_end, gap + written)


def clear(entries: Iterable[Entry], key: str) -> list[Edit]:
    """Remove all statements of a key, the lines that continue them included."""
    return [Edit(e.start, e.stop, "") for e in entries if e.key == key]


def place(entries: Sequence[Entry], key: str, order: Sequence[str], otherwise: int) -> int:
    """Say where a new line for a key goes: behind those before it in an order, else before them."""
    rank = {k: n for n, k in enumerate(order)}
    before = [e.stop for e in entries if e.key in rank and rank[e.key] < rank[key]]
    if before:
        return max(before)
    after = [e.start for e in entries if e.key in rank and rank[e.key] > rank[key]]
    return min(after) if after else otherwise
