"""What a store cannot say travels through it: a record that one carries is not removed there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from interop import diff
from interop.choices import Choices
from interop.convert import apply_plan, plan
from interop.host import HostOptions
from interop.plan import COMPLEMENT, Plan
from interop.stores import open_beside, open_store

NOW = "2026-09-01T08:30:00.000Z"
FACT = (
    "---\nname: {name}\ndescription: {says}\ntype: project\ncreated: '2026-01-05'\n"
    "last_recalled: null\nlinks: []\n---\n\n{text}\n"
)


@dataclass
class Walk:
    """Stores in one folder, named by their format and a number: ``bantamkit:1``."""

    home: Path

    def root(self, name: str) -> Path:
        return self.home / name.replace(":", "-")

    def spec(self, name: str) -> str:
        return f"{name.partition(':')[0]}:{self.root(name)}"

    def convert(self, source: str, destination: str, **choices: object) -> Plan:
        a = open_store(self.spec(source))
        b = open_store(self.spec(destination), must_exist=False)
        chosen = Choices(
            kind_map={"project": "semantic", "semantic": "project"}
            if "memhtml" in source + destination
            else {},
            host=HostOptions(commit=False),
            delete=True,
            **choices,  # type: ignore[arg-type]  # by keyword
        )
        found = plan(a, b, chosen, now=NOW)
        apply_plan(found, a, b, chosen)
        return found

    def file(self, name: str, holding: bytes) -> Path | None:
        """Give the file that holds a text, if there is one."""
        root = self.root(name)
        found = [
            p.relative_to(root)
            for p in root.rglob("*")
            if p.is_file() and ".interop" not in p.parts and holding in p.read_bytes()
            if p.name != "MEMORY.md"
        ]
        assert len(found) < 2, found
        return found[0] if found else None

    def same(self, one: str, other: str) -> bool:
        return not diff.diff(*open_beside(self.spec(one), self.spec(other))).changes


@pytest.fixture
def walk(tmp_path: Path) -> Walk:
    made = Walk(tmp_path)
    for name, says, text in (
        ("dock", "Dock sensor", "The sensor is late."),
        ("ask", "Ask the workshop", "Ask first."),
    ):
        place = made.root("bantamkit:1") / "facts" / f"{name}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(FACT.format(name=name, says=says, text=text), "utf-8")
    return made


def bring(way: list[tuple[str, str]], walk: Walk) -> list[Plan]:
    return [walk.convert(*step) for step in way]


def there_and_back(*stores: str) -> list[tuple[str, str]]:
    out = list(pairwise(stores))
    return [*out, *((b, a) for a, b in reversed(out))]


def archive(walk: Walk, name: str) -> None:
    place = walk.root(name) / "archive" / "dock.md"
    place.parent.mkdir(exist_ok=True)
    (walk.root(name) / "facts" / "dock.md").rename(place)


def restore(walk: Walk, name: str) -> None:
    place = walk.root(name) / "facts" / "dock.md"
    (walk.root(name) / "archive" / "dock.md").rename(place)


def stamp(path: Path) -> bytes:
    """Let a runtime and a person leave their marks in a fact."""
    marked = path.read_bytes().replace(
        b"last_recalled: null", b"last_recalled: '2026-11-30'\n# seen by Mira"
    )
    path.write_bytes(marked)
    return marked


CHAINS = [
    ("bantamkit:1", "claude-code:1", "bantamkit:2"),
    ("bantamkit:1", "theokit:1", "bantamkit:2"),
    ("bantamkit:1", "claude-code:1", "theokit:1", "bantamkit:2"),
    ("bantamkit:1", "memory-compiler:1", "bantamkit:2"),
]


@pytest.mark.parametrize("known", ["one way", "from the last one", "both ways"])
@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
def test_archiving_travels_through_stores_without_an_archive(
    walk: Walk, chain: tuple[str, ...], known: str
) -> None:
    """It moves the file that the last store has, and touches no byte of it."""
    first, *between, last = chain
    outwards = list(pairwise(chain))
    known_on = {"one way": 0, "from the last one": 1, "both ways": len(outwards)}[known]
    bring(there_and_back(*chain)[: len(outwards) + known_on], walk)
    fact = walk.root(last) / "facts" / "dock.md"
    marked = stamp(fact)
    archive(walk, first)
    bring(outwards, walk)
    for one in between:
        assert walk.file(one, b"sensor is late") is None
    assert not fact.exists()
    assert (walk.root(last) / "archive" / "dock.md").read_bytes() == marked
    # nobody edited anything since
    files = {
        p: p.read_bytes()
        for one in chain
        for p in walk.root(one).rglob("*")
        if p.is_file() and ".interop" not in p.parts
    }
    for _ in range(2):
        for found in bring(there_and_back(*chain), walk):
            assert not found.blocked
            assert {o.action for o in found.outcomes} <= {"same", "carry", "update"}
            assert [c.path for c in found.changes if c.path != COMPLEMENT][:1] in (
                [],
                [f"archive/{fact.name}"],  # what the last one's runtime counted comes back
            )
    for found in bring(there_and_back(*chain), walk):
        assert not [c.path for c in found.changes if c.path != COMPLEMENT]
    now = {p: p.read_bytes() for p in files}
    del files[walk.root(first) / "archive" / "dock.md"]
    assert {p: now[p] for p in files} == files

    restore(walk, first)
    bring(outwards, walk)
    for one in between:
        assert walk.file(one, b"sensor is late") is not None
    assert fact.read_bytes() == marked
    assert not (walk.root(last) / "archive" / "dock.md").exists()


@pytest.mark.parametrize("chain", [x for x in CHAINS if len(x) == 3], ids="-".join)
def test_what_is_removed_for_good_is_not_carried_on(walk: Walk, chain: tuple[str, ...]) -> None:
    first, *between, last = chain
    outwards = list(pairwise(chain))
    bring(there_and_back(*chain), walk)
    archive(walk, first)
    bring(outwards, walk)
    (walk.root(first) / "archive" / "dock.md").unlink()
    bring(outwards, walk)
    for one in (*between, last):
        assert walk.file(one, b"sensor is late") is None


def test_what_was_let_travel_is_nothing_that_the_twin_has_added(walk: Walk) -> None:
    task = (
        '{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n'
        '{"role":"task","key":"t1","body":{"text":"Oil the chains"},"status":"todo"}\n'
        '{"role":"memory","key":"m","body":{"text":"Chains rust."}}\n'
    )
    walk.root("jsonl:1").write_text(task, "utf-8")
    topic, twin = "memory-compiler:1", "claude-code:1"
    walk.convert("jsonl:1", topic, carry=True)
    walk.convert(topic, twin)
    assert walk.same(topic, twin)
    assert walk.same(twin, topic)
    back = walk.convert(twin, topic)  # without being asked for again
    assert {o.key: o.action for o in back.outcomes} == {
        "chains-rust.md": "same",
        "task-t1.md": "carry",
    }
    assert not walk.convert(topic, twin).blocked
    assert not walk.convert(twin, topic).changes
