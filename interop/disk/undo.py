"""Taking back the last apply, and the list of those that can be."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from interop import limits
from interop.disk import durable, layout, own_files
from interop.disk.journal import Entry, Journal, displaced, pending, read
from interop.disk.lock import WAIT
from interop.disk.recovery import drop, manifests
from interop.disk.transaction import run, writing
from interop.disk.tree import TooMuchError, read_bounded, resolve
from interop.errors import FormatError, RefusedError, WriteError
from interop.plan import COMPLEMENT, FileChange, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One apply that can be taken back."""

    label: str
    time: str
    """When it began, ISO 8601 in UTC."""
    files: int
    size: int = 0
    """How many bytes are kept to take it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """An apply that was taken back, or would be."""

    label: str
    time: str
    changes: tuple[FileChange, ...]
    """What taking it back does to each file, in its order."""
    note: bytes = b""
    """What followed the apply outside the files; empty for nothing, or where a crash hides it."""
    merged: tuple[str, ...] = ()
    """Files that were edited since: the apply is taken back in them, the edits stay."""
    forced: tuple[str, ...] = ()
    """Files that were edited since, and are put back all the same, as was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """A file that an apply wrote, and that was edited since."""

    path: str
    before: bytes | None
    """What it said before the apply; None where the apply made it."""
    wrote: bytes | None
    """What the apply wrote; None where that is not kept."""
    now: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What becomes of such a file, or why nobody but a person can say."""

    after: bytes | None = None
    """Its bytes without the apply and with the edits; None removes it."""
    clash: str = ""


class Around(Protocol):
    """What has to follow an undo outside of the files."""

    def before(self, undone: Undone) -> None:
        """Refuse before anything is written; changes nothing."""
        ...

    def after(self, undone: Undone) -> bytes:
        """Follow; the files stand. Gives a note, as ``follow`` of ``apply`` does."""
        ...


Settle = Callable[[Later], Settled]
"""Says what becomes of a file that was edited since."""


def history(root: Path) -> list[Applied]:
    """List the applies that can be taken back, newest first.

    Raises:
        FormatError: there is no such directory.
    """
    real = resolve(root, missing_ok=False)
    assert real is not None
    return listed(real)


def listed(root: Path) -> list[Applied]:
    """List the applies of a layout, newest first."""
    return [
        Applied(label=j.label, time=j.time, files=len(j.entries), size=_size(root, j))
        for j in reversed(undoable(root))
    ]


def _size(root: Path, journal: Journal) -> int:
    try:
        with os.scandir(layout.undo(root, journal.number)) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except FileNotFoundError:
        return 0  # dropped since it was listed


def undo(
    root: Path,
    *,
    dry_run: bool = False,
    settle: Settle | None = None,
    force: bool = False,
    around: Around | None = None,
    wait: float = WAIT,
) -> Undone:
    """Make every file of the last apply say again what it said before it.

    Args:
        root: the store.
        dry_run: write nothing, not even a lock.
        settle: says what becomes of a file that was edited since; without it, as with one that
            clashes, nothing is taken back.
        force: put back files that were edited since as well. That is an apply of its own, which
            can be taken back: the edits are kept.
        around: what has to follow outside the files.
        wait: seconds to wait for another interop.

    Raises:
        RefusedError: there is nothing to undo, or a file was edited since in a way that clashes;
            nothing was written.
        WriteError: writing failed, and was taken back.
        FormatError: there is no such directory.
    """
    real = resolve(root, missing_ok=False)
    assert real is not None
    layout.check_own(real)
    try:
        if dry_run:
            undone = _undone(real, last_apply(real), settle, force=force)
            if around is not None:
                around.before(undone)
            return undone
        last_apply(real)  # before a lock is made where there is nothing to undo
        with writing(real, "undo", wait):
            last = last_apply(real)
            undone = _undone(real, last, settle, force=force)
            if around is not None:
                around.before(undone)
            kept = {e.path: last.old(real, i) for i, e in enumerate(last.entries) if e.before}
            run(
                real,
                undone.changes,
                label=label_of(undone),
                verify=trusted,
                follow=_following(around, undone),
                undoes=None if undone.forced else last,
                like=kept,
            )
            if not undone.changes:
                drop(real, last.number)
            return undone
    except OSError as error:
        what = error.strerror or str(error)
        raise WriteError(
            str(root),
            f"cannot be undone: {what} ({error.filename!r}); nothing was written",
            "see to the disk and run this again",
        ) from error


def _following(around: Around | None, undone: Undone) -> Callable[[], bytes] | None:
    """Let what is outside the files follow, if it followed the apply."""
    return None if around is None or not undone.note else lambda: around.after(undone)


def label_of(undone: Undone) -> str:
    """Say what an undo is, for whoever waits and for the list of what can be taken back."""
    return f"{'forced undo' if undone.forced else 'undo'} of {undone.label}"


def trusted(found: object) -> None:
    """Undo gives back known bytes, and each was read back already."""


def undoable(root: Path) -> list[Journal]:
    """Give the finished applies that stand, oldest first."""
    if not layout.is_dir(layout.own(root)):
        return []
    found = manifests(root)
    gone = {j.undoes for j in found}
    return [j for j in found if j.undoes is None and j.number not in gone]


def last_apply(root: Path, shown: Path | None = None) -> Journal:
    """Give the apply that is undone next; ``shown`` is what to call the store to a person.

    Raises:
        RefusedError: there is none.
        FormatError: the newest one cannot be read.
    """
    standing = undoable(root)
    newest = max(
        (n for n in layout.numbers(root, "undo") if os.path.lexists(layout.manifest(root, n))),
        default=0,
    )
    if newest > max((j.number for j in manifests(root)), default=0):
        # An older apply can only be taken back after it, so the broken one has to be named.
        read(layout.manifest(root, newest))
    if not standing:
        raise RefusedError(
            str(shown or root),
            "there is nothing to undo",
            "interop keeps the displaced files of its own writes only",
        )
    return standing[-1]


def _undone(root: Path, last: Journal, settle: Settle | None, *, force: bool) -> Undone:
    found = Finding(root, last, settle, force=force)
    journal = pending(root)
    for index in reversed(range(len(last.entries))):
        path = last.entries[index].path
        try:
            barrier = layout.barrier(root, path)
            place = None if barrier else _place_now(root, path, journal)
        except OSError as error:
            found.unread.append(f"{path!r} {durable.unreadable(error)}")
            continue
        if barrier:
            found.barred.append(barrier)
        else:
            found.look(index, place, f"{path!r} ", interrupted=journal is not None)
    found.check_places(root)
    if found.clashes:
        raise RefusedError(
            str(root),
            f"changed since {last.label!r} in ways that clash with taking it back; nothing was"
            " written",
            "put these files back, or undo with --force: they are put back as they were, and the"
            " next undo gives the edits back",
            [f"{what}: {why}" if why else what for what, why in found.clashes],
        )
    return found.undone()


_ALONE = "move it away to have the files put back alone, without what followed around them"
_UNTOLD = "move it away to give up telling later edits from what was written"


class Finding:
    """What taking back one apply means for each of its files."""

    def __init__(self, root: Path, last: Journal, settle: Settle | None, *, force: bool) -> None:
        self.root, self.last, self.settle, self.force = root, last, settle, force
        self.changes: list[FileChange] = []
        self.merged: list[str] = []
        self.forced: list[str] = []
        self.clashes: list[tuple[str, str]] = []
        """What happened to a file, and why that clashes; an empty why is plain enough."""
        self.barred: list[str] = []
        """What stands where a file was, and is none."""
        self.unread: list[str] = []
        """What stands there and is not read."""

    def look(
        self, index: int, place: Path | None, shown: str = "", *, interrupted: bool = False
    ) -> None:
        """Decide on one file.

        Args:
            index: its number in the apply.
            place: where its bytes are now; None where there are none.
            shown: what to call it, with a space behind.
            interrupted: is a write pending, which may have left second names?
        """
        entry = self.last.entries[index]
        if place is not None and (what := layout.what_stands(place)):
            self.barred.append(f"{shown}{what}")
            return
        try:
            data = None if place is None else self._read(entry, place, interrupted=interrupted)
        except TooMuchError as error:
            self.unread.append(f"{shown}{error}")
            return
        except OSError as error:
            self.unread.append(f"{shown}{durable.unreadable(error)}")
            return
        now = None if data is None else digest(data)
        old = None
        if entry.before is not None:
            old = kept_bytes(self.root, self.last, index, entry)
        if now == entry.after:
            self.changes.append(FileChange(path=entry.path, before=now, after=old))
        elif now == entry.before:
            return  # it says already what it said before
        elif self.force:
            self.forced.append(entry.path)
            self.changes.append(FileChange(path=entry.path, before=now, after=old))
        else:
            settled = self._settled(index, entry, data, old)
            if settled is None or settled.clash:
                why = settled.clash if settled is not None else ""
                self.clashes.append((f"{shown}{_what_changed(entry, now)}", why))
                return
            self.merged.append(entry.path)
            if now != (None if settled.after is None else digest(settled.after)):
                self.changes.append(FileChange(path=entry.path, before=now, after=settled.after))

    def check_places(self, where: Path) -> None:
        """Refuse where what stands in a place is no file that interop would read.

        Raises:
            RefusedError: it is no file, or lies behind what is no folder.
            FormatError: it cannot be read.
        """
        if self.barred:
            raise RefusedError(
                str(where),
                f"something else stands where {self.last.label!r} wrote; nothing was written",
                "put the files themselves back in their places and undo again",
                self.barred,
            )
        if self.unread:
            raise FormatError(
                str(where),
                f"what {self.last.label!r} wrote cannot be read now; nothing was written",
                "see to these files and undo again",
                self.unread,
            )

    def _read(self, entry: Entry, place: Path, *, interrupted: bool) -> bytes | None:
        """Read what is there as a store is read; None where it went meanwhile."""
        most = limits.current()
        in_folder = place.is_relative_to(self.root)
        name = "file" if in_folder and entry.path != COMPLEMENT else "store"
        try:
            return read_bounded(
                place, getattr(most, name), None if interrupted else most.links, name=name
            )
        except FileNotFoundError:
            return None

    def _settled(
        self, index: int, entry: Entry, now: bytes | None, old: bytes | None
    ) -> Settled | None:
        if now is None or entry.after is None or self.settle is None:
            return None
        wrote = wrote_bytes(self.root, self.last, index)
        return self.settle(Later(path=entry.path, before=old, wrote=wrote, now=now))

    def undone(self) -> Undone:
        """Give what was decided."""
        note = layout.note(self.root, self.last.number)
        return Undone(
            label=self.last.label,
            time=self.last.time,
            changes=tuple(self.changes),
            note=own_files.read(note, _ALONE) if os.path.lexists(note) else b"",
            merged=tuple(self.merged),
            forced=tuple(self.forced),
        )


def _what_changed(entry: Entry, now: str | None) -> str:
    """Say what was done to a file since an apply, so that it cannot be undone."""
    if now is None:
        return "is gone"
    return "was written anew" if entry.after is None else "was edited"


def kept_bytes(root: Path, last: Journal, index: int, entry: Entry) -> bytes:
    """Give what a file said before an apply.

    Raises:
        FormatError: what is kept of it is something else.
    """
    place = last.old(root, index)
    try:
        data = own_files.read(place, "restore it from a backup")
    except FileNotFoundError:
        data = b""
    if digest(data) != entry.before:
        raise FormatError(
            str(place),
            f"is not what {entry.path!r} said before {last.label!r}, so it cannot be undone",
            "restore it from a backup",
        )
    return data


def wrote_bytes(root: Path, last: Journal, index: int) -> bytes | None:
    """Give what an apply wrote to a file; None where that is not kept, or is something else."""
    try:
        data = own_files.read(layout.wrote(root, last.number), _UNTOLD)
    except FileNotFoundError:
        return None
    start = sum(entry.size for entry in last.entries[:index])
    found = data[start : start + last.entries[index].size]
    return found if digest(found) == last.entries[index].after else None


def _place_now(root: Path, path: str, journal: Journal | None) -> Path | None:
    """Give where a file's bytes are, as an interrupted apply that is taken back will leave it."""
    place = layout.place(root, path)
    if journal is None:
        return place if os.path.lexists(place) else None
    now = durable.digest_at(place)
    for index, entry in enumerate(journal.entries):
        if entry.path == path and now == entry.after:
            return displaced(root, journal, index)
    return None if now is None else place
