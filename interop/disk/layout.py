"""Where interop keeps its own things in a store, and which paths a change may name.

    .interop/complement    what the format cannot hold; part of the store
    .interop/lock          held while interop writes
    .interop/holder        who holds it, for the one who waits
    .interop/journal       there while an apply is under way, and after one was interrupted
    .interop/staging/7/0   new bytes on their way to their place
    .interop/undo/7/0      displaced bytes; with ``manifest``, the journal of a finished apply
    .interop/undo/7/wrote  the new bytes of its files, one behind the other (but a new complement)

None of the names has an extension, so no runtime takes one for a memory.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from interop.errors import RefusedError
from interop.plan import COMPLEMENT, FileChange

OWN = ".interop"
"""The folder inside a store that is interop's own."""
SKIPPED = frozenset({".git", OWN})
"""Names that are never part of a store, wherever they stand in it."""


def own(root: Path) -> Path:
    """Give the folder with interop's own things."""
    return root / OWN


def journal(root: Path) -> Path:
    """Give the place of the journal."""
    return root / OWN / "journal"


def staging(root: Path, number: int) -> Path:
    """Give the folder of one apply's new bytes."""
    return root / f"{OWN}/staging/{number}"


def undo(root: Path, number: int) -> Path:
    """Give the folder of one apply's displaced bytes."""
    return root / f"{OWN}/undo/{number}"


def manifest(root: Path, number: int) -> Path:
    """Give the place where the journal of a finished apply is kept."""
    return undo(root, number) / "manifest"


def note(root: Path, number: int) -> Path:
    """Give the place of what follows an apply outside the files; while empty, it is under way."""
    return undo(root, number) / "note"


def wrote(root: Path, number: int) -> Path:
    """Give the place of what an apply wrote, which undo compares later edits with."""
    return undo(root, number) / "wrote"


def numbers(root: Path, kind: str) -> list[int]:
    """List the numbers of the folders in ``staging`` or ``undo``, oldest first."""
    try:
        names = os.listdir(root / OWN / kind)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(int(n) for n in names if n.isascii() and n.isdigit())


def place(root: Path, path: str) -> Path:
    """Give the place of a store's file on the disk."""
    return root / path


def at(root: Path, path: str) -> str:
    """Give that place as a string: for every file of a store, joining paths is half of the work."""
    return f"{root}/{path}"


def is_dir(path: str | Path) -> bool:
    """Is this a directory, and not a link to one?"""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def invalid(path: str) -> str | None:
    """Say why a change may not name this path, or None."""
    if os.name != "nt" and _PLAIN.fullmatch(path):
        return None
    if not path or path.startswith("/"):
        return "is not a path relative to the store"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    if not path.isprintable() and any(unicodedata.category(c) == "Cc" for c in path):
        return "has a control character in it"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "has an empty part, '.' or '..' in it"
    if os.name == "nt" and any(map(reserved, parts)):
        return "has a name or a character in it that Windows reserves"
    if path != COMPLEMENT and any(part.casefold() in SKIPPED for part in parts):
        return "is inside a folder that is no part of a store"
    return None


_PLAIN = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*", re.ASCII)
"""Paths that nothing is wrong with, wherever no name is reserved; nearly all are of them."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\..*)?", re.IGNORECASE)


def reserved(name: str) -> bool:
    """Does Windows take this name for a device or another name, or refuse it?"""
    return (
        any(c in name for c in '\\:*?"<>|')
        or name.endswith((".", " "))
        or _DEVICE.fullmatch(name) is not None
    )


def check_own(root: Path) -> None:
    """Refuse a store whose ``.interop`` would lead somewhere else; a store may come from anywhere.

    Raises:
        RefusedError: it, or a folder in it, is something other than a directory.
    """
    folders = [own(root)]
    if is_dir(folders[0]):
        folders += (own(root) / kind for kind in ("staging", "undo"))
        folders += (staging(root, number) for number in numbers(root, "staging"))
        folders += (undo(root, number) for number in numbers(root, "undo"))
    for path in folders:
        if os.path.lexists(path) and not is_dir(path):
            raise RefusedError(
                str(path), "interop keeps its own data here, and this is not a folder", "move it"
            )
    if os.path.islink(own(root) / "lock"):
        raise RefusedError(str(own(root) / "lock"), "is a link, not interop's lock", "move it")


def check_paths(root: Path, changes: Sequence[FileChange]) -> None:
    """Refuse changes whose paths leave the store, or fall on one another or on what is there.

    Raises:
        RefusedError: naming every such path.
    """
    check_names(root, changes)
    check_places(root, changes)


def check_names(root: Path, changes: Sequence[FileChange]) -> None:
    """Refuse changes whose paths leave the store, whatever is there.

    Raises:
        RefusedError: naming every such path.
    """
    bad = [f"{c.path!r} {why}" for c in changes if (why := invalid(c.path))]
    if bad:
        raise RefusedError(str(root), "the plan names paths that cannot be written", details=bad)
    assert len({c.path for c in changes}) == len(changes), "a plan changes a file once"


def check_places(root: Path, changes: Sequence[FileChange]) -> None:
    """Refuse changes whose paths fall on one another, or on what is there now.

    Raises:
        RefusedError: naming every such path.
    """
    known: dict[str, bool] = {}
    bad = [line for c in changes if (line := _blocked(root, c, known))]
    if bad:
        raise RefusedError(
            str(root),
            "the plan names paths that something is in the way of",
            "move it, or convert into another folder",
            bad,
        )
    _check_folded(root, [c.path for c in changes if c.before is None])


def parents(path: str) -> tuple[str, ...]:
    """List the directories that a path goes through, outermost first, without the root."""
    return _down_to(path.rpartition("/")[0])


@lru_cache(maxsize=256)  # thousands of files lie in one folder
def _down_to(folder: str) -> tuple[str, ...]:
    parts = folder.split("/") if folder else []
    return tuple("/".join(parts[: n + 1]) for n in range(len(parts)))


def through_link(root: Path, path: str) -> bool:
    """Does the way to this path now lead through something that is not a real directory?"""
    return way(root, path) == "barred"


def way(root: Path, path: str) -> Literal["open", "missing", "barred"]:
    """Say whether the directories above a path are there now, or something else instead of one."""
    for parent in parents(path):
        try:
            if not stat.S_ISDIR(os.lstat(at(root, parent)).st_mode):
                return "barred"
        except FileNotFoundError:
            return "missing"
    return "open"


def _blocked(root: Path, change: FileChange, known: dict[str, bool]) -> str | None:
    """Say what stands in the way: a link or a file as parent, a directory at the path itself.

    ``known`` says of parents that nothing is wrong with whether they are there.
    """
    for parent in parents(change.path):
        if parent in known:
            if known[parent]:
                continue
            return None
        try:
            mode = os.lstat(at(root, parent)).st_mode
        except FileNotFoundError:
            known[parent] = False
            return None
        if not stat.S_ISDIR(mode):
            return f"{change.path!r}: {parent!r} {_what(mode)}"
        known[parent] = True
    try:
        mode = os.lstat(at(root, change.path)).st_mode
    except FileNotFoundError:
        return None
    # of a file that was there when it was planned, the digest says more
    if stat.S_ISDIR(mode) or (change.before is None and not stat.S_ISREG(mode)):
        return f"{change.path!r} {_what(mode)}"
    return None


def _what(mode: int) -> str:
    """Say what something is that is in the way."""
    if stat.S_ISLNK(mode):
        return "is a symbolic link, which interop never follows"
    if stat.S_ISDIR(mode):
        return "is a folder"
    return "is a file" if stat.S_ISREG(mode) else "is a pipe, a socket or a device, not a file"


def what_stands(place: Path) -> str | None:
    """Say what stands at a place, where it is something and no regular file."""
    try:
        mode = os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    return None if stat.S_ISREG(mode) else _what(mode)


def barrier(root: Path, path: str) -> str | None:
    """Say what stands instead of a directory above a path, if something does."""
    for parent in parents(path):
        try:
            mode = os.lstat(at(root, parent)).st_mode
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(mode):
            return f"{path!r}: {parent!r} {_what(mode)}"
    return None


def _check_folded(root: Path, created: Iterable[str]) -> None:
    """Refuse new names that the file system takes for others (``Note.md`` and ``note.md``)."""
    listings: dict[str, frozenset[str]] = {}
    clashes: list[str] = []
    new: dict[str, str] = {}
    for path in dict.fromkeys(p for c in created for p in (*parents(c), c)):
        folder, _, name = path.rpartition("/")
        if folder not in listings:
            listings[folder] = _names(place(root, folder))
        if listings[folder] and os.path.lexists(at(root, path)):
            if name not in listings[folder]:
                clashes.append(f"{path!r} and {_same(place(root, folder), name)!r}")
            continue
        twin = new.setdefault(_fold(path), path)
        if twin != path and folds(root):
            clashes.append(f"{path!r} and {twin!r}")
    if clashes:
        raise RefusedError(
            str(root),
            "this file system cannot tell these names apart",
            "rename one of each pair, or convert into another folder",
            clashes,
        )


def _fold(path: str) -> str:
    if path.isascii():
        return path.lower()  # what the rest would give
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def _same(folder: Path, name: str) -> str:
    """Find the entry that the file system means by ``name``."""
    for other in sorted(_names(folder)):
        if _fold(other) == _fold(name) and os.path.samefile(folder / other, folder / name):
            return other
    return name


def folds(root: Path) -> bool:
    """Does the file system take a name in other case for the same name?

    Asked of the nearest directory that is there, with a name that is there already.
    """
    while not os.path.lexists(root):
        root = root.parent
    for name, folder in (*((n, root) for n in sorted(_names(root))), (root.name, root.parent)):
        other = name.swapcase()
        if other != name and other not in _names(folder):
            return os.path.lexists(folder / other)
    return False
