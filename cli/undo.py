"""Take back the last conversion into a store.

Every file is put back as it was before. A file that somebody changed since then stands in the way:
it is named, and nothing is taken back. --list says which conversions can be taken back, the last
one first.

--json prints one object: label, time, and changes (action and path of each file that is put back);
with --list one object a line for each conversion: label, time, files (how many).
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import stores
from interop.cli.text import amount, json_lines, say, table, tell
from interop.disk import Applied
from interop.errors import UsageError
from interop.model import Json
from interop.undoing import history, undo


def run(
    store: Annotated[str, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="STORE")],
    listing: Annotated[bool, typer.Option("--list", help="Only list what can be undone.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show it, change nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> int:
    """Take the last conversion back, or list what can be."""
    if stores.is_stream(store):
        raise UsageError("what went to stdout cannot be taken back", "name a store")
    root = stores.root_of(store)
    if listing:
        _list(history(root), as_json)
        return 0
    undone = undo(root, dry_run=dry_run)
    if as_json:
        changes: list[Json] = [{"action": c.action, "path": c.path} for c in undone.changes]
        json_lines([{"label": undone.label, "time": undone.time, "changes": changes}])
    else:
        say(*(f"{c.action} {c.path}" for c in undone.changes))
        verb = "would be put back" if dry_run else "put back"
        tell(f"{undone.label}: {amount(len(undone.changes), 'file')} {verb}")
    return 0


def _list(applied: list[Applied], as_json: bool) -> None:
    if as_json:
        json_lines({"label": a.label, "time": a.time, "files": a.files} for a in applied)
    else:
        rows = [[a.time, f"{a.files:,}", a.label] for a in applied]
        say(*table(["when", "files", "what"], rows))
