"""Forget a record, as gently as its store's format can.

The one store that is written forgets it: by archiving it where the format archives. Where it has
tombstones the record is rejected: a bullet is taken out, and --rejected says which of its values
was wrong; a row of a table stays, and the tombstone cites it. Where a format has neither, the
record is removed, which --yes agrees to and `interop undo` takes back. Other stores that say the
same are named, and left as they are.

KEY is a key, or STORE:KEY, as `interop recall` shows it. Where several records have the key, the
one of the store that is written is meant, and the others are named. --rejected and --replacement
are for a tombstone: where the record is archived or removed they are an error.

--purge removes the record, and its text from the complement, the undo data and the search indexes:
nothing brings it back. It needs --yes.

--json prints one object: key, store, place, how (archived, tombstoned, removed), to (key of what
stands now, or null), already, elsewhere, supplied, purged, notes, commands, problems.

Exit code 3 when it is refused: a removal without --yes, a tombstone without a rejected value, a
key that means several records of other stores, or a record of a store that is only read. Nothing
was written then.
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import configured
from interop.bridge import Forgotten
from interop.cli.text import json_lines, say, tell
from interop.host import HostOptions


def run(
    key: Annotated[str, typer.Argument(help="The record: KEY or STORE:KEY.", metavar="KEY")],
    reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="Why; it is kept.")],
    rejected: Annotated[
        str | None,
        typer.Option("--rejected", metavar="VALUE", help="The wrong value, for the tombstone."),
    ] = None,
    replacement: Annotated[
        str | None,
        typer.Option("--replacement", metavar="VALUE", help="What stands in its place."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to a removal.")] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove its text everywhere; cannot be undone.")
    ] = False,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="STORE", help="A store to look in (may be repeated)."),
    ] = None,
    write: Annotated[
        str | None, typer.Option("--write", metavar="STORE", help="The store to write.")
    ] = None,
    no_commit: Annotated[
        bool,
        typer.Option(
            "--no-commit", help="In a store that lives in git: leave the commit to yourself."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> int:
    """Let it be forgotten, and say how."""
    bridge = configured.bridge(read=read or (), write=write)
    done = bridge.forget(
        key,
        reason,
        rejected=rejected,
        replacement=replacement,
        yes=yes,
        purge=purge,
        host=HostOptions(commit=not no_commit),
    )
    if as_json:
        json_lines([done.to_json()])
    else:
        say(_sentence(done))
        tell(*map(str, done.supplied))
        tell(*done.purged, *done.notes)
        tell(*(f"to commit it: {command}" for command in done.commands))
        tell(*(f"still said in {source.store}:{source.key}" for source in done.elsewhere))
    tell(*map(str, done.problems))
    return 0


def _sentence(done: Forgotten) -> str:
    where = f"{done.store}:{done.key}"
    stands = f", now {done.to}" if done.to is not None and done.to != done.key else ""
    return f"{done.how}{' already' if done.already else ''}: {where}{stands}"
