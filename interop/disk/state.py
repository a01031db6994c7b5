"""What interop remembers of stores on this machine, outside the stores.

One JSON file, ``stores.json``, in the user's state directory (``INTEROP_STATE_DIR`` names another).
It is a memory aid only: a broken one counts as empty, and nothing depends on it but the notice that
a store has lost its complement.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import orjson

from interop.model import Json

WAIT = 5.0
"""Seconds to wait for another interop that is writing the same file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What was known of a store when interop last wrote it or read it."""

    id: str
    generation: int
    complement: bool
    """Did it have a complement?"""


def directory() -> Path:
    """Give interop's own state directory, which may not be there yet."""
    if stated := os.environ.get("INTEROP_STATE_DIR"):
        return Path(stated)
    from platformdirs import user_state_dir  # not at the top, for the sake of start-up

    return Path(user_state_dir("interop"))


def make(folder: Path) -> None:
    """Make a folder in the state directory, and those it lies in: each is its owner's alone.

    Raises:
        OSError: it cannot be made.
    """
    own = directory()
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    for part in reversed([folder, *folder.parents]):
        if own in part.parents:
            part.mkdir(exist_ok=True, mode=0o700)


def remembered(root: Path) -> Remembered | None:
    """Give what this machine knows of a store; None when that is nothing, or cannot be read."""
    entry = _load(directory() / "stores.json").get(_name(root))
    if not isinstance(entry, dict):
        return None
    store_id, generation, complement = (
        entry.get("id"),
        entry.get("generation"),
        entry.get("complement"),
    )
    if (
        not isinstance(store_id, str)
        or not isinstance(generation, int)
        or isinstance(generation, bool)
        or not isinstance(complement, bool)
    ):
        return None
    return Remembered(id=store_id, generation=generation, complement=complement)


def known_at(store_id: str) -> Path | None:
    """Give the folder that a store with this id was last seen in, as far as this machine knows."""
    for place, entry in _load(directory() / "stores.json").items():
        if isinstance(entry, dict) and entry.get("id") == store_id:
            return Path(place)
    return None


def remember(
    root: Path,
    store_id: str,
    generation: int,
    complement: bool,
    *,
    stands: Callable[[], int | None] | None = None,
) -> bool:
    """Note what a store is; False when the state directory cannot be written.

    Args:
        root: the store.
        store_id: its id.
        generation: that of its complement, 0 without one.
        complement: does it have one?
        stands: gives the generation of the complement that stands on the disk, None without one.
            Needed of whoever no longer holds the store's lock: what is noted would be newer than
            the store where it was taken back meanwhile. Asked while nobody else can note anything.
    """
    from filelock import FileLock  # not at the top, for the sake of start-up

    folder = directory()
    try:
        make(folder)
        with FileLock(folder / "stores.lock", timeout=WAIT, mode=0o600):
            path = folder / "stores.json"
            stores = dict(_load(path))
            if stands is not None:
                there = stands()
                generation = min(generation, there or 0)
                complement = complement and there is not None
            stores[_name(root)] = {
                "id": store_id,
                "generation": generation,
                "complement": complement,
            }
            _save(path, stores)
    except OSError:
        return False
    return True


def _name(root: Path) -> str:
    # JSON has no place for a path that is not UTF-8; shown so, it still names one store.
    return os.fsencode(os.path.realpath(root)).decode("utf-8", "backslashreplace")


def _load(path: Path) -> Mapping[str, Json]:
    try:
        data = cast("Json", orjson.loads(path.read_bytes()))
    except (OSError, orjson.JSONDecodeError):
        return {}
    return data if isinstance(data, dict) else {}


def _save(path: Path, stores: Mapping[str, Json]) -> None:
    """Replace the file in one step; the lock is held, so the draft's name is free or a leftover."""
    draft = path.with_name("stores.new")
    with suppress(FileNotFoundError):
        os.unlink(draft)
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(orjson.dumps(stores, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
