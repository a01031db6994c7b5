r"""One memory file: a header and a text, one memory.

    ---
    name: billing-service-runs-port-8080
    description: "The billing service runs on port 8080"
    metadata:
      node_type: memory
      type: project
      modified: 2026-11-30T12:00:00.000Z
      observations: 2
    ---

    The billing service runs on port 8080

Spec: docs/formats/theokit.md, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interop.adapters.theokit import header as headers
from interop.adapters.theokit.ecmascript import trimmed
from interop.adapters.theokit.header import Entry, Header
from interop.model import Body, Json, Link, Memory
from interop.syntax import wiki_links
from interop.syntax.splice import Edit, splice

FORMAT = "theokit"
VOCABULARY = "claude"
TERMS = ("user", "feedback", "project", "reference")

_TOP = ("name", "description", "metadata")
_ORDER = ("node_type", "type", "modified", "observations")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file that the runtime reads as a memory, and where its parts stand."""

    text: str
    header: Header
    body: tuple[int, int]
    """The text without the blanks at its ends."""
    memory: Memory
    """The record, without what the index says of it."""


def decode(data: bytes) -> str | None:
    """Read UTF-8 strictly, a byte order mark kept; None when it is something else."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def links(text: str) -> tuple[Link, ...]:
    """Give the wiki links of a text: a view of it."""
    return tuple(Link(target=t) for t in wiki_links.targets(text))


def read(path: str, text: str) -> MemoryFile | str:
    """Read one file, or say why the runtime skips it."""
    header = headers.parse(text)
    if isinstance(header, str):
        return header
    name = headers.get(header.entries, "name")
    description = headers.get(header.entries, "description")
    for key, entry in (("name", name), ("description", description)):
        if entry is None:
            return f"{key} is missing"
        if entry.shape != "string":
            return f"{key} is not a string"
    assert name is not None
    assert description is not None
    span = trimmed(text, header.body)
    body = text[slice(*span)]
    inner = _metadata(header)
    kind, modified = _scalar(inner, "type"), _scalar(inner, "modified")
    extra = _extra(header, inner)
    memory = Memory(
        key=path,
        name=headers.decoded(name.raw) or None,
        description=headers.decoded(description.raw) or None,
        body=Body(text=body),
        kinds={VOCABULARY: kind} if kind else {},
        links=links(body),
        modified=modified or None,
        observations=headers.count(headers.get(inner, "observations")),
        extra={FORMAT: extra} if extra else {},
    )
    return MemoryFile(text, header, span, memory)


def _metadata(header: Header) -> tuple[Entry, ...]:
    entry = headers.get(header.entries, "metadata")
    return entry.below if entry is not None else ()


def _scalar(inner: tuple[Entry, ...], key: str) -> str:
    entry = headers.get(inner, key)
    return headers.decoded(entry.raw) if entry is not None else ""


def _extra(header: Header, inner: tuple[Entry, ...]) -> dict[str, Json]:
    """Give every key that the model has no field for, under its own name."""
    extra: dict[str, Json] = {}
    for entry in header.entries:
        if entry.key not in _TOP:
            extra[entry.key] = headers.value(entry)
    more = {e.key: headers.value(e) for e in inner if not _is_own(e, inner)}
    metadata = headers.get(header.entries, "metadata")
    if more:
        extra["metadata"] = more
    elif metadata is not None and not inner and (metadata.raw or metadata.items):
        extra["metadata"] = headers.value(metadata)
    return extra


def _is_own(entry: Entry, inner: tuple[Entry, ...]) -> bool:
    """Is this a key that the model has, or the mark on every file?"""
    if entry.key == "observations":
        return headers.count(headers.get(inner, "observations")) is not None
    return entry.key in ("type", "modified") or (entry.key, entry.raw) == ("node_type", "memory")


def new(memory: Memory) -> str:
    """Write a new file, as the runtime writes it; what nobody stated has no line."""
    out = [
        "---",
        f"name: {headers.written(memory.name or '')}",
        f"description: {headers.quoted(memory.description or '')}",
        "metadata:",
        "  node_type: memory",
    ]
    out += [f"  {key}: {value}" for key, value in _nested(memory).items() if value is not None]
    head = "\n".join([*out, "---", "", ""])
    return f"{head}{memory.body.text}\n" if memory.body.text else head


def _nested(memory: Memory) -> dict[str, str | None]:
    """Give the values under ``metadata`` as they are written, in the runtime's order."""
    kind = memory.kinds.get(VOCABULARY)
    return {
        "type": headers.written(kind) if kind else None,
        "modified": headers.written(memory.modified) if memory.modified else None,
        "observations": str(memory.observations) if memory.observations else None,
    }


def splice_in(file: MemoryFile, memory: Memory) -> str:
    """Give the file's text with the fields of a record; what they agree on stays as it is."""
    old = file.memory
    edits: list[Edit] = []
    if memory.name != old.name:
        edits += _top(file, "name", headers.written(memory.name or ""))
    if memory.description != old.description:
        edits += _top(file, "description", headers.quoted(memory.description or ""))
    before = _nested(old)
    nested = {k: v for k, v in _nested(memory).items() if v != before[k]}
    edits += _below(file, nested)
    if memory.body.text != old.body.text:
        edits += _body(file, memory.body.text)
    return splice(file.text, edits)


def _top(file: MemoryFile, key: str, value: str) -> list[Edit]:
    entry = headers.get(file.header.entries, key)
    assert entry is not None, "a memory file states its name and description"
    return headers.set_value(file.text, entry, value)


def _below(file: MemoryFile, nested: Mapping[str, str | None]) -> list[Edit]:
    """Set, insert or clear keys under ``metadata``."""
    header = file.header
    inner = _metadata(header)
    edits: list[Edit] = []
    added: list[str] = []
    for key, value in nested.items():
        entry = headers.get(inner, key)
        if value is None:
            for metadata in header.entries:
                if metadata.key == "metadata":
                    edits += headers.clear(metadata.below, key)
        elif entry is not None:
            edits += headers.set_value(file.text, entry, value)
        elif inner:
            at = headers.place(inner, key, _ORDER, inner[-1].stop)
            edits.append(Edit(at, at, f"{inner[0].pad}{key}: {value}{header.eol}"))
        else:
            added.append(f"  {key}: {value}{header.eol}")
    if added:
        edits.append(_opened(header, added))
    return edits


def _opened(header: Header, added: list[str]) -> Edit:
    """Put lines below ``metadata:``, with a new one where none can take them."""
    entry = headers.get(header.entries, "metadata")
    if entry is not None and not entry.raw and not entry.items:
        return Edit(entry.stop, entry.stop, "".join(added))
    block = [f"metadata:{header.eol}", f"  node_type: memory{header.eol}", *added]
    return Edit(header.close, header.close, "".join(block))


def _body(file: MemoryFile, body: str) -> list[Edit]:
    start, end = file.body
    if start < end:
        return [Edit(start, end, body)]
    # an empty body: all behind the fence is blank, and the text goes below one blank line
    eol = file.header.eol
    below = file.text.index("\n", file.header.close) + 1
    return [Edit(below, len(file.text), f"{eol}{body}{eol}")]


def note_span(text: str) -> tuple[int, int]:
    """Say where the text of a hand-written note lies: all but a byte order mark and a line end."""
    start = 1 if text[:1] == "\ufeff" else 0
    end = len(text)
    if end > start and text[end - 1] == "\n":
        end -= 1
        if end > start and text[end - 1] == "\r":
            end -= 1
    return start, end


def splice_note(text: str, body: str) -> str:
    """Give a note with another text; its byte order mark and final line end stay."""
    start, end = note_span(text)
    head, tail = text[:start], text[end:]
    if not head and body[:1] == "\ufeff":
        head = "\ufeff"
    if not tail and body.endswith("\n"):
        tail = "\n"
    if body.endswith("\r") and tail == "\n":
        tail = "\r\n"
    return head + body + tail


def new_note(body: str) -> str:
    """Write a new note."""
    return splice_note("\n", body)
