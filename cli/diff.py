"""What differs between two stores, by record and field.

Lines with "-" are A's, lines with "+" are B's. What only one side states is an omission, and says
so. What a runtime does by itself (noise) and a change of order do not count: with nothing else the
exit code is 0. They are counted; --noise shows them. Exit code 1 when the stores differ, in
conflict or not; 4 when a store, or a record that would have to be compared, cannot be read.

Stores that a conversion linked have a common ancestor: what they said then. With it, each change
says which side made it ("changed in A", "changed in B", "changed in both"), and what the two sides
changed in ways that do not go together is a "conflict". --base names another ancestor: a store of
any format, or a snapshot of one. Without an ancestor nothing is claimed. What both sides changed
alike is no difference; --noise shows it.

--only and --ignore take a field of the model, role, key (where a record lies), carried (files that
are no records) or order, and may be repeated; what they leave out does not count. With --only, a
record that is on one side alone takes part where it states the field.

--html writes one page that stands by itself. It repeats text of both stores.

--json prints one object a line for each change, noise and order too, as docs/diff.schema.json
describes it: what (added, removed, moved, changed, archived, restored, order, carried), tag
(content, omission, order, noise, agreed), key_a, key_b, field, at (keys inside kinds or extra), a,
b, side (a, b, both, conflict), base (what the ancestor said); what does not apply is absent.
probable is true where two records are only probably the same one, similarity says how alike their
texts are, in percent; without it only their place says that they are one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from interop import diff, report, stores
from interop.cli import diff_text
from interop.cli.text import amount, json_lines, say, tell
from interop.diff import Diff
from interop.errors import FormatError, UsageError, WriteError
from interop.report import entries
from interop.stores import Opened


def run(
    a: Annotated[str, typer.Argument(help="One store: PATH or FORMAT:PATH.", metavar="A")],
    b: Annotated[str, typer.Argument(help="The other store.", metavar="B")],
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="STORE", help="The store both came from: who changed what since."
        ),
    ] = None,
    stat: Annotated[
        bool, typer.Option("--stat", help="Only count, by kind of change and by field.")
    ] = False,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write a page instead; - is stdout."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="FIELD", help="Only this field (may be repeated)."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="FIELD", help="Not this field (may be repeated)."),
    ] = None,
    noise: Annotated[
        bool,
        typer.Option(
            "--noise", help="Show noise, order and what both changed alike; they do not count."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a change.")] = False,
) -> int:
    """Print the changes."""
    if sum((stat, html is not None, as_json)) > 1:
        raise UsageError("--stat, --html and --json exclude each other", "give one of them")
    entries.check_fields((*(only or ()), *(ignore or ())))
    left, right = stores.open_beside(a, b)
    ancestor = stores.open_store(base) if base is not None else None
    if html is not None:
        _check_place(html, left, right)  # before the work
    every = entries.select(diff.diff(left, right, ancestor), only or (), ignore or ())
    shown = every if noise else entries.counting(every)
    opened = [store for store in (left, right, ancestor) if store is not None]
    unread = [line for store in opened for line in _unread(store, opened)]
    code = FormatError.exit_code if unread else 0 if every.same else 1
    if as_json:
        json_lines(map(entries.to_json, every.changes))
        tell(*unread)
        return code
    if stat:
        say(*diff_text.summary(every))
    elif html is not None:
        _write(html, shown, left, right, len(every.changes) - len(shown.changes))
    elif shown.changes:
        diff_text.show(list(diff_text.rows(shown, left.label, right.label)))
    tell(*unread, _summary(every, shown if not stat else every))
    return code


def _unread(store: Opened, among: Sequence[Opened]) -> Iterator[str]:
    """Name what cannot be read and so was not compared.

    A damaged file is compared by its bytes where all stores are of one format.
    """
    on_disk = {p.path for p in store.tree.problems}
    by_bytes = all(other.adapter is store.adapter for other in among)
    for p in store.raw.problems:
        if p.unread and (p.path in on_disk or not by_bytes):
            cut = p.path in on_disk and p.path in store.tree.files
            how = "only what is left of it was compared" if cut else "it was not compared"
            yield f"{store.label}: {p.path}: {p.problem}; {how}"


def _summary(every: Diff, shown: Diff) -> str:
    counting = entries.counting(every)
    records = list(entries.entries(counting))
    said = f"{amount(len(counting.changes), 'change')} in {amount(len(records), 'record')}"
    sides = entries.counts_by_side(records).items()
    if sides:
        said += f": {', '.join(f'{n:,} {_IN[side]}' for side, n in sides)}"
    hidden = len(every.changes) - len(shown.changes)
    alike = " or alike on both sides" if every.since is not None else ""
    left_out = f" ({hidden:,} of order or noise{alike} not shown)" if hidden else ""
    return ("the stores say the same" if every.same else said) + left_out


_IN = {**entries.SIDES, "conflict": "in conflict"}


def _check_place(file: str, *opened: Opened) -> None:
    """Keep the page out of the stores: there it would be one file more to tell apart."""
    place = Path(file).resolve()
    for store in opened:
        if file != "-" and place.is_relative_to(store.root.resolve()):
            raise UsageError(f"{file}: lies in {store.label}", "write the page somewhere else")


def _write(file: str, shown: Diff, left: Opened, right: Opened, left_out: int) -> None:
    page = report.html(shown, left.label, right.label, left_out=left_out).encode()
    if file == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()
        return
    try:
        Path(file).write_bytes(page)
    except OSError as error:
        raise WriteError(file, (error.strerror or str(error)).lower()) from error
