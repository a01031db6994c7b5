"""A text whose first line marks it as a task, a decision or a tombstone said as a memory.

    <!-- interop: task OI-003 -->
    - **Status:** OPEN

    Call the ferry.

What is needed to tell what such a text says; what it declares is for interop.roles to read.
"""

from __future__ import annotations

import re
from typing import Final

import orjson

MARKER: Final = re.compile(
    r"<!-- interop: (task|decision|tombstone)(?: ([^\s{]\S*))?(?: (\{.*\}))? -->"
)
"""The marker: role, id, and as JSON what the lines below could not say exactly."""
_LABEL = (
    r"(?P<lead>[-*+] {1,4})(?:(?P<mark>\*\*|__)|<(?P<tag>b|strong)>)(?P<label>[^*_<>:\n]+)"
    r"(?:(?P<colon>:)|(?=[*_<]))(?(mark)(?P=mark)|</(?P=tag)>)(?(colon)|:)"
)
"""How the label may be written: ``- **Label:**``, or with other marks that show the same."""
LINE: Final = re.compile(rf"{_LABEL}(?: (?P<value>.*))?\Z")
"""One line of the list below the marker: label and value."""
_ITEM: Final = re.compile(rf"{_LABEL} ?(?P<value>[^\n]*(?:\n+  [^\n]*)*)\n*")
"""The same with the lines that go on with the value."""


def says(text: str) -> str:
    """Give what a text says to a reader, so that it can be called and described by that.

    Of a marked text: its own text after the list, else the list as plain lines; never the marker.
    Any other text is itself.
    """
    marker = MARKER.match(text)
    if marker is None:
        return text
    own = text[marker.end() :].lstrip()
    stated: list[str] = []
    while (item := _ITEM.match(own)) is not None:
        stated.append(f"{item['label']}: {item['value']}".rstrip())
        own = own[item.end() :]
    return own.strip() or "\n".join(stated) or _stated(marker[3] or "{}").strip()


def _stated(data: str) -> str:
    """Give the values of a marker as plain lines."""
    try:
        values = orjson.loads(data)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(values, dict):
        return ""
    items: dict[str, object] = values  # pyright: ignore[reportUnknownVariableType]
    return "\n".join(f"{name}: {value}" for name, value in items.items() if isinstance(value, str))
