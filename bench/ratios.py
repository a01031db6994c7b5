"""What interop costs, as ratios to what one would compare it with: ``make bench``.

Ratios, not seconds: they mean nearly the same on another machine. Both sides of a ratio run in
turn, each time in a process of its own, so that a busy moment hits both; the medians are compared.
Nothing is asserted, as a timed test fails on a busy machine: a row over its goal says so.

    make bench ARGS='read diff --size 1000'      some rows, smaller stores
    make bench ARGS='growth --upto 100000'       how the cost grows with the number of records
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from bench import samples
from bench.recall import recall
from tests import peers

MEMLINK = "1.0.11"
BANTAMKIT = "0.36.2"
CHECKED = 1000
ROOT = Path(__file__).parents[1]
JOBS = ROOT / "bench" / "jobs.py"
KINDS = "untyped=project"

BARE_APP = """
import typer
app = typer.Typer(add_completion=False)
@app.command()
def hello(name: str = "bikes"): print(name)
@app.command()
def other(name: str = "bikes"): print(name)
app()
"""


class Measured(NamedTuple):
    """What one run of a job took."""

    seconds: float
    megabytes: float


class Line(NamedTuple):
    """One line of the table."""

    what: str
    ours: str
    other: str
    measured: float
    goal: float
    unit: str = "x"
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Is the goal reached?"""
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal


class Bench:
    """A place to work in, with its stores, and how often everything runs."""

    def __init__(self, work: Path, size: int, runs: int, time: str) -> None:
        self.work, self.size, self.runs, self.time = work, size, runs, time
        self.env = {
            **os.environ,
            "INTEROP_STATE_DIR": str(work / "state"),
            "INTEROP_LIMITS": "files=1000000,store=4G",  # 100,000 records are over the usual ones
        }
        self._fresh = 0

    @cache  # noqa: B019  # one Bench lives as long as the process
    def store(self, name: str, count: int) -> Path:
        """Give a sample store, made at its first use; it is not to be changed."""
        root = self.work / f"{name}-{count}"
        samples.make(name, root, count)
        return root

    def fresh(self) -> Path:
        """Give a path at which nothing is."""
        self._fresh += 1
        return self.work / f"fresh-{self._fresh}"

    def copy(self, root: Path) -> Path:
        """Give a copy of a store."""
        target = self.fresh()
        shutil.copytree(root, target)
        return target

    def job(self, *words: object, python: Path | str = sys.executable) -> Measured:
        """Run a job of ``jobs.py`` in a process of its own."""
        command = [str(python), str(JOBS), *map(str, words)]
        done = subprocess.run(command, stdout=subprocess.PIPE, env=self.env, check=True)
        said: dict[str, float] = json.loads(done.stdout)
        return Measured(said[self.time], said["megabytes"])

    def command(self, *words: object) -> Measured:
        """Run a command from its start to its end; its output goes nowhere."""
        start = time.perf_counter()
        worked = _worked()
        quiet = subprocess.DEVNULL
        subprocess.run([*map(str, words)], stdout=quiet, stderr=quiet, env=self.env, check=True)
        took = {"seconds": time.perf_counter() - start, "processor": _worked() - worked}
        return Measured(took[self.time], 0)

    def compare(
        self, what: str, goal: float, ours: Run, other: Run, *, runs: int = 0, faster: bool = False
    ) -> Line:
        """Run both in turn; ``faster``: we are to be so much faster, not at most so much slower."""
        pairs = [(ours().seconds, other().seconds) for _ in range(runs or self.runs)]
        one = statistics.median(p[0] for p in pairs)
        two = statistics.median(p[1] for p in pairs)
        ratio = two / one if faster else one / two
        return Line(what, _seconds(one), _seconds(two), ratio, goal, at_least=faster)


def _worked() -> float:
    """Give the processor time of all processes that ran and ended."""
    used = os.times()
    return used.children_user + used.children_system


Run = Callable[[], Measured]
Row = Callable[[Bench], Iterator[Line]]


def _seconds(value: float) -> str:
    return f"{value:.3f} s"


def reading(bench: Bench) -> Iterator[Line]:
    """Read stores into the model, against a scan that only reads the files."""
    for name, goal in (("claude-code", 4), ("bantamkit", 6), ("memhtml", 8)):
        root = bench.store(name, bench.size)
        yield bench.compare(
            f"read {name} / scan and read the files",
            goal,
            partial(bench.job, "read", name, root),
            partial(bench.job, "bare_read", root),
        )


def bantamkit(bench: Bench) -> Iterator[Line]:
    """Read facts, against bantamkit's own reader."""
    root = bench.store("bantamkit", bench.size)
    python = peers.python_of(BANTAMKIT)
    yield bench.compare(
        f"read bantamkit: faster than bantamkit {BANTAMKIT}",
        5,
        lambda: bench.job("read", "bantamkit", root),
        lambda: bench.job("bantamkit_read", root, python=python),
        runs=min(3, bench.runs),
        faster=True,
    )


def diff(bench: Bench) -> Iterator[Line]:
    """Compare stores, against hashing the files of both."""
    one = bench.store("claude-code", bench.size)
    twin, changed = bench.copy(one), bench.copy(one)
    samples.change(changed, 100)
    specs = [f"claude-code:{root}" for root in (one, twin, changed)]
    yield bench.compare(
        "diff of equal stores / hash the files of both",
        3,
        lambda: bench.job("diff", specs[0], specs[1]),
        lambda: bench.job("bare_hash", one, twin),
    )
    yield bench.compare(
        "diff with 100 records changed / of equal stores",
        1.3,
        lambda: bench.job("diff", specs[0], specs[2]),
        lambda: bench.job("diff", specs[0], specs[1]),
    )


def convert(bench: Bench) -> Iterator[Line]:
    """Convert into a new store, against writing the same bytes; and again, against a diff."""
    one = bench.store("claude-code", bench.size)
    twin, done = bench.copy(one), bench.fresh()
    source, target = f"claude-code:{one}", f"bantamkit:{done}"
    bench.job("convert", source, target)

    def bare(*how: object) -> Measured:
        return bench.job("bare_write", done, bench.fresh(), *how)

    same = (8, "push") if sys.platform == "linux" else (8,)
    for what, how in (("the same way", same), ("8 at once", (8,)), ("one by one", (1,))):
        yield bench.compare(
            f"convert into a new store / write and fsync its bytes, {what}",
            2,
            lambda: bench.job("convert", source, f"bantamkit:{bench.fresh()}"),
            partial(bare, *how),
        )
    yield bench.compare(
        "convert again, nothing changed / diff of equal stores",
        1.5,
        lambda: bench.job("convert", source, target),
        lambda: bench.job("diff", source, f"claude-code:{twin}"),
    )


def check(bench: Bench) -> Iterator[Line]:
    """Prove the laws on a store and on one with four times as many records."""
    for name in samples.MAKERS:
        small, large = (bench.store(name, n) for n in (CHECKED // 4, CHECKED))
        yield bench.compare(
            f"check {name}, {CHECKED:,} records / {CHECKED // 4:,}",
            4.4,
            partial(bench.job, "check", f"{name}:{large}"),
            partial(bench.job, "check", f"{name}:{small}"),
            runs=1,
        )


def start(bench: Bench) -> Iterator[Line]:
    """Start, do next to nothing and end, against a bare typer application."""
    app = bench.work / "app.py"
    app.write_text(BARE_APP, encoding="utf-8")
    small = bench.store("claude-code", 10)
    # where no bytecode is written (PYTHONDONTWRITEBYTECODE), each start would compile what changed
    for code in ("interop", "adapters", "cli"):
        compileall.compile_dir(ROOT / code, quiet=2)
    for words in (("--version",), ("show", small), ("show", f"claude-code:{small}")):
        shown = " ".join(str(w) for w in words).replace(str(small), "STORE")
        yield bench.compare(
            f"interop {shown} / a bare typer app",
            1.5,
            partial(bench.command, _interop(), *words),
            partial(bench.command, sys.executable, app, "hello"),
            runs=15,
        )


def memory(bench: Bench) -> Iterator[Line]:
    """Give the most memory that a process has at once."""
    one = bench.store("claude-code", bench.size)
    twin = bench.copy(one)
    source, target = f"claude-code:{one}", f"bantamkit:{bench.fresh()}"
    jobs: dict[str, tuple[object, ...]] = {
        "diff of equal stores": ("diff", source, f"claude-code:{twin}"),
        "convert into a new store": ("convert", source, target),
        "convert again": ("convert", source, target),
    }
    for what, words in jobs.items():
        peak = bench.job(*words).megabytes
        goal = 150 * max(1, bench.size / 10_000)
        yield Line(f"peak memory, {what}", f"{peak:.0f} MB", "", peak, goal, "MB")


def memlink(bench: Bench) -> Iterator[Line]:
    """Convert the same files, against memlink-bridge; and how many come back as they were."""
    one = bench.store("claude-code", bench.size)
    python = peers.python_of(MEMLINK, "memlink-bridge")
    source = f"claude-code:{one}"
    yield bench.compare(
        f"convert: faster than memlink-bridge {MEMLINK}",
        10,
        lambda: bench.job("convert", source, f"bantamkit:{bench.fresh()}"),
        lambda: bench.job("memlink_convert", one, bench.fresh(), python=python),
        runs=min(3, bench.runs),
        faster=True,
    )
    done = bench.fresh()
    bench.job("convert", source, f"bantamkit:{done}")
    yield bench.compare(
        f"convert again: faster than memlink-bridge {MEMLINK} again",
        10,
        lambda: bench.job("convert", source, f"bantamkit:{done}"),
        lambda: bench.job("memlink_convert", one, bench.fresh(), python=python),
        runs=min(3, bench.runs),
        faster=True,
    )
    yield bench.compare(
        f"plan the same: faster than memlink-bridge {MEMLINK} writes",
        10,
        lambda: bench.job("plan", source, f"bantamkit:{bench.fresh()}"),
        lambda: bench.job("memlink_convert", one, bench.fresh(), python=python),
        runs=min(3, bench.runs),
        faster=True,
    )
    there, back, theirs, again = (bench.fresh() for _ in range(4))
    bench.job("convert", source, f"bantamkit:{there}")
    bench.job("convert", f"bantamkit:{there}", f"claude-code:{back}")
    bench.job("memlink_convert", one, theirs, python=python)
    bench.job("memlink_convert", theirs, again, python=python)
    ours, other = _identical(one, back), _identical(one, again / "notes")
    every = sum(p.is_file() for p in one.rglob("*"))
    what = "files that are byte-identical after there and back"
    yield Line(what, f"{ours:,}", f"{other:,}", ours, every, "files", at_least=True)


def _identical(one: Path, other: Path) -> int:
    places = ((p, other / p.relative_to(one)) for p in one.rglob("*") if p.is_file())
    return sum(q.is_file() and p.read_bytes() == q.read_bytes() for p, q in places)


ROWS: Mapping[str, Row] = {
    row.__name__: row
    for row in (reading, bantamkit, diff, convert, check, start, recall, memory, memlink)
}
"""Each a function that yields the lines of its rows; a new one goes here."""


def growth(bench: Bench, upto: int) -> None:
    """Print how time and memory grow with the number of records."""
    sizes = [n for n in (100, 1000, 10_000, 100_000) if n <= upto]
    print(f"{'':24}" + "".join(f"{n:>20,}" for n in sizes))
    for what, job in _growing().items():
        cells: list[str] = []
        for size in sizes:
            found = job(bench, size)
            cells.append(f"{found.seconds:10.2f} s {found.megabytes:5.0f} MB")
        print(f"{what:24}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def _growing() -> dict[str, Callable[[Bench, int], Measured]]:
    def read(name: str, bench: Bench, size: int) -> Measured:
        return bench.job("read", name, bench.store(name, size))

    def compared(bench: Bench, size: int) -> Measured:
        one = f"claude-code:{bench.store('claude-code', size)}"
        return bench.job("diff", one, f"claude-code:{_twin(bench, size)}")

    def converted(bench: Bench, size: int) -> Measured:
        one = f"claude-code:{bench.store('claude-code', size)}"
        return bench.job("convert", one, f"bantamkit:{bench.work / f'converted-{size}'}")

    # the second time finds the work done
    jobs: dict[str, Callable[[Bench, int], Measured]]
    jobs = {f"read {name}": partial(read, name) for name in samples.MAKERS}
    jobs |= {"diff": compared, "convert": converted, "convert again": converted}
    return jobs


@cache
def _twin(bench: Bench, size: int) -> Path:
    return bench.copy(bench.store("claude-code", size))


def _interop() -> Path:
    return Path(sys.executable).with_name("interop")


def _shown(line: Line) -> str:
    number = f"{line.measured:,.1f}" if line.unit == "x" else f"{line.measured:,.0f}"
    bound = f"{'≥' if line.at_least else '≤'} {line.goal:,g}"
    verdict = "" if line.met else "   MISSED"
    figures = f"{line.ours:>10} {line.other:>10} {number:>8} {line.unit:5}"
    return f"{line.what:54} {figures} {bound:>9}{verdict}"


def main(words: Sequence[str] | None = None) -> None:
    """Print the rows that are asked for, or all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=_Help)
    options.add_argument("rows", nargs="*", help=f"{', '.join(ROWS)} or growth; all but the last")
    options.add_argument("--size", type=int, default=10_000, help="records in a store")
    options.add_argument("--runs", type=int, default=5, help="of each side of a ratio")
    options.add_argument(
        "--processor", action="store_true", help="compare processor time: for a busy machine"
    )
    options.add_argument("--upto", type=int, default=10_000, help="records at the end of growth")
    asked = options.parse_args(words)
    unknown = set(asked.rows) - {*ROWS, "growth"}
    if unknown:
        options.error(f"no such row: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary:
        took = "processor" if asked.processor else "seconds"
        bench = Bench(Path(temporary), asked.size, asked.runs, took)
        names = asked.rows or list(ROWS)
        if names != ["growth"]:
            print(f"{asked.size:,} records, median of {asked.runs} runs, each process by itself\n")
            print(f"{'':54} {'interop':>10} {'other':>10} {'measured':>8} {'':5} {'goal':>9}")
        for name in names:
            if name == "growth":
                growth(bench, asked.upto)
                continue
            try:
                for line in ROWS[name](bench):
                    print(_shown(line), flush=True)
            except (subprocess.CalledProcessError, peers.PeerError) as error:
                print(f"{name}: {error}", file=sys.stderr)


_Help = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    main()
