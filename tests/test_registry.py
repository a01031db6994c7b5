"""The folder is the registry, third parties come in by an entry point."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop import registry
from interop.adapter import Adapter, Context, Fitted, Refusal, Written
from interop.errors import UsageError
from interop.model import Files, Record, Store

ROOT = Path(__file__).parents[1]


def _detect(files: Files) -> str | None:
    return None


def _read(files: Files) -> Store:
    return Store(format="tsv")


def _write(store: Store, onto: Files, context: Context) -> Written:
    return Written(files=onto, records={})


def _fit(record: Record, present: Record | None, context: Context) -> Fitted | Refusal:
    return Fitted(record=record)


TSV = Adapter(
    name="tsv", title="Tables", spec=1, holds={}, detect=_detect, read=_read, write=_write, fit=_fit
)


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two packages that bring formats: one good, one whose object is no adapter."""
    good = importlib.metadata.EntryPoint("tsv", f"{__name__}:TSV", registry.GROUP)
    bad = importlib.metadata.EntryPoint("csv", f"{__name__}:TSV", registry.GROUP)

    def load(entry: importlib.metadata.EntryPoint) -> Adapter:
        return TSV

    def entry_points(*, group: str) -> list[importlib.metadata.EntryPoint]:
        assert group == "interop.adapters"
        return [good, bad]

    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", load)
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    registry.names.cache_clear()
    registry._entry_points.cache_clear()  # pyright: ignore[reportPrivateUsage]
    yield
    registry.names.cache_clear()
    registry._entry_points.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_every_module_of_the_folder_is_a_format() -> None:
    modules = {
        p.stem.replace("_", "-")
        for p in (ROOT / "adapters").iterdir()
        if not p.name.startswith(("_", ".")) and (p.suffix == ".py" or p.is_dir())
    }
    assert modules <= set(registry.names())
    assert list(registry.names()) == sorted(registry.names())


def test_each_adapter_has_the_name_of_its_module() -> None:
    assert [a.name for a in registry.adapters()] == list(registry.names())


def test_an_unknown_format_is_the_users_mistake() -> None:
    with pytest.raises(UsageError, match="unknown format 'notebook'; one of ") as caught:
        registry.get("notebook")
    assert caught.value.exit_code == 2


@pytest.mark.usefixtures("third_party")
def test_a_third_party_brings_a_format() -> None:
    assert {"csv", "tsv"} <= set(registry.names())
    assert registry.get("tsv") is TSV


@pytest.mark.usefixtures("third_party")
def test_an_entry_point_that_gives_something_else_is_named() -> None:
    with pytest.raises(UsageError, match="format 'csv': its module does not give an adapter"):
        registry.get("csv")


def test_names_import_no_adapter() -> None:
    code = (
        "import sys; from interop import registry; registry.names();"
        "print([m for m in sys.modules if m.startswith('interop.adapters.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_adapter_at_once_imports_only_what_tells_stores_apart() -> None:
    """Detection asks them all; what reads, writes, fits or lints comes with its first call."""
    code = "import sys; from interop import registry; [*registry.adapters()]; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    modules = set(done.stdout.split())
    parts = {m.removeprefix("interop.adapters.") for m in modules if m.startswith("interop.adap")}
    here = {p.parent.name for p in (ROOT / "adapters").glob("*/__init__.py")}
    assert here <= parts
    later = {"reading", "writing", "fitting", "lint", "repeating", "tables"}
    assert later <= {p.stem for p in (ROOT / "adapters").glob("*/*.py")}
    assert not [part for part in parts if part.rpartition(".")[2] in later]
    heavy = {"yaml", "turbohtml", "markdown_it", "rapidfuzz", "difflib"}
    assert not modules & {*heavy, "interop.syntax.json_spans", "interop.syntax.pipe_tables"}
