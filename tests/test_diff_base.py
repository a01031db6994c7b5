"""Who changed what since two stores had a common ancestor: data with laws, and real stores."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import check, fields, registry
from interop.adapter import Context
from interop.diff import Change, Diff, compare, diff, patch
from interop.match import Pair, match, similarity
from interop.model import Body, Decision, Json, Link, Memory, Record, Store
from interop.stores import Opened, assemble
from tests.samples import Sample
from tests.test_diff import stores
from tests.test_report import lawful
from tests.test_round_trips import convert, edited, fresh, others
from tests.work import calls

NOW = "2026-09-01T08:30:00.000Z"


def memory(key: str, text: str = "At the ramp.", **said: object) -> Memory:
    known = {"description": f"About {key}", "kinds": {"claude": "project"}, **said}
    return fields.replace(Memory(key=key, body=Body(text=text)), known)  # type: ignore[return-value]


def store(*records: Record, carried: Mapping[str, str] | None = None) -> Store:
    return Store(format="x", records=records, carried=carried or {})


def sides(changes: tuple[Change, ...]) -> set[tuple[str, str | None, tuple[str, ...], str | None]]:
    return {(c.what, c.field, c.at, c.side) for c in changes if c.tag != "agreed"}


# --- laws


VALUES: tuple[Json, ...] = ("1", None, {}, ["2"])
EXTRAS = st.dictionaries(st.sampled_from("pq"), st.sampled_from(VALUES))


@st.composite
def triples(draw: st.DrawFn) -> tuple[Store, Store, Store]:
    """A store, and two that came from it by edits, removals, additions and moves."""
    base = draw(stores())
    return base, draw(descendants(base)), draw(descendants(base))


@st.composite
def descendants(draw: st.DrawFn, base: Store) -> Store:
    new: list[Record] = []
    for record in base.records:
        fate = draw(st.integers(0, 7))
        if fate == 0 or not isinstance(record, Memory):
            continue
        if fate == 1:
            record = fields.replace(record, {"description": draw(st.sampled_from("xyz"))})
        elif fate == 2:
            extra = draw(st.dictionaries(st.sampled_from(["m", "n"]), EXTRAS))
            record = fields.replace(record, {"extra": extra})
        elif fate == 3:
            kinds = st.dictionaries(st.sampled_from(["claude", "memhtml"]), st.sampled_from("uv"))
            record = fields.replace(record, {"kinds": draw(kinds)})
        elif fate == 4:
            record = fields.with_key(record, record.key + draw(st.sampled_from("12")))
        elif fate == 5:
            record = Decision(key=record.key, decision=draw(st.sampled_from("xy")))
        new.append(record)
    if draw(st.booleans()):
        new.append(memory("new.md", draw(st.sampled_from(["One.", "Two."]))))
    carried = draw(st.dictionaries(st.sampled_from(["a.csv", "MEMORY.md#"]), st.sampled_from("12")))
    return dataclasses.replace(base, records=tuple(new), carried=carried)


@given(three=triples())
def test_patch_makes_one_the_other_with_a_base_too(three: tuple[Store, Store, Store]) -> None:
    base, a, b = three
    changes = compare(a, b, base)
    assert patch(a, changes) == b
    lawful(Diff(changes=tuple(c for c in changes if "\\ud" not in repr(c))))
    assert patch(a, compare(a, b)) == b, "and without one"


@given(three=triples())
def test_the_other_way_round_says_the_same_of_the_sides(three: tuple[Store, Store, Store]) -> None:
    base, a, b = three
    turned = {"a": "b", "b": "a", "both": "both", "conflict": "conflict", None: None}

    def said(changes: tuple[Change, ...], *, turn: bool) -> list[str]:
        names = {"added": "removed", "removed": "added", "archived": "restored"}
        names |= {v: k for k, v in names.items()}
        return sorted(
            repr(
                (
                    names.get(c.what, c.what) if turn and c.tag != "agreed" else c.what,
                    c.field,
                    c.at,
                    turned[c.side] if turn else c.side,
                    c.base,
                )
            )
            for c in changes
            if not c.probable and c.what != "order"
        )

    assert said(compare(a, b, base), turn=False) == said(compare(b, a, base), turn=True)


@given(three=triples())
def test_what_only_one_side_changed_is_said_to_be_its(three: tuple[Store, Store, Store]) -> None:
    base, _, b = three
    changes = compare(base, b, base)
    assert {c.side for c in changes if c.tag in ("content", "omission")} <= {"b"}
    assert [c for c in changes if c.tag == "agreed"] == []
    changes = compare(b, base, base)
    assert {c.side for c in changes if c.tag in ("content", "omission")} <= {"a"}


@given(three=triples())
def test_what_both_did_alike_is_no_difference(three: tuple[Store, Store, Store]) -> None:
    base, _, b = three
    changes = compare(b, b, base)
    assert {(c.tag, c.side) for c in changes} <= {("agreed", "both")}
    alone = [c for c in compare(base, b) if c.tag in ("content", "omission") and not c.probable]
    if alone:
        assert changes != ()


# --- each thing that can be said


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        ({"title": "P"}, {}, {("changed", "title", (), "a")}),
        ({}, {"title": "P"}, {("changed", "title", (), "b")}),
        ({"title": "P"}, {"title": "Q"}, {("changed", "title", (), "conflict")}),
        ({"title": "P"}, {"session": "Q"},
         {("changed", "title", (), "a"), ("changed", "session", (), "b")}),
        ({"tags": ("x",)}, {"tags": ("y",)}, {("changed", "tags", (), "both")}),
        ({"kinds": {"claude": "user"}}, {"kinds": {"claude": "project", "memhtml": "fact"}},
         {("changed", "kinds", ("claude",), "a"), ("changed", "kinds", ("memhtml",), "b")}),
        ({"kinds": {"claude": "user"}}, {"kinds": None},
         {("changed", "kinds", ("claude",), "conflict")}),
        ({"state": "archived"}, {}, {("archived", "state", (), "a")}),
        ({}, {"state": "archived", "body": Body(text="By the ramp.")},
         {("archived", "state", (), "b"), ("changed", "body", (), "b")}),
        ({"extra": {"m": {"p": "1"}}}, {"extra": {"m": {"q": "2"}}},
         {("changed", "extra", ("m", "p"), "a"), ("changed", "extra", ("m", "q"), "b")}),
        ({"recalled": "2026-08-01"}, {"recalled": "2026-08-02"},
         {("changed", "recalled", (), None)}),
    ],
)  # fmt: skip
def test_each_field_says_its_side(
    mine: dict[str, object], theirs: dict[str, object], expected: set[object]
) -> None:
    base = memory("pump.md")
    a, b = fields.replace(base, mine), fields.replace(base, theirs)
    # the archived state turns around when it is A's
    found = compare(store(a), store(b), store(base))
    if mine == {"state": "archived"}:
        expected = {("restored", "state", (), "a")}
    assert sides(found) == expected


def test_a_record_on_one_side_was_added_there_or_removed_on_the_other() -> None:
    pump, dock, lamp, bell = (
        memory(f"{n}.md", f"The {n}.") for n in ("pump", "dock", "lamp", "bell")
    )
    changed = fields.replace(lamp, {"title": "Lamps"})
    found = compare(store(pump, changed, bell), store(dock), store(dock, lamp, bell))
    assert {(c.what, c.key_a or c.key_b, c.side) for c in found if c.what != "order"} == {
        ("removed", "pump.md", "a"),
        ("added", "dock.md", "a"),
        ("removed", "lamp.md", "conflict"),
        ("removed", "bell.md", "b"),
    }
    (gone,) = compare(store(), store(), store(pump))
    assert (gone.what, gone.tag, gone.side, gone.key_a) == ("removed", "agreed", "both", "pump.md")
    (new,) = compare(store(pump), store(pump), store())
    assert (new.what, new.tag, new.side) == ("added", "agreed", "both")


def test_addresses_and_files_say_their_side_too() -> None:
    base, moved = memory("pump.md"), memory("air.md", description="About pump.md")
    found = compare(store(base), store(moved), store(base))
    assert [(c.what, c.side, c.base) for c in found] == [("moved", "b", "pump.md")]
    other = fields.with_key(moved, "tyres.md")
    found = compare(store(other), store(moved), store(base))
    assert [(c.what, c.side) for c in found] == [("moved", "conflict")]
    found = compare(
        store(carried={"a": "1", "b": "2", "c": "1", "d": "2"}),
        store(carried={"a": "2", "b": "1", "c": "3", "d": "2"}),
        store(carried={"a": "1", "b": "1", "c": "2", "d": "1"}),
    )
    assert [(c.key_b, c.side, c.tag) for c in found] == [
        ("a", "b", "content"),
        ("b", "a", "content"),
        ("c", "conflict", "content"),
        ("d", "both", "agreed"),
    ]


def test_two_edits_of_one_record_meet_through_the_base() -> None:
    """Each is like the base, but no longer like the other: the base says that they are one."""
    words = [f"word{n}" for n in range(100)]
    one, two, three = (
        memory(f"{name}.md", " ".join([*words[:start], *(["new"] * 12), *words[start + 12 :]]),
               description="x")
        for name, start in (("b", 5), ("c", 40), ("d", 80))
    )  # fmt: skip
    base = memory("base.md", " ".join(words), description="x")
    a, b = store(one), store(three)
    assert similarity(one, three) < similarity(base, one)
    assert two != one
    joined = compare(a, b, store(base))
    assert {c.what for c in joined} == {"moved", "changed"}
    assert {(c.probable, c.side) for c in joined} == {(True, "conflict")}


# --- conversions as the ancestor


def test_without_an_ancestor_nothing_is_claimed(sample: Sample) -> None:
    a, b = sample.opened("a"), check.empty(sample.adapter, "b")
    found = diff(a, b)
    assert found.since is None
    assert {(c.side, c.base) for c in found.changes} <= {(None, None)}


def _facts(name: str, texts: Mapping[str, str]) -> Opened:
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
    empty = check.empty(adapter, "a")
    files = adapter.write(Store(format=name, records=new), {}, Context(now=NOW)).files
    tree = dataclasses.replace(empty.tree, files=dict(files))
    return assemble(adapter, empty.root, tree, None, "a")


def find(opened: Opened, name: str) -> Memory:
    (found,) = (r for r in opened.raw.records if isinstance(r, Memory) and r.name == name)
    return found


TEXTS = {name: f"The {name} stands at the ramp of the yard." for name in ("pump", "lock", "dock",
         "lamp", "bell", "helmet")}  # fmt: skip


@pytest.mark.parametrize("other", ["claude-code", "memhtml", "bantamkit"])
def test_a_conversion_is_the_ancestor_on_whichever_side_its_complement_lies(other: str) -> None:
    a = _facts("bantamkit", TEXTS)
    b = convert(a, fresh(registry.get(other), "b"))
    there = {r.name: r for r in b.restored.store.records if isinstance(r, Memory)}
    raw = {r.key: r for r in b.raw.records}

    def other_text(name: str, text: str) -> tuple[str, Record]:
        record = raw[there[name].key]
        assert isinstance(record, Memory)
        body = record.body
        new = body.text.replace("stands", text)
        assert new != body.text
        return record.key, dataclasses.replace(record, body=Body(text=new, media=body.media))

    by_hand: dict[str, Record | None] = {find(a, "helmet").key: None}
    a2 = edited(
        a,
        by_hand
        | {
            find(a, n).key: dataclasses.replace(find(a, n), body=Body(text=text))
            for n, text in (
                ("pump", "The pump lies at the ramp of the yard."),
                ("lock", "The lock hangs at the ramp of the yard."),
                ("dock", "The dock rests at the ramp of the yard."),
                ("bell", "The bell rings at the ramp of the yard."),
            )
        },
    )
    b2 = edited(
        b,
        dict([other_text("lock", "sits"), other_text("dock", "rests"), other_text("lamp", "glows")])
        | {there["bell"].key: None},
    )
    expected = {
        ("pump", "a", "content"),
        ("lock", "conflict", "content"),
        ("dock", "both", "agreed"),
        ("lamp", "b", "content"),
        ("bell", "conflict", "content"),
        ("helmet", "a", "content"),
    }
    turned = {"a": "b", "b": "a"}
    names = {find(a, n).key: n for n in TEXTS} | {there[n].key: n for n in TEXTS}
    for one, two, turn in ((a2, b2, False), (b2, a2, True)):
        found = diff(one, two)
        assert found.since == "their last conversion"
        said = {
            (names[c.key_a or c.key_b or ""], turned.get(c.side or "", c.side) if turn else c.side,
             c.tag)
            for c in found.changes
            if c.field == "body" or c.what in ("added", "removed")
        }  # fmt: skip
        assert said == expected


def test_a_linked_twin_claims_nothing(sample: Sample) -> None:
    for other in others(sample.adapter):
        a = sample.opened()
        b = convert(a, fresh(other, "b"))
        assert diff(a, b).changes == ()


def test_a_store_beside_its_copies_with_a_base_of_another_format(sample: Sample) -> None:
    """The base is a twin in another format: nothing was changed, and nothing is said to be."""
    a = sample.opened("a")
    for other in others(sample.adapter):
        twin = convert(a, fresh(other, "twin"))
        found = diff(a, sample.opened("b"), twin)
        assert [c for c in found.changes if c.tag != "agreed"] == []
        lawful(found)


def test_a_base_of_any_format_tells_the_sides() -> None:
    a = _facts("bantamkit", TEXTS)
    monday = convert(a, fresh(registry.get("claude-code"), "monday"))
    bare = assemble(
        monday.adapter,
        Path("monday"),
        dataclasses.replace(monday.tree, complement=None),
        None,
        "monday",
    )
    pump, lock = find(a, "pump"), find(a, "lock")
    a2 = edited(a, {pump.key: dataclasses.replace(pump, description="Where it is")})
    b2 = edited(
        a,
        {
            pump.key: dataclasses.replace(pump, description="What it is"),
            lock.key: dataclasses.replace(lock, body=Body(text="The lock hangs at the ramp.")),
        },
    )
    for base in (a, monday, bare):
        found = diff(a2, b2, base)
        assert {(c.key_a, c.field, c.side) for c in found.changes} == {
            (pump.key, "description", "conflict"),
            (lock.key, "body", "b"),
        }
        assert found.since == base.label


# --- kinds, and what is probably the same


def test_kinds_are_told_apart_by_their_vocabulary() -> None:
    a = memory("a.md", kinds={"claude": "user", "memhtml": "fact"})
    b = memory("a.md", kinds={"claude": "project"})
    found = compare(store(a), store(b))
    assert [(c.field, c.at, c.tag, c.a, c.b) for c in found] == [
        ("kinds", ("claude",), "content", "user", "project"),
        ("kinds", ("memhtml",), "omission", "fact", None),
    ]


def test_what_is_probably_the_same_says_how_alike_it_is() -> None:
    a = memory("a.md", "The pump stands at the ramp. Two bar.", description="x")
    b = memory("b.md", "The pump stands at the ramp. Three bar.", description="x")
    found = compare(store(a), store(b))
    assert {(c.what, c.probable) for c in found} == {("moved", True), ("changed", True)}
    (score,) = {c.similarity for c in found}
    assert score == round(similarity(a, b), 1)
    assert score is not None
    assert 80 <= score < 100


def test_neighbours_at_one_place_have_no_similarity() -> None:
    def table(text: str) -> Store:
        texts = ("One.", text, "Three.")
        return store(
            *(Memory(key=f"t.md#{t}", body=Body(text=t), links=(Link(target="x"),)) for t in texts)
        )

    a, b = table("Two."), table("Something else")
    (pair,) = (p for p in match(a.records, b.records, handle=lambda _: None) if p.how == "near")
    assert (pair.left, pair.right, pair.score) == (1, 1, None)
    found = compare(a, b)
    assert {(c.probable, c.similarity) for c in found if c.field == "body"} == {(True, None)}


def test_texts_of_one_pattern_find_each_other_by_what_tells_them_apart() -> None:
    texts = [
        f"Bike {n + 1_000} stands at dock {n % 7} of the yard, and its tyres want two bar;"
        " ask Mira first."
        for n in range(600)
    ]
    a = [memory(f"a{n}.md", text, description=None) for n, text in enumerate(texts)]
    b = [memory(f"b{n}.md", t.replace("Mira", "Piet"), description=None)
         for n, t in reversed(list(enumerate(texts)))]  # fmt: skip
    found = match(a, b, handle=lambda _: None)
    assert [(p.left, len(b) - 1 - p.right, p.how) for p in found] == [
        (n, n, "near") for n in range(600)
    ]


@pytest.mark.parametrize("vocabulary", [4_000, 60], ids=["rare words", "common words only"])
def test_the_work_does_not_grow_with_the_square_where_nothing_matches(vocabulary: int) -> None:
    rng = random.Random(7)
    known = [
        "".join(rng.choices("aeioubcdfglmnprst", k=rng.randint(3, 8))) for _ in range(vocabulary)
    ]
    often = [1 / n for n in range(1, len(known) + 1)]

    def text() -> str:
        return " ".join(rng.choices(known, often, k=40))

    def work(count: int) -> int:
        a, b = (
            [Memory(key=f"{side}{n}.md", body=Body(text=text())) for n in range(count)]
            for side in "ab"
        )
        found: list[Pair] = []
        done = calls(lambda: found.extend(match(a, b, handle=lambda _: None)))
        assert found == []
        return done

    assert work(2_000) < 8 * work(500), "all pairs would be sixteen times as many"
