"""Stores as tables of one SQLite database, for searching and for looking at them elsewhere.

One way: nothing is ever read back from it. A store is known by its format and place; exported
again it replaces its own rows, in one transaction, and a record keeps its number as long as it
keeps its key. Rows of other stores stay.

Spec: docs/export.md.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

from sqlite_utils import Database

from interop import fields
from interop.errors import FormatError, RefusedError, UsageError, WriteError
from interop.model import Record
from interop.plan import digest
from interop.stores import Opened

SCHEMA = 1
"""Version of the tables, kept as ``user_version``; raised when a column changes its meaning."""
APPLICATION = 0x496E7470
"""``application_id`` of the databases made here: ``Intp``."""

Cell: TypeAlias = str | int | None
Row: TypeAlias = dict[str, Cell]

_SCALARS = (
    *("name", "title", "description", "hook", "created", "modified", "recalled", "observations"),
    *("session", "state", "archived", "status", "due", "opened", "evidence", "decision", "why"),
    *("date", "supersedes"),
)
"""Fields with a column of their name in ``records``; those of tombstones have their own table."""
_TOMBSTONE = ("subject", "rejected", "replacement", "date", "reason", "source")
_SEARCHED = ("title", "description", "text", "name", "hook", "decision", "why")
"""Columns of ``records_fts``; a memory without a title is found by its name."""

TABLES: Mapping[str, Mapping[str, type]] = {
    "stores": {"id": int, "place": str, "format": str, "records": int, "digest": str},
    "records": {
        "id": int,
        "store_id": int,
        "position": int,
        "role": str,
        "key": str,
        **{name: int if name == "observations" else str for name in _SCALARS},
        "text": str,
        "media": str,
        "extra": str,
    },
    "tags": {"record_id": int, "position": int, "tag": str},
    "entities": {"record_id": int, "position": int, "entity": str},
    "links": {"record_id": int, "position": int, "rel": str, "target": str},
    "kinds": {"record_id": int, "vocabulary": str, "term": str},
    "tombstones": {"record_id": int, **dict.fromkeys(_TOMBSTONE, str)},
}
"""Table -> column -> type."""
_KEYS: Mapping[str, str | tuple[str, ...]] = {
    "stores": "id",
    "records": "id",
    "tags": ("record_id", "position"),
    "entities": ("record_id", "position"),
    "links": ("record_id", "position"),
    "kinds": ("record_id", "vocabulary"),
    "tombstones": "record_id",
}
_OF_RECORDS = ("tags", "entities", "links", "kinds", "tombstones")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What happened to one store in the database."""

    store: str
    """Format and absolute path, as the table ``stores`` has it."""
    records: int
    action: Literal["added", "replaced", "unchanged", "forgotten"]


def export(stores: Sequence[Opened], file: Path) -> list[Exported]:
    """Put what the stores say in full into a database, all of them or none.

    Raises:
        UsageError: the file would lie inside one of the stores, or a store from stdin does not say
            which one it is.
        RefusedError: it is a database of something else, or of a newer interop.
        FormatError: it is no database.
        WriteError: it cannot be written; it is as it was.
    """
    target = Path(os.path.realpath(file))
    places = {_place(store): store for store in stores}
    for store in stores:
        if not store.stream and target.is_relative_to(os.path.realpath(store.root)):
            raise UsageError(f"{file} lies inside {store.label}", "name a file outside the store")
    if target.is_dir():
        raise UsageError(f"{file} is a folder", "name a file in it")
    new = not target.exists() or not target.stat().st_size
    with _opened(target, file, new=new) as db:
        _check(db, file)
        with db.atomic():
            _create(db)
            return [_replace(db, place, store) for place, store in places.items()]


def forget(places: Sequence[str], file: Path) -> list[Exported]:
    """Take stores out of a database, all of them or none: their rows, and nothing else.

    Args:
        places: format and path, as the table ``stores`` has them; the store need not be there.
        file: the database.

    Raises:
        UsageError: a place is not in it.
        RefusedError: it is a database of something else, or of a newer interop.
        FormatError: it is no database, or there is none.
        WriteError: it cannot be written; it is as it was.
    """
    target = Path(os.path.realpath(file))
    if not target.is_file():
        raise FormatError(str(file), "there is no such database", "check the path")
    with _opened(target, file, new=False) as db:
        _check(db, file)
        known = {
            str(row["place"]): row
            for row in cast("Iterator[Row]", db.query("SELECT id, place, records FROM stores"))
        }
        done: list[Exported] = []
        for place in dict.fromkeys(places):
            if place not in known:
                there = ", ".join(sorted(known)) or "nothing"
                raise UsageError(f"{place} is not in {file}", f"there is: {there}")
            records = int(known[place]["records"] or 0)
            done.append(Exported(store=place, records=records, action="forgotten"))
        with db.atomic():
            for one in done:
                _clear(db, int(known[one.store]["id"] or 0))
                db.execute("DELETE FROM stores WHERE place = ?", [one.store])
    return done


@contextmanager
def _opened(target: Path, file: Path, *, new: bool) -> Generator[Database]:
    try:
        with closing(sqlite3.connect(target)) as connection:
            yield Database(connection, execute_plugins=False)
    except sqlite3.Error as error:
        if new:
            target.unlink(missing_ok=True)
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise FormatError(str(file), "is not a SQLite database", "name another file") from error
        raise WriteError(
            str(file), f"nothing was changed ({error})", "see to it and export again"
        ) from error


def _check(db: Database, file: Path) -> None:
    application = _number(db, "PRAGMA application_id")
    if application != APPLICATION and db.table_names():
        raise RefusedError(str(file), "is the database of something else", "name another file")
    version = _number(db, "PRAGMA user_version")
    if application == APPLICATION and version != SCHEMA:
        raise RefusedError(
            str(file),
            f"has the tables of version {version}, and this interop makes version {SCHEMA}",
            "name another file: everything in it can be exported again",
        )


def _create(db: Database) -> None:
    """Make the tables that are missing; in a database of ours there is nothing to do."""
    if _number(db, "PRAGMA application_id") == APPLICATION:
        return
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    for name, columns in TABLES.items():
        keys: list[tuple[str, str, str]] = []
        if name == "records":
            keys.append(("store_id", "stores", "id"))
        elif name != "stores":
            keys.append(("record_id", "records", "id"))
        db.table(name).create(dict(columns), pk=_KEYS[name], foreign_keys=keys)
    db.table("stores").create_index(["place"], unique=True)
    db.table("records").create_index(["store_id", "key"], unique=True)
    db.table("tags").create_index(["tag"])
    db.table("links").create_index(["target"])
    db.table("records").enable_fts(_SEARCHED, create_triggers=True)


def _replace(db: Database, place: str, store: Opened) -> Exported:
    records = store.restored.store.records
    said = digest(b"\n".join(fields.canonical(fields.to_json(record)) for record in records))
    row: Row = {
        "place": place,
        "format": store.adapter.name,
        "records": len(records),
        "digest": said,
    }
    known = next(iter(_query(db, "SELECT id, digest FROM stores WHERE place = ?", place)), None)
    if known is not None and known["digest"] == said:
        return Exported(store=place, records=len(records), action="unchanged")
    numbers: dict[str, int] = {}
    if known is None:
        store_id = _number(db, "SELECT coalesce(max(id), 0) + 1 FROM stores")
        db.table("stores").insert({"id": store_id, **row})
    else:
        store_id = int(known["id"] or 0)
        db.table("stores").update(store_id, row)
        numbers = {
            str(old["key"]): int(old["id"] or 0)
            for old in _query(db, "SELECT id, key FROM records WHERE store_id = ?", store_id)
        }
    free = _number(db, "SELECT coalesce(max(id), 0) + 1 FROM records")
    _clear(db, store_id)
    numbered: list[tuple[int, Record]] = []
    for record in records:
        if record.key not in numbers:
            numbers[record.key] = free
            free += 1
        numbered.append((numbers[record.key], record))
    _insert(db, "records", (_record(n, store_id, at, r) for at, (n, r) in enumerate(numbered, 1)))
    for table in _OF_RECORDS:
        _insert(db, table, (row for n, record in numbered for row in _rows(table, n, record)))
    return Exported(
        store=place, records=len(records), action="added" if known is None else "replaced"
    )


def _clear(db: Database, store_id: int) -> None:
    """Remove every row of a store but its own."""
    for table in _OF_RECORDS:
        db.execute(
            f"DELETE FROM {table} WHERE record_id IN (SELECT id FROM records WHERE store_id = ?)",
            [store_id],
        )
    db.execute("DELETE FROM records WHERE store_id = ?", [store_id])


def _insert(db: Database, table: str, rows: Iterable[Row]) -> None:
    db.table(table).insert_all(rows, batch_size=500)


def _record(number: int, store_id: int, position: int, record: Record) -> Row:
    body = fields.get(record, "body")
    extra = fields.get(record, "extra")
    scalars = {} if record.role == "tombstone" else {f: fields.get(record, f) for f in _SCALARS}
    return {
        "id": number,
        "store_id": store_id,
        "position": position,
        "role": record.role,
        "key": record.key,
        **{name: _cell(scalars.get(name)) for name in _SCALARS},
        "text": None if body is None else body.text,
        "media": None if body is None else body.media,
        "extra": None if extra is None else fields.canonical(extra).decode(),
    }


def _rows(table: str, number: int, record: Record) -> Iterator[Row]:
    """Give the rows of one record in one of the tables beside ``records``."""
    if table == "tombstones":
        if record.role == "tombstone":
            yield {"record_id": number, **{f: _cell(fields.get(record, f)) for f in _TOMBSTONE}}
    elif table == "kinds":
        kinds: Mapping[str, str] = fields.get(record, "kinds") or {}
        for vocabulary, term in kinds.items():
            yield {"record_id": number, "vocabulary": vocabulary, "term": term}
    else:
        for position, value in enumerate(fields.get(record, table) or (), 1):
            row: Row = {"record_id": number, "position": position}
            if table == "links":
                yield {**row, "rel": value.rel, "target": value.target}
            else:
                yield {**row, "tag" if table == "tags" else "entity": value}


def _cell(value: fields.Value) -> Cell:
    """Give a value as SQLite can hold it: a number beyond 64 bits as text, no text as none."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return str(value)
    return None if value is None else value if isinstance(value, int) else str(value) or None


def _place(store: Opened) -> str:
    """Give the name of a store in the database.

    A snapshot from stdin has no place: two machines would take each other's, and one store would
    be another one in each folder. It is known by the store that it says it is.
    """
    if not store.stream:
        return f"{store.adapter.name}:{os.path.realpath(store.root)}"
    if store.complement is None:
        raise UsageError(
            f"{store.label}: does not say which store it is, so it could not be exported again",
            "give it a file, or take it with its complement",
        )
    return f"{store.adapter.name}:-#{store.raw.id}"


def _query(db: Database, query: str, value: Cell) -> list[Row]:
    rows = cast("Iterator[Row]", db.query(query, [value]))
    return list(rows)


def _number(db: Database, query: str) -> int:
    return int(db.execute(query).fetchone()[0])
