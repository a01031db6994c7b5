"""Tasks, decisions and tombstones where a format has memories only: one readable rendering.

    <!-- interop: tombstone T-001 -->
    - **Fact / Key:** palette primary colour
    - **Rejected value:** hex 1E3A5F
    - **Replacement:** D-002

The marker line is the declaration: only a body that begins with one is parsed, and one that no
longer parses stays the memory that it is. A task's own text follows after a blank line. What these
lines cannot say exactly stands in the marker instead, as JSON. A format that has a place for the
marker beside the text says it there, without the marks of a comment: ``tombstone T-001``. What a
format reads differently from what was written (a text in HTML, a line end) is encoded visibly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import orjson

from interop import fields
from interop.fields import Value
from interop.model import Body, Decision, Memory, Record, Task, Tombstone
from interop.syntax.marked import LINE, MARKER

LABELS: Mapping[str, Mapping[str, str]] = {
    "task": {"status": "Status", "due": "Due", "opened": "Opened", "evidence": "Evidence"},
    "decision": {
        "decision": "Decision",
        "why": "Why",
        "date": "Date",
        "evidence": "Evidence",
        "supersedes": "Supersedes",
        "status": "Status",
    },
    "tombstone": {
        "subject": "Fact / Key",
        "rejected": "Rejected value",
        "replacement": "Replacement",
        "date": "Date",
        "reason": "Reason",
        "source": "Source",
    },
}
"""Role -> field -> how its line is labelled."""


Way: TypeAlias = Literal["exact", "encoded", "marker"]
"""How the values are said: as they are; with those that are more than one line of text encoded, so
that any format gives a list back; or in the marker alone."""
WAYS: Final[tuple[Way, ...]] = ("exact", "encoded", "marker")
"""The ways, in the order of what a reader has of them."""
_RISKY: Final = re.compile(r"[<&\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What may be markup of its own, or a line end."""
_MARKS: Final = re.compile(r"[\\`*_\[\]<&~]")
"""What begins markup inside a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a marked text says."""

    role: str
    id: str | None
    values: Mapping[str, str]
    text: str
    """The text of its own that follows; only a task has one."""


def is_marked(text: str) -> bool:
    """Does a text declare itself to be a task, a decision or a tombstone?"""
    return text.startswith("<!-- interop:") and MARKER.match(text) is not None


def apart(text: str) -> tuple[str, str]:
    """Take a rendering apart: what its marker says, and the text that follows.

    A marker that nothing follows says so by its empty JSON, since a format may demand some text.
    """
    marker = MARKER.match(text)
    assert marker is not None, "only what render gave is taken apart"
    rest = text[marker.end() :].removeprefix("\n").removeprefix("\n")
    said = marker.group().removeprefix("<!-- interop: ").removesuffix(" -->")
    return said if rest or marker[3] is not None else f"{said} {{}}", rest


def together(said: str, text: str) -> str:
    """Put a marker that stood beside a text before it again."""
    return f"<!-- interop: {said} -->" + (f"\n\n{text}" if text else "")


def to_memory(record: Record, onto: Memory | None = None, way: Way = "exact") -> Memory:
    """Say a task, a decision or a tombstone as a memory; a memory is itself.

    ``onto`` is the memory that says it now: what it says besides stays, and so does its id. With
    ``way`` other than ``exact`` it says the values less exactly, where a format needs that.
    """
    if isinstance(record, Memory) and not isinstance(record, Task):
        return record
    name = _id_of(record.key) or (id_said(onto) if onto is not None else None)
    values = {f: str(v) for f in LABELS[record.role] if (v := fields.get(record, f)) is not None}
    own = record.body.text if isinstance(record, Task) else ""
    if way == "encoded":
        values = {f: _encoded(v) for f, v in values.items()}
    body = Body(text=render(record.role, name, values, own, in_marker=way == "marker"))
    if isinstance(record, Task):
        stated = {f: fields.get(record, f) for f in fields.FIELDS["memory"]}
        memory = fields.replace(Memory(key=record.key), {**stated, "body": body})
        assert isinstance(memory, Memory)
        if memory.name is None and name is not None and onto is None:
            memory = _with(memory, {"name": f"task-{name.lower()}"})
        if memory.description is None and own.strip():
            memory = _with(memory, {"description": " ".join(own.strip().split("\n")[0].split())})
        return memory
    if onto is not None:
        return _with(onto, {"body": body, **_retold(record, onto)})
    return Memory(
        key=record.key,
        name=f"{record.role}-{name.lower()}" if name is not None else None,
        description=_told(record),
        body=body,
        extra=record.extra,
    )


def _told(record: Record) -> str | None:
    """Give what a memory that says a decision or a tombstone is described by: its first value."""
    label = {"decision": "decision", "tombstone": "subject"}[record.role]
    told = fields.get(record, label)
    return " ".join(str(told).split()) if told is not None else None


def _retold(record: Record, onto: Memory) -> Mapping[str, Value]:
    """Say again what repeated the first value as it was; what somebody else wrote there stays."""
    then = from_memory(onto)
    told = _told(then) if then is not None and then.role == record.role else None
    if told is None:
        return {}
    return {f: _told(record) for f in ("description", "hook") if fields.get(onto, f) == told}


def from_memory(memory: Memory) -> Record | None:
    """Give what a marked memory declares itself to be; None where it no longer parses."""
    parsed = parse(memory.body.text)
    if parsed is None:
        return None
    if parsed.role == "task":
        stated = {f: fields.get(memory, f) for f in fields.FIELDS["memory"]}
        stated["body"] = Body(text=parsed.text, media=memory.body.media)
        return fields.replace(Task(key=memory.key), {**stated, **parsed.values})
    empty = Decision(key=memory.key) if parsed.role == "decision" else Tombstone(key=memory.key)
    return fields.replace(empty, parsed.values)


def id_said(memory: Memory) -> str | None:
    """Give the id in the marker of a memory, whatever has become of its text."""
    marker = MARKER.match(memory.body.text)
    return marker[2] if marker is not None else None


def render(
    role: str, name: str | None, values: Mapping[str, str], text: str, *, in_marker: bool = False
) -> str:
    """Give the rendering, which parses back to the very same values.

    ``in_marker`` lets the marker say them, whether or not lines could.
    """
    head = f"interop: {role}" + (f" {name}" if name is not None else "")
    tail = f"\n\n{text}" if text else ""
    lines = [f"<!-- {head} -->"]
    for field, label in LABELS[role].items():
        if field in values:
            first, *more = values[field].split("\n")
            lines.append(f"- **{label}:** {first}")
            lines += (f"  {line}" if line else "" for line in more)
    plain = "\n".join(lines) + tail
    if not in_marker and parse(plain) == Parsed(role=role, id=name, values=dict(values), text=text):
        return plain
    # as JSON in the marker, where nothing of it can end the comment
    data = orjson.dumps(dict(values)).decode().replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- {head} {data} -->{tail}"


def _encoded(value: str) -> str:
    r"""Give a value as one line of plain text, where it is more: ``a\n---`` as ``a<br>---``."""
    if _RISKY.search(value) is None:
        return value
    lines = (_MARKS.sub(r"\\\g<0>", line.strip()) for line in value.splitlines())
    return "<br>".join(lines)


def parse(text: str) -> Parsed | None:
    """Read a rendering, also after edits; None for what is none any more."""
    text = text.replace("\r\n", "\n")
    marker = MARKER.match(text)
    if marker is None:
        return None
    role, name, data = marker.groups()
    rest = text[marker.end() :]
    if data is not None:
        values = _from_json(role, data)
        if values is None or (rest and not rest.startswith("\n\n")):
            return None
        return _parsed(role, name, values, rest[2:])
    if rest and not rest.startswith("\n"):
        return None
    lines = rest[1:].split("\n") if rest else []
    found: dict[str, list[str]] = {}
    by_label = {label: field for field, label in LABELS[role].items()}
    at, current, margin = 0, "", 2
    while at < len(lines):
        line = lines[at]
        match = LINE.match(line)
        stop = next((n for n in range(at, len(lines)) if lines[n]), at)
        if match is not None:
            label = match["label"]
            if label not in by_label or by_label[label] in found:
                return None
            current, margin = by_label[label], len(match["lead"])
            found[current] = [match["value"] or ""]
        elif current and line.startswith("  "):
            found[current].append(line[min(margin, len(line) - len(line.lstrip(" "))) :])
        elif current and lines[stop].startswith("  "):
            found[current] += lines[at:stop]
            at = stop - 1
        elif stop > at and LINE.match(lines[stop]) and (role != "task" or not current):
            at = stop - 1  # a loose list; a translation also puts the marker and the list apart
        else:
            break
        at += 1
    own = lines[at:]
    if own and own[0]:
        return None
    values = {field: "\n".join(said) for field, said in found.items()}
    return _parsed(role, name, values, "\n".join(own[1:]))


def _parsed(role: str, name: str | None, values: Mapping[str, str], text: str) -> Parsed | None:
    if text.strip() and role != "task":
        return None  # somebody wrote more than the role can say: it stays a memory
    stated = {field: value for field, value in values.items() if value}
    return Parsed(role=role, id=name, values=stated, text=text if role == "task" else "")


def _from_json(role: str, data: str) -> dict[str, str] | None:
    try:
        values = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(values, dict):
        return None
    items: dict[object, object] = values  # pyright: ignore[reportUnknownVariableType]
    out = {k: v for k, v in items.items() if isinstance(k, str) and isinstance(v, str)}
    return out if len(out) == len(items) and out.keys() <= LABELS[role].keys() else None


def _id_of(key: str) -> str | None:
    """Give the id of a record in a shared file, which people know it by."""
    _, hash_, name = key.partition("#")
    return name if hash_ and re.fullmatch(r"[^\s{]\S*", name) else None


def _with(memory: Memory, values: Mapping[str, Value]) -> Memory:
    new = fields.replace(memory, values)
    assert isinstance(new, Memory)
    return new
