"""Which formats there are: every module of ``interop.adapters``, and third parties' entry points.

Nothing is registered by a call or a list: the folder is the registry. A third party's package adds
a format through the entry-point group ``interop.adapters``, each naming an ``Adapter``. Imports are
lazy: asking for one format imports one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import interop.adapters
from interop.adapter import Adapter
from interop.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "interop.adapters"


@cache
def names() -> tuple[str, ...]:
    """Every format's name, sorted, without importing any."""
    return tuple(sorted({*_modules(), *_entry_points()}))


def has(name: str) -> bool:
    """Is there a format of this name?"""
    return name in _modules() or name in _entry_points()


def get(name: str) -> Adapter:
    """Give one format's adapter.

    Raises:
        UsageError: there is no such format.
    """
    if name in _modules():
        module = importlib.import_module(f"interop.adapters.{_modules()[name]}")
        adapter = module.ADAPTER
    elif name in _entry_points():
        adapter = _entry_points()[name].load()
    else:
        raise UsageError(f"unknown format {name!r}", f"one of {', '.join(names())}")
    if not isinstance(adapter, Adapter) or adapter.name != name:
        raise UsageError(f"format {name!r}: its module does not give an adapter of that name")
    return adapter


def adapters() -> Iterator[Adapter]:
    """Every format's adapter, sorted by name."""
    return (get(name) for name in names())


@cache
def _modules() -> dict[str, str]:
    return {
        info.name.replace("_", "-"): info.name
        for info in pkgutil.iter_modules(interop.adapters.__path__)
        if not info.name.startswith("_")
    }


@cache
def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # not at the top, for the sake of start-up

    return {e.name: e for e in entry_points(group=GROUP)}
