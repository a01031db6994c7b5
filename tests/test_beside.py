"""Two stores read at once are the two stores that reading each by itself gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interop import fields, registry
from interop.adapter import Adapter
from interop.model import Files
from tests.samples import golden_samples

ADAPTERS = [adapter for adapter in registry.adapters() if adapter.beside is not None]
STORES = {a.name: [s.tree.files for s in golden_samples() if s.adapter is a] for a in ADAPTERS}
EDITS = st.sampled_from(
    [b"", b"\n", b"- [Pump](pump.md) \xe2\x80\x94 leaks\n", b"[[pump-pressure]]", b"\xff", b"---\n"]
)


def _read_alike(adapter: Adapter, one: Files, other: Files) -> None:
    assert adapter.beside is not None
    first, second = adapter.beside(one, other)
    assert first == adapter.read(one)
    assert second == adapter.read(other)
    assert [r.key for r in second.records] == [r.key for r in adapter.read(other).records]


@pytest.mark.parametrize("one_of", ADAPTERS, ids=lambda adapter: adapter.name)
class TestBeside:
    def test_any_two_stores(self, one_of: Adapter) -> None:
        for one in STORES[one_of.name]:
            for other in STORES[one_of.name]:
                _read_alike(one_of, one, other)

    def test_what_is_the_same_is_one_object(self, one_of: Adapter) -> None:
        assert one_of.beside is not None
        for files in STORES[one_of.name]:
            copy = {path: bytes(bytearray(data)) for path, data in files.items()}
            one, other = one_of.beside(files, copy)
            pairs = zip(one.records, other.records, strict=True)
            assert all(a is b for a, b in pairs if "#" not in a.key)

    @settings(max_examples=300)
    @given(data=st.data())
    def test_a_store_and_what_became_of_it(self, one_of: Adapter, data: st.DataObject) -> None:
        one = data.draw(st.sampled_from([f for f in STORES[one_of.name] if f]))
        other = dict(one)
        for _ in range(data.draw(st.integers(0, 3))):
            path = data.draw(st.sampled_from(sorted({*one, "pump.md", "sub/pump.md", "new.txt"})))
            how = data.draw(st.sampled_from(["remove", "append", "insert", "replace", "copy"]))
            there = other.get(path, b"")
            if how == "remove":
                other.pop(path, None)
            elif how == "copy":
                other[path] = other.get(data.draw(st.sampled_from(sorted(one))), b"")
            else:
                at = {"append": len(there), "insert": data.draw(st.integers(0, len(there)))}
                cut = at.get(how, 0)
                rest = b"" if how == "replace" else there[cut:]
                other[path] = there[:cut] + data.draw(EDITS) + rest
        _read_alike(one_of, one, other)
        _read_alike(one_of, other, one)


CLAUDE = registry.get("claude-code")
INDEX = b"# Memory Index\n\n- [Pump](pump.md) \xe2\x80\x94 leaks\n- [[Bell]] \xe2\x80\x94 rings\n"
BELL = b"---\nname: Bell\n---\n\n%b\n"
NAMED: Files = {
    "MEMORY.md": INDEX,
    "a.md": BELL % b"One.",
    "b.md": BELL % b"Two.",
    "pump.md": b"The pump leaks.\n",
}


class TestClaudeCode:
    """What an index says of a file is part of its record, whichever store is read first."""

    def test_of_two_files_of_one_name_the_first_is_named_though_the_other_is_known(self) -> None:
        edited = {**NAMED, "a.md": BELL % b"One, in May."}
        _read_alike(CLAUDE, NAMED, edited)
        _read_alike(CLAUDE, edited, NAMED)
        assert CLAUDE.beside is not None
        _, second = CLAUDE.beside(NAMED, edited)
        assert [(r.key, fields.get(r, "hook")) for r in second.records] == [
            ("a.md", "rings"), ("b.md", None), ("pump.md", "leaks")
        ]  # fmt: skip

    def test_a_record_of_which_another_index_says_the_same_is_one_object(self) -> None:
        retold = {**NAMED, "MEMORY.md": INDEX.replace(b"leaks", b"drips")}
        assert CLAUDE.beside is not None
        one, other = CLAUDE.beside(NAMED, retold)
        same = [a.key for a, b in zip(one.records, other.records, strict=True) if a is b]
        assert same == ["a.md", "b.md"]
        assert fields.get(other.records[2], "hook") == "drips"
        _read_alike(CLAUDE, NAMED, retold)

    @pytest.mark.parametrize(
        ("path", "data"),
        [
            ("b.md", None),
            ("b.md", b"\xff"),
            ("README.md", b"Read me.\n"),
            ("README.md", b"\xff"),
            ("README.md", BELL % b"Three."),
            ("sub/MEMORY.md", b"- [[Bell]] \xe2\x80\x94 in the shed\n"),
            ("sub/MEMORY.md", b"\xff"),
            ("MEMORY.md", b"\xff"),
        ],
    )
    def test_files_that_are_no_memories_and_that_cease_to_be(
        self, path: str, data: bytes | None
    ) -> None:
        other = {**NAMED, path: data} if data is not None else {**NAMED}
        if data is None:
            del other[path]
        _read_alike(CLAUDE, NAMED, other)
        _read_alike(CLAUDE, other, NAMED)
