"""Whoever writes while a store is opened raises no doubt about it; what is doubtful stays so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from interop import at_rest, complement_file, stores, undoing
from interop.applying import apply_changes
from interop.convert import apply_plan, plan
from interop.disk import state, tree, undo
from interop.disk.state import Remembered
from interop.disk.tree import Tree
from interop.disk.undo import Undone
from interop.errors import FormatError
from interop.host import Token
from interop.plan import COMPLEMENT
from tests.busy import busy
from tests.faulting import note

NOW = "2026-11-30T12:00:00.000Z"


class Shop:
    """Two stores, and the other interops that write to them."""

    def __init__(self, base: Path) -> None:
        self.one, self.other = base / "one", base / "other"
        self.one.mkdir()
        self.noted = 0

    def convert(self, *, back: bool = False) -> None:
        here, there = f"claude-code:{self.one}", f"theokit:{self.other}"
        if back:
            here, there = there, here
        source = stores.open_store(here)
        destination = stores.open_store(there, must_exist=False)
        assert not source.doubts
        assert not destination.doubts
        apply_plan(plan(source, destination, now=NOW), source, destination)

    def again(self) -> None:
        """Convert one more record."""
        self.noted += 1
        note(self.one, f"rack-{self.noted}", f"Rack {self.noted} stands in the yard.")
        self.convert()

    def undo(self) -> None:
        undoing.undo(self.other)

    def doubts(self) -> tuple[str, ...]:
        return stores.open_store(f"theokit:{self.other}").doubts


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("INTEROP_STATE_DIR", str(tmp_path / "state"))
    made = Shop(tmp_path)
    note(made.one, "bells", "Bells are loud.")
    return made


def overtake(
    monkeypatch: pytest.MonkeyPatch, shop: Shop, write: Callable[[], None], *, first: bool
) -> list[Path]:
    """Let another interop write right before or after the files of the second store are read."""
    load = tree.load
    looks: list[Path] = []

    def overtaken(root: Path, ignored: Callable[[str], bool], *, missing_ok: bool = False) -> Tree:
        if root != shop.other:
            return load(root, ignored, missing_ok=missing_ok)
        looks.append(root)
        if len(looks) > 1:
            return load(root, ignored, missing_ok=missing_ok)
        found = None if first else load(root, ignored, missing_ok=missing_ok)
        monkeypatch.setattr(tree, "load", load)
        write()
        monkeypatch.setattr(tree, "load", overtaken)
        return found if found is not None else load(root, ignored, missing_ok=missing_ok)

    monkeypatch.setattr(tree, "load", overtaken)
    return looks


def undo_and_convert(shop: Shop) -> None:
    shop.undo()
    shop.again()


WRITES: dict[str, Callable[[Shop], None]] = {
    "convert": Shop.again,
    "undo": Shop.undo,
    "undo and convert": undo_and_convert,
}


@pytest.mark.parametrize("first", [True, False], ids=["before the files", "after the files"])
@pytest.mark.parametrize("write", WRITES)
def test_who_writes_while_a_store_is_opened_raises_no_doubt(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, write: str, first: bool
) -> None:
    shop.again()
    shop.again()
    known = stores.open_store(f"theokit:{shop.other}").raw.id
    looks = overtake(monkeypatch, shop, lambda: WRITES[write](shop), first=first)
    opened = stores.open_store(f"theokit:{shop.other}")
    assert looks, "it was overtaken"
    assert opened.doubts == ()
    assert opened.raw.id == known
    assert shop.doubts() == ()


@pytest.mark.parametrize("first", [True, False], ids=["before the files", "after the files"])
def test_the_first_conversion_raises_no_doubt(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first: bool
) -> None:
    """A store that was there and had no complement: it is not missing one, nor another store."""
    shop.again()
    shutil.rmtree(shop.other / ".interop")
    (tmp_path / "state" / "stores.json").unlink()
    assert shop.doubts() == ()
    overtake(monkeypatch, shop, shop.again, first=first)
    opened = stores.open_store(f"theokit:{shop.other}")
    assert opened.doubts == ()
    assert (opened.complement is not None) == first
    assert opened.raw.id == stores.open_store(f"theokit:{shop.other}").raw.id


def test_an_undo_that_is_not_done_yet_raises_no_doubt(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are put back, and what is known of them is still to be noted."""
    shop.again()
    shop.again()
    put_back = undo.undo
    said: list[tuple[str, ...]] = []

    def watched(root: Path, **more: object) -> Undone:
        undone = put_back(root, **more)  # type: ignore[arg-type]  # passed on as it came
        said.append(shop.doubts())
        return undone

    monkeypatch.setattr(undo, "undo", watched)
    shop.undo()
    assert said == [()]
    shop.undo()
    assert said == [(), ()]


def test_what_was_taken_back_meanwhile_is_not_noted(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.again()

    def overtaken(*given: object, **more: object) -> Token | None:
        token = apply_changes(*given, **more)  # type: ignore[arg-type]  # passed on as it came
        shop.undo()
        return token

    monkeypatch.setattr("interop.convert.apply_changes", overtaken)
    shop.again()
    assert shop.doubts() == ()


def test_a_source_that_was_taken_back_meanwhile_is_noted_as_it_stands(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shop.again()
    shop.again()

    def overtaken(*given: object, **more: object) -> Token | None:
        token = apply_changes(*given, **more)  # type: ignore[arg-type]  # passed on as it came
        shop.undo()
        return token

    monkeypatch.setattr("interop.convert.apply_changes", overtaken)
    source = stores.open_store(f"theokit:{shop.other}")
    third = stores.open_store(f"claude-code:{tmp_path / 'third'}", must_exist=False)
    apply_plan(plan(source, third, now=NOW), source, third)
    assert shop.doubts() == ()


def test_two_who_take_back_leave_no_doubt(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that wrote first notes last."""
    for _ in range(3):
        shop.again()
    put_back = undo.undo

    def overtaken(root: Path, **more: object) -> Undone:
        undone = put_back(root, **more)  # type: ignore[arg-type]  # passed on as it came
        monkeypatch.setattr(undo, "undo", put_back)
        shop.undo()
        return undone

    monkeypatch.setattr(undo, "undo", overtaken)
    shop.undo()
    assert shop.doubts() == ()


def test_trying_an_undo_out_notes_nothing(shop: Shop) -> None:
    shop.again()
    before = state.remembered(shop.other)
    undoing.undo(shop.other, dry_run=True)
    assert state.remembered(shop.other) == before


def test_an_older_store_is_doubted(shop: Shop, tmp_path: Path) -> None:
    shop.again()
    shutil.copytree(shop.other, tmp_path / "kept")
    shop.again()
    shutil.rmtree(shop.other)
    shutil.copytree(tmp_path / "kept", shop.other)
    assert shop.doubts() == (f"{shop.other}/{COMPLEMENT} is older than the one this machine wrote",)


def test_a_store_without_its_complement_is_doubted(shop: Shop) -> None:
    shop.again()
    known = stores.open_store(f"theokit:{shop.other}").raw.id
    (shop.other / COMPLEMENT).unlink()
    opened = stores.open_store(f"theokit:{shop.other}")
    assert opened.doubts == (f"{shop.other}/{COMPLEMENT} is missing, and this store had one",)
    assert opened.raw.id != known


def test_what_changes_at_every_look_is_not_waited_for(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.again()
    looks: list[Path] = []

    def moving(root: Path) -> Remembered:
        looks.append(root)
        return Remembered(id="moving", generation=100 + len(looks), complement=True)

    monkeypatch.setattr(state, "remembered", moving)
    with pytest.raises(FormatError) as raised:
        shop.doubts()
    assert busy(str(raised.value))
    assert len(looks) < 100


def test_what_stands_is_read_from_the_disk(shop: Shop) -> None:
    assert at_rest.generation_at(shop.one) is None
    shop.again()
    first = at_rest.generation_at(shop.other)
    assert first is not None
    shop.again()
    assert at_rest.generation_at(shop.other) == first + 1
    (shop.other / COMPLEMENT).write_bytes(b"{")
    assert at_rest.generation_at(shop.other) == 0


def test_what_stands_is_known_by_its_first_line(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A complement repeats the texts of a store: one that is only asked for is not held."""
    shop.again()
    whole = (shop.other / COMPLEMENT).read_bytes()
    expected = complement_file.loads(whole, COMPLEMENT).generation
    assert complement_file.generation_in(whole[: complement_file.START]) == expected
    with monkeypatch.context() as patch:
        patch.delattr(tree, "read_bounded")
        assert at_rest.generation_at(shop.other) == expected
    # in another form than interop writes it, all of it is read
    head, _, rest = whole.partition(b"\n")
    spaced = b"{ " + head[1:]
    (shop.other / COMPLEMENT).write_bytes(spaced + b"\n" + rest)
    assert complement_file.generation_in(spaced) is None
    assert at_rest.generation_at(shop.other) == expected
