"""Saying a record with what a format has, and seeing through that: its roles and its medium.

A format without tasks, decisions or tombstones says them as marked memories (interop.roles); a body
that comes in another medium is translated by the one map between Markdown and HTML. Both are done
here, by the core, so that every format does them alike.
"""

from __future__ import annotations

import re
from dataclasses import replace

from interop import fields, roles
from interop.adapter import Adapter
from interop.model import Body, Memory, Problem, Record, Store

_CLAIM = re.compile(r"\A<mark>[^\n]*</mark>\n\n(?=<!-- interop: )")
MARKDOWN = "text/markdown"
HTML = "text/html"


def lower(record: Record, adapter: Adapter, onto: Record | None = None) -> Record:
    """Say a record in a role and a medium that the format has.

    ``onto`` is the record that says it there now: a rendering changes nothing else of it.
    """
    if record.role not in adapter.roles:
        record = roles.to_memory(record, onto if isinstance(onto, Memory) else None)
    body = fields.get(record, "body")
    if not isinstance(body, Body) or body.media == adapter.media:
        return record
    return fields.replace(record, {"body": translated(body, adapter.media)})


def seen(store: Store, adapter: Adapter) -> Store:
    """See through the renderings in a store: each marked memory is what it declares itself to be.

    One that no longer parses stays a memory, and is reported.
    """
    problems: list[Problem] = []
    records = tuple(_seen(r, adapter, problems) for r in store.records)
    if all(new is old for new, old in zip(records, store.records, strict=True)):
        return store if not problems else replace(store, problems=(*store.problems, *problems))
    return replace(store, records=records, problems=(*store.problems, *problems))


def seen_record(record: Record, adapter: Adapter) -> Record:
    """See through the rendering of one record."""
    return _seen(record, adapter, [])


def _seen(record: Record, adapter: Adapter, problems: list[Problem]) -> Record:
    if not isinstance(record, Memory) or "<!-- interop:" not in record.body.text:
        return record
    body = translated(record.body, MARKDOWN)
    if record.body.media == HTML:
        # a claim that the format puts before every text is not part of the rendering
        body = replace(body, text=_CLAIM.sub("", body.text, count=1))
    if not roles.is_marked(body.text):
        return record
    found = roles.from_memory(replace(record, body=body))
    if found is None:
        problems.append(
            Problem(
                path=record.key,
                problem="is marked as a task, a decision or a tombstone, but no longer reads as "
                "one: it counts as a memory",
            )
        )
        return record
    return record if found.role in adapter.roles else found


def translated(body: Body, media: str) -> Body:
    """Give a text in another medium; one that the map does not know stays as it is."""
    if body.media == media or {body.media, media} != {HTML, MARKDOWN}:
        return body
    from interop.markup import translate  # parsers that most commands never need

    return Body(text=translate(body.text, body.media, media), media=media)
