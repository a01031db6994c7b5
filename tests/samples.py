"""The sample stores: every case of golden/, and of the fixtures beside the project if present."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from interop import registry
from interop.adapter import Adapter
from interop.disk.tree import Tree, load
from interop.stores import Opened, assemble

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "golden"
SHARED = ROOT.parent / "shared"


@dataclass(frozen=True)
class Sample:
    """One store on disk."""

    id: str
    adapter: Adapter
    case: Path

    @property
    def tree(self) -> Tree:
        return _tree(self.adapter.name, self.case)

    def opened(self, identity: str = "sample") -> Opened:
        """Open it in memory, under an identity of the test's choosing."""
        return assemble(self.adapter, self.case / "store", self.tree, None, identity)


@cache
def _tree(name: str, case: Path) -> Tree:
    # a store without files leaves no folder in version control
    return load(case / "store", registry.get(name).ignored, missing_ok=True)


@cache
def golden_samples() -> tuple[Sample, ...]:
    return _below(GOLDEN)


@cache
def samples() -> tuple[Sample, ...]:
    return (*golden_samples(), *_below(SHARED / "fixtures"))


def _below(folder: Path) -> tuple[Sample, ...]:
    found: list[Sample] = []
    for name in registry.names():
        if not (folder / name).is_dir():
            continue
        for case in sorted((folder / name).iterdir()):
            if case.is_dir() and case.name != "convert":
                where = "golden" if folder == GOLDEN else "shared"
                found.append(
                    Sample(id=f"{where}/{name}/{case.name}", adapter=registry.get(name), case=case)
                )
    return tuple(found)
