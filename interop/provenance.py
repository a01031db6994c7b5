"""The stores that a complement knows: their files, each once, and what they had once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from interop.complement import OLDER, Complement, Line, Source, given, order_of
from interop.model import Memory, Store
from interop.plan import digest
from interop.stores import Opened


def sources(
    source: Opened, old: Complement | None, me: str, generation: int
) -> tuple[dict[str, Source], dict[str, bytes]]:
    """Give the stores on the way with their files, each file once."""
    sources: dict[str, Source] = dict(old.sources) if old is not None else {}
    contents: dict[str, bytes] = dict(old.files) if old is not None else {}
    if source.complement is not None:
        for s in source.complement.sources.values():
            known = sources.get(s.id)
            if s.id != me and (known is None or known.generation < s.generation):
                sources[s.id] = replace(s, heard=True)
        contents |= source.complement.files
    tree: dict[str, str] = {}
    for path, data in source.tree.files.items():
        tree[path] = digest(data)
        contents[tree[path]] = data
    known = sources.get(source.raw.id)
    if known is None or known.heard or dict(known.tree) != tree:
        sources[source.raw.id] = Source(
            id=source.raw.id,
            format=source.adapter.name,
            generation=generation,
            tree=tree,
            order=order_of(source.raw.records),
        )
    return sources, contents


def stood(
    sources: Iterable[Source], old: Complement | None, lines: Iterable[Line]
) -> dict[str, dict[str, str]]:
    """Give the files that each store on the way has no more, of records that are still known.

    Such a record may return to it: what only archives or carries it now sends it back one day.
    """
    known: dict[str, set[str]] = {}
    for line in lines:
        if not line.gone:
            for store, key in line.places():
                known.setdefault(store, set()).add(key)
    out: dict[str, dict[str, str]] = {}
    for s in sources:
        before = old.sources.get(s.id) if old is not None else None
        files = {**before.stood, **before.tree, **s.stood} if before is not None else s.stood
        # the key of a record in a file of its own is that file's path
        paths = known.get(s.id, set()) - s.tree.keys()
        out[s.id] = {path: files[path] for path in sorted(paths & files.keys())}
    return out


def retired(old: Complement | None, destination: Opened, result: Store) -> tuple[str, ...]:
    """Remember identities in shared files that were given once and that no record has now.

    Their lines may be forgotten, when the other side lets the record go as well; the id may not.
    """
    handle = destination.adapter.handle
    there = {record.key for record in result.records}
    return tuple(
        key for key in sorted(given(old)) if key not in there and handle(Memory(key=key)) == key
    )


def older(old: Complement | None, tree: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Remember what the files were before, to recognise a stale half of a sync."""
    if old is None:
        return {}
    out = dict(old.older)
    for path, before in old.tree.items():
        if path in tree and tree[path] != before:
            out[path] = (before, *(d for d in out.get(path, ()) if d != before))[:OLDER]
    return {
        path: left
        for path, digests in out.items()
        if (left := tuple(d for d in digests if d != tree.get(path)))
    }
