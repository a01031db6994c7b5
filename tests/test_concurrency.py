"""Several programs at one store: interops among themselves, and beside its real runtime or git.

Real processes throughout. What another program wrote is never lost, and nobody reads half a write.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from interop import stores
from interop.convert import apply_plan, plan
from interop.model import Memory
from tests import peers
from tests.faulting import git, note

ROOT = Path(__file__).parents[1]
NOW = "2026-11-30T12:00:00.000Z"
EACH = 8
"""How many things each writer writes."""

CONVERT = """
import sys
from interop import stores
from interop.convert import apply_plan, plan
from interop.errors import InteropError
source, destination, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
done = 0
for turn in range(rounds * 20):
    try:
        here, there = stores.open_store(source), stores.open_store(destination)
        made = plan(here, there, now=f"2026-11-30T12:00:{turn % 60:02}.000Z")
        apply_plan(made, here, there)
        done += 1
    except InteropError as error:
        print(type(error).__name__, error.exit_code, str(error).replace(chr(10), " | "))
    if done == rounds:
        break
assert done, "not one conversion got through"
"""
REMEMBER = """
import hashlib
import sys
from interop.bridge import Bridge
from interop.errors import InteropError
spec, who, rounds, kind = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] or None
bridge = Bridge(write=spec, wait=60.0)
for n in range(rounds):
    name = f"{who}{n}q" if kind == "project" else None
    words = f"w{who}{n} v{n}{who}" if name else None
    for again in range(60):
        try:
            words_of = hashlib.sha256(f"{who}{n}".encode()).hexdigest()
            text = f"Rack {who}{n}: {words_of[:30]} {words_of[30:]}."
            bridge.remember(text, kind=kind, name=name, description=words, secrets="allow")
            break
        except InteropError as error:
            said = str(error).replace(chr(10), " | ")
            print(type(error).__name__, error.exit_code, said, flush=True)
    else:
        raise SystemExit(f"{who}{n} never got through")
"""
READ = """
import sys
from pathlib import Path
from interop import stores
spec, until = sys.argv[1], Path(sys.argv[2])
seen, rounds = set(), 0
while True:
    last = until.exists()
    store = stores.open_store(spec)
    wrong = [p for p in store.raw.problems if p.unread]
    assert not wrong, wrong
    texts = {getattr(r, "body").text for r in store.raw.records if r.role == "memory"}
    torn = [t for t in texts if t.startswith("Rack") and not t.rstrip().endswith(".")]
    assert not torn, torn
    vanished = {t for t in seen - texts if t.startswith("Rack")}
    assert not vanished, vanished
    seen |= texts
    rounds += 1
    if last:
        break
print(rounds)
"""


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def start(program: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env=dict(os.environ),
    )


def end(running: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Wait for all, and give what they said; a process that failed fails the test."""
    said: list[str] = []
    for process in running:
        out, _ = process.communicate(timeout=240)
        assert process.returncode == 0, out
        said += out.splitlines()
    return said


def texts(spec: str) -> set[str]:
    found = stores.open_store(spec).restored.store.records
    return {r.body.text.strip() for r in found if isinstance(r, Memory)}


def text_of(which: str) -> str:
    """Give what REMEMBER writes."""
    words = hashlib.sha256(which.encode()).hexdigest()
    return f"Rack {which}: {words[:30]} {words[30:]}."


def convert(source: str, destination: str) -> None:
    here, there = stores.open_store(source), stores.open_store(destination, must_exist=False)
    apply_plan(plan(here, there, now=NOW), here, there)


def test_conversions_both_ways_beside_two_that_remember(tmp_path: Path) -> None:
    one, other = f"claude-code:{tmp_path / 'one'}", f"theokit:{tmp_path / 'other'}"
    (tmp_path / "one").mkdir()
    note(tmp_path / "one", "bells", "Bells are loud.")
    convert(one, other)
    until = tmp_path / "until"
    readers = [start(READ, spec, str(until)) for spec in (one, other)]
    writers = [
        start(REMEMBER, one, "a", str(EACH), ""),
        start(REMEMBER, other, "b", str(EACH), ""),
        start(CONVERT, one, other, "6"),
        start(CONVERT, other, one, "6"),
    ]
    said = end(writers)
    until.touch()
    assert all(int(line) > 0 for line in end(readers))
    # a plan that another one overtook is refused; where that one wrote a file which this plan does
    # not touch, it is seen when the store is read back, and everything is as it was before
    overtaken = ("3", "rolled back, every file is as it was")
    assert all(line.split()[1] == overtaken[0] or overtaken[1] in line for line in said), said
    for pair in ((one, other), (other, one), (one, other)):
        convert(*pair)
    mine = {text_of(f"{who}{n}") for who in "ab" for n in range(EACH)}
    for spec in (one, other):
        assert mine <= texts(spec)
        store = stores.open_store(spec)
        assert not store.doubts
        assert len([t for t in texts(spec) if t in mine]) == len(mine)
    index = (tmp_path / "one" / "MEMORY.md").read_text()
    named = [p.name for p in (tmp_path / "one").glob("*.md") if p.name != "MEMORY.md"]
    assert all(name in index for name in named if name != "bells.md")


SAVES = [
    {
        "op": "save",
        "type": "project",
        "name": f"runtime-{n}",
        "description": f"r{n} s{n}x t{n}y",
        "body": f"Rack r{n} holds the bike of the runtime.",
    }
    for n in range(60)
]


@pytest.mark.conformance
def test_beside_the_real_bantamkit_that_saves_in_a_loop(tmp_path: Path) -> None:
    version = peers.BANTAMKIT[-1]
    root = tmp_path / "store"
    spec = f"bantamkit:{root}"
    first = {**SAVES[0], "name": "first", "description": "one two three"}
    assert peers.run(version, root, [first])["results"][0]["ok"]
    until = tmp_path / "until"
    reader = start(READ, spec, str(until))
    driver = ROOT / "tests" / "conformance" / "bantamkit_driver.py"
    writer = start(REMEMBER, spec, "i", str(EACH), "project")
    rounds: list[dict[str, object]] = []
    turn = 0
    while writer.poll() is None or turn == 0:  # the runtime goes on for as long as interop writes
        batch = [
            {**s, "name": f"{s['name']}-{turn}", "description": f"{s['description']} u{turn}z{n}"}
            for n, s in enumerate(SAVES)
        ]
        done = subprocess.run(
            [str(peers.python_of(version)), str(driver)],
            input=json.dumps({"store": str(root), "operations": batch}).encode(),
            capture_output=True,
            timeout=120,
            check=True,
        )
        rounds += json.loads(done.stdout)["results"]
        turn += 1
        assert turn < 40
    said = end([writer])
    until.touch()
    assert int(end([reader])[-1]) > 0
    assert all(line.split()[1] in ("3", "5") for line in said), said
    assert not [line for line in said if "except" in line and "stays" not in line], said
    saved = [r for r in rounds if r["ok"] and r.get("status") == "saved"]
    failed = [r for r in rounds if not r["ok"]]
    assert saved, rounds[:3]
    assert not failed, failed[:3]
    there = {p.stem for p in (root / "facts").glob("*.md")}
    mine = {f"runtime-{n}-{t}" for t in range(turn) for n in range(60)}
    assert mine <= there, "nothing that the runtime wrote is lost"
    assert {f"i{n}q" for n in range(EACH)} <= there
    last = [{**first, "name": "last", "description": "four five six"}, {"op": "lint"}]
    results = peers.run(version, root, [*last, {"op": "index"}, {"op": "read"}])["results"]
    assert all(r["ok"] for r in results), results
    assert results[2]["same"]
    assert len(results[3]["facts"]) == len(there) + 1


GIT = """
import subprocess, sys
from pathlib import Path
root, until = sys.argv[1], Path(sys.argv[2])
def git(*args):
    return subprocess.run(["git", "-C", root, *args], capture_output=True, text=True)
made = 0
while not until.exists():
    made += git("commit", "--quiet", "--allow-empty", "--message", "by hand").returncode == 0
    git("checkout", "--quiet", "HEAD", "--", "README.html")
    git("status")
    git("gc", "--quiet") if made % 4 == 0 else None  # which keeps what is being written
print(made)
"""


@pytest.mark.conformance
def test_beside_git_in_a_memhtml_store(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    git(root, "init", "--quiet", "-b", "main")
    assert "error" not in peers.memhtml(root, "init")
    spec = f"memhtml:{root}"
    until = tmp_path / "until"
    beside, reader = start(GIT, str(root), str(until)), start(READ, spec, str(until))
    said = end([start(REMEMBER, spec, "g", str(EACH), "semantic")])
    until.touch()
    made = int(end([beside])[-1])
    assert int(end([reader])[-1]) > 0
    assert made > 0
    # git says that it is busy: nothing was written, or it was taken back
    assert all(line.split()[1] in ("3", "5") for line in said), said
    assert not [line for line in said if "taking it back failed" in line], said
    git(root, "fsck", "--strict")
    # whatever HEAD once was is in the history still: nobody's commit was taken out of it
    history = set(git(root, "rev-list", "HEAD").split())
    assert set(git(root, "log", "--walk-reflogs", "--format=%H").split()) <= history
    assert "by hand" in git(root, "log", "--format=%s").splitlines()
    assert git(root, "status", "--porcelain", "--", ".", ":!.interop") == ""
    found = texts(spec)
    assert all(any(f"Rack g{n}:" in text for text in found) for n in range(EACH))
    checked = peers.memhtml(root, "doctor")
    assert "error" not in checked, checked


def test_a_second_interop_waits_and_then_says_who_is_at_work(tmp_path: Path) -> None:
    hold = (
        "import sys, time; from pathlib import Path; from interop import applying\n"
        "with applying.locked(Path(sys.argv[1]), 'a long conversion', 5.0):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    root = tmp_path / "store"
    root.mkdir()
    with start(hold, str(root)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        from interop.bridge import Bridge
        from interop.errors import WriteError

        began = time.monotonic()
        with pytest.raises(WriteError, match=rf"a long conversion, process {holder.pid}"):
            Bridge(write=f"claude-code:{root}", wait=0.5).remember("Bells are loud.")
        assert time.monotonic() - began < 20
        assert [p.name for p in root.iterdir()] == [".interop"]
        holder.kill()
    # a lock ends with the process that holds it
    Bridge(write=f"claude-code:{root}", wait=5.0).remember("Bells are loud.")
