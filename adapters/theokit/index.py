r"""The entries of ``MEMORY.md``: one line for each memory file, with its title and hook.

    # Memory Index

    - [Billing service runs port](billing-service-runs-port-8080.md) — The billing service runs …

Spec: docs/formats/theokit.md, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from interop.adapters.theokit import facts
from interop.adapters.theokit.ecmascript import one_line, trim, trim_end
from interop.syntax.splice import Edit, lines, splice

NAME = "MEMORY.md"
HEADING = "# Memory Index\n"

_ENTRY = re.compile(r"- \[(?P<title>.*?)\]\((?P<path>(?:(?!\]\().)*?\.md)\)")
_SEPARATOR = re.compile("[ \t]*(?:—|:)[ \t]*|[ \t]+[–-](?:[ \t]+|\\Z)")


class Entry(NamedTuple):
    """One line that names a file."""

    path: str
    title: str | None
    hook: str | None
    start: int
    stop: int
    """Behind the line end."""


def read(text: str, section: facts.Section | None) -> tuple[Entry, ...]:
    """Give the entries in order; a line that the runtime reads as a fact is none."""
    taken = {b.line[0] for b in section.bullets} if section is not None else set[int]()
    out: list[Entry] = []
    for start, end, stop in lines(text):
        if start in taken or not text.startswith("- [", start):
            continue
        found = _ENTRY.match(text, start, end)
        if found is not None:
            hook = _hook(text[found.end() : end])
            out.append(Entry(found["path"], found["title"] or None, hook, start, stop))
    return tuple(out)


def _hook(rest: str) -> str | None:
    separator = _SEPARATOR.match(rest)
    return (trim(rest[separator.end() :]) or None) if separator else None


def line_of(path: str, title: str | None, hook: str | None) -> str:
    """Write one entry, without a line end."""
    link = f"- [{title or ''}]({path})"
    return f"{link} — {hook}" if hook else link


def hook_for(description: str | None, title: str | None) -> str | None:
    """Give the hook that the runtime writes: the description, unless that is the title."""
    hook = one_line(description or "")
    return hook if hook and hook != trim(title or "") else None


def stands(path: str, title: str | None, hook: str | None) -> bool:
    """Is an entry of these read back as it is, and nothing else?"""
    line = line_of(path, title, hook)
    if "\n" in line or facts.HEADING in line:
        return False
    found = read(line, None)
    return bool(found) and found[0][:3] == (path, title, hook)


def rewritten(
    text: str | None,
    gone: Collection[str],
    moved: Sequence[tuple[str, str | None, str | None]],
) -> str | None:
    """Take out the entries of some files, and put those of others (path, title, hook) at the end.

    The runtime does so with every entry that it writes: what stands behind the last line that is
    left, blank lines among it, goes too.
    """
    section = facts.read(text) if text is not None else None
    drop = {*gone, *(path for path, _, _ in moved)}
    if text is not None:
        old = read(text, section)
        text = splice(text, [Edit(e.start, e.stop, "") for e in old if e.path in drop])
    if not moved:
        return text
    new = [line_of(*entry) for entry in moved]
    text = trim_end(text or "") or HEADING
    section = facts.read(text)
    if section is not None and section.stop == len(text):
        # the end lies among the facts, where a line that is no pointer would become one of them
        facts_there = [line for line in new if not facts.is_pointer(line)]
        if facts_there:
            at = text.rfind("\n", 0, section.heading) + 1
            new = [line for line in new if facts.is_pointer(line)]
            text = text[:at] + "".join(f"{line}\n" for line in facts_there) + text[at:]
    return "\n".join([text, *new, ""])
