"""Where a memory lies: slugs, folders, collisions, and the archive.

The path is the identity. Spec: docs/formats/memhtml.md, "Where a new file goes".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from interop.adapters.memhtml.vocabulary import BUCKETS, JS_SPACE, TASK

_LONGEST: Final = 80
_FALLBACK: Final = "untitled"
_MOST: Final = 1000
_ARCHIVED = re.compile(r"archive/\d{4,}/(.+)", re.DOTALL)
_GENERATED: Final = ("index.html", "sitemap.xml")
_BY_TAG: Final = ("semantic", "procedural", "precedent")


def is_memory(path: str) -> bool:
    """Does the runtime index a file of this path?"""
    parts = path.split("/")
    return (
        len(parts) > 1
        and parts[0] in BUCKETS
        and path.endswith(".html")
        and parts[-1] not in _GENERATED
    )


def is_generated(path: str) -> bool:
    """Is this a listing or a site map that the runtime writes?"""
    return path.rpartition("/")[2] in _GENERATED


def is_archived(path: str) -> bool:
    """Does the path say that the memory is archived?"""
    return path.startswith("archive/")


def origin(path: str) -> str:
    """Give the path that a memory had before it was archived; once, however often it was."""
    match = _ARCHIVED.fullmatch(path)
    return match[1] if match else path


def archive_path(path: str, year: str) -> str:
    """Give the place in the archive of what lies here."""
    return f"archive/{year}/{path}"


def slug(title: str) -> str:
    """Give a title in lower-case ASCII with hyphens, 80 characters at most."""
    decomposed = unicodedata.normalize("NFKD", title)
    bare = "".join(c for c in decomposed if unicodedata.category(c) != "Mn").lower()
    kebab = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")
    return kebab[:_LONGEST].rstrip("-") or _FALLBACK


def with_ordinal(stem: str, n: int) -> str:
    """Give the ``n``-th name that a slug may have, within the same length."""
    if n < 2:
        return stem
    suffix = f"-{n}"

    def cut(length: int) -> str:
        return stem if len(stem) <= length else stem[:length].rstrip("-")

    short = cut(_LONGEST - len(suffix))
    while short and short + suffix == stem:
        short = cut(len(short) - 1)
    return (short or _FALLBACK) + suffix


def folder(kind: str, entities: Iterable[str], tags: Iterable[str]) -> str:
    """Give the folder for a new memory whose author names no workspace."""
    if kind == "arc":
        return "areas/arcs"
    if kind == TASK:
        return "areas/inbox/tasks"
    if kind == "semantic" and any(_is_person(e) for e in entities):
        return "resources/people"
    tag = next((t for t in tags if t.strip(JS_SPACE)), None)
    if kind in _BY_TAG and tag is not None:
        return f"resources/{slug(tag)}"
    return "areas/inbox"


def _is_person(entity: str) -> bool:
    return entity.startswith("person:") and bool(entity[len("person:") :].strip(JS_SPACE))


def candidates(stem: str, kind: str, where: str, now: str) -> Iterator[str]:
    """Give the paths that a new memory may have, best first; ``stem`` is the slug of its title.

    ``now`` is the moment of writing.
    """
    day = now[:10].replace("-", "")
    dated = f"{day}-" if kind == "episodic" else ""
    for n in range(1, _MOST + 1):
        yield f"{where}/{dated}{with_ordinal(stem, n)}.html"


def beside(path: str) -> Iterator[str]:
    """Give a path and those with ``-2``, ``-3`` … before its ending, as sleep avoids collisions."""
    yield path
    for n in range(2, _MOST + 1):
        yield f"{path.removesuffix('.html')}-{n}.html"


class Taken:
    """The paths in use, compared as a careless file system does."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: dict[str, int] = {}
        self._folders: dict[str, int] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Take a path."""
        self._count(path, 1)

    def free(self, path: str) -> None:
        """Give a path free."""
        self._count(path, -1)

    def _count(self, path: str, by: int) -> None:
        path = path.casefold()
        self._files[path] = self._files.get(path, 0) + by
        for parent in _parents(path):
            self._folders[parent] = self._folders.get(parent, 0) + by

    def is_free(self, path: str) -> bool:
        """Can a file stand there?"""
        path = path.casefold()
        if self._folders.get(path, 0) > 0:
            return False
        return all(self._files.get(p, 0) <= 0 for p in (path, *_parents(path)))


def _parents(path: str) -> Iterator[str]:
    at = path.find("/")
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)
