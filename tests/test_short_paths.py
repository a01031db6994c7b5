"""The short paths of readers agree with the long ones, on everything near the usual form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop.adapter import repeat_key
from interop.adapters.bantamkit import fact_file, oddities
from interop.adapters.bantamkit.fact_file import Fact
from interop.adapters.claude_code import memory_file
from interop.syntax import index_lines

VALUES = st.one_of(
    st.sampled_from([
        "", "yes", "null", "Null", "~", "on", "12", "1e3", "2026-03-01", "'2026-03-01'", "'x'",
        '"quoted"', '"a \\" b"', "'it''s'", "[a, b]", "{a: 1}", "|", ">-", "- a", "#", "a # b",
        "a: b", "a:", "a:b", "x---", "---", "&a", "*a", "!t", "%", "@", "`", "a\tb", "a ", " a",
        "é", "ein Käfig", "雨天", "a\u2028b", "a\x85b", "a\xa0", "\ufeffa", "a\r", "user", "a 'b",
        "[]", "project", "pump-pressure", "no", "long words\n  that are folded", "a\n  # b",
        "a:\n  b", "a\n   b", "a \n  b", "a\n- b", "a\n\n  b",
    ]),
    st.text("ab:#-'\"[]{}|> \t\n\rä—`\\", max_size=12),
)  # fmt: skip
CLAUDE = (
    "name: ", "description: ", "metadata: ", "metadata:", "  node_type: ", "  type: ",
    "  originSessionId: ", "  modified: ", "type: ", "  other: ", "\ttype: ",
)  # fmt: skip
BANTAMKIT = (
    "name: ", "description: ", "type: ", "created: ", "last_recalled: ", "links:", "links: []",
    "links:\n- ", "outcome: ", "metadata:\n  type: ",
)  # fmt: skip
FENCES = st.sampled_from(
    ["---\n", "---\n", "---\n", "--- \n", "---\r\n", "x---\n", "", "\ufeff---\n"]
)
BODIES = st.sampled_from(["", "\nA text.\n", "A [[link]].\n", "\n\n x\r\n", "---\n", " \n"])
USUAL_CLAUDE = {
    "name: ": "dock-sensor", "description: ": "Two of nine report late", "metadata: ": "",
    "  node_type: ": "memory", "  type: ": "project", "  originSessionId: ": "5b0c2f6e",
    "  modified: ": "2026-05-02T07:14:09.211Z",
}  # fmt: skip
USUAL_BANTAMKIT = {
    "name: ": "pump-pressure", "description: ": "Pressure of the cargo bikes", "type: ": "project",
    "created: ": "'2026-03-01'", "last_recalled: ": "null", "links:": "\n- tyre-order\n- no-rain",
}  # fmt: skip


@st.composite
def texts(draw: st.DrawFn, usual: dict[str, str], keys: tuple[str, ...]) -> str:
    """A file in the usual form, with something else in a place or two."""
    rows = [key + value for key, value in usual.items()]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(rows) - 1))
        key = list(usual)[at] if at < len(usual) else draw(st.sampled_from(keys))
        what = draw(st.sampled_from(["value", "line", "gone", "more"]))
        if what == "value":
            rows[at] = key + draw(VALUES)
        elif what == "line":
            rows[at] = draw(st.sampled_from(keys)) + draw(VALUES)
        elif what == "more":
            rows.insert(at, draw(st.sampled_from(keys)) + draw(VALUES))
        elif len(rows) > 1:
            del rows[at]
    head = "".join(f"{row}\n" for row in rows)
    return draw(FENCES) + head + draw(FENCES) + draw(BODIES)


@given(text=texts(USUAL_CLAUDE, CLAUDE))
def test_claude_code(text: str) -> None:
    assert memory_file.read("a.md", text) == memory_file.read_any("a.md", text)


@given(text=texts(USUAL_BANTAMKIT, BANTAMKIT), folder=st.sampled_from(["facts", "archive"]))
def test_bantamkit(text: str, folder: str) -> None:
    path = f"{folder}/pump-pressure.md"
    short, long = fact_file.read(path, text.encode("utf-8")), fact_file.read_any(path, text)
    if not isinstance(short, Fact) or not isinstance(long, Fact):
        assert short == long
        return
    assert short.record == long.record
    assert (short.layout, short.named(), short.index_line()) == (
        long.layout, long.named(), long.index_line()
    )  # fmt: skip
    assert list(oddities.of(short)) == list(oddities.of(long))


def test_the_usual_forms_take_the_short_paths() -> None:
    claude = "".join(f"{k}{v}\n" for k, v in USUAL_CLAUDE.items())
    assert memory_file.USUAL.match(f"---\n{claude}---\n\nText.\n")
    bantamkit = "".join(f"{k}{v}\n" for k, v in USUAL_BANTAMKIT.items())
    found = fact_file.read("facts/x.md", f"---\n{bantamkit}---\n\nText.\n".encode())
    assert isinstance(found, Fact)
    assert found.is_usual
    assert index_lines.USUAL.fullmatch("- [Dock sensor](dock-sensor.md) — two of nine report late")


LINES = st.lists(
    st.sampled_from([
        "- ", "* ", "  ", "[", "]", "[Dock](dock.md)", "(dock.md)", "(a/b.md)", "(dock.md#x)",
        "(https://x.md)", "(/x.md)", "Dock", " — ", " - ", ": ", "two of nine", "`", "`x.md`",
        "x.md", "dock.md", "[[dock]]", "**", "·", "|", "<!-- ", " -->", "\\", "```", "\n", "\r\n",
        "\t", " ", "é", "!", "#", "<", ">",
    ]),
    max_size=14,
).map("".join)  # fmt: skip


@given(
    text=st.lists(LINES | st.just("- [Dock](dock.md) — two of nine"), max_size=4).map("\n".join),
    known=st.sets(st.sampled_from(["dock.md", "a/b.md", "x.md", "dock"])),
)
@pytest.mark.parametrize("links", [True, False])
def test_index_lines(text: str, known: set[str], links: bool) -> None:
    def refers(form: index_lines.Form, target: str) -> bool:
        return (links and form == "link") or target in known

    assert index_lines.parse(text, refers) == index_lines.parse(text, refers, short=False)


class Counting(dict[str, object]):
    """A mapping that knows how often it was asked."""

    asked = 0

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)


def test_repeats_are_numbered_without_gaps_and_without_counting_through() -> None:
    taken = Counting()
    keys: list[str] = []
    for _ in range(1000):
        keys.append(repeat_key("a.md#x", taken))
        taken[keys[-1]] = None
    assert keys == ["a.md#x", *(f"a.md#x~{n}" for n in range(2, 1001))]
    assert taken.asked < 1000 * 25


@given(st.sets(st.integers(2, 12)))
def test_a_repeat_never_takes_a_key_that_stands_there(numbers: set[int]) -> None:
    taken = {"k", *(f"k~{n}" for n in numbers)}
    found = repeat_key("k", taken)
    assert found not in taken
    assert found.startswith("k~")
