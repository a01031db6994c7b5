"""Writing a plan: what is refused, what comes out, and with which permissions."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

from interop.disk import durable, layout, recovery
from interop.disk.transaction import apply, recover
from interop.disk.tree import load
from interop.disk.undo import history, undo
from interop.errors import RefusedError, WriteError
from interop.plan import COMPLEMENT, FileChange, digest


def trust(found: object) -> None:
    pass


def create(path: str, data: bytes = b"new") -> FileChange:
    return FileChange(path=path, before=None, after=data)


def update(path: str, old: bytes, new: bytes) -> FileChange:
    return FileChange(path=path, before=digest(old), after=new)


def delete(path: str, old: bytes) -> FileChange:
    return FileChange(path=path, before=digest(old), after=None)


def write(root: Path, changes: Sequence[FileChange], label: str = "convert") -> None:
    apply(root, changes, label=label, verify=trust, wait=300.0)


def names(root: Path) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*"))


def files(root: Path) -> dict[str, bytes]:
    return load(root, lambda path: False).files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_missing_root_is_made(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "store"
    seen: list[Mapping[str, str]] = []
    changes = [create("a/b/c.md"), create(COMPLEMENT, b"c")]
    apply(root, changes, label="convert", verify=seen.append)
    assert files(root) == {"a/b/c.md": b"new"}
    assert seen[0] == {"a/b/c.md": digest(b"new"), COMPLEMENT: digest(b"c")}
    assert not list((root / ".interop" / "staging").iterdir())


def test_the_tree_to_verify_leaves_out_what_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"db")
    seen: list[Mapping[str, str]] = []
    apply(
        tmp_path,
        [create("a.md")],
        label="convert",
        verify=seen.append,
        ignored=lambda path: path.endswith(".db"),
    )
    assert list(seen[0]) == ["a.md"]


def test_nothing_to_do_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"a")
    write(tmp_path, [])
    write(tmp_path, [update("a.md", b"a", b"a")])
    assert names(tmp_path) == ["a.md"]
    write(tmp_path / "missing", [])
    assert not (tmp_path / "missing").exists()


def test_a_store_that_changed_since_the_plan_is_refused_untouched(tmp_path: Path) -> None:
    for name in ("edited.md", "appeared.md"):
        (tmp_path / name).write_bytes(b"by hand")
    (tmp_path / "link.md").symlink_to("edited.md")
    changes = [
        create("fine.md"),
        create("appeared.md"),
        update("edited.md", b"as planned", b"new"),
        update("link.md", b"by hand", b"new"),
        delete("gone.md", b"was here"),
    ]
    before = names(tmp_path)
    with pytest.raises(RefusedError, match="changed since the plan was made") as caught:
        write(tmp_path, changes)
    assert caught.value.exit_code == 3
    assert list(caught.value.details) == [
        "'appeared.md' has appeared",
        "'edited.md' says something else now",
        "'link.md' is no longer a regular file",
        "'gone.md' is gone",
    ]
    assert names(tmp_path) == before


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../outside.md",
        "a/../../outside.md",
        "a//b.md",
        "./a.md",
        "a/",
        "a\x00.md",
        "a\n.md",
        "a\x7f.md",
        "a\x85.md",
        "caf\udce9.md",
        ".git/hooks/post-commit",
        "a/.GIT/config",
        ".interop/journal",
        ".Interop/complement",
        "a/.interop/complement",
    ],
)
def test_a_path_that_is_none_of_the_store_is_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "store"
    with pytest.raises(RefusedError):
        write(root, [create("fine.md"), create(path)])
    assert names(tmp_path) == []


def test_a_path_through_a_link_a_file_or_onto_a_folder_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "store"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "file").write_bytes(b"f")
    with pytest.raises(RefusedError) as caught:
        write(root, [create("out/a.md"), create("file/a.md"), create("folder"), create("b.md")])
    assert len(caught.value.details) == 3
    assert names(tmp_path / "outside") == []
    assert names(root) == ["file", "folder", "out"]


@pytest.mark.parametrize("name", [".interop", ".interop/undo", ".interop/staging"])
def test_an_interop_folder_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    root = tmp_path / "store"
    (root / name).parent.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / name).symlink_to(tmp_path / "outside")
    with pytest.raises(RefusedError, match="not a folder"):
        write(root, [create("a.md")])
    assert names(tmp_path / "outside") == []


@pytest.mark.parametrize("name", ["staging/7", "undo/7", "lock"])
def test_a_link_inside_the_interop_folder_is_neither_followed_nor_emptied(
    tmp_path: Path, name: str
) -> None:
    root = tmp_path / "store"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.md").write_bytes(b"p")
    write(root, [create("a.md")])
    (root / ".interop" / "lock").unlink()
    (root / ".interop" / name).symlink_to(outside)
    for act in (lambda: write(root, [create("b.md")]), lambda: recover(root), lambda: undo(root)):
        with pytest.raises(RefusedError):
            act()
    durable.remove_tree(root / ".interop" / name)
    assert names(outside) == ["precious.md"]
    assert files(root) == {"a.md": b"new"}


class Folding:
    """A file system that takes names for the same whatever their case and normal form."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real = os.path.lexists
        monkeypatch.setattr(os.path, "lexists", self.lexists)
        monkeypatch.setattr(os.path, "samefile", self.samefile)

    def fold(self, name: str) -> str:
        return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())

    def lexists(self, path: Path) -> bool:
        path = Path(path)
        if not path.parent.is_dir():
            return False
        return self.fold(path.name) in {self.fold(n) for n in os.listdir(path.parent)}

    def samefile(self, one: Path, other: Path) -> bool:
        return self.fold(Path(one).name) == self.fold(Path(other).name)


@pytest.mark.parametrize(
    ("there", "created", "pair"),
    [
        (["Bikes.md"], ["bikes.md"], "'bikes.md' and 'Bikes.md'"),
        (["caf\u00e9.md"], ["cafe\u0301.md"], "'cafe\u0301.md' and 'caf\u00e9.md'"),
        (["Old/a.md"], ["old/b.md"], "'old' and 'Old'"),
        (["x.md"], ["new/Bikes.md", "new/bikes.md"], "'new/bikes.md' and 'new/Bikes.md'"),
        (["x.md"], ["New/a.md", "new/b.md"], "'new' and 'New'"),
    ],
)
def test_names_that_the_file_system_cannot_tell_apart_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: list[str],
    created: list[str],
    pair: str,
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"there")
    before = names(tmp_path)
    Folding(monkeypatch)
    assert layout.folds(tmp_path)
    with pytest.raises(RefusedError, match="cannot tell these names apart") as caught:
        write(tmp_path, [create(path) for path in created])
    assert pair in caught.value.details
    assert names(tmp_path) == before


def test_names_that_differ_in_case_are_fine_where_the_file_system_tells_them_apart(
    tmp_path: Path,
) -> None:
    if layout.folds(tmp_path):
        pytest.skip("this file system folds names")
    write(tmp_path, [create("a.md"), create("A.md"), create("caf\u00e9.md")])
    write(tmp_path, [create("cafe\u0301.md")])
    assert len(files(tmp_path)) == 4


def test_permissions_are_kept_and_never_widened(tmp_path: Path) -> None:
    root = tmp_path / "store"
    (root / "private").mkdir(parents=True)
    root.chmod(0o750)
    (root / "private").chmod(0o700)
    (root / "private" / "a.md").write_bytes(b"a")
    (root / "private" / "a.md").chmod(0o600)
    (root / "run.sh").write_bytes(b"r")
    (root / "run.sh").chmod(0o744)
    os.umask(umask := os.umask(0o022))
    write(
        root,
        [
            create("private/b.md"),
            create("private/inner/c.md"),
            create("d.md"),
            update("run.sh", b"r", b"new"),
            update("private/a.md", b"a", b"new"),
            create(COMPLEMENT),
        ],
    )
    assert mode(root / "private" / "a.md") == 0o600
    assert mode(root / "private" / "b.md") == 0o600
    assert mode(root / "private" / "inner") == 0o700 & ~umask
    assert mode(root / "private" / "inner" / "c.md") == 0o600
    assert mode(root / "run.sh") == 0o744
    assert mode(root / "d.md") == 0o644
    for folder in (root / ".interop", *(root / ".interop").rglob("*")):
        assert mode(folder) & ~0o750 == 0 or folder.is_file()
    write(root, [delete("private/a.md", b"new"), delete("private/b.md", b"new")])
    undo(root)
    assert mode(root / "private" / "a.md") == 0o600


def test_a_new_store_gets_what_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write(tmp_path / "store", [create("a/b.md")])
    finally:
        os.umask(before)
    assert mode(tmp_path / "store") == 0o700
    assert mode(tmp_path / "store" / "a") == 0o700
    assert mode(tmp_path / "store" / "a" / "b.md") == 0o600


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_the_owner_of_a_replaced_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"a")
    os.chown(tmp_path / "a.md", 1234, 2345)
    write(tmp_path, [update("a.md", b"a", b"new")])
    info = (tmp_path / "a.md").stat()
    assert (info.st_uid, info.st_gid) == (1234, 2345)


def test_only_folders_that_the_deletes_emptied_go(tmp_path: Path) -> None:
    for path in ("a/b/c.md", "d/e.md", "d/keep.md", "f/g.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    (tmp_path / "f" / "empty").mkdir()
    (tmp_path / "untouched").mkdir()
    write(tmp_path, [delete(p, b"x") for p in ("a/b/c.md", "d/e.md", "f/g.md")])
    assert [n for n in names(tmp_path) if not n.startswith(".interop")] == [
        "d",
        "d/keep.md",
        "f",
        "f/empty",
        "untouched",
    ]


@pytest.mark.parametrize(
    "error", [WriteError("a.md", "reads back differently"), KeyError("a bug"), AssertionError()]
)
def test_what_the_check_raises_takes_everything_back(tmp_path: Path, error: Exception) -> None:
    (tmp_path / "a.md").write_bytes(b"a")

    def reject(found: Mapping[str, str]) -> None:
        assert found == {"a.md": digest(b"new"), "b/c.md": digest(b"new")}
        raise error

    with pytest.raises(WriteError, match="rolled back, every file is as it was") as caught:
        apply(
            tmp_path,
            [update("a.md", b"a", b"new"), create("b/c.md")],
            label="convert",
            verify=reject,
        )
    assert caught.value.__cause__ is error
    assert files(tmp_path) == {"a.md": b"a"}
    assert not (tmp_path / "b").exists()
    assert history(tmp_path) == []


def test_ctrl_c_takes_everything_back(tmp_path: Path) -> None:
    def interrupt(found: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apply(tmp_path, [create("a.md")], label="convert", verify=interrupt)
    assert files(tmp_path) == {}
    write(tmp_path, [create("a.md")])


def test_waiting_for_another_interop_ends_and_names_it(tmp_path: Path) -> None:
    write(tmp_path, [create("a.md")], label="convert from the shop")
    with (
        FileLock(tmp_path / ".interop" / "lock"),
        pytest.raises(WriteError, match=f"convert from the shop, process {os.getpid()}") as caught,
    ):
        apply(tmp_path, [create("b.md")], label="second", verify=trust, wait=0.05)
    assert "nothing was written" in str(caught.value)
    assert files(tmp_path) == {"a.md": b"new"}


def test_threads_wait_for_each_other(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=write, args=(tmp_path, [create(f"{n}.md")])) for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files(tmp_path)) == 6
    assert len(history(tmp_path)) == 6


def test_a_root_that_cannot_be_made_is_a_write_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"f")
    with pytest.raises(WriteError, match="nothing was written"):
        write(tmp_path / "file" / "store", [create("a.md")])


def test_old_undo_data_is_bounded_by_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "KEPT_SETS", 3)
    write(tmp_path, [create("a.md", b"0")])
    for n in range(6):
        write(tmp_path, [update("a.md", b"%d" % n, b"%d" % (n + 1))], label=str(n))
    assert [a.label for a in history(tmp_path)] == ["5", "4", "3"]
    assert len(list((tmp_path / ".interop" / "undo").iterdir())) == 3
    for _ in range(3):
        undo(tmp_path)
    assert files(tmp_path) == {"a.md": b"3"}
    with pytest.raises(RefusedError, match="nothing to undo"):
        undo(tmp_path)


def test_old_undo_data_is_bounded_by_size_but_the_newest_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "KEPT_BYTES", 1000)
    write(tmp_path, [create("a.md", b"0" * 5000)])
    write(tmp_path, [update("a.md", b"0" * 5000, b"1" * 5000)], label="large")
    assert [a.label for a in history(tmp_path)] == ["large"]
    undo(tmp_path)
    assert files(tmp_path) == {"a.md": b"0" * 5000}


def test_without_swapping_or_linking_the_outcome_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "_system_call", lambda: None)
    write(tmp_path, [create("a.md", b"a"), create("b.md", b"b")])
    write(tmp_path, [update("a.md", b"a", b"A"), delete("b.md", b"b"), create("c.md", b"c")])
    assert files(tmp_path) == {"a.md": b"A", "c.md": b"c"}
    undo(tmp_path)
    assert files(tmp_path) == {"a.md": b"a", "b.md": b"b"}


def test_the_layer_imports_no_more_than_it_needs() -> None:
    code = "import sys, interop.disk; print('filelock' in sys.modules, 'ctypes' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert done.stdout.split() == ["False", "False"]


def test_a_file_among_many_that_cannot_be_forced_to_the_disk_takes_all_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    force = durable.sync_file

    def fail(path: durable.Place) -> None:
        if str(path).endswith("/staging/1/40"):
            raise OSError(errno.EIO, "the disk is broken", str(path))
        force(path)

    (tmp_path / "a.md").write_bytes(b"a")
    monkeypatch.setattr(durable, "sync_file", fail)
    with pytest.raises(WriteError, match=r"the disk is broken.*every file is as it was"):
        write(tmp_path, [update("a.md", b"a", b"b"), *(create(f"{n}.md") for n in range(100))])
    assert files(tmp_path) == {"a.md": b"a"}


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the names of the files that are forced to the disk, as it happens."""
    names: list[str] = []
    force = durable.sync_file

    def note(path: durable.Place) -> None:
        force(path)
        names.append(os.path.basename(path))

    monkeypatch.setattr(durable, "sync_file", note)
    return names


def test_every_new_file_is_forced_to_the_disk_once(tmp_path: Path, forced: list[str]) -> None:
    write(tmp_path, [create(f"{n}.md") for n in range(100)])
    assert sorted(forced) == sorted([*map(str, range(100)), "journal", "wrote"])


@pytest.mark.parametrize("pushed", [True, False], ids=["pushed", "the system cannot"])
def test_many_files_are_pushed_and_each_is_forced_all_the_same(
    pushed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forced: list[str]
) -> None:
    if not pushed:
        monkeypatch.setattr(durable, "_library", lambda: None)
    many = [f"{n}.md" for n in range(300)]
    write(tmp_path, [create(name, name.encode()) for name in many])
    assert files(tmp_path) == {name: name.encode() for name in sorted(many)}
    assert sorted(forced) == sorted([*map(str, range(300)), "journal", "wrote"])
