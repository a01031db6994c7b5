"""What a store knows of stores further back, on the way that its records came.

    A -> B -> C      C knows of A what B knew of it: the record's key there, what it said when A and
                     B last agreed, and when that was; so that A and C have an ancestor as well

A store may be known on several ways, and each value's ancestor is that of the way it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from interop import fields
from interop.cases import Case
from interop.complement import Line
from interop.fields import FIELDS, Value
from interop.merge import same
from interop.model import Record


class Known(NamedTuple):
    """A record as it was in a store further back, and when that was agreed."""

    record: Record
    when: int


def way(
    case: Case, merged: Record, me: str, lately: Sequence[Line], *, travelled: bool
) -> dict[str, Known]:
    """Give a record as it was in each store further back.

    ``merged`` is what the source and ``me``, the destination, now agree on, and ``lately`` what the
    destination knew of the record. One that ``travelled`` did not stand in the source itself.
    """
    out: dict[str, Known] = {}
    for line in case.lines:
        stores = [*line.keys] if travelled else [line.source, *line.keys]
        for store in stores:
            about = line.about(store)
            if store == me or store in out or store == case.origin[0] or about is None:
                continue
            told = [x.about(store) for x in lately]
            known = max((Known(*x) for x in told if x is not None), key=_when, default=None)
            out[store] = _then(case, merged, Known(*about), known)
    return out


def _when(known: Known) -> int:
    return known.when


def _then(case: Case, merged: Record, told: Known, known: Known | None) -> Known:
    """Give the ancestor with a store further back, of which the destination may know one as well.

    A value that the destination has of its own goes on having the ancestor that it knows. Of one
    that both have now, what was agreed later counts.
    """
    there, source = case.there, case.source
    if known is None or source is None or known.record.role != told.record.role:
        return told
    taken: dict[str, Value] = {}
    for f in FIELDS[told.record.role]:
        meant, then = fields.get(merged, f), fields.get(told.record, f)
        own = there is not None and same(meant, fields.get(there, f))
        if own and not same(meant, fields.get(source, f)):
            continue
        later = told.when > known.when or (told.when == known.when and same(meant, then))
        if later and not same(then, fields.get(known.record, f)):
            taken[f] = then
    if not taken:
        return known
    return Known(fields.replace(known.record, taken), max(told.when, known.when))


def apart(then: Record, base: Record) -> dict[str, Value]:
    """Give what changed in a record since, as it was then."""
    if then.role != base.role:
        return {}
    return {
        f: fields.get(then, f)
        for f in FIELDS[base.role]
        if not same(fields.get(then, f), fields.get(base, f))
    }


def knowing(line: Line, known: Line, me: str) -> Line:
    """Give a line of ``me`` with what another one knows of its record in stores further back.

    A record that left on one way may return on another, and is the same one there.
    """
    told = {s: x for s, _ in known.places() if s not in (me, line.source) if (x := known.about(s))}
    return replace(
        line,
        keys={store: record.key for store, (record, _) in told.items()},
        when={store: when for store, (_, when) in told.items()},
        since={s: then for s, (x, _) in told.items() if (then := apart(x, line.base))},
    )


def of_others(line: Line) -> Iterable[Line]:
    """Give what a line tells of the stores further back, each as a line of its own."""
    for store in line.keys:
        about = line.about(store)
        if about is not None:
            record, when = about
            yield Line(
                source=store, key=record.key, to=line.to, gone=True, generation=when, base=record
            )
