"""``_sessions/``: the ledger, which is the lock of the single writer too.

    {"session": "2026-05-14-a", …, "status": "OPEN", …, "baseline_hashes": {…}}

Never imported, never written. Spec: docs/formats/memory-compiler.md, "Sessions".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interop.adapter import Locked
from interop.adapters.memory_compiler.topic import SESSIONS
from interop.model import Files, Json

RECOVERY = SESSIONS + "recovery/"
WAY_OUT = (
    "close it (memory_check.py --close), or after changes --recovery-scan "
    "--recovery-threshold-hours 0 and --resolve-recovery; then run this again"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One JSON file of the ledger or of its recovery folder."""

    path: str
    said: Mapping[str, Json] | None
    """None when it cannot be parsed: the lock overlooks it, ``--status`` crashes on it."""

    @property
    def session(self) -> str:
        """Give the session's id as stated, else the file's stem."""
        stated = self.said.get("session") if self.said is not None else None
        return stated if isinstance(stated, str) else self.path.rpartition("/")[2][: -len(".json")]

    @property
    def is_open(self) -> bool:
        """Does it hold the lock?"""
        return self.said is not None and self.said.get("status") == "OPEN"


def entries(files: Files, folder: str = SESSIONS) -> Iterator[Entry]:
    """Give the files ``*.json`` right in a folder, by name."""
    for path in sorted(files):
        name = path.removeprefix(folder)
        if path.startswith(folder) and "/" not in name and name.endswith(".json"):
            yield Entry(path, _parsed(files[path]))


def open_sessions(files: Files) -> tuple[str, ...]:
    """Give the ids of the sessions that hold the lock."""
    return tuple(entry.session for entry in entries(files) if entry.is_open)


def locked(files: Files) -> Locked | None:
    """Say why nothing may change in a topic: any byte makes an open session impossible to close."""
    sessions = ", ".join(open_sessions(files))
    if not sessions:
        return None
    reason = f"session {sessions} is open, and could not be closed after any change"
    return Locked(reason=reason, remedy=WAY_OUT)


def _parsed(data: bytes) -> Mapping[str, Json] | None:
    try:
        said: Json = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None
