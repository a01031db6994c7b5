"""Applying changes to a store: all or none, read back, and followed by what is around it."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from interop import inline, standing, undoing
from interop.disk import layout, replacing, single, transaction
from interop.errors import WriteError
from interop.host import HostOptions, Token
from interop.plan import COMPLEMENT, FileChange, digest
from interop.stores import Opened


def as_one_file(destination: Opened, changes: Sequence[FileChange]) -> bytes:
    """Give what the one file of a store says after some changes to its parts."""
    assert destination.adapter.file is not None
    parts: dict[str, bytes | None] = dict(destination.tree.files)
    parts[COMPLEMENT] = destination.tree.complement
    parts |= {c.path: c.after for c in changes}
    return inline.join(parts.get(destination.adapter.file.path) or b"", parts[COMPLEMENT])


@contextmanager
def locked(root: Path, label: str, wait: float, *, file: bool = False) -> Generator[None]:
    """Hold a store's lock: what is read within is what will be written on.

    Args:
        root: the store.
        label: what is done, for whoever waits.
        wait: seconds to wait for another interop.
        file: is the store one file, also where there is none yet?

    Raises:
        WriteError: another interop holds it all the time, or it cannot be made here.
        RefusedError: an interrupted write could not be taken back whole.
    """
    real = Path(os.path.realpath(root))
    writing = replacing.writing if file or single.is_one(real) else transaction.writing
    try:
        with writing(real, label, wait):
            yield
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise WriteError(str(root), f"cannot be written ({said}); nothing was written") from error


def apply_changes(
    destination: Opened,
    changes: Sequence[FileChange],
    *,
    label: str,
    message: str,
    options: HostOptions,
    held: bool = False,
) -> Token | None:
    """Make changes to a store as it was opened, or none of them.

    Args:
        destination: the store that the changes were planned on.
        changes: in an order in which every prefix of them is a valid store.
        label: what this is, for ``interop undo`` and for whoever waits.
        message: the same for what follows around the files; others may read it.
        options: what the user asked of that.
        held: the caller holds the store's lock.

    Returns:
        What followed around the files, where the format has something there (a commit).

    Raises:
        FormatError: a change is of what stands there and was not read.
        RefusedError: what is around the store cannot follow, or a file changed meanwhile.
        WriteError: writing failed, and was taken back.
    """
    host = destination.adapter.host
    paths = [c.path for c in changes]
    standing.check_places(destination, changes)
    if host is not None:
        host.before(destination.root, paths, options)

    def verify(found: Mapping[str, str]) -> None:
        meant = {c.path: c.written for c in changes}
        for path, data in destination.tree.files.items():
            if path not in meant:
                meant[path] = digest(data)
        for path in {*meant, *found} - ({COMPLEMENT} - meant.keys()):
            if meant.get(path) != found.get(path):
                raise WriteError(f"{destination.root}/{path}", "is not what was written")

    if destination.adapter.file is not None:
        replacing.apply(
            destination.root,
            destination.adapter.file.path,
            destination.tree.whole,
            as_one_file(destination, changes),
            label=label,
            verify=verify,
            held=held,
        )
        return None
    done: list[Token] = []

    def follow() -> bytes:
        assert host is not None
        done.append(host.after(destination.root, paths, message, options))
        return undoing.dump_note(destination.adapter.name, done[0])

    ignored, then = destination.adapter.ignored, follow if host is not None else None
    if held:
        real = Path(os.path.realpath(destination.root))
        layout.check_paths(real, changes)
        transaction.run(real, changes, label=label, verify=verify, ignored=ignored, follow=then)
    else:
        transaction.apply(
            destination.root, changes, label=label, verify=verify, ignored=ignored, follow=then
        )
    return done[0] if done else None
