"""What each format can hold, and where its stores lie.

One row a field: "exact" is any value, "view" is read but only repeats another field, "-" is what
the format has no place for and what a conversion keeps in the complement.

With --loss: what becomes of each field on the way from each format into each other one, measured
now, as a page in Markdown (docs/loss-matrix.md is that page); with --json one object a line for
each: source, destination, role, field, fate (exact, supplied, carried, refused, lost) where the
source states it, unstated (supplied, refused) where the destination demands it of who does not.

Without --loss, --json prints one object a line for each format: name, title, spec, holds (field ->
exact or view), kinds (vocabulary, terms, required, closed) where the format has any, and
locations, the paths where the store of the present project would lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from interop import registry, stores
from interop.adapter import Adapter, Hold
from interop.cli.text import json_lines, say, table
from interop.fields import FIELDS
from interop.model import Json


def run(
    loss: Annotated[
        bool, typer.Option("--loss", help="What each pair of formats keeps of each field.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a format.")] = False,
) -> int:
    """Print the table of formats, or the loss matrix."""
    if loss:
        return _loss(as_json=as_json)
    adapters = list(registry.adapters())
    if as_json:
        json_lines(map(_object, adapters))
        return 0
    say(*table(["format", "what it is"], [[a.name, a.title] for a in adapters]), "")
    rows = [[f, *(a.holds.get(f, Hold.NO) for a in adapters)] for f in _fields(adapters)]
    say(*table(["field", *(a.name for a in adapters)], [[_cell(c) for c in row] for row in rows]))
    for adapter in adapters:
        say("", f"{adapter.name}:", *(f"  {line}" for line in _remarks(adapter)))
    return 0


def _loss(*, as_json: bool) -> int:
    from interop.check.loss import measure, page  # plans conversions, which the table does not need

    cells = measure()
    if as_json:
        json_lines(
            {
                "source": cell.source,
                "destination": cell.destination,
                "role": cell.role,
                "field": cell.field,
                **({"fate": cell.fate} if cell.fate is not None else {}),
                **({"unstated": cell.unstated} if cell.unstated is not None else {}),
            }
            for cell in cells
        )
    else:
        say(*page(cells).splitlines())
    return int(any(cell.fate == "lost" for cell in cells))


def _fields(adapters: list[Adapter]) -> Iterator[str]:
    """Give the fields that any format holds, in the order of the model, then the extra ones."""
    held = {field for a in adapters for field, hold in a.holds.items() if hold != Hold.NO}
    in_order = dict.fromkeys(field for fields in FIELDS.values() for field in fields)
    yield from (field for field in in_order if field in held)
    yield from sorted(held - in_order.keys())


def _places(adapter: Adapter) -> list[str]:
    """Give where the format's store of the present project would lie, most likely first."""
    places = adapter.locate(stores.surroundings()) if adapter.locate is not None else ()
    return [str(place) for place in places]


def _cell(hold: str) -> str:
    return "-" if hold == Hold.NO else str(hold)


def _remarks(adapter: Adapter) -> Iterator[str]:
    if adapter.kinds is None and adapter.holds.get("kinds") == Hold.EXACT:
        yield "kinds: any of any vocabulary, as declared"
    elif adapter.kinds is None:
        yield "kinds: none"
    else:
        manner = "one is required" if adapter.kinds.required else "may be absent"
        others = "no others" if adapter.kinds.closed else "others are kept as written"
        terms = ", ".join(adapter.kinds.terms)
        yield f"kinds ({adapter.kinds.vocabulary}): {terms}; {manner}, {others}"
    for place in _places(adapter):
        yield f"this project's store: {place}"


def _object(adapter: Adapter) -> dict[str, Json]:
    out: dict[str, Json] = {
        "name": adapter.name,
        "title": adapter.title,
        "spec": adapter.spec,
        "holds": {field: str(hold) for field, hold in adapter.holds.items() if hold != Hold.NO},
        "locations": list[Json](_places(adapter)),
    }
    if adapter.kinds is not None:
        out["kinds"] = {
            "vocabulary": adapter.kinds.vocabulary,
            "terms": list(adapter.kinds.terms),
            "required": adapter.kinds.required,
            "closed": adapter.kinds.closed,
        }
    return out
