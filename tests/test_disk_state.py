"""What this machine remembers of stores."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from interop.disk.state import Remembered, remember, remembered


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "deep" / "state"
    monkeypatch.setenv("INTEROP_STATE_DIR", str(folder))
    return folder


def test_what_is_remembered_is_given_back_by_real_path(tmp_path: Path, state: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (tmp_path / "link").symlink_to(store)
    assert remembered(store) is None
    assert not state.exists()
    assert remember(tmp_path / "link", "abc", 3, True)
    assert remembered(store) == Remembered(id="abc", generation=3, complement=True)
    assert remember(store, "abc", 4, False)
    assert remembered(tmp_path / "link") == Remembered(id="abc", generation=4, complement=False)
    assert remembered(tmp_path / "other") is None


def test_only_its_owner_can_read_it(tmp_path: Path, state: Path) -> None:
    assert remember(tmp_path, "abc", 1, True)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    for path in state.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"\xff", b'{"%s": 3}', b'{"%s": {"id": 1, "generation": "x"}}']
)
def test_a_broken_file_counts_as_empty_and_is_rewritten(
    tmp_path: Path, state: Path, text: bytes
) -> None:
    state.mkdir(parents=True)
    path = state / "stores.json"
    path.write_bytes(text.replace(b"%s", os.fsencode(os.path.realpath(tmp_path))))
    assert remembered(tmp_path) is None
    assert remember(tmp_path, "abc", 1, True)
    assert remembered(tmp_path) == Remembered(id="abc", generation=1, complement=True)


def test_a_state_directory_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("INTEROP_STATE_DIR", str(tmp_path / "file" / "state"))
    assert remember(tmp_path, "abc", 1, True) is False
    assert remembered(tmp_path) is None


def test_writers_do_not_lose_each_other_s_stores(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interop.disk.state.WAIT", 300.0)  # a machine may be as slow as it likes
    threads = [
        threading.Thread(target=remember, args=(tmp_path / str(n), str(n), n, True))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [remembered(tmp_path / str(n)) for n in range(12)]
    assert [f.generation for f in found if f] == list(range(12))
