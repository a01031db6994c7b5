"""What a conversion would do: each file, each record, and what a person has to decide.

A plan is data. It is shown (``--dry-run`` stops there) and then applied, as it was shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from interop.model import Json

COMPLEMENT = ".interop/complement"
"""Where a store keeps what its format cannot hold, relative to its root."""


def digest(data: bytes) -> str:
    """Give the SHA-256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file to create, update or delete."""

    path: str
    before: str | None
    """Digest of the bytes that are there; None when there is no file."""
    after: bytes | None
    """The new bytes; None deletes."""
    written: str | None = field(default=None, repr=False, compare=False)
    """Digest of the new bytes, which every step of writing them asks for; taken here once, unless
    it is known."""

    def __post_init__(self) -> None:
        """Take the digest of the new bytes."""
        if self.written is None and self.after is not None:
            object.__setattr__(self, "written", digest(self.after))

    @property
    def action(self) -> Literal["create", "update", "delete"]:
        """What happens to the file, in one word."""
        if self.after is None:
            return "delete"
        return "create" if self.before is None else "update"


Fate = Literal["exact", "restored", "supplied", "carried"]
"""How a field comes through: said as it is; said in full again from the complement; made up
because the format demands it (and taken back on the way back); or kept in the complement only."""

Action = Literal[
    "add",  # a new record in the destination
    "update",  # some fields change
    "same",  # nothing to do
    "keep",  # only the destination changed: it stays
    "gone",  # the destination removed it, the source did not change it: it stays removed
    "remove",  # the source removed it, and removing was asked for
    "stays",  # the source removed it, and this format does not let it go
    "pending",  # the source removed it: removed only with --delete
    "carry",  # travels whole in the complement
    "refuse",  # cannot stand, nobody decided
    "conflict",  # both sides changed it, nobody decided
    "skip",  # refused or in conflict, and left out as was asked
    "unread",  # its file is there and cannot be read: its counterpart stays
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOutcome:
    """How one field of a record comes through."""

    field: str
    fate: Fate
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happens to one record, and why."""

    action: Action
    key: str
    """Its key in the source; for a record that only the destination has, the key there."""
    to: str | None = None
    """Its key in the destination."""
    fields: tuple[FieldOutcome, ...] = ()
    reason: str = ""
    remedy: str = ""

    @property
    def undecided(self) -> bool:
        """Does a person have to decide before anything is written?"""
        return self.action in ("refuse", "conflict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that one conversion would do."""

    source: str
    """The source as the user named it, with its format (``claude-code:PATH``)."""
    destination: str
    changes: tuple[FileChange, ...]
    """In the order in which they are safe: every prefix of them leaves a valid store."""
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()
    """Lines for the person: carried files, private text that enters the destination, budgets."""
    lost: tuple[str, ...] = ()
    """What nothing will keep, because no complement is written; refused unless allowed."""
    template: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What is undecided, in the form of a decisions file."""
    secrets: tuple[str, ...] = ()
    """Secrets that would enter a store which leaves the machine: where, and what, never which."""
    generation: int = 0
    """Of the complement that the destination will have; 0 for none."""
    file: str | None = None
    """The name of the one file that is the destination, where it is one: ``changes`` are to parts
    of it."""

    laid_out: tuple[str, ...] = ()
    """What is laid out around the files, where the format lives in something of its own (a
    repository): paths of files and folders."""
    refused: bool = False
    """Is nothing of it to be written, as somebody has to decide, or does not let something go?"""

    @property
    def on_disk(self) -> tuple[tuple[Literal["create", "update", "delete"], str], ...]:
        """What happens to which file, as a person finds them on the disk; nothing if refused."""
        if self.refused:
            return ()
        if self.file is None or not self.changes:
            return tuple((c.action, c.path) for c in self.changes)
        new = all(c.before is None for c in self.changes)
        return (("create" if new else "update", self.file),)

    def count(self, action: Action) -> int:
        """Say how many records meet this end."""
        return sum(o.action == action for o in self.outcomes)

    @property
    def blocked(self) -> bool:
        """Is there a record that a person has to decide on?"""
        return any(o.undecided for o in self.outcomes)
