"""A short run of every fuzz target, and everything that fuzzing ever found.

The mutations are blind and the same ones every time, in plain Python: atheris, which follows the
branches of the code, is not needed here. ``make fuzz`` looks for more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import corpus
from fuzz.mutation import fuzz
from fuzz.targets import targets
from interop import registry

RUNS = 25
"""Mutations of each target, beside its seeds: the whole file takes about half a minute."""
SLOW = 600.0
"""Seconds of processor time that no input takes, however slow the machine is."""


@pytest.mark.parametrize("name", targets())
def test_a_short_run(name: str) -> None:
    target = targets()[name]
    seeds = target.seeds()
    assert seeds, "nothing to begin with"
    if name.startswith("convert-"):
        seeds = seeds[:3]  # the seeds are converted in other tests
    tried = fuzz(target.run, seeds, seed=name, runs=len(seeds) + RUNS, slow=SLOW)
    assert tried == len(seeds) + RUNS


@pytest.mark.parametrize(
    ("name", "case"),
    [(n, p) for n in targets() for p in corpus.found(n)],
    ids=lambda x: x.name if isinstance(x, Path) else x,
)
def test_what_was_found_stays_mended(name: str, case: Path) -> None:
    targets()[name].run(case.read_bytes())


def test_nothing_that_was_found_is_left_out() -> None:
    assert {p.name for p in corpus.FOUND.iterdir()} <= set(targets())


def test_every_format_takes_part() -> None:
    for name in registry.names():
        assert f"read-{name}" in targets()


def test_a_store_is_its_seed() -> None:
    files = {"MEMORY.md": b"- [a](a.md)\n", "b/\xc3\xa4.md".encode().decode(): b"\xff\x00\n"}
    assert corpus.unpack(corpus.pack(files)) == files
    assert corpus.unpack(b"\x1e../x\ny\x1e/etc\nz\x1ea\n1\x1ea/b\n2") == {"a/b": b"2"}
