"""Values in three states: the last one that both sides agreed on, and what each side says now.

Every function here works on the value of one field. ``kinds`` and ``extra`` are merged key by key,
``links``, ``tags`` and ``entities`` element by element, everything else whole; a text is restored
line by line, so that line ends and outer white space that a format folds away come back; a text
that was translated into another medium block by block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from interop import alignment, encoded
from interop.fields import Value
from interop.model import Body

TEXT_MEDIA = ("text/markdown", "text/html")
"""The media between which an edit can be carried over, block by block."""


class Merged(NamedTuple):
    """The outcome of a three-way merge of one value."""

    value: Value
    conflict: bool


def same(a: Value, b: Value) -> bool:
    """Compare values; a difference of line ends only is none (version control rewrites them)."""
    if a == b:
        return True
    if isinstance(a, str) and isinstance(b, str):
        return _fold(a) == _fold(b)
    if isinstance(a, Body) and isinstance(b, Body):
        return a.media == b.media and _fold(a.text) == _fold(b.text)
    return False


def merge(base: Value, ours: Value, theirs: Value) -> Merged:
    """Merge three ways; a conflict keeps ours. None is "not stated"."""
    if same(ours, theirs) or same(theirs, base):
        return Merged(ours, False)
    if same(ours, base):
        return Merged(theirs, False)
    if maps := _mappings(base, ours, theirs):
        b, o, t = maps
        parts = {k: merge(b.get(k), o.get(k), t.get(k)) for k in _keys(o, t, b)}
        value = {k: m.value for k, m in parts.items() if m.value is not None}
        return Merged(value or None, any(m.conflict for m in parts.values()))
    if lists := _tuples(base, ours, theirs):
        old, mine, other = lists
        return Merged(_elements(mine, old, other) or None, False)
    return Merged(ours, True)


def carry_over(rich: Value, seen: Value, now: Value) -> Value:
    """Give ``rich`` with the change from ``seen`` to ``now`` made in it.

    ``seen`` is how ``rich`` looked through a format that cannot say all of it. Where nothing
    changed the rich value stands; where something else is said, that wins.
    """
    if same(now, seen):
        return rich
    if rich == seen:
        return now
    if maps := _mappings(rich, seen, now):
        r, s, n = maps
        value = {k: carry_over(r.get(k), s.get(k), n.get(k)) for k in _keys(r, n)}
        return {k: v for k, v in value.items() if v is not None} or None
    if lists := _tuples(rich, seen, now):
        return _elements(*lists) or None
    if isinstance(rich, Body) and isinstance(seen, Body) and isinstance(now, Body):
        if rich.media == seen.media == now.media:
            before, after = seen.text, now.text
            if now.media == TEXT_MEDIA[1] and "<mark>" in before:
                from interop.markup import claim

                before, after = claim.without_claim(rich.text, rich.media, before, after)
            return Body(text=_lines(rich.text, before, after), media=now.media)
        if seen.media == now.media and {rich.media, now.media} == set(TEXT_MEDIA):
            from interop import markup  # parsers that most commands never need
            from interop.markup import claim

            before, after = seen.text, now.text
            if rich.media == TEXT_MEDIA[0]:
                before, after = claim.without_claim(rich.text, rich.media, before, after)
            else:  # a format may have encoded what the text was translated into
                plain = markup.translate(rich.text, rich.media, now.media)
                edited = _carried(plain, before, after) if plain.strip() != before.strip() else None
                if edited is not None:
                    before, after = plain, edited
            text = markup.carry_over(rich.text, rich.media, before, after, now.media)
            return Body(text=text, media=rich.media)
    elif isinstance(rich, str) and isinstance(seen, str) and isinstance(now, str):
        return _lines(rich, seen, now)
    return now


_T = TypeVar("_T")
_Three: TypeAlias = tuple[_T, _T, _T] | None


def _mappings(*values: Value) -> _Three[Mapping[str, Value]]:
    if any(not (v is None or isinstance(v, Mapping)) for v in values):
        return None
    one, two, three = values
    return one or {}, two or {}, three or {}


def _tuples(*values: Value) -> _Three[tuple[Value, ...]]:
    if any(not (v is None or isinstance(v, tuple)) for v in values):
        return None
    one, two, three = values
    return one or (), two or (), three or ()


def _keys(*maps: Mapping[str, Value]) -> list[str]:
    return list(dict.fromkeys(k for m in maps for k in m))


def _elements(
    rich: tuple[Value, ...], seen: tuple[Value, ...], now: tuple[Value, ...]
) -> tuple[Value, ...]:
    """Take out of ``rich`` what left between seen and now, and append what came."""
    left = Counter(map(_hashable, seen))
    left.subtract(map(_hashable, now))
    out: list[Value] = []
    for item in rich:
        if left[_hashable(item)] > 0:
            left[_hashable(item)] -= 1
        else:
            out.append(item)
    have, wanted = Counter(map(_hashable, out)), Counter(map(_hashable, now))
    for item in now:
        mark = _hashable(item)
        if left[mark] < 0 and have[mark] < wanted[mark]:
            left[mark] += 1
            have[mark] += 1
            out.append(item)
    return tuple(out)


def _hashable(item: Value) -> str:
    return repr(item)


_EOL = re.compile(r"\r\n|\n|\r")


def _fold(text: str) -> str:
    return text.replace("\r\n", "\n") if "\r" in text else text


def _lines(rich: str, seen: str, now: str) -> str:
    """Carry an edit over where that can be; otherwise ``now`` is the answer."""
    found = _carried(rich, seen, now)
    return now if found is None else found


def _carried(rich: str, seen: str, now: str) -> str | None:
    """Carry an edit of a folded text over to the text it was folded from, line by line.

    Where ``rich`` and ``seen`` have the same number of lines, a line that was not edited is the
    rich one; an edited one keeps what was not edited in it, and a new one has the indent that its
    like have. Otherwise one may be the encoding of the other as a whole; None where it is not, as
    they cannot be told to correspond.
    """
    core, seen_core, now_core = rich.strip(), seen.strip(), now.strip()
    old, new = _EOL.split(seen_core), _EOL.split(now_core)
    texts, ends = _EOL.split(core), _EOL.findall(core)
    if not core:
        return None
    head = _edge(rich, seen, now, start=True)
    tail = _edge(rich, seen, now, start=False)
    if len(texts) != len(old):
        whole = encoded.carry(core, seen_core, now_core)
        return None if whole is None else head + whole + tail
    common = Counter(ends).most_common(1)
    usual = common[0][0] if common else "\n"
    taken: dict[int, str] = {}
    kept: dict[int, str] = {}
    ways = _Ways(old, texts)
    for equal, a, a_end, b, b_end in alignment.stretches(old, new):
        if a_end - a != b_end - b:
            continue
        for i in range(b_end - b):
            if equal:
                kept[b + i] = texts[a + i]
            elif texts[a + i] != old[a + i]:
                line = encoded.carry(texts[a + i], old[a + i], new[b + i])
                if line is not None:
                    kept[b + i] = line
            if a + i < len(ends):
                taken[b + i] = ends[a + i]
    parts: list[str] = []
    for i, line in enumerate(new):
        parts.append(kept[i] if i in kept else ways.like_the_rich(line, first=i == 0))
        if i < len(new) - 1:
            parts.append(taken.get(i, usual))
    return head + "".join(parts) + tail


class _Ways:
    """How the lines of a text are written in another place, seen in those that are there."""

    def __init__(self, seen: Sequence[str], rich: Sequence[str]) -> None:
        pairs = list(zip(seen, rich, strict=True))
        self._more = {s.removesuffix(t) for s, t in pairs if t and s.endswith(t)}
        less = {t.removesuffix(s) for s, t in pairs[1:] if s and t.endswith(s)}
        self._less = less.pop() if len(less) == 1 else ""
        self._means: dict[str, set[str]] = {}
        for s, t in pairs:
            self._means.setdefault(s, set()).add(t)

    def like_the_rich(self, line: str, *, first: bool) -> str:
        """Give a new line as the rich text would have it: like its equals, or their indent."""
        means = self._means.get(line, set[str]())
        if len(means) == 1:
            return next(iter(means))
        indent = max((p for p in self._more if line.startswith(p)), key=len, default="")
        return ("" if first or not line else self._less) + line.removeprefix(indent)


def _edge(rich: str, seen: str, now: str, *, start: bool) -> str:
    """Give the white space at one end: now's where somebody changed it, the rich one otherwise."""

    def edge(text: str) -> str:
        bare = text.lstrip() if start else text.rstrip()
        return text[: len(text) - len(bare)] if start else text[len(bare) :]

    return edge(rich) if edge(seen) == edge(now) else edge(now)
