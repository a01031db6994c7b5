"""A plan for people and for programs: what would happen to each record, why, and the way out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from interop.cli.text import amount
from interop.model import Json
from interop.plan import Action, Fate, FieldOutcome, Outcome, Plan
from interop.secrets import mask

WORDS: Mapping[Action, str] = {
    "add": "new",
    "update": "updated",
    "same": "the same already",
    "keep": "kept, changed only in the destination",
    "gone": "stay removed, as the destination removed them",
    "remove": "removed, as the source removed them",
    "stays": "removed in the source, kept by the destination's format",
    "pending": "removed in the source, still here without --delete",
    "carry": "travel whole in the complement",
    "refuse": "refused",
    "conflict": "in conflict: a person has to decide",
    "skip": "left out, as was asked",
    "unread": "unreadable, so its counterpart is left as it is",
}
"""What happens to a record, after its number; in the order in which they are printed."""

FATES: Mapping[Fate, str] = {
    "restored": "said in full again, from the complement",
    "supplied": "supplied, because the format demands it (taken back on the way back)",
    "carried": "what the format has no place for",
}
BRIEFLY: Mapping[Fate, str] = {
    "exact": "as the source says it",
    "restored": "in full again, from the complement",
    "supplied": "supplied",
    "carried": "kept in the complement",
}
"""The same for one field of one record."""


def explain(plan: Plan) -> Iterator[str]:
    """Say what a plan would do, so that somebody new to it can follow."""
    yield f"{plan.source} -> {plan.destination}"
    yield ""
    for action, words in WORDS.items():
        if number := plan.count(action):
            yield f"{number:6,}  {words}"
    if not plan.outcomes:
        yield "     0  records"
    yield from _fields_of_new(plan)
    for outcome in plan.outcomes:
        if outcome.action not in ("add", "same"):
            yield from _record(outcome)
    if plan.lost:
        yield from ("", "lost, because nothing is kept beside the store:")
        yield from (f"  {mask(line)}" for line in plan.lost)
    if plan.secrets:
        yield from ("", "secrets that would leave this machine:")
        yield from (f"  {line}" for line in plan.secrets)
    if plan.notes:
        yield from ("", "note:")
        yield from (f"  {mask(line)}" for line in plan.notes)
    if plan.on_disk:
        counts = Counter(action for action, _ in plan.on_disk)
        yield from ("", "files: " + ", ".join(f"{n} to {what}" for what, n in counts.items()))
        if plan.laid_out:
            yield f"laid out around them: {', '.join(plan.laid_out)}"


def _fields_of_new(plan: Plan) -> Iterator[str]:
    """Sum up, over the new records, the fields that do not come through as they are."""
    new = [o for o in plan.outcomes if o.action == "add"]
    for fate, meaning in FATES.items():
        fields = Counter(f.field for o in new for f in o.fields if f.fate == fate)
        if not fields:
            continue
        kept = ", kept in the complement" if fate == "carried" and plan.generation else ""
        yield from ("", f"{meaning}{kept}:")
        for field, number in fields.items():
            example = next(
                (o, f) for o in new for f in o.fields if (f.field, f.fate) == (field, fate)
            )
            yield f"  {field} of {amount(number, 'record')}{_example(*example)}"


def _example(outcome: Outcome, field: FieldOutcome) -> str:
    return f", e.g. {outcome.key}: {mask(field.note)}" if field.note else ""


def _record(outcome: Outcome) -> Iterator[str]:
    """Give one record's end, with its fields, the reason and the way out."""
    to = f" -> {outcome.to}" if outcome.to not in (None, outcome.key) else ""
    yield ""
    yield f"{outcome.action}: {outcome.key + to}"
    for field in outcome.fields:
        if field.fate != "exact" or outcome.action in ("update", "conflict"):
            yield f"  {field.field}: {mask(field.note) or BRIEFLY[field.fate]}"
    if outcome.reason:
        yield f"  why: {mask(outcome.reason)}"
    if outcome.remedy:
        yield f"  way out: {mask(outcome.remedy)}"


def as_object(plan: Plan) -> dict[str, Json]:
    """Give a plan's JSON form."""
    return {
        "source": plan.source,
        "destination": plan.destination,
        "outcomes": [_outcome(o) for o in plan.outcomes],
        "changes": [{"action": action, "path": path} for action, path in plan.on_disk],
        "laid_out": [] if plan.refused else list(plan.laid_out),
        "notes": list(map(mask, plan.notes)),
        "lost": list(map(mask, plan.lost)),
        "secrets": list(plan.secrets),
        "template": dict(plan.template),
    }


def _outcome(outcome: Outcome) -> dict[str, Json]:
    out: dict[str, Json] = {"action": outcome.action, "key": outcome.key}
    if outcome.to is not None:
        out["to"] = outcome.to
    if outcome.fields:
        out["fields"] = [
            {"field": f.field, "fate": f.fate, **({"note": mask(f.note)} if f.note else {})}
            for f in outcome.fields
        ]
    if outcome.reason:
        out["reason"] = mask(outcome.reason)
    if outcome.remedy:
        out["remedy"] = mask(outcome.remedy)
    return out
