"""Fuzz every target, each for its share of the time.

    python -m fuzz [--seconds N] [--target PART] [--seed TEXT]

With atheris where it is installed, else with blind mutations; said which. What is found is kept in
.artifacts/fuzz/<target>/ and ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import subprocess
import sys

from fuzz.corpus import ROOT
from fuzz.mutation import Broken, fuzz
from fuzz.targets import Target, targets

ARTIFACTS = ROOT / ".artifacts" / "fuzz"


def main() -> int:
    """Run what the arguments ask for; 1 where something was found."""
    options = argparse.ArgumentParser(prog="fuzz", description="Fuzz every target.")
    options.add_argument("--seconds", type=int, default=600, help="for all targets together")
    options.add_argument("--target", default="", help="only those with this in their name")
    options.add_argument("--seed", default="1", help="of the dice of blind mutations")
    asked = options.parse_args()
    chosen = {n: t for n, t in targets().items() if asked.target in n}
    if not chosen:
        options.error(f"no target has {asked.target!r} in its name")
    guided = importlib.util.find_spec("atheris") is not None
    print("with atheris" if guided else "with blind mutations: atheris is not installed")
    share = max(1, asked.seconds // len(chosen))
    broken = 0
    for name, target in chosen.items():
        found = _guided(name, share) if guided else _blind(name, target, share, asked.seed)
        print(f"{name}: {found or 'nothing found'}", flush=True)
        broken += bool(found)
    return 1 if broken else 0


def _guided(name: str, seconds: int) -> str:
    folder = ARTIFACTS / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "fuzz.guided", name, str(folder), str(seconds)]
    log = folder / "log"
    with log.open("wb") as out:
        code = subprocess.run(command, cwd=ROOT, stdout=out, stderr=out, check=False).returncode
    return f"see {log} (exit code {code})" if code else ""


def _blind(name: str, target: Target, seconds: int, seed: str) -> str:
    try:
        fuzz(target.run, target.seeds(), seed=f"{name} {seed}", seconds=seconds)
    except Broken as error:
        folder = ARTIFACTS / name
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"crash-{hashlib.sha256(error.data).hexdigest()[:16]}"
        place.write_bytes(error.data)
        return f"{error}; the input is {place}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
