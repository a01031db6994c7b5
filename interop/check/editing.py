"""The minimal edit: one field of one record changes, and nothing but what states it.

Every field that the format holds is edited in a sample of records. Edits are tried many at once, in
batches that leave other records untouched as witnesses, so that the cost grows with the store and
not with its square; where a batch breaks the law its edits are tried one by one, and the first
culprit is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from interop import fields
from interop.adapter import Context, Fitted, Hold, Written, path_of
from interop.check import lines
from interop.check.laws import NOW, Law, shown
from interop.check.values import Edit, Values, edits
from interop.model import Json, Record, Store
from interop.stores import Opened

SAMPLE = 40
"""How many records are edited unless more are asked for."""
_LOOKED_AT = 400
"""Records that are written for one field at least, so that small stores get smaller batches."""
_CANDIDATES = 16
"""Values that are offered to the adapter for one field of one record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One field of one record, with the value that it is to say."""

    edit: Edit
    old: Record
    asked: Record
    fitted: Fitted


@dataclass(slots=True)
class _Count:
    tried: int = 0
    refused: int = 0
    unsaid: int = 0


def minimal_edit(store: Opened, sample: int | None = SAMPLE) -> Law:
    """Edit each field of a sample of records (all, where ``sample`` is None), each by itself.

    Broken where a file or a line changes that does not state the field, where another record reads
    differently, or where the edited record does not say what was fitted.
    """
    chosen = spread(store.raw.records, sample)
    editing = Editing(store)
    untried: list[str] = []
    first = ""
    for edit in edits(store.adapter, {r.role for r in chosen}):
        before = editing.count.tried
        first = next(editing.wrong(edit, chosen), "")
        if first:
            untried.clear()
            break
        if editing.count.tried == before and edit.way != "clear":
            untried.append(str(edit))
    return Law(
        law="minimal edit",
        ok=not first,
        difference=first,
        records=len(chosen),
        edits=editing.count.tried,
        refused=editing.count.refused,
        note="; ".join(_told(editing.count, untried if chosen else [])),
    )


def spread(records: Sequence[Record], sample: int | None) -> list[Record]:
    """Choose records at even distances, from every role and from the archive, always the same."""
    if sample is None or len(records) <= sample:
        return list(records)
    groups: dict[tuple[str, str], list[int]] = {}
    for n, record in enumerate(records):
        groups.setdefault((record.role, str(fields.get(record, "state"))), []).append(n)
    chosen: set[int] = set()
    for places in groups.values():
        share = max(1, sample * len(places) // len(records))
        chosen |= {places[i * len(places) // share] for i in range(share)}
    return [records[n] for n in sorted(chosen)]


def _told(count: _Count, untried: Sequence[str]) -> Iterator[str]:
    if count.refused:
        yield f"{count.refused} of the edits were refused by the format"
    if count.unsaid:
        yield f"{count.unsaid} cannot be said where the record stands"
    if untried:
        yield f"no record here takes another value of {', '.join(untried)}"


class Editing:
    """The edits of one store."""

    def __init__(self, store: Opened) -> None:
        self.adapter = store.adapter
        self.files = store.tree.files
        self.raw = store.raw
        self.values = Values(store.adapter, store.raw)
        self.place = {r.key: n for n, r in enumerate(store.raw.records)}
        self.count = _Count()
        self.context = Context(now=NOW)

    def wrong(self, edit: Edit, chosen: Sequence[Record]) -> Iterator[str]:
        """Try one edit on every chosen record, and say what it breaks."""
        trials = [t for record in chosen if (t := self.trial(edit, record)) is not None]
        if not trials:
            return
        # at least two batches: what is edited in the one is a witness in the other
        parts = min(len(trials), max(2, _LOOKED_AT // (len(self.raw.records) + 1)))
        for part in range(parts):
            batch = trials[part::parts]
            found = next(self._broken(batch), "")
            if not found:
                continue
            alone = (next(self._broken([trial]), "") for trial in batch)
            yield next(filter(None, alone), f"{edit}, with others: {found}")

    def trial(self, edit: Edit, record: Record) -> Trial | None:
        """Find a value that the format can say of this record in this field."""
        name = edit.field.partition(".")[0]
        second: Trial | None = None
        offered = refused = 0
        for asked in self.values.of(record, edit, self.place[record.key]):
            offered += 1
            fitted = self.adapter.fit(asked, record, self.context)
            if not isinstance(fitted, Fitted):
                refused += 1
            elif fitted.record.role == record.role and fitted.record != record:
                says = fields.get(fitted.record, name)
                trial = Trial(edit=edit, old=record, asked=asked, fitted=fitted)
                if says == fields.get(asked, name) and not fitted.supplied:
                    self.count.tried += 1
                    return trial
                if second is None and says != fields.get(record, name):
                    second = trial
            if offered == _CANDIDATES:
                break
        if second is not None:
            self.count.tried += 1
        elif refused:
            self.count.refused += 1
        elif offered:
            self.count.unsaid += 1
        return second

    def _broken(self, batch: Sequence[Trial]) -> Iterator[str]:
        """Write some edits over the store, and say what is not as it should be."""
        asked = {trial.old.key: trial.asked for trial in batch}
        records = tuple(asked.get(r.key, r) for r in self.raw.records)
        target = Store(format=self.adapter.name, records=records)
        written = self.adapter.write(target, self.files, self.context)
        # what can only be seen beside the other records (a text that another one has) is refused
        refused = {r.key for r in written.refused}
        batch = [trial for trial in batch if trial.old.key not in refused]
        result = self.adapter.read(written.files)
        now = {r.key: r for r in result.records}
        yield from self._others(batch, {trial.old.key for trial in batch}, written, now)
        for trial in batch:
            yield from self._says(trial, written, now)
        yield from self._files(batch, written, result)

    def _others(
        self,
        batch: Sequence[Trial],
        edited: set[str],
        written: Written,
        now: dict[str, Record],
    ) -> Iterator[str]:
        """Name the records that changed without being edited."""
        for other in self.raw.records:
            if other.key in edited:
                continue
            # of two equal texts in one file, one is a ``~2`` as long as there are two
            stands = now.get(written.records[other.key].key)
            if stands is None or fields.with_key(stands, other.key) != other:
                yield f"{_who(batch)}: changes {other.key}"
        if len(now) != len(self.raw.records):
            yield f"{_who(batch)}: makes {len(now)} records of {len(self.raw.records)}"

    def _says(self, trial: Trial, written: Written, now: dict[str, Record]) -> Iterator[str]:
        """Say where the edited record does not say what was fitted, or says more."""
        old, meant = trial.old, trial.fitted.record
        stands = now.get(written.records[old.key].key)
        who = _who([trial])
        if stands is None:
            yield f"{who}: the record is gone"
            return
        supplied = {s.field for s in written.supplied if s.key == old.key}
        edited = trial.edit.field.partition(".")[0]
        for name in fields.FIELDS[old.role]:
            then, says = fields.get(old, name), fields.get(stands, name)
            if name == edited:
                if says in (then, None) and fields.get(meant, name) is not None:
                    self.count.unsaid += 1  # at an existing place less may fit: it is carried
                elif says != fields.get(meant, name) and name not in supplied | {"extra"}:
                    yield f"{who}: says {shown(stands, name)}, not {shown(meant, name)}"
            elif name == "extra":
                if not _holds_on(self._stated(then or {}), self._stated(says or {})):
                    yield f"{who}: {name} becomes {shown(stands, name)}"
            elif says != then and name not in supplied | self._follows(old):
                if says is None and fields.get(meant, name) is None:
                    continue  # it has no place any more beside the new value: it is carried
                yield f"{who}: {name} becomes {shown(stands, name)}"

    def _stated(self, extra: Mapping[str, Json]) -> dict[str, Json]:
        """Give what stands in ``extra`` without the keys that only repeat something."""
        own = extra.get(self.adapter.name)
        if not isinstance(own, dict):
            return dict(extra)
        rest = {k: v for k, v in own.items() if self.adapter.holds.get(f"extra.{k}") != Hold.VIEW}
        return {**extra, self.adapter.name: rest}

    def _follows(self, record: Record) -> set[str]:
        """Give the fields that only repeat others, and may change with them."""
        views = {f.partition(".")[0] for f, h in self.adapter.holds.items() if h is Hold.VIEW}
        return views & set(fields.FIELDS[record.role])

    def _files(self, batch: Sequence[Trial], written: Written, result: Store) -> Iterator[str]:
        """Name the files and lines that changed and state nothing that was edited."""
        before, after = self.files, written.files
        own: dict[str, str] = {}
        """Path now -> path before, of the files of edited records."""
        number: Counter[str] = Counter()
        for trial in batch:
            was, now = path_of(trial.old.key), path_of(written.records[trial.old.key].key)
            own.setdefault(was, was)
            own[now] = was if now not in before else now
            number[now] += 1
        names = self._names(batch, written)
        index = {p: after[p] for p in after if self.adapter.index(p)}
        # beside what it names, an index tells which of its lines states something
        near = {**index, **{p: after[p] for p in own if p in after}}
        calm: set[str] = set()
        for path in sorted({*before, *after}):
            if before.get(path) == after.get(path) or self.adapter.derived(path):
                continue
            if path not in own and not self.adapter.index(path):
                yield f"{_who(batch)}: touches {path}"
                continue
            then, new = before.get(own.get(path, path)), after.get(path)
            if then is None or new is None:
                calm.add(path)  # a file that came or went
                continue
            found = lines.compare(then, new, len(batch))
            changed = found.changes
            if path in index:
                changed = lines.foreign(found, names)
                if not changed:
                    calm.add(path)
            # each of the edited records changed, so that as many changes are needed
            if len(changed) <= number[path]:
                continue
            cleared = number[path] if batch[0].edit.way == "clear" else 0
            read = self.adapter.read
            for line in lines.idle(path, found, changed, near, read, _says(batch), cleared):
                yield f"{_who(batch)}: changes {path}:{line}, which does not state it"
        for path in sorted({*result.carried, *self.raw.carried}):
            if result.carried.get(path) != self.raw.carried.get(path):
                file = path.removesuffix("#")
                if file not in own and file not in calm:
                    yield f"{_who(batch)}: changes what is no record in {file}"

    def _names(self, batch: Sequence[Trial], written: Written) -> set[bytes]:
        """Give the words by which an index may name the edited records."""
        out: set[str] = set()
        for trial in batch:
            for record in (trial.old, written.records[trial.old.key]):
                path = path_of(record.key)
                name = fields.get(record, "name")
                out |= {path, quote(path), path.rpartition("/")[2], str(name or path)}
        return {name.encode() for name in out}


def _holds_on(old: Mapping[str, Json], new: Mapping[str, Json]) -> bool:
    """Does what one format alone says stay, but for what may state the edited field again?

    A value that could not be read as the field's (a second type, a count of none) stands here, and
    goes when the field is stated anew: one key at most, and none may change or come.
    """
    lost = 0
    for key in {*old, *new}:
        here, there = old.get(key), new.get(key)
        if isinstance(here, dict) and isinstance(there, dict):
            if not _holds_on(here, there):
                return False
        elif here != there:
            if key in new:
                return False
            lost += 1
    return lost <= 1


def _says(batch: Sequence[Trial]) -> Callable[[Store], object]:
    """Give what reads the edited field in a store."""
    field = batch[0].edit.field.partition(".")[0] if batch else ""
    return lambda store: [fields.get(record, field) for record in store.records]


def _who(batch: Iterable[Trial]) -> str:
    trial = next(iter(batch), None)
    return f"{trial.old.key}: {trial.edit}" if trial is not None else "nothing"
