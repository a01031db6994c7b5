"""What Claude Code would choke on, blank, drop or silently cap in a memory directory.

Codes: CC101 blanked header, CC102 header that YAML refuses, CC103 description that YAML cuts,
CC104 kinds that disagree, CC105 header never closed, CC111 entry without a file, CC112 file that no
index names, CC113 file named twice, CC114 wiki link to nothing, CC121 index beyond the cap.

Spec: docs/formats/claude-code.md, section "What lint looks for".
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

import yaml

from interop.adapter import Finding
from interop.adapters.claude_code import index as indexes
from interop.adapters.claude_code import reading
from interop.adapters.claude_code.index import IndexFile, Names
from interop.adapters.claude_code.memory_file import MemoryFile
from interop.adapters.claude_code.reading import Reading
from interop.model import Files, Store
from interop.syntax import header as fenced

MAX_LINES = 200
MAX_BYTES = 25_000
"""What of an index is loaded when a session starts, whichever ends first."""

_COMMENT = re.compile(r"[ \t]#")


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Yield what is wrong in a memory directory, file by file."""
    found = reading.read(files)
    for path, file in found.memories.items():
        yield from _header(path, file)
    for path, index in found.indexes.items():
        yield from _index(path, index)
    yield from _unlisted(found)
    yield from _links(found)


def _header(path: str, file: MemoryFile) -> Iterator[Finding]:
    header = file.header
    if header is None:
        if re.match("\ufeff?---[ \t]*\r?\n", file.text) and re.search(
            r"^(?:name|description|metadata):", file.text[:2000], re.MULTILINE
        ):
            yield Finding(
                code="CC105",
                severity="warning",
                path=f"{path}:1",
                problem="the header is never closed, so all of it is text",
                remedy="put a line `---` behind the header",
            )
        return
    if file.blanked:
        yield Finding(
            code="CC101",
            severity="error",
            path=f"{path}:1",
            problem="the header was blanked: name is empty, description and type are missing",
            remedy="write name, description and type again; nothing fills them in by itself",
        )
    refused = _refused(file.text[header.inner : header.close])
    if refused is not None:
        line, why = refused
        yield Finding(
            code="CC102",
            severity="warning",
            path=f"{path}:{line + 2}",
            problem=f"the header is no valid YAML ({why}), and some versions blank such headers",
            remedy="put the value in double quotes",
        )
    else:
        yield from _cut(path, file)
    other = file.memory.extra.get("claude-code")
    if isinstance(other, dict) and isinstance(other.get("type"), str):
        yield Finding(
            code="CC104",
            severity="warning",
            path=path,
            problem=f"two kinds: metadata.type counts, the top-level type is {other['type']!r}",
            remedy="remove the one that is wrong",
        )


def _refused(inner: str) -> tuple[int, str] | None:
    """Say at which line, from 0, and why YAML refuses a header."""
    try:
        deque(fenced.events(inner), maxlen=0)
    except yaml.MarkedYAMLError as error:
        line: int = error.problem_mark.line if error.problem_mark else 0
        return line, str(error.problem)
    except yaml.YAMLError as error:
        return 0, str(error).partition("\n")[0]
    except ValueError as error:
        return 0, str(error)
    return None


def _cut(path: str, file: MemoryFile) -> Iterator[Finding]:
    assert file.header is not None
    for key in ("name", "description"):
        entry = fenced.get(file.header.entries, key)
        if entry is not None and entry.style == "plain":
            comment = _COMMENT.search(entry.text)
            if comment:
                kept = entry.text[: comment.start()]
                yield Finding(
                    code="CC103",
                    severity="warning",
                    path=f"{path}:{file.text.count(chr(10), 0, entry.start) + 1}",
                    problem=f"YAML cuts the {key} at ` #`: {kept[-40:]!r} is all that is read",
                    remedy="put the value in double quotes",
                )


def _index(path: str, file: IndexFile) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for ref, leads in file.refs():
        line = ref.line + 1
        if ref.form != "link" or ref.target.startswith("../") or indexes.is_index(ref.target):
            continue
        if leads is None and not indexes.is_document(ref.target):
            yield Finding(
                code="CC111",
                severity="warning",
                path=f"{path}:{line}",
                problem=f"the entry names {ref.target!r}, and there is no such memory",
                remedy="remove the entry, or restore the file",
            )
        elif leads is not None and leads in first:
            yield Finding(
                code="CC113",
                severity="note",
                path=f"{path}:{line}",
                problem=f"{ref.target!r} is named a second time, first in line {first[leads]}",
                remedy="keep one entry; the first gives title and hook",
            )
        elif leads is not None:
            first[leads] = line
    yield from _cap(path, file)


def _cap(path: str, file: IndexFile) -> Iterator[Finding]:
    """Find the first line that is not loaded; comments count neither as lines nor as bytes."""
    lines = size = 0
    total = len(file.lines.lines)
    for number, line in enumerate(file.lines.lines, 1):
        if line.kind == "comment":
            continue
        lines += 1
        size += len(file.text[line.start : line.stop].encode("utf-8"))
        if lines > MAX_LINES or size > MAX_BYTES:
            limit = f"{MAX_LINES} lines" if lines > MAX_LINES else f"{MAX_BYTES:,} bytes"
            yield Finding(
                code="CC121",
                severity="warning",
                path=f"{path}:{number}",
                problem=f"Claude Code loads the first {limit} and stops before this line; "
                f"{total - number + 1} of {total} lines are not seen",
                remedy="shorten hooks, or move notes into files of their own",
            )
            return


def _unlisted(found: Reading) -> Iterator[Finding]:
    if not found.indexes:
        return
    named = {path for file in found.indexes.values() for _, path in file.refs()}
    for path in found.memories:
        if path not in named:
            yield Finding(
                code="CC112",
                severity="note",
                path=path,
                problem="no index names this file, so it is found only by searching",
                remedy=f"add a line to {indexes.NAME}",
            )


def _links(found: Reading) -> Iterator[Finding]:
    names = Names()
    for path, file in found.memories.items():
        names.add(path, file.memory.name)
    for key, memory in found.records.items():
        for link in memory.links:
            if names.resolve(link.target) is None:
                yield Finding(
                    code="CC114",
                    severity="note",
                    path=key,
                    problem=f"[[{link.target}]] leads to no memory",
                    remedy="nothing, if that memory is still to be written",
                )
