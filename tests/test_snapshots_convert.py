"""Snapshots in conversions: in between, as a messenger, copied, and read by others."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from interop import check, convert, diff, registry, stores, taken
from interop.choices import Choices
from interop.disk import stream
from interop.errors import FormatError, RefusedError, UsageError
from interop.stores import Opened
from tests.samples import GOLDEN, ROOT, Sample, samples

NOW = "2026-09-01T08:30:00.000Z"
CARRY = Choices(carry=True)
SUB = GOLDEN / "claude-code" / "sub-folders" / "store"


def put(source: str | Path, destination: str | Path, choices: Choices = CARRY) -> list[str]:
    """Convert on the disk; give the actions of the plan."""
    here = stores.open_store(str(source))
    there = stores.open_store(str(destination), must_exist=False)
    plan = convert.plan(here, there, choices, now=NOW)
    convert.apply_plan(plan, here, there, choices)
    return [o.action for o in plan.outcomes]


def differences(a: str | Path, b: str | Path) -> list[tuple[str, str | None, str | None]]:
    found = diff.diff(stores.open_store(str(a)), stores.open_store(str(b)))
    assert found.same == all(c.what == "order" for c in found.changes)
    return [(c.what, c.key_a or c.key_b, c.field) for c in found.changes if c.what != "order"]


def files(root: Path) -> dict[str, bytes]:
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and ".interop" not in p.relative_to(root).parts
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    shutil.copytree(SUB, tmp_path / "store")
    return tmp_path / "store"


def in_memory(sample: Sample) -> tuple[Opened, Opened]:
    """A sample, and a snapshot of it."""
    a = sample.opened()
    empty = check.empty(registry.get("jsonl"), "snapshot")
    every = frozenset(r.key for r in a.restored.store.records)
    found = convert.plan(a, empty, Choices(carry=True, allow_tombstoned=every), now=NOW)
    assert not found.blocked
    assert {o.action for o in found.outcomes} <= {"add"}, "every record has a line"
    fates = {f.fate for o in found.outcomes for f in o.fields}
    assert fates <= {"exact", "restored"}, "nothing is supplied, nothing only travels"
    return a, convert.after(found, empty)


def test_a_snapshot_says_everything_and_differs_in_nothing(sample: Sample) -> None:
    if sample.adapter.name == "jsonl":
        return  # a copy, which test_round_trips has
    a, shot = in_memory(sample)
    assert diff.diff(a, shot).changes == ()
    assert diff.diff(shot, a).changes == ()
    other = sample.opened("another machine")
    assert diff.diff(other, shot).changes == ()
    assert diff.diff(shot, other).changes == ()


def test_a_store_renamed_within_is_found_again(store: Path, tmp_path: Path) -> None:
    shot = tmp_path / "shot.jsonl"
    put(f"claude-code:{store}", shot)
    (store / "team" / "rota.md").rename(store / "team" / "shifts.md")
    (store / "logs" / "2026-05-18.md").unlink()
    (store / "new.md").write_text("---\nname: new\n---\n\nA new one.\n", encoding="utf-8")
    put(f"claude-code:{store}", shot, Choices(delete=True))
    assert differences(shot, f"claude-code:{store}") == []
    put(shot, f"claude-code:{tmp_path / 'back'}")
    assert files(tmp_path / "back") == files(store)


def test_an_edit_of_the_snapshot_comes_back_alone(store: Path, tmp_path: Path) -> None:
    shot = tmp_path / "shot.jsonl"
    put(f"claude-code:{store}", shot)
    shot.write_bytes(shot.read_bytes().replace(b'"text":"Salt water."', b'"text":"Sweet."', 1))
    assert differences(shot, f"claude-code:{store}") == [("changed", "context/pier.md", "body")]
    before = files(store)
    assert put(shot, f"claude-code:{store}").count("update") == 1
    changed = {p for p, data in files(store).items() if before[p] != data}
    assert changed == {"context/pier.md"}
    assert b"Sweet." in (store / "context" / "pier.md").read_bytes()


def test_a_record_written_by_hand_becomes_a_memory(store: Path, tmp_path: Path) -> None:
    shot = tmp_path / "shot.jsonl"
    put(f"claude-code:{store}", shot)
    line = '{"role":"memory","key":"bell.md","name":"bell","kinds":{"claude":"user"}}'
    with shot.open("a", encoding="utf-8") as file:
        file.write(line)
    put(shot, f"claude-code:{store}")
    assert b"name: bell" in (store / "bell.md").read_bytes()
    assert differences(shot, f"claude-code:{store}") == []


def test_many_stores_fit_into_one(store: Path, tmp_path: Path) -> None:
    shot, theo = tmp_path / "shot.jsonl", tmp_path / "theo"
    shutil.copytree(GOLDEN / "theokit" / "basic" / "store", theo)
    put(f"claude-code:{store}", shot)
    put(f"theokit:{theo}", shot)
    there = stores.open_store(str(shot))
    assert there.complement is not None
    assert {s.format for s in there.complement.sources.values()} == {"claude-code", "theokit"}
    put(shot, f"theokit:{tmp_path / 'theo2'}", Choices(carry=True, skip_refused=True))
    assert files(theo).items() <= files(tmp_path / "theo2").items() | files(theo).items()
    for path, data in files(theo).items():
        if path != "MEMORY.md":
            assert files(tmp_path / "theo2")[path] == data


def test_a_copy_has_a_life_of_its_own(store: Path, tmp_path: Path) -> None:
    shot, copy = tmp_path / "shot.jsonl", tmp_path / "copy.jsonl"
    put(f"claude-code:{store}", shot)
    shutil.copy(shot, copy)
    one, other = stores.open_store(str(shot)), stores.open_store(str(copy))
    assert one.raw.id != other.raw.id
    assert one.complement is not None
    assert one.raw.id == one.complement.store
    shot.rename(tmp_path / "moved.jsonl")
    assert stores.open_store(str(tmp_path / "moved.jsonl")).raw.id == one.raw.id


def test_an_older_snapshot_in_its_place_is_no_damage(store: Path, tmp_path: Path) -> None:
    shot = tmp_path / "shot.jsonl"
    put(f"claude-code:{store}", shot)
    first = shot.read_bytes()
    pier = store / "context" / "pier.md"
    pier.write_bytes(pier.read_bytes().replace(b"Salt", b"Sweet"))
    put(f"claude-code:{store}", shot)
    shot.write_bytes(first)
    assert stores.open_store(str(shot)).doubts == ()
    assert put(f"claude-code:{store}", shot).count("update") == 1


# --- another reader


def _schema() -> Draft202012Validator:
    known: Registry[Any] = Registry()
    for name in ("snapshot", "record"):
        schema = orjson.loads((ROOT / "docs" / f"{name}.schema.json").read_bytes())
        known = known.with_resource(schema["$id"], Resource.from_contents(schema))
    return Draft202012Validator({"$ref": "urn:memory-interop:snapshot:1"}, registry=known)


@pytest.mark.parametrize(
    "name", ["claude-code", "theokit", "bantamkit", "memhtml", "memory-compiler"]
)
def test_another_program_reads_it_by_the_page(name: str, tmp_path: Path) -> None:
    """Section 2 of docs/formats/jsonl.md, in a dozen lines that know nothing of interop."""
    validator = _schema()
    for sample in [s for s in samples() if s.adapter.name == name and s.id.startswith("golden")]:
        shot = tmp_path / f"{sample.case.name}.jsonl"
        place = tmp_path / "stores" / sample.case.name
        shutil.copytree(sample.case / "store", place)
        every = frozenset(r.key for r in sample.opened().restored.store.records)
        put(f"{name}:{place}", shot, Choices(allow_tombstoned=every))
        lines: list[Any] = [json.loads(x) for x in shot.read_text("utf-8").split("\n") if x]
        for line in lines:
            validator.validate(line)
        assert lines[0]["type"] == "snapshot"
        records = [x for x in lines if "role" in x]
        assert len(records) == len(every)
        kept = {x["digest"]: x for x in lines if x.get("type") == "file"}
        (source,) = [x for x in lines if x.get("type") == "source"]
        found = {
            path: kept[digest]["text"].encode("utf-8")
            if "text" in kept[digest]
            else base64.b64decode(kept[digest]["base64"])
            for path, digest in source["tree"].items()
        }
        assert found == dict(sample.tree.files)
        assert all(hashlib.sha256(found[p]).hexdigest() == d for p, d in source["tree"].items())


# --- stdin


def test_stdin_is_read_only_where_it_is_offered() -> None:
    stream.offer(None)
    with pytest.raises(UsageError, match="which is not read here"):
        stores.open_store("-")
    shot = (GOLDEN / "jsonl" / "basic" / "store" / "snapshot.jsonl").read_bytes()
    stream.offer(lambda: shot)
    try:
        opened = stores.open_store("jsonl:-")
        assert opened.stream
        assert len(opened.raw.records) == 2
        with pytest.raises(UsageError, match="only once"):
            stores.open_store("-")
    finally:
        stream.offer(None)


def test_a_dash_is_a_path_for_formats_that_are_folders() -> None:
    assert not stores.is_stream("claude-code:-")
    assert not stores.is_stream("a-")
    assert stores.is_stream("-")
    with pytest.raises(FormatError, match="no such folder"):
        stores.open_store("claude-code:-")


def test_stores_that_are_no_files_are_seen_as_they_are(store: Path) -> None:
    one = stores.open_store(f"claude-code:{store}")
    assert taken.beside((one, one)) == (one, one)


def test_a_record_that_came_from_the_snapshot_lies_where_it_came_to(tmp_path: Path) -> None:
    """Both sides of a conflict are kept, so one of them lies under another name on each machine."""
    lap, desk = tmp_path / "lap", tmp_path / "desk"
    lap.mkdir()
    text = "---\nname: pump\ndescription: Pump\nmetadata:\n  type: project\n---\n\nIt leaks{}.\n"
    (lap / "pump.md").write_text(text.format(""), encoding="utf-8")
    put(f"claude-code:{lap}", tmp_path / "lap.jsonl")
    put(tmp_path / "lap.jsonl", f"claude-code:{desk}")
    (lap / "pump.md").write_text(text.format(" at the lap"), encoding="utf-8")
    (desk / "pump.md").write_text(text.format(" at the desk, and loudly"), encoding="utf-8")
    put(f"claude-code:{lap}", tmp_path / "lap.jsonl")
    both = Choices(decisions={"snapshot.jsonl#pump.md": {"take": "both"}})
    put(tmp_path / "lap.jsonl", f"claude-code:{desk}", both)
    put(f"claude-code:{desk}", tmp_path / "desk.jsonl")
    put(tmp_path / "desk.jsonl", f"claude-code:{lap}")
    assert {p.name for p in lap.glob("pump*.md")} == {"pump.md", "pump-2.md"}
    for place in (lap / "pump.md", desk / "pump-2.md"):
        assert b"at the lap" in place.read_bytes()
    for twin in (desk, lap):
        found = differences(tmp_path / "desk.jsonl", f"claude-code:{twin}")
        assert [c for c in found if c[0] != "carried"] == []


def test_a_store_that_states_a_rejected_value_can_be_kept_and_brought_back(tmp_path: Path) -> None:
    """A snapshot tells no agent anything; another store is told nothing that was rejected."""
    topic = tmp_path / "topic"
    topic.mkdir()
    (topic / "TOMBSTONES.md").write_text(
        "# Tombstones\n\n"
        "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
        "|---|---|---|---|---|---|---|\n"
        "| X1 | price of a day | 19 crowns | 21 crowns | 2031-05-02 | raised | minutes |\n",
        encoding="utf-8",
    )
    (topic / "DECISIONS.md").write_text(
        "# Decisions\n\n| ID | Decision | Why | Date | Evidence | Supersedes | Status |\n"
        "|---|---|---|---|---|---|---|\n"
        "| D1 | A day costs 19 crowns | repairs | 2031-05-02 | minutes | — | Active |\n",
        encoding="utf-8",
    )
    before = files(topic)
    here = stores.open_store(f"memory-compiler:{topic}")
    there = stores.open_store(str(tmp_path / "kept.jsonl"), must_exist=False)
    plan = convert.plan(here, there, now=NOW)
    assert not plan.blocked
    assert any("DECISIONS.md#D1" in n and "it stood there before" in n for n in plan.notes)
    convert.apply_plan(plan, here, there)
    shutil.rmtree(topic)
    topic.mkdir()
    put(tmp_path / "kept.jsonl", f"memory-compiler:{topic}", Choices())
    assert files(topic) == before
    with pytest.raises(RefusedError):
        put(tmp_path / "kept.jsonl", f"claude-code:{tmp_path / 'other'}", Choices(carry=True))
