"""The guard on real stores: whose tombstones count, and who is known by which id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from interop import guard, roles
from interop.guard import Stone
from interop.model import Memory, Tombstone
from interop.rendering import MARKDOWN, translated
from interop.stores import Opened


def stones(stores: Iterable[Opened]) -> guard.Values:
    """Compile the tombstones of stores; one that two of them hold counts once."""
    found: list[Stone] = []
    for store in stores:
        known = ids(store)
        found += (
            Stone(record=r, store=store.label, id=known.get(r.key))
            for r in store.restored.store.records
            if isinstance(r, Tombstone)
        )
    return guard.rejected_values(found)


def ids(store: Opened) -> dict[str, str]:
    """Give the ids by which records are cited where their key has none: key -> id.

    A rendering says its id in its marker; a record that was converted had one in its source.
    """
    out: dict[str, str] = {}
    for key, lines in store.restored.lines.items():
        cited = next((x.key.partition("#")[2] for x in lines if "#" in x.key), "")
        if cited and "#" not in key:
            out[key] = cited
    for record in store.raw.records:
        if isinstance(record, Memory) and "<!-- interop:" in record.body.text:
            text = translated(record.body, MARKDOWN).text
            parsed = roles.parse(text[text.find("<!-- interop:") :])
            if parsed is not None and parsed.id is not None:
                out[record.key] = parsed.id
    return out


def history(stores: Iterable[Opened]) -> guard.History:
    """Say which decisions of these stores are superseded, by whatever record."""
    opened = list(stores)
    records = [r for store in opened for r in store.restored.store.records]
    known: Mapping[str, str] = {k: v for store in opened for k, v in ids(store).items()}
    return guard.history(records, known)
