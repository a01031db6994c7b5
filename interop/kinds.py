"""Kinds that the user declares: the only way in which a record gets a kind that nobody wrote.

A kind map says ``LEFT=TERM``; LEFT is a declared term, ``VOCABULARY:term``, ``role:decision`` or
``untyped``. The more specific one wins. Nothing here looks at a name, a heading or a text.
"""

from __future__ import annotations

from collections.abc import Mapping

from interop import fields
from interop.adapter import Adapter, Kinds
from interop.errors import UsageError
from interop.model import ROLES, Json, Record

UNTYPED = "untyped"


def parse_kind_map(text: str) -> dict[str, str]:
    """Read ``untyped=project,claude:technique=reference``.

    Raises:
        UsageError: an entry is not ``LEFT=TERM``, or one LEFT has two terms.
    """
    out = _pairs(text, "--kind-map", "LEFT=TERM", "untyped=project")
    for left in out:
        if left.startswith("role:") and left[5:] not in ROLES:
            raise UsageError(f"--kind-map: {left!r} is no role", f"one of {', '.join(ROLES)}")
    return out


def _pairs(text: str, option: str, form: str, example: str) -> dict[str, str]:
    out: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        left, equals, term = (part.strip() for part in entry.partition("="))
        if not (left and equals and term):
            raise UsageError(f"{option}: {entry!r} is not {form}", f"e.g. {example}")
        if out.setdefault(left, term) != term:
            raise UsageError(f"{option}: {left!r} is both {out[left]!r} and {term!r}", "give one")
    return out


def parse_status_map(text: str) -> dict[str, str]:
    """Read ``OPEN=todo,DROPPED=done``: statuses of different vocabularies that mean the same.

    Raises:
        UsageError: an entry is not ``LEFT=STATUS``, or one LEFT has two statuses.
    """
    return _pairs(text, "--status-map", "LEFT=STATUS", "OPEN=todo")


def declare_status(
    record: Record, adapter: Adapter, status_map: Mapping[str, str], decision: Mapping[str, Json]
) -> str | None:
    """Give the status that the user declared for a record, or None to leave it alone.

    Raises:
        UsageError: the destination does not know the declared status.
    """
    known = adapter.statuses.get(record.role, ())
    status: str | None = fields.get(record, "status")
    chosen = decision.get("status")
    if not known:
        return None
    if not isinstance(chosen, str):
        if status is None or status in known or status.casefold() in map(str.casefold, known):
            return None
        chosen = status_map.get(status)
    if chosen is not None and chosen not in known:
        raise UsageError(
            f"{record.key}: {adapter.name} does not know the status {chosen!r}",
            f"one of {', '.join(known)}",
        )
    return chosen


def check_terms(kind_map: Mapping[str, str], kinds: Kinds | None, destination: str) -> None:
    """Refuse a kind map whose terms the destination cannot hold.

    Raises:
        UsageError: a term is outside a closed vocabulary, or the destination knows no kinds.
    """
    for left, term in kind_map.items():
        if kinds is None:
            raise UsageError(f"--kind-map: {destination} has no kinds", "leave it out")
        if kinds.closed and term not in kinds.terms:
            raise UsageError(
                f"--kind-map: {left}={term}: {destination} does not know {term!r}",
                f"one of {', '.join(kinds.declared)}",
            )


def declare(
    record: Record,
    role: str,
    kinds: Kinds | None,
    kind_map: Mapping[str, str],
    decision: Mapping[str, Json],
    *,
    override: bool = False,
) -> str | None:
    """Give the term that the user declared for a record, or None to leave its kind alone.

    A decision on this very record wins; a kind map touches a term that the destination accepts
    only with ``override``. ``role`` is the record's own, which a rendering as a memory hides.

    Raises:
        UsageError: two entries of equal rank say different things.
    """
    if kinds is None:
        return None
    chosen = decision.get("kind")
    if isinstance(chosen, str):
        if kinds.closed and chosen not in kinds.terms:
            raise UsageError(
                f"decision on {record.key!r}: kind {chosen!r} is unknown there",
                f"one of {', '.join(kinds.declared)}",
            )
        return chosen
    stated: Mapping[str, str] = fields.get(record, "kinds") or {}
    present = stated.get(kinds.vocabulary)
    accepted = present is not None and (present in kinds.terms or not kinds.closed)
    if accepted and not override:
        return None
    own = {v: t for v, t in stated.items() if v == kinds.vocabulary} or stated
    exact = {kind_map[f"{v}:{t}"] for v, t in own.items() if f"{v}:{t}" in kind_map}
    terms = {kind_map[t] for t in own.values() if t in kind_map}
    by_role = {kind_map[r] for r in [f"role:{role}"] if r in kind_map}
    none = {kind_map[UNTYPED]} if not stated and UNTYPED in kind_map else set[str]()
    for candidates in (exact, terms, by_role, none):
        if len(candidates) > 1:
            raise UsageError(
                f"--kind-map is ambiguous for {record.key!r}: {', '.join(sorted(candidates))}",
                "name the vocabulary (VOCABULARY:term=TERM) or decide on the record",
            )
        if candidates:
            return candidates.pop()
    return None
