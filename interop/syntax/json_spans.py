"""Values in a JSON text with the span that states each, so that only what changes is replaced.

The text is known to be JSON (a library read it); here it is only asked where its values lie.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from interop import fields
from interop.model import Json
from interop.syntax.splice import Edit

_BLANKS = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_SCALAR = re.compile(r'[^ \t\r\n,:\[\]{}"]+')
_TO_BRACKET = re.compile(r'[^"\[\]{}]*')


class Member(NamedTuple):
    """One member of an object: its name as it reads, and where name and value lie."""

    name: str
    start: int
    value: int
    end: int


def members(text: str, at: int) -> list[Member]:
    """List the members of the object that begins at ``at``, in their order, repeated names too."""
    found: list[Member] = []
    at = _skip(text, at + 1)
    while text[at] != "}":
        start, at = at, end_of(text, at)
        name = str(_read(text[start:at]))
        value = _skip(text, _skip(text, at) + 1)
        end = end_of(text, value)
        found.append(Member(name, start, value, end))
        at = _next(text, end)
    return found


def elements(text: str, at: int) -> list[tuple[int, int]]:
    """List where the elements of the array that begins at ``at`` lie."""
    found: list[tuple[int, int]] = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = end_of(text, at)
        found.append((at, end))
        at = _next(text, end)
    return found


def end_of(text: str, at: int) -> int:
    """Give where the value that begins at ``at`` ends."""
    if text[at] == '"':
        return _match(_STRING, text, at)
    if text[at] not in "[{":
        return _match(_SCALAR, text, at)
    depth = 0
    while True:
        char = text[at]
        if char == '"':
            at = _match(_STRING, text, at)
        else:
            depth += 1 if char in "[{" else -1
            at += 1
            if depth == 0:
                return at
        at = _match(_TO_BRACKET, text, at)


def edits(text: str, at: int, old: Json, new: Json) -> Iterator[Edit]:
    """Give the edits after which the value at ``at`` says ``new``; now it says ``old``.

    What ``old`` does not name (members that its reader does not know) stays as it is. Of a name
    that is stated twice the last one counts; a member that goes takes all its statements along.
    """
    if alike(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict) and text[at] == "{":
        yield from _of_object(text, at, old, new)
    elif isinstance(old, list) and isinstance(new, list) and text[at] == "[":
        yield from _of_array(text, at, old, new)
    else:
        yield Edit(at, end_of(text, at), _said(new))


def alike(one: Json, other: Json) -> bool:
    """Are two values the same JSON? Python takes ``1``, ``1.0`` and ``true`` for equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(v, other[k]) for k, v in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return type(one) is type(other) and one == other


def _of_object(
    text: str, at: int, old: Mapping[str, Json], new: Mapping[str, Json]
) -> Iterator[Edit]:
    found = members(text, at)
    last = {m.name: m for m in found}
    for name, value in new.items():
        if name in last and name in old:
            yield from edits(text, last[name].value, old[name], value)
        elif name in last:
            yield Edit(last[name].value, last[name].end, _said(value))
    gone = old.keys() - new.keys()
    stays = False
    for i, member in enumerate(found):
        if member.name not in gone:
            stays = True
        elif stays:
            yield Edit(found[i - 1].end, member.end, "")
        else:
            after = found[i + 1].start if i + 1 < len(found) else member.end
            yield Edit(member.start, after, "")
    # what is said by default, without a member of its own, goes on being said so
    added = [
        f"{_said(n)}:{_said(v)}"
        for n, v in new.items()
        if n not in last and not (n in old and alike(old[n], v))
    ]
    if added:
        place = found[-1].end if found else at + 1
        yield Edit(place, place, ("," if stays else "") + ",".join(added))


def _of_array(text: str, at: int, old: Sequence[Json], new: Sequence[Json]) -> Iterator[Edit]:
    found = elements(text, at)
    if len(old) == len(new):
        for (start, _), one, other in zip(found, old, new, strict=True):
            yield from edits(text, start, one, other)
        return
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if not alike(old[i], new[i])), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if not alike(old[-1 - i], new[-1 - i])), rest)
    said = [text[start:end] for start, end in found]
    middle = [_said(value) for value in new[head : len(new) - tail]]
    kept = [*said[:head], *middle, *said[len(old) - tail :]]
    yield Edit(at, end_of(text, at), f"[{','.join(kept)}]")


def _said(value: Json) -> str:
    return fields.dumps(value).decode("utf-8")


def _read(text: str) -> Json:
    import json  # which reads half of a surrogate pair too

    value: Json = json.loads(text)
    return value


def _skip(text: str, at: int) -> int:
    return _match(_BLANKS, text, at)


def _next(text: str, at: int) -> int:
    """Go on to what follows a value: the next one behind a comma, or the closing bracket."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _match(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None, "the text is JSON"
    return found.end()
