"""Writing into a store of which something is not read: never over it, and never past it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from interop import convert, limits, stores
from interop.bridge import Bridge
from interop.choices import Choices
from interop.cli import remember
from interop.errors import FormatError, InteropError
from tests.test_bridge_writing import KIND, NOW, bytes_of, made, surroundings

assert surroundings  # the fixture, used by every test here

REJECTED = "The rent is 820 € a month."
"""It states what a tombstone of the golden topic rejects."""
WRITTEN = {
    "bantamkit": "index.md",
    "claude-code": "MEMORY.md",
    "memory-compiler": "CONTEXT.md",
}
"""What a format writes with every new memory."""


def hard_link(place: Path) -> None:
    os.link(place, place.parent.parent / "second name")


def soft_link(place: Path) -> None:
    place.rename(place.parent.parent / "elsewhere")
    place.symlink_to(place.parent.parent / "elsewhere")


def dangling(place: Path) -> None:
    place.unlink()
    place.symlink_to("nowhere")


def pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def huge(place: Path) -> None:
    os.truncate(place, limits.current().file + 1)


UNREAD: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "hard link": (hard_link, "2 names on this disk", "--limit links=2"),
    "symbolic link": (soft_link, "is a symbolic link", "put the file itself here"),
    "dangling link": (dangling, "is a symbolic link", "put the file itself here"),
    "pipe": (pipe, "is a pipe", "move it away"),
    "beyond the limit": (huge, "is larger than 64 MiB", "--limit file=128M"),
}


def untouched(root: Path, act: Callable[[], object]) -> FormatError:
    """See that something is refused, and that nothing of it is left, not even a lock."""
    before = sorted(p.name for p in root.iterdir())
    with pytest.raises(FormatError) as caught:
        act()
    assert caught.value.exit_code == 4
    assert "another program" not in str(caught.value)
    assert sorted(p.name for p in root.iterdir()) == before
    return caught.value


@pytest.mark.parametrize("how", UNREAD)
@pytest.mark.parametrize("name", WRITTEN)
def test_nothing_is_written_over_what_is_not_read(name: str, how: str, tmp_path: Path) -> None:
    make, why, way_out = UNREAD[how]
    root = tmp_path / "store"
    spec = made(name, root)
    place = root / WRITTEN[name]
    make(place)
    bridge = Bridge(write=spec)
    for _ in range(2):
        said = untouched(root, lambda: bridge.remember("A zeta fact.", kind=KIND.get(name)))
        (line,) = said.details
        assert line.startswith(f"{place}: ")
        assert why in line
        assert way_out in line


@pytest.mark.parametrize("how", UNREAD)
def test_a_record_is_not_forgotten_beside_an_index_that_is_not_read(
    how: str, tmp_path: Path
) -> None:
    root = tmp_path / "store"
    spec = made("memory-compiler", root)
    Bridge(write=spec).remember("The bell is loud.")
    key = next(k for k in keys(spec) if k.startswith("CONTEXT.md#"))
    UNREAD[how][0](root / "TOMBSTONES.md")
    bridge = Bridge(write=spec)
    said = untouched(root, lambda: bridge.forget(key, "too loud", rejected="a loud bell"))
    assert [line.partition(": ")[0] for line in said.details] == [str(root / "TOMBSTONES.md")]


def keys(spec: str) -> list[str]:
    return [record.key for record in stores.open_store(spec).raw.records]


def test_the_folder_of_a_new_file_is_not_followed_elsewhere(tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made("bantamkit", root)
    soft_link(root / "facts")
    bridge = Bridge(write=spec)
    said = untouched(root, lambda: bridge.remember("A zeta fact.", kind="project"))
    assert [line.partition(": ")[0] for line in said.details] == [str(root / "facts")]


def test_it_is_written_once_the_way_out_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "store"
    spec = made("claude-code", root)
    hard_link(root / "MEMORY.md")
    old = (root / "MEMORY.md").read_bytes()
    monkeypatch.setenv(limits.VARIABLE, "links=2")
    told = Bridge(write=spec).remember("A zeta fact.")
    assert told.problems == ()
    assert (root / "MEMORY.md").read_bytes() != old
    assert (tmp_path / "second name").read_bytes() == old


# --- tombstones that cannot be asked


@pytest.mark.parametrize("how", UNREAD)
@pytest.mark.parametrize("text", [REJECTED, "The bell is loud."])
def test_nothing_is_stated_where_tombstones_cannot_be_read(
    text: str, how: str, tmp_path: Path
) -> None:
    root = tmp_path / "topic"
    spec = made("memory-compiler", root)
    make, why, way_out = UNREAD[how]
    make(root / "TOMBSTONES.md")
    said = untouched(root, lambda: Bridge(write=spec).remember(text))
    (line,) = said.details
    assert line.startswith(f"{root / 'TOMBSTONES.md'}: ")
    assert why in line
    assert way_out in line
    # on purpose it goes, and what was not asked is named
    told = Bridge(write=spec).remember(text, allow_tombstoned=True)
    assert [p.store for p in told.problems] == [spec]
    assert told.problems[0].problem.startswith("TOMBSTONES.md: ")


def test_no_conversion_goes_past_tombstones_that_cannot_be_read(tmp_path: Path) -> None:
    source = made("claude-code", tmp_path / "source")
    Bridge(write=source).remember(REJECTED, name="rent")
    root = tmp_path / "topic"
    target = made("memory-compiler", root)
    choices = Choices(carry=True, skip_refused=True)

    def planned() -> bytes:
        made = convert.plan(stores.open_store(source), stores.open_store(target), choices, now=NOW)
        (page,) = [c.after for c in made.changes if c.path == "CONTEXT.md"]
        assert page is not None
        return page

    assert REJECTED.encode() not in planned()
    soft_link(root / "TOMBSTONES.md")
    said = untouched(root, planned)
    (line,) = said.details
    assert line.startswith(f"{root / 'TOMBSTONES.md'}: is a symbolic link")


# --- what is not read elsewhere in the store


@pytest.mark.parametrize("how", UNREAD)
@pytest.mark.parametrize("name", ["claude-code", "memory-compiler"])
def test_what_is_not_read_elsewhere_is_named_and_the_write_goes_on(
    name: str, how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    (root / "aside.md").write_bytes(b"# Aside\n")
    make, why, way_out = UNREAD[how]
    make(root / "aside.md")
    told = Bridge(write=spec).remember("The bell is loud.")
    assert told.already == ""
    (problem,) = told.problems
    assert problem.store == spec
    assert problem.problem.startswith("aside.md: ")
    assert why in problem.problem
    assert way_out in problem.problem
    assert remember.run("The lock is blue.", write=spec, as_json=True) == 0
    said = capsys.readouterr()
    assert [p["problem"] for p in json.loads(said.out)["problems"]] == [problem.problem]
    assert "aside.md" in said.err
    if name == "claude-code":
        gone = Bridge(write=spec).forget(told.key, "no", yes=True)
        assert gone.problems == told.problems


# --- conversions


@pytest.mark.parametrize("how", UNREAD)
def test_a_conversion_writes_over_nothing_that_is_not_read(how: str, tmp_path: Path) -> None:
    source = stores.open_store(made("bantamkit", tmp_path / "source"))
    root = tmp_path / "store"
    spec = made("claude-code", root)
    make, why, way_out = UNREAD[how]
    make(root / "MEMORY.md")
    choices = Choices(carry=True, skip_refused=True)
    target = stores.open_store(spec)
    # the plan is what a dry run shows: it is refused as the run itself is
    said = untouched(root, lambda: convert.plan(source, target, choices, now=NOW))
    (line,) = said.details
    assert line.startswith(f"{root / 'MEMORY.md'}: ")
    assert why in line
    assert way_out in line


def test_what_became_unread_since_the_plan_is_refused_too(tmp_path: Path) -> None:
    source = stores.open_store(made("bantamkit", tmp_path / "source"))
    root = tmp_path / "store"
    spec = made("claude-code", root)
    choices = Choices(carry=True, skip_refused=True)
    target = stores.open_store(spec)
    planned = convert.plan(source, target, choices, now=NOW)
    soft_link(root / "MEMORY.md")
    before = bytes_of(root)
    with pytest.raises(InteropError, match=r"'MEMORY\.md' is no longer a regular file") as caught:
        convert.apply_plan(planned, source, target, choices)
    assert caught.value.exit_code == 3
    assert bytes_of(root) == before
