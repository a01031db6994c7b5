"""A bar for work that takes long, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

Step: TypeAlias = Callable[[str], None]
"""Told what is being done now."""


@contextmanager
def progress(what: str) -> Generator[Step | None]:
    """Give what the library reports its steps to, or None when nobody is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # slow to import, and only a person needs it
    from rich.progress import Progress

    # Transient: when the work is done the bar is gone, and short work hardly shows it.
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def step(now: str) -> None:
            bar.update(task, description=f"{what}: {now}")

        yield step
