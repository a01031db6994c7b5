"""Texts as a cell or a bullet can hold them: there is no escape, so what cannot stand is encoded.

Spec: docs/formats/memory-compiler.md, "What a record becomes".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from interop.adapters.memory_compiler import context_bullets
from interop.syntax import pipe_tables
from interop.syntax.index_lines import FENCE

Encoding: TypeAlias = Callable[[str], str]
"""A text -> the same text as a place can hold it, ``""`` where nothing of it is left."""

_BREAK = re.compile(f"\r\n|[{re.escape(pipe_tables.BREAKS)}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE = re.compile(r"\r?\n")
_FENCE = "```"
_DASHES = re.compile(r":?-+:?")
_OPENING = re.compile(r"\A(\s*)\|")


def cell(text: str) -> str:
    """Give a text as a cell can hold it: ``|`` as ``&#124;``, each line end as ``<br>``."""
    text = _BREAK.sub("<br>", characters(text).strip())
    return _calm(text.replace("|", "&#124;")).strip()


def bullet(text: str) -> str:
    """Give a text as a bullet can hold it, ``""`` where nothing of it is left.

    Further lines are indented, and keep the indentation that they have among each other; a blank
    one becomes ``<br>``, and stays where it is code. Fences and marks that would make it something
    else, or that the checker would stop at, are written as entities.
    """
    text = characters(text)
    if _stands(text):
        return text
    words = _laid_out(text, in_code=True)
    if _stands(words) or not words:
        return words
    words = _laid_out(text, in_code=False)
    if _stands(words):
        return words
    words = _calm(words)
    if _is_ragged(words):
        words = "".join(_OPENING.sub(r"\1&#124;", line) for line in words.splitlines(keepends=True))
    if _stands(words):
        return words
    words = words.replace(_FENCE, "&#96;" * 3).replace("~~~", "&#126;" * 3)
    words = words.replace("\r", "<br>")
    if not _stands(words):
        words = f"&#{ord(words[0])};{words[1:]}"
    return words if _stands(words) else ""


def _laid_out(text: str, *, in_code: bool) -> str:
    """Give a text as one item: what follows its first line is indented below it.

    ``in_code`` says whether a blank line between fences may stay one.
    """
    first, *more = _LINE.split(text.strip("\r\n").rstrip())
    while more and not first.strip():
        first = more.pop(0)
    blanks = first[: len(first) - len(first.lstrip())]
    is_code = len(blanks.expandtabs(4)) >= 4
    lead = f"&#{ord(blanks[0])};{blanks[1:]}" if is_code else ""
    fence = _opened(first, "")
    lines = [lead + first[len(blanks) :].rstrip("\r")]
    margin = "" if all(line[:1] in " \t" for line in more if line.strip()) else "  "
    for line in more:
        words = line.rstrip("\r")
        if words.strip():
            lines.append(margin + words)
        else:
            lines.append("" if fence and in_code else "  <br>")
        fence = _opened(words, fence)
    return "\n".join(lines) if first.strip() else ""


def _opened(line: str, fence: str) -> str:
    """Give the marks of the fence that is open behind a line, given the one before it."""
    if not fence:
        found = FENCE.match(line)
        return found[1] if found else ""
    words = line.strip(" \t")
    return "" if len(words) >= len(fence) and not words.strip(fence[0]) else fence


def characters(text: str) -> str:
    """Write half characters, which no UTF-8 file can hold, as visible escapes."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def _stands(words: str) -> bool:
    if not words or not _even(words) or _is_ragged(words):
        return False
    return context_bullets.is_bullet(words)


def _even(text: str) -> bool:
    """Has a text whole fences? The checker takes a file with an odd number of marks for cut off."""
    return text.count(_FENCE) % 2 == 0


def _is_ragged(text: str) -> bool:
    """Has a text lines that the checker takes for a table with rows of several widths?

    It strips the indentation first, so a table inside of an item counts. A last line that begins a
    row and does not end it is taken for one that was cut off.
    """
    if "|" not in text:
        return False
    lines = [line.strip() for line in text.splitlines()[1:]]
    width = 0
    for line in lines:
        if not (line.startswith("|") and line.endswith("|")):
            width = 0
            continue
        row = [said.strip() for said in line.strip("|").split("|")]
        if width and len(row) != width and not all(map(_DASHES.fullmatch, row)):
            return True
        width = width or len(row)
    last = next((line for line in reversed(lines) if line), "")
    return last.startswith("|") and not last.endswith("|")


def _calm(text: str) -> str:
    """Write what would begin a comment, or leave a fence open, as entities."""
    text = text.replace("<!--", "&lt;!--")
    return text if _even(text) else text.replace(_FENCE, "&#96;" * 3)
