"""Everything in a store that the runtime chokes on, drops or silently passes over.

Spec: docs/formats/memhtml.md, "Pitfalls".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from interop.adapter import Finding
from interop.adapters.memhtml import constraints, head, placement, signs
from interop.adapters.memhtml.memory_file import MemoryFile, Skipped, status_of
from interop.adapters.memhtml.reading import memories
from interop.adapters.memhtml.vocabulary import BUCKETS
from interop.model import Files

Severity = Literal["error", "warning", "note"]


def find(files: Files) -> Iterable[Finding]:
    """Find what empties the index, what is never indexed, and what is lost later."""
    found: list[MemoryFile] = []
    for file in memories(files):
        if isinstance(file, Skipped):
            yield Finding(
                code="MH102",
                severity="error",
                path=file.path,
                problem=f"skipped by the runtime: {file.reason}",
                remedy="mend the file; only `index rebuild` tells, in data.skipped, with exit 0",
            )
        else:
            found.append(file)
    yield from _duplicates(found)
    for file in found:
        yield from _file(file)
    yield from _links(found)
    yield from _names(files)
    yield from _same_but_for_case(found)


def _finding(code: str, severity: Severity, path: str, problem: str, remedy: str) -> Finding:
    return Finding(code=code, severity=severity, path=path, problem=problem, remedy=remedy)


def _duplicates(found: Sequence[MemoryFile]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for file in found:
        if not file.competes:
            continue
        other = seen.setdefault(file.hash, file.path)
        if other != file.path:
            yield _finding(
                "MH101",
                "error",
                file.path,
                f"same text as {other}, both active: the index cannot be built and stays empty",
                "merge the two, tell them apart in a word, or archive one",
            )


def _file(file: MemoryFile) -> Iterator[Finding]:
    path, source = file.path, file.source
    if source.has_bom:
        yield _finding(
            "MH103",
            "error",
            path,
            "begins with a byte-order mark: it is indexed, and `memhtml read` cannot read it",
            "save it without one",
        )
    if not source.is_utf8:
        yield _finding(
            "MH104",
            "warning",
            path,
            "is not UTF-8: what is ill-formed is read as U+FFFD",
            "save it as UTF-8",
        )
    if not head.one_element_a_line(file):
        yield _finding(
            "MH105",
            "warning",
            path,
            "elements of the head share a line: the runtime's edits go by lines and lose values",
            "give every element of the head a line of its own",
        )
    elif "\r" in source.text:
        yield _finding(
            "MH106",
            "note",
            path,
            "has CRLF line ends: the runtime's edits add lines with LF",
            "save it with LF",
        )
    for warning in file.warnings:
        yield _finding("MH107", "note", path, warning, "say it in an element of the vocabulary")
    for odd in constraints.odd_numbers([(m.name, m.value) for m in file.metas]):
        yield _finding("MH108", "warning", path, odd, "state a number in range")
    yield from _statements(file)


def _statements(file: MemoryFile) -> Iterator[Finding]:
    path = file.path
    stated = {m.name: m.value for m in file.metas}
    said = stated.get("content-hash")
    if said is not None and said != file.hash:
        yield _finding(
            "MH109",
            "note",
            path,
            "the stated content hash is stale: the runtime never checks nor mends it",
            f"state {file.hash}",
        )
    for entity in file.record.entities:
        kind, colon, name = entity.partition(":")
        if not (colon and kind and name):
            yield _finding(
                "MH111",
                "note",
                path,
                f"entity {entity!r} has no type: the runtime calls it unknown",
                "write it as type:name",
            )
    archived = placement.is_archived(path)
    if stated["status"] != status_of(archived=archived):
        yield _finding(
            "MH112",
            "note",
            path,
            f"says {stated['status']}, and its place says {status_of(archived=archived)}:"
            " the place decides",
            "move it, or state what its place says",
        )
    if archived and placement.is_archived(placement.origin(path)):
        yield _finding(
            "MH113",
            "note",
            path,
            "is not at archive/YYYY/<the path it had>: nothing tells where it was",
            "move it below the year of its archiving",
        )


def _links(found: Sequence[MemoryFile]) -> Iterator[Finding]:
    known = {file.path for file in found}
    for file in found:
        for link in file.record.links:
            if link.target not in known:
                yield _finding(
                    "MH110",
                    "warning",
                    file.path,
                    f"links to {link.target}, which is no memory: sleep and `doctor --fix` rewrite"
                    " or drop such a link",
                    _moved_to(link.target, known),
                )


def _moved_to(target: str, known: set[str]) -> str:
    moved = sorted(p for p in known if placement.is_archived(p) and placement.origin(p) == target)
    return f"link to {moved[-1]}" if moved else "mend the target, or take the link out"


def _names(files: Files) -> Iterator[Finding]:
    for path in sorted(files):
        if placement.is_memory(path) or not signs.has_type(files[path]):
            continue
        if not path.lower().endswith((".html", ".htm")):
            continue
        why = "lies outside projects, areas, resources and archive"
        if placement.is_generated(path):
            why = "has the name of a listing that the runtime writes anew"
        elif path.partition("/")[0] in BUCKETS:
            why = "does not end in .html, as written"
        yield _finding(
            "MH114",
            "warning",
            path,
            f"looks like a memory and is never indexed: it {why}",
            "rename or move it",
        )


def _same_but_for_case(found: Sequence[MemoryFile]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for file in found:
        other = seen.setdefault(file.path.casefold(), file.path)
        if other != file.path:
            yield _finding(
                "MH115",
                "warning",
                file.path,
                f"differs from {other} in case alone: one file on some systems",
                "rename one of the two",
            )
