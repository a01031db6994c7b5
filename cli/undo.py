"""Take back the last write into a store.

That is a conversion, or something remembered or forgotten. Every file is put back as it was before.
In a file that was edited since then the edits stay: what was written is taken out from under them,
line by line. Where that clashes (the same lines changed, or a new memory was edited) the file is
named and nothing is taken back. --force puts back what clashes too; that is a write of its own, so
that the next undo gives the edits back.

Again, it takes back the write before. --list says which writes can be taken back, the last one
first. There is no redo: to have it again, convert or remember it again. Undo data is kept for 20
writes (INTEROP_UNDO_WRITES) of 256 MiB together (INTEROP_UNDO_MIB).

--json prints one object: label, time, changes (action and path of each file that is put back),
merged (files in which later edits stay) and forced (files whose later edits went); with --list one
object a line for each write: label, time, files (how many), bytes (that are kept for it).

Exit code 3 when there is nothing to take back, when later edits clash, or when nothing may change
there now (a Memory Compiler topic with an open session).
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import stores
from interop.cli.text import amount, json_lines, say, table, tell
from interop.disk.undo import Applied, Undone
from interop.errors import UsageError
from interop.model import Json
from interop.undoing import history, undo


def run(
    store: Annotated[str, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="STORE")],
    listing: Annotated[bool, typer.Option("--list", help="Only list what can be undone.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show it, change nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Put back what was edited since and clashes, too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> int:
    """Take the last write back, or list what can be."""
    if stores.is_stream(store):
        raise UsageError("what went to stdout cannot be taken back", "name a store")
    root = stores.root_of(store)
    if listing:
        _list(history(root), as_json)
        return 0
    undone = undo(root, stores.parse(store)[0], dry_run=dry_run, force=force)
    if as_json:
        json_lines([_object(undone)])
    else:
        say(*(f"{c.action} {c.path}" for c in undone.changes))
        tell(*(f"{path}: edited since; the edits stay" for path in undone.merged))
        tell(*(f"{path}: edited since; undo again gives the edits back" for path in undone.forced))
        verb = "would be put back" if dry_run else "put back"
        tell(f"{undone.label}: {amount(len(undone.changes), 'file')} {verb}")
    return 0


def _object(undone: Undone) -> dict[str, Json]:
    changes: list[Json] = [{"action": c.action, "path": c.path} for c in undone.changes]
    return {
        "label": undone.label,
        "time": undone.time,
        "changes": changes,
        "merged": list(undone.merged),
        "forced": list(undone.forced),
    }


def _list(applied: list[Applied], as_json: bool) -> None:
    if as_json:
        json_lines(
            {"label": a.label, "time": a.time, "files": a.files, "bytes": a.size} for a in applied
        )
    else:
        rows = [[a.time, f"{a.files:,}", f"{a.size:,}", a.label] for a in applied]
        say(*table(["when", "files", "bytes kept", "what"], rows))
