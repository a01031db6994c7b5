"""What interop depends on can be had, as wheels, on every platform that it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bounds import bound, requirements

PLATFORMS = {
    "linux": ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64"),
    "macos": ("macosx_11_0_arm64",),
    "windows": ("win_amd64",),
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    for needed in requirements():
        assert bound(needed, ">="), f"{needed}: no lowest version is promised"
        assert bound(needed, "<"), f"{needed}: the next major version may break it"


@pytest.mark.conformance
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_wheels_for(python: str, platform: str, tmp_path: Path) -> None:
    """No compiler is needed: pip finds a wheel of everything, the dependencies' own included."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--dry-run"]
    target = ["--only-binary=:all:", "--target", str(tmp_path), "--implementation", "cp"]
    tags = [word for tag in PLATFORMS[platform] for word in ("--platform", tag)]
    found = subprocess.run(
        [*pip, *target, "--python-version", python, *tags, *map(str, requirements())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
