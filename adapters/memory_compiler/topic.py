"""The parts of a topic: its files, the columns of its tables, its status vocabularies.

Spec: docs/formats/memory-compiler.md, "What is a record".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FORMAT = "memory-compiler"
CONTEXT = "CONTEXT.md"
OPEN_ITEMS = "OPEN_ITEMS.md"
TOMBSTONES = "TOMBSTONES.md"
DECISIONS = "DECISIONS.md"
FILES = (CONTEXT, OPEN_ITEMS, TOMBSTONES, DECISIONS)
"""What ``--open`` demands and hashes, in its order."""
TESTS = "memory_tests.yaml"
SESSIONS = "_sessions/"
DERIVED = ("_generated/", "_rollup/")
"""Folders that the checker rebuilds, with the day in them."""

NOTHING = ("", "—", "-")
"""What says nothing in Evidence, Notes and Supersedes."""
UNSAID = "—"
"""What stands in a cell that has to be filled and that nobody said anything for."""

TASK_STATUSES = ("OPEN", "BLOCKED", "DONE", "DROPPED")
CLOSED = ("DONE", "DROPPED")
"""Statuses that demand evidence."""
DECISION_STATUSES = ("Active", "Superseded")
"""Statuses of the first version, which the checker takes."""
LATER_STATUS = re.compile(r"Superseded by \S+|Dropped")
"""Statuses that the second version added, and the checker of the first rejects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """One kind of table."""

    path: str
    role: str
    title: str
    """The heading of a new file."""
    headers: tuple[tuple[str, ...], ...]
    """Headers that it may have, the one for new files first."""
    fields: tuple[str, ...]
    """For each cell behind the id the field of the record; ``notes`` is a key of ``extra``."""
    optional: frozenset[str]
    """Fields for which a dash says nothing."""
    mandatory: frozenset[str]
    """Fields whose cell the checker wants filled."""
    prefix: str
    """How ids begin in a table that has none yet."""


TASKS = Columns(
    path=OPEN_ITEMS,
    role="task",
    title="Open items",
    headers=(("ID", "Item", "Status", "Opened", "Evidence / Reason", "Notes"),),
    fields=("body", "status", "opened", "evidence", "notes"),
    optional=frozenset({"evidence", "notes"}),
    mandatory=frozenset(),
    prefix="OI-",
)
DECIDED = Columns(
    path=DECISIONS,
    role="decision",
    title="Decisions",
    headers=(("ID", "Decision", "Why", "Date", "Evidence", "Supersedes", "Status"),),
    fields=("decision", "why", "date", "evidence", "supersedes", "status"),
    optional=frozenset({"evidence", "supersedes"}),
    mandatory=frozenset({"decision", "why", "date"}),
    prefix="D-",
)
REJECTED = Columns(
    path=TOMBSTONES,
    role="tombstone",
    title="Tombstones",
    headers=(
        ("ID", "Fact / Key", "Rejected value", "Replacement", "Date", "Reason", "Source"),
        ("ID", "Claim", "Rejected value", "Replacement", "Date", "Reason", "Source"),
    ),
    fields=("subject", "rejected", "replacement", "date", "reason", "source"),
    optional=frozenset(),
    mandatory=frozenset({"subject", "rejected", "replacement", "date", "reason", "source"}),
    prefix="T-",
)
TABLES: Mapping[str, Columns] = {c.path: c for c in (TASKS, REJECTED, DECIDED)}
"""Path -> the kind of table in it."""
OF_ROLE: Mapping[str, Columns] = {c.role: c for c in TABLES.values()}


def is_derived(path: str) -> bool:
    """Is this path rebuilt by the checker, with a date that changes daily?"""
    return path.startswith(DERIVED)
