r"""``MEMORY.md``: entries that name memory files, and knowledge kept in the index itself.

    # Memory Index

    - [Dock sensor](dock-sensor.md) — two of nine report late
    - Docks are numbered from the river

The first item is an entry, the second a record: a top-level item that refers to no memory file.

Spec: docs/formats/claude-code.md, section "The index".
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from interop.syntax import index_lines
from interop.syntax.index_lines import Form, Index, Item, Ref

NAME = "MEMORY.md"
DOCUMENTS = ("README.md", "CLAUDE.md")
"""Documents, unless they have a header."""


def is_index(path: str) -> bool:
    """Is this path an index, in whatever folder?"""
    return path == NAME or path.endswith("/" + NAME)


def is_document(path: str) -> bool:
    """Is this the name of a document, which is a memory only with a header?"""
    return path.rpartition("/")[2] in DOCUMENTS


def in_order(paths: Iterable[str]) -> list[str]:
    """Sort indexes as they count: the root one first, then by path."""
    return sorted(paths, key=lambda p: (p != NAME, p))


def normal(words: str) -> str:
    """Give a name as wiki links compare it in the end: without case, ``_`` as ``-``."""
    return unicodedata.normalize("NFC", words).casefold().replace("_", "-")


@dataclass(slots=True)
class Names:
    """What wiki links resolve to: by name, then stem or path, then without case and ``-``/``_``."""

    by_name: dict[str, str] = field(default_factory=dict[str, str])
    by_stem: dict[str, str] = field(default_factory=dict[str, str])
    by_normal: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, path: str, name: str | None) -> None:
        """Make a file known; where two have one name, the first keeps it."""
        stem = path.rpartition("/")[2].removesuffix(".md")
        if name:
            self.by_name.setdefault(name, path)
            self.by_normal.setdefault(normal(name), path)
        for way in (stem, path, path.removesuffix(".md")):
            self.by_stem.setdefault(way, path)
            self.by_normal.setdefault(normal(way), path)

    def resolve(self, target: str) -> str | None:
        """Give the path that a wiki link leads to, or None."""
        for words in (target, target.strip(), target.strip().removesuffix(".md")):
            path = self.by_name.get(words) or self.by_stem.get(words)
            if path:
                return path
        return self.by_normal.get(normal(target.strip().removesuffix(".md")))


@dataclass(frozen=True, slots=True)
class Resolver:
    """Says what the references of one index refer to."""

    folder: str
    paths: Collection[str]
    """The memory files of the store."""
    names: Names

    def __call__(self, form: Form, target: str) -> bool:
        """Is this a reference to a memory file? A link is, whether or not the file exists."""
        return form == "link" or self.path(form, target) is not None

    def path(self, form: Form, target: str) -> str | None:
        """Give the memory file that a reference leads to, or None."""
        if form == "wiki":
            return self.names.resolve(target)
        if form == "link":
            return self._at(target) or ("%" in target and self._at(unquote(target))) or None
        found = self._at(index_lines.relative(target, ".md") or "")
        return found or (target if target in self.paths else None)

    def _at(self, target: str) -> str | None:
        if target in self.paths and not self.folder:
            return target
        path = posixpath.normpath(posixpath.join(self.folder, target)) if target else ""
        return path if path in self.paths else None


class Entry(NamedTuple):
    """The reference in an index that gives a file its title and hook."""

    file: str
    """The path of the index."""
    ref: Ref
    title: str | None
    hook: str | None


@dataclass(frozen=True, slots=True)
class IndexFile:
    """An index as read: its text, its lines, and what its references lead to."""

    path: str
    text: str
    lines: Index
    leads: tuple[str | None, ...]
    """For each reference the memory file it leads to."""
    notes: tuple[int, ...]
    """Numbers of the items that are records."""
    resolver: Resolver

    def item_text(self, number: int) -> str:
        """Give the text of an item."""
        item = self.lines.items[number]
        return self.text[item.text_start : item.text_end]

    def refs(self) -> Iterator[tuple[Ref, str | None]]:
        """Every reference with what it leads to."""
        return zip(self.lines.refs, self.leads, strict=True)

    def title(self, ref: Ref) -> str | None:
        """Give the title that a reference states."""
        return self.text[ref.title[0] : ref.title[1]] if ref.title else None

    def hook(self, ref: Ref) -> str | None:
        """Give the hook that a reference states."""
        return self.text[ref.hook[0] : ref.hook[1]] if ref.hook else None

    def prose(self) -> str:
        """Give what is neither a record nor an entry of one: headings, prose, comments."""
        gone: list[tuple[int, int]] = [_lines_of(self.lines.items[n]) for n in self.notes]
        for ref, path in self.refs():
            if path is not None and ref.item >= 0:
                gone.append(_lines_of(self.lines.items[ref.item]))
            elif path is not None:
                gone += [span for span in (ref.title, ref.hook) if span]
        out: list[str] = []
        at = 0
        for start, end in sorted(gone):
            if start >= at:
                out.append(self.text[at:start])
            at = max(at, end)
        return "".join([*out, self.text[at:]])


def _lines_of(item: Item) -> tuple[int, int]:
    return item.start, item.stop


def read(path: str, text: str, resolver: Resolver) -> IndexFile:
    """Read one index."""
    lines = index_lines.parse(text, resolver)
    leads = tuple(resolver.path(r.form, r.target) for r in lines.refs)
    entries = {r.item for r in lines.refs}
    others = sorted(set(range(len(lines.items))) - entries)
    notes = tuple(
        n for n in others if text[lines.items[n].text_start : lines.items[n].text_end].strip()
    )
    return IndexFile(path, text, lines, leads, notes, resolver)


def entries(file: IndexFile) -> Iterator[tuple[str, Ref]]:
    """Yield the references that can give a file a title or a hook, in order.

    A link does so anywhere; a wiki link or a path in an item or a table row, unless it only stands
    in the hook of another, and only if a hook follows it.
    """
    kinds = file.lines.lines
    for ref, path in file.refs():
        if path is None:
            continue
        if ref.form == "link":
            if ref.title or ref.hook:
                yield path, ref
        elif ref.hook and not ref.within and (ref.item >= 0 or kinds[ref.line].kind == "row"):
            yield path, ref


def first_entries(files: Mapping[str, IndexFile]) -> dict[str, Entry]:
    """Give each memory file's entry: the first one, the root index being the first."""
    out: dict[str, Entry] = {}
    for index in in_order(files):
        file = files[index]
        for path, ref in entries(file):
            if path not in out:
                out[path] = Entry(index, ref, file.title(ref), file.hook(ref))
    return out


_PLAIN_TARGET = re.compile(r"[^\s%#()<>\[\]\"'`|\\*?:]+(?: [^\s%#()<>\[\]\"'`|\\*?:]+)*")


def target_of(path: str) -> str:
    """Write a path as the target of a link: as it is, what would end it percent-encoded."""
    if _PLAIN_TARGET.fullmatch(path):
        return path
    out = (c if c == " " or _PLAIN_TARGET.fullmatch(c) else _percent(c) for c in path)
    return "".join(out)


def _percent(char: str) -> str:
    return "".join(f"%{b:02X}" for b in char.encode("utf-8"))
