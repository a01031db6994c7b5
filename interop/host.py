"""What a format needs around its files, run inside the transaction by a core that knows no format.

A store may live in something that has to follow its changes: a git repository whose runtime sees
only what is committed. An adapter's package may bring an object for that. It alone may run programs
and write beside the store's files; adapters themselves stay pure.

Spec: docs/adding-a-format.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOptions:
    """What the user asked of the host."""

    commit: bool = True
    """Record the change; otherwise the files are left, and the commands to run are said."""
    complement_in_git: bool | None = None
    """Let the complement be recorded with the rest, or not; None as it was done before, and where
    nothing says that it is not, recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What the host did, kept with the undo data and handed back to ``undo``."""

    commit: str | None = None
    """The commit that was made; None when none was."""
    commands: tuple[str, ...] = ()
    """What the user has to run, where the host was asked to leave that to them."""
    made: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it laid out around the files and did not commit: path -> digest."""
    complement_was_in_git: bool | None = None
    """Was the complement recorded before, where this was changed; else None."""


class Host(Protocol):
    """The surroundings of a store: asked before, told after, and able to take it back."""

    def before(self, root: Path, paths: Sequence[str], options: HostOptions) -> None:
        """Refuse a change that the surroundings cannot follow now.

        Called under the lock, before the first byte is written, also in a dry run; changes
        nothing. ``root`` may not exist yet. ``paths`` are what will be created, changed and
        removed, relative to ``root``, the complement among them.

        Raises:
            RefusedError: a person has to do something first; it says what.
        """
        ...

    def lays_out(self, root: Path) -> Mapping[str, bytes | None]:
        """Say what ``after`` would lay out around a store's files first; changes nothing.

        ``root`` may not exist yet. Path -> bytes of a file; None for a folder whose content is no
        business of the store's, a repository. Files that are there, or that will be once the
        change is made, are left out by whoever asks. Empty where ``before`` would refuse.
        """
        ...

    def after(self, root: Path, paths: Sequence[str], message: str, options: HostOptions) -> Token:
        """Let the surroundings follow a change: the files stand, and were read back.

        Called once, before the undo data is made final. ``message`` says on one line what was
        done. When it raises, everything that it did itself is taken back, and the core takes back
        the files.

        Raises:
            WriteError: the surroundings did not follow.
        """
        ...

    def undo(self, root: Path, token: Token) -> None:
        """Take back what ``after`` did, so that the surroundings know the state before.

        Called when the user undoes the apply, with the old files back in place or not: files that
        still are as they were applied are put back, others are left alone. What was laid out goes
        as long as nobody works with it.

        Raises:
            RefusedError: what was recorded has been changed since.
            WriteError: the surroundings did not follow.
        """
        ...
