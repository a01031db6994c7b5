"""Through every other format and back: byte-identical, and after edits exactly the edits.

Everything goes through the real planning; the stores stand in memory, as ``convert.after`` gives
them. The same ways on a disk are in test_convert.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest

from interop import check, fields, registry, rendering, roles
from interop.adapter import Adapter, Context
from interop.choices import Choices
from interop.convert import after, plan
from interop.model import Body, Memory, Record, Store
from interop.plan import Plan
from interop.stores import Opened, assemble
from tests.samples import Sample

NOW = "2026-09-01T08:30:00.000Z"


def convert(
    source: Opened, destination: Opened, *, delete: bool = False, carry: bool = True
) -> Opened:
    """Convert with every decision made: placeholder kinds, and what cannot stand travels."""
    return after(planned(source, destination, delete=delete, carry=carry), destination)


def planned(
    source: Opened, destination: Opened, *, delete: bool = False, carry: bool = True
) -> Plan:
    every = frozenset(r.key for r in source.restored.store.records)
    first = plan(source, destination, Choices(allow_tombstoned=every), now=NOW)
    decisions = check.placeholders(first, destination.adapter)
    choices = Choices(carry=carry, decisions=decisions, delete=delete, allow_tombstoned=every)
    found = plan(source, destination, choices, now=NOW)
    assert not found.blocked, [o for o in found.outcomes if o.undecided]
    return found


def fresh(adapter: Adapter, identity: str) -> Opened:
    return check.empty(adapter, identity)


def others(adapter: Adapter) -> list[Adapter]:
    return [a for a in registry.adapters() if a is not adapter]


def edited(store: Opened, edit: dict[str, Record | None]) -> Opened:
    """Let somebody change some records of a store by hand."""
    records = tuple(new for r in store.raw.records if (new := edit.get(r.key, r)) is not None)
    target = Store(format=store.adapter.name, records=records)
    written = store.adapter.write(target, store.tree.files, Context(now=NOW))
    tree = dataclasses.replace(store.tree, files=dict(written.files))
    return assemble(store.adapter, Path(store.root), tree, store.complement, store.raw.id)


def said(store: Opened) -> dict[str, Record]:
    return {r.key: r for r in store.restored.store.records}


def test_there_and_back(sample: Sample) -> None:
    """A to B to an empty place: the same files, attachments and damaged ones among them."""
    for other in others(sample.adapter):
        law = check.through(sample.opened(), other)
        assert law.ok, law.difference


def test_a_copy_is_a_copy(sample: Sample) -> None:
    copy = convert(sample.opened(), fresh(sample.adapter, "copy"))
    assert copy.tree.files == sample.tree.files
    assert said(copy) == said(sample.opened())


def test_back_onto_itself_changes_nothing(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        again = planned(b, a)
        assert [c.path for c in again.changes] == [".interop/complement"]
        assert {o.action for o in again.outcomes} <= {"same", "carry"}


def test_converting_again_changes_nothing_at_all(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        assert planned(a, b).changes == ()


def test_chain(sample: Sample) -> None:
    """A, B, another A, another B: each byte-identical to its like, and the last leads back."""
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        a2 = convert(b, fresh(sample.adapter, "a2"))
        b2 = convert(a2, fresh(other, "b2"))
        a3 = convert(b2, fresh(sample.adapter, "a3"))
        assert a2.tree.files == a.tree.files
        assert b2.tree.files == b.tree.files
        assert a3.tree.files == a.tree.files
        assert said(a3) == said(a)
        first, last = a2.tree.complement, a3.tree.complement
        assert first is not None
        assert last is not None
        assert planned(b2, a).changes[:-1] == (), "a store far back on the way is still known"


def test_back_through_a_chain(sample: Sample) -> None:
    """A, B, C, and back onto B and onto A: nothing changes, and an edit in C is one in A."""
    formats = others(sample.adapter)
    for one, other in zip(formats, [*formats[1:], formats[0]], strict=True):
        a = sample.opened()
        b = convert(a, fresh(one, "b"))
        c = convert(b, fresh(other, "c"))
        b = convert(c, b)
        coming = planned(b, a)
        assert [x.path for x in coming.changes] == [".interop/complement"]
        assert {o.action for o in coming.outcomes} <= {"same", "carry"}
        a = after(coming, a)
        assert planned(a, b).changes[:-1] == ()
        for key in _editable(c)[:1]:
            changed = edited(c, {key: _edit(next(r for r in c.raw.records if r.key == key))})
            onto = planned(changed, b)
            if locked(onto) or any(o.action == "carry" and o.key == key for o in onto.outcomes):
                continue  # what only travels beside B has no say in A
            between = after(onto, b)
            if locked(planned(between, a)):
                continue
            back = after(planned(between, a), a)
            assert len([k for k, r in said(back).items() if said(a).get(k) != r]) == 1
            assert len(said(back)) == len(said(a))


def test_the_complement_does_not_grow_with_hops(sample: Sample) -> None:
    for other in others(sample.adapter):
        store = sample.opened()
        sizes: list[int] = []
        for hop in range(6):
            store = convert(store, fresh(other if hop % 2 == 0 else sample.adapter, f"hop{hop}"))
            kept = store.complement
            assert kept is not None
            sizes.append(sum(len(kept.files[d]) for d in {
                d for s in kept.sources.values() for d in s.tree.values()
            }))  # fmt: skip
        assert sizes[5] <= sizes[1] + sizes[0]


EDIT = "Edited by hand."


def _edit(record: Record, text: str = EDIT) -> Record:
    assert isinstance(record, Memory)
    body = f"{record.body.text}\n\n{text}"
    if "#" in record.key or roles.is_marked(record.body.text):
        body = f"{record.body.text} {text}"
    elif record.body.media == "text/html":
        body = f"{record.body.text}\n<p>{text}</p>"
    return dataclasses.replace(record, body=Body(text=body.strip(), media=record.body.media))


def _editable(store: Opened) -> list[str]:
    return [
        r.key
        for r in store.raw.records
        if isinstance(r, Memory)
        and r.body.text.strip()
        and (r.body.media != "text/html" or rendering.marked(r, store.adapter) is None)
    ]


def locked(found: Plan) -> bool:
    """Does the destination take no change (an open session, JSON of old)? It travels then."""
    return any(
        o.action == "carry" and ("session" in o.reason or "never written" in o.reason)
        for o in found.outcomes
    )


def test_an_edit_there_comes_back_alone(sample: Sample) -> None:
    """What is edited in B changes exactly that record in A."""
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        for key in _editable(b)[:3]:
            record = next(r for r in b.raw.records if r.key == key)
            changed = edited(b, {key: _edit(record)})
            coming = planned(changed, a)
            if locked(coming):
                continue
            back = after(coming, a)
            before, now = said(a), said(back)
            moved = [k for k in now if before.get(k) != now[k]]
            assert len(moved) <= 1, moved
            edits = [r for k, r in said(changed).items() if said(b).get(k) != r]
            assert len(edits) == 1
            assert any(fields.with_key(edits[0], k) == r for k, r in now.items())


def test_an_edit_here_goes_there_alone(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        for key in _editable(a)[:3]:
            record = next(r for r in a.raw.records if r.key == key)
            changed = edited(a, {key: _edit(record)})
            there = convert(changed, b)
            moved = [k for k, r in said(there).items() if said(b).get(k) != r]
            assert len(moved) <= 1, moved
            home = convert(there, fresh(sample.adapter, "home"))
            assert home.tree.files == changed.tree.files


@pytest.mark.parametrize("met", [False, True], ids=["one-way", "both-ways"])
def test_what_is_edited_there_stays_there(sample: Sample, met: bool) -> None:
    """Converting the unchanged source again and again never writes over an edit in B.

    Also where the last conversion went from B to A, so that A knows the newer common state.
    """
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        if met:
            coming = planned(b, a)
            if locked(coming):
                continue
            a = after(coming, a)
        for key in _editable(b)[:2]:
            record = next(r for r in b.raw.records if r.key == key)
            changed = edited(b, {key: _edit(record)})
            once = convert(a, changed)
            assert once.tree.files == changed.tree.files
            again = planned(a, once)
            assert again.changes == (), [o for o in again.outcomes if o.action != "same"]
            home = planned(once, a)
            refused = any(o.key == key and o.action == "carry" for o in home.outcomes)
            if not locked(home) and not refused:
                assert EDIT in str([*said(after(home, a)).values()])


def test_edits_on_both_sides_meet(sample: Sample) -> None:
    """Different records edited on each side: both stores end with both edits, in two passes."""
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        line = {x.to: x.key for x in b.complement.lines if x.to} if b.complement else {}
        keys = [k for k in _editable(b) if line.get(k) in _editable(a)]
        if len(keys) < 2:
            continue
        here, there = line[keys[0]], keys[-1]
        if line[there] == here:
            continue
        a2 = edited(a, {here: _edit(next(r for r in a.raw.records if r.key == here), "Here.")})
        b2 = edited(b, {there: _edit(next(r for r in b.raw.records if r.key == there), "There.")})
        if a2.tree.files == a.tree.files or b2.tree.files == b.tree.files:
            continue  # a file that nobody but its runtime writes
        b3 = convert(a2, b2)
        if locked(planned(b3, a2)):
            continue
        a3 = convert(b3, a2)
        for store in (a3, b3):
            text = "\n".join(
                r.body.text for r in store.restored.store.records if isinstance(r, Memory)
            )
            assert "Here." in text
            assert "There." in text
        assert planned(a3, b3).changes[:-1] == ()
        assert planned(b3, a3).changes[:-1] == ()


def test_the_same_field_on_both_sides_is_a_conflict(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        line = {x.to: x.key for x in b.complement.lines if x.to} if b.complement else {}
        keys = [k for k in _editable(b) if line.get(k) in _editable(a) and "#" not in line[k]]
        if not keys:
            continue
        there, here = keys[0], line[keys[0]]
        a2 = edited(a, {here: _edit(next(r for r in a.raw.records if r.key == here), "Here.")})
        b2 = edited(b, {there: _edit(next(r for r in b.raw.records if r.key == there), "There.")})
        found = plan(a2, b2, Choices(carry=True), now=NOW)
        assert found.blocked
        assert [o.key for o in found.outcomes if o.action == "conflict"] == [here]
        assert found.template == {here: {"take": None}}
        for take in ("source", "destination", "both"):
            choices = Choices(carry=True, decisions={here: {"take": take}})
            if take == "both":
                choices = dataclasses.replace(
                    choices, decisions={here: {"take": take, "kind": _term(other)}}
                )
            decided = after(plan(a2, b2, choices, now=NOW), b2)
            text = "\n".join(
                r.body.text for r in decided.restored.store.records if isinstance(r, Memory)
            )
            assert ("Here." in text) == (take in ("source", "both"))
            assert ("There." in text) == (take in ("destination", "both"))
            settled = plan(a2, decided, Choices(carry=True), now=NOW)
            assert not settled.blocked, "a decision is asked for once"


def _term(adapter: Adapter) -> str | None:
    return adapter.kinds.terms[0] if adapter.kinds is not None else None


def test_a_removal_waits_to_be_asked_for(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        keys = _editable(b)
        if not keys:
            continue
        smaller = edited(b, {keys[0]: None})
        if smaller.tree.files == b.tree.files:
            continue  # rows are permanent
        waiting = planned(smaller, a)
        asked = planned(smaller, a, delete=True)
        # rows are permanent, and an open session lets nothing go: said at once, not when asked
        (expected,) = {"stays" if asked.count("stays") else "pending"}
        ends = ("pending", "remove", "stays")
        assert [o.action for o in waiting.outcomes if o.action in ends] == [expected]
        assert [c.path for c in waiting.changes] == [".interop/complement"]
        kept = after(waiting, a)
        assert said(kept) == said(a)
        asked = planned(smaller, kept, delete=True)
        gone = after(asked, kept)
        if asked.count("stays"):  # rows are permanent, and an open session lets nothing go
            assert said(gone) == said(a)
            continue
        assert len(gone.restored.store.records) == len(a.restored.store.records) - 1
        # and what the destination removed is not created again
        assert len(convert(a, smaller).restored.store.records) == len(
            smaller.restored.store.records
        )


def test_nothing_is_written_without_decisions(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        found = plan(a, fresh(other, "b"), Choices(), now=NOW)
        refused = [o for o in found.outcomes if o.action == "refuse"]
        assert found.blocked == bool(refused)
        rejected = {o.key for o in refused if "--allow-tombstoned" in o.remedy}
        assert {o.key for o in refused} - rejected == set(found.template)
        kinds = other.kinds
        for r in a.raw.records:
            stated: Mapping[str, str] = fields.get(r, "kinds") or {}
            if r.role != "memory" and r.role in other.roles:
                continue  # the role is the declaration
            if kinds and kinds.required and stated.get(kinds.vocabulary) not in kinds.terms:
                assert r.key in found.template.keys() | rejected, "a kind is never made up"
        for o in refused:
            assert o.reason
            assert o.remedy
