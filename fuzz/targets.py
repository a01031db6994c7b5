"""What is fuzzed: functions that take any bytes, and raise only where interop is wrong.

What a user can mend (``InteropError``) is no fault where the function says that it raises it; an
adapter never raises on files.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from fuzz import corpus
from interop import (
    complement_file,
    config,
    fields,
    guard,
    inline,
    markup,
    registry,
    secrets,
    stores,
)
from interop.adapter import Adapter, Context, Fitted
from interop.choices import Choices
from interop.convert import after, plan
from interop.disk.tree import Tree
from interop.errors import FormatError, InteropError
from interop.lint import lint
from interop.model import Body, Memory, Tombstone
from interop.plan import COMPLEMENT
from interop.stores import Opened

NOW = "2026-09-01T08:30:00.000Z"
_CONTEXT = Context(now=NOW)


class Target(NamedTuple):
    """One thing that is fuzzed."""

    run: Callable[[bytes], None]
    seeds: Callable[[], tuple[bytes, ...]]


def one_format(adapter: Adapter, data: bytes) -> None:
    """Read a store, and put it back: the laws that hold for every adapter."""
    files = corpus.unpack(data)
    adapter.detect(files)
    files = {p: b for p, b in files.items() if not adapter.ignored(p)}
    store = adapter.read(files)
    assert adapter.write(store, files, _CONTEXT).files == files, "GetPut"
    for record in store.records:
        fitted = adapter.fit(record, record, _CONTEXT)
        assert isinstance(fitted, Fitted), f"{record.key} was read and does not fit: {fitted}"
        assert fitted.record == record, f"{record.key} is fitted to something else"
        fields.dumps(fields.to_json(record))
    lint(_opened(adapter, files))


def one_way(adapter: Adapter, other: Adapter, data: bytes) -> None:
    """Convert a store into another format, and back: what came from there is there again."""
    files = {p: b for p, b in corpus.unpack(data).items() if not adapter.ignored(p)}
    source = _opened(adapter, files)
    there = _converted(source, _empty(other))
    if there is None:
        return
    back = _converted(there, source)
    if back is not None:
        assert back.tree.files == files, "there and back"


def _converted(source: Opened, destination: Opened) -> Opened | None:
    choices = Choices(carry=True, skip_refused=True, accept_stale=True)
    try:
        return after(plan(source, destination, choices, now=NOW), destination)
    except InteropError:
        return None  # refused, and said why


def _opened(adapter: Adapter, files: Mapping[str, bytes]) -> Opened:
    tree = Tree(files=dict(sorted(files.items())), complement=None, problems=())
    return stores.assemble(adapter, Path("/fuzz/here"), tree, None, "here")


def _empty(adapter: Adapter) -> Opened:
    tree = Tree(files={}, complement=None, problems=())
    return stores.assemble(adapter, Path("/fuzz/there"), tree, None, "there")


def one_complement(data: bytes) -> None:
    """Read a complement that somebody else wrote, and a store that has it."""
    inline.join(*inline.split(data))
    try:
        found = complement_file.loads(data, COMPLEMENT)
    except FormatError:
        return
    kept = complement_file.dumps(found)
    again = complement_file.loads(kept, COMPLEMENT)
    assert complement_file.dumps(again) == kept, "a complement is not its own"
    adapter = registry.get(found.format if found.format in registry.names() else "claude-code")
    tree = Tree(files={"note.md": b"The tyre pump.\n"}, complement=data, problems=())
    opened = stores.assemble(adapter, Path("/fuzz/here"), tree, found, found.store)
    _converted(opened, _empty(registry.get("jsonl")))
    for source in found.sources.values():
        if source.format in registry.names():
            _converted(opened, _empty(registry.get(source.format)))


def one_snapshot(data: bytes) -> None:
    """Read a snapshot from somebody else, its complement with it, and convert it onwards."""
    adapter = registry.get("jsonl")
    own, kept = inline.split(data)
    assert inline.split(inline.join(own, kept)) == (own, kept), "not what was put together"
    try:
        found = None if kept is None else complement_file.loads(kept, "snapshot")
    except FormatError:
        return
    tree = Tree(files={"snapshot.jsonl": own}, complement=kept, problems=())
    opened = stores.assemble(adapter, Path("/fuzz/snapshot.jsonl"), tree, found, "snapshot")
    for name in ("claude-code", "memhtml", "memory-compiler"):
        _converted(opened, _empty(registry.get(name)))


def one_config(data: bytes) -> None:
    """Read a settings file."""
    with contextlib.suppress(InteropError, ExceptionGroup):
        config.parse(data, Path("config.toml"))


def one_text(data: bytes) -> None:
    """Map a text between the media, both ways, and carry an edit across."""
    text = data.decode("utf-8", "replace")
    for media, other in ((markup.MARKDOWN, markup.HTML), (markup.HTML, markup.MARKDOWN)):
        seen = markup.translate(text, media, other)
        assert markup.carry_over(text, media, seen, seen, other) == text, "no edit changes nothing"
        markup.carry_over(text, media, seen, f"{seen}\n\nAnd the lamp.", other)


def one_speech(data: bytes) -> None:
    """Look for secrets and rejected values in a text."""
    text = data.decode("utf-8", "replace")
    masked = secrets.mask(text)
    assert not secrets.find(masked), "something is left that looks like a secret"
    value, _, rest = text.partition("\n")
    stone = Tombstone(key="TOMBSTONES.md#T-001", subject="it", rejected=value)
    values = guard.rejected_values([guard.Stone(record=stone, store="s", id="T-001")])
    memory = Memory(key="m.md", body=Body(text=rest), title=value)
    guard.collisions([memory], values)


@cache
def targets() -> Mapping[str, Target]:
    """Give every target by its name; formats take part by being there."""
    out: dict[str, Target] = {}
    for adapter in registry.adapters():
        seeds = partial(corpus.stores, adapter.name)
        out[f"read-{adapter.name}"] = Target(partial(one_format, adapter), seeds)
        for other in registry.adapters():
            if other is not adapter and adapter.file is None:
                run = partial(one_way, adapter, other)
                out[f"convert-{adapter.name}-{other.name}"] = Target(run, seeds)
    out["complement"] = Target(one_complement, corpus.complements)
    out["snapshot"] = Target(one_snapshot, corpus.snapshots)
    out["config"] = Target(one_config, corpus.settings)
    out["markup"] = Target(one_text, partial(corpus.texts, ".md", ".html"))
    out["speech"] = Target(one_speech, partial(corpus.texts, ".md", ".html"))
    return out
