"""Prove on a store that nothing of it gets lost.

Each law is tried on the store's own bytes, in memory; nothing is written. GetPut: read and written
back, every byte is the same. PutGet: what is written is what is read. Minimal edit: changing one
field changes only what states it. Through another format and back: every byte is the same again.
Exit code 1 when a law does not hold, with the first difference.

--json prints one object a line for each law: law, ok, records, and where there is one
difference and note.
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import check, stores
from interop.check import Law
from interop.cli.progress import progress
from interop.cli.text import amount, json_lines, say, table, tell
from interop.model import Json


def run(
    store: Annotated[str, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="STORE")],
    via: Annotated[
        list[str] | None,
        typer.Option("--via", help="Only through this format (may be repeated).", metavar="FORMAT"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a law.")] = False,
) -> int:
    """Print whether each law holds."""
    opened = stores.open_store(store)
    with progress("checking") as step:
        report = check.check(opened, via or None, step)
    if as_json:
        json_lines(map(_object, report.laws))
    else:
        rows = [
            [law.law, "holds" if law.ok else "BROKEN", amount(law.records, "record")]
            for law in report.laws
        ]
        say(*table(["law", "result", "tried on"], rows))
        for law in report.laws:
            say(*(f"{law.law}: {line}" for line in (law.difference, law.note) if line))
        tell(f"{opened.label}: " + ("nothing gets lost" if report.ok else "not safe"))
    return 0 if report.ok else 1


def _object(law: Law) -> dict[str, Json]:
    out: dict[str, Json] = {"law": law.law, "ok": law.ok, "records": law.records}
    if law.difference:
        out["difference"] = law.difference
    if law.note:
        out["note"] = law.note
    return out
