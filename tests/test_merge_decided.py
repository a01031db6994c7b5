"""A record that one store removed comes back to it on another way, for every format there.

Three stores in a row, and a person who decided between two of them. What follows is told by the
table of docs/model.md (tests/test_merge_table.py): nothing that was decided is asked again, no edit
is lost, and a removed record does not come back unasked.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interop import registry
from tests.test_merge_table import TEXTS, Rows, which

NAMES = registry.names()
SQUARE = [
    (one, other, NAMES[(i + j) % len(NAMES)])
    for i, one in enumerate(NAMES)
    for j, other in enumerate(NAMES)
]
"""Rows of three in which every two formats stand beside each other, in either order."""

Step = tuple[str, int, int] | tuple[str, int, int, str]
"""("edit" or "remove", store, record), or ("sync", from, to, what is taken in a conflict)."""

OLDER = "edited and removed, then taken from the third, which knows an older text"

ROWS: dict[str, tuple[Step, ...]] = {
    "removed, then taken from the third, with a neighbour gone in the first": (
        ("edit", 2, 1),
        ("remove", 1, 1),
        ("sync", 0, 1, "source"),
        ("remove", 0, 0),
        ("sync", 2, 1, "source"),
        ("sync", 1, 0, "source"),
    ),
    "edited and removed, then taken from the third": (
        ("edit", 1, 1),
        ("sync", 0, 1, "destination"),
        ("edit", 2, 1),
        ("remove", 1, 1),
        ("sync", 2, 1, "source"),
        ("sync", 0, 1, "source"),
    ),
    OLDER: (
        ("edit", 1, 1),
        ("sync", 1, 0, "destination"),
        ("sync", 0, 1, "destination"),
        ("edit", 2, 1),
        ("remove", 1, 1),
        ("sync", 0, 1, "destination"),
        ("sync", 2, 1, "source"),
        ("sync", 1, 0, "destination"),
    ),
    "kept on one side, while the third has it as it was": (
        ("remove", 1, 1),
        ("sync", 2, 1, "source"),
        ("edit", 0, 1),
        ("sync", 1, 0, "destination"),
        ("sync", 0, 1, "source"),
        ("edit", 2, 1),
        ("sync", 2, 1, "source"),
    ),
    "left out once, then taken from the other": (
        ("sync", 1, 0, "source"),
        ("edit", 0, 1),
        ("remove", 1, 1),
        ("edit", 2, 1),
        ("sync", 2, 1, "destination"),
        ("sync", 0, 1, "source"),
        ("sync", 1, 2, "source"),
    ),
    "left out twice, then gone in the first as well": (
        ("sync", 2, 1, "source"),
        ("edit", 0, 1),
        ("sync", 1, 0, "source"),
        ("edit", 2, 1),
        ("sync", 2, 1, "destination"),
        ("remove", 1, 1),
        ("sync", 0, 1, "destination"),
        ("delete", 1, 0, "source"),
        ("sync", 0, 1, "destination"),
        ("sync", 2, 1, "destination"),
    ),
    "kept on one side, and another version taken from the third": (
        ("remove", 1, 1),
        ("edit", 0, 1),
        ("sync", 1, 0, "destination"),
        ("edit", 2, 1),
        ("sync", 2, 1, "source"),
        ("sync", 0, 1, "source"),
    ),
    "taken from the third, and its neighbour removed in both others": (
        ("remove", 1, 2),
        ("edit", 2, 2),
        ("sync", 1, 0, "destination"),
        ("sync", 2, 1, "source"),
        ("remove", 1, 0),
        ("remove", 0, 0),
        ("sync", 0, 1, "destination"),
    ),
}


def walk(names: Sequence[str], steps: Sequence[Step]) -> Rows:
    """Take steps in a row of stores; each conversion is compared with the table."""
    row = Rows()
    row.begin(names, [set[str]()] * 3)
    for kind, i, n, *rest in steps:
        if kind in ("sync", "delete"):
            row.sync(i, n, delete=kind == "delete", take=rest[0])
            continue
        at = [which(r) for r in row.stores[i].raw.records].index(n)
        if kind == "remove":
            row.somebody_removes(i=i, n=at)
        else:
            row.somebody_edits(i=i, n=at, field=TEXTS[0])
    return row


NO_NAMES = ("memory-compiler", "memory-compiler")
"""Here a bullet is called by its text on both sides: edited everywhere, nothing says it is one."""


@pytest.mark.parametrize(
    ("names", "steps"),
    [
        pytest.param(names, steps, id=f"{said}: {' '.join(names)}")
        for said, steps in ROWS.items()
        for names in SQUARE
        if said != OLDER or names[:2] != NO_NAMES
    ],
)
def test_what_was_decided_holds_on_every_way(
    names: tuple[str, str, str], steps: tuple[Step, ...]
) -> None:
    row = walk(names, steps)
    for a, b in ((1, 0), (0, 1), (1, 2), (2, 1)):
        row.sync(a, b, delete=False, take="source")
