"""Tombstones with teeth, in real conversions: refused with the reason, let through one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop import check, lint
from interop.choices import Choices
from interop.convert import after, apply_plan, plan
from interop.errors import RefusedError
from interop.plan import Plan
from interop.stores import Opened, open_store
from tests.test_convert import memory, put

NOW = "2026-09-01T08:30:00.000Z"
TOPIC = {
    "TOMBSTONES.md": (
        "# Tombstones\n\n"
        "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
        "|---|---|---|---|---|---|---|\n"
        "| T-001 | go-live | 2026-09-01 | D-002 | 2026-08-20 | the ferry is late | minutes |\n"
        "| T-002 | palette | hex 1E3A5F | D-002 | 2026-08-20 | not readable | printer |\n"
        "| T-003 | price | 25 € | 20 € | 2026-08-21 | too dear | D-002 |\n"
    ),
    "DECISIONS.md": (
        "# Decisions\n\n| ID | Decision | Why | Date | Evidence | Supersedes | Status |\n"
        "|---|---|---|---|---|---|---|\n"
        "| D-002 | Go-live moved from 2026-09-01 to 2026-09-15 | the ferry | 2026-08-20 | mail | — "
        "| Active |\n"
    ),
    "OPEN_ITEMS.md": (
        "# Open items\n\n| ID | Item | Status | Opened | Evidence / Reason | Notes |\n"
        "|---|---|---|---|---|---|\n"
    ),
    "CONTEXT.md": "# Context\n\n## Current facts\n\n- Docks are numbered from the river.\n",
    "memory_tests.yaml": "tests:\n",
}


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    put(tmp_path / "topic", TOPIC)
    return tmp_path / "topic"


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    put(
        tmp_path / "claude",
        {
            "plan.md": memory("plan", "When we open", "We go live on 2026-09-01."),
            "colour.md": memory("colour", "The palette", "Primary colour is `#1e3a5f`."),
            "pump.md": memory("pump", "The pump", "At the ramp since 2026-09-012."),
        },
    )
    return tmp_path / "claude"


def opened(root: Path, name: str) -> Opened:
    return open_store(f"{name}:{root}", must_exist=False)


def planned(source: Opened, destination: Opened, **choices: object) -> Plan:
    kinds = {"untyped": "project", "role:tombstone": "reference", "role:decision": "reference"}
    chosen = Choices(kind_map=kinds, **choices)  # type: ignore[arg-type]  # by keyword
    if destination.adapter.kinds is None:
        chosen = Choices(**choices)  # type: ignore[arg-type]  # by keyword
    return plan(source, destination, chosen, now=NOW)


def refused(found: Plan) -> dict[str, str]:
    return {o.key: o.reason for o in found.outcomes if o.action == "refuse"}


def test_a_rejected_value_is_refused_with_its_reason(
    claude: Path, topic: Path, tmp_path: Path
) -> None:
    a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "bantamkit")
    found = planned(a, b, tombstones=(opened(topic, "memory-compiler"),))
    said = refused(found)
    assert set(said) == {"plan.md", "colour.md"}
    assert "T-001" in said["plan.md"]
    assert "the ferry is late" in said["plan.md"]
    assert "D-002" in said["plan.md"]
    assert "T-002" in said["colour.md"]
    with pytest.raises(RefusedError):
        apply_plan(found, a, b)
    assert not (tmp_path / "b").exists()


def test_without_the_store_nothing_is_known(claude: Path, tmp_path: Path) -> None:
    a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "bantamkit")
    assert not refused(planned(a, b))


def test_a_single_record_is_let_through_and_recorded(
    claude: Path, topic: Path, tmp_path: Path
) -> None:
    a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "bantamkit")
    stones = (opened(topic, "memory-compiler"),)
    found = planned(a, b, tombstones=stones, allow_tombstoned=frozenset({"plan.md"}))
    assert set(refused(found)) == {"colour.md"}
    allowed = frozenset({"plan.md", "colour.md"})
    done = after(planned(a, b, tombstones=stones, allow_tombstoned=allowed), b)
    assert done.complement is not None
    assert {x.key for x in done.complement.lines if x.allowed} == set(allowed)
    again = planned(a, done, tombstones=stones)
    assert again.changes == ()
    assert not again.blocked


@pytest.mark.parametrize("name", ["claude-code", "theokit", "bantamkit", "memhtml"])
def test_tombstones_travel_and_keep_their_teeth(
    topic: Path, claude: Path, tmp_path: Path, name: str
) -> None:
    """Rendered as memories elsewhere they still refuse, and the decision that tells is exempt."""
    source = opened(topic, "memory-compiler")
    there = opened(tmp_path / name, name)
    decisions = check.placeholders(plan(source, there, now=NOW), there.adapter)
    moved = after(plan(source, there, Choices(decisions=decisions, carry=True), now=NOW), there)
    a = opened(claude, "claude-code")
    if name == "claude-code":
        found = planned(a, moved)
    else:
        decisions = check.placeholders(plan(a, moved, now=NOW), moved.adapter)
        found = plan(a, moved, Choices(decisions=decisions), now=NOW)
    assert {"plan.md", "colour.md"} <= set(refused(found))
    assert "pump.md" not in refused(found)


def test_a_correction_in_a_record_that_stood_is_a_warning(topic: Path, tmp_path: Path) -> None:
    put(tmp_path / "a", {"price.md": memory("price", "The price", "An hour is 25 €.")})
    a, b = opened(tmp_path / "a", "claude-code"), opened(tmp_path / "b", "bantamkit")
    apply_plan(planned(a, b), a, b)
    put(tmp_path / "a", {"price.md": memory("price", "The price", "It was 25 €, now 20 €.")})
    a, b = opened(tmp_path / "a", "claude-code"), opened(tmp_path / "b", "bantamkit")
    found = planned(a, b, tombstones=(opened(topic, "memory-compiler"),))
    assert not refused(found)
    assert any("T-003" in note for note in found.notes)


def test_lint_lists_what_contradicts_a_tombstone(claude: Path, topic: Path) -> None:
    store = opened(claude, "claude-code")
    assert not [f for f in lint.lint(store) if f.code == lint.TOMBSTONED]
    found = lint.lint(store, [opened(topic, "memory-compiler")])
    assert {f.path for f in found if f.code == lint.TOMBSTONED} == {"plan.md", "colour.md"}
    own = lint.lint(opened(topic, "memory-compiler"))
    assert not [f for f in own if f.code == lint.TOMBSTONED], "the decision that tells is exempt"
