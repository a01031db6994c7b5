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


@pytest.mark.parametrize(
    ("text", "name", "key"),
    [
        (TEXT, None, "the-spare-key-hangs-behind-the-workshop-door.md"),
        (TEXT, "Spare key", "spare-key.md"),
        ("# Öl\n\nChains want it.", None, "öl.md"),
        ("備用鑰匙", None, "備用鑰匙.md"),
        (
            "many words " * 20,
            None,
            "many-words-many-words-many-words-many-words-many-words-many.md",
        ),
    ],
)
def test_a_new_line_has_a_key_that_says_what_it_is(
    text: str, name: str | None, key: str, file: Path
) -> None:
    bridge = Bridge(write=f"jsonl:{file}")
    keys = {bridge.remember(text, name=name).key}
    keys.add(bridge.remember(text + "\n\nAnd one thing more.").key)
    stem = key.removesuffix(".md")
    more = bridge.remember(text + "\n\nAnd a third.").key
    assert f"snapshot.jsonl#{key}" in keys
    if name is None:
        assert keys == {f"snapshot.jsonl#{key}", f"snapshot.jsonl#{stem}-2.md"}
        assert more == f"snapshot.jsonl#{stem}-3.md"
    for one in (*keys, more):
        assert bridge.get(one).found.key == one


def test_a_text_without_a_word_has_a_key_too(file: Path) -> None:
    assert Bridge(write=f"jsonl:{file}").remember("🚲").key == "snapshot.jsonl#memory.md"


def test_it_is_named_so_in_a_format_with_files(file: Path, tmp_path: Path) -> None:
    told = Bridge(write=f"jsonl:{file}").remember(TEXT)
    there = stores.open_store(f"claude-code:{tmp_path / 'store'}", must_exist=False)
    here = stores.open_store(f"jsonl:{file}")
    apply_plan(plan(here, there, now=NOW), here, there)
    stem = told.key.partition("#")[2]
    assert TEXT in (tmp_path / "store" / stem).read_text(encoding="utf-8")
