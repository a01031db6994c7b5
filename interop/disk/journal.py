"""The journal: what an apply is about to do, so that whoever comes next can finish or undo it.

While ``.interop/journal`` is there, an apply is under way or was interrupted, and the store counts
as old. Renaming the journal to ``.interop/undo/<n>/manifest`` is the commit: one step, after which
the store is new and the same file says how to undo it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import orjson

from interop.disk import durable, layout, own_files
from interop.errors import FormatError
from interop.model import Json

VERSION = 1
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of an apply: its digest before and after, None where there is no file."""

    path: str
    before: str | None
    after: str | None
    size: int = 0
    """How many bytes of the new file are kept in ``wrote``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """One apply: its files in their order, and the directories it makes and empties."""

    number: int
    label: str
    time: str
    """When it began, ISO 8601 in UTC."""
    entries: tuple[Entry, ...]
    made: tuple[str, ...] = ()
    """Directories that were missing, outermost first."""
    emptied: Mapping[str, int] = field(default_factory=dict[str, int])
    """Directories that may have to go because the last file in them goes -> permission bits."""
    undoes: int | None = None
    """The number of the apply that this one takes back."""

    def new(self, root: Path, index: int) -> Path:
        """Give the place where the new bytes of an entry wait."""
        return Path(self.new_at(root, index))

    def new_at(self, root: Path, index: int) -> str:
        """Give that place as a string, as ``layout.at`` does."""
        return f"{root}/{layout.OWN}/staging/{self.number}/{index}"

    def old(self, root: Path, index: int) -> Path:
        """Give the place where the displaced bytes of an entry are kept."""
        return root / f"{layout.OWN}/undo/{self.number}/{index}"


def dump(journal: Journal) -> bytes:
    """Give the journal's bytes."""
    return orjson.dumps(
        {
            "version": VERSION,
            "number": journal.number,
            "label": journal.label,
            "time": journal.time,
            "undoes": journal.undoes,
            "made": list(journal.made),
            "emptied": dict(journal.emptied),
            "files": [
                {
                    "path": e.path,
                    "before": e.before,
                    "after": e.after,
                    "size": e.size,
                    "staged": f"staging/{journal.number}/{i}" if e.after else None,
                    "backup": f"undo/{journal.number}/{i}" if e.before else None,
                }
                for i, e in enumerate(journal.entries)
            ],
        },
        option=orjson.OPT_INDENT_2,
    )


def read(path: Path) -> Journal:
    """Read a journal, or the manifest of a finished apply.

    A store may come from elsewhere, its journal too: nothing in it is trusted to stay in the store.

    Raises:
        FormatError: it is not a journal, is beyond a limit, or names a path outside the store.
        OSError: it cannot be read.
    """
    problem = "is not a journal of interop"
    try:
        data = cast("Json", orjson.loads(own_files.read(path, _REMEDY)))
    except orjson.JSONDecodeError as error:
        raise FormatError(str(path), f"{problem} ({error})", _REMEDY) from error
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise FormatError(str(path), f"{problem} of version {VERSION}", _REMEDY)
    try:
        return _journal(data)
    except _BrokenError as error:
        raise FormatError(str(path), f"{problem}: {error}", _REMEDY) from error


_REMEDY = "move it away to give up what it would take back"


def pending(root: Path) -> Journal | None:
    """Give the journal of an apply that is under way or was interrupted, if there is one.

    Raises:
        FormatError: there is something in its place that is no journal.
        OSError: it cannot be read.
    """
    path = layout.journal(root)
    if not layout.is_dir(layout.own(root)) or not os.path.lexists(path):
        return None
    try:
        return read(path)
    except FileNotFoundError:
        return None  # committed, or rolled back, since the look above


def displaced(root: Path, journal: Journal, index: int) -> Path | None:
    """Find what stood at an entry's path when the new bytes took its place; None if nothing did.

    An exchange leaves it where the new bytes waited, until it is moved to the undo folder.
    """
    old = journal.old(root, index)
    if os.path.lexists(old):
        return old
    new = journal.new(root, index)
    after = journal.entries[index].after
    if after is not None and os.path.lexists(new) and durable.digest_at(new) != after:
        return new
    return None


class _BrokenError(Exception):
    """A value in a journal has the wrong shape; its text says which."""


def _journal(data: Mapping[str, Json]) -> Journal:
    files, made, emptied = data.get("files"), data.get("made"), data.get("emptied")
    if not isinstance(files, list) or not isinstance(made, list) or not isinstance(emptied, dict):
        raise _BrokenError("files, made or emptied is missing")
    number, undoes = data.get("number"), data.get("undoes")
    if not isinstance(number, int) or not isinstance(undoes, int | None) or number < 1:
        raise _BrokenError("number or undoes is no number")
    modes: dict[str, int] = {}
    for path, mode in emptied.items():
        if not isinstance(mode, int):
            raise _BrokenError("emptied is not permission bits")
        modes[_path(path)] = mode & 0o7777
    return Journal(
        number=number,
        label=str(data.get("label")),
        time=str(data.get("time")),
        entries=tuple(_entry(item) for item in files),
        made=tuple(_path(item) for item in made),
        emptied=modes,
        undoes=undoes,
    )


def _entry(item: Json) -> Entry:
    if not isinstance(item, dict):
        raise _BrokenError("files is not a list of objects")
    before, after = _digest(item.get("before")), _digest(item.get("after"))
    size = item.get("size", 0)
    if not isinstance(size, int) or size < 0:
        raise _BrokenError("a size is no number")
    return Entry(path=_path(item.get("path")), before=before, after=after, size=size)


def _path(value: Json) -> str:
    if not isinstance(value, str):
        raise _BrokenError("a path is no text")
    # ``.interop`` itself is made for the complement, and is no path of a file.
    if value != layout.OWN and (why := layout.invalid(value)):
        raise _BrokenError(f"{value!r} {why}")
    return value


def _digest(value: Json) -> str | None:
    if value is None or (isinstance(value, str) and _DIGEST.match(value)):
        return value
    raise _BrokenError("a digest is no SHA-256")
