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

from collections.abc import Iterable, Sequence

from interop.adapter import (
    Adapter,
    Context,
    Finding,
    Fitted,
    Hold,
    Kinds,
    Refusal,
    Written,
)
from interop.adapters.theokit.layout import is_derived, is_index
from interop.adapters.theokit.location import discover, locate, read_roots, write_root
from interop.adapters.theokit.memory_file import FORMAT, TERMS, VOCABULARY
from interop.adapters.theokit.signs import detect
from interop.model import Files, Record, Store

__all__ = ["ADAPTER", "read_roots", "write_root"]


def read(files: Files) -> Store:
    """Read what the runtime gives its agent: files, facts among bullets and in JSON, notes."""
    from interop.adapters.theokit import reading  # to ask whose a store is, detection is enough

    return reading.read(files).store()


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over files, statement by statement."""
    from interop.adapters.theokit import writing

    return writing.write(store, onto, context)


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as this format can say it."""
    from interop.adapters.theokit import fitting

    return fitting.fit(record, current, context)


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find what the runtime chokes on."""
    from interop.adapters.theokit.lint import lint as findings

    return findings(files, store)


def repeated(new: Record, present: Sequence[Record], context: Context) -> Record | None:
    """Say which present record the runtime takes a new one for."""
    from interop.adapters.theokit import repeating

    return repeating.repeated(new, present, context)


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
    repeated=repeated,
    kinds=Kinds(vocabulary=VOCABULARY, terms=TERMS, closed=True),
    index=is_index,
    derived=is_derived,
    ignored=is_derived,
    lint=lint,
    locate=locate,
    discover=discover,
)
