"""Writing, taking back and undoing beside what cannot be read, or is no file."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interop import limits
from interop.disk import durable, layout, replacing
from interop.disk.journal import Entry, Journal, dump
from interop.disk.kept import kept
from interop.disk.transaction import apply, recover
from interop.disk.tree import load
from interop.disk.undo import Settled, undo
from interop.errors import FormatError, RefusedError, WriteError
from interop.plan import FileChange, digest
from tests.faulting import crash

FIRST = {"MEMORY.md": b"one\n", "old/a.md": b"a\n"}
SECOND = {"new/b.md": b"b\n", "MEMORY.md": b"two\n", "old/a.md": b"a\n"}
HUGE = 40 << 30


def trust(found: object) -> None:
    pass


def create(path: str) -> FileChange:
    return FileChange(path=path, before=None, after=f"new {path}\n".encode())


def go(root: Path, old: dict[str, bytes], new: dict[str, bytes], label: str) -> None:
    changes = [
        FileChange(path=p, before=digest(old[p]) if p in old else None, after=new[p])
        for p in new
        if old.get(p) != new[p]
    ]
    apply(root, changes, label=label, verify=trust)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    go(store, {}, FIRST, "first")
    go(store, FIRST, SECOND, "second")
    return store


def everything(root: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file() and layout.OWN not in name:
            found[name] = path.read_bytes()
    return found


@contextmanager
def closed(name: str) -> Generator[None]:
    """Let the system refuse to open a file, as it does for whoever is no administrator."""
    real = os.open

    def refuse(path: str | Path, flags: int, mode: int = 0o777, **more: int) -> int:
        if str(path).endswith(f"/{name}"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, flags, mode, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", refuse)
        yield


# --- a file is to be made where something else stands


def link(place: Path) -> None:
    place.symlink_to("nowhere")


STANDING: dict[str, tuple[Callable[[Path], None], str]] = {
    "link": (link, "is a symbolic link"),
    "pipe": (os.mkfifo, "is a pipe, a socket or a device"),
    "folder": (os.mkdir, "is a folder"),
}


@pytest.mark.parametrize("kind", STANDING)
def test_what_is_in_the_way_is_called_what_it_is(kind: str, tmp_path: Path) -> None:
    make, said = STANDING[kind]
    make(tmp_path / "MEMORY.md")
    with pytest.raises(RefusedError) as caught:
        apply(tmp_path, [create("a.md"), create("MEMORY.md")], label="x", verify=trust)
    assert len(caught.value.details) == 1
    assert caught.value.details[0].startswith(f"'MEMORY.md' {said}")
    assert os.listdir(tmp_path) == ["MEMORY.md"]


@pytest.mark.parametrize("kind", STANDING)
def test_what_comes_in_the_way_at_the_last_moment_is_no_other_program(
    kind: str, tmp_path: Path
) -> None:
    make, said = STANDING[kind]

    def put(when: str, operation: str, path: Path) -> None:
        if operation == "rename-new" and path.name == "MEMORY.md":
            durable.fault = None
            make(path)

    durable.fault = put
    with pytest.raises(WriteError) as caught:
        apply(tmp_path, [create("a.md"), create("MEMORY.md")], label="x", verify=trust)
    assert caught.value.where == str(tmp_path / "MEMORY.md")
    assert said in caught.value.problem
    assert "another program" not in str(caught.value)
    assert "every file is as it was" in str(caught.value)
    assert not (tmp_path / "a.md").exists()
    assert recover(tmp_path) == []


# --- an interrupted write beside a file that cannot be read


def interrupted(root: Path, at: str) -> None:
    """Die as soon as a new file stands, and the next one does not."""
    changes = [create("a.md"), create("MEMORY.md"), create("z.md")]
    for step in range(1000):
        crash(lambda: apply(root, changes, label="x", verify=trust), step)
        if (root / at).exists():
            return
        recover(root)
    raise AssertionError("it never stands")


def test_what_was_never_reached_stands_in_the_way_of_nothing(tmp_path: Path) -> None:
    interrupted(tmp_path, "a.md")
    assert not (tmp_path / "MEMORY.md").exists()
    (tmp_path / "MEMORY.md").write_bytes(b"by hand\n")
    with closed("MEMORY.md"):
        assert recover(tmp_path) == ["took back 'x', which had been interrupted"]
        assert not (tmp_path / "a.md").exists()
        assert recover(tmp_path) == []
    assert everything(tmp_path) == {"MEMORY.md": b"by hand\n"}


def test_what_may_be_new_is_named_and_the_others_are_taken_back(tmp_path: Path) -> None:
    interrupted(tmp_path, "z.md")
    with closed("MEMORY.md"):
        for _ in range(2):
            with pytest.raises(WriteError) as caught:
                recover(tmp_path)
            said = str(caught.value)
            assert "Permission denied" in said
            assert f"chmod u+rw '{tmp_path}/MEMORY.md'" in said
            assert "another program" not in said
            assert sorted(everything(tmp_path)) == ["MEMORY.md"]
            # whoever reads sees none of it
            tree = load(tmp_path, lambda _: False)
            assert (tree.files, [p.path for p in tree.problems]) == ({}, ["MEMORY.md"])
    assert recover(tmp_path) == ["took back 'x', which had been interrupted"]
    assert everything(tmp_path) == {}


def test_a_file_that_is_closed_while_it_is_written_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "keep.md").write_bytes(b"k")
    place = tmp_path / "MEMORY.md"
    changes = [create("a.md"), create("MEMORY.md")]

    def put(when: str, operation: str, path: Path) -> None:
        if operation == "rename-new" and path == place:
            durable.fault = None
            place.write_bytes(b"by hand\n")

    durable.fault = put
    with closed("MEMORY.md"), pytest.raises(WriteError) as caught:
        apply(tmp_path, changes, label="x", verify=trust)
    assert "there is a file that cannot be read (Permission denied)" in caught.value.problem
    assert "chmod u+r" in caught.value.problem
    assert "another program" not in str(caught.value)
    assert everything(tmp_path) == {"MEMORY.md": b"by hand\n", "keep.md": b"k"}
    assert not layout.journal(tmp_path).exists()


# --- undo


def barred(root: Path) -> None:
    (root / "new").rename(root.parent / "elsewhere")
    (root / "new").symlink_to(root.parent / "elsewhere")


def linked(root: Path) -> None:
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to("old/a.md")


def piped(root: Path) -> None:
    (root / "MEMORY.md").unlink()
    os.mkfifo(root / "MEMORY.md")


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (barred, "'new/b.md': 'new' is a symbolic link, which interop never follows"),
        (linked, "'MEMORY.md' is a symbolic link, which interop never follows"),
        (piped, "'MEMORY.md' is a pipe, a socket or a device, not a file"),
    ],
)
def test_undo_refuses_what_is_no_file_any_more_and_its_dry_run_says_the_same(
    make: Callable[[Path], None], said: str, force: bool, root: Path
) -> None:
    make(root)
    before = everything(root)
    told: list[str] = []
    for dry_run in (True, False, False):
        with pytest.raises(RefusedError, match="something else stands") as caught:
            undo(root, dry_run=dry_run, force=force)
        assert list(caught.value.details) == [said]
        told.append(str(caught.value))
        assert everything(root) == before
        assert not layout.journal(root).exists()
    assert len(set(told)) == 1


def test_undo_refuses_what_it_cannot_read(root: Path) -> None:
    before = everything(root)
    for dry_run in (True, False):
        with closed("MEMORY.md"), pytest.raises(FormatError) as caught:
            undo(root, dry_run=dry_run)
        assert caught.value.exit_code == 4
        (line,) = caught.value.details
        assert line.startswith("'MEMORY.md' cannot be read (Permission denied); ")
        assert "chmod u+r" in line
        assert everything(root) == before
    assert undo(root).label == "second"


def test_undo_reads_no_more_than_a_store_is_read(root: Path) -> None:
    os.link(root / "MEMORY.md", root.parent / "second name")
    with pytest.raises(FormatError, match=r"--limit links=2") as caught:
        undo(root)
    assert caught.value.exit_code == 4
    (root.parent / "second name").unlink()
    os.truncate(root / "MEMORY.md", HUGE)
    for force in (False, True):
        with pytest.raises(FormatError, match=r"--limit file=65536M"):
            undo(root, force=force)
    (root / "MEMORY.md").write_bytes(SECOND["MEMORY.md"])
    assert undo(root).label == "second"


def test_undo_of_a_store_that_is_one_file_refuses_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTEROP_STATE_DIR", str(tmp_path / "state"))
    file = tmp_path / "store.jsonl"
    replacing.apply(file, "store.jsonl", None, b"one\n", label="first", verify=trust)
    os.link(file, tmp_path / "second name")
    for dry_run in (True, False):
        with pytest.raises(FormatError, match=r"--limit links=2"):
            replacing.undo(file, dry_run=dry_run)
    (tmp_path / "second name").unlink()
    assert replacing.undo(file).label == "first"
    assert not file.exists()


# --- what interop keeps, made huge by somebody else

PLACES = ["journal", "undo/2/manifest", "undo/2/note", "undo/2/wrote", "undo/2/1"]


def hostile(root: Path, place: str, how: str) -> Path:
    path = layout.own(root) / place
    path.unlink(missing_ok=True)
    if how == "huge":
        path.touch()
        os.truncate(path, HUGE)
    elif how == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("how", ["huge", "pipe", "link"])
@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_interops_own_is_read_without_a_limit(place: str, how: str, root: Path) -> None:
    path = hostile(root, place, how)
    (root / "MEMORY.md").write_bytes(b"two\nand later\n")
    for dry_run in (True, False):
        with pytest.raises(FormatError) as caught:
            undo(root, dry_run=dry_run, settle=lambda later: Settled(after=later.now))
        assert caught.value.where == str(path)
        assert caught.value.exit_code == 4
        assert caught.value.remedy
        if how == "huge":
            assert "is larger than 512 MiB (40,960 MiB)" in caught.value.problem
            assert "--limit store=65536M" in caught.value.remedy
        else:
            assert caught.value.problem == "is no regular file"
    if place == "journal":
        with pytest.raises(FormatError):
            load(root, lambda _: False)
        with pytest.raises(FormatError):
            recover(root)
    else:
        load(root, lambda _: False)
        found = {one.place: one.data for one in kept(root) if one.place == f".interop/{place}"}
        assert set(found.values()) <= {None}


def test_the_limit_is_the_one_that_the_user_raises(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limits.VARIABLE, "store=100")
    with pytest.raises(FormatError, match=r"is larger than 100 bytes"):
        undo(root)
    monkeypatch.setenv(limits.VARIABLE, "store=1M")
    assert undo(root).label == "second"


def test_what_a_pending_write_displaced_is_read_within_the_limit(root: Path) -> None:
    after = b"three\n"
    (root / "MEMORY.md").write_bytes(after)
    entry = Entry(path="MEMORY.md", before=digest(SECOND["MEMORY.md"]), after=digest(after))
    journal = Journal(number=3, label="third", time="", entries=(entry,))
    layout.undo(root, 3).mkdir()
    journal.old(root, 0).touch()
    os.truncate(journal.old(root, 0), HUGE)
    layout.journal(root).write_bytes(dump(journal))
    tree = load(root, lambda _: False)
    assert [p.path for p in tree.problems] == ["MEMORY.md"]
