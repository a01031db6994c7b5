"""Which changed lines were needed: a line is, where leaving it as it was changes what is read.

Nothing here knows a format. A file that says several things in lines of their own shows by this
whether an edit of one of them printed the others anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from difflib import SequenceMatcher
from typing import NamedTuple

from interop.model import Files, Store

_TRIED = 40
"""Changes of one file that are left out one by one, at most."""
_NAMES = 500
"""Up to so many names each is looked for in each line; more would take the square of the store."""
_WORD = re.compile(rb"[^\s()\[\]|<>`'\"]+")


class Change(NamedTuple):
    """Lines that were replaced, from 0: those of the old file, those of the new one."""

    a: int
    a_end: int
    b: int
    b_end: int


class Lines(NamedTuple):
    """One file before and after, line by line, and what changed."""

    before: list[bytes]
    after: list[bytes]
    changes: list[Change]


def compare(old: bytes, new: bytes, edits: int) -> Lines:
    """Compare two files line by line; lines that replace as many others are taken one by one.

    ``edits`` is how many were made: where no more lines than that changed, none of them moved.
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    _settle_end(before, after)
    if len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        in_place = [Change(n, n + 1, n, n + 1) for n, (a, b) in pairs if a != b]
        if len(in_place) <= edits:
            return Lines(before, after, in_place)
    return Lines(before, after, _changes(before, after))


def _settle_end(before: list[bytes], after: list[bytes]) -> None:
    """Let one line have another line end: the one behind which another was written."""
    known = set(before)
    at = {line.rstrip(b"\r\n"): n for n, line in enumerate(before)}
    for line in after:
        bare = line.rstrip(b"\r\n")
        if bare and line not in known and bare in at:
            before[at[bare]] = line
            return


def foreign(lines: Lines, names: Set[bytes]) -> list[Change]:
    """Give the changes with a line that speaks of none of these names; blank lines say nothing."""
    few = len(names) <= _NAMES

    def speaks(line: bytes) -> bool:
        if few:  # a name may hold anything, a blank or a bracket
            return any(name in line for name in names)
        return not names.isdisjoint(_WORD.findall(line))

    out: list[Change] = []
    for change in lines.changes:
        old, new = lines.before[change.a : change.a_end], lines.after[change.b : change.b_end]
        if any(line.strip() and not speaks(line) for line in (*old, *new)):
            out.append(change)
    return out


def idle(
    path: str,
    lines: Lines,
    changes: list[Change],
    beside: Files,
    read: Callable[[Files], Store],
    says: Callable[[Store], object],
    cleared: int,
) -> Iterator[int]:
    """Give the numbers of changed lines without which the file would say the same.

    ``beside`` are the files that are read along with this one, ``says`` gives what the edited field
    says. Lines that stated it before may be written in another way, and where it was cleared (in so
    many records) a second statement of it, that nobody read, goes too.
    """
    others = {p: data for p, data in beside.items() if p != path}
    new, old = b"".join(lines.after), b"".join(lines.before)
    for change in changes[:_TRIED]:
        kept = lines.before[change.a : change.a_end]
        without = b"".join((*lines.after[: change.b], *kept, *lines.after[change.b_end :]))
        # alone first: an index of many lines is read only where the file alone does not tell
        if any(
            read({**near, path: without}).records != read({**near, path: new}).records
            for near in ({}, others)
        ):
            continue
        rest = b"".join((*lines.before[: change.a], *lines.before[change.a_end :]))
        stated = says(read({**others, path: rest})) != says(read({**others, path: old}))
        if kept and change.b == change.b_end and cleared:
            cleared -= 1
        elif not (kept and stated):
            yield change.b + 1


def _changes(before: list[bytes], after: list[bytes]) -> list[Change]:
    out: list[Change] = []
    for op, a, a_end, b, b_end in SequenceMatcher(None, before, after).get_opcodes():
        if op == "equal":
            continue
        if a_end - a == b_end - b:
            out += (Change(a + n, a + n + 1, b + n, b + n + 1) for n in range(a_end - a))
        else:
            out.append(Change(a, a_end, b, b_end))
    return out
