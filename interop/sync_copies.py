r"""Copies that sync tools leave when two machines changed one file, told by their names.

Some names say it themselves; the others say it only beside the file that they would be a copy of:

    tyres (Ann's conflicted copy 2031-05-02).md      Dropbox, Nextcloud
    tyres.sync-conflict-20310502-101530-K3X7QAB.md    Syncthing
    tyres-DESKTOP-4F7K2QX.md    beside tyres.md       OneDrive
    tyres-LAPTOP.md             beside tyres.md       OneDrive
    tyres (1).md                beside tyres.md       Google Drive
    tyres 2.md                  beside tyres.md       iCloud

Spec: docs/lint.md, section "Copies of sync tools".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A file or folder whose name is that of a copy."""

    path: str
    original: str
    """The path it would be a copy of."""
    tool: str
    """The tool that gives such names."""
    certain: bool
    """The name alone says it; otherwise somebody may have chosen it."""


_STEM = r"(?P<stem>.+?)"
_EXT = r"(?P<ext>(?:\.[^./ ]{1,8})?)\Z"
_APPLE = r"(?:MacBook(?:-?(?:Pro|Air))?|MBP|MBA|iMac|Mac-?(?:mini|Mini|Studio|Pro))"

_CERTAIN: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "Dropbox or Nextcloud",
        re.compile(
            rf"{_STEM} \([^()]*(?:\([^()]*\)[^()]*)?"
            r"(?:conflicted copy|[Cc]ase [Cc]onflict|[Ss]elective [Ss]ync [Cc]onflict"
            r"|[Ii]n Konflikt stehende Kopie|[Cc]opie en conflit|[Cc]opia en conflicto)"
            rf"[^()]*(?:\([^()]*\)[^()]*)?\){_EXT}"
        ),
    ),
    ("Syncthing", re.compile(rf"{_STEM}\.sync-conflict-\d{{8}}-\d{{6}}(?:-[A-Z0-9]{{7}})?{_EXT}")),
    ("Nextcloud", re.compile(rf"{_STEM}_conflict-\d{{8}}-\d{{6}}{_EXT}")),
)
_BESIDE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "OneDrive",
        re.compile(
            rf"{_STEM}-(?:(?:DESKTOP|LAPTOP|WIN|PC)-[A-Z0-9]{{3,12}}"
            r"|(?:[A-Z0-9]{2,12}-)?(?:DESKTOP|LAPTOP|NOTEBOOK|WORKSTATION|SURFACE|PC)"
            rf"|(?:[A-Za-z0-9]+s?-)?{_APPLE}(?:-\d)?)(?:-\d)?{_EXT}"
        ),
    ),
    ("Google Drive", re.compile(rf"{_STEM} ?\([1-9]\d?\){_EXT}")),
    ("iCloud", re.compile(rf"{_STEM} [2-9]{_EXT}")),
)
"""OneDrive takes any machine's name; only those that computers are given by default count."""


def find(paths: Iterable[str]) -> list[Copy]:
    """Give the copies among paths, folders included, in the order of their paths."""
    files = set(paths)
    there = files | {folder for path in files for folder in _folders(path)}
    found = (copy_of(path, there) for path in sorted(there))
    return [copy for copy in found if copy is not None]


def copy_of(path: str, there: Iterable[str]) -> Copy | None:
    """Say what a path is a copy of, given all the paths that are there, or None."""
    folder, slash, name = path.rpartition("/")
    for tool, pattern in _CERTAIN:
        match = pattern.match(name)
        if match is not None:
            original = f"{folder}{slash}{match['stem']}{match['ext']}"
            return Copy(path=path, original=original, tool=tool, certain=True)
    beside = there if isinstance(there, set | frozenset) else frozenset(there)
    for tool, pattern in _BESIDE:
        match = pattern.match(name)
        if match is not None:
            original = f"{folder}{slash}{match['stem']}{match['ext']}"
            if original in beside:
                return Copy(path=path, original=original, tool=tool, certain=False)
    return None


def placeholder_of(path: str) -> str | None:
    """Give the file that a path stands for while iCloud has not brought it here, or None."""
    folder, slash, name = path.rpartition("/")
    match = _PLACEHOLDER.fullmatch(name)
    return f"{folder}{slash}{match[1]}" if match is not None else None


_PLACEHOLDER = re.compile(r"\.(.+)\.icloud")


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")
    return ("/".join(parts[:n]) for n in range(1, len(parts)))
