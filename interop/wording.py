"""What a record says, in words for a person or a model to read: from its JSON form.

    kind          `decision`, `project`, `project (archived)`, `untyped`
    heading       what it is called
    says          what it says on one line
    in_full       everything that it states, field by field, its text last

Nothing is escaped here: whoever prints it does that.
"""

from __future__ import annotations

from collections.abc import Iterator

from interop.bridge import Found
from interop.bridge.results import Data
from interop.model import Json

UNTYPED = "untyped"
"""The kind of a memory for which nobody declared one."""
_FIRST = ("description", "hook", "decision", "rejected")
"""The fields that say what a record is about, the best first."""


def kind(data: Data) -> str:
    """Give the role of what is no memory, the declared kinds, and whether it is archived.

    A memory without a kind is `untyped`; a kind that only repeats the role is not said twice.
    """
    kinds = data.get("kinds")
    said = [str(term) for term in kinds.values()] if isinstance(kinds, dict) else []
    parts = said or [UNTYPED]
    if data.get("role") != "memory":
        parts = [str(data.get("role")), *said]
    if data.get("state") == "archived":
        parts.append("(archived)")
    return " ".join(dict.fromkeys(parts))


def heading(data: Data) -> str:
    """Give what a record is called: its title or name; else what it is about."""
    for field in ("title", "name", "subject"):
        value = data.get(field)
        if isinstance(value, str):
            return value
    return ""


def says(data: Data) -> str:
    """Give what a record says of itself, or the beginning of its text, on one line."""
    if data.get("role") == "tombstone":
        return _rejection(data)
    for field in _FIRST:
        value = data.get(field)
        if isinstance(value, str):
            why = data.get("why")
            more = f", because {why}" if field == "decision" and isinstance(why, str) else ""
            return _one_line(value + more)
    return _one_line(text(data))


def text(data: Data) -> str:
    """Give a record's text as people see it: without its markup where it is HTML."""
    body = data.get("body")
    if not isinstance(body, dict):
        return ""
    written = str(body.get("text", ""))
    if body.get("media") != "text/html":
        return written
    from interop import shown  # most stores hold Markdown

    lines = shown.of_html(written).replace("\0", "\n").split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())


def in_full(data: Data) -> Iterator[str]:
    """Give every stated field on a line of its own, then the lines of the text as it is written."""
    for field, value in data.items():
        if field not in ("role", "key", "body", "extra"):
            yield f"{field}: {_value(value)}"
    extra = data.get("extra")
    if isinstance(extra, dict):
        for own in extra.values():
            # the one cell of prose that the model has no field for
            if isinstance(own, dict) and isinstance(own.get("notes"), str):
                yield f"notes: {own['notes']}"
    body = data.get("body")
    if isinstance(body, dict):
        yield f"text ({body.get('media')}):"
        yield from str(body.get("text", "")).split("\n")


def sources(found: Found) -> Iterator[str]:
    """Give a line for each store that says a fact, by the address that `get` and `forget` take."""
    for source in found.sources:
        marks = ["archived"] if source.state == "archived" else []
        if source.differs:
            marks.append("in other words")
        said = f" ({', '.join(marks)})" if marks else ""
        yield f"{source.store}:{source.key}{said}"


def _rejection(data: Data) -> str:
    parts = [f"{data.get('rejected', '(no value)')} is rejected"]
    if data.get("replacement"):
        parts.append(f"in its place: {data['replacement']}")
    if data.get("reason"):
        parts.append(f"reason: {data['reason']}")
    if data.get("subject"):
        parts.append(f"about {data['subject']}")
    return _one_line("; ".join(parts))


def _value(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, dict):
        if value.keys() == {"rel", "target"}:
            return f"{value['rel']} {value['target']}"
        return ", ".join(f"{name} {_value(inner)}" for name, inner in value.items())
    return str(value)


def _one_line(said: str) -> str:
    return " ".join(said.split())
