"""Memory Compiler topics: what is read, which bytes an edit changes, and what its checker says.

The checker here is written from sections 2 to 4 of the format page and shares no code with the
adapter: what interop writes has to satisfy it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interop import fields, registry
from interop.adapter import Context, Finding, Fitted, Refusal, Written
from interop.adapters.memory_compiler import ADAPTER, cells, memory_tests, pointers
from interop.adapters.memory_compiler.settling import Change, Made, settle
from interop.check import empty
from interop.check.crossing import cross
from interop.choices import Choices
from interop.complement_file import dumps, loads
from interop.convert import after, plan
from interop.disk.tree import Tree
from interop.lint import lint as every_lint
from interop.model import Body, Decision, Files, Json, Memory, Record, Store, Task, Tombstone
from interop.restore import Restored
from interop.stores import Opened, assemble
from tests.samples import Sample, samples
from tests.strategies import maybe, one_line, records, texts, words
from tests.test_round_trips import convert
from tests.test_round_trips import edited as edited_by_hand

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "golden" / "memory-compiler"
SHARED = ROOT.parent / "shared" / "fixtures" / "memory-compiler"
NOW = Context(now="2026-11-30T12:00:00.000Z")

CONTEXT = "# Context\n\n## Current facts\n\n- Hall 3. *(as_of: 2026-10-05, evidence: plan)*\n- Two vans.\n\n## Naming traps\n\n- None.\n"  # noqa: E501
ITEMS = "# Open items\n\n| ID | Item | Status | Opened | Evidence / Reason | Notes |\n|---|---|---|---|---|---|\n| OI-001 | Oil | OPEN | 2026-10-05 |  | half |\n"  # noqa: E501
DECISIONS = "# Decisions\n\n| ID | Decision | Why | Date | Evidence | Supersedes | Status |\n|---|---|---|---|---|---|---|\n| D-001 | Rent | Frost | 2026-09-28 | mail | — | Active |\n\nEnd.\n"  # noqa: E501
STONES = "# Tombstones\n\n| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n|---|---|---|---|---|---|---|\n| T-001 | Rent | 820 € | D-001 | 2026-09-28 | offer | mail |\n"  # noqa: E501
TOPIC = {
    "CONTEXT.md": CONTEXT,
    "OPEN_ITEMS.md": ITEMS,
    "DECISIONS.md": DECISIONS,
    "TOMBSTONES.md": STONES,
}
HALL_TEXT = "Hall 3. *(as_of: 2026-10-05, evidence: plan)*"
HALL = f"CONTEXT.md#{hashlib.sha256(HALL_TEXT.encode()).hexdigest()[:12]}"


def store(some: Iterable[Record]) -> Store:
    return Store(format=ADAPTER.name, records=tuple(some))


def put(
    files: Mapping[str, str], *changes: Record, without: str = "", context: Context = NOW
) -> Written:
    """Put records over files: those with a key there replace it, others are new."""
    onto = {p: t.encode() for p, t in files.items()}
    there = {r.key: r for r in ADAPTER.read(onto).records if r.key != without}
    done = ADAPTER.write(store((there | {r.key: r for r in changes}).values()), onto, context)
    found = {r.key: r for r in ADAPTER.read(done.files).records}
    assert found == {r.key: r for r in done.records.values()}
    return done


def edited(files: Mapping[str, str], key: str, **values: object) -> dict[str, str]:
    """Change fields of one record, and check that the others are as they were."""
    onto = {p: t.encode() for p, t in files.items()}
    before = {r.key: r for r in ADAPTER.read(onto).records}
    done = put(files, fields.replace(before[key], values))
    assert not done.refused
    for other in before.keys() - {key}:
        assert fields.with_key(done.records[other], other) == before[other]
    return {p: b.decode() for p, b in done.files.items()}


def refusal(done: Written) -> Refusal:
    (found,) = done.refused
    assert found.remedy
    return found


def text(done: Written, path: str) -> str:
    return done.files[path].decode()


def tree(case: Path) -> Files:
    root = case / "store"
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def lint(files: Mapping[str, str | bytes]) -> list[Finding]:
    data = {p: t.encode() if isinstance(t, str) else t for p, t in files.items()}
    return list(ADAPTER.lint(data, ADAPTER.read(data)))


def codes(files: Mapping[str, str | bytes]) -> set[str]:
    return {f.code for f in lint(files)}


# --- the checker, from sections 2 to 4 of the page

_HEADERS = {
    "OPEN_ITEMS.md": "ID | Item | Status | Opened | Evidence / Reason | Notes",
    "TOMBSTONES.md": "ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source",
    "DECISIONS.md": "ID | Decision | Why | Date | Evidence | Supersedes | Status",
}
_FILES = ("CONTEXT.md", *_HEADERS)


def parse_table(said: str) -> tuple[list[str], list[list[str]]]:
    table: list[list[str]] = []
    for line in said.splitlines():
        stripped = line.strip()
        if stripped.startswith("|") and stripped.endswith("|"):
            table.append([c.strip() for c in stripped.strip("|").split("|")])
        elif table:
            break
    header, *body = table or [[]]
    return header, [r for r in body if not all(re.fullmatch(r":?-+:?", c) for c in r)]


def asks(files: Files) -> list[str]:
    """Everything that the checker asks about; nothing is a clean topic."""
    out: list[str] = []
    said = {p: files[p].decode("utf-8") for p in _FILES if p in files}
    out += [f"{p} is missing" for p in _FILES if p not in said]
    for path, whole in said.items():
        header, body = parse_table(whole)
        if path in _HEADERS and " | ".join(header) != _HEADERS[path]:
            out.append(f"{path}: header {header}")
        if whole.count("```") % 2:
            out.append(f"{path}: odd fences")
        out += [f"{path}: {len(r)} cells {r}" for r in body if len(r) != len(header)]
        last = [x for x in whole.splitlines() if x.strip()][-1:]
        if last and last[0].startswith("|") and not last[0].rstrip().endswith("|"):
            out.append(f"{path}: cut off")
        if path in _HEADERS:
            ids = [r[0] for r in body]
            out += [f"{path}: id {i!r}" for i in ids if not i or ids.count(i) > 1]
            for at, row in enumerate(body):
                if len(row) == len(header):
                    out += _row_asks(path, row, ids[: at + 1])
    return out


def _row_asks(path: str, row: list[str], above: list[str]) -> Iterable[str]:
    if path == "OPEN_ITEMS.md":
        if row[2] not in ("OPEN", "BLOCKED", "DONE", "DROPPED"):
            yield f"{row[0]}: status {row[2]!r}"
        if row[2] in ("DONE", "DROPPED") and not row[4]:
            yield f"{row[0]}: evidence"
    elif path == "TOMBSTONES.md":
        if not all(row):
            yield f"{row[0]}: an empty cell"
    else:
        if row[6] not in ("Active", "Superseded"):
            yield f"{row[0]}: status {row[6]!r}"
        if not (row[1] and row[2] and row[3]):
            yield f"{row[0]}: Decision, Why, Date"
        if row[5] not in ("", "—", "-", *above):
            yield f"{row[0]}: supersedes {row[5]!r}"


def collisions(files: Files) -> list[tuple[str, str]]:
    """Give the rejected values that the checker would find again: path and value."""
    _, body = parse_table(files["TOMBSTONES.md"].decode("utf-8"))
    found: list[tuple[str, str]] = []
    for row in body:
        value = row[2].strip().strip('`"')
        found += [
            (p, value)
            for p in _FILES
            if p != "TOMBSTONES.md" and len(value) >= 12 and value in files[p].decode("utf-8")
        ]
    return found


def test_the_model_of_the_checker_agrees_with_the_page() -> None:
    assert asks({p: t.encode() for p, t in TOPIC.items()}) == []
    assert asks(tree(GOLDEN / "basic")) == []
    broken = {**TOPIC, "DECISIONS.md": DECISIONS.replace("| — |", "| D-001, D-002 |")}
    assert asks({p: t.encode() for p, t in broken.items()}) == ["D-001: supersedes 'D-001, D-002'"]


# --- reading


def expected_cases() -> list[Path]:
    return sorted(p.parent for p in SHARED.glob("*/expect.jsonl"))


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"ABSENT: {SHARED}; golden/ alone is checked")
@pytest.mark.parametrize("case", expected_cases(), ids=lambda p: p.name)
def test_reads_what_the_fixtures_expect(case: Path) -> None:
    found = ADAPTER.read(tree(case))
    got = {r.key: flat(r) for r in found.records}
    wanted = [orjson.loads(x) for x in (case / "expect.jsonl").read_bytes().splitlines()]
    assert list(got) == [w["key"] for w in wanted]
    for want in wanted:
        for key, value in want.items():
            says = got[want["key"]].get(key)
            assert says == value if key != "extra" else covers(value, says), (want["key"], key)
    problems = case / "problems.jsonl"
    if problems.is_file():
        told = {p.path for p in found.problems}
        assert {orjson.loads(x)["path"] for x in problems.read_bytes().splitlines()} <= told


def flat(record: Record) -> dict[str, Json]:
    out = fields.to_json(record)
    body = out.pop("body", {})
    assert isinstance(body, dict)
    return out | body


def covers(want: Json, got: Json) -> bool:
    if isinstance(want, dict):
        return isinstance(got, dict) and all(covers(v, got.get(k)) for k, v in want.items())
    return want == got


def test_the_header_decides_and_not_the_name() -> None:
    assert ADAPTER.detect(tree(GOLDEN / "not-ours")) is None
    assert ADAPTER.detect(tree(GOLDEN / "overlooked")) is not None
    assert ADAPTER.detect({"TOMBSTONES.md": STONES.lower().encode()}) is None
    assert ADAPTER.detect({}) is None


def test_handles_are_ids() -> None:
    found = ADAPTER.read(tree(GOLDEN / "broken-rows"))
    handles = [ADAPTER.handle(r) for r in found.records]
    assert "TOMBSTONES.md#T-002" in handles
    assert None in handles, "an id used twice identifies nothing"
    assert ADAPTER.handle(Memory(key=HALL)) is None


# --- editing


@pytest.mark.parametrize(
    ("key", "values", "path", "before", "after"),
    [
        (HALL, {"body": Body(text="Hall 4.")}, "CONTEXT.md",
         "Hall 3. *(as_of: 2026-10-05, evidence: plan)*", "Hall 4."),
        ("OPEN_ITEMS.md#OI-001", {"status": "BLOCKED"}, "OPEN_ITEMS.md", "OPEN |", "BLOCKED |"),
        ("OPEN_ITEMS.md#OI-001", {"status": "DONE"}, "OPEN_ITEMS.md",
         "OPEN | 2026-10-05 |  |", "DONE | 2026-10-05 | — |"),
        ("OPEN_ITEMS.md#OI-001", {"evidence": "bill"}, "OPEN_ITEMS.md", "|  | half", "| bill | half"),  # noqa: E501
        ("OPEN_ITEMS.md#OI-001", {"extra": None}, "OPEN_ITEMS.md", "| half |", "|  |"),
        ("DECISIONS.md#D-001", {"why": "a|b\nc"}, "DECISIONS.md", "Frost", "a&#124;b<br>c"),
        ("DECISIONS.md#D-001", {"evidence": None}, "DECISIONS.md", "mail |", " |"),
        ("DECISIONS.md#D-001", {"supersedes": "D-001"}, "DECISIONS.md", "| — |", "| D-001 |"),
        ("TOMBSTONES.md#T-001", {"source": None}, "TOMBSTONES.md", "mail", "—"),
    ],
)  # fmt: skip
def test_an_edit_changes_its_own_bytes(
    key: str, values: dict[str, object], path: str, before: str, after: str
) -> None:
    now = edited(TOPIC, key, **values)
    assert now == {**TOPIC, path: TOPIC[path].replace(before, after)}
    assert asks({p: t.encode() for p, t in now.items()}) == []


def test_what_stands_there_oddly_stays_while_untouched() -> None:
    files = {p: b.decode() for p, b in tree(GOLDEN / "broken-rows").items()}
    now = edited(files, "DECISIONS.md#D-001", why="Longer days")
    assert now["DECISIONS.md"] == files["DECISIONS.md"].replace("Long days", "Longer days")


def test_bullets_go_and_rows_stay() -> None:
    done = put(TOPIC, without="OPEN_ITEMS.md#OI-001")
    assert done.files == {p: t.encode() for p, t in TOPIC.items()}
    assert "OPEN_ITEMS.md#OI-001" in done.records
    assert "permanent" in done.notes[0]
    done = put(TOPIC, without=HALL)
    assert text(done, "CONTEXT.md") == CONTEXT.replace(
        "- Hall 3. *(as_of: 2026-10-05, evidence: plan)*\n", ""
    )


def test_a_view_is_not_written() -> None:
    extra: Json = {"as_of": "2027-01-01", "evidence": "x"}
    (hall,) = [r for r in ADAPTER.read(encoded()).records if r.key == HALL]
    done = put(TOPIC, fields.replace(hall, {"extra": {"memory-compiler": extra}}))
    assert done.files == encoded()
    assert done.notes


def encoded(files: Mapping[str, str] = TOPIC) -> Files:
    return {p: t.encode() for p, t in files.items()}


# --- what is new


def test_new_bullets_end_the_current_facts() -> None:
    one, two = (Memory(key=f"{n}.md", body=Body(text=f"New {n}.")) for n in ("a", "b"))
    done = put(TOPIC, one, two)
    assert text(done, "CONTEXT.md") == CONTEXT.replace(
        "- Two vans.\n", "- Two vans.\n- New a.\n- New b.\n"
    )
    done = put({**TOPIC, "CONTEXT.md": "# Context"}, one)
    assert text(done, "CONTEXT.md") == "# Context\n\n- New a."
    done = put({**TOPIC, "CONTEXT.md": "## Current facts\r\n\r\n- x\r\n## B\r\n"}, one)
    assert text(done, "CONTEXT.md") == "## Current facts\r\n\r\n- x\r\n- New a.\r\n## B\r\n"


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        ("a\n\nb", "a\n  <br>\n  b"),
        ("a\nb", "a\n  b"),
        ("a\n  b", "a\n  b"),
        ("---", "&#45;--"),
        ("see <!-- x", "see &lt;!-- x"),
        ("one ``` fence", "one &#96;&#96;&#96; fence"),
        ("  led in", "led in"),
        ("\ud800", "\\ud800"),
        ("# not a heading", "# not a heading"),
        ("a\n| b | c |\n|---|---|\n| 1 | 2 |", "a\n  | b | c |\n  |---|---|\n  | 1 | 2 |"),
        ("a\n| b | c |\n| 1|2|3 |", "a\n  &#124; b | c |\n  &#124; 1|2|3 |"),
        ("| b | c |\n| 1 | 2 | 3 |", "| b | c |\n  | 1 | 2 | 3 |"),
        ("a\n| cut off", "a\n  &#124; cut off"),
        ("a\n| goes\non", "a\n  | goes\n  on"),
        ("", ""),
    ],
)
def test_a_bullet_is_one_item(given: str, stands: str) -> None:
    assert cells.bullet(given) == stands


def test_a_memory_without_a_text_says_what_it_says_of_itself() -> None:
    done = put(TOPIC, Memory(key="a.md", name="a", description="What a is"))
    assert "- What a is\n" in text(done, "CONTEXT.md")
    assert [s.field for s in done.supplied] == ["body"]
    assert refusal(put(TOPIC, Memory(key="a.md"))).field == "body"


def test_equal_bullets_are_told_apart_by_their_names() -> None:
    one, two = (Memory(key=f"{n}.md", name=n, body=Body(text="Two vans.")) for n in ("a", "b"))
    done = put(TOPIC, one, two)
    assert "- Two vans.\n- Two vans. (a)\n- Two vans. (b)\n" in text(done, "CONTEXT.md")
    assert [s.value for s in done.supplied] == ["Two vans. (a)", "Two vans. (b)"]
    nameless = Memory(key="CONTEXT.md#0~2", body=Body(text="Two vans."))
    assert text(put(TOPIC, nameless), "CONTEXT.md").count("- Two vans.\n") == 2


def test_new_rows_take_the_next_id_of_the_whole_file() -> None:
    stones = STONES + "\n| T-0041 | Late | x | y | z | a | b |\n\nT-0050 was never used.\n"
    stone = Tombstone(key="other.md#9", rejected="old")
    done = put({**TOPIC, "TOMBSTONES.md": stones}, stone)
    assert done.records[stone.key].key == "TOMBSTONES.md#T-0051"
    line = "| T-0051 | — | old | — | — | — | — |\n"
    first = STONES.splitlines(keepends=True)[-1]
    assert text(done, "TOMBSTONES.md") == stones.replace(first, first + line), (
        "behind the last row that the checker sees"
    )
    assert {s.field for s in done.supplied} == {
        "subject",
        "replacement",
        "date",
        "reason",
        "source",
    }


def ids(done: Written, *records: Record) -> list[str]:
    """Give the ids that new rows got."""
    return [done.records[r.key].key.split("#")[1] for r in records]


def test_an_id_of_another_topic_is_not_kept() -> None:
    far = Tombstone(key="TOMBSTONES.md#T-007", rejected="x")
    near = Tombstone(key="TOMBSTONES.md#T-001~2", rejected="y")
    done = put(TOPIC, far, near)
    assert ids(done, far, near) == ["T-002", "T-003"]
    told = [(s.key, s.value) for s in done.supplied if s.field == "key"]
    assert told == [(far.key, "TOMBSTONES.md#T-002"), (near.key, "TOMBSTONES.md#T-003")]
    assert asks(done.files) == []


def test_the_address_of_the_last_conversion_is_taken_again_if_free() -> None:
    far, near = (Tombstone(key=k, rejected="x") for k in ("k", "TOMBSTONES.md#T-004"))
    again = replace(NOW, addresses={"k": "TOMBSTONES.md#T-030"})
    done = put(TOPIC, near, far, context=again)
    assert ids(done, near, far) == ["T-031", "T-030"], "the next one comes behind every other"
    for taken in ("T-001", "T-1"):
        again = replace(NOW, addresses={"k": f"TOMBSTONES.md#{taken}"})
        assert ids(put(TOPIC, far, context=again), far) == ["T-002"]
    elsewhere = replace(NOW, addresses={"k": "DECISIONS.md#D-009"})
    assert ids(put(TOPIC, far, context=elsewhere), far) == ["T-002"]


_ROW = "| T-001 | Rent | 820 € | D-001 | 2026-09-28 | offer | mail |\n"


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("", "T-002"),
        ("| T-12 | a | b | c | d | e | f |\n", "T-13"),
        ("| T-0041 | a | b | c | d | e | f |\n", "T-0042"),
        ("| T-999 | a | b | c | d | e | f |\n", "T-1000"),
        ("\n\n| T-040 | behind a blank line | b | c | d | e | f |\n", "T-041"),
        ("\n## Old\n\n" + STONES.split("\n\n")[1].replace("T-001", "T-060"), "T-061"),
        ("\n## Old\n\n| Nr | What |\n|---|---|\n| T-070 | another kind |\n", "T-071"),
        ("| T-080 | too | few |\n", "T-081"),
        ("\n```\n| T-090 | in a fence | b | c | d | e | f |\n```\n", "T-091"),
        ("\n<!-- | T-091 | in a comment | b | c | d | e | f | -->\n", "T-092"),
        ("\nT-0100 was given and taken back.\n", "T-101"),
        ("\nThe vans are AT-900 and 2026.\n", "T-002"),
        ("| LEGACY-900 | a | b | c | d | e | f |\n| T-002 | a | b | c | d | e | f |\n", "T-003"),
        ("| X1 | a | b | c | d | e | f |\n| X2 | a | b | c | d | e | f |\n", "X3"),
        (f"| T-{'9' * 18} | a | b | c | d | e | f |\n", f"T-1{'0' * 18}"),
    ],
)
def test_the_next_id_comes_behind_every_one_in_the_file(more: str, wanted: str) -> None:
    stone = Tombstone(key="TOMBSTONES.md#T-005", rejected="old")
    done = put({**TOPIC, "TOMBSTONES.md": STONES + more}, stone)
    assert ids(done, stone) == [wanted]


def test_a_number_without_letters_is_counted_in_rows_alone() -> None:
    stone = Tombstone(key="TOMBSTONES.md#40", rejected="old")
    bare = STONES.replace("T-001", "7") + "\nSince 2026.\n"
    assert ids(put({**TOPIC, "TOMBSTONES.md": bare}, stone), stone) == ["8"]


def test_ids_of_the_second_version_are_given_alike() -> None:
    files = {p: b.decode() for p, b in tree(GOLDEN / "second-version").items()}
    stones = files["TOMBSTONES.md"]
    highest = max(map(int, re.findall(r"\bT-(\d+)", stones)))
    new = [Tombstone(key=f"TOMBSTONES.md#T-{n}", rejected=f"old {n}") for n in (900, 800)]
    assert ids(put(files, *new), *new) == [f"T-{highest + 1:03}", f"T-{highest + 2:03}"]
    assert ids(put({}, *new, context=NOW), *new) == ["T-001", "T-002"], "a new topic begins anew"


def test_what_is_refused_takes_no_id() -> None:
    lost = Decision(key="a", decision="A", why="b", date="c", status="Active", supersedes="D-009")
    more = Decision(key="b", decision="B", why="b", date="c", status="Active")
    done = put(TOPIC, lost, more)
    assert refusal(done).key == "a"
    assert ids(done, more) == ["D-002"]


def test_new_rows_point_to_the_new_ids_of_what_they_mean() -> None:
    first = Decision(
        key="DECISIONS.md#D-001~2", decision="A", why="b", date="c", status="Superseded"
    )
    second = replace(first, key="DECISIONS.md#D-002", supersedes="D-001", status="Active")
    third = replace(first, key="DECISIONS.md#D-003", supersedes="D-002", why="as D-002 and D-01")
    stone = Tombstone(
        key="TOMBSTONES.md#T-002", rejected="x", replacement="D-001", reason="see D-001, (D-002)."
    )
    done = put(TOPIC, third, second, first, stone)
    assert ids(done, first, second, third) == ["D-002", "D-003", "D-004"], "each below its like"
    assert fields.get(done.records[second.key], "supersedes") == "D-002"
    assert fields.get(done.records[third.key], "supersedes") == "D-003"
    assert fields.get(done.records[third.key], "why") == "as D-002 and D-01", "a text is a text"
    assert fields.get(done.records[stone.key], "replacement") == "D-002"
    assert {(s.key, s.field) for s in done.supplied} >= {
        (second.key, "supersedes"), (third.key, "supersedes"), (stone.key, "replacement")
    }  # fmt: skip
    assert done.notes == (
        "DECISIONS.md#D-003: its text names D-002, which is D-003 here; it stays as it is written",
        "TOMBSTONES.md#T-002: its text names D-001, which is D-002 here, D-002, which is D-003 "
        "here; it stays as it is written",
    )
    assert asks(done.files) == []


def test_a_bullet_that_names_a_renumbered_row_is_told_of() -> None:
    row = Decision(key="DECISIONS.md#D-001~2", decision="A", why="b", date="c", status="Active")
    fact = Memory(key="x", body=Body(text="Hall 9, as D-001 says."))
    done = put(TOPIC, row, fact)
    assert "- Hall 9, as D-001 says.\n" in text(done, "CONTEXT.md")
    assert done.notes == (
        "x: its text names D-001, which is D-002 here; it stays as it is written",
    )


def test_decisions_that_supersede_each_other_in_a_circle_are_refused() -> None:
    one = Decision(key="DECISIONS.md#D-011", decision="A", why="b", date="c", status="Active",
                   supersedes="D-012")  # fmt: skip
    other = replace(one, key="DECISIONS.md#D-012", supersedes="D-011")
    itself = replace(one, key="DECISIONS.md#D-013", supersedes="D-013")
    done = put(TOPIC, one, other, itself)
    assert {r.key for r in done.refused} == {one.key, other.key}
    assert fields.get(done.records[itself.key], "supersedes") == "D-002", "its own id passes"
    assert asks(done.files) == []


def test_a_new_row_points_to_what_already_stands_here_under_another_id() -> None:
    row = "| D-00{} | {} | Why | 2026-10-01 |  | {} | Active |\n"
    source = DECISIONS.replace("\nEnd.\n", "").replace("Rent", "Other") + "".join(
        (
            row.format(2, "Paint", "—"),
            row.format(3, "Repaint", "D-002"),
            row.format(4, "x", "D-001"),
        )
    )
    here = (
        DECISIONS.replace("\nEnd.\n", "") + row.format(2, "Oil", "—") + row.format(3, "Paint", "—")
    )
    originals = encoded({"DECISIONS.md": source})
    repaint, lost = (r for r in ADAPTER.read(originals).records if r.key[-1] in "34")
    lost = fields.with_key(lost, "DECISIONS.md#D-004")
    new = fields.with_key(repaint, "DECISIONS.md#D-003~2")
    done = put(
        {**TOPIC, "DECISIONS.md": here}, new, lost, context=replace(NOW, originals=originals)
    )
    assert ids(done, new, lost) == ["D-004", "D-005"]
    assert fields.get(done.records[new.key], "supersedes") == "D-003", "where Paint stands here"
    assert fields.get(done.records[lost.key], "supersedes") == "D-001"
    assert done.notes == (
        "DECISIONS.md#D-004: supersedes names D-001, and the row that has this id here says "
        "something else; see whether it is the one",
    )


@given(
    ids=st.sets(st.text("DOI-019.~\\^]é", min_size=1, max_size=4), max_size=6),
    said=st.text("DOI-019.~\\^]é _,", max_size=25),
)
def test_ids_in_a_sentence_are_whole_and_the_longest(ids: set[str], said: str) -> None:
    any_id = "|".join(re.escape(name) for name in sorted(ids, key=len, reverse=True))
    found = re.findall(rf"(?<!\w)(?:{any_id})(?!\w)", said) if ids else []
    assert pointers.Named(ids).within(said) == list(dict.fromkeys(found))


class Quarrels:
    """Edits of which some cannot stand, and some not beside others; it counts what is tried."""

    def __init__(self, bad: set[str], apart: set[frozenset[str]]) -> None:
        self.bad = bad
        self.apart = apart
        self.tried = 0

    def impossible(self, change: Change) -> None:
        return None

    def takes_new(self, others: Sequence[Change]) -> bool:
        return True

    def made(self, changes: Sequence[Change]) -> Made | None:
        self.tried += len(changes)
        keys = {change.key for change in changes}
        if keys & self.bad or any(two <= keys for two in self.apart):
            return None
        return Made(" ".join(change.key for change in changes), {}, {})


@pytest.mark.parametrize("bad", [1, 10, 100, 1000])
def test_what_cannot_stand_does_not_make_the_rest_be_tried_once_for_each(bad: int) -> None:
    changes = [Change(str(n), None, None) for n in range(1000)]
    harmful = {str(n) for n in range(0, 1000, 1000 // bad)}
    edits = Quarrels(harmful, set())
    done = settle(edits, changes)
    assert done.refused.keys() == harmful
    stand = [c.key for c in changes if c.key not in harmful]
    assert done.text == (" ".join(stand) if stand else None)
    assert edits.tried < 25 * len(changes)


def test_of_two_that_cannot_stand_together_the_first_one_does() -> None:
    changes = [Change(name, None, None) for name in "abcdefgh"]
    done = settle(Quarrels({"c"}, {frozenset("ab"), frozenset("ah"), frozenset("fg")}), changes)
    assert done.text == "a d e f"
    assert done.refused.keys() == {"b", "c", "g", "h"}


def test_behind_an_open_comment_nothing_new_is_written_and_what_is_there_can_change() -> None:
    context = "# Context\n\n## Current facts\n\n- Two vans.\n\n<!-- open\n"
    files = {**TOPIC, "CONTEXT.md": context}
    (vans,) = (r for r in ADAPTER.read(encoded(files)).records if r.role == "memory")
    news = [Memory(key=f"{n}.md", body=Body(text=f"New {n}")) for n in range(3)]
    done = put(files, fields.replace(vans, {"body": Body(text="Three vans.")}), *news)
    assert [r.key for r in done.refused] == ["0.md", "1.md", "2.md"]
    assert text(done, "CONTEXT.md") == context.replace("Two", "Three")


def test_a_new_topic_begins_with_the_files_its_records_come_from() -> None:
    source = tree(GOLDEN / "basic")
    there = ADAPTER.read(source).records
    context = replace(NOW, originals=source)
    done = ADAPTER.write(store(there), {}, context)
    assert done.files == {p: b for p, b in source.items() if p in (*_FILES, "memory_tests.yaml")}
    assert [r.key for r in done.records.values()] == [r.key for r in there]
    assert not done.supplied
    fewer = [r for r in there if r.key != "TOMBSTONES.md#T-001"]
    new = Tombstone(key="TOMBSTONES.md#T-055", rejected="Something new")
    done = ADAPTER.write(store([*fewer, new]), {}, context)
    assert ids(done, new) == ["T-003"]
    assert b"T-001 |" not in done.files["TOMBSTONES.md"]
    assert asks(done.files) == []
    nothing = ADAPTER.write(store([new]), {}, context)
    assert ids(nothing, new) == ["T-001"], "no record of it comes along, so nothing of it does"
    moved = replace(context, addresses={"TOMBSTONES.md#T-002": "TOMBSTONES.md#T-009"})
    (stone,) = [r for r in there if r.key == "TOMBSTONES.md#T-002"]
    assert ids(ADAPTER.write(store(there), {}, moved), stone) == ["T-009"]


def test_a_decision_stands_below_what_it_supersedes() -> None:
    new = Decision(key="d", decision="A", why="b", date="c", status="Active", supersedes="D-009")
    assert refusal(put(TOPIC, new)).field == "supersedes"
    both = DECISIONS.replace("\nEnd.", "").rstrip("\n") + "\n| D-002 | A | b | c |  |  | Active |\n"
    files = {**TOPIC, "DECISIONS.md": both}
    (first,) = [r for r in ADAPTER.read(encoded(files)).records if r.key == "DECISIONS.md#D-001"]
    assert refusal(put(files, fields.replace(first, {"supersedes": "D-002"}))).field == "supersedes"


@pytest.mark.parametrize(
    ("record", "status"),
    [
        (Task(key="a", body=Body(text="x"), status="done"), "DONE"),
        (Task(key="a", body=Body(text="x"), status="blocked"), "BLOCKED"),
        (Task(key="a", body=Body(text="x"), status="todo"), None),
        (Task(key="a", body=Body(text="x"), status="open"), None),
        (Task(key="a", body=Body(text="x")), None),
        (Decision(key="a", decision="x", status="Active"), "Active"),
        (Decision(key="a", decision="x", status="active"), None),
        (Decision(key="a", decision="x", status="Superseded by D-001"), "Superseded"),
        (Decision(key="a", decision="x", status="Dropped"), None),
    ],
)
def test_statuses_are_never_guessed(record: Record, status: str | None) -> None:
    done = put(TOPIC, record)
    if status is None:
        assert "--status-map" in refusal(done).remedy
        return
    assert fields.get(done.records["a"], "status") == status
    assert asks(done.files) == []


def test_a_task_that_was_finished_elsewhere_and_archived_is_done_here() -> None:
    body = Body(text="Oil the chains")
    done = put(TOPIC, Task(key="archive/2026/oil.html", body=body, status="done", state="archived",
                           archived="2026-11-01"))  # fmt: skip
    assert not done.refused
    assert "| OI-002 | Oil the chains | DONE |  | — |  |\n" in text(done, "OPEN_ITEMS.md")
    assert asks(done.files) == []
    (item,) = [r for r in ADAPTER.read(encoded()).records if r.key == "OPEN_ITEMS.md#OI-001"]
    closed = {"state": "archived", "status": "DONE", "evidence": "bill"}
    done = put(TOPIC, fields.replace(item, closed))
    assert "| OI-001 | Oil | DONE | 2026-10-05 | bill | half |\n" in text(done, "OPEN_ITEMS.md")
    for status in ("OPEN", "BLOCKED", "todo", None):
        open_still = Task(key="a", body=body, status=status, state="archived")
        assert refusal(put(TOPIC, open_still)).travels, "what is not done and put away is not live"


def test_what_memhtml_finishes_is_done_in_the_topic() -> None:
    blocked = {**TOPIC, "OPEN_ITEMS.md": ITEMS.replace("OPEN |", "BLOCKED |")}
    topic = _opened(encoded(blocked))
    away = convert(topic, empty(registry.get("memhtml"), "away"))
    (task,) = [r for r in away.raw.records if r.role == "task"]
    finished = fields.replace(
        task, {"status": "done", "state": "archived", "archived": "2026-11-02"}
    )
    home = convert(edited_by_hand(away, {task.key: finished}), topic)
    assert home.tree.files == {
        **topic.tree.files,
        "OPEN_ITEMS.md": ITEMS.replace(
            "OPEN | 2026-10-05 |  |", "DONE | 2026-10-05 | — |"
        ).encode(),
    }


def test_a_topic_of_the_second_version_keeps_its_ways() -> None:
    files = {p: b.decode() for p, b in tree(GOLDEN / "second-version").items()}
    dropped = Decision(key="a", decision="x", status="Superseded by D-002")
    done = put(files, dropped, Tombstone(key="b", rejected="z"))
    assert fields.get(done.records["a"], "status") == "Superseded by D-002"
    assert "| ID | Claim |" in text(done, "TOMBSTONES.md")
    assert "OPEN_ITEMS.md" not in done.files
    originals = replace(NOW, originals=encoded(files))
    fresh = put({}, *done.records.values(), context=originals)
    assert "| ID | Claim |" in text(fresh, "TOMBSTONES.md")
    assert "OPEN_ITEMS.md" not in fresh.files


def test_an_archived_memory_travels() -> None:
    done = put({}, Memory(key="a", body=Body(text="x"), state="archived"))
    assert refusal(done).travels
    assert done.files == {}


def test_a_fresh_topic_is_complete_and_clean() -> None:
    done = put({}, Memory(key="a.md", body=Body(text="Hall 3.")))
    assert sorted(done.files) == [
        "CONTEXT.md", "DECISIONS.md", "OPEN_ITEMS.md", "TOMBSTONES.md", "memory_tests.yaml",
    ]  # fmt: skip
    assert text(done, "CONTEXT.md") == "# Context\n\n## Current facts\n\n- Hall 3.\n"
    assert asks(done.files) == []
    assert list(ADAPTER.lint(done.files, ADAPTER.read(done.files))) == []
    assert put({}).files == {}, "nothing is made for nothing"


# --- from and to other stores, as planned


def _opened(files: Files, identity: str = "topic") -> Opened:
    tree = Tree(files=dict(files), complement=None, problems=())
    return assemble(ADAPTER, Path(identity), tree, None, identity)


def by_hand(opened: Opened, path: str, old: str, new: str) -> Opened:
    """Let a person change the bytes of one file."""
    files = dict(opened.tree.files)
    assert files[path].count(old.encode()) == 1, (old, files[path].decode())
    files[path] = files[path].replace(old.encode(), new.encode())
    tree = replace(opened.tree, files=files)
    return assemble(opened.adapter, Path(opened.root), tree, opened.complement, opened.raw.id)


def notes_of(**texts: str) -> Opened:
    """Give a store of Claude Code with some memories."""
    files = {
        f"{name}.md": f"---\nname: {name}\ndescription: about {name}\n---\n\n{said}\n".encode()
        for name, said in texts.items()
    }
    tree = Tree(files=files, complement=None, problems=())
    return assemble(registry.get("claude-code"), Path("notes"), tree, None, "notes")


PUMP = "<!-- interop: task OI-001 -->\n- **Status:** OPEN\n\nPump the tyres"
LOCKS = "<!-- interop: task OI-001 -->\n- **Status:** OPEN\n\nBuy locks"


def test_an_id_is_not_given_again_when_its_row_was_taken_out_by_hand() -> None:
    topic = _opened(encoded({**TOPIC, "OPEN_ITEMS.md": ITEMS}))
    row = "| OI-002 | Pump the tyres | OPEN |  |  |  |\n"
    first = convert(notes_of(pump=PUMP), topic)
    removed = by_hand(first, "OPEN_ITEMS.md", row, "")
    both = convert(notes_of(pump=PUMP, locks=LOCKS), removed)
    items = both.tree.files["OPEN_ITEMS.md"].decode()
    assert "| OI-003 | Buy locks |" in items
    assert "OI-002" not in items
    # also when the other side has let the record go, and nothing else remembers it
    without = by_hand(both, "OPEN_ITEMS.md", "| OI-003 | Buy locks | OPEN |  |  |  |\n", "")
    gone = convert(notes_of(other="Nothing to do."), without)
    again = convert(notes_of(other="Nothing to do.", pump=PUMP.replace("Pump", "Fill")), gone)
    assert "| OI-004 | Fill the tyres |" in again.tree.files["OPEN_ITEMS.md"].decode()
    assert again.complement is not None
    assert {"OPEN_ITEMS.md#OI-002", "OPEN_ITEMS.md#OI-003"} <= set(again.complement.retired)
    assert loads(dumps(again.complement), "x") == again.complement


def test_a_row_that_interop_did_not_write_is_remembered_too() -> None:
    topic = convert(notes_of(a="Hall 4."), _opened(encoded(TOPIC)))
    removed = by_hand(
        topic, "OPEN_ITEMS.md", "| OI-001 | Oil | OPEN | 2026-10-05 |  | half |\n", ""
    )
    done = convert(notes_of(a="Hall 4.", pump=PUMP), removed)
    assert "| OI-002 | Pump the tyres |" in done.tree.files["OPEN_ITEMS.md"].decode()


@pytest.mark.parametrize(
    ("ids", "given", "then"),
    [
        (["OI-001"], ["OI-002", "OI-004~2", "T-009"], "OI-005"),
        ([], ["DEC-04"], "DEC-05"),
        (["OI-99999999999999999999999"], [], "OI-100000000000000000000000"),
        (["2026-10-05"], [], "OI-001"),
        (["OI-010a", "OI-002.5"], [], "OI-011"),
        (["OI-001", "OI-001.7"], [], "OI-002"),
        (["7", "2026-10-05"], [], "8"),
        (["P2-001"], [], "P2-002"),
        (["OI-2.1", "OI-2.2"], [], "OI-2.3"),
        (["OI-" + "9" * 5000], [], "OI-001"),
        (["**OI-007**", "OI-001"], [], "OI-008"),
    ],
)
def test_the_next_id_is_one_of_the_scheme_that_the_table_has(
    ids: list[str], given: list[str], then: str
) -> None:
    head = ITEMS.partition("| OI-001")[0]
    items = head + "".join(f"| {name} | Oil {name} | OPEN | x |  |  |\n" for name in ids)
    keys = [f"{'TOMBSTONES' if g[0] == 'T' else 'OPEN_ITEMS'}.md#{g}" for g in given]
    task = Task(key="x", body=Body(text="Pump"), status="OPEN")
    done = put({"OPEN_ITEMS.md": items}, task, context=replace(NOW, given=keys))
    assert done.records["x"].key == f"OPEN_ITEMS.md#{then}"


def test_a_record_has_its_own_id_again() -> None:
    task = Task(key="x", body=Body(text="Pump"), status="OPEN")
    context = replace(NOW, given=["OPEN_ITEMS.md#OI-007"], addresses={"x": "OPEN_ITEMS.md#OI-007"})
    assert put(TOPIC, task, context=context).records["x"].key == "OPEN_ITEMS.md#OI-007"
    own = Task(key="OPEN_ITEMS.md#OI-001", body=Body(text="Oil"), status="OPEN")
    from_topic = replace(NOW, originals=encoded(TOPIC))
    assert put({}, own, context=from_topic).records[own.key].key == own.key
    taken = replace(from_topic, given=[own.key])
    assert put({}, own, context=taken).records[own.key].key == "OPEN_ITEMS.md#OI-002"


BLOCK = "Settings:\n\n```yaml\ndepot:\n  bikes: 64\n\nhall:\n  vans: 2\n```"
NESTED = "Run:\n\n    indented code\n      deeper\n\n1. one\n   - sub | way\n2. two"


def test_a_bullet_keeps_the_blanks_of_code_and_lists() -> None:
    notes = notes_of(block=BLOCK, nested=NESTED)
    topic = convert(notes, empty(ADAPTER, "there"))
    context = topic.tree.files["CONTEXT.md"].decode()
    assert (
        "- Settings:\n  <br>\n  ```yaml\n  depot:\n    bikes: 64\n\n  hall:\n    vans: 2\n  ```\n"
    ) in context
    assert "- Run:\n  <br>\n      indented code\n        deeper\n  <br>\n  1. one\n" in context
    assert asks(topic.tree.files) == []
    assert len(topic.raw.records) == 2
    edited_there = by_hand(topic, "CONTEXT.md", "    bikes: 64\n", "    bikes: 65\n      old: 64\n")
    edited_there = by_hand(edited_there, "CONTEXT.md", "- sub | way", "- sub | ways\n     - more")
    edited_there = by_hand(edited_there, "CONTEXT.md", "  2. two", "  2. two\n  <br>\n  End.")
    back = convert(edited_there, notes).tree.files
    assert (
        back["block.md"]
        .decode()
        .endswith(BLOCK.replace("  bikes: 64\n", "  bikes: 65\n    old: 64\n") + "\n")
    )
    assert (
        back["nested.md"]
        .decode()
        .endswith(NESTED.replace("- sub | way", "- sub | ways\n   - more") + "\n\nEnd.\n")
    )
    # and from there: only what was edited is another line
    third = by_hand(convert(topic, notes), "block.md", "vans: 2\n", "vans: 3\n    in: use\n")
    onto = convert(third, topic).tree.files["CONTEXT.md"].decode()
    assert onto == context.replace("    vans: 2\n", "    vans: 3\n      in: use\n")


def test_a_fence_is_of_its_bullet_when_it_closes_there() -> None:
    fenced = "# C\n\n- Set:\n  ```\n  a\n\n  b\n  ```\n  more\n- Next.\n"
    assert said_by(fenced) == ["Set:\n  ```\n  a\n\n  b\n  ```\n  more", "Next."]
    assert said_by("- Set:\n  ```\n  a\n```\n- Next.\n") == ["Set:", "Next."]
    assert said_by("- ~~~\n  a\n  ~~~\n  b\n\n  c\n") == ["~~~\n  a\n  ~~~\n  b"]
    assert said_by("- a\n  ```\n  open\n") == ["a"]


def said_by(context: str) -> list[str]:
    records = ADAPTER.read({"CONTEXT.md": context.encode()}).records
    return [fields.get(record, "body").text for record in records]


def test_a_cell_that_is_edited_comes_back_as_the_text_with_that_edit() -> None:
    own = "Line one | two\n\n```sh\na | b\n```\n\n- end"
    notes = notes_of(
        task=f"<!-- interop: task OI-009 -->\n- **Status:** OPEN\n\n{own}",
        stone="<!-- interop: tombstone T-050 -->\n- **Fact / Key:** rent\n"
        "- **Rejected value:** 25 €\n- **Reason:** one\n  two\n\n  <!-- c --> three",
    )
    topic = convert(notes, empty(ADAPTER, "there"))
    done = by_hand(topic, "OPEN_ITEMS.md", "Line one", "Line uno")
    done = by_hand(done, "OPEN_ITEMS.md", "- end |", "- end<br>- q &#124; w |")
    done = by_hand(done, "TOMBSTONES.md", "three", "four")
    back = convert(done, notes)
    assert own.replace("one", "uno") + "\n- q | w\n" in back.tree.files["task.md"].decode()
    assert back.tree.files["stone.md"] == notes.tree.files["stone.md"].replace(b"three", b"four")
    assert convert(back, done).tree.files == done.tree.files


def test_a_cell_that_is_edited_comes_back_through_html_too() -> None:
    own = "Line one | two\n\n```sh\na | b\n```\n\nEnd."
    task = f"<!-- interop: task OI-009 -->\n- **Status:** todo\n\n{own}"
    pages = convert(notes_of(task=task), empty(registry.get("memhtml"), "pages"))
    (path,) = (r.key for r in pages.raw.records if r.role == "task")
    choices = Choices(status_map={"todo": "OPEN"})
    bare = _alone(pages)
    there = empty(ADAPTER, "there")
    topic = after(plan(bare, there, choices, now=NOW.now), there)
    done = by_hand(topic, "OPEN_ITEMS.md", "a &#124; b", "a &#124; c")
    back = convert(done, bare).tree.files[path].decode()
    there_before = pages.tree.files[path].decode()
    assert ">a | c</code>" in back
    changed = [n for n in back.splitlines() if n not in there_before.splitlines()]
    assert len([n for n in changed if "<meta" not in n]) == 1, changed


def test_a_row_that_says_nothing_says_it_as_it_did() -> None:
    own = DECISIONS.replace("| mail | — | Active |", "| mail |  | Active |\n"
                            "| D-002 | Sell | Cash | 2026-10-01 | - | — | Active |")  # fmt: skip
    source = _opened(encoded({"DECISIONS.md": own}))
    other = DECISIONS.replace("| Rent |", "| Paint |")
    there = _opened(encoded({**TOPIC, "DECISIONS.md": other}), "other")
    now = convert(source, there).tree.files["DECISIONS.md"].decode()
    assert "| D-002 | Rent | Frost | 2026-09-28 | mail |  | Active |\n" in now
    assert "| D-003 | Sell | Cash | 2026-10-01 | - | — | Active |\n" in now


def _alone(opened: Opened) -> Opened:
    """Give a store as it is without its complement."""
    return replace(opened, complement=None, restored=Restored(store=opened.seen))


@pytest.mark.parametrize("source", samples(), ids=lambda s: s.id)
def test_a_topic_that_interop_writes_passes_the_checker(source: Sample) -> None:
    """Sections 2 to 4 of the page, for what any store becomes: straight, and as if written anew."""
    ways = [source.opened()]
    if source.adapter is ADAPTER:  # a copy keeps what its author wrote: seen through another format
        ways = [
            _alone(cross(ways[0], via).there) for via in registry.adapters() if via is not ADAPTER
        ]
    for way in ways:
        made = cross(way, ADAPTER, "topic")
        files = made.there.tree.files
        assert files or not made.there.raw.records
        if not files:
            continue
        assert asks(files) == []
        told = [n for n in made.plan.notes if n.startswith("MC122")]
        for path, value in collisions(files):
            assert any(n.startswith(f"MC122 {path}:") and repr(value) in n for n in told)
        assert not any(re.search(r"\(conflicted copy\)|\((?i:conflict)\)", p) for p in files)
        assert [f for f in ADAPTER.lint(files, made.there.raw) if f.severity == "error"] == []
        found = memory_tests.parse(files["memory_tests.yaml"].decode())
        assert [memory_tests.run(t, files) for t in found.tests] == [None]


@pytest.mark.parametrize("source", samples(), ids=lambda s: s.id)
def test_what_comes_to_a_topic_that_is_there_leaves_it_as_clean(source: Sample) -> None:
    there = _opened(tree(GOLDEN / "basic"), "there")
    if source.adapter is ADAPTER and not there.adapter.detect(dict(source.tree.files)):
        return
    before = {r.key: r for r in there.raw.records}
    every = frozenset(r.key for r in source.opened().restored.store.records)
    choices = Choices(skip_refused=True, carry=True, allow_tombstoned=every)
    made = after(plan(source.opened(), there, choices, now=NOW.now), there)
    assert asks(made.tree.files) == []
    now = {r.key: r for r in made.raw.records}
    assert {k: now[k] for k in before} == before, "no row is renumbered, changed or taken away"
    for path in _HEADERS:
        known = [r[0] for r in parse_table(there.tree.files[path].decode())[1]]
        given = [r[0] for r in parse_table(made.tree.files[path].decode())[1]]
        prefix, number = known[-1].split("-")
        new = range(int(number) + 1, int(number) + 1 + len(given) - len(known))
        assert given == [*known, *(f"{prefix}-{n:03}" for n in new)]


def test_a_topic_comes_into_another_with_ids_of_there_and_goes_home_as_it_was() -> None:
    """Rows get the next ids, what points to them follows, and the way back is byte-identical."""
    row = "| D-00{} | {} | Why | 2026-10-01 |  | {} | Active |\n"
    more = row.format(2, "Paint it", "—") + row.format(3, "Repaint it", "D-002")
    source = _opened(
        encoded(
            {**TOPIC, "DECISIONS.md": DECISIONS.replace("\nEnd.\n", more).replace("Rent", "Lease")}
        ),
        "one",
    )
    other = _opened(encoded(), "other")
    there = convert(source, other)
    lines = there.tree.files["DECISIONS.md"].decode().splitlines()
    assert [line[:20] for line in lines if line.startswith("| D-")] == [
        "| D-001 | Rent | Fro",
        "| D-002 | Lease | Fr",
        "| D-003 | Paint it |",
        "| D-004 | Repaint it",
    ]  # fmt: skip
    assert lines[7].endswith("| D-003 | Active |")
    assert convert(there, empty(ADAPTER, "home")).tree.files == there.tree.files
    assert plan(there, source, Choices(), now=NOW.now).count("update") == 0
    assert (
        convert(there, source)
        .tree.files["DECISIONS.md"]
        .startswith(source.tree.files["DECISIONS.md"])
    ), "what had come from it is as it was"
    # one more that supersedes a row which has another id there
    longer = _opened({**source.tree.files, "DECISIONS.md": source.tree.files["DECISIONS.md"]
                      + row.format(4, "Leave it", "D-003").encode()}, "one")  # fmt: skip
    again = convert(longer, there)
    assert again.tree.files["DECISIONS.md"].decode().splitlines()[8] == (
        "| D-005 | Leave it | Why | 2026-10-01 |  | D-004 | Active |"
    )
    assert convert(longer, again).tree.files == again.tree.files


# --- an edit restates its cell, and what a person left empty stays empty


def _rows_of(said: str) -> list[list[str]]:
    """Give what stands between the pipes, blanks and all."""
    return [line.split("|") for line in said.splitlines() if line.startswith("|")]


_GAP = st.sampled_from(["", "—", "-", "x"])
_TABLE_FIELDS = {
    "OPEN_ITEMS.md": ("body", "status", "opened", "evidence", "notes"),
    "DECISIONS.md": ("decision", "why", "date", "evidence", "supersedes", "status"),
    "TOMBSTONES.md": ("subject", "rejected", "replacement", "date", "reason", "source"),
}


@settings(max_examples=200)
@given(
    path=st.sampled_from(sorted(_TABLE_FIELDS)),
    column=st.integers(0, 5),
    gaps=st.lists(_GAP, min_size=6, max_size=6),
    status=st.sampled_from(["OPEN", "BLOCKED", "DONE", "DROPPED", "Active", "odd", ""]),
)
def test_an_edit_restates_its_cell_and_no_other(
    path: str, column: int, gaps: list[str], status: str
) -> None:
    names = _TABLE_FIELDS[path]
    name = names[column % len(names)]
    if name in ("status", "notes"):
        name = names[0]
    row = [status if names[n] == "status" else gaps[n] for n in range(len(names))]
    if name == "supersedes":
        row[0] = "a later one"
    head = "\n".join(TOPIC[path].split("\n")[2:4])
    key = "X-002"
    lines = [f"| {' | '.join(['X-001', *['a'] * len(names)])} |", f"| {' | '.join([key, *row])} |"]
    files = {path: "\n".join(["# T", "", head, *lines, ""])}
    new = "X-001" if name == "supersedes" else "said anew"
    value = Body(text=new) if name == "body" else new
    (old,) = [r for r in ADAPTER.read(encoded(files)).records if r.key == f"{path}#{key}"]
    done = put(files, fields.replace(old, {name: value}))
    assert not done.refused
    column = 2 + names.index(name)
    before, after = _rows_of(files[path]), _rows_of(text(done, path))
    assert after[-1][column].strip() == new
    for cells_of in (before[-1], after[-1]):
        del cells_of[column]
    assert before == after
    assert not done.notes


@pytest.mark.parametrize(
    ("status", "evidence", "now", "written"),
    [
        ("OPEN", "", "DONE", "—"),
        ("BLOCKED", "", "DROPPED", "—"),
        ("OPEN", "-", "DONE", "-"),
        ("DONE", "", "DROPPED", ""),
        ("DROPPED", "", "OPEN", ""),
        ("OPEN", "mail", "DONE", "mail"),
    ],
)
def test_what_is_closed_now_gets_evidence_and_the_plan_says_so(
    status: str, evidence: str, now: str, written: str
) -> None:
    head = "\n".join(ITEMS.split("\n")[:4])
    files = {"OPEN_ITEMS.md": f"{head}\n| OI-001 | Oil | {status} | 2026-10-05 | {evidence} |  |\n"}
    (item,) = ADAPTER.read(encoded(files)).records
    done = put(files, fields.replace(item, {"status": now}))
    row = [cell.strip() for cell in _rows_of(text(done, "OPEN_ITEMS.md"))[-1]]
    assert row[1:-1] == ["OI-001", "Oil", now, "2026-10-05", written, ""]
    told = written != evidence
    assert bool(done.notes) == told
    source = _opened(encoded(files), "source")
    there = convert(source, empty(ADAPTER, "there"))
    source = by_hand(source, "OPEN_ITEMS.md", f"| {status} |", f"| {now} |")
    made = plan(source, there, now=NOW.now)
    noted = any("OPEN_ITEMS.md#OI-001: — stands for its evidence" in n for n in made.notes)
    assert noted == told


def test_a_new_closed_row_says_that_a_dash_stands_for_its_evidence() -> None:
    new = Task(key="a", body=Body(text="Sell the van"), status="DROPPED")
    (said,) = put(TOPIC, new).notes
    assert said.startswith("OPEN_ITEMS.md#OI-002: — stands for its evidence: what is DROPPED")
    told = Task(key="a", body=Body(text="Sell the van"), status="DROPPED", evidence="mail")
    assert not put(TOPIC, told).notes


# --- what is not written to


def test_an_open_session_locks_the_topic() -> None:
    files = {p: b.decode() for p, b in tree(GOLDEN / "open-session").items()}
    new = Memory(key="a.md", body=Body(text="x"))
    (item,) = [r for r in ADAPTER.read(encoded(files)).records if r.key == "OPEN_ITEMS.md#OI-001"]
    done = put(files, new, fields.replace(item, {"status": "BLOCKED"}), without="")
    assert done.files == encoded(files)
    assert {r.key for r in done.refused} == {new.key, item.key}
    for found in done.refused:
        assert "2026-10-07-a" in found.reason
        assert "--close" in found.remedy
    gone = put(files, without="DECISIONS.md#D-001")
    assert gone.files == encoded(files)
    assert "2026-10-07-a" in gone.notes[0]
    assert put(files).notes == ()
    assert ADAPTER.locked is not None
    locked = ADAPTER.locked(encoded(files))
    assert locked is not None
    assert (locked.reason, locked.remedy) == (done.refused[0].reason, done.refused[0].remedy)
    assert ADAPTER.locked(encoded()) is None


def test_what_the_checker_writes_is_never_imported() -> None:
    rebuilt = {
        "_generated/INDEX.md": STONES,
        "_generated/TOMBSTONES.md": STONES,
        "_rollup/recovery_candidates.md": "- A candidate.\n" + DECISIONS,
    }
    ledger = {
        "_sessions/a.json": '{"session": "a", "status": "CLOSED"}',
        "_sessions/recovery/a.json": '{"candidates": {"facts": ["Hall 9."]}, "resolved": true}',
        "_sessions/recovery/RECOVERY - x - a.md": "- Hall 9.\n" + ITEMS,
    }
    files = {**TOPIC, **rebuilt, **ledger}
    found = ADAPTER.read(encoded(files))
    assert found.records == ADAPTER.read(encoded()).records
    assert ledger.keys() <= found.carried.keys()
    assert not rebuilt.keys() & found.carried.keys()
    done = put(files, Tombstone(key="a", rejected="x"), Memory(key="b", body=Body(text="New.")))
    same = {**rebuilt, **ledger}
    assert {p: text(done, p) for p in same} == same


def test_a_table_of_another_kind_is_not_added_to() -> None:
    files = {p: b.decode() for p, b in tree(GOLDEN / "not-ours").items()}
    assert refusal(put(files, Tombstone(key="a", rejected="x"))).reason
    files = {p: b.decode() for p, b in tree(GOLDEN / "not-utf8").items() if p != "TOMBSTONES.md"}
    broken = {**encoded(files), "TOMBSTONES.md": b"\xff"}
    there = ADAPTER.read(broken).records
    done = ADAPTER.write(store([*there, Tombstone(key="a", rejected="x")]), broken, NOW)
    assert "UTF-8" in refusal(done).reason
    assert done.files == broken


def test_a_row_cannot_become_a_memory() -> None:
    row = Memory(key="OPEN_ITEMS.md#OI-001", body=Body(text="x"))
    assert refusal(put(TOPIC, row)).field == "role"


# --- the tests of a topic


def test_the_grammar_of_the_tests_is_not_yaml() -> None:
    said = (
        "tests:\n"
        '- id: a\n  type: must_reference\n  file: CONTEXT.md\n  expect_contains: "x \\"y\\" \\\\"\n'
        "  - id: 'b'  # note\n    type: must_not_return\n    expect-contains: z\nfile: zero\n"
        "    - id: four\n"
    )
    found = memory_tests.parse(said)
    assert [t.said for t in found.tests] == [
        {"id": "a", "type": "must_reference", "file": "CONTEXT.md", "expect_contains": 'x "y" \\'},
        {"id": "'b'", "type": "must_not_return"},
    ]
    assert sorted(found.dropped) == [8, 9, 10]
    cut = memory_tests.parse('- id: a\n  expect_contains: "box #4"\n')
    assert cut.tests[0].said["expect_contains"] == '"box'
    assert list(cut.dropped) == [2]


# --- lint


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("MC101", {"OPEN_ITEMS.md": "| A |\n|---|\n\n" + ITEMS}),
        ("MC101", {"OPEN_ITEMS.md": "# Open items\n"}),
        ("MC102", {"OPEN_ITEMS.md": ITEMS + "\n| OI-002 | x | OPEN | y |  |  |\n"}),
        ("MC103", {"OPEN_ITEMS.md": ITEMS + "| OI-002 | x|y | OPEN | y |  |  |\n"}),
        ("MC103", {"CONTEXT.md": "| A | B |\n|---|---|\n| 1 |\n"}),
        ("MC104", {"OPEN_ITEMS.md": ITEMS + "|  | x | OPEN | y |  |  |\n"}),
        ("MC105", {"OPEN_ITEMS.md": ITEMS + "| OI-001 | x | OPEN | y |  |  |\n"}),
        ("MC106", {"OPEN_ITEMS.md": ITEMS.replace("OPEN |", "open |")}),
        ("MC107", {"TOMBSTONES.md": STONES.replace("| offer |", "|  |")}),
        ("MC107", {"OPEN_ITEMS.md": ITEMS.replace("OPEN |", "DONE |")}),
        ("MC108", {"DECISIONS.md": DECISIONS.replace("| — |", "| D-002 |")}),
        ("MC109", {"OPEN_ITEMS.md": ITEMS.rstrip("| \n") + "\n"}),
        ("MC110", {"CONTEXT.md": CONTEXT + "```\n"}),
        ("MC111", {"OPEN_ITEMS.md": ITEMS.replace("Oil", "Oil\u2028x")}),
        ("MC112", {"OPEN_ITEMS.md": ITEMS + "| - | - | - | - | - | - |\n"}),
        ("MC113", {"OPEN_ITEMS.md": ITEMS + "| OI-002 | x | OPEN | y |||\n"}),
        ("MC113", {"OPEN_ITEMS.md": ITEMS + "||x | OPEN | y |  |  |\n"}),
        ("MC114", {"OPEN_ITEMS.md": "\ufeff" + ITEMS.split("\n\n")[1]}),
        ("MC115", {"DECISIONS.md": DECISIONS.replace("Active", "Dropped")}),
        ("MC116", {"OPEN_ITEMS.md": ITEMS + ITEMS.split("\n")[2] + "\n"}),
        ("MC117", {"CONTEXT.md": CONTEXT + "\n" + ITEMS}),
        ("MC118", {"OPEN_ITEMS.md": ITEMS.rstrip("| \n")}),
        ("MC121", {"TOMBSTONES.md": STONES}),
        ("MC122", {
            "TOMBSTONES.md": STONES.replace("820 €", '`"820 € a month"`'),
            "CONTEXT.md": CONTEXT + "- It was 820 € a month.\n",
        }),
        ("MC131", {"DECISIONS.md": b"\xff"}),
        ("MC133", {"a/CONTEXT (Conflict).md": ""}),
        ("MC134", {"CONTEXT-WERKSTATT.md": ""}),
        ("MC141", {"_sessions/a.json": '{"session": "a", "status": "OPEN"}'}),
        ("MC142", {"_sessions/a.json": "{"}),
        ("MC143", {"_sessions/a.json": '{"session": "b", "status": "CLOSED"}'}),
        ("MC145", {"_sessions/recovery/a.json": '{"resolved": false}'}),
        ("MC146", {"_sessions/a.json": '{"session": "a", "status": "closed"}'}),
        ("MC151", {"memory_tests.yaml": "- id: a\n  type: must_reference\n  file: x.md\n"}),
        ("MC152", {"memory_tests.yaml": "    - id: a\n"}),
        ("MC153", {"_sessions/a.json": '{"session": "a", "status": "CLOSED"}'}),
        ("MC154", {"memory_tests.yaml": "- type: must_reference\n  file: CONTEXT.md\n"}),
    ],
)  # fmt: skip
def test_lint_finds(code: str, files: dict[str, str | bytes]) -> None:
    base: dict[str, str | bytes] = dict(TOPIC)
    if code != "MC121":
        assert code not in codes(base)
    assert code in codes({**base, **files})


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("CONTEXT (conflict).md", "MC133"),
        ("CONTEXT (Conflict).md", "MC133"),
        ("notes/plan (conflict).txt", "MC133"),
        ("CONTEXT (conflicted copy).md", "IO011"),
        ("CONTEXT (Mira's conflicted copy 2026-10-06).md", "IO011"),
        ("CONTEXT.sync-conflict-20261006-101500-ABCDEFG.md", "IO011"),
        ("CONTEXT (1).md", "IO012"),
        ("CONTEXT 2.md", "IO012"),
        ("CONTEXT-LAPTOP-7QX2.md", "IO012"),
        ("CONTEXT-MBP.md", "IO012"),
        ("CONTEXT-LAPTOP.md", "IO012"),
        ("CONTEXT-WERKSTATT.md", "MC134"),
        ("OPEN_ITEMS-MIRA7.md", "MC134"),
        ("README-LAPTOP.md", None),
    ],
)
def test_a_copy_is_told_once(name: str, code: str | None) -> None:
    files = encoded({**TOPIC, name: "x"})
    opened = _opened(files)
    assert [f.code for f in every_lint(opened) if f.path == name] == ([code] if code else [])


def test_values_that_return_are_those_that_the_checker_finds() -> None:
    stones = STONES.replace("820 €", "`820 € a month`") + (
        "| T-002 | Van | the grey old van | D-001 | x | y | z |\n"
        "| T-003 | Hall | Hall 3. | D-001 | x | y | z |\n"
    )
    more = "- It was 820 € a month, for the grey old van.\n- THE GREY OLD VAN.\n"
    files = {**TOPIC, "TOMBSTONES.md": stones, "CONTEXT.md": CONTEXT + more}
    told = [f for f in lint(files) if f.code == "MC122"]
    found = collisions(encoded(files))
    assert [(f.path.split(":")[0], v) for f, (_, v) in zip(told, found, strict=True)] == found
    assert all(repr(value) in f.problem for f, (_, value) in zip(told, found, strict=True))


def test_a_missing_file_is_named() -> None:
    assert "MC132" in codes({p: t for p, t in TOPIC.items() if p != "OPEN_ITEMS.md"})


def test_an_open_session_that_cannot_be_closed_is_named() -> None:
    entry = {"session": "a", "status": "OPEN", "baseline_hashes": {"CONTEXT.md": "0" * 64}}
    (found,) = [f for f in lint({**TOPIC, "_sessions/a.json": json.dumps(entry)}) if
                f.code == "MC141"]  # fmt: skip
    assert "CONTEXT.md changed since" in found.problem


def test_what_is_clean_stays_silent() -> None:
    assert codes(tree(GOLDEN / "basic")) == {"MC121"}


def test_a_row_without_an_id_is_called_so() -> None:
    found = lint({**TOPIC, "OPEN_ITEMS.md": ITEMS + "||x | OPEN | y |  |  |\n"})
    told = {f.code: f.problem for f in found if f.path.startswith("OPEN_ITEMS.md:")}
    assert told["MC104"] == "a row without an id"
    assert told["MC113"].startswith("a row without an id: the checker eats")


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("file: ../a.md\n    expect_contains: x", "name a file of this topic"),
        ("file: _rollup/../../a.md\n    expect_contains: x", "name a file of this topic"),
        ("file: CONTEXT.md", "state expect_contains in double quotes"),
    ],
)
def test_the_way_out_fits_what_is_odd_about_a_test(said: str, remedy: str) -> None:
    tests = f"  - id: a\n    type: must_reference\n    {said}\n"
    told = [f.remedy for f in lint({**TOPIC, "memory_tests.yaml": tests}) if f.code == "MC154"]
    assert told == [remedy]


def test_every_code_is_documented() -> None:
    page = (ROOT / "docs" / "formats" / "memory-compiler.md").read_text(encoding="utf-8")
    used: set[str] = set()
    for module in (ROOT / "adapters" / "memory_compiler").glob("lint*.py"):
        used |= set(re.findall(r'"(MC\d{3})"', module.read_text(encoding="utf-8")))
    assert used
    assert used == set(re.findall(r"^\| (MC\d{3}) ", page, re.MULTILINE))


# --- the laws, on any record of any role

_KEYS = st.sampled_from(["x", "TOMBSTONES.md#T-002", "DECISIONS.md#D-001~2", "a.md#b"])
_SAID = maybe(st.one_of(one_line, texts, st.sampled_from(["—", "-", "D-001", "D-002"])))
_STATUS = maybe(
    st.sampled_from(["OPEN", "DONE", "done", "Active", "Superseded", "Superseded by D-001", "x"])
)
ANY: st.SearchStrategy[Record] = st.one_of(
    records(None),
    st.builds(
        Task,
        key=_KEYS,
        body=st.one_of(words, texts).map(lambda t: Body(text=t)),
        status=_STATUS,
        opened=_SAID,
        evidence=_SAID,
        extra=_SAID.map(lambda t: {"memory-compiler": {"notes": t}} if t else {}),
    ),
    st.builds(
        Decision, key=_KEYS, decision=_SAID, why=_SAID, date=_SAID, evidence=_SAID,
        supersedes=maybe(st.sampled_from(["D-001", "D-002", "D-001, D-002", "—", "|"])),
        status=_STATUS,
    ),
    st.builds(
        Tombstone, key=_KEYS, subject=_SAID, rejected=_SAID, replacement=_SAID, date=_SAID,
        reason=_SAID, source=_SAID,
    ),
)  # fmt: skip
FIELDS = ("body", "status", "opened", "evidence", "decision", "why", "date", "supersedes",
          "subject", "rejected", "replacement", "reason", "source", "extra")  # fmt: skip


@settings(max_examples=300)
@given(new=st.lists(ANY, max_size=5), onto=st.sampled_from([{}, TOPIC]))
def test_what_is_written_is_read_back_and_passes_the_checker(
    new: list[Record], onto: dict[str, str]
) -> None:
    keyed = [fields.with_key(r, f"{r.key}~{i + 10}") for i, r in enumerate(new)]
    done = put(onto, *keyed)
    if done.files:
        assert asks(done.files) == []
    told = {(s.key, s.field) for s in done.supplied}
    for record in keyed:
        stands = done.records.get(record.key)
        assert (stands is None) == (record.key in {r.key for r in done.refused})
        if stands is None:
            continue
        for name in FIELDS:
            meant, says = fields.get(record, name), fields.get(stands, name)
            if name == "extra" and record.role == "memory":
                continue
            assert meant == says or (record.key, name) in told, (name, meant, says)
    again = ADAPTER.write(ADAPTER.read(done.files), done.files, NOW)
    assert again.files == done.files
    assert not again.refused


_ROWS = st.one_of(
    st.builds(Tombstone, key=st.sampled_from([f"TOMBSTONES.md#T-00{n}" for n in range(1, 7)]),
              rejected=words, replacement=maybe(st.sampled_from(["D-001", "D-004", "20"]))),
    st.builds(Decision, key=st.sampled_from([f"DECISIONS.md#D-00{n}" for n in range(1, 7)]),
              decision=words, status=st.just("Active"),
              supersedes=maybe(st.sampled_from([f"D-00{n}" for n in range(1, 7)]))),
)  # fmt: skip
_PLACES = st.sampled_from(
    ["TOMBSTONES.md#T-001", "TOMBSTONES.md#T-2", "TOMBSTONES.md#T-009", "DECISIONS.md#D-001",
     "DECISIONS.md#D-008", "x", "DECISIONS.md#~", "TOMBSTONES.md#a|b"]
)  # fmt: skip


@settings(max_examples=300)
@given(
    new=st.lists(_ROWS, max_size=7),
    places=st.dictionaries(st.integers(0, 6), _PLACES),
    onto=st.sampled_from([{}, TOPIC, {p: TOPIC[p] for p in ("CONTEXT.md", "TOMBSTONES.md")}]),
    begun=st.booleans(),
)
def test_ids_are_permanent_and_given_once(
    new: list[Record], places: dict[int, str], onto: dict[str, str], begun: bool
) -> None:
    keyed = [fields.with_key(r, f"{r.key}~{n + 10}") for n, r in enumerate(new)]
    if begun and not onto:  # those that the source's own file has stay themselves
        keyed = list({r.key: r for r in new}.values())
    there = encoded(onto)
    context = replace(
        NOW,
        addresses={r.key: places[n] for n, r in enumerate(keyed) if n in places},
        originals=tree(GOLDEN / "basic") if begun else {},
    )
    before = {r.key: r for r in ADAPTER.read(there).records}
    done = ADAPTER.write(store([*before.values(), *keyed]), there, context)
    now = {r.key: r for r in ADAPTER.read(done.files).records}
    assert now == {r.key: r for r in done.records.values()}
    assert len(now) == len(before) + len(keyed) - len(done.refused)
    assert {k: now[k] for k in before} == before
    assert [ask for ask in asks(done.files) if "is missing" not in ask] == []
    source = {r.key for r in ADAPTER.read(context.originals).records} if not onto else set[str]()
    for path in ("TOMBSTONES.md", "DECISIONS.md"):
        stood = [k for k in before if k.startswith(path)]
        highest = max((int(k.split("-")[1]) for k in stood), default=0)
        for record in (r for r in keyed if r.key.startswith(path) and r.key in done.records):
            key = done.records[record.key].key
            kept = key in (context.addresses.get(record.key), record.key if source else "")
            assert kept or int(key.split("-")[1]) > highest, (record.key, key)


@settings(max_examples=300)
@given(
    donor=ANY,
    name=st.sampled_from(FIELDS),
    at=st.integers(0, 30),
    case=st.sampled_from(sorted(p.name for p in GOLDEN.iterdir())),
)
def test_an_edit_says_just_that(donor: Record, name: str, at: int, case: str) -> None:
    files = tree(GOLDEN / case)
    there = ADAPTER.read(files).records
    if not there:
        return
    old = there[at % len(there)]
    if name not in fields.FIELDS[old.role]:
        return
    new = fields.replace(old, {name: fields.get(donor, name)})
    fitted = ADAPTER.fit(new, old, NOW)
    done = ADAPTER.write(store(new if r is old else r for r in there), files, NOW)
    found = {r.key: r for r in ADAPTER.read(done.files).records}
    assert found == {r.key: r for r in done.records.values()}
    for other in there:
        if other is not old:
            assert fields.with_key(done.records[other.key], other.key) == other
    if done.refused:
        assert done.files == files
    else:
        assert isinstance(fitted, Fitted)
        assert fields.with_key(done.records[old.key], old.key) == fitted.record or done.supplied
        touched = {p for p in files if files[p] != done.files[p]}
        assert touched <= {old.key.split("#")[0]}


_SOUP = st.sampled_from(
    ["|", " ", "\n", "\r\n", "-", "—", "x", "- ", "* ", "\u2028", "\ufeff", "```", "<!--", "-->",
     "# Current facts\n", "| T-001 | a | b | c | d | e | f |\n", ITEMS, STONES, DECISIONS, CONTEXT,
     "\xff", "tests:\n", "- id: a\n", "*(as_of: 1, evidence: 2)*", '"', "#"]
)  # fmt: skip
_NAMES = st.sampled_from([*_FILES, "memory_tests.yaml", "_sessions/a.json", "_sessions/recovery/b"])


@settings(max_examples=300)
@given(
    st.dictionaries(_NAMES, st.lists(_SOUP, max_size=12).map("".join), max_size=5), st.booleans()
)
def test_anything_at_all_is_read_and_kept(files: dict[str, str], latin: bool) -> None:
    data = {p: t.encode("latin-1" if latin else "utf-8", "replace") for p, t in files.items()}
    ADAPTER.detect(data)
    found = ADAPTER.read(data)
    list(ADAPTER.lint(data, found))
    assert ADAPTER.write(found, data, NOW).files == data
    new = (Memory(key="n", body=Body(text="New.")), Tombstone(key="t", rejected="old"),
           Task(key="o", body=Body(text="Do."), status="OPEN"))  # fmt: skip
    done = ADAPTER.write(store([*found.records, *new]), data, NOW)
    now = {r.key: r for r in ADAPTER.read(done.files).records}
    assert now == {r.key: r for r in done.records.values()}
    for record in found.records:
        assert fields.with_key(done.records[record.key], record.key) == record
