"""Text diffs: the law that makes them data, and what a reader sees as one word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop.textdiff import Line, Part, Skip, hunks, lines, tokens, words
from tests.work import calls

TEXTS = st.text("ab .\n-\r轮\u0301\u200d👩é", max_size=40) | st.text(max_size=20)


def side(compared: tuple[Line, ...], other: str) -> str | None:
    told = [line.text for line in compared if line.op != other]
    return "\n".join(told) if told else None


@pytest.mark.parametrize("times", [140, 199, 600, 5_000])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x{n}\n\n", "\ny{n}\n"),
        ("a b ", "b a "),
        ("north{n} ", "south{n} "),
        ("north{n} of ", "south{n} of "),
        ("x\n\n", "\ny\n"),
    ],
)
def test_no_text_makes_much_work(one: str, other: str, times: int) -> None:
    """Passages of hundreds of words that have only spaces in common, or blank lines."""
    a, b = ("".join(x.format(n=n) for n in range(times)) for x in (one, other))
    assert calls(lambda: lines(a, b)) < 4_000_000 + 100 * times
    assert calls(lambda: words(a, b)) < 4_000_000 + 100 * times


@given(a=st.none() | TEXTS, b=st.none() | TEXTS)
def test_what_is_equal_or_removed_is_one_text_and_what_is_equal_or_added_the_other(
    a: str | None, b: str | None
) -> None:
    compared = lines(a, b)
    assert side(compared, "added") == a
    assert side(compared, "removed") == b
    for line in compared:
        assert {part.op for part in line.parts} <= {line.op, "equal"}
    assert [x.a for x in compared if x.a] == list(
        range(1, 1 + sum(x.op != "added" for x in compared))
    )
    assert [x.b for x in compared if x.b] == list(
        range(1, 1 + sum(x.op != "removed" for x in compared))
    )


@given(a=TEXTS, b=TEXTS)
def test_words_have_the_same_law(a: str, b: str) -> None:
    parts = words(a, b)
    assert "".join(p.text for p in parts if p.op != "added") == a
    assert "".join(p.text for p in parts if p.op != "removed") == b


@given(a=TEXTS)
def test_a_text_does_not_differ_from_itself(a: str) -> None:
    assert {line.op for line in lines(a, a)} == {"equal"}


@given(text=TEXTS)
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text


@given(a=TEXTS, b=TEXTS, context=st.integers(0, 3))
def test_hunks_leave_out_equal_lines_only_and_count_them(a: str, b: str, context: int) -> None:
    compared = lines(a, b)
    shown = list(hunks(compared, context))
    left_out = sum(h.number for h in shown if isinstance(h, Skip))
    kept = [h for h in shown if isinstance(h, Line)]
    assert left_out + len(kept) == len(compared)
    assert [x for x in kept if x.op != "equal"] == [x for x in compared if x.op != "equal"]


def test_the_words_that_changed_are_marked() -> None:
    assert words("stands at the ramp", "stands by the ramp") == (
        Part("equal", "stands "),
        Part("removed", "at"),
        Part("added", "by"),
        Part("equal", " the ramp"),
    )


def test_texts_with_little_in_common_are_not_marked() -> None:
    assert words("Two bar, no more.", "Ask the workshop first") == (
        Part("removed", "Two bar, no more."),
        Part("added", "Ask the workshop first"),
    )


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Größe: 26\"", ["Größe", ":", " ", "26", '"']),
        ("e\u0301t", ["e\u0301t"]),
        ("轮胎 x", ["轮", "胎", " ", "x"]),
        ("👩‍🔧👍🏽", ["👩‍🔧", "👍🏽"]),
    ],
)  # fmt: skip
def test_what_a_reader_sees_as_one_is_not_cut(text: str, cut: list[str]) -> None:
    found = tokens(text)
    if text.startswith("e"):
        assert found[0].startswith("e\u0301")
    else:
        assert found == cut


def test_a_huge_text_is_compared_by_lines_alone() -> None:
    a, b = (" ".join([word] * 3_000) for word in ("wheel", "wheels"))
    assert [line.parts for line in lines(a, b)] == [(Part("removed", a),), (Part("added", b),)]
