"""A store that is one file: where its own things are kept, and reading it.

Nothing of interop's own may lie beside such a file, so its lock, its journal and its displaced
bytes are kept in interop's state directory, in the same layout as in the ``.interop`` folder of a
store. Writing it is in interop.disk.replacing.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from interop import inline, limits
from interop.disk import layout, state
from interop.disk.tree import TooMuchError, Tree, read_bounded
from interop.errors import FormatError
from interop.model import Problem
from interop.plan import digest


def home(path: Path) -> Path:
    """Give the directory in which interop keeps what belongs to a file, as the root of a layout."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    return state.directory() / "files" / name


def is_one(path: Path) -> bool:
    """Is this a file, or the place of one that interop wrote once?"""
    try:
        return not stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return layout.is_dir(home(path))


def load(path: Path, name: str, *, missing_ok: bool = False) -> Tree:
    """Read the file, and take the complement out of it.

    Args:
        path: where it is; a link is followed.
        name: what it is called in the tree.
        missing_ok: a file that is not there is an empty store.

    Raises:
        FormatError: there is no such file, or it cannot be read.
    """
    data = read(path, missing_ok=missing_ok)
    return Tree(files={}, complement=None, problems=()) if data is None else tree_of(data, name)


def tree_of(data: bytes, name: str) -> Tree:
    """Give the tree of a file that says this; an empty file is an empty store.

    That it was cut off is a problem of the tree, so that nobody takes half of it for the whole.
    """
    own, complement, cut = inline.parts(data)
    files = {name: own} if data else {}
    problems = () if cut is None else (Problem(path=name, problem=cut, unread=True),)
    return Tree(files=files, complement=complement, problems=problems, whole=digest(data))


def read(path: Path, *, missing_ok: bool = False) -> bytes | None:
    """Give the bytes of the file; None when it may be missing, and is.

    Raises:
        FormatError: there is no such file, or it cannot be read.
    """
    real = Path(os.path.realpath(path))
    try:
        mode = os.lstat(real).st_mode
        if stat.S_ISDIR(mode):
            raise FormatError(str(path), "is a folder, and this format is a file", "name the file")
        if not stat.S_ISREG(mode):
            raise FormatError(str(path), "is no regular file", "give its bytes to stdin, as '-'")
        most = limits.current()
        # an interrupted write may have left a second name, which the next one clears up
        interrupted = os.path.lexists(layout.journal(home(path)))
        links = None if interrupted else most.links
        return read_bounded(real, most.store, links, name="store")
    except TooMuchError as error:
        raise FormatError(str(path), str(error)) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        if not missing_ok:
            raise FormatError(str(path), "there is no such file", "check the path") from error
        if not layout.is_dir(real.parent):
            raise FormatError(
                str(path), f"there is no folder {str(real.parent)!r}", "make it first"
            ) from error
        return None
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise FormatError(str(path), f"cannot be read ({why})", "check the path") from error
