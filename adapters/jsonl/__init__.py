r"""Snapshots: the canonical records in one file, one a line, whatever store they were taken from.

    {"type":"snapshot","format":"interop-jsonl","version":1,"model":1}
    {"role":"memory","key":"dock.md","body":{"text":"Dock 7 …","media":"text/markdown"}}

Spec: docs/formats/jsonl.md, version 1.
Holds every field of every role in every medium. What lies beside other stores (the complement) has
lines of its own in the same file, which the core takes out before anything here sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from interop.adapter import (
    Adapter,
    Context,
    Finding,
    Fitted,
    Hold,
    OneFile,
    Refusal,
    Written,
    path_of,
)
from interop.adapters.jsonl.header import BLANK, check, version
from interop.adapters.jsonl.lines import FORMAT, PATH, id_of, read
from interop.fields import FIELDS
from interop.model import ROLES, Files, Record, Store

__all__ = ["ADAPTER"]

_REPEAT = re.compile(r"~\d+\Z")


def detect(files: Files) -> str | None:
    """Say why these files look like a snapshot: the file's first line is a header of one."""
    found = version(files.get(PATH, b""))
    return None if found is None else f"its first line says so (version {found})"


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over the snapshot that is there, value by value."""
    from interop.adapters.jsonl import writing  # only detection is needed at once

    return writing.write(store, onto, context)


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as a line says it."""
    from interop.adapters.jsonl import writing

    return writing.fit(record, current, context)


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find every line that is not what it should be."""
    from interop.adapters.jsonl.lint import lint as findings

    return findings(files, store)


def handle(record: Record) -> str | None:
    """Take the key that a line states as its identity; one that is stated twice is none."""
    of_ours = path_of(record.key) == PATH and not _REPEAT.search(record.key)
    return id_of(record.key) if of_ours else None


ADAPTER = Adapter(
    name=FORMAT,
    title="Snapshots: one file of canonical records, one a line",
    spec=1,
    holds={field: Hold.EXACT for role in ROLES for field in FIELDS[role]},
    detect=detect,
    read=read,
    write=write,
    fit=fit,
    roles=frozenset(ROLES),
    media=None,
    file=OneFile(path=PATH, blank=BLANK, check=check),
    handle=handle,
    lint=lint,
)
