"""Secrets on their way into a store that leaves the machine: with git, or with a sync tool.

A secret counts where the store does not say it yet: in a file that is written, in the complement,
or in the lines of a store that is one file. What is told of it never repeats it.

Spec: docs/safety.md, section "Secrets".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from interop import fields
from interop.adapter import Adapter
from interop.errors import RefusedError
from interop.model import Json, Record
from interop.plan import COMPLEMENT, FileChange, Plan
from interop.secrets import MASK, Secret, find, mask, what
from interop.stores import Opened, carried_off

Policy: TypeAlias = Literal["warn", "refuse", "allow"]
"""What to do about them: say so and go on, write nothing, or say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A secret that would enter a store, and where it would stand."""

    where: str
    """Key of the record that says it, else the path of the file."""
    rule: str
    shown: str
    """The line that it stands in, with every secret masked."""

    def __str__(self) -> str:
        """`where: what, in the masked line`."""
        return f"{self.where}: {what(self.rule)}, in {self.shown!r}"


def policy(said: Policy | None) -> Policy:
    """Give what is to be done: as was said, else as the user's settings say."""
    if said is not None:
        return said
    from interop import config  # settings are read only where something depends on them

    return config.load().secrets


def leaves_with(destination: Opened, *, commits: bool = True) -> str | None:
    """Say what carries a store off this machine; None for nothing that is known.

    Args:
        destination: the store.
        commits: will what is around its files record what is written?
    """
    if destination.stream:
        return None
    off = carried_off(Path(destination.root))
    if off is None and destination.adapter.host is not None and commits:
        return "the repository that its runtime keeps it in"
    return off


def entering(destination: Opened, changes: Sequence[FileChange]) -> tuple[Leak, ...]:
    """Give the secrets that changes bring into a store, each once a place."""
    old = [*destination.tree.files.values(), destination.tree.complement or b""]
    new = [(c, _new(c, destination)) for c in changes if c.after is not None]
    hits = [(c, text, s) for c, data in new for text, s in _secrets(data)]
    if not hits:
        return ()
    known = {text[s.start : s.end] for data in old for text, s in _secrets(data)}
    hits = [(c, text, s) for c, text, s in hits if text[s.start : s.end] not in known]
    if not hits:
        return ()
    said = _said(destination.adapter, destination, changes)
    found: dict[Leak, None] = {}
    for change, text, secret in hits:
        value = text[secret.start : secret.end]
        keys = [key for key, texts in said if any(value in t for t in texts)]
        for where in keys or [change.path]:
            found[Leak(where=mask(where), rule=secret.rule, shown=_line(text, secret))] = None
    return tuple(found)


def warned(plan: Plan, destination: Opened, said: Policy | None, *, commits: bool) -> Plan:
    """Give a plan that names the secrets that it would let leave the machine."""
    if said == "allow" or not plan.changes:
        return plan
    off = leaves_with(destination, commits=commits)
    leaks = entering(destination, plan.changes) if off is not None else ()
    if not leaks:
        return plan
    return replace(plan, secrets=tuple(map(str, leaks)), notes=(*plan.notes, _note(leaks, off)))


def check(label: str, leaks: Sequence[Leak] | Sequence[str], said: Policy | None) -> None:
    """Refuse secrets where that is asked for.

    Raises:
        RefusedError: there are some, and they are to be refused.
        FormatError: the settings are needed, and cannot be read.
    """
    if leaks and policy(said) == "refuse":
        raise RefusedError(
            label,
            "nothing was written: secrets would leave this machine",
            "take them out of the source, or let them through with --secrets allow",
            [*map(str, leaks)],
        )


def notes(
    destination: Opened, changes: Sequence[FileChange], said: Policy | None, *, commits: bool
) -> tuple[str, ...]:
    """Check what is about to be written, and give what is to be said of it.

    Raises:
        RefusedError: secrets would leave the machine, and are to be refused.
    """
    off = leaves_with(destination, commits=commits) if said != "allow" else None
    leaks = entering(destination, changes) if off is not None else ()
    check(destination.label, leaks, said)
    return (_note(leaks, off), *map(str, leaks)) if leaks else ()


def _note(leaks: Sequence[Leak], off: str | None) -> str:
    number = len(leaks)
    things = "1 secret enters" if number == 1 else f"{number:,} secrets enter"
    return f"{things} a store that {off} may carry off this machine"


def _new(change: FileChange, destination: Opened) -> bytes:
    """Give what a change writes; of lines of JSON, which say each for itself, only the new ones."""
    after = change.after or b""
    if change.path == COMPLEMENT:
        before = destination.tree.complement
    else:
        before = destination.tree.files.get(change.path)
    if before is None or after[:1] != b"{":
        return after
    known = set(before.split(b"\n"))
    return b"\n".join(line for line in after.split(b"\n") if line not in known)


def _secrets(data: bytes) -> Iterator[tuple[str, Secret]]:
    """Give the secrets of a file, each with the text that it stands in."""
    text = data.decode("utf-8", "replace")
    if data[:1] != b"{":
        yield from ((text, secret) for secret in find(text))
        return
    for line in text.split("\n"):
        for said in _texts(line):
            yield from ((said, secret) for secret in find(said))


def _texts(line: str) -> Iterator[str]:
    """Give the texts of a line of JSON, as they are meant; another line as it is."""
    try:
        todo: list[Json] = [orjson.loads(line)]
    except orjson.JSONDecodeError:
        yield line
        return
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            todo += item
        elif isinstance(item, dict):
            # a key and its value say together what neither says alone
            yield from (f"{name}={v}" for name, v in item.items() if isinstance(v, str))
            todo += [v for v in item.values() if not isinstance(v, str)]


def _said(
    adapter: Adapter, destination: Opened, changes: Sequence[FileChange]
) -> list[tuple[str, list[str]]]:
    """Give the texts of each record as it will stand."""
    files = dict(destination.tree.files)
    for change in changes:
        if change.path == COMPLEMENT:
            continue
        if change.after is None:
            files.pop(change.path, None)
        else:
            files[change.path] = change.after
    return [(r.key, _of(r)) for r in adapter.read(files).records]


def _of(record: Record) -> list[str]:
    return [*_texts(fields.dumps(fields.to_json(record)).decode("utf-8", "replace"))]


def _line(text: str, secret: Secret) -> str:
    """Give the line of a secret without it, and not all of a long one."""
    start = text.rfind("\n", 0, secret.start) + 1
    end = text.find("\n", secret.end)
    before = mask(text[start : secret.start])[-40:]
    after = mask(text[secret.end : len(text) if end < 0 else end])[:20]
    return f"{before}{MASK}{after}".strip()
