r"""Memory stores of bantamkit: one Markdown file a fact, two folders, a derived index.

    facts/pump-pressure.md      live
    archive/old-lock-code.md    archived
    index.md                    - [[pump-pressure]] (project) — Pressure of the cargo bikes

Spec: docs/formats/bantamkit.md, version 1, measured on bantamkit 0.27.0 and 0.36.2.
Cannot hold: titles, hooks, tags, entities, named relations, times of day, tasks, decisions,
tombstones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from interop.adapter import (
    Adapter,
    Context,
    Finding,
    Fitted,
    Hold,
    Kinds,
    Refusal,
    Written,
    path_of,
)
from interop.adapters.bantamkit import index
from interop.adapters.bantamkit.layers import discover, locate
from interop.adapters.bantamkit.names import TERMS, is_fact
from interop.model import Files, Record, Store

_FENCE = re.compile(rb"---\r?\n")
_NAME = re.compile(rb"^name:", re.MULTILINE)
_DESCRIPTION = re.compile(rb"^description:", re.MULTILINE)


def _looks_like_a_fact(data: bytes) -> bool:
    """Has a file a name and a description between its first two fences, or behind its only one?"""
    opening = _FENCE.search(data)
    if opening is None:
        return False
    closing = _FENCE.search(data, opening.end())
    header = data[opening.end() : closing.start() if closing is not None else len(data)]
    return bool(_NAME.search(header) and _DESCRIPTION.search(header))


def detect(files: Files) -> str | None:
    """Say why these files look like a store of bantamkit, or None."""
    facts = sorted(path for path in files if is_fact(path))
    looking = next((path for path in facts if _looks_like_a_fact(files[path])), None)
    if looking is not None:
        return f"{looking} looks like a fact"
    data = files.get(index.PATH)
    if data is None or not index.looks_like_one(data):
        return None
    if any(path.startswith(("facts/", "archive/")) for path in files):
        return "index.md beside facts/ and archive/"
    return "index.md has nothing but index lines of facts" if data.strip() else None


def read(files: Files) -> Store:
    """Read every fact there is, and carry the rest."""
    from interop.adapters.bantamkit import store as stores  # only detection is needed at once

    return stores.read(files)


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over files."""
    from interop.adapters.bantamkit import store as stores

    return stores.write(store, onto, context)


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as this format can say it."""
    from interop.adapters.bantamkit import fitting

    return fitting.fit(record, current, context)


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find what the runtime chokes on."""
    from interop.adapters.bantamkit.lint import lint as findings

    return findings(files, store)


def grave(files: Files, store: Store) -> Iterable[Finding]:
    """Find what is more than a note."""
    from interop.adapters.bantamkit.lint import grave as findings

    return findings(files, store)


def repeated(new: Record, present: Sequence[Record], context: Context) -> Record | None:
    """Say which present record the runtime takes a new one for."""
    from interop.adapters.bantamkit import repeating

    return repeating.repeated(new, present, context)


def _handle(record: Record) -> str | None:
    """Take the file's stem, which is the name: it survives archiving, restoring and rewrites."""
    return PurePosixPath(path_of(record.key)).stem


def _is_index(path: str) -> bool:
    return path == index.PATH


ADAPTER = Adapter(
    name="bantamkit",
    title="bantamkit memory stores",
    spec=1,
    holds={
        "name": Hold.EXACT,
        "description": Hold.EXACT,
        "body": Hold.EXACT,
        "kinds": Hold.EXACT,
        "links": Hold.EXACT,
        "created": Hold.EXACT,
        "recalled": Hold.EXACT,
        "state": Hold.EXACT,
        "extra.outcome": Hold.EXACT,
        "extra.status": Hold.EXACT,
    },
    detect=detect,
    read=read,
    write=write,
    fit=fit,
    repeated=repeated,
    kinds=Kinds(vocabulary="claude", terms=TERMS, required=True, closed=True),
    handle=_handle,
    index=_is_index,
    derived=_is_index,
    lint=lint,
    grave=grave,
    locate=locate,
    discover=discover,
)
