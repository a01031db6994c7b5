"""The comparison itself: records, addresses, order and other files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from interop import fields, taken
from interop.diff import blame
from interop.diff.blame import Ancestry
from interop.diff.changes import Change, Diff, counts
from interop.diff.pairing import Match, Paired, join, pair, pair_stores
from interop.model import Record, Store
from interop.stores import Opened


def diff(a: Opened, b: Opened, base: Opened | None = None) -> Diff:
    """Compare two stores.

    Stores that a conversion has linked are compared restored: what each says in full. Two formats
    that were never linked are compared on the fields that both hold, each in the other's words, so
    that a store and its twin in another format show nothing.

    A snapshot is seen as the store that it was taken of, where the other one is of that format.

    ``base`` is a store that both came from; without it what conversions left is the common
    ancestor, where there is one.
    """
    if base is None:
        a, b = taken.beside((a, b))
    else:
        a, b, base = taken.beside((a, b, base))
    left, right = a.restored.store, b.restored.store
    ancestry: Ancestry | None
    if base is None:
        paired = pair(a, b)
        ancestry = blame.of_conversions(a, b, paired)
    else:
        base_a, base_b = pair(base, a), pair(base, b)
        paired = pair(a, b, join(left, right, base_a, base_b))
        ancestry = blame.of_opened(base, a, b, base_a, base_b)
    changes = tuple(
        change
        for change in _compare(left, right, paired, ancestry)
        # what only travels beside the other store is not missing there
        if not (change.what == "removed" and change.key_a in paired.beside_b)
        and not (
            change.what == "added" and change.key_a is None and change.key_b in paired.beside_a
        )
    )
    return Diff(changes=changes, since=ancestry.since if ancestry is not None else None)


def compare(a: Store, b: Store, base: Store | None = None) -> tuple[Change, ...]:
    """Compare two stores of one format as they are, ``base`` being what both came from."""
    if base is None:
        return tuple(_compare(a, b, pair_stores(a, b), None))
    base_a, base_b = pair_stores(base, a), pair_stores(base, b)
    paired = pair_stores(a, b, join(a, b, base_a, base_b))
    ancestry = blame.of_store(base, a, b, base_a, base_b)
    return tuple(_compare(a, b, paired, ancestry))


def _compare(a: Store, b: Store, paired: Paired, ancestry: Ancestry | None) -> Iterator[Change]:
    for i, record in enumerate(a.records):
        match = paired.matches.get(i)
        if match is None:
            yield _alone(record, ancestry, in_a=True)
            continue
        found = list(_pair(record, b.records[match.right], match, paired, ancestry))
        yield from found
        if ancestry is not None:
            other = b.records[match.right]
            yield from ancestry.agreed(record, other, differ=any(map(counts, found)))
    met = {match.right for match in paired.matches.values()}
    yield from (
        _alone(record, ancestry, in_a=False) for j, record in enumerate(b.records) if j not in met
    )
    if ancestry is not None:
        yield from ancestry.removed()
    if paired.keys:
        yield from _order(a, b, paired)
        yield from _files(a, b, ancestry)


def _alone(record: Record, ancestry: Ancestry | None, *, in_a: bool) -> Change:
    side, base = ancestry.alone(record, in_a=in_a) if ancestry is not None else (None, None)
    said = fields.to_json(record)
    change = Change(what="added", tag="content", side=side, base=base)
    if in_a:
        return replace(change, what="removed", key_a=record.key, a=said)
    return replace(change, key_b=record.key, b=said)


def _pair(
    record: Record, other: Record, match: Match, paired: Paired, ancestry: Ancestry | None
) -> Iterator[Change]:
    if record is other or record == other:
        return  # what nearly every pair is, told at once
    at = Change(
        what="changed",
        tag="content",
        key_a=record.key,
        key_b=other.key,
        probable=match.probable,
        similarity=None if match.similarity is None else round(match.similarity, 1),
    )
    if paired.keys and record.key != other.key:
        side, base = ancestry.moved(record.key, other.key) if ancestry is not None else (None, None)
        yield replace(at, what="moved", side=side, base=base)
    if record.role != other.role:
        side, base = ancestry.role(record, other) if ancestry is not None else (None, None)
        here, there = fields.to_json(record), fields.to_json(other)
        yield replace(at, field="role", a=here, b=there, side=side, base=base)
        return
    for piece in paired.view.pieces(record, other):
        side, base = ancestry.piece(piece, record, other) if ancestry is not None else (None, None)
        yield replace(
            at,
            what=blame.changed(piece.field, piece.there),
            tag=piece.tag,
            field=piece.field,
            at=piece.at,
            a=fields.value_to_json(piece.here),
            b=fields.value_to_json(piece.there),
            side=side,
            base=base,
        )


def _order(a: Store, b: Store, paired: Paired) -> Iterator[Change]:
    back = {match.right for match in paired.matches.values()}
    met = [paired.matches[i].right for i in range(len(a.records)) if i in paired.matches]
    tail = [j for j in range(len(b.records)) if j not in back]
    moved = met != sorted(met)
    if moved or (tail and met and tail[0] < max(met)):
        yield Change(
            what="order",
            tag="order" if moved else "noise",
            a=[r.key for r in a.records],
            b=[r.key for r in b.records],
        )


def _files(a: Store, b: Store, ancestry: Ancestry | None) -> Iterator[Change]:
    before = ancestry.files_a if ancestry is not None and ancestry.shared else None
    paths: set[str] = {*a.carried, *b.carried, *(before or ())}
    for path in sorted(paths):
        here, there = a.carried.get(path), b.carried.get(path)
        if here != there:
            yield Change(
                what="carried",
                tag="content",
                key_a=path if here is not None else None,
                key_b=path if there is not None else None,
                a=here,
                b=there,
                side=ancestry.file(path, here, there) if ancestry is not None else None,
            )
        elif ancestry is not None and (both := ancestry.same_file(path, here)) is not None:
            yield both
