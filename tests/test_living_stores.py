"""Two stores that live for months: people edit, the runtime recalls and archives, syncs go to and
fro, and nothing that anybody wrote is ever lost or comes back from the dead.

Every text that somebody writes holds a mark of its own, so that a mark that is missing is a loss.
"""

from __future__ import annotations

import dataclasses
import re

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from interop import check, registry
from interop.adapter import Context
from interop.choices import Choices
from interop.convert import after, plan
from interop.model import Body, Memory, Record, Store
from interop.stores import Opened, assemble

NOW = "2026-09-01T08:30:00.000Z"
MARK = re.compile(r"m\d+m")

texts = st.sampled_from(
    [
        "Dock 7",
        "看板は二か国語",
        "ends with ---",
        "  indented",
        "a\n\n---\n\nb",
        "See [[pump]].",
        "x\r\ny",
    ]
)
sides = st.sampled_from(["a", "b"])


class LivingStores(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.stores: dict[str, Opened] = {}
        self.removed: set[str] = set()
        """Marks of records that somebody removed on purpose."""

    @initialize(one=st.sampled_from(registry.names()), other=st.sampled_from(registry.names()))
    def start(self, one: str, other: str) -> None:
        self.stores = {
            "a": check.empty(registry.get(one), "a"),
            "b": check.empty(registry.get(other), "b"),
        }

    def mark(self) -> str:
        self.count += 1
        return f"m{self.count}m"

    def put(self, side: str, records: tuple[Record, ...]) -> None:
        store = self.stores[side]
        target = Store(format=store.adapter.name, records=records)
        written = store.adapter.write(target, store.tree.files, Context(now=NOW))
        tree = dataclasses.replace(store.tree, files=dict(written.files))
        self.stores[side] = assemble(
            store.adapter, store.root, tree, store.complement, store.raw.id
        )

    def marks(self, side: str) -> set[str]:
        out: set[str] = set()
        for record in self.stores[side].restored.store.records:
            assert isinstance(record, Memory)
            out |= set(MARK.findall(record.body.text + (record.description or "")))
        return out

    @rule(side=sides, text=texts, describe=st.booleans())
    def somebody_writes(self, side: str, text: str, describe: bool) -> None:
        store, mark = self.stores[side], self.mark()
        kinds = store.adapter.kinds
        new = Memory(
            key=f"note-{mark}.md",
            name=f"note-{mark}",
            description=f"Note {mark}" if describe else None,
            body=Body(text=f"{text} {mark}"),
            kinds={kinds.vocabulary: kinds.terms[0]} if kinds is not None else {},
        )
        self.put(side, (*store.raw.records, new))

    @rule(side=sides, at=st.integers(0, 30), text=texts)
    def somebody_edits(self, side: str, at: int, text: str) -> None:
        records = list(self.stores[side].raw.records)
        if records:
            old = records[at % len(records)]
            assert isinstance(old, Memory)
            body = Body(text=f"{old.body.text}\n{text} {self.mark()}")
            records[at % len(records)] = dataclasses.replace(old, body=body)
            self.put(side, tuple(records))

    @rule(side=sides, at=st.integers(0, 30))
    def somebody_rewords(self, side: str, at: int) -> None:
        records = list(self.stores[side].raw.records)
        if records:
            old = records[at % len(records)]
            assert isinstance(old, Memory)
            if old.description is not None:
                kept = " ".join(MARK.findall(old.description))
                new = dataclasses.replace(old, description=f"Now {kept} {self.mark()}")
                records[at % len(records)] = new
                self.put(side, tuple(records))

    @rule(side=sides, at=st.integers(0, 30))
    def somebody_removes(self, side: str, at: int) -> None:
        records = list(self.stores[side].raw.records)
        if records:
            old = records.pop(at % len(records))
            assert isinstance(old, Memory)
            self.removed |= set(MARK.findall(old.body.text + (old.description or "")))
            self.put(side, tuple(records))

    @rule(side=sides, at=st.integers(0, 30), away=st.booleans())
    def the_runtime_recalls_or_archives(self, side: str, at: int, away: bool) -> None:
        store = self.stores[side]
        if store.adapter.holds.get("recalled") is None:
            return
        records = list(store.raw.records)
        live = [i for i, r in enumerate(records) if isinstance(r, Memory) and r.state == "live"]
        if live:
            i = live[at % len(live)]
            old = records[i]
            assert isinstance(old, Memory)
            self.count += 1
            day = f"2026-08-{1 + self.count % 28:02}"
            new = (
                dataclasses.replace(old, state="archived")
                if away
                else dataclasses.replace(old, recalled=day)
            )
            records[i] = new
            self.put(side, tuple(records))

    @rule(side=sides, delete=st.booleans())
    def somebody_syncs(self, side: str, delete: bool) -> None:
        other = "b" if side == "a" else "a"
        source, destination = self.stores[side], self.stores[other]
        before = self.marks(side) | self.marks(other)
        choices = Choices(carry=True, delete=delete)
        found = plan(source, destination, choices, now=NOW)
        if found.blocked:
            decisions = {key: {"take": "both"} for key in found.template}
            kinds = destination.adapter.kinds
            if kinds is not None:
                for decision in decisions.values():
                    decision["kind"] = kinds.terms[0]
            found = plan(
                source, destination, dataclasses.replace(choices, decisions=decisions), now=NOW
            )
            if found.blocked:  # a removal against a change: the change stays
                for o in found.outcomes:
                    if o.undecided:
                        gone_here = "removed in the source" in o.reason
                        decisions[o.key] = {"take": "destination" if gone_here else "source"}
                found = plan(
                    source, destination, dataclasses.replace(choices, decisions=decisions), now=NOW
                )
            assert not found.blocked, [o for o in found.outcomes if o.undecided]
        self.stores[other] = after(found, destination)
        lost = before - self.marks(side) - self.marks(other) - self.removed
        carried = "".join(
            str(x.base.body.text)
            for s in self.stores.values()
            for x in s.restored.carried
            if isinstance(x.base, Memory)
        )
        assert not {m for m in lost if m not in carried}, f"lost {lost}"
        again = plan(source, self.stores[other], choices, now=NOW)
        assert again.changes == (), "a second sync finds something to do"

    @invariant()
    def every_store_goes_round_and_comes_back(self) -> None:
        for store in self.stores.values():
            law = check.get_put(store)
            assert law.ok, law.difference
            for adapter in registry.adapters():
                if adapter is not store.adapter:
                    through = check.through(store, adapter)
                    assert through.ok, through.difference


LivingStores.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestLivingStores = LivingStores.TestCase
