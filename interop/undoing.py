"""Taking back what was applied to a store, and what this machine then remembers of it."""

from __future__ import annotations

from pathlib import Path

from interop import complement as complements
from interop.disk import Undone, remember, remembered
from interop.disk import undo as put_back
from interop.plan import COMPLEMENT


def undo(root: Path, *, dry_run: bool = False) -> Undone:
    """Take back the last apply to a store.

    Raises:
        RefusedError: there is nothing to take back, or a file was edited since.
        WriteError: putting the files back failed, and was itself taken back.
    """
    undone = put_back(root, dry_run=dry_run)
    known = remembered(root)
    if not dry_run and known is not None:
        path = root / COMPLEMENT
        kept = path.read_bytes() if path.is_file() else None
        generation = 0 if kept is None else complements.loads(kept, str(path)).generation
        remember(root, known.id, generation, complement=kept is not None)
    return undone
