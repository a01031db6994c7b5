"""Values in three states: the last one that both sides agreed on, and what each side says now.

Every function here works on the value of one field. ``kinds`` and ``extra`` are merged key by key,
``links``, ``tags`` and ``entities`` element by element, everything else whole; a text is restored
line by line, so that line ends and outer white space that a format folds away come back; a text
that was translated into another medium block by block.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, TypeVar

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
            return Body(text=_lines(rich.text, seen.text, now.text), media=now.media)
        if seen.media == now.media and {rich.media, now.media} == set(TEXT_MEDIA):
            from interop import markup  # parsers that most commands never need

            before, after = seen.text, now.text
            if rich.media == TEXT_MEDIA[0]:
                before, after = markup.without_claim(rich.text, before, after)
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
    """Carry an edit of a folded text over to the text it was folded from, line by line.

    Only where ``rich`` and ``seen`` have the same number of lines; otherwise they cannot be told to
    correspond, and ``now`` is the answer. A line that was not edited is the rich one; an edited one
    loses the indent that its like had been given.
    """
    core, seen_core, now_core = rich.strip(), seen.strip(), now.strip()
    old, new = _EOL.split(seen_core), _EOL.split(now_core)
    texts, ends = _EOL.split(core), _EOL.findall(core)
    if len(texts) != len(old) or not core:
        return now
    common = Counter(ends).most_common(1)
    usual = common[0][0] if common else "\n"
    taken: dict[int, str] = {}
    kept: dict[int, str] = {}
    indents = {s.removesuffix(t) for s, t in zip(old, texts, strict=True) if t and s.endswith(t)}
    for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for i in range(block.size):
            kept[block.b + i] = texts[block.a + i]
            if block.a + i < len(ends):
                taken[block.b + i] = ends[block.a + i]
    parts: list[str] = []
    for i, line in enumerate(new):
        indent = max((p for p in indents if line.startswith(p)), key=len, default="")
        parts.append(kept.get(i, line.removeprefix(indent)))
        if i < len(new) - 1:
            parts.append(taken.get(i, usual))
    head = _edge(rich, seen, now, start=True)
    tail = _edge(rich, seen, now, start=False)
    return head + "".join(parts) + tail


def _edge(rich: str, seen: str, now: str, *, start: bool) -> str:
    """Give the white space at one end: now's where somebody changed it, the rich one otherwise."""

    def edge(text: str) -> str:
        bare = text.lstrip() if start else text.rstrip()
        return text[: len(text) - len(bare)] if start else text[len(bare) :]

    return edge(rich) if edge(seen) == edge(now) else edge(now)
