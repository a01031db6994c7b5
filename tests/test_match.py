"""Which record here is which there, where keys are made of texts: by content, place, nearness."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interop import fields, registry
from interop.match import Pair, match
from interop.model import Body, Memory, Record
from tests.work import calls

TOPIC = registry.get("memory-compiler")
THEOKIT = registry.get("theokit")


def bullets(*texts: str) -> tuple[Record, ...]:
    """Give the records of a topic whose facts these are."""
    lines = "".join(f"- {text}\n" for text in texts)
    found = TOPIC.read({"CONTEXT.md": f"# C\n\n## Current facts\n\n{lines}".encode()}).records
    assert [r.body.text for r in found if isinstance(r, Memory)] == list(texts)
    return found


def facts(*texts: str) -> tuple[Record, ...]:
    """Give the records of a theokit store whose facts these are."""
    lines = "".join(f"- {text}\n" for text in texts)
    found = THEOKIT.read({"MEMORY.md": f"# M\n\n## Facts\n\n{lines}".encode()}).records
    assert [r.body.text for r in found if isinstance(r, Memory)] == list(texts)
    return found


def pairs(left: tuple[Record, ...], right: tuple[Record, ...]) -> list[tuple[int, int, str]]:
    found: list[Pair] = match(left, right, handle=TOPIC.handle)
    return [(p.left, p.right, p.how) for p in found]


@pytest.mark.parametrize("shared", [bullets, facts])
@pytest.mark.parametrize(
    ("then", "now", "edited"),
    [
        (["Ann.", "Bo.", "Cy.", "Di."], ["Ann.", "Hall 9.", "Oil.", "Di."], [1, 2]),
        (["Bo.", "Cy.", "Di."], ["Hall 9.", "Oil.", "Di."], [0, 1]),
        (["Ann.", "Bo.", "Cy."], ["Ann.", "Hall 9.", "Oil."], [1, 2]),
        (["Two.", "Bo.", "Cy.", "Two."], ["Two.", "Hall 9.", "Oil.", "Two."], [1, 2]),
        (["Two.", "Two.", "Two.", "Two."], ["Two.", "Hall 9.", "Oil.", "Two."], [1, 2]),
        (["Bo.", "Two.", "Two.", "Cy."], ["Hall 9.", "Oil.", "Two.", "Cy."], [0, 1]),
        # equal ones are told apart by their places, also where nothing else is as it was
        (["A.", "Two.", "Two.", "B.", "C."], ["X.", "Y.", "Two.", "Z.", "W."], [0, 1, 3, 4]),
        (["A.", "Two.", "Two.", "B.", "C."], ["X.", "Two.", "Y.", "Z.", "W."], [0, 2, 3, 4]),
        (["A.", "Two.", "Two.", "B."], ["X.", "Y.", "Two.", "B.", "New."], [0, 1]),
    ],
)
def test_neighbours_that_were_edited_stay_themselves(
    shared: Callable[..., tuple[Record, ...]], then: list[str], now: list[str], edited: list[int]
) -> None:
    found = pairs(shared(*then), shared(*now))
    assert [(i, j) for i, j, _ in found] == [(i, i) for i in range(len(then))]
    assert [i for i, _, how in found if how == "near"] == edited, "a guess is shown as one"


def test_runs_of_different_length_are_no_counterparts() -> None:
    then, now = bullets("Ann.", "Bo.", "Cy.", "Di."), bullets("Ann.", "Hall 9.", "Di.")
    assert [(i, j) for i, j, _ in pairs(then, now)] == [(0, 0), (3, 2)]


def test_what_moved_is_followed() -> None:
    then, now = bullets("Ann.", "Bo.", "Cy.", "Di."), bullets("Cy.", "Ann.", "Bo.", "Di.")
    assert [(i, j) for i, j, _ in pairs(then, now)] == [(0, 1), (1, 2), (2, 0), (3, 3)]


@settings(max_examples=200)
@given(
    then=st.lists(st.sampled_from(["Ann.", "Bo.", "Two.", "Van 1."]), min_size=2, max_size=7),
    data=st.data(),
)
def test_two_edits_side_by_side_are_two_edits(then: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(then) - 2))
    now = [*then[:at], *data.draw(st.permutations(["Hall 9.", "Oil."])), *then[at + 2 :]]
    found = pairs(bullets(*then), bullets(*now))
    assert [(i, j) for i, j, _ in found] == [(i, i) for i in range(len(then))]


def rows(*texts: tuple[str, str]) -> tuple[Record, ...]:
    """Give the records of a topic whose open items these are, each with its id."""
    head = (
        "| ID | Item | Status | Opened | Evidence / Reason | Notes |\n|---|---|---|---|---|---|\n"
    )
    lines = "".join(f"| {name} | {text} | OPEN |  |  |  |\n" for name, text in texts)
    return TOPIC.read({"OPEN_ITEMS.md": f"# O\n\n{head}{lines}".encode()}).records


ASK, PUMP = ("OI-001", "Ask the town about the lane"), ("OI-002", "Pump the tyres every Friday")


@pytest.mark.parametrize(
    "now",
    [
        [ASK, ("OI-003", "Sell the old trailers")],  # at the same place
        [ASK, ("OI-003", "Pump the tyres every Monday")],  # nearly the same text
        [("OI-003", "Sell the old trailers"), ASK],
        [ASK],
    ],
)
def test_a_row_with_another_id_is_another_row(now: list[tuple[str, str]]) -> None:
    found = match(rows(ASK, PUMP), rows(*now), handle=TOPIC.handle)
    assert [(p.left, p.right) for p in found] == [(0, now.index(ASK))]
    alone = match(rows(PUMP), rows(*now), handle=TOPIC.handle)
    assert alone == []


def test_a_row_of_another_status_and_id_is_another_row_though_it_says_the_same() -> None:
    done = [fields.replace(r, {"status": "DONE"}) for r in rows(PUMP)]
    again = rows(("OI-007", PUMP[1]))
    assert match(done, again, handle=TOPIC.handle) == []
    assert [p.how for p in match(rows(PUMP), again, handle=TOPIC.handle)] == ["content"]


def test_a_row_that_is_edited_in_every_cell_is_itself() -> None:
    found = match(rows(ASK, PUMP), rows((PUMP[0], "Sell"), (ASK[0], "Oil")), handle=TOPIC.handle)
    assert [(p.left, p.right) for p in found] == [(0, 1), (1, 0)]


def test_a_file_of_another_name_may_be_the_same() -> None:
    handle = registry.get("claude-code").handle
    one = Memory(key="pump.md", body=Body(text="The pump stands at the ramp of the pier."))
    other = Memory(key="ramp.md", body=Body(text="The pump stands at the ramp of the pier now."))
    assert [p.how for p in match([one], [other], handle=handle)] == ["near"]


@st.composite
def lists(draw: st.DrawFn) -> list[Record]:
    """Give records with few keys and texts, so that both repeat, and whole records do, too."""
    keys = st.sampled_from(
        ["a.md", "b.md", "c.md#1", "c.md#2", "c.md#2~2", "O.md#OI-1", "O.md#OI-2"]
    )
    texts = st.sampled_from(
        ["", "Two.", "Hall 9.", "The pump stands at the ramp.", "The pump stands."]
    )
    pairs = draw(st.lists(st.tuples(keys, texts), max_size=7))
    return [Memory(key=key, body=Body(text=text)) for key, text in pairs]


def _id(record: Record) -> str | None:
    return record.key if not record.key.startswith("c.md#") and "~" not in record.key else None


@settings(max_examples=300)
@given(left=lists(), right=lists(), by_key=st.booleans())
def test_no_record_has_two_counterparts(
    left: list[Record], right: list[Record], by_key: bool
) -> None:
    """Whatever the lists are: also where one says a record twice, as two ways to one store do."""
    found = match(left, right, handle=_id, by_key=by_key)
    assert len({p.left for p in found}) == len({p.right for p in found}) == len(found)
    for p in found:
        one, other = left[p.left], right[p.right]
        if p.how == "near" and one.key.startswith("O.md#") and other.key.startswith("O.md#"):
            assert one.key == other.key or not by_key
    same = match(left, left, handle=_id, by_key=True)
    assert [p for p in same if left[p.left] != left[p.right]] == []
    assert len(same) == len(left)


def test_many_equal_ones_cost_little() -> None:
    """Equal texts, every other one edited: no comparison of all with all."""

    def work(count: int) -> int:
        then = bullets(*(["Two."] * (2 * count)))
        now = bullets(*(text for n in range(count) for text in (f"Hall {n}.", "Two.")))
        found: list[tuple[int, int, str]] = []
        done = calls(lambda: found.extend(pairs(then, now)))
        assert len([how for *_, how in found if how == "key"]) == count
        return done

    assert work(800) < 6 * work(200), "all with all would be sixteen times as many"
