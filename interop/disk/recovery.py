"""What to do with an apply that was interrupted: put every file back as it was.

Rolling back looks at the disk only, never at what a process remembers, so it serves an apply that
fails, the run after a crash, and the run after a crash while rolling back. A file is touched only
if it is exactly new; whatever else another program made of it stays, and is named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from interop.disk import durable, layout
from interop.disk.journal import Entry, Journal, displaced, pending, read
from interop.errors import FormatError, UsageError

KEPT_SETS = 20
"""How many applies can be undone at most, unless ``INTEROP_UNDO_WRITES`` says otherwise."""
KEPT_BYTES = 256 * 1024 * 1024
"""How much the undo data may hold, unless ``INTEROP_UNDO_MIB`` says otherwise; the newest set is
kept whatever its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """An interrupted apply that was taken back."""

    label: str
    files: int
    left: tuple[str, ...]
    """One line for each file that could not be put back because another program had written it."""

    def lines(self) -> list[str]:
        """Say what was done, for a person."""
        return [f"took back {self.label!r}, which had been interrupted", *self.left]


def recover_locked(root: Path) -> Recovered | None:
    """Take back an interrupted apply and clear what it left; the caller holds the lock.

    One whose files all stood, and that something outside was already following, is finished.

    Raises:
        FormatError: the journal is broken.
        OSError: a file could not be put back; the next run goes on from there.
    """
    journal = pending(root)
    if journal is not None and os.path.lexists(layout.note(root, journal.number)):
        durable.move(layout.journal(root), layout.manifest(root, journal.number))
        sync_dirs((layout.undo(root, journal.number), layout.own(root)))
        journal = None
    left = roll_back(root, journal) if journal else ()
    with suppress(OSError):
        tidy(root)
    if journal is None:
        return None
    return Recovered(label=journal.label, files=len(journal.entries), left=left)


def bounds() -> tuple[int, int]:
    """Give how many applies may be kept for undo, and how many bytes they may take.

    Raises:
        UsageError: the environment says something that is no number from 1 on.
    """
    most = _stated("INTEROP_UNDO_WRITES")
    mib = _stated("INTEROP_UNDO_MIB")
    return most or KEPT_SETS, mib * 1024 * 1024 if mib else KEPT_BYTES


def _stated(name: str) -> int | None:
    said = os.environ.get(name, "")
    if not said:
        return None
    if not (said.isascii() and said.isdigit() and int(said) > 0):
        raise UsageError(f"{name} is {said!r}", "set it to a number from 1 on, or take it away")
    return int(said)


def needed(root: Path) -> bool:
    """Is there anything that an interrupted run left behind?"""
    if not layout.is_dir(layout.own(root)):
        return False
    if os.path.lexists(layout.journal(root)) or layout.numbers(root, "staging"):
        return True
    return any(journal.undoes is not None for journal in manifests(root))


def manifests(root: Path, finished: Journal | None = None) -> list[Journal]:
    """Give the journals of finished applies, oldest first; unreadable ones are passed over.

    ``finished`` is one of them that is known already.
    """
    found: list[Journal] = []
    for number in layout.numbers(root, "undo"):
        if finished is not None and number == finished.number:
            found.append(finished)
            continue
        path = layout.manifest(root, number)
        with suppress(FormatError, FileNotFoundError):
            found.append(read(path))
    return found


def roll_back(root: Path, journal: Journal) -> tuple[str, ...]:
    """Make every file of a pending apply old again, the last one first; name those that cannot be.

    Idempotent: after a crash in it, the next call goes on. The journal goes last.

    A file that cannot be read, and that may be the new one, is in the way of none of the others.

    Raises:
        OSError: the disk refused, or such a file is left; the journal is still there.
    """
    left: dict[int, str] = {}
    unread: OSError | None = None
    for index in reversed(range(len(journal.entries))):
        try:
            now = _now(root, journal, index)
        except OSError as error:
            if not _waits(root, journal, index):
                unread = unread or error
            continue
        line = _take_back(root, journal, index, now)
        if line:
            left[index] = line
    if unread is not None:
        raise unread
    for path in reversed(journal.made):
        if path != layout.OWN and not layout.through_link(root, path):
            durable.remove_dir(layout.place(root, path))
    sync_dirs(touched(root, journal))
    _clear(root, journal, left)
    # Both are there when a disk kept half of the commit.
    durable.remove(layout.manifest(root, journal.number))
    durable.remove(layout.note(root, journal.number))
    durable.remove_dir(layout.undo(root, journal.number))
    durable.remove(layout.journal(root))
    durable.sync_dir(layout.own(root))
    return tuple(left[index] for index in sorted(left))


def touched(root: Path, journal: Journal) -> list[Path]:
    """List the directories whose names an apply changes, and that are there."""
    inside = {
        path.rpartition("/")[0]
        for path in (*(e.path for e in journal.entries), *journal.made, *journal.emptied)
    }
    paths = {layout.place(root, folder) for folder in inside}
    paths |= {layout.staging(root, journal.number), layout.undo(root, journal.number)}
    return sorted(p for p in paths if layout.is_dir(p))


def sync_dirs(paths: Iterable[Path]) -> None:
    """Force the names in these directories to the disk."""
    for path in paths:
        durable.sync_dir(path)


def make_parents(root: Path, path: str, modes: dict[str, int]) -> None:
    """Make the directories that a path needs, none wider than the one it is in."""
    for parent in layout.parents(path):
        if not layout.is_dir(layout.at(root, parent)):
            place = layout.place(root, parent)
            durable.make_dir(place, modes.get(parent, os.stat(place.parent).st_mode & 0o777))


def tidy(root: Path, finished: Journal | None = None) -> None:
    """Clear what a finished or abandoned apply leaves, and finish an undo; no journal is pending.

    Args:
        root: the store, resolved.
        finished: the apply that has just been finished, which need not be read again.

    Raises:
        OSError: the disk refused; nothing of the store depends on it.
    """
    for number in layout.numbers(root, "staging"):
        durable.remove_tree(layout.staging(root, number))
    for journal in manifests(root, finished):
        if journal.undoes is not None:
            # The set that was taken back goes first: as long as this manifest stands, it is gone.
            drop(root, journal.undoes)
            drop(root, journal.number)
    kept = 0
    size = 0
    most, bytes_most = bounds()
    for number in reversed(layout.numbers(root, "undo")):
        folder = layout.undo(root, number)
        if not os.listdir(folder):
            durable.remove_dir(folder)  # of an apply that never got as far as a journal
            continue
        size += sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))
        kept += 1
        if kept > 1 and (kept > most or size > bytes_most):
            drop(root, number)


def drop(root: Path, number: int) -> None:
    """Let an apply no longer be undone: in one step, then clear what was kept for it."""
    folder, away = layout.undo(root, number), layout.staging(root, number)
    if not layout.is_dir(folder):
        return
    durable.make_dir(away.parent, stat.S_IMODE(os.stat(folder.parent).st_mode))
    durable.move(folder, away)
    sync_dirs((away.parent, folder.parent))
    durable.remove_tree(away)


_BARRED = "behind a link"
"""What is known of a file whose folder has become something else: equal to no digest."""


def _now(root: Path, journal: Journal, index: int) -> str | None:
    """Say what stands in the place of an entry: a digest, None for nothing, or what it is instead.

    Raises:
        OSError: it cannot be read.
    """
    path = journal.entries[index].path
    if layout.through_link(root, path):
        return _BARRED
    return durable.digest_at(layout.place(root, path))


def _waits(root: Path, journal: Journal, index: int) -> bool:
    """Do the new bytes of an entry still wait, so that nothing in its place is interop's?"""
    entry = journal.entries[index]
    if entry.after is None:
        return not os.path.lexists(journal.old(root, index))
    try:
        return durable.digest_at(journal.new(root, index)) == entry.after
    except OSError:
        return False  # a second name of what stands in the place


def _take_back(root: Path, journal: Journal, index: int, now: str | None) -> str | None:
    """Make one file old again, that is ``now`` so; give a line if it cannot be."""
    entry = journal.entries[index]
    if now == _BARRED:
        return _stays(root, journal, index, f"is now {_BARRED}")
    if now == entry.before:
        return None
    if now == durable.NOT_A_FILE:
        if entry.before is None and _waits(root, journal, index):
            return None  # it stood in the way, and was told of
        what = layout.what_stands(layout.place(root, entry.path)) or "was no file a moment ago"
        return _stays(root, journal, index, what)
    if now != entry.after:
        return _stays(root, journal, index, "was changed by another program")
    if entry.before is None:
        return _take_back_create(root, journal, index, entry)
    return _take_back_old(root, journal, index, entry)


def _take_back_create(root: Path, journal: Journal, index: int, entry: Entry) -> str | None:
    place, new = layout.place(root, entry.path), journal.new(root, index)
    if os.path.lexists(new):
        if not os.path.samefile(new, place):
            return None  # the new bytes never left: another program wrote the very same ones
        durable.remove(new)  # linked to its place, and not unlinked here yet
    for folder in (new.parent.parent, new.parent):
        durable.make_dir(folder, os.stat(layout.own(root)).st_mode & 0o777)
    durable.move(place, new)
    if durable.digest_at(new) == entry.after:
        return None
    try:
        durable.move_new(new, place)
    except FileExistsError:
        durable.move(new, journal.old(root, index))
    return _stays(root, journal, index, "was changed by another program")


def _take_back_old(root: Path, journal: Journal, index: int, entry: Entry) -> str | None:
    """Put the displaced file back: over the new one, or where there is none now."""
    place, source = layout.place(root, entry.path), displaced(root, journal, index)
    if source is None:
        if entry.after is None:
            return _stays(root, journal, index, "was deleted by another program")
        return _stays(root, journal, index, "is new and what stood there is gone")
    if entry.after is None:
        make_parents(root, entry.path, dict(journal.emptied))
        try:
            durable.move_new(source, place)
        except FileExistsError:
            return _stays(root, journal, index, "was written anew by another program")
    elif not durable.exchange(source, place):
        durable.move(source, place)
    elif durable.digest_at(source) != entry.after:
        # It was written between the look and the exchange: that program's bytes go back.
        durable.exchange(source, place)
        return _stays(root, journal, index, "was changed by another program")
    if durable.digest_at(place) != entry.before:
        durable.remove(source)
        return f"{entry.path!r} was written by another program meanwhile and stays as it wrote it"
    return None


def _stays(root: Path, journal: Journal, index: int, why: str) -> str:
    entry = journal.entries[index]
    line = f"{entry.path!r} {why} and stays as it is"
    source = displaced(root, journal, index)
    if source is None or _same(source, layout.place(root, entry.path)):
        return line
    kept = journal.old(root, index).relative_to(root).as_posix()
    return f"{line}; what stood there before is kept in {kept!r}"


def _same(one: Path, other: Path) -> bool:
    """Are these two names of one file?"""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except (FileNotFoundError, NotADirectoryError):
        return False


def _clear(root: Path, journal: Journal, left: dict[int, str]) -> None:
    """Drop the new bytes and the displaced ones, but for those of files that were left alone."""
    for index in range(len(journal.entries)):
        old = journal.old(root, index)
        # one that is only a second name of what another program wrote keeps nothing
        place = layout.place(root, journal.entries[index].path)
        if index not in left or _same(old, place):
            durable.remove(old)
        elif (source := displaced(root, journal, index)) is not None and source != old:
            durable.move(source, old)
    durable.remove(layout.wrote(root, journal.number))
    durable.remove_tree(layout.staging(root, journal.number))
