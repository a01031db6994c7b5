"""The laws, measured on one real store: nothing is taken on trust, nothing is written.

``laws`` has GetPut and the rebuilding from nothing, ``editing`` the minimal edit, ``crossing`` the
way through another format and back, ``loss`` what each pair of formats keeps of each field. All of
it is done in memory.

Spec: docs/check.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from interop import registry
from interop.check.crossing import empty, placeholders, through
from interop.check.editing import SAMPLE, minimal_edit
from interop.check.laws import NOW, Law, Report, difference, get_put, put_get
from interop.errors import FormatError
from interop.stores import Opened

__all__ = [
    "NOW",
    "SAMPLE",
    "Law",
    "Report",
    "check",
    "difference",
    "empty",
    "get_put",
    "minimal_edit",
    "placeholders",
    "put_get",
    "through",
]


def check(
    store: Opened,
    via: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    sample: int | None = SAMPLE,
) -> Report:
    """Measure the laws on a store, and the way through other formats and back (all, or ``via``).

    ``sample`` is how many records are edited; None edits all of them.

    Raises:
        FormatError: the disk does not give some of the store's files, so nothing can be said of
            them.
    """
    unread = [f"{p.path}: {p.problem}" for p in store.tree.problems if p.unread]
    if unread:
        raise FormatError(
            store.label,
            "these cannot be read, so no law can be tried on them",
            "see to them, or move them out of the store",
            unread,
        )
    laws: list[Law] = []
    for name, law in _laws(store, via, sample).items():
        if progress is not None:
            progress(name)
        laws.append(_masked(law(), store))
    lines = tuple(f"{p.path}: {p.problem}" for p in store.raw.problems if p.unread)
    return Report(store=store.label, laws=tuple(laws), unread=lines)


def _masked(law: Law, store: Opened) -> Law:
    """Mask what a law repeats of a secret, also where a difference begins or ends within one."""
    if not law.difference and not law.note:
        return law
    from interop import secrets  # a law that holds mostly says nothing

    pieces = frozenset[str]()
    if law.difference:
        texts = [data.decode("utf-8", "replace") for data in store.tree.files.values()]
        pieces = secrets.pieces(t[s.start : s.end] for t in texts for s in secrets.find(t))
    return replace(
        law,
        difference=secrets.mask(law.difference, pieces),
        note=secrets.mask(law.note, pieces),
    )


def _laws(
    store: Opened, via: Sequence[str] | None, sample: int | None
) -> dict[str, Callable[[], Law]]:
    laws: dict[str, Callable[[], Law]] = {
        "GetPut": partial(get_put, store),
        "PutGet": partial(put_get, store),
        "minimal edit": partial(minimal_edit, store, sample),
    }
    others = [n for n in registry.names() if n != store.adapter.name]
    for name in others if via is None else via:
        laws[f"through {name}"] = partial(through, store, registry.get(name))
    return laws
