"""`interop diff` as a user runs it: sides, pager, exit codes, and what cannot be read."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

from tests.patience import HANGS

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "docs" / "diff.schema.json").read_text(encoding="utf-8"))
COMMAND = [sys.executable, "-m", "interop.cli.main"]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT)


def on_a_terminal(*arguments: str, env: Mapping[str, str]) -> str:
    """What the command draws on a terminal of 24 lines."""
    main, end = pty.openpty()
    cleared = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "PAGER", "MANPAGER")}
    environment = {**cleared, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", **env}
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=end, stdout=end, stderr=end, env=environment, cwd=ROOT
    )
    os.close(end)
    drawn = b""
    try:
        while piece := os.read(main, 1 << 16):
            drawn += piece
    except OSError:  # Linux's way of saying that nobody writes any more
        pass
    os.close(main)
    assert process.wait(HANGS) in (0, 1)
    return drawn.decode("utf-8").replace("\r\n", "\n")


def fact(name: str, says: str, text: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: {says}\ntype: project\n{more}---\n{text}\n"


def write(root: Path, facts: Mapping[str, str]) -> str:
    for folder in ("facts", "archive"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, text in facts.items():
        (root / "facts" / f"{name}.md").write_text(text, encoding="utf-8")
    return f"bantamkit:{root}"


@pytest.fixture
def three(tmp_path: Path) -> tuple[str, str, str]:
    """Two stores and what both were on Monday."""
    monday = {
        "tyres": fact("tyres", "How hard they are", "Two bar."),
        "pump": fact("pump", "Where it is", "At the ramp."),
        "lamp": fact("lamp", "Who has it", "Mira."),
        "bell": fact("bell", "How loud", "Loud."),
        "dock": fact("dock", "Which works", "Dock 2."),
    }
    one = {
        **monday,
        "tyres": fact("tyres", "How soft they are", "Two bar."),
        "pump": fact("pump", "Where it stands", "At the ramp."),
        "dock": fact("dock", "Which works", "Dock 3."),
    }
    other = {
        **monday,
        "tyres": fact("tyres", "How they are", "Two bar.", "last_recalled: 2026-09-01\n"),
        "lamp": fact("lamp", "Who has it", "Piet."),
        "dock": fact("dock", "Which works", "Dock 3."),
        "keys": fact("keys", "Where the spare keys hang", "In B7."),
    }
    del one["bell"]
    return (
        write(tmp_path / "a", one),
        write(tmp_path / "b", other),
        write(tmp_path / "monday", monday),
    )


def test_a_base_says_who_changed_what(three: tuple[str, str, str]) -> None:
    a, b, monday = three
    done = run("diff", a, b, "--base", monday)
    assert done.returncode == 1
    assert f"=== since {monday}\n" in done.stdout
    assert (
        "facts/tyres.md  CONFLICT\n"
        "  = description before: How hard they are\n"
        "  - description: How soft they are\n"
        "  + description: How they are\n"
    ) in done.stdout
    assert "facts/pump.md  (changed in A)\n  - description: Where it stands\n" in done.stdout
    assert "facts/lamp.md  (changed in B)\n" in done.stdout
    assert "  added in B: Where the spare keys hang\n" in done.stdout
    assert "  removed in A: How loud\n" in done.stdout
    assert "dock" not in done.stdout
    assert done.stderr == (
        "5 changes in 5 records: 2 changed in A, 2 changed in B, 1 in conflict"
        " (3 of order or noise or alike on both sides not shown)\n"
    )
    noisy = run("diff", a, b, "--base", monday, "--noise").stdout
    assert "  body: changed (both alike)\n" in noisy
    assert "recalled" in noisy


def test_without_a_base_nothing_is_claimed(three: tuple[str, str, str]) -> None:
    done = run("diff", *three[:2])
    assert not re.search("changed in|CONFLICT|since|(added|removed) in", done.stdout + done.stderr)
    assert "side" not in run("diff", *three[:2], "--json").stdout


def test_counts_json_and_page_say_the_sides(three: tuple[str, str, str], tmp_path: Path) -> None:
    a, b, monday = three
    stat = run("diff", a, b, "--base", monday, "--stat")
    for side, number in (("changed in A", 2), ("changed in B", 2), ("conflict", 1)):
        assert re.search(rf"^{side} +{number}$", stat.stdout, re.M)
    lines = run("diff", a, b, "--base", monday, "--json").stdout.splitlines()
    for line in lines:
        jsonschema.validate(json.loads(line), SCHEMA)
    said = {
        (c.get("key_a", c.get("key_b")), c.get("field"), c["tag"], c.get("side"))
        for c in map(json.loads, lines)
        if c["what"] != "order"
    }
    assert said == {
        ("facts/tyres.md", "description", "content", "conflict"),
        ("facts/tyres.md", "recalled", "noise", None),
        ("facts/pump.md", "description", "content", "a"),
        ("facts/lamp.md", "body", "content", "b"),
        ("facts/bell.md", None, "content", "a"),
        ("facts/keys.md", None, "content", "b"),
        ("facts/dock.md", "body", "agreed", "both"),
    }
    page = tmp_path / "page.html"
    assert run("diff", a, b, "--base", monday, "--html", page).returncode == 1
    text = page.read_text(encoding="utf-8")
    assert 'id="side-conflict"' in text
    assert 'class="mark m-side-conflict">conflict<' in text
    assert monday in text


def test_what_both_did_alike_is_the_same(three: tuple[str, str, str]) -> None:
    a, _, monday = three
    done = run("diff", a, a, "--base", monday)
    assert (done.returncode, done.stdout) == (0, "")
    assert run("diff", a, a, "--base", monday, "--only", "text").returncode == 2
    assert run("diff", a, a, "--base", f"{monday}/nowhere").returncode == 4


def test_after_a_conversion_the_complement_is_the_base(tmp_path: Path) -> None:
    a = write(tmp_path / "a", {"tyres": fact("tyres", "How hard", "Two bar.")})
    b = f"claude-code:{tmp_path / 'b'}"
    assert run("convert", a, b).returncode == 0
    file = tmp_path / "b" / "tyres.md"
    file.write_bytes(file.read_bytes().replace(b"Two bar.", b"Three bar."))
    for one, other, side in ((a, b, "B"), (b, a, "A")):
        done = run("diff", one, other)
        assert f"(changed in {side})\n" in done.stdout
        assert "=== since their last conversion\n" in done.stdout
        assert done.returncode == 1
    file.write_bytes(file.read_bytes().replace(b"Three bar.", b"Two bar."))
    assert run("diff", a, b).returncode == 0


def test_a_renamed_record_is_probably_the_same_in_percent(tmp_path: Path) -> None:
    text = "The pump stands at the ramp. Two bar for the cargo bikes."
    a = write(tmp_path / "a", {"pump": fact("pump", "Where it is", text)})
    b = write(tmp_path / "b", {"air": fact("air", "Where it is", text + " Never more.")})
    done = run("diff", a, b)
    assert "facts/pump.md -> facts/air.md\n" in done.stdout
    (percent,) = re.findall(r"\(probably the same, (\d+) % alike\)\n  renamed\n", done.stdout)
    (score,) = {
        json.loads(line)["similarity"] for line in run("diff", a, b, "--json").stdout.splitlines()
    }
    assert int(score) == int(percent)
    assert f"probably the same, {percent} % alike" in run("diff", a, b, "--html", "-").stdout


def test_what_nobody_sees_is_shown(tmp_path: Path) -> None:
    hidden = "Two\u200b bar\U000e0041.\u202e\x1b[31m"
    a = write(tmp_path / "a", {"tyres": fact("tyres", "How hard", "Two bar.")})
    b = write(tmp_path / "b", {"tyres": fact("tyres", "How hard", hidden)})
    for out in (
        run("diff", a, b).stdout,
        on_a_terminal("diff", a, b, env={"NO_COLOR": "1"}),
        run("diff", a, b, "--html", "-").stdout,
    ):
        for char in ("\u200b", "\U000e0041", "\u202e", "\x1b[31m"):
            assert char not in out
        for escape in ("\\u200b", "\\U000e0041", "\\u202e", "\\x1b"):
            assert escape in out


# --- what cannot be read


def test_a_damaged_file_is_compared_by_its_bytes_or_not_at_all(tmp_path: Path) -> None:
    a = write(tmp_path / "a", {"tyres": fact("tyres", "How hard", "Two bar.")})
    (tmp_path / "a" / "facts" / "pump.md").write_bytes(b"---\nname: pump\n---\n\xff\xfe\n")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    b = f"bantamkit:{tmp_path / 'b'}"
    assert run("diff", a, b).returncode == 0
    (tmp_path / "b" / "facts" / "pump.md").write_bytes(b"---\nname: pump\n---\n\xfe\n")
    assert run("diff", a, b).returncode == 1
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "MEMORY.md").write_text("- [Tyres](tyres.md) — How hard\n", encoding="utf-8")
    (tmp_path / "c" / "tyres.md").write_text("Two bar.\n", encoding="utf-8")
    done = run("diff", a, f"claude-code:{tmp_path / 'c'}")
    assert done.returncode == 4
    assert "facts/pump.md" in done.stderr
    assert "it was not compared" in done.stderr
    assert run("diff", a, f"claude-code:{tmp_path / 'c'}", "--json").returncode == 4


# --- the pager


@pytest.fixture
def long(tmp_path: Path) -> tuple[str, str]:
    """More changes than a screen has lines."""
    numbers = range(30)
    a = {f"dock{n}": fact(f"dock{n}", f"Dock {n} is shut", "x") for n in numbers}
    b = {f"dock{n}": fact(f"dock{n}", f"Dock {n} is open", "x") for n in numbers}
    return write(tmp_path / "a", a), write(tmp_path / "b", b)


def pager(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a pager that keeps what it was given."""
    program, kept = folder / name, folder / "paged.txt"
    program.write_text(f'#!/bin/sh\nprintf "%s" "$LESS" > "{kept}.less"\ncat > "{kept}"\n')
    program.chmod(0o755)
    return program, kept


def test_a_long_diff_on_a_terminal_is_paged(long: tuple[str, str], tmp_path: Path) -> None:
    for name, coloured in (("less", True), ("most", False)):
        program, kept = pager(tmp_path, name)
        drawn = on_a_terminal("diff", *long, env={"PAGER": f"{program} -x", "MANPAGER": "false"})
        text = kept.read_text(encoding="utf-8")
        assert "facts/dock7.md" in text
        assert ("\x1b[" in text) == coloured
        assert "facts/dock7.md" not in drawn
        assert "30 changes in 30 records" in drawn
        assert Path(f"{kept}.less").read_text() == "FRX"
        kept.unlink()
    program, kept = pager(tmp_path, "less")
    on_a_terminal("diff", *long, env={"PAGER": str(program), "NO_COLOR": "1"})
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", kept.read_text(encoding="utf-8")), "no colour"
    on_a_terminal("diff", *long, env={"PAGER": "sh -c 'exit 3'"})  # one that reads nothing


@pytest.mark.parametrize("env", [{"PAGER": ""}, {"PAGER": "cat"}, {"PAGER": "no-such-pager"},
                                 {"PAGER": "'"}, {"TERM": "dumb", "PAGER": "false"}])  # fmt: skip
def test_what_is_not_paged_is_printed(long: tuple[str, str], env: dict[str, str]) -> None:
    drawn = on_a_terminal("diff", *long, env=env)
    assert "facts/dock7.md" in drawn
    assert ("\x1b[" in drawn) == (env.get("TERM") != "dumb")


def test_what_is_piped_or_short_is_not_paged(long: tuple[str, str], tmp_path: Path) -> None:
    program, kept = pager(tmp_path, "less")
    environment = {**os.environ, "PAGER": str(program)}
    done = subprocess.run(
        [*COMMAND, "diff", *long], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert "facts/dock7.md" in done.stdout
    assert "\x1b" not in done.stdout
    drawn = on_a_terminal("diff", *long, "--only", "title", env={"PAGER": str(program)})
    assert "the stores say the same" in drawn
    assert not kept.exists()


def test_a_snapshot_is_a_base(tmp_path: Path) -> None:
    """Of another format than the two, it knows their addresses and files all the same."""
    known = {
        "tyres": fact("tyres", "How hard they are", "Two bar."),
        "pump": fact("pump", "Where it is", "At the ramp, behind the shed."),
    }
    a = write(tmp_path / "a", known)
    (tmp_path / "a" / "map.txt").write_text("1\n", encoding="utf-8")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    b = f"bantamkit:{tmp_path / 'b'}"
    monday = tmp_path / "monday.jsonl"
    done = run("convert", a, monday)
    assert done.returncode == 0, done.stderr
    assert run("diff", a, b, "--base", monday).returncode == 0
    write(tmp_path / "a", {"tyres": fact("tyres", "How soft they are", "Two bar.")})
    write(tmp_path / "b", {"tyres": fact("tyres", "How they are", "Two bar.")})
    (tmp_path / "b" / "map.txt").write_text("2\n", encoding="utf-8")
    moved = tmp_path / "a" / "archive" / "pump.md"
    (tmp_path / "a" / "facts" / "pump.md").rename(moved)
    found = run("diff", a, b, "--base", monday, "--json")
    said = {
        (c["what"], c.get("field"), c.get("side"))
        for c in map(json.loads, found.stdout.splitlines())
        if c["tag"] in ("content", "omission")
    }
    assert said == {
        ("changed", "description", "conflict"),
        ("moved", None, "a"),
        ("restored", "state", "a"),
        ("carried", None, "b"),
    }
    piped = subprocess.run(
        [*COMMAND, "diff", a, b, "--base", "-"],
        stdin=monday.open("rb"),
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert piped.returncode == 1, piped.stderr
    assert "facts/tyres.md  CONFLICT" in piped.stdout
