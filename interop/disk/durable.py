"""The few operations that change a disk, each atomic, and the one seam to make them fail.

Whatever in ``interop.disk`` changes a file or a directory of a store calls a function of this
module, so that tests can put a fault before and after every single step (``fault``).
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ctypes import CDLL

When: TypeAlias = Literal["before", "after"]
Place: TypeAlias = str | Path

fault: Callable[[When, str, Path], None] | None = None
"""Called before and after each step with its name and path; tests set it to raise or to crash."""

NOT_A_FILE = "not a regular file"
"""What ``digest_at`` says of a directory, a symbolic link or a device: equal to no digest."""

_BINARY: int = getattr(os, "O_BINARY", 0)
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
READ = os.O_RDONLY | _BINARY | _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0)
"""Flags that open a regular file, and never follow a link or wait for a pipe."""
_CHUNK = 1 << 16
_AT_ONCE = 8
"""Files that are forced to the disk at once: measured, more brings nothing."""
_MANY = 256
"""Files from which the system is asked to begin with all of them."""
_UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
_NO_LINKS = _UNSUPPORTED | {errno.EPERM, errno.EMLINK, errno.EXDEV}


def _step(operation: str, path: Place) -> AbstractContextManager[None]:
    return _SOUND if fault is None else _faulty(operation, path)


_SOUND = nullcontext()


@contextmanager
def _faulty(operation: str, path: Place) -> Generator[None]:
    if fault is not None:
        fault("before", operation, Path(path))
    yield
    if fault is not None:
        fault("after", operation, Path(path))


def read_bytes(path: Place, most: int | None = None) -> bytes:
    """Read a regular file whole, if it has no more bytes than ``most``.

    Raises:
        OSError: it cannot be read, it is not a regular file, or (EFBIG) it is larger.
    """
    fd = os.open(path, READ)
    try:
        if most is not None:
            return _read_bounded(fd, path, most)
        data = os.read(fd, _CHUNK)
        if len(data) < _CHUNK:
            # A short read ends a local file; a network or user-space file system may only pause.
            more = os.read(fd, _CHUNK)
            if not more:
                return data
            data += more
        parts = [data]
        while part := os.read(fd, _CHUNK * 16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def _read_bounded(fd: int, path: Place, most: int) -> bytes:
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode):
        raise OSError(errno.EINVAL, NOT_A_FILE, str(path))
    left = most - info.st_size
    parts: list[bytes] = []
    # whatever the system says of its size, only the end is the end
    while left >= 0 and (part := os.read(fd, _CHUNK * 16)):
        parts.append(part)
        left = most - max(info.st_size, sum(map(len, parts)))
    if left < 0:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return b"".join(parts)


def read_start(path: Place, size: int) -> bytes:
    """Read the first ``size`` bytes of a regular file, or all that it has.

    Raises:
        OSError: it cannot be read, or it is not a regular file.
    """
    fd = os.open(path, READ)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, NOT_A_FILE, str(path))
        return os.read(fd, size)
    finally:
        os.close(fd)


def unreadable(error: OSError) -> str:
    """Say of a file that it cannot be read, and the way out where permission is all it needs."""
    said = f"cannot be read ({error.strerror or error})"
    denied = error.errno in (errno.EACCES, errno.EPERM)
    return f"{said}; give yourself permission (chmod u+r)" if denied else said


def digest_at(path: Place) -> str | None:
    """Give the SHA-256 of the file that is there now; None when nothing is there."""
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(info.st_mode):
        return NOT_A_FILE
    found = hashlib.sha256()
    try:
        fd = os.open(path, READ)
    except FileNotFoundError:
        return None
    try:
        while part := os.read(fd, _CHUNK):
            found.update(part)
    finally:
        os.close(fd)
    return found.hexdigest()


def write_new(
    path: Place,
    data: bytes | Sequence[bytes],
    mode: int | None = None,
    like: Place | None = None,
) -> None:
    """Create a file and write it, without forcing it to the disk yet.

    Args:
        path: where; nothing may be there.
        data: what, in one piece or in several.
        mode: its permission bits; None leaves them to the umask.
        like: a file whose owner the new one gets, as far as this user may give files away.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | getattr(os, "O_CLOEXEC", 0)
    with _step("open", path):
        fd = os.open(path, flags, 0o666 if mode is None else mode & 0o600)
    try:
        if like is not None:
            _give_owner(fd, like)
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(fd, mode)
        with _step("write", path):
            for piece in (data,) if isinstance(data, bytes) else data:
                view = memoryview(piece)
                while view:
                    view = view[os.write(fd, view) :]
    finally:
        os.close(fd)


def _give_owner(fd: int, like: Place) -> None:
    if not hasattr(os, "fchown"):
        return
    there, here = os.lstat(like), os.fstat(fd)
    if (there.st_uid, there.st_gid) != (here.st_uid, here.st_gid):
        # Only root gives files away; a group of one's own can be kept. Else the writer owns it, as
        # after any editor.
        for owner in (there.st_uid, -1):
            with suppress(PermissionError):
                os.fchown(fd, owner, there.st_gid)
                return


def sync_file(path: Place) -> None:
    """Force a file's bytes to the disk."""
    with _step("fsync", path):
        # Windows flushes only what is open for writing.
        fd = os.open(path, (os.O_RDWR if os.name == "nt" else os.O_RDONLY) | _BINARY)
        try:
            _fsync(fd)
        finally:
            os.close(fd)


def sync_files(paths: Sequence[Place]) -> None:
    """Force the bytes of several files to the disk, some of them at once.

    A file system that keeps a journal writes it once for all that wait for it: ten thousand small
    files take a tenth of the time. Nothing may depend on the order in which they are forced.
    """
    if len(paths) < _AT_ONCE or fault is not None:  # a fault comes at one known step
        for path in paths:
            sync_file(path)
        return
    from concurrent.futures import ThreadPoolExecutor  # not at the top, for the sake of start-up

    if len(paths) >= _MANY:
        _push(paths[0])
    parts = [paths[at : at + _AT_ONCE * 8] for at in range(0, len(paths), _AT_ONCE * 8)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(_sync_each, parts):
            pass  # the first one that failed raises here, and parts that wait are not begun


def _sync_each(paths: Sequence[Place]) -> None:
    for path in paths:
        sync_file(path)


def _push(path: Place) -> None:
    """Let the system begin to write out all that waits for the disk that this file is on.

    In one go that is half of the work of doing it file by file, as forcing each of them would. It
    is only a push: it writes what other programs wrote, too, so nobody waits for its end, and what
    counts is that each file is forced after it.
    """
    library = _library() if sys.platform == "linux" else None
    if library is None or not hasattr(library, "syncfs"):
        return
    from threading import Thread  # not at the top, for the sake of start-up

    def push() -> None:
        with suppress(OSError):
            fd = os.open(path, READ)
            library.syncfs(fd)
            os.close(fd)

    Thread(target=push, daemon=True).start()


def sync_dir(path: Path) -> None:
    """Force a directory's names to the disk, where the system can."""
    if os.name == "nt":
        return
    with _step("fsync", path):
        fd = os.open(path, os.O_RDONLY)
        try:
            _fsync(fd)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
        finally:
            os.close(fd)


def _fsync(fd: int) -> None:
    if sys.platform == "darwin":
        # There, fsync stops at the drive's cache.
        import fcntl

        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
        except OSError as error:
            if error.errno not in _UNSUPPORTED | {errno.ENOTTY}:
                raise
    os.fsync(fd)


def move(source: Place, target: Place) -> None:
    """Rename, over whatever is at the target."""
    with _step("rename", target):
        os.replace(source, target)


def move_new(source: Place, target: Place) -> None:
    """Rename to a name that is free.

    Raises:
        FileExistsError: something is there.
    """
    with _step("rename-new", target):
        if _rename_flag(source, target, "new"):
            return
        if os.name == "nt":
            os.rename(source, target)  # which never replaces anything there
            return
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # No atomic way is left (FAT on an old kernel): the gap between the two calls stays.
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
            os.rename(source, target)
            return
        os.unlink(source)


def exchange(one: Place, other: Place) -> bool:
    """Swap two files in one step; False, and nothing done, where the system cannot."""
    with _step("exchange", other):
        return _rename_flag(one, other, "exchange")


def keep(source: Place, target: Place) -> None:
    """Make the file at ``source`` known at ``target`` too: a hard link, or else a copy."""
    with _step("keep", target):
        try:
            os.link(source, target, follow_symlinks=False)
            return
        except (OSError, NotImplementedError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_LINKS:
                raise
    write_new(target, read_bytes(source), stat.S_IMODE(os.lstat(source).st_mode), source)
    sync_file(target)


def remove(path: Place) -> None:
    """Remove a file, if it is there."""
    with _step("unlink", path), suppress(FileNotFoundError):
        os.unlink(path)


def make_dir(path: Place, mode: int) -> None:
    """Make a directory, never wider than ``mode`` and the umask; one that is there is fine."""
    with _step("mkdir", path):
        try:
            os.mkdir(path, mode | 0o700)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise


def remove_dir(path: Place) -> bool:
    """Remove a directory if it is empty; say whether it is gone."""
    with _step("rmdir", path):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise
    return True


def remove_tree(path: Path) -> None:
    """Remove a directory of interop's own with the files in it, if it is there; follow no link."""
    if not os.path.lexists(path):
        return
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        remove(path)
        return
    names = sorted(os.listdir(path))
    for name in names:
        inner = path / name
        if stat.S_ISDIR(os.lstat(inner).st_mode):
            remove_tree(inner)
        else:
            remove(inner)
    remove_dir(path)


def _rename_flag(source: Place, target: Place, how: Literal["new", "exchange"]) -> bool:
    """Rename with a flag that only the system call takes; False where there is none."""
    call = _system_call()
    if call is None:
        return False
    code = call(os.fsencode(source), os.fsencode(target), how)
    if code == 0:
        return True
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(source), None, str(target))


@cache
def _library() -> CDLL | None:
    """Give the system's own library, for the calls that Python does not offer."""
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes  # not at the top, for the sake of start-up

    return ctypes.CDLL(None, use_errno=True)


@cache
def _system_call() -> Callable[[bytes, bytes, str], int] | None:
    """Find renameat2 (Linux) or renamex_np (macOS); the call gives an errno, 0 when done."""
    library = _library()
    if library is None:
        return None
    import ctypes

    name = "renameat2" if sys.platform == "linux" else "renamex_np"
    function = getattr(library, name, None)
    if function is None:
        return None
    function.restype = ctypes.c_int

    if sys.platform == "linux":
        cwd = -100  # AT_FDCWD
        flags = {"new": 1, "exchange": 2}  # RENAME_NOREPLACE, RENAME_EXCHANGE
        number, name_of = ctypes.c_int, ctypes.c_char_p
        function.argtypes = (number, name_of, number, name_of, ctypes.c_uint)

        def linux(source: bytes, target: bytes, how: str) -> int:
            done = function(cwd, source, cwd, target, flags[how])
            return 0 if done == 0 else ctypes.get_errno()

        return linux

    swaps = {"new": 4, "exchange": 2}  # RENAME_EXCL, RENAME_SWAP

    def darwin(source: bytes, target: bytes, how: str) -> int:
        done = function(source, target, ctypes.c_uint(swaps[how]))
        return 0 if done == 0 else ctypes.get_errno()

    return darwin
