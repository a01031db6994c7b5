"""A conversion that has nothing to do is told by digests, and says what planning would say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interop import convert, settled, stores
from interop.choices import NO_CHOICES, Choices
from interop.complement_file import head_of, keys_of, loads
from interop.plan import COMPLEMENT, Plan
from tests.samples import GOLDEN

NOW = "2026-11-30T12:00:00.000Z"
KINDS = Choices(kind_map={"untyped": "project"})


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def source(tmp_path: Path) -> str:
    shutil.copytree(GOLDEN / "claude-code/generation-4/store", tmp_path / "here")
    return f"claude-code:{tmp_path / 'here'}"


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"bantamkit:{tmp_path / 'there'}"


def converted(source: str, target: str, choices: Choices = KINDS) -> Plan:
    here, there = stores.open_store(source), stores.open_store(target, must_exist=False)
    plan = convert.plan(here, there, choices, now=NOW)
    convert.apply_plan(plan, here, there, choices)
    return plan


def place(spec: str) -> Path:
    return Path(spec.partition(":")[2])


def test_it_says_what_planning_says(source: str, target: str) -> None:
    assert settled.plan(source, target, KINDS) is None
    converted(source, target)
    short = settled.plan(source, target, KINDS)
    long = converted(source, target)
    assert short is not None
    assert long.changes == ()
    assert (short.outcomes, short.generation, short.source, short.destination) == (
        long.outcomes, long.generation, long.source, long.destination
    )  # fmt: skip
    assert settled.plan(source, target, NO_CHOICES) is not None


def test_order_of_records_in_shared_files(tmp_path: Path, target: str) -> None:
    shutil.copytree(GOLDEN / "claude-code/bullets-in-index/store", tmp_path / "notes")
    source = f"claude-code:{tmp_path / 'notes'}"
    converted(source, target)
    short = settled.plan(source, target, KINDS)
    assert short is not None
    assert short.outcomes == converted(source, target).outcomes


def _edit(root: Path) -> None:
    path = max(p for p in root.rglob("*.md") if p.name not in ("MEMORY.md", "index.md"))
    path.write_bytes(path.read_bytes() + b"More.\n")


def _add(root: Path) -> None:
    (root / "new.txt").write_bytes(b"x")


def _remove(root: Path) -> None:
    next(p for p in root.rglob("*.md")).unlink()


def _link(root: Path) -> None:
    (root / "link.md").symlink_to("elsewhere.md")


@pytest.mark.parametrize("change", [_edit, _add, _remove, _link])
@pytest.mark.parametrize("side", ["source", "target"])
def test_any_change_needs_planning(source: str, target: str, side: str, change: object) -> None:
    converted(source, target)
    assert callable(change)
    change(place(source if side == "source" else target))
    assert settled.plan(source, target, KINDS) is None


@pytest.mark.parametrize(
    "choices",
    [
        Choices(override=True),
        Choices(decisions={"a.md": {"take": "source"}}),
        Choices(complement=False),
        Choices(allow_tombstoned=frozenset({"a.md"})),
    ],
)
def test_choices_about_records_need_planning(source: str, target: str, choices: Choices) -> None:
    converted(source, target)
    assert settled.plan(source, target, choices) is None


def test_what_was_left_open_is_named_again(source: str, target: str) -> None:
    """A destination of its own opinion, and a removal that is pending."""
    converted(source, target)
    place(source).joinpath(sorted(p.name for p in place(source).glob("[a-z]*.md"))[0]).unlink()
    assert converted(source, target).count("pending") == 1
    assert settled.plan(source, target, KINDS) is None
    assert converted(source, target).count("pending") == 1


def test_an_edit_in_the_destination_that_stays(source: str, target: str) -> None:
    converted(source, target)
    _edit(place(target))
    assert converted(source, target).count("keep") == 1
    assert settled.plan(source, target, KINDS) is None


def test_another_source_takes_the_mark_away(source: str, target: str, tmp_path: Path) -> None:
    converted(source, target)
    shutil.copytree(GOLDEN / "claude-code/generation-3/store", tmp_path / "other")
    other = f"claude-code:{tmp_path / 'other'}"
    converted(other, target)
    assert settled.plan(source, target, KINDS) is None
    assert converted(source, target).changes == ()
    assert settled.plan(other, target, KINDS) is not None


def test_two_halves_put_together_need_planning(source: str, target: str) -> None:
    converted(source, target)
    path = place(target) / COMPLEMENT
    data = path.read_bytes()
    for merged in (data + data.partition(b"\n")[0] + b"\n", b"<<<<<<< ours\n" + data, data[:40]):
        assert head_of(merged) is None or merged == data
        path.write_bytes(merged)
        assert settled.plan(source, target, KINDS) is None


def test_a_newer_reader_needs_planning(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted(source, target)
    monkeypatch.setattr(settled, "MODEL_VERSION", 99)
    assert settled.plan(source, target, KINDS) is None


def test_the_head_is_what_the_whole_says(source: str, target: str) -> None:
    converted(source, target)
    data = (place(target) / COMPLEMENT).read_bytes()
    whole, head = loads(data, "here"), head_of(data)
    assert head is not None
    assert (head.store, head.generation, head.tree) == (whole.store, whole.generation, whole.tree)
    assert head.sources == whole.sources
    for one in whole.sources:
        assert keys_of(data, one) == [(x.key, x.to) for x in whole.lines if x.source == one]
