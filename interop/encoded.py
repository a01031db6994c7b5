r"""An edit of a text that a format encoded, carried over to the text itself.

    a | b\n\nc    stands in a cell as    a &#124; b<br><br>c
    a | b\n\nd    is meant by            a &#124; b<br><br>d

No format is known here: how it encodes is seen by laying the text and its encoding together. That
works where the two differ in marks only; where words of the text are not in its encoding, what was
made of that is no edit of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from interop.alignment import is_heavy, runs

_TOKEN = re.compile(r"\r\n|&#?\w+;|<\w+>|\w+[ \t]?|[ \t]+|.", re.DOTALL)
_WORD = re.compile(r"\w")
_REACH = 12
"""How many tokens may be encoded together before the two texts go on alike."""


class _Piece(NamedTuple):
    """A stretch of the encoding, and what it stands for."""

    text: str
    start: int
    end: int
    """Tokens of the encoding."""


def carry(text: str, seen: str, now: str) -> str | None:
    """Give ``text`` with the edits that led from ``seen``, its encoding, to ``now``.

    None where ``seen`` is no encoding of it, or the edits cannot be told.
    """
    if now == seen:
        return text
    before: list[str] = _TOKEN.findall(seen)
    after: list[str] = _TOKEN.findall(now)
    pieces = _pieces(_TOKEN.findall(text), before)
    if pieces is None:
        return None
    if is_heavy(before, after):
        return None  # which of so many that are alike is which, nobody can say
    places = _kept(before, after)
    means = _meanings(pieces, before)
    anew = [means.get(token, token) for token in after]
    out: list[str] = []
    done = 0
    for piece in pieces:
        found = [places[n] for n in range(piece.start, piece.end) if n in places]
        if piece.start == piece.end:
            out.append(piece.text)
        if not found:
            continue
        out += anew[done : found[0]]
        done = found[-1] + 1
        if found == list(range(found[0], found[0] + piece.end - piece.start)):
            out.append(piece.text)
        else:  # somebody wrote inside of what was encoded as one
            out += anew[found[0] : done]
    return "".join([*out, *anew[done:]])


def _pieces(tokens: Sequence[str], encoded: Sequence[str]) -> list[_Piece] | None:
    """Lay a text and its encoding together; None where they are not such a pair."""
    out: list[_Piece] = []
    at = there = 0
    while at < len(tokens) or there < len(encoded):
        if at < len(tokens) and there < len(encoded) and tokens[at] == encoded[there]:
            out.append(_Piece(tokens[at], there, there + 1))
            at, there = at + 1, there + 1
            continue
        step = _step(tokens[at : at + 2 * _REACH], encoded[there : there + 2 * _REACH])
        if step is None and len(tokens) - at > _REACH:
            return None
        apart, other = step if step is not None else (len(tokens) - at, len(encoded) - there)
        if any(_WORD.search(token) for token in tokens[at : at + apart]):
            return None
        out += _encoded(tokens[at : at + apart], there, other)
        at, there = at + apart, there + other
    return out


def _step(tokens: Sequence[str], encoded: Sequence[str]) -> tuple[int, int] | None:
    """Say how many tokens are encoded as how many, until both go on alike."""
    words = next((n for n, token in enumerate(tokens) if _WORD.search(token)), len(tokens))
    for total in range(1, 2 * _REACH + 1):
        for apart in sorted(range(total + 1), key=lambda n: abs(total - 2 * n)):
            other = total - apart
            reached = apart <= words and apart < len(tokens) and other < len(encoded)
            if reached and tokens[apart] == encoded[other]:
                return apart, other
    return None


def _encoded(tokens: Sequence[str], start: int, number: int) -> Iterator[_Piece]:
    """Give the pieces of a stretch: one by one where the numbers agree."""
    if len(tokens) == number:
        yield from (_Piece(text, start + n, start + n + 1) for n, text in enumerate(tokens))
    else:
        yield _Piece("".join(tokens), start, start + number)


def _meanings(pieces: Sequence[_Piece], encoded: Sequence[str]) -> dict[str, str]:
    """Give what a mark stands for wherever it stands, for marks that are written anew."""
    said: dict[str, set[str]] = {}
    for piece in pieces:
        if piece.end == piece.start + 1:
            said.setdefault(encoded[piece.start], set()).add(piece.text)
    return {
        mark: text
        for mark, (text, *others) in ((m, tuple(t)) for m, t in said.items())
        if not others and text and text != mark and mark.strip()
    }


def _kept(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Say which token is still there after the edits: place before -> place after."""
    return {r.a + n: r.b + n for r in runs(before, after) for n in range(r.size)}
