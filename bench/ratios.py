"""What interop costs, as ratios to the bare thing, measured in one run: ``make bench``.

Ratios, not seconds: they mean the same on another machine. Nothing is asserted; a timed test would
fail on a busy machine.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

MEMORIES = 10_000
RUNS = 5
STARTS = 21

BARE_APP = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str = "bikes"): print(name)
@app.command()
def other(name: str = "bikes"): print(name)
app()
"""

BARE_READ = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            sys.stdout.buffer.write(file.read())
"""

SENTENCE = "The bike in bay {n} wants its chain oiled on Mondays, before the shop opens. "


def claude_code(root: Path) -> None:
    """Make a memory directory of so many memories, each in its file and in the index."""
    root.mkdir()
    lines: list[str] = []
    for n in range(MEMORIES):
        head = (
            f"---\nname: bay-{n:05}\ndescription: What bay {n} needs\nmetadata:\n"
            f"  node_type: memory\n  type: project\n---\n\n"
        )
        (root / f"bay-{n:05}.md").write_text(_padded(head, n), encoding="utf-8")
        lines.append(f"- [Bay {n}](bay-{n:05}.md) — what bay {n} needs\n")
    (root / "MEMORY.md").write_text("".join(lines), encoding="utf-8")


def bantamkit(root: Path) -> None:
    """Make a bantamkit store of so many facts, with its index."""
    (root / "facts").mkdir(parents=True)
    (root / "archive").mkdir()
    lines: list[str] = []
    for n in range(MEMORIES):
        head = f"---\nname: bay-{n:05}\ndescription: What bay {n} needs\ntype: project\n---\n"
        (root / "facts" / f"bay-{n:05}.md").write_text(_padded(head, n), encoding="utf-8")
        lines.append(f"- bay-{n:05} (project): What bay {n} needs\n")
    (root / "index.md").write_text("".join(lines), encoding="utf-8")


def _padded(head: str, n: int) -> str:
    """Fill a file up to one kilobyte."""
    text = head + SENTENCE.format(n=n) * 20
    return text[:1023].rstrip() + "\n"


def seconds(command: Sequence[str | Path]) -> float:
    """Time one run of a command, whose output goes nowhere."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def compare(
    ours: Sequence[str | Path], bare: Sequence[str | Path], runs: int
) -> tuple[float, float]:
    """Give the median times of both, run in turn, so that a busy moment hits both."""
    pairs = [(seconds(ours), seconds(bare)) for _ in range(runs)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def report(what: str, times: tuple[float, float], goal: int) -> None:
    """Print one ratio."""
    ours, bare = times
    print(f"{what:48} {ours:7.3f} s  {bare:7.3f} s  {ours / bare:6.1f} x   (at most {goal})")


def main() -> None:
    """Print every ratio."""
    interop = Path(sys.executable).with_name("interop")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        app, read = work / "app.py", work / "read.py"
        app.write_text(BARE_APP, encoding="utf-8")
        read.write_text(BARE_READ, encoding="utf-8")
        print(f"{'':48} {'interop':>9}  {'bare':>9}  {'ratio':>6}")
        times = compare([interop, "--version"], [sys.executable, app, "hello"], STARTS)
        report("interop --version / a bare typer app", times, 2)
        for name, make in (("claude-code", claude_code), ("bantamkit", bantamkit)):
            store = work / name
            make(store)
            ours: list[str | Path] = [interop, "show", "--json", f"{name}:{store}"]
            times = compare(ours, [sys.executable, read, store], RUNS)
            report(f"show {MEMORIES:,} {name} memories / a bare read", times, 12)


if __name__ == "__main__":
    main()
