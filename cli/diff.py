"""What differs between two stores, by record and field.

Lines with "-" are A's, lines with "+" are B's. A change of order, and what a runtime does by itself
(noise), does not count: it is only in --stat and --json, and with nothing else the exit code is 0.
Exit code 1 when the stores differ.

--json prints one object a line for each change: what (added, removed, moved, changed, archived,
restored, order, carried), tag (content, omission, order, noise), key_a, key_b, field, a, b; what
does not apply is absent. probable is true where two records are only probably the same one.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

import typer

from interop import diff, fields, stores
from interop.cli.text import amount, json_lines, say, short, table, tell
from interop.diff import Change, Diff
from interop.model import Json

WIDTH = 90
"""Columns of a value on its line."""


def run(
    a: Annotated[str, typer.Argument(help="One store: PATH or FORMAT:PATH.", metavar="A")],
    b: Annotated[str, typer.Argument(help="The other store.", metavar="B")],
    stat: Annotated[bool, typer.Option("--stat", help="Only count the changes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a change.")] = False,
) -> int:
    """Print the changes."""
    left, right = stores.open_store(a), stores.open_store(b)
    found = diff.diff(left, right)
    if as_json:
        json_lines(map(_object, found.changes))
    elif stat:
        say(*_table(found))
    elif not found.same:
        say(f"--- {left.label}", f"+++ {right.label}")
        for _, changes in groupby(filter(_counts, found.changes), _keys):
            say(*_record(list(changes)))
    if not as_json:
        tell(_summary(found))
    return 0 if found.same else 1


def _counts(change: Change) -> bool:
    return change.tag in ("content", "omission")


def _summary(found: Diff) -> str:
    number = sum(map(_counts, found.changes))
    records = len({_keys(change) for change in found.changes if _counts(change)})
    said = f"{amount(number, 'change')} in {amount(records, 'record')}"
    others = len(found.changes) - number
    left_out = f" ({others:,} of order or noise not shown)" if others else ""
    return ("the stores say the same" if found.same else said) + left_out


def _keys(change: Change) -> tuple[str | None, str | None]:
    return change.key_a, change.key_b


def _table(found: Diff) -> Iterator[str]:
    counts = Counter((c.what, c.field or "-", c.tag) for c in found.changes)
    rows = [[what, field, tag, f"{n:,}"] for (what, field, tag), n in sorted(counts.items())]
    yield from table(["change", "field", "tag", "times"], rows)


def _record(changes: list[Change]) -> Iterator[str]:
    first = changes[0]
    names = dict.fromkeys(filter(None, _keys(first)))
    yield ""
    yield " -> ".join(names) or "the store"
    if first.probable:
        yield "  (probably the same record)"
    for change in changes:
        mark = "" if change.tag == "content" else f" ({change.tag})"
        if change.what in ("added", "removed"):
            yield f"  {change.what}: {short(_words(change.a or change.b), WIDTH)}"
        elif change.what != "changed":
            yield f"  {change.what}{mark}"
        if change.field is not None:
            yield from _values(change, mark)


def _words(record: Json) -> str:
    """Give the first words of a record in JSON form."""
    said = record if isinstance(record, dict) else {}
    body = said.get("body")
    texts = (said.get(field) for field in ("description", "decision", "rejected", "title", "name"))
    text = body["text"] if isinstance(body, dict) else ""
    return str(next((t for t in texts if t), text))


def _values(change: Change, mark: str) -> Iterator[str]:
    """Give the two values of a field; texts of several lines as changed lines only."""
    a, b = _lines(change.a), _lines(change.b)
    if max(len(a), len(b)) <= 1:
        yield from (f"  - {change.field}{mark}: {short(line, WIDTH)}" for line in a)
        yield from (f"  + {change.field}{mark}: {short(line, WIDTH)}" for line in b)
        return
    yield f"  {change.field}{mark}:"
    for line in difflib.unified_diff(a, b, n=1, lineterm=""):
        if not line.startswith(("---", "+++")):
            yield f"    {line}"


def _lines(value: Json) -> list[str]:
    if value is None:
        return []
    if isinstance(value, dict) and set(value) == {"text", "media"}:
        return str(value["text"]).split("\n")
    return [value if isinstance(value, str) else fields.dumps(value).decode()]


def _object(change: Change) -> dict[str, Json]:
    values: dict[str, Json] = {
        "what": change.what,
        "tag": change.tag,
        "key_a": change.key_a,
        "key_b": change.key_b,
        "field": change.field,
        "a": change.a,
        "b": change.b,
    }
    if change.probable:
        values["probable"] = True
    return {name: value for name, value in values.items() if value is not None}
