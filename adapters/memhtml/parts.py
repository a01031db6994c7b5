"""What a memory file says, piece by piece, and where its head says it.

Spec: docs/formats/memhtml.md, "What is a record".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Parts(NamedTuple):
    """What a file says, whichever way it was read."""

    title: str
    claim: str
    metas: Sequence[tuple[str, str]]
    """The metas that the format knows, by their names without the prefix."""
    links: Sequence[tuple[str, str]]
    """Relations and targets."""
    body: tuple[int, int]
    """Where the inner HTML of the article stands in the file's own text."""
    hash: str


class Statement(NamedTuple):
    """A meta or a link of the head, and where it stands in the file's own text."""

    name: str
    """The meta's name without its prefix; of a link its relation."""
    value: str
    start: int
    end: int
    said: tuple[int, int] | None = None
    """Where a meta's ``content`` attribute stands; None where it has none."""


class Head(NamedTuple):
    """Where everything stands that a head states."""

    metas: tuple[Statement, ...]
    links: tuple[Statement, ...]
    title: tuple[int, int]
