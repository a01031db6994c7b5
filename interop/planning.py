"""One planning run, in memory: what becomes of each record, and what the destination will be.

Every record is a case (interop.cases). What is to change goes into a target, which the
destination's adapter writes over what is there; the result is read back and measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from interop import fields, guard, guarding, settled
from interop.adapter import Context, Refusal, Written, path_of, repeat_key
from interop.cases import Case, Verdict, decide
from interop.choices import Choices
from interop.complement import Complement
from interop.complement import dumps as dump_complement
from interop.counterparts import cases, ground, originals
from interop.fields import FIELDS
from interop.keeping import Agreed, Kept, keep
from interop.kinds import declare, declare_status
from interop.measure import new_findings, outcome, read_back, supplied_notes
from interop.merge import carry_over
from interop.model import Files, Json, Record, Store
from interop.plan import COMPLEMENT, FieldOutcome, FileChange, Outcome, Plan, digest
from interop.rendering import lower, seen, seen_record
from interop.restore import restore
from interop.stores import Opened, carried_off, holds


class Planning:
    """One planning run: cases are settled one by one into a target, which is then written."""

    def __init__(self, source: Opened, destination: Opened, choices: Choices, now: str) -> None:
        self.source, self.destination = source, destination
        self.adapter = destination.adapter
        self.choices = choices
        self.now = now
        self.ground = ground(source, destination)
        self.originals = originals(source, self.adapter)
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
        self.allowed: set[str] = set()
        """Keys of cases that state a rejected value, as the user allowed."""
        taking_part = (source, destination, *choices.tombstones)
        self.stones = guarding.stones(taking_part)
        self.told = guarding.history(taking_part if self.stones.values else ())
        self.notes: list[str] = []
        self.apart = False
        """Do files that are no records differ on both sides?"""

    def plan(self) -> Plan:
        """Settle every case, write, read back, and say what was measured."""
        found = cases(self.source, self.adapter, self.ground, self.normal_form)
        for case in found:
            self.settle(case)
        for key in sorted(self.choices.decisions.keys() - {case.key for case in found}):
            self.notes.append(f"a decision names {key}, which is no record here")
        written = self.write()
        files = dict(written.files)
        self.attachments(files)
        result = read_back(
            self.adapter, written, files, self.raw, self.target, self.destination.label
        )
        complement, lost = self.measure(written, result, files)
        kept = complement if self.choices.complement else None
        self.describe(files, result, kept)
        old = self.destination.complement
        known = old.generation if old is not None else 0
        return Plan(
            source=self.source.label,
            destination=self.destination.label,
            changes=self.changes(files, kept),
            outcomes=tuple(self.outcomes),
            notes=tuple(self.notes),
            lost=() if kept is not None else tuple(lost),
            template=self.template,
            generation=kept.generation if kept is not None else known,
            file=self.destination.root.name if self.adapter.file is not None else None,
        )

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
            self.undecided(case, verdict)
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
            target = _onto(case.raw, case.there, verdict.merged)
            target = present if target == case.raw else lower(target, self.adapter, present)
            asked = "kind" in self.choices.about(case.key)
            if asked or fields.get(target, "kinds") != fields.get(present, "kinds"):
                target = self.with_kind(target, case, verdict.merged.role)
        target = self.with_status(target, case)
        fitted = self.adapter.fit(target, present, self.context())
        if isinstance(fitted, Refusal):
            self.refused(case, verdict, fitted)
            return
        if target != present:
            self.target[key] = target
        self.settled.append((case, verdict, key))

    def guarded(self, case: Case, verdict: Verdict) -> bool:
        """Refuse a record that states a rejected value anew; what stood before is warned of."""
        # in an empty place nothing stood before, whatever files it is given to begin with
        there = None if self.ground.fresh else case.there
        if not self.stones.values or (there is not None and verdict.action in ("same", "keep")):
            return True
        assert verdict.merged is not None
        merged = verdict.merged
        standing = guard.standing(there, merged, self.stones, told=self.told)
        self.notes += (f"{case.key}: {guard.sentence(c)}; it stood there before" for c in standing)
        found = guard.reasserted(there, merged, self.stones, told=self.told)
        if (found or standing) and guard.VERBATIM not in self.notes:
            self.notes.append(guard.VERBATIM)
        if not found:
            return True
        said = "; ".join(map(guard.sentence, found))
        before = any(x.allowed for x in (case.line, *case.lines) if x is not None)
        if before or case.key in self.choices.allow_tombstoned:
            self.allowed.add(case.key)
            self.notes.append(f"{case.key}: {said}; let through as was asked")
            return True
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
                for store, key in ((line.source, line.key), *line.keys.items()):
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
        said = self.adapter.write(store, {}, Context(now=self.now)).records
        return {k: seen_record(r, self.adapter) for k, r in said.items()}

    def context(self, addresses: Mapping[str, str] | None = None) -> Context:
        """Give the adapter what it cannot know by itself."""
        return Context(now=self.now, addresses=addresses or {}, originals=self.originals)

    def write(self) -> Written:
        """Put the target over what is there; what cannot stand beside the rest is refused."""
        addresses = {
            key: case.address
            for case, _, key in self.settled
            if key is not None and case.raw is None and case.address is not None
        }
        store = Store(format=self.adapter.name, records=tuple(self.target.values()))
        written = self.adapter.write(store, self.ground.files, self.context(addresses))
        refused = {r.key: r for r in written.refused}
        for item in [s for s in self.settled if s[2] in refused]:
            case, verdict, key = item
            assert key is not None
            self.settled.remove(item)
            self.refused(case, verdict, refused[key])
        for key in self.removed.keys() & written.records.keys():
            self.stays(self.removed[key])
        self.notes += written.notes
        return written

    def stays(self, case: Case) -> None:
        """Say of a record that it is not removed after all: its format does not let it go."""
        self.left.append(case)
        why = "removed in the source; the destination's format keeps it"
        self.outcomes = [
            replace(o, action="stays", reason=why)
            if o.action == "remove" and o.key == case.key
            else o
            for o in self.outcomes
        ]

    def measure(
        self, written: Written, result: Store, files: Files
    ) -> tuple[Complement, list[str]]:
        """Make the complement, and say how each record came through and what only it keeps."""
        result = seen(result, self.adapter)
        now = {r.key: r for r in result.records}
        vocabulary = self.adapter.kinds.vocabulary if self.adapter.kinds is not None else ""
        kept: list[Kept] = []
        for case, verdict, key in self.settled:
            stands = written.records.get(key) if key is not None else None
            declared = self.declared.get(key) if key is not None else None
            merged = verdict.merged or case.source
            assert merged is not None
            kept.append(
                Kept(
                    case=case,
                    merged=merged,
                    stands=now[stands.key] if stands is not None else None,
                    declared={vocabulary: declared} if declared is not None else {},
                    allowed=case.key in self.allowed,
                )
            )
        moved = {k: r.key for k, r in written.records.items()}
        mark = settled.mark(self.source.adapter, self.source.tree.complement, self.adapter)
        agreed = Agreed(
            kept=kept,
            left=self.left,
            parted=self.parted,
            moved=moved,
            settled="" if self.apart else mark,
        )
        complement = keep(
            self.source, self.destination, self.ground.restored, agreed, files, result
        )
        back = restore(result, complement, files, self.adapter, holds)
        again = {r.key: r for r in back.store.records}
        said = {r.key: r for r in self.source.raw.records}
        notes = supplied_notes(written)
        carried = {o.key for o in self.outcomes if o.action == "carry"}
        lost: list[str] = []
        for item, (case, verdict, key) in zip(kept, self.settled, strict=True):
            if item.stands is None:
                lost.append(f"{case.key}: the whole record")
                continue
            found, only_kept = outcome(
                item, verdict, again[item.stands.key], said.get(case.key),
                {**notes.get(key or "", {}), **self.stated.get(key or "", {})},
                self.destination.label,
            )  # fmt: skip
            lost += only_kept
            if case.key not in carried:
                self.outcomes.append(found)
        if self.source.adapter is not self.adapter:
            lost += (f"{path}: is no record" for path in self.source.raw.carried)
        return complement, lost

    def attachments(self, files: dict[str, bytes]) -> None:
        """Bring files that are no records along, between stores of one format."""
        if self.source.adapter is not self.adapter or self.ground.fresh:
            return
        old = self.destination.complement
        mine = old.sources.get(self.source.raw.id) if old is not None else None
        earlier: Mapping[str, str] = mine.tree if mine is not None else {}
        for path, now in self.source.raw.carried.items():
            data = self.source.tree.files.get(path)
            if data is None or path.endswith("#"):
                continue
            before, there = earlier.get(path), files.get(path)
            if there is None and before is None:
                files[path] = data
            elif there is None or there == data or now == before or digest(data) == before:
                continue
            elif digest(there) == before:
                files[path] = data
            else:
                self.apart = True
                self.notes.append(
                    f"{path} differs on both sides: the destination's stays, the source's is in "
                    "the complement"
                )

    def changes(self, files: Files, complement: Complement | None) -> tuple[FileChange, ...]:
        """List the files to write: records before the lines that name them, removals last."""
        there = self.destination.tree.files
        puts = sorted(
            (p for p in files if files[p] != there.get(p)), key=lambda p: (self.adapter.index(p), p)
        )
        gone = sorted(p for p in there if p not in files)
        out = [
            FileChange(path=p, before=digest(there[p]) if p in there else None, after=files.get(p))
            for p in (*puts, *gone)
        ]
        if complement is not None:
            old, new = self.destination.tree.complement, dump_complement(complement)
            if old != new:
                before = digest(old) if old is not None else None
                out.append(FileChange(path=COMPLEMENT, before=before, after=new))
        return tuple(out)

    def describe(self, files: Files, result: Store, complement: Complement | None) -> None:
        """Add the lines that a person should read before agreeing."""
        order = {r.key: i for i, r in enumerate(self.source.restored.store.records)}
        self.outcomes.sort(key=lambda o: order.get(o.key, len(order)))
        others = [p for p in self.source.raw.carried if not p.endswith("#")]
        if others and self.source.adapter is not self.adapter and complement is not None:
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            self.notes.append(
                f"{len(others)} files are no records and travel in the complement: "
                f"{', '.join(others[:5])}{more}"
            )
        if complement is not None and complement is not self.destination.complement:
            size = sum(map(len, self.source.tree.files.values()))
            off = None if self.destination.stream else carried_off(self.destination.root)
            place = f"destination's {COMPLEMENT}" if self.adapter.file is None else "file itself"
            self.notes.append(
                f"the full text of the source ({size:,} bytes) enters the {place}"
                + (f", which {off} may carry off this machine" if off else "")
            )
        if files != self.destination.tree.files:
            self.notes += new_findings(
                self.adapter, (self.ground.files, self.ground.raw), (files, result)
            )
        self.notes += (
            f"{then} was recognised as {now} by its text alone"
            for store in (self.source, self.destination)
            for then, now in store.restored.guessed
        )


def _unread(store: Opened, key: str) -> str | None:
    """Say why a store's file gives no record, if it is there."""
    path = path_of(key)
    for problem in store.raw.problems:
        if problem.unread and (path == problem.path or path.startswith(f"{problem.path}/")):
            return f"{path} in {store.label} cannot be read: {problem.problem}"
    return None


def _onto(raw: Record, there: Record, merged: Record) -> Record:
    """Say in the destination's own words what changed: the rest keeps the words it has."""
    if there.role != merged.role:
        return fields.with_key(merged, raw.key)
    values = {
        f: carry_over(fields.get(raw, f), fields.get(there, f), fields.get(merged, f))
        for f in FIELDS[merged.role]
    }
    return fields.replace(raw, values)


def _outcome(case: Case, verdict: Verdict) -> Outcome:
    return Outcome(
        action=verdict.action,
        key=case.key,
        to=case.there.key if case.there is not None else None,
        reason=verdict.reason,
        remedy=verdict.remedy,
    )
