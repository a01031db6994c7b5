"""The search index of one list of stores: a cache in one SQLite file, made anew when in doubt.

A published file is never changed: whoever has to bring it up to date makes a copy, changes that,
and puts it in the old one's place in one step. So readers need no lock, several processes may do
this at once, and the last one's file stays, which is as true as the others'. Where no file can be
made, or SQLite calls it damaged, the index is made from the stores again, at worst in memory.

    stores     one line for each store: its place, its stamp, its id, what could not be read
    files      path, entry and digest of each of its files
    records    JSON form, folded words, group
    edges      records of two stores that a conversion links
    words      full text, of words
    pieces     full text, of three signs each, for scripts that write words together

Spec: docs/bridge.md, section "The index".
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import uuid4

import orjson

from interop.bridge import sameness
from interop.bridge.fingerprint import code
from interop.bridge.results import StoreProblem

if TYPE_CHECKING:
    from interop.stores import Opened

VERSION = 1
"""Version of the tables; raised when one changes."""
APPLICATION = 0x496E7442
"""``application_id`` of these files: ``IntB``."""
_ABANDONED = 3600.0
"""Seconds after which an unfinished copy of another process is taken for left behind."""

_COLUMNS = "title, name, description, tags, text"
_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)",
    """CREATE TABLE stores (n INTEGER PRIMARY KEY, place TEXT, format TEXT, spec INTEGER,
       stamp BLOB, taken INTEGER, racy TEXT, ignored TEXT, id TEXT, related TEXT, problems TEXT)""",
    """CREATE TABLE files (store INTEGER, path TEXT, entry TEXT, digest TEXT,
       PRIMARY KEY (store, path)) WITHOUT ROWID""",
    f"""CREATE TABLE records (id INTEGER PRIMARY KEY, store INTEGER, position INTEGER, key TEXT,
       role TEXT, state TEXT, data BLOB, plain TEXT, mark BLOB, origins TEXT, cited TEXT,
       grp INTEGER, pieces INTEGER, {_COLUMNS})""",
    "CREATE UNIQUE INDEX records_key ON records (key, store)",
    "CREATE INDEX records_grp ON records (grp)",
    "CREATE INDEX records_role ON records (role)",
    "CREATE TABLE edges (store INTEGER, key TEXT, other INTEGER, other_key TEXT)",
    f"""CREATE VIRTUAL TABLE words USING fts5({_COLUMNS}, content='records', content_rowid='id',
       tokenize='unicode61 remove_diacritics 2')""",
    f"""CREATE VIRTUAL TABLE pieces USING fts5({_COLUMNS}, content='records', content_rowid='id',
       tokenize='trigram')""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the index knows of one store."""

    place: str
    format: str
    spec: int
    stamp: bytes
    taken: int
    racy: tuple[str, ...]
    ignored: frozenset[str]
    id: str
    related: tuple[str, ...]
    problems: tuple[tuple[str, str], ...]
    """What could not be read of it: problem, way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A store as it was just now read, for the index."""

    opened: Opened
    stamp: bytes
    """Empty when it was written all the time: it is read again the next time."""
    taken: int
    racy: tuple[str, ...]
    entries: Mapping[str, str]
    digests: Mapping[str, str]
    ignored: frozenset[str]
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A store whose files were touched and say the same as before."""

    stamp: bytes
    taken: int
    racy: tuple[str, ...]
    entries: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Changes:
    """What is to be changed in an index: place in the order of precedence -> how it is now."""

    read: dict[int, Seen] = field(default_factory=dict[int, Seen])
    touched: dict[int, Touched] = field(default_factory=dict[int, Touched])
    gone: set[int] = field(default_factory=set[int])
    """Stores that cannot be read: they say nothing now."""

    def __bool__(self) -> bool:
        return bool(self.read or self.touched or self.gone)


def directory() -> Path:
    """Give the folder of the indexes, which may not be there (``INTEROP_CACHE_DIR`` names one)."""
    if stated := os.environ.get("INTEROP_CACHE_DIR"):
        return Path(stated)
    from platformdirs import user_cache_dir  # not at the top, for the sake of start-up

    return Path(user_cache_dir("interop"))


def path_for(anchors: Sequence[str]) -> Path:
    """Give the place of the index of a list of stores."""
    name = hashlib.blake2b("\0".join(anchors).encode("utf-8", "surrogateescape"), digest_size=16)
    return directory() / "bridge" / f"{name.hexdigest()}.sqlite3"


class Index:
    """An index, opened for reading."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.known = dict(_known(connection))

    def close(self) -> None:
        """Let the file go."""
        self.connection.close()


def opened(path: Path) -> Index | None:
    """Open a published index; None when there is none that can be used."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error:
        return None
    try:
        if _number(connection, "application_id") == APPLICATION and (
            _number(connection, "user_version") == VERSION
        ):
            made = connection.execute("SELECT value FROM meta WHERE name = 'code'").fetchone()
            if made is not None and made[0] == code():
                return Index(connection)
    except (sqlite3.Error, ValueError, TypeError):
        pass  # damaged, or of something else: it is made anew
    connection.close()
    return None


def updated(path: Path, old: Index | None, changes: Callable[[Index | None], Changes]) -> Index:
    """Bring an index up to date, from the old one or from nothing, and publish it.

    ``changes`` says what is to be changed in the index that it is given.
    """
    # each once: without an old index there are but two ways
    for source, place in dict.fromkeys([(old, path), (None, path), (old, None), (None, None)]):
        try:
            return _made(source, place, changes(source))
        except (sqlite3.Error, OSError):
            if place is None and source is None:
                raise
    raise AssertionError("the last way returns or raises")


def _made(old: Index | None, path: Path | None, changes: Changes) -> Index:
    draft = _draft(path) if path is not None else None
    connection = sqlite3.connect(draft or ":memory:", isolation_level=None)
    try:
        if old is not None:
            old.connection.backup(connection)
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        if old is None:
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO meta VALUES ('code', ?)", [code()])
        _change(connection, changes)
        connection.execute("COMMIT")
        if old is None:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        if draft is None or path is None:
            return Index(connection)
        connection.close()
        _publish(draft, path)
    except BaseException:
        connection.close()
        if draft is not None:
            with suppress(OSError):
                os.unlink(draft)
        raise
    found = opened(path)
    if found is None:
        raise sqlite3.DatabaseError("what was written cannot be read")
    return found


def _draft(path: Path) -> Path:
    """Make an empty file for a new index, and clear away what others left."""
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for private in (folder, folder.parent):
        if private == directory() or private.parent == directory():
            os.chmod(private, 0o700)
    old = time.time() - _ABANDONED
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".new"):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < old:
                        os.unlink(entry.path)
    draft = path.with_name(f"{path.stem}.{uuid4().hex}.new")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return draft


def _publish(draft: Path, path: Path) -> None:
    fd = os.open(draft, os.O_RDWR)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(draft, path)


def _change(connection: sqlite3.Connection, changes: Changes) -> None:
    for n in changes.gone:
        _forget(connection, n, set())
        for table, column in (("stores", "n"), ("files", "store"), ("edges", "store")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", [n])
        connection.execute("DELETE FROM edges WHERE other = ?", [n])
    for n, touched in changes.touched.items():
        connection.execute(
            "UPDATE stores SET stamp = ?, taken = ?, racy = ? WHERE n = ?",
            [touched.stamp, touched.taken, _json(touched.racy), n],
        )
        connection.executemany(
            "UPDATE files SET entry = ? WHERE store = ? AND path = ?",
            [(entry, n, path) for path, entry in touched.entries.items()],
        )
    for n, seen in changes.read.items():
        _put_store(connection, n, seen)
        _put_records(connection, n, seen.opened)
    if changes.read:
        _put_edges(connection, changes.read)
    if changes.read or changes.gone:
        _put_groups(connection)


def _put_store(connection: sqlite3.Connection, n: int, seen: Seen) -> None:
    store = seen.opened
    connection.execute(
        "INSERT OR REPLACE INTO stores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            n,
            store.label,
            store.adapter.name,
            store.adapter.spec,
            seen.stamp,
            seen.taken,
            _json(seen.racy),
            _json(sorted(seen.ignored)),
            store.raw.id,
            _json(sameness.related(store)),
            _json(seen.problems),
        ],
    )
    connection.execute("DELETE FROM files WHERE store = ?", [n])
    connection.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?)",
        [(n, path, entry, seen.digests.get(path)) for path, entry in seen.entries.items()],
    )


def _put_records(connection: sqlite3.Connection, n: int, store: Opened) -> None:
    """Put a store's records in; what says the same as before keeps its words."""
    from interop import fields, guarding
    from interop.bridge.query import needs_pieces
    from interop.bridge.spoken import spoken
    from interop.model import Memory

    rows = connection.execute("SELECT key, id, data FROM records WHERE store = ?", [n])
    before = {key: (number, data) for key, number, data in rows}
    from_where = sameness.origins(store)
    cited = guarding.ids(store)
    stay: set[int] = set()
    kept: list[tuple[object, ...]] = []
    new: list[tuple[object, ...]] = []
    for position, record in enumerate(store.restored.store.records):
        data = fields.dumps(fields.to_json(record))
        origins = _json(from_where.get(record.key, ()))
        number, then = before.get(record.key, (0, b""))
        if then == data:
            stay.add(number)
            kept.append((position, origins, cited.get(record.key), number))
            continue
        said = spoken(record)
        mark = hashlib.blake2b(said.mark.encode("utf-8", "replace"), digest_size=16).digest()
        state = record.state if isinstance(record, Memory) else "live"
        new.append(
            (
                *(n, position, record.key, record.role, state, data, said.plain),
                *(mark if said.mark else b"", origins, cited.get(record.key)),
                *(any(map(needs_pieces, said.columns)), *said.columns),
            )
        )
    _forget(connection, n, stay)
    connection.executemany(
        "UPDATE records SET position = ?, origins = ?, cited = ? WHERE id = ?", kept
    )
    last = connection.execute("SELECT coalesce(max(id), 0) FROM records").fetchone()[0]
    connection.executemany(
        "INSERT INTO records (store, position, key, role, state, data, plain, mark, origins, "
        f"cited, pieces, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        new,
    )
    for table, only in (("words", ""), ("pieces", "AND pieces")):
        connection.execute(
            f"INSERT INTO {table} (rowid, {_COLUMNS}) SELECT id, {_COLUMNS} FROM records "
            f"WHERE id > ? {only}",
            [last],
        )


def _forget(connection: sqlite3.Connection, n: int, stay: set[int]) -> None:
    """Take a store's records out, but for some."""
    rows = connection.execute("SELECT id FROM records WHERE store = ?", [n])
    leave = [(number,) for (number,) in rows if number not in stay]
    for table, only in (("words", ""), ("pieces", "AND pieces")):
        connection.executemany(
            f"INSERT INTO {table} ({table}, rowid, {_COLUMNS}) SELECT 'delete', id, {_COLUMNS} "
            f"FROM records WHERE id = ? {only}",
            leave,
        )
    connection.executemany("DELETE FROM records WHERE id = ?", leave)


def _put_edges(connection: sqlite3.Connection, read: Mapping[int, Seen]) -> None:
    """Link the records of stores that were read with those of the stores they came from or went to.

    Whoever changes a store reads those that it is linked with too, so both are at hand.
    """
    for n, seen in read.items():
        for m, other in read.items():
            if m <= n:
                continue
            connection.execute("DELETE FROM edges WHERE store = ? AND other = ?", [n, m])
            if linked(_ties(seen.opened), _ties(other.opened)):
                connection.executemany(
                    "INSERT INTO edges VALUES (?, ?, ?, ?)",
                    [(n, a, m, b) for a, b in sameness.edges(seen.opened, other.opened)],
                )


def _ties(store: Opened) -> tuple[str, tuple[str, ...]]:
    return store.raw.id, sameness.related(store)


def tie_of(seen: Seen) -> tuple[str, tuple[str, ...]]:
    """Give what tells the stores that one is linked with: its id, and those it came from."""
    return _ties(seen.opened)


def linked(one: tuple[str, Iterable[str]], other: tuple[str, Iterable[str]]) -> bool:
    """Were records of one of two stores converted from the other? Given their ids and relations."""
    return one[0] in other[1] or other[0] in one[1]


def _put_groups(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "SELECT id, store, key, mark, origins, grp FROM records ORDER BY store, position"
    ).fetchall()
    members = [
        sameness.Member(store, key, mark, tuple(orjson.loads(origins)))
        for _, store, key, mark, origins, _ in rows
    ]
    found = connection.execute("SELECT store, key, other, other_key FROM edges").fetchall()
    edges = cast("list[sameness.Edge]", found)
    firsts = sameness.groups(members, edges)
    connection.executemany(
        "UPDATE records SET grp = ? WHERE id = ?",
        [
            (rows[first][0], row[0])
            for row, first in zip(rows, firsts, strict=True)
            if row[5] != rows[first][0]
        ],
    )


def _known(connection: sqlite3.Connection) -> Iterator[tuple[int, Known]]:
    for row in connection.execute("SELECT * FROM stores"):
        n, place, format_name, spec, stamp, taken, racy, ignored, store_id, related, problems = row
        yield (
            n,
            Known(
                place=place,
                format=format_name,
                spec=spec,
                stamp=stamp,
                taken=taken,
                racy=tuple(orjson.loads(racy)),
                ignored=frozenset(orjson.loads(ignored)),
                id=store_id,
                related=tuple(orjson.loads(related)),
                problems=tuple((said, way) for said, way in orjson.loads(problems)),
            ),
        )


def files_of(index: Index, n: int) -> dict[str, tuple[str, str | None]]:
    """Give what is known of a store's files: path -> entry and digest."""
    rows = index.connection.execute("SELECT path, entry, digest FROM files WHERE store = ?", [n])
    return {path: (entry, digest) for path, entry, digest in rows}


def problems_of(known: Known, name: str) -> Iterator[StoreProblem]:
    """Say what could not be read of a store."""
    for problem, remedy in known.problems:
        yield StoreProblem(store=name, problem=problem, remedy=remedy)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
