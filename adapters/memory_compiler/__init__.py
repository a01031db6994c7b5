r"""Topics of the Memory Compiler: bullets, and three tables whose rows have ids.

    CONTEXT.md      ## Current facts
                    - Docks in service: 212. *(as_of: 2026-05-04, evidence: dock register)*
    OPEN_ITEMS.md   | OI-001 | Exchange the locks | OPEN | 2026-04-20 |  | 40 of 212 done |
    DECISIONS.md    | D-002 | Open a week later | The ramp is late | 2026-05-11 | mail | D-001 | … |
    TOMBSTONES.md   | T-001 | Opening day | 2026-06-13 | D-002 | 2026-05-11 | ramp is late | mail |

Spec: docs/formats/memory-compiler.md, version 1.
Cannot hold: names, titles, descriptions, hooks, kinds, tags, entities, links, dates of a fact, an
archive, due dates; pipes and line ends in a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from interop.adapter import (
    Adapter,
    Context,
    Finding,
    Fitted,
    Hold,
    Locked,
    Refusal,
    Written,
)
from interop.adapters.memory_compiler.location import detect, discover
from interop.adapters.memory_compiler.topic import (
    DECISION_STATUSES,
    FORMAT,
    OF_ROLE,
    TABLES,
    TASK_STATUSES,
    is_derived,
)
from interop.model import Files, Record, Store

__all__ = ["ADAPTER"]

_REPEAT = re.compile(r"~\d+\Z")


def read(files: Files) -> Store:
    """Read the bullets and every row that a person wrote; whatever else is there is carried."""
    from interop.adapters.memory_compiler import reading  # detection alone has no use for it

    return reading.read(files).store()


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over files, statement by statement."""
    from interop.adapters.memory_compiler import writing

    return writing.write(store, onto, context)


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as this format can say it."""
    from interop.adapters.memory_compiler import fitting

    return fitting.fit(record, current, context)


def locked(files: Files) -> Locked | None:
    """Say why nothing may change now: a session is open."""
    from interop.adapters.memory_compiler import ledger

    return ledger.locked(files)


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find what the runtime chokes on."""
    from interop.adapters.memory_compiler.lint import lint as findings

    return findings(files, store)


def handle(record: Record) -> str | None:
    """Take the id of a row as its identity; a bullet has none, nor has an id used twice."""
    path, cut, _ = record.key.partition("#")
    return record.key if cut and path in TABLES and not _REPEAT.search(record.key) else None


ADAPTER = Adapter(
    name=FORMAT,
    title="Memory Compiler topics",
    spec=1,
    holds={
        "body": Hold.EXACT,
        "status": Hold.EXACT,
        "opened": Hold.EXACT,
        "evidence": Hold.EXACT,
        "decision": Hold.EXACT,
        "why": Hold.EXACT,
        "date": Hold.EXACT,
        "supersedes": Hold.EXACT,
        "subject": Hold.EXACT,
        "rejected": Hold.EXACT,
        "replacement": Hold.EXACT,
        "reason": Hold.EXACT,
        "source": Hold.EXACT,
        "extra.notes": Hold.EXACT,
        "extra.as_of": Hold.VIEW,
        "extra.evidence": Hold.VIEW,
    },
    detect=detect,
    read=read,
    write=write,
    fit=fit,
    roles=frozenset({"memory", *OF_ROLE}),
    statuses={"task": TASK_STATUSES, "decision": DECISION_STATUSES},
    handle=handle,
    derived=is_derived,
    locked=locked,
    lint=lint,
    discover=discover,
)
