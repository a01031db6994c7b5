"""Edits on every side of a row of stores, against the table of docs/model.md, told independently.

What each store should say is kept in plain dictionaries, by the rules of "Converting onto a store
that exists" and by nothing else: three states of every field, and of whether the record is there.
Every value that somebody writes holds a mark of its own, and a value is compared by its marks.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from hypothesis import note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from interop import check, fields, registry
from interop.adapter import Context, Hold
from interop.choices import Choices
from interop.convert import after, plan
from interop.model import Body, Memory, Record, Store
from interop.plan import Plan
from interop.restore import can_hold
from interop.stores import Opened, assemble

NOW = "2026-09-01T08:30:00.000Z"
MARK = re.compile(r"w\d+w")
WHICH = re.compile(r"Rack (\d+)q")
TEXTS = ("body", "description", "title", "hook")
PLACES = ("harbour", "orchard", "station", "quarry", "meadow", "chapel", "foundry", "ferry")

Marks = tuple[str, ...]
Said = dict[str, Marks]
"""Field -> the marks in its value."""
Model = dict[int, Said]
"""Record -> what a store says of it."""


def marks(record: Record) -> Said:
    values = {f: fields.get(record, f) for f in TEXTS}
    return {
        f: tuple(MARK.findall(v.text if isinstance(v, Body) else v or ""))
        for f, v in values.items()
    }


def which(record: Record) -> int:
    found = WHICH.search(fields.get(record, "body").text)
    assert found is not None, record
    return int(found[1])


class Rows(RuleBasedStateMachine):
    """Three stores, of which each neighbouring pair is converted to and fro."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.stores: list[Opened] = []
        self.said: list[Model] = []
        """What each store should say in full."""
        self.base: list[Model] = []
        """What the pair (i, i + 1) last agreed on."""
        self.kept: list[dict[int, int]] = []
        """Record of the pair (i, i + 1) that one removed -> the one that keeps it, as decided."""
        self.ended: list[set[int]] = []
        """Records that both of the pair (i, i + 1) removed."""

    @initialize(
        names=st.lists(st.sampled_from(registry.names()), min_size=3, max_size=3),
        shapes=st.lists(st.sets(st.sampled_from(TEXTS[1:])), min_size=1, max_size=3),
    )
    def start(self, names: list[str], shapes: list[set[str]]) -> None:
        note(f"{names}")
        self.begin(names, shapes)

    def begin(self, names: Sequence[str], shapes: Sequence[set[str]]) -> None:
        """Say some records in the first store, and bring them to the others."""
        self.stores = [check.empty(registry.get(name), str(i)) for i, name in enumerate(names)]
        first = self.stores[0].adapter
        records = tuple(self.new(n, shape, first.name) for n, shape in enumerate(shapes))
        self.put(0, records)
        self.said = [self.found(0), {}, {}]
        self.base = [{}, {}]
        self.kept = [{}, {}]
        self.ended = [set(), set()]
        for i in (0, 1):
            self.sync(i, i + 1, delete=False, take="source")

    def mark(self) -> str:
        self.count += 1
        return f"w{self.count}w"

    def text(self, n: int) -> str:
        """Give a text that is like no other one but the same record's."""
        place = PLACES[n % len(PLACES)]
        return f"Rack {n}q stands at the {place}, and the {place} keeper counts its bikes daily."

    def new(self, n: int, shape: set[str], name: str) -> Record:
        kinds = registry.get(name).kinds
        record = Memory(
            key=f"rack-{n}.md",
            name=f"rack-{n}",
            body=Body(text=f"{self.text(n)} {self.mark()}"),
            kinds={kinds.vocabulary: kinds.terms[0]} if kinds is not None else {},
        )
        said = {f: f"Of {n} {self.mark()}" for f in TEXTS[1:] if f in shape}
        return fields.replace(record, said)

    def put(self, i: int, records: tuple[Record, ...]) -> None:
        store = self.stores[i]
        target = Store(format=store.adapter.name, records=records)
        written = store.adapter.write(target, store.tree.files, Context(now=NOW))
        tree = dataclasses.replace(store.tree, files=dict(written.files))
        self.stores[i] = assemble(store.adapter, store.root, tree, store.complement, store.raw.id)

    def found(self, i: int) -> Model:
        return {which(r): marks(r) for r in self.stores[i].restored.store.records}

    @rule(i=st.integers(0, 2), n=st.integers(0, 9), field=st.sampled_from(TEXTS))
    def somebody_edits(self, i: int, n: int, field: str) -> None:
        store = self.stores[i]
        if not store.raw.records or store.adapter.holds.get(field) is not Hold.EXACT:
            return
        records = list(store.raw.records)
        at = n % len(records)
        old, mark = records[at], self.mark()
        value: object = f"Now {mark}"
        if field == "body":
            body = fields.get(old, "body")
            last = self.said[i][which(old)]["body"][-1]
            value = Body(text=body.text.replace(last, mark), media=body.media)
        records[at] = fields.replace(old, {field: value})
        self.put(i, tuple(records))
        said = self.said[i][which(old)]
        was, found = said[field], self.found(i)
        said[field] = (*was[:-1], mark)
        for f in TEXTS:  # entries of theokit repeat the description, claims of memhtml the text
            if said[f] == was and found[which(old)][f] == said[field]:
                said[f] = said[field]
        assert found == self.said[i]

    @rule(i=st.integers(0, 2), n=st.integers(0, 9))
    def somebody_removes(self, i: int, n: int) -> None:
        records = list(self.stores[i].raw.records)
        if len(records) > 1:  # a store without any record is a new one
            old = records.pop(n % len(records))
            self.put(i, tuple(records))
            del self.said[i][which(old)]

    @rule(
        pair=st.integers(0, 1),
        back=st.booleans(),
        delete=st.booleans(),
        take=st.sampled_from(["source", "destination"]),
    )
    def somebody_syncs(self, pair: int, back: bool, delete: bool, take: str) -> None:
        a, b = (pair + 1, pair) if back else (pair, pair + 1)
        self.sync(a, b, delete=delete, take=take)

    def sync(self, a: int, b: int, *, delete: bool, take: str) -> None:
        pair = min(a, b)
        if self.ended[pair] & {*self.said[a], *self.said[b]}:
            return  # came back from a third one: which of the two knows of its end, is chance
        source, destination = self.stores[a], self.stores[b]
        there = destination.restored.store.records
        at = {r.key: which(r) for r in (*there, *source.restored.store.records)}
        expected, apart, pending = self.expected(a, b, delete=delete)
        choices = Choices(delete=delete)
        found = self.planned(source, destination, choices, {})
        conflicts = {at[o.key]: o for o in found.outcomes if o.action == "conflict"}
        assert conflicts.keys() == apart.keys(), (conflicts, apart)
        decisions = {o.key: {"take": take} for o in conflicts.values()}
        if conflicts:
            found = self.planned(source, destination, choices, decisions)
        assert not found.blocked, found.outcomes
        waits = {at[o.key] for o in found.outcomes if o.action in ("pending", "stays")}
        assert waits == pending, (waits, pending)
        for n, names in apart.items():
            x, y = self.said[a].get(n), self.said[b].get(n)
            if x is None or y is None:
                if (x if take == "source" else y) is None:
                    expected.pop(n, None)
                elif x is not None:
                    expected[n] = dict(x)
                if take == "destination" and x is not None:
                    self.base[pair][n] = dict(x)
                elif take == "destination":
                    self.kept[pair][n] = b  # the other never had what is kept: no base of both
            elif take == "source":
                expected[n] |= {f: x[f] for f in names}
        self.stores[b] = after(found, destination)
        assert self.found(b) == expected, (self.found(b), expected)
        self.shows(b, expected)
        base = self.base[pair]
        for n, x in self.said[a].items():
            if n in expected:
                base[n] = dict(x)
                self.kept[pair].pop(n, None)
        for n in [n for n in base if n not in expected and n not in self.said[a]]:
            del base[n]
            self.kept[pair].pop(n, None)
            self.ended[pair].add(n)
        self.said[b] = expected
        again = self.planned(source, self.stores[b], choices, {})
        assert not again.blocked, again.outcomes
        assert again.changes == (), "a second conversion finds something to do"

    def planned(
        self,
        source: Opened,
        destination: Opened,
        choices: Choices,
        decisions: Mapping[str, Mapping[str, str]],
    ) -> Plan:
        """Plan, with a kind for each record that its destination demands one of."""
        made = {key: dict(d) for key, d in decisions.items()}
        found = plan(source, destination, dataclasses.replace(choices, decisions=made), now=NOW)
        kinds = destination.adapter.kinds
        asked = [
            key for key, ways in found.template.items() if isinstance(ways, dict) and "kind" in ways
        ]
        if not asked or kinds is None:
            return found
        for key in asked:
            made.setdefault(key, {})["kind"] = kinds.terms[0]
        return plan(source, destination, dataclasses.replace(choices, decisions=made), now=NOW)

    def expected(
        self, a: int, b: int, *, delete: bool
    ) -> tuple[Model, dict[int, list[str]], set[int]]:
        """Say what the destination should say, what a person has to decide, and what waits."""
        pair = min(a, b)
        base = self.base[pair]
        out: Model = {}
        apart: dict[int, list[str]] = {}
        pending: set[int] = set()
        for n in sorted({*self.said[a], *self.said[b]}):
            x, y, then = self.said[a].get(n), self.said[b].get(n), base.get(n)
            kept = None in (x, y) and self.kept[pair].get(n) == (b if x is None else a)
            if then is None or kept:
                out[n] = dict(x or y or {})
            elif x is None:
                assert y is not None
                out[n] = dict(y)
                if y != then:
                    apart[n] = []
                elif delete:
                    del out[n]
                else:
                    pending.add(n)
            elif y is None:
                if x != then:
                    apart[n] = []
            else:
                out[n] = {f: x[f] if y[f] == then[f] or x[f] == y[f] else y[f] for f in TEXTS}
                names = [f for f in TEXTS if x[f] != y[f] and then[f] not in (x[f], y[f])]
                for (
                    f
                ) in TEXTS:  # what a format cannot say, and nobody told its store, is no opinion
                    if not (x[f] or can_hold(self.stores[a].adapter, f)):
                        out[n][f] = y[f]
                    elif not (y[f] or can_hold(self.stores[b].adapter, f)):
                        out[n][f] = x[f]
                    else:
                        continue
                    names = [name for name in names if name != f]
                if names:
                    apart[n] = names
        return out, apart, pending

    def shows(self, i: int, expected: Model) -> None:
        """See that the format itself says what it can say."""
        store = self.stores[i]
        for record in store.raw.records:
            said = marks(record)
            for f, wanted in expected[which(record)].items():
                if not wanted or store.adapter.holds.get(f) is not Hold.EXACT:
                    continue
                if f == "hook" and said[f] == said["description"]:
                    continue  # theokit's entries repeat the description
                # memhtml's article begins with the description
                assert said[f][-1:] == wanted[-1:], (store.adapter.name, f, said[f], wanted)


Rows.TestCase.settings = settings(
    max_examples=80, stateful_step_count=14, deadline=None, report_multiple_bugs=False
)
TestMergeTable = Rows.TestCase
