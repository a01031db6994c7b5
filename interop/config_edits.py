"""Changing the text of the user's settings without touching what it says or how it looks elsewhere.

New statements are lines put where a person would put them, beside their like and above the comments
of the next table. Whatever takes a statement apart (a list over several lines, an inline table) is
left to tomlkit.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import cast

import tomlkit
from tomlkit.items import Array

from interop.config import MARK, extent

_BOM = "\ufeff"
_DOTTED = re.compile(r"""\s*(?:stores|"stores"|'stores')\s*\.""")


def edited(
    data: bytes, added: Mapping[str, str], removed: Sequence[str], write: str | None
) -> bytes:
    """Give the file with stores named or forgotten, and the store to write set or forgotten."""
    text = data.decode("utf-8")
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    ends = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    for name in removed:
        text = _without(text, name)
    for name, spec in added.items():
        text = _with_store(text, name, spec)
    if write is not None:
        text = _writing(text, write)
    return (mark + text.replace("\n", ends)).encode()


def _with_store(text: str, name: str, spec: str) -> str:
    """Name one more store, after the last one."""
    line = _statement(name, spec)
    stores = cast("Mapping[str, str] | None", tomllib.loads(text).get("stores"))
    if stores is None:
        gap = "\n" if text.strip() else ""
        return f"{_closed(text)}{gap}[stores]\n{line}\n"
    _, last = extent(text, ("stores", list(stores)[-1]) if stores else ("stores",))
    first, _ = extent(text, ("stores",))
    head = text.split("\n")[first - 1]
    if head.lstrip().startswith("["):
        return _inserted(text, last, line)
    if _DOTTED.match(head):
        return _inserted(text, last, f"stores.{line}")
    document = tomlkit.parse(text)
    cast("dict[str, str]", document["stores"])[name] = spec
    return tomlkit.dumps(document)


def _writing(text: str, name: str) -> str:
    """State which store is written; a new statement stands above all others."""
    keys = list(tomllib.loads(text))
    if "write" in keys:
        document = tomlkit.parse(text)
        document["write"] = MARK + name
        return tomlkit.dumps(document)
    line = _statement("write", MARK + name)
    if not keys:
        return f"{_closed(text)}{line}\n"
    lines = text.split("\n")
    at = extent(text, keys[:1])[0] - 1
    gap = [""] if lines[at].lstrip().startswith("[") else []
    while at and lines[at - 1].lstrip().startswith("#"):
        at -= 1  # what is said of the statement stays above it
    return "\n".join([*lines[:at], line, *gap, *lines[at:]])


def _without(text: str, name: str) -> str:
    """Forget a store, with every statement that names it."""
    document = tomlkit.parse(text)
    del cast("dict[str, str]", document["stores"])[name]
    if document.get("write") == MARK + name:
        del document["write"]
    read = cast("object", document.get("read"))
    if isinstance(read, Array):
        for index in reversed(range(len(read))):
            if read[index] == MARK + name:
                del read[index]
    return tomlkit.dumps(document)


def _statement(key: str, value: str) -> str:
    return f"{tomlkit.key(key).as_string()} = {tomlkit.item(value).as_string()}"


def _inserted(text: str, after: int, line: str) -> str:
    lines = text.split("\n")
    if after == len(lines):
        return f"{_closed(text)}{line}\n"
    return "\n".join([*lines[:after], line, *lines[after:]])


def _closed(text: str) -> str:
    """Give the text with an end of line, where it has any text."""
    return text if not text or text.endswith("\n") else text + "\n"
