"""A YAML mapping whose keys stand on lines of their own: values as written, spans, edits.

The mapping is composed, not only loaded, so that every scalar keeps its lexeme (``2.50`` stays
``2.50``, a date stays its text) and every key knows its lines. The dialect is that of PyYAML's
``SafeLoader``, which is what programs in Python read with; libyaml's loader is used where it is
present and agrees, and a short path of its own reads what ``yaml.safe_dump`` writes.

Hostile input is bounded: nesting, aliases that expand, and values that cannot be built are problems
and never exceptions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

from interop.syntax.splice import Edit
from interop.syntax.substring_fence import first_line_end, universal

MAX_DEPTH = 64
"""Deepest nesting that is composed."""
MAX_NODES = 20_000
"""Most nodes that a header may have once its aliases are written out."""
MAX_CHARS = 200_000
"""Longest header that is composed."""


class Scalar(NamedTuple):
    """A single value: the text it states, and the tag that YAML gives it."""

    text: str
    """Without quotes and folds; plain scalars are exactly as written. A lone surrogate, which no
    file can hold, stays the escape that wrote it."""
    tag: str
    """``str``, ``null``, ``int``, ``float``, ``bool``, ``timestamp``, or another tag in full."""


class Listing(NamedTuple):
    """A sequence."""

    items: tuple[Node, ...]
    written: str
    """Its source text."""


class Table(NamedTuple):
    """A mapping inside the mapping."""

    pairs: tuple[tuple[Node, Node], ...]
    written: str
    """Its source text."""


Node: TypeAlias = Scalar | Listing | Table


class Entry(NamedTuple):
    """One key, its value, and the lines that state them."""

    key: str
    value: Node
    start: int
    """Offset of the start of the key's first line, in the text as it is."""
    end: int
    """Offset after the line end of the value's last line."""


class Header(NamedTuple):
    """A mapping as it stands in a text."""

    entries: tuple[Entry, ...]
    """In the order of the text, repeats included."""
    values: Mapping[object, object]
    """What ``yaml.safe_load`` gives; of a repeated key the last, merged keys included."""
    start: int
    end: int
    on_lines: bool
    """Does every key have lines of its own? Not so in ``{a: 1, b: 2}``: no edits there."""
    indent: int = 0
    """Columns before the keys."""
    line_end: str = "\n"
    merged: tuple[tuple[str, Node], ...] = ()
    """What a merge key (``<<``) brings in: no entry states it here."""

    def get(self, key: str) -> Node | None:
        """Give the value that counts: the last one that the key states, or None."""
        for entry in reversed(self.entries):
            if entry.key == key:
                return entry.value
        if self.merged:
            return next((v for k, v in reversed(self.merged) if k == key), None)
        return None

    def states(self, key: str) -> bool:
        """Does an entry of its own state this key?"""
        return any(e.key == key for e in self.entries)


class NoHeader(NamedTuple):
    """Why a text is no such mapping."""

    problem: str


def read(text: str, start: int = 0, end: int | None = None) -> Header | NoHeader:
    """Read the mapping in ``text[start:end]``; line ends may be LF, CRLF or CR."""
    end = len(text) if end is None else end
    raw = text[start:end]
    plain = universal(raw)
    line_end = first_line_end(raw) or "\n"
    found = _canonical(plain)
    if found is None:
        from interop.syntax import composed  # PyYAML, which most headers never need

        slow = composed.compose(plain)
        if isinstance(slow, NoHeader):
            return slow
        entries, values, on_lines, indent, merged = slow
    else:
        entries, values = found
        on_lines, indent, merged = True, 0, ()
    if plain is not raw:
        entries = _to_raw(entries, raw, plain)
    if start:
        entries = [Entry(e.key, e.value, e.start + start, e.end + start) for e in entries]
    return Header(tuple(entries), values, start, end, on_lines, indent, line_end, merged)


def dump(key: str, value: object) -> str:
    """Give the lines of one key as PyYAML writes them, folded at 80 columns."""
    # What needs neither an escape nor a fold goes without the price of an emitter.
    quick: str | None = None
    if value is None or value == []:
        quick = "[]" if value == [] else "null"
    elif isinstance(value, str):
        quick = _quick(value, 78 - len(key))
    elif isinstance(value, list):
        items = cast("list[object]", value)
        rows = [_quick(item, 78) if isinstance(item, str) else None for item in items]
        if None not in rows and _PLAIN_KEY.fullmatch(key) and key not in WORDS:
            return f"{key}:\n" + "".join(f"- {row}\n" for row in rows)
    if quick is not None and _PLAIN_KEY.fullmatch(key) and key not in WORDS:
        return f"{key}: {quick}\n"
    import yaml  # which most headers never need

    return yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True)


def _quick(text: str, room: int) -> str | None:
    if len(text) <= room and _PLAIN.fullmatch(text) and text not in WORDS:
        return text
    return f"'{text}'" if _DAY.fullmatch(text) else None


def replace(text: str, header: Header, key: str, value: object) -> list[Edit]:
    """Give the edits that restate a key that is there, on its own lines and nowhere else."""
    assert header.on_lines
    entry = next(e for e in reversed(header.entries) if e.key == key)
    return [Edit(entry.start, entry.end, _lines_for(header, key, value))]


def insert(text: str, header: Header, key: str, value: object, after: Sequence[str]) -> list[Edit]:
    """Give the edits that state a new key, below the last entry of any key in ``after``.

    Where none of them is there, it goes on top.
    """
    assert header.on_lines
    new = _lines_for(header, key, value)
    above = [e for e in header.entries if e.key in after]
    if not above:
        at = header.entries[0].start if header.entries else header.start
        return [Edit(at, at, new)]
    at = above[-1].end
    if text[at - 1 : at] not in ("\n", "\r"):
        new = header.line_end + new
    return [Edit(at, at, new)]


def remove(text: str, header: Header, key: str) -> list[Edit]:
    """Give the edits that take out every statement of a key; comments around it stay."""
    assert header.on_lines
    return [Edit(e.start, e.end, "") for e in header.entries if e.key == key]


def written(node: Node) -> str:
    """Give a node's text: a single value's own, otherwise its source."""
    return node.text if isinstance(node, Scalar) else node.written


def _lines_for(header: Header, key: str, value: object) -> str:
    text = dump(key, value)
    if header.indent:
        text = "".join(" " * header.indent + line for line in text.splitlines(keepends=True))
    return text if header.line_end == "\n" else text.replace("\n", header.line_end)


# The short path: what `yaml.safe_dump` writes for strings, nulls and lists of strings, and no more.
# Whatever it does not know goes to PyYAML; a property test holds the two together.

_PLAIN_KEY = re.compile("[a-z_]+")
_PLAIN = re.compile("[A-Za-z](?:[A-Za-z0-9 _.,;/()-]*[A-Za-z0-9_.)])?")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_KEY = re.compile(r"([a-z_]+):(?: |(?=\n))")
WORDS = frozenset(
    w for word in ("yes", "no", "true", "false", "on", "off", "null") for w in
    (word, word.capitalize(), word.upper())
)  # fmt: skip
"""Plain words that YAML takes for something other than text."""
_ODD = re.compile(
    "[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_NULL = Scalar("null", "null")


def _canonical(plain: str) -> tuple[list[Entry], dict[object, object]] | None:
    if not plain.endswith("\n") or _ODD.search(plain):
        return None
    entries: list[Entry] = []
    values: dict[object, object] = {}
    rows = plain.split("\n")
    rows.pop()
    count, row, at = len(rows), 0, 0
    while row < count:
        line = rows[row]
        found = _KEY.match(line + "\n")
        if found is None:
            return None
        key, rest = found[1], line[found.end() :]
        if key in WORDS:
            return None
        first, row = row, row + 1
        value: Node | None
        loaded: object
        if not rest:
            items: list[Scalar] = []
            while row < count and rows[row].startswith("- "):
                item, row = _one(rows, row, rows[row][2:])
                if item is None or item is _NULL:
                    return None
                items.append(item)
            if not items:
                return None
            value = Listing(tuple(items), "\n".join(rows[first + 1 : row]))
            loaded = [item.text for item in items]
        elif rest == "[]":
            value, loaded = Listing((), "[]"), []
        else:
            value, row = _one(rows, first, rest)
            if value is None:
                return None
            loaded = None if value is _NULL else value.text
        end = at + sum(map(len, rows[first:row])) + row - first
        entries.append(Entry(key, value, at, end))
        values[key] = loaded
        at = end
    return (entries, values) if entries else None


def _one(rows: list[str], row: int, text: str) -> tuple[Scalar | None, int]:
    """Read a plain or single-quoted scalar that begins on ``rows[row]``; give the next row."""
    row += 1
    pieces = [text]
    while row < len(rows) and rows[row].startswith("  "):
        more = rows[row][2:]
        if pieces[-1][-1:] == " " or more[:1] in ("", " "):
            return None, row
        pieces.append(more)
        row += 1
    folded = text if len(pieces) == 1 else " ".join(pieces)
    if folded[-1:] == " ":
        return None, row
    if folded[:1] == "'":
        inner = folded[1:-1].replace("''", "")
        if len(folded) < 2 or folded[-1] != "'" or "'" in inner:
            return None, row
        return Scalar(folded[1:-1].replace("''", "'"), "str"), row
    if folded in WORDS:
        return (_NULL if folded == "null" else None), row
    plain = folded[:1].isalpha() and ": " not in folded and " #" not in folded
    return (Scalar(folded, "str") if plain and folded[-1] != ":" else None), row


def _to_raw(entries: list[Entry], raw: str, plain: str) -> list[Entry]:
    """Carry line spans over to the text that has its own line ends."""
    starts, raw_starts = _starts(plain), _starts_of_any(raw)

    def there(at: int) -> int:
        line = bisect_right(starts, at) - 1
        return raw_starts[line] if starts[line] == at else len(raw)

    return [Entry(e.key, e.value, there(e.start), there(e.end)) for e in entries]


def _starts(plain: str) -> list[int]:
    return [0, *(m.end() for m in re.finditer("\n", plain))]


def _starts_of_any(raw: str) -> list[int]:
    return [0, *(m.end() for m in re.finditer("\r\n|\r|\n", raw))]
