"""A record that could not have the name that its format's rule gives is named in the plan."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest

from interop.choices import Choices
from interop.cli.plan_text import as_object, explain
from interop.convert import plan
from interop.plan import Plan
from interop.stores import open_store

NOW = "2026-09-01T08:30:00.000Z"
ROOT = Path(__file__).parents[1]


def put(root: Path, path: str, text: str) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def memory(name: str, text: str) -> str:
    return (
        f'---\nname: {name}\ndescription: "{text}"\nmetadata: \n  node_type: memory\n'
        f"  type: user\n---\n\n{text}\n"
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory called as others are, one called as the index, and one that is called as nobody."""
    root = tmp_path / "home"
    for name, text in (("bells", "Bells are loud"), ("memory", "Ask Mira"), ("lock", "Locks jam")):
        put(root, f"{name}.md", memory(name, text))
    return root


def planned(source: str, destination: str, kinds: Mapping[str, str] | None = None) -> Plan:
    there = open_store(destination, must_exist=False)
    return plan(open_store(source), there, Choices(kind_map=kinds or {}), now=NOW)


def keys(made: Plan) -> dict[str, tuple[str | None, str]]:
    """Give where each record goes that could not go where the rule says, and why."""
    return {
        o.key: (o.to, f.note)
        for o in made.outcomes
        for f in o.fields
        if f.field == "key" and f.fate == "supplied"
    }


def test_theokit(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "k", "bells.md", "somebody's note\n")
    put(tmp_path / "k", "MEMORY.md", "# Memory Index\n")
    made = planned(f"claude-code:{home}", f"theokit:{tmp_path / 'k'}")
    assert keys(made) == {
        "bells.md": ("bells-2.md", "'bells-2.md', bells.md is taken, or means something else"),
        "memory.md": ("memory-2.md", "'memory-2.md', memory.md is taken, or means something else"),
    }


def test_claude_code(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "c", "LOCK.md", memory("keys", "Keys hang in the hall"))
    made = planned(f"theokit:{home}", f"claude-code:{tmp_path / 'c'}")
    assert keys(made) == {
        "lock.md": ("lock-2.md", "'lock-2.md', lock.md is taken, or is a word of the index"),
        "memory.md": (
            "memory-2.md",
            "'memory-2.md', memory.md is taken, or is a word of the index",
        ),
    }


def test_memhtml(home: Path, tmp_path: Path) -> None:
    put(home, "team/bells.md", memory("bells", "Ring them twice"))
    put(tmp_path / "h", "areas/inbox/bells.html", "no memory\n")
    made = planned(f"claude-code:{home}", f"memhtml:{tmp_path / 'h'}", {"user": "semantic"})
    why = "a file of the name that it would have is there already"
    assert dict(keys(made).values()) == {
        path: f"{path!r}, {why}"
        for path in ("areas/inbox/bells-2.html", "areas/inbox/bells-3.html")
    }


def test_an_id_of_memory_compiler(tmp_path: Path) -> None:
    header = "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
    dashes = "|---|---|---|---|---|---|---|\n"
    for place, rows in (
        ("a", "| T-001 | Opening day | 2026-06-13 | D-002 | 2026-05-11 | ramp is late | mail |\n"),
        ("b", "| T-001 | Lock | 0000 | 4711 | 2026-05-12 | it was told | mail |\n"),
    ):
        put(tmp_path / place, "TOMBSTONES.md", header + dashes + rows)
    made = planned(f"memory-compiler:{tmp_path / 'a'}", f"memory-compiler:{tmp_path / 'b'}")
    ((to, why),) = keys(made).values()
    assert to == "TOMBSTONES.md#T-002"
    assert "T-001 was its id elsewhere" in why


def test_it_is_said_in_text_and_in_json(home: Path, tmp_path: Path) -> None:
    made = planned(f"claude-code:{home}", f"theokit:{tmp_path / 'k'}")
    line = "  key of 1 record, e.g. memory.md: 'memory-2.md', memory.md is taken, or means"
    assert [x for x in explain(made) if x.startswith(line)]
    said = orjson.loads(orjson.dumps(as_object(made)))
    (one,) = [o for o in said["outcomes"] if o["key"] == "memory.md"]
    assert one["to"] == "memory-2.md"
    note = "'memory-2.md', memory.md is taken, or means something else"
    assert {"field": "key", "fate": "supplied", "note": note} in one["fields"]


def test_many_are_one_line(tmp_path: Path) -> None:
    for n in range(30):
        put(tmp_path / "home", f"m{n}.md", memory(f"m{n}", f"Bike {n}"))
        put(tmp_path / "k", f"m{n}.md", "somebody's note\n")
    made = planned(f"claude-code:{tmp_path / 'home'}", f"theokit:{tmp_path / 'k'}")
    assert len(keys(made)) == 30
    assert [x[:21] for x in explain(made) if "is taken" in x] == ["  key of 30 records, "]


def test_a_name_that_is_given_is_not_said_again(home: Path, tmp_path: Path) -> None:
    source, there = f"claude-code:{home}", f"theokit:{tmp_path / 'k'}"
    run("convert", source, there)
    put(home, "memory.md", memory("memory", "Ask Tom"))
    assert keys(planned(source, there)) == {}
    assert keys(planned(there, source)) == {}


def run(*arguments: str | Path) -> None:
    line = [sys.executable, "-m", "interop.cli.main", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
