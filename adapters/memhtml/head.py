"""The head of a file: its statements in order, one element a line, and edits to them.

An edit touches the one attribute that states a value. A new statement gets a line of its own where
the runtime would put it, so that the runtime's own edits, which go by lines, stay right.

Spec: docs/formats/memhtml.md, "The file".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from interop.adapters.memhtml.memory_file import MemoryFile, status_of
from interop.adapters.memhtml.parts import Statement
from interop.adapters.memhtml.vocabulary import (
    FORMAT,
    REPEATED,
    ROLE,
    STATEMENTS,
    escape_attribute,
    escape_text,
    link_line,
    meta_line,
)
from interop.model import Json, Memory, Task
from interop.syntax.splice import Edit

_HEAD_END = re.compile(r"</head[\s/>]", re.IGNORECASE)


def statements(record: Memory, *, archived: bool) -> dict[str, tuple[str, ...]]:
    """Give what the head states of a record: name without prefix -> values, in their order."""
    own = record.extra.get(FORMAT)
    extra: dict[str, Json] = own if isinstance(own, dict) else {}
    said: dict[str, tuple[str, ...]] = {}

    def put(name: str, *values: str | None) -> None:
        said[name] = tuple(v for v in values if v is not None)

    for name, value in extra.items():
        if isinstance(value, list):
            put(name, *(v for v in value if isinstance(v, str)))
        elif isinstance(value, str):
            put(name, value)
    put("type", record.kinds.get(FORMAT))
    if "status" not in said:
        put("status", status_of(archived=archived))
    put("created", record.created)
    put("updated", record.modified)
    put("session", record.session)
    put("archived", record.archived)
    put("entity", *record.entities)
    put("tag", *record.tags)
    if isinstance(record, Task):
        put("task-status", record.status)
        put("due", record.due)
    return {name: said[name] for name in STATEMENTS if said.get(name)}


def new_file(record: Memory, *, archived: bool) -> str:
    """Give the file of a new record as the runtime writes one; `with_hash` makes it whole."""
    said = statements(record, archived=archived)
    said["content-hash"] = ("",)
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f"<title>{escape_text(record.title or '')}</title>",
        *(meta_line(name, value) for name in STATEMENTS for value in said.get(name, ())),
        *(link_line(link.rel, link.target) for link in record.links),
        "</head>",
        "<body>",
        "<article>",
        record.body.text,
        "</article>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def with_hash(text: str, content_hash: str) -> str:
    """Put the content hash into a new file, which states an empty one."""
    said, unsaid = meta_line("content-hash", content_hash), meta_line("content-hash", "")
    return text.replace(unsaid, said, 1)  # no title and no attribute before it holds a whole tag


def edits(file: MemoryFile, target: Memory, *, archived: bool) -> Iterator[Edit]:
    """Give the edits that make a file's head state a target; what is equal is not touched."""
    before = statements(file.record, archived=file.record.state == "archived")
    after = statements(target, archived=archived)
    if target.title != file.record.title:
        yield Edit(*file.title, escape_text(target.title or ""))
    for name in STATEMENTS:
        old, new = before.get(name, ()), after.get(name, ())
        if name == "content-hash" or old == new:
            continue
        if name in REPEATED:
            yield from _repeated(file, name, new)
        else:
            yield from _single(file, name, new[0] if new else None)
    yield from _links(file, target)


def hash_edit(file: MemoryFile, content_hash: str) -> Iterator[Edit]:
    """Give the edit of the stated content hash; a file that states none gets none."""
    if any(m.name == "content-hash" and m.value != content_hash for m in file.metas):
        yield from _single(file, "content-hash", content_hash)


def _single(file: MemoryFile, name: str, value: str | None) -> Iterator[Edit]:
    there = [m for m in file.metas if m.name == name]
    if value is None:
        for statement in there:  # a meta that is not the runtime's may stand there twice
            yield _removed(file, statement)
    elif there:
        yield _restated(there[0], value)
    else:
        yield _inserted(file, name, value)


def _restated(there: Statement, value: str) -> Edit:
    if there.said is None:
        return Edit(there.start, there.end, meta_line(there.name, value))
    return Edit(*there.said, f'content="{escape_attribute(value)}"')


def _repeated(file: MemoryFile, name: str, values: Sequence[str]) -> Iterator[Edit]:
    present = [m for m in file.metas if m.name == name and m.value]
    if not present:
        for value in values:
            yield _inserted(file, name, value)
        return
    said = [m.value for m in present]
    for tag, i, i2, j, j2 in SequenceMatcher(None, said, values, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        common = min(i2 - i, j2 - j)
        for n in range(common):
            yield _restated(present[i + n], values[j + n])
        for there in present[i + common : i2]:
            yield _removed(file, there)
        for value in values[j + common : j2]:
            line = meta_line(name, value)
            at = i + common
            yield _after(file, present[at - 1], line) if at else _before(file, present[0], line)


def _links(file: MemoryFile, target: Memory) -> Iterator[Edit]:
    said = [(link.name, link.value) for link in file.links]
    wanted = [(link.rel, link.target) for link in target.links]
    for tag, i, i2, j, j2 in SequenceMatcher(None, said, wanted, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        common = min(i2 - i, j2 - j)
        for n in range(common):
            there = file.links[i + n]
            yield Edit(there.start, there.end, link_line(*wanted[j + n]))
        for there in file.links[i + common : i2]:
            yield _removed(file, there)
        for rel, path in wanted[j + common : j2]:
            line = link_line(rel, path)
            at = i + common
            if at:
                yield _after(file, file.links[at - 1], line)
            elif file.links:
                yield _before(file, file.links[0], line)
            else:
                yield _after(file, file.metas[-1], line)


def _inserted(file: MemoryFile, name: str, value: str) -> Edit:
    """Insert a statement in its order among those that are there."""
    place = STATEMENTS.index(name)
    line = meta_line(name, value)
    # the runtime goes by its own metas, wherever another one stands
    own = [m for m in file.metas if m.name != ROLE]
    later = next((m for m in own if STATEMENTS.index(m.name) > place), None)
    if later is not None:
        return _before(file, later, line)
    return _after(file, own[-1], line)


def _after(file: MemoryFile, there: Statement, line: str) -> Edit:
    """Insert a line behind an element; behind it on its own line where it shares one."""
    text, newline = file.source.text, file.source.newline
    end = _line_end(text, there.end)
    if end is not None and text.endswith("\n", there.end, end):
        return Edit(end, end, line + newline)
    return Edit(there.end, there.end, newline + line)


def _before(file: MemoryFile, there: Statement, line: str) -> Edit:
    text, newline = file.source.text, file.source.newline
    start = _line_start(text, there.start)
    at = there.start if start is None else start
    return Edit(at, at, line + newline)


def _removed(file: MemoryFile, there: Statement) -> Edit:
    """Take an element out, with its line where it has one of its own."""
    text = file.source.text
    start, end = _line_start(text, there.start), _line_end(text, there.end)
    if start is None or end is None:
        return Edit(there.start, there.end, "")
    return Edit(start, end, "")


def _line_start(text: str, at: int) -> int | None:
    """Give where the line begins, if nothing but blanks stands before the element."""
    start = text.rfind("\n", 0, at) + 1
    return start if not text[start:at].strip(" \t\ufeff") else None


def _line_end(text: str, at: int) -> int | None:
    """Give where the line ends, if nothing but blanks stands behind the element."""
    cut = text.find("\n", at)
    end = len(text) if cut < 0 else cut + 1
    return end if not text[at:end].strip(" \t\r\n") else None


def one_element_a_line(file: MemoryFile) -> bool:
    """Has every statement a line of its own, so that the runtime's edits keep the file whole?"""
    text = file.source.text
    alone = all(
        _line_start(text, s.start) is not None and _line_end(text, s.end) is not None
        for s in (*file.metas, *file.links)
    )
    end = _HEAD_END.search(text)
    return alone and (end is None or _line_start(text, end.start()) is not None)
