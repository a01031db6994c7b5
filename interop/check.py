"""The laws, measured on one real store: nothing is taken on trust, nothing is written.

Where a format on the way demands kinds that nobody declared, placeholders are declared in memory;
they must leave no trace on the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from interop import fields, registry
from interop.adapter import Adapter, Context
from interop.choices import Choices
from interop.convert import after, plan
from interop.disk.tree import Tree
from interop.errors import InteropError
from interop.model import Body, Files, Json, Memory, Record, Store
from interop.plan import Plan
from interop.stores import Opened, assemble

NOW = "2000-01-01T00:00:00.000Z"
SAMPLE = 40
"""How many records are edited to measure minimal edits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """One law on one store."""

    law: str
    ok: bool
    difference: str = ""
    """The first difference, where there is one."""
    records: int = 0
    """How many records it was measured on."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured."""

    laws: tuple[Law, ...]

    @property
    def ok(self) -> bool:
        """Say whether every law holds."""
        return all(law.ok for law in self.laws)


def check(
    store: Opened,
    via: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Measure the laws on a store, and the way through other formats and back (all, or ``via``)."""
    laws: list[Law] = []
    for name, law in _laws(store, via).items():
        if progress is not None:
            progress(name)
        laws.append(law())
    return Report(laws=tuple(laws))


def _laws(store: Opened, via: Sequence[str] | None) -> dict[str, Callable[[], Law]]:
    laws: dict[str, Callable[[], Law]] = {
        "GetPut": partial(get_put, store),
        "PutGet": partial(put_get, store),
        "minimal edit": partial(minimal_edit, store),
    }
    others = [n for n in registry.names() if n != store.adapter.name]
    for name in others if via is None else via:
        laws[f"through {name}"] = partial(through, store, registry.get(name))
    return laws


def get_put(store: Opened) -> Law:
    """Writing what was read gives the same bytes."""
    files = store.tree.files
    written = store.adapter.write(store.raw, files, Context(now=NOW))
    return Law(
        law="GetPut",
        ok=written.files == files,
        difference=difference(files, written.files),
        records=len(store.raw.records),
    )


def put_get(store: Opened) -> Law:
    """What is written into an empty store is read back as it was written."""
    adapter = store.adapter
    written = adapter.write(store.raw, {}, Context(now=NOW))
    now = {r.key: r for r in adapter.read(written.files).records}
    wrong = [
        f"{key}: {_first_field(record, now.get(record.key))}"
        for key, record in written.records.items()
        if now.get(record.key) != record
    ]
    refused = len(written.refused)
    return Law(
        law="PutGet",
        ok=not wrong,
        difference=wrong[0] if wrong else "",
        records=len(written.records),
        note=f"{refused} records cannot be made anew in this format" if refused else "",
    )


def minimal_edit(store: Opened) -> Law:
    """Changing one field of one record touches its own file and index lines, and says just that."""
    adapter, files = store.adapter, store.tree.files
    wrong: list[str] = []
    sample = store.raw.records[:: max(1, len(store.raw.records) // SAMPLE)]
    for record in sample:
        for name, value in _edits(record):
            edited = fields.replace(record, {name: value})
            records = tuple(edited if r is record else r for r in store.raw.records)
            target = Store(format=adapter.name, records=records)
            written = adapter.write(target, files, Context(now=NOW))
            if any(r.key == record.key for r in written.refused):
                continue
            own = {record.key.split("#")[0], written.records[record.key].key.split("#")[0]}
            touched = {
                p
                for p in {*files, *written.files}
                if files.get(p) != written.files.get(p)
                and not adapter.index(p)
                and not adapter.derived(p)
            }
            if touched - own:
                wrong.append(f"{record.key}: {name}: touches {', '.join(sorted(touched - own))}")
            now = {r.key: r for r in adapter.read(written.files).records}
            for other in store.raw.records:
                # of two equal texts in one file, one is a ``~2`` as long as there are two
                stands = now.get(written.records[other.key].key)
                if other is not record and (
                    stands is None or fields.with_key(stands, other.key) != other
                ):
                    wrong.append(f"{record.key}: {name}: changes {other.key}")
    return Law(
        law="minimal edit",
        ok=not wrong,
        difference=wrong[0] if wrong else "",
        records=len(sample),
    )


def through(store: Opened, via: Adapter) -> Law:
    """Through another format and back into an empty folder: the same bytes, the same records."""
    law = f"through {via.name}"
    # a value that a tombstone rejects is in the store already: the laws hold for it too
    every = frozenset(r.key for r in store.restored.store.records)
    choices = Choices(accept_stale=True, allow_tombstoned=every)
    try:
        there = empty(via, "check-there")
        decisions = placeholders(plan(store, there, choices, now=NOW), via)
        choices = replace(choices, carry=True, decisions=decisions)
        there = after(plan(store, there, choices, now=NOW), there)
        back = empty(store.adapter, "check-back")
        every = frozenset(r.key for r in there.restored.store.records)
        home = Choices(carry=True, allow_tombstoned=every)
        back = after(plan(there, back, home, now=NOW), back)
    except InteropError as error:
        return Law(law=law, ok=False, difference=str(error), records=len(store.raw.records))
    apart = difference(store.tree.files, back.tree.files)
    if not apart:
        full = {r.key: r for r in back.restored.store.records}
        apart = next(
            (
                f"{r.key}: {_first_field(r, full.get(r.key))}"
                for r in store.restored.store.records
                if full.get(r.key) != r
            ),
            "",
        )
    placed = len(decisions)
    note = (
        f"a placeholder kind was declared on the way, for {placed} of the records" if placed else ""
    )
    return Law(law=law, ok=not apart, difference=apart, records=len(store.raw.records), note=note)


def empty(adapter: Adapter, identity: str) -> Opened:
    """Give a store in memory that has no file yet."""
    tree = Tree(files={}, complement=None, problems=())
    return assemble(adapter, Path(identity), tree, None, identity)


def placeholders(found: Plan, via: Adapter) -> dict[str, dict[str, Json]]:
    """Declare a kind for every record of a plan that waits for one."""
    waiting = [k for k, ways in found.template.items() if ways == {"kind": None}]
    return {k: {"kind": via.kinds.terms[0]} for k in waiting} if via.kinds is not None else {}


def difference(a: Files, b: Files) -> str:
    """Name the first file and byte in which two stores differ, or nothing."""
    for path in sorted({*a, *b}):
        if path not in b:
            return f"{path}: is missing"
        if path not in a:
            return f"{path}: was not there"
        if a[path] != b[path]:
            one, other = a[path], b[path]
            at = next(
                (i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y),
                min(len(one), len(other)),
            )
            line = one.count(b"\n", 0, at) + 1
            return f"{path}:{line}: {one[at : at + 30]!r} became {other[at : at + 30]!r}"
    return ""


def _first_field(record: Record, other: Record | None) -> str:
    if other is None:
        return "is gone"
    here, there = fields.to_json(record), fields.to_json(other)
    return next(
        (
            f"{f}: {here.get(f)!r} became {there.get(f)!r}"
            for f in {**here, **there}
            if here.get(f) != there.get(f)
        ),
        "differs",
    )


def _edits(record: Record) -> Iterator[tuple[str, fields.Value]]:
    if isinstance(record, Memory):
        if record.description is not None:
            yield "description", f"{record.description.splitlines()[0]} (edited)"
        text = f"{record.body.text}\n\nEdited." if record.body.text else "Edited."
        yield "body", Body(text=text, media=record.body.media)
