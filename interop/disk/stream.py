"""Stdin as the bytes of a store: given by whoever owns the process, and read once.

A library does not read stdin of its own accord: in a server it is where the protocol comes from.
The command line offers it.
"""

from __future__ import annotations

from collections.abc import Callable

from interop import limits
from interop.errors import FormatError, UsageError

_offered: Callable[[], bytes] | None = None
_taken = False


def offer(read: Callable[[], bytes] | None) -> None:
    """Let ``take`` give what ``read`` gives; None takes the offer back."""
    global _offered, _taken  # one process has one stdin
    _offered, _taken = read, False


def take() -> bytes:
    """Read everything that stdin has.

    Raises:
        UsageError: stdin was read before, or this process does not offer it.
        FormatError: it cannot be read.
    """
    global _taken
    if _offered is None:
        raise UsageError("'-' is stdin, which is not read here", "give the path of a file")
    if _taken:
        raise UsageError("'-' is named twice, and stdin can be read only once", "name a file")
    _taken = True
    try:
        data = _offered()
    except OSError as error:
        raise FormatError("-", f"cannot be read ({error.strerror})", "give it a file") from error
    most = limits.current().store
    if len(data) > most:
        raise FormatError(
            "-", f"is larger than {limits.size(most)}", limits.way_out("store", most + 1)
        )
    return data
