"""What stands in a store and is not read: nothing is planned over it, and nothing passed over.

A store is read without the files that cannot be read, or may not be: a link, a pipe, what the
system refuses, what is beyond a limit. In a plan such a file would count as one that is not there.
So no change may name its place; and where it could hold tombstones nothing new is stated, since
they cannot be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interop.adapter import Adapter, Context, path_of
from interop.errors import FormatError
from interop.model import Problem, Store, Tombstone
from interop.plan import FileChange
from interop.stores import Opened


def check_places(store: Opened, changes: Iterable[FileChange]) -> None:
    """Refuse changes of what was not read when they were planned.

    Raises:
        FormatError: naming every such file, with the way out.
    """
    paths = [change.path for change in changes]
    met = [p for p in store.tree.problems if any(_covers(p, path) for path in paths)]
    _refuse(store, met, "what would be written stands there and cannot be read")


def check_stones(store: Opened) -> None:
    """Refuse a store in which a file that could state tombstones of its own was not read.

    Raises:
        FormatError: naming it, with the way out.
    """
    problems = store.tree.problems
    if not problems or "tombstone" not in store.adapter.roles:
        return
    held = _stones_at(store.adapter)
    met = [p for p in problems if held is None or any(_covers(p, path) for path in held)]
    _refuse(store, met, "what is rejected here cannot be read, so no text can be compared with it")


def unread(store: Opened) -> Iterator[str]:
    """Name what was not read of a store, a line each, with the way out where there is one."""
    once = dict.fromkeys((p.path, p.problem) for p in store.tree.problems)
    once |= dict.fromkeys((p.path, p.problem) for p in store.raw.problems if p.unread)
    yield from (f"{path}: {_with_way_out(problem)}" for path, problem in once)


def _refuse(store: Opened, met: Iterable[Problem], why: str) -> None:
    one = store.adapter.file is not None
    lines = [
        f"{store.root if one else store.root / p.path}: {_with_way_out(p.problem)}" for p in met
    ]
    if lines:
        raise FormatError(
            store.label, f"{why}; nothing was written", "see to it, and run this again", lines
        )


def _covers(problem: Problem, path: str) -> bool:
    """Is this path what was not read, or below it?"""
    return problem.path in (".", path) or path.startswith(f"{problem.path}/")


def _with_way_out(problem: str) -> str:
    """Give a problem with what can be done about it, unless it says so itself."""
    if "; " in problem:
        return problem
    if problem.startswith("cannot be read"):
        return f"{problem}; give yourself permission (chmod u+r, of a folder u+rx)"
    return f"{problem}; move it away"


def _stones_at(adapter: Adapter) -> frozenset[str] | None:
    """Give the files in which a format states tombstones; None where it does not say.

    Measured: one is written into a store that is empty, and read back.
    """
    stone = Tombstone(
        key="#tombstone", subject="a price", rejected="a former price", date="2000-01-01",
        reason="it rose",
    )  # fmt: skip
    put = Store(format=adapter.name, records=(stone,))
    written = adapter.write(put, {}, Context(now="2000-01-01T00:00:00.000Z"))
    read = adapter.read(written.files).records
    found = frozenset(path_of(r.key) for r in read if isinstance(r, Tombstone))
    return found or None
