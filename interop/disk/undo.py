"""Taking back the last apply, and the list of those that can be."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from interop.disk import durable, layout
from interop.disk.journal import Entry, Journal, displaced, pending, read
from interop.disk.lock import WAIT
from interop.disk.recovery import manifests
from interop.disk.transaction import run, writing
from interop.disk.tree import Tree, resolve
from interop.errors import FormatError, RefusedError, WriteError
from interop.plan import FileChange, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One apply that can be taken back."""

    label: str
    time: str
    """When it began, ISO 8601 in UTC."""
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """An apply that was taken back, or would be."""

    label: str
    time: str
    changes: tuple[FileChange, ...]
    """What taking it back does to each file, in its order."""
    note: bytes = b""
    """What followed the apply outside the files; empty for nothing, or where a crash hides it."""


def history(root: Path) -> list[Applied]:
    """List the applies that can be taken back, newest first.

    Raises:
        FormatError: there is no such directory.
    """
    real = resolve(root, missing_ok=False)
    assert real is not None
    return [
        Applied(label=j.label, time=j.time, files=len(j.entries)) for j in reversed(_undoable(real))
    ]


def undo(root: Path, *, dry_run: bool = False, wait: float = WAIT) -> Undone:
    """Make every file of the last apply say again what it said before it.

    With ``dry_run`` nothing is written, not even a lock.

    Raises:
        RefusedError: there is nothing to undo, or a file was edited since; nothing was written.
        WriteError: writing failed, and was taken back.
        FormatError: there is no such directory.
    """
    real = resolve(root, missing_ok=False)
    assert real is not None
    layout.check_own(real)
    try:
        if dry_run:
            return _undone(real, _last(real))
        _last(real)  # before a lock is made where there is nothing to undo
        with writing(real, "undo", wait):
            last = _last(real)
            undone = _undone(real, last)
            kept = {e.path: last.old(real, i) for i, e in enumerate(last.entries) if e.before}
            run(
                real,
                undone.changes,
                label=f"undo of {last.label}",
                verify=_trusted,
                undoes=last,
                like=kept,
            )
            return undone
    except OSError as error:
        what = error.strerror or str(error)
        raise WriteError(
            str(root),
            f"cannot be undone: {what} ({error.filename!r}); nothing was written",
            "see to the disk and run this again",
        ) from error


def _trusted(tree: Tree) -> None:
    """Undo gives back known bytes, and each was read back already."""


def _undoable(root: Path) -> list[Journal]:
    """Give the finished applies that stand, oldest first."""
    if not layout.is_dir(layout.own(root)):
        return []
    found = manifests(root)
    gone = {j.undoes for j in found}
    return [j for j in found if j.undoes is None and j.number not in gone]


def _last(root: Path) -> Journal:
    standing = _undoable(root)
    newest = max(
        (n for n in layout.numbers(root, "undo") if os.path.lexists(layout.manifest(root, n))),
        default=0,
    )
    if newest > max((j.number for j in manifests(root)), default=0):
        # An older apply can only be taken back after it, so the broken one has to be named.
        read(layout.manifest(root, newest))
    if not standing:
        raise RefusedError(
            str(root),
            "there is nothing to undo",
            "interop keeps the displaced files of its own writes only",
        )
    return standing[-1]


def _undone(root: Path, last: Journal) -> Undone:
    edited: list[str] = []
    changes: list[FileChange] = []
    for index, entry in reversed(list(enumerate(last.entries))):
        now = _digest_now(root, entry.path)
        if now != entry.after:
            edited.append(f"{entry.path!r} {_what_changed(entry, now)}")
        old = None
        if entry.before is not None:
            old = _kept(root, last, index, entry)
        changes.append(FileChange(path=entry.path, before=entry.after, after=old))
    if edited:
        raise RefusedError(
            str(root),
            f"changed since {last.label!r}, so it cannot be undone as a whole",
            "put these files back, or take what you need from"
            f" {layout.undo(root, last.number).relative_to(root).as_posix()!r} by hand",
            edited,
        )
    note = layout.note(root, last.number)
    said = durable.read_bytes(note) if os.path.lexists(note) else b""
    return Undone(label=last.label, time=last.time, changes=tuple(changes), note=said)


def _what_changed(entry: Entry, now: str | None) -> str:
    if now is None:
        return "is gone"
    return "was written anew" if entry.after is None else "was edited"


def _kept(root: Path, last: Journal, index: int, entry: Entry) -> bytes:
    place = last.old(root, index)
    try:
        data = durable.read_bytes(place)
    except FileNotFoundError:
        data = b""
    if digest(data) != entry.before:
        raise FormatError(
            str(place),
            f"is not what {entry.path!r} said before {last.label!r}, so it cannot be undone",
            "restore it from a backup",
        )
    return data


def _digest_now(root: Path, path: str) -> str | None:
    """Give the digest of a file as an interrupted apply that is taken back will leave it."""
    now = durable.digest_at(layout.place(root, path))
    journal = pending(root)
    for index, entry in enumerate(journal.entries if journal else ()):
        if journal and entry.path == path and now == entry.after:
            source = displaced(root, journal, index)
            return None if source is None else durable.digest_at(source)
    return now
