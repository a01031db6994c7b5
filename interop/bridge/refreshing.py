"""Bringing an index up to date: which stores have changed since, and what they say now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from interop.bridge import index as indexes
from interop.bridge.index import Changes, Index, Known, Seen, Touched
from interop.bridge.places import Place, own_formats, problem_of
from interop.bridge.results import StoreProblem
from interop.disk import stamp as stamps
from interop.errors import FormatError, InteropError
from interop.plan import COMPLEMENT, digest

if TYPE_CHECKING:
    from interop.disk.stamp import Stamp
    from interop.stores import Opened

_TRIES = 5


class Refresh:
    """What has changed since an index was made; each store is read at most once."""

    def __init__(self, places: Sequence[Place], to_write: str | None) -> None:
        self.places = places
        self._to_write = to_write
        self.errors: dict[int, InteropError] = {}
        """Stores that cannot be read now."""
        self._read: dict[int, Seen] = {}

    def changes(self, index: Index | None) -> Changes:
        """Say what is to be changed in an index; with none, everything is."""
        changes = Changes()
        known = index.known if index is not None else {}
        for n, place in enumerate(self.places):
            self._look(index, n, place, known.get(n), changes)
        for n in list(changes.read):
            ties = indexes.tie_of(changes.read[n])
            for m, other in known.items():
                if m not in changes.read and m not in changes.gone:
                    before = n in known and indexes.linked(
                        (known[n].id, known[n].related), (other.id, other.related)
                    )
                    if before or indexes.linked(ties, (other.id, other.related)):
                        # what links the two has to be found anew
                        self._open(m, self.places[m], changes, was_known=True)
        return changes

    def problems(self, index: Index) -> Iterator[StoreProblem]:
        """Name the stores, and the files of stores, that could not be read."""
        for n, place in enumerate(self.places):
            if n in self.errors:
                yield problem_of(place.name, self.errors[n])
            elif n in index.known:
                yield from indexes.problems_of(index.known[n], place.name)

    def _look(
        self, index: Index | None, n: int, place: Place, known: Known | None, changes: Changes
    ) -> None:
        if n in self._read:
            changes.read[n] = self._read[n]
            return
        stamp = stamps.take(place.root, known.ignored if known is not None else frozenset())
        if stamp is None and place.anchor == self._to_write and place.is_stated:
            if known is not None:
                changes.gone.add(n)  # it is made with the first thing that is written
        elif stamp is None:
            self.errors[n] = FormatError(
                str(place.root),
                "there is no such folder",
                f"{place.name} is the store of the present project, which has none"
                if place.of_project
                else "check the path",
            )
            if known is not None:
                changes.gone.add(n)
        elif known is None or index is None or not _reads_so_still(known):
            self._open(n, place, changes, was_known=known is not None)
        elif not stamp.steady or not known.stamp:
            self._open(n, place, changes, was_known=True)
        elif stamp.digest() == known.stamp and not known.racy:
            pass
        else:
            before = indexes.files_of(index, n)
            if not _says_the_same(place.root, stamp, known, before):
                self._open(n, place, changes, was_known=True)
            elif stamp.digest() != known.stamp or len(stamp.racy) < len(known.racy):
                changes.touched[n] = Touched(
                    stamp=stamp.digest(),
                    taken=stamp.taken,
                    racy=stamp.racy,
                    entries={
                        path: entry
                        for path, entry in stamp.entries.items()
                        if before[path][0] != entry
                    },
                )

    def _open(self, n: int, place: Place, changes: Changes, *, was_known: bool) -> None:
        if n not in self._read and n not in self.errors:
            try:
                self._read[n] = _read(place)
            except InteropError as error:
                self.errors[n] = error
            except OSError as error:
                said = (error.strerror or str(error)).lower()
                self.errors[n] = FormatError(str(place.root), f"cannot be read ({said})")
        if n in self._read:
            changes.read[n] = self._read[n]
            changes.touched.pop(n, None)
        elif was_known:
            changes.gone.add(n)


def _read(place: Place) -> Seen:
    """Read a store between two equal looks at its entries."""
    from interop import stores

    for attempt in range(_TRIES):
        before = stamps.take(place.root)
        opened = stores.open_store(place.anchor)
        ignored = _ignored(before, opened)
        after = stamps.take(place.root, ignored)
        steady = before is not None and after is not None and before.steady and after.steady
        entries = {p: e for p, e in before.entries.items() if p not in ignored} if before else {}
        same = steady and after is not None and entries == after.entries
        if same or attempt == _TRIES - 1:
            return Seen(
                opened=opened,
                stamp=after.digest() if same and after is not None else b"",
                taken=before.taken if before is not None else 0,
                racy=tuple(p for p in before.racy if p in entries) if before is not None else (),
                entries=entries,
                digests=_digests(opened),
                ignored=ignored,
                problems=tuple(_unread(opened)),
            )
    raise AssertionError("the last try returns")


def _ignored(stamp: Stamp | None, opened: Opened) -> frozenset[str]:
    """Give the files that are no part of a store: its runtime's databases and caches."""
    if stamp is None:
        return frozenset()
    named = {problem.path for problem in opened.tree.problems}
    return frozenset(
        path
        for path in stamp.entries
        if path not in opened.tree.files
        and path not in named
        and path
        and not path.startswith(".interop/")
        and not path.endswith("/")
    )


def _digests(opened: Opened) -> dict[str, str]:
    out = {path: digest(data) for path, data in opened.tree.files.items()}
    if opened.tree.whole is not None:
        return {"": opened.tree.whole}
    if opened.tree.complement is not None:
        out[COMPLEMENT] = digest(opened.tree.complement)
    return out


def _unread(opened: Opened) -> Iterator[tuple[str, str]]:
    for problem in opened.restored.store.problems:
        if problem.unread:
            yield f"{problem.path}: {problem.problem}", ""
    for doubt in opened.doubts:
        yield f"files and complement are not of one time: {doubt}", "bring both halves together"


def _says_the_same(
    root: Path, stamp: Stamp, known: Known, before: Mapping[str, tuple[str, str | None]]
) -> bool:
    """Look at the bytes of the files that may have changed."""
    if stamp.entries.keys() != before.keys() or stamp.writing:
        return False
    doubtful = set(known.racy) | {p for p, e in stamp.entries.items() if before[p][0] != e}
    return all(
        before[path][1] is not None and stamps.digest_of(root, path) == before[path][1]
        for path in doubtful
    )


def _reads_so_still(known: Known) -> bool:
    """Is the format's reader the one that read the store? Our own are part of the index's code."""
    if known.format in own_formats():
        return True
    from interop import registry

    return known.format in registry.names() and registry.get(known.format).spec == known.spec
