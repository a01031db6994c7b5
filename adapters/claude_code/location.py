"""Where the memory directory of a project lies, by Claude Code's own rules.

    <config>/projects/<project>/memory/

``<project>`` is the path of the canonical git root with every character outside ``[A-Za-z0-9]``
replaced. It cannot be turned back into a path, so candidates are only ever matched forward.

Spec: docs/formats/claude-code.md, section "Where a store lies".
"""

from __future__ import annotations

import json
import re
import struct
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from interop.adapter import Place, Surroundings
from interop.model import Json

_LONGEST = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_DIR_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")


def locate(at: Surroundings) -> Sequence[Path]:
    """Give the directories where this project's memory may lie, most likely first."""
    config_dir = at.env.get("CLAUDE_CONFIG_DIR", "").strip()
    config = _config(at)
    root = git_root(at)
    found: list[Path] = []
    setting = _setting(at, config, root)
    if setting is not None:
        found.append(setting)
    own_name = at.env.get("CLAUDE_CODE_PROJECT_DIR_NAME", "")
    if config_dir and _DIR_NAME.fullmatch(own_name):
        found.append(config / "projects" / own_name / "memory")
    else:
        found.append(config / "projects" / encode(str(root)) / "memory")
        if root != at.cwd:  # older versions took the working directory
            found.append(config / "projects" / encode(str(at.cwd)) / "memory")
    return tuple(dict.fromkeys(found))


def discover(at: Surroundings) -> Iterator[Place]:
    """Give this project's places, those of every project, and those of subagents."""
    projects = [config / "projects" for config in _configs(at)]
    for path in locate(at):
        own = path.parent.parent in projects
        yield Place(path=path, name=_project(at, path.parent.name) if own else "")
    for folder in projects:
        for name in at.folders(folder):
            yield Place(path=folder / name / "memory", name=_project(at, name))
    for config in _configs(at):
        yield from _agents(at, config / "agent-memory", "agent")
    for root in dict.fromkeys((git_root(at), at.cwd)):
        for name in ("agent-memory", "agent-memory-local"):
            yield from _agents(at, root / ".claude" / name, f"{root.name}-agent")


def _agents(at: Surroundings, folder: Path, name: str) -> Iterator[Place]:
    """Give the folder of each subagent; the folder of them all only if it has an index itself."""
    if at.read_text(folder / "MEMORY.md") is not None:
        yield Place(path=folder, name=f"{name}s")
    for agent in at.folders(folder):
        yield Place(path=folder / agent, name=f"{name}-{agent}")


def _config(at: Surroundings) -> Path:
    stated = at.env.get("CLAUDE_CONFIG_DIR", "").strip()
    return Path(stated) if stated else at.home / ".claude"


def _configs(at: Surroundings) -> tuple[Path, ...]:
    """Give the configuration directory, and the one that it is without the variable."""
    return tuple(dict.fromkeys((_config(at), at.home / ".claude")))


def _project(at: Surroundings, name: str) -> str:
    """Give the part of a project's directory name that tells it from others: that below home."""
    home = encode(str(at.home))
    return name.removeprefix(f"{home}-") if name != home else at.home.name


def encode(path: str) -> str:
    """Give the directory name of a project's path."""
    units = _units(unicodedata.normalize("NFC", path))
    name = "".join(chr(u) if u in _PLAIN else "-" for u in units)
    if len(name) <= _LONGEST:
        return name
    hashed = 0
    for unit in units:
        hashed = (hashed * 31 + unit) & 0xFFFFFFFF
    signed = hashed - (1 << 32) if hashed >= 1 << 31 else hashed
    return f"{name[:_LONGEST]}-{_base36(abs(signed))}"


def _units(text: str) -> tuple[int, ...]:
    """Give the UTF-16 units of a text, half characters as they are."""
    data = text.encode("utf-16-le", "surrogatepass")
    return struct.unpack(f"<{len(data) // 2}H", data)


def _base36(number: int) -> str:
    out = ""
    while number:
        number, digit = divmod(number, 36)
        out = _DIGITS[digit] + out
    return out or "0"


def git_root(at: Surroundings) -> Path:
    """Give the canonical git root of the working directory; outside git the directory itself.

    A worktree's ``.git`` file leads to the main repository; a submodule keeps its own root.
    """
    for folder in (at.cwd, *at.cwd.parents):
        mark = folder / ".git"
        if at.is_dir(mark):
            return folder
        text = at.read_text(mark)
        if text is not None and text.startswith("gitdir:"):
            return _main_root(at, folder, text.removeprefix("gitdir:").strip())
    return at.cwd


def _main_root(at: Surroundings, folder: Path, gitdir: str) -> Path:
    git = _joined(folder, gitdir)
    common = at.read_text(git / "commondir")
    if common is None:  # a submodule has no commondir
        return folder
    shared = _joined(git, common.strip())
    return shared.parent if shared.name == ".git" else shared


def _joined(base: Path, path: str) -> Path:
    """Join without asking the disk, ``..`` taken off as text."""
    parts: list[str] = []
    for part in (base / path).parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    return Path(*parts)


def _setting(at: Surroundings, config: Path, root: Path) -> Path | None:
    """Give ``autoMemoryDirectory`` from the settings, the nearest first; relative ones are ignored.

    The project's shared settings are left out: a checked-out repository must not choose where
    private notes go.
    """
    for path in (root / ".claude" / "settings.local.json", config / "settings.json"):
        text = at.read_text(path)
        try:
            settings: Json = json.loads(text) if text else None
        except (json.JSONDecodeError, RecursionError):
            continue
        value = settings.get("autoMemoryDirectory") if isinstance(settings, dict) else None
        if isinstance(value, str):
            if value.startswith("~/"):
                return at.home / value[2:]
            if Path(value).is_absolute():
                return Path(value)
    return None
