"""Check measures what it says: each law is broken by a format that breaks it, and by no other."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from interop import check, fields, registry
from interop.adapter import Adapter, Context, Written
from interop.check import crossing, editing, values
from interop.check.laws import Law
from interop.disk.tree import Tree
from interop.errors import FormatError
from interop.model import Files, Json, Problem, Store
from interop.stores import Opened, assemble
from tests.samples import GOLDEN, samples
from tests.work import calls

Spoil = Callable[[Store, Files, dict[str, bytes]], None]
"""What a spoilt adapter does to the files it would write: target, what stood there, files."""


def store_of(name: str, case: str = "basic") -> Opened:
    (sample,) = (s for s in samples() if s.id == f"golden/{name}/{case}")
    return sample.opened()


def spoilt(store: Opened, spoil: Spoil) -> Opened:
    """Give a store whose format writes something else than it should."""
    honest = store.adapter

    def write(target: Store, onto: Files, context: Context) -> Written:
        written = honest.write(target, onto, context)
        files = dict(written.files)
        if files != dict(onto):
            spoil(target, onto, files)
        return dataclasses.replace(written, files=files)

    return dataclasses.replace(store, adapter=dataclasses.replace(honest, write=write))


HEADER = "---\nname: n{0}\ndescription: Note {0}\ntype: project\n---\n"


def many(count: int) -> Opened:
    """Make a store of so many records in memory."""
    files = {f"n{n}.md": HEADER.format(n).encode() + f"Bike {n}.\n".encode() for n in range(count)}
    files["map.txt"] = b"docks 1 to 9\n"
    index = "# Memory Index\n\n" + "".join(
        f"- [Note {n}](n{n}.md) — hook {n}\n" for n in range(count)
    )
    tree = Tree(files={**files, "MEMORY.md": index.encode()}, complement=None, problems=())
    return assemble(registry.get("claude-code"), Path("many"), tree, None, "many")


# --- minimal edit


def changed(files: Mapping[str, bytes], onto: Files) -> list[str]:
    return [p for p in files if p in onto and files[p] != onto[p]]


def touch_another(target: Store, onto: Files, files: dict[str, bytes]) -> None:
    files["map.txt"] += b"x"


def requote(target: Store, onto: Files, files: dict[str, bytes]) -> None:
    """Print a line of the edited file anew that has nothing to do with the edit."""
    for path in changed(files, onto):
        if path != "MEMORY.md":
            files[path] = files[path].replace(b"name: ", b"name:  ", 1)


def reorder_index(target: Store, onto: Files, files: dict[str, bytes]) -> None:
    lines = files["MEMORY.md"].splitlines(keepends=True)
    entries = [n for n, line in enumerate(lines) if line.startswith(b"- [")]
    lines[entries[0]], lines[entries[-1]] = lines[entries[-1]], lines[entries[0]]
    files["MEMORY.md"] = b"".join(lines)


def drop_prose(target: Store, onto: Files, files: dict[str, bytes]) -> None:
    files["MEMORY.md"] = files["MEMORY.md"].replace(b"# Memory Index", b"# Index")


def forget_hooks(target: Store, onto: Files, files: dict[str, bytes]) -> None:
    lines = files["MEMORY.md"].split(b"\n")
    files["MEMORY.md"] = b"\n".join(line.partition(" — ".encode())[0] for line in lines)


def say_nothing(target: Store, onto: Files, files: dict[str, bytes]) -> None:
    files.clear()
    files.update(onto)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (touch_another, "touches"),
        (requote, "which does not state it"),
        (reorder_index, "which does not state it"),
        (drop_prose, "which does not state it"),
        (forget_hooks, "changes"),
        (say_nothing, "says"),
    ],
    ids=lambda x: x.__name__ if callable(x) else "",
)
@pytest.mark.parametrize("count", [4, 60])
def test_a_format_that_touches_more_is_found(spoil: Spoil, says: str, count: int) -> None:
    store = many(count)
    assert check.minimal_edit(store).ok
    law = check.minimal_edit(spoilt(store, spoil))
    assert not law.ok
    assert says in law.difference, law.difference


AWKWARD = ("MEMORY (1).md", "a b.md", "50% off.md", "q[1].md", "it's.md", "deep/rack <2>.md")
"""Names that a link of an index states in another way than they are written."""


@pytest.mark.parametrize(
    "line", ["", "- [Note]({path}) — h", "- [[n{n}]] — h", "- [[N{n}]] — h", "- `{path}` — h"]
)
@pytest.mark.parametrize("copies", [1, 50])
def test_a_line_of_an_index_is_told_by_what_it_states(line: str, copies: int) -> None:
    """However it writes the name of the file; with many files too, where no name is looked for."""
    names = [name.replace(".md", f"{'-' * n}.md") for name in AWKWARD for n in range(copies)]
    files = {name: HEADER.format(n).encode() for n, name in enumerate(names)}
    index = "# Memory Index\n\n" + "".join(
        f"{line.format(path=name, n=n)}\n" for n, name in enumerate(names) if line
    )
    files["MEMORY.md"] = index.encode()
    tree = Tree(files=files, complement=None, problems=())
    store = assemble(registry.get("claude-code"), Path("many"), tree, None, "many")
    law = check.minimal_edit(store, None)
    assert law.ok, law.difference
    assert law.records == len(names)
    assert law.edits > len(names)


def test_the_culprit_of_a_batch_is_named() -> None:
    """One record among many whose edit goes wrong: the difference is about that one."""

    def spoil(target: Store, onto: Files, files: dict[str, bytes]) -> None:
        if files.get("n17.md") != onto.get("n17.md"):
            files["n18.md"] = onto["n18.md"] + b"\n\n"

    law = check.minimal_edit(spoilt(many(40), spoil), None)
    assert not law.ok
    assert law.difference.startswith("n17.md: ")
    assert "touches n18.md" in law.difference or "changes n18.md" in law.difference


@pytest.mark.parametrize("name", registry.names())
def test_every_field_that_a_format_holds_is_edited(name: str) -> None:
    """Over its golden stores together; a field that no record takes a value of is told."""
    tried: set[str] = set()
    for sample in samples():
        if sample.adapter.name != name or not sample.id.startswith("golden/"):
            continue
        store = sample.opened()
        counted = editing.Editing(store)
        for edit in values.edits(store.adapter, {r.role for r in store.raw.records}):
            for record in store.raw.records:
                if counted.trial(edit, record) is not None:
                    tried.add(edit.field)
                    break
    held = {f for f, hold in registry.get(name).holds.items() if hold == "exact"}
    assert tried == held


def test_the_sample_is_spread_and_always_the_same() -> None:
    records = many(1000).raw.records
    archived = tuple(fields.replace(r, {"state": "archived"}) for r in records[:10])
    every = (*archived, *records[10:])
    chosen = editing.spread(every, 40)
    assert chosen == editing.spread(every, 40)
    assert 38 <= len(chosen) <= 42
    assert {fields.get(r, "state") for r in chosen} == {"live", "archived"}
    places = [every.index(r) for r in chosen]
    assert max(b - a for a, b in itertools.pairwise(places)) < 60
    assert editing.spread(every, None) == list(every)


def test_the_work_grows_with_the_store_and_not_with_its_square() -> None:
    """Six times the records take far less than 36 times as much, edited one and all."""

    def work(store: Opened) -> int:
        laws: list[check.Law] = []
        done = calls(lambda: laws.append(check.minimal_edit(store, None)))
        assert laws[0].ok
        assert laws[0].edits > 10 * len(store.raw.records)
        return done

    assert work(many(300)) < 15 * work(many(50))


# --- GetPut and PutGet


def test_lost_bytes_break_get_put() -> None:
    store = store_of("claude-code")

    def write(target: Store, onto: Files, context: Context) -> Written:
        written = store.adapter.write(target, onto, context)
        files = {p: data.rstrip(b"\n") for p, data in written.files.items()}
        return dataclasses.replace(written, files=files)

    adapter = dataclasses.replace(store.adapter, write=write)
    law = check.get_put(dataclasses.replace(store, adapter=adapter))
    assert not law.ok
    assert "became b''" in law.difference


def test_a_value_lost_without_a_word_breaks_put_get() -> None:
    store = many(3)

    def read(files: Files) -> Store:
        found = store.adapter.read(files)
        records = tuple(fields.replace(r, {"hook": None}) for r in found.records)
        return dataclasses.replace(found, records=records)

    def write(target: Store, onto: Files, context: Context) -> Written:
        written = store.adapter.write(target, onto, context)
        records = {k: fields.replace(r, {"hook": None}) for k, r in written.records.items()}
        return dataclasses.replace(written, records=records)

    adapter = dataclasses.replace(store.adapter, read=read, write=write)
    law = check.put_get(dataclasses.replace(store, adapter=adapter))
    assert not law.ok
    assert law.difference.startswith("n0.md: hook: 'hook 0' became None")


# --- through another format


def test_placeholders_are_declared_and_told() -> None:
    law = check.through(store_of("claude-code"), registry.get("memhtml"))
    assert law.ok, law.difference
    assert law.declared == law.records == 3
    assert "placeholders (kind " in law.note
    assert "left no trace" in law.note


def test_a_status_is_declared_too() -> None:
    """A task of the one vocabulary goes through a format that knows only another."""
    law = check.through(store_of("memory-compiler"), registry.get("memhtml"))
    assert law.ok, law.difference
    assert "status " in law.note


def test_a_placeholder_that_stays_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    store = many(2)
    honest = crossing.cross

    def cross(
        source: Opened, via: Adapter, identity: str = "x", *, declare: bool = True
    ) -> crossing.Crossing:
        way = honest(source, via, identity, declare=declare)
        if declare:
            return dataclasses.replace(way, declared={"n0.md": {"kind": "user"}})
        restored = way.there.restored
        records = tuple(
            fields.replace(r, {"kinds": {"claude": "user"}}) for r in restored.store.records
        )
        kept = dataclasses.replace(restored.store, records=records)
        there = dataclasses.replace(way.there, restored=dataclasses.replace(restored, store=kept))
        return dataclasses.replace(way, there=there)

    monkeypatch.setattr(crossing, "cross", cross)
    law = check.through(store, registry.get("bantamkit"))
    assert not law.ok
    assert law.difference == "n0.md: the placeholder kind 'user' left a trace"


# --- the command


def interop(
    *words: object, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "interop.cli.main", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
    )


CLAUDE = GOLDEN / "claude-code" / "basic" / "store"
BANTAMKIT = GOLDEN / "bantamkit" / "basic" / "store"


def test_several_stores_make_one_table() -> None:
    done = interop("check", CLAUDE, BANTAMKIT, "--via", "theokit", "--sample", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["law", f"claude-code:{CLAUDE}", f"bantamkit:{BANTAMKIT}"]
    assert [row.split("  ")[0] for row in rows[:4]] == [
        "GetPut", "PutGet", "minimal edit", "through theokit",
    ]  # fmt: skip
    assert all(row.split()[-2:] == ["holds", "holds"] for row in rows[:4])
    assert done.stderr.count("nothing gets lost") == 2


def test_json_has_the_documented_form() -> None:
    done = interop("check", CLAUDE, "--via", "memhtml", "--json")
    found: list[dict[str, Json]] = [json.loads(line) for line in done.stdout.splitlines()]
    page = (GOLDEN.parent / "docs" / "check.md").read_text(encoding="utf-8")
    assert [x["law"] for x in found] == ["GetPut", "PutGet", "minimal edit", "through memhtml"]
    for item in found:
        assert item["store"] == f"claude-code:{CLAUDE}"
        assert all(f"| `{key}` |" in page for key in item)
    assert found[2]["edits"]
    assert found[3]["declared"] == 3


def test_nothing_is_written(tmp_path: Path) -> None:
    for path in CLAUDE.rglob("*"):
        (tmp_path / "store").mkdir(exist_ok=True)
        (tmp_path / "store" / path.name).write_bytes(path.read_bytes())
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in tmp_path.rglob("*") if p.is_file()}
    done = interop(
        "check", tmp_path / "store", "--all", env={"INTEROP_STATE_DIR": str(tmp_path / "s")}
    )
    assert done.returncode == 0, done.stdout
    after = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in tmp_path.rglob("*") if p.is_file()}
    assert after == before


def test_an_unreadable_store_hides_no_other(tmp_path: Path) -> None:
    done = interop("check", tmp_path / "gone", CLAUDE, "--via", "theokit")
    assert done.returncode == 4
    assert "no such folder" in done.stderr
    assert "GetPut" in done.stdout


def test_an_unknown_format_is_a_usage_error() -> None:
    done = interop("check", CLAUDE, "--via", "tarot")
    assert done.returncode == 2
    assert "one of bantamkit, " in done.stderr
    assert done.stdout == ""


def test_a_file_that_cannot_be_read_is_no_broken_law() -> None:
    store = many(1)
    problem = Problem(path="n9.md", problem="cannot be read", unread=True)
    tree = dataclasses.replace(store.tree, problems=(problem,))
    with pytest.raises(FormatError, match=r"n9\.md: cannot be read"):
        check.check(dataclasses.replace(store, tree=tree))


def test_a_broken_law_shows_its_first_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from interop.cli.check import run

    def broken(store: Opened, via: object, step: object, *, sample: object) -> check.Report:
        law = Law(law="GetPut", ok=False, difference="a.md:1: b'x' became b'y'", records=1)
        return check.Report(store=store.label, laws=(law,))

    monkeypatch.setattr(check, "check", broken)
    assert run([f"claude-code:{CLAUDE}"]) == 1
    said = capsys.readouterr()
    assert "GetPut  BROKEN  1 record" in said.out
    assert "GetPut: a.md:1: b'x' became b'y'" in said.out
    assert "not safe" in said.err


KEY = "AKIA" + "Q3EGRZ7XKPLM2VNT"


@pytest.mark.parametrize("cut", [0, 9, 12])
def test_a_difference_repeats_no_secret(cut: int) -> None:
    """Nor a piece of one, where the difference begins within it."""
    text = HEADER.format(0) + f"The site uploads with {KEY} each night.\n"
    tree = Tree(files={"n0.md": text.encode()}, complement=None, problems=())
    store = assemble(registry.get("claude-code"), Path("one"), tree, None, "one")

    def write(target: Store, onto: Files, context: Context) -> Written:
        written = registry.get("claude-code").write(target, onto, context)
        files = {p: d.replace(KEY[cut:].encode(), b"!" * 30) for p, d in written.files.items()}
        return dataclasses.replace(written, files=files)

    spoilt = dataclasses.replace(store.adapter, write=write)
    report = check.check(dataclasses.replace(store, adapter=spoilt), ["theokit"])
    assert {law.law for law in report.laws if not law.ok} >= {"GetPut", "PutGet"}
    for law in report.laws:
        said = law.difference + law.note
        assert not any(KEY[at : at + 8] in said for at in range(len(KEY) - 7)), said
    assert "[masked]" in report.laws[0].difference
