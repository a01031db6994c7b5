"""What a new memory is called where its format makes that of the text, and what may be told of it.

The name of a file, a description and a line of an index go further than a text: into every session,
into listings, into the subject of a commit. So they are made of the text without its secrets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Final

from interop import fields
from interop.adapter import Adapter, Context, Hold, Refusal
from interop.bridge.results import Added
from interop.model import Body, Memory, Record
from interop.rendering import lower
from interop.secrets import find, mask, pieces

_MADE: Final = ("name", "title", "description", "hook")
"""The fields that a format makes of a text."""
_LONGEST: Final = 60
"""Characters of a key that is made of a text."""


def without_secrets(
    record: Memory, adapter: Adapter, context: Context, taken: Collection[str]
) -> tuple[Memory, tuple[Added, ...]]:
    """Give a memory with what its format would make of its text, made of it without its secrets.

    Args:
        record: as it was said.
        adapter: of the format.
        context: for the adapter.
        taken: names that other records have, case folded.
    """
    masked = mask(record.body.text)
    if masked == record.body.text:
        return record, ()
    safe = adapter.fit(
        lower(fields.replace(record, {"body": Body(text=masked)}), adapter), None, context
    )
    if isinstance(safe, Refusal):
        return record, ()  # and so is the record itself, which says why
    made: dict[str, str] = {}
    added: list[Added] = []
    for one in safe.supplied:
        value = fields.get(safe.record, one.field)
        if (
            one.field not in _MADE
            or one.field in made
            or not isinstance(value, str)
            or fields.get(record, one.field) is not None
            or adapter.holds.get(one.field, Hold.NO) is not Hold.EXACT
        ):
            continue
        made[one.field] = _free(value, taken) if one.field == "name" else value
        reason = f"{one.reason} (without its secrets)"
        added.append(Added(field=one.field, value=made[one.field], reason=reason))
    named = fields.replace(record, made)
    assert isinstance(named, Memory), "its role stays"
    return named, tuple(added)


def key_for(text: str, taken: Collection[str]) -> str:
    """Give a free key for a format whose keys say nothing else: words of a name or of a text."""
    line = next((row for row in mask(text).splitlines() if _slug(row)), "")
    key, number = f"{_slug(line) or 'memory'}.md", 1
    while key in taken:
        number += 1
        key = f"{_slug(line) or 'memory'}-{number}.md"
    return key


def gives_away(shown: str, texts: Iterable[str]) -> bool:
    """Say whether a key, however its format wrote it, has a piece of a secret of some texts."""
    secrets = (_bare(text[s.start : s.end]) for text in texts for s in find(text))
    bare = _bare(shown)
    return any(piece in bare for piece in pieces(secrets))


def tellable(key: str, record: Record) -> str:
    """Give what can be told of a record to others than its user: its key, unless that is secret."""
    said = [value for value in fields.stated(record).values() if isinstance(value, str)]
    body = fields.get(record, "body")
    if isinstance(body, Body):
        said.append(body.text)
    return "a memory" if gives_away(key, [*said, key]) else key


def _free(name: str, taken: Collection[str]) -> str:
    number, free = 1, name
    while free.casefold() in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _slug(text: str) -> str:
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).lower())
    slug = "-".join(words)
    return (
        (slug[: _LONGEST + 1].rpartition("-")[0] or slug[:_LONGEST])
        if len(slug) > _LONGEST
        else slug
    )


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()
