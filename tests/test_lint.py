"""Lint for every format: copies, split stores, secrets in files and beside them, and the page."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from interop import lint as linting
from interop import registry, secrets, stores, sync_copies
from interop.adapter import Finding
from interop.disk import durable, kept
from interop.plan import COMPLEMENT
from interop.sync_copies import Copy
from tests.work import calls

ROOT = Path(__file__).parents[1]
FACT = "---\nname: {name}\ndescription: About {name}\ntype: project\n---\n{body}\n"
TOKEN = "ghp_" + "aB3" * 12
PASSWORD = "Kette!2031"


def interop_run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interop.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT)


def fact(root: Path, name: str, body: str = "Two bar.") -> Path:
    path = root / "facts" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FACT.format(name=name, body=body), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A bantamkit store without anything to find."""
    root = tmp_path / "store"
    fact(root, "tyres")
    fact(root, "saddle", "Sixty centimetres.")
    return root


def lint(root: Path, format_name: str = "bantamkit") -> list[Finding]:
    return linting.lint(stores.open_store(f"{format_name}:{root}"))


def found(root: Path, *codes: str, format_name: str = "bantamkit") -> list[tuple[str, str, str]]:
    """The findings of some codes: code, severity, place."""
    findings = [f for f in lint(root, format_name) if f.code in codes]
    assert all(f.problem and f.remedy for f in findings)
    return [(f.code, f.severity, f.path) for f in findings]


# --- ways out


def test_a_way_out_never_leads_over_another_fact(store: Path) -> None:
    """What lint advises is done to the letter by agents: a rename onto a fact destroys that one."""

    def ways(name: str) -> tuple[str, str]:
        (found,) = [f for f in lint(store) if f.code == "BK104" and f.path == f"facts/{name}.md"]
        return found.problem, found.remedy

    fact(store, "wheels").write_text(FACT.format(name="tyres", body="Old."), encoding="utf-8")
    problem, remedy = ways("wheels")
    assert problem.endswith("writes tyres.md over what is there")
    assert remedy == "rename the fact to wheels, and the links to it"
    fact(store, "pump").write_text(FACT.format(name="floor-pump", body="Leaks."), encoding="utf-8")
    assert ways("pump")[1] == (
        "rename the file to floor-pump.md, or the fact to pump, and the links to it"
    )
    # case aside it is the same file on some systems; a name that the runtime refuses is none
    fact(store, "Bell").write_text(FACT.format(name="saddle", body="Rings."), encoding="utf-8")
    assert ways("Bell")[1] == "give the file and the fact one name that no other fact has"
    # two that want the same free name
    for name in ("one", "two"):
        path = fact(store, name)
        path.write_text(FACT.format(name="third", body=f"{name} bar."), encoding="utf-8")
        assert "third.md" not in ways(name)[1] or name == "one"
    assert "third.md" not in ways("one")[1]


# --- copies


@pytest.mark.parametrize(
    ("path", "original", "tool", "certain"),
    [
        ("a/tyres (Ann's conflicted copy 2031-05-02).md", "a/tyres.md", "Dropbox", True),
        ("tyres (conflicted copy 2031-05-02 101530).md", "tyres.md", "Dropbox", True),
        ("tyres (Ann (depot)'s conflicted copy).md", "tyres.md", "Dropbox", True),
        ("tyres (Case Conflict 1).md", "tyres.md", "Dropbox", True),
        ("tyres (In Konflikt stehende Kopie von Ann).md", None, "Dropbox", True),
        ("tyres.sync-conflict-20310502-101530-K3X7QAB.md", "tyres.md", "Syncthing", True),
        ("tyres.sync-conflict-20310502-101530.md", "tyres.md", "Syncthing", True),
        ("tyres_conflict-20310502-101530.md", "tyres.md", "Nextcloud", True),
        ("tyres-DESKTOP-4F7K2QX.md", "tyres.md", "OneDrive", False),
        ("tyres-DESKTOP-4F7K2QX-2.md", "tyres.md", "OneDrive", False),
        ("tyres-ANN-PC.md", "tyres.md", "OneDrive", False),
        ("tyres-LAPTOP.md", "tyres.md", "OneDrive", False),
        ("tyres-DESKTOP-2.md", "tyres.md", "OneDrive", False),
        ("tyres-Anns-MacBook-Pro.md", "tyres.md", "OneDrive", False),
        ("tyres (1).md", "tyres.md", "Google Drive", False),
        ("tyres(2).md", "tyres.md", "Google Drive", False),
        ("tyres 2.md", "tyres.md", "iCloud", False),
        ("a.b/MEMORY 3.md", "a.b/MEMORY.md", "iCloud", False),
    ],
)  # fmt: skip
def test_a_copy_is_told_by_its_name(
    path: str, original: str | None, tool: str, certain: bool
) -> None:
    beside = original or "tyres.md"
    (copy,) = [c for c in sync_copies.find([path, beside, "other.md"]) if c.path == path]
    assert copy.tool.startswith(tool)
    assert copy.certain == certain
    assert original is None or copy.original == original
    assert bool(sync_copies.find([path, "other.md"])) == certain


@pytest.mark.parametrize(
    "path",
    [
        "tyres-HTML5.md", "tyres-TICKET-123.md", "tyres-2031-05-02.md", "tyres-Mac.md",
        "tyres (old).md", "tyres (2031).md", "tyres 20.md", "tyres 1.md", "tyres2.md",
        "tyres (a conflict with Ann).md", "sync-conflict.md", "conflicted copy.md",
        "tyres.sync-conflict-notes.md", "other 2.md", "a/tyres 2.md", "tyres 2.txt",
    ],
)  # fmt: skip
def test_a_name_that_somebody_chose_is_no_copy(path: str) -> None:
    assert sync_copies.find([path, "tyres.md"]) == []


def test_a_folder_can_be_a_copy() -> None:
    paths = ["facts/a.md", "facts 2/a.md", "facts 2/deep/b.md"]
    assert sync_copies.find(paths) == [
        Copy(path="facts 2", original="facts", tool="iCloud", certain=False)
    ]


def test_lint_names_copies_and_says_which_are_the_same(store: Path) -> None:
    copy = store / "facts" / "tyres 2.md"
    copy.write_bytes((store / "facts" / "tyres.md").read_bytes())
    fact(store, "saddle (1)", "Seventy centimetres.")
    fact(store, "tyres.sync-conflict-20310502-101530-K3X7QAB")
    assert found(store, "IO011", "IO012") == [
        ("IO012", "note", "facts/saddle (1).md"),
        ("IO012", "warning", "facts/tyres 2.md"),
        ("IO011", "warning", "facts/tyres.sync-conflict-20310502-101530-K3X7QAB.md"),
    ]


def test_a_store_in_two_places_is_named_where_both_hold_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "rental" / "depot"
    (tmp_path / "rental" / ".git").mkdir(parents=True)
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    adapter = stores.open_store("claude-code:", must_exist=False).adapter
    assert adapter.locate is not None
    here, there = adapter.locate(stores.surroundings())
    for place in (here, there):
        place.mkdir(parents=True)
        (place / "MEMORY.md").write_text("- [x](x.md)\n")
    (here / "tyres.md").write_text("Two bar.\n")
    (there / "saddle.md").write_text("Sixty.\n")
    assert found(here, "IO013", format_name="claude-code") == []
    (there / "tyres.md").write_text("Three bar.\n")
    (split,) = [f for f in lint(here, "claude-code") if f.code == "IO013"]
    assert (split.severity, split.path) == ("warning", str(there))
    assert "'tyres.md'" in split.problem
    assert "MEMORY.md" not in split.problem
    (there / "tyres.md").write_bytes(b"\xff\xfe")  # no record there, and the same name still
    for one, other in ((here, there), (there, here)):
        assert [path for _, _, path in found(one, "IO013", format_name="claude-code")] == [
            str(other)
        ]
    monkeypatch.chdir(tmp_path)
    assert found(here, "IO013", format_name="claude-code") == []


# --- secrets


def test_a_secret_is_named_by_its_line_and_never_shown(store: Path) -> None:
    fact(store, "tyres", f"Two bar.\n\nThe depot: {TOKEN}\npassword: {PASSWORD}")
    (store / "notes.txt").write_bytes(f"key {TOKEN}".encode("utf-16"))
    (store / f"{TOKEN}.txt").write_bytes(b"\xff\xfe\x00")
    findings = [f for f in lint(store) if f.code == "IO021"]
    assert {(f.severity, f.path) for f in findings} == {
        ("error", f"{secrets.MASK}.txt"),
        ("warning", "facts/tyres.md:9"),
        ("error", "facts/tyres.md:8"),
        ("error", "notes.txt:1"),
    }
    for arguments in ((), ("--json",)):
        done = interop_run("lint", f"bantamkit:{store}", *arguments)
        assert done.returncode == 1
        assert "IO021" in done.stdout
        assert "github-token" in done.stdout
        for secret in (TOKEN, PASSWORD, TOKEN[4:14]):
            assert secret not in done.stdout + done.stderr


def test_other_findings_quote_no_piece_of_a_secret(tmp_path: Path) -> None:
    # Claude Code's own finding quotes the end of a value that YAML cuts
    root = tmp_path / "memory"
    root.mkdir()
    value = "hunter2-" + "aB3" * 14
    text = f"---\nname: depot\ndescription: token={value} # of the depot\n---\nx\n"
    (root / "depot.md").write_text(text)
    findings = lint(root, "claude-code")
    assert {"CC103", "IO021"} <= {f.code for f in findings}
    shown = " ".join(f"{f.path} {f.problem} {f.remedy}" for f in findings)
    assert secrets.MASK in shown
    assert not any(value[n : n + 8] in shown for n in range(len(value) - 7))


def test_complement_and_undo_are_read(store: Path, tmp_path: Path) -> None:
    there = tmp_path / "memory"
    convert = ("convert", f"bantamkit:{store}", f"claude-code:{there}")
    fact(store, "tyres", f"Two bar.\npassword: {PASSWORD}")
    assert interop_run(*convert).returncode == 0
    here = found(there, "IO021", "IO022", format_name="claude-code")
    assert ("IO021", "warning") in {(code, severity) for code, severity, _ in here}
    assert any(place.startswith(".interop/complement:") for _, _, place in here)
    fact(store, "tyres")
    assert interop_run(*convert).returncode == 0
    left = found(there, "IO021", "IO022", format_name="claude-code")
    assert {code for code, _, _ in left} == {"IO022"}
    # each secret of a file is told once, however many folders of undo keep it
    said = [f for f in lint(there, "claude-code") if f.code == "IO022"]
    assert len({(f.problem.partition(",")[0], f.problem.rpartition("of ")[2]) for f in said})
    # what an apply wrote is kept with it, but for a complement that is new: that one was displaced
    assert {f.path.rpartition("/")[0] for f in said if COMPLEMENT not in f.problem} == {
        ".interop/undo/1"
    }
    (tyres,) = [f for f in said if "'tyres.md', 2 times" in f.problem]
    assert tyres.remedy.startswith("remove .interop/undo/1, .interop/undo/2 once")
    done = interop_run("lint", f"claude-code:{there}", "--json")
    assert PASSWORD not in done.stdout
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert any("'tyres.md'" in f["problem"] for f in told if f["code"] == "IO022")


def test_a_secret_that_undo_keeps_many_times_is_told_once(store: Path) -> None:
    for n in range(1, 41):
        undo = store / ".interop" / "undo" / str(n)
        undo.mkdir(parents=True)
        (undo / "0").write_text(f"x\n{TOKEN}\n{TOKEN}")
    (only,) = [f for f in lint(store) if f.code == "IO022"]
    assert only.path == ".interop/undo/1/0:2"
    assert only.problem.endswith(", 80 times")
    assert ".interop/undo/40 (40 folders)" in only.remedy


@pytest.mark.parametrize("damage", [b"{broken", b'{"type":"complement","version":99}\n', b""])
def test_a_damaged_complement_is_a_finding_and_hides_no_other(store: Path, damage: bytes) -> None:
    fact(store, "tyres", f"Two bar.\n{TOKEN}")
    (store / ".interop").mkdir()
    (store / ".interop" / "complement").write_bytes(damage + b" " + TOKEN.encode())
    done = interop_run("lint", f"bantamkit:{store}")
    assert done.returncode == 1, done.stderr
    assert ".interop/complement: error IO023: " in done.stdout
    assert ".interop/complement:1: error IO022: " in done.stdout or b"version" in damage
    assert "facts/tyres.md:7: error IO021: " in done.stdout
    assert TOKEN not in done.stdout


def test_a_file_that_icloud_has_not_brought_is_told(store: Path) -> None:
    (store / "facts" / ".chain.md.icloud").write_bytes(b"bplist00")
    (store / "facts" / ".tyres.md.icloud").write_bytes(b"bplist00")
    assert found(store, "IO014") == [("IO014", "warning", "facts/.chain.md.icloud")]


def test_what_interop_keeps_is_read_without_trust(store: Path, tmp_path: Path) -> None:
    assert list(kept.kept(store)) == []
    assert list(kept.kept(store / "facts" / "tyres.md")) == []
    undo = store / ".interop" / "undo" / "3"
    undo.mkdir(parents=True)
    (undo / "manifest").write_text("no JSON")
    (undo / "0").write_text(f"x\n{TOKEN}")
    (store / ".interop" / "staging" / "4").mkdir(parents=True)
    (store / ".interop" / "staging" / "4" / "0").write_text(TOKEN)
    (store / ".interop" / "staging" / "x").mkdir()
    outside = tmp_path / "outside"
    outside.write_text(TOKEN)
    if os.name != "nt":
        (undo / "1").symlink_to(outside)
        (store / ".interop" / "undo" / "5").symlink_to(tmp_path)
    assert found(store, "IO022", "IO023") == [
        ("IO022", "error", ".interop/staging/4/0:1"),
        ("IO022", "error", ".interop/undo/3/0:2"),
    ]


def test_what_cannot_be_read_is_said(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    undo = store / ".interop" / "undo" / "3"
    undo.mkdir(parents=True)
    (undo / "0").write_text("x")

    def denied(path: Path, most: int | None = None) -> bytes:
        raise PermissionError(path)

    opened = stores.open_store(f"bantamkit:{store}")
    monkeypatch.setattr(durable, "read_bytes", denied)
    findings = [f for f in linting.lint(opened) if f.code == "IO023"]
    assert [(f.severity, f.path) for f in findings] == [("warning", ".interop/undo/3/0")]


def test_json_lines_are_searched_in_what_they_state() -> None:
    item = {"text": f'a\n"password": "{PASSWORD}"', "extra": {"api_token": "aB3" * 8},
            "base64": "c2tfbGl2ZV8wMTIzNDU2Nzg5YWJjZGVmMDE=", "list": [TOKEN, 3, None]}  # fmt: skip
    data = b"\n".join([json.dumps({"a": "b"}).encode(), json.dumps(item).encode(), b"{broken"])
    hits = linting._json_hits(data)  # pyright: ignore[reportPrivateUsage]
    assert {(hit.rule, hit.line) for hit in hits} == {
        ("quoted-password", 2), ("key-assignment", 2), ("stripe-key", 2), ("github-token", 2),
    }  # fmt: skip


def test_what_the_reader_reports_still_comes(store: Path) -> None:
    (store / "facts" / "broken.md").write_bytes(b"no header")
    codes = {f.code for f in lint(store) if f.path == "facts/broken.md"}
    assert codes == {"BK101"}
    assert not found(store, "IO001")


# --- each runtime


def head(lines: str, body: str = "Two bar.") -> str:
    return f"---\n{lines}\n---\n{body}\n"


KNOWN = "name: a\ndescription: b"
CREATED = "name: a\ndescription: About a\ntype: project\ncreated: '2031-05-02'"


@pytest.mark.parametrize(
    ("name", "code", "place", "files"),
    [
        ("bantamkit", "BK118", "facts/a.md", {
            "facts/a.md": head(f"{CREATED}\nlinks:\n- pump")}),
        ("bantamkit", "BK119", "facts/a.md", {"facts/a.md": head(CREATED, "\n\u3000Indented.")}),
        ("bantamkit", "BK119", "facts/a.md", {"facts/a.md": head(CREATED, "\none\r\ntwo")}),
        ("bantamkit", "BK120", "facts/a.md", {
            "facts/a.md": head("name: a\ndescription: About a\ntype: project")}),
        ("bantamkit", "BK121", "facts/a.md", {
            "facts/a.md": head(CREATED.replace("02'", "02T10:00:00Z'"))}),
        ("bantamkit", "BK122", "facts/a.md", {
            "facts/a.md": head(CREATED, "\nOrdered 3 days ago.")}),
        ("claude-code", "CC106", "a.md", {"a.md": head(f"{KNOWN}\ntype: habit")}),
        ("claude-code", "CC107", "a.md:1", {"a.md": head("name: a\ntype: user")}),
        ("claude-code", "CC108", "a.md", {
            "a.md": head(f"{KNOWN}\nmetadata:\n  type: user\n  source: bantamkit", "")}),
        ("claude-code", "CC109", "a.md:4", {"a.md": head(f"{KNOWN}\nname: c")}),
        ("claude-code", "CC115", "b.md", {"a.md": head(KNOWN), "b.md": head(KNOWN)}),
        ("claude-code", "CC116", "b.md", {"B.md": "x\n", "b.md": "y\n"}),
        ("claude-code", "CC116", "\u00e9.md", {"e\u0301.md": "x\n", "\u00e9.md": "y\n"}),
        ("claude-code", "CC122", "MEMORY.md:2", {"MEMORY.md": "# Index\nf\u00c3\u00bcnf Docks\n"}),
        ("claude-code", "CC122", "a.md:1", {"a.md": "Docks \u00e2\u20ac\u201d nine\n"}),
        ("theokit", "TK125", "MEMORY.md:1", {"MEMORY.md": "### Facts\n- a\n"}),
        ("theokit", "TK125", "MEMORY.md:1", {"MEMORY.md": "See ## Facts below\n- a\n"}),
        ("theokit", "TK135", "MEMORY.md:1", {
            "MEMORY.md": "- [A](a.md) · [B](b.md)\n", "a.md": head(KNOWN),
            "b.md": head("name: b\ndescription: c")}),
        ("theokit", "TK136", "a.md", {"a.md": head(KNOWN, "See [[pump]].")}),
    ],
)  # fmt: skip
def test_what_a_runtime_trips_over(
    tmp_path: Path, name: str, code: str, place: str, files: dict[str, str]
) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    assert [where for _, _, where in found(tmp_path, code, format_name=name)] == [place]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("bantamkit", {"facts/a.md": head(f"{CREATED}\nlinks:\n- a", "\nOrdered on 2 May.")}),
        ("claude-code", {
            "a.md": head(f"{KNOWN}\ntype: user", "Fünf — \u201eneun\u201c, see [[a]]."),
            "b.md": head("name: c\ndescription: d\nmetadata:\n  source: bantamkit", "x"),
            "MEMORY.md": "- [A](a.md)\n- [C](b.md) — à côté, ÂGE\n"}),
        ("theokit", {
            "MEMORY.md": "- [A](a.md) — see (b)\n\n## Facts\n\n- see [[a]] and [[a|that]]\n",
            "a.md": head(KNOWN)}),
    ],
)  # fmt: skip
def test_what_is_well_is_not_found(tmp_path: Path, name: str, files: dict[str, str]) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    assert lint(tmp_path, name) == []


def test_duplicates_are_those_of_the_rule(tmp_path: Path) -> None:
    """By comparing every fact with every one that is not longer: the same are found."""
    dice = random.Random(7)
    words = [f"w{n}" for n in range(14)]
    sets: list[tuple[int, str, set[str]]] = []
    for n in range(200):
        said = dice.sample(words, dice.randint(1, 9))
        fact = head(CREATED.replace("name: a", f"name: n{n}").replace("About a", " ".join(said)))
        path = tmp_path / "facts" / f"n{n}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(fact, encoding="utf-8")
        sets.append((len(said), f"facts/n{n}.md", {f"n{n}", *said}))
    sets.sort(key=lambda item: item[0])
    wanted = {
        path
        for at, (_, path, tokens) in enumerate(sets)
        if any(2 * len(tokens & other) >= len(tokens | other) for _, _, other in sets[:at])
    }
    got = {path for _, _, path in found(tmp_path, "BK115")}
    # among equally long ones, which of two is named depends on their order
    assert abs(len(got) - len(wanted)) <= 5
    assert len(got & wanted) > 0.9 * len(wanted) > 50


def test_the_work_for_duplicates_grows_with_the_store() -> None:
    def work(count: int) -> int:
        files = {
            f"facts/n{n}.md": head(
                f"name: n{n}\ndescription: The pump of dock {n} has number {n}\ntype: user"
            ).encode()
            for n in range(count)
        }
        adapter = registry.get("bantamkit")
        store = adapter.read(files)
        return calls(lambda: list(adapter.lint(files, store)))

    assert work(2000) < 50 * work(200), "all pairs would be a hundred times as many"


# --- secrets in what a conversion says


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_plan_repeats_no_secret(tmp_path: Path, more: list[str]) -> None:
    """Neither in a supplied value nor in a reason: a description is supplied from the text."""
    source = tmp_path / "claude"
    source.mkdir()
    (source / "a.md").write_text(f"---\nname: a\ntype: user\n---\ntoken {TOKEN}\n", "utf-8")
    target = f"bantamkit:{tmp_path / 'new'}"
    done = interop_run("convert", f"claude-code:{source}", target, "--dry-run", *more)
    assert done.returncode == 0, done.stderr
    assert "description" in done.stdout
    assert TOKEN not in done.stdout + done.stderr
    assert not (tmp_path / "new").exists()


# --- the page


def codes_of_adapters() -> set[str]:
    texts = [p.read_text(encoding="utf-8") for p in (ROOT / "adapters").rglob("*.py")]
    return {code for text in texts for code in re.findall(r'"([A-Z]{2}\d{3})"', text)}


def test_the_page_lists_every_code_and_every_rule() -> None:
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z]{2}\d{3}) \| ([a-z,; ]+) \| (.+) \|$", page, re.MULTILINE)
    listed = [code for code, _, _ in rows]
    assert len(listed) == len(set(listed))
    assert set(listed) == codes_of_adapters() | set(linting.CODES)
    assert {code: what for code, _, what in rows if code in linting.CODES} == linting.CODES
    rules = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", page, re.MULTILINE)
    assert rules == [(rule.name, rule.what) for rule in secrets.RULES]


def test_every_format_page_lists_the_same_codes_as_this_one() -> None:
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    for part in page.split("\n### ")[1:]:
        name = part.partition("\n")[0]
        own = (ROOT / "docs" / "formats" / f"{name}.md").read_text(encoding="utf-8")
        codes = re.compile(r"^\| ([A-Z]{2}\d{3}) \|", re.MULTILINE)
        assert codes.findall(part) == codes.findall(own), name
