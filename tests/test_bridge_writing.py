"""The bridge's writing side: remembering and forgetting, as each format does it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from interop import registry, stores, undoing
from interop.bridge import Bridge
from interop.convert import apply_plan, plan
from interop.errors import RefusedError, UsageError, WriteError
from interop.model import Decision, Link, Memory, Task, Tombstone
from interop.plan import COMPLEMENT
from interop.pruning import prune
from tests.samples import GOLDEN

NOW = "2026-11-30T12:00:00.000Z"
TEXT = "The spare key hangs behind the workshop door."
KIND = {"bantamkit": "project", "memhtml": "semantic"}
"""What a format demands."""
FORMATS = ("bantamkit", "claude-code", "memhtml", "memory-compiler", "theokit")


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "cache"))
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def made(name: str, root: Path, case: str = "basic") -> str:
    """Copy a golden store, with the repository that its runtime would have."""
    shutil.copytree(GOLDEN / name / case / "store", root)
    if name == "memhtml":
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "as it was")
    return f"{name}:{root}"


def bytes_of(root: Path) -> dict[str, bytes]:
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and not {".git", ".interop"} & set(p.relative_to(root).parts)
    }


def memories(spec: str) -> dict[str, Memory]:
    return {r.key: r for r in stores.open_store(spec).raw.records if isinstance(r, Memory)}


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_remembered_is_found_and_undone(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    before = bytes_of(root)
    bridge = Bridge(read=[spec], write=spec)
    told = bridge.remember(TEXT, kind=KIND.get(name))
    assert told.already == ""
    assert told.store == told.place == spec
    got = bridge.get(told.key)
    assert [one.key for one in bridge.search(f'"{TEXT}"').found] == [told.key]
    assert got.found.record == next(
        r for r in stores.open_store(spec).restored.store.records if r.key == told.key
    )
    for one in told.supplied:  # what is told as supplied is what stands there
        assert one.reason
    if name == "memhtml":
        assert git(root, "status", "--porcelain", "--", ".", ":!.interop") == ""
        assert "remember" in git(root, "log", "-1", "--format=%s%n%b")
    undoing.undo(root)
    assert bytes_of(root) == before


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_text_again_follows_the_formats_own_rule(name: str, tmp_path: Path) -> None:
    spec = made(name, tmp_path / "store")
    bridge = Bridge(write=spec)
    first = bridge.remember(TEXT, kind=KIND.get(name))
    before = bytes_of(tmp_path / "store")
    again = bridge.remember(TEXT, kind=KIND.get(name))
    assert again.key == first.key
    if name == "theokit":
        assert again.already == "counted"
        assert memories(spec)[first.key].observations == 2
        bridge.remember(TEXT.upper().rstrip(".") + "!")
        assert memories(spec)[first.key].observations == 3
        assert bridge.remember(TEXT, kind="user").notes == ()
        assert memories(spec)[first.key].kinds == {"claude": "user"}
    else:
        assert again.already == "known"
        assert bytes_of(tmp_path / "store") == before


def test_bantamkit_takes_half_the_words_for_a_duplicate(tmp_path: Path) -> None:
    spec = made("bantamkit", tmp_path / "store")
    bridge = Bridge(write=spec)
    first = bridge.remember("One text.", name="spare-key", description="in the shop", kind="user")
    told = bridge.remember("Another.", name="spare-keys", description="in the shop", kind="user")
    assert (told.already, told.key) == ("known", first.key)
    assert "other words" in told.notes[0]
    assert "has its own name" in told.notes[1]
    other = bridge.remember("A third.", name="pump", description="by the door", kind="user")
    assert other.already == ""
    # words of other alphabets are none to its runtime: the text alone tells
    one = bridge.remember("鍵は倉庫", kind="user", name="kagi", description="鍵")
    two = bridge.remember("鍵は事務所", kind="user", name="doa", description="倉庫")
    assert one.key != two.key


def test_a_store_that_is_missing_is_made(tmp_path: Path) -> None:
    for name in FORMATS:
        if name == "memhtml":
            continue  # its repository is made by its own tool
        spec = f"{name}:{tmp_path / name}"
        bridge = Bridge(write=spec)
        assert bridge.records().found == ()
        told = bridge.remember(TEXT, kind=KIND.get(name))
        assert bridge.get(told.key).found.store == spec


@pytest.mark.parametrize("name", FORMATS)
def test_an_unknown_kind_is_refused_and_leaves_no_trace(name: str, tmp_path: Path) -> None:
    spec = made(name, tmp_path / "store")
    with pytest.raises(RefusedError, match=r"kind|kinds") as caught:
        Bridge(write=spec).remember(TEXT, kind="gossip")
    assert "gossip" in str(caught.value)
    assert not (tmp_path / "store" / ".interop").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_no_kind_stays_untyped_or_is_asked_for(name: str, tmp_path: Path) -> None:
    spec = made(name, tmp_path / "store")
    bridge = Bridge(write=spec)
    if name in KIND:
        with pytest.raises(RefusedError, match="demands a kind") as caught:
            bridge.remember(TEXT)
        assert KIND[name] in str(caught.value)
    else:
        told = bridge.remember(TEXT)
        assert memories(spec)[told.key].kinds == {}


def test_what_the_format_cannot_say_is_refused_and_named(tmp_path: Path) -> None:
    spec = made("claude-code", tmp_path / "store")
    bridge = Bridge(write=spec)
    with pytest.raises(RefusedError, match="tags: the format has no place") as caught:
        bridge.remember(TEXT, tags=["keys"], links=["[[pump]]"])
    assert "links: here it only repeats the text" in str(caught.value)
    told = bridge.remember(
        TEXT, name="spare-key", title="The key", description="where", kind="user"
    )
    assert told.supplied == () or all(a.field == "hook" for a in told.supplied)
    stands = memories(spec)[told.key]
    assert (stands.name, stands.title, stands.description) == ("spare-key", "The key", "where")
    html = made("memhtml", tmp_path / "html")
    told = Bridge(write=html).remember(
        "Oil **weekly**.", kind="procedural", tags=["chain"], title="Oil",
        links=[Link(rel="relates_to", target=next(iter(memories(html))))],
    )  # fmt: skip
    there = memories(html)[told.key]
    assert there.tags == ("chain",)
    assert "<strong>weekly</strong>" in there.body.text


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    spec = made("claude-code", tmp_path / "store")
    bridge = Bridge(write=spec)
    bridge.remember(TEXT, name="spare-key")
    with pytest.raises(RefusedError, match="has the name 'Spare-Key'"):
        bridge.remember("Something else.", name="Spare-Key")


def test_a_tombstone_of_any_store_refuses_with_id_reason_and_replacement(tmp_path: Path) -> None:
    graves = made("memory-compiler", tmp_path / "topic")
    stone = next(r for r in stores.open_store(graves).raw.records if isinstance(r, Tombstone))
    assert stone.rejected
    spec = made("claude-code", tmp_path / "store")
    said = f"As everybody knows: {stone.rejected}"
    bridge = Bridge(read=[graves], write=spec)
    with pytest.raises(RefusedError) as caught:
        bridge.remember(said)
    text = str(caught.value)
    assert stone.key.partition("#")[2] in text
    assert stone.reason
    assert stone.reason in text
    assert stone.replacement
    assert stone.replacement in text
    assert caught.value.exit_code == 3
    # the store that is written alone does not know it; nor does one whose tombstones are elsewhere
    assert Bridge(write=spec).remember(said).already == ""
    with pytest.raises(RefusedError):
        Bridge(write=graves).remember(said)
    assert Bridge(read=[graves], write=spec).remember(said + " once", allow_tombstoned=True).key


def test_a_tombstone_written_a_moment_ago_counts(tmp_path: Path) -> None:
    graves = made("memory-compiler", tmp_path / "topic")
    spec = made("claude-code", tmp_path / "store")
    bridge = Bridge(read=[graves], write=spec)
    bridge.remember("The door code is 4711.")
    told = Bridge(write=graves).remember("The door code is 4711.")
    Bridge(write=graves).forget(told.key, "changed in May", rejected="4711", replacement="0815")
    with pytest.raises(RefusedError, match="changed in May"):
        bridge.remember("The code of the back door is 4711, too.")


def test_a_missing_store_of_tombstones_is_said(tmp_path: Path) -> None:
    spec = made("claude-code", tmp_path / "store")
    gone = str(tmp_path / "gone")
    told = Bridge(read=[gone], write=spec).remember(TEXT)
    assert [p.store for p in told.problems] == [gone]


def test_nothing_to_write_to_or_to_say_is_a_usage_error(tmp_path: Path) -> None:
    spec = made("claude-code", tmp_path / "store")
    with pytest.raises(UsageError, match="no store to write"):
        Bridge(read=[spec]).remember(TEXT)
    with pytest.raises(UsageError, match="nothing to remember"):
        Bridge(write=spec).remember(" \n")
    with pytest.raises(UsageError, match="no reason"):
        Bridge(write=spec).forget("x.md", " ")
    with pytest.raises(UsageError, match="no record"):
        Bridge(write=spec).forget("x.md", "gone")


# --- forgetting


@pytest.mark.parametrize("name", ["bantamkit", "memhtml"])
def test_where_there_is_an_archive_it_is_archived(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    bridge = Bridge(write=spec)
    told = bridge.remember(TEXT, kind=KIND[name])
    gone = bridge.forget(told.key, "the door was painted over")
    assert gone.how == "archived"
    assert gone.to is not None
    there = memories(spec)
    assert told.key not in there
    assert there[gone.to].state == "archived"
    assert bridge.search("spare key", 50).found == () or all(
        one.key != gone.to for one in bridge.search("spare key", 50).found
    )
    assert bridge.forget(gone.to, "again").already
    if name == "memhtml":
        assert "the door was painted over" in git(root, "log", "-1", "--format=%B")
    undoing.undo(root)
    assert told.key in memories(spec)


@pytest.mark.parametrize("name", ["claude-code", "theokit"])
def test_where_there_is_neither_it_is_removed_when_agreed_to(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    before = bytes_of(root)
    bridge = Bridge(write=spec)
    told = bridge.remember(TEXT)
    with_it = bytes_of(root)
    with pytest.raises(RefusedError, match="--yes"):
        bridge.forget(told.key, "wrong")
    assert bytes_of(root) == with_it
    assert bridge.forget(told.key, "wrong", yes=True).how == "removed"
    assert (
        stores.open_store(spec).raw.records
        == stores.load(
            stores.open_store(spec).adapter, GOLDEN / name / "basic" / "store"
        ).raw.records
    )
    assert before.keys() == bytes_of(root).keys()
    undoing.undo(root)
    assert bytes_of(root) == with_it


def test_a_bullet_is_taken_out_and_its_value_rejected(tmp_path: Path) -> None:
    root = tmp_path / "topic"
    spec = made("memory-compiler", root)
    bridge = Bridge(write=spec)
    told = bridge.remember("The door code is 4711.")
    with pytest.raises(RefusedError, match="which value is wrong"):
        bridge.forget(told.key, "changed")
    gone = bridge.forget(told.key, "changed in May", rejected="4711", replacement="0815")
    assert gone.how == "tombstoned"
    records = {r.key: r for r in stores.open_store(spec).raw.records}
    assert told.key not in records
    stone = records[gone.to or ""]
    assert isinstance(stone, Tombstone)
    assert (stone.rejected, stone.replacement) == ("4711", "0815")
    assert stone.reason == "changed in May"
    assert "4711" not in (root / "CONTEXT.md").read_text(encoding="utf-8")


def test_a_row_stays_and_its_tombstone_cites_it(tmp_path: Path) -> None:
    spec = made("memory-compiler", tmp_path / "topic")
    bridge = Bridge(write=spec)
    records = stores.open_store(spec).raw.records
    task = next(r for r in records if isinstance(r, Task) and r.status == "OPEN")
    decision = next(r for r in records if isinstance(r, Decision))
    for record in (task, decision):
        gone = bridge.forget(record.key, "no longer so")
        after = {r.key: r for r in stores.open_store(spec).raw.records}
        stone = after[gone.to or ""]
        assert isinstance(stone, Tombstone)
        assert stone.source == record.key.partition("#")[2]
        stands = after[record.key]
        if isinstance(stands, Task):
            assert stands.status == "DROPPED"
        else:
            assert stands == record
        assert bridge.forget(record.key, "again").already
    with pytest.raises(RefusedError, match="is a tombstone"):
        bridge.forget(gone.to or "", "never mind")


def test_what_only_a_read_store_has_is_not_forgotten(tmp_path: Path) -> None:
    a, b = made("claude-code", tmp_path / "a"), made("bantamkit", tmp_path / "b")
    bridge = Bridge(read=[a], write=b)
    key = next(iter(memories(a)))
    with pytest.raises(RefusedError, match="which is not written"):
        bridge.forget(f"{a}:{key}", "wrong")


def test_a_fact_is_forgotten_by_any_of_its_keys_and_who_still_says_it_is_told(
    tmp_path: Path,
) -> None:
    a = made("claude-code", tmp_path / "a")
    told = Bridge(write=a).remember(TEXT, kind="project")
    b = f"bantamkit:{tmp_path / 'b'}"
    one, other = stores.open_store(a), stores.open_store(b, must_exist=False)
    from interop.choices import Choices

    choices = Choices(kind_map={"untyped": "project"}, skip_refused=True)
    apply_plan(plan(one, other, choices, now=NOW), one, other, choices)
    bridge = Bridge(read=[a, b], write=b)
    gone = bridge.forget(told.key, "moved")
    assert gone.how == "archived"
    assert [s.store for s in gone.elsewhere] == [a]


# --- complements


def converted(tmp_path: Path) -> tuple[str, str, Path]:
    """Make a store of theokit that was converted from one of memhtml, which says more."""
    source = made("memhtml", tmp_path / "source")
    root = tmp_path / "store"
    spec = f"theokit:{root}"
    one, other = stores.open_store(source), stores.open_store(spec, must_exist=False)
    from interop.choices import Choices

    choices = Choices(carry=True, skip_refused=True)
    apply_plan(plan(one, other, choices, now=NOW), one, other, choices)
    return source, spec, root


def test_a_new_record_has_no_line_and_the_way_back_gives_the_rest(tmp_path: Path) -> None:
    source, spec, root = converted(tmp_path)
    kept = (root / COMPLEMENT).read_bytes()
    before = bytes_of(tmp_path / "source")
    told = Bridge(write=spec).remember(TEXT, kind="project")
    assert (root / COMPLEMENT).read_bytes() == kept
    opened = stores.open_store(spec)
    assert told.key not in opened.restored.lines
    assert not opened.doubts
    Bridge(write=spec).forget(told.key, "wrong", yes=True)
    opened = stores.open_store(spec)
    assert not opened.doubts
    back = stores.open_store(source)
    result = plan(opened, back, now=NOW)
    assert not result.blocked
    assert [c.path for c in result.changes if c.path != COMPLEMENT] == []
    assert bytes_of(tmp_path / "source") == before


def test_a_removed_record_does_not_come_back(tmp_path: Path) -> None:
    source, spec, root = converted(tmp_path)
    key = next(k for k, lines in stores.open_store(spec).restored.lines.items() if lines)
    Bridge(write=spec).forget(key, "wrong", yes=True)
    assert (root / COMPLEMENT).exists()
    opened = stores.open_store(spec)
    assert [line.to for line in opened.restored.gone] == [key]
    result = plan(stores.open_store(source), opened, now=NOW)
    assert result.count("gone") == 1
    assert result.count("add") == 0


def test_purging_takes_the_text_out_of_complement_and_undo_data(tmp_path: Path) -> None:
    source, spec, root = converted(tmp_path)
    bridge = Bridge(write=spec)
    key, lines = next((k, x) for k, x in stores.open_store(spec).restored.lines.items() if x)
    words = memories(spec)[key].body.text.strip().split("\n")[0]
    assert len(words) > 12
    with pytest.raises(RefusedError, match="--yes"):
        bridge.forget(key, "private", purge=True)
    gone = bridge.forget(key, "private", purge=True, yes=True)
    assert gone.how == "removed"
    assert gone.purged
    for path in root.rglob("*"):
        if path.is_file():
            assert words.encode() not in path.read_bytes(), path
    # the source still has it: a conversion asks, and does not bring it back
    result = plan(stores.open_store(source), stores.open_store(spec), now=NOW)
    assert result.count("add") == 0
    assert any(o.key == lines[0].key and o.undecided for o in result.outcomes)


@pytest.mark.parametrize("name", FORMATS)
def test_purging_without_a_complement(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    spec = made(name, root)
    bridge = Bridge(write=spec)
    told = bridge.remember("Mira's locker opens with zanzibar.", kind=KIND.get(name))
    old = "the old word" if "tombstone" in registry.get(name).roles else None
    bridge.forget(told.key, "private", purge=True, yes=True, rejected=old)
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.relative_to(root).parts:
            assert b"zanzibar" not in path.read_bytes(), path


def test_pruning_afterwards_does_the_same_and_can_be_shown_first(tmp_path: Path) -> None:
    _, spec, root = converted(tmp_path)
    key = next(k for k, x in stores.open_store(spec).restored.lines.items() if x)
    words = memories(spec)[key].body.text.strip().split("\n")[0]
    Bridge(write=spec).forget(key, "private", yes=True)
    held = (root / COMPLEMENT).read_bytes()
    shown = prune(spec, dry_run=True)
    assert shown.lines
    assert (root / COMPLEMENT).read_bytes() == held
    assert undoing.undo(root, dry_run=True).changes
    assert prune(spec).lines
    for path in root.rglob("*"):
        if path.is_file():
            assert words.encode() not in path.read_bytes(), path
    assert prune(spec).lines == ()
    assert not stores.open_store(spec).doubts


def test_a_writer_waits_a_bounded_time(tmp_path: Path) -> None:
    from interop.applying import locked

    spec = made("claude-code", tmp_path / "store")
    with (
        locked(tmp_path / "store", "somebody", 1.0),
        pytest.raises(WriteError, match="another interop has been writing here"),
    ):
        Bridge(write=spec, wait=0.2).remember(TEXT)
    assert Bridge(write=spec, wait=0.2).remember(TEXT).key


def test_the_command_prunes_and_says_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from interop.cli import complement

    _, spec, root = converted(tmp_path)
    key = next(k for k, x in stores.open_store(spec).restored.lines.items() if x)
    Bridge(write=spec).forget(key, "private", yes=True)
    held = (root / COMPLEMENT).read_bytes()
    assert complement.run("prune", spec, dry_run=True) == 0
    assert (root / COMPLEMENT).read_bytes() == held
    shown = capsys.readouterr()
    assert "its text" in shown.out
    assert "nothing was changed" in shown.err
    assert complement.run("prune", spec, as_json=True) == 0
    assert '"dry_run":false' in capsys.readouterr().out
    assert (root / COMPLEMENT).read_bytes() != held
    assert complement.run("prune", spec) == 0
    assert "nothing to take out" in capsys.readouterr().err
    with pytest.raises(UsageError, match="unknown action"):
        complement.run("show", spec)


def test_what_cannot_be_pruned_for_certain_is_refused(tmp_path: Path) -> None:
    source = made("memory-compiler", tmp_path / "source")
    root = tmp_path / "store"
    spec = f"theokit:{root}"
    one, other = stores.open_store(source), stores.open_store(spec, must_exist=False)
    apply_plan(plan(one, other, now=NOW), one, other)
    # a row: its own format never takes one out, so its file goes on saying it
    key = next(
        k
        for k, x in stores.open_store(spec).restored.lines.items()
        if x and x[0].key.startswith("DECISIONS.md#")
    )
    bridge = Bridge(write=spec)
    before = bytes_of(root)
    with pytest.raises(RefusedError, match="cannot be pruned for certain"):
        bridge.forget(key, "private", purge=True, yes=True)
    assert bytes_of(root) == before
    bridge.forget(key, "private", yes=True)
    held = (root / COMPLEMENT).read_bytes()
    with pytest.raises(RefusedError, match="cannot be pruned for certain"):
        prune(spec)
    assert (root / COMPLEMENT).read_bytes() == held
    assert undoing.undo(root).changes
