"""The adapter against the real memhtml 0.15.1: readings, bytes, the index, and a life after."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interop import fields
from interop.adapter import Context
from interop.adapters.memhtml import ADAPTER, memory_file, placement
from interop.adapters.memhtml.repository import Repository
from interop.host import HostOptions
from interop.model import Body, Decision, Files, Link, Memory, Record, Store, Task, Tombstone
from interop.rendering import lower, seen
from tests import peers
from tests.strategies import records as made_up

pytestmark = pytest.mark.conformance
GOLDEN = Path(__file__).parents[2] / "golden" / "memhtml"
NOW = Context(now="2026-11-30T12:00:00.750Z")
STAMP = "2026-11-30T12:00:00Z"
DIRTY = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Mira")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "mira@example.org")


def save(files: Files, root: Path) -> Path:
    for path, data in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root


def load(root: Path) -> dict[str, bytes]:
    found = (p for p in root.rglob("*") if p.is_file())
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in found}
    return {p: data for p, data in files.items() if not ADAPTER.ignored(p)}


def committed(files: Files, root: Path) -> Path:
    """Put files on the disk and let the host commit them, as an apply does."""
    host = Repository()
    host.before(root, list(files), HostOptions())
    save(files, root)
    host.after(root, list(files), f"{len(files)} files", HostOptions())
    return root


def cli(root: Path, *args: str, data: str = "") -> dict[str, Any]:
    answer = peers.memhtml(root, *args, data=data)
    assert "error" not in answer, (args, answer)
    return dict(answer["data"])


def rebuilt(root: Path) -> dict[str, str]:
    """Build the index, and give what was skipped and why."""
    answer = cli(root, "index", "rebuild", "--no-embed", "--force")
    return {s["path"]: s["reason"] for s in answer["skipped"]}


def indexed(root: Path) -> dict[str, dict[str, Any]]:
    """Give what the index holds of each memory."""
    base = sqlite3.connect(root / ".memhtml" / "index.db")
    base.row_factory = sqlite3.Row
    try:
        return {row["path"]: dict(row) for row in base.execute("SELECT * FROM files")}
    finally:
        base.close()


def as_read(record: Record) -> dict[str, Any]:
    """Give a record as ``memhtml read`` shows it."""
    assert isinstance(record, Memory)
    return {
        "title": record.title,
        "type": record.kinds["memhtml"],
        "created": record.created,
        "updated": record.modified,
        "entities": list(record.entities),
        "tags": list(record.tags),
        "links": [(k.rel, "/" + k.target) for k in record.links],
        "session": record.session,
        "claim": record.description,
    }


def shown(root: Path, path: str) -> dict[str, Any]:
    """Give what ``memhtml read`` shows of a memory, in the same words."""
    data = cli(root, "read", path)
    metas = data.get("metas", data)
    return {
        "title": data["title"],
        "type": metas["memoryType"],
        "created": metas["createdAt"],
        "updated": metas["updatedAt"],
        "entities": data["entities"],
        "tags": data["tags"],
        "links": [(k["rel"], k["href"]) for k in data["links"]],
        "session": metas.get("sessionId"),
        "claim": data["claim"] if "claim" in data else data["gist"],
    }


def agree(root: Path, store: Store) -> None:
    """See that the index holds our records, and each as we read it."""
    rows = indexed(root)
    files = load(root)
    assert set(rows) == {r.key for r in store.records}
    for record in store.records:
        assert isinstance(record, Memory)
        row = rows[record.key]
        file = memory_file.read(record.key, files[record.key])
        assert isinstance(file, memory_file.MemoryFile)
        said = {
            "title": record.title,
            "memory_type": record.kinds["memhtml"],
            "archived": int(record.state == "archived"),
            "gist": record.description,
            "created_at": record.created,
            "updated_at": record.modified,
            "content_hash": file.hash,
        }
        assert {name: row[name] for name in said} == said, record.key
        origin = placement.origin(record.key)
        assert row["origin_path"] == (origin if origin != record.key else None)


@pytest.mark.parametrize("case", ["basic", "lived-in", "hand-made", "archive", "said-as-memories"])
def test_golden_stores_are_read_as_the_runtime_reads_them(case: str, tmp_path: Path) -> None:
    files = load(GOLDEN / case / "store")
    root = committed(files, tmp_path / "store")
    assert rebuilt(root) == {}
    agree(root, ADAPTER.read(files))


def test_what_the_runtime_skips_is_skipped_for_its_reasons(tmp_path: Path) -> None:
    files = load(GOLDEN / "skipped" / "store")
    root = committed(files, tmp_path / "store")
    store = ADAPTER.read(files)
    said = {p.path: p.problem.removeprefix("skipped by the runtime: ") for p in store.problems}
    assert rebuilt(root) == said
    assert set(indexed(root)) == {r.key for r in store.records}


_CLAIMED = "<p><mark>Dock {n} jams.</mark></p>"
_HEADS = [
    '<noscript><meta name="memhtml-foo" content="x"></noscript>',
    '<noscript><link rel="memhtml-eats" href="/a"></noscript>',
    '<template shadowrootmode="open"><p class="x">y</p></template>',
    "<select><title>two</title></select>",
]
_ARTICLES = [
    "<noscript><p><mark>Only without scripts {n}.</mark></p></noscript>",
    _CLAIMED + '<noscript><p class="x">y</p><mark>z</mark></noscript>',
    "<noscript><p>y</p></noscript>" + _CLAIMED,
    _CLAIMED + '<select><option><em class="x">one</em></option></select>',
    _CLAIMED + '<select class="x"><option>one</option></select>',
    _CLAIMED + "<select><mark>two</mark></select>",
    "<select><p>first</p></select>" + _CLAIMED,
    "<select><option>one" + _CLAIMED + "</select>",
    _CLAIMED + "<select><option>one",
    _CLAIMED + "<select><style>p {{}}</style><option>one</select>",
    _CLAIMED + "<select><script>1</script></select>",
    _CLAIMED + "<select><title>two</title><time>x</time></select>",
    _CLAIMED + '<select><input><em class="x">after</em></select>',
    _CLAIMED + '<select><textarea></textarea><em class="x">after</em></select>',
    _CLAIMED + "<select><keygen><p>after</select></p>",
    _CLAIMED + '<table><tr><td><select><i class="x">a</i><tr class="y"><td>b</table>',
    _CLAIMED + '<table><select><i class="x">a</i></select></table>',
    _CLAIMED + "<select></article><article></select>",
    _CLAIMED + "<select><svg><title>x</title></svg></select>",
    _CLAIMED + '<select><template><i class="x">a</i></template></select>',
    "<p><mark>Dock {n} <noscript>A & B &amp; <i></noscript>.</mark></p>",
    _CLAIMED + "<xmp>A & B <i></xmp><iframe><p></iframe><pre><noembed><i> &gt; </noembed></pre>",
    _CLAIMED + '<svg><select><i class="x">a</i></select></svg>',
]


def test_what_scripts_and_menus_hide_is_hidden_as_from_the_runtime(tmp_path: Path) -> None:
    """What a noscript holds is text, and tags in a select are none."""
    cases = [*((head, _CLAIMED) for head in _HEADS), *(("", inner) for inner in _ARTICLES)]
    files = {
        f"areas/inbox/{n:02}.html": (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>t</title>\n'
            '<meta name="memhtml-type" content="semantic">\n'
            '<meta name="memhtml-status" content="active">\n'
            '<meta name="memhtml-created" content="2026-05-01">\n'
            f'<meta name="memhtml-updated" content="2026-05-01">\n{head}\n</head>\n<body>\n'
            f"<article>\n{inner.format(n=n)}\n</article>\n</body>\n</html>\n"
        ).encode()
        for n, (head, inner) in enumerate(cases)
    }
    root = committed(files, tmp_path / "store")
    store = ADAPTER.read(files)
    said = {p.path: p.problem.removeprefix("skipped by the runtime: ") for p in store.problems}
    assert rebuilt(root) == said
    agree(root, store)
    assert 5 < len(said) < len(files) - 5, "of both kinds there are some"


def test_two_active_memories_of_one_text_empty_the_index(tmp_path: Path) -> None:
    """Why such a pair is refused."""
    root = committed(load(GOLDEN / "duplicate-text" / "store"), tmp_path / "store")
    answer = peers.memhtml(root, "index", "rebuild", "--no-embed", "--force")
    assert answer["code"] == "ERR_STORAGE"


def test_the_scaffold_is_the_runtimes_own(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    Repository().after(ours, [], "nothing", HostOptions())
    theirs.mkdir()
    cli(theirs, "init")

    def tree(root: Path) -> str:
        words = ["git", "-C", str(root), "log", "-1", "--format=%s %T"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    assert tree(ours) == tree(theirs)


TITLES = [
    "Déployé Ünïcode 日本",
    "Straße øl łódź İstanbul ﬁne ½",
    "看板",
    "Kelvin K … 1⁄2",
    "A title that goes on and on until nobody reads it any more at all, not even in winter",
    "same",
    "Same!",
    "-- same --",
]
TEXTS = [
    'Dock 7 jams.\u00a0Always & <ever> at "zero".',
    "No full stop here",
    "One line.\nTwo lines.",
    "Is it? Yes! It is.",
]


def test_new_files_are_the_runtimes_byte_for_byte(tmp_path: Path) -> None:
    """Every type, with tags, entities, names that collide: the same paths, the same bytes."""
    ops: list[dict[str, Any]] = []
    ours: list[Record] = []
    kinds = ADAPTER.kinds
    assert kinds is not None
    for n, title in enumerate(TITLES):
        for m, kind in enumerate(kinds.terms):
            text = f"{TEXTS[(n + m) % len(TEXTS)]} {kind} {n}"
            html = f"<p><mark>{text.replace('&', '&amp;').replace('<', '&lt;')}</mark></p>"
            html = html.replace("ever>", "ever&gt;").replace("\u00a0", "&nbsp;")
            tags = [[], ["Größe & Geld", "b"], [" ", "x"]][m % 3]
            entities = [[], ["person:Mira Ott", "kiosk"], ["person: "]][n % 3]
            op: dict[str, Any] = {"op": "write", "title": title, "type": kind, "tags": tags}
            op |= {"entities": entities, "article_html": html, "session_id": 'a"b', "importance": 3}
            extra = {"importance": "3"}
            common: dict[str, Any] = {
                "key": f"{n}-{kind}.md",
                "title": title,
                "body": Body(text=html, media="text/html"),
                "kinds": {"memhtml": kind},
                "tags": tuple(tags),
                "entities": tuple(entities),
                "session": 'a"b',
                "extra": {"memhtml": extra},
            }
            if kind == "task":
                op["status"] = "doing"
                ours.append(Task(**common, status="doing"))
            else:
                ours.append(Memory(**common))
            ops.append(op)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    cli(theirs, "init")
    lines = "".join(json.dumps(op, ensure_ascii=False) + "\n" for op in ops)
    cli(theirs, "apply", "-", data=lines)
    written = ADAPTER.write(Store(format="memhtml", records=tuple(ours)), {}, NOW)
    assert not written.refused
    expected = {p: d for p, d in load(theirs).items() if placement.is_memory(p)}
    today = {p.split("/")[-1][:8] for p in expected if re.match(r"\d{8}-", p.split("/")[-1])}
    dated = {_at(p, today): DIRTY.sub(STAMP, d.decode()) for p, d in expected.items()}
    got = {p: d.decode() for p, d in written.files.items()}
    assert sorted(got) == sorted(dated)
    assert got == dated


def _at(path: str, days: set[str]) -> str:
    for day in days:
        path = path.replace(f"/{day}-", "/20261130-")
    return path


def test_claims_are_found_as_apply_finds_them(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    cli(root, "init")
    ops = [{"op": "write", "title": f"t{n}", "type": "verdict", "body": t}
           for n, t in enumerate(TEXTS)]  # fmt: skip
    cli(root, "apply", "-", data="".join(json.dumps(op) + "\n" for op in ops))
    theirs = {r.title: r for r in ADAPTER.read(load(root)).records if isinstance(r, Memory)}
    for n, text in enumerate(TEXTS):
        key = f"t{n}"
        new = Memory(key=key, title=key, body=Body(text=text), kinds={"memhtml": "verdict"})
        written = ADAPTER.write(Store(format="memhtml", records=(new,)), {}, NOW)
        record = written.records[key]
        assert isinstance(record, Memory)
        assert record.description == theirs[key].description
        # the blank behind the claim is one space there, and as written here
        same = [r.body.text.replace("&nbsp;", " ").split() for r in (record, theirs[key])]
        assert same[0] == same[1]


@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_whatever_is_written_is_indexed(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Made-up records by the dozen: nothing skipped, and each read back as it was written."""
    kinds = ADAPTER.kinds
    assert kinds is not None
    found = data.draw(st.lists(made_up(kinds), min_size=20, max_size=40))
    new: list[Record] = []
    for n, record in enumerate(found):
        kind = data.draw(st.sampled_from(kinds.declared))
        links = (Link(rel="relates_to", target="areas/x.html"),)
        values = {"kinds": {"memhtml": kind}, "entities": ("person:mira", 'x "y"'), "links": links}
        new.append(fields.with_key(fields.replace(record, values), f"{n}-{record.key}"))
    written = ADAPTER.write(Store(format="memhtml", records=tuple(new)), {}, NOW)
    assert {r.field for r in written.refused} <= {"body"}, "no claim, or a text that was there"
    if not written.files:
        return
    root = committed(written.files, tmp_path_factory.mktemp("made-up") / "store")
    assert rebuilt(root) == {}
    agree(root, ADAPTER.read(written.files))
    for there in list(written.records.values())[:3]:
        assert shown(root, there.key) == as_read(there)


def test_edits_are_indexed_and_read_back(tmp_path: Path) -> None:
    """Every field changed by hand in a store of the CLI's own."""
    files = load(GOLDEN / "basic" / "store")
    store = ADAPTER.read(files)
    edited: list[Record] = []
    for n, record in enumerate(store.records):
        assert isinstance(record, Memory)
        values: dict[str, Any] = {
            "title": f"{record.title} & co. {n}",
            "body": Body(text=f"{record.body.text}\n<p>Edited {n}.</p>", media="text/html"),
            "tags": (*record.tags[1:], "new tag"),
            "entities": (),
            "links": (*record.links, Link(rel="supports", target="areas/arcs/safety-first.html")),
            "modified": STAMP,
            "session": "s-2",
            "extra": {"memhtml": {"author": "human:mira", "alias": ["a", "b"], "turn": "t"}},
            "state": "archived" if n % 4 == 0 else record.state,
        }
        edited.append(fields.replace(record, values))
    written = ADAPTER.write(Store(format="memhtml", records=tuple(edited)), files, NOW)
    assert not written.refused
    root = committed(written.files, tmp_path / "store")
    assert rebuilt(root) == {}
    now = ADAPTER.read(written.files)
    agree(root, now)
    for there in now.records[:6]:
        assert shown(root, there.key) == as_read(there)


def test_the_runtimes_life_changes_just_what_it_did(tmp_path: Path) -> None:
    """Link, archive, finish, correct: of our files exactly those change, in exactly that."""
    new: list[Record] = [
        Memory(
            key=f"{n}.md",
            title=f"Bike {n}",
            description=f"Bike {n} needs a bell.",
            body=Body(text=f"Note {n} about it.\n\n- one\n- two"),
            kinds={"memhtml": "semantic"},
            tags=("bikes",),
            extra={"memhtml": {"author": "human:mira", "alias": ["b"]}},
        )
        for n in range(5)
    ]
    task = Task(key="t.md", title="Mend it", body=Body(text="Mend it."),
                kinds={"memhtml": "task"}, status="todo")  # fmt: skip
    new.append(task)
    written = ADAPTER.write(Store(format="memhtml", records=tuple(new)), {}, NOW)
    root = committed(written.files, tmp_path / "store")
    assert rebuilt(root) == {}
    before = {r.key: r for r in ADAPTER.read(load(root)).records}
    paths = {key: r.key for key, r in written.records.items()}
    cli(root, "link", paths["0.md"], "part_of", paths["1.md"])
    cli(root, "archive", paths["2.md"], "--reason", "sold")
    cli(root, "task", "status", paths["t.md"], "done")
    cli(root, "correct", paths["3.md"], "--title", "Bike 3", "--claim", "Bike 3 has a bell.")
    after = {placement.origin(r.key): r for r in ADAPTER.read(load(root)).records}
    changed = {
        key: {f for f in fields.FIELDS["task"]
              if fields.get(r, f) != fields.get(after[key], f)}
        for key, r in before.items()
        if fields.with_key(after[key], key) != r
    }  # fmt: skip
    ended = {"state", "archived", "modified"}
    assert changed == {
        paths["0.md"]: {"links"},
        paths["2.md"]: ended,
        paths["t.md"]: ended | {"status"},
        paths["3.md"]: ended | {"extra"},
    }
    assert [k for k in after if k not in before] == ["areas/inbox/bike-3.html"]


STONE = Tombstone(
    key="TOMBSTONES.md#T-001",
    subject="colour of the signs",
    rejected="hex 1E3A5F",
    replacement="D-002",
    reason="not readable\n\nat night",
)
CHOICE = Decision(key="DECISIONS.md#D-002", decision="Signs are green", why="cheaper & brighter")
ROLES = {STONE.key: b'content="tombstone T-001"', CHOICE.key: b'content="decision D-002"'}


def test_the_marker_of_a_rendering_outlives_what_the_runtime_does(tmp_path: Path) -> None:
    """A head meta of no runtime's: indexed, no warning, no other hash, kept by every edit."""
    said: list[Record] = []
    for record in (STONE, CHOICE):
        memory = lower(record, ADAPTER)
        said.append(fields.replace(memory, {"kinds": {"memhtml": "precedent"}}))
    other = Memory(key="bell.md", body=Body(text="A bell."), kinds={"memhtml": "semantic"})
    written = ADAPTER.write(Store(format="memhtml", records=(*said, other)), {}, NOW)
    bare = {
        path: re.sub(rb'<meta name="interop-role"[^\n]*\n', b"", data)
        for path, data in written.files.items()
    }
    root, without = committed(written.files, tmp_path / "a"), committed(bare, tmp_path / "b")
    assert rebuilt(root) == rebuilt(without) == {}
    paths = {key: r.key for key, r in written.records.items()}
    hashes = {path: row["content_hash"] for path, row in indexed(root).items()}
    assert hashes == {path: row["content_hash"] for path, row in indexed(without).items()}
    for path in paths.values():
        assert cli(root, "read", path)["warnings"] == cli(without, "read", path)["warnings"] == []
    assert cli(root, "doctor")["unparseable"] == []

    for key in ROLES:
        cli(root, "link", paths[key], "relates_to", paths["bell.md"])
    cli(root, "archive", paths[STONE.key], "--reason", "old")
    cli(root, "sleep", "run")
    branch = subprocess.run(
        ["git", "-C", str(root), "symbolic-ref", "--short", "HEAD"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    if branch.startswith("sleep/"):
        cli(root, "sleep", "merge", branch)
    cli(root, "doctor", "--fix")
    now = load(root)
    moved = {placement.origin(path): data for path, data in now.items()}
    assert "archive/" in next(p for p in now if placement.origin(p) == paths[STONE.key])
    for key, marker in ROLES.items():
        assert b'<meta name="interop-role" ' + marker in moved[paths[key]]
        assert b"memhtml-relates-to" in moved[paths[key]]
    through = {placement.origin(r.key): r for r in seen(ADAPTER.read(now), ADAPTER).records}
    for record in (STONE, CHOICE):
        assert fields.with_key(through[paths[record.key]], record.key) == record

    cli(root, "correct", paths[CHOICE.key], "--title", "Signs", "--claim", "Signs are red.")
    after = {r.key: r for r in seen(ADAPTER.read(load(root)), ADAPTER).records}
    assert isinstance(after["areas/inbox/signs.html"], Memory), "a correction is a new text"
    assert sum(isinstance(r, Decision) for r in after.values()) == 1, "and the old one is archived"
