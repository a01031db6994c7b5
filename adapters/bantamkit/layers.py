"""Where a project's store lies, by the runtime's own rules.

Spec: docs/formats/bantamkit.md, "Layers".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interop.adapter import Surroundings


def locate(surroundings: Surroundings) -> Sequence[Path]:
    """Give the pinned store, else the nearest one upwards, else the one that would be made."""
    pin = surroundings.env.get("BANTAMKIT_MEMORY_DIR", "").strip()
    if pin:
        if pin == "~" or pin.startswith("~/"):
            return (surroundings.home / pin[2:],)
        return (Path(pin),)
    start = surroundings.cwd
    for folder in (start, *start.parents):
        store = folder / ".bantamkit" / "memory"
        if surroundings.is_dir(store):
            return (store,)
    return (start / ".bantamkit" / "memory",)
