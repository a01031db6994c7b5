"""What stands in a folder, one level deep: for finding stores, not for reading them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from interop.model import Problem

Standing: TypeAlias = Literal["folder", "link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders in a folder."""

    names: tuple[str, ...] = ()
    """Sorted, links to folders among them."""
    links: frozenset[str] = frozenset()
    """Which of the names are links."""
    problem: Problem | None = None
    """Why it could not be listed."""


def folders(path: Path) -> Folders:
    """List the folders directly in a folder, by name."""
    names: list[str] = []
    links: set[str] = set()
    problem: Problem | None = None
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
                elif entry.is_symlink() and os.path.isdir(entry.path):
                    names.append(entry.name)
                    links.add(entry.name)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        problem = Problem(path=shown(path), problem=_unreadable(error), unread=True)
    return Folders(names=tuple(sorted(names)), links=frozenset(links), problem=problem)


def standing(path: Path) -> Standing | Problem | None:
    """Say whether a folder stands at a path, or a link to one; a problem where none can tell."""
    try:
        link = stat.S_ISLNK(os.lstat(path).st_mode)
        there = stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return Problem(path=shown(path), problem=_unreadable(error), unread=True)
    if not there:
        return None
    return "link" if link else "folder"


def shown(path: Path) -> str:
    """Give a path as text that can be written; it is another one where the path is not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _unreadable(error: OSError | ValueError) -> str:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot be read ({why.lower()})"
