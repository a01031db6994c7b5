"""Diffs: the law that makes them data, and what a person sees between real stores."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from interop import check, fields, registry
from interop.adapter import Context, Kinds
from interop.diff import Change, compare, diff, patch
from interop.model import Body, Json, Memory, Store
from interop.stores import Opened, assemble
from tests.samples import Sample
from tests.strategies import records
from tests.test_round_trips import convert, edited, fresh, others

CLAUDE = Kinds(vocabulary="claude", terms=("user", "project"))


@st.composite
def stores(draw: st.DrawFn) -> Store:
    drawn = draw(st.lists(records(CLAUDE), max_size=6))
    keyed = {f"{i}-{r.key}": r for i, r in enumerate(drawn)}
    kept = draw(st.permutations(list(keyed.items())))
    carried = draw(
        st.dictionaries(st.sampled_from(["a.csv", "b.png", "MEMORY.md#"]), st.just("d1"))
    )
    # what is empty is not stated
    new = (fields.from_json({**fields.to_json(r), "key": k}) for k, r in kept)
    return Store(format="x", records=tuple(new), carried=carried)


@given(a=stores(), b=stores())
def test_patch_makes_one_the_other(a: Store, b: Store) -> None:
    assert patch(a, compare(a, b)) == b


@given(a=stores(), data=st.data())
def test_patch_makes_edits(a: Store, data: st.DataObject) -> None:
    """Stores that are alike: edits, removals, moves and a new order."""
    others_ = data.draw(st.permutations(list(a.records)))
    new = [
        dataclasses.replace(r, description=data.draw(st.text(max_size=4)) or None)
        for r in others_
        if isinstance(r, Memory) and data.draw(st.integers(0, 3))
    ]
    b = dataclasses.replace(a, records=tuple(new))
    assert patch(a, compare(a, b)) == b


@given(a=stores())
def test_nothing_differs_from_itself(a: Store) -> None:
    assert compare(a, a) == ()


def test_a_store_does_not_differ_from_itself(sample: Sample) -> None:
    assert diff(sample.opened("a"), sample.opened("b")).changes == ()


def test_a_linked_twin_shows_nothing(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        assert diff(a, b).changes == ()
        assert diff(b, a).changes == ()


def test_an_unlinked_twin_shows_nothing_but_what_was_declared(sample: Sample) -> None:
    """Without the complement: the fields that both hold, each in the other's words."""
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        travelled = {x.key for x in b.restored.carried}
        bare = assemble(other, Path("b"), dataclasses.replace(b.tree, complement=None), None, "new")
        left = [c for c in diff(a, bare).changes if c.tag not in ("noise", "order")]
        for change in left:
            known = change.key_a in travelled or change.field == "kinds"
            assert known or _says_nothing(change), change


def _says_nothing(change: Change) -> bool:
    """Is it a record without a word? In a file of many records nothing tells what it was."""
    record = change.a if change.what == "removed" else change.b
    if change.what not in ("added", "removed") or not isinstance(record, dict):
        return False
    body = record.get("body")
    return record.keys() <= {"role", "key", "state", "body"} and body == {
        "text": "",
        "media": "text/markdown",
    }


def test_each_kind_of_change_is_named() -> None:
    adapter = registry.get("bantamkit")
    a = _facts(adapter.name, {"pump": "At the ramp.", "locks": "B7", "old": "x"})
    records_ = {r.key: r for r in a.raw.records}
    pump, old = records_["facts/pump.md"], records_["facts/old.md"]
    assert isinstance(pump, Memory)
    assert isinstance(old, Memory)
    b = edited(
        a,
        {
            "facts/pump.md": dataclasses.replace(pump, body=Body(text="By the ramp.")),
            "facts/locks.md": None,
            "facts/old.md": dataclasses.replace(old, state="archived", recalled="2026-08-01"),
        },
    )
    found = {(c.what, c.tag, c.key_a, c.field) for c in diff(a, b).changes}
    assert found >= {
        ("changed", "content", "facts/pump.md", "body"),
        ("removed", "content", "facts/locks.md", None),
        ("moved", "content", "facts/old.md", None),
        ("archived", "content", "facts/old.md", "state"),
        ("changed", "noise", "facts/old.md", "recalled"),
    }
    assert not diff(a, b).same
    recalled = edited(a, {"facts/pump.md": dataclasses.replace(pump, recalled="2026-08-01")})
    assert diff(a, recalled).changes != ()
    assert diff(a, recalled).same, "what the runtime does by itself is no difference"


def test_carried_files_are_compared(sample: Sample) -> None:
    paths = [p for p in sample.opened().raw.carried if not p.endswith("#")]
    if paths:
        a = sample.opened("a")
        files = {p: b for p, b in a.tree.files.items() if p != paths[0]}
        tree = dataclasses.replace(a.tree, files=files)
        b = assemble(a.adapter, a.root, tree, None, "b")
        assert paths[0] in [c.key_a for c in diff(a, b).changes if c.what == "carried"]


def _facts(name: str, texts: dict[str, str]) -> Opened:
    adapter = registry.get(name)
    new = tuple(
        Memory(
            key=f"{stem}.md",
            name=stem,
            description=f"About {stem}",
            body=Body(text=text),
            kinds={"claude": "project"},
        )
        for stem, text in texts.items()
    )
    store = check.empty(adapter, "a")
    written = store.adapter.write(
        Store(format=store.adapter.name, records=new), {}, Context(now="2026-09-01T08:30:00.000Z")
    )
    tree = dataclasses.replace(store.tree, files=dict(written.files))
    return assemble(store.adapter, store.root, tree, None, store.raw.id)


def test_what_a_runtime_changes_by_itself_is_noise() -> None:
    """Sleep in a memhtml store: decayed confidence, entities in lower case, a new date."""
    adapter = registry.get("memhtml")
    key = "areas/inbox/pump.html"
    pump = Memory(
        key=key,
        title="Pump",
        body=Body(text="<p><mark>At the ramp.</mark></p>", media="text/html"),
        kinds={"memhtml": "semantic"},
        entities=("person:Mira Ott",),
        created="2026-05-01",
        modified="2026-05-02T10:00:00Z",
        extra={"memhtml": {"importance": "3"}},
    )
    slept = dataclasses.replace(
        pump,
        entities=("person:mira ott",),
        modified="2026-05-02T00:00:00Z",
        extra={"memhtml": {"confidence": "0.920", "importance": "3"}},
    )
    a, b, edited_too = (
        _opened(adapter.name, record)
        for record in (pump, slept, dataclasses.replace(slept, entities=("person:piet",)))
    )
    found = diff(a, b)
    assert {(c.field, c.tag) for c in found.changes} == {
        ("entities", "noise"),
        ("extra", "noise"),
        ("modified", "noise"),
    }
    assert found.same
    assert patch(a.restored.store, found.changes).records == b.restored.store.records
    tags = {c.field: c.tag for c in diff(a, edited_too).changes}
    assert tags == {"entities": "content", "extra": "noise", "modified": "noise"}
    bare = _opened(adapter.name, dataclasses.replace(pump, entities=()))
    assert [(c.field, c.tag) for c in diff(bare, a).changes] == [("entities", "omission")]


def test_a_linked_twin_that_its_runtime_touched_shows_noise_only() -> None:
    """Whichever side the runtime is on: what it does by itself is calmed on both."""
    a = _facts("bantamkit", {"pump": "At the ramp."})
    b = convert(a, fresh(registry.get("memhtml"), "b"))
    (there,) = b.raw.records
    assert isinstance(there, Memory)
    extra: dict[str, Json] = {"memhtml": {"confidence": "0.920"}}
    slept = edited(b, {there.key: dataclasses.replace(there, extra=extra)})
    for found in (diff(a, slept), diff(slept, a)):
        assert [(c.field, c.tag) for c in found.changes] == [("extra", "noise")]


def _opened(name: str, record: Memory) -> Opened:
    store = check.empty(registry.get(name), "a")
    written = store.adapter.write(
        Store(format=name, records=(record,)), {}, Context(now="2026-09-01T08:30:00.000Z")
    )
    tree = dataclasses.replace(store.tree, files=dict(written.files))
    return assemble(store.adapter, store.root, tree, None, store.raw.id)
