"""Secrets on their way into a store that leaves the machine, and who can read what is kept."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from interop import stores
from interop.bridge import Bridge
from interop.errors import RefusedError
from tests.faulting import git, note

ROOT = Path(__file__).parents[1]
TOKEN = "ghp_" + "q7Rk2Vx9Tz4Lm8Wb3Nc6Yd1Hf5Jg0Ps2Aa7"
TEXT = f"The rental site deploys with {TOKEN} as its token."


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    note(folder, "deploy", TEXT)
    note(folder, "bells", "Bells are loud.")
    return folder


@pytest.fixture(params=["git", "sync"])
def carried(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give a place for a store that leaves the machine."""
    if request.param == "git":
        folder = tmp_path / "shop"
        folder.mkdir()
        git(folder, "init", "--quiet")
    else:
        folder = tmp_path / "Dropbox"
        folder.mkdir()
    return folder / "memory"


def shell(*args: str, code: int = 0, umask: int | None = None) -> str:
    """Run the command, and see that no output of it says the secret."""
    done = subprocess.run(
        [sys.executable, "-m", "interop.cli.main", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        umask=-1 if umask is None else umask,
    )
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert TOKEN not in said
    assert TOKEN[4:14] not in said
    return said


def test_a_conversion_warns_and_names_the_record_without_the_value(
    source: Path, carried: Path
) -> None:
    convert = ("convert", f"claude-code:{source}", f"claude-code:{carried}")
    said = shell(*convert)
    assert "secrets that would leave this machine:" in said
    assert "deploy.md: a GitHub token" in said
    assert "deploys with [masked] as its token" in said
    assert "may carry off this machine" in said
    assert TOKEN in (carried / "deploy.md").read_text(), "a warning stops nothing"
    again = shell(*convert)
    assert "secrets that would leave" not in again, "the store says it already"


def test_refusing_writes_nothing(source: Path, carried: Path) -> None:
    convert = ("convert", f"claude-code:{source}", f"claude-code:{carried}")
    for more in (("--dry-run",), ("--json",), ()):
        said = shell(*convert, "--secrets", "refuse", *more, code=3)
        assert "deploy.md: a GitHub token" in said
        assert not carried.exists()
    assert "nothing was written: secrets would leave this machine" in said
    assert "--secrets allow" in said
    assert "secret" not in shell(*convert, "--secrets", "allow").replace("--secrets", "")
    assert TOKEN in (carried / "deploy.md").read_text()
    assert "none of warn" in shell(*convert, "--secrets", "never", code=2)


def test_the_settings_say_what_is_done_where_nothing_is_said(source: Path, carried: Path) -> None:
    settings = Path(os.environ["INTEROP_CONFIG_DIR"])
    settings.mkdir()
    (settings / "config.toml").write_text('[convert]\nsecrets = "refuse"\n')
    convert = ("convert", f"claude-code:{source}", f"claude-code:{carried}")
    shell(*convert, code=3)
    shell("remember", TEXT, "--write", f"claude-code:{carried}", code=3)
    assert not carried.exists()
    shell(*convert, "--secrets", "warn")
    assert (carried / "deploy.md").exists()


def test_settings_are_read_only_where_there_is_a_secret(source: Path, carried: Path) -> None:
    settings = Path(os.environ["INTEROP_CONFIG_DIR"])
    settings.mkdir()
    (settings / "config.toml").write_text("broken")
    convert = ("convert", f"claude-code:{source}", f"claude-code:{carried}")
    assert "config.toml" in shell(*convert, code=4)
    assert not carried.exists()
    (source / "deploy.md").unlink()
    shell(*convert)


def test_what_stays_on_the_machine_is_not_looked_at(source: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    said = shell("convert", f"claude-code:{source}", f"claude-code:{here}", "--secrets", "refuse")
    assert "secrets that would" not in said


@pytest.mark.parametrize("name", ["jsonl", "memory-compiler", "theokit"])
def test_every_format_and_the_complement_are_looked_at(
    name: str, source: Path, carried: Path
) -> None:
    place = carried.with_suffix(".jsonl") if name == "jsonl" else carried
    said = shell(
        "convert", f"claude-code:{source}", f"{name}:{place}", "--secrets", "refuse",
        "--carry", code=3,
    )  # fmt: skip
    assert "a GitHub token" in said
    assert not place.exists()


def test_a_store_that_its_runtime_keeps_in_git_leaves_with_it(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    place = tmp_path / "web"
    convert = ("convert", f"claude-code:{source}", f"memhtml:{place}")
    kinds = ("--kind-map", "project=semantic")
    shell(*convert, *kinds, "--secrets", "refuse", code=3)
    assert not place.exists()


def test_remembering_follows_the_same_rule(carried: Path) -> None:
    spec = f"claude-code:{carried}"
    bridge = Bridge(write=spec)
    with pytest.raises(RefusedError, match="secrets would leave") as caught:
        bridge.remember(TEXT, secrets="refuse")
    assert "a GitHub token" in caught.value.details[0]
    assert TOKEN not in str(caught.value)
    assert not carried.exists()
    assert "may carry off" in shell("remember", TEXT, "--write", spec)
    assert bridge.remember(f"{TEXT} Twice.", secrets="refuse").notes == (), "it is there already"
    quiet = bridge.remember("Token two: " + TOKEN[:-1] + "Z", secrets="allow")
    assert not any("secret" in line for line in quiet.notes)
    shell("remember", TEXT.replace(TOKEN, TOKEN[:-2] + "ZZ"), "--write", spec, "--json")


def test_values_are_masked_wherever_interop_speaks_of_records(source: Path, carried: Path) -> None:
    spec = f"claude-code:{carried}"
    shell("convert", f"claude-code:{source}", spec)
    note(source, "deploy", f"Password: {TOKEN[::-1]}x\n\n{TEXT} Each night.")
    note(carried, "deploy", f"{TEXT} Each week.")
    said = shell("convert", f"claude-code:{source}", spec, code=3)  # in conflict
    assert "conflict" in said
    shell("convert", f"claude-code:{source}", spec, "--json", code=3)
    shell("lint", spec, code=1)
    shell("undo", spec, code=3)


# --- permissions


def modes(folder: Path) -> dict[str, int]:
    return {
        p.relative_to(folder).as_posix(): stat.S_IMODE(p.lstat().st_mode)
        for p in (folder, *folder.rglob("*"))
    }


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755])
def test_nothing_of_interops_own_is_wider_than_the_store_or_the_umask(
    umask: int, mode: int, source: Path, tmp_path: Path
) -> None:
    root = tmp_path / "store"
    root.mkdir()
    note(root, "old", "The old bell is gone.")
    (root / "old.md").chmod(0o600)
    root.chmod(mode)
    before = os.umask(umask)
    try:
        here = f"claude-code:{source}"
        from interop.convert import apply_plan, plan

        opened, there = stores.open_store(here), stores.open_store(f"claude-code:{root}")
        apply_plan(plan(opened, there, now="2026-11-30T12:00:00.000Z"), opened, there)
        Bridge(write=f"claude-code:{root}").remember("Bells are sold in pairs.")
    finally:
        os.umask(before)
    for path, bits in modes(root / ".interop").items():
        assert bits & ~mode & 0o077 == 0, (path, oct(bits))
        assert bits & 0o600 == 0o600, (path, oct(bits))
    for path, bits in modes(root).items():
        if path.endswith(".md"):
            assert bits == 0o600, f"{path}: a new file is as those beside it"
    for path, bits in modes(Path(os.environ["INTEROP_STATE_DIR"])).items():
        is_folder = (Path(os.environ["INTEROP_STATE_DIR"]) / path).is_dir()
        assert bits == (0o700 if is_folder else 0o600), (path, oct(bits))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_what_is_kept_of_a_snapshot_is_its_owners_alone(
    umask: int, source: Path, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl"
    for _ in range(2):
        shell("convert", f"claude-code:{source}", str(file), umask=umask)
        note(source, "bells", "Bells are quiet.")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    state = Path(os.environ["INTEROP_STATE_DIR"])
    found = modes(state)
    assert any(path.endswith("/wrote") for path in found)
    for path, bits in found.items():
        assert bits & 0o077 == 0, (path, oct(bits))
    assert json.loads(shell("undo", str(file), "--json"))["changes"]
