"""What a file says of itself that is meant as a memory, before it is parsed.

Spec: docs/formats/memhtml.md.
"""

from __future__ import annotations

import re

_MARK = b"memhtml-type"
_META = re.compile(rb"<meta\s[^<>]*\bmemhtml-type\b", re.IGNORECASE)


def has_type(data: bytes) -> bool:
    """Is there a meta that states the type of a memory, wherever the head ends?

    A text that only speaks of one has no tag there: it is escaped.
    """
    return _MARK in data and _META.search(data) is not None
