"""The fixtures' own verifier, run over the command line for every format that is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from interop import registry
from tests.samples import SHARED

VERIFY = SHARED / "fixtures" / "verify.py"


@pytest.mark.skipif(not VERIFY.is_file(), reason=f"{VERIFY} is absent: golden/ alone is checked")
def test_fixtures_are_read_as_expected() -> None:
    formats = [n for n in registry.names() if (VERIFY.parent / n).is_dir()]
    only = [word for name in formats for word in ("--only", name)]
    show = [sys.executable, "-m", "interop.cli.main", "show", "--json", "{format}:{store}"]
    done = subprocess.run(
        [sys.executable, str(VERIFY), *only, *show], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all cases agree" in done.stdout
