"""Running git on the repository of a store, and on no other one.

Spec: docs/formats/memhtml.md, "Git".
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from interop.errors import RefusedError, WriteError

_SELECTING: Final = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
)
"""What would make git work on another repository, when interop runs inside a hook of one."""
FROM_STDIN: Final = ("--pathspec-from-file=-", "--pathspec-file-nul")
"""Paths are read from stdin, each ended by NUL."""


def run(
    root: Path, *args: str, data: str = "", literal: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run git on a store, whatever comes of it; paths are taken as they are, never as patterns.

    Raises:
        RefusedError: there is no git.
    """
    env = {k: v for k, v in os.environ.items() if k not in _SELECTING}
    env |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_LITERAL_PATHSPECS": f"{literal:d}"}
    try:
        return subprocess.run(
            ["git", "-C", str(root), *args],
            input=data,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            env=env,
            check=False,
        )
    except FileNotFoundError as error:
        raise RefusedError(
            str(root), "memhtml keeps its store in git, and there is no git here", "install git"
        ) from error


def command(root: Path) -> str:
    """Give the words that a user begins a git command on this store with."""
    return f"git -C {shlex.quote(str(root))}"


def git(root: Path, *args: str, data: str = "") -> str:
    """Run git on a store, and give what it says.

    Raises:
        WriteError: it failed.
    """
    done = run(root, *args, data=data)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).replace("\n", "; ")
        raise WriteError(str(root), f"git {args[0]} failed: {said}", "nothing was recorded")
    return done.stdout


def listed(root: Path, args: Sequence[str], paths: Iterable[str]) -> list[str]:
    """Run a command that reads paths and lists paths, both ended by NUL."""
    done = git(root, *args, data="".join(f"{p}\0" for p in paths))
    return [p for p in done.split("\0") if p]


def tracked(root: Path, paths: Sequence[str]) -> set[str]:
    """Give those of the paths that git knows, there or not."""
    wanted = set(paths)
    return {p for p in listed(root, ["ls-files", "-z"], ()) if p in wanted}


def ignored(root: Path, paths: Iterable[str]) -> set[str]:
    """Give the paths that git ignores, whatever file says so; one that is tracked is not."""
    # which takes no literal paths; behind these two characters nothing is a pattern
    data = "".join(f"./{p}\0" for p in paths)
    done = run(root, "check-ignore", "-z", "--stdin", data=data, literal=False)
    if done.returncode > 1:  # 1: none of them
        raise WriteError(
            str(root), f"git check-ignore failed: {done.stderr.strip()}", "nothing was recorded"
        )
    return {p.removeprefix("./") for p in done.stdout.split("\0") if p}
