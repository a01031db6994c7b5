"""Every command that writes, in every format, with an error or a crash at the steps it takes."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interop import registry
from interop.bridge import writing
from interop.disk import durable
from interop.errors import InteropError
from tests.faulting import ACTIONS, EVERY, Fail, Scene, crash, sample, steps, still

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a crash is a forked child that exits"),
]
CRASHES = 6
"""Steps at which a process dies, of each command in each format; INTEROP_EVERY_STEP=1: all."""
ERRORS = 3
SLOW = 3
"""How many times fewer of a format with a repository around it: every run runs git."""


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(writing, "moment", still())
    yield
    durable.fault = None


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    # In memory where there is such a place: a crash of a process loses nothing there either.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(os.path.realpath(name))


@pytest.fixture
def scene(request: pytest.FixtureRequest, memory: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    name, _ = request.param
    folder = Path(tempfile.mkdtemp(dir=memory))
    monkeypatch.setenv("INTEROP_STATE_DIR", str(folder / "state"))
    made = Scene(name=name, base=folder / "work", templates=folder / "kept")
    made.build()
    return made


EACH = [(name, action) for name in registry.names() for action in ACTIONS]
each = pytest.mark.parametrize(
    ("scene", "action"),
    [((name, action), action) for name, action in EACH],
    indirect=["scene"],
    ids=[f"{name}-{action}" for name, action in EACH],
)


def number(scene: Scene, of: int) -> int:
    return of if scene.adapter.host is None else of // SLOW


@each
def test_a_crash_leaves_a_store_that_the_next_command_makes_whole(
    scene: Scene, action: str, record_property: Callable[[str, object], None]
) -> None:
    start, act = ACTIONS[action]
    scene.restore(start)
    old, around = scene.seen(), scene.around()
    total = steps(lambda: act(scene))
    new = scene.seen()
    assert old != new
    assert scene.around() == around
    tried = sample(total, number(scene, CRASHES), f"{scene.name} {action}")
    record_property("steps", f"{len(tried)} of {total}")
    for at in tried:
        scene.restore(start)
        assert crash(lambda: act(scene), at)
        seen = scene.seen()
        for path in {*old, *new, *seen}:
            assert seen.get(path) in (old.get(path), new.get(path)), (at, path)
        scene.says_nothing_new_is_wrong(seen, old, new)
        read = scene.read()
        assert read in (old, new), at
        assert scene.seen() == seen, "reading writes nothing"
        follows = scene.follows()
        scene.next_command()
        # git may have heard of it already: files that all stood are left new
        read = new if follows else read
        assert scene.seen() == scene.read() == read, at
        assert scene.litter() == [], at
        assert scene.around() == around, at
        if read == old:
            act(scene)
            assert scene.seen() == new, at


@each
@pytest.mark.parametrize("forever", [False, True], ids=["once", "from-then-on"])
def test_a_full_disk_leaves_a_store_that_is_old_or_new(
    scene: Scene, action: str, forever: bool
) -> None:
    start, act = ACTIONS[action]
    scene.restore(start)
    old, around = scene.seen(), scene.around()
    total = steps(lambda: act(scene))
    new = scene.seen()
    said = 0
    seed = f"{scene.name} {action} {forever}"
    for at in sample(total, number(scene, ERRORS), seed):
        scene.restore(start)
        durable.fault = Fail(at, forever=forever)
        message, code = "", 5
        try:
            act(scene)
        except InteropError as error:
            message, code = str(error), error.exit_code
        finally:
            durable.fault = None
        seen = scene.seen()
        for path in {*old, *new, *seen}:
            assert seen.get(path) in (old.get(path), new.get(path)), (at, path)
        assert code == 5
        if message:
            said += 1
            assert os.strerror(errno.ENOSPC).lower() in message.lower(), message
            assert not forever or scene.read() in (old, new)
        scene.next_command()
        assert scene.seen() in (old, new), at
        if message and not forever:
            assert scene.seen() == old, at
        assert scene.litter() == [], at
        assert scene.around() == around, at
    assert said or not EVERY
