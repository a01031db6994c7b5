"""What follows an apply outside the files: with them, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interop.disk.transaction import apply, recover
from interop.disk.tree import load
from interop.disk.undo import undo
from interop.errors import WriteError
from interop.plan import FileChange, digest

OLD, NEW = b"old\n", b"new\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    store.mkdir()
    (store / "a.md").write_bytes(OLD)
    return store


CHANGES = (
    FileChange(path="a.md", before=digest(OLD), after=NEW),
    FileChange(path="b.md", before=None, after=NEW),
)


def trust(found: object) -> None:
    assert found == {"a.md": digest(NEW), "b.md": digest(NEW)}


def files(root: Path) -> dict[str, bytes]:
    return load(root, lambda _: False).files


def test_it_runs_once_the_files_stand(root: Path) -> None:
    seen: list[bytes] = []

    def follow() -> bytes:
        seen.append((root / "b.md").read_bytes())
        return b"a commit"

    apply(root, CHANGES, label="x", verify=trust, follow=follow)
    assert seen == [NEW]
    assert undo(root).note == b"a commit"
    assert files(root) == {"a.md": OLD}


def test_when_it_fails_the_files_go_back(root: Path) -> None:
    def follow() -> bytes:
        raise WriteError("the repository", "cannot commit", "free the index")

    with pytest.raises(WriteError, match="cannot commit; rolled back"):
        apply(root, CHANGES, label="x", verify=trust, follow=follow)
    assert files(root) == {"a.md": OLD}
    assert recover(root) == []
    assert not list((root / ".interop").rglob("note"))


def test_a_crash_while_it_runs_leaves_the_files_new(root: Path) -> None:
    """What follows may have happened: the files that it speaks of stay."""
    child = os.fork()
    if child == 0:
        apply(root, CHANGES, label="x", verify=trust, follow=lambda: os._exit(9))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    recover(root)
    assert files(root) == {"a.md": NEW, "b.md": NEW}
    assert undo(root).note == b""
    assert files(root) == {"a.md": OLD}


def test_a_crash_before_it_ran_takes_the_files_back(root: Path) -> None:
    def die(found: object) -> None:
        os._exit(9)

    child = os.fork()
    if child == 0:
        apply(root, CHANGES, label="x", verify=die, follow=lambda: b"")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    recover(root)
    assert files(root) == {"a.md": OLD}
