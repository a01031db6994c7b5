"""One target under atheris, which follows the branches of the code; ends the process.

    python -m fuzz.guided TARGET FOLDER SECONDS

``FOLDER`` gets the inputs that reach something new, and ``crash-…`` or ``timeout-…`` where the
target fails or takes more than ten seconds.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def main(name: str, folder: Path, seconds: int) -> None:
    """Fuzz a target; the exit code is 0 where nothing was found."""
    # by name, since it has neither types nor wheels for every system
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["interop"]):
        from fuzz.targets import targets

        target = targets()[name]
    seeds = folder / "corpus"
    seeds.mkdir(parents=True, exist_ok=True)
    for n, seed in enumerate(target.seeds()):
        (seeds / f"seed-{n}").write_bytes(seed)
    options = [
        str(seeds),
        f"-max_total_time={seconds}",
        f"-artifact_prefix={folder}/",
        *("-timeout=10", "-max_len=60000", "-rss_limit_mb=2048", "-print_final_stats=1"),
    ]
    atheris.Setup([sys.argv[0], *options], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
