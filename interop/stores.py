"""Opening a store: which format it has, what its files say, and what its complement adds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from interop import complement as complements
from interop import registry
from interop.adapter import Adapter, Surroundings
from interop.complement import Complement
from interop.disk import state, tree
from interop.disk.tree import Tree
from interop.errors import FormatError, UsageError
from interop.model import Store
from interop.plan import COMPLEMENT
from interop.rendering import seen
from interop.restore import Restored, can_hold, restore, stale


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A format that a folder looks like, and why."""

    format: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A store as it is now."""

    label: str
    """How to name it to a person: ``claude-code:PATH``."""
    root: Path
    adapter: Adapter
    tree: Tree
    raw: Store
    """What its own format says."""
    seen: Store
    """The same, with what is rendered as a memory seen as what it is."""
    complement: Complement | None
    restored: Restored
    """What it says once its complement is taken into account."""
    doubts: tuple[str, ...] = ()
    """Why its complement may not belong to its files (a sync brought one half)."""

    @property
    def empty(self) -> bool:
        """Is there no file at all, and none that interop put there once?"""
        return not self.tree.files and self.complement is None


def parse(spec: str) -> tuple[str | None, str]:
    r"""Split ``FORMAT:PATH``; only a registered name is a format, so ``C:\store`` is a path."""
    head, colon, rest = spec.partition(":")
    if colon and head in registry.names():
        return head, rest
    return None, spec


def detect(path: Path) -> list[Detection]:
    """Say which formats a folder looks like.

    Raises:
        FormatError: there is no such folder.
    """
    files = tree.peek(path, lambda _: False)
    found = ((a.name, a.detect(files)) for a in registry.adapters())
    return [Detection(format=name, reason=why) for name, why in found if why is not None]


def open_store(spec: str, *, must_exist: bool = True) -> Opened:
    """Open a store named by the user.

    Raises:
        UsageError: more than one format fits, or the format has no store of its own here.
        FormatError: there is no such folder, no format fits, or its complement is damaged.
    """
    root = root_of(spec, existing=must_exist)
    name = parse(spec)[0] or _detected(root, must_exist=must_exist)
    return load(registry.get(name), root, must_exist=must_exist)


def root_of(spec: str, *, existing: bool = True) -> Path:
    """Give the root of a store named by the user, without looking at what stands there.

    Of the places that a format reads, the first that exists; to write (``existing`` false), the
    one that its runtime writes.
    """
    name, text = parse(spec)
    if name is not None and not text:
        return locate(registry.get(name), surroundings(), existing=existing)
    return Path(text).expanduser()


def load(adapter: Adapter, root: Path, *, must_exist: bool = True) -> Opened:
    """Open a store of a known format."""
    found = tree.load(root, adapter.ignored, missing_ok=not must_exist)
    where = f"{root}/{COMPLEMENT}"
    complement = None
    if found.complement is not None:
        complement = complements.loads(found.complement, where)
        if complement.format != adapter.name:
            raise FormatError(
                where,
                f"belongs to a {complement.format} store",
                f"open it as {complement.format}:{root}",
            )
    remembered = state.remembered(root)
    if complement is not None and not _is_copy(root, complement.store):
        identity = complement.store
    else:
        identity = remembered.id if remembered is not None else uuid4().hex
    doubts: list[str] = []
    if complement is None and found.files and remembered is not None and remembered.complement:
        doubts.append(f"{where} is missing, and this store had one")
    if complement is not None:
        doubts += (f"{p} is older than the complement" for p in stale(complement, found.files))
        if remembered is not None and remembered.generation > complement.generation:
            doubts.append(f"{where} is older than the one this machine wrote")
    return assemble(adapter, root, found, complement, identity, tuple(doubts))


def _is_copy(root: Path, identity: str) -> bool:
    """Say whether a store is a copy of one that still stands elsewhere: it has a life of its own.

    A store that was moved is the same one; only this machine's memory can tell the two apart.
    """
    place = state.known_at(identity)
    if place is None or place == root.resolve():
        return False
    original = place / COMPLEMENT
    return original.is_file() and complements.store_of(original.read_bytes()) == identity


def assemble(
    adapter: Adapter,
    root: Path,
    found: Tree,
    complement: Complement | None,
    identity: str,
    doubts: tuple[str, ...] = (),
) -> Opened:
    """Put an opened store together from its parts; nothing is read from the disk."""
    read = adapter.read(found.files)
    raw = Store(
        format=adapter.name,
        records=read.records,
        carried=read.carried,
        problems=(*read.problems, *found.problems),
        id=identity,
    )
    through = seen(raw, adapter)
    return Opened(
        label=f"{adapter.name}:{root}",
        root=root,
        adapter=adapter,
        tree=found,
        raw=raw,
        seen=through,
        complement=complement,
        restored=restore(through, complement, found.files, adapter, holds),
        doubts=doubts,
    )


def holds(format_name: str, field: str) -> bool:
    """Say whether a format can state a field; an unknown format is taken to hold everything."""
    if format_name not in registry.names():
        return True
    return can_hold(registry.get(format_name), field)


def locate(adapter: Adapter, around: Surroundings, *, existing: bool = True) -> Path:
    """Give the place where a format keeps the store of the present project.

    The first of its places is the one that its runtime writes.

    Raises:
        UsageError: the format has no such place.
    """
    places = adapter.locate(around) if adapter.locate is not None else ()
    for place in places if existing else ():
        if around.is_dir(place):
            return place
    if places:
        return places[0]
    raise UsageError(f"{adapter.name}: has no place of its own here", f"give {adapter.name}:PATH")


def surroundings(env: Mapping[str, str] | None = None) -> Surroundings:
    """Give the working directory, home and environment that location rules look at."""
    return Surroundings(
        cwd=Path.cwd(),
        home=Path.home(),
        env=os.environ if env is None else env,
        read_text=_read_text,
        is_dir=Path.is_dir,
    )


def carried_off(root: Path) -> str | None:
    """Say what would carry the store's files to other machines: git, or a sync tool's folder."""
    for folder in (root, *root.absolute().parents):
        if (folder / ".git").exists():
            return f"the git repository {folder}"
        if folder.name.split(" ")[0] in _SYNCED or (folder / ".stfolder").exists():
            return f"the sync folder {folder}"
    return None


_SYNCED = {"Dropbox", "OneDrive", "Nextcloud", "iCloudDrive", "GoogleDrive", "Syncthing"}


def _detected(root: Path, *, must_exist: bool) -> str:
    if not root.exists():
        known = ", ".join(f"{n}:" for n in registry.names())
        remedy = "" if must_exist else f"say which format to create, one of {known}"
        if must_exist:
            raise FormatError(str(root), "no such folder", "check the path")
        raise UsageError(f"{root} does not exist", remedy)
    kept = root / COMPLEMENT
    stated = complements.format_of(kept.read_bytes()) if kept.is_file() else None
    if stated in registry.names():
        return stated or ""
    found = detect(root)
    if len(found) == 1:
        return found[0].format
    if not found:
        raise FormatError(
            str(root),
            "looks like no format that interop knows",
            f"name it, e.g. {registry.names()[0]}:{root}",
        )
    could = "; ".join(f"{d.format}: {d.reason}" for d in found)
    raise UsageError(f"{root}: could be more than one format ({could})", "name it as FORMAT:PATH")


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
