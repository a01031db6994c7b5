"""What git sees of interop's own data in a store: at most the complement.

Spec: docs/formats/memhtml.md, "Git".
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from interop.adapters.memhtml.git import git, ignored, tracked

OWN: Final = ".interop/"
COMPLEMENT: Final = ".interop/complement"
_UNSEEN: Final = (COMPLEMENT, ".interop/lock", ".interop/undo/1/manifest")
"""What stands for all of interop's own data, where a rule may ignore it."""


def is_recorded(root: Path) -> bool | None:
    """Does git record the complement here, by what stands there? None where nothing says so.

    What is tracked is recorded. What is ignored is not, whoever said so: interop, at an earlier
    ``--complement ignore``, or a person in an ignore file.
    """
    if tracked(root, [COMPLEMENT]):
        return True
    if ignored(root, [COMPLEMENT]):
        return False
    stated = any(OWN in line for line in _excluded(root).splitlines())
    return True if stated else None


def _excludes(root: Path) -> Path:
    return root / git(root, "rev-parse", "--git-path", "info/exclude").strip()


def _excluded(root: Path) -> str:
    place = _excludes(root)
    return place.read_text(encoding="utf-8") if place.is_file() else ""


def exclude(root: Path, *, keeps: bool, asked: bool = False) -> None:
    """Keep interop's own data out of git's sight: a tree that is dirty keeps sleep from running.

    Where nobody asked, and a person's own rules ignore all of it, they are left alone.
    """
    if not asked and not keeps and ignored(root, _UNSEEN) == set(_UNSEEN):
        return
    lines = [f"/{OWN}*", f"!/{COMPLEMENT}"] if keeps else [f"/{OWN}"]
    text = _excluded(root)
    kept = [line for line in text.splitlines() if OWN not in line]
    new = "".join(f"{line}\n" for line in [*kept, *lines])
    if new != text:
        place = _excludes(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(new, encoding="utf-8", newline="")
