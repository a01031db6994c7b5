"""Which record a key means: where names, keys and places of several stores meet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interop import config
from interop.bridge import Bridge
from interop.errors import RefusedError
from tests.test_bridge import cache, claude

assert cache  # the fixture, used by every test here

LOCKS = "Lock all bikes at night."
DOOR = "The door lock is rusty."


def files(root: Path) -> list[str]:
    return sorted(p.name for p in root.glob("*.md"))


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Give two stores: `lock` says different things, and b says a's under another key."""
    a = claude(tmp_path / "a", lock=LOCKS)
    b = claude(tmp_path / "b", lock=DOOR)
    (tmp_path / "b" / "other.md").write_bytes(
        (tmp_path / "a" / "lock.md").read_bytes().replace(b"name: lock", b"name: other")
    )
    return a, b


def test_the_record_of_the_written_store_is_forgotten_whatever_has_its_key_elsewhere(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    a, b = pair
    done = Bridge(read=[a], write=b).forget("lock.md", "oiled", yes=True)
    assert (done.store, done.key) == (b, "lock.md")
    assert files(tmp_path / "b") == ["other.md"]
    assert any(f"{a}:lock.md says something else, and stays" in note for note in done.notes)


def test_an_address_of_another_store_means_what_it_says_here(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    a, b = pair
    done = Bridge(read=[a], write=b).forget(f"{a}:lock.md", "no more", yes=True)
    assert done.key == "other.md"
    assert files(tmp_path / "b") == ["lock.md"]
    assert f"{a}:lock.md is {b}:other.md here" in done.notes


def test_a_key_that_only_another_store_has_means_its_fact_here(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    a, b = pair
    (tmp_path / "b" / "lock.md").unlink()
    done = Bridge(read=[a], write=b).forget("lock.md", "no more", yes=True)
    assert done.key == "other.md"
    assert f"{a}:lock.md is {b}:other.md here" in done.notes
    assert files(tmp_path / "b") == []


def test_a_key_that_means_two_facts_elsewhere_is_refused_with_both(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    a, b = pair
    c = claude(tmp_path / "c", lock="A lock costs ten euros.")
    (tmp_path / "b" / "lock.md").unlink()
    with pytest.raises(RefusedError, match="2 different records") as caught:
        Bridge(read=[a, c], write=b).forget("lock.md", "no more", yes=True)
    assert f"{a}:lock.md" in str(caught.value)
    assert f"{c}:lock.md" in str(caught.value)
    assert files(tmp_path / "b") == ["other.md"]


def test_what_only_another_store_has_is_refused(pair: tuple[str, str]) -> None:
    a, b = pair
    with pytest.raises(RefusedError, match="this store only"):
        Bridge(read=[b], write=a).forget(f"{b}:lock.md", "x", yes=True)


def test_every_name_of_a_place_is_understood_and_answers_use_one(tmp_path: Path) -> None:
    spec = claude(tmp_path / "a", lock=LOCKS)
    config.add({"bikes-claude-code": spec, "work": spec})
    bridge = Bridge(read=["@bikes-claude-code", "@work", str(tmp_path / "a")], write="@work")
    told = bridge.remember("Bells are sold in pairs.")
    assert bridge.stores == ("@bikes-claude-code",)
    assert bridge.writes == told.store == "@bikes-claude-code"
    (found,) = bridge.search("bells").found
    assert [s.store for s in found.sources] == ["@bikes-claude-code"]
    for name in ("@work", "@bikes-claude-code", spec, str(tmp_path / "a")):
        assert bridge.get(f"{name}:{told.key}").found.key == told.key, name
    assert bridge.forget(f"@work:{told.key}", "sold", yes=True).store == "@bikes-claude-code"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_folder_and_a_link_to_it_are_one_place(tmp_path: Path) -> None:
    spec = claude(tmp_path / "a", lock=LOCKS)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    bridge = Bridge(read=[str(tmp_path / "link"), spec])
    (found,) = bridge.records().found
    assert [s.store for s in found.sources] == [str(tmp_path / "link")]
    assert bridge.get(f"{spec}:lock.md").found.key == "lock.md"


def test_one_folder_in_two_formats_stays_two_stores(tmp_path: Path) -> None:
    spec = claude(tmp_path / "a", lock=LOCKS)
    other = f"theokit:{tmp_path / 'a'}"
    assert Bridge(read=[spec, other]).stores == (spec, other)


def test_a_name_needs_no_adapter_to_be_resolved(tmp_path: Path) -> None:
    config.add({"work": claude(tmp_path / "a", lock=LOCKS)})
    code = (
        "import sys; from interop.bridge.places import place_of; "
        "assert place_of('@work').is_stated; print('interop.stores' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
