r"""Snapshots: the canonical records in one file, one a line, whatever store they were taken from.

    {"type":"snapshot","format":"interop-jsonl","version":1,"model":1}
    {"role":"memory","key":"dock.md","body":{"text":"Dock 7 …","media":"text/markdown"}}

Spec: docs/formats/jsonl.md, version 1.
Holds every field of every role in every medium. What lies beside other stores (the complement) has
lines of its own in the same file, which the core takes out before anything here sees it.
"""

from __future__ import annotations

import re

from interop.adapter import Adapter, Hold, OneFile, path_of
from interop.adapters.jsonl.header import BLANK, check, version
from interop.adapters.jsonl.lines import FORMAT, PATH, id_of, read
from interop.adapters.jsonl.lint import lint
from interop.adapters.jsonl.writing import fit, write
from interop.fields import FIELDS
from interop.model import ROLES, Files, Record

__all__ = ["ADAPTER"]

_REPEAT = re.compile(r"~\d+\Z")


def detect(files: Files) -> str | None:
    """Say why these files look like a snapshot: the file's first line is a header of one."""
    found = version(files.get(PATH, b""))
    return None if found is None else f"its first line says so (version {found})"


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
