"""What is wrong in a snapshot: it has no runtime, so this is damage, and what hands wrote."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from interop import fields
from interop.adapter import Finding
from interop.adapters.jsonl.lines import PATH, Line, id_of, scan
from interop.model import Files, Link, Record, Store


def lint(files: Files, store: Store) -> Iterator[Finding]:
    """Give every line that is not what it should be, by its number."""
    known = _names(store.records)
    for number, line in enumerate(scan(files.get(PATH, b"")), 1):
        place = f"{PATH}:{number}"
        if line.unread:
            yield Finding(
                code="JL101",
                severity="error",
                path=place,
                problem=f"no record can be read from it: {line.problem}",
                remedy="take the line from a backup or take the snapshot anew; until then it is"
                " carried as it is",
            )
        elif line.problem:
            yield Finding(
                code="JL102",
                severity="warning",
                path=place,
                problem=line.problem,
                remedy=_way_out(line),
            )
        if line.record is not None:
            key = id_of(line.record.key)
            for link in _links(line.record):
                if known.isdisjoint(_ways(link.target, key)):
                    yield Finding(
                        code="JL103",
                        severity="note",
                        path=place,
                        problem=f"links to {link.target!r}, and there is no such record",
                        remedy="nothing, if that record is still to be written",
                    )


def _way_out(line: Line) -> str:
    if line.record is None:
        return "remove it, if nobody wants it; until then it is carried as it is"
    ways: list[str] = []
    if line.repeats:
        ways.append(
            "give one of the two records another key; until then this one is read as"
            f" {id_of(line.record.key)!r}"
        )
    if line.wrong:
        ways.append(
            "write a value that the field can have, or remove the member; until then it stays as"
            " it is, and the record is read without it"
        )
    return "; ".join(ways)


def _links(record: Record) -> tuple[Link, ...]:
    found: tuple[Link, ...] = fields.get(record, "links") or ()
    return found


def _names(records: Iterable[Record]) -> set[str]:
    """Give everything that a link may call a record: key, file, stem, id in a shared file, name."""
    out: set[str] = set()
    for record in records:
        key = id_of(record.key)
        path, _, part = key.partition("#")
        named: str | None = fields.get(record, "name")
        for way in (key, part or path, named or ""):
            out |= {way.casefold(), _bare(way).casefold(), PurePosixPath(way).stem.casefold()}
    return out - {""}


def _ways(target: str, key: str) -> set[str]:
    """Give the forms in which a link's target may be among the names; an address is always one."""
    if "://" in target or target.startswith("mailto:"):
        return {key.casefold()}
    path = target.partition("#")[0] or target
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(key.partition("#")[0]), path))
    return {way.casefold() for way in (target, _bare(target), path, _bare(path), beside)}


def _bare(path: str) -> str:
    """Take a suffix as files have it off."""
    head, dot, suffix = path.rpartition(".")
    return head if dot and suffix.isalnum() and len(suffix) <= 4 else path
