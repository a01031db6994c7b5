"""Export: the tables say what the stores say, in place, in one transaction."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from interop import convert, fields, stores
from interop import export as exports
from interop.disk import stream
from interop.errors import FormatError, RefusedError, UsageError, WriteError
from interop.export import APPLICATION, TABLES, Exported, export
from interop.model import Record
from interop.stores import Opened
from tests.samples import Sample

ROOT = Path(__file__).parents[1]
FACT = "---\nname: {name}\ndescription: About {name}\ntype: project\nlinks: [{link}]\n---\n{body}\n"
TOMBSTONES = (
    "# Tombstones\n\n| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
    "|---|---|---|---|---|---|---|\n"
    "| X1 | price of a day | 19 € | D1 | 2031-05-02 | raised | D1 |\n"
)


def fact(root: Path, name: str, body: str = "Two bar.", link: str = "chain-oil") -> None:
    path = root / "facts" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FACT.format(name=name, body=body, link=link), encoding="utf-8")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A bantamkit store of two facts."""
    root = tmp_path / "store"
    fact(root, "tyres")
    fact(root, "chain-oil", "Oil the chain every month.", "tyres")
    return root


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """A Memory Compiler topic with decisions and a tombstone."""
    root = tmp_path / "topic"
    root.mkdir()
    (root / "DECISIONS.md").write_text(
        "# Decisions\n\n| ID | Decision | Why | Date | Evidence | Supersedes | Status |\n"
        "|---|---|---|---|---|---|---|\n"
        "| D1 | A day costs 21 euros | repairs | 2031-05-02 | minutes | — | Active |\n",
        encoding="utf-8",
    )
    (root / "TOMBSTONES.md").write_text(TOMBSTONES, encoding="utf-8")
    return root


def bantamkit(root: Path) -> Opened:
    return stores.open_store(f"bantamkit:{root}")


def query(file: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as db:
        return db.execute(sql, values).fetchall()


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return list(db.iterdump())


def said(file: Path) -> dict[str, dict[str, object]]:
    """Every record as the tables say it, in JSON form."""
    with closing(sqlite3.connect(file)) as db:
        db.row_factory = sqlite3.Row
        out: dict[str, dict[str, object]] = {}
        for row in db.execute("SELECT * FROM records ORDER BY position"):
            item = {k: row[k] for k in row.keys() if row[k] is not None}  # noqa: SIM118
            number = item.pop("id")
            del item["store_id"], item["position"]
            if "text" in item:
                item["body"] = {"text": item.pop("text"), "media": item.pop("media")}
            if "extra" in item:
                item["extra"] = json.loads(item["extra"])
            for field, column in (("tags", "tag"), ("entities", "entity")):
                found = db.execute(
                    f"SELECT {column} FROM {field} WHERE record_id=? ORDER BY position", [number]
                ).fetchall()
                if found:
                    item[field] = [value[0] for value in found]
            links = db.execute(
                "SELECT rel, target FROM links WHERE record_id=? ORDER BY position", [number]
            ).fetchall()
            if links:
                item["links"] = [{"rel": rel, "target": target} for rel, target in links]
            kinds = dict(
                db.execute("SELECT vocabulary, term FROM kinds WHERE record_id=?", [number])
                .fetchall()
            )  # fmt: skip
            if kinds:
                item["kinds"] = kinds
            for stone in db.execute("SELECT * FROM tombstones WHERE record_id=?", [number]):
                item |= {k: stone[k] for k in stone.keys()[1:] if stone[k] is not None}
            out[str(item["key"])] = item
    return out


def json_of(records: tuple[Record, ...]) -> dict[str, dict[str, object]]:
    return {r.key: json.loads(fields.dumps(fields.to_json(r))) for r in records}


def test_the_tables_say_every_field_of_every_sample(sample: Sample, tmp_path: Path) -> None:
    opened = sample.opened()
    file = tmp_path / "memory.db"
    (done,) = export([opened], file)
    records = opened.restored.store.records
    assert (done.action, done.records) == ("added", len(records))
    assert said(file) == json_of(records)


def test_a_store_is_replaced_in_place_and_others_stay(
    store: Path, topic: Path, tmp_path: Path
) -> None:
    file = tmp_path / "memory.db"
    other = stores.open_store(f"memory-compiler:{topic}")
    place = f"bantamkit:{store.resolve()}"
    first = export([bantamkit(store), other], file)
    assert [e.action for e in first] == ["added", "added"]
    ids = dict(query(file, "SELECT key, id FROM records"))
    fact(store, "tyres", "Three bar.", "saddle")
    fact(store, "saddle")
    (store / "facts" / "chain-oil.md").unlink()
    done = export([bantamkit(store), other], file)
    assert [e.action for e in done] == ["replaced", "unchanged"]
    assert done[0] == Exported(store=place, records=2, action="replaced")
    now = dict(query(file, "SELECT key, id FROM records"))
    assert now["facts/tyres.md"] == ids["facts/tyres.md"]
    assert now["facts/saddle.md"] not in ids.values()
    assert "facts/chain-oil.md" not in now
    assert {k: v for k, v in now.items() if "#" in k} == {k: v for k, v in ids.items() if "#" in k}
    assert query(file, "SELECT target FROM links ORDER BY target") == [("chain-oil",), ("saddle",)]
    assert query(file, "SELECT rejected FROM tombstones") == [("19 €",)]
    assert query(file, "SELECT place, records FROM stores ORDER BY id") == [
        (place, 2), (f"memory-compiler:{topic.resolve()}", 2),
    ]  # fmt: skip
    search = "SELECT rowid FROM records_fts WHERE records_fts MATCH ?"
    assert query(file, search, "three") == [(now["facts/tyres.md"],)]
    assert query(file, search, "month") == []
    assert len(query(file, search, "repairs")) == 1
    assert query(file, "PRAGMA foreign_key_check") == []
    with closing(sqlite3.connect(file)) as db:
        db.execute("INSERT INTO records_fts(records_fts) VALUES('integrity-check')")


def test_what_did_not_change_changes_no_byte(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    export([bantamkit(store)], file)
    before = file.read_bytes()
    (done,) = export([bantamkit(store), bantamkit(store)], file)
    assert done.action == "unchanged"
    assert file.read_bytes() == before


def test_a_store_counts_what_its_complement_adds(store: Path, tmp_path: Path) -> None:
    there = tmp_path / "memory"
    command = [sys.executable, "-m", "interop.cli.main", "convert", f"bantamkit:{store}"]
    subprocess.run([*command, f"claude-code:{there}"], check=True, capture_output=True, cwd=ROOT)
    file = tmp_path / "memory.db"
    export([stores.open_store(f"claude-code:{there}")], file)
    assert query(file, "SELECT target FROM links ORDER BY target") == [("chain-oil",), ("tyres",)]


def test_a_failure_leaves_everything_as_it_was(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.db"
    insert = exports._insert  # pyright: ignore[reportPrivateUsage]

    def failing(db: Database, table: str, rows: Any) -> None:
        if table == "kinds":
            raise sqlite3.OperationalError("disk I/O error")
        insert(db, table, rows)

    monkeypatch.setattr(exports, "_insert", failing)
    with pytest.raises(WriteError, match="nothing was changed"):
        export([bantamkit(store)], file)
    assert not file.exists()
    monkeypatch.undo()
    export([bantamkit(store)], file)
    before = dump(file)
    fact(store, "saddle")
    monkeypatch.setattr(exports, "_insert", failing)
    with pytest.raises(WriteError):
        export([bantamkit(store)], file)
    assert dump(file) == before


def test_only_a_database_of_ours_is_written(store: Path, tmp_path: Path) -> None:
    opened = bantamkit(store)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE records (a)")
        db.commit()
    text = tmp_path / "notes.txt"
    text.write_text("Not a database, but long enough to be looked at as one. " * 20)
    newer = tmp_path / "newer.db"
    export([opened], newer)
    with closing(sqlite3.connect(newer)) as db:
        db.execute("PRAGMA user_version = 99")
    for file, error in ((other, RefusedError), (text, FormatError), (newer, RefusedError)):
        before = file.read_bytes()
        with pytest.raises(error):
            export([opened], file)
        assert file.read_bytes() == before
    with pytest.raises(UsageError, match="inside"):
        export([opened], store / "memory.db")
    with pytest.raises(UsageError, match="folder"):
        export([opened], tmp_path)
    with pytest.raises(WriteError):
        export([opened], tmp_path / "nowhere" / "memory.db")
    assert not (store / "memory.db").exists()
    assert query(newer, "PRAGMA application_id") == [(APPLICATION,)]


def test_an_empty_file_is_a_new_database(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    file.touch()
    assert export([bantamkit(store)], file)[0].action == "added"


def test_a_number_beyond_64_bits_is_kept_as_text(tmp_path: Path) -> None:
    assert exports._cell(1 << 63) == str(1 << 63)  # pyright: ignore[reportPrivateUsage]
    assert exports._cell(-(1 << 63)) == -(1 << 63)  # pyright: ignore[reportPrivateUsage]


# --- command and page


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interop.cli.main", "export", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT)


def test_a_snapshot_from_stdin_is_known_by_its_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two machines pipe theirs into one database: neither takes the other's rows."""
    file = tmp_path / "all.db"
    other = tmp_path / "other"
    shutil.copytree(store, other)
    fact(other, "brakes")

    def piped(place: Path) -> list[Exported]:
        here = stores.open_store(f"bantamkit:{place}")
        there = stores.to_stdout("-", here)
        plan = convert.plan(here, there, now="2031-05-02T10:00:00.000Z")
        shot = convert.stream(plan, here, there)
        stream.offer(lambda: shot)
        try:
            return export([stores.open_store("-")], file)
        finally:
            stream.offer(None)

    # a store gets its id with the first conversion into a place
    for place in (store, other):
        here = stores.open_store(f"bantamkit:{place}")
        there = stores.open_store(f"{place}.jsonl", must_exist=False)
        convert.apply_plan(convert.plan(here, there, now="2031-05-02T10:00:00.000Z"), here, there)
    (one,), (two,) = piped(store), piped(other)
    assert (one.action, two.action) == ("added", "added")
    assert one.store != two.store
    monkeypatch.chdir(tmp_path)
    assert [e.action for e in (*piped(store), *piped(other))] == ["unchanged", "unchanged"]
    bare = b'{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n'
    stream.offer(lambda: bare)
    try:
        with pytest.raises(UsageError, match="does not say which store it is"):
            export([stores.open_store("-")], file)
    finally:
        stream.offer(None)


def test_a_store_that_is_gone_is_taken_out(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.db"
    other = tmp_path / "other"
    shutil.copytree(store, other)
    specs = [f"bantamkit:{store}", f"bantamkit:{other}"]
    export([stores.open_store(spec) for spec in specs], file)
    shutil.rmtree(store)
    with pytest.raises(UsageError, match=r"is not in .*there is: bantamkit"):
        exports.forget([specs[0], "bantamkit:/nowhere"], file)
    assert run("--sqlite", file).returncode == 2
    assert run(specs[1], "--sqlite", file, "--forget", specs[0]).returncode == 2
    done = run("--sqlite", file, "--forget", specs[0])
    assert (done.returncode, done.stdout) == (0, f"forgotten {specs[0]}: 2 records\n"), done.stderr
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT place FROM stores").fetchall() == [(specs[1],)]
        for table in ("records", "links", "kinds", "records_fts"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (2,), table
    with pytest.raises(FormatError, match="there is no such database"):
        exports.forget([specs[1]], tmp_path / "none.db")


def test_what_says_nothing_is_null(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(
        b'{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n'
        b'{"role":"memory","key":"a.md","title":""}\n'
        b'{"role":"tombstone","key":"T1","subject":"","rejected":"19"}\n'
    )
    export([stores.open_store(str(file))], tmp_path / "all.db")
    with closing(sqlite3.connect(tmp_path / "all.db")) as db:
        for table, columns in TABLES.items():
            for column in columns:
                if column == "text":
                    continue  # a memory always has a text, be it an empty one
                empty = f"SELECT count(*) FROM {table} WHERE {column} = ''"
                assert db.execute(empty).fetchone() == (0,), (table, column)


def test_the_command_exports_and_names_what_it_could_not_read(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    done = run(f"bantamkit:{store}", "--sqlite", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"added bantamkit:{store.resolve()}: 2 records\n"
    (store / "facts" / "broken.md").write_bytes(b"no header")
    again = run(f"bantamkit:{store}", "--sqlite", file, "--json")
    assert again.returncode == 4
    assert json.loads(again.stdout)["action"] == "unchanged"
    assert "facts/broken.md" in again.stderr
    assert run(f"bantamkit:{store}").returncode == 2


def test_the_page_has_the_tables_and_its_queries_run(
    store: Path, topic: Path, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    documented = {
        table: set(re.findall(r"`(\w+)`", columns))
        for table, columns in re.findall(r"^\| `(\w+)` \| (.*?) \|$", page, re.MULTILINE)
    }
    assert documented == {table: set(columns) for table, columns in TABLES.items()}
    file = tmp_path / "memory.db"
    fact(store, "brakes", link="tyres")
    export([bantamkit(store), stores.open_store(f"memory-compiler:{topic}")], file)
    queries = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    assert len(queries) >= 5
    for sql in queries:
        assert query(file, sql), sql
