"""memhtml: what is read, what is written, what is refused; the laws are in test_contract.py."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import check, fields
from interop.adapter import Context, Fitted, Refusal, Surroundings, Written
from interop.adapters.memhtml import (
    ADAPTER,
    content_hash,
    dates,
    document,
    memory_file,
    placement,
    source,
)
from interop.choices import Choices
from interop.convert import after, plan
from interop.disk.tree import Tree
from interop.errors import UsageError
from interop.fields import FIELDS
from interop.kinds import check_terms
from interop.model import Body, Decision, Files, Link, Memory, Record, Store, Task, Tombstone
from interop.registry import get
from interop.rendering import lower, seen
from interop.stores import Opened, assemble
from interop.syntax.splice import Edit
from tests.samples import golden_samples
from tests.strategies import maybe, one_line, stamps, texts, words

NOW = Context(now="2026-09-01T08:30:00.250Z")
STAMP = "2026-09-01T08:30:00Z"
HTML = "text/html"
HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Dock</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-05-01">
<meta name="memhtml-updated" content="2026-05-02T10:00:00Z">
"""
TAIL = """\
</head>
<body>
<article>
<p><mark>Dock 7 jams.</mark></p>
</article>
</body>
</html>
"""
PATH = "areas/inbox/dock.html"


def page(*lines: str, head: str = HEAD, tail: str = TAIL) -> bytes:
    return (head + "".join(f"{line}\n" for line in lines) + tail).encode()


def only(files: Files) -> Memory:
    (record,) = ADAPTER.read(files).records
    assert isinstance(record, Memory)
    return record


def put(record: Record, files: Files | None = None, context: Context = NOW) -> Written:
    there = ADAPTER.read(files or {}).records
    records = tuple(record if r.key == record.key else r for r in there)
    if all(r is not record for r in records):
        records = (*records, record)
    return ADAPTER.write(Store(format="memhtml", records=records), files or {}, context)


def edited(data: bytes, **values: Any) -> str:
    """Change fields of the one memory of a store, and give its file."""
    files = {PATH: data}
    written = put(fields.replace(only(files), values), files)
    assert not written.refused, written.refused
    return written.files[written.records[PATH].key].decode("utf-8", "surrogateescape")


def memory(text: str = "Dock 7 jams. It freezes.", **values: Any) -> Memory:
    values.setdefault("kinds", {"memhtml": "semantic"})
    media = values.pop("media", "text/markdown")
    return Memory(key="dock.md", body=Body(text=text, media=media), **values)


def fitted(record: Record) -> Memory:
    found = ADAPTER.fit(record, None, NOW)
    assert isinstance(found, Fitted), found
    assert isinstance(found.record, Memory)
    return found.record


def refused(record: Record) -> Refusal:
    found = ADAPTER.fit(record, None, NOW)
    assert isinstance(found, Refusal), found
    assert found.remedy
    return found


# --- the marker of what is said as a memory

STONE = Tombstone(
    key="TOMBSTONES.md#T-001",
    subject="colour of the signs",
    rejected="hex 1E3A5F",
    replacement="D-002",
    reason="not readable\n\nat night",
)
CHOICE = Decision(key="DECISIONS.md#D-002", decision="Signs are green", why="cheaper & brighter")


def rendered(record: Record, onto: Record | None = None) -> Memory:
    said = lower(record, ADAPTER, onto)
    said = fields.replace(said, {"kinds": {"memhtml": "precedent"}})
    assert isinstance(said, Memory)
    return said


def through(files: Files) -> Store:
    return seen(ADAPTER.read(files), ADAPTER)


@pytest.mark.parametrize(
    "record",
    [
        STONE,
        CHOICE,
        replace(STONE, subject=None),
        replace(STONE, subject=None, rejected="one. Two\nthree", replacement=None),
        replace(STONE, rejected=" with a blank before"),
        replace(STONE, rejected='"quoted" --> {never}'),
        Tombstone(key="TOMBSTONES.md#T-009"),
        replace(CHOICE, decision="The <mark>sign</mark>."),
    ],
)
def test_the_marker_is_a_meta_of_the_head(record: Tombstone | Decision) -> None:
    written = put(rendered(record))
    assert not written.refused
    (path,) = written.files
    text = written.files[path].decode()
    name = record.key.partition("#")[2]
    assert f'\n<meta name="interop-role" content="{record.role} {name}' in text
    assert text.index("memhtml-content-hash") < text.index("interop-role") < text.index("</head>")
    assert "<!--" not in text
    assert through(written.files).records == (replace(record, key=path),)


def test_an_edit_of_a_value_is_an_edit_of_the_record() -> None:
    ((path, data),) = put(rendered(STONE)).files.items()
    files = {path: data.replace(b"D-002", b"D-003")}
    (found,) = through(files).records
    assert found == replace(STONE, key=path, replacement="D-003")
    changed = rendered(replace(STONE, key=path, replacement="D-004"), only(files))
    again = put(fields.replace(changed, {"kinds": only(files).kinds}), files).files
    assert through(again).records == (replace(STONE, key=path, replacement="D-004"),)
    assert 'content="tombstone T-001"' in again[path].decode(), "its id stays"


COMMENTED = """\
<article>
<p><mark>colour of the signs</mark></p>
<!-- interop: tombstone T-001 -->
<ul>
<li><strong>Fact / Key:</strong> colour of the signs</li>
<li><strong>Rejected value:</strong> hex 1E3A5F</li>
</ul>
</article>
"""


def test_a_marker_that_is_a_comment_of_the_article_is_still_read() -> None:
    files = {PATH: page(tail=f"</head>\n<body>\n{COMMENTED}</body>\n</html>\n")}
    record = replace(STONE, key=PATH, replacement=None, reason=None)
    assert through(files).records == (record,)
    assert ADAPTER.write(ADAPTER.read(files), files, NOW).files == files, "and left as it is"
    changed = rendered(replace(record, reason="not readable"), only(files))
    text = put(changed, files).files[PATH].decode()
    assert '<meta name="interop-role" content="tombstone T-001">\n</head>' in text
    assert "<!--" not in text
    assert through({PATH: text.encode()}).records == (replace(record, reason="not readable"),)


@pytest.mark.parametrize(
    "marker",
    ["tombstone T-001", "decision", "tombstone T-001 --> and more", 'tombstone T-001 {"a": 1}'],
)
def test_a_marked_text_that_no_longer_parses_stays_a_memory_and_is_reported(marker: str) -> None:
    files = {PATH: page(f"<meta name='interop-role' content='{marker}'>")}
    store = through(files)
    assert store.records == ADAPTER.read(files).records
    assert [p.path for p in store.problems] == [PATH]
    (found,) = store.records
    assert found.extra["memhtml"] == {"interop-role": marker}


@pytest.mark.parametrize("marker", ["", "wish W-1", "Tombstone T-001"])
def test_another_word_in_the_meta_marks_nothing(marker: str) -> None:
    files = {PATH: page(f'<meta name="interop-role" content="{marker}">')}
    assert through(files) == ADAPTER.read(files)


def test_a_marker_goes_with_every_line_that_states_it() -> None:
    line = '<meta name="interop-role" content="decision">'
    data = page(line, line)
    assert edited(data, extra={}) == page().decode()
    said = edited(page('<meta name="memhtml-tag" content="a">', line), tags=("a", "b"))
    assert said.index('content="b"') < said.index("interop-role"), "the runtime's own come first"


# --- edits


def test_a_changed_value_changes_its_attribute_alone() -> None:
    data = page('<META data-x=1 CONTENT=old  NAME="memhtml-session">')
    assert edited(data, session='a "b"') == data.decode().replace(
        "CONTENT=old", 'content="a &quot;b&quot;"'
    )


@pytest.mark.parametrize(
    ("values", "line", "after"),
    [
        ({"session": "s"}, '<meta name="memhtml-session" content="s">', "updated"),
        ({"tags": ("x",)}, '<meta name="memhtml-tag" content="x">', "updated"),
        (
            {"archived": "2026-05-03"},
            '<meta name="memhtml-archived" content="2026-05-03">',
            "updated",
        ),
        (
            {"links": (Link(rel="part_of", target="areas/a&b.html"),)},
            '<link rel="memhtml-part-of" href="/areas/a&amp;b.html">',
            "updated",
        ),
        (
            {"extra": {"memhtml": {"confidence": "0.5"}}},
            '<meta name="memhtml-confidence" content="0.5">',
            "updated",
        ),
    ],
)
def test_a_new_statement_gets_its_line(values: Any, line: str, after: str) -> None:
    assert edited(page(), **values) == page(line).decode(), after


def test_new_statements_stand_in_the_runtimes_order() -> None:
    data = page('<meta name="memhtml-author" content="a">', '<meta name="memhtml-tag" content="t">',
                '<link rel="memhtml-supports" href="/areas/x.html">')  # fmt: skip
    text = edited(
        data,
        session="s",
        entities=("e",),
        tags=("t", "u"),
        extra={"memhtml": {"author": "a", "importance": "3", "alias": ["z"]}},
        links=(Link(rel="supports", target="areas/x.html"), Link(rel="part_of", target="a")),
    )
    names = [line.split('"')[1] for line in text.splitlines() if "memhtml-" in line]
    assert [n.removeprefix("memhtml-") for n in names] == [
        *("type", "status", "created", "updated", "importance", "author", "session", "entity"),
        *("tag", "tag", "alias", "supports", "part-of"),
    ]


def test_a_cleared_value_takes_its_line_along() -> None:
    line = '<meta name="memhtml-session" content="s">'
    assert edited(page(f"  {line}  "), session=None) == page().decode()
    shared = page(f"{line}<!-- mine -->")
    assert edited(shared, session=None) == page("<!-- mine -->").decode()


def test_repeated_values_are_edited_one_by_one() -> None:
    def tags(*values: str) -> list[str]:
        return [f'<meta name="memhtml-tag" content="{v}">' for v in values]

    data = page(*tags("a", "b"), "<!-- here -->", *tags("", "c"))
    assert (
        edited(data, tags=("a", "x", "c"))
        == page(*tags("a", "x"), "<!-- here -->", *tags("", "c")).decode()
    )
    assert (
        edited(data, tags=("a", "c")) == page(*tags("a"), "<!-- here -->", *tags("", "c")).decode()
    )
    assert (
        edited(data, tags=("0", "a", "b", "c", "d"))
        == page(*tags("0", "a", "b"), "<!-- here -->", *tags("", "c", "d")).decode()
    )


def test_a_head_on_one_line_gets_lines_for_what_is_new() -> None:
    data = page().replace(b"\n", b"")
    text = edited(data, session="s", links=(Link(rel="blocks", target="a"),))
    assert '\n<meta name="memhtml-session" content="s">' in text
    assert only({PATH: text.encode()}).links == (Link(rel="blocks", target="a"),)


def test_line_ends_stay() -> None:
    data = page().replace(b"\n", b"\r\n")
    text = edited(data, tags=("x",), title="New")
    assert "\n" not in text.replace("\r\n", "")
    assert text == page('<meta name="memhtml-tag" content="x">').decode().replace(
        "\n", "\r\n"
    ).replace("<title>Dock", "<title>New")


def test_a_body_is_replaced_between_its_tags_and_a_stated_hash_follows() -> None:
    body = Body(text="<p><mark>Dock 8 jams.</mark></p>", media=HTML)
    plain = page(tail=TAIL + "<!-- after -->")
    assert edited(plain, body=body) == plain.decode().replace("Dock 7", "Dock 8")
    known = f"sha256:{hashlib.sha256(b'Dock 8 jams.').hexdigest()}"
    stated = page('<meta name="memhtml-content-hash" content="sha256:0">')
    assert only({PATH: stated}).extra == {"memhtml": {"content-hash": "sha256:0"}}
    assert f'content="{known}"' in edited(stated, body=body)
    assert 'content="sha256:0"' in edited(stated, title="Other")


def test_a_description_alone_is_a_view() -> None:
    assert edited(page(), description="Something else") == page().decode()


def test_bytes_that_are_not_utf8_stay() -> None:
    data = page("<!-- \xff -->").replace("\xff".encode(), b"\xff\xe2\x82")
    assert b"<!-- \xff\xe2\x82 -->" in edited(data, tags=("x",)).encode("utf-8", "surrogateescape")
    broken = page().replace(b"Dock 7", b"Dock \xff")
    files = {PATH: broken}
    new = fields.replace(only(files), {"body": Body(text="<p><mark>x</mark></p>", media=HTML)})
    (refusal,) = put(new, files).refused
    assert refusal.field == "body"
    assert "UTF-8" in refusal.reason


@pytest.mark.parametrize(
    "html",
    [
        "<p><mark>a</mark></p></article><p>",
        "<p><mark>a</mark></p><!--",
        '<p class="x"><mark>a</mark></p>',
        "<p><mark>a</mark></p><p><mark>b</mark></p>",
        "<p>a</p><p><mark>b</mark></p>",
        "<aside><p><mark>b</mark></p></aside>",
        "<p><mark>a</mark> <time>May</time></p>",
        "<p><mark>a</mark></p><svg><title>t</title></svg>",
        "<p><mark><code>a</code></mark></p>",
        "<p><mark>a</mark></p><article>b</article>",
    ],
)
def test_html_that_cannot_stand_is_refused(html: str) -> None:
    (refusal,) = put(memory(html, media=HTML, title="t")).refused
    assert refusal.field == "body"


# --- the claim


@pytest.mark.parametrize(
    ("text", "description", "html"),
    [
        ("Dock 7 jams. It freezes.", None, "<p><mark>Dock 7 jams.</mark> It freezes.</p>"),
        ("No stop", None, "<p><mark>No stop</mark></p>"),
        ("At 3.5 bar! Always.", None, "<p><mark>At 3.5 bar!</mark> Always.</p>"),
        ("A *b. c* d. E.", None, "<p><mark>A <em>b. c</em></mark> d. E.</p>"),
        ("# Pier\n\nOne. Two.", None, "<h1>Pier</h1>\n<p><mark>One.</mark> Two.</p>"),
        ("- One. Two.\n- x", None, "<ul><li><mark>One.</mark> Two.</li><li>x</li></ul>"),
        ("Fish & chips. X", None, "<p><mark>Fish &amp; chips.</mark> X</p>"),
        ("Dock 7 jams. It.", "Dock 7 jams.", "<p><mark>Dock 7 jams.</mark> It.</p>"),
        ("Dock 7 *jams* now", "Dock 7 jams", "<p><mark>Dock 7 <em>jams</em></mark> now</p>"),
        ("Dock 70", "Dock 7", "<p><mark>Dock 7</mark></p>\n<p>Dock 70</p>"),
        ("It freezes.", "Dock\n7 jams", "<p><mark>Dock 7 jams</mark></p>\n<p>It freezes.</p>"),
        ("", "Dock 7 jams", "<p><mark>Dock 7 jams</mark></p>"),
        ("", None, "<p><mark>Dock seven</mark></p>"),
        (
            "```\nls\n```",
            None,
            "<p><mark>ls</mark></p>\n<figure><pre><code>ls</code></pre></figure>",
        ),
    ],
)
def test_the_claim_leads_the_article(text: str, description: str | None, html: str) -> None:
    record = fitted(memory(text, description=description, title="Dock seven"))
    assert "".join(record.body.text.split("\n")) == "".join(html.split("\n"))
    written = put(memory(text, description=description, title="Dock seven"))
    assert not written.refused
    assert not ADAPTER.read(written.files).problems


def test_a_marked_body_keeps_its_mark() -> None:
    html = "<ul><li>a <mark>b <code>c</code> d</mark></li></ul>"
    record = fitted(memory(html, media=HTML, description="something else"))
    assert record.body.text == html
    assert record.description == "b d"


def test_nothing_to_say_is_refused() -> None:
    assert refused(memory("")).field == "body"


def test_what_is_supplied_is_named() -> None:
    written = put(memory("It freezes.", description="Dock 7 jams"))
    assert {(s.field, s.value) for s in written.supplied} == {
        ("body", "<p><mark>Dock 7 jams</mark></p>"),
        ("title", "Dock 7 jams"),
        ("created", STAMP),
        ("modified", STAMP),
    }


# --- types, tasks, dates


@pytest.mark.parametrize("kinds", [{}, {"claude": "project"}, {"memhtml": "note"}])
def test_a_type_is_never_guessed(kinds: dict[str, str]) -> None:
    assert refused(memory(kinds=kinds)).field == "kinds"


@pytest.mark.parametrize("kinds", [{}, {"claude": "project"}])
def test_a_task_is_of_the_type_task(kinds: dict[str, str]) -> None:
    """Its role says so, so nobody has to declare it; another type that is stated is not mended."""
    task = Task(key="t", body=Body(text="x"), kinds=kinds, status="todo")
    found = ADAPTER.fit(task, None, NOW)
    assert isinstance(found, Fitted)
    assert fields.get(found.record, "kinds") == {"memhtml": "task"}
    assert [s.value for s in found.supplied if s.field == "kinds"] == ["task"]
    stated = fields.replace(task, {"kinds": {**kinds, "memhtml": "note"}})
    assert refused(stated).field == "kinds"


def test_other_roles_are_refused() -> None:
    assert refused(Decision(key="d", decision="x")).field == "role"
    assert refused(Tombstone(key="t", rejected="x")).field == "role"


def test_tasks() -> None:
    kinds = {"memhtml": "task"}
    task = fitted(Task(key="t", body=Body(text="Mend it."), kinds=kinds))
    assert isinstance(task, Task)
    assert task.status == "todo"
    other = Task(
        key="t", body=Body(text="Mend."), kinds={"memhtml": "task"}, status="DONE", due="x"
    )
    assert fields.get(fitted(other), "status") == "done"
    assert fields.get(fitted(other), "due") is None
    assert refused(fields.replace(other, {"status": "waiting"})).field == "status"
    assert refused(fields.replace(other, {"kinds": {"memhtml": "arc"}})).field == "kinds"


@pytest.mark.parametrize(
    ("head", "inside", "claim"),
    [
        ('<noscript><meta name="memhtml-foo" content="x"></noscript>', "", "Dock 7 jams."),
        ("", '<noscript><p class="x">y</p><mark>z</mark></noscript>', "Dock 7 jams."),
        ("", '<select><i class="x">one</i><mark>z</mark></select>', "Dock 7 jams."),
        ("", "<select><title>two</title><style>p</style></select>", "Dock 7 jams."),
        ("", '<select class="x"><option>one</option></select>', None),
        ("", '<select><option>one</select><em class="x">two</em>', None),
        ("", '<select><style></select><select><i class="x"></i></style></select>', "Dock 7 jams."),
        ("", '<select><style></select><em class="x">1</em></style></select>', None),
        ("", '<select><textarea></textarea><em class="x">1</em>', None),
        ("", '<select a=">"><i b="<!--"></i><!-- > <u --><em>1</select>', "Dock 7 jams."),
    ],
)  # fmt: skip
def test_what_scripts_and_menus_hide_is_not_there(
    head: str, inside: str, claim: str | None
) -> None:
    """As the runtime's parser has it: with scripts on, and by the older rules for a select."""
    files = {PATH: page(head, tail=TAIL.replace("</article>", f"{inside}\n</article>"))}
    store = ADAPTER.read(files)
    assert [fields.get(r, "description") for r in store.records] == ([claim] if claim else [])
    assert ADAPTER.write(store, files, NOW).files == files
    if claim:
        text = edited(files[PATH], tags=("dock",), title="Dock 8")
        assert inside in text, "nothing of it is touched"
        assert ("<title>Dock 8</title>" in text, 'memhtml-tag" content="dock"' in text) == (
            True,
            True,
        )


def test_a_kind_makes_no_task_of_a_memory() -> None:
    """What is of type task is read as a task, so a memory would not come back as one."""
    found = refused(memory("Mend it.", kinds={"memhtml": "task"}))
    assert (found.field, "a memory cannot be of type task" in found.reason) == ("kinds", True)
    assert "declare one of episodic" in found.remedy
    assert "arc, task" not in found.remedy
    there = only({PATH: page()})
    meant = fields.replace(there, {"kinds": {"memhtml": "task"}})
    assert isinstance(ADAPTER.fit(meant, there, NOW), Refusal)
    head = HEAD.replace("semantic", "task")
    task = only({PATH: page('<meta name="memhtml-task-status" content="todo">', head=head)})
    assert isinstance(task, Task)
    back = fields.replace(Memory(key=PATH), {f: fields.get(task, f) for f in FIELDS["memory"]})
    assert isinstance(ADAPTER.fit(back, task, NOW), Refusal)


def test_a_kind_makes_no_memory_of_a_task() -> None:
    task = Task(key="t", body=Body(text="Mend it."), kinds={"memhtml": "semantic"})
    assert refused(task).field == "kinds"


@pytest.mark.parametrize(
    ("left", "of"), [("project", "claude"), ("untyped", ""), ("memhtml:task", "memhtml")]
)
def test_a_kind_map_to_task_is_refused_for_memories_and_not_for_tasks(left: str, of: str) -> None:
    """However the type comes about: it is said beforehand, and never found out on the way back."""
    kinds = {"claude": {"claude": "project"}, "memhtml": {"memhtml": "task"}}.get(of, {})
    choices = Choices(kind_map={left: "task"})
    one = Memory(key="wire.md", body=Body(text="Wire the drain step."), kinds=kinds)
    source, destination = told(one, "jsonl"), check.empty(ADAPTER, "pages")
    refusal = plan(source, destination, choices, now=NOW.now)
    assert refusal.refused
    assert [o.action for o in refusal.outcomes] == ["refuse"]
    assert "no kind makes one of a memory" in refusal.outcomes[0].reason
    todo = fields.replace(Task(key="wire.md"), {f: fields.get(one, f) for f in FIELDS["memory"]})
    made = plan(told(todo, "jsonl"), destination, choices, now=NOW.now)
    assert not made.refused
    (task,) = after(made, destination).seen.records
    assert isinstance(task, Task)


def test_task_is_no_type_to_declare() -> None:
    with pytest.raises(UsageError) as caught:
        check_terms({"untyped": "note"}, ADAPTER.kinds, "memhtml")
    assert "precedent, arc" in str(caught.value)
    assert "task" not in str(caught.value).split("one of")[1]
    check_terms({"role:task": "task"}, ADAPTER.kinds, "memhtml")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2026-05-01", "2026-05-01"),
        ("2026-05-01T10:20:30Z", "2026-05-01T10:20:30Z"),
        ("2026-06-30T23:59:60Z", "2026-06-30T23:59:60Z"),
        ("2026-05-01T10:20:30.999Z", "2026-05-01T10:20:30Z"),
        ("2026-05-01T01:20:30.5+02:00", "2026-04-30T23:20:30Z"),
        ("2026-12-31T23:00:00-0130", "2027-01-01T00:30:00Z"),
        ("2026-05-01 10:20", "2026-05-01T10:20:00Z"),
        ("2026-05-01T10:20:30", "2026-05-01T10:20:30Z"),
        ("2026-02-30", None),
        ("2026-05", None),
        ("last spring", None),
        ("0099-01-01", None),
        ("2026-05-01T24:00:00Z", None),
        ("9999-12-31T23:59:59-10:00", None),
    ],
)
def test_dates_are_folded(value: str, said: str | None) -> None:
    assert dates.folded(value) == said
    assert dates.is_moment(value) == (value == said)
    record = fitted(memory(created=value, archived=value))
    assert record.created == (said or STAMP)
    assert record.archived == said


# --- places


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Déployé Ünïcode 日本", "deploye-unicode"),
        ("Straße øl łódź İstanbul ﬁne ½", "stra-e-l-odz-istanbul-fine-1-2"),
        ("看板", "untitled"),
        ("-- A  b! --", "a-b"),
        ("x" * 79 + " y", "x" * 79),
        ("x" * 90, "x" * 80),
    ],
)
def test_slugs(title: str, slug: str) -> None:
    assert placement.slug(title) == slug


def test_ordinals_stay_within_the_length() -> None:
    assert placement.with_ordinal("dock", 2) == "dock-2"
    assert placement.with_ordinal("x" * 80, 12) == "x" * 77 + "-12"
    assert placement.with_ordinal("x" * 77 + "-2", 2) == "x" * 76 + "-2"
    stem = "x" * 78 + "-2"
    assert placement.with_ordinal(stem, 2) == "x" * 77 + "-2"


@pytest.mark.parametrize(
    ("kind", "values", "path"),
    [
        ("arc", {}, "areas/arcs/the-dock.html"),
        ("task", {"tags": ("x",)}, "areas/inbox/tasks/the-dock.html"),
        ("semantic", {"entities": ("person:Mira",)}, "resources/people/the-dock.html"),
        ("semantic", {"entities": ("person: ",)}, "areas/inbox/the-dock.html"),
        ("verdict", {"entities": ("person:Mira",), "tags": ("x",)}, "areas/inbox/the-dock.html"),
        ("precedent", {"tags": (" ", "Größe & Geld")}, "resources/gro-e-geld/the-dock.html"),
        ("episodic", {"tags": ("x",)}, "areas/inbox/20260901-the-dock.html"),
        ("verdict", {"state": "archived"}, "archive/2026/areas/inbox/the-dock.html"),
        (
            "verdict",
            {"state": "archived", "archived": "2024-02-01"},
            "archive/2024/areas/inbox/the-dock.html",
        ),
    ],
)
def test_places(kind: str, values: Any, path: str) -> None:
    record: Record = memory(title="The dock", kinds={"memhtml": kind}, **values)
    if kind == "task":
        stated = {f: fields.get(record, f) for f in FIELDS["memory"]}
        record = fields.replace(Task(key=record.key), stated)
    assert list(put(record).files) == [path]


def test_a_taken_place_gets_a_number() -> None:
    files = {"areas/inbox/the-dock.html": page(), "areas/inbox/The-Dock-2.html": b""}
    written = put(memory("Other.", title="The dock"), files)
    assert written.records["dock.md"].key == "areas/inbox/the-dock-3.html"


def test_many_of_one_title_are_numbered_one_after_the_other() -> None:
    files = {"areas/inbox/dock.html": page(), "areas/inbox/dock-3.html": b""}
    said = [("verdict", "live"), ("verdict", "live"), ("episodic", "live"), ("verdict", "archived")]
    new = [
        replace(
            memory(f"Text {n}.", title="Dock", kinds={"memhtml": kind}, state=state), key=f"{n}.md"
        )
        for n, (kind, state) in enumerate([*said, *said])
    ]
    written = ADAPTER.write(
        Store(format="memhtml", records=(*ADAPTER.read(files).records, *new)), files, NOW
    )
    assert [written.records[r.key].key for r in new] == [
        "areas/inbox/dock-2.html",
        "areas/inbox/dock-4.html",
        "areas/inbox/20260901-dock.html",
        "archive/2026/areas/inbox/dock.html",
        "areas/inbox/dock-5.html",
        "areas/inbox/dock-6.html",
        "areas/inbox/20260901-dock-2.html",
        "archive/2026/areas/inbox/dock-2.html",
    ]


def test_the_address_of_last_time_is_taken_again() -> None:
    context = Context(now=NOW.now, addresses={"dock.md": "areas/oncall/Custom.html"})
    assert list(put(memory(), context=context).files) == ["areas/oncall/Custom.html"]
    gone = put(memory(state="archived"), context=context)
    assert list(gone.files) == ["archive/2026/areas/oncall/Custom.html"]
    taken = put(memory("Other."), {"areas/oncall/custom.html": page()}, context)
    assert taken.records["dock.md"].key == "areas/inbox/other.html"


def test_archiving_moves_and_restates_the_status_alone() -> None:
    files = {PATH: page()}
    written = put(fields.replace(only(files), {"state": "archived"}), files)
    assert dict(written.files) == {
        f"archive/2026/{PATH}": page().replace(b'"active"', b'"archived"')
    }
    record = written.records[PATH]
    assert ADAPTER.handle(record) == PATH
    back = put(fields.replace(record, {"state": "live"}), written.files)
    assert dict(back.files) == files


def test_a_taken_place_in_the_archive_is_avoided_as_sleep_does() -> None:
    files = {PATH: page(), f"archive/2026/{PATH}": page()}
    record = next(r for r in ADAPTER.read(files).records if r.key == PATH)
    written = put(fields.replace(record, {"state": "archived"}), files)
    assert written.records[PATH].key == "archive/2026/areas/inbox/dock-2.html"


def test_a_folder_that_is_a_file_leaves_no_place() -> None:
    (refusal,) = put(memory(), {"areas": b""}).refused
    assert refusal.field == "key"


# --- one text twice


def test_two_active_memories_of_one_text_are_refused_naming_both() -> None:
    files = {PATH: page()}
    same = memory("<p> <mark>Dock\n7 jams.</mark></p>", media=HTML, title="Else")
    written = put(same, files)
    (refusal,) = written.refused
    assert refusal.key == "dock.md"
    assert refusal.field == "body"
    assert PATH in refusal.reason
    assert dict(written.files) == files
    assert not put(fields.replace(same, {"state": "archived"}), files).refused
    task = put(Task(key="t", title="t", body=same.body, kinds={"memhtml": "task"}), files)
    assert not task.refused


def test_texts_may_change_places() -> None:
    files = {PATH: page(), "areas/b.html": page().replace(b"Dock 7", b"Dock 8")}
    one, two = ADAPTER.read(files).records
    assert isinstance(one, Memory)
    assert isinstance(two, Memory)
    third = Body(text="<p><mark>third</mark></p>", media=HTML)
    moved = (fields.replace(one, {"body": third}), fields.replace(two, {"body": one.body}))
    written = ADAPTER.write(Store(format="memhtml", records=moved), files, NOW)
    assert not written.refused
    chain = ADAPTER.write(Store(format="memhtml", records=moved[::-1]), files, NOW)
    assert chain.files == written.files


def test_a_copy_of_a_broken_store_is_as_broken() -> None:
    (sample,) = [s for s in golden_samples() if s.id == "golden/memhtml/duplicate-text"]
    files = sample.tree.files
    context = Context(now=NOW.now, originals=files)
    written = ADAPTER.write(ADAPTER.read(files), {}, context)
    assert written.files == files
    assert len(written.notes) == 1
    assert len(ADAPTER.write(ADAPTER.read(files), {}, NOW).refused) == 1


def test_a_new_record_is_spliced_into_its_own_file_of_another_store_with_a_right_hash() -> None:
    stale = '<meta name="memhtml-content-hash" content="sha256:0">'
    files = {PATH: page(stale, "<!-- by hand -->")}
    context = Context(now=NOW.now, originals=files)
    record = fields.replace(only(files), {"extra": {}})
    written = put(record, context=context)
    assert not written.refused
    text = written.files[PATH].decode()
    assert text == files[PATH].decode().replace("sha256:0", only_hash(text))
    assert only(written.files) == record
    stays = put(fields.replace(only(files), {"session": "s-1"}), files)
    assert stale in stays.files[PATH].decode(), "what stands there is not mended unasked"


def only_hash(text: str) -> str:
    (found,) = re.findall(r'memhtml-content-hash" content="(sha256:[0-9a-f]{64})"', text)
    return str(found)


def test_a_new_record_that_its_own_file_of_another_store_cannot_say_gets_a_new_file() -> None:
    files = {PATH: page().replace(b"Dock 7 jams.", b"Dock 7 \xe9 jams.")}
    context = Context(now=NOW.now, originals=files)
    text = Body(text="<p><mark>Dock 7 is mended.</mark></p>", media=HTML)
    record = fields.replace(only(files), {"body": text, "description": "Dock 7 is mended."})
    written = put(record, context=context)
    assert not written.refused
    assert written.files == put(record).files
    assert only(written.files) == record
    (refusal,) = put(record, files, context).refused
    assert "UTF-8" in refusal.reason


# --- lint, location, bytes


def test_lint_finds_every_pitfall() -> None:
    found = {
        f.code
        for s in golden_samples()
        if s.adapter is ADAPTER
        for f in ADAPTER.lint(s.tree.files, ADAPTER.read(s.tree.files))
    }
    files = {"areas/A.html": page(), "areas/a.html": page().replace(b"7", b"8")}
    found |= {f.code for f in ADAPTER.lint(files, ADAPTER.read(files))}
    assert found == {f"MH{n}" for n in range(101, 116)}
    text = (Path(__file__).parents[1] / "docs" / "formats" / "memhtml.md").read_text("utf-8")
    assert all(f"| {code} |" in text for code in found)


def test_a_store_of_the_clis_has_no_findings() -> None:
    (basic,) = [s for s in golden_samples() if s.id == "golden/memhtml/basic"]
    assert not list(ADAPTER.lint(basic.tree.files, ADAPTER.read(basic.tree.files)))


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({}, ["/home/mira/memhtml"]),
        ({"MEMHTML_ROOT": " ~/notes "}, ["/home/mira/notes"]),
        ({"MEMHTML_ROOT": "~"}, ["/home/mira"]),
        ({"MEMHTML_ROOT": "store"}, ["/bikes/store"]),
        ({"MEMHTML_ROOT": "/stores/store"}, ["/stores/store"]),
        ({"MEMHTML_ROOT": "/srv", "MEMHTML_REFUSE_ENV_ROOT": "1"}, []),
        ({"MEMHTML_ROOT": "/srv", "MEMHTML_REFUSE_ENV_ROOT": "off"}, ["/srv"]),
    ],
)
def test_where_the_store_lies(env: dict[str, str], found: list[str]) -> None:
    assert ADAPTER.locate is not None
    at = Surroundings(
        cwd=Path("/bikes"),
        home=Path("/home/mira"),
        env=env,
        read_text=lambda _: None,
        is_dir=lambda _: False,
    )
    assert [p.as_posix() for p in ADAPTER.locate(at)] == found


def test_detection() -> None:
    assert ADAPTER.detect({PATH: page()}) is not None
    assert ADAPTER.detect({".memhtml/state/.gitkeep": b""}) is not None
    assert ADAPTER.detect({"areas/x.html": b"<p>", "MEMORY.md": b""}) is None
    assert ADAPTER.ignored(".memhtml/index.db-wal")
    assert ADAPTER.ignored(".git/config")
    assert not ADAPTER.ignored(".memhtml/state/access.jsonl")


@given(st.binary(max_size=60), st.data())
def test_offsets_lead_back_to_the_bytes(data: bytes, draw: st.DataObject) -> None:
    """Whatever the bytes: what is seen is what they decode to, and edits touch only their place."""
    data = data.replace(b"\x00", b"\r").replace(b"\x01", b"\r\n").replace(b"\x02", b"\xe2\x82")
    found = source.source(data)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    assert found.seen == text.replace("\r\n", "\n").replace("\r", "\n")
    assert found.spliced(()) == data
    cut = draw.draw(st.integers(0, len(found.seen)))
    at = found.at(cut)
    left, right = found.text[:at], found.text[at:]
    pieces = [
        p.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for p in (left, right)
    ]
    seen = [p.replace("\r\n", "\n").replace("\r", "\n") for p in pieces]
    assert [seen[0].removeprefix("\ufeff"), seen[1]] == [found.seen[:cut], found.seen[cut:]]
    marked = found.spliced([Edit(at, at, "<!>")])
    assert marked.replace(b"<!>", b"", 1) == data or b"<!>" in data


# --- what anybody could have written

BITS = [
    *("<p>", "</p>", "<mark>", "</mark>", "<ul><li>", "</li></ul>", "<em>a. b</em>", "Dock 7. Two"),
    *("x", "&amp;", "<br>", "<pre>\n\nx</pre>", "<figure><pre><code>", "</code></pre></figure>"),
    *("<h1>t</h1>", "</article>", "<!-- c -->", "<!--", "\r", "\r\n", "\n", "<aside>", "</aside>"),
    *('<time datetime="2026-01-01">d</time>', "<p class=a>", "<script>", "🚲", "\u00a0"),
    *("<template>", "<table><tr><td>", "<article>", "<svg><title>"),
]


@given(st.lists(st.sampled_from([*BITS, " ", "a  b", "</b>"]), max_size=12).map("".join))
def test_a_text_is_one_whether_it_is_read_at_one_go_or_piece_by_piece(html: str) -> None:
    """Most elements hold nothing in which other rules hold, and take the shorter way."""
    for element in document.document(f"<article>{html}</article>").elements:
        for without_code in (False, True):
            runs: list[tuple[bool, str]] = []
            for verbatim, text in document.segments(element, without_code=without_code):
                if runs and runs[-1][0] == verbatim:
                    runs[-1] = (verbatim, runs[-1][1] + text)
                else:
                    runs.append((verbatim, text))
            parts = [t if v else re.sub(r"[ \t\n\f\r]+", " ", t) for v, t in runs]
            if runs and not runs[0][0]:
                parts[0] = parts[0].removeprefix(" ")
            if runs and not runs[-1][0]:
                parts[-1] = parts[-1].removesuffix(" ")
            told = content_hash.canonical_text(element, without_code=without_code)
            assert told == "".join(parts)


BODIES = st.one_of(
    st.one_of(words, texts).map(lambda t: Body(text=t)),
    st.lists(st.sampled_from(BITS), max_size=10)
    .map("".join)
    .map(lambda t: Body(text=t, media=HTML)),
    words.map(lambda t: Body(text=f"<p>{t}</p>", media=HTML)),
)
KINDS = ["episodic", "semantic", "verdict", "arc", "task"]
EXTRA: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "confidence": st.sampled_from(["0.90", "high", 1]),
        "author": one_line,
        "alias": st.lists(one_line, max_size=2),
        "valid-until": stamps,
        "status": st.sampled_from(["active", "archived"]),
        "content-hash": st.just("sha256:0"),
        "due": stamps,
        "needs-revision": st.just(True),
        "unknown": st.just("1"),
    },
).map(lambda said: {"memhtml": said} if said else {})
KEYS = ["dock.md", "resources/docks/a.html", "archive/2026/areas/b.html", "MEMORY.md#12",
        "archive/x.html", "areas/index.html", "projects/../x.html"]  # fmt: skip
LINKS = st.builds(
    Link,
    rel=st.sampled_from(["part_of", "blocks", "link"]),
    target=st.sampled_from(["areas/x.html", "pump", "a//b", "../x", 'resources/ö "q".html']),
)


@st.composite
def anything(draw: st.DrawFn) -> Memory:
    kind = draw(st.sampled_from(KINDS))
    values: dict[str, Any] = {
        "key": draw(st.sampled_from(KEYS)),
        "name": draw(maybe(one_line)),
        "title": draw(maybe(one_line)),
        "description": draw(maybe(st.one_of(one_line, texts))),
        "body": draw(BODIES),
        "kinds": {"memhtml": kind},
        "tags": draw(
            st.lists(st.one_of(st.sampled_from(["a", "", " "]), one_line), max_size=3).map(tuple)
        ),
        "entities": draw(
            st.lists(st.sampled_from(["person:mira", 'ä "q"\n2']), max_size=2).map(tuple)
        ),
        "links": draw(st.lists(LINKS, max_size=2).map(tuple)),
        "created": draw(maybe(stamps)),
        "modified": draw(maybe(stamps)),
        "session": draw(maybe(one_line)),
        "state": draw(st.sampled_from(["live", "live", "archived"])),
        "archived": draw(maybe(stamps)),
        "extra": draw(EXTRA),
    }
    if kind == "task":
        return Task(**values, status=draw(maybe(st.sampled_from(["todo", "DONE"]))))
    return Memory(**values)


@given(st.lists(anything(), max_size=4))
def test_what_fits_is_read_back_as_it_was_fitted(found: list[Memory]) -> None:
    new = {r.key: r for r in found}
    written = ADAPTER.write(Store(format="memhtml", records=tuple(new.values())), {}, NOW)
    store = ADAPTER.read(written.files)
    assert {r.key: r for r in store.records} == {r.key: r for r in written.records.values()}
    assert {r.key for r in written.refused} | set(written.records) == set(new)
    assert not store.problems
    for key, record in new.items():
        first = ADAPTER.fit(record, None, NOW)
        if isinstance(first, Fitted):
            again = ADAPTER.fit(first.record, None, NOW)
            assert isinstance(again, Fitted)
            assert again.record == first.record
            if key in written.records:
                assert fields.with_key(written.records[key], key) == first.record


@given(st.data())
def test_edits_of_several_fields(data: st.DataObject) -> None:
    samples = [s for s in golden_samples() if s.adapter is ADAPTER]
    files = data.draw(st.sampled_from(samples)).tree.files
    store = ADAPTER.read(files)
    old = data.draw(st.sampled_from(store.records))
    donor = data.draw(anything())
    names = data.draw(
        st.lists(st.sampled_from(fields.FIELDS[old.role]), min_size=1, max_size=3, unique=True)
    )
    new = fields.replace(old, {n: fields.get(donor, n) for n in names})
    written = put(new, files)
    found = {r.key: r for r in ADAPTER.read(written.files).records}
    assert found == {r.key: r for r in written.records.values()}
    for record in store.records:
        if record is not old:
            assert written.records[record.key] == record
    if written.refused:
        assert written.records[old.key] == old


def test_the_hash_is_that_of_the_references_words() -> None:
    """Blocks set words apart, running elements do not, and ``<pre>`` keeps its blanks."""
    html = "<p>a<em>b</em> c</p><ul><li>d</li></ul><pre> x\n  y </pre><!-- no --><p>\u00a0e </p>"
    data = page(
        tail=TAIL.replace("<p><mark>Dock 7 jams.</mark></p>", f"<p><mark>q</mark></p>{html}")
    )
    found = memory_file.read(PATH, data)
    assert isinstance(found, memory_file.MemoryFile)
    text = "q ab c d  x\n  y  \u00a0e"
    assert found.hash == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


# --- what the runtime does by itself


def test_what_sleep_does_is_calmed() -> None:
    awake = page(
        '<meta name="memhtml-importance" content="3">',
        '<meta name="memhtml-entity" content="person:Mira  Ott">',
        '<meta name="memhtml-entity" content="Kiosk">',
        '<link rel="memhtml-part-of" href="/areas/arcs/winter.html">',
    )
    asleep = page(
        '<meta name="memhtml-confidence" content="0.920">',
        '<meta name="memhtml-importance" content="3">',
        '<meta name="memhtml-reprieves" content="1">',
        '<meta name="memhtml-entity" content="person:mira ott">',
        '<meta name="memhtml-entity" content="kiosk">',
        '<link rel="memhtml-part-of" href="/archive/2026/areas/arcs/winter.html">',
        '<link rel="memhtml-about-person" href="/resources/people/mira-ott.html">',
        head=HEAD.replace("2026-05-02T10:00:00Z", "2026-05-01T00:00:00Z"),
    )
    before, after = only({PATH: awake}), only({PATH: asleep})
    assert before != after
    assert ADAPTER.calm(before) == ADAPTER.calm(after)
    assert ADAPTER.calm(ADAPTER.calm(after)) == ADAPTER.calm(after)


@pytest.mark.parametrize(
    "line",
    [
        '<meta name="memhtml-entity" content="person:Piet">',
        '<meta name="memhtml-importance" content="4">',
        '<meta name="memhtml-valid-until" content="2027-01-01">',
        '<meta name="memhtml-tag" content="x">',
        '<link rel="memhtml-about-person" href="/resources/people/piet.html">',
    ],
)
def test_what_a_person_says_is_not_calmed(line: str) -> None:
    assert ADAPTER.calm(only({PATH: page(line)})) != ADAPTER.calm(only({PATH: page()}))


def test_other_roles_are_calm() -> None:
    decision = Decision(key="d", decision="x")
    assert ADAPTER.calm(decision) == decision


# --- who is who after the runtime's moves


OLD, NEW = "areas/inbox/dock.html", "areas/inbox/dock-2.html"
ARCHIVED = f"archive/2026/{OLD}"


def handles(files: Files) -> dict[str, str | None]:
    return {r.key: ADAPTER.handle(r) for r in ADAPTER.read(files).records}


def test_what_was_archived_keeps_its_handle() -> None:
    assert handles({ARCHIVED: page('<meta name="memhtml-archived" content="2026-05-02">')}) == {
        ARCHIVED: OLD
    }


def test_a_correction_takes_the_handle_of_what_it_corrects() -> None:
    corrected = page(f'<meta name="memhtml-superseded-by" content="/{NEW}">')
    correction = page(
        '<meta name="memhtml-valid-from" content="2026-05-01">',
        f'<link rel="memhtml-supersedes" href="/{ARCHIVED}">',
    )
    assert handles({ARCHIVED: corrected, NEW: correction}) == {ARCHIVED: ARCHIVED, NEW: OLD}


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            (
                '<meta name="memhtml-valid-from" content="2026-06-01">',
                f'<link rel="memhtml-supersedes" href="/{ARCHIVED}">',
            ),
            id="it was there before, and another was merged into it",
        ),
        pytest.param(
            (f'<link rel="memhtml-supersedes" href="/{ARCHIVED}">',), id="stated by a person"
        ),
        pytest.param(
            (
                '<meta name="memhtml-valid-from" content="2026-05-01">',
                f'<link rel="memhtml-supersedes" href="/{OLD}">',
            ),
            id="what it supersedes still lives",
        ),
    ],
)
def test_other_memories_keep_the_handle_that_they_had(lines: tuple[str, ...]) -> None:
    assert handles({NEW: page(*lines)}) == {NEW: NEW}


# --- the claim of a decision or a tombstone, and the lists of its text

TABLE = (
    "TOMBSTONES.md",
    "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
    "|---|---|---|---|---|---|---|\n"
    "| T-001 | Opening | noon | D-001 | 2026-08-20 | late | call |\n",
)
PLACE = "areas/inbox/tombstone-t-001.html"


def _converted() -> tuple[Opened, Opened]:
    tree = Tree(files={TABLE[0]: TABLE[1].encode()}, complement=None, problems=())
    topic = assemble(get("memory-compiler"), Path("topic"), tree, None, "topic")
    pages = check.empty(ADAPTER, "pages")
    choices = Choices(kind_map={"role:tombstone": "precedent"})
    return topic, after(plan(topic, pages, choices, now=NOW.now), pages)


def _by_hand(pages: Opened, old: str, new: str) -> Opened:
    files = dict(pages.tree.files)
    text = files[PLACE].decode()
    assert old in text, text
    files[PLACE] = text.replace(old, new).encode()
    tree = replace(pages.tree, files=files)
    return assemble(ADAPTER, Path("pages"), tree, pages.complement, "pages")


def test_a_claim_that_is_changed_alone_is_said_to_be_a_view() -> None:
    topic, pages = _converted()
    assert not [n for n in plan(pages, topic, now=NOW.now).notes if "claim" in n]
    changed = _by_hand(pages, "<mark>Opening</mark>", "<mark>Opening is\nat ten</mark>")
    for made in (plan(changed, topic, now=NOW.now), plan(topic, changed, now=NOW.now)):
        (note,) = [n for n in made.notes if "claim" in n]
        assert note == (
            f"{PLACE}: its claim, 'Opening is at ten', only repeats its text and was changed "
            "alone, so the tombstone stays as it is; change Fact / Key, 'Opening', in the text"
        )
        assert made.count("same") == 1


def test_a_claim_that_is_only_late_is_not_named() -> None:
    topic, pages = _converted()
    changed = _by_hand(pages, "</strong> Opening<", "</strong> Opening day<")
    made = plan(changed, topic, now=NOW.now)
    assert made.count("update") == 1
    assert not [n for n in made.notes if "claim" in n]
    assert b"| T-001 | Opening day | noon |" in after(made, topic).tree.files[TABLE[0]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<li><strong>Reason:</strong> late</li>", "<li><p><strong>Reason:</strong> late</p></li>"),
        ("<li><strong>Reason:</strong> late</li>",
         "<li>\n<p><strong>Reason:</strong> late</p>\n</li>"),
        ("<li><strong>Reason:</strong> late</li>", "<li><b>Reason:</b> late</li>"),
        ("</li>\n<li>", "</li><li>"),
    ],
)  # fmt: skip
def test_lists_that_show_the_same_are_read_alike(old: str, new: str) -> None:
    topic, pages = _converted()
    changed = _by_hand(pages, old, new)
    made = plan(changed, topic, now=NOW.now)
    assert made.count("same") == 1, made.outcomes
    more = _by_hand(changed, "late", "late &amp; <code>a|b</code>")
    done = after(plan(more, topic, now=NOW.now), topic)
    assert b"| late & `a&#124;b` | call |" in done.tree.files[TABLE[0]]


# --- the claim of what came from elsewhere

DECLARED = Choices(
    kind_map={"untyped": "semantic", "project": "semantic", "role:tombstone": "precedent"}
)
BELL = "areas/inbox/bells.html"
RING = "Bells are loud. They *ring*.\n\nSecond block."
ARTICLE = "<p>Bells are loud. They <em>ring</em>.</p>\n<p>Second block.</p>"


def told(record: Record, name: str = "claude-code") -> Opened:
    """Give a store of another format that says one record."""
    store = check.empty(get(name), name)
    written = store.adapter.write(Store(format=name, records=(record,)), {}, NOW)
    assert not written.refused
    files = dict(written.files)
    if fields.get(record, "description") is None:  # every new file of Claude Code's has one
        files = {path: re.sub(rb"\ndescription: .*", b"", data) for path, data in files.items()}
    return holding(store, files)


def holding(store: Opened, files: Files) -> Opened:
    tree = replace(store.tree, files=dict(files))
    return assemble(store.adapter, store.root, tree, store.complement, store.raw.id)


def bell(description: str | None, text: str = RING, **values: Any) -> Memory:
    values = {"name": "bells", "kinds": {"claude": "project"}, **values}
    return Memory(key="bells.md", description=description, body=Body(text=text), **values)


def converted(source: Opened, pages: Opened | None = None, choices: Choices = DECLARED) -> Opened:
    pages = pages or check.empty(ADAPTER, "pages")
    made = plan(source, pages, choices, now=NOW.now)
    assert not made.blocked, made.outcomes
    return after(made, pages)


def article(pages: Opened) -> str:
    (data,) = pages.tree.files.values()
    return data.decode().partition("<article>\n")[2].partition("\n</article>")[0]


def by_hand(pages: Opened, old: str, new: str) -> Opened:
    ((path, data),) = pages.tree.files.items()
    assert old in data.decode(), data.decode()
    return holding(pages, {path: data.decode().replace(old, new).encode()})


def returns(pages: Opened, source: Opened) -> None:
    """See that all is said: the way back changes no byte, and the same again has nothing to do."""
    assert after(plan(pages, source, now=NOW.now), source).tree.files == source.tree.files
    assert plan(source, pages, DECLARED, now=NOW.now).changes == ()


ABOUT = f"<p><mark>About the bells</mark></p>\n{ARTICLE}"
NOW_ABOUT = f"<p><mark>Now &amp; then</mark></p>\n{ARTICLE}"
MARKED = ARTICLE.replace("Bells are loud.", "<mark>Bells are loud.</mark>", 1)


@pytest.mark.parametrize("name", ["claude-code", "bantamkit", "theokit", "jsonl"])
@pytest.mark.parametrize(
    ("description", "html", "then", "after_all"),
    [
        ("About the bells", ABOUT, "Now & then", NOW_ABOUT),
        ("Bells are loud.", MARKED, "Now & then", NOW_ABOUT),
        ("About the bells", ABOUT, "Bells are loud.", MARKED),
        ("About the bells", ABOUT, None, MARKED),
        (None, MARKED, "About the bells", ABOUT),
    ],
)
def test_a_description_that_is_edited_elsewhere_becomes_the_claim(
    name: str, description: str | None, html: str, then: str | None, after_all: str
) -> None:
    if name in ("bantamkit", "theokit") and None in (description, then):
        return  # every memory has a description there
    source = told(bell(description), name)
    pages = converted(source)
    assert article(pages) == html
    source = told(bell(then), name)
    changed = converted(source, pages)
    assert article(changed) == after_all
    (old,), (new,) = pages.tree.files.values(), changed.tree.files.values()
    other = [*range(len(old.decode().partition("<article>")[0].splitlines()))]
    heads = [x.decode().splitlines() for x in (old, new)]
    differ = [heads[1][n] for n in other if heads[0][n] != heads[1][n]]
    assert [line.partition(" content=")[0] for line in differ] == [
        '<meta name="memhtml-content-hash"'
    ]
    assert not [f for f in ADAPTER.lint(changed.tree.files, changed.raw) if f.code == "MH109"]
    returns(changed, source)


def test_a_task_and_html_have_their_claims_restated_too() -> None:
    todo = Task(key="t", description="About", status="todo", body=Body(text="Do it."))
    source = told(replace(todo, kinds={"memhtml": "task"}), "jsonl")
    pages = converted(source)
    later = told(replace(todo, kinds={"memhtml": "task"}, description="Now"), "jsonl")
    changed = converted(later, pages)
    assert article(changed) == "<p><mark>Now</mark></p>\n<p>Do it.</p>"
    returns(changed, later)
    html = Memory(key="h", description="About", body=Body(text="<p>Bells</p>", media=HTML))
    pages = converted(told(html, "jsonl"))
    later = told(replace(html, description="Now"), "jsonl")
    changed = converted(later, pages)
    assert article(changed) == "<p><mark>Now</mark></p>\n<p>Bells</p>"
    returns(changed, later)
    back = after(plan(by_hand(changed, ">Now<", ">Then<"), later, now=NOW.now), later)
    (record,) = back.restored.store.records
    assert isinstance(record, Memory)
    assert (record.description, record.body) == ("Then", html.body)


def test_a_title_that_says_the_claim_goes_with_it() -> None:
    source = told(bell("About", name=None), "jsonl")
    pages = converted(source)
    ((path, _),) = pages.tree.files.items()
    later = told(bell("Now", name=None), "jsonl")
    changed = converted(later, pages)
    assert list(changed.tree.files) == [path], "the file keeps its name"
    assert "<title>Now</title>" in changed.tree.files[path].decode()
    returns(changed, later)
    stated = converted(told(bell("About", name=None, title="About"), "jsonl"))
    later = told(bell("Now", name=None, title="About"), "jsonl")
    assert (
        "<title>About</title>" in next(iter(converted(later, stated).tree.files.values())).decode()
    )


def test_nothing_else_of_an_article_changes_with_its_claim() -> None:
    source = told(bell("About the bells"))
    mine = '<p id="x">\n  Second   block.</p><!-- mine -->'
    pages = by_hand(converted(source), "<p>Second block.</p>", mine)
    later = told(bell("Now & then"))
    changed = converted(later, pages)
    assert article(changed) == NOW_ABOUT.replace("<p>Second block.</p>", mine)
    back = after(plan(changed, later, now=NOW.now), later)
    (record,) = back.restored.store.records
    assert fields.get(record, "description") == "Now & then"
    assert "About" not in fields.get(record, "body").text


def test_a_mark_that_a_text_has_of_itself_stays() -> None:
    own = Memory(
        key=BELL,
        title="Bells",
        body=Body(text="<p><mark>Bells are loud.</mark></p>\n<p>Two.</p>", media=HTML),
        kinds={"memhtml": "semantic"},
        created="2026-05-01",
        modified="2026-05-01",
    )
    pages = holding(check.empty(ADAPTER, "pages"), put(own).files)
    home = after(plan(pages, there := check.empty(get("claude-code"), "home"), now=NOW.now), there)
    text = home.tree.files["bells.md"]
    assert b"description: Bells are loud." in text
    edited_there = holding(
        home, {**home.tree.files, "bells.md": text.replace(b"n: Bells are loud.", b"n: Noise")}
    )
    changed = converted(edited_there, pages)
    assert changed.tree.files == pages.tree.files
    assert fields.get(changed.restored.store.records[0], "description") == "Noise"


@pytest.mark.parametrize(
    ("description", "text", "old", "new", "says"),
    [
        ("About", RING, ">About<", ">All about<", "All about"),
        ("About", RING, "<p><mark>About</mark></p>", "<p>\n <mark>All</mark>\n</p>\n", "All"),
        ("x\ny", RING, "<mark>x y<", "<mark>x z<", "x z"),
        (None, "```\nls\n```", "<mark>ls<", "<mark>Lists<", "Lists"),
        (None, RING, ">Bells are loud.</mark>", ">Bells</mark> are loud.", "Bells"),
        ("Bells are loud.", RING, "<p><mark>Bells are loud.</mark>",
         "<p><mark>Other</mark></p>\n<p>Bells are loud.", "Other"),
        ("About", RING, "<p><mark>About</mark></p>\n<p>Bells are loud.",
         "<p><mark>Bells are loud.</mark>", "Bells are loud."),
    ],
)  # fmt: skip
def test_a_claim_that_is_edited_alone_is_an_edit_of_the_description(
    description: str | None, text: str, old: str, new: str, says: str
) -> None:
    source = told(bell(description, text), "jsonl")
    pages = by_hand(converted(source), old, new)
    back = after(plan(pages, source, now=NOW.now), source)
    (record,) = back.restored.store.records
    assert isinstance(record, Memory)
    assert (record.description, record.body.text) == (says, text)
    assert converted(back, pages).tree.files == pages.tree.files


def test_a_paragraph_that_is_split_off_and_marked_is_still_text() -> None:
    source = told(bell("About", "Bells are loud. They ring."))
    old = "<p><mark>About</mark></p>\n<p>Bells are loud. They"
    pages = by_hand(converted(source), old, "<p><mark>Bells are loud.</mark></p>\n<p>They")
    (record,) = after(plan(pages, source, now=NOW.now), source).restored.store.records
    assert fields.get(record, "body").text == "Bells are loud.\n\nThey ring."


WHOLE = f"<p><mark>About the bells</mark></p>\n{ARTICLE}"


@pytest.mark.parametrize("name", ["claude-code", "bantamkit", "theokit", "jsonl"])
@pytest.mark.parametrize(
    ("new", "says", "text"),
    [
        ("<p><mark>Bells are out.</mark></p>", "Bells are out.", "Bells are out."),
        ("<p><mark>Bells\n\nare &amp; out</mark></p>", "Bells are & out", "Bells\nare & out"),
        ("<p><mark>About the bells</mark></p>", "About the bells", "About the bells"),
        ("<p><mark>Out.</mark></p>\n<figure><pre><code>ls</code></pre></figure>", "Out.",
         "Out.\n\n```\nls\n```"),
        ("<p><mark>Out.</mark></p>\n<p>One.</p>\n<p>Two.</p>", "Out.", "Out.\n\nOne.\n\nTwo."),
        ("<p><mark>About the bells</mark></p>\n<p>One.</p>", "About the bells", "One."),
        (NOW_ABOUT.replace("Second", "Third"), "Now & then", RING.replace("Second", "Third")),
        ("<p><mark>Out.</mark></p>\n<p>Second blocks.</p>", "Out.", "Second blocks."),
    ],
    ids=["claim alone", "of several lines", "text deleted", "another text, no paragraph",
         "another text", "its text alone is another", "both edited", "both edited, less of it"],
)  # fmt: skip
def test_what_stands_alone_is_the_text_and_never_a_claim_before_none(
    name: str, new: str, says: str, text: str
) -> None:
    """A correction writes an article of its own: exactly what it says arrives."""
    source = told(bell("About the bells"), name)
    pages = by_hand(converted(source), WHOLE, new)
    back = after(plan(pages, source, now=NOW.now), source)
    (record,) = back.restored.store.records
    assert isinstance(record, Memory)
    assert (record.description, record.body.text) == (says, text)
    assert after(plan(pages, back, now=NOW.now), back).tree.files == back.tree.files
    assert converted(back, pages).tree.files == pages.tree.files
    later = told(bell(says, text.replace(text.split()[-1], "mended")), name)
    later = holding(back, {**back.tree.files, **later.tree.files})
    again = converted(later, pages)
    assert "mended" in article(again)
    assert article(again).count("mark>") == 2
    returns(again, later)


def test_what_stands_alone_is_the_text_also_where_nobody_stated_a_description() -> None:
    source = told(bell(None, "```\nls\n```"), "jsonl")
    pages = by_hand(converted(source), "<figure><pre><code>ls</code></pre></figure>\n", "")
    pages = by_hand(pages, ">ls<", ">Bells are out.<")
    back = after(plan(pages, source, now=NOW.now), source)
    (record,) = back.restored.store.records
    assert isinstance(record, Memory)
    assert (record.description, record.body.text) == (None, "Bells are out.")
    assert converted(back, pages).tree.files == pages.tree.files


@pytest.mark.parametrize("said", ["About", "A & B"])
def test_a_text_that_was_empty_stays_empty_behind_its_claim(said: str) -> None:
    source = told(bell(said, ""), "jsonl")
    pages = converted(source)
    returns(pages, source)
    pages = by_hand(pages, "</mark>", " it</mark>")
    (record,) = after(plan(pages, source, now=NOW.now), source).restored.store.records
    assert (fields.get(record, "description"), fields.get(record, "body").text) == (
        f"{said} it",
        "",
    )
    pages = by_hand(pages, "</mark></p>", "</mark></p>\n<p>Text.</p>")
    (record,) = after(plan(pages, source, now=NOW.now), source).restored.store.records
    assert fields.get(record, "body").text == "Text."


def test_a_text_that_is_emptied_elsewhere_leaves_its_claim_and_comes_back_empty() -> None:
    source, later = (
        told(bell("About the bells"), "jsonl"),
        told(bell("About the bells", ""), "jsonl"),
    )
    changed = converted(later, converted(source))
    assert article(changed) == "<p><mark>About the bells</mark></p>"
    returns(changed, later)


def test_a_claim_and_a_description_that_both_were_edited_are_a_conflict() -> None:
    source, later = told(bell("About the bells")), told(bell("Now & then"))
    pages = by_hand(converted(source), ">About the bells<", ">By hand<")
    made = plan(later, pages, DECLARED, now=NOW.now)
    assert [o.reason for o in made.outcomes] == ["both sides changed: description"]
    for take, html in (("source", NOW_ABOUT), ("destination", article(pages))):
        decided = replace(DECLARED, decisions={"bells.md": {"take": take}})
        assert article(converted(later, pages, decided)) == html


SAID = st.sampled_from(
    [None, "About", "Bells are loud.", "Bells", "Bells are", "Bells ar", "A & B <x> `code`", "one."]
)
WRITTEN = st.sampled_from(
    [
        "",
        "Bells are loud.",
        "Bells are loud.\n\nBells are loud.",
        "Bells *are* loud. They ring\n\nand `ring`.",
        "# Head\n\nBells are loud. X",
        "- one. two\n- three",
        "```\nls\n```",
        "Bells are <b>loud</b>. A & B",
        "<!-- note -->\n\nBells are loud.",
        "<mark>Own</mark> bells",
    ]
)


@given(SAID, WRITTEN, SAID, WRITTEN)
def test_what_is_edited_elsewhere_stands_as_if_it_were_new(
    description: str | None, text: str, then: str | None, new: str
) -> None:
    source, later = told(bell(description, text), "jsonl"), told(bell(then, new), "jsonl")
    pages = converted(source)
    claim = pages.raw.records[0]
    changed = converted(later, pages)
    if fields.get(claim, "description") == then:  # a claim that says so already stays in its place
        assert fields.get(changed.raw.records[0], "description") in (then, "Own")
    else:
        assert article(changed) == article(converted(later))
    returns(changed, later)


@pytest.mark.parametrize("name", ["memhtml", "claude-code"])
def test_what_repeats_a_tombstone_follows_it(name: str) -> None:
    adapter = get(name)
    topic = told(STONE, "jsonl")
    choices = replace(DECLARED, kind_map={"role:tombstone": adapter.kinds.terms[0]})  # type: ignore[union-attr]
    there = converted(topic, check.empty(adapter, "there"), choices)
    later = told(replace(STONE, subject="ink of the signs"), "jsonl")
    changed = converted(later, there, choices)
    said = b"\n".join(changed.tree.files.values())
    assert b"colour of the signs" not in said
    assert said.count(b"ink of the signs") == b"\n".join(there.tree.files.values()).count(
        b"colour of the signs"
    )
    if name == "memhtml":
        return
    mine = {p: d.replace(b"n: colour", b"n: my colour") for p, d in there.tree.files.items()}
    assert mine != there.tree.files
    stays = converted(later, holding(there, mine), choices).tree.files
    assert any(b"n: my colour of the signs" in data for data in stays.values())
