"""Take removed records' text out of what interop keeps.

ACTION is prune. A complement goes on repeating a record that was removed, and undo data keeps the
files that were written over. Pruning takes both away: the record's line stays without its text, so
that the next conversion asks about it instead of bringing it back; the files of the store that it
came from are kept without it; nothing that was applied before can be undone. --dry-run says what
would go. What cannot be taken out for certain is refused, and nothing is changed then. The search
indexes go as well, since they repeat the texts of stores; they are made anew when needed.

What a repository, a backup or a sync service has of the files is not touched, nor is a store's copy
elsewhere.

--json prints one object: store, dry_run, and pruned (one line of text for each thing taken out).
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop.bridge import dropping
from interop.cli.text import json_lines, say, tell
from interop.errors import UsageError
from interop.model import Json
from interop.pruning import prune


def run(
    action: Annotated[str, typer.Argument(help="prune.", metavar="ACTION")],
    store: Annotated[str, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="STORE")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show it, change nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> int:
    """Prune what interop keeps of one store."""
    if action != "prune":
        raise UsageError(f"unknown action {action!r}", "`interop complement prune STORE`")
    pruned = prune(store, dry_run=dry_run)
    told = [*pruned.lines]
    if not dry_run:
        told += dropping.drop()
    if as_json:
        lines: list[Json] = [*told]
        json_lines([{"store": store, "dry_run": dry_run, "pruned": lines}])
    else:
        say(*told)
        if not told:
            tell("nothing to take out")
        elif dry_run:
            tell("nothing was changed")
    return 0
