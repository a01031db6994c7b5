"""Reading a store from the disk."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from interop import limits
from interop.disk import transaction, tree
from interop.disk.tree import PAUSES, Tree, load, peek
from interop.errors import FormatError, WriteError
from interop.plan import FileChange, digest
from tests.busy import busy

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def nothing(path: str) -> bool:
    return False


def put(root: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def test_every_file_is_read_whole_and_sorted_by_code_point(tmp_path: Path) -> None:
    files = {
        "b.md": b"bikes\r\n",
        "Z.md": b"",
        "a/ä.md": b"\xff\x00",
        "a.md": b"x" * 200_000,
        "a-.md": b"y" * 65_536,
        ".hidden": b"h",
        "\U0001f6b2.md": b"bike",
        "\uffee.md": b"arrow",
    }
    put(tmp_path, files)
    tree = load(tmp_path, nothing)
    assert tree.files == files
    assert list(tree.files) == sorted(files)
    assert tree.complement is None
    assert tree.problems == ()


def test_git_and_interop_folders_are_no_part_of_a_store(tmp_path: Path) -> None:
    own = {".interop/complement": b"c", ".interop/undo/1/0": b"old", ".interop/lock": b""}
    foreign = {".git/config": b"g", "inner/.git/HEAD": b"h", "inner/.interop/complement": b"i"}
    put(tmp_path, {"a.md": b"a", **own, **foreign})
    tree = load(tmp_path, nothing)
    assert tree.files == {"a.md": b"a"}
    assert tree.complement == b"c"


def test_an_ignored_file_is_never_opened(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": b"a", "index.sqlite": b"", "x/cache.db": b""})
    (tmp_path / "link.db").symlink_to("a.md")
    seen: list[str] = []

    def ignored(path: str) -> bool:
        seen.append(path)
        return path.endswith((".sqlite", ".db"))

    for path in ("index.sqlite", "x/cache.db"):
        (tmp_path / path).unlink()
        os.mkfifo(tmp_path / path)  # opening it would wait, or be a problem
    tree = load(tmp_path, ignored)
    assert tree.files == {"a.md": b"a"}
    assert tree.problems == ()
    assert sorted(seen) == ["a.md", "index.sqlite", "link.db", "x/cache.db"]


def test_what_is_no_regular_file_is_named_and_never_hides_the_others(tmp_path: Path) -> None:
    root = tmp_path / "store"
    put(root, {"a.md": b"a"})
    put(tmp_path, {"outside/secret.md": b"s"})
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "broken.md").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        with contextlib.chdir(root):  # a socket's path may only be so long
            server.bind("socket")
        tree = load(root, nothing)
    assert tree.files == {"a.md": b"a"}
    assert [(p.path, p.unread) for p in tree.problems] == [
        ("broken.md", True),
        ("file.md", True),
        ("folder", True),
        ("pipe", False),
        ("socket", False),
    ]


def test_a_name_that_is_not_utf_8_is_named_in_printable_form(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": b"a"})
    bad = os.fsencode(tmp_path) + b"/caf\xe9"
    with open(bad + b".md", "wb"):
        pass
    os.mkdir(bad)
    tree = load(tmp_path, nothing)
    assert tree.files == {"a.md": b"a"}
    assert [p.path for p in tree.problems] == ["caf\\xe9", "caf\\xe9.md"]
    "".join(p.path for p in tree.problems).encode()


@pytest.mark.skipif(AS_ROOT, reason="root reads everything; see the test with a fault")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": b"a", "b.md": b"b"})
    (tmp_path / "b.md").chmod(0)
    tree = load(tmp_path, nothing)
    assert tree.files == {"a.md": b"a"}
    assert [(p.path, p.unread) for p in tree.problems] == [("b.md", True)]


def test_a_file_that_the_system_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, {"a.md": b"a", "b.md": b"b", "c.md": b"c"})
    real = os.open

    def refuse(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if str(path).endswith("b.md"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    tree = load(tmp_path, nothing)
    assert tree.files == {"a.md": b"a", "c.md": b"c"}
    assert [(p.path, p.problem) for p in tree.problems] == [
        ("b.md", "cannot be read (Permission denied)")
    ]
    assert peek(tmp_path, nothing)["b.md"] == b""


@pytest.mark.parametrize("said", [0, 1, 65_536, 199_999, 200_001, 10**6])
def test_a_file_is_read_to_its_end_whatever_size_the_system_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: int
) -> None:
    data = bytes(range(200)) * 1000
    put(tmp_path, {"a.md": data})
    real = os.fstat

    def stale(fd: int) -> os.stat_result:
        info = list(real(fd))
        info[stat.ST_SIZE] = said
        return os.stat_result(info)

    monkeypatch.setattr(os, "fstat", stale)
    assert load(tmp_path, nothing).files == {"a.md": data}
    monkeypatch.setenv(limits.VARIABLE, "file=200000")
    if said <= 200_000:
        assert load(tmp_path, nothing).files == {"a.md": data}
    monkeypatch.setenv(limits.VARIABLE, "file=199999")
    tree = load(tmp_path, nothing)
    assert (tree.files, len(tree.problems)) == ({}, 1)
    assert "is larger than 199,999 bytes" in tree.problems[0].problem


def test_the_root(tmp_path: Path) -> None:
    put(tmp_path, {"store/a.md": b"a"})
    (tmp_path / "link").symlink_to("store")
    assert load(tmp_path / "link", nothing).files == {"a.md": b"a"}
    with pytest.raises(FormatError, match="no such folder"):
        load(tmp_path / "missing", nothing)
    assert load(tmp_path / "missing", nothing, missing_ok=True).files == {}
    with pytest.raises(FormatError, match="is a file, not a folder; name the folder") as caught:
        load(tmp_path / "store" / "a.md", nothing, missing_ok=True)
    assert caught.value.exit_code == 4
    with pytest.raises(FormatError):
        load(tmp_path / "store" / "a.md" / "x", nothing)
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(FormatError):
        load(tmp_path / "dangling", nothing, missing_ok=True)


def test_an_interop_folder_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "store"
    put(tmp_path, {"store/a.md": b"a", "elsewhere/complement": b"c", "elsewhere/journal": b"{}"})
    (root / ".interop").symlink_to(tmp_path / "elsewhere")
    tree = load(root, nothing)
    assert tree.files == {"a.md": b"a"}
    assert tree.complement is None
    assert [p.path for p in tree.problems] == [".interop"]


@pytest.mark.parametrize(
    "journal",
    [
        b"",
        b"{}",
        b"[1]",
        b'{"version":1,"number":1,"label":"x","time":"t","undoes":null,"made":[],"emptied":{},'
        b'"files":[{"path":"../outside.md","before":null,"after":null}]}',
        b'{"version":1,"number":1,"label":"x","time":"t","undoes":null,"made":["/etc"],'
        b'"emptied":{},"files":[]}',
        b'{"version":1,"number":"../1","label":"x","time":"t","undoes":null,"made":[],'
        b'"emptied":{},"files":[]}',
    ],
)
def test_a_journal_is_not_trusted(tmp_path: Path, journal: bytes) -> None:
    put(tmp_path, {"a.md": b"a", ".interop/journal": journal})
    with pytest.raises(FormatError, match="not a journal of interop"):
        load(tmp_path, nothing)


def test_peek_reads_on_access_only(tmp_path: Path) -> None:
    put(tmp_path, {"b.md": b"b", "a.md": b"a", "x.db": b"x", ".interop/complement": b"c"})
    files = peek(tmp_path, lambda path: path.endswith(".db"))
    assert list(files) == ["a.md", "b.md"]
    assert len(files) == 2
    assert "a.md" in files
    assert "x.db" not in files
    put(tmp_path, {"a.md": b"later"})
    assert files["a.md"] == b"later"
    assert files.get("x.db") is None
    assert len(peek(tmp_path / "missing", lambda path: False, missing_ok=True)) == 0


# --- other interops that write meanwhile


class Writers:
    """Other interops, one of which writes each time that the store has been looked through."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
        self.root, self.left = root, number
        self.looks = 0
        self.pauses: list[float] = []
        self.scan = tree.scan
        monkeypatch.setattr(tree, "scan", self.overtaken)
        monkeypatch.setattr(tree, "sleep", self.pauses.append)

    def overtaken(
        self, root: Path, ignored: Callable[[str], bool], linked: Collection[str] = ()
    ) -> Tree:
        found = self.scan(root, ignored, linked)
        self.looks += 1
        if self.left:
            self.left -= 1
            self.write()
        return found

    def write(self) -> None:
        place = self.root / "a.md"
        before, after = place.read_bytes(), f"look {self.looks}".encode()
        change = FileChange(path="a.md", before=digest(before), after=after)
        transaction.apply(self.root, [change], label="write", verify=lambda found: None)


def test_a_store_that_nobody_writes_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, {"a.md": b"a"})
    writers = Writers(tmp_path, monkeypatch, 0)
    assert load(tmp_path, nothing).files == {"a.md": b"a"}
    assert (writers.looks, writers.pauses) == (1, [])


@pytest.mark.parametrize("number", [1, 5, 7])
def test_a_reader_gives_way_to_writers_in_a_row(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, {"a.md": b"a", "b.md": b"b"})
    writers = Writers(tmp_path, monkeypatch, number)
    found = load(tmp_path, nothing)
    assert found.files == {"a.md": f"look {number}".encode(), "b.md": b"b"}
    assert writers.pauses == list(PAUSES[:number])


def test_a_reader_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.md": b"a"})
    writers = Writers(tmp_path, monkeypatch, 1000)
    with pytest.raises(FormatError) as raised:
        load(tmp_path, nothing)
    assert busy(str(raised.value))
    assert writers.pauses == sorted(set(writers.pauses)), "each is longer than the one before"
    assert 2 < sum(writers.pauses) < 5
    assert writers.looks == len(writers.pauses) + 1


def test_what_moves_while_it_is_taken_back_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an interrupted write displaced is gone at first, and put back at the next look."""
    put(tmp_path, {"a.md": b"a"})
    pauses: list[float] = []
    kept = tmp_path / "kept"

    def broken(*given: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    change = FileChange(path="a.md", before=digest(b"a"), after=b"new")
    with monkeypatch.context() as patch:
        patch.setattr(transaction, "roll_back", broken)
        with pytest.raises(WriteError):
            transaction.apply(tmp_path, [change], label="write", verify=broken)
    inside = (path for path in (tmp_path / ".interop").rglob("*") if path.is_file())
    (displaced,) = (path for path in inside if path.read_bytes() == b"a")
    displaced.rename(kept)

    def slept(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            kept.rename(displaced)

    monkeypatch.setattr(tree, "sleep", slept)
    assert load(tmp_path, lambda path: path == "kept").files == {"a.md": b"a"}
    assert pauses == list(PAUSES[:2])
