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
    """As it was named to the bridge; answers use this name."""
    anchor: str
    """The same wherever the program runs: ``FORMAT:ABSOLUTE PATH`` or ``ABSOLUTE PATH``."""
    root: Path
    others: tuple[str, ...] = ()
    """Further names of the same place."""
    of_project: bool = False
    """Is it where its format keeps the present project's, and another place in another one?"""

    @property
    def is_stated(self) -> bool:
        """Was its format named, so that it can be made where it is missing?"""
        return self.anchor != str(self.root)

    def names(self) -> set[str]:
        """Give everything that STORE in ``STORE:KEY`` may say for it."""
        return {self.name, *self.others, self.anchor, str(self.root)}

    def met(self, other: Place) -> Place | None:
        """Give the two as one place, under the name of this one; None when they are two."""
        if os.path.realpath(self.root) != os.path.realpath(other.root):
            return None
        formats = {p.anchor.partition(":")[0] for p in (self, other) if p.is_stated}
        if len(formats) > 1:
            return None  # one folder, to be read in two formats
        stated = other if other.is_stated and not self.is_stated else self
        more = (*self.others, *(n for n in other.names() if n not in self.names()))
        return Place(
            name=self.name,
            anchor=stated.anchor,
            root=stated.root,
            others=tuple(sorted(set(more))),
            of_project=self.of_project and other.of_project,
        )


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
    spec = named
    if named.startswith("@"):
        from interop import config  # only where a name has to be looked up

        spec = config.spec_of(named)
    head, colon, rest = spec.partition(":")
    if not colon:
        root = Path(os.path.abspath(os.path.expanduser(spec)))
        return Place(name=named, anchor=str(root), root=root)
    if rest and head in own_formats():
        root = Path(os.path.abspath(os.path.expanduser(rest)))
        return Place(name=named, anchor=f"{head}:{root}", root=root)
    from interop import stores

    format_name, _ = stores.parse(spec)
    root = Path(os.path.abspath(stores.root_of(spec)))
    anchor = str(root) if format_name is None else f"{format_name}:{root}"
    of_project = format_name is not None and spec == f"{format_name}:"
    return Place(name=named, anchor=anchor, root=root, of_project=of_project)


def problem_of(name: str, error: InteropError) -> StoreProblem:
    """Say of a store why it could not be read."""
    said, _, more = str(error).partition("\n")
    remedy = getattr(error, "remedy", "")
    if remedy and said.endswith(f"; {remedy}"):
        said = said[: -len(remedy) - 2]
    return StoreProblem(store=name, problem=said, remedy=remedy or more.strip())
