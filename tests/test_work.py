"""The measures of work themselves: each tells a square from what is none, on any machine."""

from __future__ import annotations

import re

from tests.work import SQUARE, calls, growth


def test_a_square_inside_a_regular_expression_is_seen() -> None:
    assert growth(lambda n: re.search("a*b", "a" * n), 300) >= SQUARE
    assert growth(lambda n: re.search("b", "a" * n), 30_000) < SQUARE


def test_what_is_called_is_counted() -> None:
    def one() -> int:
        return 1

    def work(count: int) -> int:
        return calls(lambda: [one() for _ in range(count)])

    assert work(100) - work(10) == 90
