"""Every record that takes part in a conversion, each with its counterparts: the cases of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from interop import fields
from interop.adapter import Adapter
from interop.ancestry import Ancestor, Identity, ancestors, says_the_same
from interop.cases import Case, without_noise
from interop.complement import Line
from interop.fields import FIELDS
from interop.match import match_unlinked, message, text_of
from interop.merge import same
from interop.model import Files, Record, Store
from interop.rendering import seen
from interop.restore import Restored
from interop.stores import Opened

Normal = Callable[[Sequence[Record]], dict[str, Record]]
"""Say records as a format would: key -> record, without those it refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the destination is written onto, and how its records are to be seen."""

    files: Files
    raw: Store
    """What its format says."""
    seen: Store
    """The same, seen through renderings."""
    restored: Restored
    fresh: bool
    """There is no file at the destination, so what is removed needs no asking."""


def ground(source: Opened, destination: Opened) -> Ground:
    """Choose what the destination is written onto.

    An empty destination is given the files of the nearest store of its format on the way here: the
    source's own, or those that the source's complement keeps.
    """
    adapter = destination.adapter
    if not destination.empty:
        return Ground(
            files=destination.tree.files,
            raw=destination.raw,
            seen=destination.seen,
            restored=destination.restored,
            fresh=False,
        )
    if source.adapter is adapter:
        raw = replace(source.raw, id=destination.raw.id)
        full = replace(source.restored.store, id=destination.raw.id)
        return Ground(
            files=source.tree.files,
            raw=raw,
            seen=replace(source.seen, id=destination.raw.id),
            restored=Restored(store=full),
            fresh=True,
        )
    files: Files = {adapter.file.path: adapter.file.blank} if adapter.file is not None else {}
    identity = destination.raw.id
    if source.complement is not None:
        kept = [s for s in source.complement.sources.values() if s.format == adapter.name]
        if kept:
            nearest = max(kept, key=lambda s: (s.generation, s.id))
            files, identity = source.complement.tree_of(nearest.id), nearest.id
    raw = replace(adapter.read(files), id=identity)
    through = seen(raw, adapter)
    return Ground(files=files, raw=raw, seen=through, restored=Restored(store=through), fresh=True)


def originals(source: Opened, adapter: Adapter) -> Files:
    """Give the files of the destination's format that the source or its complement has."""
    out: dict[str, bytes] = {}
    if source.complement is not None:
        kept = sorted(source.complement.sources.values(), key=lambda s: (s.generation, s.id))
        alike = [s.id for s in kept if s.format == adapter.name]
        for files in (source.complement.stood_in, source.complement.tree_of):
            for store in alike:
                out |= files(store)
    if source.adapter is adapter:
        out |= source.tree.files
    return out


def cases(
    source: Opened, adapter: Adapter, onto: Ground, normal: Normal, told: Normal
) -> list[Case]:
    """Give a case for every record of the source, and for every one that it no longer has.

    ``normal`` says records as the destination's format would, ``told`` as the source's.
    """
    here = {r.key: r for r in source.restored.store.records}
    raw = {r.key: r for r in onto.seen.records}
    there = {r.key: r for r in onto.restored.store.records}
    found = _ancestors(source, adapter, onto)
    out: list[Case] = []
    for a in found:
        if a.parted:
            continue
        other = there.get(a.destination or "")
        if onto.fresh and other is not None:
            # the kept files say what both agreed on, as far as their format can
            other = fields.with_key(a.base, other.key)
        if a.silent:
            if onto.fresh and other is not None and a.line is not None:
                # it only travelled with the source, and stands again in the files that were kept
                out.append(
                    Case(
                        key=a.line.key,
                        source=fields.with_key(other, a.line.key),
                        there=other,
                        raw=raw[other.key],
                        base=other,
                        origin=(a.line.source, a.line.key),
                        lines=(a.line,),
                    )
                )
            continue
        record = here.get(a.source or "")
        if record is not None and other is not None:
            record = without_noise(record, a.base, source.adapter, adapter)
        out.append(
            Case(
                key=a.source or a.destination or a.base.key,
                source=record,
                there=other,
                raw=raw.get(a.destination or ""),
                base=a.base,
                line=a.line,
                origin=(source.raw.id, a.source or a.origin or a.base.key),
                lines=source.restored.lines.get(a.source or "", ()),
                address=a.address,
                carried=a.carried,
                calm=adapter.calm,
                calm_source=source.adapter.calm,
            )
        )
    used = {a.source for a in found}
    new = [r for r in source.restored.store.records if r.key not in used]
    known = {a.destination for a in found}
    free = [r for r in onto.seen.records if r.key not in known]
    counterparts = _first_contact(new, free, there, adapter, normal, told)
    for record in new:
        origin = (source.raw.id, record.key)
        lines = source.restored.lines.get(record.key, ())
        case = counterparts.get(record.key)
        if case is not None:
            out.append(replace(case, origin=origin, lines=lines))
            continue
        out.append(
            Case(key=record.key, source=record, there=None, raw=None, origin=origin, lines=lines)
        )
    out += _travelling(source, onto, found, there, raw)
    order = {r.key: i for i, r in enumerate(source.restored.store.records)}
    return sorted(out, key=lambda c: order.get(c.key, len(order)))


def _ancestors(source: Opened, adapter: Adapter, onto: Ground) -> list[Ancestor]:
    if onto.fresh and source.adapter is adapter:  # a copy: every record is its own counterpart
        return [
            Ancestor(source=r.key, destination=r.key, base=r, generation=0, line=None)
            for r in source.restored.store.records
        ]
    return ancestors(source.restored, source.adapter.handle, onto.restored, adapter.handle)


def _first_contact(
    new: Sequence[Record],
    free: Sequence[Record],
    there: dict[str, Record],
    adapter: Adapter,
    normal: Normal,
    told: Normal,
) -> dict[str, Case]:
    """Look for counterparts of records that no conversion has linked: key -> case.

    Either may have been made from the other, with what its own format supplies: a record is said
    as the destination's format would, and what is left there as the source's would.
    """
    if not new or not free:
        return {}
    said = normal(new)
    left = [said.get(r.key, r) for r in new]
    out: dict[str, Case] = {}
    taken: set[str] = set()
    for pair in match_unlinked(left, free, handle=adapter.handle):
        record, other = new[pair.left], free[pair.right]
        doubt = _DOUBTS.get(pair.how, "")
        if message(left[pair.left]) == message(other):
            doubt = ""
        out[record.key] = Case(
            key=record.key,
            source=record,
            there=_in_words_of(record, left[pair.left], there[other.key]),
            raw=other,
            doubtful=doubt,
        )
        taken |= {other.key} if not doubt else set()
    rest = {r.key: r for r in free if r.key not in taken}
    made = [r for r in new if r.key not in out or out[r.key].doubtful]
    if not rest or not made:
        return out
    as_there = {message(r): r for r in made if text_of(r).strip()}
    guesses = {case.raw.key: key for key, case in out.items() if case.raw is not None}
    for key, record in told(tuple(rest.values())).items():
        source = as_there.pop(message(record), None)
        if source is not None:
            out.pop(guesses.get(key, ""), None)
            out[source.key] = Case(
                key=source.key,
                source=source,
                there=_with_what_was_supplied(source, record, there[key]),
                raw=rest[key],
            )
    return out


def _with_what_was_supplied(source: Record, told: Record, other: Record) -> Record:
    """Give the counterpart with what the source's format supplied when it was made from it.

    A kind is none of that: somebody declared it, here or at that conversion.
    """
    if source.role != other.role:
        return other
    supplied = {
        f: fields.get(source, f)
        for f in FIELDS[source.role]
        if f != "kinds"
        and fields.get(source, f) is not None
        and same(fields.get(told, f), fields.get(source, f))
    }
    return fields.replace(other, supplied)


_DOUBTS = {
    "key": "stands at the same place as",
    "handle": "has the name of",
    "near": "is nearly the same text as",
}


def _in_words_of(record: Record, normal: Record, other: Record) -> Record:
    """Give the counterpart in the record's own words, where it says the same in its format's."""
    if record.role != other.role:
        return other
    return fields.replace(
        other,
        {
            f: fields.get(record, f)
            for f in FIELDS[record.role]
            if fields.get(other, f) is not None
            and same(fields.get(normal, f), fields.get(other, f))
        },
    )


def _travelling(
    source: Opened,
    onto: Ground,
    found: Sequence[Ancestor],
    there: dict[str, Record],
    raw: dict[str, Record],
) -> list[Case]:
    """Give records that are only in the source's complement: the destination may hold them.

    They come from the store that they left, not from the source: their lines say so. What it says
    of them since the destination last agreed on them travels; else the source has no opinion. One
    that cannot stand in the destination either goes on travelling without being asked for again.
    """
    if not source.restored.carried:
        return []
    silent = {id(a.line): a for a in found if a.silent}
    taken = {a.destination for a in found if a.source is not None}
    identity = Identity(source.restored, onto.restored)
    at = {id(x): key for key, xs in onto.restored.lines.items() for x in xs}
    known: dict[tuple[str, str], list[Line]] = {}
    for x in onto.restored.known:
        for name in identity(x):
            known.setdefault(name, []).append(x)
    out: list[Case] = []
    for line in source.restored.carried:
        if line.source == onto.restored.store.id:
            continue
        told = {id(x): x for name in identity(line) for x in known.get(name, ())}
        last = identity.agreed(line, told.values(), silent.get(id(line)))
        if last is None and id(line) in silent:
            continue
        if last is not None and says_the_same(last.base, line.base):
            continue
        old = last.line if last is not None else None
        address = last.key if last is not None else None
        key = at.get(id(old), "") if old is not None else address or ""
        if key in taken:
            continue  # it stands in the source again
        taken |= {key} if key else set()
        out.append(
            Case(
                key=line.key,
                source=line.base,
                there=there.get(key),
                raw=raw.get(key),
                base=last.base if last is not None else None,
                line=old,
                origin=(line.source, line.key),
                lines=(line,),
                address=address,
                carried=True,
            )
        )
    return out
