"""Finding stores: each format's places on a real disk, links, unreadable folders, and names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from interop import config, discovery, registry, stores
from interop.adapter import Adapter, Surroundings
from interop.adapters.claude_code.location import encode
from interop.config import Config
from interop.discovery import Discovery

GOLDEN = Path(__file__).parents[1] / "golden"
NOTHING = Config(path=Path("config.toml"))


class Machine:
    """A home with a project in it, and what a program that runs there looks at."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home" / "mira"
        self.project = self.home / "bikes"
        (self.project / ".git").mkdir(parents=True)
        self.env: dict[str, str] = {}

    def put(self, path: Path, format_name: str | None = None) -> Path:
        """Make a folder, with the files of a golden store if a format is named."""
        if format_name is None:
            path.mkdir(parents=True)
        else:
            shutil.copytree(GOLDEN / format_name / "basic" / "store", path)
        return path

    def claude(self, project: Path) -> Path:
        return self.home / ".claude" / "projects" / encode(str(project)) / "memory"

    def around(self, cwd: Path | None = None) -> Surroundings:
        cwd = self.project if cwd is None else cwd
        return replace(stores.surroundings(self.env), cwd=cwd, home=self.home)

    def discover(self, settings: Config = NOTHING, cwd: Path | None = None) -> Discovery:
        return discovery.discover(settings, self.around(cwd))

    def names(self, settings: Config = NOTHING, cwd: Path | None = None) -> dict[str, str]:
        """Give name -> spec, home written as ``~``."""
        found = self.discover(settings, cwd).found
        return {f.name: f.spec.replace(str(self.home), "~") for f in found}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_nothing_is_found_where_nothing_is(machine: Machine) -> None:
    assert machine.discover() == Discovery(found=(), problems=())
    assert machine.discover(cwd=machine.home / "gone") == Discovery(found=(), problems=())


def test_claude_code_of_every_project_and_every_agent(machine: Machine) -> None:
    machine.put(machine.claude(machine.project), "claude-code")
    machine.put(machine.claude(machine.home / "vans"))
    machine.put(machine.claude(machine.home))
    machine.put(machine.claude(Path("/stores/tills")))
    machine.put(machine.home / ".claude" / "projects" / "-no-memory")
    machine.put(machine.home / ".claude" / "agent-memory" / "reviewer")
    machine.put(machine.project / ".claude" / "agent-memory" / "tester", "claude-code")
    machine.put(machine.project / ".claude" / "agent-memory-local" / "tester")
    at = "claude-code:~/"
    projects = f"{at}.claude/projects"
    assert machine.names() == {
        "bikes": f"{projects}/{encode(str(machine.project))}/memory",
        "vans": f"{projects}/{encode(str(machine.home / 'vans'))}/memory",
        "mira": f"{projects}/{encode(str(machine.home))}/memory",
        "-stores-tills".strip("-"): f"{projects}/-stores-tills/memory",
        "agent-reviewer": f"{at}.claude/agent-memory/reviewer",
        "bikes-agent-tester": f"{at}bikes/.claude/agent-memory/tester",
        "bikes-agent-tester-claude-code": f"{at}bikes/.claude/agent-memory-local/tester",
    }


def test_claude_code_where_variables_and_settings_say(machine: Machine, tmp_path: Path) -> None:
    machine.put(machine.claude(machine.project))
    machine.put(tmp_path / "cfg" / "projects" / "-srv-x" / "memory")
    machine.put(tmp_path / "notes")
    machine.put(machine.project / ".claude").joinpath("settings.local.json").write_text(
        f'{{"autoMemoryDirectory": "{tmp_path / "notes"}"}}'
    )
    machine.env["CLAUDE_CONFIG_DIR"] = str(tmp_path / "cfg")
    assert set(machine.names()) == {"notes", "srv-x", "bikes"}


def test_a_flat_folder_of_agents_counts_only_with_an_index(machine: Machine) -> None:
    flat = machine.put(machine.project / ".claude" / "agent-memory")
    assert machine.names() == {}
    (flat / "MEMORY.md").write_text("- [Locks](locks.md) — how they open\n")
    assert machine.names() == {"bikes-agents": "claude-code:~/bikes/.claude/agent-memory"}


def test_bantamkit_in_three_layers(machine: Machine, tmp_path: Path) -> None:
    own = machine.put(machine.project / ".bantamkit" / "memory", "bantamkit")
    machine.put(machine.home / ".bantamkit" / "memory")
    machine.put(machine.home / "vans" / ".bantamkit" / "memory")
    config_file = own.parent / "config.yaml"
    config_file.write_text("extra_stores:\n- ../../vans/.bantamkit/memory\n- 5\n- gone\n")
    deep = machine.put(machine.project / "src" / "app")
    expected = {
        "bikes": "bantamkit:~/bikes/.bantamkit/memory",
        "vans": "bantamkit:~/vans/.bantamkit/memory",
        "profile": "bantamkit:~/.bantamkit/memory",
    }
    assert machine.names(cwd=deep) == expected
    pinned = machine.put(tmp_path / "pinned")
    machine.env["BANTAMKIT_MEMORY_DIR"] = str(pinned)
    assert machine.names(cwd=deep) == {"pinned": f"bantamkit:{pinned}", **expected}
    for broken in ("extra_stores: [", "- a\n", "extra_stores: {a: b}\n", ""):
        config_file.write_text(broken)
        assert set(machine.names(cwd=deep)) == {"pinned", "bikes", "profile"}


def test_theokit_memhtml_and_topics(machine: Machine, tmp_path: Path) -> None:
    machine.put(machine.project / ".theokit" / "memory", "theokit")
    machine.put(machine.home / "memhtml", "memhtml")
    machine.put(machine.project / "opening", "memory-compiler")
    machine.put(machine.project / "closing").joinpath("DECISIONS.md").write_text("# None yet\n")
    assert machine.names() == {
        "memhtml": "memhtml:~/memhtml",
        "opening": "memory-compiler:~/bikes/opening",
        "bikes": "theokit:~/bikes/.theokit/memory",
    }
    assert "opening" in machine.names(cwd=machine.put(machine.project / "opening" / "_x"))
    machine.env["MEMHTML_ROOT"] = str(machine.put(tmp_path / "pages", "memhtml"))
    assert {"pages", "memhtml"} < set(machine.names())


def test_the_present_projects_store_is_among_those_found(
    machine: Machine, adapter: Adapter
) -> None:
    if adapter.locate is None:
        assert machine.discover().found == ()  # given by path alone
        return
    place = next(iter(adapter.locate(machine.around())))
    machine.put(place, adapter.name)
    found = machine.discover().found
    assert [(f.format, f.path) for f in found] == [(adapter.name, place)]


def test_a_folder_in_another_format_is_said_to_be_in_that(machine: Machine) -> None:
    machine.put(machine.claude(machine.project), "memory-compiler")
    assert [f.format for f in machine.discover().found] == ["memory-compiler"]


def test_a_format_without_places_is_asked_where_the_project_keeps_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = machine.put(machine.project / "shed")

    def locate(at: Surroundings) -> Sequence[Path]:
        return (at.cwd / "shed",)

    plain = replace(registry.get("theokit"), locate=locate, discover=None)
    monkeypatch.setattr(registry, "adapters", lambda: iter((plain,)))
    assert [f.path for f in machine.discover().found] == [there]


# --- names


def test_names_are_free_and_the_same_every_time(machine: Machine) -> None:
    machine.put(machine.claude(machine.project), "claude-code")
    machine.put(machine.project / ".theokit" / "memory", "theokit")
    machine.put(machine.project / ".bantamkit" / "memory", "bantamkit")
    expected = ["bikes", "bikes-claude-code", "bikes-theokit"]
    assert list(machine.names()) == list(machine.names()) == expected
    taken = Config(path=Path("c"), stores={"bikes": "/x", "bikes-theokit": "theokit:/y"})
    assert list(machine.names(taken)) == ["bikes-bantamkit", "bikes-claude-code", "bikes-theokit-2"]


def test_what_is_named_already_keeps_its_name(machine: Machine) -> None:
    there = machine.put(machine.project / ".theokit" / "memory", "theokit")
    settings = Config(
        path=Path("c"), stores={"mine": str(there / ".." / "memory"), "x": "memhtml:"}
    )
    (found,) = machine.discover(settings).found
    assert (found.name, found.named) == ("mine", True)


@pytest.mark.parametrize(
    ("folder", "name"),
    [("新聞", "新聞"), ("a b (1)", "a-b-1"), ("…", "theokit"), (".x", "mira"), ("-a-", "a")],
)
def test_a_folders_name_becomes_one_that_can_be_written(
    machine: Machine, folder: str, name: str
) -> None:
    machine.put(machine.home / folder / ".theokit" / "memory", "theokit")
    (found,) = machine.discover(cwd=machine.home / folder).found
    assert found.name == name
    assert config.add({found.name: found.spec}).stores == {name: found.spec}


# --- links, and what cannot be read

posix = pytest.mark.skipif(os.name == "nt", reason="links and permissions of POSIX")


@posix
def test_links_are_named_and_not_followed(machine: Machine, tmp_path: Path) -> None:
    outside = machine.put(tmp_path / "outside" / "memory", "claude-code")
    projects = machine.home / ".claude" / "projects"
    machine.put(projects / "-real")
    (projects / "-real" / "memory").symlink_to(outside)
    (projects / "-linked").symlink_to(outside.parent)
    (projects / "-elsewhere").symlink_to(tmp_path)
    (projects / "-broken").symlink_to(tmp_path / "gone")
    found = machine.discover()
    assert found.found == ()
    assert [p.path for p in found.problems] == [
        str(projects / "-linked" / "memory"),
        str(projects / "-real" / "memory"),
    ]
    assert all("symbolic link" in p.problem for p in found.problems)


@posix
def test_the_projects_own_place_may_be_a_link_as_its_runtime_follows_it(
    machine: Machine, tmp_path: Path
) -> None:
    outside = machine.put(tmp_path / "outside", "claude-code")
    place = machine.claude(machine.project)
    place.parent.mkdir(parents=True)
    place.symlink_to(outside)
    found = machine.discover()
    assert [(f.name, f.path) for f in found.found] == [("bikes", place)]
    assert found.problems == ()


@posix
def test_a_whole_configuration_behind_a_link_is_found(machine: Machine, tmp_path: Path) -> None:
    machine.put(tmp_path / "dotfiles" / "projects" / "-srv-x" / "memory")
    (machine.home / ".claude").symlink_to(tmp_path / "dotfiles")
    assert list(machine.names()) == ["srv-x"]


def denying(real: Callable[..., object], *denied: Path) -> Callable[..., object]:
    """Give a function of ``os`` that some folders deny, also to an administrator."""

    def deny(path: str | Path, *rest: object, **more: object) -> object:
        if any(folder == Path(path) for folder in denied):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest, **more)

    return deny


def test_unreadable_folders_are_named_and_the_others_found(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.put(machine.claude(machine.home / "vans"))
    closed = machine.claude(machine.home / "closed")
    machine.put(closed)
    agents = machine.put(machine.home / ".claude" / "agent-memory")
    monkeypatch.setattr(os, "scandir", denying(os.scandir, agents))
    monkeypatch.setattr(os, "lstat", denying(os.lstat, closed))
    found = machine.discover()
    assert [f.name for f in found.found] == ["vans"]
    assert {p.path: p.problem for p in found.problems} == {
        str(agents): "cannot be read (permission denied)",
        str(closed): "cannot be read (permission denied)",
    }


@posix
@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="nothing is closed to root")
def test_a_folder_without_permissions_is_named(machine: Machine) -> None:
    own = machine.claude(machine.project)
    projects = own.parent.parent
    machine.put(projects)
    projects.chmod(0)
    try:  # where this project's own would be, too: whether there is one cannot be seen
        assert {p.path for p in machine.discover().problems} == {str(projects), str(own)}
    finally:
        projects.chmod(0o700)


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="names are bytes")
def test_a_name_that_is_not_text_is_named(machine: Machine) -> None:
    odd = Path(os.fsdecode(os.fsencode(machine.home) + b"/\xff"))
    machine.put(odd / ".theokit" / "memory", "theokit")
    found = machine.discover(cwd=odd)
    assert found.found == ()
    assert [p.path.endswith("\\xff/.theokit/memory") for p in found.problems] == [True]


# --- one look at a store


def test_a_glance_counts_what_show_would_show(machine: Machine) -> None:
    root = machine.put(machine.project / "store", "bantamkit")
    seen = discovery.glance(str(root))
    opened = stores.open_store(str(root))
    assert (seen.format, seen.path, seen.problem) == ("bantamkit", root, None)
    assert seen.records == len(opened.restored.store.records) > 0


@pytest.mark.parametrize("spec", ["bantamkit:/gone/x", "/gone/x", "@x", "~nobody-of-this-name/x"])
def test_a_glance_says_what_is_wrong(spec: str) -> None:
    seen = discovery.glance(spec)
    assert seen.records is None
    assert seen.problem


def test_a_glance_at_a_disk_that_fails(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    root = machine.put(machine.project / "store", "bantamkit")

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(stores, "open_store", fail)
    assert discovery.glance(str(root)).problem == f"{root}: input/output error"
