"""The bantamkit adapter: readings, the laws under a hammer, and each rule of fitting."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Surroundings, Written
from interop.adapters.bantamkit import ADAPTER, fact_file, names
from interop.adapters.bantamkit.index import BUDGET
from interop.model import Body, Decision, Files, Link, Memory, Record, Store, Task, Tombstone

ROOT = Path(__file__).parents[1]
GOLDEN = sorted((ROOT / "golden" / "bantamkit").iterdir())
SHARED = ROOT.parent / "shared" / "fixtures" / "bantamkit"
NOW = Context(now="2026-11-30T12:00:00.000Z")


def load(case: Path) -> dict[str, bytes]:
    root = case / "store"
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def put(files: Files, *records: Record, context: Context = NOW) -> Written:
    return ADAPTER.write(Store(format="bantamkit", records=records), files, context)


def only(files: Files) -> Memory:
    (record,) = ADAPTER.read(files).records
    assert isinstance(record, Memory)
    return record


def fact(name: str = "pump", rest: str = "", body: str = "Text.", **keys: str) -> bytes:
    head = {"name": name, "description": "The pump", "type": "project", "created": "'2026-03-01'"}
    lines = "".join(f"{key}: {value}\n" for key, value in (head | keys).items())
    return f"---\n{lines}{rest}last_recalled: null\nlinks: []\n---\n\n{body}\n".encode()


def new(**said: Any) -> Memory:
    given_: dict[str, Any] = {
        "key": "notes/pump.md",
        "name": "pump",
        "description": "The pump",
        "body": Body(text="Text."),
        "kinds": {"claude": "project"},
        "created": "2026-03-01",
    }
    return Memory(**(given_ | said))


def fitted(record: Record, current: Record | None = None, context: Context = NOW) -> Fitted:
    result = ADAPTER.fit(record, current, context)
    assert isinstance(result, Fitted), result
    return result


# What is read


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: c.name)
def test_golden_stores_are_read_as_said_and_kept(case: Path) -> None:
    files = load(case)
    store = ADAPTER.read(files)
    model = json.loads((case / "model.json").read_bytes())
    assert [fields.to_json(r) for r in store.records] == model["records"]
    told = [{"path": p.path, "problem": p.problem, "unread": p.unread} for p in store.problems]
    assert told == model["problems"]
    assert sorted(store.carried) == model["carried"]
    assert ADAPTER.detect(files)
    assert put(files, *store.records) == Written(
        files=files, records={r.key: r for r in store.records}
    )
    read = {r.key for r in store.records}
    assert {p.path for p in store.problems if p.unread} == {
        path for path in files if names.is_fact(path) and path not in read
    }


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"ABSENT: {SHARED}; golden/ alone is checked")
@pytest.mark.parametrize("case", ["basic", "empty", "hazards"])
def test_the_shared_cases_are_read_as_expected(case: str) -> None:
    files = load(SHARED / case)
    store = ADAPTER.read(files)
    got = {r.key: fields.to_json(r) for r in store.records}
    for line in (SHARED / case / "expect.jsonl").read_text(encoding="utf-8").splitlines():
        want: dict[str, Any] = json.loads(line)
        have: dict[str, Any] = got.pop(want["key"])
        body = have.pop("body", {"text": "", "media": "text/markdown"})
        have |= body
        for key, value in want.items():
            if key == "extra":
                assert have["extra"] == value
            else:
                assert (have.get(key) or None) == (value or None), (want["key"], key)
    assert not got
    problems = SHARED / case / "problems.jsonl"
    if problems.exists():
        told = {p.path: p.unread for p in store.problems}
        for line in problems.read_text(encoding="utf-8").splitlines():
            path = json.loads(line)["path"]
            assert told[path] == (path not in {r.key for r in store.records})


def test_other_stores_are_not_taken_for_ours() -> None:
    assert ADAPTER.detect({}) is None
    assert ADAPTER.detect({"index.md": b""}) is None
    assert ADAPTER.detect({"index.md": b"# Notes\n", "facts/a.md": b"text"}) is None
    assert ADAPTER.detect({"MEMORY.md": b"- [a](a.md)\n", "a.md": fact()}) is None
    assert ADAPTER.detect({"index.md": "- [[a]] (user) — A\n".encode()})


# The laws


BITS = [
    *(b"---\n", b"---", b"\r\n", b"\r", b"\n", b"\t", b": ", b"- ", b" # c\n", b"'", b'"', b"["),
    *(b"{", b"&a ", b"*a", b"<<: ", b"|\n", b">\n", b"\xef\xbb\xbf", b"\xc2\x85", b"\xe2\x80\xa8"),
    *(b"\xc2\xa0", b"null", b"\x00", b"\xff", b"? ", b"...\n", b"owner: desk\n", b"name: x\n"),
    *(b"type: user\n", b"2026-01-05", b"  ", b"metadata: {type: user, loop: error}\n"),
]
TEXTS = [
    *("plain", "ends ---", "a --- b " * 12, "--- x", "x---", "é ü", "ไทย", "\ufeffx", "\u00a0edge"),
    *("two\nlines", "tab\there", "'q'", "yes", "2026-01-01", "null", "# c", "a: b", "x #y", "- x"),
    *("word " * 40, "a" * 90, "x" * 64 + " --- y z", "x\u0085y", "x\u2028y", "\ud800", "\x00", ""),
    *(" ", "[[x]]", "{a}", "*x", "%x", "@x", "~", "=", "<<", "1.5", "1:30", "🚲", "a'b--- " * 9),
    *("-" * 100, "long-" * 30, "\r\n\r", "x\r\ny"),
]
TEXT = st.one_of(
    st.sampled_from(TEXTS),
    st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)).map(" ".join),
    st.text(
        st.sampled_from(" -\n\r\t'\":#ab\u0085\u00a0\u2028\ufeffé🚲\ufffe\u3000"), max_size=120
    ),
)
LINK = st.builds(Link, rel=st.sampled_from(["link", "link", "cites"]), target=TEXT)
DATE = st.one_of(st.sampled_from([None, "2026-01-05", "2026-01-05T10:00:00Z"]), TEXT)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "name": st.one_of(st.none(), st.just("pump"), TEXT),
    "description": st.one_of(st.none(), TEXT),
    "body": st.builds(Body, text=TEXT),
    "kinds": st.sampled_from([{}, {"claude": "user"}, {"claude": "feedback"}, {"claude": "odd"}]),
    "links": st.lists(LINK, max_size=3).map(tuple),
    "created": DATE,
    "recalled": DATE,
    "state": st.sampled_from(["live", "archived"]),
    "extra": st.sampled_from(
        [
            {},
            {"bantamkit": {"outcome": "error"}},
            {"bantamkit": {"status": "done", "owner": "x"}},
            {"bantamkit": {"outcome": "bad", "status": "active"}},
            {"memhtml": {"score": "1"}},
        ]
    ),
    "title": st.just("T"),
    "tags": st.just(("a",)),
}
KEYS = ["facts/pump.md", "notes/Ünï x.md", "M.md#abc", "facts/con.md", "archive/twice.md", "---.md"]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, bytes]:
    """A few files of the golden stores, many of them damaged."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    every = {path: data for case in GOLDEN for path, data in load(case).items()}
    files: dict[str, bytes] = {}
    for path in chance.sample(sorted(every), 6):
        data = bytearray(every[path])
        for _ in range(chance.choice([0, 1, 1, 2, 5])):
            at = chance.randrange(min(len(data), chance.choice([160, 1000])) + 1)
            if chance.random() < 0.6:
                data[at:at] = chance.choice(BITS)
            else:
                del data[at : at + chance.randrange(1, 12)]
        files[chance.choice([path, path.replace("facts/", "archive/")])] = bytes(data)
    return files


def bare(record: Record) -> Record:
    """Without what an address decides."""
    assert isinstance(record, Memory)
    return dataclasses.replace(record, key="", name=None)


@settings(max_examples=150)
@given(damaged())
def test_nothing_changes_where_nothing_changed(files: dict[str, bytes]) -> None:
    before = dict(files)
    store = ADAPTER.read(files)
    written = put(files, *store.records)
    assert written.files == before == files
    assert not written.supplied
    assert not written.refused
    for record in store.records:
        assert fitted(record, record) == Fitted(record=record)
    list(ADAPTER.lint(files, store))


@settings(max_examples=150)
@given(damaged())
def test_the_reading_is_the_runtimes(files: dict[str, bytes]) -> None:
    """Against the runtime's own lines, copied from its documentation of the parse."""
    for path, data in files.items():
        if not names.is_fact(path):
            continue
        found = fact_file.read(path, data)
        try:
            text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
            _, front, body = text.split("---\n", 2)
            meta = yaml.load(front, yaml.SafeLoader)
            name, description = meta["name"], meta["description"]
            if "type" not in meta and meta["metadata"]["type"] is None:
                raise KeyError
            list(meta.get("links") or [])
        except (ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError):
            assert not isinstance(found, fact_file.Fact)
            continue
        except RecursionError:
            continue
        if not isinstance(found, fact_file.Fact):
            # Bounded here, though the runtime would go on.
            assert "expands" in found.problem or "deep" in found.problem or "alias" in found.problem
            continue
        assert found.record.body.text == body.strip()
        for said, value in ((found.record.name, name), (found.record.description, description)):
            if isinstance(value, str) and value.isprintable():
                assert (said or "") == value


@settings(max_examples=200)
@given(damaged(), st.data())
def test_one_field_of_one_record(files: dict[str, bytes], data: st.DataObject) -> None:
    records = ADAPTER.read(files).records
    if not records:
        return
    at = data.draw(st.integers(0, len(records) - 1))
    field = data.draw(st.sampled_from(sorted(VALUES)))
    old = records[at]
    edit = fields.replace(old, {field: data.draw(VALUES[field])})
    written = put(files, *records[:at], edit, *records[at + 1 :])
    assert not {k for k in files if k not in written.files} - {old.key}
    result = ADAPTER.fit(edit, old, NOW)
    if isinstance(result, Refusal) or written.refused:
        assert written.refused
        assert written.files == files
        assert written.records[old.key] == old
        return
    assert fitted(result.record, old) == Fitted(record=result.record)
    back = {r.key: r for r in ADAPTER.read(written.files).records}
    now = written.records[old.key]
    assert back[now.key] == now
    assert bare(now) == bare(result.record)
    for other in (*records[:at], *records[at + 1 :]):
        assert back[other.key] == written.records[other.key] == other
    changed = {p for p in {*files, *written.files} if files.get(p) != written.files.get(p)}
    assert changed <= {old.key, now.key, "index.md"}


@settings(max_examples=200)
@given(damaged(), st.data())
def test_new_records(files: dict[str, bytes], data: st.DataObject) -> None:
    records = ADAPTER.read(files).records
    keys = data.draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=3))
    make = st.fixed_dictionaries(VALUES)
    made = [Memory(key=key, **data.draw(make)) for key in keys if key not in files]
    written = put(files, *records, *made)
    refused = {r.key for r in written.refused}
    assert refused | set(written.records) == {r.key for r in (*records, *made)}
    back = {r.key: r for r in ADAPTER.read(written.files).records}
    assert back == {r.key: r for r in written.records.values()}
    for record in made:
        if record.key not in refused:
            now = written.records[record.key]
            assert bare(now) == bare(fitted(record).record)
            assert isinstance(now, Memory)
            assert written.files[now.key].decode("utf-8") == fact_file.canonical(now)
            alone = {now.key: written.files[now.key]}
            findings = ADAPTER.lint(alone, ADAPTER.read(alone))
            assert {f.severity for f in findings} <= {"note"}


def test_a_new_file_is_as_the_runtime_writes_it() -> None:
    written = put({}, new(links=(Link(target="dock"), Link(rel="cites", target="x"))))
    assert written.files == {
        "facts/pump.md": b"---\nname: pump\ndescription: The pump\ntype: project\n"
        b"created: '2026-03-01'\nlast_recalled: null\nlinks:\n- dock\n---\n\nText.\n",
        "index.md": "- [[pump]] (project) — The pump\n".encode(),
    }
    assert not written.supplied


# Splicing

HAND = """\
\ufeff---
# by hand
name: pump
type: user   # mine
description: The pump
owner: desk
links:
- dock
# end
created: 2026-03-01
---
\x20
One.

Two.
""".replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    ("field", "value", "old", "now"),
    [
        ("description", "A pump", b"The pump", b"A pump"),
        ("kinds", {"claude": "feedback"}, b"user   # mine", b"feedback"),
        ("links", (), b"links:\r\n- dock\r\n", b"links: []\r\n"),
        ("links", (Link(target="a"), Link(target="b")), b"- dock\r\n", b"- a\r\n- b\r\n"),
        ("created", None, b"created: 2026-03-01\r\n", b""),
        ("created", "2026-04-01", b"2026-03-01", b"'2026-04-01'"),
        (
            "recalled",
            "2026-05-01",
            b"created: 2026-03-01\r\n",
            b"created: 2026-03-01\r\nlast_recalled: '2026-05-01'\r\n",
        ),
        ("body", Body(text="One.\n\nThree."), b"Two.", b"Three."),
        ("body", Body(text="Zero.\nOne.\n\nTwo."), b"\r\nOne.", b"\r\nZero.\r\nOne."),
        ("body", Body(text=""), b"One.\r\n\r\nTwo.", b""),
        (
            "extra",
            {"bantamkit": {"owner": "desk", "status": "done"}},
            b"created: 2026-03-01\r\n",
            b"created: 2026-03-01\r\nstatus: done\r\n",
        ),
    ],
)
def test_an_edit_restates_its_own_lines(field: str, value: object, old: bytes, now: bytes) -> None:
    files = {"facts/pump.md": HAND}
    record = fields.replace(only(files), {field: value})
    written = put(files, record)
    assert not written.refused
    assert written.files["facts/pump.md"] == HAND.replace(old, now, 1)


def test_a_name_renames_the_file_and_its_line() -> None:
    files = {"facts/pump.md": fact(), "index.md": "- [[a]] (user) — A\n".encode()}
    files["index.md"] += "- [[pump]] (project) — an old text\n- [[z]] (user) — Z\n".encode()
    written = put(files, dataclasses.replace(only(files), name="Air Pump"))
    assert written.records["facts/pump.md"].key == "facts/air-pump.md"
    assert written.files["facts/air-pump.md"] == fact("air-pump")
    assert written.files["index.md"].decode() == (
        "- [[a]] (user) — A\n- [[air-pump]] (project) — The pump\n- [[z]] (user) — Z\n"
    )
    assert [(s.field, s.value) for s in written.supplied] == [("name", "air-pump")]


def test_archiving_moves_the_bytes() -> None:
    data = fact(rest="owner: desk\n")
    index = "- [[other]] (user) — stale\n".encode()
    files = {
        "facts/pump.md": data,
        "index.md": index + "- [[pump]] (project) — The pump\n".encode(),
    }
    away = put(files, dataclasses.replace(only(files), state="archived"))
    assert away.files == {"archive/pump.md": data, "index.md": index}
    back = put(away.files, dataclasses.replace(only(away.files), state="live"))
    assert back.files == files


def test_a_move_never_overwrites() -> None:
    files = {"facts/pump.md": fact(), "archive/pump.md": fact(body="Old.")}
    old, live = ADAPTER.read(files).records
    written = put(files, old, fields.replace(live, {"state": "archived"}))
    assert written.files == files
    assert [(r.key, r.field) for r in written.refused] == [("facts/pump.md", "state")]
    swapped = put(
        files, *(fields.replace(r, {"state": s}) for r, s in ((old, "live"), (live, "archived")))
    )
    assert swapped.files["facts/pump.md"] == files["archive/pump.md"]
    assert swapped.files["archive/pump.md"] == files["facts/pump.md"]


def test_a_header_on_one_line_is_refused_not_rewritten() -> None:
    files = {"facts/a.md": b"---\n{name: a, description: A, type: user}\n---\n\nText.\n"}
    record = only(files)
    assert (
        put(files, dataclasses.replace(record, description="B")).refused[0].field == "description"
    )
    assert put(files, dataclasses.replace(record, body=Body(text="B"))).files == {
        "facts/a.md": b"---\n{name: a, description: A, type: user}\n---\n\nB\n"
    }


def test_the_index_is_left_alone_until_a_line_changes() -> None:
    stale = "- [[gone]] (user) — gone\n".encode()
    files = {"facts/pump.md": fact(), "index.md": stale}
    record = only(files)
    assert put(files, dataclasses.replace(record, recalled="2026-05-01")).files["index.md"] == stale
    edited = put(files, dataclasses.replace(record, description="Air")).files["index.md"]
    assert edited.decode() == "- [[gone]] (user) — gone\n- [[pump]] (project) — Air\n"
    assert put(files).files == {"index.md": stale}
    bare_store = {"facts/pump.md": fact()}
    assert put(bare_store, only(bare_store)).files == bare_store
    both = put(bare_store, only(bare_store), new(key="a.md", name="a")).files
    assert both["index.md"].decode() == (
        "- [[a]] (project) — The pump\n- [[pump]] (project) — The pump\n"
    )


def test_originals_are_the_text_that_is_spliced() -> None:
    source = {"facts/Odd.md": HAND.replace(b"name: pump", b"name: Odd"), "archive/x.md": fact("y")}
    records = ADAPTER.read(source).records
    context = dataclasses.replace(NOW, originals=source)
    written = put({}, *records, context=context)
    assert {p: b for p, b in written.files.items() if p != "index.md"} == source
    assert not written.supplied
    edit = fields.replace(records[1], {"description": "Air"})
    again = put({}, records[0], edit, context=context)
    assert again.files["facts/Odd.md"] == source["facts/Odd.md"].replace(b"The pump", b"Air")


def test_an_original_is_begun_from_and_is_no_excuse() -> None:
    source = {"facts/one.md": fact("one"), "facts/Odd.md": fact("Odd")}
    odd, one = ADAPTER.read(source).records
    context = dataclasses.replace(NOW, originals=source)

    def begun(
        record: Record, onto: Files | None = None, **said: Any
    ) -> tuple[str, Memory, Written]:
        done = put(
            onto or {},
            *ADAPTER.read(onto or {}).records,
            record,
            context=dataclasses.replace(context, **said),
        )
        stands = done.records[record.key]
        assert isinstance(stands, Memory)
        return stands.key, stands, done

    # a date that the record does not state is demanded anew
    _, stands, done = begun(fields.replace(one, {"created": None}))
    assert stands.created == "2026-11-30"
    assert [s.field for s in done.supplied] == ["created"]
    # a name that is not the file's gives way to it, as that of any new fact
    renamed = fields.replace(one, {"name": "one-x"})
    path, _, done = begun(renamed)
    assert done.files[path] == source["facts/one.md"]
    path, stands, _ = begun(renamed, addresses={"facts/one.md": "facts/first.md"})
    assert (path, stands.name) == ("facts/first.md", "first")
    path, stands, _ = begun(odd, addresses={"facts/Odd.md": "facts/first.md"})
    assert (path, stands.name) == ("facts/first.md", "first")
    # one that another fact has, or that no new file can have, is not taken from an original
    path, stands, _ = begun(one, {"archive/other.md": fact("one")})
    assert (path, stands.name) == ("facts/one-2.md", "one-2")
    path, stands, _ = begun(odd, {"facts/odd.md": fact("x")})
    assert (path, stands.name) == ("facts/odd-2.md", "odd-2")
    # one that has no lines to restate is no reason to refuse a record whose file is not here
    flow = b"---\n{name: one, description: The pump, type: project, owner: desk}\n---\n\nText.\n"
    (record,) = ADAPTER.read({"facts/one.md": flow}).records
    path, _, done = begun(record, originals={"facts/one.md": flow})
    assert done.files[path] == flow
    edit = fields.replace(record, {"description": "Air"})
    path, _, done = begun(edit, originals={"facts/one.md": flow})
    assert done.files[path] == fact("one", description="Air", created="'2026-11-30'")
    assert [s.field for s in done.supplied] == ["created"]
    # what its author left out is not made up
    bare = {"facts/one.md": source["facts/one.md"].replace(b"created: '2026-03-01'\n", b"")}
    (record,) = ADAPTER.read(bare).records
    path, _, done = begun(record, originals=bare)
    assert done.files[path] == bare[path]


def test_a_new_fact_takes_the_line_that_stands_for_its_name() -> None:
    line = b"- [[pump]] (project) \xe2\x80\x94 "
    for text in (b"The pump", b"What it was"):
        done = put({"index.md": b"# Mine\n" + line + text + b"\n"}, new())
        assert done.files["index.md"] == b"# Mine\n" + line + b"The pump\n"
    files = {"facts/a.md": fact(), "index.md": line + b"The pump\n"}
    assert put(files, new()).files["index.md"] == files["index.md"]
    (other,) = ADAPTER.read(files).records
    both = put(files, other, new()).files["index.md"]
    assert both == files["index.md"] + line.replace(b"pump", b"pump-2") + b"The pump\n"


# Fitting


@pytest.mark.parametrize(
    ("key", "name", "text", "made"),
    [
        ("notes/pump.md", None, "x", "pump"),
        ("notes/Feedback_Tests v2.md", "whatever", "x", "feedback-tests-v2"),
        ("Größe & Maß.md", None, "x", "grosse-mass"),
        ("ท่าเรือ.md", "The dock", "x", "the-dock"),
        ("ท่าเรือ.md", None, "# Spare keys\nmore", "spare-keys"),
        ("ท่าเรือ.md", None, "ท่าเรือ", names.digest_name("ท่าเรือ")),
        ("MEMORY.md#1f", None, "- Pumps: " + "word " * 30, "pumps" + "-word" * 11),
        ("MEMORY.md#1f", "Pumps", "x", "pumps"),
        ("con.md", None, "x", "con-fact"),
        ("a---.md", None, "x", "a"),
        ("x" * 200 + ".md", None, "x", "x" * 128),
        ("facts/stem.md", "legal-name", "x", "legal-name"),
        ("facts/stem.md", "Illegal", "x", "stem"),
        ("a.b.md", None, "x", "a-b"),
    ],
)
def test_names(key: str, name: str | None, text: str, made: str) -> None:
    record = new(key=key, name=name, body=Body(text=text))
    result = fitted(record)
    assert fields.get(result.record, "name") == made
    assert names.is_legal(made)
    assert [s.value for s in result.supplied if s.field == "name"] == (
        [made] if made != name and (name is None or made == names.slug(name)) else []
    )


def test_names_that_collide_are_numbered_in_order_and_taken_again() -> None:
    records = (new(key="a/pump.md"), new(key="b/pump.md"), new(key="c/Pump.md", name=None))
    files = {"archive/pump.md": fact()}
    written = put(files, only(files), *records)
    assert [r.key for r in written.records.values()] == [
        *("archive/pump.md", "facts/pump-2.md", "facts/pump-3.md", "facts/pump-4.md")
    ]
    assert [s.value for s in written.supplied if s.field == "name"] == [
        "pump-2",
        "pump-3",
        "pump-4",
    ]
    addresses = {"c/Pump.md": "facts/pump-2.md", "a/pump.md": "archive/pump.md"}
    again = put(files, only(files), *records, context=dataclasses.replace(NOW, addresses=addresses))
    assert [r.key for r in again.records.values()][1:] == [
        *("facts/pump-3.md", "facts/pump-4.md", "facts/pump-2.md")
    ]


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("two\nlines\tand a tab\u2028x", "two lines and a tab x"),
        ("  edges ", "edges"),
        ("The path ends here ---", "The path ends here --- (dashes)"),
        ("---", "---"),
        ("x" * 62 + " --- and more words", "x" * 62 + " --- and more words"),
        ("x" * 64 + " --- and more words", "x" * 64 + " — and more words"),
        ("lone \ud800", "lone \\ud800"),
        (None, "Text."),
        ("\n", "Text."),
    ],
)
def test_descriptions(said: str | None, held: str) -> None:
    result = fitted(new(description=said))
    assert fields.get(result.record, "description") == held
    assert [s.field for s in result.supplied] == ([] if said == held else ["description"])


def test_a_fact_without_any_text_is_described_by_its_name() -> None:
    result = fitted(new(description=None, body=Body(text="\n")))
    assert fields.get(result.record, "description") == "pump"
    assert {s.field for s in result.supplied} == {"description", "body"}


@pytest.mark.parametrize(
    ("said", "held"),
    [
        (None, "2026-11-30"),
        ("2026-05-01", "2026-05-01"),
        ("2026-05-01T10:00:00Z", "2026-05-01"),
        ("2026-05-01 10:00", "2026-05-01"),
        ("spring 2026", "spring 2026"),
        ("2026-13-45", "2026-13-45"),
        ("2026\n05", "2026 05"),
    ],
)
def test_dates_are_days(said: str | None, held: str) -> None:
    result = fitted(new(created=said))
    assert fields.get(result.record, "created") == held
    assert [s.field for s in result.supplied] == ([] if said == held else ["created"])
    if said:
        assert fields.get(fitted(new(recalled=said)).record, "recalled") == held


def test_a_body_is_stripped_and_has_line_feeds() -> None:
    result = fitted(new(body=Body(text="\u00a0 One.\r\nTwo.\rThree.\n")))
    assert fields.get(result.record, "body").text == "One.\nTwo.\nThree."
    assert [s.field for s in result.supplied] == ["body"]
    html = fitted(new(body=Body(text="<p>x</p>", media="text/html")))
    assert fields.get(html.record, "body") == Body(text="<p>x</p>")
    assert [s.field for s in html.supplied] == ["body"]


def test_links_and_extra_that_do_not_fit_are_dropped_or_reworded() -> None:
    record = new(
        links=(Link(rel="cites", target="x"), Link(target="depot---"), Link(target="a\nb")),
        extra={"bantamkit": {"owner": "desk", "outcome": "error", "status": "active"}, "x": {}},
    )
    result = fitted(record)
    assert fields.get(result.record, "links") == (Link(target="depot"), Link(target="a b"))
    assert fields.get(result.record, "extra") == {"bantamkit": {"outcome": "error"}}
    user = fitted(fields.replace(record, {"kinds": {"claude": "user"}}))
    assert fields.get(user.record, "extra") is None


@pytest.mark.parametrize("kinds", [{}, {"memhtml": "lesson"}, {"claude": "gotcha"}])
def test_a_kind_is_demanded_and_never_guessed(kinds: dict[str, str]) -> None:
    refusal = ADAPTER.fit(new(kinds=kinds), None, NOW)
    assert isinstance(refusal, Refusal)
    assert refusal.field == "kinds"
    assert all(way in refusal.remedy for way in ("--kind-map", "--decisions", "--carry"))
    assert ("gotcha" in refusal.reason) == ("claude" in kinds)
    assert put({}, new(kinds=kinds)).files == {}


def test_an_odd_kind_that_stands_is_never_refused() -> None:
    files = {"facts/pump.md": fact(type="gotcha")}
    record = only(files)
    assert not put(files, dataclasses.replace(record, description="Air")).refused
    assert put(files, dataclasses.replace(record, kinds={})).refused


@pytest.mark.parametrize(
    "record", [Task(key="t.md#1"), Decision(key="d.md#1"), Tombstone(key="x.md#1")]
)
def test_other_roles_are_refused_with_a_way_out(record: Record) -> None:
    refusal = ADAPTER.fit(record, None, NOW)
    assert isinstance(refusal, Refusal)
    assert (refusal.field, "--carry" in refusal.remedy) == ("role", True)


# What a person is told


def test_lint_names_every_pitfall() -> None:
    found: dict[str, set[str]] = {}
    for case in GOLDEN:
        files = load(case)
        for finding in ADAPTER.lint(files, ADAPTER.read(files)):
            assert finding.problem
            assert finding.remedy
            found.setdefault(finding.code, set()).add(finding.path.rpartition("/")[2])
    assert "README.md" in found["BK101"]
    assert found["BK102"] == {"link-cut.md"}
    assert found["BK103"] == {"quoted.md"}
    assert {"old-stem.md", "number.md", ".dot.md"} <= found["BK104"]
    assert {"con.md", "UPPER.md"} <= found["BK105"]
    assert {"description-lines.md", "description-null.md"} <= found["BK106"]
    assert {"type-list.md", "type-unknown.md"} <= found["BK107"]
    assert found["BK108"] == {"alias.md"}
    assert {"day.md", "instant.md"} <= found["BK109"]
    assert {"links-string.md", "links-map.md"} <= found["BK110"]
    assert {"bom.md", "preface.md"} <= found["BK111"]
    assert "by-hand.md" in found["BK112"]
    assert found["BK114"] == {"twice.md"}
    assert found["BK117"] == {"index.md"}


def test_lint_of_what_the_runtime_wrote_finds_nothing() -> None:
    files = load(ROOT / "golden" / "bantamkit" / "basic")
    found = list(ADAPTER.lint(files, ADAPTER.read(files)))
    # one of its facts links to one that is still to be written
    assert [(f.code, f.severity) for f in found] == [("BK118", "note")]


def test_lint_counts_the_index_and_sees_folders_and_duplicates() -> None:
    many = [
        new(key=f"{n}.md", name=None, description="the pump at dock " + "z" * 190)
        for n in range(110)
    ]
    written = put({}, *many)
    assert f"of the {BUDGET}" in written.notes[0]
    files = {**written.files, "facts/x.md/y.txt": b""}
    codes = {f.code for f in ADAPTER.lint(files, ADAPTER.read(files))}
    assert {"BK113", "BK115", "BK116"} <= codes
    near = put({}, *many[:100])
    assert not near.notes
    (finding,) = [
        f for f in ADAPTER.lint(near.files, ADAPTER.read(near.files)) if f.code == "BK116"
    ]
    assert finding.severity == "note"


def test_a_store_is_located_as_the_runtime_does() -> None:
    there = {Path("/town/.bantamkit/memory")}

    def at(cwd: str, **env: str) -> Path:
        assert ADAPTER.locate
        (path,) = ADAPTER.locate(
            Surroundings(
                cwd=Path(cwd),
                home=Path("/home/mira"),
                env=env,
                read_text=lambda _: None,
                is_dir=there.__contains__,
            )
        )
        return path

    assert at("/town/shop/src") == Path("/town/.bantamkit/memory")
    assert at("/else") == Path("/else/.bantamkit/memory")
    assert at("/town", BANTAMKIT_MEMORY_DIR="~/m") == Path("/home/mira/m")
    assert at("/town", BANTAMKIT_MEMORY_DIR="/m") == Path("/m")
    assert at("/town", BANTAMKIT_MEMORY_DIR=" ") == Path("/town/.bantamkit/memory")
