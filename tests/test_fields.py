"""The JSON form of records: it comes back as it went, and the published schema describes it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import fields
from interop.errors import FormatError
from interop.model import (
    MODEL_VERSION,
    ROLES,
    Body,
    Decision,
    Json,
    Link,
    Memory,
    Record,
    Task,
    Tombstone,
)

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "docs" / "record.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def is_valid(data: object) -> bool:
    return VALIDATOR.is_valid(data)  # pyright: ignore


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
maybe = st.none() | text
json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
extra = st.dictionaries(text, st.dictionaries(text, json_values, max_size=2), max_size=2)
ROW = {"key": text.filter(bool), "extra": extra}
REMEMBERED = {
    **ROW,
    **dict.fromkeys(
        ["name", "title", "description", "hook", "created", "modified", "recalled"], maybe
    ),
    "session": maybe,
    "archived": maybe,
    "body": st.builds(Body, text=text, media=st.sampled_from(["text/markdown", "text/html"])),
    "kinds": st.dictionaries(text, text, max_size=2),
    "tags": st.lists(text, max_size=2).map(tuple),
    "entities": st.lists(text, max_size=2).map(tuple),
    "links": st.lists(st.builds(Link, rel=text, target=text), max_size=2).map(tuple),
    "observations": st.none() | st.integers(0, 9),
    "state": st.sampled_from(["live", "archived"]),
}
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(Memory, **REMEMBERED),
    st.builds(Task, **REMEMBERED, **dict.fromkeys(["status", "due", "opened", "evidence"], maybe)),
    st.builds(Decision, **ROW, **dict.fromkeys(fields.FIELDS["decision"][:-1], maybe)),
    st.builds(Tombstone, **ROW, **dict.fromkeys(fields.FIELDS["tombstone"][:-1], maybe)),
)


@given(records)
def test_the_schema_describes_every_record(record: Record) -> None:
    assert is_valid(fields.to_json(record))


@given(records)
def test_json_comes_back_as_the_same_statements(record: Record) -> None:
    data = json.loads(fields.dumps(fields.to_json(record)))
    back = fields.from_json(data)
    assert type(back) is type(record)
    assert fields.stated(back) == fields.stated(record)
    assert fields.to_json(back) == data


@given(records)
def test_a_row_says_what_each_field_says(record: Record) -> None:
    said = [fields.get(record, name) for name in fields.FIELDS[record.role]]
    row = fields.row(record)
    assert row == said
    assert [value is None for value in row] == [value is None for value in said]


@given(records, text)
def test_a_changed_record_is_the_one_that_its_class_makes(record: Record, said: str) -> None:
    name = fields.FIELDS[record.role][0]  # which is a text in every role
    stated: list[tuple[Record, dict[str, Any]]] = [
        (fields.with_key(record, said), {"key": said}),
        (fields.replace(record, {name: said}), {name: said}),
        (fields.replace(record, {name: None}), {name: None}),
        (fields.replace(record, {"extra": None}), {"extra": {}}),
    ]
    for made, values in stated:
        meant = dataclasses.replace(record, **values)
        assert type(made) is type(meant)
        assert made == meant
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(fields.with_key(record, said), name, said)


@given(records, records)
def test_records_are_alike_whose_every_field_is_the_same(one: Record, other: Record) -> None:
    assert fields.alike(one, fields.with_key(one, "elsewhere.md"))
    meant = one.role == other.role and fields.with_key(other, one.key) == one
    assert fields.alike(one, other) == meant


@given(records)
def test_no_field_is_null_or_empty(record: Record) -> None:
    for field, value in fields.to_json(record).items():
        assert value not in (None, "", [], {}), field


def test_the_schema_names_the_fields_of_the_model_and_its_version() -> None:
    assert SCHEMA["$id"] == f"urn:memory-interop:record:{MODEL_VERSION}"
    remembered = set(SCHEMA["$defs"]["remembered"]["properties"])
    for role in ROLES:
        described = set(SCHEMA["$defs"][role]["properties"])
        if "$ref" in SCHEMA["$defs"][role]:
            described |= remembered
        assert described == {"role", "key", *fields.FIELDS[role]}, role


@pytest.mark.parametrize("case", sorted((ROOT / "golden").glob("*/*/model.json")), ids=str)
def test_golden_models_follow_the_schema(case: Path) -> None:
    model: Any = json.loads(case.read_text(encoding="utf-8"))
    for record in model["records"]:
        assert is_valid(record), record["key"]


@pytest.mark.parametrize(
    "data",
    [
        {"role": "memory", "key": "a.md", "state": "live"},
        {"role": "memory", "key": "a.md", "body": {"text": ""}, "state": "live"},
        {"role": "memory", "key": "a.md", "state": "lost", "body": {"text": "", "media": "?"}},
        {"role": "decision", "key": "d.md#D-1", "why": None},
        {"role": "decision", "key": "d.md#D-1", "hook": "not a field of a decision"},
        {"role": "rumour", "key": "a.md"},
    ],
)
def test_the_schema_turns_down_what_is_no_record(data: dict[str, Json]) -> None:
    assert not is_valid(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"key": "a.md"}, "line 3: role is None; one of memory, task, decision, tombstone"),
        ({"role": "decision", "key": "d", "hook": "x"}, "line 3: not a decision in JSON form"),
        ({"role": "memory", "key": "a.md", "body": "x"}, "line 3: not a memory in JSON form"),
        ({"role": "memory", "key": "a.md", "links": "x"}, "line 3: not a memory in JSON form"),
        ({"role": "memory"}, "line 3: not a memory in JSON form"),
    ],
)
def test_what_is_no_record_is_named(data: dict[str, Json], says: str) -> None:
    with pytest.raises(FormatError) as caught:
        fields.from_json(data, "line 3")
    assert str(caught.value).startswith(says)


def test_zero_is_a_statement_and_an_empty_text_is_none() -> None:
    memory = Memory(key="a.md", observations=0, title="")
    assert fields.get(memory, "observations") == 0
    assert fields.get(memory, "title") is None
    assert fields.get(memory, "rejected") is None


def test_replace_sets_and_clears() -> None:
    memory = Memory(key="a.md", title="Tyres", kinds={"claude": "user"}, tags=("x",))
    cleared = fields.replace(memory, {"title": None, "kinds": None, "tags": None, "body": None})
    assert fields.stated(cleared) == {"body": Body(text=""), "state": "live"}
    assert fields.replace(memory, {"title": "Tubes", "rejected": "no such field"}).title == "Tubes"  # type: ignore[union-attr]


def test_canonical_bytes_do_not_depend_on_the_order_of_keys() -> None:
    assert fields.canonical({"b": 1, "a": 2}) == fields.canonical({"a": 2, "b": 1})


@pytest.mark.parametrize("encode", [fields.dumps, fields.canonical])
def test_what_utf8_cannot_say_is_an_escape_of_json(
    encode: Callable[[Mapping[str, Json]], bytes],
) -> None:
    data: dict[str, Json] = {"b": ["\udc80x\n", "轮"], "a": "\ud83d", "n": 2**70}
    line = encode(data)
    assert b"\\udc80x\\n" in line
    assert "轮".encode() in line
    assert b"\n" not in line
    assert json.loads(line) == data
    assert (line.index(b'"a"') < line.index(b'"b"')) == (encode is fields.canonical)
