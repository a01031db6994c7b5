"""What the bridge makes of a text says none of its secrets, and a purged text is nowhere left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interop import registry, stores
from interop.bridge import Bridge
from interop.disk.kept import kept
from interop.errors import RefusedError, UsageError
from interop.secrets import find
from tests.test_bridge_writing import FORMATS, KIND, bytes_of, git, made, surroundings

assert surroundings  # the fixture, used by every test here

TOKEN = "ghp_z9B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8"
SECRET = f"key {TOKEN} of the door\n\nIt opens the deposit office."
PIECE = "z9b2c3d4"


def test_the_token_is_one() -> None:
    assert [s.rule for s in find(SECRET)] == ["github-token"]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_made_of_a_text_has_none_of_its_secrets(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    told = Bridge(write=spec).remember(SECRET, kind=KIND.get(name))
    assert PIECE not in told.key.casefold()
    for one in told.supplied:
        assert PIECE not in str(one).casefold(), one
    assert not [p for p in root.rglob("*") if PIECE in p.name.casefold()]
    # the text itself stands there once, whole, and nothing else repeats it
    lines = [
        line
        for data in bytes_of(root).values()
        for line in data.decode("utf-8").splitlines()
        if PIECE in line.casefold()
    ]
    assert len(lines) == 1
    assert TOKEN in lines[0]
    if name == "memhtml":
        assert PIECE not in git(root, "log", "-1", "--format=%B").casefold()
    for noted in kept(root):
        if noted.path is None:
            assert PIECE not in (noted.data or b"").decode("utf-8").casefold()


@pytest.mark.parametrize("name", [f for f in FORMATS if f != "memory-compiler"])
def test_a_name_with_a_secret_is_refused_unless_it_is_allowed(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    before = bytes_of(root)
    named = f"door-{TOKEN.lower().replace('_', '-')}"
    text = f"The other door has {TOKEN}."
    with pytest.raises(RefusedError, match="would have a secret in it"):
        Bridge(write=spec).remember(text, name=named, kind=KIND.get(name))
    assert bytes_of(root) == before
    told = Bridge(write=spec).remember(text, name=named, kind=KIND.get(name), secrets="allow")
    if name == "memhtml":
        assert PIECE in told.key
        assert PIECE not in git(root, "log", "-1", "--format=%B").casefold()
    gone = Bridge(write=spec).forget(told.key, f"it was {TOKEN}", yes=True)
    if name == "memhtml":
        assert TOKEN not in git(root, "log", "-1", "--format=%s%n%b").splitlines()[0]
    assert gone.how in ("removed", "archived")


@pytest.mark.parametrize("name", FORMATS)
def test_a_text_with_a_secret_is_known_again(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    bridge = Bridge(write=spec)
    told = bridge.remember(SECRET, kind=KIND.get(name))
    before = bytes_of(root)
    again = bridge.remember(SECRET, kind=KIND.get(name))
    assert (again.key, again.already) == (told.key, "counted" if name == "theokit" else "known")
    assert name == "theokit" or bytes_of(root) == before


def test_two_secrets_behind_one_first_line_get_two_names(tmp_path: Path) -> None:
    bridge = Bridge(write=made("claude-code", tmp_path / "store"))
    first = bridge.remember(SECRET)
    second = bridge.remember(SECRET.replace("z9B2", "Q1x7").replace("deposit", "back"))
    assert second.already == ""
    assert second.key != first.key


def test_a_secret_is_in_no_key_of_a_snapshot(tmp_path: Path) -> None:
    place = tmp_path / "all.jsonl"
    told = Bridge(write=f"jsonl:{place}").remember(SECRET)
    assert told.key.endswith("#key-masked-of-the-door.md")


# --- a text too long for a description


@pytest.mark.parametrize("name", ["bantamkit", "claude-code", "theokit"])
def test_a_text_that_is_too_long_for_a_description_asks_for_one(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    before = bytes_of(root)
    text = "A note in one line: " + "the shop opens early and closes late. " * 800
    bridge = Bridge(write=spec)
    with pytest.raises(RefusedError, match="--description") as caught:
        bridge.remember(text, kind=KIND.get(name))
    assert f"{len(text.strip()):,} characters" in str(caught.value)
    assert caught.value.details
    assert bytes_of(root) == before
    told = bridge.remember(text, description="Opening hours", kind=KIND.get(name))
    adapter = registry.get(name)
    there = stores.open_store(spec)
    said = next(r for r in there.raw.records if r.key == told.key)
    assert getattr(said, "description", None) == "Opening hours"
    known = {f.code for f in adapter.lint({}, there.raw) if f.severity == "error"}
    assert not known & {line.split(" ", 1)[0] for line in caught.value.details}


# --- purging


@pytest.mark.parametrize("name", FORMATS)
def test_a_purged_text_is_in_no_search_index(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    other = made("theokit", tmp_path / "other")
    cache = tmp_path / "cache" / "bridge"
    bridge = Bridge(write=spec)
    told = bridge.remember("Mira's locker opens with zanzibar.", kind=KIND.get(name))
    both = Bridge(read=[other, spec])
    for one in (bridge, both):
        assert one.search("zanzibar").found
    made_by_others = cache / "half.new"
    made_by_others.write_bytes(b"zanzibar")
    assert len([p for p in cache.iterdir() if b"zanzibar" in p.read_bytes()]) == 3
    old = "the old word" if "tombstone" in registry.get(name).roles else None
    done = bridge.forget(told.key, "private", yes=True, purge=True, rejected=old)
    assert any("search index" in line for line in done.purged)
    assert not [p for p in cache.iterdir() if b"zanzibar" in p.read_bytes()]
    for one in (bridge, both):
        assert one.search("zanzibar").found == ()
        assert one.records().found
    assert not [p for p in cache.iterdir() if b"zanzibar" in p.read_bytes()]


# --- what is no text


@pytest.mark.parametrize("field", ["text", "name", "title", "description", "kind"])
def test_half_a_character_is_a_usage_error_when_remembering(field: str, tmp_path: Path) -> None:
    bridge = Bridge(write=made("claude-code", tmp_path / "store"))
    said: dict[str, Any] = {"text": "Bells are loud.", field: "bell \udcff"}
    with pytest.raises(UsageError, match=f"the {field} is no text"):
        bridge.remember(**said)


@pytest.mark.parametrize("field", ["reason", "rejected", "replacement"])
def test_half_a_character_is_a_usage_error_when_forgetting(field: str, tmp_path: Path) -> None:
    bridge = Bridge(write=made("memory-compiler", tmp_path / "store"))
    said: dict[str, Any] = {"reason": "why", field: "\udcff"}
    with pytest.raises(UsageError, match=f"the {field} is no text"):
        bridge.forget("DECISIONS.md#D-001", **said)
