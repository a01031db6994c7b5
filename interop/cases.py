"""One record seen from both stores, and what follows for it.

A change on one side travels, changes of different fields are merged, a change of one field on both
sides is a conflict that a person decides.

Spec: docs/model.md, section "Converting onto a store that exists".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from interop import fields
from interop.adapter import Adapter, Hold
from interop.complement import Line
from interop.fields import FIELDS, Value
from interop.merge import merge, same
from interop.model import Json, Record

LATEST = ("recalled", "modified", "observations")
"""What runtimes count by themselves: where both sides moved on, the later statement is true of
both, and a difference in them alone is no edit."""


def _as_it_is(record: Record) -> Record:
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One record and its counterparts."""

    key: str
    """What it is called in the plan and in a decisions file: its key in the source, else its key in
    the destination."""
    source: Record | None
    """As the source says it, restored; None when it is gone there."""
    there: Record | None
    """As the destination says it, restored."""
    raw: Record | None
    """As the destination's own format says it, seen through its rendering."""
    base: Record | None = None
    """What both last agreed on."""
    line: Line | None = None
    origin: tuple[str, str] = ("", "")
    """(store id, key) that the destination's complement will name as where it came from."""
    lines: tuple[Line, ...] = ()
    """What the source's complement says of it."""
    address: str | None = None
    """The key it had in the destination once."""
    carried: bool = False
    """It has travelled in the destination's complement since the last conversion."""
    calm: Callable[[Record], Record] = _as_it_is
    """The destination's record without what its runtime changes by itself."""
    calm_source: Callable[[Record], Record] = _as_it_is
    """The same for the source's record."""
    doubtful: str = ""
    """Why the counterpart is only probably the same record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is to become of a case."""

    action: Literal["add", "update", "same", "keep", "gone", "remove", "pending", "conflict"]
    merged: Record | None = None
    """The record as both will agree on it."""
    conflicts: tuple[str, ...] = ()
    reason: str = ""
    remedy: str = ""
    twin: Case | None = None
    """The same record as a new one, when both versions are to stay."""


_WAYS = "decide with {key}: {{take: source}}, destination or both in a --decisions file"


def decide(
    case: Case, decision: Mapping[str, Json], *, delete: bool = False, fresh: bool = False
) -> Verdict:
    """Say what follows for one record.

    ``delete``: what the source removed is to be removed. ``fresh``: there is nothing at the
    destination yet, so it is to say what the source says, whatever an older store removed.
    """
    take = decision.get("take") or ("source" if fresh else None)
    if case.source is None:
        return _source_gone(case, take, delete=delete)
    if case.there is None:
        return _destination_gone(case, take)
    other_role = case.source.role != case.there.role
    if take == "both" and (case.doubtful or other_role or _merge(case)[1]):
        twin = replace(case, there=None, raw=None, base=None, line=None, address=None, doubtful="")
        return Verdict(action="add", merged=case.source, twin=twin)
    if case.doubtful and take not in ("source", "destination"):
        return Verdict(
            action="conflict",
            reason=f"{case.doubtful} {case.there.key!r}, and nothing says whether it is the same",
            remedy=_ways(case.key),
        )
    if other_role:
        return _roles_apart(case, case.source, case.there, take)
    values, conflicts = _merge(case)
    if conflicts and take not in ("source", "destination"):
        first = case.doubtful or case.base is None
        said = "both sides say it differently" if first else "both sides changed"
        return Verdict(
            action="conflict",
            conflicts=conflicts,
            reason=f"{said}: {', '.join(conflicts)}",
            remedy=_ways(case.key),
        )
    if take == "source":
        values |= {f: fields.get(case.source, f) for f in conflicts}
    merged = fields.replace(case.there, values)
    if all(same(fields.get(merged, f), fields.get(case.there, f)) for f in values):
        apart = any(not same(v, fields.get(case.source, f)) for f, v in values.items())
        return Verdict(action="keep" if apart else "same", merged=merged)
    return Verdict(action="update", merged=merged)


def _roles_apart(case: Case, source: Record, there: Record, take: Json) -> Verdict:
    """Say what follows where the two are of different roles: one of them is whole, or the other.

    A record that lost its role (its rendering no longer reads as one) was hardly meant to.
    """
    base = case.base
    update = Verdict(action="update", merged=fields.with_key(source, there.key))
    if take == "source":
        return update
    reason = f"is a {source.role} here and a {there.role} there"
    if base is not None and source.role == "memory" and base.role == there.role:
        reason = f"no longer reads as the {there.role} that it is there"
    elif base is not None and there.role == "memory" and base.role == source.role:
        reason = f"no longer reads as a {source.role} there, and stays as it was edited"
    if take == "destination" or (
        base is not None and base.role == source.role and _calm_in_source(case)
    ):
        return Verdict(action="keep", merged=there, reason=reason)
    gained = base is not None and source.role != "memory" and base.role == there.role
    if base is not None and gained and unchanged(case.calm(base), case.calm(there)):
        return update
    return Verdict(
        action="conflict",
        conflicts=("role",),
        reason=reason,
        remedy=f"mend its marked text, or {_ways(case.key)}",
    )


def _merge(case: Case) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Merge field by field; a conflict keeps the destination's value and is named."""
    assert case.source is not None
    assert case.there is not None
    values: dict[str, Value] = {}
    conflicts: list[str] = []
    for name in FIELDS[case.there.role]:
        theirs, ours = fields.get(case.source, name), fields.get(case.there, name)
        base = None if case.base is None else fields.get(case.base, name)
        value, conflict = merge(base, ours, theirs)
        if conflict and name in LATEST:
            value = max(ours, theirs)
        elif conflict:
            conflicts.append(name)
        values[name] = value
    return values, tuple(conflicts)


def _source_gone(case: Case, take: Json, *, delete: bool) -> Verdict:
    if case.there is None:
        return Verdict(action="gone")
    if take == "destination":
        return Verdict(action="keep", merged=case.there)
    edited = case.base is not None and not unchanged(case.calm(case.base), case.calm(case.there))
    if edited and take != "source":
        return Verdict(
            action="conflict",
            reason="removed in the source, changed in the destination",
            remedy=f"decide with {case.key}: {{take: source}} or destination in a --decisions file",
        )
    if delete or take == "source":
        return Verdict(action="remove", reason="removed in the source")
    return Verdict(
        action="pending", reason="removed in the source", remedy="--delete removes it here too"
    )


def _destination_gone(case: Case, take: Json) -> Verdict:
    assert case.source is not None
    removed_there = case.line is not None and not case.carried
    if not removed_there or take in ("source", "both"):
        return Verdict(action="add", merged=case.source)
    if take == "destination" or _calm_in_source(case):
        return Verdict(action="gone", reason="removed in the destination")
    return Verdict(
        action="conflict",
        reason="removed in the destination, changed in the source",
        remedy=f"decide with {case.key}: {{take: source}} or destination in a --decisions file",
    )


def _calm_in_source(case: Case) -> bool:
    """Say whether nobody edited the source's record since both agreed on it."""
    base, now = case.base, case.source
    return (
        base is not None
        and now is not None
        and unchanged(case.calm_source(base), case.calm_source(now))
    )


def unchanged(base: Record, now: Record) -> bool:
    """Say whether nobody edited a record since; what runtimes count by themselves is no edit."""
    return base.role == now.role and all(
        same(fields.get(base, f), fields.get(now, f)) for f in FIELDS[now.role] if f not in LATEST
    )


def without_noise(record: Record, base: Record, of: Adapter, to: Adapter) -> Record:
    """Give a record with the edits that were made in it, without what its runtime did by itself.

    What the destination cannot say goes along in the complement all the same, and between two
    stores of one format everything does. A date of change goes along with an edit that the
    destination can say.
    """
    if of is to or record.role != base.role:
        return record
    then, now = of.calm(base), of.calm(record)
    said = [f for f in FIELDS[record.role] if to.holds.get(f) is Hold.EXACT]
    noise = {f for f in said if same(fields.get(then, f), fields.get(now, f))}
    edited = len(noise) < len(said)
    values = {
        f: fields.get(base, f)
        for f in noise
        if not (edited and f in LATEST) and not same(fields.get(base, f), fields.get(record, f))
    }
    return fields.replace(record, values) if values else record


def _ways(key: str) -> str:
    return _WAYS.format(key=key)
