"""`interop stores`, and names in place of stores, as a user runs them in a home of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interop.adapters.claude_code.location import encode

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "golden"


class Shell:
    """A user's shell: a home, a working directory, and nothing of this machine's."""

    def __init__(self, base: Path) -> None:
        self.home = base / "mira"
        self.cwd = self.home / "bikes"
        self.cwd.mkdir(parents=True)
        self.settings = base / "settings" / "config.toml"
        self.env = {
            "PATH": os.environ["PATH"],
            "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""),
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "PYTHONPATH": str(ROOT),
            "INTEROP_CONFIG_DIR": str(base / "settings"),
            "INTEROP_STATE_DIR": str(base / "state"),
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "interop.cli.main", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.cwd,
            env=self.env,
        )

    def fine(self, *arguments: str) -> str:
        """Run a command that is to succeed, and give what it prints."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def objects(self, *arguments: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.fine(*arguments, "--json").splitlines()]

    def put(self, path: Path, format_name: str) -> Path:
        shutil.copytree(GOLDEN / format_name / "basic" / "store", path)
        return path

    def say(self, text: str) -> None:
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(text, encoding="utf-8")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_store_is_named_listed_used_and_forgotten(shell: Shell) -> None:
    there = shell.put(shell.cwd / "garage", "bantamkit")
    done = shell.run("stores", "add", "garage", "bantamkit:garage", "--write")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"added @garage: bantamkit:{there}\n"
    listed = shell.run("stores")
    assert listed.stdout.splitlines()[1].split() == [
        *("@garage", "12", "write", f"bantamkit:{there}"),
    ]
    assert listed.stderr == f"{shell.settings}: 1 named store\n"
    assert shell.objects("stores", "list") == [
        {
            "name": "garage",
            "spec": f"bantamkit:{there}",
            "format": "bantamkit",
            "path": str(there),
            "reachable": True,
            "records": 12,
            "problem": None,
            "write": True,
            "read": 1,
        }
    ]
    assert shell.fine("show", "@garage") == shell.fine("show", f"bantamkit:{there}")
    before = sorted(there.rglob("*"))
    gone = shell.run("stores", "remove", "@garage")
    assert gone.stdout == f"removed @garage: bantamkit:{there}\n"
    assert gone.stderr == (
        f"the store itself is not touched: bantamkit:{there}\n"
        "it was the store to write: none is set now\n"
    )
    assert sorted(there.rglob("*")) == before
    assert shell.objects("stores") == []


def test_a_name_stands_wherever_a_store_does(shell: Shell) -> None:
    shell.put(shell.cwd / "garage", "bantamkit")
    shell.fine("stores", "add", "garage", "garage")
    shell.fine("stores", "add", "twin", "bantamkit:twin")
    shell.fine("convert", "@garage", "@twin")
    assert (shell.cwd / "twin" / "facts").is_dir()
    shell.fine("diff", "@garage", "@twin")
    shell.fine("check", "@twin")
    shell.fine("lint", "@twin")
    shell.fine("export", "@garage", "@twin", "--sqlite", "out.db")
    assert "@" not in shell.fine("undo", "@twin", "--list", "--json")
    shell.fine("undo", "@twin")
    assert not (shell.cwd / "twin" / "facts" / "tyre-order.md").exists()


def test_an_unknown_name_is_a_usage_error_that_lists_the_known(shell: Shell) -> None:
    none = shell.run("show", "@garage")
    assert (none.returncode, none.stdout) == (2, "")
    assert "`interop stores add NAME STORE`" in none.stderr
    shell.say('[stores]\nvan = "/van"\nshop = "/shop"\n')
    done = shell.run("show", "@garage")
    assert done.returncode == 2
    assert done.stderr == (
        "interop: no store is named '@garage'; one of @van, @shop; "
        "a folder of that name is ./@garage\n"
    )
    (shell.cwd / "@garage").mkdir()
    shell.fine("show", "claude-code:./@garage")


def test_broken_settings_stop_only_what_needs_them(shell: Shell) -> None:
    there = shell.put(shell.cwd / "garage", "bantamkit")
    shell.say('[stores]\ngarage = "bantamkit:/x"\nvan = 3\nreed = "y"\n')
    before = shell.settings.read_bytes()
    for arguments in (
        ["stores"],
        ["stores", "discover", "--add"],
        ["stores", "add", "x", "/x"],
        ["stores", "remove", "garage"],
        ["show", "@garage"],
    ):
        done = shell.run(*arguments)
        assert (done.returncode, done.stdout) == (4, ""), arguments
        assert done.stderr.startswith(f"interop: {shell.settings}:3: store 'van' is no text;")
        assert f"\n  {shell.settings}:4: store 'reed'" in done.stderr
    assert shell.settings.read_bytes() == before
    shell.fine("show", f"bantamkit:{there}")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["forget"], "unknown action 'forget'; one of list, add, remove, discover"),
        (["add"], "add needs NAME; `interop stores add NAME STORE [--write]`"),
        (["add", "x"], "add needs STORE"),
        (["remove"], "remove needs NAME"),
        (["remove", "x", "y"], "remove takes no STORE"),
        (["list", "x"], "list takes no NAME"),
        (["list", "--write"], "list takes no --write"),
        (["add", "x", "/x", "--add"], "add takes no --add"),
        (["discover", "--write"], "discover takes no --write"),
        (["remove", "x"], "no store is named '@x'"),
        (["add", "a/b", "/x"], "'a/b' is no name for a store"),
        (["add", "x", "@y"], "'@y' is no store"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    shell: Shell, arguments: list[str], says: str
) -> None:
    done = shell.run("stores", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"interop: {says}")
    assert not shell.settings.exists()


def test_comments_and_layout_stay(shell: Shell) -> None:
    shell.say('# mine\nread = ["@shop"]  # in order\n\n[stores]\nshop = "/shop" # the shop\n')
    done = shell.run("stores", "add", "van", "theokit:~/van", "--write")
    assert done.returncode == 0
    assert f"@van is not read until it stands in `read` in {shell.settings}\n" in done.stderr
    assert shell.settings.read_text(encoding="utf-8") == (
        'write = "@van"\n# mine\nread = ["@shop"]  # in order\n\n'
        '[stores]\nshop = "/shop" # the shop\nvan = "theokit:~/van"\n'
    )
    again = shell.run("stores", "add", "van", "theokit:~/van")
    assert again.stdout == "kept @van: theokit:~/van\n"
    other = shell.run("stores", "add", "van", "/elsewhere")
    assert (other.returncode, other.stdout) == (2, "")
    assert "@van is theokit:~/van already" in other.stderr


def test_a_format_alone_is_the_store_of_the_present_project(shell: Shell) -> None:
    for project in ("bikes", "vans"):
        folder = shell.home / project
        folder.mkdir(exist_ok=True)
        path = shell.home / ".claude" / "projects" / encode(str(folder)) / "memory"
        path.mkdir(parents=True)
        (path / "MEMORY.md").write_text(f"- [Hello](hello.md) — {project}\n")
        (path / "hello.md").write_text(f"The {project}.\n")
    done = shell.run("stores", "add", "here", "claude-code:")
    assert "@here is the store of whichever project it is used in; here that is" in done.stderr
    assert "The bikes." in shell.fine("show", "@here", "hello.md")
    shell.cwd = shell.home / "vans"
    assert "The vans." in shell.fine("show", "@here", "hello.md")


def test_a_store_that_is_gone_is_listed_as_such(shell: Shell) -> None:
    shell.say('[stores]\nvan = "bantamkit:/van-that-is-gone"\n')
    done = shell.run("stores")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].split()[:2] == ["@van", "unreachable"]
    assert "@van: /van-that-is-gone: there is no such folder" in done.stderr
    (van,) = shell.objects("stores")
    assert (van["reachable"], van["records"]) == (False, None)
    assert "no such folder" in str(van["problem"])


def test_discover_finds_names_and_is_quiet_the_second_time(shell: Shell) -> None:
    config_dir = shell.home / ".claude"
    shell.put(config_dir / "projects" / encode(str(shell.cwd)) / "memory", "claude-code")
    shell.put(config_dir / "projects" / "-srv-tills" / "memory", "claude-code")
    shell.put(shell.home / ".bantamkit" / "memory", "bantamkit")
    shell.put(shell.cwd / ".theokit" / "memory", "theokit")
    shell.put(shell.cwd / "opening", "memory-compiler")
    shell.env["MEMHTML_ROOT"] = str(shell.put(shell.home / "pages", "memhtml"))
    if os.name != "nt":
        (config_dir / "projects" / "-linked").symlink_to(config_dir / "projects" / "-srv-tills")
    found = shell.run("stores", "discover")
    assert found.returncode == 0
    assert [line.split()[:2] for line in found.stdout.splitlines()[1:]] == [
        ["@profile", "found"],
        ["@bikes", "found"],
        ["@srv-tills", "found"],
        ["@pages", "found"],
        ["@opening", "found"],
        ["@bikes-theokit", "found"],
    ]
    assert "6 stores without a name: --add names them so\n" in found.stderr
    if os.name != "nt":
        assert "-linked/memory: is reached by a symbolic link" in found.stderr
    assert not shell.settings.exists()
    shown = shell.objects("stores", "discover")
    assert [o["named"] for o in shown] == [False] * 6
    assert all(isinstance(o["records"], int) and o["reachable"] for o in shown)
    added = shell.run("stores", "discover", "--add")
    assert f"{shell.settings}: 6 stores added\n" in added.stderr
    named = shell.objects("stores")
    assert [(o["name"], o["spec"], o["records"]) for o in named] == [
        (o["name"], o["spec"], o["records"]) for o in shown
    ]
    written = shell.settings.read_bytes()
    again = shell.run("stores", "discover", "--add")
    assert {line.split()[1] for line in again.stdout.splitlines()[1:]} == {"named"}
    assert shell.settings.read_bytes() == written
    shell.fine("show", "@srv-tills")


def test_discover_names_what_it_cannot_open_and_does_not_add_it(shell: Shell) -> None:
    broken = shell.put(shell.cwd / ".theokit" / "memory", "theokit")
    (broken / ".interop").mkdir()
    (broken / ".interop" / "complement").write_text("no complement\n")
    done = shell.run("stores", "discover", "--add")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].split()[:3] == ["@bikes", "found", "unreachable"]
    assert f"{broken}/.interop/complement" in done.stderr
    assert not shell.settings.exists()


def test_names_with_control_characters_are_shown_escaped(shell: Shell) -> None:
    shell.say('[stores]\n"a\\u001b[2J" = "/x"\n')
    done = shell.run("stores")
    assert done.returncode == 4
    assert "\x1b" not in done.stderr


def test_without_a_name_no_settings_are_looked_at(shell: Shell) -> None:
    there = shell.put(shell.cwd / "garage", "bantamkit")
    shell.say("no TOML at all")
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from interop.cli.main import main\n"
        "sys.argv = ['interop', *sys.argv[1:]]\n"
        "main()\n"
    )

    def modules(*arguments: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            capture_output=True,
            text=True,
            cwd=shell.cwd,
            env=shell.env,
        )
        return set(done.stderr.split())

    settings = {"tomllib", "tomlkit", "platformdirs", "interop.config", "interop.config_edits"}
    assert not modules("show", f"bantamkit:{there}") & settings
    shell.say(f"[stores]\ngarage = 'bantamkit:{there}'\n")
    assert modules("show", "@garage") & settings == {"tomllib", "interop.config"}
    assert modules("stores") & settings == {"tomllib", "interop.config"}


# --- names, places, and what is read


def test_two_names_of_one_place_are_remarked(shell: Shell) -> None:
    here = shell.put(shell.cwd / "garage", "claude-code")
    shell.put(shell.cwd / "van", "bantamkit")
    shell.fine("stores", "add", "garage", "garage")
    shell.fine("stores", "add", "work", f"claude-code:{here}")
    shell.fine("stores", "add", "van", "van")
    done = shell.run("stores")
    assert done.returncode == 0
    remark = "@garage, @work: names of one place; answers use the first that is read\n"
    assert done.stderr.count("names of one place") == 1
    assert remark in done.stderr


def test_that_nothing_is_read_any_more_is_said(shell: Shell) -> None:
    here = shell.put(shell.cwd / "garage", "claude-code")
    other = shell.put(shell.cwd / "van", "bantamkit")
    shell.say(
        f'read = ["@garage"]\n[stores]\ngarage = "claude-code:{here}"\nvan = "bantamkit:{other}"\n'
    )
    done = shell.run("stores", "remove", "garage")
    assert done.returncode == 0
    assert f"`read` in {shell.settings} names no store now" in done.stderr
    asked = shell.run("recall", "pump")
    assert asked.returncode == 2
    assert "`read` names none there" in asked.stderr
    # another one that is removed leaves it as it was
    shell.say(f'read = ["@van"]\n[stores]\ng = "claude-code:{here}"\nvan = "bantamkit:{other}"\n')
    assert "names no store" not in shell.run("stores", "remove", "g").stderr


@pytest.mark.parametrize("spec", ["jsonl:", "memory-compiler:"])
def test_a_format_without_a_place_of_its_own_needs_a_path(shell: Shell, spec: str) -> None:
    done = shell.run("stores", "add", "all", spec)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"have no place of their own; give {spec}PATH" in done.stderr
    assert not shell.settings.exists()


def test_the_store_of_a_project_that_has_none_is_explained(shell: Shell) -> None:
    shell.fine("stores", "add", "here", "claude-code:", "--write")
    for arguments in (["stores"], ["recall", "lock"], ["recall", "lock", "--read", "@here"]):
        done = shell.run(*arguments)
        assert "there is no such folder" in done.stderr, arguments
        assert "@here is the store of" in done.stderr, arguments
        assert "project" in done.stderr, arguments
    # the first thing that is written makes it
    shell.fine("remember", "Bells are loud.")
    assert shell.fine("recall", "bells")
