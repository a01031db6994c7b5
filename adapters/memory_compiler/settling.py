"""Changes to one file, made together; the ones that would change another record are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from interop.adapter import Supplied
from interop.model import Record


@dataclass(slots=True, eq=False)
class Change:
    """One thing to do."""

    key: str
    """Key in the store that was put."""
    current: Record | None
    """The record that stands there; None for a new one."""
    meant: Record | None
    """As it is to stand; None takes it out."""
    supplied: tuple[Supplied, ...] = ()
    id: str = ""
    """The id of a new row."""


class Refused(NamedTuple):
    """Why a change is not made, and the way out."""

    field: str
    reason: str
    remedy: str


class Made(NamedTuple):
    """A file with changes in it, read back."""

    text: str
    records: Mapping[str, Record]
    """Key of a change -> the record that stands now."""
    moved: Mapping[str, Record]
    """Key before -> record now, of what was not to change."""


class Edits(Protocol):
    """How changes are made in one kind of file."""

    def made(self, changes: Sequence[Change]) -> Made | None:
        """Make changes; None when they would not read back as meant, or change something else."""

    def impossible(self, change: Change) -> Refused | None:
        """Say why a change has no place in this file, whatever else is changed."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of the changes to one file."""

    text: str | None
    """None when nothing was changed."""
    records: Mapping[str, Record]
    moved: Mapping[str, Record]
    refused: Mapping[str, Refused]


_HARMS = Refused(
    "body",
    "written like this, another record would be read differently",
    "reword it, or let it travel with --carry",
)


def settle(edits: Edits, changes: Sequence[Change]) -> Settled:
    """Make all changes that can stand together, and say why the others cannot."""
    refused: dict[str, Refused] = {}
    possible: list[Change] = []
    for change in changes:
        why = edits.impossible(change)
        if why is None:
            possible.append(change)
        else:
            refused[change.key] = why
    good: list[Change] = []
    made: Made | None = None
    waiting = [possible] if possible else []
    while waiting:
        some = waiting.pop(0)
        result = edits.made([*good, *some])
        if result is not None:
            good += some
            made = result
        elif len(some) == 1:
            refused[some[0].key] = _HARMS
        else:
            half = len(some) // 2
            waiting[:0] = [some[:half], some[half:]]
    if made is None:
        return Settled(None, {}, {}, refused)
    return Settled(made.text, made.records, made.moved, refused)
