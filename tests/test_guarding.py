"""Tombstones with teeth, in real conversions: refused with the reason, let through one by one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from interop import check, complement_file, guard, guarding, lint, roles
from interop.choices import Choices
from interop.complement import EARLIER
from interop.convert import after, apply_plan, plan
from interop.errors import RefusedError, UsageError
from interop.plan import COMPLEMENT, Plan
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


STONES = (
    "# Tombstones\n\n"
    "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
    "|---|---|---|---|---|---|---|\n"
)
ROWS = (
    "# Decisions\n\n| ID | Decision | Why | Date | Evidence | Supersedes | Status |\n"
    "|---|---|---|---|---|---|---|\n"
)


def stood(found: Plan) -> list[str]:
    return [note for note in found.notes if note.endswith("it stood there before")]


def test_the_decision_that_tells_is_known_where_a_store_of_the_format_is_on_the_way(
    topic: Path, tmp_path: Path
) -> None:
    """Back at the topic its complement has files of the other format, with keys of their own."""
    a = opened(topic, "memory-compiler")
    b = after(
        plan(a, opened(tmp_path / "b", "claude-code"), now=NOW),
        opened(tmp_path / "b", "claude-code"),
    )
    a = after(plan(b, a, now=NOW), a)
    for name in ("claude-code", "theokit", "memory-compiler"):
        there = opened(tmp_path / f"new-{name}", name)
        found = plan(a, there, now=NOW)
        assert not refused(found), name
        done = after(found, there)
        assert not [f for f in lint.lint(done) if f.code == lint.TOMBSTONED], name
        onward = opened(tmp_path / f"onward-{name}", "memory-compiler")
        assert not refused(plan(done, onward, now=NOW)), name


@pytest.fixture
def namesakes(tmp_path: Path) -> tuple[Opened, Opened]:
    """Give two topics: D-001 and D-002 are history in the one, and something else in the other."""
    put(
        tmp_path / "one",
        {
            **TOPIC,
            "DECISIONS.md": ROWS
            + "| D-001 | Go-live is 2026-09-01 | plan | 2026-08-01 |  |  | Superseded |\n"
            + "| D-002 | Go-live moved from 2026-09-01 | late | 2026-08-02 |  | D-001 | Active |\n",
            "TOMBSTONES.md": STONES
            + "| T-001 | go-live | 2026-09-01 | D-002 | 2026-08-02 | moved | D-001, call |\n",
        },
    )
    put(
        tmp_path / "other",
        {
            **TOPIC,
            "CONTEXT.md": "# Context\n",
            "DECISIONS.md": ROWS
            + "| D-001 | Rent the hall until 2026-09-01 | frost | 2026-05-01 |  |  | Active |\n"
            + "| D-002 | Buy locks by 2026-09-01 | theft | 2026-05-02 |  |  | Active |\n",
            "TOMBSTONES.md": STONES,
        },
    )
    return opened(tmp_path / "one", "memory-compiler"), opened(
        tmp_path / "other", "memory-compiler"
    )


def test_an_id_means_the_record_of_its_own_store(namesakes: tuple[Opened, Opened]) -> None:
    one, other = namesakes
    found = plan(one, other, now=NOW)
    assert not refused(found)
    assert [note.partition(":")[0] for note in stood(found)] == [
        "DECISIONS.md#D-001",
        "DECISIONS.md#D-002",
    ]
    done = after(found, other)
    told = {r.key for r in done.raw.records if "Go-live" in str(getattr(r, "decision", ""))}
    assert told == {"DECISIONS.md#D-003", "DECISIONS.md#D-004"}
    caught = [f.path for f in lint.lint(done) if f.code == lint.TOMBSTONED]
    assert caught == ["DECISIONS.md#D-001", "DECISIONS.md#D-002"]
    # and on the way on: what tells of the change goes, its namesakes are asked for
    back = plan(done, one, now=NOW)
    assert set(refused(back)) == {"DECISIONS.md#D-001", "DECISIONS.md#D-002"}
    assert not stood(back), "the decisions of the one store are known by their ids in the other"


def test_what_stands_where_a_tombstone_arrives_is_warned_of(topic: Path, tmp_path: Path) -> None:
    """From the source, or from a further store; in what came from there, and in the store's own."""
    rows = (topic / "TOMBSTONES.md").read_text("utf-8")
    (topic / "TOMBSTONES.md").write_text(STONES, "utf-8")
    (topic / "CONTEXT.md").write_text("# C\n\n## Facts\n\n- An hour is 25 €.\n", "utf-8")
    here, there = opened(topic, "memory-compiler"), opened(tmp_path / "b", "claude-code")
    apply_plan(plan(here, there, now=NOW), here, there)
    put(tmp_path / "b", {"own.md": memory("own", "The colour", "It is #1e3a5f.")})
    (topic / "TOMBSTONES.md").write_text(rows, "utf-8")
    here, there = opened(topic, "memory-compiler"), opened(tmp_path / "b", "claude-code")
    notes = stood(plan(here, there, now=NOW))
    assert len(notes) == 2
    assert [n for n in notes if n.startswith("an-hour-is-25.md: body") and "T-003" in n]
    assert [n for n in notes if n.startswith("own.md: body") and "T-002" in n]
    put(tmp_path / "a", {"own.md": memory("own", "The colour", "It is #1e3a5f.")})
    a, b = opened(tmp_path / "a", "claude-code"), opened(tmp_path / "c", "theokit")
    b = after(plan(a, b, now=NOW), b)
    (note,) = stood(plan(a, b, Choices(tombstones=(here,)), now=NOW))
    assert "T-002" in note


class TestLettingThrough:
    """A single record, for the tombstones that it states when that is said."""

    def let(self, claude: Path, topic: Path, root: Path, *keys: str) -> tuple[Opened, Opened]:
        stones = opened(topic, "memory-compiler")
        a, b = opened(claude, "claude-code"), opened(root, "theokit")
        chosen = Choices(tombstones=(stones,), allow_tombstoned=frozenset(keys))
        apply_plan(plan(a, b, chosen, now=NOW), a, b, chosen)
        return opened(claude, "claude-code"), opened(root, "theokit")

    def test_another_value_is_refused_again(
        self, claude: Path, topic: Path, tmp_path: Path
    ) -> None:
        self.let(claude, topic, tmp_path / "b", "plan.md", "colour.md")
        put(claude, {"plan.md": memory("plan", "25 €", "We go live on 2026-09-01, I said.")})
        a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "theokit")
        chosen = Choices(tombstones=(opened(topic, "memory-compiler"),))
        said = refused(plan(a, b, chosen, now=NOW))
        assert set(said) == {"plan.md"}
        assert "T-003" in said["plan.md"]
        assert "T-001" not in said["plan.md"], "that one was let through"

    def test_what_stays_is_not_asked_for_again(
        self, claude: Path, topic: Path, tmp_path: Path
    ) -> None:
        a, b = self.let(claude, topic, tmp_path / "b", "plan.md", "colour.md")
        assert b.complement is not None
        noted = {x.key: {(y.id, y.value) for y in x.allowed} for x in b.complement.lines}
        assert noted["plan.md"] == {("t-001", "2026-09-01")}
        assert noted["colour.md"] == {("t-002", "hex 1E3A5F")}
        chosen = Choices(tombstones=(opened(topic, "memory-compiler"),))
        found = plan(a, b, chosen, now=NOW)
        assert not found.blocked
        assert found.changes == ()
        assert not stood(found), "nobody is warned of what was let through"
        # said in another field of the same record, it is the same value of the same tombstone
        put(claude, {"plan.md": memory("plan", "Live: 2026-09-01", "We go live on 2026-09-01.")})
        assert not refused(plan(opened(claude, "claude-code"), b, chosen, now=NOW))

    def test_it_lets_nothing_into_a_store_further_on(
        self, claude: Path, topic: Path, tmp_path: Path
    ) -> None:
        _, b = self.let(claude, topic, tmp_path / "b", "plan.md", "colour.md")
        chosen = Choices(tombstones=(opened(topic, "memory-compiler"),))
        c = opened(tmp_path / "c", "claude-code")
        assert set(refused(plan(b, c, chosen, now=NOW))) == {"plan.md", "colour.md"}

    def test_it_ends_with_the_value(self, claude: Path, topic: Path, tmp_path: Path) -> None:
        self.let(claude, topic, tmp_path / "b", "plan.md", "colour.md")
        before = (claude / "plan.md").read_text("utf-8")
        chosen = Choices(tombstones=(opened(topic, "memory-compiler"),))
        put(claude, {"plan.md": memory("plan", "When we open", "We go live in autumn.")})
        a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "theokit")
        apply_plan(plan(a, b, chosen, now=NOW), a, b, chosen)
        put(claude, {"plan.md": before})
        a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "theokit")
        assert set(refused(plan(a, b, chosen, now=NOW))) == {"plan.md"}

    def test_a_complement_of_before_is_read(
        self, claude: Path, topic: Path, tmp_path: Path
    ) -> None:
        """It says no more than that the record was let through: what it said then stays so."""
        _, b = self.let(claude, topic, tmp_path / "b", "plan.md", "colour.md")
        kept = complement_file.dumps(b.complement or pytest.fail("it has one"))
        noted = re.sub(rb'"allowed":\[\[.*?\]\]', b'"allowed":true', kept)
        assert noted.count(b'"allowed":true') == 2
        old = complement_file.loads(noted, "here")
        assert {x.key for x in old.lines if x.allowed == (EARLIER,)} == {
            "plan.md",
            "colour.md",
        }
        assert complement_file.dumps(old) == noted
        (b.root / COMPLEMENT).write_bytes(noted)
        (b.root / "plan.md").unlink()  # it was removed there, and is to come back
        chosen = Choices(
            tombstones=(opened(topic, "memory-compiler"),),
            decisions={"plan.md": {"take": "source"}},
        )
        a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "theokit")
        assert not refused(plan(a, b, chosen, now=NOW))
        put(claude, {"plan.md": memory("plan", "When we open", "We still go live on 2026-09-01.")})
        a = opened(claude, "claude-code")
        assert set(refused(plan(a, b, chosen, now=NOW))) == {"plan.md"}

    def test_a_record_that_is_none_is_an_error(
        self, claude: Path, topic: Path, tmp_path: Path
    ) -> None:
        a, b = opened(claude, "claude-code"), opened(tmp_path / "b", "theokit")
        with pytest.raises(UsageError, match=r"'plan\.mb' is no record"):
            plan(a, b, Choices(allow_tombstoned=frozenset({"plan.mb"})), now=NOW)
