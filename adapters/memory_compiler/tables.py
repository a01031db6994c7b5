"""One table file: its rows as records, and what is no record although somebody meant one.

    | T-001 | Opening day | 2026-06-13 | D-002 | 2026-05-11 | ramp is late | mail of 11-May |

Everything that a person wrote counts, also what the checker overlooks.
Spec: docs/formats/memory-compiler.md, "The tables".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from interop.adapter import repeat_key
from interop.adapters.memory_compiler.topic import (
    DECISION_STATUSES,
    FORMAT,
    LATER_STATUS,
    NOTHING,
    TASK_STATUSES,
    Columns,
)
from interop.model import Body, Decision, Json, Problem, Record, Task, Tombstone
from interop.syntax import pipe_tables
from interop.syntax.pipe_tables import Row, Scan, Seen


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table file, read."""

    columns: Columns
    text: str
    scan: Scan
    seen: Seen | None
    """What the checker takes for the table."""
    rows: Mapping[str, Row]
    """Key of a record -> its row."""
    records: Mapping[str, Record]
    problems: tuple[Problem, ...]
    ids: tuple[str, ...]
    """Every id in the file, in order, of rows that are no records too."""

    @property
    def is_seen(self) -> bool:
        """Does the checker take one of these tables for the table?"""
        starts = (pipe_tables.line_start(self.text, t.header) for t in self.scan.tables)
        return self.seen is not None and self.seen.start in set(starts) and self._has_header()

    def _has_header(self) -> bool:
        return self.seen is not None and self.seen.header in self.columns.headers

    @property
    def version(self) -> int:
        """Say which version wrote it: the second calls a column ``Claim``, and has own statuses."""
        headers = self.columns.headers
        if any(pipe_tables.values(self.text, t.header) in headers[1:] for t in self.scan.tables):
            return 2
        said = (r.status for r in self.records.values() if isinstance(r, Decision))
        return 2 if any(LATER_STATUS.fullmatch(s) for s in said if s) else 1

    def line_of(self, row: Row) -> int:
        """Give the number of a row's line, from 1."""
        return self.text.count("\n", 0, row.start) + 1

    def prose(self) -> str:
        """Give what is no record: headings, headers, prose, rows that are none."""
        out: list[str] = []
        at = 0
        for row in sorted(self.rows.values()):
            out.append(self.text[at : row.start])
            at = row.stop
        return "".join([*out, self.text[at:]])


def is_header(columns: Columns) -> Callable[[tuple[str, ...]], bool]:
    """Say which header cells are those of a kind of table: the very ones."""
    return columns.headers.__contains__


def read(columns: Columns, text: str) -> TableFile:
    """Read a table file."""
    scan = pipe_tables.scan(text, is_header(columns))
    rows: dict[str, Row] = {}
    records: dict[str, Record] = {}
    problems: list[Problem] = []
    ids: list[str] = []
    for row in (row for table in scan.tables for row in table.rows):
        cells = pipe_tables.values(text, row)
        width, name = len(columns.headers[0]), cells[0]
        if name:
            ids.append(name)
        if len(cells) != width:
            said = f"{len(cells)} cells instead of {width}, so it is no record"
        elif not name:
            said = "a row without an id, so it is no record"
        else:
            key = repeat_key(f"{columns.path}#{name}", records)
            if key != f"{columns.path}#{name}":
                problems.append(Problem(path=columns.path, problem=f"{name}: id used twice"))
            rows[key] = row
            records[key] = record_of(columns, key, cells)
            continue
        where = f"{name}: " if name else f"line {text.count(chr(10), 0, row.start) + 1}: "
        problems.append(Problem(path=columns.path, problem=where + said, unread=True))
    seen = pipe_tables.first_table(text)
    file = TableFile(columns, text, scan, seen, rows, records, (), tuple(ids))
    found = (*problems, *_statements(file), *_overlooked(file))
    return TableFile(columns, text, scan, seen, rows, records, found, tuple(ids))


def record_of(columns: Columns, key: str, cells: tuple[str, ...]) -> Record:
    """Make the record that the cells of a row state."""
    said: dict[str, str | None] = {}
    for field, cell in zip(columns.fields, cells[1:], strict=True):
        empty = cell in NOTHING if field in columns.optional else not cell
        said[field] = None if empty else cell
    if columns.role == "decision":
        return Decision(key=key, **said)  # type: ignore[arg-type]  # every field is text
    if columns.role == "tombstone":
        return Tombstone(key=key, **said)  # type: ignore[arg-type]  # every field is text
    notes = said["notes"]
    extra: dict[str, Json] = {FORMAT: {"notes": notes}} if notes is not None else {}
    return Task(
        key=key,
        body=Body(text=said["body"] or ""),
        status=said["status"],
        opened=said["opened"],
        evidence=said["evidence"],
        extra=extra,
    )


def value(record: Record, field: str) -> str | None:
    """Give what a record says for one cell."""
    if field == "body":
        body: Body = getattr(record, "body", Body(text=""))
        return body.text or None
    if field == "notes":
        own = record.extra.get(FORMAT)
        notes = own.get("notes") if isinstance(own, dict) else None
        return notes if isinstance(notes, str) else None
    said: str | None = getattr(record, field, None)
    return said


def _statements(file: TableFile) -> Iterator[Problem]:
    """Name what the checker rejects in a row that is a record all the same."""
    earlier: set[str] = set()
    known = set(file.ids)
    for key, record in file.records.items():
        name = pipe_tables.values(file.text, file.rows[key])[0]
        earlier.add(name)
        wrong: list[str] = []
        status = getattr(record, "status", None)
        if file.columns.role != "tombstone" and not is_status(file.columns, status):
            wrong.append(f"status {status or ''!r} is not in the vocabulary")
        target = getattr(record, "supersedes", None)
        if target and target not in earlier:
            where = "stands further below" if target in known else "is unknown"
            wrong.append(f"supersedes {target!r}, which {where}")
        if wrong:
            yield Problem(path=file.columns.path, problem=f"{name}: {'; '.join(wrong)}")


def is_status(columns: Columns, status: str | None) -> bool:
    """Is this a status of one of the two versions?"""
    if columns.role == "task":
        return status in TASK_STATUSES
    return status in DECISION_STATUSES or (
        status is not None and LATER_STATUS.fullmatch(status) is not None
    )


def _overlooked(file: TableFile) -> Iterator[Problem]:
    """Name what looks like the table and is none, and what the checker takes for it instead."""
    path = file.columns.path
    alike = {tuple(_folded(c) for c in header) for header in file.columns.headers}
    for row in file.scan.loose:
        if tuple(map(_folded, pipe_tables.values(file.text, row))) in alike:
            words = " | ".join(file.columns.headers[0])
            yield Problem(
                path=path,
                problem=f"line {file.line_of(row)}: the header is not exactly {words!r}, "
                "so its rows are no records",
                unread=True,
            )
    if file.scan.tables and not file.is_seen:
        yield Problem(path=path, problem=f"the checker does not see this table: {why_unseen(file)}")


def why_unseen(file: TableFile) -> str:
    """Say what hides the table from the checker."""
    if file.text.startswith("\ufeff") and file.scan.tables[0].header.start == 1:
        return "a byte order mark hides its header"
    if file.seen is None or file.seen.start > file.scan.tables[0].header.start:
        return "its header does not begin and end in a pipe"
    return "another one stands before it"


def _folded(cell: str) -> str:
    return "".join(cell.casefold().split())
