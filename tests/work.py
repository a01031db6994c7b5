"""How much a piece of code does: counted, or as a ratio, since seconds depend on the machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from math import inf
from time import thread_time_ns
from types import FrameType

TIMES = 16
"""How many times as large the larger one of two sizes is."""
SQUARE = TIMES * TIMES / 4
"""What ``growth`` stays below where there is no square: what is linear gives 16, a square 256, so
that a noise of four times is too little to confuse them."""
_SEEN = 50_000_000
"""Nanoseconds that every system's clock of processor time sees; some count in hundredths."""
_RUNS = 6


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


def growth(act: Callable[[int], object], size: int) -> float:
    """Say how many times the processor time of a size sixteen times the size takes.

    For what happens inside C (a regular expression), where nothing can be counted. A ratio does not
    depend on the machine, and of each size the least of some runs is taken, since other programs
    only ever add. What is no less than ``SQUARE`` is run again: noise goes away, a square does not.
    """
    sizes = (size, TIMES * size)
    least = dict.fromkeys(sizes, inf)
    collects = gc.isenabled()
    gc.disable()  # what a collection costs is a matter of all that other tests left
    try:
        for _ in range(_RUNS):
            for n in sizes:
                least[n] = min(least[n], _cost(act, n))
            if least[sizes[1]] < SQUARE * least[sizes[0]]:
                break
    finally:
        if collects:
            gc.enable()
    return least[sizes[1]] / least[sizes[0]]


def _cost(act: Callable[[int], object], size: int) -> float:
    """Give the processor time of a run, the mean of as many as can be measured."""
    began, runs, took = thread_time_ns(), 0, 0
    while took < _SEEN:
        act(size)
        runs += 1
        took = thread_time_ns() - began
    return took / runs
