"""Laying two sequences together: which items are the same, in bounded time whatever they hold.

The standard library's matcher finds the longest common run first, then goes on at both sides of it:
the outcome a reader expects. But it looks at every pair of equal items again for each run that it
finds, so that two texts with little but blank lines in common take hours. Where that could be, what
stands once in both sequences divides them first, and each part is compared by itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

WORK_AT_MOST = 20_000_000
"""Looks at a pair of equal items, in the worst case, that one comparison may take: a second or two.
Six hundred lines of which every second one is blank are below it, two thousand are not."""


class Run(NamedTuple):
    """Items that are the same in both: where they begin in each, and how many there are."""

    a: int
    b: int
    size: int


class Stretch(NamedTuple):
    """A part of the one sequence and the part of the other that stands for it."""

    same: bool
    a: int
    a_end: int
    b: int
    b_end: int


def runs(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Run]:
    """Give the runs of items that are the same, in order and without overlaps."""
    head, tail = ends(one, other)
    found = [Run(0, 0, head)]
    found += _between(one, head, len(one) - tail, other, head, len(other) - tail)
    found.append(Run(len(one) - tail, len(other) - tail, tail))
    return _joined(found)


def stretches(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[Stretch]:
    """Give what is the same and what is not, in turn, from the beginning to the end."""
    a = b = 0
    for run in (*runs(one, other), Run(len(one), len(other), 0)):
        if a < run.a or b < run.b:
            yield Stretch(same=False, a=a, a_end=run.a, b=b, b_end=run.b)
        a, b = run.a + run.size, run.b + run.size
        if run.size:
            yield Stretch(same=True, a=run.a, a_end=a, b=run.b, b_end=b)


def is_heavy(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    """Say whether they repeat themselves so much that items are paired by their places at best."""
    head, tail = ends(one, other)
    return _work(one[head : len(one) - tail], other[head : len(other) - tail]) > WORK_AT_MOST


def ends(one: Sequence[Hashable], other: Sequence[Hashable]) -> tuple[int, int]:
    """Say how many items two sequences share at their beginnings, and then at their ends."""
    shorter = min(len(one), len(other))
    head = 0
    while head < shorter and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < shorter - head and one[~tail] == other[~tail]:
        tail += 1
    return head, tail


def _between(
    one: Sequence[Hashable], a: int, a_end: int, other: Sequence[Hashable], b: int, b_end: int
) -> Iterator[Run]:
    """Give the runs between two places of each sequence."""
    here, there = one[a:a_end], other[b:b_end]
    if _work(here, there) <= WORK_AT_MOST:
        for run in _compared(here, there):
            yield Run(a + run.a, b + run.b, run.size)
        return
    at, at_other = 0, 0
    # the last pair is no item: it stands for the end of both
    for i, j in (*_anchors(here, there), (len(here), len(there))):
        part, part_other = here[at:i], there[at_other:j]
        if _work(part, part_other) <= WORK_AT_MOST:
            inner = _compared(part, part_other)
        else:  # little but the same few items: each stays where it is
            inner = _in_place(part, part_other)
        yield from (Run(a + at + r.a, b + at_other + r.b, r.size) for r in inner)
        if i < len(here):
            yield Run(a + i, b + j, 1)
        at, at_other = i + 1, j + 1


def _in_place(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[Run]:
    for n, (x, y) in enumerate(zip(one, other, strict=False)):
        if x == y:
            yield Run(n, n, 1)


def _compared(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[Run]:
    if one and other:
        matcher = SequenceMatcher(None, one, other, autojunk=False)
        yield from (Run(*block) for block in matcher.get_matching_blocks())


def _work(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Say how often the matcher may look at a pair of equal items: all of them for each run."""
    number = Counter(other)
    return sum(number[item] for item in one) * min(len(one), len(other))


def _anchors(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Give the places of items that stand once in both, as many as are in the same order."""
    alone = {item for item, times in Counter(one).items() if times == 1}
    alone &= {item for item, times in Counter(other).items() if times == 1}
    there = {item: j for j, item in enumerate(other) if item in alone}
    pairs = [(i, there[item]) for i, item in enumerate(one) if item in alone]
    # the longest rising sequence: for each length, the smallest end and what stands before it
    tops: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for n, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        before.append(tails[length - 1] if length else -1)
        tops[length : length + 1] = [j]
        tails[length : length + 1] = [n]
    out: list[tuple[int, int]] = []
    n = tails[-1] if tails else -1
    while n >= 0:
        out.append(pairs[n])
        n = before[n]
    return out[::-1]


def _joined(found: Sequence[Run]) -> list[Run]:
    """Put runs together that touch, and leave the empty ones out."""
    out: list[Run] = []
    for run in found:
        if not run.size:
            continue
        last = out[-1] if out else None
        if last is not None and (last.a + last.size, last.b + last.size) == (run.a, run.b):
            out[-1] = Run(last.a, last.b, last.size + run.size)
        else:
            out.append(run)
    return out
