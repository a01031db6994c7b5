"""Which folder is a topic: the runtime takes it by path, so there are signs of one and no rules.

Spec: docs/formats/memory-compiler.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from interop.adapter import Place, Surroundings
from interop.adapters.memory_compiler.topic import TABLES, Columns
from interop.model import Files


def detect(files: Files) -> str | None:
    """Say why these files look like a topic: a header of a table has its very cells."""
    for path, columns in TABLES.items():
        text = files.get(path, b"").decode("utf-8", "replace")
        if "|" in text and _has_table(text, columns):
            return f"{path} has the table of a topic"
    return None


def _has_table(text: str, columns: Columns) -> bool:
    from interop.adapters.memory_compiler import tables  # most stores have none of these files
    from interop.syntax import pipe_tables

    return bool(pipe_tables.scan(text, tables.is_header(columns)).tables)


def discover(at: Surroundings) -> Iterator[Place]:
    """Give the topics that one stands in, and those that lie in the folder one stands in."""
    inside = (at.cwd / name for name in at.folders(at.cwd))
    for folder in (at.cwd, *at.cwd.parents, *inside):
        texts = {path: at.read_text(folder / path) for path in TABLES}
        if detect({path: text.encode() for path, text in texts.items() if text}) is not None:
            yield Place(path=folder)
