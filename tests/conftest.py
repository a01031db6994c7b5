"""What every test shares: the adapters, the sample stores, a state directory of its own."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from interop import registry
from interop.disk import durable
from tests.samples import SHARED, samples

settings.register_profile(
    "interop",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# A build is the same every time: what new examples find belongs to who looks for it.
settings.register_profile("ci", parent=settings.get_profile("interop"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "interop"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the expectations in golden/"
    )


def pytest_report_header() -> str:
    if SHARED.is_dir():
        return f"fixtures: {SHARED} is there and takes part"
    return f"fixtures: {SHARED} is ABSENT, the golden stores alone take part"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every test that asks for ``adapter`` or ``sample`` all that there are."""
    if "sample" in metafunc.fixturenames:
        every = samples()
        metafunc.parametrize("sample", every, ids=[s.id for s in every])
    elif "adapter" in metafunc.fixturenames:
        metafunc.parametrize("adapter", list(registry.adapters()), ids=list(registry.names()))


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what interop remembers and is told of stores out of the user's own directories."""
    monkeypatch.setenv("INTEROP_STATE_DIR", str(tmp_path / "interop-state"))
    monkeypatch.setenv("INTEROP_CONFIG_DIR", str(tmp_path / "interop-config"))


@pytest.fixture(params=["exchange", "links", "copies"])
def means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the system can do: swap two names, only link them, or neither."""
    if request.param != "exchange":
        monkeypatch.setattr(durable, "_system_call", lambda: None)
    if request.param == "copies":

        def no_links(*args: object, **kwargs: object) -> None:
            raise PermissionError(errno.EPERM, "no hard links here")

        monkeypatch.setattr(os, "link", no_links)
    return str(request.param)


@pytest.fixture(autouse=True)
def no_fault_stays() -> Iterator[None]:
    yield
    durable.fault = None
