"""What the checker rejects in a table, drops from it, or does not see.

Spec: docs/formats/memory-compiler.md, "What lint looks for".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from interop.adapter import Finding
from interop.adapters.memory_compiler import tables
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import (
    CLOSED,
    LATER_STATUS,
    TABLES,
    Columns,
)
from interop.model import Decision, Record
from interop.syntax import pipe_tables
from interop.syntax.pipe_tables import BREAKS, Row

Severity: TypeAlias = Literal["error", "warning", "note"]
TOO_SHORT = 12
"""Characters that a rejected value needs before the checker looks for it."""
_BREAK = re.compile(f"[{re.escape(BREAKS.replace(chr(10), '').replace(chr(13), ''))}]|\r(?!\n)")


def lint(file: TableFile, version: int) -> Iterator[Finding]:
    """Yield what is wrong in a table file, from top to bottom."""
    yield from _header(file)
    yield from _hidden(file)
    for row in (row for table in file.scan.tables for row in table.rows):
        yield from _shape(file, row)
    seen: set[str] = set()
    for key, record in file.records.items():
        row = file.rows[key]
        name = pipe_tables.values(file.text, row)[0]
        if name in seen:
            yield _finding(file, row, "MC105", "error", f"the id {name} is used twice",
                           "give the later row an id of its own")  # fmt: skip
        seen.add(name)
        yield from _values(file, record, row, name)
        yield from _status(file, record, row, version)
        if isinstance(record, Decision):
            yield from _supersedes(file, record, row, seen)
    for row in file.scan.dashes:
        yield _finding(file, row, "MC112", "note", "a row of dashes is taken for an alignment row",
                       "if it was meant as a row, say something in it")  # fmt: skip


def foreign(path: str, text: str) -> Iterator[Finding]:
    """Yield a table of another file of the topic."""
    for columns in TABLES.values():
        if columns.path != path and pipe_tables.scan(text, tables.is_header(columns)).tables:
            yield Finding(
                code="MC117",
                severity="warning",
                path=path,
                problem=f"a table of {columns.path} stands in this file, where nobody looks for it",
                remedy=f"move its rows to {columns.path}",
            )


def width(path: str, text: str) -> Iterator[Finding]:
    """Yield rows of the first table that are not as wide as its header, as the checker counts."""
    seen = pipe_tables.first_table(text)
    for start, cells in seen.rows if seen is not None else ():
        if seen is not None and len(cells) != len(seen.header):
            yield Finding(
                code="MC103",
                severity="error",
                path=f"{path}:{text.count(chr(10), 0, start) + 1}",
                problem=f"{len(cells)} cells below a header of {len(seen.header)}: "
                "the checker takes the file for cut off",
                remedy="write &#124; for a pipe inside a cell, and `|  |` for an empty one",
            )


def _finding(
    file: TableFile, row: Row, code: str, severity: Severity, problem: str, remedy: str
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        path=f"{file.columns.path}:{file.line_of(row)}",
        problem=problem,
        remedy=remedy,
    )


def _header(file: TableFile) -> Iterator[Finding]:
    """Compare what the checker takes for the table with the header that it wants."""
    columns, seen = file.columns, file.seen
    second = file.scan.tables and all(
        pipe_tables.values(file.text, t.header) != columns.headers[0] for t in file.scan.tables
    )
    wanted = " | ".join(columns.headers[-1 if second else 0])
    if not file.is_seen and (seen is not None or file.text.strip()):
        first = f"the first table is {' | '.join(seen.header)!r}" if seen else "there is no table"
        yield Finding(
            code="MC101",
            severity="error" if file.scan.tables or seen is None else "warning",
            path=columns.path,
            problem=f"the checker does not see this table: {tables.why_unseen(file)}"
            if file.scan.tables
            else f"{first}, and the checker wants another one",
            remedy=f"let the first table begin with {wanted!r}, after a line of text",
        )
    headers = [*(t.header for t in file.scan.tables)]
    for row in headers[1:]:
        yield _finding(
            file, row, "MC116", "note", "the header is repeated", "keep one table in the file"
        )


def _hidden(file: TableFile) -> Iterator[Finding]:
    """Name the rows that a person wrote and the checker does not see."""
    shown = {start for start, _ in file.seen.rows} if file.seen is not None else set[int]()
    hidden = [row for table in file.scan.tables for row in table.rows if row.start not in shown]
    if hidden:
        names = [pipe_tables.values(file.text, row)[0] or "(no id)" for row in hidden]
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        yield _finding(
            file, hidden[0], "MC102", "warning",
            f"the checker does not see {', '.join(names[:5])}{more}: the first table of the file "
            "ends, or never begins, above",
            "let every row follow the one above without a blank line, comment or open end",
        )  # fmt: skip


def _shape(file: TableFile, row: Row) -> Iterator[Finding]:
    cells = pipe_tables.values(file.text, row)
    wanted = len(file.columns.headers[0])
    name = cells[0] or "a row without an id"
    if len(cells) != wanted:
        yield _finding(
            file, row, "MC103", "error", f"{name} has {len(cells)} cells, not {wanted}",
            "write &#124; for a pipe inside a cell, and `|  |` for an empty one",
        )  # fmt: skip
    elif not cells[0]:
        yield _finding(file, row, "MC104", "error", name, "give it the next id")
    if not (row.opened and row.closed):
        yield _finding(
            file, row, "MC109", "error", f"{name}: does not begin and end in a pipe, and ends the "
            "table there", "close the row with ` |`",
        )  # fmt: skip
    elif len(cells) == wanted and (
        row.cells[-1].outer_start == row.cells[-1].outer_end
        or row.cells[0].outer_start == row.cells[0].outer_end
    ):
        yield _finding(
            file, row, "MC113", "error", f"{name}: the checker eats an empty cell without a blank "
            "at the edge", "write it as `|  |`",
        )  # fmt: skip
    if _BREAK.search(file.text, row.start, row.end):
        yield _finding(
            file, row, "MC111", "error", f"{name}: holds a character that ends the line for the "
            "checker (such as U+2028)", "replace it by a blank or <br>",
        )  # fmt: skip


def _values(file: TableFile, record: Record, row: Row, name: str) -> Iterator[Finding]:
    cells = dict(zip(file.columns.fields, pipe_tables.values(file.text, row)[1:], strict=True))
    titles = dict(zip(file.columns.fields, file.columns.headers[0][1:], strict=True))
    needed = {field for field in file.columns.mandatory if not cells[field]}
    if record.role == "task" and getattr(record, "status", None) in CLOSED:
        needed |= {field for field in ("evidence",) if not cells[field]}
    if needed:
        empty = ", ".join(titles[field] for field in file.columns.fields if field in needed)
        yield _finding(
            file, row, "MC107", "error", f"{name}: {empty} must not be empty",
            "write — where nothing is known",
        )  # fmt: skip
    if record.role == "tombstone":
        value = rejected(record)
        if len(value) < TOO_SHORT and any(map(str.isalnum, value)):
            yield _finding(
                file, row, "MC121", "note", f"{name}: {value!r} has fewer than {TOO_SHORT} "
                "characters, so the checker never looks for it",
                "nothing; `interop lint` compares short values too",
            )  # fmt: skip


def rejected(record: Record) -> str:
    """Give a tombstone's value as the checker compares it: without the marks around it."""
    value: str | None = getattr(record, "rejected", None)
    return (value or "").strip().strip('`"')


def _status(file: TableFile, record: Record, row: Row, version: int) -> Iterator[Finding]:
    columns: Columns = file.columns
    status: str | None = getattr(record, "status", None)
    if columns.role == "tombstone":
        return
    if not tables.is_status(columns, status):
        yield _finding(
            file, row, "MC106", "error", f"the status {status or ''!r} is not in the vocabulary",
            "statuses are case-sensitive: " + ("OPEN, BLOCKED, DONE, DROPPED"
            if columns.role == "task" else "Active, Superseded"),
        )  # fmt: skip
    elif status is not None and columns.role == "decision" and LATER_STATUS.fullmatch(status):
        yield _finding(
            file, row, "MC115", "note", f"the status {status!r} is one of the second version; "
            "the checker of the first rejects it",
            "nothing, if the topic is not checked by the first",
        )  # fmt: skip


def _supersedes(file: TableFile, record: Decision, row: Row, above: set[str]) -> Iterator[Finding]:
    target = record.supersedes
    if target and target not in above:
        why = "stands further below" if target in file.ids else "is no id of this file"
        yield _finding(
            file, row, "MC108", "error", f"supersedes {target!r}, which {why}",
            "name exactly one id that stands above, or write —",
        )  # fmt: skip
