"""Stores in memory whose records state everything that their format can say, and next to nothing.

Made by the format's own adapter, so that a value stands in them as its runtime would read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from interop import fields, registry
from interop.adapter import Adapter, Context, Fitted, Hold, Written
from interop.check.crossing import empty
from interop.check.laws import NOW
from interop.check.values import EXTRA, kinds_of
from interop.disk.tree import Tree
from interop.model import Body, Decision, Link, Memory, Record, Store, Task, Tombstone
from interop.rendering import lower
from interop.stores import Opened, assemble

_LINKS = (Link(target="pump"), Link(rel="relates_to", target="areas/inbox/pump.html"))
"""As a name, and as a path: a format takes one of them, or none."""

_RENAMED = "who-has-the-code"
"""What a memory is called after a person gave it another name."""

_FULL = Memory(
    key="spare-key.md",
    name="spare-key",
    title="Spare key",
    description="Where the spare key hangs",
    hook="the grey box",
    body=Body(text="The spare key hangs behind the last dock. See [[pump]]."),
    tags=("keys",),
    entities=("person:mira",),
    created="2026-05-01",
    modified="2026-05-02T10:00:00.000Z",
    recalled="2026-05-03",
    observations=3,
    session="5b0c2f6e-1a44-4e0b-9a51-0d7c3e8f1a01",
)
_TASK = fields.replace(
    Task(key="OPEN_ITEMS.md#OI-001"),
    {
        **{name: fields.get(_FULL, name) for name in fields.FIELDS["memory"]},
        "name": "order-brake-pads",
        "title": "Order brake pads",
        "description": "Brake pads for the cargo bikes",
        "body": Body(text="Order brake pads for the cargo bikes. See [[pump]]."),
        "due": "2026-06-01",
        "opened": "2026-05-04",
        "evidence": "the workshop's list",
    },
)
_SPECIMENS: Mapping[str, Record] = {
    "full memory": _FULL,
    "other memory": replace(
        _FULL,
        key="grey-box.md",
        name="door-code",
        title="The code of the door",
        description="Who has the code of the door",
        hook="ask at the desk",
        body=Body(text="Three people have the code of the door."),
        links=_LINKS[:1],
    ),
    "bare memory": Memory(key="helmets.md", body=Body(text="Helmets are washed on Fridays.")),
    "archived memory": replace(
        _FULL,
        key="old-shed.md",
        name="old-shed",
        title="Old shed",
        description="Where the bikes stood before",
        body=Body(text="The bikes stood in the old shed until the spring."),
        state="archived",
        archived="2026-05-06",
    ),
    "full task": _TASK,
    "other task": fields.replace(
        _TASK,
        {
            "name": "oil-the-chains",
            "title": "Oil the chains",
            "description": "The chains of the city bikes",
            "body": Body(text="Oil the chains of the city bikes."),
            "links": _LINKS[:1],
        },
    ),
    "bare task": Task(key="OPEN_ITEMS.md#OI-002", body=Body(text="Ring the insurer.")),
    "former decision": Decision(
        key="DECISIONS.md#D-001",
        decision="Deposits are paid in cash",
        why="the terminal was broken",
        date="2026-04-05",
        evidence="the till's journal",
    ),
    "full decision": Decision(
        key="DECISIONS.md#D-002",
        decision="Deposits are paid by card",
        why="cash was miscounted twice",
        date="2026-05-05",
        evidence="the till's journal",
        supersedes="D-001",
    ),
    "bare decision": Decision(key="DECISIONS.md#D-003", decision="Close the kiosk at eight"),
    "full tombstone": Tombstone(
        key="TOMBSTONES.md#T-001",
        subject="deposit of a cargo bike",
        rejected="180 crowns",
        replacement="D-002",
        date="2026-05-05",
        reason="the price list was an old one",
        source="the spring price list",
    ),
    "bare tombstone": Tombstone(
        key="TOMBSTONES.md#T-002", subject="kiosk hours", rejected="nine to five"
    ),
}
"""Which one -> the record, before its format has said it; ``full`` states every field, ``other``
states them in other ways: a link that its text does not repeat, a name that its file does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimens:
    """One store, and where each specimen stands in it."""

    store: Opened
    keys: Mapping[str, str]
    """Which one (``full memory``) -> its key; one that the format does not take is not there."""


def specimens(adapter: Adapter) -> Specimens:
    """Let an adapter say every specimen in an empty place."""
    context = Context(now=NOW)
    asked = {which: _asked(adapter, which, context) for which in _SPECIMENS}
    records = tuple(asked.values())
    written = adapter.write(Store(format=adapter.name, records=records), {}, context)
    written, asked = _renamed(adapter, written, asked, context)
    tree = Tree(files=dict(written.files), complement=None, problems=())
    root = empty(adapter, "specimens").root
    keys = {
        which: written.records[record.key].key
        for which, record in asked.items()
        if record.key in written.records
    }
    return Specimens(store=assemble(adapter, root, tree, None, "specimens"), keys=keys)


def _renamed(
    adapter: Adapter, written: Written, asked: Mapping[str, Record], context: Context
) -> tuple[Written, dict[str, Record]]:
    """Give one memory another name than the one that it was written with.

    A person renames a memory and leaves its file, so a stem and a name are two statements.
    """
    stands = {
        which: written.records[record.key]
        for which, record in asked.items()
        if record.key in written.records
    }
    other = stands["other memory"]
    if fields.get(other, "name") is None:
        return written, dict(asked)
    stands["other memory"] = fields.replace(other, {"name": _RENAMED})
    store = Store(format=adapter.name, records=tuple(stands.values()))
    return adapter.write(store, written.files, context), stands


def _asked(adapter: Adapter, which: str, context: Context) -> Record:
    """Give a specimen with the kind, the status, the links and the keys of a format."""
    record = _SPECIMENS[which]
    full = not which.startswith("bare")
    if full and "status" in fields.FIELDS[record.role]:
        record = fields.replace(record, {"status": _status(adapter, record.role)})
    rendered = record.role not in adapter.roles
    record = lower(record, adapter)
    if isinstance(record, Memory):
        kinds = kinds_of(adapter)
        if kinds is not None and (full or kinds.required):
            record = _first(adapter, record, "kinds", context, [
                {kinds.vocabulary: term} for term in kinds.terms
            ])  # fmt: skip
        if full and not rendered:
            record = _first(adapter, fields.replace(record, {"links": ()}), "links", context, [
                (link,) for link in _LINKS
            ])  # fmt: skip
    if full and not rendered:  # a rendering may keep what it is in such a key
        for field, hold in adapter.holds.items():
            name, _, key = field.partition(".")
            if name == "extra" and hold is Hold.EXACT:
                record = _with_key(adapter, record, key, context)
    return record


def _status(adapter: Adapter, role: str) -> str | None:
    """Give a status of the format's own, or of the first format that has any for the role."""
    known = (a.statuses.get(role, ()) for a in (adapter, *registry.adapters()))
    return next((terms[0] for terms in known if terms), None)


def _first(
    adapter: Adapter,
    record: Record,
    field: str,
    context: Context,
    values: list[fields.Value],
) -> Record:
    """Give the record with the first value that the format takes as it is, or without one."""
    for value in values:
        asked = fields.replace(record, {field: value})
        fitted = adapter.fit(asked, None, context)
        if isinstance(fitted, Fitted) and fields.get(fitted.record, field) == value:
            return asked
    return record


def _with_key(adapter: Adapter, record: Record, key: str, context: Context) -> Record:
    """Give the record with a key that only its format knows, where some value of it fits."""

    def ways() -> Iterator[fields.Value]:
        own = record.extra.get(adapter.name)
        mine = own if isinstance(own, dict) else {}
        for value in EXTRA:
            yield {adapter.name: {**mine, key: value}}

    return _first(adapter, record, "extra", context, list(ways()))
