"""Write stores into a SQLite database for searching.

The database opens in any SQLite browser and in Datasette; docs/export.md has its tables and example
queries. Many stores fit into one: a store that is exported again replaces its own rows, all in one
transaction. It is one-way, and holds everything that the stores say: keep it as private as them.

A snapshot that comes from stdin is known by the store it was taken of, not by a place.

--forget takes a store out that was exported earlier and may be gone by now: FORMAT:PATH, or its
place as the table stores has it.

--json prints one object a line for each store: store, action (added, replaced, unchanged,
forgotten), records.

Exit code 4, after everything is exported, when a file that was meant as a record cannot be read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from interop import stores
from interop.cli.text import amount, json_lines, say, tell
from interop.errors import FormatError, UsageError
from interop.export import export, forget


def run(
    sqlite: Annotated[
        Path, typer.Option("--sqlite", help="The database to make or update.", metavar="FILE")
    ],
    store: Annotated[
        list[str] | None, typer.Argument(help="The stores: PATH or FORMAT:PATH.", metavar="STORE…")
    ] = None,
    gone: Annotated[
        list[str] | None,
        typer.Option(
            "--forget", metavar="STORE", help="Take this one out instead (may be repeated)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a store.")] = False,
) -> int:
    """Export the stores, then say what could not be read."""
    if bool(store) == bool(gone):
        raise UsageError("name the stores to export, or those to --forget", "one of both")
    opened = [stores.open_store(spec) for spec in store or ()]
    done = forget([*map(_place, gone)], sqlite) if gone else export(opened, sqlite)
    if as_json:
        json_lines({"store": e.store, "action": e.action, "records": e.records} for e in done)
    else:
        say(*(f"{e.action} {e.store}: {amount(e.records, 'record')}" for e in done))
    problems = [(one.label, p) for one in opened for p in one.restored.store.problems]
    tell(*(f"{label}: {p.path}: {p.problem}" for label, p in problems))
    return FormatError.exit_code if any(p.unread for _, p in problems) else 0


def _place(said: str) -> str:
    """Give the place that the database has for a store, which need not be there any more."""
    name, path = stores.parse(said)
    if name is None or not path or path.startswith("-"):
        return said
    return f"{name}:{os.path.realpath(Path(path).expanduser())}"
