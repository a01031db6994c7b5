"""What the bridge writes, as the real runtimes see it; and what they take for a duplicate."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interop import stores
from interop.bridge import Bridge
from interop.model import Memory
from tests import peers

pytestmark = pytest.mark.conformance

FIRST = ("spare-key", "hangs behind the workshop door")
OTHERS = [
    ("spare-keys", "hangs behind the workshop door"),
    ("key", "a spare one hangs behind the door of the workshop"),
    ("spare-key-2", "in the office"),
    ("workshop-door", "opens with a spare key"),
    ("pump", "stands behind the door"),
    ("kagi", "倉庫の鍵"),
    ("hangs", "behind the spare workshop"),
]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("version", peers.BANTAMKIT)
def test_bantamkit_calls_the_same_facts_duplicates(version: str, tmp_path: Path) -> None:
    rules: set[bool] = set()
    for number, (name, description) in enumerate(OTHERS):
        root = tmp_path / str(number)
        bridge = Bridge(write=f"bantamkit:{root}")
        bridge.remember("One.", name=FIRST[0], description=FIRST[1], kind="user")
        fact = {"name": name, "description": description, "type": "user", "body": "Two."}
        answer = peers.run(version, root, [{"op": "save", **fact}])["results"][0]
        there = {
            r.name
            for r in stores.open_store(f"bantamkit:{root}").raw.records
            if isinstance(r, Memory)
        }
        ours = tmp_path / f"{number}-ours"
        bridge = Bridge(write=f"bantamkit:{ours}")
        bridge.remember("One.", name=FIRST[0], description=FIRST[1], kind="user")
        told = bridge.remember("Two.", name=name, description=description, kind="user")
        assert (told.already == "known") == (name not in there), (name, answer)
        rules.add(name in there)
    assert rules == {True, False}


@pytest.mark.parametrize("version", peers.BANTAMKIT)
def test_bantamkit_finds_what_was_remembered_and_not_what_was_forgotten(
    version: str, tmp_path: Path
) -> None:
    root = tmp_path / "store"
    bridge = Bridge(write=f"bantamkit:{root}")
    kept = bridge.remember("The pump stands by the door.", kind="project")
    gone = bridge.remember("Racks are numbered from the left.", kind="project")
    bridge.forget(gone.key, "renumbered")
    results = peers.run(version, root, [{"op": "lint"}, {"op": "read"}])["results"]
    assert all(r["ok"] for r in results), results
    assert Path(kept.key).stem in str(results[1])
    assert Path(gone.key).stem not in str(results[1])


def test_memhtml_sees_what_was_remembered_and_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    root = tmp_path / "store"
    root.mkdir()
    subprocess.run(["git", "-C", str(root), "init", "--quiet"], check=True)
    peers.memhtml(root, "init")
    bridge = Bridge(write=f"memhtml:{root}")
    kept = bridge.remember("The pump stands by the door.", kind="semantic", tags=["pump"])
    gone = bridge.remember("Racks are numbered from the left.", kind="semantic")
    told = bridge.forget(gone.key, "renumbered")
    checked = peers.memhtml(root, "doctor")
    assert "error" not in checked, checked
    assert "error" not in peers.memhtml(root, "index", "rebuild")
    assert "pump" in str(peers.memhtml(root, "read", kept.key))
    claim = "The pump stands by the door."
    again = peers.memhtml(root, "write", "--type", "semantic", "--title", "x", "--claim", claim)
    assert again["data"]["created"] is False, again
    assert again["data"]["path"] == kept.key
    assert bridge.remember("The pump stands by the door.", kind="semantic").already == "known"
    assert told.to is not None
    assert told.to.startswith("archive/")
