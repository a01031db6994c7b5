"""Edits of encoded texts: carried over to the texts, in whatever way a format encodes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import encoded
from interop.adapters.memory_compiler import cells
from interop.merge import carry_over
from interop.model import Body

TEXT = "Line one | two\n\n```sh\na | b\n```\n\n<!-- c --> end &#124; done"
MARKS = st.sampled_from(["|", "\n", "\n\n", "<!-- ", " ", "```", "&#124;", "<br>", "é", " - "])


@pytest.mark.parametrize(
    ("before", "after", "meant"),
    [
        ("one", "uno", TEXT.replace("one", "uno", 1)),
        ("end", "END", TEXT.replace("end", "END")),
        ("<br>a &#124; b<br>", "<br>", TEXT.replace("\na | b\n", "\n")),
        ("done", "done<br>- last", TEXT + "\n- last"),
        ("&#124; two", "two", TEXT.replace("| two", "two")),
        # one that its author wrote stands there too, so a new one stays as it is written
        ("a &#124; b", "a &#124; b<br>x &#124; d", TEXT.replace("a | b", "a | b\nx &#124; d")),
    ],
)
def test_only_what_was_edited_is_other(before: str, after: str, meant: str) -> None:
    seen = cells.cell(TEXT)
    now = seen.replace(before, after, 1)
    assert now != seen
    assert encoded.carry(TEXT, seen, now) == meant
    assert carry_over(Body(text=TEXT), Body(text=seen), Body(text=now)) == Body(text=meant)


def test_a_mark_that_stands_for_one_thing_only_is_read_so_where_it_is_new() -> None:
    text = "a | b\nc"
    assert encoded.carry(text, "a &#124; b<br>c", "a &#124; b<br>c<br>d &#124; e") == (
        "a | b\nc\nd | e"
    )


def test_what_was_added_to_a_text_is_taken_off_again() -> None:
    assert encoded.carry("Two vans.", "Two vans. (old-vans)", "Six vans. (old-vans)") == "Six vans."
    assert encoded.carry("Two vans.", "Two vans. (old-vans)", "Two vans. (of old)") == (
        "Two vans. (of old)"
    )


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a long text, with a tail", "a long text"),
        ("one\ntwo", "another"),
        ("word " * 40, "&#124; " * 40),
    ],
)
def test_what_lacks_words_of_a_text_is_no_encoding_of_it(text: str, seen: str) -> None:
    assert encoded.carry(text, seen, f"{seen} and more") is None


def test_a_text_that_says_one_thing_over_and_over_is_not_compared_for_minutes() -> None:
    text = "a | " * 3000
    seen = cells.cell(text)
    assert encoded.carry(text, seen, "b" + seen.replace("a", "a a")[1:]) is None


@given(
    parts=st.lists(st.tuples(MARKS, st.sampled_from(["hall", "two bikes", "x", "frost"]))),
    last=MARKS,
    extra=MARKS,
)
def test_one_word_that_is_edited_in_a_cell_is_one_word_in_the_text(
    parts: list[tuple[str, str]], last: str, extra: str
) -> None:
    text = f"{''.join(m + w for m, w in parts)}{last} Zinc {extra}end".strip()
    seen = cells.cell(text)
    assert seen.count("Zinc") == 1
    if seen != text:
        meant = text.replace("Zinc", "Lead")
        assert encoded.carry(text, seen, seen.replace("Zinc", "Lead")) == meant


@given(
    lines=st.lists(
        st.tuples(st.sampled_from(["", "  ", "    ", "\t", "- ", "  - ", "1. "]),
                  st.sampled_from(["hall", "a: 1", "", "x | y"])),
        max_size=6,
    ),
    margin=st.sampled_from(["", "  ", "    "]),
    fence=st.booleans(),
)  # fmt: skip
def test_a_line_that_is_edited_in_a_bullet_has_its_blanks(
    lines: list[tuple[str, str]], margin: str, fence: bool
) -> None:
    mark = "```" if fence else ""
    inner = "\n".join((a + b).rstrip() for a, b in lines)
    text = f"Settings:\n\n{mark}\n{inner}\n{margin}zinc: 64\n{mark}\nend"
    seen = cells.bullet(text)
    assert seen.count("zinc: 64") == 1
    now = seen.replace("zinc: 64", "zinc: 65")
    got = carry_over(Body(text=text), Body(text=seen), Body(text=now))
    assert got == Body(text=text.replace("zinc: 64", "zinc: 65"))
    assert cells.bullet(seen) == seen
