"""What a page says of a decision or a tombstone beside its text: a view, and edits of it alone.

    <p><mark>Opening day was moved</mark></p>           the claim, a view of the first line
    <ul><li><strong>Fact / Key:</strong> Opening day</li> …

A format whose descriptions repeat their text repeats the first line of a rendering so. The record
is what the text says; where somebody changed the view alone, that has to be said, or it would be
lost in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interop import fields, roles
from interop.adapter import Hold
from interop.model import Record
from interop.stores import Opened


def changed_alone(store: Opened, bases: Mapping[str, Record | None]) -> Iterator[str]:
    """Name the claims of a store that say something else than the texts that they repeat.

    ``bases`` has what was last agreed on, by the store's keys: where the text was changed since,
    its claim is only late.
    """
    if store.adapter.holds.get("description") is not Hold.VIEW:
        return
    said = {record.key: record for record in store.raw.records}
    for record in store.seen.records:
        if record.role not in roles.LABELS or record.role in store.adapter.roles:
            continue
        claim, told = fields.get(said[record.key], "description"), _told(record)
        if not isinstance(claim, str) or not told or _plain(claim) == told:
            continue
        base = bases.get(record.key)
        if base is not None and base.role == record.role and _told(base) != told:
            continue
        label = next(iter(roles.LABELS[record.role].values()))
        yield (
            f"{record.key}: its claim, {claim!r}, only repeats its text and was changed alone, so "
            f"the {record.role} stays as it is; change {label}, {told!r}, in the text"
        )


def _told(record: Record) -> str:
    """Give what a claim repeats of a record."""
    return _plain(roles.to_memory(record).description or "")


def _plain(text: str) -> str:
    """Give a text as any format can show it, on one line."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
