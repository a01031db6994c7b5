"""The bridge that a user's settings ask for, and what a caller names instead.

    from interop import configured

    bridge = configured.bridge()                                   # as the settings say
    bridge = configured.bridge(read=["@garage"], write="@van")     # as said here

What is named wins; what is not comes from the settings. Settings are not looked at where nothing is
needed from them, so a broken file stops only who relies on it.

Spec: docs/agents.md, docs/configuration.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from interop.bridge import WAIT, Bridge
from interop.errors import UsageError


def bridge(
    *,
    read: Sequence[str] = (),
    write: str | None = None,
    read_only: bool = False,
    wait: float = WAIT,
) -> Bridge:
    """Give a bridge over the stores that are named, else over those of the settings.

    Args:
        read: the stores to read, in order of precedence; none: those that the settings read.
        write: the store to write; None: the one that the settings write, if they say one.
        read_only: no store is written, whatever the settings say.
        wait: seconds to wait for another writer.

    Raises:
        UsageError: there is no store to read, or ``write`` is named with ``read_only``.
        FormatError: the settings are needed and cannot be read.
    """
    reads, writes = names(read=read, write=write, read_only=read_only)
    return Bridge(read=reads, write=writes, wait=wait)


def names(
    *, read: Sequence[str] = (), write: str | None = None, read_only: bool = False
) -> tuple[tuple[str, ...], str | None]:
    """Give the names of the stores to read, and of the one to write; see ``bridge``.

    Raises:
        UsageError: there is no store to read, or ``write`` is named with ``read_only``.
        FormatError: the settings are needed and cannot be read.
    """
    if read_only and write is not None:
        raise UsageError("a store to write is named, and nothing is to be written", "leave one out")
    if not read or (write is None and not read_only):
        from interop import config  # not at the top, for the sake of start-up

        settings = config.load()
        if not read:
            read = [config.MARK + named.name for named in config.read_stores(settings)]
        if write is None and not read_only and settings.write is not None:
            write = config.MARK + settings.write
        if not read and write is None:
            raise UsageError(
                f"no store to read is set in {settings.path}",
                "name one, or let `interop stores discover --add` find yours",
            )
    return tuple(read), write
