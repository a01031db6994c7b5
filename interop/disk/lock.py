"""One interop at a time writes to a store."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from interop.disk import durable, layout
from interop.errors import WriteError

WAIT = 10.0
"""Seconds to wait for another interop that is writing to the same store."""
_LONGEST = 1 << 16
"""Bytes that a note of who holds a lock has at most."""


@contextmanager
def locked(root: Path, label: str, wait: float) -> Generator[None]:
    """Hold the store's lock.

    Raises:
        WriteError: another interop holds it all the time.
        OSError: it cannot be made here.
    """
    # Not at the top: most commands only read, and agents call them from hooks.
    from filelock import FileLock, Timeout

    if not os.path.lexists(root):
        _make_root(root)
    own = layout.own(root)
    mode = stat.S_IMODE(os.stat(root).st_mode) & 0o777
    layout.check_own(root)
    if not os.path.lexists(own):
        durable.make_dir(own, mode)
        durable.sync_dir(root)
    lock = FileLock(own / "lock", mode=0o600 | mode & 0o666)
    try:
        lock.acquire(timeout=wait)
    except Timeout as error:
        raise WriteError(
            str(root),
            f"another interop has been writing here for {wait:g} seconds{_holder(own)}",
            "wait for it to end, or end it, and run this again; nothing was written",
        ) from error
    try:
        durable.remove(own / "holder")
        text = f"{label}, process {os.getpid()}\n"
        durable.write_new(own / "holder", text.encode("utf-8", "replace"), 0o600 | mode & 0o666)
        yield
    finally:
        lock.release()


def _make_root(root: Path) -> None:
    """Make the store's directory and those above it, each forced to the disk."""
    missing = [root]
    while not os.path.lexists(missing[-1].parent):
        missing.append(missing[-1].parent)
    for path in reversed(missing):
        durable.make_dir(path, 0o777)
        durable.sync_dir(path.parent)


def _holder(own: Path) -> str:
    try:
        text = durable.read_bytes(own / "holder", _LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
    return f" ({text.strip()})"
