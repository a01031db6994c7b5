"""Several programs at one store: interops among themselves, and beside its real runtime or git.

Real processes throughout. What another program wrote is never lost, and nobody reads half a write.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from interop import stores
from interop.convert import apply_plan, plan
from interop.model import Memory
from tests import peers
from tests.busy import MOVES, WAITED
from tests.faulting import git, note
from tests.patience import HANGS

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
    words_of = hashlib.sha256(f"{who}{n}".encode()).hexdigest()
    text = f"Rack {who}{n}: {words_of[:30]} {words_of[30:]}."
    while True:  # how often the other one is faster is a matter of the machine
        try:
            bridge.remember(text, kind=kind, name=name, description=words, secrets="allow")
            break
        except InteropError as error:
            said = str(error).replace(chr(10), " | ")
            print(type(error).__name__, error.exit_code, said, flush=True)
"""
READ = """
import sys
from pathlib import Path
from interop import stores
from interop.errors import FormatError
from tests.busy import busy
spec, until = sys.argv[1], Path(sys.argv[2])
seen, rounds = set(), 0
while True:
    last = until.exists()  # then nobody writes any more, and nothing is in the way of a look
    try:
        store = stores.open_store(spec)
    except FormatError as error:
        if last or not busy(str(error)):
            raise
        continue
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


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def nobody_stays() -> Iterator[None]:
    """End what a test that failed left running."""
    yield
    while STARTED:
        with STARTED.pop() as process:
            process.kill()


def start(program: str, *args: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env=dict(os.environ),
    )
    STARTED.append(process)
    return process


def end(running: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Wait for all, and give what they said; a process that failed fails the test."""
    said: list[str] = []
    for process in running:
        out, _ = process.communicate(timeout=HANGS)
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
    # a machine that is slow enough lets one wait for its turn, or look again, until it gives up
    left = ("rolled back, every file is as it was", WAITED, MOVES)
    assert all(line.split()[1] == "3" or any(x in line for x in left) for line in said), said
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


SAVES = 30
"""How many things the runtime saves each time that it is started."""
TURNS = range(2, 12)
"""How often the runtime starts: as long as interop writes, but twice at least. From the last one on
interop is alone, so that it gets through on any machine."""


def saves(turn: int) -> list[dict[str, object]]:
    """Give what the runtime saves in a turn: no fact shares half of its words with another one.

    One that does is to bantamkit a duplicate: it answers so, and saves nothing.
    """
    return [
        {
            "op": "save",
            "type": "project",
            "name": f"runtime-{turn}x{n}",
            "description": f"r{turn}x{n} s{turn}x{n} t{turn}x{n} u{turn}x{n}",
            "body": f"Rack r{turn}x{n} holds the bike of the runtime.",
            "budget": 10_000_000,  # which as many as these overrun otherwise
        }
        for n in range(SAVES)
    ]


@pytest.mark.conformance
def test_beside_the_real_bantamkit_that_saves_in_a_loop(tmp_path: Path) -> None:
    version = peers.BANTAMKIT[-1]
    root = tmp_path / "store"
    spec = f"bantamkit:{root}"
    first = {**saves(0)[0], "name": "first", "description": "one two three"}
    assert peers.run(version, root, [first])["results"][0]["ok"]
    until = tmp_path / "until"
    reader = start(READ, spec, str(until))
    writer = start(REMEMBER, spec, "i", str(EACH), "project")
    saved: list[object] = []
    for turn in range(TURNS.stop):
        if turn >= TURNS.start and writer.poll() is not None:
            break
        batch = saves(turn)
        results = peers.run(version, root, batch)["results"]
        # it did all of it: none failed, and none was to it a duplicate of another one
        assert [r.get("status") for r in results] == ["saved"] * len(batch), results
        saved += [save["name"] for save, _ in zip(batch, results, strict=True)]
    said = end([writer])
    until.touch()
    assert int(end([reader])[-1]) > 0
    assert all(line.split()[1] in ("3", "5") or MOVES in line for line in said), said
    assert not [line for line in said if "except" in line and "stays" not in line], said
    there = {p.stem for p in (root / "facts").glob("*.md")}
    assert len(set(saved)) == len(saved) >= TURNS.start * SAVES
    assert set(saved) <= there, "nothing that the runtime wrote is lost"
    assert there == {"first", *saved, *(f"i{n}q" for n in range(EACH))}
    later = {**first, "name": "last", "description": "four five six"}
    asked: list[dict[str, object]] = [later, {"op": "lint"}, {"op": "index"}, {"op": "read"}]
    results = peers.run(version, root, asked)["results"]
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
while not (until.exists() and made):
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
    from interop.bridge import Bridge
    from interop.errors import WriteError

    root = tmp_path / "store"
    root.mkdir()
    with holding(root) as holder:
        # it would wait for ever if it did not end by itself
        said = rf"for 0.5 seconds \(a long conversion, process {holder.pid}"
        with pytest.raises(WriteError, match=said):
            Bridge(write=f"claude-code:{root}", wait=0.5).remember("Bells are loud.")
        assert [p.name for p in root.iterdir()] == [".interop"]
        holder.kill()
        # a lock ends with the process that holds it
        Bridge(write=f"claude-code:{root}", wait=60.0).remember("Bells are loud.")


HOLD = """
import sys
from pathlib import Path
from interop import applying
with applying.locked(Path(sys.argv[1]), "a long conversion", 60.0):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holding(root: Path) -> Generator[subprocess.Popen[str]]:
    """Hold the lock of a store as long as the block takes."""
    with start(HOLD, str(root)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
