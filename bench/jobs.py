"""One job in a process of its own: how long it took, and what memory it had at most.

    python bench/jobs.py read claude-code PATH      prints {"seconds": 0.4, "megabytes": 96, …}

Only the job is timed, not the start of Python and not the imports; those have a row of their own.
Each job imports what it needs itself, so that the runtimes compared with run here in their own
environments.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

NOW = "2026-11-30T12:00:00.000Z"


def bare_read(root: str) -> Callable[[], object]:
    """Scan a directory and read every file, and no more."""

    def job() -> None:
        for _, data in _files(root):
            len(data)

    return job


def bare_hash(*roots: str) -> Callable[[], object]:
    """Hash every file of two stores."""

    def job() -> None:
        for root in roots:
            for _, data in _files(root):
                hashlib.sha256(data).digest()

    return job


def bare_write(source: str, target: str, at_once: str, push: str = "") -> Callable[[], object]:
    """Write the files of a store and force them to the disk, in the order that interop does it in.

    All of them are written beside their places, then forced, so many at once, then renamed, then
    the directories are forced. With ``push`` the system is told to begin with all of them, as
    interop tells it.
    """
    library = ctypes.CDLL(None, use_errno=True) if push else None
    files = [(os.path.relpath(path, source), data) for path, data in _files(source)]

    def job() -> None:
        beside = os.path.join(target, "staging")
        folders = {os.path.dirname(os.path.join(target, path)) for path, _ in files}
        for folder in (beside, *sorted(folders)):
            os.makedirs(folder, exist_ok=True)
        drafts = [os.path.join(beside, str(n)) for n in range(len(files))]
        for draft, (_, data) in zip(drafts, files, strict=True):
            with open(draft, "xb") as file:
                file.write(data)
        if library is not None:
            fd = os.open(drafts[0], os.O_RDONLY)
            Thread(target=library.syncfs, args=(fd,), daemon=True).start()
        with ThreadPoolExecutor(int(at_once)) as pool:
            for _ in pool.map(_force, drafts):
                pass
        for draft, (path, _) in zip(drafts, files, strict=True):
            os.rename(draft, os.path.join(target, path))
        for folder in folders:
            _force(folder)

    return job


def _force(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def read(name: str, root: str) -> Callable[[], object]:
    """Read a store into the model."""
    from interop import registry
    from interop.disk import tree

    adapter = registry.get(name)

    def job() -> object:
        return len(adapter.read(tree.load(Path(root), adapter.ignored).files).records)

    return job


def diff(one: str, other: str) -> Callable[[], object]:
    """Compare two stores."""
    from interop import diff as comparing
    from interop import registry, stores

    for spec in (one, other):
        registry.get(spec.partition(":")[0])

    def job() -> object:
        found = comparing.diff(*stores.open_beside(one, other))
        return len(found.changes)

    return job


def plan(source: str, target: str, *kinds: str) -> Callable[[], object]:
    """Plan the same, down to every byte that would be written; nothing is."""
    from interop import convert as converting
    from interop import registry, stores
    from interop.choices import Choices
    from interop.kinds import parse_kind_map

    for spec in (source, target):
        registry.get(spec.partition(":")[0])
    choices = Choices(kind_map=parse_kind_map(",".join(kinds)))

    def job() -> object:
        here, there = stores.open_store(source), stores.open_store(target, must_exist=False)
        return len(converting.plan(here, there, choices, now=NOW).changes)

    return job


def convert(source: str, target: str, *kinds: str) -> Callable[[], object]:
    """Write one store's memory into another."""
    from interop import convert as converting
    from interop import registry, settled, stores
    from interop.choices import Choices
    from interop.kinds import parse_kind_map

    for name in ("interop.disk.lock", "interop.disk.transaction", "filelock", "platformdirs"):
        importlib.import_module(name)  # what a conversion imports late is no part of the job
    for spec in (source, target):
        registry.get(spec.partition(":")[0])
    choices = Choices(kind_map=parse_kind_map(",".join(kinds)))

    def job() -> object:
        if settled.plan(source, target, choices) is not None:
            return 0
        here, there = stores.open_store(source), stores.open_store(target, must_exist=False)
        plan = converting.plan(here, there, choices, now=NOW)
        converting.apply_plan(plan, here, there, choices)
        return len(plan.changes)

    return job


def check(spec: str) -> Callable[[], object]:
    """Prove the laws on a store, through every format."""
    from interop import check as checking
    from interop import stores

    def job() -> object:
        report = checking.check(stores.open_store(spec))
        return report.ok

    return job


def bantamkit_read(root: str) -> Callable[[], object]:
    """Read a store with bantamkit's own reader; runs in its environment."""
    store: Any = importlib.import_module("bantamkit.memory.store").MemoryStore(Path(root))

    def job() -> object:
        return len(store._facts())

    return job


def memlink_convert(root: str, target: str) -> Callable[[], object]:
    """Convert Markdown with headers by memlink-bridge, into its own kind of Markdown."""
    reader: Any = importlib.import_module("memlink.generic_reader").GenericReader()
    writer: Any = importlib.import_module("memlink.generic_writer").GenericWriter()

    def job() -> object:
        writer.write(reader.read(Path(root)).memories, Path(target))
        return None

    return job


def _files(root: str) -> Iterator[tuple[str, bytes]]:
    todo = [root]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in ("staging", "undo"):
                        todo.append(entry.path)
                else:
                    with open(entry.path, "rb", buffering=0) as file:
                        yield entry.path, file.read()


def megabytes() -> float:
    """Give the most memory that this process has had at once."""
    status = Path("/proc/self/status")
    if status.exists():  # what the system counts for a process takes in what began it
        said = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(said["VmHWM"].split()[0]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


JOBS: dict[str, Callable[..., Callable[[], object]]] = {
    f.__name__: f
    for f in (
        bare_read, bare_hash, bare_write, read, diff, plan, convert, check, bantamkit_read,
        memlink_convert,
    )
}  # fmt: skip


def main() -> None:
    """Run the job that is named, and print what was measured."""
    gc.set_threshold(200_000, 20, 100)  # as the command does
    job = JOBS[sys.argv[1]](*sys.argv[2:])
    start, worked = time.perf_counter(), time.process_time()
    said = job()
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    found = {"seconds": seconds, "processor": worked, "megabytes": megabytes(), "said": said}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
