"""Making a destination's complement: what its format could not say, and what both now agree on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from interop import fields, lineage, provenance
from interop.cases import Case
from interop.complement import (
    Allowed,
    Complement,
    Line,
    newest,
    order_of,
)
from interop.complement_file import dumps
from interop.fields import FIELDS, Value
from interop.match import NEAR, similarity
from interop.merge import carry_over, same
from interop.model import Files, Record, Store
from interop.plan import digest
from interop.restore import Restored
from interop.stores import Opened


def _unknown() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A case that was settled, and what stands for it now."""

    case: Case
    merged: Record
    """What both sides now agree on."""
    stands: Record | None
    """What the destination's format says of it; None when it only travels."""
    declared: Mapping[str, str]
    allowed: tuple[Allowed, ...] = ()
    """Tombstones whose values the user let it state."""
    as_source: Callable[[], Record | None] = _unknown
    """What the destination's format would say of it if it stood there as the source says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """What a conversion settled, and what it did not."""

    kept: Sequence[Kept]
    left: Sequence[Case]
    """Cases on which nothing was agreed: what was known of them stays."""
    parted: Sequence[Case]
    """Cases in which one side is to have the record and the other is not."""
    moved: Mapping[str, str]
    """Key of each record that the destination had -> its present key."""
    settled: str = ""
    """The mark for the complement if nothing was left open."""


def keep(
    source: Opened,
    destination: Opened,
    restored: Restored,
    agreed: Agreed,
    files: Files,
    result: Store,
    seal: Callable[[str], str],
) -> Complement:
    """Make the complement of ``files``, which say ``result``; ``seal`` is that of ``seals``."""
    old = destination.complement
    me, them = destination.raw.id, source.raw.id
    higher = 1 + max(
        old.generation if old is not None else 0,
        source.complement.generation if source.complement is not None else 0,
    )
    before = {(x.source, x.key): x for x in old.lines} if old is not None else {}
    lines: dict[tuple[str, str], Line] = {}
    back = _brought_back(agreed, restored)
    returned: defaultdict[str, list[Line]] = defaultdict(list)
    for line in restored.gone:
        if id(line) in back:
            returned[back[id(line)]].append(line)
    for item in agreed.kept:
        here, now = item.case.there, item.stands
        lately: Sequence[Line] = restored.lines.get(here.key, ()) if here is not None else ()
        if here is None and now is not None:
            lately = returned.get(now.key, ())
        elif here is None:  # it only travels, from now on or as before
            last = item.case.line
            lately = restored.lines.get(item.case.address or "", (last,) if last else ())
        line = _line(item, me, them, higher, seal, lately)
        known = before.get((line.source, line.key))
        if known is not None and known == replace(
            line, generation=known.generation, seal=known.seal
        ):
            line = replace(line, generation=known.generation)
        lines[(line.source, line.key)] = line
    for case in agreed.left:
        removed = _removed_here(case, me, them)
        if removed is not None and (removed.source, removed.key) not in before:
            lines[(removed.source, removed.key)] = removed
    for case in agreed.parted:
        parted = _parted(case, me, them, higher)
        lines[(parted.source, parted.key)] = parted
    stay = {id(x.line): x.source.key if x.source is not None else None for x in agreed.left}
    undecided = {case.origin for case in agreed.left}
    beyond: list[Line] = []
    retold = {line.to for line in lines.values() if line.source == them and not line.gone}
    for was, line in _readdressed(restored, agreed.moved, back) if old is not None else ():
        if line.source == them:  # what was left as it is may have another name in the source now
            line = replace(line, key=stay.get(id(was)) or line.key)
        mark = (line.source, line.key)
        stands = line.to is not None and not line.gone
        if stands and line.source == them and line.to in retold:
            continue  # the record has another key in the source now
        if mark not in lines and (
            line.source != them or stands or id(was) in stay or mark in undecided
        ):
            lines[mark] = line
        elif mark not in lines and line.gone and line.to is not None:
            # both have removed it, but a store further back may have it still
            beyond += lineage.of_others(line)
    for line in newest(beyond):  # a line of that store's own knows better
        lines.setdefault((line.source, line.key), line)
    tree = {path: digest(data) for path, data in files.items()}
    sources, contents = provenance.sources(source, old, me, higher)
    whole = not agreed.left and not agreed.parted and all(map(_is_whole, agreed.kept))
    stood = provenance.stood(sources.values(), old, lines.values())
    sources = {
        s.id: replace(
            s, settled=agreed.settled if whole and s.id == them else "", stood=stood[s.id]
        )
        for s in sources.values()
    }
    complement = Complement(
        store=me,
        format=destination.adapter.name,
        generation=higher,
        tree=tree,
        order=order_of(result.records),
        retired=provenance.retired(old, destination, result),
        older=provenance.older(
            old, {p: d for p, d in tree.items() if not destination.adapter.derived(p)}
        ),
        sources=sources,
        lines=tuple(lines.values()),
        files=contents,
    )
    if old is not None and _unmarked(complement, old.generation) == _unmarked(old, old.generation):
        return old
    return complement


def _is_whole(item: Kept) -> bool:
    """Does the destination hold what the source says, and nothing of its own?"""
    source = item.case.source
    return (
        item.stands is not None
        and source is not None
        and (item.merged is source or fields.with_key(item.merged, source.key) == source)
    )


def _unmarked(complement: Complement, generation: int) -> bytes:
    """Give the bytes without the marks, for which alone nothing is written."""
    sources = {s.id: replace(s, settled="") for s in complement.sources.values()}
    return dumps(replace(complement, generation=generation, sources=sources))


def _line(
    item: Kept,
    me: str,
    them: str,
    generation: int,
    seal: Callable[[str], str],
    lately: Sequence[Line],
) -> Line:
    """Make the line of one record; ``lately`` is what the destination knew of it."""
    case = item.case
    assert case.source is not None
    says = fields.with_key(case.source, case.origin[1])
    to = item.stands.key if item.stands is not None else None
    bases, expected, own = _agreed(item, says, [x for x in lately if x.source == case.origin[0]])
    base = fields.replace(says, bases)
    travelled = case.origin[0] != them
    way = lineage.way(case, item.merged, me, lately, travelled=travelled)
    if item.stands is None:  # who knew it as what stood here knows it by that still
        for line in lately:
            further = ((store, line.about(store)) for store, _ in line.places())
            known = {store: lineage.Known(*then) for store, then in further if then is not None}
            way = {s: then for s, then in known.items() if s not in (me, case.origin[0])} | way
    if travelled and (stood := next((x for y in lately if (x := y.about(them))), None)):
        # what stood in the source once and only travels with it now was agreed with it as well
        way[them] = lineage.Known(fields.with_key(base, stood[0].key), generation)
    since = {s: apart for s, x in way.items() if (apart := lineage.apart(x.record, base))}
    if bases:
        since[case.origin[0]] = {name: fields.get(says, name) for name in bases}
    return Line(
        source=case.origin[0],
        key=case.origin[1],
        to=to,
        generation=generation,
        base=base,
        expected=expected,
        seal=seal(to) if to is not None else "",
        kept=frozenset(own - set(bases)),
        declared=item.declared or (case.line.declared if case.line is not None else {}),
        allowed=item.allowed,
        keys={store: x.record.key for store, x in way.items()} or _NONE,
        since=since or _NONE,
        when={store: x.when for store, x in way.items()} or _NONE,
    )


_NONE: Mapping[str, Any] = {}
"""One for all records that came straight from where they were made: there are many of them."""


def _agreed(
    item: Kept, base: Record, lately: Sequence[Line]
) -> tuple[dict[str, Value], dict[str, Value], set[str]]:
    """Say where base keeps what only the destination says, what it shows, and what is its own."""
    bases: dict[str, Value] = {}
    expected: dict[str, Value] = {}
    own: set[str] = set()
    if item.stands is None or item.stands.role != base.role:
        return bases, expected, own
    merged = item.merged
    rows = [fields.row(r) for r in (base, item.stands)]
    if merged is base:  # the destination has nothing of its own, as in nearly every new record
        pairs = zip(FIELDS[base.role], *rows, strict=True)
        return bases, {name: stands for name, says, stands in pairs if stands != says}, own
    rows.append([fields.get(merged, f) for f in FIELDS[base.role]])
    for name, says, stands, meant in zip(FIELDS[base.role], *rows, strict=True):
        if says == meant or same(says, meant):
            seen = stands
        else:  # the destination's own value: the pair stays the last state that both agreed on
            own.add(name)
            last = _last_seen(item, name, stands, meant, lately)
            if last is None:  # and what it said goes into the line beside it
                bases[name], seen = meant, stands
            else:
                (seen,) = last
        if seen != bases.get(name, says):
            expected[name] = seen
    return bases, expected, own


def _last_seen(
    item: Kept, name: str, stands: Value, meant: Value, lately: Sequence[Line]
) -> tuple[Value] | None:
    """Give what the destination said of the source's value when both last agreed on it.

    With it, what ``stands`` is read as ``meant``; None where there is no such value. Where the last
    conversion went the other way, the destination knows it from the one before; where a person
    decided for what stands, it never said that value: it is what its format would say of it.
    """
    case = item.case
    says = fields.get(case.source, name) if case.source is not None else None
    agreed = fields.get(case.base, name) if case.base is not None else None
    known = case.line is not None and case.line.source == case.origin[0]
    was = case.line.says(name) if known and case.line is not None else agreed
    for seen in (carry_over(was, agreed, says), *(line.says(name) for line in lately)):
        if same(carry_over(says, seen, stands), meant):
            return (seen,)
    there = item.as_source()
    alike = there is not None and there.role == item.merged.role
    would = fields.get(there, name) if there is not None and alike else says
    for seen in (would, says):
        if same(carry_over(says, seen, stands), meant):
            return (seen,)
    return None


def _removed_here(case: Case, me: str, them: str) -> Line | None:
    """Remember a record of the source that the destination removed, or it would come back."""
    if case.source is None or case.there is not None or case.line is None or case.base is None:
        return None
    if case.line.source == them or case.address is None:
        return None  # the destination's own line says so already
    line = Line(
        source=them,
        key=case.source.key,
        to=case.address,
        gone=True,
        generation=case.line.generation,
        base=fields.with_key(case.base, case.source.key),
    )
    return lineage.knowing(line, case.line, me)


def _parted(case: Case, me: str, them: str, generation: int) -> Line:
    """Remember that one side has a record and the other has not, as a person decided."""
    record = case.source if case.source is not None else case.there
    assert record is not None
    line = Line(
        source=them,
        key=case.origin[1],
        to=case.address if case.there is None else case.there.key,
        gone=case.there is None,
        parted=case.source is None,
        generation=generation,
        base=fields.with_key(record, case.origin[1]),
    )
    line = lineage.knowing(line, case.line, me) if case.line is not None else line
    if case.raw is None or case.there is None:
        return line
    if case.base is not None and (then := lineage.apart(case.base, line.base)):
        # the source may get it again from another store: what both agreed on is older than this
        line = replace(line, since={**line.since, them: then})
    seen = {
        f: fields.get(case.raw, f)
        for f in FIELDS[record.role]
        if fields.get(case.raw, f) != fields.get(record, f)
    }
    return replace(line, expected=seen)


def _brought_back(agreed: Agreed, restored: Restored) -> dict[int, str]:
    """Say which lines speak of a record that was removed here and stands again: id -> present key.

    They are found by the key that it had, and by whether they were noted as gone before: another
    record may have had the key since. One that returns on another way than it left is found by the
    key that it has in a store on both ways, or by its text there where keys are made of the text;
    else that store would be told that it is gone here.
    """
    if not restored.gone:
        return {}
    settled = [item.case for item in agreed.kept]
    others = {id(case.line) for case in (*settled, *agreed.left, *agreed.parted)}
    noted = {
        (line.source, line.to): line
        for line in restored.gone
        if line.gone and id(line) not in others
    }
    had: dict[tuple[str | None, bool], str] = {}
    known: dict[tuple[str, str], str] = {}
    told: dict[tuple[str | None, str], tuple[Record, str]] = {}
    for item in agreed.kept:
        case, stands = item.case, item.stands
        if case.there is not None or stands is None or case.carried or case.base is None:
            continue  # it stood here, or is a new one
        had[case.address, False] = stands.key
        if case.line is not None and case.line.gone:
            had[case.line.to, True] = stands.key
        known[case.origin] = stands.key
        before = noted.get((case.origin[0], case.address))  # it may have another key there now
        for line in case.lines if before is None else (*case.lines, before):
            known |= dict.fromkeys(line.places(), stands.key)
        for line in case.lines:
            for store, _ in line.places():
                if (about := line.about(store)) is not None:
                    told[case.address, store] = (about[0], stands.key)
    out: dict[int, str] = {}
    for line in restored.gone:
        places = tuple(line.places()) if id(line) not in others else ()
        alike = (_alike(line, store, told.get((line.to, store))) for store, _ in places)
        keys = (had.get((line.to, line.gone)), *map(known.get, places), *alike)
        to = next((key for key in keys if key is not None), None)
        if to is not None:
            out[id(line)] = to
    return out


def _alike(line: Line, store: str, told: tuple[Record, str] | None) -> str | None:
    """Give the present key of what had the same key here, and said nearly the same in a store."""
    then = line.about(store)
    if told is None or then is None or similarity(told[0], then[0]) < NEAR:
        return None
    return told[1]


def _readdressed(
    restored: Restored, moved: Mapping[str, str], back: Mapping[int, str]
) -> Iterable[tuple[Line, Line]]:
    """Give each line that was known, and the same with its record's present key."""
    for key, lines in restored.lines.items():
        for line in lines:
            gone = key not in moved
            # who decided that one side has it said so of what stood there then
            apart = line.parted and gone == line.gone
            yield line, replace(line, to=moved.get(key, line.to), gone=gone, parted=apart)
    for line in restored.carried:
        yield line, line
    for line in restored.gone:
        to = back.get(id(line))
        yield line, replace(line, to=to or line.to, gone=to is None)
