"""Saying a record with what a format has: its medium.

A format's texts are in one medium (``Adapter.media``). A body that comes in another is translated
by the one map between Markdown and HTML, whatever formats are involved.
"""

from __future__ import annotations

from interop import fields
from interop.adapter import Adapter
from interop.model import Body, Record


def lower(record: Record, adapter: Adapter) -> Record:
    """Give the record with its body in the format's medium."""
    body = fields.get(record, "body")
    if not isinstance(body, Body) or body.media == adapter.media:
        return record
    return fields.replace(record, {"body": translated(body, adapter.media)})


def translated(body: Body, media: str) -> Body:
    """Give a text in another medium; one that the map does not know stays as it is."""
    from interop.markup import HTML, MARKDOWN, translate  # parsers that most commands never need

    if body.media == media or not {body.media, media} <= {HTML, MARKDOWN}:
        return body
    return Body(text=translate(body.text, body.media, media), media=media)
