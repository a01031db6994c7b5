"""Faults while writing: at every step an error or a crash, and what is left of the store."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from interop.disk import durable
from interop.disk.transaction import apply, recover
from interop.disk.tree import load
from interop.disk.undo import history, undo
from interop.errors import InteropError, RefusedError, WriteError
from interop.plan import FileChange, digest
from tests.faulting import CRASHED, Fail, crash
from tests.patience import HANGS

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a crash is a forked child that exits"),
]

Files = dict[str, bytes]

FIRST: Files = {
    "MEMORY.md": b"- [Bikes](bikes.md)\n- [Helmets](old/helmets.md)\n",
    "bikes.md": b"Twelve bikes, two of them cargo bikes.\n",
    "old/helmets.md": b"Helmets are free.\n",
    "old/locks.md": b"Locks cost 2 EUR.\n",
    "quiet.md": b"Nobody touches this one.\n",
    ".interop/complement": b'{"type":"source","id":"a"}\n',
}
SECOND: Files = {
    "MEMORY.md": b"- [Bikes](bikes.md)\n- [Prices](prices/2026/all.md)\n",
    "bikes.md": b"Fourteen bikes, three of them cargo bikes.\n",
    "prices/2026/all.md": b"A day costs 14 EUR.\n",
    "prices/deposit.md": b"The deposit is 50 EUR.\n",
    "quiet.md": b"Nobody touches this one.\n",
    ".interop/complement": b'{"type":"source","id":"b"}\n',
}
ORDER = (
    "prices/2026/all.md",
    "prices/deposit.md",
    "bikes.md",
    "MEMORY.md",
    "old/helmets.md",
    "old/locks.md",
    ".interop/complement",
)


def plan(old: Files, new: Files, order: tuple[str, ...] = ORDER) -> list[FileChange]:
    return [
        FileChange(
            path=path,
            before=digest(old[path]) if path in old else None,
            after=new.get(path),
        )
        for path in order
        if old.get(path) != new.get(path)
    ]


def nothing(path: str) -> bool:
    return False


def trust(found: object) -> None:
    pass


def on_disk(root: Path) -> Files:
    """What a program that knows nothing of interop sees, and the complement."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and (".interop" not in path.parts or path == root / ".interop" / "complement")
    }


def loaded(root: Path) -> Files:
    tree = load(root, nothing)
    assert not tree.problems
    rest = {} if tree.complement is None else {".interop/complement": tree.complement}
    return {**tree.files, **rest}


def second(root: Path) -> None:
    apply(root, plan(FIRST, SECOND), label="second", verify=trust)


def take_back(root: Path) -> None:
    undo(root)


def heal(root: Path) -> None:
    recover(root)


class Stores:
    """Copies of one store as it is before a step is tried."""

    def __init__(self, folder: Path, means: str = "exchange") -> None:
        self.folder = folder
        self.means = means
        self.count = 0
        self.template = folder / "first"
        apply(self.template, plan({}, FIRST, tuple(FIRST)), label="first", verify=trust)
        self.applied = folder / "second"
        shutil.copytree(self.template, self.applied)
        second(self.applied)

    def stride(self, step: int) -> int:
        """Every step where the system can swap names, as nearly all can; a sample elsewhere."""
        return step if self.means == "exchange" else step * 2 + 1

    def copy(self, of: Path) -> Path:
        self.count += 1
        return Path(shutil.copytree(of, self.folder / str(self.count)))


@pytest.fixture
def folder() -> Iterator[Path]:
    # In memory where there is such a place: a crash of a process loses nothing there either, and
    # hundreds of rounds need not wait for a disk.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(os.path.realpath(name))


@pytest.fixture
def stores(folder: Path, means: str) -> Stores:
    return Stores(folder, means)


def steps(action: Callable[[Path], None], root: Path) -> int:
    """Count the calls of the seam."""
    seen: list[str] = []
    durable.fault = lambda when, operation, path: seen.append(operation)
    action(root)
    durable.fault = None
    return len(seen)


def each_is_old_or_new(seen: Files, old: Files, new: Files) -> None:
    for path in {*old, *new, *seen}:
        assert seen.get(path) in (old.get(path), new.get(path)), path


def is_prefix(seen: Files, old: Files, new: Files, order: tuple[str, ...]) -> None:
    done = [seen.get(p) == new.get(p) for p in order if old.get(p) != new.get(p)]
    assert done == sorted(done, reverse=True)


ACTIONS: dict[str, tuple[Callable[[Path], None], Files, Files]] = {
    "apply": (second, FIRST, SECOND),
    "undo": (take_back, SECOND, FIRST),
}


@pytest.mark.parametrize("name", ACTIONS)
@pytest.mark.parametrize("forever", [False, True], ids=["once", "from-then-on"])
def test_an_error_at_any_step_leaves_the_store_whole(
    stores: Stores, name: str, forever: bool
) -> None:
    action, old, new = ACTIONS[name]
    start = stores.template if name == "apply" else stores.applied
    total = steps(action, stores.copy(start))
    assert total > 60
    failed = 0
    for at in range(0, total, stores.stride(2 if forever else 1)):
        root = stores.copy(start)
        durable.fault = Fail(at, forever=forever)
        message = ""
        try:
            action(root)
        except WriteError as error:
            message = str(error)
        durable.fault = None
        if "did not confirm" in message:
            assert forever, "one failure is always rolled back"
        elif message:
            failed += 1
            assert os.strerror(errno.ENOSPC) in message
            each_is_old_or_new(on_disk(root), old, new)
            whole = "every file is as it was" in message or "nothing was written" in message
            assert whole or forever
            if whole:
                assert on_disk(root) == old
            assert loaded(root) == old
            recover(root)
            assert on_disk(root) == old
            action(root)
        assert on_disk(root) == new == loaded(root)
        assert not (root / "old").exists() or new is FIRST
        assert not (root / "prices").exists() or new is SECOND
    assert failed > 20


@pytest.mark.parametrize("name", ACTIONS)
def test_a_crash_at_any_step_leaves_a_store_that_the_next_run_makes_whole(
    stores: Stores, name: str
) -> None:
    action, old, new = ACTIONS[name]
    start = stores.template if name == "apply" else stores.applied
    order = ORDER if name == "apply" else tuple(reversed(ORDER))
    total = steps(action, stores.copy(start))
    ends: set[bool] = set()
    for at in range(0, total, stores.stride(1)):
        root = stores.copy(start)
        assert crash(partial(action, root), at)
        seen = on_disk(root)
        each_is_old_or_new(seen, old, new)
        is_prefix(seen, old, new, order)
        read = loaded(root)
        assert on_disk(root) == seen, "load writes nothing"
        labels = [a.label for a in history(root)]
        assert read in (old, new)
        assert recover(root) == [] or read == old
        assert on_disk(root) == read == loaded(root)
        assert [a.label for a in history(root)] == labels
        assert recover(root) == []
        ends.add(read == new)
        if read == old:
            action(root)
        assert on_disk(root) == new
        assert [a.label for a in history(root)] == (
            ["second", "first"] if name == "apply" else ["first"]
        )
    assert ends == {False, True}


def test_a_crash_while_taking_back_a_commit_that_the_disk_did_not_confirm(folder: Path) -> None:
    stores = Stores(folder)

    def unconfirmed(root: Path, at: int) -> bool:
        committed = False

        def die(when: str, operation: str, path: Path) -> None:
            nonlocal committed, at
            if committed:
                at -= 1
                if at < 0:
                    os._exit(CRASHED)
            elif operation == "rename" and path.name == "manifest" and when == "after":
                committed = True
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        child = os.fork()
        if child == 0:
            durable.fault = die
            try:
                second(root)
            except WriteError:
                os._exit(0)
            finally:
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == CRASHED

    at = 0
    while unconfirmed(root := stores.copy(stores.template), at):
        read = loaded(root)
        assert read == (SECOND if at < 1 else FIRST)
        recover(root)
        assert on_disk(root) == read
        at += 1
    assert at > 20
    assert on_disk(root) == FIRST


def test_the_next_apply_takes_an_interrupted_one_back_by_itself(stores: Stores) -> None:
    total = steps(second, stores.copy(stores.template))
    for at in range(0, total, 5):
        root = stores.copy(stores.template)
        crash(partial(second, root), at)
        read = loaded(root)
        other = {"helmets.md": b"Helmets are green.\n"}
        apply(root, plan({}, other, tuple(other)), label="third", verify=trust)
        assert on_disk(root) == {**read, **other}
        undo(root)
        assert on_disk(root) == read


@pytest.mark.parametrize("name", ACTIONS)
def test_a_crash_at_any_step_of_recovery_is_recovered_from(stores: Stores, name: str) -> None:
    action, old, new = ACTIONS[name]
    start = stores.template if name == "apply" else stores.applied
    total = steps(action, stores.copy(start))
    for at in range(3, total, stores.stride(9)):
        broken = stores.copy(start)
        crash(partial(action, broken), at)
        read = loaded(broken)
        inner = 0
        while True:
            root = stores.copy(broken)
            crashed = crash(partial(heal, root), inner)
            each_is_old_or_new(on_disk(root), old, new)
            assert loaded(root) == read
            recover(root)
            assert on_disk(root) == read
            shutil.rmtree(root)
            inner += 4
            if not crashed:
                break


def test_readers_see_the_old_store_until_the_commit_and_then_the_new_one(stores: Stores) -> None:
    root = stores.copy(stores.template)
    seen: list[bool] = []

    def look(when: str, operation: str, path: Path) -> None:
        durable.fault = None
        read = loaded(root)
        durable.fault = look
        assert read in (FIRST, SECOND)
        seen.append(read == SECOND)

    durable.fault = look
    second(root)
    assert seen == sorted(seen)
    assert seen[0] is False
    assert seen[-1] is True


def test_a_reader_that_an_apply_overtakes_reads_again(folder: Path) -> None:
    root = Stores(folder).template
    calls: list[str] = []

    def ignored(path: str) -> bool:
        calls.append(path)
        if len(calls) == 1:  # after some names were listed, before any file is read
            second(root)
        return False

    tree = load(root, ignored)
    assert {**tree.files, ".interop/complement": tree.complement} == SECOND


def test_bytes_are_on_the_disk_before_anything_counts_on_them(stores: Stores) -> None:
    root = stores.copy(stores.template)
    seen: list[tuple[str, str]] = []

    def note(when: str, operation: str, path: Path) -> None:
        if when == "after":
            seen.append((operation, path.relative_to(root).as_posix()))

    durable.fault = note
    second(root)
    durable.fault = None

    def at(operation: str, path: str) -> int:
        return seen.index((operation, path))

    staged = [p for op, p in seen if op == "write" and p.startswith(".interop/staging/")]
    assert len(staged) == 7, "five files, the journal, and what undo compares later edits with"
    journal = at("rename", ".interop/journal")
    assert all(at("fsync", path) < journal for path in staged)
    first_put = at("rename-new", "prices/2026/all.md")
    assert journal < seen.index(("fsync", ".interop"), journal) < first_put
    commit = at("rename", ".interop/undo/2/manifest")
    for folder in (".", "prices", "prices/2026", ".interop", ".interop/undo/2"):
        assert first_put < seen.index(("fsync", folder), first_put) < commit
    assert ("fsync", ".interop") in seen[commit:]


OTHER = b"Another program wrote this at the same moment.\n"


class Meddle:
    """Another program that writes a file the instant before (or after) a step on it."""

    def __init__(self, place: Path, when: str, operations: tuple[str, ...], how: str) -> None:
        self.place, self.when, self.operations, self.how = place, when, operations, how
        self.done = False

    def __call__(self, when: str, operation: str, path: Path) -> None:
        if self.done or when != self.when or operation not in self.operations:
            return
        if self.place not in (path, path.parent) and not self._leaves(operation, path):
            return
        self.done = True
        if self.how == "replace":
            draft = self.place.with_name("draft")
            draft.write_bytes(OTHER)
            os.replace(draft, self.place)
        else:
            self.place.write_bytes(OTHER)

    def _leaves(self, operation: str, path: Path) -> bool:
        # A delete is a rename whose target lies in the undo folder.
        return operation == "rename-new" and "undo" in path.parts


@pytest.mark.parametrize(
    ("path", "operations"),
    [
        ("bikes.md", ("exchange",)),
        ("MEMORY.md", ("exchange",)),
        (".interop/complement", ("exchange",)),
        ("prices/deposit.md", ("rename-new",)),
        ("old/helmets.md", ("rename-new",)),
    ],
)
@pytest.mark.parametrize("how", ["replace", "in-place"])
def test_what_another_program_writes_in_the_gap_is_kept(
    stores: Stores, path: str, operations: tuple[str, ...], how: str
) -> None:
    root = stores.copy(stores.template)
    meddle = Meddle(root / path, "before", operations, how)
    durable.fault = meddle
    with pytest.raises(WriteError, match="another program") as caught:
        second(root)
    durable.fault = None
    assert meddle.done
    assert path in str(caught.value)
    assert on_disk(root) == {**FIRST, path: OTHER}
    assert loaded(root) == {**FIRST, path: OTHER}
    assert recover(root) == []


@pytest.mark.parametrize("path", ["bikes.md", "old/helmets.md"])
def test_what_another_program_writes_in_the_gap_is_kept_after_a_crash_too(
    tmp_path: Path, path: str
) -> None:
    stores = Stores(tmp_path)
    root = stores.copy(stores.template)
    target = root / path

    def die(when: str, operation: str, at: Path) -> None:
        into_undo = operation == "rename-new" and "undo" in at.parts
        if (operation == "exchange" and at == target) or into_undo:
            if when == "after":
                os._exit(CRASHED)
            target.write_bytes(OTHER)

    child = os.fork()
    if child == 0:
        durable.fault = die
        try:
            second(root)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == CRASHED
    assert loaded(root) == {**FIRST, path: OTHER}
    lines = recover(root)
    assert any(path in line for line in lines)
    assert on_disk(root) == {**FIRST, path: OTHER}


def test_what_another_program_makes_of_a_new_file_stays_and_the_old_bytes_are_kept(
    stores: Stores, means: str
) -> None:
    root = stores.copy(stores.template)
    operation = "exchange" if means == "exchange" else "rename"
    durable.fault = Meddle(root / "bikes.md", "after", (operation,), "in-place")
    with pytest.raises(WriteError, match="stays as it is") as caught:
        second(root)
    durable.fault = None
    assert on_disk(root) == {**FIRST, "bikes.md": OTHER}
    kept = str(caught.value).split("kept in ")[1].split("'")[1]
    assert (root / kept).read_bytes() == FIRST["bikes.md"]
    assert recover(root) == []


def test_a_program_that_still_writes_to_the_displaced_file_is_noticed(tmp_path: Path) -> None:
    stores = Stores(tmp_path)
    root = stores.copy(stores.template)
    with (root / "bikes.md").open("ab") as file:

        def append(when: str, operation: str, path: Path) -> None:
            if operation == "exchange" and path.name == "MEMORY.md":
                durable.fault = None
                file.write(b"And one tandem.\n")
                file.flush()

        durable.fault = append
        with pytest.raises(WriteError, match=r"bikes\.md"):
            second(root)
    durable.fault = None
    assert on_disk(root) == {**FIRST, "bikes.md": FIRST["bikes.md"] + b"And one tandem.\n"}


def test_an_edit_after_a_crash_is_never_overwritten(stores: Stores) -> None:
    total = steps(second, stores.copy(stores.template))
    named = 0
    for at in range(0, total, 3):
        root = stores.copy(stores.template)
        crash(partial(second, root), at)
        pending = (root / ".interop" / "journal").exists()
        (root / "bikes.md").write_bytes(OTHER)
        lines = recover(root)
        assert (root / "bikes.md").read_bytes() == OTHER
        if pending:
            assert any("bikes.md" in line for line in lines)
            named += 1
            assert on_disk(root) == {**FIRST, "bikes.md": OTHER}
        assert recover(root) == []
    assert named > 5


def test_an_apply_that_finds_an_edit_after_a_crash_says_so_once(folder: Path) -> None:
    stores = Stores(folder)
    root = stores.copy(stores.template)
    at = 0
    while (root / "bikes.md").read_bytes() == FIRST["bikes.md"]:
        shutil.rmtree(root)
        root = stores.copy(stores.template)
        crash(partial(second, root), at := at + 1)
    (root / "bikes.md").write_bytes(OTHER)
    other = {"helmets.md": b"Helmets are green.\n"}
    changes = plan({}, other, tuple(other))
    with pytest.raises(RefusedError, match=r"bikes\.md"):
        apply(root, changes, label="third", verify=trust)
    apply(root, changes, label="third", verify=trust)
    assert on_disk(root) == {**FIRST, "bikes.md": OTHER, **other}


def test_two_processes_that_write_at_once_both_get_through(tmp_path: Path) -> None:
    stores = Stores(tmp_path)
    root = stores.copy(stores.template)
    children: list[int] = []
    for name in ("one.md", "two.md", "three.md"):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                mine = {name: name.encode()}
                apply(root, plan({}, mine, (name,)), label=name, verify=trust, wait=HANGS)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0, 0, 0]
    extra = {n: n.encode() for n in ("one.md", "two.md", "three.md")}
    assert on_disk(root) == {**FIRST, **extra}
    assert len(history(root)) == 4


def test_two_processes_that_write_the_same_file_one_is_refused(tmp_path: Path) -> None:
    stores = Stores(tmp_path)
    root = stores.copy(stores.template)
    children: list[int] = []
    for text in (b"one", b"two"):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                mine = {**FIRST, "bikes.md": text}
                apply(root, plan(FIRST, mine), label="both", verify=trust, wait=HANGS)
                code = 0
            except InteropError as error:
                code = error.exit_code
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children]
    assert sorted(codes) == [0, 3]
    assert (root / "bikes.md").read_bytes() in (b"one", b"two")


FOREVER = """
import sys
from pathlib import Path
from interop.disk.transaction import apply, recover
from interop.disk.tree import load
from interop.plan import FileChange, digest
root = Path(sys.argv[1])
recover(root)
names = [f"bike-{n}.md" for n in range(8)]
print("ready", flush=True)
while True:
    files = load(root, lambda p: False).files
    turn = b"b" if files[names[0]] == b"a" * 3000 else b"a"
    changes = [
        FileChange(path=n, before=digest(files[n]), after=turn * 3000) for n in names
    ]
    gone = "extra/only-a.md"
    if gone in files:
        changes.append(FileChange(path=gone, before=digest(files[gone]), after=None))
    else:
        changes.insert(0, FileChange(path=gone, before=None, after=b"only a"))
    apply(root, changes, label="turn", verify=lambda tree: None)
"""


def test_kill_9_at_any_instant(folder: Path) -> None:
    root = folder / "store"
    names = [f"bike-{n}.md" for n in range(8)]
    start = {**dict.fromkeys(names, b"a" * 3000), "extra/only-a.md": b"only a"}
    apply(root, plan({}, start, tuple(start)), label="start", verify=trust)
    chance = random.Random(20)
    other = dict.fromkeys(names, b"b" * 3000)
    journal = root / ".interop" / "journal"
    interrupted = 0
    for turn in range(20):
        with subprocess.Popen(
            [sys.executable, "-c", FOREVER, str(root)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            if turn % 4:  # at any instant
                time.sleep(chance.uniform(0.002, 0.4))
            else:  # in the midst of a write, however fast or slow the machine is
                stop_while(process, journal.exists)
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
        interrupted += journal.exists()
        each_is_old_or_new(on_disk(root), start, other)
        read = loaded(root)
        assert read in (start, other)
        recover(root)
        assert on_disk(root) == read
    assert interrupted >= 5


def stop_while(process: subprocess.Popen[bytes], holds: Callable[[], bool]) -> None:
    """Stop a process at an instant at which something holds."""
    until = time.monotonic() + HANGS
    while True:
        assert time.monotonic() < until, "it hangs"
        assert process.poll() is None
        if holds():
            process.send_signal(signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)
            if holds():
                return
            process.send_signal(signal.SIGCONT)
        time.sleep(0.0002)
