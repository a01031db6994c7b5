"""Saying a record with what a format has, and seeing through that: its roles and its medium.

A format without tasks, decisions or tombstones says them as marked memories (interop.roles), with
the marker where it has a place for it; a body that comes in another medium is translated by the
one map between Markdown and HTML. Both are done here, by the core, so that every format does them
alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from operator import is_

from interop import fields, roles
from interop.adapter import Adapter, Context, Fitted, Refusal
from interop.model import Body, Json, Memory, Problem, Record, Store

# what is escaped is text: ``\</mark>`` ends no claim
_CLAIM = re.compile(r"\A<mark>(?:\\(?!\n\n).|(?!\n\n|</mark>)[^\\])*</mark>(?:\n\n|\Z)", re.DOTALL)
_CLAIMED = re.compile(r"\A- <mark>((?:\\.|[^\\])*?)</mark>", re.DOTALL)
_COMMENT = "<!-- interop:"
_NOW = "2000-01-01T00:00:00.000Z"
"""A moment to look at what a format would say; nothing that was asked then is written."""
MARKDOWN = "text/markdown"
HTML = "text/html"


def lower(record: Record, adapter: Adapter, onto: Record | None = None) -> Record:
    """Say a record in a role and a medium that the format has.

    ``onto`` is the record that says it there now: a rendering changes nothing else of it.
    """
    if record.role in adapter.roles:
        return _in_medium(record, adapter)
    first: Record | None = None
    for way in roles.WAYS:
        new = _in_medium(_rendered(record, adapter, onto, way), adapter)
        if _is_read(new, record.role, adapter, onto):
            return new
        first = first or new
    assert first is not None
    return first  # what it is refused for is no matter of how it is said


def _rendered(record: Record, adapter: Adapter, onto: Record | None, way: roles.Way) -> Record:
    """Say a record as a marked memory, with the marker where the format has a place for it."""
    there = onto if isinstance(onto, Memory) else None
    record = roles.to_memory(record, there and (marked(there, adapter) or there), way)
    if adapter.marker is None:
        return record
    said, text = roles.apart(record.body.text)
    body = replace(record.body, text=text)
    return replace(record, body=body, extra=_with_marker(record, adapter, said))


def _is_read(new: Record, role: str, adapter: Adapter, onto: Record | None) -> bool:
    """Does a format give a rendering back as one, whatever else it does to the text?

    A kind that it demands is stood in for: it is declared later, or the record is refused for it.
    """
    kinds = adapter.kinds
    stated: Mapping[str, str] = fields.get(new, "kinds") or {}
    if kinds is not None and kinds.required and kinds.vocabulary not in stated:
        new = fields.replace(new, {"kinds": {**stated, kinds.vocabulary: kinds.terms[0]}})
    fitted = given_back(adapter.fit(new, onto, Context(now=_NOW)), role, adapter)
    return not isinstance(fitted, Refusal) or fitted.field != "body"


def given_back(fitted: Fitted | Refusal, role: str, adapter: Adapter) -> Fitted | Refusal:
    """Refuse a rendering that a format would give back as something else than it says."""
    if isinstance(fitted, Refusal) or role in adapter.roles:
        return fitted
    record = fitted.record
    if seen_record(record, adapter).role == role:
        return fitted
    return Refusal(
        key=record.key,
        field="body",
        reason=f"as {adapter.name} has to write it, it would not be read as a {role} again",
        remedy="reword it, or let it travel with --carry",
    )


def _in_medium(record: Record, adapter: Adapter) -> Record:
    """Say the body of a record in the medium that a format takes."""
    body = fields.get(record, "body")
    if not isinstance(body, Body) or adapter.media is None or body.media == adapter.media:
        return record
    new = fields.replace(record, {"body": translated(body, adapter.media)})
    if record.role == "memory" and _COMMENT in body.text and seen_record(new, adapter) is not new:
        # a rendering that no longer reads as one must not begin to in the other medium
        plain = replace(body, text=body.text.replace("<!--", "\\<!--", 1))
        new = fields.replace(record, {"body": translated(plain, adapter.media)})
    return new


def seen(store: Store, adapter: Adapter) -> Store:
    """See through the renderings in a store: each marked memory is what it declares itself to be.

    One that no longer parses stays a memory, and is reported.
    """
    problems: list[Problem] = []
    records = tuple([_seen(r, adapter, problems) for r in store.records])
    if all(map(is_, records, store.records)):
        return store if not problems else replace(store, problems=(*store.problems, *problems))
    return replace(store, records=records, problems=(*store.problems, *problems))


def seen_record(record: Record, adapter: Adapter) -> Record:
    """See through the rendering of one record."""
    return _seen(record, adapter, [])


def marked(record: Record, adapter: Adapter) -> Memory | None:
    """Give a marked memory as its rendering says it: in Markdown, the marker first; else None."""
    if not isinstance(record, Memory):
        return None
    said = _marker(record, adapter)
    if said is None and _COMMENT not in record.body.text:
        return None
    body = translated(_loosened(record.body), MARKDOWN)
    text, extra = body.text, record.extra
    if said is not None:
        text = roles.together(said, _unclaimed(text, alone=said.endswith("}")))
        extra = _with_marker(record, adapter, None)
    elif record.body.media == HTML and (rest := _CLAIM.sub("", text, count=1)).startswith(_COMMENT):
        text = rest
    if not roles.is_marked(text):
        return None
    return replace(record, body=replace(body, text=text), extra=extra)


def _unclaimed(text: str, *, alone: bool) -> str:
    """Take off the claim that a format puts before a text: it is no part of the rendering.

    Where nothing but a claim stands, it is one only if the marker says everything; otherwise it is
    what somebody wrote in the rendering's place.
    """
    rest = _CLAIM.sub("", text, count=1)
    return _CLAIMED.sub(r"- \1", rest, count=1) if rest or alone else text


def _marker(record: Memory, adapter: Adapter) -> str | None:
    """Give what the marker beside a text says, if there is one."""
    own = record.extra.get(adapter.name)
    said = own.get(adapter.marker) if isinstance(own, dict) and adapter.marker else None
    return said if isinstance(said, str) else None


def _with_marker(record: Memory, adapter: Adapter, said: str | None) -> dict[str, Json]:
    """Give what formats alone say of a memory, with another marker beside its text, or none."""
    assert adapter.marker is not None
    extra = dict(record.extra)
    there = extra.pop(adapter.name, None)
    own = dict(there) if isinstance(there, dict) else {}
    own.pop(adapter.marker, None)
    if said is not None:
        own[adapter.marker] = said
    return {**extra, adapter.name: own} if own else extra


def _seen(record: Record, adapter: Adapter, problems: list[Problem]) -> Record:
    memory = marked(record, adapter)
    if memory is None:
        return record
    found = roles.from_memory(memory)
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


def _loosened(body: Body) -> Body:
    """Give a text in HTML with its lists as Markdown can say them; any other as it is."""
    if body.media != HTML:
        return body
    from interop.markup import loosened  # parsers that most commands never need

    return replace(body, text=loosened(body.text))


def translated(body: Body, media: str) -> Body:
    """Give a text in another medium; one that the map does not know stays as it is."""
    if body.media == media or {body.media, media} != {HTML, MARKDOWN}:
        return body
    from interop.markup import translate  # parsers that most commands never need

    return Body(text=translate(body.text, body.media, media), media=media)
