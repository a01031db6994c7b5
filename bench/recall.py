"""Searching from the command line, warm, against the start of a bare typer application."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.ratios import Bench, Line


def recall(bench: Bench) -> Iterator[Line]:
    """Start, search the indexed records, print ten of them, and end."""
    from bench.ratios import BARE_APP

    app = bench.work / "app.py"
    app.write_text(BARE_APP, encoding="utf-8")
    root = bench.store("claude-code", bench.size)
    program = Path(sys.executable).with_name("interop")
    words = (program, "recall", "pump", "--json", "--read", f"claude-code:{root}")
    bench.env["INTEROP_CACHE_DIR"] = str(bench.work / "cache")
    bench.command(*words)  # the first search makes the index
    yield bench.compare(
        "interop recall --json, warm / a bare typer app",
        3,
        lambda: bench.command(*words),
        lambda: bench.command(sys.executable, app, "hello"),
        runs=15,
    )
