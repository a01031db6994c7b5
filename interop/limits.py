"""How much of a store is read at most, so that a hostile one costs bounded time and memory.

Real stores stay far below; where one does not, the user raises the limit for a command
(``interop --limit file=1G show …``) or for good (``INTEROP_LIMITS=file=1G,files=500000``).

Spec: docs/limits.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from interop.errors import UsageError

VARIABLE = "INTEROP_LIMITS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is read at most."""

    file: int = 64 << 20
    """Bytes of one file in a folder."""
    store: int = 512 << 20
    """Bytes of a whole store: of all its files, of its complement, of the one file that it is."""
    files: int = 150_000
    """Files and folders in a store."""
    links: int = 1
    """Names that one file may have on the disk (hard links): who writes to it under another name
    writes to the store as well."""


_DEFAULT = Limits()
_given: Limits | None = None
_SAID = re.compile(r"(file|store|files|links)=(\d{1,15})([KMGT]?)", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def current() -> Limits:
    """Give the limits that hold: the command's, else those of the environment, else the defaults.

    Raises:
        UsageError: the environment says something that is no limit.
    """
    if _given is not None:
        return _given
    said = os.environ.get(VARIABLE)
    return parse(said.split(","), _DEFAULT, VARIABLE) if said else _DEFAULT


def give(said: Sequence[str]) -> None:
    """Let limits hold for this process, on top of those of the environment.

    Raises:
        UsageError: one of them says something that is no limit.
    """
    global _given  # a process is one command, or one program that decides for itself
    _given = None
    if said:
        _given = parse(said, current(), "--limit")


def parse(said: Sequence[str], limits: Limits, where: str) -> Limits:
    """Give the limits with those that are said, each as ``NAME=NUMBER``, sizes also as ``2G``.

    Raises:
        UsageError: one of them says something else.
    """
    for text in said:
        found = _SAID.fullmatch(text.strip())
        if found is None or (found[3] and found[1].lower() in ("files", "links")):
            raise UsageError(
                f"{where}: {text!r} is no limit",
                "file=SIZE, store=SIZE, files=NUMBER or links=NUMBER, sizes as 500M or 2G",
            )
        value = int(found[2]) << _UNITS[found[3].upper()]
        limits = replace(limits, **{found[1].lower(): max(1, value)})
    return limits


def way_out(name: str, value: int) -> str:
    """Say how a limit is raised to a value, or far enough beyond it."""
    if name in ("files", "links"):
        return f"if it belongs here, raise the limit with `interop --limit {name}={value} …`"
    size = next(f"{1 << (n - 20)}M" for n in range(20, 60) if 1 << n >= value)
    return f"if it belongs here, raise the limit with `interop --limit {name}={size} …`"


def size(value: int) -> str:
    """Say a number of bytes to a person."""
    if value < 10 << 20:
        return f"{value:,} bytes"
    return f"{value >> 20:,} MiB"
