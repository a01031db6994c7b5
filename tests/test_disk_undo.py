"""Taking back the last apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.disk import durable
from interop.disk.transaction import apply
from interop.disk.tree import load
from interop.disk.undo import history, undo
from interop.errors import FormatError, RefusedError
from interop.plan import COMPLEMENT, FileChange, digest

FIRST = {"MEMORY.md": b"one\n", "old/a.md": b"a\n", COMPLEMENT: b"first\n"}
SECOND = {"MEMORY.md": b"two\n", "new/b.md": b"b\n", COMPLEMENT: b"second\n"}


def trust(found: object) -> None:
    pass


def go(root: Path, old: dict[str, bytes], new: dict[str, bytes], label: str) -> None:
    changes = [
        FileChange(path=p, before=digest(old[p]) if p in old else None, after=new.get(p))
        for p in {**new, **old}
        if old.get(p) != new.get(p)
    ]
    apply(root, changes, label=label, verify=trust)


def state(root: Path) -> dict[str, bytes]:
    tree = load(root, lambda path: False)
    return tree.files if tree.complement is None else {**tree.files, COMPLEMENT: tree.complement}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    go(tmp_path, {}, FIRST, "first")
    go(tmp_path, FIRST, SECOND, "second")
    return tmp_path


def everything(root: Path) -> dict[Path, bytes | None]:
    return {p: p.read_bytes() if p.is_file() else None for p in root.rglob("*")}


def test_the_last_apply_is_taken_back_then_the_one_before(root: Path) -> None:
    assert [(a.label, a.files) for a in history(root)] == [("second", 4), ("first", 3)]
    undone = undo(root)
    assert undone.label == "second"
    assert [c.action for c in undone.changes] == ["create", "update", "delete", "update"]
    assert state(root) == FIRST
    assert not (root / "new").exists()
    assert [a.label for a in history(root)] == ["first"]
    undo(root)
    assert state(root) == {}
    assert [p.name for p in root.iterdir()] == [".interop"]
    assert not list((root / ".interop" / "undo").iterdir())


def test_a_dry_run_says_the_same_and_writes_nothing(root: Path) -> None:
    before = everything(root)
    undone = undo(root, dry_run=True)
    assert everything(root) == before
    assert undo(root) == undone


def test_a_file_edited_since_is_refused_and_named(root: Path) -> None:
    (root / "MEMORY.md").write_bytes(b"by hand\n")
    (root / "new" / "b.md").unlink()  # as undoing would do: nothing stands in the way
    (root / "old").mkdir(exist_ok=True)
    (root / "old" / "a.md").write_bytes(b"again\n")
    for dry_run in (True, False):
        with pytest.raises(RefusedError, match="changed since 'second'") as caught:
            undo(root, dry_run=dry_run)
        assert sorted(caught.value.details) == [
            "'MEMORY.md' was edited",
            "'old/a.md' was written anew",
        ]
        assert "--force" in caught.value.remedy
    assert (root / "MEMORY.md").read_bytes() == b"by hand\n"
    assert len(history(root)) == 2


def test_files_of_others_stay(root: Path) -> None:
    (root / "new" / "mine.md").write_bytes(b"mine\n")
    (root / "notes.md").write_bytes(b"notes\n")
    undo(root)
    assert state(root) == {**FIRST, "new/mine.md": b"mine\n", "notes.md": b"notes\n"}


def test_a_folder_that_was_there_and_empty_stays(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    go(tmp_path, {}, {"empty/made/a.md": b"a"}, "first")
    undo(tmp_path)
    assert (tmp_path / "empty").is_dir()
    assert not (tmp_path / "empty" / "made").exists()


def test_nothing_to_undo_is_said_and_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"a")
    with pytest.raises(RefusedError, match="there is nothing to undo") as caught:
        undo(tmp_path)
    assert caught.value.exit_code == 3
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]
    assert history(tmp_path) == []
    with pytest.raises(FormatError):
        undo(tmp_path / "missing")


def test_damaged_undo_data_is_never_put_back(root: Path) -> None:
    (root / ".interop" / "undo" / "2" / "0").write_bytes(b"damaged")
    with pytest.raises(FormatError, match=r"MEMORY\.md"):
        undo(root)
    assert state(root) == SECOND


def test_a_broken_manifest_is_named_and_no_older_apply_is_undone_in_its_place(root: Path) -> None:
    (root / ".interop" / "undo" / "2" / "manifest").write_bytes(b"{")
    with pytest.raises(FormatError, match="not a journal"):
        undo(root)
    assert state(root) == SECOND


def test_a_dry_run_over_an_interrupted_apply_counts_with_its_being_taken_back(root: Path) -> None:
    third = {**SECOND, "MEMORY.md": b"three\n"}

    class CrashError(BaseException):
        pass

    def crash(when: str, operation: str, path: Path) -> None:
        # The rollback must not run either, as in a crash.
        if (root / "MEMORY.md").read_bytes() == b"three\n":
            raise CrashError

    durable.fault = crash
    try:
        with pytest.raises(CrashError):
            go(root, SECOND, third, "third")
    finally:
        durable.fault = None
    assert (root / "MEMORY.md").read_bytes() == b"three\n"
    before = everything(root)
    undone = undo(root, dry_run=True)
    assert everything(root) == before
    assert undone.label == "second"
    assert undo(root) == undone
    assert state(root) == FIRST
