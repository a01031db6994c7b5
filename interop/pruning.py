"""Taking the text of removed records out of what interop keeps of a store.

A complement repeats what its store's format cannot say, and goes on doing so after a record was
removed; undo data keeps the bytes that a write displaced. Pruning takes both away: the line of a
removed record stays without its text, so that the next conversion asks about it instead of bringing
it back, and the files of the stores it came from are kept without it.

What cannot be taken out for certain is refused, and nothing is pruned then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from interop import complement_file, fields, registry, stores
from interop.adapter import Context, path_of
from interop.applying import apply_changes, locked
from interop.complement import Complement, Line
from interop.disk import discard, layout, state
from interop.disk.kept import Kept, kept
from interop.errors import RefusedError
from interop.host import HostOptions
from interop.model import ROLES, Body, Memory, Record, Store
from interop.plan import COMPLEMENT, FileChange, digest
from interop.stores import Opened

WAIT = 10.0
"""Seconds to wait for another writer."""
_SHORTEST = 4
"""Characters from which on a text is looked for in other files: shorter ones are everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was taken out, or would be."""

    lines: tuple[str, ...]
    """One line each, for a person."""


def prune(spec: str, *, dry_run: bool = False, wait: float = WAIT) -> Pruned:
    """Take out the text of every removed record, and all undo data.

    Whatever undo data keeps was displaced, and may be of a record that is gone: after this nothing
    that was applied before can be undone.

    Raises:
        RefusedError: a text cannot be taken out for certain; nothing was changed.
        WriteError: another interop held the lock, or the disk refused.
        FormatError, UsageError: there is no such store.
    """
    store = stores.open_store(spec)
    if store.adapter.file is not None:
        raise RefusedError(
            store.label, "is one file, and what it keeps is part of it", "convert it anew"
        )
    if dry_run:
        _, told = _pruned(store, None)
        number = len({one.place.rpartition("/")[0] for one in kept(store.root)})
        return Pruned(lines=(*told, *_dropped(number, would=True)))
    if not (store.root / layout.OWN).is_dir():
        return Pruned(lines=())  # interop keeps nothing here, and leaves nothing
    with locked(store.root, "prune", wait):
        store = stores.open_store(spec)
        changed, told = _pruned(store, None)
        return Pruned(lines=(*told, *_apply(store, changed, lambda _: True)))


def purge_held(before: Opened, key: str) -> Pruned:
    """Take out the text of one record that was just removed; the caller holds the lock.

    Args:
        before: the store as it was with the record.
        key: the record's key in it.

    Raises:
        RefusedError: its text cannot be taken out for certain, as ``check`` would have said.
    """
    store = stores.load(before.adapter, before.root)
    said = [r for s in (before.raw, before.restored.store) for r in s.records if r.key == key]
    lines = before.restored.lines.get(key, ())
    changed, told = _pruned(store, {(x.source, x.key) for x in lines})
    texts = _texts([*said, *(line.base for line in lines)])
    path = path_of(key)

    def tells(one: Kept) -> bool:
        if one.path == COMPLEMENT:
            return changed is not None
        data = (one.data or b"").decode("utf-8", "replace")
        if one.path is None:
            return key in data  # what is noted of the write that made it, or took it out
        return (one.path == path and "#" not in key) or any(text in data for text in texts)

    return Pruned(lines=(*told, *_apply(store, changed, tells)))


def _apply(
    store: Opened, changed: Complement | None, tells: Callable[[Kept], bool]
) -> tuple[str, ...]:
    """Write the complement as any change is written, then drop what that and others displaced."""
    if changed is not None:
        data = complement_file.dumps(changed)
        change = FileChange(
            path=COMPLEMENT, before=digest(store.tree.complement or b""), after=data
        )
        options = HostOptions()
        apply_changes(
            store, [change], label="prune", message="prune the complement", options=options,
            held=True,
        )  # fmt: skip
        state.remember(store.root, store.raw.id, changed.generation, complement=True)
    return _dropped(discard.undo_data(store.root, tells))


def _dropped(number: int, *, would: bool = False) -> tuple[str, ...]:
    if not number:
        return ()
    what = "write" if number == 1 else "writes"
    return (
        f"undo data of {number} {what}, which {'could' if would else 'can'} no longer be undone",
    )


def check(before: Opened, key: str) -> None:
    """See that the text of a record could be taken out of the complement once it is removed.

    Raises:
        RefusedError: it could not, for certain.
    """
    left = (r for r in before.restored.store.records if r.key != key)
    _pruned_of(before, before.restored.lines.get(key, ()), [*left])


def _pruned(
    store: Opened, only: Collection[tuple[str, str]] | None
) -> tuple[Complement | None, tuple[str, ...]]:
    """Give the complement without the text of removed records, and what that is.

    ``only`` are the source and key of the lines that count; None means all of removed records.
    """
    gone = [x for x in store.restored.gone if only is None or (x.source, x.key) in only]
    return _pruned_of(store, gone, store.restored.store.records)


def _pruned_of(
    store: Opened, lines: Sequence[Line], standing: Sequence[Record]
) -> tuple[Complement | None, tuple[str, ...]]:
    old = store.complement
    gone = [line for line in lines if _speaks(line)]
    if old is None or not gone:
        return None, ()
    told: list[str] = []
    places: dict[str, set[str]] = {}
    for line in gone:
        for source, key in line.places():
            places.setdefault(source, set()).add(key)
        told.append(f"{line.key}: its text, as a {old.format} store cannot say it")
    files = dict(old.files)
    sources = dict(old.sources)
    for source_id, keys in sorted(places.items()):
        if source_id in sources:
            tree = _without(old, source_id, keys, _texts([line.base for line in gone]))
            files |= {digest(data): data for data in tree.values()}
            sources[source_id] = replace(
                sources[source_id],
                tree={path: digest(data) for path, data in tree.items()},
                stood={p: d for p, d in sources[source_id].stood.items() if p not in keys},
            )
            told.append(f"the files of the {sources[source_id].format} store it came from")
    marks = {(line.source, line.key) for line in gone}
    new = replace(
        old,
        generation=old.generation + 1,
        sources=sources,
        files={d: files[d] for s in sources.values() for d in s.digests},
        lines=tuple(_bare(x) if (x.source, x.key) in marks else x for x in old.lines),
    )
    _check_silent(store, new, gone, standing)
    return new, tuple(told)


def _without(
    old: Complement, source: str, keys: Collection[str], texts: Sequence[str]
) -> Mapping[str, bytes]:
    """Give the files of a source without some of its records, as its own format takes them out.

    A page that its runtime makes of the records anew is left out where it repeats them.
    """
    tree = old.tree_of(source)
    name = old.sources[source].format
    if name not in registry.names():
        raise RefusedError(
            COMPLEMENT, f"keeps files of the format {name}, which is not known here", "install it"
        )
    adapter = registry.get(name)
    there = adapter.read(tree)
    left = tuple(record for record in there.records if record.key not in keys)
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    written = adapter.write(Store(format=name, records=left), tree, Context(now=now))
    return {
        path: data
        for path, data in written.files.items()
        if not adapter.derived(path)
        or not any(text in data.decode("utf-8", "replace") for text in texts)
    }


def _check_silent(
    store: Opened, new: Complement, gone: Sequence[Line], standing: Sequence[Record]
) -> None:
    """Refuse where something would still say what was to be taken out.

    A text that a record which stands says too is no secret of the removed one.
    """
    data = complement_file.dumps(replace(new, tree={}, older={})).decode("utf-8", "replace")
    said = "\n".join(_texts(standing))
    left = sorted(
        {
            f"{line.key} is still said in the complement"
            for line in gone
            for text in _texts([line.base])
            if _quoted(text) in data and text not in said
        }
    )
    if left:
        raise RefusedError(
            f"{store.root}/{COMPLEMENT}",
            "cannot be pruned for certain; nothing was taken out of it",
            "another record or file repeats the text: remove that first, or move the complement "
            "away (what it kept is lost then)",
            left,
        )


def _speaks(line: Line) -> bool:
    """Has a line any text left?"""
    return bool(fields.stated(_bare(line).base) != fields.stated(line.base))


def _bare(line: Line) -> Line:
    """Give a line that only says that its record was here and is gone."""
    return replace(
        line,
        base=ROLES[line.base.role](key=line.base.key),
        expected={},
        since={},
        kept=frozenset(),
        declared={},
        gone=True,
    )


def _texts(records: Sequence[Record]) -> list[str]:
    """Give what records say in words, each long enough to be told from other text."""
    found: dict[str, None] = {}
    for record in records:
        said = fields.stated(record)
        for name in ("title", "description", "hook", "decision", "why", "rejected", "reason"):
            value = said.get(name)
            if isinstance(value, str):
                found[value.strip()] = None
        body = said.get("body")
        if isinstance(body, Body):
            found[body.text.strip()] = None
        if isinstance(record, Memory) and record.name:
            found[record.name] = None
    return [text for text in found if len(text) >= _SHORTEST]


def _quoted(text: str) -> str:
    """Give a text as it stands inside a string of JSON."""
    return fields.dumps(text).decode("utf-8")[1:-1]
