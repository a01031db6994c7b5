"""The loss matrix is what is measured, and what it says is what conversions do."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

from interop import fields, registry
from interop.adapter import Hold
from interop.check import loss
from interop.check.specimens import specimens
from interop.model import ROLES
from tests.samples import ROOT

PAGE = ROOT / "docs" / "loss-matrix.md"


@cache
def cells() -> tuple[loss.Cell, ...]:
    return tuple(loss.measure())


def cell(source: str, destination: str, role: str, field: str) -> loss.Cell:
    wanted = (source, destination, role, field)
    (found,) = (c for c in cells() if (c.source, c.destination, c.role, c.field) == wanted)
    return found


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == loss.page(cells()), "run `make docs`"


def test_the_command_prints_the_page() -> None:
    command = [sys.executable, "-m", "interop.cli.main", "formats", "--loss"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == PAGE.read_bytes()


def test_the_command_gives_every_cell_as_json() -> None:
    command = [sys.executable, "-m", "interop.cli.main", "formats", "--loss", "--json"]
    done = subprocess.run(command, capture_output=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    pairs = len(registry.names()) * (len(registry.names()) - 1)
    assert len(found) == pairs * sum(map(len, fields.FIELDS.values())) == len(cells())
    assert {"source", "destination", "role", "field"} <= found[0].keys()


def test_nothing_is_lost() -> None:
    assert not [c for c in cells() if c.fate == "lost"]


@pytest.mark.parametrize("name", registry.names())
def test_specimens_state_all_that_their_format_holds(name: str) -> None:
    """So that no cell is empty because nobody tried."""
    adapter = registry.get(name)
    made = specimens(adapter)
    stated = {field for record in made.store.raw.records for field in fields.stated(record)}
    held = {field.partition(".")[0] for field, hold in adapter.holds.items() if hold is Hold.EXACT}
    assert held <= stated


@pytest.mark.parametrize("name", registry.names())
def test_what_a_format_holds_is_never_only_carried(name: str) -> None:
    """A field of a memory that both formats hold with any value comes through in the open."""
    adapter = registry.get(name)
    carried = [
        (c.source, c.field)
        for c in cells()
        if c.destination == name
        and c.role == "memory"
        and adapter.holds.get(c.field) is Hold.EXACT
        and c.fate == "carried"
        # of a vocabulary; of a namespace; and an existing stem wins over a name
        and c.field not in ("kinds", "links", "name")
    ]
    assert not carried


def test_every_role_is_measured_from_every_format() -> None:
    for source in registry.names():
        for role in ROLES:
            field = {"decision": "decision", "tombstone": "rejected"}.get(role, "body")
            destination = next(n for n in registry.names() if n != source)
            assert cell(source, destination, role, field).fate is not None, (source, role)


def test_cells_that_people_know() -> None:
    assert cell("claude-code", "bantamkit", "memory", "title").fate == "carried"
    assert cell("claude-code", "bantamkit", "memory", "kinds") == loss.Cell(
        source="claude-code",
        destination="bantamkit",
        role="memory",
        field="kinds",
        fate="exact",
        unstated="refused",
    )
    assert cell("claude-code", "memhtml", "memory", "kinds").fate == "refused"
    assert cell("bantamkit", "claude-code", "memory", "state").fate == "carried"
    assert cell("bantamkit", "memhtml", "memory", "state").fate == "exact"
    assert cell("claude-code", "bantamkit", "memory", "created").unstated == "supplied"
    assert cell("theokit", "memory-compiler", "memory", "observations").fate == "carried"


def test_a_cell_tells_the_way_of_stating_a_field_that_fares_worst() -> None:
    # a link in a header that no text repeats has no place where links are those of the text
    for destination in ("claude-code", "theokit"):
        for source in ("bantamkit", "jsonl"):
            assert cell(source, destination, "memory", "links").fate == "carried", source
    assert cell("theokit", "claude-code", "memory", "links").fate == "exact"
    # a file that was renamed, or a memory: theokit knows it by the stem, and carries the name
    assert cell("claude-code", "theokit", "memory", "name").fate == "carried"
    assert cell("theokit", "bantamkit", "memory", "name").fate == "carried"
    assert cell("bantamkit", "theokit", "memory", "name").fate == "exact"
    # a record of a shared file has no stem, so its stated name is used
    assert cell("jsonl", "theokit", "memory", "name").fate == "exact"
