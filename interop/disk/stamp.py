"""Has a store changed since it was read? Asked of its directory entries, before a byte is read.

A file counts as unchanged while its size, times and number are the same, as in git's index. That
cannot be trusted of a file that was written in the very moment in which it was listed: it may be
written again within the same tick of the file system's clock. Such files are named as ``racy``, and
whoever asks looks at their bytes.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from interop.disk import durable, layout
from interop.plan import COMPLEMENT

TICK = 2_000_000_000
"""Nanoseconds within which a file system's times may be equal, the coarsest that there are."""
_TRIES = 5
_JOURNAL = f"{layout.OWN}/journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """The directory entries of a store at one moment."""

    entries: Mapping[str, str]
    """Path -> what its entry says: size, times and number. The complement and the journal of a
    write that is under way are among them; directories are not, unless they cannot be listed. A
    store that is one file has the path ``""``."""
    taken: int
    """When it was taken, in nanoseconds since the epoch."""
    racy: tuple[str, ...]
    """Paths that may still change without their entries showing it."""
    steady: bool
    """False when interop was writing all the time: it shows the store at no one moment."""

    @property
    def writing(self) -> bool:
        """Is a write under way, or interrupted, so that the files are not what the store says?"""
        return _JOURNAL in self.entries

    def digest(self) -> bytes:
        """Give a short value that is the same for the same entries."""
        lines = sorted(f"{path}\0{said}" for path, said in self.entries.items())
        text = "\n".join(lines).encode()
        return hashlib.blake2b(text, digest_size=16).digest()


def take(root: Path, without: Collection[str] = frozenset()) -> Stamp | None:
    """Stamp a store; None when there is none.

    Args:
        root: the store.
        without: paths that are no part of it, such as its runtime's databases.
    """
    real = os.path.realpath(root)
    for attempt in range(_TRIES):
        taken = time.time_ns()
        before = _holder(real)
        entries: dict[str, str] = {}
        racy: list[str] = []
        if not _list(real, without, entries, racy, taken - TICK):
            return None
        if _holder(real) == before or attempt == _TRIES - 1:
            return Stamp(
                entries=entries,
                taken=taken,
                racy=tuple(racy),
                steady=_holder(real) == before,
            )
    raise AssertionError("the last try returns")


def _holder(root: str) -> tuple[int, int] | None:
    """Give what changes whenever an apply begins."""
    try:
        info = os.lstat(f"{root}/{layout.OWN}/holder")
    except OSError:
        return None
    return info.st_ino, info.st_mtime_ns


def _list(
    root: str, without: Collection[str], entries: dict[str, str], racy: list[str], recent: int
) -> bool:
    if os.path.isfile(root):  # a store that is one file has no folder of interop's own
        _add("", os.stat(root), entries, racy, recent)
        return True
    todo = [("", root)]
    while todo:
        prefix, folder = todo.pop()
        try:
            listing = os.scandir(folder)
        except OSError as error:
            if not prefix and isinstance(error, FileNotFoundError | NotADirectoryError):
                return False
            entries[prefix] = f"cannot be listed {error.errno}"
            continue
        with listing:
            for entry in listing:
                name = entry.name
                if name in layout.SKIPPED:
                    continue
                path = prefix + (name if name.isascii() else _shown(name))
                if entry.is_dir(follow_symlinks=False):
                    todo.append((f"{path}/", entry.path))
                elif path not in without:
                    try:
                        info = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue  # gone since it was listed
                    _add(path, info, entries, racy, recent)
    for path in (COMPLEMENT, _JOURNAL):
        try:
            info = os.lstat(f"{root}/{path}")
        except OSError:
            continue
        _add(path, info, entries, racy, recent)
    return True


def _shown(name: str) -> str:
    """Give a name as text, also one that is not UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).decode("utf-8", "backslashreplace")
    return name


def _add(
    path: str, info: os.stat_result, entries: dict[str, str], racy: list[str], recent: int
) -> None:
    kind = "" if stat.S_ISREG(info.st_mode) else f" {stat.S_IFMT(info.st_mode):o}"
    changed, altered = info.st_mtime_ns, info.st_ctime_ns
    entries[path] = f"{info.st_size} {changed} {altered} {info.st_ino}{kind}"
    if changed >= recent or altered >= recent:
        racy.append(path)


def digest_of(root: Path, path: str) -> str | None:
    """Give the digest of a file of a stamped store; None when it cannot be read."""
    real = Path(os.path.realpath(root))
    place = real if not path else layout.place(real, path)
    try:
        return durable.digest_at(place)
    except OSError:
        return None
