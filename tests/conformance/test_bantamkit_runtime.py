"""The adapter against the real bantamkit, 0.27.0 and 0.36.2: readings, bytes, and a life after."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interop.adapter import Context
from interop.adapters.bantamkit import ADAPTER
from interop.model import Body, Files, Link, Memory, Store
from tests import peers

pytestmark = pytest.mark.conformance
GOLDEN = Path(__file__).parents[2] / "golden" / "bantamkit"
NOW = Context(now="2026-11-30T12:00:00.000Z")
VERSIONS = pytest.mark.parametrize("version", peers.BANTAMKIT)
NASTY = [
    *("word ", "--- ", "x---", " — ", "'", '"', ": ", " #", "é", "ไทย", "🚲", "\ufeff", "\u00a0"),
    *("a" * 70, "\u0085", "\u2028", "\n", "\t", "\r", "---\n", "yes", "2026-01-01", "[[x]]", "{"),
    *("\u3000", "\ufffe", "\x7f", "\x1c", "%", "@", "`", "&a", "*a", "- ", "?", "1:30", "null"),
]
TEXT = st.lists(st.sampled_from(NASTY), max_size=12).map("".join)


def save(files: Files, root: Path) -> Path:
    for folder in ("facts", "archive"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root


def load(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def ask(version: str, root: Path, op: str, **arguments: Any) -> dict[str, Any]:
    answer = peers.run(version, root, [{"op": op, **arguments}])
    (result,) = answer["results"]
    return dict(result)


def as_runtime(record: Memory) -> dict[str, Any]:
    return {
        "name": record.name,
        "description": record.description,
        "type": record.kinds.get("claude"),
        "body": record.body.text,
        "links": [link.target for link in record.links],
        "created": record.created,
        "last_recalled": record.recalled,
    }


def memories(files: Files) -> dict[str, Memory]:
    return {r.key: r for r in ADAPTER.read(files).records if isinstance(r, Memory)}


def made(texts: list[str]) -> Store:
    """Give records with these texts in every field."""
    records: list[Memory] = []
    for n, text in enumerate(texts):
        other = texts[n - 1]
        records.append(
            Memory(
                key=f"notes/note-{n}.md",
                description=text,
                body=Body(text=other),
                kinds={"claude": ("user", "feedback", "project", "reference")[n % 4]},
                links=(Link(target=other), Link(target="dock")) if n % 3 else (),
                created="2026-03-01" if n % 2 else other,
                recalled=text if n % 5 == 0 else None,
                state="archived" if n % 4 == 3 else "live",
            )
        )
    return Store(format="bantamkit", records=tuple(records))


@VERSIONS
def test_the_golden_basic_store_is_the_runtimes_own(version: str, tmp_path: Path) -> None:
    files = load(GOLDEN / "basic" / "store")
    root = save(files, tmp_path / "store")
    assert ask(version, root, "lint")["ok"]
    assert ask(version, root, "index")["same"]
    told = ask(version, root, "rewrite")["files"]
    assert set(told) == set(memories(files))
    for key, record in memories(files).items():
        assert told[key]["same"], key
        assert told[key]["stable"], key
        assert told[key]["fact"] == as_runtime(record), key


@VERSIONS
@pytest.mark.parametrize("case", sorted(p.name for p in GOLDEN.iterdir()))
def test_readings_agree_on_every_golden_store(version: str, case: str, tmp_path: Path) -> None:
    """A record is what a version reads; what neither reads is unread. Departures are listed."""
    files = load(GOLDEN / case / "store")
    told = ask(version, save(files, tmp_path / "store"), "rewrite")["files"]
    records = memories(files)
    # Bounded here; and 0.27 knows no `metadata`.
    beyond = {"facts/bomb.md", "facts/deep.md", "facts/itself.md"}
    only_new = {"facts/alias.md"} if version == "0.27.0" else set[str]()
    for path, said in told.items():
        if path in beyond | only_new:
            continue
        assert ("fact" in said) == (path in records), (path, said)
        if "fact" in said:
            fact, record = said["fact"], records[path]
            assert fact["body"] == record.body.text
            if isinstance(fact["name"], str):
                assert fact["name"] == record.name
            if isinstance(fact["description"], str) and case != "kinds-and-names":
                assert fact["description"] == record.description
            if (
                record.links
                and all(isinstance(x, str) for x in fact["links"])
                and (path != "facts/links-string.md")
            ):
                assert fact["links"] == [link.target for link in record.links]
            if version == "0.36.2" and path in ("facts/alias.md", "facts/outcome.md"):
                own = record.extra["bantamkit"]
                assert isinstance(own, dict)
                assert (fact["outcome"], fact["status"]) == (own["outcome"], own["status"])


@VERSIONS
def test_what_lint_warns_of_comes_true(version: str, tmp_path: Path) -> None:
    """A value whose line ends in dashes once dumped does not survive the runtime's own rewrite."""
    files = load(GOLDEN / "dashes" / "store")
    told = ask(version, save(files, tmp_path / "store"), "rewrite")["files"]
    warned = {f.path for f in ADAPTER.lint(files, ADAPTER.read(files)) if f.code == "BK103"}
    assert warned == {"facts/quoted.md"}
    damaged = {p for p, said in told.items() if "broken" in said or said.get("stable") is False}
    assert damaged == warned


@VERSIONS
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(TEXT, min_size=30, max_size=40))
def test_new_files_are_what_the_runtime_writes(
    version: str, texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    written = ADAPTER.write(made(texts), {}, NOW)
    assert not written.refused
    root = save(written.files, tmp_path_factory.mktemp("made"))
    answers = peers.run(version, root, [{"op": op} for op in ("lint", "index", "rewrite")])
    lint, index, rewrite = answers["results"]
    assert lint["ok"], lint
    assert index["same"]
    for key, record in memories(written.files).items():
        assert rewrite["files"][key] == {"same": True, "stable": True, "fact": as_runtime(record)}


@VERSIONS
def test_the_runtime_lives_on_in_what_was_written(version: str, tmp_path: Path) -> None:
    texts = ["Pumps of the north dock", "Spare locks", "Tyre order --- by phone ---", "Rain covers"]
    written = ADAPTER.write(made([f"{t} {n}" for n, t in enumerate(texts * 3)]), {}, NOW)
    root = save(written.files, tmp_path / "store")
    before = memories(written.files)
    today = "2026-12-24"

    hit = ask(version, root, "recall", query="north dock", k=1, today=today)["names"][0]
    files = load(root)
    seen = memories(files)
    assert seen == before | {
        f"facts/{hit}.md": dataclasses.replace(before[f"facts/{hit}.md"], recalled=today)
    }
    # What the runtime stamped is what the adapter writes for the same change.
    again = ADAPTER.write(
        Store(format="bantamkit", records=tuple(seen.values())), written.files, NOW
    )
    assert again.files == files

    assert ask(version, root, "archive", name=hit)["ok"]
    moved = memories(load(root))[f"archive/{hit}.md"]
    assert (moved.state, moved.recalled) == ("archived", today)
    target = [moved if r.name == hit else r for r in seen.values()]
    target = [dataclasses.replace(r, key=f"facts/{hit}.md") if r is moved else r for r in target]
    put = ADAPTER.write(Store(format="bantamkit", records=tuple(target)), files, NOW)
    assert put.files == load(root)

    assert ask(version, root, "restore", name=hit)["ok"]
    assert load(root) == files
    gone = ask(version, root, "compact", budget=400, reserve=0)["names"]
    assert gone
    states = {r.name: r.state for r in memories(load(root)).values()}
    assert all(states[name] == "archived" for name in gone)

    saved = ask(
        version,
        root,
        "save",
        type="user",
        name="brand-new",
        description="Umbrellas",
        body="By the door.",
        today=today,
    )
    assert saved["status"] == "saved"
    new = memories(load(root))["facts/brand-new.md"]
    assert as_runtime(new)["body"] == "By the door."
    assert ask(version, root, "lint")["ok"]


@VERSIONS
def test_a_changed_store_is_still_the_runtimes(version: str, tmp_path: Path) -> None:
    files = load(GOLDEN / "basic" / "store")
    store = ADAPTER.read(files)
    edited: list[Memory] = []
    for n, record in enumerate(store.records):
        assert isinstance(record, Memory)
        text = f"Edited --- {record.description} ---"
        changes: list[dict[str, Any]] = [
            {"description": text},
            {"body": Body(text=f"{record.body.text}\nMore.")},
            {"links": (Link(target="dock"), Link(target="x---"))},
            {"name": f"renamed-{n}"},
            {"state": "live" if record.state == "archived" else "archived"},
            {"kinds": {"claude": "feedback"}, "created": "2026-07-07T10:00:00Z"},
        ]
        edited.append(dataclasses.replace(record, **changes[n % len(changes)]))
    written = ADAPTER.write(dataclasses.replace(store, records=tuple(edited)), files, NOW)
    assert not written.refused
    root = save(written.files, tmp_path / "store")
    answers = peers.run(version, root, [{"op": op} for op in ("lint", "index", "rewrite")])
    lint, index, rewrite = answers["results"]
    assert lint["ok"], lint
    assert index["same"]
    assert all(said["same"] and said["stable"] for said in rewrite["files"].values())


def test_only_the_new_keys_differ_between_versions(tmp_path: Path) -> None:
    record = Memory(
        key="a.md",
        description="An outcome",
        kinds={"claude": "feedback"},
        created="2026-03-01",
        extra={"bantamkit": {"outcome": "success", "status": "done"}},
    )
    written = ADAPTER.write(Store(format="bantamkit", records=(record,)), {}, NOW)
    root = save(written.files, tmp_path / "store")
    assert ask("0.36.2", root, "rewrite")["files"]["facts/a.md"]["same"]
    old = ask("0.27.0", root, "rewrite")["files"]["facts/a.md"]
    assert (old["same"], old["stable"]) == (False, True)
