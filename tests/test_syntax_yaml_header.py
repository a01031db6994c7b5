"""YAML headers: read as PyYAML's SafeLoader does, spliced key by key, bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from interop.syntax import yaml_header as y
from interop.syntax.splice import Edit, splice
from interop.syntax.substring_fence import universal

BY_HAND = """\
# on top
name: rack   # the long one
description: >-
  Folded
  by hand

links:
- pier
# between
owner: {desk: 1}
owner: 2.50
last: 2026-01-05
"""

WORDS = [
    *("yes", "null", "~", "a: b", "x #y", "x#y", "it's", "- x", "2026-01-05", "1:30", "---", ""),
    *("a ", " a", "é", "ไทย", "\u00a0", "\ufeff", "\u0085", "\u2028", "\t", "\n", "[", "{", "&a"),
    *("word", "a--- b", "🚲", "'", '"', "%", "@", "`", "?", ":", "\ufffe", "\x7f", "x:"),
]
VALUES = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=4).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=120),
    st.none(),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join), max_size=3),
)
KEYS = st.sampled_from(["name", "description", "created", "links", "yes", "null", "on"])


def header(text: str, start: int = 0, end: int | None = None) -> y.Header:
    found = y.read(text, start, end)
    assert isinstance(found, y.Header), found
    return found


def test_scalars_are_as_written_and_lines_are_their_own() -> None:
    found = header(BY_HAND)
    assert found.on_lines
    assert found.get("owner") == y.Scalar("2.50", "float")
    assert found.get("last") == y.Scalar("2026-01-05", "timestamp")
    assert found.get("description") == y.Scalar("Folded by hand", "str")
    assert found.get("missing") is None
    lines = {e.key: BY_HAND[e.start : e.end] for e in found.entries}
    assert lines["name"] == "name: rack   # the long one\n"
    assert lines["links"] == "links:\n- pier\n"
    assert lines["owner"] == "owner: 2.50\n"
    assert found.values["owner"] == 2.5


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_edits_touch_the_lines_of_one_key(line_end: str) -> None:
    text = "before" + BY_HAND.replace("\n", line_end) + "after"
    found = header(text, 6, len(text) - 5)

    def edited(edits: list[Edit]) -> str:
        return universal(splice(text, edits))[6:-5]

    links = y.replace(text, found, "links", ["pier", "depot"])
    assert edited(links) == BY_HAND.replace("- pier\n", "- pier\n- depot\n")
    both = y.remove(text, found, "owner")
    assert edited(both) == BY_HAND.replace("owner: {desk: 1}\nowner: 2.50\n", "")
    new = y.insert(text, found, "type", "user", ["name", "description", "nothing"])
    assert edited(new) == BY_HAND.replace("links:", "type: user\nlinks:").replace(
        "by hand\n\ntype: user\n", "by hand\n\ntype: user\n"
    )
    top = y.insert(text, found, "type", "user", [])
    assert edited(top) == BY_HAND.replace("name: rack", "type: user\nname: rack")
    if line_end != "\n":
        assert "\n" not in splice(text, links).replace(line_end, "")


def test_a_last_line_without_an_end_gets_one() -> None:
    text = "a: 1\nb: 2"
    found = header(text)
    assert splice(text, y.insert(text, found, "c", "x", ["b"])) == "a: 1\nb: 2\nc: x\n"


def test_indented_keys_stay_indented() -> None:
    text = "  a: 1\n  b: 2\n"
    new = splice(text, y.replace(text, header(text), "b", ["x"]))
    assert new == "  a: 1\n  b:\n  - x\n"


@pytest.mark.parametrize("text", ["{a: 1, b: 2}\n", "? a\n: 1\n", "a: 1\x85b: 2\n", "{}\n"])
def test_keys_without_lines_of_their_own_are_said(text: str) -> None:
    assert not header(text).on_lines


def test_merged_keys_count_and_state_nothing_here() -> None:
    found = header("base: &b {type: user}\n<<: *b\nname: x\n")
    assert found.get("type") == y.Scalar("user", "str")
    assert not found.states("type")
    assert found.values["type"] == "user"


def test_an_escape_of_a_lone_surrogate_stays_one() -> None:
    assert header('a: "x\\ud800"\n').get("a") == y.Scalar("x\\ud800", "str")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (BOMB, "expands"),
        ("a: &a {k: v}\n" + "b: &b {<<: [" + "*a," * 30_000 + "]}\n", "expands"),
        ("a: &a [*a]\n", "inside what it names"),
        ("a: &a {<<: *a}\n", "inside what it names"),
        ("a: " + "[" * 50_000, "deep"),
        ("a: " + "{x: " * 5_000, "deep"),
        ("- " * 50_000, "deep"),
        ("a:  b\n" * 100_000, "more than 200000 characters"),
        ("a: !foo b\n", "tag"),
        ("a: 2026-13-45\n", "month"),
        ("? [a]\n: b\n", "unhashable"),
        ("a: b\tc\n", "token"),
        ("a: {p? q: 1}\n", "header is no YAML"),
        ("- a\n", "no mapping"),
        ("", "no mapping"),
        ("a: b: c\n", "not allowed here (line 1 of it)"),
        ("a: 'x\n", "line"),
        ("a: \x00\n", "no YAML"),
    ],
)
def test_what_cannot_be_read_is_a_problem(text: str, problem: str) -> None:
    found = y.read(text)
    assert isinstance(found, y.NoHeader)
    assert problem in found.problem


@settings(max_examples=300)
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_what_pyyaml_dumps_is_read_back(values: dict[str, Any]) -> None:
    """Also: the short path agrees with PyYAML, on all that it takes."""
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    same_as_pyyaml(text)
    found = header(text)
    assert "".join(text[e.start : e.end] for e in found.entries) == text
    if all(key not in ("yes", "null", "on") for key in values):
        assert text == "".join(y.dump(key, value) for key, value in values.items())


SIMPLE = st.text(st.sampled_from("aZn09 _.,;/()-"), max_size=90)


@settings(max_examples=500)
@given(KEYS, st.one_of(SIMPLE, VALUES, st.dates().map(str)))
def test_a_dump_is_pyyamls(key: str, value: object) -> None:
    assert y.dump(key, value) == yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True)


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*WORDS, "\n", "\n", ": ", "key: ", "- ", "  ", "'a'", "[]"])))
def test_any_text_is_read_as_pyyaml_reads_it(parts: list[str]) -> None:
    same_as_pyyaml("".join(parts))


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a: ", "links:\n- ", "a: '", "null: ", "b:", "- ", "  ", ""]),
            st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_near_the_short_path(rows: list[tuple[str, str]]) -> None:
    same_as_pyyaml("".join(f"{key}{value}\n" for key, value in rows))


def same_as_pyyaml(text: str) -> None:
    found = y.read(text)
    plain = universal(text)
    loaded = outcome(lambda: yaml.load(plain, yaml.SafeLoader))
    assert isinstance(found, y.Header) == isinstance(loaded, dict), (text, found)
    if isinstance(found, y.Header):
        assert repr(dict(found.values)) == repr(loaded)
        node: Any = yaml.SafeLoader(plain).get_single_node()
        pairs: list[Any] = node.value
        told = [(k.value, v.value, v.tag.rpartition(":")[2]) for k, v in pairs if v.id == "scalar"]
        own = [(e.key, *e.value) for e in found.entries if isinstance(e.value, y.Scalar)]
        assert own == told


def outcome(load: Callable[[], object]) -> object:
    try:
        return load()
    except (yaml.YAMLError, ValueError) as error:
        return error
