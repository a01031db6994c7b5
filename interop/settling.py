"""Settling the cases of a conversion, one by one, into a target that is then written.

Each case (interop.cases) is agreed on, left as it is, or named for a person to decide; what is to
change is fitted into what the destination's format can say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from interop import claims, fields, guard
from interop.adapter import Context, Fitted, Hold, Refusal, path_of, repeat_key
from interop.cases import Case, Verdict, decide
from interop.choices import Choices
from interop.complement import given
from interop.counterparts import Ground, originals
from interop.fields import FIELDS
from interop.kinds import declare, declare_status
from interop.merge import carry_over
from interop.model import Json, Record, Store
from interop.plan import FieldOutcome, Outcome
from interop.rendering import given_back, lower, seen_record
from interop.stores import Opened
from interop.watch import Watch


class Settling:
    """What becomes of each case, and the target that says so."""

    def __init__(
        self, source: Opened, destination: Opened, choices: Choices, onto: Ground, now: str
    ) -> None:
        self.source, self.destination = source, destination
        self.adapter = destination.adapter
        self.choices = choices
        self.ground = onto
        self.context = Context(
            now=now,
            originals=originals(source, self.adapter),
            given=given(destination.complement),
        )
        """What the adapter cannot know by itself."""
        self.raw: Mapping[str, Record] = {r.key: r for r in self.ground.raw.records}
        self.target: dict[str, Record] = dict(self.raw)
        """What is to be written: key -> record; untouched records are the very objects of raw."""
        self.settled: list[tuple[Case, Verdict, str | None]] = []
        """Cases that both sides agree on -> key in the target, None for what only travels."""
        self.parted: list[Case] = []
        """Cases in which a person decided that one side has the record and the other has not."""
        self.left: list[Case] = []
        """Cases on which nothing was agreed: what was known of them stays."""
        self.removed: dict[str, Case] = {}
        """Key in the destination -> the case in which it was taken out of the target."""
        self.outcomes: list[Outcome] = []
        self.template: dict[str, Json] = {}
        self.declared: dict[str, str] = {}
        """Key in the target -> kind that the user declared."""
        self.stated: dict[str, dict[str, str]] = {}
        """Key in the target -> field -> what the user declared for it."""
        self.fitted: dict[str, Fitted] = {}
        """Key in the target -> its record as the destination's format can say it."""
        self.watch = Watch(source, destination, choices)
        self.notes: list[str] = []

    def settle(self, case: Case) -> None:
        """Decide one case and let the target say so, or name what stands in the way."""
        unread = self.unread(case)
        if unread is not None:
            self.left.append(case)
            self.outcomes.append(
                Outcome(
                    action="unread",
                    key=case.key,
                    to=case.there.key if case.there is not None else None,
                    reason=unread,
                    remedy="mend the file; until then its counterpart stays as it is",
                )
            )
            return
        decision = self.choices.about(case.key)
        verdict = decide(case, decision, delete=self.choices.delete, fresh=self.ground.fresh)
        case = verdict.twin or case
        if verdict.action == "conflict":
            self.undecided(case, verdict, self.cannot_become(case, verdict))
        elif verdict.action == "remove":
            assert case.there is not None
            del self.target[case.there.key]
            self.removed[case.there.key] = case
            self.outcomes.append(_outcome(case, verdict))
        elif case.source is None and case.there is None:
            return  # gone on both sides: nothing of it is kept
        elif case.source is None or verdict.action in ("pending", "gone"):
            decided = decision.get("take") == "destination"
            (self.parted if decided else self.left).append(case)
            self.outcomes.append(_outcome(case, verdict))
        elif verdict.action in ("same", "keep") and "kind" not in decision and not case.carried:
            assert case.raw is not None
            if self.guarded(case, verdict):
                self.settled.append((case, verdict, case.raw.key))
        else:
            self.fit(case, verdict)

    def unread(self, case: Case) -> str | None:
        """Say why a record that seems to be gone is only unreadable: its file is there."""
        if case.line is None or case.carried:
            return None
        if case.source is None and case.line.source == self.source.raw.id:
            return _unread(self.source, case.line.key)
        if case.source is None:
            return _unread(self.source, case.line.to or "")
        if case.there is None and case.address is not None and not self.ground.fresh:
            return _unread(self.destination, case.address)
        return None

    def fit(self, case: Case, verdict: Verdict) -> None:
        """Say the merged record in the destination's way, or refuse it."""
        assert verdict.merged is not None
        if not self.guarded(case, verdict):
            return
        if case.raw is None or case.there is None:
            key = repeat_key(self.suggested(case), self.target)
            present = None
            target = lower(fields.with_key(verdict.merged, key), self.adapter)
            target = self.with_kind(target, case, verdict.merged.role)
        else:
            key = case.raw.key
            present = self.raw[key]
            target = self.onto(case.raw, case.there, verdict.merged)
            target = present if target == case.raw else lower(target, self.adapter, present)
            asked = "kind" in self.choices.about(case.key)
            if asked or fields.get(target, "kinds") != fields.get(present, "kinds"):
                target = self.with_kind(target, case, verdict.merged.role)
        target = self.with_status(target, case)
        fitted = self.adapter.fit(target, present, self.context)
        if target != present:
            fitted = given_back(fitted, verdict.merged.role, self.adapter)
        if isinstance(fitted, Refusal):
            self.refused(case, verdict, fitted)
            return
        if target != present:
            self.target[key] = target
            self.fitted[key] = fitted
        self.settled.append((case, verdict, key))

    def guarded(self, case: Case, verdict: Verdict) -> bool:
        """Refuse a record that states a rejected value anew; what stood before is warned of."""
        fresh = self.ground.fresh  # nothing stood there, whatever files it is given to begin with
        if not fresh and case.there is not None and verdict.action in ("same", "keep"):
            return True
        assert verdict.merged is not None
        found = self.watch.look(case, verdict.merged, fresh=fresh)
        if not found:
            return True
        said = "; ".join(map(guard.sentence, found))
        way = f"correct it, or let it through with --allow-tombstoned {case.key}"
        self.undecided(
            case, Verdict(action="conflict", reason=said, remedy=way),
            Refusal(key=case.key, field="tombstone", reason=said, remedy=way),
        )  # fmt: skip
        if self.ground.fresh and case.raw is not None:
            self.target.pop(case.raw.key, None)
        return False

    def refused(self, case: Case, verdict: Verdict, refusal: Refusal) -> None:
        """Let a record that cannot stand travel, where that was asked for or is the only way."""
        asked = self.choices.carry or self.choices.about(case.key).get("carry") is True
        if refusal.travels and case.there is not None:
            # its readers cannot be told otherwise: for them the record leaves the store
            leaves = decide(
                replace(case, source=None),
                self.choices.about(case.key),
                delete=self.choices.delete,
                fresh=self.ground.fresh,
            )
            if leaves.action == "conflict":
                self.undecided(case, replace(leaves, reason=f"{refusal.reason}, {leaves.reason}"))
                return
            if leaves.action != "remove":
                self.left.append(case)
                way = "--delete takes it out of this store; it stays in its complement"
                self.outcomes.append(
                    _outcome(case, replace(leaves, reason=refusal.reason, remedy=way))
                )
                return
            del self.target[case.there.key]
            case = replace(case, there=None, raw=None)
        elif not (refusal.travels or asked or case.carried):
            self.undecided(case, Verdict(
                action="conflict", reason=refusal.reason, remedy=refusal.remedy
            ), refusal)  # fmt: skip
            return
        to = case.raw.key if case.raw is not None else None
        self.settled.append((case, verdict, to))
        self.outcomes.append(
            Outcome(
                action="carry",
                key=case.key,
                to=to,
                reason=refusal.reason,
                fields=(FieldOutcome(field=refusal.field, fate="carried"),),
            )
        )

    def undecided(self, case: Case, verdict: Verdict, refusal: Refusal | None = None) -> None:
        """Name a case that a person has to decide, and offer its entry in a decisions file."""
        self.left.append(case)
        if refusal is not None and refusal.field == "role":
            verdict = replace(verdict, remedy=_OTHER_WAYS.format(key=case.key))
            refusal = None
        found = _outcome(case, verdict)
        if self.choices.skip_refused:
            self.outcomes.append(replace(found, action="skip"))
            return
        self.outcomes.append(replace(found, action="refuse" if refusal else "conflict"))
        if refusal is not None and refusal.field == "tombstone":
            return  # no decision in the file: a tombstone is overruled record by record, by hand
        ways = {"kinds": "kind", "status": "status"}
        way = "take" if refusal is None else ways.get(refusal.field, "carry")
        self.template[case.key] = {way: None}

    def cannot_become(self, case: Case, verdict: Verdict) -> Refusal | None:
        """Say why the destination's record cannot take the role that the source's has."""
        if verdict.conflicts != ("role",) or case.source is None or case.raw is None:
            return None
        present = self.raw[case.raw.key]
        target = lower(fields.with_key(case.source, present.key), self.adapter, present)
        fitted = self.adapter.fit(target, present, self.context)
        return fitted if isinstance(fitted, Refusal) and fitted.field == "role" else None

    def with_kind(self, record: Record, case: Case, role: str) -> Record:
        """Give a record the kind that the user declared for it, now or at an earlier conversion."""
        kinds = self.adapter.kinds
        if kinds is None:
            return record
        stated: Mapping[str, str] = fields.get(record, "kinds") or {}
        term = declare(
            record,
            role,
            kinds,
            self.choices.kind_map,
            self.choices.about(case.key),
            override=self.choices.override,
        )
        present = stated.get(kinds.vocabulary)
        cannot = kinds.required if present is None else kinds.closed and present not in kinds.terms
        if term is None and cannot and case.line is not None:
            term = case.line.declared.get(kinds.vocabulary)
        if term is None or term == present:
            return record
        self.declared[record.key] = term
        return fields.replace(record, {"kinds": {**stated, kinds.vocabulary: term}})

    def with_status(self, record: Record, case: Case) -> Record:
        """Give a record the status that the user declared for it."""
        decision = self.choices.about(case.key)
        status = declare_status(record, self.adapter, self.choices.status_map, decision)
        if status is None or status == fields.get(record, "status"):
            return record
        self.stated[record.key] = {"status": f"declared as {status}"}
        return fields.replace(record, {"status": status})

    def suggested(self, case: Case) -> str:
        """Give the key that a new record would like to have: the one it had in such a store."""
        assert case.source is not None
        if self.source.complement is not None:
            known = self.source.complement.sources
            for line in case.lines:
                for store, key in line.places():
                    if store in known and known[store].format == self.adapter.name:
                        return key
        return case.source.key

    def normal_form(self, records: Sequence[Record]) -> dict[str, Record]:
        """Say records as the destination's format would, each as if it were new."""
        declared = dict(self.declared)
        new = tuple(
            self.with_kind(
                lower(r, self.adapter), Case(key=r.key, source=r, there=None, raw=None), r.role
            )
            for r in records
        )
        self.declared = declared
        store = Store(format=self.adapter.name, records=new)
        said = self.adapter.write(store, {}, Context(now=self.context.now)).records
        return {k: seen_record(r, self.adapter) for k, r in said.items()}

    def as_told(self, records: Sequence[Record]) -> dict[str, Record]:
        """Say the destination's records as the source's format would, each as if it were new.

        It is to tell whether the source's were made from them: what kind was declared then, where
        the format demands one, makes no difference.
        """
        adapter, kinds = self.source.adapter, self.source.adapter.kinds
        said = [lower(r, adapter) for r in records]
        if kinds is not None and kinds.required:
            any_kind = {kinds.vocabulary: kinds.terms[0]}
            said = [fields.replace(r, {"kinds": {**any_kind, **_kinds(r)}}) for r in said]
        store = Store(format=adapter.name, records=tuple(said))
        written = adapter.write(store, {}, Context(now=self.context.now)).records
        return {k: seen_record(r, adapter) for k, r in written.items()}

    def as_source(self, case: Case) -> Record | None:
        """Give what the destination would say of a record that it has if the source's stood there.

        None where its format does not take it so.
        """
        if case.raw is None or case.there is None or case.source is None:
            return None
        present = self.raw[case.raw.key]
        target = self.onto(case.raw, case.there, fields.with_key(case.source, case.there.key))
        fitted = self.adapter.fit(lower(target, self.adapter, present), present, self.context)
        return None if isinstance(fitted, Refusal) else seen_record(fitted.record, self.adapter)

    def onto(self, raw: Record, there: Record, merged: Record) -> Record:
        """Say in the destination's own words what changed: the rest keeps the words it has."""
        if there.role != merged.role:
            return fields.with_key(merged, raw.key)
        values = {
            f: carry_over(fields.get(raw, f), fields.get(there, f), fields.get(merged, f))
            for f in FIELDS[merged.role]
        }
        target = fields.replace(raw, values)
        if self.adapter.holds.get("description") is not Hold.VIEW:
            return target
        return claims.carried(target, raw, there, merged)

    def reject(self, refusals: Mapping[str, Refusal]) -> None:
        """Take back what could be fitted alone, and cannot stand beside the rest."""
        for item in [s for s in self.settled if s[2] in refusals]:
            case, verdict, key = item
            assert key is not None
            self.settled.remove(item)
            self.refused(case, verdict, refusals[key])

    def stays(self, case: Case) -> None:
        """Say of a record that it is not removed after all: its format does not let it go."""
        self.left.append(case)
        self.outcomes = [
            replace(o, action="stays", reason=_STAYS)
            if o.action == "remove" and o.key == case.key
            else o
            for o in self.outcomes
        ]

    def permanent(self) -> None:
        """Say of what waits for --delete that it would stay all the same, where that is so."""
        waiting = {o.to for o in self.outcomes if o.action == "pending"}
        if not waiting:
            return
        rest = tuple(record for key, record in self.target.items() if key not in waiting)
        store = Store(format=self.adapter.name, records=rest)
        kept = self.adapter.write(store, self.ground.files, self.context).records
        self.outcomes = [
            replace(o, action="stays", reason=_STAYS, remedy="")
            if o.action == "pending" and o.to in kept
            else o
            for o in self.outcomes
        ]


_STAYS = "removed in the source; the destination's format keeps it"
_OTHER_WAYS = (
    "mend its marked text, or decide with {key}: {{take: destination}}, or both, which gives it a "
    "place of its own, in a --decisions file"
)
"""The ways out where a record cannot be said in the place of another role."""


def _kinds(record: Record) -> Mapping[str, str]:
    return fields.get(record, "kinds") or {}


def _unread(store: Opened, key: str) -> str | None:
    """Say why a store's file gives no record, if it is there."""
    path = path_of(key)
    for problem in store.raw.problems:
        if problem.unread and (path == problem.path or path.startswith(f"{problem.path}/")):
            return f"{path} in {store.label} cannot be read: {problem.problem}"
    return None


def _outcome(case: Case, verdict: Verdict) -> Outcome:
    return Outcome(
        action=verdict.action,
        key=case.key,
        to=case.there.key if case.there is not None else None,
        reason=verdict.reason,
        remedy=verdict.remedy,
    )
