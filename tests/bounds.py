"""The versions of what interop depends on: the lowest that are promised, for a build with them.

Run as a program it prints one ``name==version`` a line, a constraints file for pip.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def requirements() -> Iterator[Requirement]:
    """Give what is needed to run interop, with every extra that users may ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for line in project["dependencies"]:
        yield Requirement(line)
    for extra, lines in project["optional-dependencies"].items():
        if extra != "test":
            yield from map(Requirement, lines)


def bound(requirement: Requirement, operator: str) -> str | None:
    """Give the version that stands behind an operator (``>=`` or ``<``), or None."""
    return next((s.version for s in requirement.specifier if s.operator == operator), None)


if __name__ == "__main__":
    for needed in requirements():
        print(f"{needed.name}=={bound(needed, '>=')}")
