"""The guard on real stores: whose tombstones count, and who is known by which id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from interop import fields, guard, roles
from interop.complement import Line
from interop.guard import Stone
from interop.model import Record, Tombstone
from interop.rendering import marked
from interop.stores import Opened


def stones(stores: Iterable[Opened]) -> guard.Values:
    """Compile the tombstones of stores; one that two of them hold counts once.

    One that only travels in a complement counts too: what it rejects is no better there.
    """
    found: list[Stone] = []
    for store in stores:
        known = ids(store)
        found += (
            Stone(record=r, store=store.label, id=known.get(r.key))
            for r in _records(store)
            if isinstance(r, Tombstone)
        )
    return guard.rejected_values(found)


def ids(store: Opened) -> dict[str, str]:
    """Give the ids by which records are cited where their key has none: key -> id.

    A rendering says its id in its marker; a record that was converted had one in a store on its
    way.
    """
    out: dict[str, str] = {}
    for key, lines in store.restored.lines.items():
        cited = _cited(lines)
        if cited is not None and "#" not in key:
            out[key] = cited
    for line in store.restored.carried:
        cited = _cited((line,))
        if cited is not None and "#" not in line.base.key:
            out[line.base.key] = cited
    for record in store.raw.records:
        memory = marked(record, store.adapter)
        parsed = roles.parse(memory.body.text) if memory is not None else None
        if parsed is not None and parsed.id is not None:
            out[record.key] = parsed.id
    return out


def history(stores: Iterable[Opened]) -> guard.History:
    """Say which decisions of these stores are superseded, by whatever record."""
    opened = list(stores)
    records = [r for store in opened for r in _records(store)]
    known: Mapping[str, str] = {k: v for store in opened for k, v in ids(store).items()}
    return guard.history(records, known)


def _records(store: Opened) -> Iterator[Record]:
    here = {r.key: r for r in store.seen.records}
    for record in store.restored.store.records:
        yield _citing_here(record, here.get(record.key))
    yield from (line.base for line in store.restored.carried)


def _citing_here(record: Record, here: Record | None) -> Record:
    """Give a record with the ids that it cites in this store, where those of its source differ.

    A row that was converted got a new id, and so did what it points to: its key is of this store,
    and what it cites has to be.
    """
    if here is None or here.role != record.role or here == record:
        return record
    cites = [name for name in _CITES if hasattr(here, name)]
    return fields.replace(record, {name: getattr(here, name) for name in cites})


_CITES = ("supersedes", "replacement", "source")


def _cited(lines: Iterable[Line]) -> str | None:
    """Give the id that a record had in the nearest store where it had one."""
    keys = (key for line in lines for key in (line.key, *line.keys.values()))
    return next((cited for key in keys if (cited := guard.id_in(key)) is not None), None)
