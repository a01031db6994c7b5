r"""Seeds: the golden stores, each as one run of bytes that a mutation can cut and join.

A store is its files one after the other, each led by a record separator and its path::

    \x1eMEMORY.md\n- [Tyres](tyres.md)\n\x1etyres.md\n---\nname: …
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from interop import inline
from interop.disk import layout
from interop.disk.tree import load
from interop.model import Files
from interop.registry import get

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "golden"
FOUND = Path(__file__).resolve().parent / "found"
MOST = 20_000
"""Bytes of the longest seed: a mutation of a longer one would mostly hit nothing new."""
_SEPARATOR = b"\x1e"


def pack(files: Mapping[str, bytes]) -> bytes:
    """Give a store as one run of bytes."""
    return b"".join(_SEPARATOR + p.encode() + b"\n" + data for p, data in files.items())


def unpack(data: bytes) -> Files:
    """Give the store that some bytes say; what no disk could hold is left out."""
    files: dict[str, bytes] = {}
    for part in data.split(_SEPARATOR)[1:]:
        path, _, content = part.partition(b"\n")
        name = path.decode("utf-8", "replace")
        if layout.invalid(name) is None:
            files[name] = content
    # a name cannot be a file and a folder at once
    return {p: b for p, b in files.items() if not any(o.startswith(f"{p}/") for o in files)}


@cache
def stores(format_name: str) -> tuple[bytes, ...]:
    """Give the golden stores of a format as seeds."""
    cases = sorted((GOLDEN / format_name).iterdir())
    ignored = get(format_name).ignored
    trees = [load(case / "store", ignored, missing_ok=True) for case in cases if case.is_dir()]
    return tuple(seed for t in trees if len(seed := pack(t.files)) <= MOST)


@cache
def texts(*suffixes: str) -> tuple[bytes, ...]:
    """Give the golden files with one of these endings as seeds."""
    found = sorted(p for p in GOLDEN.rglob("*") if p.suffix in suffixes and p.is_file())
    return tuple(b for p in found if len(b := p.read_bytes()) <= MOST)


@cache
def complements() -> tuple[bytes, ...]:
    """Give the complements of the golden conversions as seeds."""
    found = sorted(p for p in GOLDEN.rglob("complement") if p.is_file())
    return tuple(p.read_bytes() for p in found)


@cache
def snapshots() -> tuple[bytes, ...]:
    """Give snapshots with their complements as seeds: one behind the other."""
    found = sorted(GOLDEN.glob("jsonl/*/store"))
    own = [p.read_bytes() for p in found if p.is_file()]
    own += [b for p in found if p.is_dir() for b in _files(p)]
    head = b'{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n'
    return (*own, *(inline.join(head, c) for c in complements()))


def _files(folder: Path) -> list[bytes]:
    return [p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()]


@cache
def settings() -> tuple[bytes, ...]:
    """Give settings files as seeds: the example of the documentation."""
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    return tuple(part.split("```")[0].encode() for part in text.split("```toml\n")[1:])


def found(target: str) -> list[Path]:
    """List the inputs that once broke a target."""
    folder = FOUND / target
    return sorted(p for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
