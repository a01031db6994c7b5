r"""One memory file: a fenced header and a text.

    ---
    name: dock-sensor
    description: "Two of nine report late, since May"
    metadata:
      node_type: memory
      type: project
      originSessionId: 5b0c2f6e-1a44-4e0b-9a51-0d7c3e8f1a01
      modified: 2026-05-02T07:14:09.211Z
    ---

    The sensors of the north quay report late.

(The CLI writes one blank behind ``metadata:``.)

Spec: docs/formats/claude-code.md, sections "The header" and "The text".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from interop.model import Body, Json, Link, Memory
from interop.syntax import header as fenced
from interop.syntax.header import Entry, Header
from interop.syntax.splice import Edit, splice
from interop.syntax.wiki_links import targets

FORMAT = "claude-code"
VOCABULARY = "claude"
TERMS = ("user", "feedback", "project", "reference")
NESTED = {"type": "kinds", "originSessionId": "session", "modified": "modified"}
"""Keys that stand under ``metadata`` (generations 3 and 4) or at the top (1 and 2) -> field."""
HEADER_FIELDS = ("name", "description", "kinds", "session", "modified")

_TOP_ORDER = ("name", "description", "type", "originSessionId", "modified")
_ORDER = ("node_type", "type", "originSessionId", "modified")
_BLANK = re.compile(r"[ \t]*\r?\n")
_QUOTED = re.compile(r"[,'\"`{}\[\]#]|:(?:\s|\Z)|\A[-?:&*!|>%@]")


class MemoryFile(NamedTuple):
    """A file as read."""

    data: bytes
    has_header: bool
    memory: Memory
    """The record, with what the index says of it."""
    blanked: bool
    """A program emptied the header: the name is ``""``, description and kind are gone."""

    @property
    def text(self) -> str:
        """The text of the file, which few of them are ever asked for: the record has its own."""
        return self.data.decode("utf-8")

    @property
    def header(self) -> Header | None:
        """The header with the spans in it, which only a writer needs."""
        return fenced.parse(self.text) if self.has_header else None


def decode(data: bytes) -> str | None:
    """Read UTF-8 strictly, a byte order mark kept; None when it is something else."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def has_header(text: str) -> bool:
    """Does a text begin with a header, whatever its keys?"""
    return fenced.find(text) is not None


def read(
    path: str, data: bytes, title: str | None = None, hook: str | None = None
) -> MemoryFile | None:
    """Read one memory file; any UTF-8 is one. ``title`` and ``hook`` are what the index says."""
    text = decode(data)
    if text is None:
        return None
    usual = USUAL.match(text)
    if usual is None:
        return read_any(path, data, text, title, hook)
    memory = _usual(path, text, usual, title, hook)
    return MemoryFile(data, True, memory, False)


# The short path: a header as the program writes it. A property test holds it and the long path
# together.

_PLAIN = r"""[^\s"'\[{|>](?:[^\r\n]*[^\s])?"""
USUAL = re.compile(
    rf"---\n(?:name: (?P<name>{_PLAIN})\n)?"
    rf'(?:description: (?:(?P<plain>{_PLAIN})|"(?P<quoted>[^"\\\r\n]*)")\n)?'
    r"metadata:[ ]?\n(?:  node_type: memory\n)?"
    rf"(?:  type: (?P<type>{_PLAIN})\n)?"
    rf"(?:  originSessionId: (?P<session>{_PLAIN})\n)?"
    rf"(?:  modified: (?P<modified>{_PLAIN})\n)?---\n(?:[ \t]*\r?\n)?"
)


def _usual(
    path: str, text: str, found: re.Match[str], title: str | None, hook: str | None
) -> Memory:
    name, plain, quoted, kind, session, modified = found.groups()
    start = found.end()
    body = text[start : _body_end(text, start)]
    return Memory(
        key=path,
        name=name,
        title=title,
        description=plain or quoted or None,
        hook=hook,
        body=Body(text=body),
        kinds={VOCABULARY: kind} if kind else {},
        links=wiki_links(body),
        modified=modified,
        session=session,
    )


def read_any(
    path: str, data: bytes, text: str, title: str | None = None, hook: str | None = None
) -> MemoryFile:
    """Read one memory file the long way, whatever its form."""
    header = fenced.parse(text)
    start, end = _body_span(text, header.end if header is not None else None)
    body = text[start:end]
    links = wiki_links(body)
    if header is None:
        memory = Memory(key=path, title=title, hook=hook, body=Body(text=body), links=links)
        return MemoryFile(data, False, memory, False)
    top: dict[str, Entry] = {e.key: e for e in header.entries}
    inner = top.get("metadata")
    values = _nested(text, inner)
    name = top["name"].text if "name" in top else None
    description = top["description"].text if "description" in top else ""
    stated: dict[str, str] = {}
    extra: dict[str, Json] = {}
    for key, entry in top.items():
        if key in NESTED:
            below = values.get(key)
            stated[key] = below if isinstance(below, str) and below else entry.text
            if entry.text and stated[key] != entry.text:
                extra[key] = entry.text  # both places state it, and they disagree
            elif entry.style in ("map", "list"):
                extra[key] = fenced.value(text, entry)
        elif key == "metadata":
            more = {k: v for k, v in values.items() if not _is_own(k, v)}
            if more:
                extra[key] = more
            elif not values and entry.style != "empty" and entry.text:
                extra[key] = fenced.value(text, entry)
        elif key and (key not in ("name", "description") or entry.style in ("map", "list")):
            extra[key] = fenced.value(text, entry)
    for key in NESTED:
        below = values.get(key)
        if key not in stated and isinstance(below, str):
            stated[key] = below
    kind = stated.get("type")
    memory = Memory(
        key=path,
        name=name or None,
        title=title,
        description=description or None,
        hook=hook,
        body=Body(text=body),
        kinds={VOCABULARY: kind} if kind else {},
        links=links,
        modified=stated.get("modified") or None,
        session=stated.get("originSessionId") or None,
        extra={FORMAT: extra} if extra else {},
    )
    return MemoryFile(data, True, memory, name == "" and not description and not kind)


def with_entry(file: MemoryFile, title: str | None, hook: str | None) -> MemoryFile:
    """Give a file with what the index says of it now."""
    memory = file.memory
    if memory.title == title and memory.hook == hook:
        return file
    # Named one by one: to ask the class for its fields takes as long as to read the file.
    memory = Memory(
        key=memory.key,
        name=memory.name,
        title=title,
        description=memory.description,
        hook=hook,
        body=memory.body,
        kinds=memory.kinds,
        links=memory.links,
        modified=memory.modified,
        session=memory.session,
        extra=memory.extra,
    )
    return file._replace(memory=memory)


def _nested(text: str, inner: Entry | None) -> Mapping[str, Json]:
    """Give what stands under ``metadata``, in lines of its own or as a flow map."""
    if inner is None:
        return {}
    if inner.style == "map":
        return {
            c.key: c.text if c.key in NESTED and c.text else fenced.value(text, c)
            for c in inner.children
            if c.key
        }
    if inner.style == "flow":
        flow = fenced.value(text, inner)
        return flow if isinstance(flow, dict) else {}
    return {}


def _is_own(key: str, value: Json) -> bool:
    """Is this a key under ``metadata`` that the model has, or the mark on every file?"""
    return isinstance(value, str) and (key in NESTED or (key == "node_type" and value == "memory"))


def _body_span(text: str, header_end: int | None) -> tuple[int, int]:
    start = 1 if text[:1] == "\ufeff" else 0
    if header_end is not None:
        blank = _BLANK.match(text, header_end)
        start = blank.end() if blank else header_end
    return start, _body_end(text, start)


def _body_end(text: str, start: int) -> int:
    end = len(text)
    if end > start and text[end - 1] == "\n":
        end -= 1
        if end > start and text[end - 1] == "\r":
            end -= 1
    return end


def wiki_links(body: str) -> tuple[Link, ...]:
    """Give the wiki links outside code, each target once, in order."""
    return tuple([Link(target=t) for t in targets(body)])


def written(value: str) -> str:
    """Write a value as the CLI does: in double quotes if it has one of its marks."""
    if _QUOTED.search(value) or not fenced.holds_plain(value):
        return fenced.quoted(value, "double")
    return value


def new(memory: Memory) -> str:
    """Write a new file, as the present CLI writes it (generation 4)."""
    text = _new_header(memory, "\n") + "\n" + memory.body.text
    return text + ("\r\n" if text.endswith("\r") else "\n")


def _new_header(memory: Memory, eol: str) -> str:
    out = ["---"]
    for key, value in (("name", memory.name), ("description", memory.description)):
        if value:
            out.append(f"{key}: {written(value)}")
    out += ["metadata: ", "  node_type: memory"]
    for key, value in _nested_values(memory).items():
        if value:
            out.append(f"  {key}: {written(value)}")
    return eol.join([*out, "---", ""])


def _nested_values(memory: Memory) -> dict[str, str | None]:
    return {
        "type": memory.kinds.get(VOCABULARY),
        "originSessionId": memory.session,
        "modified": memory.modified,
    }


def splice_in(file: MemoryFile, memory: Memory) -> str:
    """Give the file's text with the fields of a record; what they agree on stays as it is."""
    old = file.memory
    text = file.text
    wanted: dict[str, str | None] = {}
    for key, now, then in (
        ("name", memory.name, old.name),
        ("description", memory.description, old.description),
    ):
        if now != then:
            wanted[key] = now
    before = _nested_values(old)
    nested = {k: v for k, v in _nested_values(memory).items() if v != before[k]}
    if wanted or nested:
        text = _with_header(file, memory, wanted, nested)
    if memory.body.text != old.body.text:
        text = _with_body(text, memory.body.text)
    return text


def _with_header(
    file: MemoryFile,
    memory: Memory,
    wanted: Mapping[str, str | None],
    nested: Mapping[str, str | None],
) -> str:
    text, header = file.text, file.header
    if header is None:
        mark = 1 if text[:1] == "\ufeff" else 0
        cut = text.find("\n")
        eol = "\r\n" if cut > 0 and text[cut - 1] == "\r" else "\n"
        return text[:mark] + _new_header(memory, eol) + eol + text[mark:]
    edits: list[Edit] = []
    for key, value in wanted.items():
        edits += _statement(text, header, header.entries, key, value, "")
    inner = fenced.get(header.entries, "metadata")
    at_top = inner is None and any(fenced.get(header.entries, k) for k in NESTED)
    added: list[str] = []
    is_flow = inner is not None and inner.style == "flow"
    unfold = {k: v for k, v in nested.items() if is_flow and k in _nested(text, inner)}
    for key, value in nested.items():
        below = fenced.get(inner.children, key) if inner else None
        above = fenced.get(header.entries, key)
        is_above = above is not None and above.text != ""
        if value is None:
            edits += fenced.clear(header.entries, key)
            for entry in header.entries:
                if entry.key == "metadata":
                    edits += fenced.clear(entry.children, key)
        elif key in unfold:
            continue
        elif inner and inner.style == "map" and not (is_above and not (below and below.text)):
            first = inner.children[0]
            pad = text[first.start : first.start + first.indent]
            edits += _statement(text, header, inner.children, key, value, pad, inner.stop)
        elif (inner is None and not at_top) or (inner and inner.style == "empty" and not above):
            added.append(f"  {key}: {written(value)}{header.eol}")
        else:
            edits += _statement(text, header, header.entries, key, value, "")
    if inner and unfold:
        edits += _unfolded(text, header, inner, unfold)
    if added:
        if inner is None:
            added[:0] = [f"metadata: {header.eol}", f"  node_type: memory{header.eol}"]
        edits.append(_at(header.close if inner is None else inner.stop, "".join(added)))
    return splice(text, edits)


def _at(place: int, line: str) -> Edit:
    return Edit(place, place, line)


def _statement(
    text: str,
    header: Header,
    entries: tuple[Entry, ...],
    key: str,
    value: str | None,
    pad: str,
    otherwise: int | None = None,
) -> list[Edit]:
    """Set, insert or clear one key among the entries of one level."""
    if value is None:
        return fenced.clear(entries, key)
    entry = fenced.get(entries, key)
    if entry is not None:
        if entry.style in ("single", "double"):
            return [fenced.set_value(text, entry, fenced.quoted(value, entry.style))]
        keeps = entry.style == "plain" and fenced.holds_plain(value)
        return [fenced.set_value(text, entry, value if keeps else written(value))]
    order = _ORDER if pad else _TOP_ORDER
    where = fenced.place(entries, key, order, header.close if otherwise is None else otherwise)
    if not pad and not any(e.key in order for e in entries):
        where = header.inner
    return [_at(where, f"{pad}{key}: {written(value)}{header.eol}")]


def _unfolded(
    text: str, header: Header, inner: Entry, nested: Mapping[str, str | None]
) -> list[Edit]:
    """Write a flow map of scalars as lines, the one way to change a key in it."""
    flow = fenced.value(text, inner)
    if not isinstance(flow, dict) or not all(isinstance(v, str) for v in flow.values()):
        return []
    values: dict[str, Json] = {**flow, **nested}
    order = {k: n for n, k in enumerate(_ORDER)}
    keys = sorted(values, key=lambda k: order.get(k, -1))
    stated = ((k, v) for k in keys if isinstance(v := values[k], str) and v)
    below = [f"{header.eol}  {k}: {written(v)}" for k, v in stated]
    return [fenced.set_value(text, inner, "".join(below))]


def _with_body(text: str, body: str) -> str:
    """Put another body, layout kept as far as the body can be read back from it."""
    header = fenced.parse(text)
    start, end = _body_span(text, header.end if header is not None else None)
    final = text[end:]
    head = text[:start]
    if header is None:
        if body[:1] == "\ufeff" and not head:
            head = "\ufeff"
        if fenced.find(head + body + "\n"):
            head += "---\n---\n\n"
    else:
        eol = header.eol
        bare = header.end == len(text)
        if not head.endswith("\n"):
            head += eol
        if bare or (start == header.end and _BLANK.match(body + "\n")):
            head += eol
            final = final or (eol if bare else "")
    if body.endswith("\n") and not final:
        final = "\n"
    if body.endswith("\r") and final == "\n":
        final = "\r\n"
    return head + body + final


_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?(?=\n)")
_CLOSING = re.compile(rb"\n---[ \t]*\r?(?:\n|\Z)")
_OWN_KEY = re.compile(rb"\n(?:name|description|metadata):")


def raw_header(data: bytes) -> bytes | None:
    """Give the lines of the header that a file opens with, however long, each after its line end.

    For telling formats apart: nothing is decoded, and a file without a header costs next to
    nothing.
    """
    opening = _OPENING.match(data)
    closing = _CLOSING.search(data, opening.end()) if opening is not None else None
    return data[opening.end() : closing.start()] if opening is not None and closing else None


def has_own_header(data: bytes) -> bool:
    """Does a file open with a header that has one of this format's keys at its top level?"""
    inner = raw_header(data)
    return inner is not None and bool(_OWN_KEY.search(inner))
