r"""Facts of the oldest generation: ``<namespace>/<scope>-<user>.json``.

    {"facts": [{"text": "The pier station has 24 docks"}]}

The runtime moves them into ``MEMORY.md`` and deletes the file when it first touches the store, so
none is ever made here. An edit or a removal is spliced into the file as it stands.

Spec: docs/formats/theokit.md, sections 0 and 6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from interop.adapters.theokit.ecmascript import trim, visible

_PATH = re.compile(
    r"(?P<namespace>[a-z0-9][a-z0-9_-]{0,63})/[a-z0-9][a-z0-9_-]{0,15}-[a-z0-9][a-z0-9_-]{0,63}\.json"
)
_OTHERS = ("notes", "wiki", "sessions", "transcripts")
_BLANK = re.compile("[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: its text, and where its JSON string and the whole element stand."""

    text: str
    start: int
    end: int
    element: tuple[int, int]


@dataclass(frozen=True, slots=True)
class FactsJson:
    """A file of facts as read."""

    text: str
    facts: tuple[Fact, ...]
    elements: tuple[tuple[int, int], ...]
    """All elements of the list, those without a text among them."""


def is_path(path: str) -> bool:
    """Is this where the old generation kept facts?"""
    found = _PATH.fullmatch(path)
    return found is not None and found["namespace"] not in _OTHERS


def read(text: str) -> FactsJson | str | None:
    """Read a file of facts; say why it cannot be read; None where it is something else."""
    try:
        whole = json.loads(text)
        if not isinstance(whole, dict) or not isinstance(whole.get("facts"), list):
            return None
        at = [start for key, start, _ in _members(text, _skip(text, 0)) if key == "facts"][-1]
        elements = tuple(_elements(text, at))
        facts = tuple(f for e in elements if (f := _fact(text, e)) is not None)
    except (ValueError, RecursionError):
        return "not valid JSON: the runtime ignores the file"
    return FactsJson(text, facts, elements)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value_end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield key, start and end of each value of the object that begins at a place."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, end) + 1)
        stop = _value_end(text, start)
        yield key, start, stop
        at = _skip(text, stop)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    at = _skip(text, at + 1)
    while text[at] != "]":
        stop = _value_end(text, at)
        yield at, stop
        at = _skip(text, stop)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _fact(text: str, element: tuple[int, int]) -> Fact | None:
    if text[element[0]] != "{":
        return None
    found = None
    for key, start, stop in _members(text, element[0]):
        if key == "text":
            found = (start, stop) if text[start] == '"' else None
    if found is None:
        return None
    words = visible(json.loads(text[slice(*found)]))
    return Fact(words, *found, element) if trim(words) else None


def prose(file: FactsJson) -> str:
    """Give the file without its facts' texts."""
    out: list[str] = []
    at = 0
    for fact in file.facts:
        out.append(file.text[at : fact.start])
        at = fact.end
    return "".join([*out, file.text[at:]])
