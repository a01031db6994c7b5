"""What a store says once its complement is taken into account.

Field by field: where the store still says what was expected, the richer base value is the value;
where it says something else, somebody changed it there, and that wins.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from interop import fields
from interop.adapter import Adapter, Hold, path_of
from interop.complement import Complement, Line, Source, newest
from interop.fields import FIELDS, Value
from interop.match import match, words
from interop.merge import TEXT_MEDIA, carry_over, same
from interop.model import Body, Files, Record, Store
from interop.plan import digest

Holds = Callable[[str, str], bool]
"""(format, field) -> can that format say the field?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A store's records in full, and which lines of the complement speak of which."""

    store: Store
    """Its records with restored values; keys and order are the store's own."""
    lines: Mapping[str, tuple[Line, ...]] = field(default_factory=dict[str, tuple[Line, ...]])
    """Key -> the lines that speak of the record, newest first."""
    carried: tuple[Line, ...] = ()
    """Records that only travel in the complement."""
    gone: tuple[Line, ...] = ()
    """Lines whose record is no longer in the store."""
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Store on the way -> keys of its records in shared files, in their order."""
    stood: frozenset[str] = frozenset()
    """Its files, and its keys in shared files, when it was last written."""
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    """The stores that were converted into it, as they were then."""
    formats: Mapping[str, str] = field(default_factory=dict[str, str])
    """Store on the way -> its format."""
    guessed: tuple[tuple[str, str], ...] = ()
    """(key at the last conversion, key now) of records that were only nearly recognised."""

    @property
    def known(self) -> Iterable[Line]:
        """Every line that counts; of two that a version-control merge left, only the one taken."""
        for lines in self.lines.values():
            yield from lines
        yield from self.carried
        yield from self.gone


def restore(
    raw: Store,
    complement: Complement | None,
    files: Files,
    adapter: Adapter,
    holds: Holds,
    seal: Callable[[str], str] | None = None,
) -> Restored:
    """Restore every record of a store from its complement; ``seal`` is that of ``seals``."""
    if complement is None:
        return Restored(store=raw)
    by_key: defaultdict[str, list[Line]] = defaultdict(list)
    carried: list[Line] = []
    removed: list[Line] = []
    for line in newest(complement.lines):
        if line.to is None:
            carried.append(line)
        elif line.gone:
            removed.append(line)
        else:
            by_key[line.to].append(line)
    whole: dict[str, Line] = {}
    for record in raw.records:
        told = by_key.get(record.key, [])
        if len(told) == 1 and _as_expected(record, told[0]):
            whole[record.key] = by_key.pop(record.key)[0]
    lines: dict[str, tuple[Line, ...]] = {key: (line,) for key, line in whole.items()}
    rest = [r for r in raw.records if r.key not in whole]
    place = {key: i for i, key in enumerate(complement.order)}
    groups = sorted(by_key.values(), key=lambda group: place.get(group[0].to or "", -1))
    then = [group[0].seen() for group in groups]
    guessed: list[tuple[str, str]] = []
    gone = dict.fromkeys(range(len(groups)))
    stood = frozenset((*complement.tree, *complement.order))
    for pair in match(then, rest, handle=adapter.handle, stood=stood):
        key = rest[pair.right].key
        lines[key] = _settle(groups[pair.left], rest[pair.right])
        del gone[pair.left]
        if pair.how == "near":
            guessed.append((then[pair.left].key, key))
    back = {(r.key, words(r)): r.key for r in raw.records if r.key not in lines}
    for line in list(removed):
        seen = line.seen()
        taken_back = back.get((seen.key, words(seen)))
        if taken_back is not None:
            lines[taken_back] = (*lines.get(taken_back, ()), line)
            removed.remove(line)
    seal = seal or seals(files, adapter)
    views = {name for name, hold in adapter.holds.items() if hold is Hold.VIEW}
    records = tuple(
        fields.with_key(whole[r.key].base, r.key)
        if r.key in whole
        else _restored(r, lines[r.key], complement, holds, seal(r.key), views)
        if r.key in lines
        else r
        for r in raw.records
    )
    return Restored(
        store=Store(
            format=raw.format,
            records=records,
            carried=raw.carried,
            problems=raw.problems,
            id=raw.id,
        ),
        lines=lines,
        carried=tuple(carried),
        gone=(*(line for i in gone for line in groups[i]), *removed),
        orders={s.id: s.order for s in complement.sources.values()},
        stood=stood,
        sources={s.id: s for s in complement.sources.values() if not s.heard},
        formats={s.id: s.format for s in complement.sources.values()},
        guessed=tuple(guessed),
    )


def _as_expected(record: Record, line: Line) -> bool:
    """Does a file of its own say all that it is expected to, as nearly every one does?

    Then base is what it says, and no field has to be looked at by itself.
    """
    if "#" in record.key or record.role != line.base.role:
        return False
    places, says = _PLACES[record.role], fields.row(line.base)
    for name, value in line.expected.items():
        if name not in places:
            return False
        says[places[name]] = value
    return says == fields.row(record)


_PLACES = {role: {name: n for n, name in enumerate(names)} for role, names in FIELDS.items()}


def _settle(group: list[Line], record: Record) -> tuple[Line, ...]:
    """Of two lines of one source for one record (a version-control merge), take the one that fits.

    The newer one counts when neither or both match what is seen; the other is left out.
    """
    chosen: dict[tuple[str, str], Line] = {}
    for line in group:
        other = chosen.get((line.source, line.key))
        if other is None or (not _fits(other, record) and _fits(line, record)):
            chosen[(line.source, line.key)] = line
    return tuple(newest(chosen.values()))


def _fits(line: Line, record: Record) -> bool:
    return all(same(fields.get(record, f), line.says(f)) for f in FIELDS[record.role])


def _restored(
    record: Record,
    lines: tuple[Line, ...],
    complement: Complement,
    holds: Holds,
    seal: str,
    views: Collection[str],
) -> Record:
    values: dict[str, Value] = {}
    told = [(x, fields.row(x.base)) for x in lines if x.base.role == record.role]
    names, row = FIELDS[record.role], fields.row(record)
    places: Iterable[int] = range(len(names))
    if len(lines) == 1 and told:  # nearly every field of nearly every record is as it was
        ((line, bases),) = told
        places = [n for n in places if row[n] != bases[n] or names[n] in line.expected]
    for n in places:
        name, now = names[n], row[n]
        for line, bases in told:
            base = bases[n]
            said = line.expected.get(name, _AS_BASE)
            if said is _AS_BASE:
                if base == now is not None:
                    break
                said = base
            source = complement.sources.get(line.source)
            if base is said is None and source is not None and not holds(source.format, name):
                continue  # a format that cannot say the field has no opinion on it
            # the same bytes as written are the same statement, however a newer reader reads it
            seen = now if line.seal == seal and name not in line.kept else said
            value = carry_over(base, seen, now)
            if value != base and not same(base, said) and _follows(record, line, name, views):
                value = base  # what stood for it followed its text: nobody said anything else
            if value != now:
                values[name] = value
            break
    return fields.replace(record, values)


_AS_BASE = object()


def _follows(record: Record, line: Line, name: str, views: Collection[str]) -> bool:
    """Is a value that was supplied only the repetition of a text that was edited since?"""
    if line.says(name) is None or fields.get(record, name) is None:
        return False
    if name in views:
        then, now = line.says("body"), fields.get(record, "body")
        return not same(then, now) and not _is_claim(line.base, then, now)
    # an entry in an index repeats what its file says, never the reverse
    return name == "hook" and same(fields.get(record, name), fields.get(record, "description"))


def _is_claim(base: Record, then: Value, now: Value) -> bool:
    """Is what changed in a text the claim that was made for it, and nothing that it repeats?"""
    rich = fields.get(base, "body")
    if not (isinstance(rich, Body) and isinstance(then, Body) and isinstance(now, Body)):
        return False
    if rich.media not in TEXT_MEDIA or not then.media == now.media == TEXT_MEDIA[1]:
        return False
    from interop.markup import claim  # parsers that most commands never need

    return claim.is_changed_alone(rich.text, rich.media, then.text, now.text)


def seals(files: Files, adapter: Adapter) -> Callable[[str], str]:
    """Give a digest of what states a record: its own file, where that lies, and every index."""
    indexes = hashlib.sha256()
    for path in sorted(p for p in files if adapter.index(p) and not adapter.derived(p)):
        indexes.update(f"{path}\0{digest(files[path])}\0".encode())
    common = indexes.digest()

    @cache  # a file that many records share is hashed once
    def of_file(path: str) -> str:
        stated = common + path.encode("utf-8") + b"\0" + files.get(path, b"")
        return hashlib.sha256(stated).hexdigest()[:16]

    return lambda key: of_file(path_of(key))


def stale(complement: Complement, files: Files) -> list[str]:
    """Name the files whose bytes are those of an older generation than the complement's.

    A sync tool that brought one half, or a restored backup, leaves such a store.
    """
    out: list[str] = []
    for path, older in sorted(complement.older.items()):
        data = files.get(path)
        written = complement.tree.get(path)
        if data is not None and written is not None and written != digest(data) in older:
            out.append(path)
    return out


def can_hold(adapter: Adapter, name: str) -> bool:
    """Say whether a format can state a field of its own accord (a view repeats another one)."""
    if name == "extra":
        return True
    return adapter.holds.get(name, Hold.NO) is not Hold.NO or name == "state"
