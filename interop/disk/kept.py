"""Reading what interop itself keeps of a store's texts: displaced bytes, and bytes on their way.

Nothing is written here, and nothing is trusted: the folder may come from another machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interop.disk import layout, own_files, single
from interop.disk.journal import Journal, read
from interop.errors import FormatError


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One file below ``.interop/undo`` or ``.interop/staging``."""

    place: str
    """POSIX path relative to the store's root: ``.interop/undo/7/0``; of a store that is one file,
    the whole path, as it lies in interop's state directory."""
    path: str | None
    """The store's file whose bytes these are; None for interop's own notes."""
    data: bytes | None
    """None when it cannot be read, or is larger than a store may be."""


def kept(root: Path) -> Iterator[Kept]:
    """Yield every regular file that undo and staging keep, the oldest apply first.

    Links are not followed; a store without a folder of interop's own keeps nothing.
    """
    real = Path(os.path.realpath(root))
    within: Path | None = real
    if single.is_one(real):
        real, within = single.home(real), None
    if not layout.is_dir(layout.own(real)):
        return
    for kind, folder_of in (("undo", layout.undo), ("staging", layout.staging)):
        if not layout.is_dir(layout.own(real) / kind):
            continue
        for number in layout.numbers(real, kind):
            folder = folder_of(real, number)
            if layout.is_dir(folder):
                yield from _folder(within, folder, _journal(real, number))


def _folder(within: Path | None, folder: Path, journal: Journal | None) -> Iterator[Kept]:
    entries = journal.entries if journal is not None else ()
    with os.scandir(folder) as listing:
        names = sorted(e.name for e in listing if e.is_file(follow_symlinks=False))
    for name in names:
        if name == "wrote" and journal is not None:
            yield from _wrote(within, folder / name, journal)
            continue
        index = int(name) if name.isascii() and name.isdigit() else -1
        path = entries[index].path if 0 <= index < len(entries) else None
        try:
            data = own_files.read(folder / name, "")
        except FileNotFoundError:
            continue  # committed or pruned since it was listed
        except (OSError, FormatError):
            data = None
        yield Kept(place=_shown(within, folder / name), path=path, data=data)


def _wrote(within: Path | None, place: Path, journal: Journal) -> Iterator[Kept]:
    """Yield what an apply wrote, file by file."""
    shown = _shown(within, place)
    try:
        data = own_files.read(place, "")
    except FileNotFoundError:
        return  # committed or pruned since it was listed
    except (OSError, FormatError):
        yield Kept(place=shown, path=None, data=None)
        return
    start = 0
    for entry in journal.entries:
        if entry.size:
            yield Kept(place=shown, path=entry.path, data=data[start : start + entry.size])
        start += entry.size
    if data[start:]:
        yield Kept(place=shown, path=None, data=data[start:])


def _shown(within: Path | None, place: Path) -> str:
    return (place if within is None else place.relative_to(within)).as_posix()


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
