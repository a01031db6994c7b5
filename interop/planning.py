"""One planning run, in memory: what becomes of each record, and what the destination will be.

Every record is a case (interop.cases). What is to change goes into a target (interop.settling),
which the destination's adapter writes over what is there; the result is read back and measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

from interop import claims, guarding, settled
from interop.adapter import Written, path_of
from interop.choices import Choices
from interop.complement import Complement
from interop.counterparts import cases, ground
from interop.describing import changes, notes_for
from interop.keeping import Agreed, Kept, keep
from interop.measure import new_findings, outcome, read_back, supplied_notes
from interop.model import Files, Store
from interop.plan import Plan, digest
from interop.rendering import seen
from interop.restore import restore, seals
from interop.settling import Settling
from interop.stores import Opened, holds


class Planning:
    """One planning run: cases are settled one by one into a target, which is then written."""

    def __init__(self, source: Opened, destination: Opened, choices: Choices, now: str) -> None:
        self.source, self.destination, self.choices = source, destination, choices
        self.adapter = destination.adapter
        self.ground = ground(source, destination)
        self.made = Settling(source, destination, choices, self.ground, now)
        self.apart = False
        """Do files that are no records differ on both sides?"""
        self.laid_out: Mapping[str, bytes | None] = {}
        """What the destination's host would lay out around the files."""

    def plan(self) -> Plan:
        """Settle every case, write, read back, and say what was measured."""
        made, source, destination = self.made, self.source, self.destination
        self.settle()
        files, news, complement, lost = self.result()
        kept = complement if self.choices.complement else None
        order = {r.key: i for i, r in enumerate(source.restored.store.records)}
        old = destination.complement
        known = old.generation if old is not None else 0
        changed = changes(destination, files, kept)
        return Plan(
            source=source.label,
            destination=destination.label,
            changes=changed,
            outcomes=tuple(sorted(made.outcomes, key=lambda o: order.get(o.key, len(order)))),
            notes=(
                *made.notes,
                *guarding.broken(source, made.outcomes),
                *notes_for(source, destination, kept, news),
            ),
            lost=() if kept is not None else tuple(lost),
            template=made.template,
            generation=kept.generation if kept is not None else known,
            laid_out=tuple(sorted(self.laid_out)) if changed else (),
            file=destination.root.name if self.adapter.file is not None else None,
        )

    def settle(self) -> None:
        """Settle every case, and say what a person should know of them."""
        made, source, destination = self.made, self.source, self.destination
        found = cases(source, self.adapter, self.ground, made.normal_form, made.as_told)
        made.watch.check_named(case.key for case in found)
        for case in found:
            made.settle(case)
        if not self.ground.fresh:
            made.watch.rest(self.ground.restored.store.records, made.removed.keys())
        made.notes += made.watch.notes
        ours = {case.source.key: case.base for case in found if case.source is not None}
        theirs = {case.there.key: case.base for case in found if case.there is not None}
        made.notes += claims.changed_alone(source, ours)
        made.notes += claims.changed_alone(destination, theirs)
        for key in sorted(self.choices.decisions.keys() - {case.key for case in found}):
            made.notes.append(f"a decision names {key}, which is no record here")

    def result(self) -> tuple[Files, Sequence[str], Complement, list[str]]:
        """Give the files to be, what their runtime would newly trip over, and what is kept beside.

        The last is what only that complement keeps.
        """
        made, destination = self.made, self.destination
        written = self.write()
        files = dict(written.files)
        self.attachments(files, {path_of(r.key) for r in written.records.values()})
        result = read_back(self.adapter, written, files, made.raw, made.target, destination.label)
        news: Sequence[str] = ()
        if files != destination.tree.files:
            # before the complement is made, as looking takes as much memory for a moment
            before = (self.ground.files, self.ground.raw)
            news = new_findings(self.adapter, before, (files, result))
        return files, news, *self.measure(written, result, files)

    def write(self) -> Written:
        """Put the target over what is there; what cannot stand beside the rest is refused."""
        made = self.made
        addresses = {
            key: case.address
            for case, _, key in made.settled
            if key is not None and case.raw is None and case.address is not None
        }
        store = Store(format=self.adapter.name, records=tuple(made.target.values()))
        context = replace(made.context, addresses=addresses, fitted=made.fitted)
        written = self.adapter.write(store, self.ground.files, context)
        made.fitted.clear()  # a text that a format rewords is not held twice
        made.reject({r.key: r for r in written.refused})
        for key in made.removed.keys() & written.records.keys():
            made.stays(made.removed[key])
        made.permanent()
        made.notes += written.notes
        return written

    def measure(
        self, written: Written, result: Store, files: Files
    ) -> tuple[Complement, list[str]]:
        """Make the complement, and say how each record came through and what only it keeps."""
        made = self.made
        result = seen(result, self.adapter)
        now = {r.key: r for r in result.records}
        vocabulary = self.adapter.kinds.vocabulary if self.adapter.kinds is not None else ""
        kept: list[Kept] = []
        for case, verdict, key in made.settled:
            stands = written.records.get(key) if key is not None else None
            declared = made.declared.get(key) if key is not None else None
            merged = verdict.merged or case.source
            assert merged is not None
            kept.append(
                Kept(
                    case=case,
                    merged=merged,
                    stands=now[stands.key] if stands is not None else None,
                    declared={vocabulary: declared} if declared is not None else {},
                    allowed=made.watch.allowed(case),
                    as_source=partial(made.as_source, case),
                )
            )
        moved = {k: r.key for k, r in written.records.items()}
        mark = settled.mark(self.source.adapter, self.source.tree.complement, self.adapter)
        agreed = Agreed(
            kept=kept,
            left=made.left,
            parted=made.parted,
            moved=moved,
            settled="" if self.apart else mark,
        )
        seal = seals(files, self.adapter)
        around = self.destination.around()
        self.laid_out = {path: data for path, data in around.items() if path not in files}
        laid_out = {path: data for path, data in self.laid_out.items() if data is not None}
        stand = files if not laid_out else {**files, **laid_out}
        complement = keep(
            self.source, self.destination, self.ground.restored, agreed, stand, result, seal
        )
        back = restore(result, complement, files, self.adapter, holds, seal)
        again = {r.key: r for r in back.store.records}
        said = {r.key: r for r in self.source.seen.records}
        notes = supplied_notes(written)
        carried = {o.key for o in made.outcomes if o.action == "carry"}
        lost: list[str] = []
        for item, (case, verdict, key) in zip(kept, made.settled, strict=True):
            if item.stands is None:
                lost.append(f"{case.key}: the whole record")
                continue
            found, only_kept = outcome(
                item, verdict, again[item.stands.key], said.get(case.key),
                {**notes.get(key or "", {}), **made.stated.get(key or "", {})},
                self.destination.label,
            )  # fmt: skip
            if not self.choices.complement:  # else nothing is lost, and they are many
                lost += (f"{item.case.key}: {name}" for name in only_kept)
            if case.key not in carried:
                made.outcomes.append(found)
        if self.source.adapter is not self.adapter:
            lost += (f"{path}: is no record" for path in self.source.raw.carried)
        return complement, lost

    def attachments(self, files: dict[str, bytes], held: Set[str]) -> None:
        """Bring files that are no records along, between stores of one format.

        ``held``: the files that state a record in the destination, whatever they are in the source.
        """
        if self.source.adapter is not self.adapter or self.ground.fresh:
            return
        old = self.destination.complement
        mine = old.sources.get(self.source.raw.id) if old is not None else None
        earlier: Mapping[str, str] = mine.tree if mine is not None else {}
        for path, now in self.source.raw.carried.items():
            data = self.source.tree.files.get(path)
            if data is None or path.endswith("#") or path in held:
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
                self.made.notes.append(
                    f"{path} differs on both sides: the destination's stays, the source's is in "
                    "the complement"
                )
