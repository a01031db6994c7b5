"""The substring split agrees with Python's own on the text with universal newlines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interop.syntax.substring_fence import fence_is_a_line, first_line_end, split, universal

TEXTS = st.lists(
    st.sampled_from(["---", "-", "\n", "\r\n", "\r", "a", " ", "\ufeff", "---\n", "x---\r\n"])
).map("".join)


@given(TEXTS)
def test_it_finds_the_parts_that_the_split_gives(text: str) -> None:
    rows = universal(text).split("---\n", 2)
    parts = split(text)
    if len(rows) < 3:
        assert parts is None
        return
    assert parts is not None
    before, header, body = rows
    assert universal(text[: parts.opening]) == before
    assert universal(text[parts.header : parts.closing]) == header
    assert universal(text[parts.body :]) == body
    assert text[parts.opening : parts.header] == "---" + parts.line_end
    assert fence_is_a_line(text, parts) == (not header or header.endswith("\n"))


@given(TEXTS)
def test_universal_is_what_text_mode_reads(text: str) -> None:
    assert universal(text) == "\n".join(text.replace("\r\n", "\n").split("\r"))
    found = first_line_end(text)
    assert (found is None) == ("\n" not in universal(text))
