"""The guard: what counts as stating a rejected value, whose statement is history, what is new."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from interop import fields, guard, roles, tokens
from interop.disk.tree import load
from interop.guard import Collision, Stone
from interop.model import Body, Decision, Memory, Record, Task, Tombstone
from interop.registry import get
from interop.rendering import seen
from tests.strategies import records as any_records

SHARED = Path(__file__).parents[1].parent / "shared" / "fixtures" / "memory-compiler"


def stone(rejected: str | None, **values: str) -> Stone:
    record = Tombstone(
        key="TOMBSTONES.md#T-001",
        subject="what it is",
        rejected=rejected,
        replacement=values.get("replacement", "CONTEXT.md"),
        reason=values.get("reason", "not so any more"),
        source=values.get("source", "desk"),
    )
    return Stone(record=record, store="depot")


def memory(text: str, **values: object) -> Memory:
    new = fields.replace(Memory(key="CONTEXT.md#0123456789ab", body=Body(text=text)), values)
    assert isinstance(new, Memory)
    return new


def caught(record: Record, *stones: Stone, among: tuple[Record, ...] = ()) -> list[Collision]:
    found = guard.collisions([record, *among], list(stones))
    return [c for c in found if c.key == record.key]


def states(text: str, rejected: str, media: str = "text/markdown") -> bool:
    return bool(caught(memory("", body=Body(text=text, media=media)), stone(rejected)))


# --- what counts as stating it


@pytest.mark.parametrize(
    ("rejected", "text"),
    [
        ("2026-09-01", "Opening day: 2026-09-01."),
        ("hex 1E3A5F", "The signs are #1e3a5f."),
        ("hex 1E3A5F", "The signs are hex 1E3A5F again"),
        ("hex 1E3A5F", "primary=1e3a5f;"),
        ("hex #1E3A5F", "1E3A5F"),
        ("`hex 1E3A5F`", "#1E3A5F"),
        ("1.4.2", "moved to 1.4.2."),
        ("1.4.2", "(1.4.2)"),
        ("1.4.2", "1.4.2, then nothing"),
        ("25 €", "Deposit: 25 €"),
        ("25 €", "it is 25\n  € a day"),
        ("25 €", "it is 25\u00a0€ a day"),
        ("2026-09-01", "on 2026-\u00ad09-\u200b01"),
        ("2026-\u00ad09-01", "on 2026-09-01"),
        ("25 €", "2\u20605\ufeff €"),
        ("25 €", "[25](prices.md) €"),
        ("25 €", "[25][p] € and ![25](x)"),
        ("25 €", "[[prices|25]] €"),
        ("2026-09-01", "20[26-09](x_(y))-01"),
        ("2026-09-01", "[2026](x)-[[09]]-[**01**](z)"),
        ("25 €", "10 €-25 €"),
        ("25", "page 25,- and nothing"),
        ("C", "written in C, mostly"),
        ("C++", "written in C++."),
        ("C#", "C#?"),
        ("`#0B6E4F`", "die Farbe ist #0b6e4f."),
        ('"Pier 3"', "at pier 3"),
        ("„Steg Nord“", "am Steg Nord"),
        ("``x``", "x"),
        ("Straße 9", "STRASSE 9"),
        ("ICE", "ice"),
        ("京都", "明日京都へ行く"),
        ("25", "価格は25円です"),
        ("25", "価格:25です"),
        ("百円", "料金は百円。"),
        ("ท่าเรือ", "ที่ท่าเรือเก่า"),
        ("Nord", "北Nord駅"),
        ("example.com", "see https://example.com/"),
        ("a|b", "use a&#124;b"),
        ("dock_key", r"the dock\_key"),
        ("x 1", "**x 1**"),
        ("25 €", "Deposit: **25** €"),
        ("25 €", "Deposit: _25_ €, *no* more"),
        ("25 €", "<b>25</b> €"),
        ("2026-09-01", "2026-**09**-01"),
        ("2026-09-01", "2026-`09`-01"),
        ("Pier 3", "at ***Pier*** `3`"),
        ("25 €", "~~25~~ €"),
        ("25 €", "text <!-- 25 € --> and more"),
        ("1E3A5F", "#1e3a5f"),
        ("**25** €", "Deposit: 25 €"),
        ("hex `1E3A5F`", "#1e3a5f"),
        (r"dock\_key", "the dock_key"),
        ("25&nbsp;€", "25 €"),
        ("x*y*z", "`x*y*z`"),
    ],
)
def test_it_is_stated(rejected: str, text: str) -> None:
    assert states(text, rejected)


@pytest.mark.parametrize(
    ("rejected", "text"),
    [
        ("1.4.2", "1.4.2.1"),
        ("1.4.2", "1.4.20"),
        ("1.4.2", "v1.4.2"),
        ("1.4.2", "1.4.2-rc1"),
        ("25 €", "1,25 €"),
        ("2,50 €", "12,50 €"),
        ("25 €", "-25 €"),
        ("25 €", "(−25 €)"),
        ("€25", "a fee of -€25"),
        ("C", "written in C++"),
        ("C", "written in C#"),
        ("C", "C++17"),
        ("9:30", "19:30"),
        ("9", "9:30"),
        ("9", "a/9"),
        ("key", "key_box"),
        ("key", "key@depot"),
        ("Brien", "O'Brien"),
        ("Brien", "O’Brien"),
        ("#0B6E4F", "#0B6E4F2"),
        ("2026-09-01", "2026-09-011"),
        ("2026-09-01", "2026-09-01T10:00"),
        ("cafe", "café"),
        ("cafe", "cafe\u0301"),
        ("क", "कि"),
        ("٢٥", "٢٥٠"),
        ("๒๕", "๒๕๐ บาท"),
        ("25 €", "twenty-five euros"),
        ("hex bolt", "a bolt"),
        ("`a`, `b`", "a`, `c"),
        ("'it', 'that'", "it', that"),
        ("532", r"5\*3*2"),
        ("53", "5 * 3"),
        ("25 €", "25<br>00 €"),
        ("keybox", "key_box and more_ of it"),
        ("#1E3A5F", "1e3a5f"),
    ],
)
def test_it_is_not_stated(rejected: str, text: str) -> None:
    assert not states(text, rejected)


def test_html_is_read_as_it_is_shown() -> None:
    html = "text/html"
    assert states("<p>The fee is 25&nbsp;<b>€</b></p>", "25 €", html)
    assert states("AT&amp;T", "AT&T", html)
    assert states("<p>one</p><p>C</p>", "C", html)
    assert not states("<p>1.4.<b>2</b>.1</p>", "1.4.2", html)
    for unseen in ("<mark>x</mark>", '<p class="mark">x</p>', "<style>mark{}</style>"):
        assert not states(unseen, "mark", html)
    assert not states("<!-- 25 € -->", "25 €", html)
    assert states("<p>Deposit: 2<!-- x -->5 €</p>", "25 €", html)
    for markup in (
        "<p>2026-<b>09</b>-01</p>",
        "<b>2026</b><i>-09</i><code>-01</code>",
        "2026-<font color=red>09</font>-01",
        "<p>2026&#45;09-<x-y>01</x-y></p>",
        "<pre>2026-09-01</pre>",
        "<ul><li>from</li><li>2026-09-01",
        "<p>so: 2026<wbr>-09-01</p>",
    ):
        assert states(markup, "2026-09-01", html), markup


@pytest.mark.parametrize(
    "markup",
    [
        "<p>25</p><p>€</p>",
        "<table><tr><td>25</td><td>€</td></tr></table>",
        "<ul><li>25</li>\n<li>€</li></ul>",
        "<dl><dt>25<dd>€</dl>",
        "25<h2>€</h2>",
        "<p>25</p> €",
        "<select><option>25<option>€</select>",
        "<template>25 €</template><script>25 €</script>",
        "<p title='25 €'><img alt='25 €'></p>",
    ],
)
def test_no_value_reaches_over_the_edge_of_a_block(markup: str) -> None:
    assert not states(markup, "25 €", "text/html")
    assert not states(markup, "25€", "text/html")


def test_a_line_break_is_white_space_and_joins_nothing() -> None:
    assert states("<p>25<br>€</p>", "25 €", "text/html")
    assert not states("<p>20<br>26</p>", "2026", "text/html")


def test_a_deep_text_is_read() -> None:
    assert states("<b>" * 20_000 + "25 €", "25 €", "text/html")


def test_a_deep_text_is_read_in_its_order() -> None:
    assert states("<i>" * 300 + "2026" + "</i>" * 300 + "-09<u>-01</u>", "2026-09-01", "text/html")


def test_a_value_without_letter_or_digit_is_not_checked() -> None:
    stones = [stone(v) for v in ("—", "→", "`-`", "", None, "25 €")]
    assert guard.unchecked(stones) == tuple(stones[:5])
    assert not caught(memory("— → -"), *stones)


@pytest.mark.parametrize("field", ["name", "title", "description", "hook", "body"])
def test_the_fields_that_speak(field: str) -> None:
    said: object = Body(text="25 €") if field == "body" else "25 €"
    (found,) = caught(memory("", **{field: said}), stone("25 €"))
    assert found == Collision(
        key="CONTEXT.md#0123456789ab",
        field=field,
        tombstone_id="T-001",
        tombstone_store="depot",
        rejected="25 €",
        reason="not so any more",
        replacement="CONTEXT.md",
    )
    told = guard.collisions([memory("", **{field: said})], [stone("25 €")], fields={"why"})
    assert not told


def test_the_cells_that_speak() -> None:
    d = Decision(key="D.md#D-7", decision="25 €", why="25 €", date="25 €", evidence="25 €")
    assert [c.field for c in caught(d, stone("25 €"))] == ["decision", "why"]
    t = Task(
        key="O.md#OI-1",
        body=Body(text="Refund 25 €"),
        evidence="25 €",
        due="25 €",
        extra={"memory-compiler": {"notes": "paid 25 €", "as_of": "25 €"}},
    )
    assert [c.field for c in caught(t, stone("25 €"))] == ["body", "extra.notes"]
    silent = Memory(key="25 €.md", created="25 €", modified="25 €", tags=("25 €",), session="25 €")
    assert not caught(silent, stone("25 €"))


def test_the_sentence_has_id_reason_and_replacement() -> None:
    stones = [stone("`#0B6E4F`", reason="not\nreadable", replacement="D-004")]
    (found,) = caught(memory("#0b6e4f"), *stones)
    assert guard.sentence(found) == (
        "body states '#0B6E4F' again, rejected by T-001 of depot: not readable; in its place: D-004"
    )
    bare = replace(found, reason="—", replacement=None, tombstone_store="")
    assert guard.sentence(bare) == "body states '#0B6E4F' again, rejected by T-001"


def test_a_value_that_is_written_and_shown_counts_once() -> None:
    (found,) = caught(memory("**25** € or 25 €"), stone("**25** €"))
    assert found.rejected == "**25** €"
    before, after = memory("Deposit: 25 €"), memory("Deposit: **25** €, now 20")
    assert not guard.reasserted(before, after, [stone("**25** €")])


def test_a_tombstone_that_several_stores_hold_counts_once() -> None:
    copy = Stone(record=replace(stone("25 €").record, key="t-001.md"), store="garage", id="T-001")
    assert len(caught(memory("25 €"), stone("25 €"), copy)) == 1
    other = stone("25 €", reason="another one")
    assert len(caught(memory("25 €"), stone("25 €"), other)) == 2
    (found,) = caught(memory("25 €"), copy)
    assert found.tombstone_id == "T-001"


# --- history


MOVED = Decision(
    key="DECISIONS.md#D-002",
    decision="Opening moved from 2026-09-01 to 2026-09-15",
    why="The hall is late",
    status="Active",
)


def test_the_decision_that_tells_the_change_may() -> None:
    for cited in (
        "D-002",
        "see D-002.",
        "DECISIONS.md#D-002",
        "D-001/d-002",
        "参照D-002。",
        "D-2, D-002",
    ):
        assert not caught(MOVED, stone("2026-09-01", replacement=cited))
        assert not caught(MOVED, stone("2026-09-01", source=cited))
    for other in ("D-0021", "XD-002", "D-002.md", "DECISIONS.md", "D-002/notes.md", "D-001", "—"):
        assert caught(MOVED, stone("2026-09-01", replacement=other))


def test_a_file_name_cites_nothing() -> None:
    for key in ("CONTEXT.md#0123456789ab", "CONTEXT.md", "D-002.md"):
        said = replace(memory("2026-09-01"), key=key)
        assert caught(said, stone("2026-09-01", replacement="CONTEXT.md, D-002.md"))


def test_a_record_whose_key_has_no_id_is_known_by_the_one_that_is_handed_in() -> None:
    rendered = replace(MOVED, key="decision-d-002.md")
    stones = [stone("2026-09-01", replacement="D-002")]
    assert guard.collisions([rendered], stones)
    known = {rendered.key: frozenset({guard.Name("d-002")})}
    told = guard.History(names=known.get)
    assert not guard.collisions([rendered], stones, told=told)


def test_a_superseded_decision_may() -> None:
    stones = stone("2026-09-01")
    assert caught(MOVED, stones)
    for status in ("Superseded", "superseded", "Superseded by D-003"):
        assert not caught(replace(MOVED, status=status), stones)
    for other in ("Active", None, "Supersededish"):
        assert caught(replace(MOVED, status=other), stones)
    later = Decision(key="DECISIONS.md#D-003", decision="Open later", supersedes="D-002")
    assert not caught(MOVED, stones, among=(later,))
    assert caught(MOVED, stones, among=(replace(later, supersedes="D-001"),))
    assert caught(replace(MOVED, supersedes="D-002"), stones), "by itself"


def test_a_dropped_decision_may() -> None:
    """What was dropped is as much history as what was superseded."""
    for status in ("Dropped", "DROPPED", "dropped: too dear"):
        assert not caught(replace(MOVED, status=status), stone("2026-09-01"))
    for other in ("Droppedish", "Not dropped", "Proposed"):
        assert caught(replace(MOVED, status=other), stone("2026-09-01"))
    dropped = replace(MOVED, status="Dropped")
    assert guard.reasserted(dropped, MOVED, [stone("2026-09-01")]), "taken up again"


def test_closed_tasks_tombstones_and_the_archive_may() -> None:
    task = Task(key="OPEN_ITEMS.md#OI-1", body=Body(text="Print 2026-09-01"), status="OPEN")
    assert caught(task, stone("2026-09-01"))
    for status in ("DONE", "DROPPED", "done"):
        assert not caught(replace(task, status=status), stone("2026-09-01"))
    assert caught(replace(task, status="BLOCKED"), stone("2026-09-01"))
    assert not caught(memory("2026-09-01", state="archived"), stone("2026-09-01"))
    again = replace(stone("2026-09-01").record, key="TOMBSTONES.md#T-009", reason="2026-09-01")
    assert not caught(again, stone("2026-09-01"))


def test_renderings_are_what_they_declare_and_broken_ones_are_memories() -> None:
    rendered = roles.to_memory(stone("2026-09-01").record)
    known = roles.from_memory(rendered)
    assert known is not None
    assert not caught(known, stone("2026-09-01"))
    broken = replace(rendered, body=Body(text=rendered.body.text + "\nand more of it"))
    assert roles.from_memory(broken) is None
    assert caught(broken, stone("2026-09-01"))


# --- what a change brings in


def test_what_is_created_or_newly_stated_is_reasserted() -> None:
    stones = [stone("25 €")]
    fine, bad = memory("Deposit: 20 €"), memory("Deposit: 25 €")
    assert guard.reasserted(None, bad, stones)
    assert not guard.standing(None, bad, stones)
    assert guard.reasserted(fine, bad, stones)
    assert not guard.reasserted(bad, fine, stones)
    assert not guard.standing(bad, fine, stones)


def test_a_correction_of_what_stood_there_is_a_warning() -> None:
    stones = [stone("25 €")]
    before, after = memory("Deposit: 25 €"), memory("Deposit: was 25 €, now 20 €")
    assert not guard.reasserted(before, after, stones)
    assert [c.field for c in guard.standing(before, after, stones)] == ["body"]
    moved = memory("Deposit: was 25 €", description="25 €")
    assert [c.field for c in guard.reasserted(before, moved, stones)] == ["description"]
    assert [c.field for c in guard.standing(before, moved, stones)] == ["body"]


def test_what_comes_back_to_life_states_all_of_it_anew() -> None:
    stones = [stone("2026-09-01")]
    now = memory("2026-09-01")
    assert guard.reasserted(replace(now, state="archived"), now, stones)
    task = Task(key="O.md#OI-1", body=Body(text="Print 2026-09-01"), status="OPEN")
    assert guard.reasserted(replace(task, status="DONE"), task, stones)
    assert guard.reasserted(replace(MOVED, status="Superseded"), MOVED, stones)
    later = Decision(key="DECISIONS.md#D-003", supersedes="D-002")
    assert not guard.reasserted(None, MOVED, stones, told=guard.history([MOVED, later]))


@given(st.one_of(st.none(), any_records(None)), any_records(None))
def test_each_collision_is_either_new_or_was_there(before: Memory | None, after: Memory) -> None:
    values = guard.rejected_values([stone(v) for v in ("dock", "7", "spare key", "看", "e")])
    new = guard.reasserted(before, after, values)
    old = guard.standing(before, after, values)
    assert sorted(map(repr, [*new, *old])) == sorted(map(repr, guard.collisions([after], values)))
    if before is None:
        assert not old
    assert not guard.reasserted(after, after, values)


# --- properties

_PARTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
_VALUES = st.one_of(
    _PARTS,
    st.sampled_from(
        ["25 €", "1.4.2", "C++", "#0B6E4F", "2026-09-01", "東京", "ท่าเรือ", "hex 1E3A5F"]
    ),
).filter(lambda v: any(map(str.isalnum, v)))


@given(_VALUES, st.text(max_size=12), st.text(max_size=12))
@example("hex 1E3A5F", "x", "y")
def test_a_value_between_spaces_is_always_found(value: str, left: str, right: str) -> None:
    assert states(f"{left} {value} {right}", value)
    assert states(value, value)
    assert "`" in value or states(f"{left}\n{value}\n{right}", f"`{value}`")


_WORD = st.text("abcxyzäß0123456789", min_size=1, max_size=6)


@given(_WORD, _WORD, st.sampled_from(["", *".,-_:/'@+#"]), st.booleans())
def test_a_value_inside_a_longer_token_never_is(
    value: str, more: str, joint: str, before: bool
) -> None:
    text = f"{more}{joint}{value}" if before else f"{value}{joint}{more}"
    folded = more.casefold()
    assume(value.casefold() != folded)  # it would state itself
    parts = text.casefold().split(joint) if joint else [text.casefold()]
    assert parts.count(value.casefold()) <= 1
    assert not states(f"so {text} then", value)


_UNSPACED = st.one_of(
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF),
    st.characters(min_codepoint=0x3041, max_codepoint=0x3096),
    st.characters(min_codepoint=0x30A1, max_codepoint=0x30FA),
    st.characters(min_codepoint=0x0E01, max_codepoint=0x0E2E),
    st.characters(min_codepoint=0x1780, max_codepoint=0x17A2),
    st.characters(min_codepoint=0x1000, max_codepoint=0x1020),
    st.sampled_from("ກຂຄກཀཁ"),
)


@given(st.one_of(_WORD, st.text(_UNSPACED, min_size=1)), _UNSPACED, _UNSPACED)
def test_no_boundary_is_needed_beside_scripts_without_spaces(
    value: str, left: str, right: str
) -> None:
    assert states(left + value + right, value)
    assert states(f"a{left}:{value}.{right}b", value)


@given(_VALUES, st.sampled_from(["NFC", "NFD"]), st.sampled_from(["NFC", "NFD"]))
@example("Café Straße", "NFC", "NFD")
def test_composition_and_case_do_not_matter(value: str, one: str, other: str) -> None:
    assume("\\" not in value and "&" not in value)
    form = unicodedata.normalize
    assert states(form(one, f"so {value} then"), form(other, value))  # type: ignore[arg-type]
    assert states(f"so {value.casefold()} then", value)


_PIECES = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "25",
        "€",
        " ",
        " ",
        ".",
        "-",
        "'",
        "+",
        "#",
        "京",
        "都",
        "ก",
        "\u0301",
        "é",
    ]
)


@given(st.lists(_PIECES, max_size=14).map("".join), st.lists(_PIECES, max_size=4).map("".join))
def test_the_index_finds_what_a_look_at_every_value_finds(text: str, value: str) -> None:
    assume(tokens.speaks(value) and tokens.unmarked(value) == value)
    assert states(text, value) == tokens.states(tokens.fold(text), tokens.fold(value))


# --- a real store


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"NOT CHECKED: {SHARED} is not beside the project")
def test_the_short_values_of_the_shared_case() -> None:
    case = SHARED / "short-values"
    adapter = get("memory-compiler")
    store = seen(adapter.read(load(case / "store", adapter.ignored).files), adapter)
    stones = [Stone(record=r) for r in store.records if isinstance(r, Tombstone)]
    assert len(stones) == 5
    expected = [json.loads(line) for line in (case / "findings.jsonl").read_text().splitlines()]
    assert [
        {"path": c.key, "tombstone": c.tombstone_id, "value": c.rejected}
        for c in guard.collisions(store.records, stones)
    ] == expected
    assert not guard.unchecked(stones)
