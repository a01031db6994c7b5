"""Where the stores of a bridge are, found with as few imports as that needs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import interop
from interop.bridge.results import StoreProblem
from interop.errors import InteropError

if TYPE_CHECKING:
    from interop.stores import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A store as it was named, and where it is."""

    name: str
    """As it was named to the bridge."""
    anchor: str
    """The same wherever the program runs: ``FORMAT:ABSOLUTE PATH`` or ``ABSOLUTE PATH``."""
    root: Path

    @property
    def is_stated(self) -> bool:
        """Was its format named, so that it can be made where it is missing?"""
        return self.anchor != str(self.root)


def own_formats() -> frozenset[str]:
    """Give the names of the formats that come with interop, without asking for others'."""
    names: set[str] = set()
    for folder in interop.__path__:
        try:
            found = os.listdir(os.path.join(folder, "adapters"))
        except OSError:
            continue
        names.update(name.removesuffix(".py").replace("_", "-") for name in found)
    return frozenset(name for name in names if not name.startswith("-"))


def name_of(named: str | Opened) -> str:
    """Give what a store was called."""
    return named if isinstance(named, str) else named.label


def place_of(named: str | Opened) -> Place:
    """Say where a store is, and import no more than that needs."""
    if not isinstance(named, str):
        root = Path(os.path.abspath(named.root))
        return Place(name=named.label, anchor=f"{named.adapter.name}:{root}", root=root)
    head, colon, rest = named.partition(":")
    if not named.startswith("@"):
        if not colon:
            root = Path(os.path.abspath(os.path.expanduser(named)))
            return Place(name=named, anchor=str(root), root=root)
        if rest and head in own_formats():
            root = Path(os.path.abspath(os.path.expanduser(rest)))
            return Place(name=named, anchor=f"{head}:{root}", root=root)
    from interop import stores

    format_name, _ = stores.parse(named)
    root = Path(os.path.abspath(stores.root_of(named)))
    anchor = str(root) if format_name is None else f"{format_name}:{root}"
    return Place(name=named, anchor=anchor, root=root)


def problem_of(name: str, error: InteropError) -> StoreProblem:
    """Say of a store why it could not be read."""
    said, _, more = str(error).partition("\n")
    remedy = getattr(error, "remedy", "")
    if remedy and said.endswith(f"; {remedy}"):
        said = said[: -len(remedy) - 2]
    return StoreProblem(store=name, problem=said, remedy=remedy or more.strip())
