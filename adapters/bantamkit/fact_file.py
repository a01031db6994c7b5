r"""A fact file: read as the runtime reads it, spliced key by key.

    ---
    name: pump-pressure
    description: Pressure of the cargo bikes
    type: project
    created: '2026-03-01'
    last_recalled: null
    links:
    - tyre-order
    ---

    3.5 bar in front, 4 behind.

The runtime opens the file with universal newlines, cuts it at the first two occurrences of
``---`` + LF wherever they are, loads the header as YAML and strips the body.
Spec: docs/formats/bantamkit.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

from interop.model import Body, Json, Link, Memory, Problem
from interop.syntax import yaml_header
from interop.syntax.splice import Edit, splice
from interop.syntax.substring_fence import Fenced, first_line_end, split, universal
from interop.syntax.yaml_header import Header, Listing, Node, NoHeader, Scalar, Table, written

KEYS = (
    "name",
    "description",
    "type",
    "created",
    "last_recalled",
    "links",
    "outcome",
    "status",
)
"""The runtime's own keys, in the order in which it writes them."""
OUTCOMES = ("error", "success")
NOT_ONE_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""What 0.36 refuses in a description, and reads as one space where a file has it."""
_OWN = frozenset(KEYS)
_NULLS = ("null",)


class Layout(NamedTuple):
    """Where the parts of a fact file lie, which only a writer needs to know."""

    parts: Fenced
    header: Header
    body: tuple[int, int]
    """The stripped body in ``text``."""


@dataclass(frozen=True)
class Fact:
    """A fact file that can be read: its text, and what it says."""

    path: str
    text: str
    record: Memory
    is_usual: bool
    """The header is in every letter as the runtime writes it."""

    @cached_property
    def layout(self) -> Layout:
        """Where its parts lie."""
        found = _layout(self.text)
        assert isinstance(found, Layout), "it was read before"
        return found

    @property
    def parts(self) -> Fenced:
        """The fences."""
        if self.is_usual:  # no need to look at the header for it
            found = split(self.text)
            assert found is not None, "it was read before"
            return found
        return self.layout.parts

    @property
    def header(self) -> Header:
        """The header, with the lines of each key."""
        return self.layout.header

    @property
    def body(self) -> tuple[int, int]:
        """The stripped body in ``text``."""
        return self.layout.body

    def index_line(self) -> str:
        """Give the line that the runtime writes for this fact, without its line end."""
        if self.is_usual:
            said = self.record
            return f"- [[{said.name}]] ({said.kinds['claude']}) — {said.description}"
        values = self.header.values
        kind = values["type"] if "type" in values else _nested(values).get("type")
        description = values["description"]
        if isinstance(description, str):
            description = NOT_ONE_LINE.sub(" ", description)
        line = f"- [[{values['name']}]] ({kind}) — {description}"
        # the runtime cannot write a lone surrogate: it stays the escape that wrote it
        line = line.encode("utf-8", "backslashreplace").decode("utf-8")
        return re.sub(r"[\r\n]+", " ", line)

    def named(self) -> str:
        """Give the name as the runtime knows it."""
        if self.is_usual and self.record.name is not None:
            return self.record.name
        return str(self.header.values["name"])


def read(path: str, data: bytes, known: Memory | None = None) -> Fact | Problem:
    """Read one fact file, or say why neither version of the runtime can.

    ``known`` is the record that was read from these bytes before.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _unread(path, "not UTF-8")
    return _usual(path, text, known) or read_any(path, text)


# The short path: a header as the runtime writes it, with values that every YAML reader takes for
# the text that stands there. A property test holds it and the long path together.

_CHAR = r"(?:[ !\"$-9;-~\xa0-\u2027\u202a-\ud7ff]++|:(?=[!-~])|(?<! )#)"
_LINE = rf"(?! ){_CHAR}+(?<! )"
USUAL = re.compile(
    r"---\nname: ([a-z][a-z0-9-]*)\n"
    rf"description: (?=[A-Za-z])({_LINE}(?:\n  {_LINE})*)\n"
    r"type: (user|feedback|project|reference)\n"
    r"created: '([0-9]{4}-[0-9]{2}-[0-9]{2})'\n"
    r"last_recalled: (?:null|'([0-9]{4}-[0-9]{2}-[0-9]{2})')\n"
    r"links:(?: \[\]|((?:\n- [a-z][a-z0-9-]*)+))\n---\n"
)


def _usual(path: str, text: str, known: Memory | None = None) -> Fact | None:
    found = USUAL.match(text)
    if found is None or text.find("---", 4, found.end() - 4) >= 0:
        return None
    name, description, kind, created, recalled, listed = found.groups()
    if "\n" in description:
        description = description.replace("\n  ", " ")
    targets = listed[3:].split("\n- ") if listed else ()
    if not yaml_header.WORDS.isdisjoint((name, description, *targets)):
        return None
    if known is not None:
        return Fact(path, text, known, True)
    record = Memory(
        key=path,
        name=name,
        description=description,
        body=Body(text=universal(text[found.end() :].strip())),
        kinds={"claude": kind},
        links=tuple([Link(target=target) for target in targets]),
        created=created,
        recalled=recalled,
        state="archived" if path[0] == "a" else "live",
    )
    return Fact(path, text, record, True)


def read_any(path: str, text: str) -> Fact | Problem:
    """Read one fact file the long way, whatever its form."""
    layout = _layout(text)
    if layout is None:
        more = "" if path[0] == "a" else ": a file that is no fact breaks the whole store in 0.27"
        return _unread(path, f"no header{more}")
    if isinstance(layout, NoHeader):
        return _unread(path, layout.problem)
    parts, header, (start, end) = layout
    values = header.values
    missing = [key for key in ("name", "description") if key not in values]
    if "type" not in values and _nested(values).get("type") is None:
        missing.append("type")
    if missing:
        cut = parts.closing > parts.header and text[parts.closing - 1] not in "\r\n"
        why = ': a header line ends in "---" and cuts it there' if cut else ""
        return _unread(path, f"the header has no {' and no '.join(missing)}{why}")
    links = _links(header)
    if links is None:
        return _unread(path, "links is a single value: no version can read the file")
    record = Memory(
        key=path,
        name=_single(header.get("name")),
        description=_single(header.get("description")),
        body=Body(text=universal(text[start:end])),
        kinds=_kinds(header),
        links=links,
        created=_single(header.get("created")),
        recalled=_single(header.get("last_recalled")),
        state="archived" if path[0] == "a" else "live",
        extra=_extra(header),
    )
    fact = Fact(path, text, record, False)
    fact.__dict__["layout"] = layout  # as the cached property would
    return fact


def _layout(text: str) -> Layout | NoHeader | None:
    parts = split(text)
    if parts is None:
        return None
    header = yaml_header.read(text, parts.header, parts.closing)
    if isinstance(header, NoHeader):
        return header
    return Layout(parts, header, _stripped(text, parts.body))


def respell(fact: Fact, target: Memory) -> str | None:
    """Give the file's text with the fields that differ restated, each on its own lines.

    None where the header's keys have no lines of their own.
    """
    edits: list[Edit] = []
    for key, value, clear in _changes(fact, target):
        if not fact.header.on_lines:
            return None
        if clear:
            edits += yaml_header.remove(fact.text, fact.header, key)
        elif fact.header.states(key):
            edits += yaml_header.replace(fact.text, fact.header, key, value)
        else:
            above = KEYS[: KEYS.index(key)]
            edits += yaml_header.insert(fact.text, fact.header, key, value, above)
    if target.body.text != fact.record.body.text:
        edits.append(_body_edit(fact, target.body.text))
    return splice(fact.text, edits)


_NEW = re.compile(
    r"---\nname: [a-z][a-z0-9-]{,73}\n"
    r"description: (?=[^\n]{,67}\n)[A-Za-z](?:[A-Za-z0-9 _.,;/()-]*[A-Za-z0-9_.)])?\n"
    r"type: (?:user|feedback|project|reference)\n"
    r"created: '[0-9]{4}-[0-9]{2}-[0-9]{2}'\n"
    r"last_recalled: (?:null|'[0-9]{4}-[0-9]{2}-[0-9]{2}')\n"
    r"links:(?: \[\]|(?:\n- [a-z][a-z0-9-]{,77})+)\n---\n"
)
"""A header in which the runtime writes every value as it is, on one line."""


def as_it_is(path: str, record: Memory) -> Fact | None:
    """Give a new fact whose header needs no rule of YAML, None for any other.

    Its text is what ``canonical`` gives, and ``read`` gives this very fact for it.
    """
    targets = [link.target for link in record.links]
    links = "".join([f"\n- {target}" for target in targets]) or " []"
    recalled = "null" if record.recalled is None else f"'{record.recalled}'"
    head = (
        f"---\nname: {record.name}\ndescription: {record.description}\n"
        f"type: {record.kinds.get('claude')}\ncreated: '{record.created}'\n"
        f"last_recalled: {recalled}\nlinks:{links}\n---\n"
    )
    body = record.body.text
    plain = (
        record.description is not None
        and not record.extra
        and _NEW.fullmatch(head) is not None
        and head.find("---", 4, len(head) - 4) < 0
        and yaml_header.WORDS.isdisjoint((record.name, record.description, *targets))
        and "\r" not in body
        and body == body.strip()
    )
    if not plain:
        return None
    said = Memory(
        key=path,
        name=record.name,
        description=record.description,
        body=record.body,
        kinds=record.kinds,
        links=record.links,
        created=record.created,
        recalled=record.recalled,
        state="archived" if path[0] == "a" else "live",
    )
    return Fact(path, f"{head}\n{body}\n", said, True)


def canonical(record: Memory) -> str:
    """Give the text of a new file, byte for byte as the runtime writes it."""
    meta: dict[str, object] = {
        "name": record.name,
        "description": record.description,
        "type": record.kinds.get("claude"),
        "created": record.created,
        "last_recalled": record.recalled,
        "links": [link.target for link in record.links],
    }
    own = own_extra(record.extra)
    meta |= {key: own[key] for key in ("outcome", "status") if key in own}
    head = "".join(yaml_header.dump(key, value) for key, value in meta.items())
    return f"---\n{head}---\n\n{record.body.text.strip()}\n"


def own_extra(extra: Mapping[str, Json]) -> dict[str, Json]:
    """Give what a record says under this format's own name."""
    own = extra.get("bantamkit")
    return dict(own) if isinstance(own, dict) else {}


def _unread(path: str, problem: str) -> Problem:
    return Problem(path=path, problem=problem, unread=True)


def _nested(values: Mapping[object, object]) -> Mapping[object, object]:
    """Give the ``metadata`` mapping, in which 0.36 looks for type, loop and status."""
    nested = values.get("metadata")
    return cast("dict[object, object]", nested) if isinstance(nested, dict) else {}


def _stripped(text: str, start: int) -> tuple[int, int]:
    body = text[start:]
    end = start + len(body.rstrip())
    return (end, end) if end == start else (end - len(text[start:end].lstrip()), end)


def _single(node: Node | None) -> str | None:
    """Give a single value as written; null, empty and collections state nothing."""
    if not isinstance(node, Scalar) or node.tag in _NULLS:
        return None
    return node.text or None


def _kinds(header: Header) -> dict[str, str]:
    node = header.get("type") if "type" in header.values else _inner(header, "type")
    term = _single(node)
    return {} if term is None else {"claude": term}


def _inner(header: Header, key: str) -> Node | None:
    table = header.get("metadata")
    if not isinstance(table, Table):
        return None
    return next((value for name, value in reversed(table.pairs) if written(name) == key), None)


def _links(header: Header) -> tuple[Link, ...] | None:
    """Give the links; None where the runtime raises (``list(5)``)."""
    value, node = header.values.get("links"), header.get("links")
    if not value or node is None:
        return ()
    if isinstance(node, Listing):
        return tuple(Link(target=written(item)) for item in node.items)
    if isinstance(node, Table):
        return tuple(Link(target=written(key)) for key, _ in node.pairs)
    return (Link(target=node.text),) if isinstance(value, str | bytes) else None


def _extra(header: Header) -> dict[str, Json]:
    own: dict[str, Json] = {}
    for entry in header.entries:
        if entry.key not in _OWN and entry.key != "<<":
            own[entry.key] = _json(entry.value)
    for key, value in header.merged:
        if key not in _OWN:
            own.setdefault(key, _json(value))
    for key in ("outcome", "status"):
        node = header.get(key)
        if node is None or (isinstance(node, Scalar) and node.tag in _NULLS):
            alias = _alias(header, key)
            if alias is not None:
                own[key] = alias
        else:
            own[key] = _json(node)
    return {"bantamkit": own} if own else {}


def _alias(header: Header, key: str) -> str | None:
    """Give what 0.36 takes from ``metadata`` where the fact itself does not say it."""
    if key == "outcome":
        loop = _single(_inner(header, "loop"))
        return loop if loop in OUTCOMES else None
    return "done" if _single(_inner(header, "status")) in ("done", "archived") else None


def _json(node: Node) -> Json:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Listing):
        return [_json(item) for item in node.items]
    return {written(key): _json(value) for key, value in node.pairs}


def _changes(fact: Fact, target: Memory) -> list[tuple[str, object, bool]]:
    """List key, new value and "take it out" for each header key that the target changes."""
    now, header = fact.record, fact.header
    out: list[tuple[str, object, bool]] = []
    if target.name != now.name:
        out.append(("name", target.name, False))
    if target.description != now.description:
        out.append(("description", target.description, False))
    kind = target.kinds.get("claude")
    if kind != now.kinds.get("claude"):
        out.append(("type", kind, kind is None))
    if target.created != now.created:
        out.append(("created", target.created, target.created is None))
    if target.recalled != now.recalled:
        out.append(("last_recalled", target.recalled, False))
    if target.links != now.links:
        out.append(("links", [link.target for link in target.links], False))
    before, after = own_extra(now.extra), own_extra(target.extra)
    for key in ("outcome", "status"):
        if before.get(key) != after.get(key):
            out.append((key, after.get(key), key not in after))
    return [row for row in out if not (row[2] and not header.states(row[0]))]


def _body_edit(fact: Fact, new: str) -> Edit:
    """Restate the lines of the body that differ, with the line ends that the body has."""
    start, end = fact.body
    raw = fact.text[start:end]
    around = fact.text[fact.parts.body :]
    line_end = first_line_end(raw) or first_line_end(around) or fact.parts.line_end
    if start == end:
        # Nothing but layout yet: the text goes below the blank line, as in a new file.
        blank = first_line_end(around)
        at = fact.parts.body + (around.index(blank) + len(blank) if blank else 0)
        lead = "" if blank else line_end
        tail = "" if first_line_end(fact.text[at:]) else line_end
        return Edit(at, at, lead + new.replace("\n", line_end) + tail)
    old = universal(raw).split("\n")
    rows = new.split("\n")
    raw_rows = re.split("(?<=\n)|(?<=\r)(?!\n)", raw)
    if raw_rows and not raw_rows[-1] and len(raw_rows) > len(old):
        raw_rows.pop()
    same = 0
    while same < min(len(old), len(rows)) - 1 and old[same] == rows[same]:
        same += 1
    below = 0
    while below < min(len(old), len(rows)) - same - 1 and old[-1 - below] == rows[-1 - below]:
        below += 1
    first = start + sum(map(len, raw_rows[:same]))
    last = end - sum(map(len, raw_rows[len(old) - below :]))
    middle = line_end.join(rows[same : len(rows) - below])
    if below:
        kept = raw_rows[len(old) - below - 1]
        middle += kept[len(kept.rstrip("\r\n")) :]
    return Edit(first, last, middle)
