"""The new bytes of an apply, beside the store and forced to the disk before anything names them.

In ``.interop/staging/<n>/`` lie the new files, by their numbers in the journal, with the journal
itself and, for undo, what is written once more in one piece (``kept_size``). The journal and that
piece go to their places by a rename each.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from interop.disk import durable, layout
from interop.disk.journal import Journal, dump
from interop.disk.recovery import sync_dirs
from interop.plan import COMPLEMENT, FileChange

WROTE_BYTES = 64 * 1024 * 1024
"""Up to so many new bytes of one apply are kept, so that it can be undone under later edits."""


def stage(
    root: Path, journal: Journal, changes: Sequence[FileChange], like: Mapping[str, Path]
) -> None:
    """Write the new bytes beside the store, and force them to the disk."""
    own = layout.own(root)
    mode = stat.S_IMODE(os.stat(own).st_mode)
    folders = (layout.staging(root, journal.number), layout.undo(root, journal.number))
    for folder in folders:
        durable.make_dir(folder.parent, mode)
        durable.make_dir(folder, mode)
    staged: list[str | Path] = []
    siblings: dict[str, int | None] = {}
    for index, change in enumerate(changes):
        if change.after is None:
            continue
        model = like.get(change.path)
        if change.before is not None:
            model = layout.place(root, change.path)
        if model is None:
            mode_of = _mode_beside(root, change.path.rpartition("/")[0], siblings)
        else:
            mode_of = stat.S_IMODE(os.lstat(model).st_mode)
        staged.append(journal.new_at(root, index))
        durable.write_new(staged[-1], change.after, mode_of, model)
    mode = mode & 0o666 | 0o600
    if journal.undoes is None:
        staged += write_wrote(folders[0], journal, changes, mode)
    durable.write_new(folders[0] / "journal", dump(journal), mode)
    staged.append(folders[0] / "journal")
    # All are written before the first is forced, so that the disk gets them in one go.
    durable.sync_files(staged)
    sync_dirs((*folders, *(f.parent for f in folders)))


def _mode_beside(root: Path, folder: str, known: dict[str, int | None]) -> int | None:
    """Give the permission bits of the files beside a new one, or further up, if there are any."""
    if folder not in known:
        place = layout.place(root, folder)
        try:
            names = sorted(os.listdir(place)) if folder != layout.OWN else []
        except FileNotFoundError:
            names = []
        modes = (os.lstat(place / name).st_mode for name in names)
        mode = next((m & 0o666 | 0o600 for m in modes if stat.S_ISREG(m)), None)
        if mode is None and folder:
            mode = _mode_beside(root, folder.rpartition("/")[0], known)
        known[folder] = mode
    return known[folder]


def announce(root: Path, journal: Journal) -> None:
    """Put the journal in its place, whole or not at all, and what undo needs beside it."""
    staging = layout.staging(root, journal.number)
    durable.move(staging / "journal", layout.journal(root))
    durable.sync_dir(layout.own(root))
    if os.path.lexists(staging / "wrote"):
        durable.move(staging / "wrote", layout.wrote(root, journal.number))


def kept_size(change: FileChange) -> int:
    """Say how many of the new bytes are kept, so that a change can be undone under later edits.

    All of them, but for a complement that is new: it repeats the texts of a whole store, nobody
    edits it, and a new file under edits is not taken back anyway.
    """
    if change.path == COMPLEMENT and change.before is None:
        return 0
    return len(change.after or b"")


def write_wrote(
    folder: Path, journal: Journal, changes: Sequence[FileChange], mode: int
) -> list[Path]:
    """Keep what is written, so that undo can tell it from what others write over it later.

    Gives the file that it stands in, which is not forced to the disk yet, if there is one.
    """
    if not 0 < sum(entry.size for entry in journal.entries) <= WROTE_BYTES:
        return []
    pairs = zip(changes, journal.entries, strict=True)
    kept = [c.after for c, entry in pairs if c.after is not None and entry.size]
    durable.write_new(folder / "wrote", kept, mode)
    return [folder / "wrote"]
