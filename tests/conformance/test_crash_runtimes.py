"""After a crash at some steps of a write, the real runtimes read what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interop.bridge import writing
from tests import peers
from tests.faulting import ACTIONS, Scene, crash, sample, steps, still

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.faults,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a crash is a forked child that exits"),
]
TRIED = 4
"""Steps of each command; the runtimes take a while to start."""


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INTEROP_STATE_DIR", str(tmp_path / "state"))
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setattr(writing, "moment", still())


@pytest.mark.parametrize("name", ["bantamkit", "memhtml"])
def test_the_runtime_reads_what_a_crash_leaves(name: str, tmp_path: Path) -> None:
    scene = Scene(name=name, base=tmp_path / "work", templates=tmp_path / "kept")
    scene.build()
    for action in ("convert", "forget"):
        start, act = ACTIONS[action]
        scene.restore(start)
        total = steps(lambda act=act: act(scene))  # type: ignore[misc]  # bound for the closure
        for at in sample(total, TRIED, f"{name} {action} runtime")[1:-1]:
            scene.restore(start)
            assert crash(lambda act=act: act(scene), at)  # type: ignore[misc]  # as above
            reads(scene)


def reads(scene: Scene) -> None:
    """Let the runtime read every memory that its files show."""
    live = {
        r.key
        for r in scene.adapter.read(scene.seen()).records
        if getattr(r, "state", "live") == "live"
    }
    if scene.name == "bantamkit":
        version = peers.BANTAMKIT[-1]
        (result,) = peers.run(version, scene.root, [{"op": "read"}])["results"]
        assert result["ok"], result
        assert {f"facts/{f['name']}.md" for f in result["facts"]} >= live
    else:
        for key in sorted(live)[:1]:
            answer = peers.memhtml(scene.root, "read", key)
            assert "error" not in answer, answer
