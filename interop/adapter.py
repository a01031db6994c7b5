"""The contract between a format and the rest: an adapter is a lens.

``read`` is its get, ``write`` its put; both are pure. Three laws hold for every adapter and are
tested for each by its being there:

GetPut
    ``write(read(f), f, context).files == f``, byte for byte, whatever a person or a runtime did.
PutGet
    what ``write`` says it wrote (``Written.records``) is what ``read`` finds, in every field.
minimal edit
    changing one field of one record changes only the bytes that state it, and the derived or
    index lines that repeat it.

Spec: docs/adding-a-format.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from interop.model import Files, Memory, Record, Store, Vocabulary

if TYPE_CHECKING:
    from interop.host import Host


class Hold(StrEnum):
    """How much of a field a format can say, measured on records that the adapter creates."""

    EXACT = "exact"
    """Any value of the field, as long as ``fit`` leaves it alone."""
    VIEW = "view"
    """Only a repetition of another field: read, ignored on write."""
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a pure adapter cannot know by itself."""

    now: str
    """The moment of the conversion, ISO 8601 in UTC with milliseconds (``…T12:00:00.000Z``)."""
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    """Key of a new record -> the key it had here at an earlier conversion, taken again if free."""
    originals: Files = field(default_factory=dict[str, bytes])
    """Path -> bytes of files of this same format in the store that the records come from: where a
    new record's own file is among them (by its key), it is the text that is spliced."""
    given: Collection[str] = frozenset()
    """Every key in a shared file that is known to have been given here once, whether its record is
    still there or not: a format whose ids are permanent gives none of them to another record."""
    fitted: Mapping[str, Fitted] = field(default_factory=dict[str, "Fitted"])
    """Key of a record that is to be written -> what ``fit`` gave for it, which is as good as asking
    again; not every record is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """A value that the format demands and nobody stated, or a visible encoding of one."""

    key: str
    field: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A record that cannot stand in this format as it is."""

    key: str
    field: str
    reason: str
    remedy: str
    travels: bool = False
    """True when the format simply has no place for it (an archived record where nothing is
    archived): it travels in the complement without being asked for. Otherwise only ``--carry``
    lets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """Why nothing may change in a store now, whatever it is, and the way out."""

    reason: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A record as the format can say it, and what had to be supplied for that."""

    record: Record
    supplied: tuple[Supplied, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Everything that a plan needs to know of a put."""

    files: Files
    records: Mapping[str, Record]
    """Key in the store that was put -> the record that now stands in ``files``, with its own key.
    A refused record has the record that still stands (if it was there before), or none; a record
    that stays although it was not put stands under its own key."""
    supplied: tuple[Supplied, ...] = ()
    """``Supplied.key`` is the key in the store that was put."""
    refused: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a store's runtime would choke on, drop or silently cap."""

    code: str
    """Stable: the format's short prefix and a number, ``CC101``."""
    severity: Literal["error", "warning", "note"]
    path: str
    """Path, or path + ``:`` + line, or the key of a record."""
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Which kinds a format takes."""

    vocabulary: Vocabulary
    terms: tuple[str, ...]
    required: bool = False
    """A record without a kind cannot stand."""
    closed: bool = False
    """A term outside ``terms`` cannot stand."""
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """Terms that say the role of a record besides: only records of this role can have them."""

    @property
    def declared(self) -> tuple[str, ...]:
        """Give the terms that a user may declare for any record."""
        return tuple(term for term in self.terms if term not in self.roles)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneFile:
    """How the file looks that is a whole store, with what else would lie beside the store in it."""

    path: str
    """The path that ``read`` and ``write`` know it by, whatever its name is on a disk; new files
    are told by its suffix."""
    blank: bytes
    """Its bytes when it says nothing yet."""
    check: Callable[[bytes], str | None]
    """Why these bytes are not such a file, or not one that can be read; or None."""


def _no_folders(path: Path) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What location rules look at; handed in, so that adapters stay pure."""

    cwd: Path
    home: Path
    env: Mapping[str, str]
    read_text: Callable[[Path], str | None]
    """The text of a file, or None when it is not a readable file."""
    is_dir: Callable[[Path], bool]
    folders: Callable[[Path], Sequence[str]] = _no_folders
    """The names of the folders in a folder, sorted; none where it is not there or cannot be read.
    Links to folders are among them: the core names what is found behind one, and leaves it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a store of a format may lie."""

    path: Path
    name: str = ""
    """What it is the memory of, if the path does not say that: the project, the agent."""


def _no_findings(files: Files, store: Store) -> Iterable[Finding]:
    return ()


def _never(path: str) -> bool:
    return False


def _as_it_is(record: Record) -> Record:
    return record


def same_text(new: Record, present: Sequence[Record], context: Context) -> Record | None:
    """Take a live memory of the very same text for the same one, and leave it as it is."""
    if not isinstance(new, Memory):
        return None
    text = " ".join(new.body.text.split())
    for record in present:
        if (
            isinstance(record, Memory)
            and record.role == new.role
            and record.state == "live"
            and " ".join(record.body.text.split()) == text
        ):
            return record
    return None


def path_handle(record: Record) -> str | None:
    """Take the key of a record with a file of its own as its identity; others have none."""
    return None if "#" in record.key else record.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A format: two pure functions, and what the core must know about it as data."""

    name: str
    title: str
    """One line for people, e.g. ``Claude Code memory directories``."""
    spec: int
    """Version of the format page that the reader follows; raised when readings change."""
    holds: Mapping[str, Hold]
    """Field name (or ``extra.KEY`` for a key of ``extra[name]``) -> how much of it can be said.
    A field that is not named is ``NO``. ``key``, ``role`` are never named."""
    detect: Callable[[Files], str | None]
    """Why these files look like this format, or None. Looks at names and a few bytes."""
    read: Callable[[Files], Store]
    write: Callable[[Store, Files, Context], Written]
    """Put a store over ``onto``. A record whose key names a record of ``onto`` is that record;
    any other is new and its key is where it stood elsewhere. Records of ``onto`` that are not in
    the store are removed. Records that equal their counterpart in ``onto`` are not looked at."""
    fit: Callable[[Record, Record | None, Context], Fitted | Refusal]
    """The record as this format can say it, given the one that stands there now (or None).
    Values equal to the present ones are left alone: ``fit(r, r, c).record == r``."""
    kinds: Kinds | None = None
    beside: Callable[[Files, Files], tuple[Store, Store]] | None = None
    """Two stores read at once, what is the same bytes in both only once: the very two stores that
    ``read`` gives, with records that are one object where they are equal. None: both are read."""
    roles: frozenset[str] = frozenset({"memory"})
    """The roles that it can say; the core renders records of other roles as memories."""
    statuses: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Role -> the statuses that a record of it may have, where the format knows only those."""
    media: str | None = "text/markdown"
    """The medium of its texts; the core hands it no body in another one. None takes any."""
    file: OneFile | None = None
    """How its file looks, where a store is one file and not a folder."""
    marker: str | None = None
    """Key of ``extra[name]`` that holds the marker of a record said as a memory, where the format
    has a place for it beside the text; otherwise the marker is the first line of the text."""
    handle: Callable[[Record], str | None] = path_handle
    """An identity that survives what the runtime does to the record, or None. It is made from the
    key: the other fields may be those of a richer source, said in full again."""
    repeated: Callable[[Record, Sequence[Record], Context], Record | None] = same_text
    """What its runtime makes of a new record that it takes for one of the present ones: that one
    as it stands afterwards, the very same where nothing is written; None for what is new to it.
    Asked when a memory is remembered, never in a conversion; the new record is fitted."""
    calm: Callable[[Record], Record] = _as_it_is
    """The record without what its runtime changes by itself; two records that are equal so differ
    in noise only."""
    index: Callable[[str], bool] = _never
    """Is this path a file that names or repeats records of other files? Written after new
    records, and before records are removed."""
    derived: Callable[[str], bool] = _never
    """Is this path rebuilt by the runtime from the records? Not carried, no statement."""
    ignored: Callable[[str], bool] = _never
    """Is this path a database or cache, never to be loaded?"""
    locked: Callable[[Files], Locked | None] | None = None
    """Why nothing may change in these files now, or None. ``write`` refuses every change then; the
    core asks before it changes files in another way, as an undo does."""
    lint: Callable[[Files, Store], Iterable[Finding]] = _no_findings
    grave: Callable[[Files, Store], Iterable[Finding]] | None = None
    """What ``lint`` finds but for the notes, where leaving them out saves looking for them."""
    locate: Callable[[Surroundings], Sequence[Path]] | None = None
    """Where this format's store of the present project lies: the place that its runtime writes
    first, then others that it reads."""
    discover: Callable[[Surroundings], Iterable[Place]] | None = None
    """Where stores of this format may lie on this machine, whatever their project; nothing needs to
    be there. Without it these are the places of ``locate``."""
    host: Host | None = None
    """What has to follow around the files (a repository); not pure, run by the core."""


_REPEAT = re.compile(r"~\d+\Z")


def path_of(key: str) -> str:
    """Give the path part of a key: without ``#id`` and without the ``~2`` of a repeat."""
    alone = _REPEAT.sub("", key) if "~" in key else key
    return alone.partition("#")[0]


def repeat_key(key: str, taken: Mapping[str, object] | set[str]) -> str:
    """Give ``key``, or where it is taken the next of ``key~2``, ``key~3`` … that is not."""
    if key not in taken:
        return key
    # Repeats are numbered without gaps, so the last one is found by doubling and halving: a store
    # that says one thing ten thousand times would else be counted through ten thousand times.
    last, free = 1, 2
    while f"{key}~{free}" in taken:
        last, free = free, free * 2
    while free - last > 1:
        middle = (last + free) // 2
        if f"{key}~{middle}" in taken:
            last = middle
        else:
            free = middle
    return f"{key}~{free}"
