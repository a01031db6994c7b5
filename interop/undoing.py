"""Taking back what was applied to a store, and what this machine then remembers of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from interop import complement as complements
from interop import disk, inline, registry
from interop.disk import Applied, Undone, remember, remembered, replacing, single
from interop.disk import undo as put_back
from interop.host import Token
from interop.plan import COMPLEMENT


def undo(root: Path, *, dry_run: bool = False) -> Undone:
    """Take back the last apply to a store, and what followed it around the files.

    Raises:
        RefusedError: there is nothing to take back, or something was edited since.
        WriteError: putting it back failed; what could not follow is named.
    """
    one = single.is_one(root)
    undone = (replacing.undo if one else put_back)(root, dry_run=dry_run)
    if dry_run:
        return undone
    known = remembered(root)
    if known is not None:
        path = root if one else root / COMPLEMENT
        kept = path.read_bytes() if path.is_file() else None
        if one and kept is not None:
            kept = inline.split(kept)[1]
        generation = 0 if kept is None else complements.loads(kept, str(path)).generation
        remember(root, known.id, generation, complement=kept is not None)
    if undone.note:
        note = orjson.loads(undone.note)
        host = registry.get(note["format"]).host
        if host is not None:
            host.undo(root, token_of(note))
    return undone


def history(root: Path) -> list[Applied]:
    """List the applies to a store that can be taken back, newest first.

    Raises:
        FormatError: there is no such store.
    """
    return replacing.history(root) if single.is_one(root) else disk.history(root)


def dump_note(format_name: str, token: Token) -> bytes:
    """Encode what a host did, to be kept with the undo data."""
    return orjson.dumps({"format": format_name, **asdict(token)})


def token_of(note: Mapping[str, Any]) -> Token:
    """Decode what a host did; an older interop did not say what was made."""
    commands, made = tuple(note["commands"]), note.get("made", {})
    return Token(commit=note["commit"], commands=commands, made=made)
