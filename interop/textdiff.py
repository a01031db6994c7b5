r"""Two texts compared line by line, and word by word inside the lines that changed.

    lines("one\ntwo", "one\n2")  ->   one
                                     -two
                                     +2

Data with a law: the parts that are equal or removed are the first text, the parts that are equal or
added the second, to the last character. How it is shown is decided where it is shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeAlias

from interop.alignment import stretches

Op: TypeAlias = Literal["equal", "removed", "added"]


class Part(NamedTuple):
    """A stretch of text that one side, or both, say."""

    op: Op
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of either text, without its line end."""

    op: Op
    parts: tuple[Part, ...]
    """In a removed or an added line those that are not ``equal`` are what makes it differ; a line
    that shares nothing with the other side is one part."""
    a: int | None = None
    """Its number in the first text, from 1."""
    b: int | None = None

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Equal lines that are left out."""

    number: int


COST_AT_MOST = 40_000
"""Pairs of equal tokens (some 2000 words against 2000) from which on no words are compared: at
worst, all of them are looked at again for each one that is found, and marks in a passage that
repeats itself so much tell nobody anything."""
ALIKE = 0.5
"""Share of the shorter passage that the other one repeats, below which two passages count as
different ones, without emphasis."""


def lines(a: str | None, b: str | None) -> tuple[Line, ...]:
    """Compare two texts; None is a text that is not there, and has no line at all."""
    here, there = _split(a), _split(b)
    out: list[Line] = []
    for equal, i, i_end, j, j_end in stretches(here, there):
        if equal:
            out += (
                Line(op="equal", parts=_whole("equal", here[i + k]), a=i + k + 1, b=j + k + 1)
                for k in range(i_end - i)
            )
            continue
        gone, new = _passages(here[i:i_end], there[j:j_end])
        out += (Line(op="removed", parts=p, a=i + k + 1) for k, p in enumerate(gone))
        out += (Line(op="added", parts=p, b=j + k + 1) for k, p in enumerate(new))
    return tuple(out)


def hunks(compared: Sequence[Line], context: int) -> Iterator[Line | Skip]:
    """Give the changed lines with so many equal ones around them, and what is left out between."""
    changed = [i for i, line in enumerate(compared) if line.op != "equal"]
    kept = {k for i in changed for k in range(i - context, i + context + 1)}
    left_out = 0
    for i, line in enumerate(compared):
        # one line left out takes as much room as the line
        alone = i - 1 in kept and i + 1 in kept
        if i not in kept and not alone:
            left_out += 1
            continue
        if left_out:
            yield Skip(number=left_out)
            left_out = 0
        yield line
    if left_out:
        yield Skip(number=left_out)


def words(a: str, b: str) -> tuple[Part, ...]:
    """Compare two passages word by word; one with too little in common is removed whole."""
    whole = (*_whole("removed", a), *_whole("added", b))
    here, there = tokens(a), tokens(b)
    if _cost(_said(here), _said(there)) > COST_AT_MOST:
        return whole
    # a space is the same beside words that are, and is no place to lay two passages together
    matcher = SequenceMatcher(str.isspace, here, there, autojunk=False)
    blocks = matcher.get_matching_blocks()
    shared = sum(_weight(here[block.a : block.a + block.size]) for block in blocks)
    if shared < ALIKE * min(_weight(here), _weight(there)):
        return whole
    return tuple(_parts(matcher, here, there))


def _cost(here: Sequence[str], there: Sequence[str]) -> int:
    """Say how many pairs of equal items there are: what a comparison has to look at."""
    number = Counter(there)
    return sum(number[item] for item in here)


def _said(tokens: Sequence[str]) -> list[str]:
    """Give the tokens that say something."""
    return [token for token in tokens if not token.isspace()]


def _weight(tokens: Sequence[str]) -> int:
    return sum(map(len, _said(tokens)))


def _parts(matcher: SequenceMatcher[str], here: list[str], there: list[str]) -> Iterator[Part]:
    """Give what is removed before what is added; a gap between two changes belongs to them."""
    gone, new = "", ""
    opcodes = matcher.get_opcodes()
    for n, (op, i, i_end, j, j_end) in enumerate(opcodes):
        text, other = "".join(here[i:i_end]), "".join(there[j:j_end])
        between = 0 < n < len(opcodes) - 1
        if op != "equal" or (between and text.isspace() and "\n" not in text):
            gone += text
            new += other
            continue
        yield from (*_whole("removed", gone), *_whole("added", new), Part("equal", text))
        gone, new = "", ""
    yield from (*_whole("removed", gone), *_whole("added", new))


def _passages(
    gone: list[str], new: list[str]
) -> tuple[list[tuple[Part, ...]], list[tuple[Part, ...]]]:
    """Compare the lines that stand in each other's place: each side's lines in parts."""
    if not gone or not new:
        return [_whole("removed", x) for x in gone], [_whole("added", x) for x in new]
    parts = words("\n".join(gone), "\n".join(new))
    return (
        list(_in_lines(part for part in parts if part.op != "added")),
        list(_in_lines(part for part in parts if part.op != "removed")),
    )


def _in_lines(parts: Iterator[Part]) -> Iterator[tuple[Part, ...]]:
    line: list[Part] = []
    for op, text in parts:
        first, *others = text.split("\n")
        if line and first and line[-1].op == op:
            line[-1] = Part(op, line[-1].text + first)
        else:
            line += _whole(op, first)
        for other in others:
            yield tuple(line)
            line = list(_whole(op, other))
    yield tuple(line)


def _whole(op: Op, text: str) -> tuple[Part, ...]:
    return (Part(op, text),) if text else ()


def _split(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")


_TOKEN = re.compile(r"[^\W_]+|\s+?|.", re.S)


def tokens(text: str) -> list[str]:
    """Cut a text into words, spaces and signs; joined they are the text.

    What a reader sees as one character is never cut, and a script without spaces between words is
    cut into its characters.
    """
    found = _TOKEN.findall(text)
    if text.isascii():
        return found
    out: list[str] = []
    for token in found:
        for piece in token if _unspaced(token) else (token,):
            if out and (_joins(piece[0]) or out[-1][-1] == _JOINER):
                out[-1] += piece
            else:
                out.append(piece)
    return out


_JOINER = "\u200d"
_UNSPACED = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff]")


def _unspaced(token: str) -> bool:
    return _UNSPACED.search(token) is not None


def _joins(char: str) -> bool:
    """Does a character belong to the one before it (a mark, a joiner, a skin tone)?"""
    return (
        char == _JOINER
        or unicodedata.category(char)[0] == "M"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    )
