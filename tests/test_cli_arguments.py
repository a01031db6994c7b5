"""Arguments as people write them, and mistakes in them: one line on stderr, and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.cli import main
from tests.test_cli_stores import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.env["INTEROP_CACHE_DIR"] = str(tmp_path / "cache")
    return shell


@pytest.fixture
def store(shell: Shell) -> str:
    return f"claude-code:{shell.put(shell.home / 'garage', 'claude-code')}"


@pytest.mark.parametrize(
    "text",
    [
        "- a bullet of a list",
        "-h is no help here",
        "--write is an option, and this a text",
        "--no-such=thing is said in words",
        "-\tparted by a tab",
        "--json and more",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_text_may_begin_with_a_dash(shell: Shell, store: str, text: str, is_first: bool) -> None:
    options = ["--write", store, "--description", "- said of it", "--name=dash"]
    words = [text, *options] if is_first else [*options, text]
    assert shell.fine("remember", *words) == f"remembered {store}:dash.md\n"
    page = (shell.home / "garage" / "dash.md").read_text(encoding="utf-8")
    assert page.endswith(f"\n{text}\n")
    assert "- said of it" in page


def test_one_without_a_space_stands_behind_two_dashes(shell: Shell, store: str) -> None:
    done = shell.run("remember", "--oiled", "--write", store)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("interop: no such option: --oiled")
    assert "`interop remember -- -TEXT`" in line
    assert shell.fine("remember", "--write", store, "--name", "o", "--", "--oiled")


def test_a_query_may_begin_with_a_dash(shell: Shell, store: str) -> None:
    assert shell.fine("recall", "- dock sensor", "--read", store, "--limit", "1")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["recall", "lock", "--limit", "0"], "'--limit'"),
        (["recall", "lock", "--limit", "many"], "'--limit'"),
        (["recall", "lock", "--limit"], "--limit"),
        (["recall"], "QUERY"),
        (["recall", "lock", "tyre"], "tyre"),
        (["recall", "lock", "--nothing"], "--nothing"),
        (["hook", "session-start", "--bytes", "10"], "'--bytes'"),
        (["hook", "session-start", "--tokens", "10"], "'--tokens'"),
        (["forget", "x.md"], "reason"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_a_mistake_is_one_line_on_stderr(shell: Shell, arguments: list[str], problem: str) -> None:
    done = shell.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("interop: ")
    assert problem in line
    assert "--" in line.partition("; ")[2], "it says the way out"


@pytest.mark.parametrize("command", main.COMMANDS)
def test_help_is_still_help(shell: Shell, command: str) -> None:
    assert shell.fine(command, "--help").startswith(f"Usage: interop {command} ")


def test_without_arguments_there_is_help(shell: Shell) -> None:
    done = shell.run()
    assert (done.stdout + done.stderr).startswith("Usage: interop ")
    assert "Traceback" not in done.stderr
