"""Reading a store from the disk: every regular file, and what could not be read.

Nothing is written here. While an apply is under way, or after one was interrupted, the store is
read as it was before it: displaced bytes come from the undo folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import NamedTuple

from interop import limits
from interop.disk import durable, layout
from interop.disk.journal import Journal, displaced, pending
from interop.errors import FormatError
from interop.model import Problem
from interop.plan import COMPLEMENT, digest

PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5)
"""Seconds before each further look at a store that was written while it was read: 3.1 at most."""
_TRIES = 5
"""Looks at one file that is being moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A store at rest, as the disk has it."""

    files: dict[str, bytes]
    """POSIX path relative to the root -> bytes, sorted by code point; regular files only."""
    complement: bytes | None
    """The bytes of ``.interop/complement``, None when there is none."""
    problems: tuple[Problem, ...]
    """What was not loaded: links, devices, unreadable files, names that are not UTF-8."""
    whole: str | None = None
    """Of a store that is one file: the digest of all its bytes, as they stand there."""

    def digests(self) -> dict[str, str]:
        """Give the digest of every file, the complement's too."""
        kept = {} if self.complement is None else {COMPLEMENT: self.complement}
        return {path: digest(data) for path, data in {**self.files, **kept}.items()}


def load(root: Path, ignored: Callable[[str], bool], *, missing_ok: bool = False) -> Tree:
    """Read every regular file below a directory.

    Args:
        root: the store; a link to a directory is resolved, links below it are not followed.
        ignored: says of a path whether it is a database or cache, which is never opened.
        missing_ok: a root that is not there is an empty store.

    Raises:
        FormatError: there is no such directory, or it changes faster than it can be read.
    """
    real = resolve(root, missing_ok=missing_ok)
    if real is None:
        return Tree(files={}, complement=None, problems=())
    for pause in (*PAUSES, None):
        stamp = _stamp(real)
        journal = _pending(real)
        # an interrupted write may have left second names, which the next one clears up
        tree = scan(real, ignored, {e.path for e in journal.entries} if journal else ())
        if journal is not None:
            tree, moved = _as_before(real, journal, tree, ignored)
        else:
            moved = False
        # An apply that began or ended meanwhile may have given half of each; one that is being
        # taken back at this very moment moves what it displaced.
        if _stamp(real) == stamp and not (moved and pause):
            return tree
        if pause:
            sleep(pause)
    raise moving(root)


def moving(root: Path) -> FormatError:
    """Give the error that a store changes faster than it can be read."""
    return FormatError(str(root), "is being written by another interop", "try again in a moment")


def peek(root: Path, ignored: Callable[[str], bool], *, missing_ok: bool = False) -> Peek:
    """List a store's files, reading each only when it is looked at; for telling formats apart.

    Raises:
        FormatError: there is no such directory.
    """
    real = resolve(root, missing_ok=missing_ok)
    if real is None:
        return Peek({}, {})
    if _pending(real) is not None:
        return Peek({}, load(real, ignored).files)
    listing = _list(real, ignored)
    return Peek(dict(sorted(listing.files)), {})


class Peek(Mapping[str, bytes]):
    """The files of a store by name, read on access.

    A file that cannot be read is taken as empty here: only ``load`` names problems.
    """

    def __init__(self, places: Mapping[str, str], read: Mapping[str, bytes]) -> None:
        self._places = places
        self._read = dict(read)

    def __getitem__(self, path: str) -> bytes:
        if path not in self._read:
            try:
                self._read[path] = read_bounded(self._places[path], limits.current().file)
            except (OSError, TooMuchError):
                self._read[path] = b""
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places or self._read)

    def __len__(self) -> int:
        return len(self._places or self._read)

    def __contains__(self, path: object) -> bool:
        return path in self._places or path in self._read


def resolve(root: Path, *, missing_ok: bool) -> Path | None:
    """Give the real directory of a store; None when it may be missing, and is.

    Raises:
        FormatError: there is no such directory.
    """
    try:
        mode = os.stat(root).st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        if missing_ok and not os.path.lexists(root):
            return None
        raise FormatError(str(root), "there is no such folder", "check the path") from error
    except (OSError, ValueError) as error:
        raise FormatError(str(root), f"cannot be read ({_why(error)})", "check the path") from error
    if not stat.S_ISDIR(mode):
        raise FormatError(str(root), "is a file, not a folder", "name the folder that it is in")
    return Path(os.path.realpath(root))


def scan(root: Path, ignored: Callable[[str], bool], linked: Collection[str] = ()) -> Tree:
    """Read what is there now, whatever a journal says of it.

    ``linked`` are files that may have any number of names.
    """
    problems: list[Problem] = []
    files = dict(_contents(root, ignored, linked, problems))
    own = layout.own(root)
    complement = kept_complement(root)
    if os.path.lexists(own) and not layout.is_dir(own):
        problem = "is not a folder, so interop keeps no complement here"
        problems.append(Problem(path=layout.OWN, problem=problem))
    problems.sort(key=lambda p: p.path)
    return Tree(files=files, complement=complement, problems=tuple(problems))


def kept_complement(root: Path, first: int | None = None) -> bytes | None:
    """Read the complement of a store in a folder, and nothing else of it; None when it has none.

    ``first``: so many bytes of it are enough.

    Raises:
        FormatError: it cannot be read, is no regular file, or is larger than a store may be.
    """
    if not layout.is_dir(layout.own(root)):
        return None
    place = layout.place(root, COMPLEMENT)
    try:
        if first is not None:
            return durable.read_start(place, first)
        return read_bounded(place, limits.current().store, name="store")
    except FileNotFoundError:
        return None
    except TooMuchError as error:
        raise FormatError(str(place), str(error)) from error
    except OSError as error:
        raise FormatError(str(place), _unreadable(error), "check its permissions") from error


def digests(
    root: Path, ignored: Callable[[str], bool], linked: Collection[str] = ()
) -> dict[str, str]:
    """Give the digest of each file that ``scan`` would give, and hold one of them at a time.

    The complement is among them, by its path in the store.
    """
    found = {p: digest(data) for p, data in _contents(root, ignored, linked, [])}
    kept = durable.digest_at(layout.at(root, COMPLEMENT))
    return found if kept is None else {**found, COMPLEMENT: kept}


def _contents(
    root: Path, ignored: Callable[[str], bool], linked: Collection[str], problems: list[Problem]
) -> Iterator[tuple[str, bytes]]:
    """Give every file with its bytes, and note what cannot be read."""
    listing = _list(root, ignored)
    problems += listing.problems
    most = limits.current()
    total = 0
    for path, place in sorted(listing.files):
        try:
            data = read_bounded(place, most.file, None if path in linked else most.links)
        except FileNotFoundError:
            continue  # deleted since it was listed
        except OSError as error:
            problems.append(Problem(path=path, problem=_unreadable(error), unread=True))
            continue
        except TooMuchError as error:
            problems.append(Problem(path=path, problem=str(error), unread=True))
            continue
        total += len(data)
        if total > most.store:
            raise FormatError(
                str(root),
                f"holds more than {limits.size(most.store)}",
                limits.way_out("store", most.store + 1),
            )
        yield path, data


class TooMuchError(Exception):
    """A file is beyond a limit; its text says which, and the way out."""


def read_bounded(
    place: str | Path, most: int, links: int | None = None, *, name: str = "file"
) -> bytes:
    """Read a regular file whole, if it is no larger than ``most`` and has no more names.

    ``name`` is the limit that ``most`` is.

    Raises:
        TooMuchError: it is larger, or has more names.
        OSError: it cannot be read.
    """
    fd = os.open(place, durable.READ)
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise TooMuchError("is no regular file")
        if links is not None and info.st_nlink > links:
            raise TooMuchError(
                f"has {info.st_nlink:,} names on this disk (hard links), so others may write to it;"
                f" {limits.way_out('links', info.st_nlink)}"
            )
        if info.st_size > most:
            raise TooMuchError(
                f"is larger than {limits.size(most)} ({limits.size(info.st_size)});"
                f" {limits.way_out(name, info.st_size)}"
            )
        data = os.read(fd, info.st_size + 1)
        # What the system says of a size can be old or, in /proc, nothing; only the end is the end.
        if more := os.read(fd, _MORE):
            data = _to_the_end(fd, [data, more], most)
        if len(data) > most:
            raise TooMuchError(f"is larger than {limits.size(most)}")
        return data
    finally:
        os.close(fd)


_MORE = 1 << 16
"""Bytes that are asked for at once of a file that goes on behind its size."""


def _to_the_end(fd: int, parts: list[bytes], most: int) -> bytes:
    """Read on until the end, or until it is more than ``most`` bytes."""
    left = most - sum(map(len, parts))
    while left >= 0 and (part := os.read(fd, _MORE)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


class _Listing(NamedTuple):
    files: list[tuple[str, str]]
    """Path in the store, place on the disk."""
    problems: list[Problem]


def _list(root: Path, ignored: Callable[[str], bool]) -> _Listing:
    """List the regular files; one pass, no file opened."""
    listing = _Listing([], [])
    most = limits.current().files
    seen = 0
    todo = [("", str(root))]
    while todo:
        prefix, folder = todo.pop()
        try:
            entries = os.scandir(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            path = _shown(prefix.rstrip("/") or ".")
            listing.problems.append(Problem(path=path, problem=_unreadable(error), unread=True))
            continue
        with entries:
            for entry in entries:
                name = entry.name
                if name not in layout.SKIPPED:
                    seen += 1
                    if seen > most:
                        raise FormatError(
                            str(root),
                            f"has more than {most:,} files and folders",
                            limits.way_out("files", 10 * most),
                        )
                    _look(prefix + name, entry, ignored, listing, todo)
    return listing


def _look(
    path: str,
    entry: os.DirEntry[str],
    ignored: Callable[[str], bool],
    listing: _Listing,
    todo: list[tuple[str, str]],
) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        problem = "its name is not UTF-8; rename it to have it read"
        listing.problems.append(Problem(path=_shown(path), problem=problem, unread=True))
        return
    if entry.is_dir(follow_symlinks=False):
        todo.append((f"{path}/", entry.path))
    elif ignored(path):
        pass
    elif entry.is_file(follow_symlinks=False):
        listing.files.append((path, entry.path))
    elif entry.is_symlink():
        problem = "is a symbolic link, which interop never follows; put the file itself here"
        listing.problems.append(Problem(path=path, problem=problem, unread=True))
    else:
        problem = "is a pipe, a socket or a device, not a file"
        listing.problems.append(Problem(path=path, problem=problem))


class _Before(NamedTuple):
    tree: Tree
    moved: bool
    """Was something that the apply displaced no longer where it was kept?"""


def _as_before(root: Path, journal: Journal, tree: Tree, ignored: Callable[[str], bool]) -> _Before:
    """Give the store as it was before a pending apply, as rolling it back would leave it."""
    moved = False
    files = dict(tree.files)
    complement = tree.complement
    problems = list(tree.problems)
    for index, entry in enumerate(journal.entries):
        if entry.path != COMPLEMENT and ignored(entry.path):
            continue
        seen = complement if entry.path == COMPLEMENT else files.get(entry.path)
        seen_digest = None if seen is None else digest(seen)
        if seen_digest == entry.before or seen_digest != entry.after:
            continue  # old already, or another program's
        old = None
        if entry.before is not None:
            try:
                old = _old(root, journal, index)
            except OSError as error:
                moved = moved or isinstance(error, FileNotFoundError)
                problem = _unreadable(error)
                problems.append(Problem(path=entry.path, problem=problem, unread=True))
        if entry.path == COMPLEMENT:
            complement = old
        elif old is None:
            files.pop(entry.path, None)
        else:
            files[entry.path] = old
    found = Tree(
        files=dict(sorted(files.items())),
        complement=complement,
        problems=tuple(sorted(problems, key=lambda p: p.path)),
    )
    return _Before(found, moved)


def _old(root: Path, journal: Journal, index: int) -> bytes:
    """Read what an apply displaced; while it runs, that may move under our eyes."""
    for _ in range(_TRIES):
        source = displaced(root, journal, index)
        try:
            if source is not None:
                return durable.read_bytes(source, limits.current().store)
        except FileNotFoundError:
            pass
    return durable.read_bytes(journal.old(root, index), limits.current().store)


def _pending(root: Path) -> Journal | None:
    try:
        return pending(root)
    except OSError as error:
        where = str(layout.journal(root))
        remedy = "check the permissions; it says what an interrupted write was about"
        raise FormatError(where, _unreadable(error), remedy) from error


def _stamp(root: Path) -> object:
    """Give a value that is another one after an apply began, ended or was taken back."""
    if not layout.is_dir(layout.own(root)):
        return None
    marks: list[tuple[int, int] | None] = []
    for path in (layout.journal(root), layout.own(root) / "holder"):
        try:
            info = os.lstat(path)
            marks.append((info.st_ino, info.st_mtime_ns))
        except OSError:
            marks.append(None)
    return marks


def _unreadable(error: OSError) -> str:
    return f"cannot be read ({_why(error)})"


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")
