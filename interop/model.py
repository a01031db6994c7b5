"""The canonical model: what a memory store says, whatever its format.

Frozen values without behaviour, without I/O and without format names. A field stands here when at
least two formats have it; what one format alone says stays in ``extra[format]`` under its own name.
What the author did not say stays unsaid: ``None``, ``()`` and an empty mapping mean "not stated".

Spec: docs/model.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Vocabulary: TypeAlias = str
"""The set of terms that a kind is taken from: ``claude`` or ``memhtml``."""
Files: TypeAlias = Mapping[str, bytes]
"""A store at rest: POSIX path relative to its root -> bytes; regular files only."""
State: TypeAlias = Literal["live", "archived"]

MODEL_VERSION = 1
"""Version of the JSON form; raised when a field changes its meaning."""


# Functions, since to call ``dict[str, str]`` takes seven times as long, and every record does.
def _no_kinds() -> dict[Vocabulary, str]:
    return {}


def _no_extra() -> dict[str, Json]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A text as its author wrote it, and the media type that it is written in."""

    text: str
    media: str = "text/markdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A relation to another memory; an unstated relation is ``link``, the target is as written."""

    rel: str = "link"
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One remembered thing."""

    role: ClassVar[str] = "memory"

    key: str
    """Its address: the path, or path + ``#`` + id in a shared file; a repeat gets ``~2``."""
    name: str | None = None
    title: str | None = None
    description: str | None = None
    hook: str | None = None
    """What an index says of it, where that is said separately."""
    body: Body = Body(text="")
    kinds: Mapping[Vocabulary, str] = field(default_factory=_no_kinds)
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    created: str | None = None
    modified: str | None = None
    recalled: str | None = None
    observations: int | None = None
    session: str | None = None
    state: State = "live"
    archived: str | None = None
    """When it was archived, as stated."""
    extra: Mapping[str, Json] = field(default_factory=_no_extra)
    """What one format alone says: format name -> key -> value, scalars as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Memory):
    """A memory of something to do."""

    role: ClassVar[str] = "task"

    status: str | None = None
    due: str | None = None
    opened: str | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided, and why."""

    role: ClassVar[str] = "decision"

    key: str
    decision: str | None = None
    why: str | None = None
    date: str | None = None
    evidence: str | None = None
    supersedes: str | None = None
    status: str | None = None
    extra: Mapping[str, Json] = field(default_factory=_no_extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A value that was rejected, and what stands in its place."""

    role: ClassVar[str] = "tombstone"

    key: str
    subject: str | None = None
    rejected: str | None = None
    replacement: str | None = None
    date: str | None = None
    reason: str | None = None
    source: str | None = None
    extra: Mapping[str, Json] = field(default_factory=_no_extra)


Record: TypeAlias = Memory | Task | Decision | Tombstone
ROLES: Mapping[str, type[Record]] = {c.role: c for c in (Memory, Task, Decision, Tombstone)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in a store that its reader, or its runtime, trips over."""

    path: str
    problem: str
    unread: bool = False
    """True when it was meant as a record and none could be read from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What a store says: its records in order, and a digest of everything else it holds."""

    format: str
    records: tuple[Record, ...] = ()
    carried: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path of a file that is no record -> digest; ``path#`` -> digest of the non-record text of a
    file that several records share (prose, headings, comments)."""
    problems: tuple[Problem, ...] = ()
    id: str = ""
    """Identity of the store; adapters leave it empty, the core fills it."""
