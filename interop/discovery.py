"""Finding the stores of this machine, and a glance at one: is it there, and how much is in it.

Where stores lie is each format's own rule (``Adapter.discover``). Nothing is written, links are not
followed out of the places, and what cannot be read is named.

Spec: docs/configuration.md, "Finding stores".
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from interop import registry, stores
from interop.adapter import Adapter, Place, Surroundings
from interop.config import Config
from interop.disk import listing, tree
from interop.errors import InteropError, UsageError
from interop.model import Problem

_LINK = "is reached by a symbolic link, which is not followed; name where that leads to"
_NAME = "its name is not UTF-8; rename it to have it read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """A store as far as one look at it tells."""

    format: str | None = None
    path: Path | None = None
    """Where it lies; None where its format has no place for it here."""
    records: int | None = None
    """How many it has; None when it cannot be opened."""
    problem: str | None = None
    """Why it cannot be opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A store that was found."""

    name: str
    """Its name in the settings, or one that is free there."""
    named: bool
    """Do the settings name it already?"""
    format: str
    path: Path

    @property
    def spec(self) -> str:
        """What stands for it wherever a store is expected."""
        return f"{self.format}:{self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Every store that was found, and every place that could not be looked at."""

    found: tuple[Found, ...]
    problems: tuple[Problem, ...]


def glance(spec: str) -> Glance:
    """Open a store, count its records, and let go of it; what is wrong is said, not raised."""
    path: Path | None = None
    format_name: str | None = None
    try:
        format_name = stores.parse(spec)[0]
        path = stores.root_of(spec)
        opened = stores.open_store(spec)
    except InteropError as error:
        from interop.secrets import mask  # most stores can be read

        return Glance(format=format_name, path=path, problem=mask(str(error)))
    except OSError as error:
        problem = (error.strerror or str(error)).lower()
        return Glance(format=format_name, path=path, problem=f"{path}: {problem}")
    return Glance(
        format=opened.adapter.name, path=opened.root, records=len(opened.restored.store.records)
    )


def discover(config: Config, around: Surroundings | None = None) -> Discovery:
    """Find the stores of every format, in the order of the formats and of their rules.

    The same folder is found once. The names that are proposed depend on nothing but what is found
    and what the settings name already.
    """
    problems: dict[str, Problem] = {}
    links: set[Path] = set()

    def folders(path: Path) -> Sequence[str]:
        inside = listing.folders(path)
        if inside.problem is not None:
            problems[inside.problem.path] = inside.problem
        links.update(path / name for name in inside.links)
        return inside.names

    known = {_real(path): name for name, path in _roots(config)}
    taken = set(config.stores)
    found: dict[str, Found] = {}
    at = replace(around if around is not None else stores.surroundings(), folders=folders)
    for adapter in registry.adapters():
        for place in _places(adapter, at, links, problems):
            real = _real(place.path)
            if real in found:
                continue
            name = known.get(real)
            format_name = _format(adapter, place.path)
            found[real] = Found(
                name=name or _name(place, format_name, taken),
                named=name is not None,
                format=format_name,
                path=place.path,
            )
            taken.add(found[real].name)
    return Discovery(found=tuple(found.values()), problems=tuple(problems.values()))


def _places(
    adapter: Adapter, at: Surroundings, links: set[Path], problems: dict[str, Problem]
) -> Iterator[Place]:
    """Give the places of a format where a folder stands, and note those that are not looked into.

    Where the present project keeps its own may be a link, as its runtime follows it.
    """
    own = tuple(adapter.locate(at)) if adapter.locate is not None else ()
    found = adapter.discover(at) if adapter.discover is not None else (Place(path=p) for p in own)
    for place in found:
        path = Path(os.path.abspath(place.path))
        shown = listing.shown(path)
        there = listing.standing(path)
        if isinstance(there, Problem):
            problems[shown] = there
        elif there is None:
            continue
        elif place.path not in own and (there == "link" or links & {path, *path.parents}):
            problems[shown] = Problem(path=shown, problem=_LINK)
        elif shown != str(path):
            problems[shown] = Problem(path=shown, problem=_NAME)
        else:
            yield replace(place, path=path)


def _format(adapter: Adapter, path: Path) -> str:
    """Give the format of a folder at a place of a format: that one, unless another alone fits."""
    try:
        files = tree.peek(path, adapter.ignored)
        if not files or adapter.detect(files) is not None:
            return adapter.name
        others = stores.detect(path)
    except InteropError:
        return adapter.name
    return others[0].format if len(others) == 1 else adapter.name


def _roots(config: Config) -> Iterator[tuple[str, Path]]:
    """Give where each named store lies, those that lie nowhere here left out."""
    for name, spec in config.stores.items():
        try:
            yield name, stores.root_of(spec)
        except UsageError:
            continue


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _name(place: Place, format_name: str, taken: Container[str]) -> str:
    """Give a name that is free: of the project, then with the format, then with a number."""
    parts = (p for p in reversed(place.path.parts[1:]) if p != "memory" and not p.startswith("."))
    wish = _slug(place.name or next(parts, "")) or format_name
    if wish not in taken:
        return wish
    if not wish.endswith(format_name):
        wish = f"{wish}-{format_name}"
    number = 1
    name = wish
    while name in taken:
        number += 1
        name = f"{wish}-{number}"
    return name


def _slug(text: str) -> str:
    """Give a text as a name: what a name cannot have becomes ``-``."""
    return re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", text)).strip("-.")
