"""What memhtml's sleep changes by itself, so that a comparison can fold it away.

Spec: docs/formats/memhtml.md, "What the runtime does to it later".
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from interop.adapters.memhtml import placement
from interop.adapters.memhtml.vocabulary import FORMAT, JS_SPACE
from interop.model import Json, Link, Memory, Record

_COUNTED: Final = ("confidence", "reprieves")
"""What decays, or is counted; ``valid-until`` is also moved on with a reprieve, but people state it
too, so a change of it is one."""
_BLANKS = re.compile(f"[{JS_SPACE}]+")
_PERSON: Final = "person:"


def calm(record: Record) -> Record:
    """Give the record without the marks that sleep leaves: two that are equal so say the same."""
    if not isinstance(record, Memory):
        return record
    entities = tuple(dict.fromkeys(map(_entity, record.entities)))
    return dataclasses.replace(
        record,
        modified=None,
        entities=entities,
        links=tuple(dict.fromkeys(_links(record, entities))),
        extra=_extra(record.extra),
    )


def _entity(reference: str) -> str:
    """Give an entity in the form in which the runtime compares two: each half by itself."""
    return ":".join(map(_name, reference.split(":", 1)))


def _name(text: str) -> str:
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text).lower()).strip(" ")


def _links(record: Memory, entities: tuple[str, ...]) -> Iterator[Link]:
    """Give the links as they were before repair, without those that follow from the persons."""
    persons = {
        f"resources/people/{placement.slug(e.removeprefix(_PERSON))}.html"
        for e in entities
        if e.startswith(_PERSON)
    }
    for link in record.links:
        if link.rel != "about_person" or link.target not in persons:
            yield dataclasses.replace(link, target=placement.origin(link.target))


def _extra(extra: Mapping[str, Json]) -> Mapping[str, Json]:
    own = extra.get(FORMAT)
    if not isinstance(own, dict):
        return extra
    kept: dict[str, Json] = {n: v for n, v in own.items() if n not in _COUNTED}
    rest = {n: v for n, v in extra.items() if n != FORMAT}
    return {**rest, FORMAT: kept} if kept else rest
