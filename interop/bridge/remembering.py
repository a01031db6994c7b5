"""Writing a new memory into the one store that is written, as its format does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from interop import fields, guard, guarding, shown, standing
from interop.adapter import Adapter, Context, Hold, Refusal
from interop.bridge import naming, writing
from interop.bridge.reading import Reading
from interop.bridge.results import Added, Remembered
from interop.bridge.writing import Outcome
from interop.complement import given
from interop.errors import RefusedError, UsageError
from interop.host import HostOptions
from interop.model import Body, Link, Memory, Record
from interop.outgoing import Policy
from interop.rendering import lower
from interop.stores import Opened

_KEY = "#new"
"""The key of what stood nowhere yet: it has no stem that a name could be taken from."""
_SHORT = 80
"""Characters of a description that no runtime chokes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """What is to be remembered, as it was said."""

    text: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    kind: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[str | Link, ...] = ()
    secrets: Policy | None = None
    """What to do about a secret on its way into a store that leaves the machine."""


def remember(
    reading: Reading,
    new: New,
    *,
    allow_tombstoned: bool,
    wait: float,
    host: HostOptions | None,
) -> Remembered:
    """Write a memory; see ``Bridge.remember``."""
    if not new.text.strip():
        raise UsageError("there is nothing to remember", "give a text")
    writing.check_texts(
        text=new.text,
        name=new.name or "",
        title=new.title or "",
        description=new.description or "",
        kind=new.kind or "",
        tags="".join(new.tags),
        links="".join(
            link if isinstance(link, str) else f"{link.rel} {link.target}" for link in new.links
        ),
    )
    place = writing.target_of(reading)
    stones, problems = reading.stones(without=place.anchor)

    def decide(store: Opened) -> Outcome[Remembered]:
        if not allow_tombstoned:
            standing.check_stones(store)
        values = guard.rejected_values(
            [*(v.stone for v in guarding.stones([store]).values), *stones]
        )
        return _Remembering(reading, store, new, host).outcome(values, allowed=allow_tombstoned)

    done = writing.write(reading, decide, wait=wait, host=host)
    elsewhere = (p for p in problems if p.store != reading.write)
    answer, token = replace(done.answer, problems=(*elsewhere, *done.problems)), done.token
    if token is None:
        return answer
    commits = (f"committed as {token.commit}",) if token.commit else ()
    return replace(answer, notes=(*answer.notes, *commits), commands=token.commands)


class _Remembering:
    """One memory on its way into one store."""

    def __init__(self, reading: Reading, store: Opened, new: New, host: HostOptions | None) -> None:
        self.store, self.new, self.host = store, new, host
        self.adapter: Adapter = store.adapter
        self.context = Context(now=writing.moment(), given=given(store.complement))
        self.name = reading.write or store.label

    def outcome(self, stones: guard.Values, *, allowed: bool) -> Outcome[Remembered]:
        """Decide what becomes of it."""
        record = self.record()
        collisions = guard.reasserted(None, record, stones)
        if collisions and not allowed:
            raise RefusedError(
                self.store.label,
                "nothing was written: it states what was rejected",
                "say what is true now, or let it through on purpose",
                [*map(guard.sentence, collisions), guard.VERBATIM],
            )
        record, made = naming.without_secrets(record, self.adapter, self.context, self.names())
        target = lower(record, self.adapter)
        fitted = self.adapter.fit(target, None, self.context)
        if isinstance(fitted, Refusal):
            writing.refuse(self.store, [fitted])
            raise AssertionError("a refusal is raised")
        known = self.adapter.repeated(fitted.record, self.store.raw.records, self.context)
        if known is not None:
            return self.again(known, fitted.record)
        self.check_name()
        put = self.put(target)
        stands = put.records[target.key]
        supplied = (*made, *writing.added(put.supplied, target.key))
        self.check_said(target, stands, supplied)
        self.check_length(target, put, supplied)
        self.check_key(stands.key)
        shown = naming.tellable(stands.key, target)
        return Outcome(
            answer=Remembered(
                key=stands.key,
                store=self.name,
                place=self.store.label,
                supplied=supplied,
                notes=(*put.notes, *self.doubts(), *map(guard.sentence, collisions)),
            ),
            changes=put.changes,
            label=f"remember {shown}",
            message=f"remember {shown}",
        )

    def put(self, target: Record) -> writing.Put:
        """Say what the store becomes with it."""
        return writing.put(
            self.store,
            {r.key: r for r in (*self.store.raw.records, target)},
            self.context,
            self.new.secrets,
            self.host,
        )

    def names(self) -> set[str]:
        """Give the names that other records have."""
        said = (fields.get(record, "name") for record in self.store.raw.records)
        return {name.casefold() for name in said if isinstance(name, str)}

    def record(self) -> Memory:
        """Give the memory as it was said; nothing is inferred."""
        new = self.new
        return Memory(
            key=self.key(),
            name=new.name or None,
            title=new.title or None,
            description=new.description or None,
            body=Body(text=new.text),
            kinds=self.kinds(),
            tags=tuple(dict.fromkeys(new.tags)),
            links=tuple(
                link if isinstance(link, Link) else Link(target=link) for link in new.links
            ),
        )

    def key(self) -> str:
        """Give the key to ask for: a name is the stem of a file wherever the format has files.

        Where a store is one file, and a key says nothing else, it is made of the name or the text.
        """
        if self.adapter.file is not None:
            there = {record.key.partition("#")[2] for record in self.store.raw.records}
            return naming.key_for(self.new.name or self.new.text, there)
        wanted = f"{self.new.name}.md"
        free = all(wanted != record.key for record in self.store.raw.records)
        return wanted if self.new.name and free and not set(wanted) & set("/#~") else _KEY

    def kinds(self) -> dict[str, str]:
        """Give the declared kind, which the format has to know; none where none was declared."""
        kinds = self.adapter.kinds
        if kinds is None:
            if self.new.kind:
                raise RefusedError(
                    self.store.label,
                    f"nothing was written: there are no kinds here, and {self.new.kind!r} is one",
                    "leave the kind out",
                )
            return {}
        terms = ", ".join(kinds.terms)
        if not self.new.kind:
            if kinds.required:
                raise RefusedError(
                    self.store.label,
                    "nothing was written: the format demands a kind, and none was given",
                    f"one of {terms}",
                )
            return {}
        vocabulary, colon, term = self.new.kind.rpartition(":")
        if (colon and vocabulary != kinds.vocabulary) or term not in kinds.terms:
            raise RefusedError(
                self.store.label,
                f"nothing was written: the kind {self.new.kind!r} is unknown here",
                f"one of {terms}",
            )
        return {kinds.vocabulary: term}

    def again(self, known: Record, new: Record) -> Outcome[Remembered]:
        """Answer that the store has it, and count that where the format counts."""
        there = {r.key: r for r in self.store.raw.records}
        notes: list[str] = []
        if _words(known) != _words(new):
            notes.append(
                f"{known.key} says it in other words, and this format takes the two for one; "
                "another name or description tells them apart"
            )
        said = fields.stated(self.record())
        other = [
            name
            for name, value in said.items()
            if name != "body" and fields.get(known, name) != value
        ]
        if other:
            stay = "stays" if len(other) == 1 else "stay"
            notes.append(f"{known.key} has its own {', '.join(other)}, which {stay}")
        answer = Remembered(
            key=known.key,
            store=self.name,
            place=self.store.label,
            already="known",
            notes=tuple(notes),
        )
        if known == there[known.key]:
            return Outcome(answer=answer)
        put = writing.put(self.store, {**there, known.key: known}, self.context)
        shown = naming.tellable(known.key, known)
        return Outcome(
            answer=replace(answer, already="counted", notes=(*notes, *put.notes, *self.doubts())),
            changes=put.changes,
            label=f"observe {shown} again",
            message=f"observe {shown} again",
        )

    def check_name(self) -> None:
        """Refuse a name that means something else: nothing is written over or shares a name."""
        if not self.new.name:
            return
        for record in self.store.raw.records:
            taken = fields.get(record, "name")
            if isinstance(taken, str) and taken.casefold() == self.new.name.casefold():
                if fields.get(record, "state") == "archived":
                    continue
                raise RefusedError(
                    self.store.label,
                    f"nothing was written: {record.key} has the name {self.new.name!r}",
                    "give another name, or forget that one first",
                )

    def check_key(self, key: str) -> None:
        """Refuse a key with a secret in it: the name of a file is told to whoever lists a folder.

        Raises:
            RefusedError: it has one, and it was not said that secrets may go.
        """
        new = self.new
        said = [t for t in (new.text, new.name, new.title, new.description) if t is not None]
        if new.secrets != "allow" and naming.gives_away(key, said):
            raise RefusedError(
                self.store.label,
                "nothing was written: the name of its file would have a secret in it",
                "give a name without it (--name), or let it through with --secrets allow",
            )

    def check_length(self, target: Record, put: writing.Put, supplied: Sequence[Added]) -> None:
        """Refuse a description that was made of a text so long that the runtime would choke on it.

        Measured: what it newly trips over has to go away with a short description.

        Raises:
            RefusedError: a description has to be given.
        """
        made = next((s.value for s in supplied if s.field == "description"), "")
        if not put.findings or len(made) <= _SHORT:
            return
        other = self.put(fields.replace(target, {"description": " ".join(made[:_SHORT].split())}))
        mended = [line for line in put.findings if line not in other.findings]
        if mended:
            raise RefusedError(
                self.store.label,
                f"nothing was written: the description would be {len(made):,} characters of the "
                "text, and its runtime does not take that",
                "give one line that says what it is (--description)",
                mended,
            )

    def check_said(self, meant: Record, stands: Record, supplied: Sequence[Added]) -> None:
        """Refuse what the format cannot say: nothing is dropped in silence.

        Measured on what would be written, not on what the format claims.
        """
        lost: list[str] = []
        for name, value in fields.stated(meant).items():
            says = fields.get(stands, name)
            if says == value or name == "state" or any(s.field == name for s in supplied):
                continue
            if any(s.value == value for s in supplied):
                continue  # it stands in another field, as is said
            if isinstance(value, Body) and isinstance(says, Body) and _same(value, says):
                continue
            near = [s.value for s in supplied if isinstance(value, str) and _alike(s.value, value)]
            hold = self.adapter.holds.get(name, Hold.NO)
            if near:
                lost.append(f"{name}: would be written as {near[0]!r}; give it so")
            elif hold is Hold.EXACT:
                lost.append(f"{name}: cannot be said as it is; say it otherwise")
            elif hold is Hold.VIEW:
                lost.append(f"{name}: here it only repeats the text; say it there")
            else:
                lost.append(f"{name}: the format has no place for it; leave it out")
        if lost:
            raise RefusedError(
                self.store.label,
                "nothing was written: not all of it can be said here",
                "leave out what is named, or say it in the text",
                lost,
            )

    def doubts(self) -> tuple[str, ...]:
        """Warn of a complement that may not belong to the files."""
        return tuple(f"{self.store.label}: {doubt}" for doubt in self.store.doubts)


def _same(one: Body, other: Body) -> bool:
    """Do people see the same text, whatever is marked in it?"""
    read = shown.of_html if one.media == other.media == "text/html" else str
    return read(one.text).split() == read(other.text).split()


def _alike(one: str, other: str) -> bool:
    """Are two values the same but for their white space?"""
    return one.split() == other.split()


def _words(record: Record) -> list[str]:
    """Give the words of a text, whatever stands around and between them."""
    body = fields.get(record, "body")
    return body.text.casefold().rstrip(".!? ").split() if isinstance(body, Body) else []
