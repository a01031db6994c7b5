"""The lines of a Markdown index: references, titles, hooks, items, with their spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop.syntax import index_lines
from interop.syntax.index_lines import Form, Index

KNOWN = {"a.md", "b.md", "sub/About It.md"}


def refers(form: Form, target: str) -> bool:
    return form == "link" or target in KNOWN or (form == "wiki" and target == "a")


def read(text: str) -> Index:
    return index_lines.parse(text, refers)


def states(text: str) -> list[tuple[str, str, str | None, str | None]]:
    def cut(span: tuple[int, int] | None) -> str | None:
        return None if span is None else text[span[0] : span[1]]

    return [(r.form, r.target, cut(r.title), cut(r.hook)) for r in read(text).refs]


def items(text: str) -> list[str]:
    return [text[i.text_start : i.text_end] for i in read(text).items]


@pytest.mark.parametrize(
    ("line", "title", "hook"),
    [
        ("- [A](a.md) — hook", "A", "hook"),
        ("- [A](a.md) —hook", "A", "hook"),
        ("- [A](a.md) – hook", "A", "hook"),
        ("- [A](a.md) - hook", "A", "hook"),
        ("- [A](a.md): hook", "A", "hook"),
        ("- [A](a.md) â€” hook", "A", "hook"),
        ("- **[A](a.md)** — hook", "A", "hook"),
        ("- [A](a.md) hook", "A", None),
        ("- [A](a.md) -hook", "A", None),
        ("- [A](a.md) — ", "A", None),
        ("- [A[0] and [b]](a.md) — x", "A[0] and [b]", "x"),
        ('- [s[["k"]] first](a.md) — x', 's[["k"]] first', "x"),
        ("- [`]` code](a.md) — x", "`]` code", "x"),
        ("- [a \\] b](a.md) — x", "a \\] b", "x"),
        ("- before [A](a.md) — x", "A", "x"),
        ("- [ ] [A](a.md) — x", "A", "x"),
        ("- [](a.md) — x", None, "x"),
        ("- [A](a.md) — x <!-- y -->", "A", "x"),
        ("- [A](a.md) — see [web](https://example.org/b.md) too", "A",
         "see [web](https://example.org/b.md) too"),
        ("| [A](a.md) | x | y |", "A", "x"),
        ("| [A](a.md) |  | y |", "A", None),
        ("### [A](a.md)", "A", None),
        ("See [A](a.md).", "A", None),
    ],
)  # fmt: skip
def test_links(line: str, title: str | None, hook: str | None) -> None:
    assert states(line) == [("link", "a.md", title, hook)]


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("a.md", "a.md"),
        ("sub/About It.md", "sub/About It.md"),
        ("<sub/About It.md>", "sub/About It.md"),
        ("a%20b.md", "a%20b.md"),
        ("a.md#part.md", "a.md"),
        ('a.md "Title"', "a.md"),
        ("../a.md", "../a.md"),
        ("a(1).md", "a(1).md"),
    ],
)
def test_targets(target: str, path: str) -> None:
    line = f"- [T]({target}) — x"
    assert states(line) == [("link", path, "T", "x")]
    ref = read(line).refs[0]
    assert line[ref.target_start : ref.target_end] == path


@pytest.mark.parametrize(
    "line",
    [
        "- [A](https://example.org/a.md)",
        "- [A](/a.md)",
        "- [A](#a.md)",
        "- [A](a.txt)",
        "- [A](a.mdx)",
        "- `[A](a.md)`",
        "- xa.md",
        "- a.md.bak",
        "- a.mdx",
        "- x/a.md",
        "- https://example.org/a.md",
        "- `cat a.md`",
        "- [[nobody]]",
        "- `[[a]]`",
        "- <!-- a.md -->",
    ],
)
def test_no_reference(line: str) -> None:
    assert states(line) == []


def test_other_references() -> None:
    text = (
        "- `a.md` — code\n- a.md: bare\n- [[a]] — wiki\n- [[a#x|y]]\n"
        "- Look (a.md), or sub/About It.md.\n"
    )
    assert states(text) == [
        ("code", "a.md", None, "code"),
        ("bare", "a.md", None, "bare"),
        ("wiki", "a", None, "wiki"),
        ("wiki", "a", None, None),
        ("bare", "a.md", None, None),
        ("bare", "sub/About It.md", None, None),
    ]


def test_several_links_in_one_item() -> None:
    assert states("- [A](a.md) · [B](b.md) — **b**. · [C](c.md)") == [
        ("link", "a.md", "A", None),
        ("link", "b.md", "B", "**b**."),
        ("link", "c.md", "C", None),
    ]


def test_a_mention_in_a_hook_states_nothing() -> None:
    first, second = read("- [A](a.md) — see b.md: now").refs
    assert not first.within
    assert second.within
    assert second.hook is None


def test_items() -> None:
    text = (
        "# H\n- one\n  more\n\t- deeper\n* two\n\n  - nobody's\n1. three\n2) four\ntext\n-x\n"
        "> - quoted\n- - -\n***\n+ five"
    )
    assert items(text) == ["one\n  more\n\t- deeper", "two", "three", "four", "five"]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert items("\ufeff- one\r\n  two\r\n- three\r\n") == ["one\r\n  two", "three"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("```\n- a\n```\n- b", "fence fence fence item"),
        ("~~~~ x\n- a\n~~~\n~~~~~\n- b", "fence fence fence fence item"),
        ("- ```\n  a.md\n  ```\n- b", "item fence fence item"),
        ("<!-- a\n- b\n-->\n- c", "comment comment comment item"),
        ("a <!-- b\n- c", "text item"),
        ("<!-- a\n- b", "comment comment"),
        ("`<!--` a\n- b", "text item"),
        ("# h\n\n| a |\n> q\n---\n text", "heading blank row quote rule text"),
    ],
)
def test_kinds_of_lines(text: str, kinds: str) -> None:
    assert " ".join(line.kind for line in read(text).lines) == kinds


@pytest.mark.parametrize(
    ("text", "at"), [("a\n```\nb", 2), ("a\n<!-- b", 2), ("```\n```\n", -1), ("<!--\n-->\n", -1)]
)
def test_what_is_never_closed(text: str, at: int) -> None:
    assert read(text).open_from == at


PIECES = st.sampled_from(
    ["- ", "* ", "  ", "\n", "\r\n", "[A](a.md)", " — ", ": ", "x", "`", "```", "<!--", "-->", "[",
     "]", "(", ")", "[[a]]", "a.md", "b.md", "|", "**", " · ", "#", "\ufeff", "\\"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_spans_lie_where_they_should(text: str) -> None:
    found = read(text)
    assert "".join(text[line.start : line.stop] for line in found.lines) == text.removeprefix(
        "\ufeff"
    )
    at = 0
    for item in found.items:
        assert at <= item.start <= item.text_start <= item.text_end <= item.stop
        at = item.stop
    for ref in found.refs:
        line = found.lines[ref.line]
        assert line.start <= ref.outer_start <= ref.start < ref.end <= ref.outer_end <= ref.stop
        assert ref.stop <= line.end
        assert text[ref.target_start : ref.target_end] == ref.target
        for span in (ref.title, ref.hook):
            assert span is None or line.start <= span[0] < span[1] <= line.end
