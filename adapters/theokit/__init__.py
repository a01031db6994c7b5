r"""Memory stores of the theokit SDK: one Markdown file a memory, an index, and older bullets.

    MEMORY.md                            # Memory Index
                                         - [Pier floods](pier-floods.md) — twice a year
    pier-floods.md                       ---
                                         name: pier-floods
                                         description: "Pier floods twice a year"
                                         metadata:
                                           node_type: memory
                                           type: project
                                           modified: 2026-11-03T12:00:00.000Z
                                           observations: 1
                                         ---

                                         Pier floods twice a year

Spec: docs/formats/theokit.md, version 1.
Cannot hold: tags, entities, created and recalled dates, sessions, an archive; other roles than
memory.
"""

from __future__ import annotations

from interop.adapter import Adapter, Hold, Kinds
from interop.adapters.theokit import reading
from interop.adapters.theokit.fitting import fit
from interop.adapters.theokit.layout import is_derived, is_index
from interop.adapters.theokit.lint import lint
from interop.adapters.theokit.location import locate, read_roots, write_root
from interop.adapters.theokit.memory_file import FORMAT, TERMS, VOCABULARY
from interop.adapters.theokit.signs import detect
from interop.adapters.theokit.writing import write
from interop.model import Files, Store

__all__ = ["ADAPTER", "read_roots", "write_root"]


def read(files: Files) -> Store:
    """Read what the runtime gives its agent: files, facts among bullets and in JSON, notes."""
    return reading.read(files).store()


ADAPTER = Adapter(
    name=FORMAT,
    title="theokit memory stores",
    spec=1,
    holds={
        "name": Hold.EXACT,
        "title": Hold.EXACT,
        "description": Hold.EXACT,
        "hook": Hold.EXACT,
        "body": Hold.EXACT,
        "kinds": Hold.EXACT,
        "modified": Hold.EXACT,
        "observations": Hold.EXACT,
        "links": Hold.VIEW,
    },
    detect=detect,
    read=read,
    write=write,
    fit=fit,
    kinds=Kinds(vocabulary=VOCABULARY, terms=TERMS, closed=True),
    index=is_index,
    derived=is_derived,
    ignored=is_derived,
    lint=lint,
    locate=locate,
)
