"""When a record counts as forgotten already, and what only a tombstone could keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop import stores
from interop.bridge import Bridge
from interop.errors import UsageError
from interop.model import Tombstone
from tests.test_bridge_writing import KIND, bytes_of, made, surroundings

assert surroundings  # the fixture, used by every test here

CITES = "| T-003 | Hall size | 300 m2 | 400 m2 | 2026-10-03 | measured anew | D-002 |\n"
"""A tombstone of another value, which cites a decision as its source."""


def stones(spec: str) -> list[Tombstone]:
    return [r for r in stores.open_store(spec).raw.records if isinstance(r, Tombstone)]


@pytest.fixture
def topic(tmp_path: Path) -> str:
    spec = made("memory-compiler", tmp_path / "topic")
    page = tmp_path / "topic" / "TOMBSTONES.md"
    page.write_text(page.read_text("utf-8").rstrip("\n") + "\n" + CITES, encoding="utf-8")
    return spec


def test_a_row_that_a_tombstone_merely_cites_is_not_forgotten_yet(topic: str) -> None:
    bridge = Bridge(write=topic)
    before = len(stones(topic))
    done = bridge.forget("DECISIONS.md#D-002", "the hall was given up")
    assert not done.already
    assert len(stones(topic)) == before + 1
    (stone,) = [r for r in stones(topic) if r.key == done.to]
    assert (stone.subject, stone.source) == ("D-002", "D-002")
    assert stone.reason == "the hall was given up"
    # its own tombstone rejects it
    again = bridge.forget("DECISIONS.md#D-002", "the hall was given up")
    assert (again.already, again.to) == (True, done.to)
    assert len(stones(topic)) == before + 1


def test_another_value_of_a_row_is_rejected_for_itself(topic: str) -> None:
    bridge = Bridge(write=topic)
    first = bridge.forget("DECISIONS.md#D-002", "measured anew", rejected="300 m2")
    assert (first.already, first.to) == (True, "TOMBSTONES.md#T-003")
    second = bridge.forget("DECISIONS.md#D-002", "and again", rejected="380 m2")
    assert not second.already
    assert bridge.forget("DECISIONS.md#D-002", "and again", rejected="380 m2").already
    assert bridge.forget("DECISIONS.md#D-002", "all of it").to == second.to


@pytest.mark.parametrize("purge", [False, True])
@pytest.mark.parametrize(
    ("said", "options"),
    [
        ({"rejected": "4711"}, "--rejected"),
        ({"replacement": "0815"}, "--replacement"),
        ({"rejected": "4711", "replacement": "0815"}, "--rejected and --replacement"),
    ],
)
@pytest.mark.parametrize("name", ["bantamkit", "memhtml", "claude-code", "theokit"])
def test_what_only_a_tombstone_could_keep_is_not_dropped(
    name: str, said: dict[str, str], options: str, purge: bool, tmp_path: Path
) -> None:
    root = tmp_path / "store"
    bridge = Bridge(write=made(name, root))
    told = bridge.remember("The door code is 4711.", kind=KIND.get(name))
    before = bytes_of(root)
    with pytest.raises(UsageError, match=f"{options} would be lost"):
        bridge.forget(
            told.key,
            "changed in May",
            yes=True,
            purge=purge,
            rejected=said.get("rejected"),
            replacement=said.get("replacement"),
        )
    assert bytes_of(root) == before
    assert bridge.forget(told.key, "changed in May from 4711", yes=True).how
