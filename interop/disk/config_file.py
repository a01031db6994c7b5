"""The file that a user's settings stand in, and the only way to change it.

``config.toml`` in the user's configuration directory (``INTEROP_CONFIG_DIR`` names another). It may
be a link into a folder of dotfiles: the file that it leads to is replaced, the link stays.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from interop.disk import durable
from interop.errors import FormatError, WriteError

WAIT = 5.0
"""Seconds to wait for another interop that is writing the same file."""


def path() -> Path:
    """Give the place of the file, which may not be there yet."""
    if stated := os.environ.get("INTEROP_CONFIG_DIR"):
        return Path(stated).absolute() / "config.toml"
    from platformdirs import user_config_dir  # not at the top, for the sake of start-up

    return Path(user_config_dir("interop")) / "config.toml"


def read(place: Path) -> bytes | None:
    """Give the bytes of the file, None where there is none.

    Raises:
        FormatError: something is there, and it cannot be read.
    """
    try:
        return durable.read_bytes(os.path.realpath(place))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FormatError(
            str(place),
            f"cannot be read ({why})",
            "make it a file that you can read, or move it away",
        ) from error


@contextmanager
def alone(place: Path) -> Generator[None]:
    """Keep other interops from changing the file between reading and replacing it.

    Raises:
        WriteError: the directory cannot be written, or another interop does not let go.
    """
    from filelock import FileLock, Timeout  # not at the top, for the sake of start-up

    real = Path(os.path.realpath(place))
    try:
        real.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(real.with_name("config.lock"), timeout=WAIT, mode=0o600)
        lock.acquire()
    except Timeout as error:
        problem = "another interop is changing it"
        raise WriteError(str(place), problem, "try again in a moment") from error
    except OSError as error:
        raise _unwritable(place, error) from error
    try:
        yield
    finally:
        lock.release()


def replace(place: Path, data: bytes) -> None:
    """Put new bytes in the file's place in one step; a new file is its owner's alone.

    Call it within ``alone``: the draft's name is free then, or a leftover.

    Raises:
        WriteError: it cannot be written, and is as it was.
    """
    real = Path(os.path.realpath(place))
    draft = real.with_name("config.new")
    try:
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o600
        with suppress(FileNotFoundError):
            draft.unlink()
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(mode)
        os.replace(draft, real)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise _unwritable(place, error) from error


def _unwritable(place: Path, error: OSError) -> WriteError:
    why = (error.strerror or str(error)).lower()
    return WriteError(
        str(place),
        f"cannot be written ({why})",
        "see to its permissions, or name another directory with INTEROP_CONFIG_DIR",
    )
