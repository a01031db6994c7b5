"""A diff as a person reads it: record by record, the fields of each, the two texts of a field.

What the terminal and the page show is made here, so that both say the same. Which changes take part
is decided by ``select``; what is left counts for the exit status.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, TypeAlias, cast

from interop import textdiff
from interop.adapter import path_of
from interop.diff import Change, Diff, Side
from interop.diff.changes import counts as differs
from interop.errors import UsageError
from interop.fields import FIELDS
from interop.model import Json
from interop.textdiff import Line

Kind: TypeAlias = Literal[
    "added",
    "removed",
    "moved",
    "archived",
    "restored",
    "changed",
    "omission",
    "carried",
    "order",
    "noise",
    "agreed",
]
"""What a person filters by: what happened, or that it is only left out or nobody's statement."""
KINDS: tuple[Kind, ...] = (
    *("added", "removed", "moved", "archived", "restored", "changed", "omission"),
    *("carried", "order", "noise", "agreed"),
)
"""All of them in the order in which they are shown."""

SIDES: Mapping[Side, str] = {
    "a": "changed in A",
    "b": "changed in B",
    "both": "changed in both",
    "conflict": "conflict",
}
"""Which side made a change since the common ancestor, in words."""

SELECTABLE: tuple[str, ...] = (
    *dict.fromkeys(name for role in FIELDS.values() for name in role),
    *("role", "key", "carried", "order"),
)
"""What ``only`` and ``ignore`` take: the fields of the model, ``role``, ``key`` (where a record
lies), ``carried`` (files that are no records) and ``order``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One thing that a record says, and what each side says of it."""

    label: str
    """The field, with the key where it is a mapping: ``body``, ``kinds.claude``."""
    a: str | None
    b: str | None

    @property
    def lines(self) -> tuple[Line, ...]:
        """The two texts, line by line."""
        if self.a is not None and self.b is not None:
            return textdiff.lines(self.a, self.b)
        # where there is nothing to compare with, an end of the last line is no line more
        return textdiff.lines(*(x and x.removesuffix("\n") for x in (self.a, self.b)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Everything that differs between a record and its counterpart; or one of the two alone."""

    key_a: str | None
    key_b: str | None
    changes: tuple[Change, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What happened to it, in the order of ``KINDS``."""
        found = set(map(kind, self.changes))
        return tuple(k for k in KINDS if k in found)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Which sides changed it, in the order of ``SIDES``; ``conflict`` where they clash."""
        found = {change.side for change in self.changes}
        return tuple(side for side in SIDES if side in found)

    @property
    def side(self) -> Side | None:
        """The one side of all that differs, where there is one."""
        found: list[Side | None]
        found = [c.side for c in self.changes if c.tag not in ("noise", "agreed")]
        return found[0] if len(set(found)) == 1 else None

    @property
    def probable(self) -> bool:
        """Are the two records only probably the same one?"""
        return any(change.probable for change in self.changes)

    @property
    def probably(self) -> str:
        """Why the two are only probably the same record, in words; nothing where they are."""
        if not self.probable:
            return ""
        alike = next((c.similarity for c in self.changes if c.similarity is not None), None)
        # 99.96 % is not the same text, and is not said to be
        how = "at the same place" if alike is None else f"{min(int(alike), 99)} % alike"
        return f"probably the same, {how}"


def select(
    found: Diff, only: Collection[str] = (), ignore: Collection[str] = (), *, noise: bool = True
) -> Diff:
    """Give the changes of some fields alone.

    With ``only``, a record that is on one side alone takes part where it states one of the fields.

    Raises:
        UsageError: a field that no record has.
    """
    check_fields((*only, *ignore))
    return replace(
        found,
        changes=tuple(
            change
            for change in found.changes
            if (noise or change.tag not in ("noise", "agreed"))
            and (not only or not _touched(change).isdisjoint(only))
            and _subject(change) not in ignore
        ),
    )


def counting(found: Diff) -> Diff:
    """Give the changes that make two stores different, without order and noise."""
    return replace(found, changes=tuple(c for c in found.changes if differs(c)))


def check_fields(names: Iterable[str]) -> None:
    """Say whether ``select`` takes these names.

    Raises:
        UsageError: a field that no record has.
    """
    for name in names:
        if name not in SELECTABLE:
            raise UsageError(f"no field {name!r}", f"one of {', '.join(SELECTABLE)}")


def counts_by_side(of: Sequence[Entry]) -> Mapping[Side, int]:
    """Count the records that each side changed, in the order of ``SIDES``.

    A record in conflict counts as that alone, one that each side changed as changed in both.
    """
    number = Counter(_one_side(entry.sides) for entry in of if entry.sides)
    return {side: number[side] for side in SIDES if number[side]}


def _one_side(sides: Collection[Side]) -> Side:
    if "conflict" in sides:
        return "conflict"
    return next(iter(sides)) if len(sides) == 1 else "both"


def entries(found: Diff) -> Iterator[Entry]:
    """Give the changes record by record, in the order of the diff."""
    for (key_a, key_b), changes in groupby(found.changes, lambda c: (c.key_a, c.key_b)):
        yield Entry(key_a=key_a, key_b=key_b, changes=tuple(changes))


def kind(change: Change) -> Kind:
    """Say what a change is to a person."""
    if change.what == "order":
        return "order"
    if change.tag in ("omission", "noise", "agreed"):
        return cast("Kind", change.tag)
    return change.what


def counts(of: Sequence[Entry]) -> Mapping[Kind, int]:
    """Count the records of each kind of change, in the order of ``KINDS``.

    A record may have several.
    """
    number = Counter(k for entry in of for k in entry.kinds)
    return {k: number[k] for k in KINDS if number[k]}


def by_field(found: Diff) -> Mapping[str, Counter[str]]:
    """Count the changes of each field by their tag.

    What has no field counts as ``key``, ``order`` or ``carried``, a record on one side alone not
    at all.
    """
    out: dict[str, Counter[str]] = {}
    for change in found.changes:
        if change.what not in ("added", "removed"):
            out.setdefault(_subject(change), Counter())[change.tag] += 1
    return {name: out[name] for name in SELECTABLE if name in out}


def verb(change: Change) -> str:
    """Say in a word what happened to the record, and where, as far as that is known."""
    if change.what in ("added", "removed"):
        return _ALONE.get((change.what, change.side), change.what)
    if change.what == "moved" and change.key_a and change.key_b:
        here, there = path_of(change.key_a), path_of(change.key_b)
        same_folder = posixpath.dirname(here) == posixpath.dirname(there)
        return "renamed" if same_folder and change.key_a != change.key_b else "moved"
    if change.what == "carried":
        path = change.key_b or change.key_a or ""
        what = "text around the records" if path.endswith("#") else "file"
        if change.key_a is None:
            return f"{what} added"
        return f"{what} {'removed' if change.key_b is None else 'changed'}"
    return change.what


_ALONE: Mapping[tuple[str, Side | None], str] = {
    ("removed", "a"): "added in A",
    ("removed", "b"): "removed in B",
    ("removed", "both"): "removed in both",
    ("removed", "conflict"): "removed in B, changed in A",
    ("added", "a"): "removed in A",
    ("added", "b"): "added in B",
    ("added", "both"): "added in both",
    ("added", "conflict"): "removed in A, changed in B",
}
"""What is only in A was added there or removed in B; the common ancestor tells the two apart."""


def remark(change: Change, *, side: bool = True) -> str:
    """Say what keeps a change from being one of content, and who made it; or nothing.

    Without ``side`` not who: where it is said of the record as a whole.
    """
    said: list[str] = []
    if change.tag == "omission":
        silent = "A" if change.a is None else "B"
        said.append(f"not {'declared' if change.field == 'kinds' else 'stated'} in {silent}")
    if change.tag == "noise":
        said.append("noise")
    if change.tag == "agreed":
        said += ["both alike"] if change.what not in ("added", "removed") else []
    elif side and change.side is not None and change.what not in ("added", "removed"):
        said.append(SIDES[change.side])
    return ", ".join(said)


def before(change: Change) -> Facet | None:
    """Give what the common ancestor said where the two sides clash over a field."""
    if change.side != "conflict" or change.what in ("added", "removed") or change.field == "role":
        return None
    text = _body(change.base)[0] if change.field == "body" else _listed(change.base)
    return None if text is None else Facet(label="before", a=text, b=text)


def facets(change: Change) -> Iterator[Facet]:
    """Give what a change says, taken apart: a mapping key by key, a list item by item.

    Of what both sides changed alike, what the common ancestor said and what both say now.
    """
    if change.tag == "agreed":
        change = replace(change, a=change.base)
    if change.what in ("moved", "carried", "archived", "restored"):
        return  # the word says it all
    if change.what in ("added", "removed", "order") or change.field == "role":
        a, b = change.a, change.b
        if change.what == "order":
            yield Facet(label="order", a=_listed(a), b=_listed(b))
            return
        yield from _of_records(a if isinstance(a, dict) else {}, b if isinstance(b, dict) else {})
        return
    yield from _of_values(".".join((change.field or "", *change.at)), change.a, change.b)


def first_words(change: Change) -> str:
    """Give the first words of a record that is on one side alone."""
    record = next((x for x in (change.a, change.b, change.base) if x is not None), None)
    said = record if isinstance(record, dict) else {}
    body = said.get("body")
    texts = (said.get(name) for name in ("description", "decision", "rejected", "title", "name"))
    text = body["text"] if isinstance(body, dict) else ""
    return str(next((t for t in texts if t), text))


def to_json(change: Change) -> dict[str, Json]:
    """Give the JSON form of a change, as docs/diff.schema.json describes it.

    What does not apply is absent.
    """
    values: dict[str, Json] = {
        "what": change.what,
        "tag": change.tag,
        "key_a": change.key_a,
        "key_b": change.key_b,
        "field": change.field,
        "at": list(change.at) or None,
        "a": change.a,
        "b": change.b,
        "similarity": change.similarity,
        "side": change.side,
        "base": change.base,
    }
    if change.probable:
        values["probable"] = True
    return {name: value for name, value in values.items() if value is not None}


def from_json(data: Mapping[str, Json]) -> Change:
    """Read a change from its JSON form."""
    at = cast("list[str]", data.get("at") or [])
    values = {**data, "at": tuple(at)}
    return replace(Change(what="changed", tag="content"), **values)  # type: ignore[arg-type]


def _subject(change: Change) -> str:
    """Name what a change is about, in the words of ``SELECTABLE``."""
    if change.what in ("order", "carried"):
        return change.what
    return "key" if change.what == "moved" else change.field or ""


def _touched(change: Change) -> set[str]:
    """Name every field that a change says something of."""
    if change.what in ("added", "removed"):
        record = next((x for x in (change.a, change.b, change.base) if x is not None), None)
        return set(record) if isinstance(record, dict) else set()
    return {_subject(change)}


def _of_records(a: Mapping[str, Json], b: Mapping[str, Json]) -> Iterator[Facet]:
    for name in ("role", *(n for n in SELECTABLE if n not in ("role", "key"))):
        here, there = a.get(name), b.get(name)
        if here != there and (here, there) not in _PLAIN:
            yield from _of_values(name, here, there)


_PLAIN = (("memory", None), (None, "memory"), ("live", None), (None, "live"))
"""A role and a state that nearly every record has: they tell nothing of one that is new or gone."""


def _of_values(label: str, a: Json, b: Json) -> Iterator[Facet]:
    if label == "body":
        here, there = _body(a), _body(b)
        if here[0] != there[0] and (here[0] or there[0]):
            yield Facet(label=label, a=here[0], b=there[0])
        if here[1] != there[1] and None not in (here[1], there[1]):
            yield Facet(label="body.media", a=here[1], b=there[1])
    elif isinstance(a, dict | None) and isinstance(b, dict | None):
        one, other = a or {}, b or {}
        for key in [*one, *(key for key in other if key not in one)]:
            if one.get(key) != other.get(key):
                yield from _of_values(f"{label}.{key}", one.get(key), other.get(key))
    else:
        yield Facet(label=label, a=_listed(a), b=_listed(b))


def _body(value: Json) -> tuple[str | None, str | None]:
    return (str(value["text"]), str(value["media"])) if isinstance(value, dict) else (None, None)


def _listed(value: Json) -> str | None:
    """Give a value as a text, a list as one line an item."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_item, value))
    return json.dumps(value, ensure_ascii=False)


def _item(value: Json) -> str:
    if isinstance(value, dict) and value.keys() == {"rel", "target"}:
        return f"{value['rel']}: {value['target']}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
