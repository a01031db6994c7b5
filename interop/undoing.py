"""Taking back what was applied to a store, and what this machine then remembers of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import orjson

from interop import complement as complements
from interop import registry
from interop.disk import Undone, remember, remembered
from interop.disk import undo as put_back
from interop.host import Token
from interop.plan import COMPLEMENT


def undo(root: Path, *, dry_run: bool = False) -> Undone:
    """Take back the last apply to a store, and what followed it around the files.

    Raises:
        RefusedError: there is nothing to take back, or something was edited since.
        WriteError: putting it back failed; what could not follow is named.
    """
    undone = put_back(root, dry_run=dry_run)
    if dry_run:
        return undone
    known = remembered(root)
    if known is not None:
        path = root / COMPLEMENT
        kept = path.read_bytes() if path.is_file() else None
        generation = 0 if kept is None else complements.loads(kept, str(path)).generation
        remember(root, known.id, generation, complement=kept is not None)
    if undone.note:
        note = orjson.loads(undone.note)
        host = registry.get(note["format"]).host
        if host is not None:
            host.undo(root, Token(commit=note["commit"], commands=tuple(note["commands"])))
    return undone


def dump_note(format_name: str, token: Token) -> bytes:
    """Encode what a host did, to be kept with the undo data."""
    return orjson.dumps({"format": format_name, **asdict(token)})
