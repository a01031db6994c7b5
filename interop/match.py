"""Which record here is which record there: the one matching step of restore, merge and diff.

In order: the same key with the same content (of equal texts in one file, the one at its place); the
handle, an identity that survives what the
runtime does; the same key; identical content among what is left; near-identical content, or the
unmatched neighbours at the same place of one file. The last two are guesses of different strength:
``content`` is certain enough to link, ``near`` is shown as such and never acted on silently.

A row of a table is who its id says: two rows with ids of their own that differ are two records,
whatever they say and wherever they stand. Only one that is the same in everything was renumbered.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Literal, NamedTuple

from interop.adapter import path_of
from interop.alignment import runs
from interop.fields import dumps, get, to_json, with_key
from interop.model import Body, Record

How = Literal["key", "handle", "content", "near"]
Handle = Callable[[Record], str | None]

NEAR = 80.0
"""Similarity in percent (rapidfuzz's ratio) from which two texts count as near-identical."""


class Pair(NamedTuple):
    """A record on the left and one on the right, by position, and how they were recognised."""

    left: int
    right: int
    how: How
    score: float | None = None
    """Of a near pair its similarity in percent; None for one that was matched by its place."""


def words(record: Record) -> tuple[str, ...]:
    """Give what a record says in words: its identity when it has lost its address."""
    body = get(record, "body")
    text = body.text if isinstance(body, Body) else ""
    return (record.role, _fold(text), *(_fold(get(record, f) or "") for f in _TELLING))


_TELLING = ("name", "description", "decision", "subject", "rejected", "reason")


def message(record: Record) -> tuple[str, ...]:
    """Give what a record says, whatever it is called: its identity across formats."""
    return (*words(record)[:2], *words(record)[3:])


def text_of(record: Record) -> str:
    """Give the words of a record as one text, for similarity."""
    return "\n".join(part for part in words(record)[1:] if part)


def similarity(one: Record, other: Record) -> float:
    """Say in percent how alike the words of two records are."""
    from rapidfuzz import fuzz

    return fuzz.ratio(text_of(one), text_of(other))


def match(
    left: Sequence[Record],
    right: Sequence[Record],
    *,
    handle: Handle,
    content: Callable[[Record], Hashable] = words,
    by_key: bool = True,
    near: bool = True,
    stood: Collection[str] = (),
) -> list[Pair]:
    """Pair two lists of records; each record is in at most one pair. Sorted by left position.

    ``stood``: the files, and the keys in shared files, that were there when the left records were.
    What stands in one of them is nothing that another record has become since.
    """
    if not left or not right:
        return []
    pairing = _Pairing(left, right, handle)
    if by_key:
        pairing.in_place(content)
        pairing.equal()
        pairing.by(lambda r: (_nfc(r.key), content(r)), "key")
        pairing.by(lambda r: _some(handle(r)), "handle", only_unique=True)
        pairing.by(lambda r: None if "~" in r.key else _nfc(r.key), "key")
    pairing.by_content(content)
    if near:
        pairing.leave_out(stood)
        pairing.neighbours()
        pairing.similar()
    return sorted(pairing.pairs)


def match_unlinked(
    left: Sequence[Record], right: Sequence[Record], *, handle: Handle
) -> list[Pair]:
    """Pair records that no conversion has linked: what they say comes before what they are called.

    A key or a handle counts only where it is a file's: an id in a table was allotted by chance, so
    that two that differ tell nothing apart either.
    """
    pairing = _Pairing(left, right, lambda _: None)
    pairing.by(lambda r: message(r) if text_of(r).strip() else None, "content")
    pairing.by(lambda r: None if "#" in r.key else _nfc(r.key), "key")
    pairing.by(lambda r: None if "#" in r.key else _some(handle(r)), "handle", only_unique=True)
    pairing.similar()
    return sorted(pairing.pairs)


class _Pairing:
    def __init__(self, left: Sequence[Record], right: Sequence[Record], handle: Handle) -> None:
        self.left, self.right, self.handle = left, right, handle
        self.free_left = dict.fromkeys(range(len(left)))
        self.free_right = dict.fromkeys(range(len(right)))
        self.pairs: list[Pair] = []

    def add(self, i: int, j: int, how: How, score: float | None = None) -> None:
        del self.free_left[i], self.free_right[j]
        self.pairs.append(Pair(i, j, how, score))

    def by(
        self,
        mark: Callable[[Record], Hashable],
        how: How,
        *,
        only_unique: bool = False,
        there: Callable[[Record], Hashable] | None = None,
    ) -> None:
        """Pair what has the same mark, in order; None marks nothing.

        ``there`` is the mark on the right, where it is another one.
        """
        if not self.free_left or not self.free_right:
            return
        marked: defaultdict[Hashable, list[int]] = defaultdict(list)
        for j in self.free_right:
            marked[(there or mark)(self.right[j])].append(j)
        marked.pop(None, None)
        here: defaultdict[Hashable, list[int]] = defaultdict(list)
        for i in self.free_left:
            here[mark(self.left[i])].append(i)
        for value, ones in here.items():
            others = marked.get(value, [])
            if only_unique and (len(ones) > 1 or len(others) > 1):
                # one handle twice (live and archived): the key decides, else the order
                ones, others = self._same_key(ones, others, how)
            for i, j in zip(ones, others, strict=False):
                self.add(i, j, how)

    def leave_out(self, stood: Collection[str]) -> None:
        """Take out of the right what stood there before, as a record of its own."""
        if not stood or not self.free_left:
            return
        here = {record.key for record in self.left}
        for j in list(self.free_right):
            key = self.right[j].key
            # a key that only tells equal texts apart says nothing of which of them it was
            if key in stood and key not in here and "~" not in key:
                del self.free_right[j]

    def by_content(self, content: Callable[[Record], Hashable]) -> None:
        """Pair what says the same; two rows with ids only if all else is the same, too."""

        def said(record: Record) -> Hashable:
            return content(record) if text_of(record).strip() else None

        def everything(record: Record) -> Hashable:
            if self.row(record) is None or not text_of(record).strip():
                return None
            return dumps(to_json(with_key(record, "")))

        def of_no_row(record: Record) -> Hashable:
            return None if self.row(record) is not None else said(record)

        self.by(everything, "content")
        self.by(of_no_row, "content", there=said)
        self.by(said, "content", there=of_no_row)

    def equal(self) -> None:
        """Pair records with a file of their own that are equal in everything.

        The next step would pair them too, but has to look at the words of each for it.
        """
        there = {self.right[j].key: j for j in self.free_right}
        for i in list(self.free_left):
            record = self.left[i]
            j = None if "#" in record.key else there.get(record.key)
            if j is not None and (record is self.right[j] or record == self.right[j]):
                self.add(i, j, "key")
                del there[record.key]  # a list may say a record twice

    def row(self, record: Record) -> str | None:
        """Give the identity of a record that shares its file: an id that somebody gave it.

        A file has a name, and people rename files; what is made of a text has no identity.
        """
        return self.handle(record) if "#" in record.key else None

    def differ(self, i: int, j: int) -> bool:
        """Are two records known to be two, since each is a row with an id of its own?"""
        one, other = self.row(self.left[i]), self.row(self.right[j])
        return one is not None and other is not None and _nfc(one) != _nfc(other)

    def in_place(self, content: Callable[[Record], Hashable]) -> None:
        """Pair what is the same in a shared file, in its order.

        A key made from a text does not tell equal texts apart; their places do.
        """
        here = _by_path(self.left, self.free_left, self.handle)
        there = _by_path(self.right, self.free_right, self.handle)
        for path in here.keys() & there.keys():
            ones, others = here[path], there[path]
            said = [content(self.left[i]) for i in ones]
            told = [content(self.right[j]) for j in others]
            for a, b in _aligned(said, told):
                self.add(ones[a], others[b], "key")

    def _same_key(
        self, ones: list[int], others: list[int], how: How
    ) -> tuple[list[int], list[int]]:
        keys = {_nfc(self.right[j].key): j for j in others}
        for i in ones:
            j = keys.get(_nfc(self.left[i].key))
            if j is not None and j in self.free_right:
                self.add(i, j, how)
        return (
            [i for i in ones if i in self.free_left],
            [j for j in others if j in self.free_right],
        )

    def neighbours(self) -> None:
        """Pair runs of unmatched records that stand between the same neighbours of one file."""
        partner = {p.left: p.right for p in self.pairs}
        theirs = {p.right: p.left for p in self.pairs}
        gaps = {
            (path, _gap(before, partner), _gap(after, partner)): run
            for path, before, run, after in _runs(self.left, self.free_left)
        }
        for path, before, run, after in list(_runs(self.right, self.free_right)):
            mine = gaps.get((path, _own(before, theirs), _own(after, theirs)))
            if mine and len(mine) == len(run):
                for i, j in zip(mine, run, strict=True):
                    same = self.left[i].role == self.right[j].role and not self.differ(i, j)
                    if i in self.free_left and same:
                        self.add(i, j, "near")

    def similar(self) -> None:
        """Pair near-identical texts; candidates share rare words, so the cost stays near-linear."""
        if not self.free_left or not self.free_right:
            return
        from rapidfuzz import fuzz

        texts = {j: text_of(self.right[j]) for j in self.free_right}
        index: defaultdict[str, list[int]] = defaultdict(list)
        for j, text in texts.items():
            for token in set(_tokens(text)):
                index[token].append(j)
        scored: list[tuple[float, int, int]] = []
        for i in self.free_left:
            text = text_of(self.left[i])
            known = {t for t in _tokens(text) if t in index}
            rare = sorted(known, key=lambda t: (len(index[t]), t))  # the same in every run
            votes: defaultdict[int, float] = defaultdict(float)
            place = i * len(self.right) // len(self.left)
            for token in rare[:_TOKENS]:
                where = index[token]
                for j in _around(where, place):
                    # what few texts say tells them apart, what all say does not
                    votes[j] += 1 / len(where)
            for j in heapq.nlargest(_CANDIDATES, votes, key=votes.__getitem__):
                if self.left[i].role != self.right[j].role or self.differ(i, j):
                    continue
                ratio = fuzz.ratio(text, texts[j], score_cutoff=NEAR)
                if ratio >= NEAR:
                    scored.append((-ratio, i, j))
        for ratio, i, j in sorted(scored):
            if i in self.free_left and j in self.free_right:
                self.add(i, j, "near", -ratio)


_TOKENS = 12
"""Of a text the words looked for in other texts, the rarest first."""
_LOOKED_AT = 50
"""Texts with a word that are looked at: of a common word those at the same place of the store."""
_CANDIDATES = 5
"""Texts that a text is compared with in full."""


def _around(positions: Sequence[int], place: int) -> Sequence[int]:
    if len(positions) <= _LOOKED_AT:
        return positions
    start = bisect_left(positions, place) - _LOOKED_AT // 2
    start = max(0, min(start, len(positions) - _LOOKED_AT))
    return positions[start : start + _LOOKED_AT]


def _by_path(
    records: Sequence[Record], free: Iterable[int], handle: Handle
) -> dict[str, list[int]]:
    out: defaultdict[str, list[int]] = defaultdict(list)
    for i in free:
        if "#" in records[i].key and handle(records[i]) is None:
            out[_nfc(path_of(records[i].key))].append(i)
    return out


def _aligned(ones: list[Hashable], others: list[Hashable]) -> Iterable[tuple[int, int]]:
    """Align two sequences by what is equal, keeping the order; the ends are taken first."""
    start = 0
    while start < min(len(ones), len(others)) and ones[start] == others[start]:
        yield start, start
        start += 1
    end = 0
    while end < min(len(ones), len(others)) - start and ones[-1 - end] == others[-1 - end]:
        yield len(ones) - 1 - end, len(others) - 1 - end
        end += 1
    left, right = ones[start : len(ones) - end], others[start : len(others) - end]
    # of equal texts the one at the very place: all around it may have been edited
    found = [(k, k) for k in range(min(len(left), len(right))) if left[k] == right[k]]
    if len(found) < (Counter(left) & Counter(right)).total():
        moved = [(a + k, b + k) for a, b, size in runs(left, right) for k in range(size)]
        found = moved if len(moved) > len(found) else found
    for a, b in found:
        yield start + a, start + b


def _runs(
    records: Sequence[Record], free: Iterable[int]
) -> Iterable[tuple[str, int, list[int], int]]:
    """Yield (path, position before, run, position after) of each shared file; -1 is an end."""
    unmatched = set(free)
    by_path: defaultdict[str, list[int]] = defaultdict(list)
    for i, record in enumerate(records):
        if "#" in record.key:
            by_path[_nfc(path_of(record.key))].append(i)
    for path, members in by_path.items():
        before, run = -1, list[int]()
        for i in members:
            if i in unmatched:
                run.append(i)
            else:
                if run:
                    yield path, before, run, i
                before, run = i, []
        if run:
            yield path, before, run, -1


def _gap(position: int, partner: dict[int, int]) -> int:
    return -1 if position < 0 else partner[position]


def _own(position: int, theirs: dict[int, int]) -> int:
    return position if position < 0 or position in theirs else -2


_WORD = re.compile(r"\w+")


def _tokens(text: str) -> list[str]:
    """Give the words of a text; a run that no spaces divide gives its three-letter pieces."""
    out: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if word.isascii():
            out.append(word)
        else:
            out += (word[k : k + 3] for k in range(max(1, len(word) - 2)))
    return out


def _some(handle: str | None) -> Hashable:
    return None if handle is None else _nfc(handle)


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _fold(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
