"""Where theokit keeps and looks for the memories of a project, by the runtime's own rules.

One root is written; up to three are read, in order. The setting ``memory.directory`` is given in
a program's code, not on disk, so it is handed in.

Spec: docs/formats/theokit.md, section 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from interop.adapter import Place, Surroundings
from interop.adapters.theokit.ecmascript import trim
from interop.errors import UsageError

STORE = Path(".theokit") / "memory"


def locate(at: Surroundings) -> Sequence[Path]:
    """Give the roots that the runtime reads without ``memory.directory``, in its order."""
    return read_roots(at)


def discover(at: Surroundings) -> Iterator[Place]:
    """Give the project's own root, and those of the folders above, where a program may be started.

    Claude Code's directories are read by the runtime too, and are Claude Code's.
    """
    for folder in (at.cwd, *at.cwd.parents):
        yield Place(path=folder / STORE)


def read_roots(at: Surroundings, directory: str | None = None) -> tuple[Path, ...]:
    """Give the roots that are read, in order, each once; only the first is ever written.

    They are the configured one, the project's own, and Claude Code's for the git root.

    Raises:
        UsageError: ``directory`` is none that the runtime takes.
    """
    own = at.cwd / STORE
    roots = (write_root(at, directory), own, claude_root(at))
    return tuple(dict.fromkeys(roots))


def write_root(at: Surroundings, directory: str | None = None) -> Path:
    """Give the one root that is written: what ``memory.directory`` says, else the project's own.

    Raises:
        UsageError: ``directory`` is neither absolute nor below ``~/`` (``invalid_memory_directory``
            to the runtime).
    """
    if directory is None:
        return at.cwd / STORE
    path = trim(directory)
    if path.startswith("~/"):
        return at.home / path[2:]
    if Path(path).is_absolute():
        return Path(path)
    raise UsageError(
        f"memory.directory is {directory!r}, which theokit refuses",
        "give an absolute path, or one that begins with ~/",
    )


def claude_root(at: Surroundings) -> Path:
    """Give the Claude Code directory that is read last; written only where it is configured.

    The name is the runtime's own reckoning: a worktree is its own root, long paths are not cut, and
    nothing is normalised, so for such projects it misses the directory that Claude Code uses.
    """
    config = at.env.get("CLAUDE_CONFIG_DIR") or ""
    base = Path(config) if config else at.home / ".claude"
    return base / "projects" / encode(str(_git_root(at))) / "memory"


def encode(path: str) -> str:
    """Give the name of a project's path: Latin letters and digits, ``-`` for other units."""
    return re.sub("[^a-zA-Z0-9]", lambda m: "--" if m[0] > "\uffff" else "-", path)


def _git_root(at: Surroundings) -> Path:
    for folder in (at.cwd, *at.cwd.parents):
        mark = folder / ".git"
        if at.is_dir(mark) or at.read_text(mark) is not None:
            return folder
    return at.cwd
