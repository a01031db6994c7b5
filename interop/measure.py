"""What came through: the result is read back and compared with what was meant, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from interop import fields
from interop.adapter import Adapter, Written
from interop.cases import Verdict
from interop.errors import RefusedError, WriteError
from interop.fields import FIELDS, Value
from interop.keeping import Kept
from interop.merge import same
from interop.model import Body, Files, Record, Store
from interop.plan import Fate, FieldOutcome, Outcome
from interop.rendering import translated
from interop.secrets import mask


def read_back(
    adapter: Adapter,
    written: Written,
    files: Files,
    raw: Mapping[str, Record],
    target: Mapping[str, Record],
    label: str,
) -> Store:
    """Read what would be written, and see that it says what was meant and nothing else.

    Raises:
        RefusedError: a record that is not meant to change would change, appear or vanish.
    """
    result = adapter.read(files)
    now = {r.key: r for r in result.records}
    wrong = [
        f"{key}: is not read back as it was written"
        for key, record in written.records.items()
        if now.get(record.key) != record
    ]
    meant = {r.key for r in written.records.values()}
    wrong += [f"{key}: would become a record" for key in now if key not in meant]
    wrong += [
        f"{key}: would change, though nothing about it is to change"
        for key, record in raw.items()
        if target.get(key) is record
        and (key not in written.records or fields.with_key(written.records[key], key) != record)
    ]
    if wrong:
        raise RefusedError(
            label,
            "writing would touch records that are not meant to change",
            "nothing was written; rename the records named here, or report this",
            sorted(wrong),
        )
    # they are equal, and one of each is enough to hold
    one = {r.key: r for r in written.records.values()}
    return replace(result, records=tuple(one[key] for key in now))


def outcome(
    item: Kept,
    verdict: Verdict,
    again: Record,
    source: Record | None,
    supplied: Mapping[str, str],
    label: str,
) -> tuple[Outcome, list[str]]:
    """Say how one record came through, and which fields only a complement keeps.

    ``again`` is the record as the destination's complement restores it, ``source`` as the source's
    own format says it, ``supplied`` what the adapter had to supply: field -> note.

    Raises:
        WriteError: the complement would not give back what was meant; nothing is written.
    """
    stands, merged = item.stands, item.merged
    assert stands is not None
    names = FIELDS[stands.role]
    there = item.case.there
    wanted = _row(merged, stands)
    if not fields.alike(again, merged):  # as nearly every one is
        _check_back(names, wanted, _row(again, stands), f"{label}: {stands.key}")
    before = _row(there, stands) if there is not None else []
    shown = _row(item.case.raw, stands) if item.case.raw is not None else [None] * len(names)
    raw = wanted if source is merged else _row(source, stands) if source is not None else None
    told = verdict.action in ("add", "update")
    found: list[FieldOutcome] = []
    lost: list[str] = []
    if told and "key" in supplied:  # another place than the format's rule gives, as that is taken
        found.append(_fated("key", "supplied", supplied["key"]))
    for n, (name, meant, says) in enumerate(zip(names, wanted, fields.row(stands), strict=True)):
        note, kept_beside = "", False
        if meant is not says:
            note = supplied.get(name, "")
            if isinstance(meant, Body) and isinstance(says, Body) and meant.media != says.media:
                note = f"said in {says.media}"
                if same(translated(says, meant.media), meant):
                    says = meant  # the map leads back to every byte
            kept_beside = says != meant
            if kept_beside and meant is not None:
                lost.append(name)
        elif meant is None:
            continue
        if not told or (there is not None and same(meant, before[n]) and says == shown[n]):
            continue
        if name == "kinds" and item.declared:
            note = "declared as " + ", ".join(item.declared.values())
        if kept_beside:
            found.append(_fated(name, "supplied" if note else "carried", note))
        elif says is not None:
            exact = raw is None or raw[n] is says or raw[n] == says
            exact = exact or _translated(item, raw[n] if raw is not None else None, says)
            found.append(_fated(name, "exact" if exact else "restored", ""))
    return (
        Outcome(
            action=verdict.action,
            key=item.case.key,
            to=stands.key,
            fields=tuple(found),
            reason=verdict.reason,
        ),
        lost,
    )


def _translated(item: Kept, raw: Value, says: Value) -> bool:
    """Is a text what the source's, in another medium, has become since both last agreed on it?"""
    if not (isinstance(raw, Body) and isinstance(says, Body)) or raw.media == says.media:
        return False
    return item.case.base is not None and not same(fields.get(item.case.base, "body"), says)


def _check_back(
    names: Sequence[str], wanted: Sequence[Value], back: Sequence[Value], where: str
) -> None:
    """See that the complement gives back what was meant.

    Raises:
        WriteError: it does not, in one of the fields.
    """
    for name, meant, given in zip(names, wanted, back, strict=True):
        if not same(given, meant):
            raise WriteError(
                where,
                f"{name} would not come back from the complement",
                "nothing was written; please report this",
            )


def _row(record: Record, like: Record) -> list[Value]:
    """Give every value that a record has for the fields of another one."""
    if record.role == like.role:
        return fields.row(record)
    return [fields.get(record, name) for name in FIELDS[like.role]]


@lru_cache(maxsize=1024)  # mostly the same few for every record of a store
def _fated(field: str, fate: Fate, note: str) -> FieldOutcome:
    return FieldOutcome(field=field, fate=fate, note=note)


def supplied_notes(written: Written) -> dict[str, dict[str, str]]:
    """Give what the adapter supplied: key in the target -> field -> value and reason."""
    out: dict[str, dict[str, str]] = {}
    for s in written.supplied:
        out.setdefault(s.key, {})[s.field] = f"{s.value!r}, {s.reason}"
    return out


def new_findings(
    adapter: Adapter, before: tuple[Files, Store], after: tuple[Files, Store]
) -> Sequence[str]:
    """Say what the destination's runtime would newly trip over."""
    find = adapter.grave or adapter.lint
    known = {(f.code, f.path) for f in find(*before)}
    return [
        mask(f"{f.code} {f.path}: {f.problem}; {f.remedy}")
        for f in find(*after)
        if (f.code, f.path) not in known and f.severity != "note"
    ]
