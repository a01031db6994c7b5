"""Wiki links in a Markdown text: ``[[target]]``, ``[[target|alias]]``, ``[[target#anchor]]``."""

from __future__ import annotations

import re

_CODE = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?![^\n]*`)|~{3,})[^\n]*"
    r"(?:\n(?![ \t>]*\1[`~]*[ \t]*\r?$)[^\n]*)*(?:\n[^\n]*)?"
    r"|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\r?\n)[^`]|(?!\2(?!`))`++)*?(?<!`)\2(?!`)",
    re.MULTILINE,
)
_WIKI = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")


def targets(text: str) -> tuple[str, ...]:
    """Give what the links outside code lead to, as written, each once, in order."""
    # one character is looked for in no time, two or three take as long as the expression
    if "[" not in text:
        return ()
    if "`" in text or ("~" in text and "~~~" in text):
        text = _CODE.sub(" ", text)
    return tuple(dict.fromkeys(_WIKI.findall(text, text.find("["))))
