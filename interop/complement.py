"""The complement: what a store's format cannot hold, kept beside it, and the ancestors of merges.

For each record that was converted into the store it keeps ``base`` (the record as the source said
it) and ``expected`` (what this store's format says for it). Where the store still says what was
expected, base is the value; where it says something else, somebody changed it there. Base is also
the last state on which both stores agreed: the ancestor of a three-way merge.

Its form in a file is in interop.complement_file. Spec: docs/model.md, section "The complement".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from interop import fields
from interop.fields import Value
from interop.model import Record

OLDER = 4
"""How many earlier digests of a file are remembered, to tell a stale half of a sync."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A store that records came from, with its files as they were: path -> digest."""

    id: str
    format: str
    generation: int
    tree: Mapping[str, str]
    order: tuple[str, ...] = ()
    """Keys of its records in shared files, in their order: an edited one is told by its place."""
    settled: str = ""
    """The mark of a conversion from it that left nothing open (interop.settled)."""
    heard: bool = False
    """It is as another store read it, not this one itself."""
    stood: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that are no longer in it, of records that are still known: path -> digest. A record
    that returns to it, from an archive say, gets its own file back."""

    @property
    def digests(self) -> Iterable[str]:
        """The digest of every file that is kept of it."""
        return (*self.tree.values(), *self.stood.values())


class Allowed(NamedTuple):
    """A tombstone whose value one record may state, as the user said."""

    store: str
    """Id of the store in which it has its id."""
    id: str
    value: str


EARLIER = Allowed("", "", "")
"""What an older version noted: the record was let through, and nothing of the tombstones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One record that was converted into this store."""

    source: str
    """Id of the store that it came from."""
    key: str
    """Its key there."""
    to: str | None
    """Its key here; None for a record that only travels in the complement."""
    gone: bool = False
    """It was removed here; ``to`` is the key it had, which another record may have taken."""
    generation: int
    """When base and expected were last agreed; a later conversion has a higher one."""
    base: Record
    expected: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Field -> what this store says for base, where that differs from base."""
    parted: bool = False
    """The source removed it, and a person decided that it stays here: it is no loss there."""
    seal: str = ""
    """Digest of the bytes here that stated the record when this was agreed."""
    kept: frozenset[str] = frozenset()
    """Fields in which this store had its own value when it was last written."""
    declared: Mapping[str, str] = field(default_factory=dict[str, str])
    """Kinds that the user declared for this record: vocabulary -> term."""
    allowed: tuple[Allowed, ...] = ()
    """Tombstones whose values the user let it state here."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Stores further back on the way -> the record's key there."""
    since: Mapping[str, Mapping[str, Value]] = field(default_factory=dict[str, Mapping[str, Value]])
    """Store on the way -> fields in which base is not what it said, as it said them.

    Further back, these are the changes since. For the source itself they are values that this store
    has of its own and that its format can say in part only: base keeps the rest of them.
    """

    when: Mapping[str, int] = field(default_factory=dict[str, int])
    """Store further back -> when that was agreed, by the same count as ``generation``."""

    def places(self) -> Iterable[tuple[str, str]]:
        """Give the record's key in each store that this tells of: (store, key)."""
        return ((self.source, self.key), *self.keys.items())

    def says(self, name: str) -> Value:
        """Give what this store is expected to say for a field."""
        if name in self.expected:
            return self.expected[name]
        return fields.get(self.base, name)

    def base_at(self, store: str) -> Record:
        """Give the record as it was when it left a store on the way: the ancestor of both."""
        return fields.replace(self.base, self.since.get(store, {}))

    def about(self, store: str) -> tuple[Record, int] | None:
        """Give the record as it was when it left a store, and when that was agreed.

        None where the line does not tell of that store.
        """
        key, when = self.keys.get(store), self.when.get(store, self.generation)
        if store == self.source:
            key, when = self.key, self.generation
        return None if key is None else (fields.with_key(self.base_at(store), key), when)

    def seen(self) -> Record:
        """Give the record as this store is expected to say it."""
        record = fields.replace(self.base, self.expected)
        return fields.with_key(record, self.to or self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Complement:
    """Everything that travels beside one store."""

    store: str
    format: str
    generation: int
    tree: Mapping[str, str] = field(default_factory=dict[str, str])
    """This store's own files as interop last wrote them: path -> digest."""
    order: tuple[str, ...] = ()
    """Keys of its own records in shared files, in their order."""
    retired: tuple[str, ...] = ()
    """Keys in shared files whose records are gone; a format may never give them again."""
    older: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Path -> digests that interop wrote before, newest first."""
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    lines: tuple[Line, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Digest -> bytes of the files of all sources, each once."""

    def tree_of(self, source: str) -> dict[str, bytes]:
        """Give the files of a source as they were."""
        return {path: self.files[d] for path, d in self.sources[source].tree.items()}

    def stood_in(self, source: str) -> dict[str, bytes]:
        """Give the files that are no longer in a source, of records that are still known."""
        return {path: self.files[d] for path, d in self.sources[source].stood.items()}


def order_of(records: Iterable[Record]) -> tuple[str, ...]:
    """Give the keys of the records that share a file, in their order."""
    return tuple(r.key for r in records if "#" in r.key)


def given(complement: Complement | None) -> frozenset[str]:
    """Give every key in a shared file that a store's complement knows to have been given there."""
    if complement is None:
        return frozenset()
    known = (line.to for line in complement.lines if line.to is not None and "#" in line.to)
    return frozenset((*known, *complement.order, *complement.retired))


def newest(lines: Iterable[Line]) -> list[Line]:
    """Sort lines from the newest to the oldest."""
    return sorted(lines, key=lambda x: -x.generation)
