"""Names of new files: from the name, the stem or the text, and never one that means something.

Spec: docs/formats/claude-code.md, section "New files".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

from interop.adapter import path_of
from interop.model import Memory
from interop.syntax.marked import says

_USABLE = re.compile(r"\w(?:[\w.-]*\w)?")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]|[ .](?:/|\Z)')
_RESERVED = frozenset(
    ["memory", "readme", "claude", "con", "prn", "aux", "nul"]
    + [f"{device}{n}" for device in ("com", "lpt") for n in range(1, 10)]
)
_LONGEST = 60
"""Bytes of a slug made from a text."""


def stem_of(memory: Memory) -> str:
    """Give the stem wanted for a new file: the name, the stem that it had, or words of its text."""
    if memory.name and _is_usable(memory.name):
        return memory.name
    if "#" not in memory.key:
        stem = PurePosixPath(path_of(memory.key)).stem
        if _is_usable(stem):
            return stem
        slug = slug_of(stem)
        if slug:
            return slug
    return slug_of(memory.name or "") or slug_of(first_line(memory.body.text)) or "memory-1"


def _is_usable(name: str) -> bool:
    return bool(_USABLE.fullmatch(name)) and len(name.encode("utf-8")) <= 120


def slug_of(text: str) -> str:
    """Give lower-case words joined by dashes, as far as whole words go."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word.encode()[:_LONGEST].decode(errors="ignore")
        if len(longer.encode()) > _LONGEST:
            break
        out = longer
    return out


def first_line(text: str) -> str:
    """Give the first line of a text that is not blank, nor the marker of a task or the like."""
    return next((w for line in says(text).split("\n") if (w := line.strip())), "")


def path_in(key: str, files: Mapping[str, object]) -> str | None:
    """Give the path of a record's own file if it is among these, else None."""
    if key.endswith(".md") and key in files:
        return key
    return None


def fold(path: str) -> str:
    """Give a path as file systems may compare it: without case, in one normal form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def is_sane(path: str) -> bool:
    """Can a new memory have this path, on every system?"""
    parts = path.split("/")
    return (
        path.endswith(".md")
        and not _UNSAFE.search(path)
        and all(p and not p.startswith(".") and len(p.encode("utf-8")) < 200 for p in parts)
        and parts[-1].removesuffix(".md").casefold() not in _RESERVED
    )


class Taken:
    """The paths that stand, folders included, compared as file systems do."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Make a path taken, and its folders."""
        folded = fold(path)
        self._files.add(folded)
        while "/" in folded:
            folded = folded.rpartition("/")[0]
            self._folders.add(folded)

    def is_free(self, path: str) -> bool:
        """Can a file of this path be made beside the others?"""
        folded = fold(path)
        if folded in self._files or folded in self._folders:
            return False
        while "/" in folded:
            folded = folded.rpartition("/")[0]
            if folded in self._files:
                return False
        return True


def choose(wanted: Iterable[str], stem: str, is_free: Callable[[str], bool]) -> str:
    """Take the first wanted path that is free, else ``stem.md``, ``stem-2.md``, …."""
    for path in wanted:
        if is_sane(path) and is_free(path):
            return path
    path = f"{stem}.md"
    n = 2
    while not (is_sane(path) and is_free(path)):
        path = f"{stem}-{n}.md"
        n += 1
    return path
