"""Snapshots as people use them: one file, carried to another machine, compared, and piped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.samples import GOLDEN, ROOT

BASIC = GOLDEN / "claude-code" / "sub-folders" / "store"
PHOTO = bytes(range(256))


class Machine:
    """A machine with a state of its own; the folder is what both have (a stick, a shared disk)."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.state = folder / f"state-{name}"

    def run(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-m", "interop.cli.main", *arguments],
            capture_output=True,
            input=stdin,
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": path,
                "INTEROP_STATE_DIR": str(self.state),
                "HOME": str(self.folder),
            },
        )

    def ok(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> str:
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == code, (done.stdout + done.stderr).decode()
        return (done.stdout + done.stderr).decode()


@pytest.fixture
def laptop(tmp_path: Path) -> Machine:
    return Machine(tmp_path, "laptop")


@pytest.fixture
def desktop(tmp_path: Path) -> Machine:
    return Machine(tmp_path, "desktop")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    place = tmp_path / "store"
    shutil.copytree(BASIC, place)
    (place / "photo.bin").write_bytes(PHOTO)
    (place / "notes.txt").write_text("The rota hangs in the workshop.\n", encoding="utf-8")
    return place


def files(root: Path) -> dict[str, bytes]:
    """Every file of a store, without what interop keeps beside it."""
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and ".interop" not in p.relative_to(root).parts
    }


def test_from_one_machine_to_the_other(laptop: Machine, desktop: Machine, store: Path) -> None:
    folder = laptop.folder
    said = laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    assert "files: 1 to create" in said
    assert "the full text of the source" in said
    assert "done: 1 file changed" in said
    snapshot = folder / "laptop.jsonl"
    assert snapshot.stat().st_mode & 0o777 == 0o600
    assert {p.name for p in folder.iterdir()} == {"store", "laptop.jsonl", "state-laptop"}
    before = snapshot.read_bytes()
    assert "done: 0 files changed" in laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    assert snapshot.read_bytes() == before

    # the other machine has a store of its own with the same content, and nothing else in common
    shutil.copytree(store, folder / "other", ignore=shutil.ignore_patterns(".interop"))
    assert "the stores say the same" in desktop.ok("diff", "laptop.jsonl", "claude-code:other")
    assert not (folder / "other" / ".interop").exists()

    desktop.ok("convert", "laptop.jsonl", "claude-code:back")
    assert files(folder / "back") == files(store)
    found = desktop.ok("detect", "laptop.jsonl").splitlines()
    assert found == ["format  because", "jsonl   its first line says so (version 1)"]


def test_what_differs_is_shown_down_to_prose_and_attachments(
    laptop: Machine, desktop: Machine, store: Path
) -> None:
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    other = laptop.folder / "other"
    shutil.copytree(store, other, ignore=shutil.ignore_patterns(".interop"))
    (other / "photo.bin").write_bytes(PHOTO[::-1])
    (other / "notes.txt").unlink()
    pier = other / "context" / "pier.md"
    pier.write_bytes(pier.read_bytes().replace(b"Salt water", b"Sweet water"))
    (other / "team" / "rota.md").rename(other / "team" / "shifts.md")
    found = [
        json.loads(line)
        for line in desktop.run("diff", "laptop.jsonl", "claude-code:other", "--json")
        .stdout.decode()
        .splitlines()
    ]
    what = {(c["what"], c.get("key_a"), c.get("key_b"), c.get("field")) for c in found}
    assert ("changed", "context/pier.md", "context/pier.md", "body") in what
    assert ("moved", "team/rota.md", "team/shifts.md", None) in what
    assert ("carried", "photo.bin", "photo.bin", None) in what
    assert ("carried", "notes.txt", None, None) in what

    # two snapshots show the same of each other, and no store need be there
    desktop.ok("convert", "claude-code:other", "desktop.jsonl")
    shutil.rmtree(other)
    again = [
        json.loads(line)
        for line in laptop.run("diff", "laptop.jsonl", "desktop.jsonl", "--json")
        .stdout.decode()
        .splitlines()
    ]
    assert {(c["what"], c.get("key_a"), c.get("key_b"), c.get("field")) for c in again} == what


def test_both_sides_move_on_and_meet(laptop: Machine, desktop: Machine, store: Path) -> None:
    """A snapshot is the messenger of two stores that never see each other."""
    folder = laptop.folder
    laptop.ok("convert", "claude-code:store", "stick.jsonl")
    desktop.ok("convert", "stick.jsonl", "claude-code:desk")
    pier, rota = store / "context" / "pier.md", folder / "desk" / "team" / "rota.md"
    pier.write_bytes(pier.read_bytes().replace(b"Salt water", b"Sweet water"))
    rota.write_bytes(rota.read_bytes().replace(b"Early, late", b"Early, noon, late"))
    laptop.ok("convert", "claude-code:store", "stick.jsonl")
    said = desktop.ok("convert", "stick.jsonl", "claude-code:desk")
    assert "1  updated" in said
    assert b"Sweet water" in (folder / "desk" / "context" / "pier.md").read_bytes()
    desktop.ok("convert", "claude-code:desk", "stick.jsonl")
    laptop.ok("convert", "stick.jsonl", "claude-code:store")
    assert files(store) == files(folder / "desk")
    laptop.ok("diff", "claude-code:store", "stick.jsonl")

    # and the same field on both is a conflict
    pier.write_bytes(pier.read_bytes().replace(b"Sweet water", b"Mud"))
    there = folder / "desk" / "context" / "pier.md"
    there.write_bytes(there.read_bytes().replace(b"Sweet water", b"Sand"))
    laptop.ok("convert", "claude-code:store", "stick.jsonl")
    assert "conflict: snapshot.jsonl#context/pier.md" in desktop.ok(
        "convert", "stick.jsonl", "claude-code:desk", code=3
    )


def test_stdin_and_stdout(laptop: Machine, desktop: Machine, store: Path) -> None:
    done = laptop.run("convert", "claude-code:store", "-")
    assert done.returncode == 0
    assert done.stdout.startswith(b'{"type":"snapshot","format":"interop-jsonl"')
    assert b"4  new" in done.stderr
    shot = done.stdout
    assert {p.name for p in laptop.folder.iterdir()} == {"store", "state-laptop"}
    assert "the stores say the same" in desktop.ok("diff", "-", "claude-code:store", stdin=shot)
    assert "the stores say the same" in desktop.ok(
        "diff", "claude-code:store", "jsonl:-", stdin=shot
    )
    assert "4 records" in desktop.ok("show", "-", stdin=shot)
    assert "jsonl" in desktop.ok("detect", "-", stdin=shot)
    desktop.ok("convert", "-", "claude-code:back", stdin=shot)
    assert files(laptop.folder / "back") == files(store)

    # a second one of the same store is known as the same one
    pier = store / "context" / "pier.md"
    pier.write_bytes(pier.read_bytes().replace(b"Salt water", b"Sweet water"))
    later = laptop.run("convert", "claude-code:store", "jsonl:-").stdout
    assert "1  updated" in desktop.ok("convert", "-", "claude-code:back", stdin=later)

    # through a pipe into another format
    desktop.ok("convert", "-", "theokit:theo", stdin=later)
    home = desktop.run("convert", "theokit:theo", "-").stdout
    laptop.ok("convert", "-", "claude-code:home", stdin=home)
    assert files(laptop.folder / "home") == files(store)


def test_what_stdin_and_stdout_cannot_do(laptop: Machine, store: Path) -> None:
    shot = laptop.run("convert", "claude-code:store", "-").stdout
    assert "can be read only once" in laptop.ok("diff", "-", "-", stdin=shot, code=2)
    assert "cannot be taken back" in laptop.ok("undo", "-", code=2)
    assert "both write to stdout" in laptop.ok(
        "convert", "claude-code:store", "-", "--json", code=2
    )
    assert "is no snapshot" in laptop.ok("show", "-", stdin=b"{}\n", code=4)
    assert "is no snapshot" in laptop.ok("show", "-", stdin=b"", code=4)
    dry = laptop.run("convert", "claude-code:store", "-", "--dry-run")
    assert (dry.returncode, dry.stdout) == (0, b"")
    refused = laptop.run("convert", "claude-code:store", "-", "--no-complement")
    assert (refused.returncode, refused.stdout) == (3, b"")
    assert b"photo.bin: is no record" in refused.stderr


def test_undo_of_a_snapshot(laptop: Machine, store: Path) -> None:
    snapshot = laptop.folder / "laptop.jsonl"
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    first = snapshot.read_bytes()
    (store / "notes.txt").write_text("gone\n", encoding="utf-8")
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    assert snapshot.read_bytes() != first
    assert "convert claude-code:store" in laptop.ok("undo", "--list", "laptop.jsonl")
    assert "update laptop.jsonl" in laptop.ok("undo", "laptop.jsonl")
    assert snapshot.read_bytes() == first
    assert "delete laptop.jsonl" in laptop.ok("undo", "laptop.jsonl")
    assert not snapshot.exists()
    assert "there is nothing to undo" in laptop.ok("undo", "jsonl:laptop.jsonl", code=3)


def test_the_other_commands_take_one(laptop: Machine, store: Path) -> None:
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    assert "nothing gets lost" in laptop.ok("check", "laptop.jsonl", "--via", "bantamkit")
    assert "0 findings" in laptop.ok("lint", "laptop.jsonl")
    laptop.ok("export", "laptop.jsonl", "claude-code:store", "--sqlite", "all.db")
    said = laptop.ok("formats", "--json").splitlines()
    (held,) = [row for row in map(json.loads, said) if row["name"] == "jsonl"]
    assert set(held["holds"].values()) == {"exact"}
    assert "Salt water." in laptop.ok("show", "laptop.jsonl", "snapshot.jsonl#context/pier.md")
    done = laptop.run("convert", "claude-code:store", "jsonl:any-name", "--json")
    assert json.loads(done.stdout)["changes"] == [{"action": "create", "path": "any-name"}]


def test_which_files_are_told(laptop: Machine, store: Path) -> None:
    folder = laptop.folder
    log = folder / "session.jsonl"
    log.write_text('{"type":"user","message":"hello"}\n', encoding="utf-8")
    for command in (("show", "session.jsonl"), ("show", "jsonl:session.jsonl")):
        assert "is no snapshot: its first line is not" in laptop.ok(*command, code=4)
    for name in ("session.jsonl", "jsonl:session.jsonl"):
        laptop.ok("convert", "claude-code:store", name, code=4)
    assert log.read_text(encoding="utf-8") == '{"type":"user","message":"hello"}\n'
    (folder / "empty.jsonl").touch(mode=0o644)
    laptop.ok("show", "empty.jsonl", code=4)
    laptop.ok("convert", "claude-code:store", "empty.jsonl")
    newer = (folder / "empty.jsonl").read_bytes().replace(b'"version":1', b'"version":9', 1)
    (folder / "newer.jsonl").write_bytes(newer)
    assert "upgrade memory-interop" in laptop.ok("show", "newer.jsonl", code=4)
    assert "is a file, not a folder" in laptop.ok("show", "claude-code:empty.jsonl", code=4)
    assert "is a folder" in laptop.ok("show", "jsonl:store", code=4)
    assert "there is no folder" in laptop.ok("convert", "claude-code:store", "no/x.jsonl", code=4)
    assert "say which format" in laptop.ok("convert", "claude-code:store", "new.txt", code=2)
    inside = laptop.ok("convert", "claude-code:store", "store/inside.jsonl", code=2)
    assert "lie within each other" in inside


def test_a_secret_in_one_is_found_and_masked(laptop: Machine, store: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    (store / "context" / "pier.md").write_text(f"Token\n\n{secret}\n", encoding="utf-8")
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    (store / "context" / "pier.md").write_text("No token.\n", encoding="utf-8")
    said = laptop.ok("lint", "laptop.jsonl", code=1)
    assert "snapshot.jsonl:2" in said
    assert ".interop/complement:" in said
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    said = laptop.ok("lint", "laptop.jsonl", code=1)
    assert "state-laptop" in said, "what undo keeps of it is read too"
    assert secret not in said


def test_damage_is_named_and_carried(laptop: Machine, store: Path) -> None:
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    snapshot = laptop.folder / "laptop.jsonl"
    lines = snapshot.read_bytes().split(b"\n")
    lines[1] = lines[1][:-1]  # the brace of a record
    lines.insert(3, b'{"type":"comment","text":"by hand"}')
    snapshot.write_bytes(b"\n".join(lines) + b'{"role":"memory","key":"bell.md","title":"Bell"}')
    said = laptop.ok("show", "laptop.jsonl", code=4)
    assert "line 2: damaged" in said
    assert "snapshot.jsonl#bell.md" in said
    pier = store / "team" / "rota.md"
    pier.write_bytes(pier.read_bytes().replace(b"night", b"midnight"))
    laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    now = snapshot.read_bytes().split(b"\n")
    assert lines[1] in now
    assert lines[3] in now
    assert b'{"role":"memory","key":"bell.md","title":"Bell"}' in now


def test_a_name_that_cannot_be_put_back_is_said_when_the_snapshot_is_taken(
    laptop: Machine, store: Path
) -> None:
    if os.name == "nt":
        return  # no such name can be there
    (store / "bell\x07.md").write_text("The bell.\n", encoding="utf-8")
    said = laptop.ok("convert", "claude-code:store", "laptop.jsonl")
    assert "has a control character in it: it travels, and can never be put back" in said
    assert "cannot be written" in laptop.ok("convert", "laptop.jsonl", "claude-code:new", code=3)


def test_one_that_was_cut_off_is_not_taken_for_the_whole(
    laptop: Machine, desktop: Machine, store: Path
) -> None:
    shot = laptop.run("convert", "claude-code:store", "-").stdout
    records = shot[: shot.index(b'{"type":"complement"')]
    for cut in (records[:-1], records, records[:200], shot[:-3], shot[: len(shot) // 2]):
        (laptop.folder / "cut.jsonl").write_bytes(cut)
        said = desktop.ok("convert", "-", "claude-code:back", stdin=cut, code=4)
        assert "cut off" in said
        assert "cut off" in desktop.ok("diff", "cut.jsonl", "claude-code:store", code=4)
        for command in ("show", "lint", "check"):
            code = 1 if command == "lint" else 4
            assert "cut off" in desktop.ok(command, "cut.jsonl", code=code), command
    assert not (laptop.folder / "back").exists()
    # what is left of the records is read where that is asked for
    (laptop.folder / "cut.jsonl").write_bytes(records)
    desktop.ok("convert", "cut.jsonl", "claude-code:back", "--skip-refused")
    assert list((laptop.folder / "back").rglob("pier.md"))


def test_two_snapshots_of_one_store_are_equal_line_by_line(laptop: Machine, store: Path) -> None:
    """What version control shows of a new one is what changed."""
    one = laptop.run("convert", "claude-code:store", "-").stdout
    pier = store / "context" / "pier.md"
    pier.write_bytes(pier.read_bytes().replace(b"Salt water", b"Sweet water"))
    other = laptop.run("convert", "claude-code:store", "-").stdout
    records = [[x for x in s.split(b"\n") if x.startswith(b'{"role"')] for s in (one, other)]
    assert len(records[0]) == 4
    assert [a == b for a, b in zip(*records, strict=True)] == [False, True, True, True]
