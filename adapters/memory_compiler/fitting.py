"""A record as a topic can say it: everything lossy is here, and everything lossy is named.

Spec: docs/formats/memory-compiler.md, "What a record becomes".
"""

from __future__ import annotations

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Supplied
from interop.adapters.memory_compiler import cells, tables
from interop.adapters.memory_compiler.context_bullets import extra_of
from interop.adapters.memory_compiler.topic import (
    CLOSED,
    DECISION_STATUSES,
    NOTHING,
    OF_ROLE,
    TASK_STATUSES,
    UNSAID,
    Columns,
)
from interop.model import Body, Memory, Record

_MARKDOWN = Body(text="").media
_CORRESPONDS = {"blocked": "BLOCKED", "done": "DONE"}
"""Statuses of other vocabularies that mean the same by both sides' own pages."""
WAY_OUT_STATUS = "declare it with --status-map or --decisions, or let it travel with --carry"


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as a topic can say it, leaving alone what it says there already."""
    if record == current:
        return Fitted(record=record)
    if current is not None and current.role != record.role:
        return Refusal(
            key=record.key,
            field="role",
            reason=f"{current.key} is a {current.role}, and cannot become a {record.role}",
            remedy="give it a row or a bullet of its own, or let it travel with --carry",
        )
    if _is_closed(record):  # a row says that it is done by its status, and stays
        record = fields.replace(record, {"state": None})
    elif isinstance(record, Memory) and record.state == "archived":
        return Refusal(
            key=record.key,
            field="state",
            reason="a topic has no archive: what is in it is live",
            remedy="it travels in the complement",
            travels=True,
        )
    columns = OF_ROLE.get(record.role)
    if columns is not None:
        return _Row(columns, record, current).fitted()
    assert isinstance(record, Memory), "every other role has a table"
    assert current is None or isinstance(current, Memory), "roles are the same"
    return _bullet(record, current)


def _is_closed(record: Record) -> bool:
    """Is this a task whose status says that nothing is left to be done?"""
    status: str | None = getattr(record, "status", None)
    return record.role == "task" and _CORRESPONDS.get(status or "", status) in CLOSED


def _bullet(record: Memory, current: Memory | None) -> Fitted | Refusal:
    supplied: list[Supplied] = []
    if current is not None and record.body == current.body:
        words = current.body.text
    else:
        words = cells.bullet(record.body.text)
        if not words and not record.body.text.strip():
            words = _first_said(record, cells.bullet)
        if not words:
            return Refusal(
                key=record.key,
                field="body",
                reason="a bullet needs a text that can stand as a list item",
                remedy="reword it, or let it travel with --carry",
            )
        if words != record.body.text or record.body.media != _MARKDOWN:
            supplied.append(_supplied(record, "body", words, _why_bullet(record, words)))
    fitted = Memory(key=record.key, body=Body(text=words), extra=extra_of(words))
    return Fitted(record=fitted, supplied=tuple(supplied))


def _first_said(record: Memory, encode: cells.Encoding) -> str:
    """Give the first thing that a record without a text says of itself."""
    said = (record.description, record.title, record.name, record.hook)
    return next((words for text in said if text and (words := encode(text))), "")


def _why_bullet(record: Memory, words: str) -> str:
    if not record.body.text.strip():
        return "a bullet needs a text: the first thing that the record says of itself"
    if words == record.body.text:
        return f"a topic holds Markdown; {record.body.media} stands in it as it is"
    return "a bullet is one item: no blank lines, further lines indented, no open marks"


def _supplied(record: Record, field: str, value: str, reason: str) -> Supplied:
    return Supplied(key=record.key, field=field, value=value, reason=reason)


class _Row:
    """One record on its way into a table; collects what had to be supplied."""

    def __init__(self, columns: Columns, record: Record, current: Record | None) -> None:
        self.columns = columns
        self.record = record
        self.current = current
        self.supplied: list[Supplied] = []

    def fitted(self) -> Fitted | Refusal:
        said: dict[str, str] = {}
        for field in self.columns.fields:
            words = self._cell(field)
            if isinstance(words, Refusal):
                return words
            said[field] = words
        evidence = said.get("evidence", "")
        closed = said.get("status") in CLOSED and self.columns.role == "task"
        if closed and not evidence and not self._closed_before():
            reason = f"what is {said['status']} needs evidence, and nobody stated any"
            self._supply("evidence", UNSAID, reason)
        row = (self.record.key, *(said[field] for field in self.columns.fields))
        record = tables.record_of(self.columns, self.record.key, row)
        return Fitted(record=record, supplied=tuple(self.supplied))

    def _closed_before(self) -> bool:
        """Has the row that stands there been closed without evidence already?"""
        return self.current is not None and (
            tables.value(self.current, "status") in CLOSED
            and tables.value(self.current, "evidence") is None
        )

    def _cell(self, field: str) -> str | Refusal:
        """Give the words of one cell, or say why there are none."""
        given = tables.value(self.record, field)
        if self.current is not None and given == tables.value(self.current, field):
            return given or ""
        if field == "status":
            return self._status(given)
        words = cells.cell(given or "")
        if field in self.columns.optional and words in NOTHING:
            if given is not None:
                reason = "a dash alone, or nothing, is read as nothing here"
                self._supply(field, words, reason)
            return ""
        if not words and field == "body":
            assert isinstance(self.record, Memory), "only memories have a body"
            words = _first_said(self.record, cells.cell)
            if not words:
                return Refusal(
                    key=self.record.key,
                    field="body",
                    reason="an open item says what is to be done, and this one says nothing",
                    remedy="give it a text, or let it travel with --carry",
                )
        if not words and field in self.columns.mandatory:
            reason = f"every {self.columns.role} states it, and nobody has"
            self._supply(field, UNSAID, reason)
            return UNSAID
        self._say_why(field, given, words)
        return words

    def _say_why(self, field: str, given: str | None, words: str) -> None:
        """Name what was encoded or supplied."""
        body = getattr(self.record, "body", None)
        media = body.media if field == "body" and isinstance(body, Body) else _MARKDOWN
        if words == (given or ""):
            if media != _MARKDOWN:
                reason = f"a topic holds Markdown; {media} stands in it as it is"
                self._supply(field, words, reason)
            return
        reason = "a cell is one line without pipes, and nothing can be escaped in it"
        if given is None or not given.strip():
            reason = "an open item needs a text: the first thing that it says of itself"
        self._supply(field, words, reason)

    def _supply(self, field: str, words: str, reason: str) -> None:
        name = "extra" if field == "notes" else field
        self.supplied.append(_supplied(self.record, name, words, reason))

    def _status(self, given: str | None) -> str | Refusal:
        if given is not None and tables.is_status(self.columns, given):
            words = cells.cell(given)
            if words == given:
                return given
        if self.columns.role == "task" and given in _CORRESPONDS:
            words = _CORRESPONDS[given]
            reason = f"{given!r} as this format writes it"
            self._supply("status", words, reason)
            return words
        terms = TASK_STATUSES if self.columns.role == "task" else DECISION_STATUSES
        said = "no status is stated" if given is None else f"{given!r} is no status here"
        return Refusal(
            key=self.record.key,
            field="status",
            reason=f"{said}; {self.columns.path} takes {', '.join(terms)}",
            remedy=WAY_OUT_STATUS,
        )
