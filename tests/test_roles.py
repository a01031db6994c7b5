"""Tasks, decisions and tombstones as memories, and back after edits."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interop import fields, roles
from interop.adapter import Adapter, Context, Fitted, Refusal
from interop.choices import Choices
from interop.convert import plan
from interop.model import Body, Decision, Memory, Record, Store, Task, Tombstone
from interop.registry import get
from interop.rendering import lower, seen_record
from interop.stores import Opened, assemble
from interop.syntax.marked import says
from tests.strategies import texts
from tests.test_round_trips import NOW, convert, fresh

TOMBSTONE = Tombstone(
    key="TOMBSTONES.md#T-001",
    subject="palette primary colour",
    rejected="hex 1E3A5F",
    replacement="D-002",
    reason="the printer cannot mix it",
)


def test_the_rendering_is_readable() -> None:
    memory = roles.to_memory(TOMBSTONE)
    assert memory.name == "tombstone-t-001"
    assert memory.description == "palette primary colour"
    assert memory.body.text == (
        "<!-- interop: tombstone T-001 -->\n"
        "- **Fact / Key:** palette primary colour\n"
        "- **Rejected value:** hex 1E3A5F\n"
        "- **Replacement:** D-002\n"
        "- **Reason:** the printer cannot mix it"
    )


@pytest.mark.parametrize("role", sorted(roles.LABELS))
@given(data=st.data())
def test_every_value_comes_back(role: str, data: st.DataObject) -> None:
    stated = texts.filter(lambda t: bool(t) and "\r" not in t)
    values = {
        f: v
        for f in roles.LABELS[role]
        if (v := data.draw(st.one_of(st.none(), stated))) is not None
    }
    own = data.draw(texts.filter(lambda t: "\r" not in t)) if role == "task" else ""
    name = data.draw(st.sampled_from([None, "T-001", "x#y", "--", "é"]))
    text = roles.render(role, name, values, own)
    said = roles.Parsed(role=role, id=name, values=values, text=own)
    assert roles.is_marked(text)
    assert roles.parse(text) == said
    assert roles.parse(roles.together(*roles.apart(text))) == said, "the marker stood elsewhere"


@pytest.mark.parametrize(
    "record",
    [
        TOMBSTONE,
        Decision(key="DECISIONS.md#D-002", decision="Paint it green", why="cheaper"),
        Task(key="OPEN_ITEMS.md#OI-003", status="OPEN", body=Body(text="Call the ferry.\n\nSoon.")),
        Task(key="tasks/pump.md", name="pump", description="Fix the pump", status="done"),
    ],
    ids=lambda r: r.role,
)
def test_there_and_back(record: Record) -> None:
    back = roles.from_memory(roles.to_memory(record))
    if isinstance(record, Task) and record.name is None:
        # what a memory is called by, and what an index says of it
        record = dataclasses.replace(record, name="task-oi-003", description="Call the ferry.")
    assert back == record


def test_an_edit_is_an_edit_of_the_record() -> None:
    memory = roles.to_memory(TOMBSTONE)
    text = memory.body.text.replace("D-002", "D-003\n  and the page of the printer")
    back = roles.from_memory(dataclasses.replace(memory, body=Body(text=text)))
    assert back == dataclasses.replace(TOMBSTONE, replacement="D-003\nand the page of the printer")
    kept = dataclasses.replace(memory, hook="seen in the index", kinds={"claude": "feedback"})
    again = roles.to_memory(back or TOMBSTONE, kept)
    assert (again.hook, again.kinds) == (kept.hook, kept.kinds)
    assert again.body.text == text


@pytest.mark.parametrize(
    "text",
    [
        "**Type**: tombstone",
        "<!-- interop: wish W-1 -->\n- **Fact / Key:** x",
        "<!-- interop: tombstone T-001 -->\n- **Colour:** x",
        "<!-- interop: tombstone T-001 -->\n- **Date:** a\n- **Date:** b",
        "<!-- interop: tombstone T-001 -->\n- **Date:** a\n\nAnd a word about the printer.",
        "<!-- interop: tombstone T-001 --> and more",
        '<!-- interop: tombstone T-001 {"subject": 5} -->',
        "See <!-- interop: tombstone T-001 -->",
    ],
)
def test_what_is_none_stays_a_memory(text: str) -> None:
    assert roles.from_memory(Memory(key="x.md", body=Body(text=text))) is None


@pytest.mark.parametrize(
    ("mark", "other"),
    [
        ("\n- **", "\n* **"),
        ("\n- **", "\n+ **"),
        ("- **Reason:**", "-   **Reason:**"),
        ("- **Reason:**", "- __Reason:__"),
        ("- **Reason:**", "* **Reason**:"),
        ("- **Reason:**", "- <strong>Reason:</strong>"),
        ("- **Reason:**", "- <b>Reason</b>:"),
        ("\n- ", "\n\n- "),
        ("\n- ", "\n\n\n- "),
        ("-->\n", "-->\n\n\n"),
        ("\n", "\r\n"),
        ("- **Reason:** the printer\n  cannot", "*    **Reason:** the printer\n     cannot"),
    ],
)
def test_marks_that_show_the_same_list_are_read_alike(mark: str, other: str) -> None:
    stone = dataclasses.replace(TOMBSTONE, reason="the printer\ncannot mix it")
    text = roles.to_memory(stone).body.text
    assert mark in text
    changed = text.replace(mark, other)
    assert roles.from_memory(Memory(key=stone.key, body=Body(text=changed))) == stone
    assert roles.from_memory(Memory(key=stone.key, body=Body(text=changed.partition("\n")[2]))) is (
        None
    ), "only a marked text is read"
    assert says(changed.replace("\r", "")).count("Reason: the printer") == 1


@pytest.mark.parametrize(
    "line",
    ["- **Reason** dear", "- *Reason:* dear", "- Reason: dear", "1. **Reason:** x",
     "- __Reason:** x", "- <b>Reason:</strong> x"],
)  # fmt: skip
def test_what_only_looks_like_a_line_is_none(line: str) -> None:
    text = f"<!-- interop: tombstone T-001 -->\n{line}"
    assert roles.from_memory(Memory(key="x.md", body=Body(text=text))) is None


def test_items_that_a_translation_put_apart_are_read() -> None:
    text = roles.to_memory(TOMBSTONE).body.text
    loose = text.replace("\n- ", "\n\n- ").replace("mix it", "mix\n\n  it")
    back = roles.from_memory(Memory(key=TOMBSTONE.key, body=Body(text=loose)))
    assert back == dataclasses.replace(TOMBSTONE, reason="the printer cannot mix\n\nit")
    task = "<!-- interop: task OI-1 -->\n- **Status:** OPEN\n\n- **Due:** is its own text"
    (found,) = [roles.from_memory(Memory(key="x.md", body=Body(text=task)))]
    assert found == Task(key="x.md", status="OPEN", body=Body(text="- **Due:** is its own text"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Plain text.\n", "Plain text.\n"),
        ("<!-- a comment -->\nText", "<!-- a comment -->\nText"),
        (roles.render("task", "OI-1", {"status": "OPEN"}, "Call the ferry.\n\nSoon."),
         "Call the ferry.\n\nSoon."),
        (roles.render("task", "OI-1", {"status": "OPEN", "due": "soon\nor\n\nlater"}, ""),
         "Status: OPEN\nDue: soon\n  or\n\n  later"),
        (roles.render("tombstone", None, {"rejected": "25 €\r\n"}, ""), "rejected: 25 €"),
        (roles.render("tombstone", "T-1", {"rejected": "25 €", "reason": "dear"}, ""),
         "Rejected value: 25 €\nReason: dear"),
        ("<!-- interop: task OI-1 {broken} -->", ""),
        ("<!-- interop: task OI-1 -->", ""),
    ],
)  # fmt: skip
def test_what_a_marked_text_says_is_never_its_marker(text: str, said: str) -> None:
    assert says(text) == said


@pytest.mark.parametrize("name", ["claude-code", "theokit", "bantamkit"])
@pytest.mark.parametrize(
    "task",
    [
        Task(key="OPEN_ITEMS.md#OI-003", status="OPEN"),
        Task(key="OPEN_ITEMS.md#OI-003", status="OPEN", body=Body(text="Call the ferry.")),
        Task(key="OPEN_ITEMS.md#OI-003", status="OPEN\r\n"),
    ],
)
def test_nothing_is_called_after_its_marker(name: str, task: Task) -> None:
    adapter = get(name)
    assert adapter.kinds is not None
    new = fields.replace(
        lower(task, adapter), {"kinds": {adapter.kinds.vocabulary: adapter.kinds.terms[0]}}
    )
    written = adapter.write(
        Store(format=name, records=(new,)), {}, Context(now="2026-09-01T08:30:00.000Z")
    )
    record = written.records[task.key]
    assert seen_record(record, adapter).role == "task"
    for field in ("name", "title", "description", "hook"):
        said = fields.get(record, field)
        assert said is None or "interop" not in said.lower(), (field, said)
    assert fields.get(record, "description") in ("Call the ferry.", "Status: OPEN", "status: OPEN")


# --- into every format, whatever the text is


def snapshot(record: Record) -> Opened:
    """Open a snapshot that says one record."""
    empty = fresh(get("jsonl"), "source")
    store = Store(format="jsonl", records=(record,))
    files = empty.adapter.write(store, empty.tree.files, Context(now=NOW)).files
    tree = dataclasses.replace(empty.tree, files=dict(files))
    return assemble(empty.adapter, Path(empty.root), tree, empty.complement, empty.raw.id)


def there_and_back(record: Record, adapter: Adapter) -> Record | None:
    """Convert a record, and all of it back; gives what stands in between, None if it travels."""
    source = snapshot(record)
    there = convert(source, fresh(adapter, "there"))
    assert convert(there, fresh(get("jsonl"), "back")).tree.files == source.tree.files
    return next(iter(there.seen.records), None)


_BLOCKS = [
    "a\n---",
    "First line\n---\nSecond",
    "a\n===",
    "a\n\n  - b",
    "a\n\n1. b\n\n       c",
    "<div>\n- x\n</div>\n<!--\n- a\n-->\ntrail",
    "<!--\n- **Reason:** a",
    "| a | b |\n|---|---|\n| c |",
    "```\n- x",
    "> q\n\n    code",
    "see\n\n# Head\n- **Status:** x",
    "x </select></ul></article> y",
    "the mark </mark> of a van",
    "a\rb",
    "a\r\nb",
    "[x]: y\n\n[x]",
]


@pytest.mark.parametrize("text", _BLOCKS)
def test_a_text_of_several_blocks_stands_as_what_it_is(adapter: Adapter, text: str) -> None:
    for record in (
        Tombstone(key="k", rejected="zq0", reason=text),
        Tombstone(key="k", subject=text, rejected=text, source="mail"),
        Tombstone(key="TOMBSTONES.md#T-001", rejected=text),
        Decision(key="k", decision=text, why=text, status="Active"),
    ):
        stands = there_and_back(record, adapter)
        assert stands is not None
        assert stands.role == record.role


def test_what_html_cannot_say_is_encoded_where_a_reader_sees_it() -> None:
    stone = Tombstone(key="k", rejected="zq0", reason="a\n---\n*b*", source="a *mail*")
    said = fields.get(lower(stone, get("memhtml")), "body").text
    assert "<strong>Reason:</strong> a<br>---<br>*b*</li>" in said
    assert "<em>mail</em>" in said, "what can be said stays as it is"


_TEXTS = st.one_of(
    texts,
    st.lists(
        st.sampled_from(
            ["a", "zq0", "\n", "\n\n", "---", "===", "- ", "  - b", "    ", "<div>", "</div>",
             "<!--", "-->", "> q", "```", "# h", "|---|---|", "| a | b |", "&amp;", "&#10;", "<b>",
             "*", "**", "_", "`", "[x](y)", "[x]: y", "\\", "1. ", "\t", "<p>", "<pre>", "<mark>",
             "</mark>", "<li>", "</ul>", "<br>", "- **Reason:** y", "<script>", "<![CDATA[", "\x0c",
             "\r", "\x85", "<!-- interop: task x -->"]
        ),
        max_size=8,
    ).map("".join),
)  # fmt: skip


@st.composite
def _records(draw: st.DrawFn) -> Record:
    key = draw(st.sampled_from(["k", "x.md", "TOMBSTONES.md#T-001"]))
    blank: list[Record] = [Task(key=key), Decision(key=key), Tombstone(key=key)]
    empty = draw(st.sampled_from(blank))
    names = draw(st.permutations(list(roles.LABELS[empty.role])))[: draw(st.integers(1, 3))]
    values: dict[str, fields.Value] = {name: draw(_TEXTS) for name in names}
    if isinstance(empty, Task):
        values["body"] = Body(text=draw(_TEXTS))
    return fields.replace(empty, values)


@settings(max_examples=40)
@given(record=_records())
def test_any_text_in_any_field_is_planned_and_comes_back(adapter: Adapter, record: Record) -> None:
    stands = there_and_back(record, adapter)
    said = "".join(str(fields.get(record, f) or "") for f in roles.LABELS[record.role])
    if record.role not in adapter.roles and any(c.isalnum() for c in said):
        assert stands is not None
    if stands is not None:
        assert stands.role == record.role


def test_what_a_format_would_not_give_back_is_refused_with_a_way_out() -> None:
    """However a format may damage a marker, it is one record that is refused, and may travel."""
    true = get("claude-code")

    def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
        fitted = true.fit(record, current, context)
        if isinstance(fitted, Refusal):
            return fitted
        text = fields.get(fitted.record, "body").text.replace("<!--", "<--")
        return Fitted(record=fields.replace(fitted.record, {"body": Body(text=text)}))

    source = snapshot(TOMBSTONE)
    damaging = fresh(dataclasses.replace(true, fit=fit), "there")
    (found,) = plan(source, damaging, now=NOW).outcomes
    assert found.action == "refuse"
    assert "tombstone" in found.reason
    assert "--carry" in found.remedy
    (found,) = plan(source, damaging, Choices(carry=True), now=NOW).outcomes
    assert found.action == "carry"
