"""Texts as a cell or a bullet can hold them: there is no escape, so what cannot stand is encoded.

Spec: docs/formats/memory-compiler.md, "What a record becomes".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from interop.adapters.memory_compiler import context_bullets
from interop.syntax import pipe_tables

Encoding: TypeAlias = Callable[[str], str]
"""A text -> the same text as a place can hold it, ``""`` where nothing of it is left."""

_BREAK = re.compile(f"\r\n|[{re.escape(pipe_tables.BREAKS)}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE = re.compile(r"\r?\n")
_FENCE = "```"


def cell(text: str) -> str:
    """Give a text as a cell can hold it: ``|`` as ``&#124;``, each line end as ``<br>``."""
    text = _BREAK.sub("<br>", characters(text).strip())
    return _calm(text.replace("|", "&#124;")).strip()


def bullet(text: str) -> str:
    """Give a text as a bullet can hold it, ``""`` where nothing of it is left.

    Further lines are indented, a blank one becomes ``<br>``; fences and marks that would make it
    something else are written as entities.
    """
    text = characters(text)
    if context_bullets.is_bullet(text) and _even(text):
        return text
    lines = [line.strip(" \t\r") for line in _LINE.split(text.strip())]
    words = "\n  ".join(line or "<br>" for line in lines) if any(lines) else ""
    if _stands(words) or not words:
        return words
    words = _calm(words)
    if _stands(words):
        return words
    words = words.replace(_FENCE, "&#96;" * 3).replace("~~~", "&#126;" * 3)
    words = words.replace("\r", "<br>")
    if not _stands(words):
        words = f"&#{ord(words[0])};{words[1:]}"
    return words if _stands(words) else ""


def characters(text: str) -> str:
    """Write half characters, which no UTF-8 file can hold, as visible escapes."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def _stands(words: str) -> bool:
    return bool(words) and _even(words) and context_bullets.is_bullet(words)


def _even(text: str) -> bool:
    """Has a text whole fences? The checker takes a file with an odd number of marks for cut off."""
    return text.count(_FENCE) % 2 == 0


def _calm(text: str) -> str:
    """Write what would begin a comment, or leave a fence open, as entities."""
    text = text.replace("<!--", "&lt;!--")
    return text if _even(text) else text.replace(_FENCE, "&#96;" * 3)
