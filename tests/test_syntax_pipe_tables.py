"""Markdown pipe tables: the checker's rule, the full scan, and edits to cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop.syntax import pipe_tables
from interop.syntax.pipe_tables import Scan
from interop.syntax.splice import splice

HEAD = ("A", "B", "C")
TOP = "| A | B | C |\n|---|---|---|\n"


def scan(text: str) -> Scan:
    return pipe_tables.scan(text, lambda cells: cells == HEAD)


def rows(text: str) -> list[tuple[str, ...]]:
    return [pipe_tables.values(text, row) for table in scan(text).tables for row in table.rows]


def seen(text: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    found = pipe_tables.first_table(text)
    return None if found is None else (found.header, [cells for _, cells in found.rows])


# --- the checker's rule


CHECKED: list[tuple[str, tuple[tuple[str, ...], list[tuple[str, ...]]] | None]] = [
    ("", None),
    ("A | B\n---|---\n1 | 2\n", None),  # T8: no table without outer pipes
    ("x\n| A | B |\n| 1 | 2 |\n", (("A", "B"), [("1", "2")])),  # T13: no alignment row
    ("| A | B |\n|---|---|\n| 1 | x|y |\n", (("A", "B"), [("1", "x", "y")])),  # T2
    ("| A |\n|---|\n| &#124;<br> |\n", (("A",), [("&#124;<br>",)])),  # T5
    ("| A |\n| 1 |\n|---|\n| 2 |\n", (("A",), [("1",), ("2",)])),  # T6
    ("| A |\n| - |\n| — |\n", (("A",), [("—",)])),  # T7
    ("| A |\n| 1 |\n| 2\n| 3 |\n", (("A",), [("1",)])),  # T9
    ("| A |\n| 1 |\n\n| 2 |\n", (("A",), [("1",)])),  # T10
    ("| L |\n\n| A |\n| 1 |\n", (("L",), [])),  # T11
    ("```\n| L |\n```\n| A |\n", (("L",), [])),  # T12
    ("| A | B | C |\n|| 2 | 3 |\n| 1 | 2 ||\n", (HEAD, [("2", "3"), ("1", "2")])),  # T14
    ("| A | B |\n|  | 2 |\n", (("A", "B"), [("", "2")])),  # T15
    ("| A |\r\n| 1 |\r\n", (("A",), [("1",)])),  # T17
    ("\ufeff| A |\n|---|\n| 1 |\n", (("---",), [("1",)])),  # T18
    ("| A |\n| 1\u20282 |\n| 3 |\n", (("A",), [])),  # T19
    ("| A |\n|\u00a01\u00a0|\n", (("A",), [("1",)])),  # T21
    ("| A |\n| 1 |\n<!-- x -->\n| 2 |\n", (("A",), [("1",)])),  # T22
    ("|\n| A |\n", (("",), [("A",)])),  # T23
]
"""Text -> header and rows; the numbers are those of the experiments on the checker."""


@pytest.mark.parametrize(("text", "expected"), CHECKED)
def test_the_checker_sees(
    text: str, expected: tuple[tuple[str, ...], list[tuple[str, ...]]] | None
) -> None:
    assert seen(text) == expected


def test_the_starts_are_those_of_the_lines() -> None:
    text = "x\r\n| A |\r\n| 1 |\r\n| 2 |\r\n"
    found = pipe_tables.first_table(text)
    assert found is not None
    assert text[found.start :].startswith("| A |")
    assert [text[start : start + 5] for start, _ in found.rows] == ["| 1 |", "| 2 |"]


# --- what a person wrote


WRITTEN: list[tuple[str, list[tuple[str, ...]]]] = [
    (TOP + "| 1 | 2 | 3 |\n", [("1", "2", "3")]),
    ("| A | B | C |\n| 1 | 2 | 3 |", [("1", "2", "3")]),
    (TOP + "\n<!-- x -->\nprose\n  | 1 | 2 | 3 |\n", [("1", "2", "3")]),
    (TOP + "| 1 | 2 |||\n", [("1", "2", "", "")]),
    (TOP + "| 1 | 2 | 3\n", [("1", "2", "3")]),
    (TOP + "| 1 | `a|b` | a\\|b |\n", [("1", "`a", "b`", "a\\", "b")]),
    (TOP + "| 1 | 2 | 3 |\n| - | - | - |\n| 4 | 5 | 6 |\n", [("1", "2", "3"), ("4", "5", "6")]),
    (TOP + "| 1 | 2 | 3 |\n## End\n| 4 | 5 | 6 |\n", [("1", "2", "3")]),
    (TOP + "| 1 | 2 | 3 |\n\nEnd\n---\n| 4 | 5 | 6 |\n", [("1", "2", "3")]),
    (TOP + "\n| L | M |\n|---|---|\n| 4 | 5 | 6 |\n", []),
    ("| L | M |\n|---|---|\n| 4 | 5 | 6 |\n\n" + TOP + "| 1 | 2 | 3 |\n", [("1", "2", "3")]),
    (TOP + "| 1 | 2 | 3 |\n| A | B | C |\n| 4 | 5 | 6 |\n", [("1", "2", "3"), ("4", "5", "6")]),
    ("```\n" + TOP + "| 1 | 2 | 3 |\n```\n", []),
    ("<!--\n" + TOP + "| 1 | 2 | 3 |\n-->\n", []),
    (TOP + "<!--\n| 1 | 2 | 3 |\n-->\n| 4 | 5 | 6 |\n", [("4", "5", "6")]),
    ("A | B | C\n---|---|---\n1 | 2 | 3\na | b\n", [("1", "2", "3")]),
    ("\ufeff" + TOP + "|\u00a01\u00a0|\t2| x\u2028y |\n", [("1", "2", "x\u2028y")]),
]


@pytest.mark.parametrize(("text", "expected"), WRITTEN)
def test_a_person_wrote(text: str, expected: list[tuple[str, ...]]) -> None:
    assert rows(text) == expected


def test_lines_in_pipes_that_are_no_rows_are_loose() -> None:
    found = scan("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n\n" + TOP)
    assert len(found.loose) == 2
    assert found.tables[0].alignment is not None


# --- edits


@pytest.mark.parametrize(
    ("row", "n", "words", "expected"),
    [
        ("| 1 | 2 | 3 |", 1, "x", "| 1 | x | 3 |"),
        ("|1|2|3|", 1, "x", "|1|x|3|"),
        ("|1|2|3|", 2, "", "|1|2| |"),
        ("| 1 | 2 | 3 |", 2, "", "| 1 | 2 |  |"),
        ("| 1 | 2 ||", 2, "x", "| 1 | 2 | x |"),
        ("| 1 |  | 3 |", 1, "x", "| 1 | x | 3 |"),
        ("| 1 | 2 | 3", 2, "x", "| 1 | 2 | x"),
        ("| 1 | 2 | 3", 2, "", "| 1 | 2 |  |"),
        ("  | 1 |\u00a02\u00a0| 3 |  ", 1, "x", "  | 1 |\u00a0x\u00a0| 3 |  "),
    ],
)
def test_a_cell_is_restated(row: str, n: int, words: str, expected: str) -> None:
    text = TOP + row + "\n"
    found = scan(text).tables[0].rows[0]
    assert splice(text, [pipe_tables.set_cell(text, found, n, words)]) == TOP + expected + "\n"


def test_rows_go_behind_a_row_with_its_line_end() -> None:
    for text in (TOP, TOP.replace("\n", "\r\n"), TOP + "| 1 | 2 | 3 |"):
        table = scan(text).tables[0]
        after = table.rows[-1] if table.rows else table.alignment
        assert after is not None
        new = splice(text, [pipe_tables.append(text, after, [("7", "8", "9"), ("x", "", "y")])])
        assert rows(new)[-2:] == [("7", "8", "9"), ("x", "", "y")]
        assert new.endswith("\n") == text.endswith("\n")
        assert ("\r\n" in new) == ("\r\n" in text)


_PIECES = st.sampled_from(
    ["|", " ", "\n", "\r\n", "-", "---", "x", "—", "\u00a0", "\u2028", "```", "<!--", "-->", "# ",
     "| A | B | C |", "|---|---|---|", "| 1 | 2 | 3 |", "\ufeff", "\t", "- "]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_nothing_raises_and_spans_are_inside(text: str) -> None:
    pipe_tables.first_table(text)
    found = scan(text)
    for row in [r for t in found.tables for r in t.rows] + [*found.loose, *found.dashes]:
        assert row.start <= row.end <= row.stop <= len(text)
        at = row.start
        for cell in row.cells:
            assert at <= cell.outer_start <= cell.start <= cell.end <= cell.outer_end <= row.end
            at = cell.outer_end


@given(st.lists(_PIECES, max_size=12).map("".join), st.integers(0, 2), st.sampled_from(["", "x y"]))
def test_an_edit_changes_its_cell_alone(middle: str, n: int, words: str) -> None:
    text = TOP + "| 1 | 2 | 3 |\n" + middle
    for at, row in enumerate(scan(text).tables[0].rows):
        if len(row.cells) == 3 and (n or words):
            new = splice(text, [pipe_tables.set_cell(text, row, n, words)])
            before, after = rows(text), rows(new)
            if before == after or words == "":
                continue
            assert after[at][n] == words
            assert [c for i, c in enumerate(after[at]) if i != n] == [
                c for i, c in enumerate(before[at]) if i != n
            ]
            assert after[:at] + after[at + 1 :] == before[:at] + before[at + 1 :]
