"""The records of a store, as the canonical model says them.

Without KEY one row a record; with KEY that record in full. Where the store has a complement (it
came from another format), what that keeps is shown too. Control characters are shown as escapes.

--json prints one object a line for each record, as docs/record.schema.json describes it, then one
for each problem: path, problem.

Exit code 4, after everything is printed, when a file that was meant as a record cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import typer

from interop import fields, stores
from interop.cli.text import amount, json_lines, say, short, table, tell
from interop.errors import FormatError, UsageError
from interop.model import Problem, Record

WORDS = 60
"""Columns of a record's own words in the table."""


def run(
    store: Annotated[str, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="STORE")],
    key: Annotated[str | None, typer.Argument(help="Only this record.", metavar="[KEY]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a record.")] = False,
) -> int:
    """Print the records, then the problems."""
    opened = stores.open_store(store)
    said = opened.restored.store
    records = said.records if key is None else _named(said.records, key)
    problems = [p for p in said.problems if key is None]
    if as_json:
        json_lines(map(fields.to_json, records))
        json_lines({"path": p.path, "problem": p.problem} for p in problems)
    else:
        if key is None:
            say(*table(["key", "kind", "name", "says"], map(_row, records)))
        else:
            for record in records:
                say(*_in_full(record))
        tell(f"{opened.label}: {amount(len(records), 'record')}", *map(_problem, problems))
    return FormatError.exit_code if any(p.unread for p in problems) else 0


def _named(records: Sequence[Record], key: str) -> list[Record]:
    found = [record for record in records if record.key == key]
    if not found:
        raise UsageError(f"no record {key!r} in the store", "`interop show STORE` lists the keys")
    return found


def _row(record: Record) -> list[str]:
    name = fields.get(record, "name") or fields.get(record, "title") or ""
    return [record.key, _kind(record), short(name, 32), short(_words(record), WORDS)]


def _kind(record: Record) -> str:
    """Give the role of what is no memory, the declared kinds, and whether it is archived."""
    kinds: Mapping[str, str] = fields.get(record, "kinds") or {}
    parts = list(kinds.values())
    if record.role != "memory":
        parts.insert(0, record.role)
    if fields.get(record, "state") == "archived":
        parts.append("(archived)")
    return " ".join(parts) or "-"


def _words(record: Record) -> str:
    """Give the first words that a record says of itself."""
    for field in ("description", "hook", "decision", "rejected"):
        value = fields.get(record, field)
        if value is not None:
            return str(value)
    body = fields.get(record, "body")
    return "" if body is None else str(body.text)


def _in_full(record: Record) -> Iterator[str]:
    """Give every stated field on a line, the body below."""
    yield f"key: {record.key}"
    for field, value in fields.stated(record).items():
        if field == "body":
            continue
        data = fields.value_to_json(value)
        text = data if isinstance(data, str) else fields.dumps(data).decode()
        yield f"{field}: {text}"
    body = fields.get(record, "body")
    if body is not None:
        yield f"body ({body.media}):"
        for line in body.text.split("\n"):
            yield "    " + line


def _problem(problem: Problem) -> str:
    return f"{problem.path}: {problem.problem}"
