"""The bridge that a user's settings ask for, and what a caller names instead.

    from interop import configured

    bridge = configured.bridge()                                   # as the settings say
    bridge = configured.bridge(read=["@garage"], write="@van")     # as said here

What is named wins; what is not comes from the settings. Settings are not looked at where nothing is
needed from them, so a broken file stops only who relies on it. They are looked at anew each time.

Spec: docs/agents.md, docs/configuration.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interop.bridge import WAIT, Bridge, StoreProblem
from interop.errors import FormatError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The stores that take part."""

    read: tuple[str, ...]
    """In order of precedence."""
    write: str | None
    problems: tuple[StoreProblem, ...] = ()
    """Settings that cannot be read, where enough was named to go on without them."""


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
    found = chosen(read=read, write=write, read_only=read_only)
    return Bridge(read=found.read, write=found.write, wait=wait, problems=found.problems)


def chosen(
    *, read: Sequence[str] = (), write: str | None = None, read_only: bool = False
) -> Chosen:
    """Give the names of the stores to read, and of the one to write; see ``bridge``.

    Where a store to write is named and the settings cannot be read, it takes part alone: that the
    others are missing is said in every answer.

    Raises:
        UsageError: there is no store to read, or ``write`` is named with ``read_only``.
        FormatError: the settings are needed and cannot be read.
    """
    if read_only and write is not None:
        raise UsageError("a store to write is named, and nothing is to be written", "leave one out")
    if read and (write is not None or read_only):
        return Chosen(read=tuple(read), write=write)
    from interop import config  # not at the top, for the sake of start-up

    try:
        settings = config.load()
    except FormatError as error:
        if write is None:
            raise
        return Chosen(read=tuple(read), write=write, problems=(_unread(error),))
    if not read:
        read = [config.MARK + named.name for named in config.read_stores(settings)]
    if write is None and not read_only and settings.write is not None:
        write = config.MARK + settings.write
    if not read and write is None:
        emptied = settings.read is not None and settings.stores
        raise UsageError(
            f"no store to read is set in {settings.path}",
            "`read` names none there: name some in it, or take it out to read all"
            if emptied
            else "name them (--read, --write); or let `interop stores discover --add` find yours, "
            "and `interop stores add NAME STORE --write` say which one is written",
        )
    return Chosen(read=tuple(read), write=write)


def _unread(error: FormatError) -> StoreProblem:
    problem = f"{error.problem}; the stores that the settings read are left out"
    return StoreProblem(store=error.where, problem=problem, remedy=error.remedy)
