"""Undo after the store was edited, after a reboot, step by step, and what is kept for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from interop import kinds, registry, stores, threeway, undoing
from interop.adapter import Adapter, Locked
from interop.bridge import Bridge
from interop.choices import Choices
from interop.convert import apply_plan, plan
from interop.disk import journal, layout, transaction
from interop.disk.kept import kept
from interop.errors import FormatError, RefusedError, UsageError, WriteError
from interop.model import Files, Memory
from interop.plan import COMPLEMENT, FileChange, digest
from tests.faulting import git, note
from tests.samples import GOLDEN

NOW = "2026-11-30T12:00:00.000Z"
ROOT = Path(__file__).parents[1]
FORMATS = ("bantamkit", "claude-code", "jsonl", "memhtml", "memory-compiler", "theokit")
KIND = {"bantamkit": "project", "memhtml": "semantic"}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for name, text in (("bells", "Bells are loud."), ("racks", "Racks stand in the yard.")):
        note(folder, name, text)
    lines = [f"- [{name}]({name}.md) - About {name}\n" for name in ("bells", "racks")]
    (folder / "MEMORY.md").write_text("".join(lines))
    return folder


def convert(source: Path, spec: str) -> None:
    here, there = (
        stores.open_store(f"claude-code:{source}"),
        stores.open_store(spec, must_exist=False),
    )
    name = there.adapter.name
    terms = "project=semantic" if name == "memhtml" else ""
    parsed = kinds.parse_kind_map(terms)
    choices = Choices(kind_map=parsed, skip_refused=True, secrets="allow")
    apply_plan(plan(here, there, choices, now=NOW), here, there, choices)


def at(name: str, tmp_path: Path) -> tuple[str, Path]:
    root = tmp_path / ("store.jsonl" if name == "jsonl" else "store")
    return f"{name}:{root}", root


def copied(name: str, tmp_path: Path) -> tuple[str, Path]:
    """Copy a golden store, with the repository that its runtime would have."""
    spec, root = at(name, tmp_path)
    case = GOLDEN / name / "basic" / "store"
    if name == "jsonl":
        shutil.copy(next(p for p in case.iterdir() if p.is_file()), root)
    else:
        shutil.copytree(case, root)
    if name == "memhtml":
        git(root, "init", "--quiet", "-b", "main")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "as it was")
    return spec, root


def files(root: Path) -> dict[str, bytes]:
    if root.is_file():
        return {"": root.read_bytes()}
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and not {".git", ".interop"} & set(p.relative_to(root).parts)
    }


def shell(*args: str, code: int = 0, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "interop.cli.main", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


# --- every write, step by step, in a process that knows nothing of the one that wrote


@pytest.mark.parametrize("name", FORMATS)
def test_convert_remember_and_forget_are_taken_back_one_after_the_other(
    name: str, source: Path, tmp_path: Path
) -> None:
    spec, root = copied(name, tmp_path)
    states = [files(root)]
    convert(source, spec)
    states.append(files(root))
    named = "tubes" if name == "bantamkit" else None
    bridge = Bridge(write=spec)
    told = bridge.remember("Tubes lie in the third drawer.", kind=KIND.get(name), name=named)
    states.append(files(root))
    rejected = "the third drawer" if name == "memory-compiler" else None
    bridge.forget(told.key, "they were sold", yes=True, rejected=rejected)
    assert files(root) != states[-1]
    said = [json.loads(line) for line in shell("undo", spec, "--list", "--json").splitlines()]
    assert [one["label"].split()[0] for one in said] == ["forget", "remember", "convert"]
    assert all(one["bytes"] > 0 and one["files"] > 0 and one["time"] for one in said)
    for state in reversed(states):
        shell("undo", spec)  # a process of its own: all that is needed is on the disk
        assert files(root) == state
    assert "there is nothing to undo" in shell("undo", spec, code=3)
    if name == "memhtml":
        assert git(root, "status", "--porcelain", "--", ".", ":!.interop") == ""
        assert git(root, "log", "--format=%s").count("Revert") == 3


# --- edits that came later


def test_later_lines_of_an_index_stay_when_a_conversion_is_taken_back(
    source: Path, tmp_path: Path
) -> None:
    spec, root = at("claude-code", tmp_path)
    convert(source, spec)
    note(root, "mine", "Written by the agent itself.")
    index = root / "MEMORY.md"
    index.write_text(index.read_text() + "- [mine](mine.md) - Mine\n")
    undone = undoing.undo(root)
    assert undone.merged == ("MEMORY.md",)
    assert set(files(root)) == {"MEMORY.md", "mine.md"}
    assert index.read_text() == "- [mine](mine.md) - Mine\n"
    assert [r.key for r in stores.open_store(spec).raw.records] == ["mine.md"]


def test_an_edit_elsewhere_in_a_file_stays_and_the_text_goes_back(
    source: Path, tmp_path: Path
) -> None:
    spec, root = at("claude-code", tmp_path)
    long = "\n\n".join(f"Paragraph {n} of the rules." for n in range(9))
    note(source, "rules", long)
    convert(source, spec)
    note(source, "rules", long.replace("Paragraph 2", "The second paragraph"))
    convert(source, spec)
    place = root / "rules.md"
    place.write_text(place.read_text().replace("Paragraph 7", "The seventh paragraph"))
    undone = undoing.undo(root)
    assert undone.merged == ("rules.md",)
    assert "Paragraph 2 of" in place.read_text()
    assert "The seventh paragraph" in place.read_text()
    with pytest.raises(RefusedError, match="clash") as caught:
        undoing.undo(root)  # the conversion before is next, and it made the file
    assert "it was new" in caught.value.details[0]


@pytest.mark.parametrize("how", ["edited", "new and edited"])
def test_a_clash_is_named_and_nothing_is_taken_back(how: str, source: Path, tmp_path: Path) -> None:
    spec, root = at("claude-code", tmp_path)
    convert(source, spec)
    if how == "edited":
        note(source, "bells", "Bells are quiet.")
        convert(source, spec)
    place = root / "bells.md"
    place.write_text(place.read_text().replace("Bells are", "Our bells are"))
    before = files(root)
    said = shell("undo", spec, code=3)
    assert "bells.md" in said
    assert "clash" in said
    assert "--force" in said
    assert files(root) == before
    assert shell("undo", spec, "--dry-run", code=3) == said


@pytest.mark.parametrize("name", ["claude-code", "jsonl", "memhtml"])
def test_force_puts_back_and_the_next_undo_gives_the_edits_back(
    name: str, source: Path, tmp_path: Path
) -> None:
    spec, root = at(name, tmp_path)
    convert(source, spec)
    first = files(root)
    note(source, "bells", "Bells are quiet.")
    convert(source, spec)
    place = root if name == "jsonl" else next(root.rglob("bells.*"))
    place.write_bytes(place.read_bytes().replace(b"Bells are quiet", b"Our bells are silent", 1))
    if name == "memhtml":
        git(root, "commit", "--quiet", "--all", "--message", "by hand")
    edited = files(root)
    assert edited != first
    with pytest.raises(RefusedError):
        undoing.undo(root)
    undone = undoing.undo(root, force=True)
    assert [Path(p).name for p in undone.forced] == [place.name]
    assert files(root) == first
    labels = [a.label for a in undoing.history(root)]
    assert labels[0].startswith("forced undo of convert")
    if name == "memhtml":
        assert git(root, "status", "--porcelain", "--", ".", ":!.interop") == ""
    undoing.undo(root)
    assert files(root) == edited
    assert [a.label for a in undoing.history(root)] == labels[1:]


def test_a_line_that_was_added_to_a_snapshot_stays(source: Path, tmp_path: Path) -> None:
    spec, root = at("jsonl", tmp_path)
    convert(source, spec)
    note(source, "bells", "Bells are quiet.")
    convert(source, spec)
    own, _, beside = root.read_bytes().partition(b'{"type":"complement"')
    line = b'{"role":"memory","key":"mine","body":{"text":"Mine.","media":"text/markdown"}}\n'
    root.write_bytes(own + line + b'{"type":"complement"' + beside)
    assert undoing.undo(root).merged == ("store.jsonl",)
    found = stores.open_store(spec).raw.records
    texts = {r.body.text for r in found if isinstance(r, Memory)}
    assert "Mine." in texts
    assert any("loud" in text for text in texts)


def test_what_was_put_back_by_hand_is_no_clash(source: Path, tmp_path: Path) -> None:
    spec, root = at("claude-code", tmp_path)
    convert(source, spec)
    before = files(root)
    note(source, "bells", "Bells are quiet.")
    convert(source, spec)
    (root / "bells.md").write_bytes(before["bells.md"])
    undoing.undo(root)
    assert files(root) == before
    for path in [*before, COMPLEMENT]:
        (root / path).unlink()
    undone = undoing.undo(root)  # nothing is left of it: it is off the list
    assert undone.changes == ()
    assert undoing.history(root) == []
    assert layout.numbers(root, "staging") == layout.numbers(root, "undo") == []


def test_without_what_was_written_an_edit_is_refused(source: Path, tmp_path: Path) -> None:
    spec, root = at("claude-code", tmp_path)
    convert(source, spec)
    index = root / "MEMORY.md"
    index.write_text(index.read_text() + "- one more\n")
    for damaged in (b"damaged", None):  # as an older interop left it, too
        place = layout.wrote(root, 1)
        place.unlink() if damaged is None else place.write_bytes(damaged)
        with pytest.raises(RefusedError, match="not kept") as caught:
            undoing.undo(root)
        assert "MEMORY.md" in caught.value.details[0]
    assert index.read_text().endswith("- one more\n")


def test_a_complement_that_is_new_is_not_kept_twice(source: Path, tmp_path: Path) -> None:
    spec, root = at("claude-code", tmp_path)
    convert(source, spec)
    assert {one.path for one in kept(root)} == {*files(root), None}  # None is the manifest
    assert layout.wrote(root, 1).read_bytes() == b"".join(
        files(root)[entry.path] for entry in journal.read(layout.manifest(root, 1)).entries[:-1]
    )
    place = root / COMPLEMENT
    before = place.read_bytes()
    place.write_bytes(before + b"\n")
    with pytest.raises(RefusedError, match="clash") as caught:
        undoing.undo(root)
    assert "it was new" in caught.value.details[0]
    place.write_bytes(before)
    note(source, "bells", "Bells are quiet.")
    convert(source, spec)
    told = [one.data for one in kept(root) if one.path == COMPLEMENT]
    assert sorted(x or b"" for x in told) == sorted([before, place.read_bytes()])
    for _ in range(2):
        undoing.undo(root)
    assert files(root) == {}
    assert not place.exists()


def test_files_are_not_taken_back_where_git_cannot_follow(source: Path, tmp_path: Path) -> None:
    spec, root = copied("memhtml", tmp_path)
    convert(source, spec)
    before, head = files(root), git(root, "rev-parse", "HEAD")
    (root / "staged.txt").write_text("Of somebody else.\n")
    git(root, "add", "staged.txt")
    with pytest.raises(RefusedError, match="staged"):
        undoing.undo(root)
    git(root, "reset", "--quiet")
    (root / "staged.txt").unlink()
    hook = root / ".git" / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(WriteError, match="every file is as it was"):
        undoing.undo(root)
    assert files(root) == before
    assert git(root, "rev-parse", "HEAD") == head
    hook.unlink()
    assert git(root, "diff", "--cached", "--name-only") == ""
    undoing.undo(root)
    assert "racks" not in str(sorted(files(root)))


# --- what is kept for it


def test_how_much_is_kept_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, root = at("claude-code", tmp_path)
    monkeypatch.setenv("INTEROP_UNDO_WRITES", "3")
    bridge = Bridge(write=spec)
    for n in range(5):
        bridge.remember(f"Rack {n} holds a bike.")
    assert len(undoing.history(root)) == 3
    monkeypatch.setenv("INTEROP_UNDO_MIB", "1")
    bridge.remember("Racks.\n\n" + "x" * 1_100_000)
    assert len(undoing.history(root)) == 1, "the newest is kept whatever its size"
    monkeypatch.setenv("INTEROP_UNDO_WRITES", "few")
    before = files(root)
    with pytest.raises(UsageError, match="INTEROP_UNDO_WRITES"):
        bridge.remember("Rack 9 holds a bike.")
    assert files(root) == before


# --- where nothing may change now


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("dry_run", [False, True])
def test_what_may_not_change_now_is_not_taken_back(
    source: Path, tmp_path: Path, named: bool, force: bool, dry_run: bool
) -> None:
    spec, root = copied("memory-compiler", tmp_path)
    before = files(root)
    convert(source, spec)
    session = root / "_sessions" / "s-9.json"
    session.parent.mkdir(exist_ok=True)
    session.write_text('{"session": "s-9", "status": "OPEN"}')
    locked = files(root), (root / COMPLEMENT).read_bytes(), undoing.history(root)
    name = "memory-compiler" if named else None
    with pytest.raises(RefusedError, match="s-9 is open") as refused:
        undoing.undo(root, name, dry_run=dry_run, force=force)
    assert "--close" in refused.value.remedy
    assert (files(root), (root / COMPLEMENT).read_bytes(), undoing.history(root)) == locked
    session.write_text('{"session": "s-9", "status": "CLOSED"}')
    undoing.undo(root, name)
    session.unlink()
    assert files(root) == before


def test_a_complement_is_taken_back_while_nothing_may_change(source: Path, tmp_path: Path) -> None:
    spec, root = copied("memory-compiler", tmp_path)
    convert(source, spec)
    kept = root / COMPLEMENT
    said = kept.read_bytes()
    change = FileChange(path=COMPLEMENT, before=digest(said), after=said + b"\n")
    transaction.apply(root, [change], label="convert", verify=lambda _: None)
    (root / "_sessions").mkdir(exist_ok=True)
    (root / "_sessions" / "s-9.json").write_text('{"session": "s-9", "status": "OPEN"}')
    undoing.undo(root)
    assert kept.read_bytes() == said


def test_a_store_of_one_file_may_be_locked_too(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a format is, its word counts: here it is one that locks for a word in its file."""
    spec, root = at("jsonl", tmp_path)
    convert(source, spec)
    said = root.read_bytes()
    true = registry.get("jsonl")
    seen: list[bytes] = []

    def locked(kept: Files) -> Locked | None:
        seen.extend(kept.values())
        return Locked(reason="it is being read", remedy="wait") if b"racks" in seen[-1] else None

    def get(name: str) -> Adapter:
        return replace(true, locked=locked)

    monkeypatch.setattr(registry, "get", get)
    with pytest.raises(RefusedError, match="it is being read"):
        undoing.undo(root, "jsonl")
    assert root.read_bytes() == said
    assert len(seen) == 1


# --- the merge itself


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n", b"a\nb\nc\nd\n", b"a\nB\nc\nd\n"),
        (b"a\nb\n", b"a\nb\nc\n", b"a\n", b"a\nc\n"),
        (b"a\nb\n", b"a\nb\nc\n", b"", b"c\n"),
        (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nB\nc\n", b"A\nB\nc\n"),
        (b"a\n", b"b\n", b"c\n", None),
        (b"a\nb\n", b"a\n1\nb\n", b"a\n2\nb\n", None),
        (b"a\nb\nc\nd\n", b"a\nX\nd\n", b"a\nb\nC\nd\n", None),
        (b"a\nb", b"a\nb\nc", b"A\nb", b"A\nb\nc"),
        (b"a\r\nb\r\n", b"a\r\nB\r\n", b"A\r\nb\r\n", b"A\r\nB\r\n"),
        (b"a\nb\n", b"a\nc\n", b"a\nc\n", b"a\nc\n"),
        (b"\xff\nb\nc\n", b"\xff\nb\nC\n", b"\xfe\nb\nc\n", b"\xfe\nb\nC\n"),
    ],
)
def test_edits_of_two_sides_are_put_together(
    base: bytes, ours: bytes, theirs: bytes, merged: bytes | None
) -> None:
    assert threeway.merge(base, ours, theirs) == merged
    assert threeway.merge(base, theirs, ours) == merged


@pytest.mark.parametrize(
    "note",
    [
        b"[]",
        b"{",
        b'{"format": 1}',
        b'{"format": "memhtml"}',
        b'{"format": "memhtml", "commit": "--exec=rm", "commands": []}',
        b'{"format": "memhtml", "commit": null, "commands": "x"}',
        b'{"format": "memhtml", "commit": null, "commands": [], "made": {"../keys": "0"}}',
    ],
)
def test_a_note_that_came_with_a_store_is_not_trusted(tmp_path: Path, note: bytes) -> None:
    """Undo data can come from anywhere: nothing is done that interop would not have written."""
    store = tmp_path / "store"
    change = FileChange(path="a.html", before=None, after=b"<p>a</p>")
    transaction.apply(store, [change], label="convert", verify=lambda _: None, follow=lambda: note)
    with pytest.raises(FormatError, match="is not what interop writes"):
        undoing.undo(store)
    assert (store / "a.html").read_bytes() == b"<p>a</p>"
