"""Prove on stores that nothing of them gets lost.

Each law is tried on the store's own bytes, in memory; nothing is written. GetPut: read and written
back, every byte is the same. PutGet: rebuilt from nothing, what is written is what is read. Minimal
edit: each field that the format holds is edited in a sample of records (--sample, --all), and only
the lines that state it change. Through another format and back: every byte and field is the same
again, and no kind or status that had to be declared on the way leaves a trace.

One table: laws, by stores where there are several; below it the first difference of each law that
does not hold. Exit code 1 when there is one; docs/check.md says more.

--json prints one object a line for each law of each store: store, law, ok, records, and where they
are not none: edits, refused, declared, difference, note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from interop import check, registry, stores
from interop.check import SAMPLE, Law, Report
from interop.cli.progress import progress
from interop.cli.text import amount, json_lines, say, table, tell
from interop.errors import FormatError, UsageError
from interop.model import Json


def run(
    store: Annotated[
        list[str],
        typer.Argument(
            help="The stores: PATH or FORMAT:PATH.", metavar="STORE...", show_default=False
        ),
    ],
    via: Annotated[
        list[str] | None,
        typer.Option("--via", help="Only through this format (may be repeated).", metavar="FORMAT"),
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", help="How many records are edited.", metavar="N", min=1)
    ] = SAMPLE,
    every: Annotated[bool, typer.Option("--all", help="Edit every record.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a law.")] = False,
) -> int:
    """Print whether each law holds."""
    for name in via or ():
        if name not in registry.names():
            raise UsageError(
                f"--via {name}: no such format", f"one of {', '.join(registry.names())}"
            )
    reports: list[Report] = []
    unreadable: list[FormatError] = []
    with progress("checking") as step:
        for spec in store:
            try:
                opened = stores.open_store(spec)
                reports.append(
                    check.check(opened, via or None, step, sample=None if every else sample)
                )
            except FormatError as error:
                unreadable.append(error)  # one that cannot be read does not hide the others
    if as_json:
        json_lines(_object(report.store, law) for report in reports for law in report.laws)
        tell(*(f"{report.store}: {said}" for report in reports for said in report.unread))
    elif reports:
        _show(reports)
    if unreadable:
        raise ExceptionGroup("stores that cannot be read", unreadable)
    return 0 if all(report.ok for report in reports) else 1


def _show(reports: Sequence[Report]) -> None:
    if len(reports) == 1:
        rows = [[x.law, _result(x), amount(x.records, "record")] for x in reports[0].laws]
        say(*table(["law", "result", "tried on"], rows))
    else:
        by_law = [{law.law: law for law in report.laws} for report in reports]
        names = list(dict.fromkeys(name for laws in by_law for name in laws))
        rows = [[name, *(_result(laws.get(name)) for laws in by_law)] for name in names]
        say(*table(["law", *(report.store for report in reports)], rows))
    for report in reports:
        head = f"{report.store}: " if len(reports) > 1 else ""
        for law in report.laws:
            edits = amount(law.edits, "edit") if law.edits else ""
            told = "; ".join(filter(None, (edits, law.note)))
            say(*(f"{head}{law.law}: {line}" for line in (law.difference, told) if line))
    for report in reports:
        tell(
            *(
                f"{report.store}: {said}; no record, so only its bytes count"
                for said in report.unread
            )
        )
        tell(f"{report.store}: " + ("nothing gets lost" if report.ok else "not safe"))


def _result(law: Law | None) -> str:
    if law is None:
        return "-"
    return "holds" if law.ok else "BROKEN"


def _object(store: str, law: Law) -> dict[str, Json]:
    out: dict[str, Json] = {"store": store, "law": law.law, "ok": law.ok, "records": law.records}
    numbers: dict[str, Json] = {
        "edits": law.edits,
        "refused": law.refused,
        "declared": law.declared,
        "difference": law.difference,
        "note": law.note,
    }
    return {**out, **{name: value for name, value in numbers.items() if value}}
