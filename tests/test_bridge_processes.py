"""Many readers and writers of one store at once, each a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from interop import stores
from interop.bridge import Bridge
from interop.disk import layout, stamp
from interop.errors import FormatError, InteropError
from interop.model import Memory
from tests.busy import busy
from tests.faulting import steps
from tests.patience import HANGS

WRITERS, EACH = 3, 6
KIND = {"bantamkit": "project"}
_SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(folder))
    return folder


def text_of(writer: int, n: int) -> str:
    return f"Rack {writer * 100 + n} holds the bike {writer:x}{n:x}{'abcdef'[n]}."


def write(spec: str, writer: int, told: Any) -> None:
    """Remember some texts, one after the other."""
    bridge = Bridge(read=[spec], write=spec, wait=HANGS)
    for n in range(EACH):
        name = f"w{writer}x{n}" if spec.startswith("bantamkit:") else None
        words = f"q{writer}{n} z{n}{writer}" if name else None
        kind = KIND.get(spec.partition(":")[0])
        while True:  # until it is not overtaken
            try:
                done = bridge.remember(text_of(writer, n), name=name, description=words, kind=kind)
                told.put(("wrote", done.key))
                break
            except InteropError as error:
                if not busy(str(error)):
                    told.put(("failed", str(error)))
                    return
    told.put(("ended", writer))


def read(spec: str, until: Any, told: Any) -> None:
    """Look again and again; nothing that was there may be missing, no problem may show."""
    seen: set[str] = set()
    bridge = Bridge(read=[spec])
    while True:
        last = until.is_set()  # then nobody writes any more, and nothing is in the way of a look
        try:
            answer, found = bridge.records(), bridge.search("Rack", 100).found
        except FormatError as error:
            if last or not busy(str(error)):
                told.put(("problem", str(error)))
                return
            continue
        now = {one.key for one in answer.found}
        if answer.problems:
            told.put(("problem", str(answer.problems)))
        if seen - now:
            told.put(("vanished", str(sorted(seen - now))))
        for one in found:
            if not str(one.data["body"]).count("holds the bike"):
                told.put(("torn", str(one.data)))
        seen |= now
        if last:
            break
    told.put(("looked", len(seen)))


@pytest.mark.parametrize("name", ["claude-code", "bantamkit", "memory-compiler", "theokit"])
def test_writers_and_readers_at_once(name: str, tmp_path: Path) -> None:
    spec = f"{name}:{tmp_path / 'store'}"
    Bridge(write=spec).remember("Pumps stand by the door.", kind=KIND.get(name))
    told = _SPAWN.Queue()
    until = _SPAWN.Event()
    readers = [_SPAWN.Process(target=read, args=(spec, until, told)) for _ in range(2)]
    writers = [_SPAWN.Process(target=write, args=(spec, w, told)) for w in range(WRITERS)]
    for process in (*readers, *writers):
        process.start()
    said: list[tuple[str, object]] = []

    def listen(last: str, many: int) -> None:
        """Take what is told until so many have told the last thing, or something that is wrong."""
        while len([how for how, _ in said if how == last]) < many:
            said.append(told.get(timeout=HANGS))
            assert said[-1][0] in ("wrote", "ended", "looked"), said[-1]

    try:
        listen("ended", len(writers))
        until.set()
        listen("looked", len(readers))
        for process in (*readers, *writers):
            process.join(HANGS)
    finally:
        for process in (*readers, *writers):
            process.kill()
    assert all(p.exitcode == 0 for p in (*readers, *writers))
    wrote = [what for how, what in said if how == "wrote"]
    assert {what for how, what in said if how == "looked"} == {1 + WRITERS * EACH}
    assert len(set(wrote)) == WRITERS * EACH
    there = {r.body.text for r in stores.open_store(spec).raw.records if isinstance(r, Memory)}
    assert {text_of(w, n) for w in range(WRITERS) for n in range(EACH)} <= there
    assert len(Bridge(read=[spec]).search("Rack", 100).found) == WRITERS * EACH


STOPPED = """
import sys
from interop.bridge import Bridge
from interop.disk import durable
spec, who, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
def stop(when, operation, path):
    global left
    left -= 1
    if left < 0:
        print("in the midst of it", flush=True)
        sys.stdin.read()
bridge = Bridge(write=spec)
bridge.remember(f"Rack {who} of the killed one.")  # which mends what the one before it left
durable.fault = stop
bridge.remember(f"Shed {who} of the killed one.")
"""


def test_a_writer_that_is_killed_leaves_a_store_that_the_next_one_mends(tmp_path: Path) -> None:
    spec = f"claude-code:{tmp_path / 'store'}"
    Bridge(write=spec).remember("Pumps stand by the door.")

    def remember() -> None:
        Bridge(write=spec).remember("Racks stand in the yard.")

    all_steps = steps(remember)
    interrupted = 0
    for part in (1, 2, 3):
        with subprocess.Popen(
            [sys.executable, "-c", STOPPED, spec, str(part), str(part * all_steps // 4)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(os.environ),
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"in the midst of it\n"
            process.kill()
        interrupted += layout.journal(tmp_path / "store").exists()
        # a reader sees the state before or after a write, and every index line has its file
        opened = stores.open_store(spec)
        assert not [p for p in opened.raw.problems if p.unread]
        assert {r.key for r in opened.restored.store.records} == {
            one.key for one in Bridge(read=[spec]).records().found
        }
    assert interrupted, "no kill fell into a write; the test says nothing"
    told = Bridge(write=spec).remember("The next one.")
    assert told.already == ""
    root = tmp_path / "store"
    named = (root / "MEMORY.md").read_text(encoding="utf-8")
    files = {p.name for p in root.glob("*.md")} - {"MEMORY.md"}
    assert all(f"({name})" in named for name in files)
    assert named.count("](") == len(files)


def test_indexes_made_at_once_are_all_whole(tmp_path: Path, cache: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    for n in range(200):
        (root / f"n{n}.md").write_text(
            f"---\nname: n{n}\ndescription: d\nmetadata:\n  type: user\n---\n\nchain {n}\n"
        )
    program = (
        "import sys; from interop.bridge import Bridge\n"
        "for _ in range(3):\n"
        "    print(len(Bridge(read=[sys.argv[1]]).search('chain', 500).found))\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, f"claude-code:{root}"], stdout=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for process in running:
        out, _ = process.communicate(timeout=HANGS)
        assert out.split() == [b"200"] * 3
    assert [p.suffix for p in (cache / "bridge").iterdir()] == [".sqlite3"]


def test_a_warm_search_imports_no_adapter_and_opens_no_store(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    (root / "n.md").write_text("---\nname: n\ndescription: d\n---\n\nchain\n")
    program = (
        "import sys; from interop.bridge import Bridge\n"
        f"found = Bridge(read=['claude-code:{root}']).search('chain').found\n"
        "assert len(found) == 1\n"
        "print(*[m for m in sys.modules if m.startswith('interop.')])\n"
    )
    _wait_until_old(root)
    told = [subprocess.check_output([sys.executable, "-c", program]) for _ in range(3)]
    loaded = set(told[-1].decode().split())
    assert "interop.bridge.searching" in loaded
    assert not {m for m in loaded if m.startswith("interop.adapters")}
    assert not loaded & {"interop.stores", "interop.registry", "interop.adapter", "interop.fields"}


def _wait_until_old(root: Path) -> None:
    """Wait until what was just written can be trusted by its times."""
    found = stamp.take(root)
    while found is not None and found.racy:
        time.sleep(0.05)
        found = stamp.take(root)
