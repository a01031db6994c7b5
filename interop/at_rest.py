"""What of a store lies on the disk: its files, its complement, and whether the two are of one time.

What this machine knows of a store is asked before the files are read. Who writes notes what it
wrote afterwards, and who takes back notes it before; so what is known is never newer than the
files, unless something else brought those.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from interop import complement_file
from interop.adapter import Adapter
from interop.complement import Complement
from interop.disk import single, state, tree
from interop.disk.state import Remembered
from interop.disk.tree import Tree
from interop.errors import FormatError
from interop.plan import COMPLEMENT
from interop.restore import stale


class AtRest(NamedTuple):
    """A store on the disk."""

    tree: Tree
    complement: Complement | None
    id: str
    doubts: tuple[str, ...] = ()
    """Why files and complement may not be of one time."""


def load(adapter: Adapter, root: Path, *, must_exist: bool = True) -> AtRest:
    """Read a store of a known format.

    Raises:
        FormatError: there is no such store, it changes faster than it can be read, or its
            complement is damaged or of another format.
    """
    if adapter.file is not None:
        found = single.load(root, adapter.file.path, missing_ok=not must_exist)
        complement = complement_of(adapter, found, root, must_exist=must_exist)
        # in one file the halves are always of one time, and another such file may take its place
        return AtRest(found, complement, known_id(root, found.complement) or uuid4().hex)
    where = f"{root}/{COMPLEMENT}"
    doubted: tuple[Remembered, bytes | None] | None = None
    for _ in range(_LOOKS):
        # before the files: who converts in between makes them newer than what is known of them
        known = state.remembered(root)
        found = tree.load(root, adapter.ignored, missing_ok=not must_exist)
        complement = complement_of(adapter, found, root, must_exist=must_exist)
        identity = known_id(root, found.complement) or uuid4().hex
        doubts = [f"{p} is older than the complement" for p in _stale(complement, found)]
        if known is None or not _behind(complement, found, known):
            return AtRest(found, complement, identity, tuple(doubts))
        if doubted != (known, found.complement):
            doubted = known, found.complement
            continue  # who undid in between made them older: a doubt is what two looks say alike
        if complement is not None:
            doubts.append(f"{where} is older than the one this machine wrote")
            return AtRest(found, complement, identity, tuple(doubts))
        # what its format cannot say is lost with it, and was not removed by anybody: taken as it
        # is, the store is another one, of which others know no last common state
        doubts.append(f"{where} is missing, and this store had one")
        return AtRest(found, complement, uuid4().hex, tuple(doubts))
    raise tree.moving(root)


_LOOKS = 10
"""Looks at a store that is not what is known of it, until two in a row say the same."""


def _stale(complement: Complement | None, found: Tree) -> Iterable[str]:
    return () if complement is None else stale(complement, found.files)


def _behind(complement: Complement | None, found: Tree, known: Remembered) -> bool:
    """Is a complement missing that this machine knows of, or older than that one?"""
    if complement is None:
        return bool(found.files) and known.complement
    return known.generation > complement.generation


def complement_of(
    adapter: Adapter, found: Tree, root: Path, *, must_exist: bool
) -> Complement | None:
    """Give a store's complement, if it has one.

    Raises:
        FormatError: it is damaged or of another format, or the one file of the store is no such
            file.
    """
    one = adapter.file
    where = f"{root}/{COMPLEMENT}" if one is None else f"{root}: its complement"
    if one is not None and (found.files or must_exist):
        why = one.check(found.files.get(one.path, b""))
        if why is not None:
            raise FormatError(str(root), why, "check the path, or put that line back")
    if found.complement is None:
        return None
    try:
        complement = complement_file.loads(found.complement, where)
    except FormatError as error:
        if one is None or not found.problems:
            raise
        said = found.problems[0].problem
        raise FormatError(str(root), said, "take it again where it came from") from error
    if complement.format != adapter.name:
        raise FormatError(
            where,
            f"belongs to a {complement.format} store",
            f"open it as {complement.format}:{root}",
        )
    return complement


def known_id(root: Path, kept: bytes | None) -> str | None:
    """Give the id that a store has by its complement, or as this machine remembers it."""
    stated = complement_file.store_of(kept) if kept is not None else None
    if stated is not None and not _is_copy(root, stated):
        return stated
    remembered = state.remembered(root)
    return remembered.id if remembered is not None else None


def _is_copy(root: Path, identity: str) -> bool:
    """Say whether a store is a copy of one that still stands elsewhere: it has a life of its own.

    A store that was moved is the same one; only this machine's memory can tell the two apart.
    """
    place = state.known_at(identity)
    if place is None or place == root.resolve():
        return False
    try:
        kept = complement_at(place)
    except FormatError:
        return False  # nothing stands there that could say that it is the original
    return kept is not None and complement_file.store_of(kept) == identity


def complement_at(place: Path) -> bytes | None:
    """Read the complement of what stands at a place, a folder or one file; None without one.

    Raises:
        FormatError: it cannot be read.
    """
    if not single.is_one(place):
        return tree.kept_complement(place)
    return single.load(place, "", missing_ok=True).complement


def generation_at(place: Path) -> int | None:
    """Give the generation of the complement that stands at a place; None without one.

    One that cannot be read has generation 0.
    """
    try:
        if not single.is_one(place):
            # it may be as large as the store's texts together, and its first line is enough
            start = tree.kept_complement(place, complement_file.START)
            known = complement_file.generation_in(start) if start is not None else None
            if start is None or known is not None:
                return known
        return complement_file.generation_of(complement_at(place))
    except FormatError:
        return 0
