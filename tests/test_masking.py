"""No output that quotes what is wrong with a store says a secret of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from interop import digest, discovery, registry, stores
from interop.bridge import Bridge
from interop.bridge.results import Answer, StoreProblem
from interop.disk.tree import Tree
from interop.model import Files, Problem, Store
from interop.secrets import MASK

ROOT = Path(__file__).parents[1]
KEY = "AKIA" + "Q3EGRZ7XKPLM2VNT"
TABLE = f"""| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |
|---|---|---|---|---|---|---|
| T-1 | dock.count | 8 | 9 | 2026-08-01 | counted again | survey |
| {KEY} | short |
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a store with a row that is no record, and whose problem quotes it."""
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"INTEROP_{name}_DIR", str(tmp_path / name.lower()))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "TOMBSTONES.md").write_text(TABLE, encoding="utf-8")
    return f"memory-compiler:{tmp_path / 'shop'}"


def shell(*args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "interop.cli.main", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=os.environ,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "check {store} --via jsonl",
        "check {store} --via jsonl --json",
        "convert {store} {other}",
        "convert {store} {other} --json",
        "convert {other} {store}",
        "diff {store} {other}",
        "diff {store} {other} --json",
        "export {store} --to {other}",
        "hook session-start --read {store}",
        "hook session-start --read {store} --json",
        "lint {store}",
        "lint {store} --json",
        "recall docks --read {store}",
        "recall docks --read {store} --json",
        "show {store}",
        "show {store} --json",
    ],
)
def test_what_is_wrong_is_said_without_the_secret(command: str, store: str, tmp_path: Path) -> None:
    other = f"jsonl:{tmp_path / 'other.jsonl'}"
    if command.startswith(("diff", "convert {other}")):
        shell("convert", store, other)
    said = shell(*(word.format(store=store, other=other) for word in command.split()))
    assert "Usage:" not in said
    assert KEY not in said
    assert KEY[4:12] not in said
    if "{other}" not in command:
        assert MASK in said, "and that something is wrong is still said"


def test_what_show_prints_of_the_records_is_the_user_s_own(store: str, tmp_path: Path) -> None:
    table = TABLE.replace("counted again", f"the key {KEY} is gone")
    (tmp_path / "shop" / "TOMBSTONES.md").write_text(table, encoding="utf-8")
    for line in shell("show", store, "--json").splitlines():
        try:
            item = json.loads(line)
        except json.JSONDecodeError:
            continue
        assert (KEY in line) == ("problem" not in item), item


def test_a_piece_of_a_secret_is_masked_too() -> None:
    """A problem may quote the beginning of a line, or its end."""
    honest = registry.get("claude-code")
    for said in (KEY[:15], KEY[9:], KEY):
        problem = Problem(path="a.md", problem=f"cannot read {said!r}", unread=True)

        def read(files: Files, problem: Problem = problem) -> Store:
            return Store(format="claude-code", problems=(problem,))

        tree = Tree(files={"a.md": f"Upload: {KEY}.".encode()}, complement=None, problems=())
        opened = stores.assemble(replace(honest, read=read), Path("x"), tree, None, "x")
        (told,) = opened.restored.store.problems
        assert told == Problem(path="a.md", problem=f"cannot read {MASK!r}", unread=True)


def test_answers_to_agents_say_none(store: str) -> None:
    answer = Bridge(read=[store]).records()
    assert answer.problems
    for problem in answer.problems:
        assert KEY not in str(problem)
        assert KEY not in json.dumps(problem.to_json())


def test_an_error_that_quotes_one_is_masked_in_answers(store: str) -> None:
    """Also one that an older interop has kept in its index."""
    problem = StoreProblem(store="@van", problem=f"line 3: {KEY}", remedy=f"see {KEY}")
    assert str(problem) == f"@van: line 3: {MASK}; see {MASK}"
    assert KEY not in json.dumps(problem.to_json())
    made = digest.of_answer(Answer(found=()), digest.BUDGET, problems=[f"settings: {KEY}"])
    assert made.problems == (f"settings: {MASK}",)
    assert MASK in made.text
    assert KEY not in made.text


def test_a_glance_says_none(store: str, tmp_path: Path) -> None:
    (tmp_path / "shop" / ".interop").mkdir()
    (tmp_path / "shop" / ".interop" / "complement").write_bytes(
        f'{{"type":"complement","version":1,"{KEY}":'.encode()
    )
    seen = discovery.glance(f"memory-compiler:{tmp_path / 'shop'}")
    assert seen.problem is not None
    assert KEY not in seen.problem
    away = discovery.glance(f"memory-compiler:{tmp_path / KEY}")
    assert away.problem is not None
    assert KEY not in away.problem
