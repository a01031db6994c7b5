"""The command line: lazy, quiet, and never a traceback for what a user can mend."""

from __future__ import annotations

import ast
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import interop
from interop import unseen
from interop.cli import main as entry
from interop.cli import text
from interop.errors import FormatError, RefusedError, UsageError, WriteError

ROOT = Path(__file__).parents[1]


def interop_run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    command = [sys.executable, "-m", "interop.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT)


def modules_after(*arguments: str) -> set[str]:
    """Every module that is imported when the command has ended."""
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from interop.cli.main import main\n"
        f"sys.argv = ['interop', *{list(arguments)!r}]\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    return set(done.stderr.split())


# --- start-up


def test_the_version_imports_nothing_but_the_package() -> None:
    ours = {m for m in modules_after("--version") if m.startswith("interop.")}
    assert ours <= {
        "interop.cli",
        "interop.cli.arguments",
        "interop.cli.main",
        "interop.cli.text",
        "interop.errors",
        "interop.model",
        "interop.unseen",
    }


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["-h"], ["nonsense"], []])
def test_without_a_command_no_library_is_imported(arguments: list[str]) -> None:
    modules = modules_after(*arguments)
    heavy = {"interop.registry", "interop.stores", "interop.fields", "orjson", "yaml", "rich"}
    assert not modules & heavy
    assert not modules & {f"interop.cli.{name}" for name in entry.COMMANDS}


def test_a_command_imports_no_other_command() -> None:
    modules = modules_after("undo", "--help")
    assert {name for name in entry.COMMANDS if f"interop.cli.{name}" in modules} == {"undo"}


GARAGE = ROOT / "golden" / "claude-code" / "basic" / "store"


@pytest.mark.parametrize("named", [False, True])
def test_showing_a_store_imports_what_reads_it_and_nothing_that_writes(named: bool) -> None:
    modules = modules_after("show", f"claude-code:{GARAGE}" if named else str(GARAGE))
    parts = [m.split(".")[2:] for m in modules if m.startswith("interop.adapters.")]
    assert [of for of, *part in parts if part == ["reading"]] == ["claude_code"]
    assert not {p for _, *part in parts for p in part} & {"writing", "fitting", "lint", "store"}
    heavy = {"yaml", "rich", "turbohtml", "markdown_it", "rapidfuzz", "tomllib", "tomlkit"}
    heavy |= {"filelock", "interop.config", "interop.planning", "interop.disk.transaction"}
    assert not modules & heavy
    if named:
        assert {of for of, *_ in parts} == {"claude_code"}
        assert "interop.host" not in modules


def test_no_garbage_is_looked_for_when_a_command_has_ended() -> None:
    """The last look costs more than most commands; what ``gc.freeze`` sets aside is not in it."""
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.get_freeze_count(), len(gc.get_objects())))\n"
        "from interop.cli.main import main\n"
        f"sys.argv = ['interop', 'show', {str(GARAGE)!r}]\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    frozen, looked_at = map(int, done.stdout.splitlines()[-1].split())
    assert frozen > 10 * looked_at


def test_the_version_is_the_packages() -> None:
    done = interop_run("--version")
    assert (done.stdout, done.returncode) == (f"interop {interop.__version__}\n", 0)


def test_help_lists_every_command_with_the_line_of_its_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")  # a line is cut where there is no more room
    listed = interop_run("--help").stdout
    for name, line in entry.COMMANDS.items():
        module = ast.parse((ROOT / "cli" / f"{name}.py").read_bytes())
        assert (ast.get_docstring(module) or "").splitlines()[0] == line
        assert f"{name} " in listed
        assert line in listed


def test_every_module_with_a_run_is_a_command() -> None:
    modules = {
        p.stem
        for p in (ROOT / "cli").glob("*.py")
        if any(
            isinstance(n, ast.FunctionDef) and n.name == "run"
            for n in ast.parse(p.read_bytes()).body
        )
    }
    assert modules == set(entry.COMMANDS)


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_every_command_has_help_and_json(name: str) -> None:
    done = interop_run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout


# --- errors


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["show"], ["show", "--nonsense", "."], ["--nonsense"]]
)
def test_usage_errors_exit_2(arguments: list[str]) -> None:
    done = interop_run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def raising(error: BaseException) -> Callable[[], int]:
    def run() -> int:
        raise error

    return run


BROKEN = FormatError("a.md", "no closing fence", "add one")


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (UsageError("unknown format 'x'"), 2, "interop: unknown format 'x'\n"),
        (RefusedError("b", "undecided", "decide", ["k: why"]), 3,
         "interop: b: undecided; decide\n  k: why\n"),
        (BROKEN, 4, "interop: a.md: no closing fence; add one\n"),
        (WriteError("b", "disk full"), 5, "interop: b: disk full\n"),
        (FormatError("a\x1b[2J.md", "bad"), 4, "interop: a\\x1b[2J.md: bad\n"),
        (ExceptionGroup("", [BROKEN, ExceptionGroup("", [WriteError("b", "full")])]), 5,
         "interop: a.md: no closing fence; add one\ninterop: b: full\n"),
        (PermissionError(errno.EACCES, "Permission denied", "a.md"), 4,
         "interop: a.md: permission denied\n"),
        (KeyboardInterrupt(), 130, "interop: interrupted\n"),
    ],
)  # fmt: skip
def test_what_a_user_can_mend_is_a_line_and_a_code(
    error: BaseException, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.run_safely(raising(error)) == code
    assert capsys.readouterr() == ("", says)


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        entry.run_safely(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        entry.run_safely(raising(ExceptionGroup("", [BROKEN, ZeroDivisionError()])))


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_reader_that_goes_away_is_met_with_silence(store: Path) -> None:
    command = [sys.executable, "-m", "interop.cli.main", "show", "--json", f"bantamkit:{store}"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, cwd=ROOT)
    assert (done.stderr, done.returncode) == (b"", entry.PIPE_CLOSED)


# --- text


def test_control_characters_are_shown_and_not_obeyed() -> None:
    assert unseen.visible("a\x1b[31mb\x07\x9b\u202e\n") == "a\\x1b[31mb\\x07\\x9b\\u202e\\n"
    assert unseen.visible("a\n\tb\x00", keep="\n\t") == "a\n\tb\\x00"
    assert unseen.visible("Größe 轮胎 🚲") == "Größe 轮胎 🚲"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("chain", "chain"),
        ("one\n two\tthree", "one two…"),
        ("12345678", "12345678"),
        ("123456789", "1234567…"),
        ("轮胎轮胎轮胎", "轮胎轮…"),
        ("", ""),
    ],
)
def test_the_beginning_of_a_text_fits_its_columns(given: str, shown: str) -> None:
    assert text.short(given, 8) == shown
    assert text.columns(shown) <= 8


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    lines = text.table(["key", "says"], [["轮胎", "a"], ["e\u0301", "b"], ["long.md", ""]])
    assert lines == ["key      says", "轮胎     a", "e\u0301        b", "long.md"]
    assert text.table(["key"], []) == ["key"]


# --- commands on a store


FACT = "---\nname: {name}\ndescription: {description}\ntype: project\n---\n{body}\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A bantamkit store of two facts and a broken one."""
    root = tmp_path / "store"
    (root / "facts").mkdir(parents=True)
    (root / "archive").mkdir()
    for name, body in (("chain-oil", "Oil the chain."), ("tyres", "Two \x1b[31mbar.")):
        fact = FACT.format(name=name, description=f"About {name}", body=body)
        (root / "facts" / f"{name}.md").write_bytes(fact.encode())
    return root


def test_show_prints_a_row_a_record_and_escapes(store: Path) -> None:
    done = interop_run("show", f"bantamkit:{store}")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        *("key", "facts/chain-oil.md", "facts/tyres.md"),
    ]
    assert done.stderr == f"bantamkit:{store}: 2 records\n"


def test_show_gives_one_record_in_full(store: Path) -> None:
    done = interop_run("show", f"bantamkit:{store}", "facts/tyres.md")
    assert done.returncode == 0, done.stderr
    assert "key: facts/tyres.md\n" in done.stdout
    assert "    Two \\x1b[31mbar.\n" in done.stdout
    missing = interop_run("show", f"bantamkit:{store}", "facts/none.md")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("interop: no record 'facts/none.md'")


def test_show_json_is_one_object_a_line(store: Path) -> None:
    done = interop_run("show", "--json", f"bantamkit:{store}")
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert [o["key"] for o in objects] == ["facts/chain-oil.md", "facts/tyres.md"]
    assert objects[1]["body"]["text"] == "Two \x1b[31mbar."


def test_show_prints_everything_and_then_says_what_it_could_not_read(store: Path) -> None:
    (store / "facts" / "broken.md").write_bytes(b"\xff\xfe no fact")
    done = interop_run("show", "--json", f"bantamkit:{store}")
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 4
    assert [o["key"] for o in objects if "key" in o] == ["facts/chain-oil.md", "facts/tyres.md"]
    assert [o["path"] for o in objects if "problem" in o] == ["facts/broken.md"]


def test_detect_says_which_and_why(store: Path) -> None:
    done = interop_run("detect", "--json", store)
    assert json.loads(done.stdout.splitlines()[0])["format"] == "bantamkit"
    assert interop_run("detect", store).returncode == 0
    (store / "empty").mkdir()
    none = interop_run("detect", store / "empty")
    assert (none.returncode, none.stdout) == (4, "")
    assert "Traceback" not in none.stderr


def test_formats_lists_every_format() -> None:
    done = interop_run("formats")
    objects = [json.loads(line) for line in interop_run("formats", "--json").stdout.splitlines()]
    assert objects
    for item in objects:
        assert {"name", "title", "spec", "holds", "locations"} <= set(item)
        assert item["name"] in done.stdout


def test_lint_exits_1_on_findings(store: Path) -> None:
    (store / "facts" / "broken.md").write_bytes(b"no header")
    done = interop_run("lint", "--json", f"bantamkit:{store}")
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert all({"code", "severity", "path", "problem", "remedy"} == set(f) for f in findings)


def test_a_store_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    for command in (["show"], ["lint"], ["check"], ["undo"]):
        done = interop_run(*command, f"bantamkit:{tmp_path / 'nowhere'}")
        assert done.returncode == 4, (command, done.stderr)
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "Traceback" not in done.stderr


def test_convert_shows_then_writes_then_is_undone(store: Path, tmp_path: Path) -> None:
    there = tmp_path / "memory"
    arguments = ["convert", f"bantamkit:{store}", f"claude-code:{there}"]
    dry = interop_run(*arguments, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "2  new" in dry.stdout
    assert not there.exists()
    done = interop_run(*arguments, "--json")
    plan = json.loads(done.stdout)
    assert (done.returncode, plan["written"]) == (0, True)
    assert [o["action"] for o in plan["outcomes"]] == ["add", "add"]
    assert interop_run("diff", f"bantamkit:{store}", f"claude-code:{there}").returncode == 0
    listed = interop_run("undo", f"claude-code:{there}", "--list", "--json")
    assert len(listed.stdout.splitlines()) == 1
    undone = interop_run("undo", f"claude-code:{there}", "--json")
    assert undone.returncode == 0, undone.stderr
    assert {c["action"] for c in json.loads(undone.stdout)["changes"]} == {"delete"}


def test_diff_prints_fields_and_exits_1(store: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    assert interop_run("convert", f"bantamkit:{store}", f"bantamkit:{twin}").returncode == 0
    fact = twin / "facts" / "tyres.md"
    fact.write_bytes(fact.read_bytes().replace(b"About tyres", b"How hard"))
    done = interop_run("diff", f"bantamkit:{store}", f"bantamkit:{twin}")
    assert done.returncode == 1
    assert "  - description: About tyres\n  + description: How hard\n" in done.stdout
    changes = interop_run("diff", "--json", f"bantamkit:{store}", f"bantamkit:{twin}").stdout
    assert {json.loads(line)["field"] for line in changes.splitlines()} == {"description"}
    assert interop_run("diff", "--stat", f"bantamkit:{store}", f"bantamkit:{twin}").returncode == 1


def test_an_undeclared_kind_is_refused_and_the_dry_run_writes_what_to_decide(
    tmp_path: Path,
) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "tyres.md").write_bytes(b"Two bar.\n")
    (memory / "MEMORY.md").write_bytes(b"- [Tyres](tyres.md) \xe2\x80\x94 how hard\n")
    decisions = tmp_path / "decisions.yaml"
    arguments = ["convert", f"claude-code:{memory}", f"bantamkit:{tmp_path / 'store'}"]
    refused = interop_run(*arguments)
    assert refused.returncode == 3
    assert "tyres.md" in refused.stdout
    assert not (tmp_path / "store").exists()
    dry = interop_run(*arguments, "--dry-run", "--decisions", decisions)
    assert dry.returncode == 3
    assert "tyres.md" in decisions.read_text(encoding="utf-8")
    plan = json.loads(interop_run(*arguments, "--json").stdout)
    assert (plan["written"], plan["template"]) == (False, {"tyres.md": {"kind": None}})
    assert plan["outcomes"][0]["remedy"]
    decisions.write_text("tyres.md:\n  kind: project\n", encoding="utf-8")
    kept = interop_run(*arguments, "--dry-run", "--decisions", decisions)
    assert kept.returncode == 0
    assert decisions.read_text(encoding="utf-8") == "tyres.md:\n  kind: project\n"
    loss = interop_run(*arguments, "--decisions", decisions, "--no-complement")
    assert (loss.returncode, (tmp_path / "store").exists()) == (3, False)
    assert "tyres.md: hook\n" in loss.stdout
    dry = interop_run(*arguments, "--decisions", decisions, "--no-complement", "--dry-run")
    assert dry.returncode == 3
    mapped = interop_run(*arguments, "--kind-map", "untyped=project")
    assert mapped.returncode == 0, mapped.stderr
    assert (tmp_path / "store" / "facts" / "tyres.md").is_file()


def test_what_the_source_removed_is_pending_until_asked(store: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    arguments = ["convert", f"bantamkit:{store}", f"bantamkit:{twin}"]
    assert interop_run(*arguments).returncode == 0
    (store / "facts" / "tyres.md").unlink()
    pending = interop_run(*arguments)
    assert pending.returncode == 1
    assert "pending: facts/tyres.md" in pending.stdout
    assert (twin / "facts" / "tyres.md").exists()
    assert interop_run(*arguments, "--delete").returncode == 0
    assert not (twin / "facts" / "tyres.md").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        ["--kind-map", "nonsense"],
        ["--kind-map", "untyped=chore"],
        ["--decisions", "nowhere.yaml"],
    ],
)
def test_a_choice_that_means_nothing_is_usage(
    wrong: list[str], store: Path, tmp_path: Path
) -> None:
    there = tmp_path / "twin"
    done = interop_run("convert", f"bantamkit:{store}", f"bantamkit:{there}", *wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("interop: ")
    assert not there.exists()


def test_check_says_which_law_holds(store: Path) -> None:
    done = interop_run("check", "--json", f"bantamkit:{store}")
    laws = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert {"GetPut", "PutGet"} <= {law["law"] for law in laws}
    assert all(law["ok"] for law in laws)
    assert "holds" in interop_run("check", f"bantamkit:{store}").stdout
