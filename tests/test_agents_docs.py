"""docs/agents.md is run: its commands, its JSON, its Python, and the real bantamkit beside it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from interop.adapters.claude_code.location import encode
from interop.server import tools
from tests import peers
from tests.patience import patient

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "agents.md"
GOLDEN = ROOT / "golden"


def blocks() -> list[tuple[str, str]]:
    """Give the fenced samples of the page: language and text, in order."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)


class Project:
    """A user's home with a project in it, that a bantamkit agent and Claude Code work on."""

    def __init__(self, base: Path) -> None:
        self.home = base / "mira"
        self.cwd = self.home / "bikes"
        self.store = self.cwd / ".bantamkit" / "memory"
        notes = self.home / ".claude" / "projects" / encode(str(self.cwd)) / "memory"
        shutil.copytree(GOLDEN / "bantamkit" / "basic" / "store", self.store)
        shutil.copytree(GOLDEN / "claude-code" / "basic" / "store", notes)
        self.env = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""),
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
            "INTEROP_CONFIG_DIR": str(base / "config"),
            "INTEROP_STATE_DIR": str(base / "state"),
            "INTEROP_CACHE_DIR": str(base / "cache"),
        }

    def run(self, words: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.cwd,
            env=self.env,
        )

    def console(self, text: str) -> None:
        """Run the commands of a sample, and see that they print the lines that it shows."""
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, *shown = part.splitlines()
            done = self.run(shlex.split(command))
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            printed = done.stdout.splitlines()
            for line in shown:
                like = ".*".join(map(re.escape, line.split("…")))
                assert any(re.fullmatch(like, one) for one in printed), f"{line}\n{done.stdout}"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    patient(monkeypatch)
    return Project(tmp_path)


def test_the_page_has_every_kind_of_sample() -> None:
    found = [language for language, _ in blocks()]
    assert (found.count("json"), found.count("python"), found.count("console")) == (2, 1, 3)


def test_every_sample_of_the_page_works_in_order(project: Project) -> None:
    ran: list[str] = []
    for language, text in blocks():
        if language == "console":
            project.console(text)
        elif language == "python":
            _python(project, text)
        else:
            config = json.loads(text)
            if "hooks" in config:
                _hook(project, config)
            else:
                _servers(project, config)
        ran.append(language)
    assert len(ran) == 6


def _hook(project: Project, config: dict[str, Any]) -> None:
    """Do as Claude Code does at the beginning of a session."""
    (entry,) = config["hooks"]["SessionStart"]
    (hook,) = entry["hooks"]
    assert hook["type"] == "command"
    for source in entry["matcher"].split("|"):
        event = {"hook_event_name": "SessionStart", "source": source, "cwd": str(project.cwd)}
        done = project.run(["bash", "-c", hook["command"]], json.dumps(event))
        assert (done.returncode, done.stderr) == (0, "")
        said = json.loads(done.stdout)["hookSpecificOutput"]
        assert said["hookEventName"] == "SessionStart"
        assert len(said["additionalContext"]) < 10_000
        assert "Where spare tyres are ordered" in said["additionalContext"]
        assert "| - Ask before locking" in said["additionalContext"]
    plain = project.run(["bash", "-c", hook["command"].partition(" --format")[0]])
    assert "Where spare tyres are ordered" in plain.stdout


def _servers(project: Project, config: dict[str, Any]) -> None:
    """Start the server of the sample, as an MCP client does."""
    (server,) = config["mcpServers"].values()

    async def use(arguments: list[str]) -> set[str]:
        started = StdioServerParameters(
            command=server["command"], args=arguments, env=project.env, cwd=project.cwd
        )
        async with Client(stdio_client(started)) as client:
            found = await client.call_tool("memory_search", {"query": "tyres ordered"})
            assert found.structured_content["found"][0]["store"] == "@bikes"
            return {tool.name for tool in (await client.list_tools()).tools}

    named = set(re.findall(r"^\| `(memory_\w+)` \|", PAGE.read_text(encoding="utf-8"), re.M))
    assert anyio.run(use, server["args"]) == named
    (words,) = re.findall(r'`"args": (\[.*?\])`', PAGE.read_text(encoding="utf-8"))
    assert anyio.run(use, json.loads(words)) == {
        tool.definition.name for tool in tools.offered(writing=False)
    }


def _python(project: Project, text: str) -> None:
    done = project.run([sys.executable, "-c", text + "print(context, prompt)\n"])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("@bikes facts/spare-key.md The spare key hangs")
    assert "kept as facts/bell-order.md" in lines
    assert any("rumour" in line and "user, feedback, project" in line for line in lines)
    assert sum(line.startswith("===== data ") for line in lines) == 2
    assert "| The spare key hangs in the workshop, left of the door." in lines


@pytest.mark.conformance
@pytest.mark.parametrize("version", peers.BANTAMKIT)
def test_the_real_bantamkit_and_interop_recall_from_each_other(
    project: Project, version: str
) -> None:
    samples = [text for language, text in blocks() if language == "console"]
    project.console(samples[0])
    project.console(samples[1])
    asked = {"op": "recall", "query": "spare key workshop door", "today": "2026-12-01"}
    fresh = {
        "op": "save",
        "type": "feedback",
        "name": "bell-height",
        "description": "Bells stand upright on the handlebar",
        "body": "Upright, never below the brake cable.",
        "today": "2026-12-01",
    }
    told = peers.run(version, project.store, [asked, fresh, {"op": "index"}])["results"]
    assert all(one["ok"] for one in told), told
    assert "spare-key" in json.dumps(told[0])
    done = project.run(["interop", "recall", "brake cable", "--json"])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["record"]["name"] == "bell-height"
    again = ["interop", "remember", "Bells stand upright on the handlebar", "--kind", "feedback"]
    done = project.run([*again, "--name", "bell-height"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("known already: @bikes:facts/bell-height.md")


def test_the_commands_of_the_readme_work_as_they_stand(project: Project) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.index("**Read all stores, write one.**")
    lines = re.findall(r"^    (interop .*)$", text[start : text.index("\n## ", start)], re.M)
    ran: list[str] = []
    for line in lines:
        if line.startswith("interop mcp"):
            line += " --json"  # it serves until its client leaves
        done = project.run(shlex.split(line))
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        ran.append(line.split()[1])
    assert ran == ["stores", "stores", "remember", "recall", "forget", "undo", "mcp"]
