"""What the bridge answers: values that a command, a server or an agent can print as they are.

Records stand here in their JSON form (interop.fields), so that an answer from the cache needs no
reading of a store. Every answer carries the stores that could not be read, and never hides one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from interop.model import Json, State

if TYPE_CHECKING:
    from interop.model import Record

Data: TypeAlias = Mapping[str, Json]
"""A record in its JSON form: ``role``, ``key``, and every field that is stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreProblem:
    """A store, or a file of it, that could not be read: what it says is not among the answers."""

    store: str
    """The store as it was named to the bridge."""
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        """`store: problem; way out`, with secrets masked."""
        from interop.secrets import mask  # most answers have no problem

        text = f"{self.store}: {self.problem}"
        return mask(f"{text}; {self.remedy}" if self.remedy else text)

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form, with secrets masked: it may quote what could not be read."""
        from interop.secrets import mask

        return {"store": self.store, "problem": mask(self.problem), "remedy": mask(self.remedy)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One store in which a record stands."""

    store: str
    """The store as it was named to the bridge (``@work``, ``claude-code:PATH``, ``PATH``); of
    several names for one place the first."""
    place: str
    """Its format and folder: ``claude-code:PATH``."""
    key: str
    """The record's key in this store."""
    state: State = "live"
    differs: bool = False
    """Does it say the same fact there in other words than the first source?"""
    data: Data | None = None
    """What it says there, where that differs."""

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form; ``record`` is there only where the texts differ."""
        out: dict[str, Json] = {
            "store": self.store,
            "place": self.place,
            "key": self.key,
            "state": self.state,
            "differs": self.differs,
        }
        if self.data is not None:
            out["record"] = dict(self.data)
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One fact, once, with every store that says it: the first in order of precedence first."""

    data: Data
    """The record in JSON form, as the first of ``sources`` says it."""
    sources: tuple[Source, ...]
    score: float | None = None
    """Of a search: higher is better; comparable within one answer only."""
    excerpt: str | None = None
    """Of a search: the place that matched, on one line."""
    partial: bool = False
    """Of a search: it says some of the words only, and comes after all that say every one."""

    @property
    def key(self) -> str:
        """Its key in the first source."""
        return self.sources[0].key

    @property
    def store(self) -> str:
        """The first source's store, as it was named to the bridge."""
        return self.sources[0].store

    @property
    def role(self) -> str:
        """One of ``memory``, ``task``, ``decision``, ``tombstone``."""
        return str(self.data["role"])

    @property
    def record(self) -> Record:
        """The record itself, made from its JSON form."""
        from interop import fields

        return fields.from_json(self.data, self.key)

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form: ``record``, ``sources``, and what a search adds."""
        out: dict[str, Json] = {
            "record": dict(self.data),
            "sources": [source.to_json() for source in self.sources],
        }
        if self.score is not None:
            out["score"] = self.score
        if self.excerpt is not None:
            out["excerpt"] = self.excerpt
        if self.score is not None:
            out["partial"] = self.partial
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the stores say: facts in order, and what could not be read."""

    found: tuple[Found, ...]
    problems: tuple[StoreProblem, ...] = ()
    notes: tuple[str, ...] = ()
    """Of a search: what of the query was not looked for."""

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form: ``found``, ``problems`` and ``notes``."""
        return {
            "found": [one.to_json() for one in self.found],
            "problems": [problem.to_json() for problem in self.problems],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """The record that a key names, and the others that it could have meant."""

    found: Found
    others: tuple[Found, ...] = ()
    """Other facts that have this key in a store of less precedence: ``STORE:KEY`` names them."""
    problems: tuple[StoreProblem, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form."""
        return {
            **self.found.to_json(),
            "others": [
                {"store": one.store, "key": one.key, "address": address(one.store, one.key)}
                for one in self.others
            ],
            "problems": [problem.to_json() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A value that the store's format demands and nobody stated, or a visible encoding of one."""

    field: str
    value: str
    reason: str

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form, with secrets masked: it repeats what was said elsewhere."""
        from interop.secrets import mask  # most answers add nothing

        return {"field": self.field, "value": mask(self.value), "reason": self.reason}

    def __str__(self) -> str:
        """`field supplied: value (reason)`, with secrets masked."""
        told = self.to_json()
        return f"{self.field} supplied: {told['value']!r} ({self.reason})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of something to remember."""

    key: str
    """Its key in the store; of what was known already, the key of what says it."""
    store: str
    """The store that was written, as it was named to the bridge."""
    place: str
    """Its format and folder."""
    supplied: tuple[Added, ...] = ()
    """What had to be made up for the format, and what it was written as."""
    already: Literal["", "known", "counted"] = ""
    """``known``: the store says it already and nothing was written; ``counted``: the store counts
    how often a thing is observed, and this was one more time."""
    notes: tuple[str, ...] = ()
    """What the store's runtime would newly trip over, and what its surroundings did (a commit)."""
    commands: tuple[str, ...] = ()
    """What the user has to run for the surroundings to follow."""
    problems: tuple[StoreProblem, ...] = ()
    """Stores whose tombstones could not be asked."""

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form."""
        return {
            "key": self.key,
            "store": self.store,
            "place": self.place,
            "supplied": [one.to_json() for one in self.supplied],
            "already": self.already,
            "notes": list(self.notes),
            "commands": list(self.commands),
            "problems": [problem.to_json() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """How something was forgotten."""

    key: str
    """The key that it had."""
    store: str
    place: str
    how: Literal["archived", "tombstoned", "removed"]
    to: str | None = None
    """Key of the archived record, or of the tombstone."""
    already: bool = False
    """It had been archived or rejected before; nothing was written."""
    elsewhere: tuple[Source, ...] = ()
    """Stores that still say it: the bridge writes to one store only."""
    supplied: tuple[Added, ...] = ()
    """What was made up for the tombstone."""
    purged: tuple[str, ...] = ()
    """What of its text was taken out of the complement, the undo data and the search indexes, one
    line each."""
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    problems: tuple[StoreProblem, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form."""
        return {
            "key": self.key,
            "store": self.store,
            "place": self.place,
            "how": self.how,
            "to": self.to,
            "already": self.already,
            "elsewhere": [source.to_json() for source in self.elsewhere],
            "supplied": [one.to_json() for one in self.supplied],
            "purged": list(self.purged),
            "notes": list(self.notes),
            "commands": list(self.commands),
            "problems": [problem.to_json() for problem in self.problems],
        }


def address(store: str, key: str) -> str:
    """Give the address that names one record of one store: ``STORE:KEY``."""
    return f"{store}:{key}"
