"""Reading every memory that a user has, and writing to one place.

    bridge = Bridge(read=["@work", "claude-code:", "~/notes"], write="@work")
    for one in bridge.search("bike lock").found:
        print(one.key, one.store, one.data)
    bridge.remember("The spare key hangs in the workshop.", kind="project")

What several stores say is one fact with several sources: records that were converted from one
another, and records that say the same. A write is planned, checked against the tombstones of all
stores, and applied as a whole, under the lock of the one store that is written.

    results.py      what is answered
    places.py       where the stores are
    reading.py      what they say, and which keys mean what
    refreshing.py   which of them have changed since they were indexed
    sameness.py     which records of different stores are one fact
    spoken.py       what a record says, as a search sees it
    index.py        the search index, a cache that is made anew when in doubt
    dropping.py     taking the indexes away when a text is purged
    fingerprint.py  which code made an index
    query.py        a user's words as a search
    searching.py    what the index has of them, ranked
    remembering.py  writing a new memory
    naming.py       what it is called where nobody said
    forgetting.py   archiving, rejecting or removing one
    writing.py      what both do to a store's files

Importing this imports no adapter and opens no store. Spec: docs/bridge.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from interop.bridge.results import (
    Added,
    Answer,
    Forgotten,
    Found,
    Got,
    Remembered,
    Source,
    StoreProblem,
    address,
)

if TYPE_CHECKING:
    from interop.bridge.reading import Reading
    from interop.host import HostOptions
    from interop.model import Link
    from interop.outgoing import Policy
    from interop.stores import Opened

    Named: TypeAlias = str | Opened

__all__ = [
    "WAIT",
    "Added",
    "Answer",
    "Bridge",
    "Forgotten",
    "Found",
    "Got",
    "Remembered",
    "Source",
    "StoreProblem",
    "address",
]

WAIT = 10.0
"""Seconds that a writer waits for another interop that is writing to the same store."""
LIMIT = 10
"""How many results a search gives unless it is told otherwise."""


class Bridge:
    """Stores to read, in order of precedence, and one to write.

    A store is named as on the command line (``FORMAT:PATH``, ``PATH``, ``@name``), or given opened;
    an opened one stands for its place, which is read anew. No store is opened before it is asked
    for. A bridge may be used again and again, and sees each time what is there then; it belongs to
    one thread.
    """

    def __init__(
        self,
        *,
        read: Sequence[Named] = (),
        write: Named | None = None,
        wait: float = WAIT,
        problems: Sequence[StoreProblem] = (),
    ) -> None:
        """Name the stores.

        Args:
            read: in order of precedence; one named twice counts once. The store that is written is
                read too, last, if it is not among them.
            write: the store to write; without it every write is a usage error.
            wait: seconds to wait for another writer.
            problems: stores that whoever chose these could not name; every answer says them too.
        """
        self._problems = tuple(problems)
        self._read = tuple(read)
        self._write = write
        self._wait = wait
        self._reading: Reading | None = None

    @property
    def stores(self) -> tuple[str, ...]:
        """The stores that are read, in order of precedence: each by the first of its names."""
        return self._stores().names

    def has(self, store: str) -> bool:
        """Say whether a name, a path or a ``FORMAT:PATH`` means one of the stores."""
        return any(store in place.names() for place in self._stores().places)

    @property
    def unnamed(self) -> tuple[StoreProblem, ...]:
        """What was to be read and has no place: an unknown name, settings that cannot be read."""
        return tuple(self._stores().unnamed)

    @property
    def writes(self) -> str | None:
        """The store that is written, by the first of its names; None without one."""
        return self._stores().write

    def records(self, *, archived: bool = True) -> Answer:
        """Give every fact of all stores once, in order of precedence and then of the stores.

        Args:
            archived: with those that are archived in every store that has them.

        Raises:
            InteropError: not one of the stores can be read; of several, the first one's error.
        """
        return self._stores().records(archived=archived)

    def get(self, key: str) -> Got:
        """Give the record that a key names: ``KEY``, of the first store with it, or ``STORE:KEY``.

        STORE is any of the store's names, its ``FORMAT:PATH`` or its path. Other facts with the
        same key are said in ``others``.

        Raises:
            UsageError: no store has such a record.
            InteropError: not one of the stores can be read.
        """
        return self._stores().get(key)

    def search(self, query: str, limit: int = LIMIT, *, archived: bool = False) -> Answer:
        """Give the facts that say the words of a query: all of them before some, the best first.

        The query is data: a ``"quoted phrase"`` is looked for as it is, everything else as words,
        and no sign has another meaning. Names, titles, descriptions, tags, texts and the cells of
        tasks, decisions and tombstones are searched, in every script.

        Args:
            query: words and phrases; with none, nothing is found.
            limit: at most so many facts.
            archived: also look among archived records.

        Raises:
            InteropError: not one of the stores can be read.
        """
        return self._stores().search(query, limit, archived=archived)

    def remember(
        self,
        text: str,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        kind: str | None = None,
        tags: Iterable[str] = (),
        links: Iterable[str | Link] = (),
        allow_tombstoned: bool = False,
        secrets: Policy | None = None,
        host: HostOptions | None = None,
    ) -> Remembered:
        """Write a memory into the one store that is written.

        Nothing is inferred: without a kind it stays untyped. What its format demands and nobody
        said is supplied, and named in the answer. A text that the store knows already follows its
        format's own rule.

        Args:
            text: Markdown; it is translated where the store's texts are HTML.
            name: the handle that its authors use.
            description: one line.
            title: a heading for people.
            kind: a term that the store's format knows.
            tags: where the format has tags.
            links: targets, or ``Link`` values with a relation.
            allow_tombstoned: let it state a value that a tombstone rejects.
            secrets: what to do about a secret on its way into a store that is in a git repository
                or a sync folder: ``warn``, ``refuse`` or ``allow``; None as the settings say.
            host: what the store's surroundings are to do (memhtml: commit).

        Raises:
            RefusedError: it states a rejected value (with the tombstone's id, reason and
                replacement), its kind is unknown or missing where one is demanded, its name is
                taken by something else, the format cannot say a field of it, or a secret is
                refused.
            FormatError: a file that it would write, or that could have tombstones, stands in the
                store and is not read.
            UsageError: no store to write was named, or there is nothing to remember.
            WriteError: writing failed and was taken back, or another interop held the lock.
        """
        from interop.bridge.remembering import New, remember

        new = New(
            text=text,
            name=name,
            title=title,
            description=description,
            kind=kind,
            tags=tuple(tags),
            links=tuple(links),
            secrets=secrets,
        )
        return remember(
            self._stores(), new, allow_tombstoned=allow_tombstoned, wait=self._wait, host=host
        )

    def forget(
        self,
        key: str,
        reason: str,
        *,
        rejected: str | None = None,
        replacement: str | None = None,
        yes: bool = False,
        purge: bool = False,
        host: HostOptions | None = None,
    ) -> Forgotten:
        """Let the store that is written forget a record: in the gentlest way that its format has.

        It is archived where the format archives; else it is rejected by a tombstone where the
        format has those (a bullet of CONTEXT.md is taken out, and ``rejected`` says which value was
        wrong; a row of a table stays, and the tombstone cites it); else it is removed, which undo
        takes back.

        Args:
            key: ``KEY`` or ``STORE:KEY``. The record of that key in the store that is written is
                meant, whatever has it elsewhere; without one, the fact that another store has
                under that key, where this one has it too, and ``notes`` say so.
            reason: why; kept where the format can say it, and in the undo data.
            rejected: the value that is wrong, for the tombstone.
            replacement: what stands in its place: an id, a key or a value.
            yes: agree to a removal.
            purge: remove it (``yes`` is needed) and take its text out of the complement, the undo
                data and the search indexes: it cannot be undone.
            host: what the store's surroundings are to do.

        Raises:
            RefusedError: a removal that was not agreed to, a tombstone without a rejected value,
                a key that means several records, or a store that is only read.
            FormatError: a file that it would write stands in the store and is not read.
            UsageError: no store has such a record, no reason was given, or there will be no
                tombstone to say what is rejected, or in its place.
            WriteError: writing failed and was taken back, or another interop held the lock.
        """
        from interop.bridge.forgetting import Wish, forget

        wish = Wish(
            key=key,
            reason=reason,
            rejected=rejected,
            replacement=replacement,
            yes=yes,
            purge=purge,
        )
        return forget(self._stores(), wish, wait=self._wait, host=host)

    def _stores(self) -> Reading:
        if self._reading is None:
            from interop.bridge.reading import Reading

            self._reading = Reading(self._read, self._write, self._problems)
        return self._reading
