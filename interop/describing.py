"""Saying what a plan would do: the files that change, and the lines for a person to read first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from interop.complement import Complement
from interop.complement_file import dumps
from interop.disk import layout
from interop.guarding import remarked
from interop.match import NEAR, similarity
from interop.model import Files
from interop.plan import COMPLEMENT, FileChange, digest
from interop.stores import Opened, carried_off


def changes(
    destination: Opened, files: Files, complement: Complement | None
) -> tuple[FileChange, ...]:
    """List the files to write: records before the lines that name them, removals last."""
    there = destination.tree.files
    last = destination.adapter.index
    puts = sorted((p for p in files if files[p] != there.get(p)), key=lambda p: (last(p), p))
    gone = sorted(p for p in there if p not in files)
    # what it says of these very bytes
    digests: Mapping[str, str] = complement.tree if complement is not None else {}
    out = [
        FileChange(
            path=p,
            before=digest(there[p]) if p in there else None,
            after=files[p],
            written=digests.get(p),
        )
        for p in puts
    ]
    out += [FileChange(path=p, before=digest(there[p]), after=None) for p in gone]
    if complement is not None:
        old, new = destination.tree.complement, dumps(complement)
        if old != new:
            before = digest(old) if old is not None else None
            out.append(FileChange(path=COMPLEMENT, before=before, after=new))
    return tuple(out)


def notes_for(
    source: Opened, destination: Opened, complement: Complement | None, news: Sequence[str]
) -> Iterator[str]:
    """Give the lines that a person should read before agreeing.

    ``news`` is what the destination's runtime would newly trip over.
    """
    adapter = destination.adapter
    yield from _unread(source, complement)
    for path in source.tree.files if complement is not None else ():
        why = layout.invalid(path)
        if why is not None:
            yield (
                f"{path!r} {why}: it travels, and can never be put back under this name; rename it"
                " before it is needed"
            )
    others = [p for p in source.raw.carried if not p.endswith("#")]
    if others and source.adapter is not adapter and complement is not None:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        yield (
            f"{len(others)} files are no records and travel in the complement: "
            f"{', '.join(others[:5])}{more}"
        )
    if complement is not None and complement is not destination.complement:
        size = sum(map(len, source.tree.files.values()))
        off = None if destination.stream else carried_off(destination.root)
        place = f"destination's {COMPLEMENT}" if adapter.file is None else "file itself"
        yield (
            f"the full text of the source ({size:,} bytes) enters the {place}"
            + (f", which {off} may carry off this machine" if off else "")
        )
    yield from news
    for store in (source, destination):
        yield from remarked(store)
        yield from _guessed(store)


_NAMED = 10
"""Files or lines that cannot be read and are named one by one."""


def _unread(source: Opened, complement: Complement | None) -> Iterator[str]:
    """Name what was meant as a record of the source and could not be read as one."""
    unread = [p for p in source.raw.problems if p.unread]
    kept = "it travels as it is" if complement is not None else "it is left behind"
    for problem in unread[:_NAMED]:
        yield f"{problem.path} is no record here: {problem.problem}; {kept}"
    if len(unread) > _NAMED:
        more = len(unread) - _NAMED
        yield f"{more:,} more cannot be read as records: `interop lint {source.label}` names them"


def _guessed(store: Opened) -> Iterator[str]:
    """Say which records were only nearly recognised, and by what."""
    now = {r.key: r for r in store.seen.records}
    for then, key in store.restored.guessed:
        was = next((x.seen() for x in store.restored.lines.get(key, ()) if x.to == then), None)
        alike = was is None or key not in now or similarity(was, now[key]) >= NEAR
        how = "text" if alike else "place between the same neighbours"
        yield f"{then} was recognised as {key} by its {how} alone"
