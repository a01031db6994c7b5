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
# A build is the same every time: what new examples find belongs to who looks for it. It is no place
# to learn how well examples are made either, which changes with every version of the library.
settings.register_profile(
    "ci",
    parent=settings.get_profile("interop"),
    derandomize=True,
    database=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.large_base_example,
    ],
)
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


@pytest.fixture(scope="session", autouse=True)
def own_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Take out of the environment what would change what is printed, read or committed."""
    folder = tmp_path_factory.mktemp("surroundings")
    gitconfig = folder / "gitconfig"
    gitconfig.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if _speaks_to_us(name)]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", str(gitconfig))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("INTEROP_CACHE_DIR", str(folder / "cache"))
        yield


_TERMINAL = {
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLORTERM"),
    *("TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERMINAL_WIDTH", "COLUMNS", "LINES", "GITHUB_ACTIONS"),
    *("PAGER", "MANPAGER", "LESS"),
}
_OURS = {"INTEROP_CHROMIUM", "INTEROP_PEERS", "INTEROP_EVERY_STEP"}
"""What is said to the tests themselves."""


def _speaks_to_us(name: str) -> bool:
    runtimes = ("GIT_", "INTEROP_", "CLAUDE_", "BANTAMKIT_", "MEMHTML_")
    return name in _TERMINAL or (name.startswith(runtimes) and name not in _OURS)


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
