"""What memhtml can say of a record: everything lossy stands here, ``write`` only splices."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Supplied
from interop.adapters.memhtml import article, dates
from interop.adapters.memhtml.memory_file import HTML, as_task, status_of
from interop.adapters.memhtml.vocabulary import (
    FORMAT,
    OWN,
    RELS,
    TASK,
    TASK_STATUSES,
    TYPES,
    collapse,
    is_target,
    storable,
)
from interop.markup import translate
from interop.model import Body, Json, Link, Memory, Record, Task

_CARRY: Final = "let it travel in the complement with --carry"
_DECLARE: Final = (
    f"declare one of {', '.join(t for t in TYPES if t != TASK)} with --kind-map or --decisions"
)
_MOMENTS: Final = ("valid-from", "valid-until", "due")


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as this format can say it, given what stands there now."""
    if record == current:
        return Fitted(record=record)
    if not isinstance(record, Memory):
        return Refusal(
            key=record.key,
            field="role",
            reason=f"memhtml has no place for a {record.role}",
            remedy=_CARRY,
        )
    assert current is None or isinstance(current, Memory), "this format reads memories and tasks"
    return _Fitting(record, current, context).fitted()


class _Fitting:
    """One record on its way; what it supplies is collected."""

    def __init__(self, record: Memory, current: Memory | None, context: Context) -> None:
        self.record = record
        self.current = current
        self.now = dates.folded(context.now) or context.now
        self.supplied: list[Supplied] = []

    def fitted(self) -> Fitted | Refusal:
        record, current = self.record, self.current
        kind = record.kinds.get(FORMAT)
        if kind is None and isinstance(record, Task):
            kind = self._supply("kinds", TASK, "a task is of the type task here")
        changed = current is None or kind != current.kinds.get(FORMAT)
        if changed or isinstance(record, Task) != isinstance(current, Task):
            refusal = self._kind(kind)
            if refusal is not None:
                return refusal
        body = self._body()
        if isinstance(body, Refusal):
            return body
        html, claim = body
        memory = Memory(
            key=record.key,
            title=self._title(claim),
            description=claim,
            body=Body(text=html, media=HTML),
            kinds={FORMAT: kind or ""},
            tags=self._several("tags"),
            entities=self._several("entities"),
            links=self._links(),
            created=self._moment("created"),
            modified=self._moment("modified"),
            session=self._text("session"),
            state=record.state,
            archived=self._optional("archived"),
            extra=self._extra(kind),
        )
        if kind != TASK:
            return Fitted(record=memory, supplied=tuple(self.supplied))
        status = self._status()
        if isinstance(status, Refusal):
            return status
        task = as_task(memory, status, self._optional("due"))
        return Fitted(record=task, supplied=tuple(self.supplied))

    def _supply(self, field: str, value: str, reason: str) -> str:
        self.supplied.append(Supplied(key=self.record.key, field=field, value=value, reason=reason))
        return value

    def _stands(self, field: str) -> bool:
        """Is the value the one that stands there? Then it is left alone."""
        if self.current is None:
            return False
        value = fields.get(self.record, field)
        return value is not None and bool(value == fields.get(self.current, field))

    def _kind(self, kind: str | None) -> Refusal | None:
        key = self.record.key
        if kind not in TYPES:
            return Refusal(
                key=key,
                field="kinds",
                reason=f"{kind!r} is none of memhtml's types"
                if kind
                else "memhtml demands a type, and nobody declared one",
                remedy=_DECLARE,
            )
        # a type declares a kind and never a role: what was put would come back as something else
        if isinstance(self.record, Task) and kind != TASK:
            return Refusal(
                key=key,
                field="kinds",
                reason=f"a task cannot be of type {kind}: only type task has a task's status",
                remedy="declare it as task, or let it travel with --carry",
            )
        if kind == TASK and not isinstance(self.record, Task):
            return Refusal(
                key=key,
                field="kinds",
                reason="a memory cannot be of type task: what is of that type is a task, and no "
                "kind makes one of a memory",
                remedy=f"{_DECLARE}; a task is made with memhtml task add",
            )
        return None

    def _body(self) -> tuple[str, str] | Refusal:
        """Give the article's HTML and its claim."""
        record, current = self.record, self.current
        if current is not None and record.body == current.body:
            return current.body.text, current.description or ""
        html = storable(record.body.text)
        if record.body.media != HTML:
            html = translate(html, record.body.media, HTML).strip(" \t\n\f\r")
        html = html.removesuffix("\r")  # with the line end behind it, it would be one
        instead = record.title or record.name or ""
        found = article.claimed(html, storable(record.description or ""), storable(instead))
        if found is None:
            return self._unfit("it says nothing that could be the claim")
        reasons = article.objections(found.html)
        if reasons:
            return self._unfit("; ".join(reasons))
        if found.block:
            reason = "a memory begins with its claim: the description"
            if not record.description:
                reason = "a memory begins with its claim: the first sentence"
            self._supply("body", found.block, reason)
        if found.claim != record.description and (
            current is None or record.description != current.description
        ):
            self._supply(
                "description",
                found.claim,
                "the claim is the marked text of the article"
                if record.description
                else "the claim is the first sentence, where no description is stated",
            )
        return found.html, found.claim

    def _unfit(self, reason: str) -> Refusal:
        return Refusal(
            key=self.record.key,
            field="body",
            reason=f"the runtime would skip it: {reason}",
            remedy=f"change the text, or {_CARRY}",
        )

    def _title(self, claim: str) -> str:
        title = self.record.title
        if self._stands("title"):
            return title or ""
        said = collapse(storable(title or ""))
        if said and said == title:
            return said
        if said:
            return self._supply("title", said, "a title is one line, without blanks at its ends")
        name = collapse(storable(self.record.name or ""))
        what = "name" if name else "claim"
        return self._supply("title", name or claim, f"every memory has a title: the {what}")

    def _several(self, field: str) -> tuple[str, ...]:
        values: tuple[str, ...] = fields.get(self.record, field) or ()
        if self._stands(field):
            return values
        return tuple(said for value in values if (said := storable(value)))

    def _links(self) -> tuple[Link, ...]:
        if self._stands("links"):
            return self.record.links
        links = (dataclasses.replace(k, target=storable(k.target)) for k in self.record.links)
        return tuple(k for k in links if k.rel in RELS and is_target(k.target))

    def _moment(self, field: str) -> str:
        """Give a date that the format demands."""
        value: str | None = fields.get(self.record, field)
        if value is not None and (self._stands(field) or dates.is_moment(value)):
            return value
        if value is None:
            return self._supply(field, self.now, f"every memory has a date {field}: now")
        said = dates.folded(value)
        if said is None:
            return self._supply(field, self.now, f"{value!r} is no date: now stands for it")
        return self._supply(field, said, "the runtime takes whole seconds in UTC only")

    def _optional(self, field: str) -> str | None:
        """Give a date that may be absent; what is none cannot stand and travels."""
        value: str | None = fields.get(self.record, field)
        if value is None or self._stands(field) or dates.is_moment(value):
            return value
        said = dates.folded(value)
        if said is not None:
            self._supply(field, said, "the runtime takes whole seconds in UTC only")
        return said

    def _text(self, field: str) -> str | None:
        value: str | None = fields.get(self.record, field)
        return value if value is None or self._stands(field) else storable(value) or None

    def _status(self) -> str | Refusal:
        record = self.record
        status = record.status if isinstance(record, Task) else None
        if status in TASK_STATUSES:
            return status
        if status is None:
            return self._supply("status", "todo", "every task has a status: the runtime's default")
        if status.lower() in TASK_STATUSES:
            return self._supply("status", status.lower(), "the runtime knows it in lower case only")
        return Refusal(
            key=record.key,
            field="status",
            reason=f"{status!r} is none of memhtml's task statuses",
            remedy=f"say one of {', '.join(TASK_STATUSES)}, or {_CARRY}",
        )

    def _extra(self, kind: str | None) -> Mapping[str, Json]:
        """Give what memhtml alone says; keys outside its closed vocabulary travel."""
        given = self.record.extra.get(FORMAT)
        there = self.current.extra.get(FORMAT) if self.current is not None else None
        stated: dict[str, Json] = given if isinstance(given, dict) else {}
        present: dict[str, Json] = there if isinstance(there, dict) else {}
        said: dict[str, Json] = {}
        for name in OWN:
            value = stated.get(name)
            if name in ("status", "content-hash") or value is None:
                continue
            if name == "due" and kind == TASK:
                continue
            fit_to = value if value == present.get(name) else _scalar(name, value)
            if fit_to is not None:
                said[name] = fit_to
        said |= self._repeated(present, stated)
        return {FORMAT: {n: said[n] for n in OWN if n in said}} if said else {}

    def _repeated(self, present: Mapping[str, Json], stated: Mapping[str, Json]) -> dict[str, Json]:
        """Give what repeats other fields: kept where it disagrees with them and they stay."""
        said: dict[str, Json] = {}
        natural = status_of(archived=self.record.state == "archived")
        odd = status_of(archived=natural == "active")
        moved = self.current is not None and self.current.state != self.record.state
        if stated.get("status") == odd and not moved:
            said["status"] = odd
        wrong = present.get("content-hash")
        if wrong is not None and self.current is not None and self._stands("body"):
            said["content-hash"] = wrong
        return said


def _scalar(name: str, value: Json) -> Json:
    """Give a value as an attribute can say it; None where it cannot."""
    if name == "alias":
        values: Sequence[Json] = value if isinstance(value, list) else []
        said: list[Json] = [s for v in values if isinstance(v, str) and (s := storable(v))]
        return said or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        return None
    if name in _MOMENTS:
        return dates.folded(value)
    return storable(value)
