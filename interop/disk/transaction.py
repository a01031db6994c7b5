"""Writing a plan: all of it, or nothing.

The order is what makes it safe. Check every digest; write and force the new bytes beside the store;
write the journal; then put file after file in its place, each in one step; look at what was
displaced; force the directories; read everything back; and only then commit, by one rename of the
journal. Until that rename the store counts as old, whoever looks.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from interop.disk import durable, layout
from interop.disk.journal import Entry, Journal
from interop.disk.lock import WAIT, locked
from interop.disk.recovery import (
    bounds,
    make_parents,
    needed,
    recover_locked,
    roll_back,
    sync_dirs,
    tidy,
    touched,
)
from interop.disk.staging import announce, kept_size, stage
from interop.disk.tree import digests
from interop.errors import FormatError, InteropError, RefusedError, WriteError
from interop.plan import FileChange


def _no_files(path: str) -> bool:
    return False


def apply(
    root: Path,
    changes: Sequence[FileChange],
    *,
    label: str,
    verify: Callable[[Mapping[str, str]], None],
    ignored: Callable[[str], bool] = _no_files,
    follow: Callable[[], bytes] | None = None,
    wait: float = WAIT,
) -> None:
    """Make all changes in their order, or none.

    Args:
        root: the store; made if it is missing.
        changes: in an order in which every prefix of them is a valid store.
        label: what this is, for ``interop undo`` and for whoever waits.
        verify: gets the digest of every file as it came out, the complement's too, and raises if
            one is not what was meant; everything is taken back then.
        ignored: as for ``load``: what ``verify`` does not get.
        follow: does what has to follow outside the files once they stand (a commit), and gives a
            note that ``undo`` hands back. When it raises, the files are taken back; a crash while
            it runs leaves them new.
        wait: seconds to wait for another interop.

    Raises:
        RefusedError: a file changed since the plan was made, or a path cannot be written; nothing
            was written.
        WriteError: writing failed, and was taken back.
    """
    root = Path(os.path.realpath(root))
    todo = [c for c in changes if c.before != c.written]
    try:
        layout.check_names(root, changes)
        _check(root, changes)
        if not todo and not needed(root):
            return
        with writing(root, label, wait):
            _check(root, changes)
            run(root, todo, label=label, verify=verify, ignored=ignored, follow=follow)
    except OSError as error:
        raise _nothing_written(root, error) from error


def recover(root: Path, *, wait: float = WAIT) -> list[str]:
    """Take back an apply that was interrupted, or finish one; nothing to do is fine.

    Returns:
        Lines for a person: what was taken back, and each file that another program had written
        meanwhile and that therefore stays as it is.

    Raises:
        WriteError: a file could not be put back; the next run goes on from there.
        FormatError: the journal is broken.
    """
    root = Path(os.path.realpath(root))
    try:
        layout.check_own(root)
        if not needed(root):
            return []
        with locked(root, "recover", wait):
            recovered = recover_locked(root)
    except OSError as error:
        raise _unrecovered(root, error) from error
    return recovered.lines() if recovered else []


@contextmanager
def writing(root: Path, label: str, wait: float) -> Generator[None]:
    """Hold the store's lock, after taking back what was interrupted.

    Raises:
        RefusedError: an interrupted apply could not be taken back whole; said once.
        WriteError: another interop holds the lock, or taking back failed.
        OSError: the lock cannot be made here.
    """
    bounds()  # before anything is written: what is said wrongly stops nothing half-way
    with locked(root, label, wait):
        try:
            recovered = recover_locked(root)
        except OSError as error:
            raise _unrecovered(root, error) from error
        if recovered is not None and recovered.left:
            raise RefusedError(
                str(root),
                f"{recovered.label!r} had been interrupted and was taken back, except where"
                " another program wrote meanwhile",
                "look at these files, then run this again",
                recovered.left,
            )
        yield


def run(
    root: Path,
    changes: Sequence[FileChange],
    *,
    label: str,
    verify: Callable[[Mapping[str, str]], None],
    ignored: Callable[[str], bool] = _no_files,
    follow: Callable[[], bytes] | None = None,
    undoes: Journal | None = None,
    like: Mapping[str, Path] | None = None,
) -> None:
    """Make changes that were checked; the caller holds the lock.

    Args:
        root: the store, resolved.
        changes: none of which leaves a file as it is.
        label: what this is.
        verify: see ``apply``.
        ignored: see ``apply``.
        follow: see ``apply``.
        undoes: the apply that this one takes back.
        like: path of a new file -> a file whose permissions and owner it gets.

    Raises:
        WriteError: writing failed, and was taken back.
    """
    if not changes:
        return
    journal = _plan(root, changes, label, undoes)
    modes = dict(undoes.emptied if undoes else {})
    try:
        stage(root, journal, changes, like or {})
        announce(root, journal)
        for index in range(len(journal.entries)):
            _put(root, journal, index, modes)
        _remove_emptied(root, journal, undoes.made if undoes else None)
        sync_dirs(touched(root, journal))
        found = digests(root, ignored)
        _read_back(root, journal, found)
        verify(found)
        if follow is not None:
            _follow(root, journal, follow)
        _commit(root, journal)
    except BaseException as error:
        # Whatever went wrong, be it a bug in ``verify`` or Ctrl-C, the store goes back first.
        failure = _back_out(root, journal, error)
        if isinstance(error, Exception):
            raise failure from error
        error.add_note(str(failure))
        raise
    # The store is new from here on: what is left is only tidying, and the next run does it too.
    with suppress(OSError):
        tidy(root, journal)


def _check(root: Path, changes: Sequence[FileChange]) -> None:
    """Refuse before anything is written, a lock included."""
    layout.check_own(root)
    if os.path.lexists(layout.journal(root)):
        return  # the disk says nothing of the store until that is taken back
    layout.check_places(root, changes)
    folders = {c.path.rpartition("/")[0] for c in changes}
    missing = {f for f in folders if not os.path.lexists(layout.at(root, f))}
    stale = [
        f"{c.path!r} {_what_changed(c.before, now)}"
        for c in changes
        if (now := _now(root, c.path, missing)) != c.before
    ]
    if stale:
        raise RefusedError(
            str(root),
            "changed since the plan was made; nothing was written",
            "run this again to plan anew",
            stale,
        )


def _now(root: Path, path: str, missing: Collection[str]) -> str | None:
    """Give the digest of what is there; nothing is, in a folder that is missing."""
    if path.rpartition("/")[0] in missing:
        return None
    return durable.digest_at(layout.at(root, path))


def _what_changed(before: str | None, now: str | None) -> str:
    if now == durable.NOT_A_FILE:
        return "is no longer a regular file"
    if now is None:
        return "is gone"
    return "has appeared" if before is None else "says something else now"


def _plan(root: Path, changes: Sequence[FileChange], label: str, undoes: Journal | None) -> Journal:
    used = (*layout.numbers(root, "staging"), *layout.numbers(root, "undo"))
    made = {p: None for c in changes if c.after is not None for p in layout.parents(c.path)}
    emptied = {p for c in changes if c.after is None for p in layout.parents(c.path)}
    return Journal(
        number=max(used, default=0) + 1,
        label=label,
        time=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        entries=tuple(
            Entry(
                path=c.path,
                before=c.before,
                after=c.written,
                size=kept_size(c),
            )
            for c in changes
        ),
        made=tuple(p for p in made if not os.path.lexists(layout.place(root, p))),
        emptied={
            p: stat.S_IMODE(os.stat(layout.place(root, p)).st_mode)
            for p in sorted(emptied)
            if p != layout.OWN and layout.is_dir(layout.place(root, p))
        },
        undoes=undoes.number if undoes else None,
    )


def _put(root: Path, journal: Journal, index: int, modes: dict[str, int]) -> None:
    """Put one file in its place, and look at what it displaced."""
    entry = journal.entries[index]
    place, new = layout.at(root, entry.path), journal.new_at(root, index)
    way = layout.way(root, entry.path)
    if way == "barred":
        raise _meanwhile(root, entry, "its folder was replaced by a link")
    if entry.before is None:
        if way == "missing":
            make_parents(root, entry.path, modes)
        try:
            durable.move_new(new, place)
        except FileExistsError as error:
            raise _in_the_way(root, entry) from error
        return
    old = journal.old(root, index)
    if entry.after is None:
        durable.move_new(place, old)
    elif durable.exchange(new, place):
        if durable.digest_at(new) == entry.before:
            durable.move(new, old)
            return
        raise _meanwhile(root, entry, "it was written")
    else:
        durable.keep(place, old)
        if durable.digest_at(old) == durable.digest_at(place) == entry.before:
            durable.move(new, place)
            return
    if durable.digest_at(old) != entry.before:
        raise _meanwhile(root, entry, "it was written")


def _meanwhile(root: Path, entry: Entry, what: str) -> WriteError:
    place = str(layout.place(root, entry.path))
    return WriteError(place, f"another program was at work at the same moment: {what}")


def _in_the_way(root: Path, entry: Entry) -> WriteError:
    """Give the error that something stands where a file was to be made."""
    place = layout.place(root, entry.path)
    what = layout.what_stands(place)
    if what is not None:
        return WriteError(str(place), f"cannot be made: it {what}", "move it and run this again")
    try:
        durable.digest_at(place)
    except OSError as error:
        problem = f"cannot be made: there is a file that {durable.unreadable(error)}"
        return WriteError(str(place), problem, "run this again then")
    return _meanwhile(root, entry, "it appeared")


def _remove_emptied(root: Path, journal: Journal, only: Collection[str] | None) -> None:
    """Remove the directories that the deletes emptied, innermost first."""
    for path in sorted(journal.emptied, reverse=True):
        if only is None or path in only:
            durable.remove_dir(layout.place(root, path))


def _read_back(root: Path, journal: Journal, found: Mapping[str, str]) -> None:
    """Look once more at every file, the new ones and the displaced ones."""
    for index, entry in enumerate(journal.entries):
        # what is never loaded as a part of the store is looked at by itself
        now = found.get(entry.path) or durable.digest_at(layout.at(root, entry.path))
        if now != entry.after:
            raise _meanwhile(root, entry, "it does not say what was written")
        # A program that had it open when it was displaced has written to it since.
        if entry.before and durable.digest_at(journal.old(root, index)) != entry.before:
            raise _meanwhile(root, entry, "it was written")


def _follow(root: Path, journal: Journal, follow: Callable[[], bytes]) -> None:
    """Let what is outside the files follow; from the empty note on, a crash leaves them new."""
    note = layout.note(root, journal.number)
    mode = stat.S_IMODE(os.stat(layout.own(root)).st_mode) & 0o666 | 0o600
    durable.write_new(note, b"", mode)
    durable.sync_file(note)
    durable.sync_dir(note.parent)
    data = follow()
    draft = layout.staging(root, journal.number) / "note"
    durable.write_new(draft, data, mode)
    durable.sync_file(draft)
    durable.move(draft, note)
    durable.sync_dir(note.parent)


def _commit(root: Path, journal: Journal) -> None:
    """Make the store new, by one rename."""
    manifest = layout.manifest(root, journal.number)
    durable.move(layout.journal(root), manifest)
    sync_dirs((manifest.parent, layout.own(root)))


def _back_out(root: Path, journal: Journal, error: BaseException) -> WriteError:
    """Take everything back, and give the error to raise."""
    where, problem, remedy = explain(root, error)
    manifest = layout.manifest(root, journal.number)
    try:
        if os.path.lexists(manifest) and not os.path.lexists(layout.journal(root)):
            durable.move(manifest, layout.journal(root))
        # first of all: as long as it stands, the next run would finish what is being taken back
        durable.remove(layout.note(root, journal.number))
        left = roll_back(root, journal)
    except OSError as second:
        if os.path.lexists(manifest) and not os.path.lexists(layout.journal(root)):
            return WriteError(
                where,
                f"{problem}; every file is new, but the disk did not confirm the last step",
                "see to the disk; `interop undo` takes it back",
            )
        return WriteError(
            where,
            f"{problem}; taking it back failed too ({_said(second)}): {_states(root, journal)}",
            f"{see_to(second)} and run interop on this store again: it finishes taking it back",
        )
    if left:
        return WriteError(where, "\n  ".join((f"{problem}; rolled back, except:", *left)), remedy)
    return WriteError(where, f"{problem}; rolled back, every file is as it was", remedy)


def _states(root: Path, journal: Journal) -> str:
    """Say which files are old and which are new."""
    states: dict[str, list[str]] = {
        "old": [],
        "new": [],
        "neither old nor new": [],
        "cannot be read": [],
    }
    for entry in journal.entries:
        try:
            now = durable.digest_at(layout.place(root, entry.path))
        except OSError:
            states["cannot be read"].append(repr(entry.path))
            continue
        known = {entry.after: "new", entry.before: "old"}
        states[known.get(now, "neither old nor new")].append(repr(entry.path))
    return "; ".join(f"{state}: {', '.join(paths)}" for state, paths in states.items() if paths)


def explain(root: Path, error: BaseException) -> tuple[str, str, str]:
    """Give where, what and the way out of a failure, for the error that is raised of it."""
    if isinstance(error, WriteError | FormatError | RefusedError):
        return error.where, error.problem, error.remedy or "run this again"
    if isinstance(error, InteropError):
        return str(root), str(error), "run this again"
    if isinstance(error, OSError):
        what = error.strerror or str(error) or type(error).__name__
        if error.filename:
            what += f" ({os.fsdecode(error.filename)!r})"
        return str(root), f"cannot be written: {what}", _remedy(error)
    return str(root), f"{type(error).__name__} while checking: {error}", "please report this"


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return "free some space and run this again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "check the permissions of the folder and run this again"
    if error.errno == errno.EXDEV:
        return "a folder in it is on another file system; convert it by itself"
    return "see to the disk and run this again"


def _nothing_written(root: Path, error: OSError) -> WriteError:
    where, problem, remedy = explain(root, error)
    return WriteError(where, f"{problem}; nothing was written", remedy)


def _unrecovered(root: Path, error: OSError) -> WriteError:
    return WriteError(
        str(root),
        f"an interrupted write could not be taken back: {_said(error)}",
        f"{see_to(error)} and run interop on this store again: it goes on from there",
    )


def _said(error: OSError) -> str:
    what = error.strerror or str(error)
    return f"{what}: {os.fsdecode(error.filename)!r}" if error.filename else what


def see_to(error: OSError) -> str:
    """Say what a person has to do before an interrupted write can be taken back."""
    if error.errno in (errno.EACCES, errno.EPERM) and error.filename:
        return f"give yourself permission for it (chmod u+rw {os.fsdecode(error.filename)!r})"
    return "see to the disk"
