"""A whole store: the facts of both folders, and the put that splices them.

Spec: docs/formats/bantamkit.md.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Container, Iterable

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Supplied, Written, path_of
from interop.adapters.bantamkit import fact_file, index, names, oddities
from interop.adapters.bantamkit.fact_file import Fact
from interop.adapters.bantamkit.fitting import fit
from interop.adapters.bantamkit.index import Line
from interop.adapters.bantamkit.names import is_fact
from interop.model import Files, Memory, Problem, Record, Store
from interop.syntax.marked import says


def read(files: Files) -> Store:
    """Read every fact file as the runtime does; whatever else is there is carried."""
    records: list[Record] = []
    problems: list[Problem] = []
    carried: dict[str, str] = {}
    for path in sorted(files):
        data = files[path]
        found = fact_file.read(path, data) if is_fact(path) else None
        if isinstance(found, Fact):
            records.append(found.record)
            problems += oddities.problems(found)
            continue
        if found is not None:
            problems.append(found)
        if path != index.PATH:
            carried[path] = hashlib.sha256(data).hexdigest()
    return Store(
        format="bantamkit",
        records=tuple(records),
        carried=carried,
        problems=tuple(problems),
    )


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over the files: one fact a file, spliced key by key, and the index's lines."""
    return _Put(store, onto, context).written()


class _Put:
    """One put. Files of facts are planned first, named second, and then the index follows."""

    def __init__(self, store: Store, onto: Files, context: Context) -> None:
        self.store = store
        self.onto = onto
        self.context = context
        self.facts = _facts(onto)
        self.files: dict[str, bytes] = dict(onto)
        self.folders = {"/".join(path.split("/")[:2]) for path in onto if path.count("/") > 1}
        """Where files lie: ``facts/x.md`` cannot be a file beside ``facts/x.md/y``."""
        self.records: dict[str, Record] = {}
        self.supplied: list[Supplied] = []
        self.refused: list[Refusal] = []
        self.notes: list[str] = []
        self.lines: list[tuple[Line | None, Line | None]] = []
        """The index line of each fact that this put touches, before and after."""
        self.touched: set[str] = set()
        """Paths of facts of ``onto`` that this put changes, moves or removes."""
        self.taken: set[str] = set()
        """Names of facts and stems of their files, folded as a careless file system does."""

    def written(self) -> Written:
        wanted = {record.key for record in self.store.records}
        for path in [path for path in self.facts if path not in wanted]:
            self._drop(path)
        present: list[tuple[Record, Fact]] = []
        new: list[Record] = []
        for record in self.store.records:
            fact = self.facts.get(record.key)
            if fact is None:
                new.append(record)
            elif record == fact.record:
                self.records[record.key] = record
            else:
                present.append((record, fact))
        self._names_in_use()
        self._put_present(present)
        self._put_new(new)
        self._put_index()
        order = {record.key: n for n, record in enumerate(self.store.records)}
        return Written(
            files=self.files,
            records=dict(sorted(self.records.items(), key=lambda item: order[item[0]])),
            supplied=tuple(self.supplied),
            refused=tuple(self.refused),
            notes=tuple(self.notes),
        )

    def _drop(self, path: str) -> None:
        del self.files[path]
        self.touched.add(path)
        self.lines.append((_line(self.facts[path]), None))

    def _names_in_use(self) -> None:
        self.taken = {names.stem(path).casefold() for path in self.files if is_fact(path)}
        for path, fact in self.facts.items():
            if path in self.files:
                self.taken.add(fact.named().casefold())

    def _is_folder(self, path: str) -> bool:
        """Is there a folder of this name, or a file where its folder has to be?"""
        parent = path.partition("/")[0]
        return path in self.folders or parent in self.onto

    def _refuse(self, refusal: Refusal, stays: Fact | None) -> None:
        self.refused.append(refusal)
        if stays is not None:
            self.records[refusal.key] = stays.record

    def _fit(self, record: Record, fact: Fact | None) -> Fitted | Refusal:
        known = self.context.fitted.get(record.key)
        return known or fit(record, None if fact is None else fact.record, self.context)

    def _put_present(self, present: Iterable[tuple[Record, Fact]]) -> None:
        """Restate facts that are there: fields first, then the moves between the folders."""
        moves: list[tuple[Fact, Memory, str]] = []
        for record, fact in present:
            fitted = self._fit(record, fact)
            if isinstance(fitted, Refusal):
                self._refuse(fitted, fact)
                continue
            target = fitted.record
            assert isinstance(target, Memory)
            supplied = list(fitted.supplied)
            if target == fact.record:
                self.records[record.key] = target
                self.supplied += supplied
                continue
            if target.name != fact.record.name:
                # Its own present name and stem do not stand in its way.
                mine = {fact.named().casefold(), names.stem(fact.path).casefold()}
                target = self._named(target, supplied, self.taken - mine)
            path = _folder(target) + (
                fact.path.partition("/")[2]
                if target.name == fact.record.name
                else f"{target.name}.md"
            )
            data = _restated(fact, target)
            if isinstance(data, Refusal):
                self._refuse(data, fact)
            elif path == fact.path:
                self._stand(record.key, fact, path, data)
                self.supplied += supplied
            else:
                moves.append((fact, target, path))
                self.supplied += supplied
            self.taken.add((target.name or "").casefold())
        self._move(moves)

    def _move(self, moves: list[tuple[Fact, Memory, str]]) -> None:
        """Move facts whose folder or name changes; two may change places."""
        while True:
            leaving = {fact.path for fact, _, _ in moves}
            held = {path.casefold() for path in self.files if path not in leaving}
            refused: list[tuple[Fact, Memory, str]] = []
            for move in moves:
                place = move[2].casefold()
                if place in held or self._is_folder(move[2]):
                    refused.append(move)
                held.add(place)
            if not refused:
                break
            for fact, _, path in refused:
                self.supplied = [s for s in self.supplied if s.key != fact.path]
                self._refuse(
                    Refusal(
                        key=fact.path,
                        field="state",
                        reason=f"{path} is there already, and a move would overwrite it",
                        remedy="give one of the two another name, or remove one",
                    ),
                    fact,
                )
            moves = [move for move in moves if move not in refused]
        for fact, _, _ in moves:
            del self.files[fact.path]
        for fact, target, path in moves:
            data = _restated(fact, target)
            assert isinstance(data, bytes)
            self._stand(fact.path, fact, path, data)

    def _put_new(self, new: Iterable[Record]) -> None:
        """Fit the new records, give the addresses of last time first, then allot the others."""
        fitted: list[tuple[Record, Memory, list[Supplied]]] = []
        for record in new:
            result = self._fit(record, None)
            if isinstance(result, Refusal):
                self._refuse(result, None)
            elif isinstance(result.record, Memory):
                fitted.append((record, result.record, list(result.supplied)))
        held = {path.casefold() for path in self.files}
        standing = frozenset(self.taken)
        paths: dict[str, str] = {}
        for record, target, _ in fitted:
            for path in self._first_choices(record, target, standing):
                free = path.casefold() not in held and not self._is_folder(path)
                if free and record.key not in paths:
                    paths[record.key] = path
                    held.add(path.casefold())
                    self.taken.add(names.stem(path).casefold())
        for record, fit_to, supplied in fitted:
            target = fit_to
            own = paths.get(record.key)
            if own is None and _folder(target)[:-1] in self.onto:
                reason = f"{_folder(target)[:-1]} is a file here, and has to be a folder"
                way_out = "move that file away"
                self._refuse(
                    Refusal(key=record.key, field="state", reason=reason, remedy=way_out), None
                )
                continue
            if own is None:
                target = self._named(self._legal(target, supplied), supplied, self.taken)
                own = f"{_folder(target)}{target.name}.md"
                self.taken.add((target.name or "").casefold())
            elif target.name != names.stem(own) and not self._is_as_it_stood(record, target, own):
                target = self._renamed(target, supplied, names.stem(own), "the name of last time")
            self._create(record, target, own, supplied)

    def _first_choices(
        self, record: Record, target: Memory, standing: Container[str]
    ) -> Iterable[str]:
        """Give the places that a new record takes as they are, if they are free.

        ``standing`` are the names of facts and files that are not new.
        """
        address = self.context.addresses.get(record.key)
        if address is not None and is_fact(address):
            stem = names.stem(address)
            if names.is_legal(stem) and stem not in self.taken:
                yield f"{_folder(target)}{stem}.md"
        path = path_of(record.key)
        if path == record.key and is_fact(path):
            place = _folder(target) + path.partition("/")[2]
            name = (target.name or "").casefold()
            if self._is_as_it_stood(record, target, place):
                # Two of one name in their own store are copied as they are: a copy is a copy.
                if name not in standing:
                    yield place
            elif names.stem(path) == target.name and name not in self.taken:
                yield place

    def _is_as_it_stood(self, record: Record, target: Memory, path: str) -> bool:
        """Does the fact keep both the file name and the name of its own file in another store?

        Only then may the two differ, as they did there.
        """
        source = self._source(record)
        return (
            source is not None
            and target.name == source.record.name
            and path.partition("/")[2] == source.path.partition("/")[2]
        )

    def _source(self, record: Record) -> Fact | None:
        """Give the record's own file in the store of this format that it comes from."""
        data = self.context.originals.get(record.key)
        if data is None or not is_fact(record.key):
            return None
        found = fact_file.read(record.key, data)
        return found if isinstance(found, Fact) else None

    def _create(self, record: Record, target: Memory, path: str, supplied: list[Supplied]) -> None:
        source = self._source(record)
        data: bytes | Refusal = b"" if source is None else _restated(source, target)
        if source is not None and isinstance(data, Refusal):
            # Nobody can mend a file that is not here: the record gets one of its own.
            bare = dataclasses.replace(self.context, originals={})
            again = fit(record, None, bare)
            if isinstance(again, Fitted) and isinstance(again.record, Memory):
                source = None
                renamed = [s for s in supplied if s.field == "name"]
                supplied = [*(s for s in again.supplied if s.field != "name"), *renamed]
                target = dataclasses.replace(again.record, name=target.name)
        new = fact_file.as_it_is(path, target) if source is None else None
        if source is None:
            text = new.text if new is not None else fact_file.canonical(target)
            data = _encoded(text, record.key)
            if new is None and isinstance(data, bytes):
                data = _checked(path, data, target, record.key)
        if isinstance(data, Refusal):
            self._refuse(data, None)
            return
        self.supplied += supplied
        self._stand(record.key, None, path, data, new)
        if new is None:
            same = fields.with_key(target, path)
            if same == self.records[record.key]:
                self.records[record.key] = same  # whose text is held already

    def _stand(
        self, key: str, before: Fact | None, path: str, data: bytes, found: Fact | None = None
    ) -> None:
        """Let a fact stand at a path, as ``read`` finds it there, or would find it."""
        after = found or fact_file.read(path, data)
        assert isinstance(after, Fact)
        self.files[path] = data
        self.records[key] = after.record
        if before is not None:
            self.touched.add(before.path)
        self.lines.append((_line(before) if before else None, _line(after)))

    def _legal(self, target: Memory, supplied: list[Supplied]) -> Memory:
        """Give the record a name that a new file can have, where its own file's was none."""
        name = target.name or ""
        if names.is_legal(name):
            return target
        stem = names.stem(path_of(target.key))
        made = names.slug(name) or names.slug(stem) or names.from_text(says(target.body.text))
        reason = f"{name!r} cannot be the name of a new file"
        return self._renamed(target, supplied, made, reason)

    def _named(self, target: Memory, supplied: list[Supplied], taken: set[str]) -> Memory:
        """Give the record a name that no other fact has."""
        wanted = target.name or ""
        name = names.free(wanted, taken)
        if name == wanted:
            return target
        return self._renamed(target, supplied, name, f"another fact is called {wanted!r}")

    def _renamed(self, target: Memory, supplied: list[Supplied], name: str, reason: str) -> Memory:
        supplied[:] = [s for s in supplied if s.field != "name"]
        supplied.append(Supplied(key=target.key, field="name", value=name, reason=reason))
        return dataclasses.replace(target, name=name)

    def _put_index(self) -> None:
        changes = [(before, after) for before, after in self.lines if before != after]
        if not changes:
            return
        standing = [
            line
            for path, fact in self.facts.items()
            if path not in self.touched and (line := _line(fact)) is not None
        ]
        live = [*standing, *(after for _, after in self.lines if after is not None)]
        if index.PATH in self.onto:
            data = index.spliced(self.onto[index.PATH], changes, standing)
        elif live:
            data = index.whole(live)
        else:
            return
        self.files[index.PATH] = data
        if len(data) > index.BUDGET:
            self.notes.append(
                f"index.md has {len(data)} bytes of the {index.BUDGET} that the runtime allows:"
                " its next save refuses, and compact archives facts"
            )


def _facts(files: Files) -> dict[str, Fact]:
    out: dict[str, Fact] = {}
    for path in sorted(files):
        if is_fact(path):
            found = fact_file.read(path, files[path])
            if isinstance(found, Fact):
                out[path] = found
    return out


def _folder(record: Memory) -> str:
    return "archive/" if record.state == "archived" else "facts/"


def _line(fact: Fact) -> Line | None:
    """Give the fact's index line; archived facts have none."""
    if fact.record.state == "archived":
        return None
    return Line(fact.path.partition("/")[2], fact.named(), fact.index_line())


def _restated(fact: Fact, target: Memory) -> bytes | Refusal:
    """Splice what differs into the fact's own text, and see that it reads as meant."""
    if dataclasses.replace(target, key=fact.path, state=fact.record.state) == fact.record:
        return fact.text.encode("utf-8")
    text = fact_file.respell(fact, target)
    if text is None:
        return Refusal(
            key=target.key,
            field=_differing(fact.record, target),
            reason="the keys of its header have no lines of their own, so none can be restated",
            remedy="write the header one key a line, as the runtime does at its next recall",
        )
    data = _encoded(text, target.key)
    return data if isinstance(data, Refusal) else _checked(fact.path, data, target, target.key)


def _encoded(text: str, key: str) -> bytes | Refusal:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return Refusal(
            key=key,
            field="body",
            reason="it holds a lone surrogate, which no file can hold",
            remedy="take it out, or let the record travel with --carry",
        )


def _checked(path: str, data: bytes, target: Memory, key: str) -> bytes | Refusal:
    """Give the bytes if they read as the target, field by field, else name the field."""
    found = fact_file.read(path, data)
    if isinstance(found, Problem):
        return _unlike(key, "name", found.problem)
    wanted = dataclasses.replace(target, key=path, state=found.record.state)
    if wanted == found.record:
        return data
    field = _differing(found.record, wanted)
    return _unlike(key, field, "the rest of its header says otherwise")


def _differing(one: Memory, other: Memory) -> str:
    """Give the first field in which two records differ, apart from where they stand."""
    names = [f.name for f in dataclasses.fields(one) if f.name not in ("key", "state")]
    return next((f for f in names if getattr(one, f) != getattr(other, f)), "state")


def _unlike(key: str, field: str, why: str) -> Refusal:
    return Refusal(
        key=key,
        field=field,
        reason=f"the file would not read back as meant: {why}",
        remedy="change the file by hand, or let the record travel with --carry",
    )
