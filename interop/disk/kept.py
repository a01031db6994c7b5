"""Reading what interop itself keeps of a store's texts: displaced bytes, and bytes on their way.

Nothing is written here, and nothing is trusted: the folder may come from another machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interop.disk import durable, layout
from interop.disk.journal import Journal, read
from interop.errors import FormatError


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One file below ``.interop/undo`` or ``.interop/staging``."""

    place: str
    """POSIX path relative to the store's root: ``.interop/undo/7/0``."""
    path: str | None
    """The store's file whose bytes these are; None for interop's own notes."""
    data: bytes | None
    """None when it cannot be read."""


def kept(root: Path) -> Iterator[Kept]:
    """Yield every regular file that undo and staging keep, the oldest apply first.

    Links are not followed; a store without a folder of interop's own, or that is itself a file,
    keeps nothing.
    """
    real = Path(os.path.realpath(root))
    if not layout.is_dir(layout.own(real)):
        return
    for kind, folder_of in (("undo", layout.undo), ("staging", layout.staging)):
        if not layout.is_dir(layout.own(real) / kind):
            continue
        for number in layout.numbers(real, kind):
            folder = folder_of(real, number)
            if layout.is_dir(folder):
                yield from _folder(real, folder, _journal(real, number))


def _folder(root: Path, folder: Path, journal: Journal | None) -> Iterator[Kept]:
    entries = journal.entries if journal is not None else ()
    with os.scandir(folder) as listing:
        names = sorted(e.name for e in listing if e.is_file(follow_symlinks=False))
    for name in names:
        index = int(name) if name.isascii() and name.isdigit() else -1
        path = entries[index].path if 0 <= index < len(entries) else None
        try:
            data = durable.read_bytes(folder / name)
        except FileNotFoundError:
            continue  # committed or pruned since it was listed
        except OSError:
            data = None
        place = (folder / name).relative_to(root).as_posix()
        yield Kept(place=place, path=path, data=data)


def _journal(root: Path, number: int) -> Journal | None:
    """Give what says which file each is, of a finished apply or of the pending one."""
    for place in (layout.manifest(root, number), layout.journal(root)):
        try:
            found = read(place)
        except (OSError, FormatError):
            continue  # without it the bytes are still read
        if found.number == number:
            return found
    return None
