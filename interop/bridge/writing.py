"""Changing one store: decided on what is there, again under its lock, and applied as a whole.

What to do is a function of the opened store. It is asked once before anything is touched, so that
what is refused or known already leaves no trace; and once more under the lock if another program
has written in between, so that what is applied was decided on what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, TypeVar

from interop import applying, complement_file, outgoing, standing, stores
from interop.adapter import Context, Refusal, Supplied, Written
from interop.bridge.places import Place
from interop.bridge.reading import Reading
from interop.bridge.results import Added, StoreProblem
from interop.disk import single, state, tree
from interop.disk.tree import Tree
from interop.errors import FormatError, RefusedError, UsageError
from interop.host import HostOptions, Token
from interop.measure import new_findings, read_back
from interop.model import Files, Record, Store
from interop.outgoing import Policy
from interop.plan import COMPLEMENT, FileChange, digest
from interop.stores import Opened

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """What was decided on a store: what to write, and what to answer."""

    answer: T
    label: str = ""
    """What is done, for ``interop undo`` and for whoever waits: with keys, without texts."""
    changes: tuple[FileChange, ...] = ()
    message: str = ""
    """One line for what follows around the files; others may read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done(Generic[T]):
    """What was done."""

    answer: T
    token: Token | None = None
    """What followed around the files."""
    problems: tuple[StoreProblem, ...] = ()
    """What was not read of the store, and stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A store as it would be with other records."""

    changes: tuple[FileChange, ...]
    records: Mapping[str, Record]
    """Key in the target -> the record that stands."""
    supplied: tuple[Supplied, ...]
    findings: tuple[str, ...]
    """What the store's runtime would newly trip over."""
    notes: tuple[str, ...]
    """The same, with everything else that is to be said."""


def write(
    reading: Reading,
    decide: Callable[[Opened], Outcome[T]],
    *,
    wait: float,
    host: HostOptions | None,
    after: Callable[[Opened, T], T] = lambda _, answer: answer,
) -> Done[T]:
    """Write what was decided into the one store that is written.

    Args:
        reading: the stores of the bridge.
        decide: what to do about the store as it is; raises what is refused.
        wait: seconds to wait for another writer.
        host: what the user asked of the surroundings.
        after: what is left to do under the lock once it is written; makes the answer complete.

    Raises:
        UsageError: no store to write was named.
        RefusedError, WriteError, FormatError: see ``Bridge.remember``; nothing was written.
    """
    place = target_of(reading)
    opened = _open(place)
    outcome = decide(opened)
    standing.check_places(opened, outcome.changes)
    if not outcome.changes:
        return Done(answer=outcome.answer, problems=_problems(place, opened))
    is_file = opened.adapter.file is not None
    with applying.locked(place.root, outcome.label, wait, file=is_file):
        if _loaded(opened) != opened.tree:
            opened = _open(place)
            outcome = decide(opened)
            if not outcome.changes:
                return Done(answer=outcome.answer, problems=_problems(place, opened))
        token = applying.apply_changes(
            opened,
            outcome.changes,
            label=outcome.label,
            message=outcome.message,
            options=host if host is not None else HostOptions(),
            held=True,
        )
        known = opened.complement.generation if opened.complement is not None else 0
        state.remember(opened.root, opened.raw.id, known, complement=known > 0)
        return Done(
            answer=after(opened, outcome.answer), token=token, problems=_problems(place, opened)
        )


def _problems(place: Place, opened: Opened) -> tuple[StoreProblem, ...]:
    """Name what was not read of the store that is written: nothing of it was decided upon."""
    return tuple(StoreProblem(store=place.name, problem=line) for line in standing.unread(opened))


def target_of(reading: Reading) -> Place:
    """Give the one store that is written.

    Raises:
        UsageError: none was named.
    """
    if reading.target is None:
        raise UsageError(
            "no store to write was named",
            "name one (--write FORMAT:PATH or @NAME), or let `interop stores add NAME STORE "
            "--write` set one",
        )
    return reading.target


def check_texts(**said: str) -> None:
    """Refuse what is no text: half of a character, as a broken argument or name brings it.

    Raises:
        UsageError: naming what it is.
    """
    for what, text in said.items():
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise UsageError(f"the {what} is no text that UTF-8 can say", "give it as UTF-8")


def moment() -> str:
    """Give the present moment as adapters take it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def put(
    store: Opened,
    target: Mapping[str, Record],
    context: Context,
    secrets: Policy | None = None,
    host: HostOptions | None = None,
) -> Put:
    """Say what a store's files become when its records are these, and see that they are read so.

    Args:
        store: the store as it is.
        target: its records as they are to be.
        context: for its adapter.
        secrets: what to do about those that would leave the machine.
        host: what the user asked of the surroundings.

    Raises:
        RefusedError: the format refuses one of the records beside the others, or a record that is
            not meant to change would.
    """
    adapter = store.adapter
    raw = {record.key: record for record in store.raw.records}
    there = store.tree.files
    records = Store(format=adapter.name, records=tuple(target.values()))
    written = adapter.write(records, there, context)
    refuse(store, written.refused)
    result = read_back(adapter, written, written.files, raw, target, store.label)
    changes = _changes(store, written)
    commits = host is None or host.commit
    findings = tuple(new_findings(adapter, (there, store.raw), (written.files, result)))
    return Put(
        changes=changes,
        records=written.records,
        supplied=written.supplied,
        findings=findings,
        notes=(
            *written.notes,
            *findings,
            *outgoing.notes(store, changes, secrets, commits=commits),
        ),
    )


def refuse(store: Opened, refused: Sequence[Refusal]) -> None:
    """Say why a record cannot stand, in the words of who asked for it.

    Raises:
        RefusedError: there is a refusal.
    """
    for refusal in refused:
        # the other ways out that an adapter names are those of a conversion
        remedy = refusal.remedy.partition(", or let it travel")[0].partition(" with --")[0]
        raise RefusedError(store.label, f"nothing was written: {refusal.reason}", remedy)


def added(supplied: Iterable[Supplied], key: str) -> tuple[Added, ...]:
    """Give what was made up for one record."""
    return tuple(
        Added(field=s.field, value=s.value, reason=s.reason) for s in supplied if s.key == key
    )


def _open(place: Place) -> Opened:
    try:
        opened = stores.open_store(place.anchor, must_exist=False)
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise FormatError(str(place.root), f"cannot be read ({said})") from error
    return replace(opened, root=Path(place.root))


def _loaded(opened: Opened) -> Tree:
    """Read the files of a store once more."""
    if opened.adapter.file is not None:
        return single.load(opened.root, opened.adapter.file.path, missing_ok=True)
    return tree.load(opened.root, opened.adapter.ignored, missing_ok=True)


def _changes(store: Opened, written: Written) -> tuple[FileChange, ...]:
    """List the files to write: records before the lines that name them, removals last."""
    there, files, adapter = store.tree.files, written.files, store.adapter
    puts = sorted(
        (p for p in files if files[p] != there.get(p)), key=lambda p: (adapter.index(p), p)
    )
    gone = sorted(p for p in there if p not in files)
    out = [
        FileChange(path=p, before=digest(there[p]) if p in there else None, after=files.get(p))
        for p in (*puts, *gone)
    ]
    return (*out, *_unstale(store, files)) if out else ()


def _unstale(store: Opened, files: Files) -> Iterable[FileChange]:
    """Keep the complement from taking what is written now for an older state that came back.

    Otherwise it stays as it is: a new record has no line, and the line of one that goes says that
    it is gone.
    """
    old, data = store.complement, store.tree.complement
    if old is None or data is None:
        return
    older = dict(old.older)
    for path, digests in old.older.items():
        if path in files and files[path] != store.tree.files.get(path):
            older[path] = tuple(d for d in digests if d != digest(files[path]))
    new = complement_file.dumps(replace(old, older=older))
    if older != dict(old.older):
        yield FileChange(path=COMPLEMENT, before=digest(data), after=new)
