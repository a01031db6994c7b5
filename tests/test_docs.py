"""The documentation says what is: generated parts are current, links lead on, commands run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from interop import registry
from interop.cli.main import COMMANDS
from interop.cli.reference import reference
from interop.errors import FormatError, RefusedError, UsageError, WriteError

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SAMPLE = ROOT / "golden" / "claude-code" / "basic" / "store"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_reference_is_current() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == reference(), "run `make docs`"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented_and_shown_in_use(command: str) -> None:
    assert f"\n## interop {command}\n" in (DOCS / "cli.md").read_text(encoding="utf-8")
    assert f"    $ interop {command}" in (DOCS / "tutorial.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", registry.names())
def test_every_format_has_its_page(name: str) -> None:
    page = DOCS / "formats" / f"{name}.md"
    assert page.is_file(), f"{_name(page)} is missing"
    assert page.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("error", [UsageError, RefusedError, FormatError, WriteError])
def test_the_exit_code_of_every_error_is_documented(error: type[UsageError]) -> None:
    for page in (DOCS / "cli.md", ROOT / "README.md"):
        assert f"\n| {error.exit_code} | " in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    samples = r"^```.*?^```|^    .*?$|`[^`\n]*`"
    prose = re.sub(samples, "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", prose)
    assert not [t for t in targets if not (page.parent / t).exists()]


# --- the tutorial


class Step(NamedTuple):
    """One command of the tutorial, and what the page says it prints."""

    command: str
    output: list[str]
    code: int


def steps() -> Iterator[Step]:
    """Read the commands of the tutorial: indented lines after ``$``, with their output.

    A last output line ``(exit code 3)`` states the code; ``…`` stands for what is left out.
    """
    blocks = re.findall(
        r"(?:^    .*\n|^\n(?=    ))+", (DOCS / "tutorial.md").read_text(encoding="utf-8"), re.M
    )
    for block in blocks:
        for part in re.split(r"^    \$ ", block, flags=re.M)[1:]:
            lines = [line.removeprefix("    ") for line in part.splitlines()]
            command, *output = [line for line in lines if line.strip()]
            stated = re.fullmatch(r"\(exit code (\d+)\)", output[-1]) if output else None
            said = output[:-1] if stated else output
            yield Step(command, said, int(stated[1]) if stated else 0)


def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    """Run it from top to bottom in a directory that holds the sample store as ``garage``."""
    assert SAMPLE.is_dir(), f"{_name(SAMPLE)} is missing"
    shutil.copytree(SAMPLE, tmp_path / "garage")
    found = list(steps())
    assert len(found) > 8
    program = [sys.executable, "-m", "interop.cli.main"]
    environment = {
        **os.environ,
        "INTEROP_STATE_DIR": str(tmp_path / "state"),
        "INTEROP_CONFIG_DIR": str(tmp_path / "config"),
        "HOME": str(tmp_path),
    }
    for step in found:
        words = shlex.split(step.command)
        command = [*program, *words[1:]] if words[0] == "interop" else ["bash", "-c", step.command]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment,
        )
        printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        assert done.returncode == step.code, f"{step.command}\n{done.stdout}{done.stderr}"
        for line in step.output:
            if line.strip() != "…":
                assert any(_like(line, p) for p in printed), f"{step.command}\n{line}\n{printed}"


def test_the_demo_runs() -> None:
    """`make demo` after its set-up; every command in it has the exit code that it expects."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", str(ROOT / "demo" / "run.sh")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing gets lost" in done.stdout


def _like(stated: str, printed: str) -> bool:
    """Say whether a line is as stated; ``…`` in it is anything, a gap in a table any gap."""
    said, found = (re.sub(r"(?<=\S) {2,}", "  ", line) for line in (stated.rstrip(), printed))
    return re.fullmatch(".*".join(map(re.escape, said.split("…"))), found) is not None
