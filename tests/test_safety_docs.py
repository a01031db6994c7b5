"""docs/safety.md promises what the code promises, and each test that it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from interop.disk import recovery, staging

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
PROMISE = (
    "every file is old or new at every instant",
    "the set of files is one or the other once interop has run on it again",
)


def test_the_promise_stands_in_its_own_words() -> None:
    said = PAGE.casefold()
    assert all(part in said for part in PROMISE)
    code = (ROOT / "interop" / "disk" / "__init__.py").read_text(encoding="utf-8")
    assert all(part in " ".join(code.split()) for part in PROMISE)


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 20
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in found, f"{path} has no {name}"


def test_the_bounds_are_those_of_the_code() -> None:
    assert f"The last {recovery.KEPT_SETS} writes" in PAGE
    assert f"{recovery.KEPT_BYTES // 1024 // 1024} MiB together" in PAGE
    assert f"only up to {staging.WROTE_BYTES // 1024 // 1024} MiB" in PAGE
    help_text = (ROOT / "cli" / "undo.py").read_text(encoding="utf-8")
    for said in ("INTEROP_UNDO_WRITES", "INTEROP_UNDO_MIB"):
        assert said in PAGE
        assert said in help_text
