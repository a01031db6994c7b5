"""Opening a store: which format it has, what its files say, and what its complement adds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from uuid import uuid4

from interop import at_rest, complement_file, registry
from interop.adapter import Adapter, Surroundings
from interop.complement import Complement
from interop.disk import listing, single, stream, tree
from interop.disk.tree import Tree
from interop.errors import FormatError, UsageError
from interop.model import Files, Problem, Store
from interop.plan import COMPLEMENT, digest
from interop.rendering import seen
from interop.restore import Restored, can_hold, restore


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A format that a folder or a file looks like, and why."""

    format: str
    reason: str


def _nothing() -> Mapping[str, bytes | None]:
    return {}


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
    stream: bool = False
    """Is it read from stdin, or to be written to stdout? Then it has no place."""
    around: Callable[[], Mapping[str, bytes | None]] = _nothing
    """What its host would lay out around its files with the first change (``Host.lays_out``)."""

    @property
    def empty(self) -> bool:
        """Is there no file at all, and none that interop put there once?"""
        return not self.tree.files and self.complement is None


def parse(spec: str) -> tuple[str | None, str]:
    r"""Split ``FORMAT:PATH``; only a registered name is a format, so ``C:\store`` is a path.

    ``@NAME`` is what the user has named so.

    Raises:
        UsageError: no store has that name.
        FormatError: the user's settings cannot be read.
    """
    if spec.startswith("@"):
        from interop import config  # settings that most commands never read

        spec = config.spec_of(spec)
    head, colon, rest = spec.partition(":")
    if colon and registry.has(head):
        return head, rest
    return None, spec


def detect(path: Path) -> list[Detection]:
    """Say which formats a folder or a file looks like.

    Raises:
        FormatError: there is no such folder.
    """
    if _is_file(path):
        return detect_file(single.read(path) or b"")
    files = tree.peek(path, lambda _: False)
    found = ((a.name, a.detect(files)) for a in registry.adapters() if a.file is None)
    return [Detection(format=name, reason=why) for name, why in found if why is not None]


def detect_file(data: bytes) -> list[Detection]:
    """Say which formats a file looks like that says this."""
    found = [
        (a.name, a.detect({a.file.path: data})) for a in registry.adapters() if a.file is not None
    ]
    return [Detection(format=name, reason=why) for name, why in found if why is not None]


def open_store(spec: str, *, must_exist: bool = True) -> Opened:
    """Open a store named by the user.

    Raises:
        UsageError: more than one format fits, or the format has no store of its own here.
        FormatError: there is no such folder, no format fits, or its complement is damaged.
    """
    if is_stream(spec):
        return _from_stdin(spec)
    adapter, root = place(spec, must_exist=must_exist)
    return load(adapter, root, must_exist=must_exist)


def open_damaged(spec: str) -> Opened:
    """Open a store to look at it only: one whose complement is damaged is read without it.

    What is wrong with the complement is among the problems of the store.

    Raises:
        UsageError, FormatError: as ``open_store``; of a complement only where it came from stdin.
    """
    try:
        return open_store(spec)
    except FormatError as error:
        if is_stream(spec):
            raise  # it is read once
        adapter, root = place(spec)
        one = adapter.file
        found = single.load(root, one.path) if one else tree.load(root, adapter.ignored)
        if found.complement is None or (one and one.check(found.files.get(one.path, b""))):
            raise
        if one is None or not found.problems:  # of a file that was cut off that is said already
            said = Problem(path=COMPLEMENT, problem=error.problem, unread=True)
            found = replace(found, problems=(*found.problems, said))
        return assemble(adapter, root, found, None, at_rest.known_id(root, None) or uuid4().hex)


def place(spec: str, *, must_exist: bool = True) -> tuple[Adapter, Path]:
    """Give the format and the root of a store named by the user, without reading it.

    Raises:
        UsageError: more than one format fits, or the format has no store of its own here.
        FormatError: there is no such folder, or no format fits.
    """
    root = root_of(spec, existing=must_exist)
    name = parse(spec)[0] or _detected(root, must_exist=must_exist)
    return registry.get(name), root


def root_of(spec: str, *, existing: bool = True) -> Path:
    """Give the root of a store named by the user, without looking at what stands there.

    Of the places that a format reads, the first that exists; to write (``existing`` false), the
    one that its runtime writes.
    """
    name, text = parse(spec)
    if name is not None and not text:
        return locate(registry.get(name), surroundings(), existing=existing)
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # what a path says of a home that there is not
        raise UsageError(f"{text}: there is no such user here", "write the path out") from error


def is_stream(spec: str) -> bool:
    """Is stdin or stdout meant: ``-``, or ``FORMAT:-`` where such a store is one file?"""
    name, text = parse(spec) if spec.endswith("-") else (None, "")
    return text == "-" and (name is None or registry.get(name).file is not None)


def to_stdout(spec: str, source: Opened) -> Opened:
    """Give the empty store that is to be written to stdout, a new one of ``source``.

    What is written so of one store counts as one store, whenever it is: there is no place by which
    it could be known again.
    """
    name = parse(spec)[0] or _streamed()
    adapter = registry.get(name)
    identity = digest(f"{name} of {source.raw.id}".encode())[:32]
    found = Tree(files={}, complement=None, problems=())
    return replace(assemble(adapter, Path("-"), found, None, identity), stream=True)


def _from_stdin(spec: str) -> Opened:
    data = stream.take()
    name = parse(spec)[0]
    if name is None:
        found = detect_file(data)
        name = found[0].format if found else _streamed()
    adapter = registry.get(name)
    assert adapter.file is not None
    tree = single.tree_of(data, adapter.file.path)
    complement = at_rest.complement_of(adapter, tree, Path("-"), must_exist=True)
    identity = complement.store if complement is not None else uuid4().hex
    return replace(assemble(adapter, Path("-"), tree, complement, identity), stream=True)


def _streamed() -> str:
    """Give the format that a stream has where none is named."""
    return next(a.name for a in registry.adapters() if a.file is not None)


def open_beside(one: str, other: str) -> tuple[Opened, Opened]:
    """Open two stores that are to be compared: what is the same in both is read once.

    Raises:
        UsageError, FormatError: as ``open_store``.
    """
    if is_stream(one) or is_stream(other):
        return open_store(one), open_store(other)
    (a, here), (b, there) = place(one), place(other)
    if a is not b or a.beside is None:
        return load(a, here), load(b, there)
    left, right = at_rest.load(a, here), at_rest.load(b, there)
    said = a.beside(left[0].files, right[0].files)
    return assemble(a, here, *left, said=said[0]), assemble(b, there, *right, said=said[1])


def load(adapter: Adapter, root: Path, *, must_exist: bool = True) -> Opened:
    """Open a store of a known format."""
    opened = assemble(adapter, root, *at_rest.load(adapter, root, must_exist=must_exist))
    if adapter.host is None:
        return opened
    return replace(opened, around=partial(adapter.host.lays_out, root))


def assemble(
    adapter: Adapter,
    root: Path,
    found: Tree,
    complement: Complement | None,
    identity: str,
    doubts: tuple[str, ...] = (),
    *,
    said: Store | None = None,
) -> Opened:
    """Put an opened store together from its parts; nothing is read from the disk.

    ``said`` is what ``adapter.read`` gives of the files, if it has been read already.
    """
    read = adapter.read(found.files) if said is None else said
    raw = Store(
        format=adapter.name,
        records=read.records,
        carried=read.carried,
        problems=_masked((*read.problems, *found.problems), found.files),
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


def _masked(problems: tuple[Problem, ...], files: Files) -> tuple[Problem, ...]:
    """Mask what problems repeat of a secret, also where it was cut to an excerpt.

    They quote what could not be read, and go where no record goes: into errors, logs and answers.
    """
    if not problems:
        return ()
    from interop import secrets  # most stores have no problem

    pieces: dict[str, frozenset[str]] = {}
    for path in {p.path for p in problems} & files.keys():
        text = files[path].decode("utf-8", "replace")
        pieces[path] = secrets.pieces(text[s.start : s.end] for s in secrets.find(text))
    none = frozenset[str]()
    return tuple(
        replace(p, problem=secrets.mask(p.problem, pieces.get(p.path, none))) for p in problems
    )


def holds(format_name: str, field: str) -> bool:
    """Say whether a format can state a field; an unknown format is taken to hold everything."""
    if not registry.has(format_name):
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
        is_dir=os.path.isdir,
        folders=lambda path: listing.folders(path).names,
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
        if must_exist:
            raise FormatError(str(root), "no such folder", "check the path")
        named = _by_suffix(root)
        if named is not None:
            return named
        known = ", ".join(f"{n}:" for n in registry.names())
        raise UsageError(f"{root} does not exist", f"say which format to create, one of {known}")
    if _is_file(root):
        return _detected_file(root, must_exist=must_exist)
    kept = tree.kept_complement(root)
    stated = complement_file.format_of(kept) if kept is not None else None
    if stated is not None and registry.has(stated):
        return stated
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


def _detected_file(path: Path, *, must_exist: bool) -> str:
    data = single.read(path) or b""
    found = detect_file(data)
    if found:
        return found[0].format
    named = _by_suffix(path)
    if named is None:
        raise FormatError(str(path), "is a file, not a folder", "name the folder that it is in")
    if data or must_exist:
        one = registry.get(named).file
        why = one.check(data) if one is not None else None
        raise FormatError(str(path), why or "is empty", "check the path, or name another file")
    return named


def _by_suffix(path: Path) -> str | None:
    """Give the format whose stores are files with this suffix."""
    for adapter in registry.adapters():
        if adapter.file is not None and path.suffix == PurePosixPath(adapter.file.path).suffix:
            return adapter.name
    return None


def _is_file(path: Path) -> bool:
    """Is there something that is no folder?"""
    return path.exists() and not path.is_dir()


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
