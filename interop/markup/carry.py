"""Edits made in one medium, carried over to the other: what nobody touched keeps its bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from interop.alignment import ends, runs, stretches
from interop.markup.blocks import HTML, MARKDOWN, SEPARATOR, Block, fold, join


@lru_cache(maxsize=2048)
def blocks_of(text: str, media: str) -> tuple[Block, ...]:
    """Split a text into blocks, each with what it is in the other medium.

    Kept for a while: a conversion translates a text, reads it back, and compares.
    """
    if media == MARKDOWN:
        from interop.markup.to_html import blocks_of_markdown

        return tuple(blocks_of_markdown(text))
    from interop.markup.to_markdown import blocks_of_html

    return tuple(blocks_of_html(text))


def other(media: str) -> str:
    """Give the other medium."""
    return HTML if media == MARKDOWN else MARKDOWN


@dataclass(slots=True)
class _Unit:
    """Blocks of the rich text, and the blocks that they are in the text that was edited."""

    start: int
    """Where the unit stands in the rich text."""
    end: int
    seen: range
    """Which blocks of the text before the edits it became."""
    says: tuple[str, ...]
    """What it is there as it is translated today."""


@dataclass(slots=True)
class _Part:
    """One block of the outcome: a unit that stays, or text written anew in place of one or none."""

    text: str
    place: int | None
    """The unit that it is, or stands in for."""
    says: tuple[str, ...]
    """Its blocks in the edited medium, to check the outcome by."""


def carry(rich: str, rich_media: str, seen: str, now: str, seen_media: str) -> str:
    """Give ``rich`` with the edits that led from ``seen`` to ``now``."""
    if now == seen:
        return rich
    before = _texts(seen, seen_media)
    after_blocks = blocks_of(now, seen_media)
    after = [fold(now[b.start : b.end]) for b in after_blocks]
    if after == before:
        return rich
    pieces = blocks_of(rich, rich_media)
    fresh = [tuple(_texts(b.other, seen_media)) for b in pieces]
    units = _units(pieces, fresh, before)
    parts = _parts(rich, units, before, after, [b.other for b in after_blocks], seen_media)
    expected = [text for part in parts for text in part.says]
    for keep in (True, False):
        outcome = _assemble(rich, rich_media, units, parts, keep)
        told = [t for b in blocks_of(outcome, rich_media) for t in _texts(b.other, seen_media)]
        if _alike(told, expected, seen_media):
            return outcome
    # What was put together reads as something else: neighbours ran into one another.
    return _with_line_ends_of(rich, join([b.other for b in after_blocks], rich_media))


def _alike(told: Sequence[str], expected: Sequence[str], media: str) -> bool:
    """Do two sequences of blocks say the same, each block by itself?"""
    if len(told) != len(expected):
        return False
    return all(
        one == two or _meaning(one, media) == _meaning(two, media)
        for one, two in zip(told, expected, strict=True)
    )


def _meaning(text: str, media: str) -> str:
    from interop.markup.vocabulary import parse, same_meaning, too_deep

    html = join([b.other for b in blocks_of(text, media)], HTML) if media == MARKDOWN else text
    nodes = parse(html)
    return html if too_deep(nodes) else same_meaning(nodes)


def _texts(text: str, media: str) -> list[str]:
    """Give the blocks of a text; what they are in the other medium is not asked for."""
    if media == MARKDOWN:
        spans = [(b.start, b.end) for b in blocks_of(text, media)]
    else:
        from interop.markup.to_markdown import spans_of_html

        spans = spans_of_html(text)
    return [fold(text[start:end]) for start, end in spans]


def _units(
    pieces: Sequence[Block], fresh: Sequence[tuple[str, ...]], before: Sequence[str]
) -> list[_Unit]:
    """Link the blocks of the rich text to those that were seen.

    They are translated alike today and then, except where the map changed in between: such a
    stretch is paired one to one where the numbers agree, and is a single unit where not.
    """
    owners = [n for n, texts in enumerate(fresh) for _ in texts]
    flat = [text for texts in fresh for text in texts]
    links: dict[int, list[int]] = {n: [] for n in range(len(pieces))}
    joined: set[int] = set()
    for _, i, i2, j, j2 in stretches(flat, before):
        if i2 - i == j2 - j:
            for n in range(i2 - i):
                links[owners[i + n]].append(j + n)
        elif i2 > i:
            for n in range(i, i2):
                links[owners[n]] += range(j, j2)
            joined.update(range(owners[i] + 1, owners[i2 - 1] + 1))
        elif flat:
            links[owners[max(i - 1, 0)]] += range(j, j2)
    units: list[_Unit] = []
    told = 0
    for n, piece in enumerate(pieces):
        reach = range(min(links[n]), max(links[n]) + 1) if links[n] else range(0)
        if units and (n in joined or (reach and reach.start < told)):
            last = units[-1]
            start = min((r.start for r in (last.seen, reach) if r), default=0)
            reach = range(start, max(last.seen.stop, reach.stop))
            units[-1] = _Unit(last.start, piece.end, reach, last.says + fresh[n])
        else:
            units.append(_Unit(piece.start, piece.end, reach, fresh[n]))
        told = max(told, reach.stop)
    return units


_PLACES_AT_MOST = 50
"""Places with the same text at which a block that moved is looked for."""


def _parts(
    rich: str,
    units: Sequence[_Unit],
    before: Sequence[str],
    after: Sequence[str],
    written: Sequence[str],
    media: str,
) -> list[_Part]:
    """Decide for each block of the edited text which unit it is, or that it is new."""
    same = _aligned(before, after)
    at: dict[int, int] = {}
    gone: dict[int, None] = {}
    for n, unit in enumerate(units):
        found = [same.get(s) for s in unit.seen]
        if not unit.seen:
            continue
        if found[0] is not None and found == list(range(found[0], found[0] + len(found))):
            at[found[0]] = n
        else:
            gone[n] = None
    covered = {j + n for j, u in at.items() for n in range(len(units[u].seen))}
    # A block that was moved is still that block.
    places_of: dict[str, deque[int]] = {}
    for j, text in enumerate(after):
        if j not in covered:
            places_of.setdefault(text, deque()).append(j)
    for n in list(gone):
        texts = [before[s] for s in units[n].seen]
        places = places_of.get(texts[0], deque())
        while places and places[0] in covered:
            places.popleft()
        for j in islice(places, _PLACES_AT_MOST):
            window = range(j, j + len(texts))
            if covered.isdisjoint(window) and list(after[j : window.stop]) == texts:
                at[j] = n
                covered.update(window)
                del gone[n]
                break
    parts: list[_Part] = []
    # Units that say nothing in the other medium stay behind the unit that they follow.
    silent = {n: None for n, unit in enumerate(units) if not unit.seen}

    def follow(n: int) -> None:
        while n in silent:
            parts.append(_Part(rich[units[n].start : units[n].end], n, ()))
            del silent[n]
            n += 1

    follow(0)
    j = 0
    while j < len(after):
        if j in at:
            n = at[j]
            unit = units[n]
            parts.append(_Part(rich[unit.start : unit.end], n, unit.says))
            j += len(unit.seen)
            follow(n + 1)
            continue
        stop = j
        while stop < len(after) and stop not in at:
            stop += 1
        previous = next((p.place for p in reversed(parts) if p.place is not None), -1)
        left: list[int] = []
        while previous + 1 + len(left) in gone:
            left.append(previous + 1 + len(left))
        paired = left if len(left) == stop - j else []
        for n in range(j, stop):
            place = paired[n - j] if paired else None
            if written[n]:
                text = _with_line_ends_of(rich, written[n])
                parts.append(_Part(text, place, tuple(_texts_of(written[n], media))))
        if left:
            follow(left[-1] + 1)
        j = stop
    for n in list(silent):
        parts.append(_Part(rich[units[n].start : units[n].end], n, ()))
    return parts


def _aligned(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Find which blocks are the same: from both ends, in place, then by the longest runs.

    Equal blocks can come from different bytes, so which of them is which matters.
    """
    head, tail = ends(before, after)
    same = {n: n for n in range(head)}
    same.update((len(before) - n, len(after) - n) for n in range(1, tail + 1))
    old = before[head : len(before) - tail]
    new = after[head : len(after) - tail]
    found = {r.a + n: r.b + n for r in runs(old, new) for n in range(r.size)}
    if len(old) == len(new):
        in_place = {n: n for n in range(len(old)) if old[n] == new[n]}
        found = in_place if len(in_place) >= len(found) else found
    same.update((head + i, head + j) for i, j in found.items())
    return same


def _with_line_ends_of(rich: str, text: str) -> str:
    return text.replace("\n", "\r\n") if _has_crlf(rich) else text


@lru_cache(maxsize=8)
def _has_crlf(text: str) -> bool:
    """Does every line end with CR LF? Counted once for a text, and asked for each of its blocks."""
    crlf = text.count("\r\n")
    return crlf > 0 and crlf == text.count("\n")


def _texts_of(text: str, media: str) -> list[str]:
    """Give the blocks, in the edited medium, of a text in the rich one."""
    return [t for b in blocks_of(text, other(media)) for t in _texts(b.other, media)]


def _assemble(
    rich: str, media: str, units: Sequence[_Unit], parts: Sequence[_Part], keep: bool
) -> str:
    """Join parts by the separators that the rich text has between their places."""
    if not units:
        return join([p.text for p in parts], media)
    out = [rich[: units[0].start]]
    for n, part in enumerate(parts):
        previous = parts[n - 1] if n else None
        if previous is not None:
            neighbours = previous.place is not None and part.place == previous.place + 1
            between = _with_line_ends_of(rich, SEPARATOR[media])
            if neighbours and part.place is not None and previous.place is not None:
                original = rich[units[previous.place].end : units[part.place].start]
                if keep or (_untouched(rich, units, previous) and _untouched(rich, units, part)):
                    between = original
            out.append(between)
        out.append(part.text)
    out.append(rich[units[-1].end :])
    return "".join(out)


def _untouched(rich: str, units: Sequence[_Unit], part: _Part) -> bool:
    assert part.place is not None
    unit = units[part.place]
    return part.text == rich[unit.start : unit.end]
