"""Which live records state a rejected value again: the teeth of the tombstones.

    | T-002 | Sign colour | hex 1E3A5F | D-004 | 2026-05-12 | not readable | sign shop |
    - The signs are #1e3a5f.                                                 <- a collision

The very words are compared, token by token: folded (case, Unicode composition, white space), whole,
of any length. Records that tell the history of a value may say it. Nothing is read from a disk, and
a store is seen through its renderings before it comes here (interop.rendering).

Spec: docs/guard.md, version 1.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from interop import shown, tokens
from interop.model import Body, Decision, Memory, Record, Task, Tombstone

VERBATIM: Final = "only the very words are compared: a paraphrase of a rejected value is not seen"
"""What a list of collisions has to say once."""


class Name(NamedTuple):
    """An id by which people cite a record, folded."""

    id: str
    store: str = ""
    """The store in which it means that record: another one may have a namesake."""


class Cite(NamedTuple):
    """Words that may name ids."""

    text: str
    store: str = ""
    """The store whose ids they name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stone:
    """A tombstone, and the store that it comes from."""

    record: Tombstone
    store: str = ""
    """What people call the store."""
    id: str | None = None
    """Its id where its key does not end in it: a rendering has a key of its own."""
    names: frozenset[Name] = frozenset()
    """Its ids in every store that knows it; none given is the one in its key."""
    cites: tuple[Cite, ...] | None = None
    """What names the records that tell of it: Replacement and Source, if nothing else is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A rejected value, ready to be compared."""

    stone: Stone
    id: str
    text: str
    """As written, without the marks around it."""
    needle: str
    """What is looked for, folded."""
    cites: frozenset[Cite]
    """Replacement and Source, folded: as they stand, and what can be an id in them."""
    names: frozenset[Name]
    """What the tombstone itself is cited by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The rejected values of all tombstones, and an index of them."""

    values: tuple[Value, ...]
    by_anchor: Mapping[str, tuple[int, ...]]
    """A token without which a value is not stated -> places in ``values``, in order."""
    unchecked: tuple[Stone, ...]
    """Tombstones that have nothing to compare."""


Tombstones: TypeAlias = Iterable[Stone] | Values
"""Whoever asks about many records calls ``rejected_values`` once and hands on its outcome."""


def _by_key(key: str) -> frozenset[Name] | None:
    return None


def _no_names(key: str) -> frozenset[Name]:
    return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What the exemptions need to know beyond a record itself."""

    names: Callable[[str], frozenset[Name] | None] = _by_key
    """Key -> what the record is cited by; None where only the key says it."""
    superseded: frozenset[Name] = frozenset()
    """Decisions that another one's Supersedes names."""
    marked: Callable[[str], frozenset[Name]] = _no_names
    """Key -> what a text is cited by that is marked as a tombstone, though it does not read as one;
    of any other record nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """A field of a live record that states a rejected value."""

    key: str
    field: str
    tombstone_id: str
    tombstone_store: str
    rejected: str
    """The value as its tombstone writes it, without the marks around it."""
    reason: str | None
    replacement: str | None
    names: frozenset[Name] = dataclasses.field(default=frozenset(), compare=False)
    """What the tombstone is cited by, in every store that knows it."""


def sentence(collision: Collision) -> str:
    """Say what is wrong and what stands in the value's place; the key is for the caller to say."""
    stone = collision.tombstone_id
    if collision.tombstone_store:
        stone = f"{stone} of {collision.tombstone_store}"
    said = f"{collision.field} states {collision.rejected!r} again, rejected by {stone}"
    if collision.reason is not None and tokens.speaks(collision.reason):
        said = f"{said}: {_one_line(collision.reason)}"
    if collision.replacement is not None and tokens.speaks(collision.replacement):
        said = f"{said}; in its place: {_one_line(collision.replacement)}"
    return said


def rejected_values(tombstones: Iterable[Stone]) -> Values:
    """Prepare the values of tombstones for comparison; one that several stores hold counts once."""
    values: list[Value] = []
    unsaid: list[Stone] = []
    index: dict[str, list[int]] = {}
    seen: dict[tuple[str | Name | None, ...], int] = {}
    for stone in tombstones:
        record = stone.record
        text = tokens.unmarked(record.rejected or "")
        if not tokens.speaks(text):
            unsaid.append(stone)
            continue
        said = (record.subject, record.replacement, record.date, record.reason, record.source)
        name = stone.id or id_in(record.key) or record.key
        names = stone.names or frozenset({Name(tokens.fold(name))})
        cites = frozenset(_cites(stone))
        for needle in _needles(text):
            marks = [(needle, *said), *((needle, name) for name in names if name.store)]
            known = next((seen[mark] for mark in marks if mark in seen), None)
            for mark in marks:
                seen.setdefault(mark, len(values) if known is None else known)
            if known is not None:  # each store that holds it cites with its own ids
                one = values[known]
                values[known] = replace(one, cites=one.cites | cites, names=one.names | names)
                continue
            index.setdefault(tokens.anchor(needle), []).append(len(values))
            values.append(
                Value(stone=stone, id=name, text=text, needle=needle, cites=cites, names=names)
            )
    return Values(
        values=tuple(values),
        by_anchor={anchor: tuple(places) for anchor, places in index.items()},
        unchecked=tuple(unsaid),
    )


def _cites(stone: Stone) -> Iterator[Cite]:
    """Give what cites records, folded: the words as they stand, and what can be an id in them."""
    own = [cell for cell in (stone.record.replacement, stone.record.source) if cell]
    for text, store in stone.cites if stone.cites is not None else map(Cite, own):
        said = tokens.fold(text)
        yield Cite(said, store)
        yield Cite(" ".join(_named(said)), store)


def _needles(text: str) -> Iterable[str]:
    """Give what is looked for: a value as it is written and, if that differs, as it is shown."""
    needles: dict[str, None] = {}
    for said in (text, shown.of_markdown(text)):
        needle = tokens.fold(said)
        colour = _HEX.fullmatch(needle)
        # whoever states `hex X` or `#X` as a whole token also states X as one
        needles[colour[1] if colour is not None else needle] = None
    return filter(tokens.speaks, needles)


def unchecked(tombstones: Tombstones) -> tuple[Stone, ...]:
    """Give the tombstones whose value has neither letter nor digit, so that nothing is compared."""
    return _prepared(tombstones).unchecked


def history(records: Iterable[Record]) -> History:
    """Gather what the records of one store say about each other."""
    superseded: set[Name] = set()
    for record in records:
        if isinstance(record, Decision) and record.supersedes:
            superseded |= named_in(record.supersedes) - _names_of(record, History())
    return History(superseded=frozenset(superseded))


def named_in(cell: str, store: str = "") -> set[Name]:
    """Give what a cell names: itself, and every word in it that can be an id."""
    said = tokens.fold(cell)
    return {Name(name, store) for name in (said, *_named(said))}


def collisions(
    records: Iterable[Record],
    tombstones: Tombstones,
    *,
    fields: Collection[str] | None = None,
    told: History | None = None,
) -> list[Collision]:
    """Give every statement of a rejected value in the live records of one store.

    In the order of the records, their fields and the tombstones. ``fields`` limits what is read;
    ``told`` is what the records say about each other, gathered from them if it is not given.
    """
    values = _prepared(tombstones)
    all_of_them = list(records)
    known = told if told is not None else history(all_of_them)
    return [
        _collision(record, where, value)
        for record in all_of_them
        for where, value in _stated(record, values, known, fields)
    ]


def reasserted(
    before: Record | None, after: Record, tombstones: Tombstones, *, told: History | None = None
) -> list[Collision]:
    """Give the collisions that a change brings in: what it creates, or states newly in a field.

    A record that was archived or history before, and is live now, states all of it anew. Without
    ``told`` a decision counts as superseded only where its own Status says so.
    """
    return [c for c, is_new in _compared(before, after, tombstones, told) if is_new]


def standing(
    before: Record | None, after: Record, tombstones: Tombstones, *, told: History | None = None
) -> list[Collision]:
    """Give the collisions that a change only leaves: the same field stated the value before.

    A correction is among them (``was 25 €, now 20 €``), so they are for a warning.
    """
    return [c for c, is_new in _compared(before, after, tombstones, told) if not is_new]


def id_in(key: str) -> str | None:
    """Give the id in the key of a row; the second row with an id has the same one."""
    return _REPEAT.sub("", key.partition("#")[2]) or None


def _prepared(tombstones: Tombstones) -> Values:
    return tombstones if isinstance(tombstones, Values) else rejected_values(tombstones)


def _collision(record: Record, where: str, value: Value) -> Collision:
    return Collision(
        key=record.key,
        field=where,
        tombstone_id=value.id,
        tombstone_store=value.stone.store,
        rejected=value.text,
        reason=value.stone.record.reason,
        replacement=value.stone.record.replacement,
        names=value.names,
    )


def _compared(
    before: Record | None, after: Record, tombstones: Tombstones, told: History | None
) -> Iterator[tuple[Collision, bool]]:
    """Give every collision of the new record, and whether the change brings it in."""
    values = _prepared(tombstones)
    known = told if told is not None else History()
    now = list(_stated(after, values, known, None))
    if not now:
        return
    # what supersedes a decision now is no word on it before
    past = History(names=known.names, marked=known.marked)
    then = {
        (where, value.id, value.text)
        for where, value in (_stated(before, values, past, None) if before is not None else ())
    }
    for where, value in now:
        yield _collision(after, where, value), (where, value.id, value.text) not in then


# what a record says, and whether it is history


def _stated(
    record: Record, values: Values, told: History, fields: Collection[str] | None
) -> Iterator[tuple[str, Value]]:
    if not values.values or not _is_live(record, told):
        return
    names: frozenset[Name] | None = None  # few records state anything
    for where, said in _spoken(record):
        if fields is not None and where not in fields:
            continue
        last: Stone | None = None
        for place in sorted(_found(said, values)):
            value = values.values[place]
            if value.stone is last:
                continue  # the same value, as it is written and as it is shown
            last = value.stone
            names = _names_of(record, told) if names is None else names
            is_itself = not told.marked(record.key).isdisjoint(value.names)
            if not is_itself and not _tells_of(names, value):
                yield where, value


def _tells_of(names: frozenset[Name], value: Value) -> bool:
    """Does a tombstone name a record, so that this tells of the change?"""
    return any(
        store == name.store and tokens.states(said, name.id)
        for said, store in value.cites
        for name in names
    )


def _is_live(record: Record, told: History) -> bool:
    if isinstance(record, Tombstone):
        return False
    if isinstance(record, Decision):
        if _PAST.match(tokens.fold(record.status or "")):
            return False
        return not told.superseded or _names_of(record, told).isdisjoint(told.superseded)
    if isinstance(record, Task) and tokens.fold(record.status or "") in _CLOSED:
        return False
    return record.state == "live"


def _spoken(record: Record) -> Iterator[tuple[str, Body]]:
    """Give each field that speaks; what is no body is a line or a cell of Markdown."""
    if isinstance(record, Decision):
        texts = {"decision": record.decision, "why": record.why}
    elif isinstance(record, Memory):
        texts = {
            "name": record.name,
            "title": record.title,
            "description": record.description,
            "hook": record.hook,
        }
    else:
        return
    yield from ((name, Body(text=text)) for name, text in texts.items() if text)
    if isinstance(record, Memory) and record.body.text:
        yield "body", record.body
    for own in record.extra.values():
        # the one cell of prose that the model has no field for, whatever format states it
        notes = own.get("notes") if isinstance(own, dict) else None
        if isinstance(notes, str) and notes:
            yield "extra.notes", Body(text=notes)


def _names_of(record: Record, told: History) -> frozenset[Name]:
    """Give what people cite a record by."""
    names = told.names(record.key)
    if names is not None:
        return names
    name = id_in(record.key)
    return frozenset({Name(tokens.fold(name))} if name is not None and tokens.speaks(name) else ())


def _named(said: str) -> tuple[str, ...]:
    """Give the words of a folded cell that can be ids: ``D-1/D-2`` are two, a file name is none."""
    words: list[str] = []
    for word in _WORD.findall(said):
        path, cut, name = word.rpartition("#")
        if cut and path:
            words.append(name)  # a whole key: its id cites, its file does not
        elif not _FILE.search(name):
            words += name.split("/")
    return tuple(word.rstrip(".") for word in words)


def _found(said: Body, values: Values) -> set[int]:
    """Give the places of the values that a text states.

    What stands in Markdown is read by agents as it stands, comments too, and by people as it is
    shown. HTML is read as it is shown, and nobody sees its comments.
    """
    if said.media == "text/html":
        text = tokens.fold(shown.of_html(said.text))
        return _places(text, _anchors(text, values), values)
    text = tokens.fold(said.text)
    anchors = _anchors(text, values)
    found = _places(text, anchors, values)
    # marks that stand beside words leave every word as it is
    if anchors or shown.parts_words(said.text):
        seen = shown.of_markdown(said.text)
        if seen != said.text:
            text = tokens.fold(seen)
            found |= _places(text, _anchors(text, values), values)
    return found


def _anchors(text: str, values: Values) -> set[str]:
    """Give the tokens of a folded text without which some value is not stated."""
    return values.by_anchor.keys() & tokens.of(text)


def _places(text: str, anchors: Iterable[str], values: Values) -> set[int]:
    return {
        place
        for anchor in anchors
        for place in values.by_anchor[anchor]
        if tokens.states(text, values.values[place].needle)
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())


_HEX: Final = re.compile(r"hex #?([0-9a-f]+)")
_REPEAT: Final = re.compile(r"~\d+\Z")
_WORD: Final = re.compile(r"[^\s,;:+'’@()\[\]|<>\"`]+")
_FILE: Final = re.compile(r"\.[a-z][a-z0-9]*[.]?\Z")
_PAST: Final = re.compile(r"(?:superseded|dropped)(?![^\W_])")
_CLOSED: Final = ("done", "dropped")
