"""What the runtime makes of a fact that it has already: its answer is ``duplicate``.

Spec: docs/formats/bantamkit.md, BK115.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from interop.adapter import Context, same_text
from interop.model import Memory, Record

_TOKEN = re.compile(r"[a-z0-9]+")
_SHARED = 0.5
"""The part of their words that the names and descriptions of two facts share when they are one."""


def repeated(new: Record, present: Sequence[Record], context: Context) -> Record | None:
    """Give the live fact that the runtime takes for the same one, or that has the same text.

    Words of other alphabets are none to it, so such facts are told by their text alone.
    """
    words = _words(new)
    for record in present:
        there = _words(record)
        if there and words and len(words & there) >= _SHARED * len(words | there):
            return record
    return same_text(new, present, context)


def _words(record: Record) -> frozenset[str]:
    if not isinstance(record, Memory) or record.state != "live":
        return frozenset()
    return frozenset(_TOKEN.findall(f"{record.name or ''} {record.description or ''}".lower()))
