"""Which side changed what since the two stores had a common ancestor.

The ancestor is what conversions left in the complement of either store (the newest pair of each
record), or a third store that the user names. Without one nothing is claimed, and nothing is
claimed of order and noise, which nobody means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from interop import fields
from interop.ancestry import Ancestor
from interop.diff.changes import Change, Side, What
from interop.diff.pairing import Paired
from interop.diff.views import Piece, View, value_at
from interop.fields import Value
from interop.merge import merge, same
from interop.model import Json, Record, Store
from interop.stores import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A record of the common ancestor."""

    record: Record
    key_a: str | None = None
    """Where it lay in A then; None where that cannot be said."""
    key_b: str | None = None
    unsure: bool = False
    """Nothing can be claimed: one side has it only in its complement, so that it lacks it says
    nothing; or two records that are one were two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestry:
    """What the two stores were when they last agreed."""

    since: str
    of_a: Mapping[str, Origin] = field(default_factory=dict[str, Origin])
    """Key in A now -> the record as it was."""
    of_b: Mapping[str, Origin] = field(default_factory=dict[str, Origin])
    gone: tuple[Origin, ...] = ()
    """Records that neither side has any more."""
    view_a: View
    """The ancestor beside A."""
    view_b: View
    files_a: Mapping[str, str] | None = None
    """Path -> digest of what was no record in A then; None where that is not known."""
    files_b: Mapping[str, str] | None = None
    shared: bool = False
    """The files are those of a store that was given: text around records is among them."""

    def of(self, key_a: str, key_b: str) -> Origin | None:
        """Give what two records that are one were."""
        one, other = self.of_a.get(key_a), self.of_b.get(key_b)
        if one is not None and other is not None and one is not other:
            return replace(one, unsure=True)
        return one or other

    def piece(self, piece: Piece, record: Record, other: Record) -> tuple[Side | None, Json]:
        """Say who made a record differ at one place, and what the ancestor said there."""
        if piece.tag == "noise":
            return None, None
        origin = self.of(record.key, other.key)
        if origin is None:
            in_a, in_b = (_new(piece.field, v) for v in (piece.here, piece.there))
            then: Value = None
        elif origin.unsure:
            return None, None
        else:
            base = origin.record
            in_a = self.view_a.edited(base, record, piece.field, piece.at)
            in_b = self.view_b.edited(base, other, piece.field, piece.at)
            then = value_at(fields.get(base, piece.field), piece.at)
        clash = in_a and in_b and merge(then, piece.there, piece.here).conflict
        side = _side(in_a, in_b, clash=clash)
        return side, fields.value_to_json(then) if side is not None else None

    def role(self, record: Record, other: Record) -> tuple[Side | None, Json]:
        """Say who made a record one of another role."""
        origin = self.of(record.key, other.key)
        if origin is None:
            return "conflict", None
        if origin.unsure:
            return None, None
        base = origin.record
        side = _side(_edited(self.view_a, base, record), _edited(self.view_b, base, other))
        return side, fields.to_json(origin.record)

    def alone(self, record: Record, *, in_a: bool) -> tuple[Side | None, Json]:
        """Say why a record is on one side only: it was added there, or removed on the other."""
        origin = (self.of_a if in_a else self.of_b).get(record.key)
        if origin is None:
            return ("a" if in_a else "b"), None
        if origin.unsure:
            return None, None
        view = self.view_a if in_a else self.view_b
        if _edited(view, origin.record, record):
            return "conflict", fields.to_json(origin.record)
        return ("b" if in_a else "a"), fields.to_json(origin.record)

    def moved(self, key_a: str, key_b: str) -> tuple[Side | None, Json]:
        """Say who gave a record another address, and which it had."""
        origin = self.of(key_a, key_b)
        if origin is None or origin.unsure or origin.key_a is None or origin.key_b is None:
            return None, None
        side = _side(key_a != origin.key_a, key_b != origin.key_b, clash=key_a != key_b)
        return side, origin.key_a if side is not None and origin.key_a == origin.key_b else None

    def file(self, path: str, here: str | None, there: str | None) -> Side | None:
        """Say who changed a file that is no record, or the text around records."""
        if self.files_a is None or self.files_b is None or (path.endswith("#") and not self.shared):
            return None
        then, too = self.files_a.get(path), self.files_b.get(path)
        return _side(here != then, there != too) if then == too else None

    def same_file(self, path: str, now: str | None) -> Change | None:
        """Give the change of a file that both sides made alike."""
        then = (self.files_a or {}).get(path)
        if not self.shared or self.file(path, now, now) is None:
            return None
        return Change(
            what="carried",
            tag="agreed",
            key_a=path if then is not None else None,
            key_b=path if now is not None else None,
            b=now,
            side="both",
            base=then,
        )

    def agreed(self, record: Record, other: Record, *, differ: bool) -> Iterator[Change]:
        """Give what both sides changed alike; ``differ``: they differ in something else."""
        at: Change = Change(
            what="changed", tag="agreed", key_a=record.key, key_b=other.key, side="both"
        )
        origin = self.of(record.key, other.key)
        if origin is None:
            if not differ:
                yield replace(at, what="added", b=fields.to_json(other))
            return
        if origin.unsure:
            return
        moved, then = self.moved(record.key, other.key)
        if moved == "both":
            yield replace(at, what="moved", base=then)
        base = origin.record
        if record.role != other.role:
            return
        if base.role != record.role:
            a, b, then = fields.to_json(record), fields.to_json(other), fields.to_json(base)
            yield replace(at, field="role", a=a, b=b, base=then)
            return
        for piece in self.view_a.pieces(base, record):
            theirs = value_at(fields.get(other, piece.field), piece.at)
            if (
                piece.tag != "noise"
                and same(piece.there, theirs)
                and self.view_b.edited(base, other, piece.field, piece.at)
            ):
                yield replace(
                    at,
                    what=changed(piece.field, theirs),
                    field=piece.field,
                    at=piece.at,
                    a=fields.value_to_json(piece.there),
                    b=fields.value_to_json(theirs),
                    base=fields.value_to_json(piece.here),
                )

    def removed(self) -> Iterator[Change]:
        """Give the records that both sides removed."""
        for origin in self.gone:
            record = origin.record
            yield Change(
                what="removed",
                tag="agreed",
                key_a=origin.key_a or record.key,
                side="both",
                base=fields.to_json(record),
            )


def changed(name: str, now: Value) -> What:
    """Name a change of a field."""
    if name != "state":
        return "changed"
    return "archived" if now == "archived" else "restored"


def of_conversions(a: Opened, b: Opened, paired: Paired) -> Ancestry | None:
    """Take what conversions left as the ancestor, where there was one between the two stores."""
    of_a: dict[str, Origin] = {}
    of_b: dict[str, Origin] = {}
    gone: list[Origin] = []
    for x, key_a, key_b in _then(paired, b):
        origin = Origin(record=x.base, key_a=key_a, key_b=key_b, unsure=x.carried or x.silent)
        if x.source is not None:
            of_a[x.source] = origin
        if x.destination is not None:
            of_b[x.destination] = origin
        if x.source is x.destination is None and not origin.unsure:
            gone.append(origin)
    if not of_a and not of_b and not gone:
        return None
    files_a, files_b = _files(a, b) if paired.keys else (None, None)
    return Ancestry(
        since="their last conversion",
        of_a=of_a,
        of_b=of_b,
        gone=tuple(gone),
        view_a=replace(paired.view, words=None),
        view_b=replace(paired.view, words=None),
        files_a=files_a,
        files_b=files_b,
    )


def of_opened(base: Opened, a: Opened, b: Opened, base_a: Paired, base_b: Paired) -> Ancestry:
    """Take a store that the user names as the ancestor.

    One of another format, a snapshot say, knows the addresses and files of the store that it was
    made of.
    """
    found = of_store(base.restored.store, a.restored.store, b.restored.store, base_a, base_b)
    found = replace(found, since=base.label)
    if a.adapter is not b.adapter or found.shared:
        return found
    was_at = {
        x.source: key
        for paired, store in ((base_b, b), (base_a, a))
        for x, _, key in _then(paired, store)
        if x.source is not None and key is not None
    }

    def at(origins: Mapping[str, Origin]) -> dict[str, Origin]:
        return {key: known[id(origin)] for key, origin in origins.items()}

    known = {
        id(o): replace(o, key_a=was_at.get(o.record.key), key_b=was_at.get(o.record.key))
        for o in (*found.of_a.values(), *found.of_b.values(), *found.gone)
    }
    files = _files(base, a)[1] or _files(base, b)[1]
    return replace(
        found,
        of_a=at(found.of_a),
        of_b=at(found.of_b),
        gone=tuple(known[id(o)] for o in found.gone),
        files_a=files,
        files_b=files,
    )


def of_store(base: Store, a: Store, b: Store, base_a: Paired, base_b: Paired) -> Ancestry:
    """Take a third store as the ancestor, as it is."""
    origins = [
        Origin(
            record=record,
            key_a=record.key if base_a.keys else None,
            key_b=record.key if base_b.keys else None,
            unsure=record.key in base_a.beside_b or record.key in base_b.beside_b,
        )
        for record in base.records
    ]
    return Ancestry(
        since="the base",
        of_a={a.records[m.right].key: origins[i] for i, m in base_a.matches.items()},
        of_b={b.records[m.right].key: origins[i] for i, m in base_b.matches.items()},
        gone=tuple(
            origin
            for i, origin in enumerate(origins)
            if i not in base_a.matches and i not in base_b.matches and not origin.unsure
        ),
        view_a=base_a.view,
        view_b=base_b.view,
        files_a=base.carried if base_a.keys else None,
        files_b=base.carried if base_b.keys else None,
        shared=base_a.keys and base_b.keys,
    )


def _then(paired: Paired, b: Opened) -> Iterator[tuple[Ancestor, str | None, str | None]]:
    """Give what conversions left, with the address of each record then in A and in B."""
    in_b = {id(line) for line in b.restored.known}
    for x in paired.linked:
        to = x.line.to if x.line is not None else None
        # whose complement speaks: the base has the key in the other store
        yield (x, x.base.key, to) if id(x.line) in in_b else (x, to, x.base.key)


def _files(a: Opened, b: Opened) -> tuple[Mapping[str, str] | None, Mapping[str, str] | None]:
    """Give the files of both stores as the newest conversion between them left them."""
    found: list[tuple[int, Mapping[str, str], Mapping[str, str]]] = []
    for own, other in ((a, b), (b, a)):
        kept = own.complement
        source = kept.sources.get(other.raw.id) if kept is not None else None
        if kept is not None and source is not None:
            trees = (kept.tree, source.tree) if own is a else (source.tree, kept.tree)
            found.append((source.generation, *trees))
    if not found:
        return None, None
    _, in_a, in_b = max(found, key=lambda item: item[0])
    return in_a, in_b


def _side(in_a: bool, in_b: bool, *, clash: bool = True) -> Side | None:
    if in_a and in_b:
        return "conflict" if clash else "both"
    return "a" if in_a else "b" if in_b else None


def _new(name: str, value: Value) -> bool:
    """Does a record that the ancestor did not have say something here?"""
    return value is not None and not (name == "state" and value == "live")


def _edited(view: View, base: Record, now: Record) -> bool:
    return base.role != now.role or any(p.tag != "noise" for p in view.pieces(base, now))
