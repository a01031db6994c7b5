"""Which code reads the stores: what it made of them is worth nothing to another one."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import unicodedata
from collections.abc import Iterator, Sequence

import interop

_code: list[str] = []


def code() -> str:
    """Give a value that changes with the code that reads stores: every module's size and time."""
    if not _code:
        said = [interop.__version__, sys.version, sqlite3.sqlite_version]
        said.append(unicodedata.unidata_version)
        for folder in interop.__path__:
            said += sorted(_modules(folder, ("cli", "report", "__pycache__")))
        _code.append(hashlib.blake2b("\n".join(said).encode(), digest_size=16).hexdigest())
    return _code[0]


def _modules(folder: str, without: Sequence[str]) -> Iterator[str]:
    try:
        entries = os.scandir(folder)
    except OSError:
        return  # not on a disk: the version alone tells
    with entries:
        for entry in entries:
            if entry.name in without:
                continue
            if entry.is_dir():
                yield from _modules(entry.path, ("__pycache__",))
            elif entry.name.endswith(".py"):
                info = entry.stat()
                yield f"{entry.path} {info.st_size} {info.st_mtime_ns}"
