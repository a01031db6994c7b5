"""Reading a file of interop's own: journals, notes, displaced bytes.

A store may come from anywhere, and its ``.interop`` folder with it. So what is no regular file is
never opened, and no more is read than a store may hold.

Spec: docs/limits.md.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from interop import limits
from interop.disk import durable
from interop.errors import FormatError


def read(path: Path, remedy: str) -> bytes:
    """Read a file whole.

    Args:
        path: where it is.
        remedy: what to do about it where it cannot be one of interop's.

    Raises:
        FormatError: it is no regular file, or is larger than a store may be.
        OSError: it is not there, or the system refuses it.
    """
    info = os.lstat(path)
    if not stat.S_ISREG(info.st_mode):
        raise FormatError(str(path), "is no regular file", remedy)
    most = limits.current().store
    try:
        return durable.read_bytes(path, most)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise FormatError(
            str(path),
            f"is larger than {limits.size(most)} ({limits.size(info.st_size)})",
            f"{remedy}; {limits.way_out('store', max(info.st_size, most + 1))}",
        ) from error
