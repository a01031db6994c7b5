"""Writing a store that is one file: replaced in one step, and taken back.

New bytes wait beside the file for a moment, under a name with a dot before it and no suffix: only
on the same file system does a rename take one step. The file is old or new at every instant, and
what an interrupted run left there is cleared by the next one. All else is kept where
interop.disk.single says.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from interop.disk import durable, layout, state
from interop.disk.journal import Entry, Journal, dump, pending
from interop.disk.lock import WAIT, locked
from interop.disk.recovery import bounds, drop, manifests, sync_dirs, tidy
from interop.disk.single import home, load
from interop.disk.staging import write_wrote
from interop.disk.transaction import explain, see_to
from interop.disk.undo import (
    Applied,
    Finding,
    Settle,
    Undone,
    label_of,
    last_apply,
    listed,
    trusted,
)
from interop.errors import RefusedError, WriteError
from interop.plan import FileChange

PRIVATE = 0o600
"""Permission bits of a new file: it may hold the text of a folder that nobody else can enter."""


def apply(
    path: Path,
    name: str,
    before: str | None,
    after: bytes,
    *,
    label: str,
    verify: Callable[[Mapping[str, str]], None],
    wait: float = WAIT,
    held: bool = False,
) -> None:
    """Let the file say something else, or leave it as it is.

    Args:
        path: the file, which may be missing; its folder is there.
        name: what it is called where ``verify`` gets it, and in ``undo``.
        before: digest of what it says now, None when it is missing.
        after: what it is to say.
        label: what this is, for ``interop undo`` and for whoever waits.
        verify: gets the digest of each part as it came out and raises if one is not what was meant.
        wait: seconds to wait for another interop.
        held: the caller holds the lock, with ``writing``.

    Raises:
        RefusedError: the file changed since the plan was made; nothing was written.
        WriteError: writing failed, and was taken back.
    """
    file = _file(path)
    change = FileChange(path=name, before=before, after=after)
    try:
        _check(file, before)
        with nullcontext() if held else writing(path, label, wait):
            _check(file, before)
            _run(file, change, label=label, verify=verify)
    except OSError as error:
        raise _nothing_written(file, error) from error


def history(path: Path) -> list[Applied]:
    """List the applies that can be taken back, newest first."""
    return listed(home(path))


def undo(
    path: Path,
    *,
    dry_run: bool = False,
    settle: Settle | None = None,
    force: bool = False,
    wait: float = WAIT,
) -> Undone:
    """Let the file say again what it said before the last apply; one that was new goes.

    Args:
        path: the file.
        dry_run: write nothing, not even a lock.
        settle: says what becomes of it where it was edited since.
        force: put it back all the same; that is an apply of its own, which can be taken back.
        wait: seconds to wait for another interop.

    Raises:
        RefusedError: there is nothing to undo, or the file was edited since in a way that clashes.
        WriteError: writing failed, and was taken back.
    """
    file = _file(path)
    try:
        last = last_apply(file.home, file.place)
        if dry_run:
            return _shown(file, _undone(file, last, settle, force=force))
        with writing(path, "undo", wait):
            last = last_apply(file.home, file.place)
            undone = _undone(file, last, settle, force=force)
            undoes = None if undone.forced else last
            for change in undone.changes:
                _run(file, change, label=label_of(undone), verify=trusted, undoes=undoes)
            if not undone.changes:
                drop(file.home, last.number)
            return _shown(file, undone)
    except OSError as error:
        raise _nothing_written(file, error) from error


@dataclass(frozen=True, slots=True)
class _File:
    """The file, and where what belongs to it is kept."""

    place: Path
    home: Path

    def part(self, number: int) -> Path:
        """Give where new bytes are while they are written."""
        return self.place.parent / f".interop-{self.home.name[:16]}-{number}-part"

    def new(self, number: int) -> Path:
        """Give where new bytes wait, whole; after an exchange, what they displaced."""
        return self.place.parent / f".interop-{self.home.name[:16]}-{number}"

    def old(self, number: int) -> Path:
        """Give where the displaced file waits, where the system cannot exchange two."""
        return self.place.parent / f".interop-{self.home.name[:16]}-{number}-old"


def _file(path: Path) -> _File:
    return _File(Path(os.path.realpath(path)), home(path))


def _check(file: _File, before: str | None) -> None:
    if layout.is_dir(file.home) and os.path.lexists(layout.journal(file.home)):
        return  # what is there says nothing until that is settled
    if durable.digest_at(file.place) != before:
        raise RefusedError(
            str(file.place),
            "changed since the plan was made; nothing was written",
            "run this again to plan anew",
        )


def _shown(file: _File, undone: Undone) -> Undone:
    """Call the file by the name that it has on the disk."""
    name = file.place.name
    return replace(
        undone,
        changes=tuple(replace(change, path=name) for change in undone.changes),
        merged=tuple(name for _ in undone.merged),
        forced=tuple(name for _ in undone.forced),
    )


@contextmanager
def writing(path: Path, label: str, wait: float) -> Generator[None]:
    """Hold the file's lock, after settling what was interrupted.

    Raises:
        RefusedError: another program wrote when it was interrupted, and its bytes wait for a look.
        WriteError: another interop holds the lock.
        OSError: the lock cannot be made here.
    """
    file = _file(path)
    bounds()
    state.make(file.home)
    with locked(file.home, label, wait):
        journal = pending(file.home)
        if journal is not None:
            _settle(file, journal)
        with suppress(OSError):
            _sweep(file)
        yield


def _sweep(file: _File) -> None:
    """Clear what finished applies displaced, and what was begun and never announced.

    No journal is pending.
    """
    for journal in manifests(file.home):
        _clear(file, journal)
    for number in layout.numbers(file.home, "undo"):
        if not os.path.lexists(layout.manifest(file.home, number)):
            durable.remove_tree(layout.undo(file.home, number))
    tidy(file.home)


def _run(
    file: _File,
    change: FileChange,
    *,
    label: str,
    verify: Callable[[Mapping[str, str]], None],
    undoes: Journal | None = None,
) -> None:
    """Make a change; the caller holds the lock."""
    journal = _plan(file, change, label, undoes)
    try:
        _announce(file, journal)
        if undoes is None:
            durable.sync_files(
                write_wrote(layout.undo(file.home, journal.number), journal, [change], PRIVATE)
            )
        _stage(file, journal, change)
        _put(file, journal)
        durable.sync_dir(file.place.parent)
        if durable.digest_at(file.place) != journal.entries[0].after:
            raise _meanwhile(file, "it does not say what was written")
        verify(load(file.place, change.path, missing_ok=True).digests())
        _commit(file, journal)
    except BaseException as error:
        # Whatever went wrong, be it a bug in ``verify`` or Ctrl-C, the file goes back first.
        failure = _back_out(file, journal, error)
        if isinstance(error, Exception):
            raise failure from error
        error.add_note(str(failure))
        raise
    # The file is new from here on: what is left is only tidying, and the next run does it too.
    with suppress(OSError):
        _sweep(file)


def _plan(file: _File, change: FileChange, label: str, undoes: Journal | None) -> Journal:
    number = 1 + max(layout.numbers(file.home, "undo"), default=0)
    while any(os.path.lexists(p) for p in (file.part(number), file.new(number), file.old(number))):
        number += 1  # left by a run whose journal is gone; nobody can say what it is
    size = len(change.after or b"")
    return Journal(
        number=number,
        label=label,
        time=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        entries=(Entry(path=change.path, before=change.before, after=change.written, size=size),),
        undoes=undoes.number if undoes else None,
    )


def _announce(file: _File, journal: Journal) -> None:
    """Write the journal, whole or not at all: from here on the next run clears what is left."""
    folder = layout.undo(file.home, journal.number)
    for path in (folder.parent, folder):
        durable.make_dir(path, 0o700)
    draft = folder / "journal"
    durable.write_new(draft, dump(journal), PRIVATE)
    durable.sync_file(draft)
    durable.move(draft, layout.journal(file.home))
    sync_dirs((folder, folder.parent, layout.own(file.home)))


def _stage(file: _File, journal: Journal, change: FileChange) -> None:
    """Keep a copy of the old bytes, and write the new ones beside the file."""
    kept = journal.old(file.home, 0)
    if change.before is not None:
        durable.write_new(kept, durable.read_bytes(file.place), PRIVATE)
        durable.sync_file(kept)
        durable.sync_dir(kept.parent)
        if durable.digest_at(kept) != change.before:
            raise _meanwhile(file, "it was written")
    if change.after is None:
        return
    mode, model = PRIVATE, None
    if change.before is not None:
        mode, model = stat.S_IMODE(os.lstat(file.place).st_mode), file.place
    part = file.part(journal.number)
    durable.write_new(part, change.after, mode, model)
    durable.sync_file(part)
    durable.move(part, file.new(journal.number))


def _put(file: _File, journal: Journal) -> None:
    """Put the new bytes in their place, and look at what they displaced."""
    entry = journal.entries[0]
    new, old = file.new(journal.number), file.old(journal.number)
    if entry.before is None:
        try:
            durable.move_new(new, file.place)
        except FileExistsError as error:
            raise _meanwhile(file, "it appeared") from error
        return
    if entry.after is None:
        durable.move_new(file.place, old)
        displaced = old
    elif durable.exchange(new, file.place):
        displaced = new
    else:
        durable.keep(file.place, old)
        if durable.digest_at(old) != entry.before:
            raise _meanwhile(file, "it was written")
        durable.move(new, file.place)
        displaced = old
    if durable.digest_at(displaced) != entry.before:
        raise _meanwhile(file, "it was written")


def _commit(file: _File, journal: Journal) -> None:
    """Make the file new, by one rename."""
    manifest = layout.manifest(file.home, journal.number)
    durable.move(layout.journal(file.home), manifest)
    sync_dirs((manifest.parent, layout.own(file.home)))


def _settle(file: _File, journal: Journal) -> None:
    """End what was interrupted: the file is new, and its apply is committed, or it is old.

    Raises:
        RefusedError: another program wrote at the same moment, and its bytes are in a second file.
    """
    entry = journal.entries[0]
    _give_back(file, journal)
    left = _strangers(file, journal)
    if left:
        raise RefusedError(
            str(file.place),
            f"{journal.label!r} was interrupted while another program wrote",
            "take what you need from these files, remove them, and run this again",
            [str(path) for path in left],
        )
    if durable.digest_at(file.place) == entry.before:
        _forget(file, journal)
    else:
        _commit(file, journal)


def _back_out(file: _File, journal: Journal, error: BaseException) -> WriteError:
    """Take everything back, and give the error to raise."""
    where, problem, remedy = explain(file.place, error)
    manifest = layout.manifest(file.home, journal.number)
    try:
        if os.path.lexists(manifest) and not os.path.lexists(layout.journal(file.home)):
            durable.move(manifest, layout.journal(file.home))
        _give_back(file, journal)
        _take_back(file, journal)
        left = _strangers(file, journal)
        _forget(file, journal)
    except OSError as second:
        why = second.strerror or str(second)
        return WriteError(
            where,
            f"{problem}; taking it back failed too ({why})",
            f"{see_to(second)} and convert into this file again: that settles it",
        )
    if left:
        names = ", ".join(str(path) for path in left)
        return WriteError(where, f"{problem}; what another program wrote is in {names}", remedy)
    return WriteError(where, f"{problem}; the file is as it was", remedy)


def _give_back(file: _File, journal: Journal) -> None:
    """Put back what another program wrote and the new bytes displaced."""
    entry = journal.entries[0]
    for path in _strangers(file, journal):
        now = durable.digest_at(file.place)
        if now is None:
            durable.move_new(path, file.place)
        elif now == entry.after and not durable.exchange(path, file.place):
            durable.move(path, file.place)


def _take_back(file: _File, journal: Journal) -> None:
    """Make the file old again, where it is exactly new."""
    entry = journal.entries[0]
    if durable.digest_at(file.place) != entry.after or entry.after == entry.before:
        return
    new, old = file.new(journal.number), file.old(journal.number)
    for path in (new, old):
        if entry.before is not None and durable.digest_at(path) == entry.before:
            if entry.after is None:
                durable.move_new(path, file.place)
            else:
                durable.move(path, file.place)
            durable.sync_dir(file.place.parent)
            return
    # with the new bytes still where they waited, those in the place are another program's
    ours = not os.path.lexists(new) or os.path.samefile(new, file.place)
    if entry.before is None and ours:
        durable.remove(file.place)
        durable.sync_dir(file.place.parent)


def _strangers(file: _File, journal: Journal) -> list[Path]:
    """List what was displaced and is neither the old nor the new bytes, nor stands in the place."""
    entry = journal.entries[0]
    now = durable.digest_at(file.place)
    ours = (None, entry.before, entry.after, now)
    places = [file.new(journal.number)]
    if now != entry.before:
        places.append(file.old(journal.number))  # else it is half of a copy that was broken off
    return [path for path in places if durable.digest_at(path) not in ours]


def _clear(file: _File, journal: Journal) -> None:
    """Remove what waits beside the file, but for another program's bytes."""
    others = _strangers(file, journal)
    number = journal.number
    gone = False
    for path in (file.part(number), file.new(number), file.old(number)):
        if path not in others and os.path.lexists(path):
            durable.remove(path)
            gone = True
    if gone:
        durable.sync_dir(file.place.parent)


def _forget(file: _File, journal: Journal) -> None:
    """Drop an apply that did not happen; its journal goes last."""
    _clear(file, journal)
    durable.remove(layout.manifest(file.home, journal.number))
    durable.remove_tree(layout.undo(file.home, journal.number))
    durable.remove(layout.journal(file.home))
    durable.sync_dir(layout.own(file.home))


def _undone(file: _File, last: Journal, settle: Settle | None, *, force: bool) -> Undone:
    found = Finding(file.home, last, settle, force=force)
    there = os.path.lexists(file.place)
    interrupted = pending(file.home) is not None
    found.look(0, file.place if there else None, interrupted=interrupted)
    found.check_places(file.place)
    for clash, why in found.clashes:
        entry = last.entries[0]
        raise RefusedError(
            str(file.place),
            f"{clash} since {last.label!r}, so it cannot be undone; nothing was written",
            f"what it said before is {str(last.old(file.home, 0))!r}; --force puts it back, and the"
            " next undo gives the edits back"
            if entry.before is not None
            else "it was new then: --force removes it, and the next undo gives it back",
            [why] if why else [],
        )
    return found.undone()


def _meanwhile(file: _File, what: str) -> WriteError:
    return WriteError(str(file.place), f"another program was at work at the same moment: {what}")


def _nothing_written(file: _File, error: OSError) -> WriteError:
    where, problem, remedy = explain(file.place, error)
    return WriteError(where, f"{problem}; nothing was written", remedy)
