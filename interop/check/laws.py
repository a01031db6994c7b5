"""What a law says of one store, and the two laws that need no other format and no edit."""

from __future__ import annotations

from dataclasses import dataclass

from interop import fields
from interop.adapter import Adapter, Context, Hold
from interop.model import Files, Record
from interop.stores import Opened

NOW = "2000-01-01T00:00:00.000Z"
"""The moment that everything in a check happens at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """One law on one store."""

    law: str
    ok: bool
    difference: str = ""
    """The first difference, where there is one."""
    records: int = 0
    """How many records it was measured on."""
    edits: int = 0
    """How many single edits were tried on them."""
    refused: int = 0
    """How many records or edits the format refused, which breaks no law."""
    declared: int = 0
    """How many placeholders were declared on the way, which left no trace if the law holds."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured on one store."""

    laws: tuple[Law, ...]
    store: str = ""
    """How to name the store to a person."""
    unread: tuple[str, ...] = ()
    """What was meant as a record and could not be read as one: only its bytes were checked."""

    @property
    def ok(self) -> bool:
        """Say whether every law holds."""
        return all(law.ok for law in self.laws)


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
    """Rebuild the store from nothing: what is written is read back, and says what was said."""
    adapter = store.adapter
    written = adapter.write(store.raw, {}, Context(now=NOW))
    now = {r.key: r for r in adapter.read(written.files).records}
    supplied: dict[str, set[str]] = {}
    for item in written.supplied:
        supplied.setdefault(item.key, set()).add(item.field)
    wrong: list[str] = []
    for record in store.raw.records:
        meant = written.records.get(record.key)
        if meant is None:
            continue  # refused, and counted below
        stands = now.get(meant.key)
        if stands is None or stands != meant:
            wrong.append(f"{record.key}: {first_field(meant, stands)}")
        else:
            wrong += _unsaid(adapter, record, stands, supplied.get(record.key, set()))
    extra = now.keys() - {r.key for r in written.records.values()}
    wrong += (f"{key}: nobody wrote it" for key in sorted(extra))
    refused = len(written.refused)
    return Law(
        law="PutGet",
        ok=not wrong,
        difference=wrong[0] if wrong else "",
        records=len(written.records),
        refused=refused,
        note=f"{refused} of the records cannot be made anew in this format" if refused else "",
    )


def _unsaid(adapter: Adapter, record: Record, stands: Record, supplied: set[str]) -> list[str]:
    """Name the fields that the format holds and that a new record lost without a word."""
    return [
        f"{record.key}: {name}: {shown(record, name)} became {shown(stands, name)}"
        for name in fields.FIELDS[record.role]
        if adapter.holds.get(name) is Hold.EXACT
        and fields.get(record, name) is not None
        and fields.get(stands, name) is None
        and name not in supplied
    ]


def difference(a: Files, b: Files) -> str:
    """Name the first file and byte in which two stores differ, or nothing."""
    if a == b:
        return ""
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


def first_field(record: Record, other: Record | None) -> str:
    """Say in which field a record differs from what became of it."""
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


def shown(record: Record, field: str) -> str:
    """Show the value of one field."""
    return repr(fields.value_to_json(fields.get(record, field)))
