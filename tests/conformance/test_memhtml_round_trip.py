"""Converted stores that the real memhtml lives in, and what comes back: just what it did."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interop import registry
from interop.adapter import Context
from interop.choices import NO_CHOICES, Choices
from interop.convert import apply_plan, plan
from interop.diff import diff
from interop.errors import RefusedError
from interop.host import HostOptions, Token
from interop.model import Body, Memory, Record, Store
from interop.plan import COMPLEMENT, Plan
from interop.stores import Opened, load
from interop.undoing import undo
from tests import peers
from tests.samples import samples

pytestmark = pytest.mark.conformance
NOW = "2026-09-01T08:30:00.750Z"
OURS = [s for s in samples() if s.adapter.name in ("claude-code", "bantamkit") and s.tree.files]
CLAUDE = {
    "MEMORY.md": """\
# Memory Index

- [Dock sensor](dock-sensor.md) — two of nine report late
- [Ask first](ask-first.md) — lock firmware only with the workshop
- [Deposit](deposit.md) — taken on return
- [Winter locks](winter-locks.md) — batch B7 goes back
- [Tyres](tyres.md) — ordered in March
- Docks are numbered from the river
""",
    "dock-sensor.md": """\
---
name: dock-sensor
description: "Two of nine sensors report late, since May"
metadata:
  node_type: memory
  type: project
  originSessionId: 7d1f0c52-3b5e-4c7a-9a40-51c2e8d90b17
  modified: 2026-08-03T07:26:16.880Z
---

The sensors of the north quay report late.

**Why:** the gateway sleeps. See [[ask-first]].
""",
    "ask-first.md": """\
---
name: ask-first
description: Ask the workshop before touching lock firmware
metadata:
  node_type: memory
  type: feedback
  modified: 2026-08-04
---

Ask the workshop first.
""",
    "deposit.md": """\
---
name: deposit
description: "Deposit: taken on return, not on rental"
metadata:
  node_type: memory
  type: project
---

The deposit is taken on return:

- 50 for a bike,
- 80 for a cargo bike.
""",
    "winter-locks.md": """\
---
name: winter-locks
description: Batch B7 of the winter locks goes back
metadata:
  node_type: memory
  type: project
---

B7 sticks below 0 °C.
""",
    "tyres.md": """\
---
name: tyres
description: Tyres are ordered in March
metadata:
  node_type: memory
  type: reference
---

Forty of them, from the same dealer as last year.
""",
    "photo.txt": "not a memory\n",
}


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Mira")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "mira@example.org")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return save({p: t.encode() for p, t in CLAUDE.items()}, tmp_path / "claude")


def save(data: Mapping[str, bytes], root: Path) -> Path:
    for path, text in data.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text)
    return root


def opened(name: str, root: Path) -> Opened:
    return load(registry.get(name), root, must_exist=False)


def claude(root: Path) -> Opened:
    return opened("claude-code", root)


def memhtml(root: Path) -> Opened:
    return opened("memhtml", root)


_NO_KIND = {"kind": None}


def sync(source: Opened, destination: Opened, choices: Choices = NO_CHOICES) -> Plan:
    return applied(source, destination, choices)[0]


def applied(
    source: Opened, destination: Opened, choices: Choices = NO_CHOICES
) -> tuple[Plan, Token | None]:
    """Convert, with a type declared for each record that waits for one."""
    if destination.adapter.name == "memhtml":
        waiting = plan(source, destination, choices, now=NOW).template
        decisions = {k: {"kind": "semantic"} for k, ways in waiting.items() if ways == _NO_KIND}
        choices = replace(choices, decisions=decisions, carry=True)
    found = plan(source, destination, choices, now=NOW)
    return found, apply_plan(found, source, destination, choices)


def files(root: Path) -> dict[str, bytes]:
    """Give the files of a store, without those of interop, git and the runtime's databases."""
    ours = {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and not {".interop", ".git"} & set(p.relative_to(root).parts)
    }
    return {p: b for p, b in ours.items() if not registry.get("memhtml").ignored(p)}


def changed(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> set[str]:
    return {p for p in {*before, *now} if before.get(p) != now.get(p)}


def git(root: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def cli(root: Path, *args: str) -> dict[str, Any]:
    answer = peers.memhtml(root, *args)
    assert "error" not in answer, (args, answer)
    return dict(answer["data"])


def rebuilt(root: Path) -> set[str]:
    """Build the index: nothing may be skipped. Gives the paths in it."""
    answer = cli(root, "index", "rebuild", "--no-embed", "--force")
    assert answer["skipped"] == []
    base = sqlite3.connect(root / ".memhtml" / "index.db")
    try:
        return {path for (path,) in base.execute("SELECT path FROM files")}
    finally:
        base.close()


def claims(root: Path) -> dict[str, str]:
    """Give the claim that the index has of each path."""
    base = sqlite3.connect(root / ".memhtml" / "index.db")
    try:
        return dict(base.execute("SELECT path, gist FROM files"))
    finally:
        base.close()


def place(store: Path, key: str) -> str:
    """Give where a record of the Claude Code store lies in the memhtml store."""
    lines = memhtml(store).restored.lines
    return next(path for path, (line, *_) in lines.items() if line.key == key)


def slept(root: Path) -> None:
    branch = cli(root, "sleep", "run")["branch"]
    cli(root, "sleep", "merge", branch)


# --- a store that is new


def test_every_sample_is_indexed_and_comes_back(tmp_path: Path) -> None:
    """Each Claude Code and bantamkit sample, as one memhtml store each."""
    for n, sample in enumerate(OURS):
        root = tmp_path / str(n)
        there = sample.opened(f"sample-{n}")
        sync(there, memhtml(root))
        new = memhtml(root)
        if not new.raw.records:
            continue
        assert rebuilt(root) == {r.key for r in new.raw.records}, sample.id
        back = tmp_path / f"back-{n}"
        sync(memhtml(root), opened(sample.adapter.name, back))
        assert files(back) == dict(there.tree.files), sample.id


def test_a_fresh_directory_is_a_healthy_store(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "m"
    found, token = applied(claude(home), memhtml(root))
    assert found.count("add") == 6
    assert token is not None
    assert token.commit == git(root, "rev-parse", "HEAD").strip()
    assert git(root, "log", "--format=%s").splitlines() == [
        "memhtml(batch): convert from claude-code",
        "memhtml(init): scaffold the memory repository",
    ]
    assert git(root, "status", "--porcelain") == ""
    assert COMPLEMENT in git(root, "ls-files").splitlines()
    rebuilt(root)
    said = cli(root, "doctor")
    assert said["healthy"]
    clean = ("dangling", "untypedEntities", "warnings", "unparseable", "dirty", "orphanAccessRows")
    assert {name: said[name] for name in clean} == {name: [] for name in clean}
    before = files(root)
    cli(root, "init")
    assert files(root) == before, "the runtime has nothing to add"


# --- what the runtime did comes back


@pytest.fixture
def lived(home: Path, tmp_path: Path) -> Path:
    """A memhtml store that was made from the Claude Code one, with its index."""
    root = tmp_path / "m"
    sync(claude(home), memhtml(root))
    rebuilt(root)
    return root


def test_a_link_travels_beside_the_store(home: Path, lived: Path) -> None:
    before = files(home)
    cli(lived, "link", place(lived, "dock-sensor.md"), "part_of", place(lived, "deposit.md"))
    found = sync(memhtml(lived), claude(home))
    assert [c.path for c in found.changes] == [COMPLEMENT]
    assert files(home) == before
    (linked,) = (r for r in claude(home).restored.store.records if r.key == "dock-sensor.md")
    assert isinstance(linked, Memory)
    assert ("part_of", place(lived, "deposit.md")) in [(k.rel, k.target) for k in linked.links]
    store = files(lived)
    sync(claude(home), memhtml(lived))
    assert files(lived) == store


def test_a_correction_is_the_change_of_that_record(home: Path, lived: Path) -> None:
    """The new file is followed by what it supersedes; the old text travels beside the store."""
    before = files(home)
    old = place(lived, "winter-locks.md")
    correct(lived, old, "Batch B9 goes back.", "B9 sticks below zero.")
    found = sync(memhtml(lived), claude(home))
    assert changed(before, files(home)) == {"winter-locks.md"}
    note = files(home)["winter-locks.md"].decode()
    assert "B9 sticks below zero." in note
    assert "description: Batch B9 goes back.\n" in note
    assert "  type: project\n" in note, "the kind that its author gave it stands"
    assert "B7" not in note
    assert {o.key: o.action for o in found.outcomes if o.action not in ("same", "update")} == {
        f"archive/{old_year(lived, old)}/{old}": "carry"
    }
    # once agreed, nothing is left to say, in either direction
    store = files(lived)
    sync(claude(home), memhtml(lived))
    assert files(lived) == store
    now = files(home)
    sync(memhtml(lived), claude(home))
    assert files(home) == now
    # and an edit of the record goes to the correction, not to what it corrected
    (home / "winter-locks.md").write_text(note.replace("B9 sticks", "B9 freezes"), "utf-8")
    sync(claude(home), memhtml(lived))
    (edited,) = changed(store, files(lived))
    assert edited == "areas/inbox/winter-locks-2.html"
    assert b"B9 freezes below zero." in files(lived)[edited]
    rebuilt(lived)


def test_a_correction_of_a_correction_is_followed_at_its_old_path(home: Path, lived: Path) -> None:
    """The second one takes the path that the first left free: it is what stands there."""
    before = files(home)
    correct(lived, place(lived, "winter-locks.md"), "Batch B9 goes back.")
    correct(lived, "areas/inbox/winter-locks-2.html", "Batch B10 goes back.")
    sync(memhtml(lived), claude(home))
    assert changed(before, files(home)) == {"winter-locks.md"}
    assert b"Batch B10 goes back." in files(home)["winter-locks.md"]


def test_a_longer_chain_loses_nothing(home: Path, lived: Path) -> None:
    """Twice under new titles between two conversions: one step is followed, so the plan asks."""
    before = files(home)
    correct(lived, place(lived, "winter-locks.md"), "Batch B9 goes back.", title="B9")
    correct(lived, "areas/inbox/b9.html", "Batch B10 goes back.", title="B10")
    found = sync(memhtml(lived), claude(home))
    assert [o.to for o in found.outcomes if o.action == "pending"] == ["winter-locks.md"]
    new = files(home)
    assert changed(before, new) == {"MEMORY.md", "b10.md"}
    sync(memhtml(lived), claude(home), Choices(delete=True))
    assert changed(new, files(home)) == {"MEMORY.md", "winter-locks.md"}
    store = files(lived)
    sync(claude(home), memhtml(lived))
    assert files(lived) == store


SAID = "The ceiling is 128."
FENCE = "```\nceiling 128\n```"
SAYING = [
    pytest.param("claude-code", ("The ceiling\nis 128.",), "The ceiling\nis 128.", id="two lines"),
    pytest.param(
        "jsonl", ("So.\n\nIt is 128.",), "So.\nIt is 128.", id="a claim of two paragraphs"
    ),
    pytest.param("bantamkit", (SAID, FENCE), f"{SAID}\n\n{FENCE}", id="a fence"),
    pytest.param(
        "claude-code",
        (SAID, "Measured.", "Twice."),
        f"{SAID} Measured.\n\nTwice.",
        id="paragraphs",
    ),
    pytest.param("theokit", ("About the pool",), "About the pool", id="what was supplied"),
    *(
        pytest.param(name, (SAID,), SAID, id=f"the claim alone, {name}")
        for name in ("claude-code", "bantamkit", "theokit", "memory-compiler", "jsonl")
    ),
]


@pytest.mark.parametrize(("name", "words", "text"), SAYING)
def test_exactly_what_a_correction_says_arrives_as_the_text(
    name: str, words: tuple[str, ...], text: str, tmp_path: Path
) -> None:
    """Also of a memory whose description does not lead its text: no claim is before nothing."""
    first = replace(POOL, description=None) if name == "memory-compiler" else POOL
    made_in = registry.get("claude-code" if name == "jsonl" else name)
    written = made_in.write(Store(format=made_in.name, records=(first,)), {}, Context(now=NOW))
    assert not written.refused
    home, root = save(written.files, tmp_path / "home"), tmp_path / "m"
    if name == "jsonl":
        home.rename(tmp_path / "first")
        home.mkdir()
        home /= "pool.jsonl"
        sync(opened(made_in.name, tmp_path / "first"), opened(name, home))
    sync(opened(name, home), memhtml(root))
    rebuilt(root)
    (place_of,) = (r.key for r in memhtml(root).raw.records)
    before = files(root)[place_of].decode()
    correct(root, place_of, *words, title="The ceiling")
    made = sync(memhtml(root), opened(name, home), Choices(carry=True))
    (record,) = (r for r in opened(name, home).restored.store.records if _of_pool(r))
    assert isinstance(record, Memory)
    assert record.body.text.strip() == text
    assert before.count("<mark>") == 1
    (outcome,) = (o for o in made.outcomes if o.action == "update")
    assert {f.field: f.fate for f in outcome.fields}["body"] != "restored"
    # once agreed, nothing is left to say, in either direction
    for source, there in (((name, home), ("memhtml", root)), (("memhtml", root), (name, home))):
        now = files(root), files(tmp_path / "home")
        sync(opened(*source), opened(*there), Choices(carry=True))
        assert (files(root), files(tmp_path / "home")) == now
    rebuilt(root)


POOL = Memory(
    key="pool.md",
    name="pool",
    description="About the pool",
    body=Body(text="The ceiling is 64.\n\nIt was set in May."),
    kinds={"claude": "project"},
)


def _of_pool(record: Record) -> bool:
    return isinstance(record, Memory) and record.state == "live"


def correct(root: Path, path: str, claim: str, *body: str, title: str = "Winter locks") -> None:
    words = [w for text in body for w in ("--body", text)]
    cli(root, "correct", path, "--title", title, "--claim", claim, *words)


def old_year(root: Path, path: str) -> str:
    (year,) = (p.split("/")[1] for p in files(root) if p.endswith(path) and p != path)
    return year


def test_what_was_archived_is_pending_and_leaves_when_asked(home: Path, lived: Path) -> None:
    before = files(home)
    path = place(lived, "tyres.md")
    cli(lived, "archive", path, "--reason", "ordered")
    found = sync(memhtml(lived), claude(home))
    assert [(o.action, o.to) for o in found.outcomes if o.action != "same"] == [
        ("pending", "tyres.md")
    ]
    assert files(home) == before
    sync(memhtml(lived), claude(home), Choices(delete=True))
    assert changed(before, files(home)) == {"MEMORY.md", "tyres.md"}
    index = files(home)["MEMORY.md"].decode()
    line = "- [Tyres](tyres.md) — ordered in March\n"
    assert index == before["MEMORY.md"].decode().replace(line, "")
    # it stays archived there, whatever else goes back
    store = files(lived)
    (home / "deposit.md").write_bytes(before["deposit.md"].replace(b"50 for", b"60 for"))
    sync(claude(home), memhtml(lived))
    assert changed(store, files(lived)) == {place(lived, "deposit.md")}
    assert rebuilt(lived) == {r.key for r in memhtml(lived).raw.records}


def test_a_task_is_added_and_finished(home: Path, lived: Path) -> None:
    before = files(home)
    path = cli(
        lived, "task", "add", "--title", "Order bells", "--due", "2026-12-20", "--body", "Loud."
    )["path"]
    sync(memhtml(lived), claude(home))
    new = changed(before, files(home))
    assert new - {"MEMORY.md"} == {"order-bells.md"}
    assert b"Loud." in files(home)["order-bells.md"]
    (task,) = (r for r in claude(home).restored.store.records if r.key == "order-bells.md")
    assert task.role == "task"
    store, now = files(lived), files(home)
    sync(claude(home), memhtml(lived))
    assert files(lived) == store
    cli(lived, "task", "status", path, "done")
    found = sync(memhtml(lived), claude(home))
    assert [(o.action, o.to) for o in found.outcomes if o.action != "same"] == [
        ("pending", "order-bells.md")
    ]
    assert files(home) == now
    sync(memhtml(lived), claude(home), Choices(delete=True))
    assert files(home) == before


def test_what_people_edit_goes_to_memhtml_and_is_indexed(home: Path, lived: Path) -> None:
    store = files(lived)
    text = (home / "deposit.md").read_text("utf-8")
    (home / "deposit.md").write_text(text.replace("80 for", "90 for"), "utf-8")
    sync(claude(home), memhtml(lived))
    path = place(lived, "deposit.md")
    assert changed(store, files(lived)) == {path}
    now = files(lived)[path].decode()
    assert "<li>90 for a cargo bike.</li>" in now
    assert rebuilt(lived) == {r.key for r in memhtml(lived).raw.records}
    assert cli(lived, "doctor")["healthy"]
    assert git(lived, "status", "--porcelain") == ""


def test_a_description_that_people_edit_is_the_claim_in_the_index(home: Path, lived: Path) -> None:
    store = files(lived)
    text = (home / "deposit.md").read_text("utf-8")
    text = text.replace("Deposit: taken on return, not on rental", "When the deposit is taken")
    (home / "deposit.md").write_text(text, "utf-8")
    sync(claude(home), memhtml(lived))
    path = place(lived, "deposit.md")
    assert changed(store, files(lived)) == {path}
    old, new = (f[path].decode().splitlines() for f in (store, files(lived)))
    assert [
        (a, b) for a, b in zip(old, new, strict=True) if a != b and "content-hash" not in a
    ] == [
        (
            "<p><mark>Deposit: taken on return, not on rental</mark></p>",
            "<p><mark>When the deposit is taken</mark></p>",
        )
    ]
    rebuilt(lived)
    assert claims(lived)[path] == "When the deposit is taken"
    assert cli(lived, "doctor")["healthy"]
    there = files(home)
    sync(memhtml(lived), claude(home))
    assert files(home) == there


def test_a_second_conversion_into_a_new_store_commits_nothing(home: Path, lived: Path) -> None:
    commits = git(lived, "log", "--format=%H")
    again, token = applied(claude(home), memhtml(lived))
    assert (again.changes, token) == ((), None)
    assert git(lived, "log", "--format=%H") == commits
    undo(lived)
    assert not memhtml(lived).raw.records
    assert git(lived, "diff", "HEAD~2", "HEAD") == "", "the scaffold alone is left"


# --- sleep


def test_sleep_is_noise(home: Path, lived: Path) -> None:
    """What it does to files of ours is found, and no more than noise."""
    claims = {r.key: r for r in memhtml(lived).raw.records}
    then = memhtml(lived)
    slept(lived)
    now = memhtml(lived)
    touched = [r for r in now.raw.records if r != claims[r.key]]
    assert touched, "confidence decays on every memory"
    found = diff(claude(home), now)
    assert found.changes
    assert found.same
    assert {c.tag for c in diff(then, now).changes if c.what == "changed"} == {"noise"}


def test_sleep_changes_not_one_byte_at_home(home: Path, lived: Path) -> None:
    before = files(home)
    slept(lived)
    sync(memhtml(lived), claude(home))
    assert files(home) == before


def test_what_was_done_before_sleep_comes_back_without_its_noise(home: Path, lived: Path) -> None:
    before = files(home)
    cli(lived, "link", place(lived, "dock-sensor.md"), "part_of", place(lived, "ask-first.md"))
    correct(lived, place(lived, "winter-locks.md"), "Batch B9 goes back.")
    cli(lived, "archive", place(lived, "tyres.md"), "--reason", "ordered")
    path = cli(lived, "task", "add", "--title", "Order bells")["path"]
    cli(lived, "task", "status", path, "done")
    slept(lived)
    found = sync(memhtml(lived), claude(home))
    assert changed(before, files(home)) == {"winter-locks.md"}
    assert [o.to for o in found.outcomes if o.action == "pending"] == ["tyres.md"]
    sync(memhtml(lived), claude(home), Choices(delete=True))
    assert changed(before, files(home)) == {"winter-locks.md", "MEMORY.md", "tyres.md"}
    # and back again: nothing was edited at home, so nothing is here
    store = files(lived)
    sync(claude(home), memhtml(lived))
    assert files(lived) == store
    text = (home / "ask-first.md").read_text("utf-8")
    (home / "ask-first.md").write_text(text.replace("workshop first", "kiosk first"), "utf-8")
    sync(claude(home), memhtml(lived))
    assert changed(store, files(lived)) == {place(lived, "ask-first.md")}
    assert rebuilt(lived) == {r.key for r in memhtml(lived).raw.records}


def test_what_left_home_after_sleep_is_no_conflict(home: Path, lived: Path) -> None:
    slept(lived)
    (home / "tyres.md").unlink()
    index = (home / "MEMORY.md").read_text("utf-8")
    line = "- [Tyres](tyres.md) — ordered in March\n"
    (home / "MEMORY.md").write_text(index.replace(line, ""), "utf-8")
    store = files(lived)
    found = sync(claude(home), memhtml(lived))
    assert found.count("pending") == 1
    path = place(lived, "tyres.md")
    sync(claude(home), memhtml(lived), Choices(delete=True))
    assert changed(store, files(lived)) == {path}
    assert path not in rebuilt(lived)


# --- git around it


def test_no_commit_leaves_the_files_and_says_the_commands(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "m"
    options = HostOptions(commit=False)
    _, token = applied(claude(home), memhtml(root), Choices(host=options))
    assert token is not None
    assert token.commit is None
    assert git(root, "diff", "--cached", "--name-only") == ""
    assert "areas/" in git(root, "status", "--porcelain")
    add, commit, update = token.commands
    for command in (add, commit):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert git(root, "status", "--porcelain") == ""
    assert update.endswith(" index update")
    assert rebuilt(root) == {r.key for r in memhtml(root).raw.records}


def test_the_complement_stays_out_of_git_when_asked(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "m"
    options = HostOptions(complement_in_git=False)
    applied(claude(home), memhtml(root), Choices(host=options))
    assert not [p for p in git(root, "ls-files").splitlines() if p.startswith(".interop")]
    assert git(root, "status", "--porcelain") == ""
    assert (root / COMPLEMENT).is_file()
    before = files(home)
    sync(memhtml(root), claude(home))
    assert files(home) == before


def test_a_store_with_staged_changes_is_refused(home: Path, lived: Path) -> None:
    edit(home)
    store = files(lived)
    (lived / "note.txt").write_text("mine\n", "utf-8")
    git(lived, "add", "note.txt")
    with pytest.raises(RefusedError, match="staged"):
        sync(claude(home), memhtml(lived))
    assert changed(store, files(lived)) == {"note.txt"}
    git(lived, "restore", "--staged", "note.txt")
    sync(claude(home), memhtml(lived))
    assert git(lived, "status", "--porcelain") == "?? note.txt\n"


def test_a_sleep_under_way_is_refused(home: Path, lived: Path) -> None:
    edit(home)
    branch = cli(lived, "sleep", "run")["branch"]
    store = files(lived)
    with pytest.raises(RefusedError, match=f"branch is {branch}.*sleep merge {branch}"):
        sync(claude(home), memhtml(lived))
    assert files(lived) == store
    cli(lived, "sleep", "merge", branch)
    sync(claude(home), memhtml(lived))
    assert b"60 for" in files(lived)[place(lived, "deposit.md")]


def test_undo_of_a_committed_apply_is_a_revert(home: Path, lived: Path) -> None:
    store = files(lived)
    index = rebuilt(lived)
    edit(home)
    (home / "bells.md").write_text("---\nname: bells\n---\n\nBells are loud.\n", "utf-8")
    _, token = applied(claude(home), memhtml(lived))
    assert token is not None
    assert len(changed(store, files(lived))) == 2
    undo(lived)
    assert files(lived) == store
    subject, old = git(lived, "log", "-2", "--format=%s").splitlines()
    assert subject == f'Revert "{old}"'
    assert token.commit == git(lived, "rev-parse", "HEAD~").strip()
    assert git(lived, "status", "--porcelain") == ""
    assert git(lived, "diff", "HEAD~2", "HEAD") == ""
    assert rebuilt(lived) == index
    # what was taken back can be done again
    sync(claude(home), memhtml(lived))
    assert len(changed(store, files(lived))) == 2


def edit(home: Path) -> None:
    text = (home / "deposit.md").read_text("utf-8")
    (home / "deposit.md").write_text(text.replace("50 for", "60 for"), "utf-8")
