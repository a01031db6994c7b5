"""The real runtimes, each in a virtual environment of its own, driven over JSON.

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

ROOT = Path(__file__).parents[1]
BANTAMKIT = ("0.27.0", "0.36.2")
"""The versions whose format the adapter follows."""
_DRIVER = Path(__file__).parent / "conformance" / "bantamkit_driver.py"
_MINUTES_5 = 300


class PeerError(Exception):
    """A real runtime cannot be had here; the message says what failed and what would mend it."""


def folder() -> Path:
    """Give the directory of the peers' environments."""
    return Path(os.environ.get("INTEROP_PEERS") or ROOT / ".peers")


@cache
def python_of(version: str) -> Path:
    """Give the Python of an environment that has this bantamkit, made first where it is missing."""
    home = folder() / f"bantamkit-{version}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = home / "ready"
    if not (ready.is_file() and python.exists()):
        home.parent.mkdir(parents=True, exist_ok=True)
        _make([sys.executable, "-m", "venv", str(home)], version)
        package = f"bantamkit=={version}"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _make([*pip, package], version)
        ready.write_text(f"{package}\n", encoding="utf-8")
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
        timeout=_MINUTES_5,
        check=False,
    )
    if done.returncode:
        raise PeerError(f"bantamkit {version}: {done.stderr.decode('utf-8', 'replace')}")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["version"] == version, f"asked for {version}, got {answer['version']}"
    return answer


def _make(command: list[str], version: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_MINUTES_5, check=False)
        said = done.stderr.decode("utf-8", "replace").strip()
        failed = done.returncode != 0
    except (OSError, subprocess.TimeoutExpired) as error:
        failed, said = True, str(error)
    if failed:
        raise PeerError(
            f"bantamkit {version} cannot be installed, so its conformance tests cannot run.\n"
            f"command: {' '.join(command)}\n{said}\n"
            "The package registry (or its mirror) has to be in reach, or INTEROP_PEERS has to"
            f" name a directory with a ready environment bantamkit-{version}."
        )
