"""Values that somebody could give a field next: realistic, and different from the present one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interop import fields, registry
from interop.adapter import Adapter, Hold, Kinds
from interop.fields import Value
from interop.model import Body, Link, Memory, Record, Store

_DATES = ("created", "modified", "recalled", "archived", "date", "due", "opened")
_WORD = re.compile(r"\b[a-z]{4,}\b")
_SESSION = "5b0c2f6e-1a44-4e0b-9a51-{:012x}"
EXTRA = ("edited", "done", "success", "error", "4", "0.5", "2031-05-02", "/areas/edited.html")
"""Values for a key that only one format knows: which of them is one, its adapter says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One way to edit one field; the ways are the same for every record."""

    field: str
    """A field of the model, or ``extra.KEY``."""
    way: str
    """``set``, ``clear``, or for texts ``grow`` and ``reword``."""

    def __str__(self) -> str:
        """`field`, and what is done to it where that is not plain."""
        return self.field if self.way == "set" else f"{self.field} ({self.way})"


def edits(adapter: Adapter, roles: set[str]) -> Iterator[Edit]:
    """Give every edit of every field that a format holds, for records of some roles."""
    known = {f for role in roles for f in fields.FIELDS[role]}
    for field, hold in adapter.holds.items():
        name, _, _ = field.partition(".")
        if hold is not Hold.EXACT or name not in known:
            continue
        if name == "body":
            yield Edit(field=field, way="grow")
            yield Edit(field=field, way="reword")
            continue
        yield Edit(field=field, way="set")
        if name not in ("state", "status", "decision"):
            yield Edit(field=field, way="clear")


class Values:
    """What the fields of one store's records could say next."""

    def __init__(self, adapter: Adapter, store: Store) -> None:
        self.adapter = adapter
        self.targets = [t for r in store.records[:50] for t in _names(r)]
        self.seen = _extras(store, adapter.name)

    def of(self, record: Record, edit: Edit, number: int) -> Iterator[Record]:
        """Give the record with its field edited, the likeliest value first; none where none is.

        ``number`` is the record's place, so that no two records are given one value.
        """
        name, _, key = edit.field.partition(".")
        if name not in fields.FIELDS[record.role]:
            return
        if name == "extra":
            yield from self._extra(record, edit, key)
            return
        present = fields.get(record, name)
        if edit.way == "clear":
            if present is not None:
                yield fields.replace(record, {name: None})
            return
        for value in self._values(record, edit, present, number):
            if value != present:
                yield fields.replace(record, {name: value})

    def _values(self, record: Record, edit: Edit, present: Value, number: int) -> Iterator[Value]:
        name = edit.field
        if name == "body":
            yield from _bodies(present, edit.way, number)
        elif name == "kinds":
            yield from self._kinds(present or {})
        elif name in ("tags", "entities"):
            yield (*(present or ()), "tool:pump" if name == "entities" else "edited")
        elif name == "links":
            have = {link.target for link in present or ()}
            for target in (t for t in self.targets if t not in have):
                for rel in ("link", "relates_to"):
                    yield (*(present or ()), Link(rel=rel, target=target))
        elif name in _DATES:
            yield from ("2031-05-02", "2031-05-02T08:30:00.000Z")
        elif name == "observations":
            yield (present or 0) + 1
        elif name == "session":
            yield _SESSION.format(number)
        elif name == "state":
            yield "live" if present == "archived" else "archived"
        elif name == "status" and record.role in self.adapter.statuses:
            yield from self.adapter.statuses[record.role]
        elif name == "name":
            yield f"{present}-edited" if present else f"edited-{number}"
        elif name == "supersedes":
            yield from self.targets
        elif present:
            yield f"{present} (edited)"
        else:
            yield f"Edited {number}"

    def _kinds(self, present: Mapping[str, str]) -> Iterator[Value]:
        kinds = kinds_of(self.adapter)
        if kinds is not None:
            for term in kinds.terms:
                yield {**present, kinds.vocabulary: term}

    def _extra(self, record: Record, edit: Edit, key: str) -> Iterator[Record]:
        every = record.extra
        own = every.get(self.adapter.name)
        mine = own if isinstance(own, dict) else {}
        if edit.way == "clear":
            rest = {k: v for k, v in mine.items() if k != key}
            if key in mine:
                others = {k: v for k, v in every.items() if k != self.adapter.name}
                new = {**others, self.adapter.name: rest} if rest else others
                yield fields.replace(record, {"extra": new})
            return
        for value in (*self.seen.get(key, ()), *EXTRA):
            if value != mine.get(key):
                new = {**every, self.adapter.name: {**mine, key: value}}
                yield fields.replace(record, {"extra": new})


def kinds_of(adapter: Adapter) -> Kinds | None:
    """Give the kinds of a format, or those of the first that has any where it takes all of them."""
    if adapter.kinds is None and adapter.holds.get("kinds") is Hold.EXACT:
        return next((a.kinds for a in registry.adapters() if a.kinds is not None), None)
    return adapter.kinds


def _bodies(present: Body | None, way: str, number: int) -> Iterator[Body]:
    text = present.text if present is not None else ""
    media = present.media if present is not None else Body(text="").media
    if way == "grow":
        more = f"Edited {number}."
        if media == "text/html":
            yield Body(text=f"{text}<p>{more}</p>", media=media)
        else:
            yield Body(text=f"{text.rstrip()}\n\n{more}" if text.strip() else more, media=media)
        return
    # the last plain word of the text: what stands around it is to stay
    words = [m for m in _WORD.finditer(text) if text[m.end() : m.end() + 1] in (" ", ".", ",")]
    if words:
        at = words[-1]
        yield Body(text=f"{text[: at.start()]}edited{number}{text[at.end() :]}", media=media)


def _names(record: Record) -> Iterator[str]:
    yield record.key
    if isinstance(record, Memory) and record.name:
        yield record.name
    if "#" in record.key:
        yield record.key.rpartition("#")[2]


def _extras(store: Store, name: str) -> dict[str, list[str]]:
    """Collect what the store itself says under the keys that only its format knows."""
    out: dict[str, list[str]] = {}
    for record in store.records:
        own = record.extra.get(name)
        for key, value in own.items() if isinstance(own, dict) else ():
            known = out.setdefault(key, [])
            if isinstance(value, str) and value not in known and len(known) < 4:
                known.append(value)
    return out
