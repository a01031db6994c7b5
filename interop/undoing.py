"""Taking back what was applied to a store, and what this machine then remembers of it.

A file that was edited since the apply keeps the edits: what the apply did is taken out from under
them, line by line. Where that clashes a person decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import cast

import orjson

from interop import at_rest, complement_file, registry, stores, threeway
from interop.adapter import Adapter
from interop.disk import layout, replacing, single, tree
from interop.disk import undo as put_back
from interop.disk.state import Remembered, remember, remembered
from interop.disk.undo import Applied, Later, Settled, Undone, label_of
from interop.errors import FormatError, RefusedError
from interop.host import Host, HostOptions, Token
from interop.model import Json
from interop.plan import COMPLEMENT


def undo(
    root: Path, format_name: str | None = None, *, dry_run: bool = False, force: bool = False
) -> Undone:
    """Take back the last apply to a store, and what followed it around the files.

    Args:
        root: the store.
        format_name: its format; detected where it matters and is not given.
        dry_run: write nothing.
        force: put back what clashes with later edits too; the next undo gives the edits back.

    Raises:
        RefusedError: there is nothing to take back, something was edited since in a way that
            clashes, nothing may change there now, or what is around the files cannot follow;
            nothing was written.
        WriteError: putting it back failed, and was taken back.
    """
    one = single.is_one(root)
    settling = _Settling(root, format_name)
    settle = settling.settle
    if one:
        settling.check_unlocked()
        undone = replacing.undo(root, dry_run=dry_run, settle=settle, force=force)
    else:
        around = _Around(root, settling, dry_run=dry_run)
        undone = put_back.undo(root, dry_run=dry_run, settle=settle, force=force, around=around)
    if dry_run:
        return undone
    known = remembered(root)
    if known is not None:
        now = _generation(undone, known)
        stands = partial(at_rest.generation_at, root)  # another interop may have written meanwhile
        remember(root, known.id, now or 0, now is not None, stands=stands)
    return undone


def _generation(undone: Undone, known: Remembered) -> int | None:
    """Give the generation of the complement after an undo; None without one."""
    for change in undone.changes:
        if change.path == COMPLEMENT:
            return complement_file.generation_of(change.after)
    return known.generation if known.complement else None


def history(root: Path) -> list[Applied]:
    """List the applies to a store that can be taken back, newest first.

    Raises:
        FormatError: there is no such store.
    """
    return replacing.history(root) if single.is_one(root) else put_back.history(root)


def dump_note(format_name: str, token: Token) -> bytes:
    """Encode what a host did, to be kept with the undo data."""
    return orjson.dumps({"format": format_name, **asdict(token)})


def token_of(note: Mapping[str, Json]) -> Token:
    """Decode what a host did; an older interop did not say what was made.

    The note may have come with a store from anywhere, and it names a commit and files to remove:
    nothing but what ``dump_note`` writes is taken from it.

    Raises:
        FormatError: it is no such note.
    """
    commit, commands, made = note.get("commit"), note.get("commands"), note.get("made", {})
    if commit is not None and not (isinstance(commit, str) and _COMMIT.fullmatch(commit)):
        raise _no_note()
    if not isinstance(commands, list) or not isinstance(made, dict):
        raise _no_note()
    lines = [line for line in commands if isinstance(line, str)]
    digests = {path: digest for path, digest in made.items() if isinstance(digest, str)}
    outside = [p for p in digests if p not in layout.SKIPPED and layout.invalid(p)]
    was = note.get("complement_was_in_git")
    if was is not None and not isinstance(was, bool):
        raise _no_note()
    if len(lines) < len(commands) or len(digests) < len(made) or outside:
        raise _no_note()
    return Token(commit=commit, commands=tuple(lines), made=digests, complement_was_in_git=was)


def _no_note() -> FormatError:
    way_out = "put the files back by hand: their bytes are in that folder"
    return FormatError(UNDO, "its note is not what interop writes", way_out)


_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
UNDO = ".interop/undo"


class _Settling:
    """What becomes of files that were edited since, in a store of some format."""

    def __init__(self, root: Path, format_name: str | None) -> None:
        self.root, self.format_name = root, format_name

    @cached_property
    def formats(self) -> tuple[Adapter, ...]:
        """The formats that the store may be of."""
        if self.format_name is not None:
            return (registry.get(self.format_name),)
        return tuple(registry.get(found.format) for found in stores.detect(self.root))

    @property
    def adapter(self) -> Adapter | None:
        """The store's format; None where it looks like none, or like several."""
        return self.formats[0] if len(self.formats) == 1 else None

    def check_unlocked(self) -> None:
        """Refuse where its format lets nothing change now, as it refuses any other write.

        Raises:
            RefusedError: it does not; says what has to be done first.
        """
        if not self.root.exists():
            return  # what is put back stands where nothing is
        for adapter in self.formats:
            if adapter.locked is None:
                continue
            one = adapter.file
            kept = (
                single.load(self.root, one.path) if one else tree.load(self.root, adapter.ignored)
            )
            if (locked := adapter.locked(kept.files)) is not None:
                raise RefusedError(
                    str(self.root), f"{locked.reason}; nothing was written", locked.remedy
                )

    def settle(self, later: Later) -> Settled:
        """Take the apply out from under the edits, or say why that needs a person."""
        if self.adapter is None:
            return Settled(clash="name its format, as FORMAT:PATH, to have it put together")
        repeats = later.path != COMPLEMENT and self.adapter.index(later.path)
        if later.before is None and not repeats:
            return Settled(clash="it was new, and taking it back would take the edits away")
        if later.wrote is None:
            return Settled(clash="what was written is not kept, so the edits cannot be told")
        merged = threeway.merge(later.wrote, later.now, later.before or b"")
        if merged is None:
            return Settled(clash="the same lines changed, or lines right beside them")
        if later.before is None and not merged.strip():
            return Settled(after=None)
        if why := self._broken(later, merged):
            return Settled(clash=f"put together it {why}")
        return Settled(after=merged)

    def _broken(self, later: Later, merged: bytes) -> str:
        """Say what is wrong with the merged file that was wrong with neither side of it."""
        if later.path == COMPLEMENT:
            try:
                complement_file.loads(merged, COMPLEMENT)
            except FormatError as error:
                return error.problem
            return ""
        assert self.adapter is not None
        if self.adapter.file is not None and (why := self.adapter.file.check(merged)):
            return why
        sides = (later.now, later.before)
        before = {problem for data in sides for problem in self._problems(later.path, data)}
        return next((p for p in self._problems(later.path, merged) if p not in before), "")

    def _problems(self, path: str, data: bytes | None) -> Sequence[str]:
        assert self.adapter is not None
        return [] if data is None else [p.problem for p in self.adapter.read({path: data}).problems]


class _Around:
    """What is around a store's files follows its undo: by taking back its own part, or anew."""

    def __init__(self, root: Path, settling: _Settling, *, dry_run: bool) -> None:
        self.root, self.settling, self.dry_run = root, settling, dry_run

    def before(self, undone: Undone) -> None:
        """Refuse before anything is written; then forget the complement that is taken back.

        While the older one stands, nobody may know of a newer one: that would be a doubt.
        """
        if any(change.path != COMPLEMENT for change in undone.changes):
            self.settling.check_unlocked()  # the complement is of no concern to a format
        found = self._host(undone)
        if found is not None:
            _, host, token = found
            paths = [c.path for c in undone.changes]
            host.before(self.root, paths, _options(token))
        known = remembered(self.root)
        if known is not None and not self.dry_run:
            older = partial(_generation, undone, known)
            remember(self.root, known.id, known.generation, known.complement, stands=older)

    def after(self, undone: Undone) -> bytes:
        """Follow; where later edits stay or go, the part that was theirs is not taken back."""
        found = self._host(undone)
        if found is None:
            return b""
        name, host, token = found
        if not (undone.merged or undone.forced):
            host.undo(self.root, token)
            return b""
        paths = [c.path for c in undone.changes]
        done = host.after(self.root, paths, label_of(undone), _options(token))
        return dump_note(name, done)

    def _host(self, undone: Undone) -> tuple[str, Host, Token] | None:
        if not undone.note:
            return None
        try:
            note = cast("Json", orjson.loads(undone.note))
        except orjson.JSONDecodeError:
            raise _no_note() from None
        if not isinstance(note, dict) or not isinstance(name := note.get("format"), str):
            raise _no_note()
        host = registry.get(name).host
        return None if host is None else (name, host, token_of(note))


def _options(token: Token) -> HostOptions:
    """Ask for what was asked for when it was applied: a commit where one was made.

    The complement is recorded, or not, as it was before.
    """
    return HostOptions(
        commit=token.commit is not None, complement_in_git=token.complement_was_in_git
    )
