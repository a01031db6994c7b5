"""What Claude Code would choke on, blank, drop or silently cap in a memory directory.

Codes: CC101 blanked header, CC102 header that YAML refuses, CC103 description that YAML cuts,
CC104 kinds that disagree, CC105 header never closed, CC106 kind outside the four, CC107 no
description, CC108 stub of another store, CC109 key stated twice, CC111 entry without a file, CC112
file that no index names, CC113 file named twice, CC114 wiki link to nothing, CC115 one name twice,
CC116 paths that are one on some disks, CC121 index beyond the cap, CC122 text in a wrong encoding.

Spec: docs/formats/claude-code.md, section "What lint looks for".
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator

from interop.adapter import Finding
from interop.adapters.claude_code import index as indexes
from interop.adapters.claude_code import reading
from interop.adapters.claude_code.index import IndexFile, Names
from interop.adapters.claude_code.memory_file import TERMS, VOCABULARY, MemoryFile
from interop.adapters.claude_code.reading import Reading
from interop.model import Files, Store
from interop.syntax import header as fenced

MAX_LINES = 200
MAX_BYTES = 25_000
"""What of an index is loaded when a session starts, whichever ends first."""

_MOJIBAKE = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e]|\u00e2\u20ac[\u0080-\u00ff\u0152\u0153\u02dc\u2018-\u2122]"
)
"""Two or three characters that a letter or a dash of UTF-8 makes in Windows-1252."""
_COMMENT = re.compile(r"[ \t]#")
_QUOTE = (
    "put the value in double quotes, with a backslash before each such quote and backslash in it"
)


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Yield what is wrong in a memory directory, file by file."""
    found = reading.read(files)
    for path, file in found.memories.items():
        yield from _header(path, file)
    for path, index in found.indexes.items():
        yield from _index(path, index)
    yield from _unlisted(found)
    yield from _links(found)
    yield from _same_names(found)
    for path, text in _texts(found):
        yield from _encoding(path, text)


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
    elif file.memory.name and file.memory.description is None:
        yield Finding(
            code="CC107",
            severity="note",
            path=f"{path}:1",
            problem="no description, by which Claude Code judges whether to open a memory",
            remedy="say in one line what it is about",
        )
    yield from _kind(path, file)
    yield from _twice(path, file.text, header)
    refused = _refused(file.text[header.inner : header.close])
    if refused is not None:
        line, why = refused
        yield Finding(
            code="CC102",
            severity="warning",
            path=f"{path}:{line + 2}",
            problem=f"the header is no valid YAML ({why}), and some versions blank such headers",
            remedy=_QUOTE,
        )
    else:
        yield from _cut(path, file.text, header)
    other = file.memory.extra.get("claude-code")
    if isinstance(other, dict) and isinstance(other.get("type"), str):
        yield Finding(
            code="CC104",
            severity="warning",
            path=path,
            problem=f"two kinds: metadata.type counts, the top-level type is {other['type']!r}",
            remedy="remove the one that is wrong",
        )


def _kind(path: str, file: MemoryFile) -> Iterator[Finding]:
    kind = file.memory.kinds.get(VOCABULARY)
    if kind is not None and kind not in TERMS:
        yield Finding(
            code="CC106",
            severity="note",
            path=path,
            problem=f"the kind {kind!r} is none of Claude Code's",
            remedy=f"one of {', '.join(TERMS)}; interop keeps it as it is",
        )
    own = file.memory.extra.get("claude-code")
    metadata = own.get("metadata") if isinstance(own, dict) else None
    source = metadata.get("source") if isinstance(metadata, dict) else None
    if source is not None and not file.memory.body.text.strip():
        yield Finding(
            code="CC108",
            severity="note",
            path=path,
            problem=f"a stub that {source!r} put here: it has no text of its own",
            remedy="convert from the store that has the text",
        )


def _twice(path: str, text: str, header: fenced.Header) -> Iterator[Finding]:
    if len({entry.key for entry in header.entries}) == len(header.entries):
        return
    first: dict[str, int] = {}
    line, at = 1, 0
    for entry in header.entries:
        line += text.count("\n", at, entry.start)
        at = entry.start
        if entry.key and entry.key in first:
            yield Finding(
                code="CC109",
                severity="warning",
                path=f"{path}:{line}",
                problem=f"{entry.key} is stated twice, first in line {first[entry.key]}: readers "
                "disagree on which counts",
                remedy="remove the one that is wrong",
            )
        first.setdefault(entry.key, line)


def _refused(inner: str) -> tuple[int, str] | None:
    """Say at which line, from 0, and why YAML refuses a header."""
    import yaml  # only a look at a whole header needs it, and it takes long to import

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


def _cut(path: str, text: str, header: fenced.Header) -> Iterator[Finding]:
    for key in ("name", "description"):
        entry = fenced.get(header.entries, key)
        if entry is not None and entry.style == "plain":
            comment = _COMMENT.search(entry.text)
            if comment:
                kept = entry.text[: comment.start()]
                yield Finding(
                    code="CC103",
                    severity="warning",
                    path=f"{path}:{text.count(chr(10), 0, entry.start) + 1}",
                    problem=f"YAML cuts the {key} at ` #`: {kept[-40:]!r} is all that is read",
                    remedy=_QUOTE,
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


def _same_names(found: Reading) -> Iterator[Finding]:
    """Find names that two memories have, and paths that are one file on some disks."""
    named: dict[str, str] = {}
    folded: dict[str, str] = {}
    for path, file in found.memories.items():
        name = file.memory.name
        other = named.setdefault(name, path) if name else path
        if other != path:
            yield Finding(
                code="CC115",
                severity="note",
                path=path,
                problem=f"{other} has the same name {name!r}: a link by name leads to one of them",
                remedy="give one of the two another name",
            )
    for path in found.files:
        flat = unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())
        other = folded.setdefault(flat, path)
        if other != path:
            yield Finding(
                code="CC116",
                severity="warning",
                path=path,
                problem=f"differs from {other} in case or Unicode form alone: one file on some "
                "disks",
                remedy="rename one of the two, and the links to it",
            )


def _texts(found: Reading) -> Iterator[tuple[str, str]]:
    yield from ((path, file.text) for path, file in found.memories.items())
    yield from ((path, file.text) for path, file in found.indexes.items())


def _encoding(path: str, text: str) -> Iterator[Finding]:
    """Find UTF-8 that was once read as Windows-1252 and saved so."""
    for number, line in enumerate(text.split("\n"), 1) if _MOJIBAKE.search(text) else ():
        found = _MOJIBAKE.search(line)
        if found is None:
            continue
        try:
            meant = found[0].encode("cp1252").decode("utf-8")
        except UnicodeError:
            continue
        yield Finding(
            code="CC122",
            severity="warning",
            path=f"{path}:{number}",
            problem=f"{found[0]!r} stands where {meant!r} was meant: the file was once read in a "
            "wrong encoding and saved so",
            remedy="restore it from a copy, or read it as UTF-8 after saving it as Windows-1252",
        )
        return
