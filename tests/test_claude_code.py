"""Claude Code memory directories: what is read, and which bytes an edit changes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Surroundings, Written
from interop.adapters.claude_code import ADAPTER
from interop.adapters.claude_code.fitting import hook, title
from interop.adapters.claude_code.index import target_of
from interop.adapters.claude_code.location import encode
from interop.adapters.claude_code.memory_file import HEADER_FIELDS, wiki_links, written
from interop.adapters.claude_code.naming import slug_of
from interop.model import Body, Decision, Files, Json, Memory, Record, Store

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "fixtures" / "claude-code"
NOW = Context(now="2026-11-30T12:00:00.000Z")

HEADER = """---
name: van
description: The grey van
metadata: 
  node_type: memory
  type: project
  originSessionId: 7d1f0c52
  modified: 2026-09-03
---

"""  # noqa: W291  # the CLI writes a blank behind ``metadata:``
VAN = HEADER + "Grey.\n"
INDEX = "# Memory Index\n\n- [Van](van.md) — grey\n"


def store(records: Iterable[Record]) -> Store:
    return Store(format=ADAPTER.name, records=tuple(records))


def put(files: Mapping[str, str], *changes: Record, without: str = "") -> Written:
    """Put records over files: those with a key there replace it, others are new."""
    onto = {p: t.encode() for p, t in files.items()}
    records = {r.key: r for r in ADAPTER.read(onto).records if r.key != without}
    return ADAPTER.write(store((records | {r.key: r for r in changes}).values()), onto, NOW)


def edited(files: Mapping[str, str], key: str, **values: object) -> dict[str, str]:
    """Change fields of one record, and check that this and nothing else is read back."""
    onto = {p: t.encode() for p, t in files.items()}
    before = {r.key: r for r in ADAPTER.read(onto).records}
    done = put(files, fields.replace(before[key], values))
    after = {r.key: r for r in ADAPTER.read(done.files).records}
    assert done.records == {k: after[r.key] for k, r in done.records.items()}
    for other in before.keys() - {key}:
        assert fields.with_key(done.records[other], other) == before[other]
    return {p: b.decode() for p, b in done.files.items()}


def memory(text: str, path: str = "van.md") -> Memory:
    (record,) = ADAPTER.read({path: text.encode()}).records
    assert isinstance(record, Memory)
    return record


# --- reading


def tree(case: Path) -> Files:
    root = case / "store"
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


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
    out = fields.to_json(record) | {"state": "live"}
    body = out.pop("body", {"text": "", "media": "text/markdown"})
    assert isinstance(body, dict)
    return out | body


def covers(want: Json, got: Json) -> bool:
    if isinstance(want, dict):
        return isinstance(got, dict) and all(covers(v, got.get(k)) for k, v in want.items())
    return want == got


def test_the_nested_kind_counts_and_the_other_stays() -> None:
    record = memory("---\ntype: user\nmetadata:\n  type: project\n---\n")
    assert record.kinds == {"claude": "project"}
    assert record.extra == {"claude-code": {"type": "user"}}


def test_metadata_on_one_line() -> None:
    record = memory("---\nmetadata: {type: project, stage: draft}\n---\n")
    assert record.kinds == {"claude": "project"}
    assert record.extra == {"claude-code": {"metadata": {"stage": "draft"}}}


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("[[a]] [[b|x]] [[c#y]] [[a]]", ["a", "b", "c"]),
        ("`[[a]]` ``[[b]] ` `` [[c]]", ["c"]),
        ("```\n[[a]]\n```\n[[b]]", ["b"]),
        ("~~~~\n[[a]]\n~~~\n[[b]]\n~~~~\n[[c]]", ["c"]),
        ("- ```sh\n  [[a]]\n  ```\n[[b]]", ["b"]),
        ("a ` b\n\n[[c]] ` d", ["c"]),
        ("[[]] [[#x]] [[a\nb]]", []),
        ("about ~5 of 9 [x](y.md) ~~~ [[a]] ~~~", ["a"]),
    ],
)
def test_wiki_links(body: str, targets: list[str]) -> None:
    assert [link.target for link in wiki_links(body)] == targets


def test_a_file_that_is_not_utf8_is_a_problem_and_carried() -> None:
    found = ADAPTER.read({"MEMORY.md": b"- [X](x.md)\n", "x.md": b"T\xfcr"})
    assert found.records == ()
    assert [(p.path, p.unread) for p in found.problems] == [("x.md", True)]
    assert set(found.carried) == {"x.md", "MEMORY.md#"} - {"MEMORY.md#"}


# --- header edits


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("new", "description: new"),
        ("Ready: set", 'description: "Ready: set"'),
        ('say "go", now', 'description: say "go", now'),
        ("- dash", 'description: "- dash"'),
        ("one\ntwo", 'description: "one\\ntwo"'),
        (" blank ", 'description: " blank "'),
        ("C:\\docks #5", 'description: "C:\\\\docks #5"'),
    ],
)
def test_a_plain_description_stays_plain_where_it_can(value: str, line: str) -> None:
    after = edited({"van.md": VAN}, "van.md", description=value)
    assert after == {"van.md": VAN.replace("description: The grey van", line)}
    assert memory(after["van.md"]).description == value


@pytest.mark.parametrize(
    ("old", "new"),
    [('"The grey van"', '"x"'), ("'The grey van'", "'x'"), (">-\n  The\n  van", "x")],
)
def test_the_style_of_quoting_stays(old: str, new: str) -> None:
    text = VAN.replace("The grey van", old)
    after = edited({"van.md": text}, "van.md", description="x")
    assert after["van.md"] == VAN.replace("The grey van", new)


def test_the_quoting_rule_of_the_cli() -> None:
    for plain in ("a — b", "a & b = c → d", "a:b", "-5"[1:], "日本"):
        assert written(plain) == plain
    for value in ("a, b", "it's", "a`b", "{a", "[a", "a #b", "a: b", "a:", "-5", "@x", "yes ", ""):
        assert written(value)[0] == '"'


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        (  # generation 2 keeps its keys at the top level
            "---\nname: a\ndescription: b\ntype: user\n---\nText",
            {"session": "s"},
            "---\nname: a\ndescription: b\ntype: user\noriginSessionId: s\n---\nText",
        ),
        (  # generation 4 keeps its order
            "---\nname: a\nmetadata: \n  node_type: memory\n  modified: m\n---\n\nText\n",
            {"kinds": {"claude": "user"}, "session": "s", "description": "d"},
            "---\nname: a\ndescription: d\nmetadata: \n  node_type: memory\n  type: user\n"
            "  originSessionId: s\n  modified: m\n---\n\nText\n",
        ),
        (  # an indent of four stays one of four
            "---\r\nmetadata:\r\n    type: user\r\n---\r\n",
            {"modified": "2026-01-01"},
            "---\r\nmetadata:\r\n    type: user\r\n    modified: 2026-01-01\r\n---\r\n",
        ),
        (  # neither generation yet
            "---\nname: a\n---\n\nText\n",
            {"kinds": {"claude": "user"}},
            "---\nname: a\nmetadata: \n  node_type: memory\n  type: user\n---\n\nText\n",
        ),
        (  # no header yet
            "\ufeffText",
            {"name": "a"},
            "\ufeff---\nname: a\nmetadata: \n  node_type: memory\n---\n\nText",
        ),
        (  # clearing removes every statement
            "---\ntype: user\ntype: user\nmetadata: \n  type: user\n  x: 1\n---\nText",
            {"kinds": {}},
            "---\nmetadata: \n  x: 1\n---\nText",
        ),
        (  # a flow map becomes lines, the one way to change a key in it
            "---\nmetadata: {type: user, x: 1}\n---\nText",
            {"kinds": {"claude": "project"}},
            "---\nmetadata: \n  x: 1\n  type: project\n---\nText",
        ),
    ],
)
def test_keys_are_set_where_the_generation_has_them(
    before: str, values: dict[str, object], after: str
) -> None:
    assert edited({"van.md": before}, "van.md", **values) == {"van.md": after}


# --- body edits


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        (VAN, "Blue.\n\n---\nx", HEADER + "Blue.\n\n---\nx\n"),
        (VAN, "", HEADER + "\n"),
        (VAN, "\nBlue\n", HEADER + "\nBlue\n\n"),
        ("---\nname: a\n---\nText", "New", "---\nname: a\n---\nNew"),
        ("---\nname: a\n---\nText", "\nNew", "---\nname: a\n---\n\n\nNew"),
        ("---\nname: a\n---\nText", "New\n", "---\nname: a\n---\nNew\n\n"),
        ("---\nname: a\n---", "New", "---\nname: a\n---\n\nNew\n"),
        ("Text", "---\na: b\n---\nx", "---\n---\n\n---\na: b\n---\nx"),
        ("\ufeffText\r\n", "New", "\ufeffNew\r\n"),
        ("Text\n", "\ufeffNew\r", "\ufeff\ufeffNew\r\r\n"),
    ],
)
def test_a_body_edit_keeps_the_layout(before: str, body: str, after: str) -> None:
    files = edited({"van.md": before}, "van.md", body=Body(text=body))
    assert files == {"van.md": after}, "and no index is made for it"
    assert memory(after).body.text == body


# --- index edits


def test_title_and_hook_are_spliced_where_they_stand() -> None:
    index = "* **[Van](van.md)**: grey <!-- checked -->\r\n\r\n> [Van](van.md) — again\r\n"
    after = edited({"MEMORY.md": index, "van.md": VAN}, "van.md", title="The van", hook="blue")
    assert after["MEMORY.md"] == index.replace("[Van](van.md)**: grey", "[The van](van.md)**: blue")


@pytest.mark.parametrize(
    ("line", "values", "after"),
    [
        ("- [Van](van.md) — grey", {"hook": None}, "- [Van](van.md)"),
        ("- [Van](van.md)", {"hook": "grey"}, "- [Van](van.md) — grey"),
        ("- [Van](van.md) — grey", {"title": None}, "- `van.md` — grey"),
        ("- `van.md` — grey", {"title": "Van"}, "- [Van](van.md) — grey"),
        ("| [Van](van.md) | grey |", {"hook": "blue"}, "| [Van](van.md) | blue |"),
        ("- [A](a.md) · [Van](van.md) · [B](b.md)", {"hook": "x"},
         "- [A](a.md) · [Van](van.md) — x · [B](b.md)"),
    ],
)  # fmt: skip
def test_entries(line: str, values: dict[str, object], after: str) -> None:
    files = edited({"MEMORY.md": f"{line}\n", "van.md": VAN}, "van.md", **values)
    assert files["MEMORY.md"] == f"{after}\n"


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("See [Van](van.md).", {"hook": "grey"}),
        ("| [Van](van.md) | grey |", {"hook": "a | b"}),
    ],
)
def test_what_a_place_cannot_say_stays_as_it_is(line: str, values: dict[str, object]) -> None:
    files = edited({"MEMORY.md": f"{line}\n", "van.md": VAN}, "van.md", **values)
    assert files == {"MEMORY.md": f"{line}\n", "van.md": VAN}


@pytest.mark.parametrize(
    ("index", "after"),
    [
        ("# M\n\n* [A](a.md): x\n", "# M\n\n* [A](a.md): x\n* [Van]({}): grey\n"),
        ("- **[A](a.md)** — x", "- **[A](a.md)** — x\n- **[Van]({})** — grey"),
        ("# M\r\n", "# M\r\n\r\n- [Van]({}) — grey\r\n"),
        ("- [A](a.md)\n\n```\nopen\n", "- [A](a.md)\n\n- [Van]({}) — grey\n```\nopen\n"),
        ("", "- [Van]({}) — grey\n"),
    ],
)
def test_a_new_entry_has_the_shape_of_the_others(index: str, after: str) -> None:
    files = edited({"MEMORY.md": index, "van.md": VAN}, "van.md", title="Van", hook="grey")
    assert files["MEMORY.md"] == after.format("van.md")


def test_an_index_is_made_when_one_is_needed() -> None:
    assert edited({"van.md": VAN}, "van.md", title="Van")["MEMORY.md"] == (
        "# Memory Index\n\n- [Van](van.md)\n"
    )


def test_a_changed_name_changes_the_wiki_link_of_the_index() -> None:
    index = "- [[van]] — grey\n- See [[van|it]] · [Van](van.md)\n- a note\n"
    after = edited({"MEMORY.md": index, "v.md": VAN, "van.md": "x"}, "v.md", name="The van")
    assert after["MEMORY.md"].startswith("- [[The van]] — grey\n- See [[The van|it]]")


def test_notes_of_the_index_are_edited_in_place() -> None:
    files = {"MEMORY.md": "# M\n- one\n  more\n- two\n"}
    key = ADAPTER.read({p: t.encode() for p, t in files.items()}).records[0].key
    assert edited(files, key, body=Body(text="uno\n  mas"))["MEMORY.md"] == (
        "# M\n- uno\n  mas\n- two\n"
    )
    assert edited(files, key, body=Body(text="uno\n\nmas"))["MEMORY.md"] == (
        "# M\n- uno\n  mas\n- two\n"
    )
    old = ADAPTER.read({p: t.encode() for p, t in files.items()}).records[0]
    refusal = ADAPTER.fit(fields.replace(old, {"body": Body(text="see [x](x.md)")}), old, NOW)
    assert isinstance(refusal, Refusal)
    assert refusal.remedy


# --- removal


@pytest.mark.parametrize(
    ("index", "after"),
    [
        ("# M\n- [Van](van.md) — x\n  more\n- [B](b.md)\n", "# M\n- [B](b.md)\n"),
        ("- [A](a.md) · [Van](van.md) — x · [B](b.md)\n", "- [A](a.md) · [B](b.md)\n"),
        ("- [Van](van.md) — x · [B](b.md)\n", "- [B](b.md)\n"),
        ("- [A](a.md) — x · [Van](van.md)\n", "- [A](a.md) — x\n"),
        ("- The van: `van.md`\n- a note\n", "- a note\n"),
        ("| a |\n| [Van](van.md) | x |\n| b |\n", "| a |\n| b |\n"),
        ("- [Van](van.md)\n\nSee [Van](van.md).\n", "\nSee [Van](van.md).\n"),
    ],
)
def test_removing_takes_the_entry_out(index: str, after: str) -> None:
    done = put({"MEMORY.md": index, "van.md": VAN}, without="van.md")
    assert {p: b.decode() for p, b in done.files.items()} == {"MEMORY.md": after}
    assert bool(done.notes) == ("See" in after), "what stays dangling is said"


def test_removing_one_of_two_equal_notes() -> None:
    onto = {"MEMORY.md": b"- a\n- b\n- a\n"}
    first, _, second = ADAPTER.read(onto).records
    done = ADAPTER.write(store([second]), onto, NOW)
    assert done.files == {"MEMORY.md": b"- a\n"}
    assert done.records == {second.key: replace(second, key=first.key)}


# --- new records


def test_a_new_file_is_what_the_cli_writes() -> None:
    new = Memory(
        key="elsewhere/van.html",
        name="van",
        title="Van",
        description="Grey, since May",
        hook="grey",
        body=Body(text="Grey."),
        kinds={"claude": "project", "memhtml": "fact"},
        session="7d1f0c52",
        modified="2026-09-03T07:26:16.880Z",
        tags=("x",),
    )
    done = ADAPTER.write(store([new]), {}, NOW)
    assert not done.supplied
    assert not done.refused
    assert done.files == {
        "MEMORY.md": b"# Memory Index\n\n- [Van](van.md) \xe2\x80\x94 grey\n",
        "van.md": b'---\nname: van\ndescription: "Grey, since May"\nmetadata: \n'
        b"  node_type: memory\n  type: project\n  originSessionId: 7d1f0c52\n"
        b"  modified: 2026-09-03T07:26:16.880Z\n---\n\nGrey.\n",
    }


def test_what_nobody_stated_is_supplied_and_named() -> None:
    done = ADAPTER.write(store([Memory(key="MEMORY.md#0", body=Body(text="Dock 7\nx"))]), {}, NOW)
    assert {s.field: s.value for s in done.supplied} == {
        "name": "dock-7",
        "description": "Dock 7",
        "title": "dock-7",
        "hook": "Dock 7",
    }
    assert done.records["MEMORY.md#0"].key == "dock-7.md"


@pytest.mark.parametrize(
    ("onto", "name", "path"),
    [
        ({}, "README", "README-2.md"),
        ({"Van.md": "x"}, "van", "van-2.md"),
        ({"cafe\u0301.md": "x"}, "caf\u00e9", "caf\u00e9-2.md"),
        ({"MEMORY.md": "- ask van.md first\n"}, "van", "van-2.md"),
        ({"MEMORY.md": "- see [[Van]]\n"}, "van", "van-2.md"),
        ({"MEMORY.md": "- [V](van.md) — mine\n"}, "van", "van.md"),
        ({}, "free text, of course", "k.md"),
        ({}, "con", "con-2.md"),
    ],
)
def test_new_paths(onto: dict[str, str], name: str, path: str) -> None:
    done = put(onto, Memory(key="facts/k.md", name=name, body=Body(text="x")))
    assert done.records["facts/k.md"].key == path


def test_addresses_and_originals_are_taken_again() -> None:
    new = Memory(key="team/van.md", body=Body(text="Grey."))
    context = replace(NOW, addresses={"team/van.md": "old/place.md"})
    done = ADAPTER.write(store([new]), {}, context)
    assert done.records[new.key].key == "old/place.md"
    text = "---\nname: van # kept\nodd: [1]\n---\n\n\nGrey.\r\n"
    own = memory(text, "team/van.md")
    context = replace(NOW, originals={"team/van.md": text.encode()})
    done = ADAPTER.write(store([own]), {"x.md": b"x"}, context)
    assert done.files["team/van.md"] == text.encode()
    assert done.files["MEMORY.md"] == b"# Memory Index\n\n- [van # kept](team/van.md)\n"


def test_what_only_the_original_says_is_demanded_anew() -> None:
    text = "---\nname: van\ndescription: Grey.\nodd: [1]\n---\n\nGrey.\n"
    own = memory(text, "team/van.md")
    context = replace(NOW, originals={"team/van.md": text.encode()})
    record = replace(own, name=None, description=None, body=Body(text="Blue."))
    done = ADAPTER.write(store([record]), {}, context)
    assert done.files["team/van.md"] == text.replace("Grey.", "Blue.").encode()
    assert {s.field for s in done.supplied} == {"name", "description", "title", "hook"}


@pytest.mark.parametrize(
    ("record", "field", "travels"),
    [
        (Memory(key="a.md", state="archived"), "state", True),
        (Decision(key="b.md#1", decision="No"), "role", False),
    ],
)
def test_refusals(record: Record, field: str, travels: bool) -> None:
    done = ADAPTER.write(store([record]), {}, NOW)
    assert done.files == {}
    (refusal,) = done.refused
    assert (refusal.field, refusal.travels) == (field, travels)


def test_half_characters_are_encoded_visibly() -> None:
    new = Memory(key="a.md", name="a", description="x\ud800", body=Body(text="\udfff"))
    fitted = ADAPTER.fit(new, None, NOW)
    assert isinstance(fitted, Fitted)
    assert fields.get(fitted.record, "description") == "x\\ud800"
    assert {"description", "body"} <= {s.field for s in fitted.supplied}


@pytest.mark.parametrize(
    "odd", ["a\nb", "a ] b", "[[", "`", "x](y.md)", "<!--", "a [x](y.md)", "\\"]
)
def test_titles_and_hooks_that_cannot_stand_are_calmed(odd: str) -> None:
    for calm in (title, hook):
        said = calm(odd)
        assert calm(said) == said
        assert "\n" not in said


def test_small_rules() -> None:
    assert target_of("a b (1)#%.md") == "a b %281%29%23%25.md"
    assert slug_of("Dock 7: the *spare* key") == "dock-7-the-spare-key"
    assert len(slug_of("𝕏" * 300).encode()) <= 60


# --- detection, location, lint


@pytest.mark.parametrize(
    ("files", "ours"),
    [
        ({"MEMORY.md": ""}, True),
        ({"team/MEMORY.md": ""}, True),
        ({"a.md": "\ufeff---\r\nname: a\r\n---\r\n"}, True),
        ({"a.md": "---\ntitle: a\n---\n"}, False),
        ({"a.md": "---\nname: a\n"}, False),
        ({"a.md": "# A\n"}, False),
        ({"index.md": "", "facts/a.md": "---\nname: a\n---\n"}, False),
        ({"facts/a.md": "---\nname: a\n---\n"}, False),
        ({}, False),
    ],
)
def test_detection(files: dict[str, str], ours: bool) -> None:
    assert bool(ADAPTER.detect({p: t.encode() for p, t in files.items()})) == ours


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/Users/me/.x/a_b", "-Users-me--x-a-b"),
        ("C:\\Users\\me\\My App", "C--Users-me-My-App"),
        ("/home/u/新聞", "-home-u---"),
        ("/home/u/暫存", "-home-u---"),
        ("/home/u/😀x", "-home-u---x"),
        ("/a/" + "b" * 198, "-a-" + "b" * 197 + "-ccirfh"),
        ("/e\u0301", "--"),
    ],
)
def test_project_names(path: str, name: str) -> None:
    assert encode(path) == name


def locate(
    cwd: str, texts: Mapping[str, str] | None = None, dirs: Iterable[str] = (), **env: str
) -> list[str]:
    known = {Path(p): t for p, t in (texts or {}).items()}
    folders = {Path(d) for d in dirs}
    at = Surroundings(
        cwd=Path(cwd), home=Path("/h"), env=env, read_text=known.get, is_dir=folders.__contains__
    )
    assert ADAPTER.locate is not None
    return [p.as_posix() for p in ADAPTER.locate(at)]


def test_location() -> None:
    plain = ["/h/.claude/projects/-town-bikes/memory"]
    assert locate("/town/bikes") == plain
    assert locate("/town/bikes", CLAUDE_CONFIG_DIR="  ") == plain
    assert locate("/town/bikes", CLAUDE_CONFIG_DIR="/c") == ["/c/projects/-town-bikes/memory"]
    assert locate("/town/bikes/app", dirs=["/town/bikes/.git"]) == [
        *plain,
        "/h/.claude/projects/-town-bikes-app/memory",
    ]


def test_location_of_worktrees_and_submodules() -> None:
    worktree = {"/town/hot/.git": "gitdir: /town/bikes/.git/worktrees/hot\n"}
    common = {"/town/bikes/.git/worktrees/hot/commondir": "../..\n"}
    assert locate("/town/hot", worktree | common)[0] == "/h/.claude/projects/-town-bikes/memory"
    submodule = {"/town/bikes/lib/.git": "gitdir: ../.git/modules/lib\n"}
    assert locate("/town/bikes/lib", submodule)[0] == "/h/.claude/projects/-town-bikes-lib/memory"


@pytest.mark.parametrize(
    ("name", "config", "last"),
    [
        ("shop_1", "/c", "/c/projects/shop_1/memory"),
        ("shop_1", "", "/h/.claude/projects/-town/memory"),
        ("no/slash", "/c", "/c/projects/-town/memory"),
        ("x" * 65, "/c", "/c/projects/-town/memory"),
    ],
)
def test_own_project_names(name: str, config: str, last: str) -> None:
    found = locate("/town", CLAUDE_CONFIG_DIR=config, CLAUDE_CODE_PROJECT_DIR_NAME=name)
    assert found == [last]


@pytest.mark.parametrize(
    ("setting", "first"),
    [
        ('{"autoMemoryDirectory": "/m"}', "/m"),
        ('{"autoMemoryDirectory": "~/m"}', "/h/m"),
        ('{"autoMemoryDirectory": "m"}', "/h/.claude/projects/-town/memory"),
        ('{"autoMemoryDirectory": 1}', "/h/.claude/projects/-town/memory"),
        ("[broken", "/h/.claude/projects/-town/memory"),
    ],
)
def test_the_setting_of_the_directory(setting: str, first: str) -> None:
    assert locate("/town", {"/h/.claude/settings.json": setting})[0] == first


@pytest.mark.parametrize(
    ("files", "code", "path"),
    [
        ({"a.md": '---\nname: ""\n---\nx'}, "CC101", "a.md:1"),
        ({"a.md": "---\nname: a\ndescription: a: b\n---\n"}, "CC102", "a.md:3"),
        ({"a.md": "---\nname: a\ndescription: see #5\n---\n"}, "CC103", "a.md:3"),
        ({"a.md": "---\ntype: user\nmetadata:\n  type: project\n---\n"}, "CC104", "a.md"),
        ({"a.md": "---\nname: a\n\nText\n"}, "CC105", "a.md:1"),
        ({"MEMORY.md": "\n- [A](a.md)\n"}, "CC111", "MEMORY.md:2"),
        ({"MEMORY.md": "", "a.md": "x"}, "CC112", "a.md"),
        ({"MEMORY.md": "- [A](a.md)\n- [B](a.md)\n", "a.md": "x"}, "CC113", "MEMORY.md:2"),
        ({"a.md": "[[b]]"}, "CC114", "a.md"),
        ({"MEMORY.md": "<!--\n-->\n" + "x\n" * 201}, "CC121", "MEMORY.md:203"),
        ({"MEMORY.md": "x" * 24_999 + "\ny\n"}, "CC121", "MEMORY.md:2"),
    ],
)
def test_lint(files: dict[str, str], code: str, path: str) -> None:
    onto = {p: t.encode() for p, t in files.items()}
    found = list(ADAPTER.lint(onto, ADAPTER.read(onto)))
    assert [(f.code, f.path) for f in found] == [(code, path)]
    assert all(f.problem and f.remedy for f in found)


def test_lint_is_silent_where_all_is_well() -> None:
    onto = {"MEMORY.md": INDEX.encode(), "van.md": VAN.encode()}
    assert list(ADAPTER.lint(onto, ADAPTER.read(onto))) == []


# --- the laws, on damaged stores and odd values

LINES = [
    "---", "", "  more", "- [Van](van.md) — y", "```", "<!--", "-->", "# c", "type: user",
    "name: zz", "metadata:", "metadata: {type: project, a: b}", "  type: user", "- bare.md",
    "- item [[van]]", "| [a](a.md) | x |", "description:", "  - a", "modified: 2020", "  - x",
    "just words", "\t", "~~~", "> - q", "- - -", "1. one", "\ufeff", "metadata: text",
    "- `van.md` and [Z](a.md) · [Y](b.md) — q", "- see [[pump]] or [[tyres]]", "* b `",
]  # fmt: skip
BITS = [
    "a", "b c", ": ", " #", '"', "'", "\\", "`", "[", "](", "x.md", "van.md", "—", " - ", "\n",
    "\r\n", "\r", "---", "\n---\n", "{", "|", ">", "- ", "\u2028", "\ufeff", "[[van]]", "  ", "\t",
    "<!--", "-->", "```", "**", "·", "\x00", "[A](a.md)", "x: y", "%", "\ud800", "1. ",
]  # fmt: skip


def damaged(chance: random.Random) -> Files:
    cases = sorted((ROOT / "golden" / "claude-code").iterdir())
    files = dict(tree(chance.choice(cases)))
    for _ in range(chance.choice([0, 1, 2, 4])):
        path = chance.choice(sorted(files))
        rows = files[path].splitlines(keepends=True)
        at = chance.randrange(len(rows) + 1)
        match chance.randrange(5):
            case 0:
                cut = chance.randrange(len(files[path]) + 1)
                files[path] = files[path][:cut] + bytes([chance.randrange(256)])
            case 1:
                files[path] = files[path].replace(b"\n", b"\r\n")
            case 2:
                files[path] = b"".join(rows[:at] + rows[at + 1 :])
            case _:
                line = f"{chance.choice(LINES)}\n".encode()
                files[path] = b"".join([*rows[:at], line, *rows[at:]])
    return files


def words(chance: random.Random) -> str:
    return "".join(chance.choice(BITS) for _ in range(chance.randrange(7)))


def changed(record: Record, chance: random.Random) -> Record:
    field = chance.choice(["name", "title", "description", "hook", "body", "kinds", "modified"])
    value: object = words(chance) or None
    if field == "body":
        value = Body(text=words(chance))
    elif field == "kinds":
        value = chance.choice([{}, {"claude": "user"}, {"claude": words(chance) or "x"}])
    return fields.replace(record, {field: value})


@pytest.mark.parametrize("seed", range(500))
def test_the_laws_on_damaged_stores(seed: int) -> None:
    chance = random.Random(seed)
    files = damaged(chance)
    before = ADAPTER.read(files)
    assert ADAPTER.write(before, files, NOW).files == files
    target = {r.key: r for r in before.records}
    touched: set[str] = set()
    for key in chance.sample(sorted(target), min(len(target), chance.choice([1, 1, 3]))):
        touched.add(key)
        if chance.random() < 0.25:
            del target[key]
        else:
            target[key] = changed(target[key], chance)
    if chance.random() < 0.3:
        name = chance.choice(["van", "pump", "zz", words(chance)]) or None
        new = Memory(key="k/new.md", name=name, body=Body(text=words(chance)))
        target[new.key] = new
        touched.add(new.key)
    done = ADAPTER.write(store(target.values()), files, NOW)
    found = {r.key: r for r in ADAPTER.read(done.files).records}
    assert {r.key: r for r in done.records.values()}.items() <= found.items()
    refused = {r.key for r in done.refused}
    for record in before.records:
        if record.key in target and (record.key not in touched or record.key in refused):
            assert fields.with_key(done.records[record.key], record.key) == record
    for key in touched & done.records.keys() - refused:
        old = next((r for r in before.records if r.key == key), None)
        fitted = ADAPTER.fit(target[key], old, NOW)
        assert isinstance(fitted, Fitted)
        for field in (*HEADER_FIELDS, "body"):
            if old is not None or field != "name":  # a new name may have had to give way
                assert fields.get(done.records[key], field) == fields.get(fitted.record, field)
    if len(touched) == 1:
        apart = {p for p in {*files, *done.files} if files.get(p) != done.files.get(p)}
        assert all(p in touched or ADAPTER.index(p) or p not in files for p in apart)


@pytest.mark.parametrize("seed", range(60))
def test_bytes_that_are_no_store(seed: int) -> None:
    chance = random.Random(seed)
    files = {
        p: chance.randbytes(chance.randrange(60)) for p in ("MEMORY.md", "a.md", "b", "README.md")
    }
    assert ADAPTER.write(ADAPTER.read(files), files, NOW).files == files
