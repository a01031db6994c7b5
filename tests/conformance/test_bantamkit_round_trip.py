"""Converted stores that the real bantamkit lives in, and what comes back: just what it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interop import check
from interop.choices import Choices
from interop.convert import apply_plan, plan
from interop.model import Memory
from interop.plan import COMPLEMENT, Plan
from interop.stores import Opened, load
from tests import peers
from tests.samples import samples

pytestmark = pytest.mark.conformance
NOW = "2026-09-01T08:30:00.000Z"
VERSIONS = pytest.mark.parametrize("version", peers.BANTAMKIT)
CLAUDE = [s for s in samples() if s.adapter.name == "claude-code" and s.tree.files]


HOME = {
    "MEMORY.md": "# Memory Index\n\n- [Pump](pump.md) — at the ramp\n- [Locks](locks.md)\n",
    "pump.md": "---\nname: Pump at the pier\ndescription: Where the pump is\ntype: project\n---\n\n"
    "At the ramp.\n",
    "locks.md": "---\r\nname: locks\r\ndescription: Lock batch\r\ntype: feedback\r\n---\r\n"
    "Batch B7 goes back.\r\n",
    "tone.md": "---\nname: tone\ndescription: 'Tone, of mails'\nmetadata: \n  node_type: memory\n"
    "  type: user\n---\n\nShort sentences.\n\n---\n\nNo jokes.",
    "board.md": "---\nname: board\ndescription: The board\ntype: reference\n---\n\nIn the hall.\n",
}


def sync(source: Opened, destination: Opened, *, delete: bool = False) -> Plan:
    decisions = check.placeholders(plan(source, destination, now=NOW), destination.adapter)
    choices = Choices(carry=True, decisions=decisions, delete=delete)
    found = plan(source, destination, choices, now=NOW)
    apply_plan(found, source, destination, choices)
    return found


def ask(version: str, root: Path, *operations: dict[str, Any]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = peers.run(version, root, operations)["results"]
    assert all(r["ok"] for r in results), results
    return results


def bantamkit(root: Path) -> Opened:
    from interop.adapters.bantamkit import ADAPTER

    return load(ADAPTER, root, must_exist=False)


def claude(root: Path) -> Opened:
    from interop.adapters.claude_code import ADAPTER

    return load(ADAPTER, root, must_exist=False)


def files(root: Path) -> dict[str, bytes]:
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and ".interop" not in p.parts
    }


@VERSIONS
def test_what_we_write_loads_lints_and_dumps_the_same(version: str, tmp_path: Path) -> None:
    """Every Claude Code sample, as one bantamkit store each, through one runtime process each."""
    for n, sample in enumerate(CLAUDE):
        root = tmp_path / str(n)
        there = bantamkit(root)
        sync(sample.opened(f"claude-{n}"), there)
        if not any(p.startswith("facts/") for p in files(root)):
            continue
        read, lint, rewrite, index = ask(
            version,
            root,
            {"op": "read"},
            {"op": "lint", "budget": 10**9},
            {"op": "rewrite"},
            {"op": "index"},
        )
        live = {
            r.name: r.body.text
            for r in bantamkit(root).raw.records
            if isinstance(r, Memory) and r.state == "live"
        }
        assert {f["name"]: f["body"] for f in read["facts"]} == live, sample.id
        assert lint["ok"], (sample.id, lint)
        assert all(f["same"] and f["stable"] for f in rewrite["files"].values()), (
            sample.id,
            rewrite,
        )
        assert index["same"], (sample.id, index)


@VERSIONS
def test_what_the_runtime_did_comes_back_and_nothing_else(version: str, tmp_path: Path) -> None:
    home = tmp_path / "claude"
    home.mkdir()
    for path, text in HOME.items():
        (home / path).write_bytes(text.encode("utf-8"))
    before = files(home)
    sync(claude(home), bantamkit(tmp_path / "b"))
    names = sorted(
        r.name or "" for r in bantamkit(tmp_path / "b").raw.records if isinstance(r, Memory)
    )
    assert len(names) >= 3

    # recalled: Claude Code has no place for it, so not a byte of it changes
    ask(version, tmp_path / "b", {"op": "recall", "query": " ".join(names), "k": 99})
    recalled = [r for r in bantamkit(tmp_path / "b").raw.records if isinstance(r, Memory)]
    assert any(r.recalled for r in recalled)
    found = sync(bantamkit(tmp_path / "b"), claude(home))
    assert [c.path for c in found.changes] == [COMPLEMENT]
    assert files(home) == before

    # saved again under the same name: that record, and its index line at most
    first = names[0]
    kind = next(r.kinds["claude"] for r in recalled if r.name == first)
    ask(
        version,
        tmp_path / "b",
        {
            "op": "save",
            "type": kind,
            "name": first,
            "description": "Said anew by the runtime",
            "body": "Said anew by the runtime.",
        },
    )
    line = next(x for x in bantamkit(tmp_path / "b").restored.lines.items() if first in x[0])
    sync(bantamkit(tmp_path / "b"), claude(home))
    changed = {p for p in files(home) if files(home)[p] != before.get(p)}
    assert changed - {"MEMORY.md"} == {line[1][0].key}
    assert b"Said anew by the runtime." in files(home)[line[1][0].key]

    # archived: the record leaves when that is asked for, and comes back when it is restored
    second = names[1]
    now = files(home)
    ask(version, tmp_path / "b", {"op": "archive", "name": second})
    pending = sync(bantamkit(tmp_path / "b"), claude(home))
    assert [o.action for o in pending.outcomes if o.action in ("pending", "remove")] == ["pending"]
    assert files(home) == now
    sync(bantamkit(tmp_path / "b"), claude(home), delete=True)
    assert len(files(home)) == len(now) - 1
    ask(version, tmp_path / "b", {"op": "restore", "name": second})
    sync(bantamkit(tmp_path / "b"), claude(home))
    back = files(home)
    assert {p: b for p, b in back.items() if p != "MEMORY.md"} == {
        p: b for p, b in now.items() if p != "MEMORY.md"
    }

    # compacted: what moved to the archive is pending, everything else stands as it was
    ask(version, tmp_path / "b", {"op": "compact", "budget": 120, "reserve": 0})
    away = [r for r in bantamkit(tmp_path / "b").raw.records if r.key.startswith("archive/")]
    assert away
    after = sync(bantamkit(tmp_path / "b"), claude(home))
    assert after.count("pending") == len(away)
    assert files(home) == back


@VERSIONS
def test_a_runtime_store_goes_through_claude_and_back(version: str, tmp_path: Path) -> None:
    ask(
        version,
        tmp_path / "b",
        {
            "op": "save",
            "type": "project",
            "name": "pump",
            "description": "Where the pump is",
            "body": "At the ramp.\n\n---\n\nSee [[locks]].",
            "links": ["locks"],
        },
        {
            "op": "save",
            "type": "feedback",
            "name": "locks",
            "description": "Batch B7 of the winter locks goes back",
            "body": "B7 sticks below 0 °C.",
        },
        {"op": "archive", "name": "locks"},
    )
    before = files(tmp_path / "b")
    sync(bantamkit(tmp_path / "b"), claude(tmp_path / "c"))
    sync(claude(tmp_path / "c"), bantamkit(tmp_path / "back"))
    assert files(tmp_path / "back") == before
    note = tmp_path / "c/pump.md"
    note.write_bytes(note.read_bytes().replace(b"At the ramp.", b"Behind the ramp."))
    sync(claude(tmp_path / "c"), bantamkit(tmp_path / "b"))
    (read, rewrite) = ask(version, tmp_path / "b", {"op": "read"}, {"op": "rewrite"})
    assert [f["body"].split("\n")[0] for f in read["facts"]] == ["Behind the ramp."]
    assert all(f["same"] and f["stable"] for f in rewrite["files"].values())
    assert {p for p in files(tmp_path / "b") if files(tmp_path / "b")[p] != before[p]} == {
        "facts/pump.md"
    }
