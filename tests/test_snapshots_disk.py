"""A store that is one file, on the disk: old or new at every instant, whatever goes wrong."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import inline, undoing
from interop.disk import durable, layout, replacing, single
from interop.disk.kept import kept
from interop.errors import FormatError, InteropError, RefusedError, WriteError
from interop.plan import digest

NAME = "snapshot.jsonl"
OLD = b'{"role":"memory","key":"dock.md"}\n'
NEW = b'{"role":"memory","key":"dock.md","title":"Dock 7"}\n{"type":"complement","store":"a"}\n'
THEIRS = b'{"role":"memory","key":"pump.md"}\n'
CRASHED = 42
KNOWN = {"interop-state", "real", "link.jsonl", "pipe.jsonl"}
"""What tests themselves put into a file's folder."""
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="a crash is a forked child that exits")


def trust(found: object) -> None:
    pass


class Scene:
    """Files of their own, each as it is before something is tried on it."""

    def __init__(self, folder: Path, before: bytes | None) -> None:
        self.folder = folder
        self.before = before
        self.count = 0

    def file(self) -> Path:
        self.count += 1
        file = self.folder / str(self.count) / "laptop.jsonl"
        file.parent.mkdir()
        if self.before is not None:
            replacing.apply(file, NAME, None, self.before, label="first", verify=trust)
        return file


def write(file: Path, after: bytes = NEW) -> None:
    before = single.load(file, NAME, missing_ok=True).whole
    replacing.apply(file, NAME, before, after, label="second", verify=trust)


def take_back(file: Path) -> None:
    replacing.undo(file)


def beside(file: Path) -> list[str]:
    """What lies in the file's folder but for the file."""
    return sorted(p.name for p in file.parent.iterdir() if p != file and p.name not in KNOWN)


def said(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def steps(scene: Scene, act: Callable[[Path], None]) -> int:
    """Count the steps that an action takes."""
    seen: list[str] = []
    file = scene.file()
    durable.fault = lambda when, operation, path: seen.append(f"{when} {operation}")
    act(file)
    durable.fault = None
    return len(seen)


def every(number: int, means: str) -> range:
    """Give the steps to try: all where the system can exchange files, else a third of them."""
    return range(1, number + 1) if means == "exchange" else range(1 + number % 3, number + 1, 3)


def stop_at(step: int, stop: Callable[[Path], None]) -> None:
    """Let something happen at the n-th moment before or after a step."""
    left = step

    def fault(when: str, operation: str, path: Path) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            stop(path)

    durable.fault = fault


# --- reading and writing


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    write(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == NEW
    assert beside(file) == []
    tree = single.load(file, NAME)
    assert tree.files == {NAME: NEW.splitlines(keepends=True)[0]}
    assert tree.complement == NEW.splitlines(keepends=True)[1]
    assert tree.whole == digest(NEW)


def test_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    file.write_bytes(OLD)
    file.chmod(0o640)
    write(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    replacing.undo(file)
    assert file.read_bytes() == OLD
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "laptop.jsonl", tmp_path / "link.jsonl"
    file.write_bytes(OLD)
    link.symlink_to(file)
    write(link)
    assert link.is_symlink()
    assert file.read_bytes() == NEW
    replacing.undo(file)
    assert file.read_bytes() == OLD


def test_what_cannot_be_such_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a folder, and this format is a file"):
        single.load(tmp_path, NAME)
    with pytest.raises(FormatError, match="there is no such file"):
        single.load(tmp_path / "none.jsonl", NAME)
    with pytest.raises(FormatError, match="there is no folder"):
        single.load(tmp_path / "no" / "none.jsonl", NAME, missing_ok=True)
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(FormatError, match="is no regular file; give its bytes to stdin"):
        single.load(tmp_path / "pipe.jsonl", NAME)


def test_what_changed_since_the_plan_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    file.write_bytes(THEIRS)
    for before in (None, digest(OLD)):
        with pytest.raises(RefusedError, match="changed since the plan was made"):
            replacing.apply(file, NAME, before, NEW, label="x", verify=trust)
    assert file.read_bytes() == THEIRS
    assert beside(file) == []


def test_a_failed_look_takes_it_back(tmp_path: Path, means: str) -> None:
    def wrong(found: object) -> None:
        raise WriteError("laptop.jsonl", "is not what was written")

    for before in (None, OLD):
        file = Scene(tmp_path / str(before is None), before)
        file.folder.mkdir()
        place = file.file()
        with pytest.raises(WriteError, match="the file is as it was"):
            replacing.apply(
                place, NAME, None if before is None else digest(before), NEW, label="x",
                verify=wrong,
            )  # fmt: skip
        assert said(place) == before
        assert beside(place) == []


# --- undo


def test_undo_goes_back_step_by_step(tmp_path: Path, means: str) -> None:
    file = tmp_path / "laptop.jsonl"
    write(file, OLD)
    write(file)
    assert [a.label for a in undoing.history(file)] == ["second", "second"]
    shown = undoing.undo(file, dry_run=True)
    assert [(c.action, c.path) for c in shown.changes] == [("update", "laptop.jsonl")]
    assert file.read_bytes() == NEW
    undoing.undo(file)
    assert file.read_bytes() == OLD
    undoing.undo(file)
    assert not file.exists()
    assert undoing.history(file) == []
    with pytest.raises(RefusedError, match="there is nothing to undo"):
        undoing.undo(file)
    assert beside(file) == []


def test_an_edited_file_is_not_undone(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    write(file, OLD)
    write(file)
    file.write_bytes(THEIRS)
    with pytest.raises(RefusedError, match="was edited since 'second'") as caught:
        undoing.undo(file)
    kept_at = Path(caught.value.remedy.split("'")[1])
    assert kept_at.read_bytes() == OLD
    assert file.read_bytes() == THEIRS


def test_what_is_kept_is_found_for_the_checks(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    write(file, OLD)
    write(file)
    found = {k.path: k for k in kept(file) if k.path is not None and k.place.endswith("/0")}
    assert found[NAME].data == OLD
    assert Path(found[NAME].place).read_bytes() == OLD
    folder = single.home(file)
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    for n in range(24):
        write(file, b'{"n":%d}\n' % n)
    assert len(undoing.history(file)) == 20


# --- faults


@pytest.mark.faults
@pytest.mark.parametrize(
    ("before", "act"),
    [(OLD, write), (None, write), (OLD, take_back)],
    ids=["update", "create", "undo"],
)
def test_an_error_at_any_step_leaves_the_file_as_it_was(
    tmp_path: Path, means: str, before: bytes | None, act: Callable[[Path], None]
) -> None:
    scene = Scene(tmp_path, before)
    first = None if act is take_back else before  # undo of the first apply removes the file
    start = before
    for step in every(steps(scene, act), means):
        file = scene.file()

        def full(path: Path) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        stop_at(step, full)
        try:
            act(file)
            done = True
        except InteropError:
            done = False
        durable.fault = None
        now = said(file)
        assert now == start or done, step
        assert now in (start, first if act is take_back else NEW)
        write(file, THEIRS)
        assert file.read_bytes() == THEIRS
        assert beside(file) == [], step


@pytest.mark.faults
@forks
@pytest.mark.parametrize(
    ("before", "act"),
    [(OLD, write), (None, write), (OLD, take_back)],
    ids=["update", "create", "undo"],
)
def test_a_crash_at_any_step_leaves_old_or_new_and_the_next_run_clears_up(
    tmp_path: Path, means: str, before: bytes | None, act: Callable[[Path], None]
) -> None:
    scene = Scene(tmp_path, before)
    after = NEW if act is write else None
    for step in every(steps(scene, act), means):
        file = scene.file()
        child = os.fork()
        if child == 0:
            stop_at(step, lambda path: os._exit(CRASHED))
            act(file)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == CRASHED
        # a file that is removed, or exchanged by two renames, may be away for an instant
        assert said(file) in (before, after), step
        settled = said(file)
        write(file, THEIRS)
        assert file.read_bytes() == THEIRS
        assert beside(file) == [], step
        undoing.undo(file)
        assert said(file) == settled
        assert beside(file) == []


@pytest.mark.faults
@pytest.mark.parametrize("before", [OLD, None], ids=["update", "create"])
def test_what_another_program_writes_meanwhile_is_never_lost(
    tmp_path: Path, means: str, before: bytes | None
) -> None:
    """It replaces the file, as editors do, at any step."""
    scene = Scene(tmp_path, before)
    for step in every(steps(scene, write), means):
        file = scene.file()

        def intrude(path: Path, file: Path = file) -> None:
            other = file.with_name("theirs")
            other.write_bytes(THEIRS)
            os.replace(other, file)

        stop_at(step, intrude)
        try:
            write(file)
            written = True
        except InteropError:
            written = False
        durable.fault = None
        kept_at = [p.read_bytes() for p in file.parent.iterdir()]
        kept_at += [k.data for k in kept(file) if k.data is not None]
        if means == "exchange" or before is None:
            assert THEIRS in kept_at, step
        assert said(file) == THEIRS or written, step
        assert written or beside(file) == [], step


def test_a_leftover_without_a_journal_is_nobody_s_to_remove(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    litter = tmp_path / f".interop-{single.home(file).name[:16]}-1"
    litter.write_bytes(b"whose?")
    write(file)
    assert litter.read_bytes() == b"whose?"
    assert file.read_bytes() == NEW


def test_another_interop_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "laptop.jsonl"
    with (
        replacing.writing(file, "first", 1.0),
        pytest.raises(WriteError, match=r"another interop has been writing here .*first"),
    ):
        replacing.apply(file, NAME, None, NEW, label="second", verify=trust, wait=0.1)
    assert not file.exists()
    assert layout.is_dir(single.home(file))


# --- the complement inside

plain = st.sampled_from([b'{"role":"memory"}', b"", b"\r", b"text", b' {"type":"note"}', b"\xff"])
theirs = st.sampled_from([b'{"type":"complement"}\n', b'{"type":"file","x":1}\n'])


@given(st.lists(plain).map(b"\n".join), st.lists(theirs, min_size=1).map(b"".join))
def test_the_complement_is_taken_out_as_it_was_put_in(own: bytes, complement: bytes) -> None:
    assert inline.split(own) == (own, None)
    assert inline.split(inline.join(own, complement)) == (own, complement)
    assert inline.split(inline.join(own, None)) == (own, None)
    assert inline.parts(inline.join(own, complement)).cut is None


@given(st.lists(st.one_of(plain, theirs.map(lambda x: x[:-1]))).map(b"\n".join))
def test_no_line_is_lost_wherever_it_stands(data: bytes) -> None:
    own, complement = inline.split(data)
    assert sorted((own + b"\n" + (complement or b"")).split()) == sorted(data.split())
    again = inline.join(own, complement)
    assert inline.split(again) == (own, complement)


def test_lines_added_behind_the_complement_are_the_store_s() -> None:
    data = OLD + b'{"type":"complement","store":"a"}\n' + THEIRS[:-1]
    own, complement = inline.split(data)
    assert own == OLD + THEIRS[:-1]
    assert complement == b'{"type":"complement","store":"a"}\n'


def test_another_program_may_order_the_members_anew() -> None:
    line = b'{"source":"a","digest":"b","type":"file"}\n'
    assert inline.split(OLD + line) == (OLD, line)
    record = b'{"key":"a","role":"memory","type":"file"}\n'
    assert inline.split(record) == (record, None)


# --- cut off


SHOT = inline.join(
    b'{"type":"snapshot","format":"interop-jsonl","version":1,"end":true}\n' + OLD + THEIRS,
    b'{"type":"complement","store":"a"}\n{"type":"file","x":1}\n{"type":"file","x":2}\n',
)


def test_a_file_that_was_cut_off_anywhere_is_told() -> None:
    head = SHOT.index(b"\n") + 1
    for end in range(head, len(SHOT) - 1):
        cut = inline.parts(SHOT[:end]).cut
        assert cut is not None, SHOT[:end]
        assert "cut off" in cut
        tree = single.tree_of(SHOT[:end], NAME)
        assert [(p.path, p.unread) for p in tree.problems] == [(NAME, True)]
    assert inline.parts(SHOT[:-1]).cut is None, "only the last line end is missing"
    assert single.tree_of(SHOT, NAME).problems == ()


def test_an_edited_file_was_not_cut_off() -> None:
    lines = SHOT.splitlines(keepends=True)
    for n in (1, 2):  # a record is removed
        assert inline.parts(b"".join(x for i, x in enumerate(lines) if i != n)).cut is None
    assert inline.parts(lines[0] + b"".join(reversed(lines[1:]))).cut is None
    assert inline.parts(SHOT + OLD).cut is None
    assert inline.parts(SHOT.replace(b"\n", b"\r\n")).cut is None
    assert inline.parts(SHOT + SHOT).cut is None
    assert inline.parts(SHOT + SHOT[:-20]).cut is not None
    sorted_members = b'{"complement": 3, "type": "end"}\n'
    assert inline.parts(b"".join(lines[:-1]) + sorted_members).cut is None
    by_hand = b'{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n' + OLD
    assert inline.parts(by_hand).cut is None


def test_lines_that_are_missing_from_the_complement_are_told() -> None:
    lines = SHOT.splitlines(keepends=True)
    cut = inline.parts(b"".join(x for i, x in enumerate(lines) if i != 4)).cut
    assert cut == "was cut: 1 of the 3 lines of its complement are missing"
