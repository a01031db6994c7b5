"""Dropping undo data for good, because a text in it is to be forgotten."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from interop.disk import single
from interop.disk.kept import Kept, kept
from interop.disk.recovery import drop


def undo_data(root: Path, tells: Callable[[Kept], bool]) -> int:
    """Drop every finished apply that keeps a displaced file of which ``tells`` says so.

    The caller holds the store's lock. What was applied before such an apply can then be undone only
    as far as nothing was written over it since.

    Returns:
        How many applies were dropped.

    Raises:
        OSError: the disk refused; what is still there is dropped by the next call.
    """
    real = Path(os.path.realpath(root))
    found = kept(real)
    if single.is_one(real):
        real = single.home(real)
    numbers = {
        int(one.place.split("/")[-2])
        for one in found
        if one.place.split("/")[-3] == "undo" and tells(one)
    }
    for number in sorted(numbers):
        drop(real, number)
    return len(numbers)
