"""The bridge writes to a store that is one file, as to any other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from interop import applying, stores, undoing
from interop.bridge import Bridge
from interop.convert import apply_plan, plan
from interop.disk import kept
from interop.errors import FormatError, RefusedError
from interop.model import Memory
from tests.faulting import note

NOW = "2026-11-30T12:00:00.000Z"
TEXT = "The spare key hangs behind the workshop door."


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a snapshot with a complement in it."""
    source = tmp_path / "source"
    source.mkdir()
    note(source, "bells", "Bells are loud, and sold in pairs.")
    note(source, "racks", "Racks stand in the yard.")
    place = tmp_path / "all.jsonl"
    here = stores.open_store(f"claude-code:{source}")
    there = stores.open_store(f"jsonl:{place}", must_exist=False)
    apply_plan(plan(here, there, now=NOW), here, there)
    return place


def memories(file: Path) -> dict[str, Memory]:
    found = stores.open_store(f"jsonl:{file}").raw.records
    return {r.key: r for r in found if isinstance(r, Memory)}


def test_what_is_remembered_is_a_line_and_is_undone(file: Path) -> None:
    before = file.read_bytes()
    bridge = Bridge(write=f"jsonl:{file}")
    told = bridge.remember(TEXT, name="key", description="Where it hangs", tags=["shop"])
    there = memories(file)[told.key]
    assert (there.body.text, there.name, there.tags) == (TEXT, "key", ("shop",))
    assert [one.key for one in bridge.search("workshop").found] == [told.key]
    old, new = before.splitlines(), file.read_bytes().splitlines()
    assert [line for line in old if line not in new] == []
    assert len(new) == len(old) + 1
    assert bridge.remember(TEXT, name="key2").already == "known"
    undoing.undo(file)
    assert file.read_bytes() == before


def test_a_snapshot_that_is_not_there_is_made(tmp_path: Path) -> None:
    place = tmp_path / "new.jsonl"
    told = Bridge(write=f"jsonl:{place}").remember(TEXT)
    assert memories(place)[told.key].body.text == TEXT
    undoing.undo(place)
    assert not place.exists()


def test_forgetting_archives_and_purging_takes_the_text_out(file: Path) -> None:
    bridge = Bridge(write=f"jsonl:{file}")
    key = bridge.remember("Gloves are knitted by Ada.").key
    done = bridge.forget(key, "sold out")
    assert done.how == "archived"
    assert memories(file)[key].state == "archived"
    undoing.undo(file)
    assert memories(file)[key].state == "live"
    with pytest.raises(RefusedError, match="would be removed"):
        bridge.forget(key, "sold out", purge=True)
    assert bridge.forget(key, "sold out", purge=True, yes=True).how == "removed"
    assert b"knitted by Ada" not in file.read_bytes()
    assert not [one for one in kept.kept(file) if b"knitted by Ada" in (one.data or b"")]


def test_another_writer_in_between_is_seen(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = applying.locked
    calls: list[int] = []

    def locked(
        root: Path, label: str, wait: float, *, file: bool = False
    ) -> AbstractContextManager[None]:
        if not calls:
            calls.append(1)
            Bridge(write=f"jsonl:{root}").remember("Pumps stand by the door.")
        return real(root, label, wait, file=file)

    monkeypatch.setattr(applying, "locked", locked)
    Bridge(write=f"jsonl:{file}").remember(TEXT)
    texts = {r.body.text for r in memories(file).values()}
    assert {TEXT, "Pumps stand by the door."} <= texts


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(FormatError, match="is a folder"):
        Bridge(write=f"jsonl:{tmp_path / 'folder.jsonl'}").remember(TEXT)
    assert list((tmp_path / "folder.jsonl").iterdir()) == []
