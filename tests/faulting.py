"""Steps of the disk that fail or kill, and what is asked of a store afterwards."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from interop import registry, stores
from interop.adapter import Adapter
from interop.bridge import Bridge
from interop.choices import Choices
from interop.convert import apply_plan, plan
from interop.disk import durable, layout, single
from interop.disk.journal import read as read_journal
from interop.disk.tree import scan
from interop.plan import COMPLEMENT
from tests.samples import GOLDEN

Bytes = dict[str, bytes]
NOW = "2026-11-30T12:00:00.000Z"
CRASHED = 42
EVERY = bool(os.environ.get("INTEROP_EVERY_STEP"))
"""Try every single step, not a sample; minutes, not seconds."""
KIND = {"bantamkit": "project", "memhtml": "semantic"}
"""What a format demands."""


@dataclass
class Scene:
    """A store of some format, another one that was converted into it, and what lies around."""

    name: str
    base: Path
    templates: Path

    @property
    def adapter(self) -> Adapter:
        return registry.get(self.name)

    @property
    def root(self) -> Path:
        return self.base / ("store" if self.adapter.file is None else "store.jsonl")

    @property
    def spec(self) -> str:
        return f"{self.name}:{self.root}"

    def build(self) -> None:
        """Make the store, convert a source into it, and let the source move on."""
        self.base.mkdir()
        case = GOLDEN / self.name / "basic" / "store"
        if self.adapter.file is None:
            shutil.copytree(case, self.root)
        else:
            shutil.copy(next(p for p in case.iterdir() if p.is_file()), self.root)
        if self.name == "memhtml":
            git(self.root, "init", "--quiet", "-b", "main")
            git(self.root, "add", "--all")
            git(self.root, "commit", "--quiet", "--message", "as it was")
        beside = self.base / "beside"
        beside.mkdir()
        (beside / "notes.md").write_text("Not a memory: bikes are checked on Mondays.\n")
        (beside / "link").symlink_to("notes.md")
        source = self.base / "source"
        source.mkdir()
        for n in range(4):
            note(source, f"rack-{n}", f"Rack {n} holds {n + 3} bikes of the fleet.")
        self.convert()
        note(source, "rack-1", "Rack 1 holds nothing at all: it is being repaired.")
        note(source, "pump", "The big pump stands behind the counter.")
        (source / "rack-3.md").unlink()
        self.keep("start")
        self.convert()
        self.keep("converted")
        self.restore("start")

    def keep(self, label: str) -> None:
        shutil.copytree(self.base, self.templates / label, symlinks=True)
        shutil.copytree(state(), self.templates / f"{label}-state", symlinks=True)

    def restore(self, label: str) -> None:
        """Put everything back at its place, what interop remembers of it too."""
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.copytree(self.templates / label, self.base, symlinks=True)
        shutil.rmtree(state(), ignore_errors=True)
        shutil.copytree(self.templates / f"{label}-state", state(), symlinks=True)

    def convert(self) -> None:
        here = stores.open_store(f"claude-code:{self.base / 'source'}")
        there = stores.open_store(self.spec)
        terms = {"project": KIND["memhtml"]} if self.name == "memhtml" else {}
        choices = Choices(
            kind_map=terms,
            delete=True,
            skip_refused=True,
            secrets="allow",
        )
        apply_plan(plan(here, there, choices, now=NOW), here, there, choices)

    def undo(self) -> None:
        from interop.undoing import undo

        undo(self.root)

    def remember(self) -> None:
        words = "Spare tubes lie in the third drawer of the bench."
        name = "tubes" if self.name == "bantamkit" else None
        Bridge(write=self.spec).remember(
            words, kind=KIND.get(self.name), name=name, secrets="allow"
        )

    def forget(self) -> None:
        keys = [r.key for r in stores.open_store(self.spec).raw.records if r.role == "memory"]
        key = min(keys, key=lambda k: "rack" not in k.lower())
        # where nothing is archived, a tombstone says which value was wrong
        rejected = "rack of old" if self.name == "memory-compiler" else None
        Bridge(write=self.spec).forget(key, "it was sold", yes=True, rejected=rejected)

    def next_command(self) -> None:
        """Do what every command that writes does first; nothing else."""
        from interop import applying

        with applying.locked(self.root, "look", 5.0):
            pass

    def seen(self) -> Bytes:
        """Give what a program finds that knows nothing of interop, and the complement."""
        if self.adapter.file is not None:
            return {"store": self.root.read_bytes()} if self.root.exists() else {}
        tree = scan(self.root, self.adapter.ignored)
        assert not tree.problems
        kept = {} if tree.complement is None else {COMPLEMENT: tree.complement}
        return {**tree.files, **kept}

    def read(self) -> Bytes:
        """Give what interop reads, whatever is under way."""
        if self.adapter.file is not None:
            return self.seen()
        tree = stores.open_store(self.spec).tree
        kept = {} if tree.complement is None else {COMPLEMENT: tree.complement}
        return {**tree.files, **kept}

    def follows(self) -> bool:
        """Did it die while what is around the files followed?"""
        pending = layout.journal(self.root)
        if self.adapter.host is None or not pending.exists():
            return False
        return os.path.lexists(layout.note(self.root, read_journal(pending).number))

    def around(self) -> dict[str, bytes | str]:
        """Give everything but the store, links as what they say."""
        out: dict[str, bytes | str] = {}
        for path in sorted(self.base.rglob("*")):
            if path == self.root or self.root in path.parents:
                continue
            if path.parent == self.base and path.name.startswith(".interop-"):
                continue  # on its way into the file; asked of as litter
            name = path.relative_to(self.base).as_posix()
            out[name] = (
                os.readlink(path)
                if path.is_symlink()
                else path.read_bytes()
                if path.is_file()
                else "folder"
            )
        return out

    def litter(self) -> list[str]:
        """List what no finished write leaves."""
        home = self.root if self.adapter.file is None else single.home(self.root)
        found = [str(p) for p in self.base.glob(".interop-*")]
        if os.path.lexists(layout.journal(home)):
            found.append("journal")
        found += (f"staging/{n}" for n in layout.numbers(home, "staging"))
        for n in layout.numbers(home, "undo"):
            if not layout.manifest(home, n).exists():
                found.append(f"undo/{n}")
        known = {"complement", "lock", "holder", "staging", "undo"}
        found += sorted(p.name for p in layout.own(home).iterdir() if p.name not in known)
        return found

    def says_nothing_new_is_wrong(self, seen: Bytes, old: Bytes, new: Bytes) -> None:
        """Read a prefix of the writes as its format does: no record that neither side has."""

        def read(files: Bytes) -> tuple[set[object], set[str]]:
            own = {p: b for p, b in files.items() if p != COMPLEMENT}
            if self.adapter.file is not None:
                own = dict(zip([self.adapter.file.path], own.values(), strict=False))
            got = self.adapter.read(own)
            wrong = {f"{p.path}: {p.problem}" for p in got.problems}
            wrong |= {
                f"{f.code} {f.path}" for f in self.adapter.lint(own, got) if f.severity == "error"
            }
            return {r.key for r in got.records}, wrong

        keys, wrong = read(seen)
        before, was = read(old)
        after, then = read(new)
        assert keys <= before | after
        assert keys >= before & after
        assert wrong <= was | then


ACTIONS: Mapping[str, tuple[str, Callable[[Scene], None]]] = {
    "convert": ("start", Scene.convert),
    "undo": ("converted", Scene.undo),
    "remember": ("start", Scene.remember),
    "forget": ("start", Scene.forget),
}
"""Command -> the state that it starts from, and the command."""


def note(folder: Path, name: str, text: str) -> None:
    """Write a Claude Code memory of a source."""
    (folder / f"{name}.md").write_text(
        f"---\nname: {name}\ndescription: About {name}\nmetadata:\n  type: project\n---\n\n{text}\n"
    )


def state() -> Path:
    """Give the state directory of the test."""
    return Path(os.environ["INTEROP_STATE_DIR"])


def git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def still(moment: str = NOW) -> Callable[[], str]:
    """Give a clock that stands still, so that every run writes the same bytes."""
    return lambda: moment


def steps(action: Callable[[], None]) -> int:
    """Count the calls of the seam in a clean run."""
    seen: list[str] = []
    durable.fault = lambda when, operation, path: seen.append(operation)
    try:
        action()
    finally:
        durable.fault = None
    return len(seen)


def sample(total: int, number: int, seed: str) -> list[int]:
    """Choose steps: the first, the last, and others spread over all of them."""
    if EVERY or total <= number:
        return list(range(total))
    chance = random.Random(seed)
    width = total / number
    middle = {int(n * width + chance.random() * width) for n in range(number)}
    return sorted({0, total - 1, *middle})


class Fail:
    """Refuse the step with a number, or all from there on, as a full disk does."""

    def __init__(self, at: int, *, forever: bool) -> None:
        self.left = at
        self.forever = forever

    def __call__(self, when: str, operation: str, path: Path) -> None:
        self.left -= 1
        if self.left == -1 or (self.forever and self.left < 0):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def crash(action: Callable[[], None], at: int) -> bool:
    """Run in a child that dies at a step, without any handler; False if it got to its end."""
    child = os.fork()
    if child == 0:
        left = at

        def die(when: str, operation: str, path: Path) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                os._exit(CRASHED)

        durable.fault = die
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, CRASHED)
    return code == CRASHED
