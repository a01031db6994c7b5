"""Write one store's memory into another.

The plan is printed first: what happens to each record, what had to be supplied, what the
destination has no place for (it travels in the complement, beside the store) and what a person has
to decide. --dry-run stops there. Nothing is written while a record is refused or in conflict; the
way out is printed with each.

A kind is never guessed. Where the destination demands one that nobody declared, declare it:
--kind-map untyped=project for all without a kind, note=reference for a foreign term, or record by
record in a decisions file, which --dry-run --decisions FILE writes for you to fill in.

A destination whose name ends in .jsonl is made a snapshot: one file with everything in it. "-" is
a snapshot too, read from stdin as the source, written to stdout as the destination; the plan is
then printed to stderr, and there is nothing to undo.

Secrets that would enter a store in a git repository or a sync folder are named, with their values
masked; --secrets refuse writes nothing then (exit code 3), --secrets allow does not look.

Exit code 3 when somebody has to decide first, 1 when something is pending (the source removed it;
--delete removes it here too), else 0.

--json prints one object, also when it is refused: source, destination, written (true or false),
outcomes (action, key, to, fields, reason, remedy), changes (action, path), laid_out, notes, lost,
secrets, template. changes are the files that are written, or would be without --dry-run: none
while somebody has to decide, or where a loss or a secret is refused. laid_out are the paths that a
store in git gets around its files where there is no repository yet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from interop import convert, decisions, kinds, settled, stores
from interop.choices import Choices
from interop.cli.plan_text import as_object, explain
from interop.cli.progress import progress
from interop.cli.text import amount, json_lines, policy_of, say, tell
from interop.errors import RefusedError, UsageError
from interop.host import HostOptions
from interop.model import Json
from interop.plan import Plan
from interop.stores import Opened

DRY = "a dry run: nothing was written"


def run(
    source: Annotated[str, typer.Argument(help="The store to read.", metavar="SRC")],
    destination: Annotated[
        str,
        typer.Argument(help="The store to write; FORMAT:PATH where none is yet.", metavar="DST"),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan, write nothing.")
    ] = False,
    kind_map: Annotated[
        str,
        typer.Option(
            help="Kinds you declare: a term, VOCABULARY:term, role:decision or untyped = a term.",
            metavar="L=T,…",
        ),
    ] = "",
    status_map: Annotated[
        str,
        typer.Option(
            help="Statuses you declare to mean the same, of a task or a decision.",
            metavar="L=S,…",
        ),
    ] = "",
    decisions_file: Annotated[
        Path | None,
        typer.Option(
            "--decisions",
            help="What you decided, record by record (YAML); --dry-run writes what is undecided.",
            metavar="FILE",
        ),
    ] = None,
    carry: Annotated[
        bool,
        typer.Option("--carry", help="Records that cannot stand travel in the complement."),
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Remove what was removed in the source.")
    ] = False,
    skip_refused: Annotated[
        bool,
        typer.Option("--skip-refused", help="Write the rest when records are refused."),
    ] = False,
    override: Annotated[
        bool,
        typer.Option("--override", help="Let --kind-map change kinds that the destination takes."),
    ] = False,
    no_complement: Annotated[
        bool,
        typer.Option("--no-complement", help="Keep nothing beside the store (a loss)."),
    ] = False,
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Accept the losses that are listed.")
    ] = False,
    accept_stale: Annotated[
        bool,
        typer.Option("--accept-stale", help="Go on with a store that is older than expected."),
    ] = False,
    no_commit: Annotated[
        bool,
        typer.Option(
            "--no-commit", help="In a store that lives in git: leave the commit to yourself."
        ),
    ] = False,
    tombstones: Annotated[
        list[str] | None,
        typer.Option(
            help="A further store whose tombstones count (may be repeated).", metavar="STORE"
        ),
    ] = None,
    allow_tombstoned: Annotated[
        list[str] | None,
        typer.Option(
            help="A record that may state a rejected value (may be repeated).", metavar="KEY"
        ),
    ] = None,
    complement: Annotated[
        str | None,
        typer.Option(
            help="In a store that lives in git: keep it in git, or ignore it there; without it,"
            " as before.",
            metavar="keep|ignore",
        ),
    ] = None,
    secrets: Annotated[
        str | None,
        typer.Option(
            help="Secrets on their way into a store in git or in a sync folder; set by"
            " convert.secrets in the settings, else warn.",
            metavar="warn|refuse|allow",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The plan as one JSON object.")] = False,
) -> int:
    """Print the plan, and carry it out."""
    decided = (
        decisions.load(decisions_file)
        if decisions_file is not None and (decisions_file.exists() or not dry_run)
        else {}
    )
    if as_json and stores.is_stream(destination):
        raise UsageError("--json and - both write to stdout", "leave one of them out")
    if complement not in (None, "keep", "ignore"):
        raise UsageError(f"--complement: {complement!r} is neither keep nor ignore")
    said = policy_of(secrets)
    choices = Choices(
        kind_map=kinds.parse_kind_map(kind_map),
        status_map=kinds.parse_status_map(status_map),
        decisions=decided,
        carry=carry,
        delete=delete,
        skip_refused=skip_refused,
        override=override,
        complement=not no_complement,
        allow_loss=allow_loss,
        accept_stale=accept_stale,
        tombstones=tuple(stores.open_store(spec) for spec in tombstones or ()),
        allow_tombstoned=frozenset(allow_tombstoned or ()),
        secrets=said,
        host=HostOptions(
            commit=not no_commit,
            complement_in_git=None if complement is None else complement == "keep",
        ),
    )
    with progress("planning"):
        nothing = settled.plan(source, destination, choices)
        if nothing is not None:
            return _say_nothing(nothing, as_json=as_json, dry_run=dry_run)
        here = stores.open_store(source)
        if stores.is_stream(destination):
            there = stores.to_stdout(destination, here)
        else:
            there = stores.open_store(destination, must_exist=False)
        plan = convert.plan(here, there, choices, now=_now())
    if there.stream:
        return _to_stdout(plan, here, there, choices, dry_run=dry_run)
    if not as_json:
        say(*explain(plan))
        tell("")
    written = False
    followed = None
    try:
        if dry_run:
            convert.check_host(plan, there, choices)
        else:
            with progress("writing"):
                followed = convert.apply_plan(plan, here, there, choices)
            written = True
    finally:
        if as_json:  # a program reads what is refused in the plan itself
            json_lines([{**as_object(plan), "written": written}])
    if dry_run:
        tell(DRY, *_offer_decisions(plan, decisions_file, decided))
    elif not as_json:
        tell(f"done: {amount(len(plan.on_disk), 'file')} changed")
    if followed is not None:
        if followed.commit is not None:
            tell(f"committed as {followed.commit}")
        tell(*(f"to commit it: {command}" for command in followed.commands))
    if plan.refused:
        return RefusedError.exit_code
    return int(plan.count("pending") > 0)


def _say_nothing(plan: Plan, *, as_json: bool, dry_run: bool) -> int:
    """Show a plan that changes nothing, as any other is shown."""
    if as_json:
        json_lines([{**as_object(plan), "written": not dry_run}])
        return 0
    say(*explain(plan))
    tell("", DRY if dry_run else f"done: {amount(0, 'file')} changed")
    return 0


def _to_stdout(plan: Plan, here: Opened, there: Opened, choices: Choices, *, dry_run: bool) -> int:
    """Write the store itself to stdout, and everything that is said about it to stderr."""
    tell(*explain(plan), "")
    if dry_run:
        tell(DRY)
    else:
        data = convert.stream(plan, here, there, choices)
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return RefusedError.exit_code if plan.refused else 0


def _now() -> str:
    """Give the moment as the library wants it; the clock is here, so that plans are pure."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _offer_decisions(
    plan: Plan, path: Path | None, decided: Mapping[str, Mapping[str, Json]]
) -> Iterator[str]:
    """Write what is undecided where it was asked for, else say how to ask for it."""
    if not plan.template:
        return
    undecided = amount(len(plan.template), "record")
    if path is None:
        yield f"{undecided} to decide on: --dry-run --decisions FILE writes them to FILE to fill in"
        return
    path.write_text(decisions.dump(plan.template, decided), encoding="utf-8")
    yield f"{undecided} to decide on, written to {path}: fill it in and convert with it"
