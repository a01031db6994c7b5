"""Laying two sequences together: what the library's matcher says, and bounded work beyond it."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import alignment
from interop.alignment import Run, ends, runs, stretches
from tests import work

items = st.lists(st.sampled_from("aabcdefgh"), max_size=30).map(tuple)


@given(items, items)
def test_runs_are_the_same_in_both_and_in_order(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    found = runs(one, other)
    for run in found:
        assert run.size > 0
        assert one[run.a : run.a + run.size] == other[run.b : run.b + run.size]
    for x, y in pairwise(found):
        assert x.a + x.size <= y.a
        assert x.b + x.size <= y.b
        assert (x.a + x.size, x.b + x.size) != (y.a, y.b), "what touches is one"


@given(items, items)
def test_stretches_cover_both(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    found = list(stretches(one, other))
    assert sum((one[s.a : s.a_end] for s in found), ()) == one
    assert sum((other[s.b : s.b_end] for s in found), ()) == other
    for s in found:
        assert s.same == (one[s.a : s.a_end] == other[s.b : s.b_end])


@given(items, items)
def test_it_is_what_the_matcher_says_between_the_ends(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    head, tail = ends(one, other)
    inner, inner_other = one[head : len(one) - tail], other[head : len(other) - tail]
    blocks = SequenceMatcher(None, inner, inner_other, autojunk=False).get_matching_blocks()
    matched = sum(block.size for block in blocks)
    assert sum(run.size for run in runs(one, other)) == head + tail + matched


@given(items, items)
def test_the_long_way_keeps_the_same_promises(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "WORK_AT_MOST", 8)
        found = list(stretches(one, other))
    assert sum((one[s.a : s.a_end] for s in found), ()) == one
    assert sum((other[s.b : s.b_end] for s in found), ()) == other
    assert all(one[s.a : s.a_end] == other[s.b : s.b_end] for s in found if s.same)


def test_what_stands_once_in_both_divides_long_texts() -> None:
    """Every second line is blank, every third paragraph was edited."""
    old = [line for n in range(3000) for line in (f"paragraph {n}", "")]
    new = [line for n in range(3000) for line in (f"paragraph {n}" + "!" * (n % 3 == 1), "")]
    found = runs(old, new)
    assert sum(run.size for run in found) == 3000 + 2000
    assert found[0] == Run(0, 0, 2)


def test_little_but_the_same_few_lines_stay_where_they_are() -> None:
    old, new = ["x", ""] * 3000, ["y", ""] * 3000
    assert runs(old, new) == [Run(n, n, 1) for n in range(1, 6000, 2)]
    assert runs(old, ["z", *new]) == [Run(5999, 6000, 1)]


def test_work_grows_with_the_texts() -> None:
    def laid(count: int) -> int:
        old = [line for n in range(count) for line in (f"paragraph {n}", "", "---", "")]
        new = [line for n in range(count) for line in (f"Paragraph {n}", "", "---", "")]
        return work.calls(lambda: runs(old, new))

    assert laid(16_000) < 6 * laid(4_000)
