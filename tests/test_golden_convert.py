"""Conversions that a person can read: golden/convert/<case>/ has the choices, plan and files.

``case.json`` says which golden store goes where and what was decided; ``plan.txt`` is what the
command line prints, ``result/`` what then stands at the destination, complement included.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from interop import registry
from interop.choices import Choices
from interop.cli.plan_text import explain
from interop.convert import after, plan
from interop.disk.tree import Tree
from interop.plan import COMPLEMENT
from interop.stores import Opened, assemble
from tests.samples import GOLDEN, golden_samples

NOW = "2026-09-01T08:30:00.000Z"
CASES = sorted(p for p in (GOLDEN / "convert").glob("*") if p.is_dir())


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_conversion(case: Path, request: pytest.FixtureRequest) -> None:
    said = orjson.loads((case / "case.json").read_bytes())
    text, files = converted(said)
    if request.config.getoption("--update-golden"):
        shutil.rmtree(case / "result", ignore_errors=True)
        for path, data in files.items():
            (case / "result" / path).parent.mkdir(parents=True, exist_ok=True)
            (case / "result" / path).write_bytes(data)
        (case / "plan.txt").write_text(text, encoding="utf-8")
    assert (case / "plan.txt").read_text("utf-8") == text
    there = {
        p.relative_to(case / "result").as_posix(): p.read_bytes()
        for p in (case / "result").rglob("*")
        if p.is_file()
    }
    assert there == files


def test_there_are_cases() -> None:
    assert CASES


def converted(said: dict[str, Any]) -> tuple[str, dict[str, bytes]]:
    """Convert in memory: through every store that the case names, the last one counts."""
    source = next(s for s in golden_samples() if s.id == f"golden/{said['from']}").opened("source")
    choices = Choices(
        kind_map=said.get("kind_map", {}),
        decisions=said.get("decisions", {}),
        carry=said.get("carry", False),
        skip_refused=said.get("skip_refused", False),
    )
    text, here = "", named(source, said["from"])
    for n, name in enumerate(said["to"]):
        there = blank(name, f"store-{n}")
        found = plan(here, there, choices, now=NOW)
        text = "\n".join(explain(found)) + "\n"
        here = after(found, there)
    kept = here.tree.complement
    return text, {**here.tree.files, **({COMPLEMENT: kept} if kept is not None else {})}


def blank(name: str, identity: str) -> Opened:
    tree = Tree(files={}, complement=None, problems=())
    return assemble(registry.get(name), Path(f"/nowhere/{identity}"), tree, None, identity)


def named(store: Opened, name: str) -> Opened:
    """Give the store a root that is the same on every machine."""
    return assemble(store.adapter, Path(name), store.tree, None, store.raw.id)
