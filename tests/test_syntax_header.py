"""Fenced headers: what is read, where it stands, and what an edit changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop.model import Json
from interop.syntax import header as fenced
from interop.syntax.header import Header
from interop.syntax.splice import Edit, splice

WORDS = st.text(
    st.sampled_from("abc é:#-'\"\\,[]{}|>&*!%@`\n\r\t\x00\u2028\ufeff~?="), max_size=12
).filter(bool)


def read(*lines: str) -> Header:
    found = fenced.parse("---\n" + "".join(f"{line}\n" for line in lines) + "---\n")
    assert found is not None
    return found


def said(*lines: str) -> dict[str, Json]:
    text = "---\n" + "".join(f"{line}\n" for line in lines) + "---\n"
    found = fenced.parse(text)
    assert found is not None
    return {e.key: fenced.value(text, e) for e in found.entries}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "---\nname: x\n",
        "----\n---\n",
        "a\n---\n---\n",
        "---\rx\n---\n",
        "+++\n",
    ],
)
def test_no_header(text: str) -> None:
    assert fenced.parse(text) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("---\n---\n", 8),
        ("---\n---", 7),
        ("\ufeff---\r\na: b\r\n---\r\nx", 17),
        ("---  \na: b\n---\t\nx", 16),
        ("---\na: b\n---\n---\n", 13),
    ],
)
def test_ends_at_the_first_closing_line(text: str, end: int) -> None:
    found = fenced.parse(text)
    assert found is not None
    assert found.end == end


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("k: plain", "plain"),
        ("k:plain", "plain"),
        ("k:   padded \t", "padded"),
        ("k:", ""),
        ("k: a: b # c", "a: b # c"),
        ('k: "ok" then', '"ok" then'),
        ('k: "a \\"b\\" \\u00e9\\x41\\\\"', 'a "b" éA\\'),
        ('k: "\\ud83d\\ude00 \\ud83d \\q"', "😀 \\ud83d \\q"),
        ("k: 'it''s'", "it's"),
        ("k: ''", ""),
        ("k: 2026-05-01", "2026-05-01"),
        ("k: yes", "yes"),
        ("k: [a, 'b c']", ["a", "b c"]),
        ("k: {a: 1, b: [x]}", {"a": "1", "b": ["x"]}),
        ("k: [broken", "[broken"),
        ("k: [&x 1, *x]", "[&x 1, *x]"),
    ],
)
def test_values_on_one_line(line: str, value: Json) -> None:
    assert said(line) == {"k": value}


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (("k: one", "  two", "", "   three"), "one two three"),
        (("k:", "  words only"), "words only"),
        (('k: "one', '  two"'), "one two"),
        (("k: >-", "  one", "  two"), "one two"),
        (("k: |", "  one", "  two"), "one\ntwo\n"),
        (("k: |", "", "  # no comment"), "\n# no comment\n"),
        (("k:", "- a", '- "b: c"'), ["a", "b: c"]),
        (("k:", "  - a", "  # said", "  - b"), ["a", "b"]),
        (("k:", "  - n: 1", "    m: 2"), [{"n": "1", "m": "2"}]),
        (("k:", "  a: 1", "  b:", "    c: 2"), {"a": "1", "b": {"c": "2"}}),
        (("k:", "  a: x", "    y"), {"a": "x y"}),
    ],
)
def test_values_over_lines(lines: tuple[str, ...], value: Json) -> None:
    assert said(*lines) == {"k": value}


def test_the_last_of_two_statements_counts_and_both_are_cleared() -> None:
    text = "---\nk: 1\n# said\nk: 2\n  more\nj: 3\n---\n"
    found = fenced.parse(text)
    assert found is not None
    last = fenced.get(found.entries, "k")
    assert last is not None
    assert last.text == "2 more"
    assert splice(text, fenced.clear(found.entries, "k")) == "---\n# said\nj: 3\n---\n"


def test_lines_without_a_key_are_kept_apart() -> None:
    found = read("just words", "  more", "k: v", ": x", "- y")
    assert [e.key for e in found.entries] == ["", "k", "", ""]


def test_nested_values_know_their_place() -> None:
    text = "---\nmetadata: \n  type: user\n---\n"
    found = fenced.parse(text)
    assert found is not None
    (outer,) = found.entries
    (inner,) = outer.children
    assert text[inner.value_start : inner.value_end] == "user"
    assert splice(text, [fenced.set_value(text, inner, "project")]) == (
        "---\nmetadata: \n  type: project\n---\n"
    )


@pytest.mark.parametrize(("line", "after"), [("k:", "k: v"), ("k: ", "k: v"), ("k:old", "k: v")])
def test_set_value_leaves_a_blank_behind_the_colon(line: str, after: str) -> None:
    text = f"---\n{line}\n---\n"
    found = fenced.parse(text)
    assert found is not None
    assert splice(text, [fenced.set_value(text, found.entries[0], "v")]) == f"---\n{after}\n---\n"


@pytest.mark.parametrize(
    ("lines", "key", "where"),
    [
        (("a: 1", "c: 3"), "b", 1),
        (("c: 3",), "b", 0),
        (("x: 0", "a: 1"), "b", 2),
        (("x: 0",), "b", 1),
    ],
)
def test_place_follows_the_order(lines: tuple[str, ...], key: str, where: int) -> None:
    text = "---\n" + "".join(f"{line}\n" for line in lines) + "---\n"
    found = fenced.parse(text)
    assert found is not None
    at = fenced.place(found.entries, key, ("a", "b", "c"), found.close)
    after = splice(text, [Edit(at, at, f"{key}: 2\n")])
    assert after.split("\n")[1 + where] == "b: 2"


@given(WORDS)
def test_what_is_quoted_is_read_back(value: str) -> None:
    for written in (fenced.quoted(value, "double"), fenced.quoted(value, "single")):
        assert said(f"k: {written}") == {"k": value}
        assert "\n" not in written


@given(WORDS)
def test_what_stands_plain_is_read_back(value: str) -> None:
    if fenced.holds_plain(value):
        assert said(f"k: {value}") == {"k": value}


LINES = st.lists(
    st.sampled_from(
        ["k: v", "k:", "  a: b", "  - x", "- y", "", "# c", "j: |", "  t", '"', "\t", "l: [a", "x"]
    ),
    max_size=8,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_entries_cover_their_lines_in_order(lines: list[str], eol: str) -> None:
    text = f"---{eol}" + "".join(f"{line}{eol}" for line in lines) + f"---{eol}"
    found = fenced.parse(text)
    assert found is not None
    at = found.inner
    for entry in found.entries:
        assert at <= entry.start < entry.stop <= found.close
        assert entry.start <= entry.value_start <= entry.value_end <= entry.stop
        assert text[entry.stop - 1] == "\n"
        at = entry.stop


def test_deep_nesting_is_text() -> None:
    assert said("k: " + "[" * 500 + "]" * 500) == {"k": "[" * 500 + "]" * 500}
