"""Snapshots line by line: what each line says, what is carried, and what an edit touches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Written
from interop.adapters.jsonl import ADAPTER
from interop.adapters.jsonl.header import BLANK, check
from interop.adapters.jsonl.lines import DEEPEST, PATH, key_of
from interop.model import Body, Decision, Files, Json, Link, Memory, Record, Store, Task, Tombstone
from tests.samples import GOLDEN, ROOT, samples
from tests.strategies import texts

NOW = Context(now="2026-09-01T08:30:00.000Z")
TEXT = '{"text":"The pump leaks.","media":"text/markdown"}'


def snapshot(*lines: str) -> dict[str, bytes]:
    return {PATH: BLANK + "".join(f"{line}\n" for line in lines).encode()}


def put(records: tuple[Record, ...], files: dict[str, bytes], context: Context = NOW) -> Written:
    return ADAPTER.write(Store(format="jsonl", records=records), files, context)


def lines_of(files: Files) -> list[str]:
    return files[PATH].decode().removesuffix("\n").split("\n")


def edit(line: str, values: dict[str, fields.Value]) -> str:
    """Change fields of the one record of a snapshot; give its line."""
    files = snapshot(line)
    (record,) = ADAPTER.read(files).records
    target = fields.replace(record, values)
    written = put((target,), files)
    (found,) = ADAPTER.read(written.files).records
    assert found == target == written.records[record.key]
    return lines_of(written.files)[1]


# --- what a line holds

EVERY: tuple[Record, ...] = (
    Memory(
        key="areas/fleet/tyres.html",
        name="tyres",
        title="Winter tyres",
        description="two\nlines",
        hook="tyres: ---",
        body=Body(text="<p>In\u2028November\x00</p>\r\n", media="text/html"),
        kinds={"memhtml": "technique", "claude": "project", "own": ""},
        tags=("a", "", "b c"),
        entities=("person:mira",),
        links=(Link(target="pump"), Link(rel="", target="")),
        created="2026-05-01",
        modified="last spring",
        recalled="1e5",
        observations=0,
        session="half a pair \ud83d",
        state="archived",
        archived="2026-06-01",
        extra={"memhtml": {"decay": "0.80", "n": None, "f": 1.0, "i": 1, "b": True, "big": 2**80}},
    ),
    Task(key="T.md#1", status="OPEN", due="soon", opened="2026-05-20", evidence="form"),
    Decision(
        key="D.md#1", decision="By the hour", why="late", date="2026", evidence="e", supersedes="D0"
    ),
    Tombstone(
        key="X.md#1", subject="Deposit", rejected="20 €", replacement="D4", date="d", reason="r",
        source="s",
    ),
)  # fmt: skip


@pytest.mark.parametrize("record", EVERY, ids=lambda r: r.role)
def test_every_field_of_every_role_is_held_exactly(record: Record) -> None:
    fitted = ADAPTER.fit(record, None, NOW)
    assert fitted == Fitted(record=record)
    written = put((record,), {})
    (found,) = ADAPTER.read(written.files).records
    assert found == fields.with_key(record, key_of(record.key))
    assert not written.supplied
    assert not written.refused
    assert fields.to_json(found) == {**fields.to_json(record), "key": found.key}


@given(st.data())
def test_any_text_in_any_field_is_held_exactly(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(EVERY))
    text = data.draw(st.one_of(texts, st.text(st.characters(exclude_categories=()))))
    names = [f for f in fields.FIELDS[record.role] if isinstance(getattr(record, f), str)]
    name = data.draw(st.sampled_from([n for n in names if n != "state"]))
    (found,) = ADAPTER.read(put((fields.replace(record, {name: text}),), {}).files).records
    assert fields.get(found, name) == (text or None)


def test_the_form_is_the_canonical_one() -> None:
    """One record a line, in the fixed order of fields, after the header."""
    written = put(EVERY[1:], {})
    said = [fields.dumps({**fields.to_json(r)}).decode() for r in EVERY[1:]]
    assert lines_of(written.files) == [BLANK.decode().strip(), *said]


def test_nothing_at_all_stays_nothing() -> None:
    assert put((), {}).files == {}


def test_values_too_deep_for_readers_are_refused() -> None:
    deep: Json = "x"
    for _ in range(DEEPEST):
        deep = [deep]
    record = Memory(key="deep.md", extra={"x": {"y": deep}})
    refusal = ADAPTER.fit(record, None, NOW)
    assert isinstance(refusal, Refusal)
    assert refusal.field == "extra"
    assert [r.key for r in put((record, EVERY[0]), {}).refused] == ["deep.md"]
    flat = Memory(key="flat.md", extra={"x": {"y": "[" * 500}})
    assert put((flat,), {}).records["flat.md"] == fields.with_key(flat, key_of("flat.md"))


# --- edits


def test_an_edit_replaces_the_value_alone() -> None:
    line = f'{{ "key" : "p.md", "mood":1,  "role":"memory", "title" : "\\u0050" , "body":{TEXT} }}'
    changed = edit(line, {"title": "Floor pump"})
    assert changed == line.replace('"\\u0050"', '"Floor pump"')


def test_a_value_that_was_not_stated_comes_last() -> None:
    line = f'{{"role":"memory","key":"p.md","body":{TEXT},"mood":"calm"}}'
    assert edit(line, {"title": "Pump"}) == line[:-1] + ',"title":"Pump"}'


def test_clearing_removes_every_statement() -> None:
    line = f'{{"title":"a","role":"memory", "title" : "b","key":"p.md","body":{TEXT},"title":"c"}}'
    assert edit(line, {"title": None}) == f'{{"role":"memory","key":"p.md","body":{TEXT}}}'


def test_of_a_key_stated_twice_the_last_one_counts() -> None:
    line = f'{{"role":"memory","key":"p.md","title":"a","body":{TEXT},"title":"b"}}'
    assert edit(line, {"title": "c"}) == line.replace('"b"', '"c"')


def test_within_a_field_only_what_changed_is_replaced() -> None:
    line = (
        '{"role":"memory","key":"p.md","body":{"by":"Jonas", "text":"old" ,"media":"text/html"},'
        '"extra":{"tool":{"weight":1.50, "n":3}, "other":{"x":1e3}},'
        '"links":[{"target":"a","since":25}, {"rel":"link","target":"b"}],"tags":["\\u0061", "b"]}'
    )
    changed = edit(
        line,
        {
            "body": Body(text="new", media="text/html"),
            "extra": {"tool": {"weight": 1.5, "n": 4}, "other": {"x": 1000.0}},
            "links": (Link(target="a"), Link(target="c")),
            "tags": ("a", "b", "c"),
        },
    )
    expected = line.replace('"old"', '"new"').replace('"n":3', '"n":4')
    expected = expected.replace('"rel":"link","target":"b"', '"rel":"link","target":"c"')
    assert changed == expected.replace('["\\u0061", "b"]', '["\\u0061","b","c"]')


def test_a_value_that_cannot_be_is_kept_until_a_field_is_set() -> None:
    line = f'{{"role":"memory","key":"p.md","tags":"fleet","body":{TEXT}}}'
    files = snapshot(line)
    store = ADAPTER.read(files)
    assert [p.problem for p in store.problems] == ["line 2: tags is not a list of texts"]
    assert edit(line, {"title": "x"}) == line[:-1] + ',"title":"x"}'
    assert edit(line, {"tags": ("a",)}) == line.replace('"fleet"', '["a"]')


@given(st.data())
def test_edits_touch_one_line_and_say_what_they_say(data: st.DataObject) -> None:
    mine = [s for s in samples() if s.adapter is ADAPTER and s.opened().raw.records]
    sample = data.draw(st.sampled_from(mine))
    files = dict(sample.tree.files)
    store = ADAPTER.read(files)
    record = data.draw(st.sampled_from(store.records))
    donor = data.draw(st.sampled_from(EVERY))
    name = data.draw(st.sampled_from(fields.FIELDS[record.role]))
    target = fields.replace(record, {name: fields.get(donor, name)})
    written = put(tuple(target if r is record else r for r in store.records), files)
    assert written.records[record.key] == target
    before, after = files[PATH].split(b"\n"), written.files[PATH].split(b"\n")
    assert len(before) == len(after)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == int(target != record)


def test_a_role_can_change() -> None:
    files = snapshot(f'{{"role":"memory","key":"p.md","title":"Order tubes","body":{TEXT}}}')
    (memory,) = ADAPTER.read(files).records
    assert isinstance(memory, Memory)
    task = Task(key=memory.key, title=memory.title, body=memory.body, status="OPEN")
    written = put((task,), files)
    assert ADAPTER.read(written.files).records == (task,)
    assert '"title":"Order tubes"' in lines_of(written.files)[1]


# --- lines that come and go


def test_new_records_follow_the_last_one_with_the_line_ends_that_are_there() -> None:
    old = f'{{"role":"memory","key":"a.md","body":{TEXT}}}'
    data = BLANK.replace(b"\n", b"\r\n") + old.encode() + b"\r\n" + b'{"type":"note"}'
    store = ADAPTER.read({PATH: data})
    new = (Memory(key="b.md"), Memory(key="c.md"))
    written = put((*store.records, *new), {PATH: data})
    found = written.files[PATH].split(b"\r\n")
    assert [json.loads(x).get("key") for x in found] == [None, "a.md", "b.md", "c.md", None]
    assert written.files[PATH].endswith(b'\r\n{"type":"note"}')


def test_a_last_line_without_an_end_gets_one_when_another_follows() -> None:
    files = {PATH: snapshot(f'{{"role":"memory","key":"a.md","body":{TEXT}}}')[PATH][:-1]}
    store = ADAPTER.read(files)
    assert put(store.records, files).files == files
    written = put((*store.records, Memory(key="b.md")), files)
    assert [r.key for r in ADAPTER.read(written.files).records] == [key_of("a.md"), key_of("b.md")]


def test_an_address_is_taken_again_and_never_taken_twice() -> None:
    files = snapshot(f'{{"role":"memory","key":"a.md","body":{TEXT}}}')
    store = ADAPTER.read(files)
    again = Context(now=NOW.now, addresses={"x.md": key_of("once.md")})
    written = put((*store.records, Memory(key="x.md"), Memory(key="a.md")), files, again)
    assert [r.key for r in written.records.values()] == [
        key_of("a.md"), key_of("once.md"), key_of("a.md~2"),
    ]  # fmt: skip
    assert [json.loads(x)["key"] for x in lines_of(written.files)[1:]] == [
        "a.md", "once.md", "a.md~2",
    ]  # fmt: skip


def test_a_key_stated_twice_is_told_apart_and_reported() -> None:
    line = f'{{"role":"memory","key":"a.md","body":{TEXT}}}'
    store = ADAPTER.read(snapshot(line, line))
    assert [r.key for r in store.records] == [key_of("a.md"), key_of("a.md~2")]
    assert ADAPTER.handle(store.records[0]) == "a.md"
    assert ADAPTER.handle(store.records[1]) is None
    assert [p.problem for p in store.problems] == [
        "line 3: the key 'a.md' is stated by an earlier line"
    ]


def test_a_mark_at_the_beginning_stays() -> None:
    files = {
        PATH: b"\xef\xbb\xbf" + snapshot(f'{{"role":"memory","key":"a.md","body":{TEXT}}}')[PATH]
    }
    (record,) = ADAPTER.read(files).records
    written = put((fields.replace(record, {"title": "x"}),), files)
    assert written.files[PATH].startswith(b"\xef\xbb\xbf" + BLANK)
    # and where the header is gone, the mark is part of the first record's line
    bare = {PATH: b"\xef\xbb\xbf" + f'{{"role":"memory","key":"a.md","body":{TEXT}}}\n'.encode()}
    (record,) = ADAPTER.read(bare).records
    written = put((fields.replace(record, {"title": "x"}),), bare)
    assert written.files[PATH].startswith(b'\xef\xbb\xbf{"role"')
    assert ADAPTER.read(written.files).records == (fields.replace(record, {"title": "x"}),)


# --- the header, and what is told of a file


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}', None),
        (b'\xef\xbb\xbf{ "model":1,"format":"interop-jsonl","type":"snapshot","version":1}', None),
        (b'{"type":"snapshot","format":"interop-jsonl","version":2}', "newer interop"),
        (b'{"type":"user","message":{"role":"user"}}', "is no snapshot"),
        (b'{"type":"snapshot","format":"interop-jsonl"}', "is no snapshot"),
        (b'["interop-jsonl"]', "is no snapshot"),
        (b'"interop-jsonl', "is no snapshot"),
        (b"", "is no snapshot"),
    ],
)  # fmt: skip
def test_a_file_is_told_by_its_first_line(line: bytes, why: str | None) -> None:
    found = check(line + b"\n")
    assert (found is None) == (why is None)
    assert why is None or (found is not None and why in found)
    assert ADAPTER.detect({"other.jsonl": line}) is None


def test_unknown_lines_and_members_count_as_carried() -> None:
    line = f'{{"role":"memory","key":"a.md","body":{TEXT}}}'
    mood = line[:-1] + ',"mood":"calm"}'
    plain, note, more = (
        ADAPTER.read(snapshot(*x)).carried for x in ((line,), (line, '{"type":"note"}'), (mood,))
    )
    assert plain == {}
    assert note.keys() == more.keys() == {f"{PATH}#"}
    other = ADAPTER.read(snapshot(mood.replace("calm", "cross"))).carried
    spaced = ADAPTER.read(snapshot(mood.replace('":"calm"', '" : "calm"'))).carried
    assert other != more == spaced


def test_lint_names_the_line() -> None:
    files = snapshot("not json", '{"role":"memory","key":"a.md","tags":7}')
    found = list(ADAPTER.lint(files, ADAPTER.read(files)))
    assert [(f.code, f.severity, f.path) for f in found] == [
        ("JL101", "error", f"{PATH}:2"),
        ("JL102", "warning", f"{PATH}:3"),
    ]


# --- the schema


def _schema() -> Draft202012Validator:
    schema = orjson.loads((ROOT / "docs" / "snapshot.schema.json").read_bytes())
    record = orjson.loads((ROOT / "docs" / "record.schema.json").read_bytes())
    from referencing import Registry, Resource

    known: Registry[Any] = Registry()
    for one in (schema, record):
        known = known.with_resource(one["$id"], Resource.from_contents(one))
    return Draft202012Validator(schema, registry=known)


def _said(path: Path) -> list[Json]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


@pytest.mark.parametrize("case", ["basic", "every-field", "says-nothing"])
def test_the_schema_takes_what_is_written(case: str) -> None:
    validator = _schema()
    for line in _said(GOLDEN / "jsonl" / case / "store" / PATH):
        validator.validate(line)
        assert isinstance(line, dict)
        wrong = {**line, "version": "one"} if "type" in line else {**line, "state": 1, "date": 1}
        assert not validator.is_valid(wrong)


def test_the_schema_takes_every_sample_once_converted() -> None:
    validator = _schema()
    seen = 0
    for sample in samples():
        if sample.adapter is ADAPTER or not sample.opened().raw.records:
            continue
        for line in lines_of(put(sample.opened().raw.records, {}).files):
            validator.validate(json.loads(line))
            seen += 1
    assert seen > 100


# --- lint, and what by hand is wrong


def _lint(*lines: str) -> list[tuple[str, str, str, str]]:
    files = snapshot(*lines)
    found = ADAPTER.lint(files, ADAPTER.read(files))
    return [(f.code, f.path.rpartition(":")[2], f.problem, f.remedy) for f in found]


def test_the_way_out_is_true_of_what_is_wrong() -> None:
    again = f'{{"role":"memory","key":"a.md","body":{TEXT}}}'
    ((code, line, _, way),) = _lint(again, again)
    assert (code, line) == ("JL102", "3")
    assert "give one of the two records another key" in way
    assert "read as 'a.md~2'" in way
    assert "says nothing" not in way, "the record is read, under another key"
    ((code, line, _, way),) = _lint(again[:-1] + ',"tags":7}')
    assert (code, line) == ("JL102", "2")
    assert "the record is read without it" in way
    ((_, _, _, way),) = _lint("[1]")
    assert "carried as it is" in way
    ((code, _, problem, _),) = _lint(again[:-1])
    assert code == "JL101"
    assert problem.startswith("no record can be read from it: ")


def test_a_bad_value_says_nothing_so_it_is_no_difference() -> None:
    line = f'{{"role":"memory","key":"a.md","body":{TEXT}}}'
    plain, bad = (ADAPTER.read(snapshot(x)) for x in (line, line[:-1] + ',"tags":7}'))
    assert plain.records == bad.records
    assert plain.carried == bad.carried == {}
    assert [p.problem for p in bad.problems] == ["line 2: tags is not a list of texts"]
    twice = line[:-1] + ',"tags":7,"mood":"calm"}'
    assert ADAPTER.read(snapshot(twice)).carried.keys() == {f"{PATH}#"}


def test_a_link_to_no_record_is_told() -> None:
    def memory(key: str, name: str, *targets: str) -> str:
        links = [{"rel": "link", "target": t} for t in targets]
        return json.dumps({"role": "memory", "key": key, "name": name, "links": links})

    ways = ("pump", "dock/pump", "dock/pump.md", "Floor-Pump", "../dock/pump.md", "1f")
    well = (
        memory("dock/pump.md", "floor-pump"),
        memory("areas/a.md", "a", *ways, "https://bikes.example/pump"),
        memory("TOPICS.md#1f", "t"),
    )
    assert _lint(*well) == []
    ((code, line, problem, _),) = _lint(*well, memory("b.md", "b", "pump", "bell"))
    assert (code, line, problem) == ("JL103", "5", "links to 'bell', and there is no such record")
