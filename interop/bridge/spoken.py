"""What a record says, as a search sees it: its words by field, folded, and its text to show."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from interop import fields, shown
from interop.adapter import path_of
from interop.bridge.query import fold, storable
from interop.model import Body, Decision, Memory, Record, Task

COLUMNS: Final = ("title", "name", "description", "tags", "text")
"""The fields of a search, as the tables of the index have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One record's words."""

    columns: tuple[str, str, str, str, str]
    """In the order of ``COLUMNS``, folded."""
    plain: str
    """Everything that it says, as people read it."""
    mark: str
    """The same for records that say the same, whatever they are called."""


def spoken(record: Record) -> Spoken:
    """Give what a record says."""
    title, name, description, tags, text = "", "", "", "", ""
    if isinstance(record, Memory):
        title, name = record.title or "", record.name or ""
        description = _lines(record.description, record.hook)
        tags = _lines(*record.tags, *record.entities, *record.kinds.values())
        text = visible(record.body)
        if isinstance(record, Task):
            tags = _lines(tags, record.status, record.due)
            text = _lines(text, record.evidence)
    elif isinstance(record, Decision):
        title, tags = record.decision or "", record.status or ""
        text = _lines(record.why, record.date, record.evidence, record.supersedes)
    else:
        title = record.subject or ""
        text = _lines(
            record.rejected, record.replacement, record.date, record.reason, record.source
        )
    for own in record.extra.values():
        # the one cell of prose that the model has no field for
        notes = own.get("notes") if isinstance(own, dict) else None
        if isinstance(notes, str):
            text = _lines(text, notes)
    called = _lines(name, _called(record.key))
    return Spoken(
        columns=(fold(title), fold(called), fold(description), fold(tags), fold(text)),
        plain=storable(_lines(title, description, text)),
        mark=_mark(record, text),
    )


def visible(body: Body) -> str:
    """Give a text as people see it: without its markup where it is HTML."""
    if body.media != "text/html":
        return body.text
    lines = shown.of_html(body.text).replace("\0", "\n").split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())


def _called(key: str) -> str:
    """Give what people call a record by its key: an id, or the name of its file."""
    path, cut, name = key.partition("#")
    if cut:
        return name
    return path_of(path).rpartition("/")[2].rpartition(".")[0]


def _mark(record: Record, text: str) -> str:
    """Give a value that is equal for equal facts; a description that repeats the text is none."""
    if isinstance(record, Memory):
        said = _one(text)
        told = _one(record.description or "")
        first = _one(next((line for line in text.split("\n") if line.strip()), ""))
        if not said and not told:
            return ""
        if told in (first, said):
            told = ""
        parts = [record.role, said, told]
        if isinstance(record, Task):
            parts.append(record.status or "")
    else:
        said_by_role = {
            "decision": ("decision", "why", "date"),
            "tombstone": ("subject", "rejected", "replacement", "reason"),
        }
        values = [_one(str(fields.get(record, f) or "")) for f in said_by_role[record.role]]
        if not any(values):
            return ""
        parts = [record.role, *values]
    return "\0".join(parts)


def _one(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _lines(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)
