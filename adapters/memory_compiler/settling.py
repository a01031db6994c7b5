"""Changes to one file, made together; the ones that would change another record are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

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

    def takes_new(self, others: Sequence[Change]) -> bool:
        """Say whether anything new would be read, beside these changes, where not all can stand."""
        ...


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


_Some: TypeAlias = tuple[Sequence[Change], Made | None]
"""Changes that can stand together, and the file with them; None where there are none."""


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
    good, made = _good(edits, possible)
    stand = {id(change) for change in good}
    refused |= {change.key: _HARMS for change in possible if id(change) not in stand}
    if made is None:
        return Settled(None, {}, {}, refused)
    return Settled(made.text, made.records, made.moved, refused)


def _good(edits: Edits, changes: Sequence[Change]) -> _Some:
    """Find what can stand together: all of it, else what changes, then what is new beside it."""
    made = edits.made(changes) if changes else None
    if made is not None or not changes:
        return changes, made
    found = _together(edits, [change for change in changes if change.current is not None])
    new = [change for change in changes if change.current is None]
    if new and edits.takes_new(found[0]):
        found = _joined(edits, found, _together(edits, new))
    return found


def _together(edits: Edits, some: Sequence[Change]) -> _Some:
    """Give the changes that can stand together, and the file with them.

    Halves are settled by themselves and then put together: that many cannot stand does not make
    the others be tried once for each of them.
    """
    made = edits.made(some) if some else None
    if made is not None or len(some) < 2:
        return (some, made) if made is not None else ((), None)
    half = len(some) // 2
    return _joined(edits, _together(edits, some[:half]), _together(edits, some[half:]))


def _joined(edits: Edits, one: _Some, other: _Some) -> _Some:
    (first, made), (second, made_second) = one, other
    if made is None or made_second is None:
        return one if made is not None else other
    return _beside(edits, first, made, second)


def _beside(
    edits: Edits, first: Sequence[Change], made: Made, second: Sequence[Change]
) -> tuple[Sequence[Change], Made]:
    """Add those of the second changes that can stand beside the first ones."""
    result = edits.made([*first, *second])
    if result is not None:
        return [*first, *second], result
    if len(second) < 2:
        return first, made
    half = len(second) // 2
    first, made = _beside(edits, first, made, second[:half])
    return _beside(edits, first, made, second[half:])
