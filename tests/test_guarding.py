"""Tombstones with teeth, in real conversions: refused with the reason, let through one by one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interop import check, guard, guarding, lint, roles
from interop.choices import Choices
from interop.convert import after, apply_plan, plan
from interop.errors import RefusedError
from interop.plan import Plan
from interop.rendering import marked
from interop.stores import Opened, assemble, open_store
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


def test_what_is_said_of_a_verbatim_comparison_is_said_once(
    claude: Path, topic: Path, tmp_path: Path
) -> None:
    a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "bantamkit")
    found = planned(a, b, tombstones=(opened(topic, "memory-compiler"),))
    assert len(refused(found)) == 2
    assert found.notes.count(guard.VERBATIM) == 1
    assert guard.VERBATIM not in planned(a, b).notes


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interop.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_command_line_says_so_too(
    claude: Path, topic: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    said = ("--tombstones", f"memory-compiler:{topic}", *more)
    kinds = ("--kind-map", "untyped=project")
    done = run("convert", f"claude-code:{claude}", f"bantamkit:{tmp_path / 'b'}", *kinds, *said)
    assert done.returncode == 3
    assert done.stdout.count(guard.VERBATIM) == 1
    found = run("lint", f"claude-code:{claude}", *said)
    assert found.returncode == 1
    assert found.stderr.count(guard.VERBATIM) == 1
    assert guard.VERBATIM not in found.stdout
    assert guard.VERBATIM not in run("lint", f"claude-code:{claude}", *more).stderr


def test_the_decision_that_tells_is_known_at_the_end_of_a_chain(
    topic: Path, tmp_path: Path
) -> None:
    """Its id stands in the key of the first store only; who cites it is known two stores on."""
    store = opened(topic, "memory-compiler")
    for name in ("theokit", "claude-code", "memhtml", "bantamkit"):
        there = opened(tmp_path / name, name)
        decisions = check.placeholders(plan(store, there, now=NOW), there.adapter)
        found = plan(store, there, Choices(decisions=decisions), now=NOW)
        assert not refused(found), name
        store = after(found, there)
        findings = [f.path for f in lint.lint(store) if f.code == lint.TOMBSTONED]
        assert not findings, name


def test_a_tombstone_that_only_travels_keeps_its_teeth(
    claude: Path, topic: Path, tmp_path: Path
) -> None:
    there = opened(tmp_path / "b", "bantamkit")
    source = opened(topic, "memory-compiler")
    # nobody declares a kind, so nothing can stand in a format that demands one
    moved = after(plan(source, there, Choices(carry=True), now=NOW), there)
    assert any(x.base.role == "tombstone" for x in moved.restored.carried)
    found = planned(opened(claude, "claude-code"), moved)
    assert {"plan.md", "colour.md"} <= set(refused(found))
    (stone,) = [v for v in guarding.stones([moved]).values if v.text == "2026-09-01"]
    assert (stone.id, stone.stone.store) == ("T-001", moved.label)


def test_a_dropped_decision_is_history(topic: Path) -> None:
    text = (topic / "DECISIONS.md").read_text("utf-8")
    row = "| D-003 | Open on 2026-09-01 after all | stubborn | 2026-08-22 | mail | — | {} |\n"
    for status, caught in (("Active", ["DECISIONS.md#D-003"]), ("Dropped", [])):
        (topic / "DECISIONS.md").write_text(text + row.format(status), "utf-8")
        found = lint.lint(opened(topic, "memory-compiler"))
        assert [f.path for f in found if f.code == lint.TOMBSTONED] == caught


@pytest.mark.parametrize("name", ["claude-code", "theokit", "bantamkit", "memhtml"])
def test_a_tombstone_that_is_changed_keeps_its_id(topic: Path, tmp_path: Path, name: str) -> None:
    there = opened(tmp_path / name, name)
    for reason in ("the ferry is late", "the ferry is late again"):
        path = topic / "TOMBSTONES.md"
        path.write_text(path.read_text("utf-8").replace("the ferry is late", reason), "utf-8")
        now = opened(topic, "memory-compiler")
        source = assemble(now.adapter, now.root, now.tree, None, "the topic")
        decisions = check.placeholders(plan(source, there, now=NOW), there.adapter)
        there = after(plan(source, there, Choices(decisions=decisions), now=NOW), there)
        (marker,) = [
            roles.parse(memory.body.text)
            for r in there.raw.records
            if (memory := marked(r, there.adapter)) is not None and reason in memory.body.text
        ]
        assert marker is not None
        assert marker.id == "T-001"


def test_what_tells_of_the_change_is_known_by_its_new_id(topic: Path, tmp_path: Path) -> None:
    """Rows that were converted beside others got new ids, and so did what they cite."""
    told_before = (
        "| D-002 | Helmets are lent with every bike | safety | 2026-03-02 | — | — | Active |"
    )
    decisions = TOPIC["DECISIONS.md"].splitlines()
    stones = TOPIC["TOMBSTONES.md"].splitlines()
    own = {
        **TOPIC,
        "DECISIONS.md": "\n".join([*decisions[:4], told_before, ""]),
        "TOMBSTONES.md": "\n".join([*stones[:4], ""]),
    }
    put(tmp_path / "other", own)
    there = opened(tmp_path / "other", "memory-compiler")
    moved = after(plan(opened(topic, "memory-compiler"), there, now=NOW), there)
    (told,) = [r for r in moved.raw.records if r.key == "DECISIONS.md#D-003"]
    assert "2026-09-01" in str(told.decision)  # type: ignore[union-attr]  # it is a decision
    assert [f.path for f in lint.lint(moved) if f.code == lint.TOMBSTONED] == []
