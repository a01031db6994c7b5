"""A store that is one file, seen as the store that it was taken of.

Such a file holds another store's records with addresses of its own, and that store's files in its
complement. Beside a store of that format it is best seen as one too: with its keys, its order, its
prose and its attachments, so that a snapshot and the store it was taken of show every difference,
and nothing where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from interop import fields, registry
from interop.adapter import Adapter, repeat_key
from interop.complement import Complement, Line, Source
from interop.model import Store
from interop.plan import digest
from interop.stores import Opened


def beside(stores: tuple[Opened, ...]) -> tuple[Opened, ...]:
    """See each store that is one file as one of the others' format, where it was taken of such."""
    ones = [s for s in stores if s.adapter.file is not None]
    adapter = _common(stores)
    if not ones or adapter is None:
        return stores
    seen = list(stores)
    for i, store in enumerate(stores):
        source = _source(store, adapter, stores) if store.adapter.file is not None else None
        if source is None:
            continue
        keys = _keys(store, source, stores)
        own, one = _prefix(store), store.raw.id
        seen[i] = _as_taken(seen[i], adapter, source, keys)
        seen = [s if j == i else _retold(s, one, keys, own) for j, s in enumerate(seen)]
    return tuple(seen)


def _common(stores: tuple[Opened, ...]) -> Adapter | None:
    """Choose the format in which all are seen: that of the folders, else the nearest on the way."""
    folders = {s.adapter.name for s in stores if s.adapter.file is None}
    if folders:
        return registry.get(folders.pop()) if len(folders) == 1 else None
    shared: list[str] | None = None
    for store in stores:
        kept = store.complement.sources.values() if store.complement is not None else ()
        names = [s.format for s in sorted(kept, key=lambda s: (-s.generation, s.id))]
        shared = names if shared is None else [n for n in shared if n in names]
    known = [n for n in shared or () if n in registry.names() and registry.get(n).file is None]
    return registry.get(known[0]) if known else None


def _source(store: Opened, adapter: Adapter, others: tuple[Opened, ...]) -> Source | None:
    """Find the store that it was taken of: one of the others, else the nearest of the format."""
    if store.complement is None:
        return None
    ids = {s.raw.id for s in others}
    found = [s for s in store.complement.sources.values() if s.format == adapter.name]
    return max(found, key=lambda s: (s.id in ids, s.generation, s.id), default=None)


def _keys(store: Opened, source: Source, others: tuple[Opened, ...]) -> dict[str, str]:
    """Give the key of each record in the store that the file was taken of.

    A record that came to that store from this very file is known there, and not yet here.
    """
    own = _prefix(store)
    came = {
        line.key: line.to
        for other in others
        if other.raw.id == source.id
        for line in other.restored.known
        if line.source == store.raw.id and line.to is not None and not line.gone
    }
    keys: dict[str, str] = {}
    taken: set[str] = set()
    for record in store.restored.store.records:
        stated = (_key_at(line, source.id) for line in store.restored.lines.get(record.key, ()))
        key = next((k for k in stated if k is not None), None)
        key = key or came.get(record.key) or record.key.removeprefix(own)
        keys[record.key] = repeat_key(key, taken)
        taken.add(keys[record.key])
    return keys


def _as_taken(store: Opened, adapter: Adapter, source: Source, keys: Mapping[str, str]) -> Opened:
    complement = store.complement
    assert complement is not None
    own = _prefix(store)
    then = adapter.read(complement.tree_of(source.id))
    place = {r.key: i for i, r in enumerate(then.records)}
    records = [fields.with_key(r, keys[r.key]) for r in store.restored.store.records]
    others = {p: d for p, d in store.raw.carried.items() if d != digest(b"")}
    said = Store(
        format=adapter.name,
        # a record that was new at a later conversion has its line at the end
        records=tuple(sorted(records, key=lambda r: place.get(r.key, len(place)))),
        carried={**then.carried, **others},
        problems=store.restored.store.problems,
        id=store.raw.id,
    )
    moved = {id(line): _moved(line, keys, own) for line in store.restored.known}
    restored = replace(
        store.restored,
        store=said,
        lines={
            keys[k]: tuple(moved[id(x)] for x in lines) for k, lines in store.restored.lines.items()
        },
        carried=tuple(moved[id(x)] for x in store.restored.carried),
        gone=tuple(moved[id(x)] for x in store.restored.gone),
        sources={},
        guessed=tuple(
            (keys.get(then, then.removeprefix(own)), keys.get(now, now))
            for then, now in store.restored.guessed
        ),
    )
    return replace(
        store,
        adapter=adapter,
        restored=restored,
        complement=replace(complement, format=adapter.name, tree=source.tree),
    )


def _key_at(line: Line, store: str) -> str | None:
    return line.key if line.source == store else line.keys.get(store)


def _moved(line: Line, keys: Mapping[str, str], own: str) -> Line:
    if line.to is None:
        return line
    return replace(line, to=keys.get(line.to, line.to.removeprefix(own)))


def _retold(store: Opened, one: str, keys: Mapping[str, str], own: str) -> Opened:
    """Let a store's lines that speak of the file name its records by the keys they have now."""
    if store.complement is None:
        return store
    known: dict[int, Line] = {}
    for line in store.restored.known:
        known[id(line)] = line
        if line.source == one:
            known[id(line)] = replace(line, key=_now(line.key, keys, own), base=fields.with_key(
                line.base, _now(line.key, keys, own)
            ))  # fmt: skip
        elif one in line.keys:
            there = {**line.keys, one: _now(line.keys[one], keys, own)}
            known[id(line)] = replace(line, keys=there)
    order = tuple(_now(k, keys, own) for k in store.restored.orders.get(one, ()))
    restored = replace(
        store.restored,
        lines={k: _all(lines, known) for k, lines in store.restored.lines.items()},
        carried=_all(store.restored.carried, known),
        gone=_all(store.restored.gone, known),
        sources={},
        orders={**store.restored.orders, **({one: order} if order else {})},
    )
    return replace(store, restored=restored, complement=_without(store.complement, one))


def _without(complement: Complement, one: str) -> Complement:
    """Leave the file's own tree out: it says nothing of the files of the store it was taken of."""
    sources = {k: s for k, s in complement.sources.items() if k != one}
    return replace(complement, sources=sources)


def _all(lines: Iterable[Line], known: Mapping[int, Line]) -> tuple[Line, ...]:
    return tuple(known[id(line)] for line in lines)


def _now(key: str, keys: Mapping[str, str], own: str) -> str:
    return keys.get(key, key.removeprefix(own))


def _prefix(store: Opened) -> str:
    assert store.adapter.file is not None
    return f"{store.adapter.file.path}#"
