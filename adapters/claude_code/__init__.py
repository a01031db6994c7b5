r"""Claude Code's auto-memory directories: one Markdown file a memory, and an index.

    MEMORY.md            # Memory Index
                         - [Dock sensor](dock-sensor.md) — two of nine report late
                         - Docks are numbered from the river
    dock-sensor.md       ---
                         name: dock-sensor
                         description: "Two of nine report late, since May"
                         metadata:
                           node_type: memory
                           type: project
                         ---

                         The sensors of the north quay report late.

Spec: docs/formats/claude-code.md, version 1.
Cannot hold: tags, entities, created and recalled dates, observations, an archive; other roles than
memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from interop.adapter import Adapter, Context, Finding, Fitted, Hold, Kinds, Refusal, Written
from interop.adapters.claude_code.index import NAME, is_index
from interop.adapters.claude_code.location import discover, locate
from interop.adapters.claude_code.memory_file import (
    FORMAT,
    TERMS,
    VOCABULARY,
    has_own_header,
    raw_header,
)
from interop.model import Files, Record, Store

__all__ = ["ADAPTER"]

_NOT_OURS = ("facts/", "archive/")
"""Folders that another format with the same headers keeps its memories in."""


def read(files: Files) -> Store:
    """Read every memory file, and the index for titles, hooks and the notes kept in it."""
    from interop.adapters.claude_code import reading  # only detection is needed at once

    return reading.read(files).store()


def beside(one: Files, other: Files) -> tuple[Store, Store]:
    """Read two stores, what is the same bytes in both only once."""
    from interop.adapters.claude_code import reading

    return reading.beside(one, other)


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over files, statement by statement."""
    from interop.adapters.claude_code import writing

    return writing.write(store, onto, context)


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as this format can say it."""
    from interop.adapters.claude_code import fitting

    return fitting.fit(record, current, context)


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find what the runtime chokes on."""
    from interop.adapters.claude_code.lint import lint as findings

    return findings(files, store)


_MANAGED = re.compile(rb"^> Auto-managed by @(?:theokit|usetheo)/sdk", re.MULTILINE)
_MEMORY = re.compile(rb"(?:\xef\xbb\xbf)?# Memory[ \t]*\r?\n")
_OBSERVED = re.compile(rb"\n[ \t]+observations:")
_OWN = re.compile(rb"\n(?:metadata:[ \t]+\r?(?:\n|\Z)|[ \t]*originSessionId:|type:)")
"""What a header of this runtime has, and one of that runtime never."""


def _is_theirs(path: str, data: bytes, header: bytes | None) -> bool:
    """Does a file say what another runtime with the same headers writes, and this one never?"""
    if path == NAME:
        managed = b"> Auto-managed by " in data and _MANAGED.search(data)
        return bool(managed or (_MEMORY.match(data) and b"## Facts" in data))
    if path == "dream-diary.md":
        return data.startswith(b"# Dream Diary")
    return header is not None and bool(_OBSERVED.search(header))


def _is_anothers(files: Files) -> bool:
    """Is there a clear sign of the other runtime that keeps a MEMORY.md, and none of this one?"""
    root = {p: raw_header(files[p]) for p in sorted(files) if p.endswith(".md") and "/" not in p}
    if not any(_is_theirs(path, files[path], header) for path, header in root.items()):
        return False
    if any(header is not None and _OWN.search(header) for header in root.values()):
        return False
    below = (p for p in sorted(files) if p.endswith(".md") and "/" in p)
    theirs = ("notes/", "wiki/", "sessions/")
    return not any(has_own_header(files[p]) for p in below if not p.startswith(theirs))


def detect(files: Files) -> str | None:
    """Say why files look like a memory directory: an index, or files with its header."""
    if _is_anothers(files):
        return None
    if "MEMORY.md" in files:
        return "there is a MEMORY.md"
    if "index.md" in files and any(p.startswith(_NOT_OURS) for p in files):
        return None
    indexes = [path for path in files if is_index(path)]
    if indexes:
        return f"there is a {min(indexes)}"
    named = (p for p in sorted(files) if p.endswith(".md") and not p.startswith(_NOT_OURS))
    first = next((p for p in named if has_own_header(files[p])), None)
    return f"{first} has the header of a memory file" if first else None


def handle(record: Record) -> str | None:
    """Take the path of a memory file as its identity; a note of an index has none."""
    return record.key if record.key.endswith(".md") else None


ADAPTER = Adapter(
    name=FORMAT,
    title="Claude Code memory directories",
    spec=1,
    holds={
        "name": Hold.EXACT,
        "title": Hold.EXACT,
        "description": Hold.EXACT,
        "hook": Hold.EXACT,
        "body": Hold.EXACT,
        "kinds": Hold.EXACT,
        "session": Hold.EXACT,
        "modified": Hold.EXACT,
        "links": Hold.VIEW,
    },
    detect=detect,
    read=read,
    beside=beside,
    write=write,
    fit=fit,
    kinds=Kinds(vocabulary=VOCABULARY, terms=TERMS),
    handle=handle,
    index=is_index,
    lint=lint,
    locate=locate,
    discover=discover,
)
