"""How much a piece of code does: counted, or as a ratio, since seconds depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf
from time import process_time_ns
from types import FrameType


def calls(act: Callable[[], object]) -> int:
    """Count the functions that are called, those of C among them."""
    count = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def growth(act: Callable[[int], object], size: int, *, enough: float) -> float:
    """Say how many times the processor time of a size four times the size takes.

    For what happens inside C (a regular expression), where nothing can be counted. A ratio does not
    depend on the machine, and of each size the least of some runs is taken, since other programs
    only ever add. What stays above ``enough`` is run again: noise goes away, a square does not.
    """
    least = {size: inf, 4 * size: inf}
    for run in range(12):
        for n in least:
            began = process_time_ns()
            act(n)
            least[n] = min(least[n], process_time_ns() - began)
        if run >= 2 and least[4 * size] < enough * least[size]:
            break
    return least[4 * size] / least[size]
