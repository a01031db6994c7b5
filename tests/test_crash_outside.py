"""What a disk, an administrator and kill -9 do to the real command, and what is said of it."""

from __future__ import annotations

import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from interop import stores
from interop.bridge import Bridge
from interop.choices import Choices
from interop.convert import apply_plan, plan
from interop.disk import durable, layout, single
from interop.errors import FormatError, InteropError, RefusedError, WriteError
from tests.faulting import note

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="it takes processes of POSIX"),
]
ROOT = Path(__file__).parents[1]
NOW = "2026-11-30T12:00:00.000Z"
MANY = 60
NOBODY = 65534


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))
    yield
    durable.fault = None


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for n in range(MANY):
        note(folder, f"rack-{n}", f"Rack {n} holds {n + 2} bikes.")
    return folder


def convert(source: Path, spec: str) -> None:
    here, there = (
        stores.open_store(f"claude-code:{source}"),
        stores.open_store(spec, must_exist=False),
    )
    choices = Choices(delete=True)
    apply_plan(plan(here, there, choices, now=NOW), here, there, choices)


def seen(root: Path) -> dict[str, bytes]:
    if root.is_file():
        return {"": root.read_bytes()}
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and (".interop" not in p.parts or p == root / ".interop" / "complement")
    }


# --- kill -9

STOPPED = """
import sys
from pathlib import Path
from interop.cli.main import main
from interop.disk import durable
journal, left = Path(sys.argv.pop(1)), int(sys.argv.pop(1))
def stop(when, operation, path):
    global left
    if journal.exists():
        left -= 1
        if left < 0:
            print("in the midst of it", flush=True)
            sys.stdin.read()
durable.fault = stop
main()
"""
"""The command, which waits for its end at one of the steps that it takes while it writes."""


@pytest.mark.parametrize("name", ["theokit", "jsonl"])
def test_kill_9_of_the_command_at_any_instant(name: str, source: Path, tmp_path: Path) -> None:
    root = tmp_path / ("store.jsonl" if name == "jsonl" else "store")
    spec = f"{name}:{root}"
    home = root if name != "jsonl" else single.home(root)
    convert(source, spec)
    states = [seen(root)]
    for n in range(0, MANY, 2):
        note(source, f"rack-{n}", f"Rack {n} is empty: it is winter.")
    moved = tmp_path / "moved"
    shutil.copytree(source, moved)
    convert(source, spec)
    states.append(seen(root))
    chance = random.Random(f"kill {name}")
    command = [sys.executable, "-m", "interop.cli.main"]
    words = [["undo", spec], ["convert", f"claude-code:{source}", spec]]
    interrupted = 0
    turn = 0
    for attempt in range(8):
        others = {p: p.read_bytes() for p in source.iterdir()}
        anywhere = attempt % 2 == 1
        # the first step of all, and others: past the last one, the command gets to its end
        step = chance.randrange(40) if attempt else 0
        stopped = [sys.executable, "-c", STOPPED, str(layout.journal(home)), str(step)]
        with subprocess.Popen(
            [*(command if anywhere else stopped), *words[turn]],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            if anywhere:  # at any instant of all that it does, starting up and reading too
                time.sleep(chance.uniform(0.1, 1.5))
            else:  # in the midst of writing
                assert process.stdout is not None
                while process.stdout.readline() not in (b"in the midst of it\n", b""):
                    pass
            process.send_signal(signal.SIGKILL)
            process.communicate()
        interrupted += layout.journal(home).exists()
        now = seen(root)
        for path in {*states[0], *states[1], *now}:
            assert now.get(path) in (states[0].get(path), states[1].get(path)), path
        # two commands, each a process of its own: one that reads, and one that writes
        told = subprocess.run(
            [*command, "show", spec], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stderr
        Bridge(write=spec).remember("Pumps stand by the door.")
        from interop.undoing import undo

        undo(root)
        assert seen(root) in states
        turn = int(seen(root) == states[0])
        assert not list(tmp_path.glob(".interop-*"))
        assert {p: p.read_bytes() for p in source.iterdir()} == others
        if turn and not undoable(root):
            convert(source, spec)
            turn = 0
    assert interrupted, "no kill fell into a write; the test says nothing"


def undoable(root: Path) -> int:
    from interop.undoing import history

    return len(history(root))


# --- disks and administrators


def as_nobody(act: Callable[[], None]) -> tuple[int, str]:
    """Run in a child that is no administrator; its exit code and what was said."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said, code = "", 0
        try:
            if os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            act()
        except InteropError as error:
            said, code = str(error), error.exit_code
        except BaseException as error:  # told to the parent, which fails the test
            said, code = repr(error), 99
        finally:
            os.write(write, said.encode())
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


@pytest.fixture
def open_place(tmp_path: Path) -> Path:
    """Give a folder that any user can come to, with all code loaded that is needed there.

    The code itself may lie where nobody but its owner can look.
    """
    load_what_writes(tmp_path / "before")
    place = Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp")
    folder = place / f"interop-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    folder.chmod(0o777)
    os.environ["INTEROP_STATE_DIR"] = str(folder / "state")
    return folder


def load_what_writes(folder: Path) -> None:
    """Convert, remember, and fail to, so that nothing of it has to be imported any more."""
    (folder / "source").mkdir(parents=True)
    note(folder / "source", "bells", "Bells are loud.")
    convert(folder / "source", f"claude-code:{folder / 'copy'}")

    def refuse(when: str, operation: str, path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    for name in ("claude-code", "bantamkit"):
        bridge = Bridge(write=f"{name}:{folder / name}")
        bridge.remember("Racks stand in the yard.", kind="project")
        durable.fault = refuse
        with pytest.raises(WriteError):
            bridge.remember("Pumps stand by the door.", kind="project")
        durable.fault = None
    (folder / "source" / "bells.md").write_bytes(b"---\n")
    with suppress(InteropError):
        convert(folder / "source", f"claude-code:{folder / 'copy'}")


@pytest.mark.parametrize("case", ["folder", "sub-folder", "file", "own"])
def test_what_may_not_be_written_is_said_and_left(case: str, open_place: Path) -> None:
    root = open_place / "store"
    try:
        root.mkdir()
        note(root, "bells", "Bells are loud.")
        spec = f"bantamkit:{root}" if case == "sub-folder" else f"claude-code:{root}"
        if case == "sub-folder":
            (root / "bells.md").unlink()
            Bridge(write=spec).remember("Bells are loud.", kind="project")
        for path in (open_place, *open_place.rglob("*")):
            if os.getuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        locked = {
            "folder": root,
            "sub-folder": root / "facts",
            "file": root / "bells.md",
            "own": root / ".interop",
        }[case]
        if case == "own":
            locked.mkdir()
            if os.getuid() == 0:
                os.chown(locked, NOBODY, NOBODY)
        before = seen(root)
        locked.chmod(0o000 if case == "file" else 0o555)
        kind = "project" if case == "sub-folder" else None

        def remember() -> None:
            Bridge(write=spec).remember("Racks stand in the yard.", kind=kind)

        code, said = as_nobody(remember)
        locked.chmod(0o755)
        if case == "file":
            # it cannot be read, so nobody knows what it says; what is new stands beside it
            assert code in (0, 3, 4), said
            assert (root / "bells.md").read_bytes() == before["bells.md"]
        else:
            assert code == 5, said
            assert "permission denied" in said.lower()
            assert "check the permissions" in said or "cannot be written" in said
            assert seen(root) == before
    finally:
        shutil.rmtree(open_place)


def test_a_file_that_grows_past_what_the_system_gives(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "store.jsonl"
    convert(source, f"jsonl:{root}")
    before = seen(root)
    for n in range(MANY):
        note(source, f"more-{n}", "More bikes. " * 40)
    limit = len(before[""]) + 1000

    def act() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        convert(source, f"jsonl:{root}")

    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
        except WriteError as error:
            code = 5 if os.strerror(errno.EFBIG).lower() in str(error).lower() else 6
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert seen(root) == before
    assert not list(tmp_path.glob(".interop-*"))


def test_a_disk_that_is_really_full(source: Path, tmp_path: Path) -> None:
    """On a file system of 1 MiB, where this system lets us make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    ) if shutil.which("mount") else None  # fmt: skip
    if made is None or made.returncode:
        why = made.stderr.strip() if made else "there is no mount"
        pytest.skip(f"NOT TESTED HERE: a small file system cannot be made ({why})")
    try:
        root = disk / "store"
        convert(source, f"claude-code:{root}")
        before = seen(root)
        for n in range(MANY):
            note(source, f"rack-{n}", "Far too many bikes to count. " * 300)
        with pytest.raises(WriteError, match=r"(?i)no space left") as caught:
            convert(source, f"claude-code:{root}")
        assert "free some space" in str(caught.value)
        assert seen(root) == before
        Bridge(write=f"claude-code:{root}").remember("A little goes in.")
        assert layout.numbers(root, "staging") == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# --- what changes between plan and apply


@pytest.mark.parametrize("name", ["claude-code", "jsonl"])
@pytest.mark.parametrize("how", ["changes", "vanishes", "appears", "becomes a folder"])
def test_what_changes_between_plan_and_apply_is_refused(
    name: str, how: str, source: Path, tmp_path: Path
) -> None:
    root = tmp_path / ("store.jsonl" if name == "jsonl" else "store")
    spec = f"{name}:{root}"
    if how != "appears":
        convert(source, spec)
    note(source, "rack-0", "Rack 0 was sold.")
    here = stores.open_store(f"claude-code:{source}")
    there = stores.open_store(spec, must_exist=False)
    made = plan(here, there, now=NOW)
    place = root if name == "jsonl" else root / "rack-0.md"
    place.parent.mkdir(exist_ok=True)
    if how == "changes":
        place.write_bytes(place.read_bytes() + b"{}\n")
    elif how == "appears":
        place.write_bytes(b"{}\n")
    else:
        place.unlink()
    if how == "becomes a folder":
        place.mkdir()
    before = seen(root) if root.exists() else {}
    with pytest.raises(RefusedError) as caught:
        apply_plan(made, here, there)
    said = str(caught.value)
    assert "changed since the plan was made; nothing was written" in said or "is a folder" in said
    if name != "jsonl":
        assert "rack-0.md" in said
    assert (seen(root) if root.exists() else {}) == before


@pytest.mark.parametrize("how", ["changes", "vanishes"])
def test_what_changes_while_it_is_written_is_kept(how: str, source: Path, tmp_path: Path) -> None:
    root = tmp_path / "store"
    convert(source, f"claude-code:{root}")
    for n in range(3):
        note(source, f"rack-{n}", f"Rack {n} was sold.")
    before = seen(root)
    place = root / "rack-1.md"

    def meddle(when: str, operation: str, path: Path) -> None:
        if when == "before" and operation in ("exchange", "keep") and path.name == "rack-1.md":
            durable.fault = None
            place.unlink() if how == "vanishes" else place.write_bytes(b"Of another program.\n")

    durable.fault = meddle
    with pytest.raises(WriteError) as caught:
        convert(source, f"claude-code:{root}")
    assert "rack-1.md" in str(caught.value)
    mine = {} if how == "vanishes" else {"rack-1.md": b"Of another program.\n"}
    left = {p: b for p, b in before.items() if p != "rack-1.md"}
    assert seen(root) == {**left, **mine}


def test_a_source_that_cannot_be_read_is_not_taken_for_one_that_was_emptied(
    open_place: Path,
) -> None:
    try:
        source, root = open_place / "source", open_place / "store"
        source.mkdir()
        note(source, "bells", "Bells are loud.")
        note(source, "racks", "Racks stand in the yard.")
        convert(source, f"claude-code:{root}")
        before = seen(root)
        for path in (open_place, *open_place.rglob("*")):
            if os.getuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        (source / "bells.md").chmod(0)
        code, said = as_nobody(lambda: convert(source, f"claude-code:{root}"))
        assert code == FormatError.exit_code, said
        assert "bells.md" in said
        assert seen(root) == before
    finally:
        shutil.rmtree(open_place)
