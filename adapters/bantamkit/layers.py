"""Where a project's store lies, by the runtime's own rules.

Spec: docs/formats/bantamkit.md, "Layers".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from interop.adapter import Place, Surroundings


def locate(surroundings: Surroundings) -> Sequence[Path]:
    """Give the pinned store, else the nearest one upwards, else the one that would be made."""
    pin = surroundings.env.get("BANTAMKIT_MEMORY_DIR", "").strip()
    if pin:
        if pin == "~" or pin.startswith("~/"):
            return (surroundings.home / pin[2:],)
        return (Path(pin),)
    start = surroundings.cwd
    for folder in (start, *start.parents):
        store = folder / ".bantamkit" / "memory"
        if surroundings.is_dir(store):
            return (store,)
    return (start / ".bantamkit" / "memory",)


def discover(surroundings: Surroundings) -> Iterator[Place]:
    """Give the three layers: the project's stores, what each grants, and the profile."""
    profile = surroundings.home / ".bantamkit" / "memory"
    above = (surroundings.cwd, *surroundings.cwd.parents)
    own = [*locate(surroundings), *(folder / ".bantamkit" / "memory" for folder in above)]
    for store in dict.fromkeys(own):
        if store == profile:
            continue
        yield Place(path=store)
        for granted in _grants(surroundings, store.parent / "config.yaml"):
            yield Place(path=granted)
    yield Place(path=profile, name="profile")


def _grants(surroundings: Surroundings, config: Path) -> Iterator[Path]:
    """Give the stores that a project may read besides its own; a broken file grants none."""
    text = surroundings.read_text(config)
    from interop.syntax.yaml_header import Header, Listing, Scalar, read  # for this file alone

    said = read(text) if text else None
    listed = said.get("extra_stores") if isinstance(said, Header) else None
    for item in listed.items if isinstance(listed, Listing) else ():
        if isinstance(item, Scalar) and item.tag == "str":
            yield config.parent / item.text
