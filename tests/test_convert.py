"""Converting on a disk: what a person meets, decision by decision."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest

from interop import check, lint, stores
from interop.choices import Choices
from interop.convert import apply_plan, plan
from interop.errors import FormatError, RefusedError, UsageError
from interop.host import HostOptions
from interop.kinds import parse_kind_map
from interop.model import Files, Memory
from interop.plan import COMPLEMENT, Plan
from interop.pruning import prune
from interop.stores import Opened, open_store
from interop.undoing import undo

NOW = "2026-09-01T08:30:00.000Z"
TYPED = (
    "---\nname: {name}\ndescription: {description}\nmetadata: \n  node_type: memory\n"
    "  type: {kind}\n---\n\n{body}\n"
)


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    root = tmp_path / "claude"
    put(
        root,
        {
            "MEMORY.md": "# Index\n\n- [Pump](pump.md) — at the ramp\n- Docks are numbered\n",
            "pump.md": memory("pump", "Where the pump is", "The pump stands at the ramp."),
            "locks.md": memory("locks", "Lock batch", "Batch B7 goes back.", kind="feedback"),
            "docks.csv": "station,docks\r\npier,24\r\n",
        },
    )
    return root


def memory(name: str, description: str, body: str, kind: str = "project") -> str:
    return TYPED.format(name=name, description=description, kind=kind, body=body)


def put(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode("utf-8"))


def files(root: Path) -> Files:
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and ".interop" not in p.parts
    }


def both(source: Path | str, destination: Path | str) -> tuple[Opened, Opened]:
    return open_store(str(source)), open_store(str(destination), must_exist=False)


def planned(source: Path | str, destination: Path | str, **choices: object) -> Plan:
    a, b = both(source, destination)
    return plan(a, b, Choices(**choices), now=NOW)  # type: ignore[arg-type]  # by keyword


def convert(source: Path | str, destination: Path | str, **choices: object) -> Plan:
    a, b = both(source, destination)
    chosen = Choices(**choices)  # type: ignore[arg-type]  # by keyword
    found = plan(a, b, chosen, now=NOW)
    apply_plan(found, a, b, chosen)
    return found


def a_file_of_ones_own(root: Path) -> str:
    """Write a store in which one file is as no runtime writes it; gives that file's path."""
    text = memory("one-x", '"Of one"  ', "The harbour has nine docks and a crane.")
    text = text.replace("---\n\n", "owner: mira # said so\n---\n\n").replace("\n", "\r\n")
    two = memory("two", "Of two", "Orchard bikes are green, all of them.")
    put(root, {"sub/one.md": text, "two.md": two})
    return "sub/one.md"


def archived_and_synced(a: Path, b: Path) -> None:
    """Archive a fact in a bantamkit store, let it leave the other one, and tell of it."""
    convert(f"claude-code:{a}", f"bantamkit:{b}")
    (b / "archive").mkdir()
    (b / "facts/one.md").rename(b / "archive/one.md")
    convert(b, a, delete=True)
    convert(a, b)


UNTYPED = {"untyped": "reference"}


def actions(found: Plan) -> dict[str, str]:
    return {o.key: o.action for o in found.outcomes}


def only_bullet(found: Plan) -> str:
    (key,) = (o.key for o in found.outcomes if o.key.startswith("MEMORY.md#"))
    return key


class TestKinds:
    def test_an_undeclared_kind_is_refused_and_named(self, claude: Path, tmp_path: Path) -> None:
        found = planned(claude, f"bantamkit:{tmp_path / 'b'}")
        key = only_bullet(found)
        assert actions(found)[key] == "refuse"
        (outcome,) = (o for o in found.outcomes if o.undecided)
        assert "--kind-map" in outcome.remedy
        assert found.template == {key: {"kind": None}}
        with pytest.raises(RefusedError, match="nothing was written"):
            convert(claude, f"bantamkit:{tmp_path / 'b'}")
        assert not (tmp_path / "b").exists()

    def test_a_declared_kind_leaves_no_trace_on_the_way_back(
        self, claude: Path, tmp_path: Path
    ) -> None:
        before = files(claude)
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        there = open_store(str(tmp_path / "b"))
        raw = {r.key: r for r in there.raw.records if isinstance(r, Memory)}
        assert [r.kinds for r in raw.values() if r.body.text == "Docks are numbered"] == [
            {"claude": "reference"}
        ]
        full = [r for r in there.restored.store.records if isinstance(r, Memory)]
        assert [r.kinds for r in full if r.body.text == "Docks are numbered"] == [{}]
        convert(tmp_path / "b", f"claude-code:{tmp_path / 'back'}")
        assert files(tmp_path / "back") == before
        convert(tmp_path / "b", claude)
        assert files(claude) == before

    def test_a_declaration_is_used_again(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        text = (claude / "MEMORY.md").read_text("utf-8")
        (claude / "MEMORY.md").write_text(text.replace("numbered", "numbered clockwise"), "utf-8")
        found = convert(claude, tmp_path / "b")
        assert actions(found)[only_bullet(found)] == "update"

    def test_a_foreign_term_needs_a_word(self, claude: Path, tmp_path: Path) -> None:
        put(claude, {"spokes.md": memory("spokes", "Truing", "Quarter turns.", kind="technique")})
        kinds = dict(UNTYPED)
        assert (
            actions(planned(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=kinds))["spokes.md"]
            == "refuse"
        )
        kinds["technique"] = "feedback"
        found = convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=kinds)
        assert actions(found)["spokes.md"] == "add"
        convert(tmp_path / "b", f"claude-code:{tmp_path / 'back'}")
        assert files(tmp_path / "back") == files(claude)

    def test_what_is_accepted_is_not_remapped_unasked(self, claude: Path, tmp_path: Path) -> None:
        kinds = {**UNTYPED, "feedback": "user"}
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=kinds)
        assert b"type: feedback" in files(tmp_path / "b")["facts/locks.md"]
        convert(claude, f"bantamkit:{tmp_path / 'c'}", kind_map=kinds, override=True)
        assert b"type: user" in files(tmp_path / "c")["facts/locks.md"]

    def test_the_more_specific_wins(self, claude: Path, tmp_path: Path) -> None:
        put(claude, {"spokes.md": memory("spokes", "Truing", "Quarter turns.", kind="technique")})
        kinds = {**UNTYPED, "technique": "user", "claude:technique": "feedback"}
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=kinds)
        assert b"type: feedback" in files(tmp_path / "b")["facts/spokes.md"]

    @pytest.mark.parametrize(
        "text", ["untyped", "=project", "a=", "a=user,a=project", "role:wish=user"]
    )
    def test_a_kind_map_that_means_nothing(self, text: str) -> None:
        with pytest.raises(UsageError):
            parse_kind_map(text)

    def test_a_term_that_nobody_knows(self, claude: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="does not know 'gotcha'"):
            planned(claude, f"bantamkit:{tmp_path / 'b'}", kind_map={"untyped": "gotcha"})

    def test_a_decision_about_one_record(self, claude: Path, tmp_path: Path) -> None:
        key = only_bullet(planned(claude, f"bantamkit:{tmp_path / 'b'}"))
        convert(claude, f"bantamkit:{tmp_path / 'b'}", decisions={key: {"kind": "user"}})
        texts = [t for t in files(tmp_path / "b").values() if b"Docks are numbered\n" in t]
        assert any(b"type: user" in t for t in texts)

    def test_no_name_and_no_heading_gives_a_kind(self, tmp_path: Path) -> None:
        put(
            tmp_path / "a",
            {
                "MEMORY.md": "## Feedback\n\n- [F](feedback_x.md)\n",
                "feedback_x.md": "**Type**: feedback\n\nUser feedback, project reference.\n",
                "user/profile.md": "---\nname: user_profile\ndescription: user\n---\n\nuser\n",
            },
        )
        found = planned(f"claude-code:{tmp_path / 'a'}", f"bantamkit:{tmp_path / 'b'}")
        assert set(actions(found).values()) == {"refuse"}


class TestRefusals:
    def test_skip_goes_on_without_them_and_names_them(self, claude: Path, tmp_path: Path) -> None:
        found = convert(claude, f"bantamkit:{tmp_path / 'b'}", skip_refused=True)
        assert actions(found)[only_bullet(found)] == "skip"
        assert set(files(tmp_path / "b")) == {"facts/pump.md", "facts/locks.md", "index.md"}
        convert(tmp_path / "b", f"claude-code:{tmp_path / 'back'}")
        assert files(tmp_path / "back") == files(claude), "even what was left out comes back"

    def test_carry_takes_them_along_whole(self, claude: Path, tmp_path: Path) -> None:
        found = convert(claude, f"bantamkit:{tmp_path / 'b'}", carry=True)
        assert actions(found)[only_bullet(found)] == "carry"
        assert "Docks are numbered" in (tmp_path / "b" / COMPLEMENT).read_text("utf-8")
        again = planned(claude, tmp_path / "b")
        assert again.changes == (), "what travels once is not asked about again"
        third = convert(tmp_path / "b", f"claude-code:{tmp_path / 'c'}")
        assert "carry" not in actions(third).values()
        assert files(tmp_path / "c") == files(claude)

    def test_without_complement_a_loss_must_be_allowed(self, claude: Path, tmp_path: Path) -> None:
        b = f"bantamkit:{tmp_path / 'b'}"
        with pytest.raises(RefusedError) as raised:
            convert(claude, b, kind_map=UNTYPED, complement=False)
        assert "docks.csv: is no record" in raised.value.details
        assert "pump.md: hook" in raised.value.details
        assert not (tmp_path / "b").exists()
        convert(claude, b, kind_map=UNTYPED, complement=False, allow_loss=True)
        assert not (tmp_path / "b" / COMPLEMENT).exists()

    def test_the_archive_travels_and_the_plan_says_so(self, tmp_path: Path) -> None:
        put(tmp_path / "b", _facts())
        found = convert(f"bantamkit:{tmp_path / 'b'}", f"claude-code:{tmp_path / 'c'}")
        assert actions(found)["archive/old.md"] == "carry"
        assert set(files(tmp_path / "c")) == {"MEMORY.md", "pump.md"}
        convert(tmp_path / "c", f"bantamkit:{tmp_path / 'back'}")
        assert files(tmp_path / "back") == files(tmp_path / "b")

    def test_archiving_leaves_the_other_store_when_asked(self, tmp_path: Path) -> None:
        put(tmp_path / "b", _facts())
        convert(f"bantamkit:{tmp_path / 'b'}", f"claude-code:{tmp_path / 'c'}")
        (tmp_path / "b/facts/pump.md").rename(tmp_path / "b/archive/pump.md")
        waiting = convert(tmp_path / "b", tmp_path / "c")
        assert actions(waiting)["archive/pump.md"] == "pending"
        assert "pump.md" in files(tmp_path / "c")
        convert(tmp_path / "b", tmp_path / "c", delete=True)
        assert "pump.md" not in files(tmp_path / "c")
        quiet = planned(tmp_path / "c", tmp_path / "b")
        assert [c.path for c in quiet.changes] in ([], [COMPLEMENT])


def _facts() -> dict[str, str]:
    fact = (
        "---\nname: {0}\ndescription: {1}\ntype: project\ncreated: '2026-05-01'\n"
        "last_recalled: null\nlinks: []\n---\n\n{2}\n"
    )
    return {
        "facts/pump.md": fact.format("pump", "Where the pump is", "At the ramp."),
        "archive/old.md": fact.format("old", "Old tariff", "1 € an hour."),
        "index.md": "- [[pump]] (project) — Where the pump is\n",
    }


class TestFirstContact:
    """Two stores that no conversion has linked."""

    def test_identical_records_are_linked(self, claude: Path, tmp_path: Path) -> None:
        facts = {
            "facts/pump.md": _facts()["facts/pump.md"].replace("At the", "The pump stands at the")
        }
        put(tmp_path / "b", facts)
        found = convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        assert actions(found)["pump.md"] in ("same", "update", "keep")
        assert files(tmp_path / "b")["facts/pump.md"] == facts["facts/pump.md"].encode()
        assert "facts/pump-2.md" not in files(tmp_path / "b")

    def test_near_records_are_a_decision(self, claude: Path, tmp_path: Path) -> None:
        put(tmp_path / "b", {"facts/pump.md": _facts()["facts/pump.md"]})
        b = f"bantamkit:{tmp_path / 'b'}"
        found = planned(claude, b, kind_map=UNTYPED)
        assert actions(found)["pump.md"] == "conflict"
        for take, text in (("source", b"stands at the ramp"), ("destination", b"\nAt the ramp")):
            shutil.copytree(tmp_path / "b", tmp_path / take)
            decisions = {"pump.md": {"take": take}}
            convert(claude, f"bantamkit:{tmp_path / take}", kind_map=UNTYPED, decisions=decisions)
            assert text in files(tmp_path / take)["facts/pump.md"]
        convert(claude, b, kind_map=UNTYPED, decisions={"pump.md": {"take": "both"}})
        assert {"facts/pump.md", "facts/pump-2.md"} <= set(files(tmp_path / "b"))


class TestSafety:
    def test_planning_writes_nothing(self, claude: Path, tmp_path: Path) -> None:
        before = sorted(tmp_path.rglob("*"))
        planned(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        assert sorted(tmp_path.rglob("*")) == before

    def test_the_source_is_never_written(self, claude: Path, tmp_path: Path) -> None:
        before = sorted((p, p.stat().st_mtime_ns) for p in claude.rglob("*"))
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        assert sorted((p, p.stat().st_mtime_ns) for p in claude.rglob("*")) == before

    def test_a_change_between_plan_and_apply(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        put(claude, {"pump.md": memory("pump", "Where the pump is", "Moved.")})
        a, b = both(claude, tmp_path / "b")
        found = plan(a, b, now=NOW)
        fact = tmp_path / "b/facts/pump.md"
        fact.write_bytes(fact.read_bytes().replace(b"null", b"'2026-08-30'"))
        recalled = files(tmp_path / "b")
        with pytest.raises(RefusedError, match=r"facts/pump\.md"):
            apply_plan(found, a, b)
        assert files(tmp_path / "b") == recalled
        convert(claude, tmp_path / "b")
        assert b"'2026-08-30'" in files(tmp_path / "b")["facts/pump.md"]
        assert b"Moved." in files(tmp_path / "b")["facts/pump.md"]

    def test_undo(self, claude: Path, tmp_path: Path) -> None:
        put(tmp_path / "b", _facts())
        before = files(tmp_path / "b")
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED,
                decisions={"pump.md": {"take": "source"}})  # fmt: skip
        assert files(tmp_path / "b") != before
        undo(tmp_path / "b")
        assert files(tmp_path / "b") == before
        assert not (tmp_path / "b" / COMPLEMENT).exists()
        assert not open_store(str(tmp_path / "b")).doubts, "it is known that there is none now"

    def test_a_stale_half_is_noticed(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        old = files(tmp_path / "b")["facts/pump.md"]
        put(claude, {"pump.md": memory("pump", "Where the pump is", "Moved.")})
        convert(claude, tmp_path / "b")
        (tmp_path / "b/facts/pump.md").write_bytes(old)
        with pytest.raises(RefusedError, match="not of one time"):
            planned(tmp_path / "b", claude)
        planned(tmp_path / "b", claude, accept_stale=True)

    def test_a_missing_complement_is_noticed(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        (tmp_path / "b" / COMPLEMENT).unlink()
        with pytest.raises(RefusedError, match="--accept-stale"):
            planned(tmp_path / "b", claude)

    @pytest.mark.parametrize("name", ["bantamkit", "memhtml", "memory-compiler", "theokit"])
    @pytest.mark.parametrize("first", ["there", "back"])
    def test_what_a_lost_complement_held_is_not_taken_for_removed(
        self, claude: Path, tmp_path: Path, name: str, first: str
    ) -> None:
        """Nobody removed what a format cannot say, so nothing of it goes from the other store."""
        there = f"{name}:{tmp_path / 'b'}"
        stated = {"bantamkit": UNTYPED}.get(name, {})
        convert(claude, there, kind_map=stated, carry=True)
        convert(there, claude)
        before = files(claude)
        shutil.rmtree(tmp_path / "b" / ".interop")
        chosen = {"accept_stale": True, "skip_refused": True}
        if first == "there":
            convert(claude, there, kind_map=stated, carry=True, **chosen)
        convert(there, claude, **chosen)
        after = files(claude)
        for path in before.keys() - {COMPLEMENT}:
            assert set(before[path].splitlines()) <= set(after[path].splitlines())

    def test_a_damaged_complement_says_so(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        path = tmp_path / "b" / COMPLEMENT
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(FormatError, match="damaged"):
            open_store(str(tmp_path / "b"))

    def test_a_version_control_merge_of_complements(self, claude: Path, tmp_path: Path) -> None:
        """Both sides' lines stand in the file: the one that fits what is seen counts."""
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        ours = (tmp_path / "b" / COMPLEMENT).read_bytes().splitlines(keepends=True)
        put(claude, {"pump.md": memory("pump", "Where the pump is", "Moved.")})
        convert(claude, tmp_path / "b")
        theirs = (tmp_path / "b" / COMPLEMENT).read_bytes().splitlines(keepends=True)
        merged = [b"<<<<<<< ours\n", *ours, b"=======\n", *theirs, b">>>>>>> theirs\n"]
        (tmp_path / "b" / COMPLEMENT).write_bytes(b"".join(merged))
        convert(tmp_path / "b", f"claude-code:{tmp_path / 'back'}")
        assert files(tmp_path / "back") == files(claude)

    def test_line_ends_alone_are_no_edit(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        before = files(tmp_path / "b")
        for path in claude.glob("*.md"):
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        found = planned(claude, tmp_path / "b")
        assert [c.path for c in found.changes] in ([], [COMPLEMENT])
        assert not found.blocked
        assert files(tmp_path / "b") == before

    def test_a_new_file_takes_no_bullet_away(self, tmp_path: Path) -> None:
        """A bullet that happens to name a file stays somebody's bullet."""
        put(tmp_path / "c", {"MEMORY.md": "# Memory Index\n\n- Ask before editing pump.md again\n"})
        put(tmp_path / "b", _facts())
        convert(f"bantamkit:{tmp_path / 'b'}", f"claude-code:{tmp_path / 'c'}")
        kept = open_store(f"claude-code:{tmp_path / 'c'}").raw.records
        assert any(
            isinstance(r, Memory) and r.body.text == "Ask before editing pump.md again"
            for r in kept
        )


class TestSpecs:
    def test_only_a_registered_name_is_a_format(self) -> None:
        assert stores.parse("claude-code:x/y") == ("claude-code", "x/y")
        assert stores.parse("C:\\store") == (None, "C:\\store")
        assert stores.parse("x") == (None, "x")

    def test_no_such_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match="no such folder"):
            open_store(str(tmp_path / "nowhere"))

    def test_a_new_store_needs_its_format(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="say which format to create"):
            open_store(str(tmp_path / "new"), must_exist=False)

    def test_a_complement_of_another_format(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        with pytest.raises(FormatError, match="belongs to a bantamkit store"):
            open_store(f"claude-code:{tmp_path / 'b'}")


class TestFoundByBreakingIt:
    """Cases that once went wrong, each with the right outcome."""

    def test_a_name_that_is_another_files_stem(self, tmp_path: Path) -> None:
        put(
            tmp_path / "s",
            {
                "deploy.md": memory("Deploy notes", "How to deploy", "With care."),
                "pipeline.md": memory("deploy", "The pipeline", "Three steps."),
            },
        )
        before = files(tmp_path / "s")
        convert(f"claude-code:{tmp_path / 's'}", f"bantamkit:{tmp_path / 'b'}")
        convert(tmp_path / "b", f"claude-code:{tmp_path / 's2'}")
        convert(tmp_path / "s2", f"bantamkit:{tmp_path / 'b2'}")
        assert files(tmp_path / "s2") == before
        assert files(tmp_path / "b2") == files(tmp_path / "b")

    def test_archiving_without_a_change_of_bytes_is_seen(
        self, claude: Path, tmp_path: Path
    ) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        (tmp_path / "b/archive").mkdir()
        (tmp_path / "b/facts/pump.md").rename(tmp_path / "b/archive/pump.md")
        full = {r.key: r for r in open_store(str(tmp_path / "b")).restored.store.records}
        record = full["archive/pump.md"]
        assert isinstance(record, Memory)
        assert record.state == "archived"
        assert actions(planned(tmp_path / "b", claude))["archive/pump.md"] == "pending"
        found = convert(tmp_path / "b", f"claude-code:{tmp_path / 'new'}")
        assert "pump.md" not in files(tmp_path / "new")
        assert actions(found)["archive/pump.md"] == "carry"
        convert(tmp_path / "b", claude)
        (tmp_path / "b/archive/pump.md").rename(tmp_path / "b/facts/pump.md")
        again = convert(tmp_path / "b", claude)
        assert set(actions(again).values()) == {"same"}

    @pytest.mark.parametrize("through", [(), ("memhtml",), ("jsonl",)])
    def test_what_is_recalled_gets_its_own_file_back(
        self, tmp_path: Path, through: tuple[str, ...]
    ) -> None:
        a, own = tmp_path / "a", a_file_of_ones_own(tmp_path / "a")
        before = files(a)
        places = {"memhtml": "h", "jsonl": "s.jsonl"}
        between = [f"{name}:{tmp_path / places[name]}" for name in through]
        way = [f"claude-code:{a}", *between, f"bantamkit:{tmp_path / 'b'}"]

        def along(stores: list[str], **choices: object) -> None:
            for source, there in itertools.pairwise(stores):
                terms = {"project": "semantic"} if there.startswith("memhtml:") else {}
                convert(source, there, kind_map=terms, host=HostOptions(commit=False), **choices)

        along(way)
        (tmp_path / "b/archive").mkdir()
        (fact,) = (p for p in tmp_path.glob("b/facts/*") if "nine docks" in p.read_text("utf-8"))
        archived = tmp_path / "b/archive" / fact.name
        fact.rename(archived)
        along(way[::-1], delete=True)
        assert not (a / own).exists()
        for _ in range(2):  # the second time it is known only as what stood there
            along(way)
        archived.rename(fact)
        along(way[::-1])
        assert {p: d for p, d in files(a).items() if p != "MEMORY.md"} == before
        along(way)
        kept = open_store(way[-1]).complement
        assert kept is not None
        assert not any(s.stood for s in kept.sources.values()), "it stands there"

    def test_what_is_edited_and_recalled_is_spliced_into_its_own_file(self, tmp_path: Path) -> None:
        a, b = tmp_path / "a", tmp_path / "b"
        own = a_file_of_ones_own(a)
        before = (a / own).read_bytes()
        archived_and_synced(a, b)
        there = b / "archive/one.md"
        there.rename(b / "facts/one.md")
        put(b, {"facts/one.md": (b / "facts/one.md").read_text("utf-8").replace("nine", "ten")})
        convert(b, a)
        assert (a / own).read_bytes() == before.replace(b"nine", b"ten")

    def test_another_file_at_its_place_stays(self, tmp_path: Path) -> None:
        a, b = tmp_path / "a", tmp_path / "b"
        own = a_file_of_ones_own(a)
        archived_and_synced(a, b)
        other = memory("other", "Another", "Ferry tickets are sold at the kiosk.")
        put(a, {own: other})
        convert(a, b)
        (b / "archive/one.md").rename(b / "facts/one.md")
        convert(b, a)
        assert (a / own).read_text("utf-8") == other
        assert len([p for p in files(a) if p != "MEMORY.md"]) == 3

    @pytest.mark.parametrize("way", ["convert", "prune"])
    def test_of_what_is_gone_on_both_sides_no_file_is_kept(self, tmp_path: Path, way: str) -> None:
        a, b = tmp_path / "a", tmp_path / "b"
        own = a_file_of_ones_own(a)
        archived_and_synced(a, b)
        kept = open_store(str(b)).complement
        assert kept is not None
        ((stored, _),) = kept.sources[open_store(str(a)).raw.id].stood.items()
        assert stored == own
        assert b"owner: mira" in (b / COMPLEMENT).read_bytes()
        (b / "archive/one.md").unlink()
        if way == "convert":
            convert(a, b)
        else:
            assert prune(str(b)).lines
        assert b"owner: mira" not in (b / COMPLEMENT).read_bytes()
        assert b"nine docks" not in (b / COMPLEMENT).read_bytes()
        kept = open_store(str(b)).complement
        assert kept is not None
        assert not any(s.stood for s in kept.sources.values())

    @pytest.mark.parametrize("how", ["latin-1", "link", "directory"])
    def test_a_file_that_cannot_be_read_was_not_removed(
        self, claude: Path, tmp_path: Path, how: str
    ) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        before = files(tmp_path / "b")
        pump = claude / "pump.md"
        if how == "latin-1":
            pump.write_bytes(pump.read_bytes() + b"caf\xe9\n")
            found = convert(claude, tmp_path / "b", delete=True)
            assert actions(found)["facts/pump.md"] == "unread"
        elif how == "link":
            text = pump.read_bytes()
            pump.unlink()
            (tmp_path / "elsewhere.md").write_bytes(text)
            pump.symlink_to(tmp_path / "elsewhere.md")
            with pytest.raises(FormatError, match=r"pump\.md"):
                convert(claude, tmp_path / "b", delete=True)
            convert(claude, tmp_path / "b", delete=True, skip_refused=True)
        else:
            fact = tmp_path / "b/facts/pump.md"
            fact.write_bytes(b"damaged\n")
            found = convert(tmp_path / "b", claude, delete=True)
            assert actions(found)["pump.md"] == "unread"
            assert pump.exists()
            return
        assert files(tmp_path / "b") == before

    def test_a_copy_of_a_store_is_another_store(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        shutil.copytree(tmp_path / "b", tmp_path / "copy")
        fact = tmp_path / "copy/facts/pump.md"
        fact.write_bytes(fact.read_bytes().replace(b"at the ramp", b"behind the shed"))
        convert(tmp_path / "copy", claude)
        assert b"behind the shed" in files(claude)["pump.md"]
        found = convert(claude, tmp_path / "b")
        assert actions(found)["pump.md"] == "update"
        assert b"behind the shed" in files(tmp_path / "b")["facts/pump.md"]

    def test_a_moved_store_is_the_same_store(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        identity = open_store(str(tmp_path / "b")).raw.id
        (tmp_path / "b").rename(tmp_path / "moved")
        assert open_store(str(tmp_path / "moved")).raw.id == identity
        assert set(actions(planned(claude, tmp_path / "moved")).values()) == {"same"}

    def test_the_index_may_return_to_what_it_was(self, claude: Path, tmp_path: Path) -> None:
        """A derived file is no witness of a stale store."""
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        index = (tmp_path / "b/index.md").read_bytes()
        put(claude, {"new.md": memory("new", "A new one", "New.")})
        convert(claude, tmp_path / "b")
        (tmp_path / "b/index.md").write_bytes(index)
        planned(tmp_path / "b", claude)

    def test_a_store_into_itself(self, claude: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="one folder"):
            planned(claude, claude)
        with pytest.raises(UsageError, match="within each other"):
            planned(claude, f"bantamkit:{claude / 'sub'}")

    def test_a_decision_is_asked_for_once(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        (claude / "locks.md").unlink()
        fact = tmp_path / "b/facts/locks.md"
        fact.write_bytes(fact.read_bytes().replace(b"goes back", b"stays"))
        found = planned(claude, tmp_path / "b")
        (key,) = (o.key for o in found.outcomes if o.action == "conflict")
        convert(claude, tmp_path / "b", decisions={key: {"take": "destination"}})
        again = planned(claude, tmp_path / "b", delete=True)
        assert not again.blocked
        assert again.count("remove") == 0
        back = convert(tmp_path / "b", claude)
        assert actions(back)["facts/locks.md"] == "add", "what was kept there is new here"

    def test_a_removal_that_was_decided_stays(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        (tmp_path / "b/facts/locks.md").unlink()
        put(claude, {"locks.md": memory("locks", "Lock batch", "Batch B7 stays.", "feedback")})
        assert actions(planned(claude, tmp_path / "b"))["locks.md"] == "conflict"
        convert(claude, tmp_path / "b", decisions={"locks.md": {"take": "destination"}})
        assert actions(planned(claude, tmp_path / "b"))["locks.md"] == "gone"

    def test_a_decision_is_carried_back(self, claude: Path, tmp_path: Path) -> None:
        b = tmp_path / "b"
        convert(claude, f"bantamkit:{b}", kind_map=UNTYPED)
        convert(b, claude)  # each knows the other now
        (claude / "locks.md").unlink()
        fact = b / "facts/locks.md"
        fact.write_bytes(fact.read_bytes().replace(b"goes back", b"stays"))
        convert(claude, b, decisions={"facts/locks.md": {"take": "destination"}})
        assert actions(planned(claude, b)).get("facts/locks.md") is None
        assert actions(convert(b, claude))["facts/locks.md"] == "add"
        assert b"stays" in (claude / "locks.md").read_bytes()
        (b / "facts/pump.md").unlink()
        put(claude, {"pump.md": memory("pump", "Where the pump is", "The pump is at the pier.")})
        convert(claude, b, decisions={"pump.md": {"take": "destination"}})
        assert actions(planned(b, claude))["pump.md"] == "pending", "it is not asked for again"

    def test_what_a_format_cannot_say_is_not_removed_by_it(self, tmp_path: Path) -> None:
        """An entry that repeats the description follows it, and is nobody's own statement."""
        b, t = tmp_path / "b", tmp_path / "t"
        fact = "---\nname: saddle\ndescription: {}\ntype: project\n---\n\nThe saddle of bike 1.\n"
        put(b, {"facts/saddle.md": fact.format("Saddle zero"), "index.md": ""})
        convert(f"bantamkit:{b}", f"theokit:{t}")
        for path in ("saddle.md", "MEMORY.md"):
            text = (t / path).read_text()
            (t / path).write_text(text.replace("Saddle zero", "Saddle T"))
        put(b, {"facts/saddle.md": fact.format("Saddle B")})
        key = "facts/saddle.md"
        for choices in ({"decisions": {key: {"take": "source"}}}, {}, {}):
            found = convert(f"bantamkit:{b}", f"theokit:{t}", **choices)
            assert "— Saddle B\n" in (t / "MEMORY.md").read_text()
        assert found.changes == ()
        (t / "MEMORY.md").write_text((t / "MEMORY.md").read_text().replace("Saddle B", "In shed 4"))
        put(b, {"facts/saddle.md": fact.format("Saddle C")})
        for _ in range(2):
            convert(f"bantamkit:{b}", f"theokit:{t}")
            assert "— In shed 4\n" in (t / "MEMORY.md").read_text()
            assert 'description: "Saddle C"' in (t / "saddle.md").read_text()

    def test_of_two_ways_to_a_store_the_later_agreement_counts(self, tmp_path: Path) -> None:
        a, b, c = (tmp_path / name for name in "abc")
        for n, text in enumerate(("one", "two", "three")):
            put(a, {"pump.md": memory("pump", "Where", f"The pump is at pier {text}.")})
            convert(a, f"bantamkit:{b}")
            if n == 0:
                convert(b, f"theokit:{c}")
            found = convert(c, b)  # nothing changed there, and it knows the first text only
            assert actions(found)["pump.md"] in ("same", "keep")
        assert "pier three" in (b / "facts/pump.md").read_text()

    def test_what_stood_there_before_is_nothing_that_another_one_became(
        self, tmp_path: Path
    ) -> None:
        a, b = tmp_path / "a", tmp_path / "b"
        for n in (1, 2):
            text = f"Rack {n} stands at the harbour, and the keeper counts its bikes daily."
            put(a, {f"rack{n}.md": memory(f"rack{n}", f"About rack {n}", text)})
        convert(a, f"bantamkit:{b}")
        (b / "facts/rack2.md").unlink()
        convert(b, a)  # which leaves the second one pending, and knows nothing of it
        (a / "rack1.md").unlink()
        said = actions(planned(a, b))
        assert said == {"facts/rack1.md": "pending", "rack2.md": "gone"}

    @pytest.mark.parametrize("other", ["bantamkit", "theokit"])
    def test_a_bullet_and_the_file_made_of_it_are_one_both_ways(
        self, tmp_path: Path, other: str
    ) -> None:
        a, b = tmp_path / "a", tmp_path / "b"
        first = tmp_path / "first"
        put(a, {"MEMORY.md": "# Index\n\n- Docks are numbered\n- Bikes are counted at night\n"})
        before = files(a)
        convert(a, f"{other}:{first}", kind_map=UNTYPED)
        shutil.copytree(first, b, ignore=shutil.ignore_patterns(".interop"))
        there = files(b)
        assert set(actions(planned(a, f"{other}:{b}", kind_map=UNTYPED)).values()) == {"same"}
        found = convert(f"{other}:{b}", a)
        assert {o.to for o in found.outcomes} == {r.key for r in open_store(str(a)).raw.records}
        assert files(a) == before
        assert planned(f"{other}:{b}", a).changes == ()
        convert(a, f"{other}:{b}")
        assert files(b) == there

    @pytest.mark.parametrize("other", ["bantamkit", "claude-code"])
    @pytest.mark.parametrize("last", ["theokit", "claude-code"])
    def test_a_removal_counts_for_a_store_further_back_too(
        self, claude: Path, tmp_path: Path, other: str, last: str
    ) -> None:
        b, c = f"{other}:{tmp_path / 'b'}", f"{last}:{tmp_path / 'c'}"
        convert(claude, b, kind_map=UNTYPED)
        convert(b, c)
        (tmp_path / "b" / ("facts/locks.md" if other == "bantamkit" else "locks.md")).unlink()
        convert(b, c, delete=True)
        assert not (tmp_path / "c/locks.md").exists()
        assert actions(convert(claude, c))["locks.md"] == "gone", "what was removed stays removed"
        assert not (tmp_path / "c/locks.md").exists()

    def test_a_record_renamed_on_one_way_is_known_on_the_other(self, tmp_path: Path) -> None:
        a, b, c = tmp_path / "a", tmp_path / "b", tmp_path / "c"
        put(a, {"one.md": memory("one", "Of one", "The harbour has nine docks and a crane.")})
        convert(f"theokit:{a}", f"theokit:{b}")
        convert(b, f"claude-code:{c}")
        convert(c, a)
        (a / "one.md").unlink()
        put(a, {"uno.md": memory("uno", "Of uno", "The harbour has nine docks and a crane.")})
        convert(a, b)
        convert(c, a)
        convert(b, c)
        put(a, {"uno.md": memory("uno", "Of uno", "The harbour has ten docks and a crane.")})
        assert actions(planned(a, c)) == {"uno.md": "update"}

    @pytest.mark.parametrize("text", ["Batch B7 goes back.", "The ferry leaves at noon."])
    @pytest.mark.parametrize("other", ["bantamkit", "claude-code"])
    def test_what_is_written_again_after_both_removed_it_is_new(
        self, claude: Path, tmp_path: Path, other: str, text: str
    ) -> None:
        b = f"{other}:{tmp_path / 'b'}"
        convert(claude, b, kind_map=UNTYPED)
        there = tmp_path / "b" / ("facts/locks.md" if other == "bantamkit" else "locks.md")
        kept = there.read_bytes()
        there.unlink()
        convert(b, claude, delete=True)
        assert not (claude / "locks.md").exists()
        there.write_bytes(kept.replace(b"Batch B7 goes back.", text.encode()))
        assert not planned(claude, b, delete=True).count("remove"), "it is the other one's own"
        (new,) = (o for o in convert(b, claude).outcomes if o.action == "add")
        assert new.to == "locks.md"
        assert text in (claude / "locks.md").read_text()

    @pytest.mark.parametrize("noted", [True, False], ids=["noted as gone", "just removed"])
    def test_a_record_brought_back_by_a_decision_is_not_there_twice(
        self, claude: Path, tmp_path: Path, noted: bool
    ) -> None:
        b, c = tmp_path / "b", tmp_path / "c"
        for source, there in ((claude, b), (b, c), (c, b)):
            convert(f"claude-code:{source}", f"claude-code:{there}")
        (b / "locks.md").unlink()
        if noted:
            convert(claude, b)
        put(claude, {"locks.md": memory("locks", "Locks", "Batch B7 goes back.", "feedback")})
        convert(claude, b, decisions={"locks.md": {"take": "source"}})
        assert actions(convert(b, c))["locks.md"] == "update"
        assert [p.name for p in sorted(c.glob("*.md"))] == ["MEMORY.md", "locks.md", "pump.md"]

    def test_a_removed_record_became_nothing_that_was_there_at_its_end(
        self, tmp_path: Path
    ) -> None:
        a, b = tmp_path / "a", tmp_path / "b"
        said = "The lock of rack {0} at the harbour sticks when it rains, and is oiled daily."
        put(a, {"zero.md": memory("zero", "Of zero", "Ferry tickets are sold at the kiosk.")})
        convert(a, f"bantamkit:{b}")
        fact = "---\nname: {0}\ndescription: Of {0}\ntype: project\n---\n\n" + said + "\n"
        put(b, {"facts/two.md": fact.format("two")})
        convert(b, a)
        put(b, {"facts/three.md": fact.format("three")})
        (a / "two.md").unlink()
        convert(a, b, delete=True)
        put(b, {"facts/zero.md": files(b)["facts/zero.md"].decode().replace("kiosk", "quay")})
        assert actions(planned(a, b)) == {"zero.md": "keep"}

    @pytest.mark.parametrize("kind", ["user", "feedback", "project", "reference"])
    def test_a_kind_is_nothing_that_a_format_supplied(self, tmp_path: Path, kind: str) -> None:
        a, b, first = tmp_path / "a", tmp_path / "b", tmp_path / "first"
        put(a, {"MEMORY.md": "# Index\n\n- Docks are numbered\n"})
        convert(a, f"bantamkit:{first}", kind_map={"untyped": kind})
        shutil.copytree(first, b, ignore=shutil.ignore_patterns(".interop"))
        (outcome,) = convert(f"bantamkit:{b}", a).outcomes
        assert [(f.field, f.fate) for f in outcome.fields] == [("kinds", "carried")], "it is named"
        (record,) = open_store(str(a)).restored.store.records
        assert isinstance(record, Memory)
        assert record.kinds == {"claude": kind}

    def test_a_bullet_that_was_kept_and_edited_since_is_still_the_removed_one(
        self, tmp_path: Path
    ) -> None:
        a, b = tmp_path / "a", tmp_path / "b"
        index = "# Index\n\n- Docks are numbered\n- Bikes are counted at night{}\n"
        put(a, {"MEMORY.md": index.format("")})
        convert(a, f"bantamkit:{b}", kind_map=UNTYPED)
        (fact,) = (b / "facts").glob("bikes*.md")
        fact.unlink()
        assert planned(b, a).count("pending") == 1
        convert(b, a)
        put(a, {"MEMORY.md": index.format(", by Mira")})
        found = planned(a, b, kind_map=UNTYPED)
        assert sorted(actions(found).values()) == ["conflict", "same"], "it is asked, not added"

    def test_a_file_with_records_is_no_attachment(self, tmp_path: Path) -> None:
        text = "# Context\n\n## Current facts\n\n- Rack 1 stands at the harbour.\n"
        one, other = (f"memory-compiler:{tmp_path / name}" for name in "ab")
        put(tmp_path / "a", {"CONTEXT.md": text})
        convert(one, other)
        put(tmp_path / "a", {"CONTEXT.md": "# Context\n\n## Current facts\n\n"})
        assert set(actions(convert(one, other)).values()) == {"pending"}
        assert (tmp_path / "b/CONTEXT.md").read_text() == text

    def test_a_folder_that_is_gone_is_not_stale(self, claude: Path, tmp_path: Path) -> None:
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)
        shutil.rmtree(tmp_path / "b")
        convert(claude, f"bantamkit:{tmp_path / 'b'}", kind_map=UNTYPED)

    def test_an_escaped_surrogate_stays_an_escape(self, tmp_path: Path) -> None:
        fact = '---\nname: s\ndescription: "\\ud800 x"\ntype: user\n---\n\nB\n'
        put(tmp_path / "b", {"facts/s.md": fact, "index.md": "", "facts/t.md": fact})
        before = files(tmp_path / "b")
        store = open_store(f"bantamkit:{tmp_path / 'b'}")
        assert check.check(store).ok
        list(lint.lint(store))
        convert(f"bantamkit:{tmp_path / 'b'}", f"claude-code:{tmp_path / 'c'}")
        convert(tmp_path / "c", f"bantamkit:{tmp_path / 'back'}")
        assert files(tmp_path / "back") == before

    def test_a_decision_about_nobody_is_named(self, claude: Path, tmp_path: Path) -> None:
        found = planned(claude, f"bantamkit:{tmp_path / 'b'}", decisions={"x.md": {"carry": True}})
        assert any("x.md" in note for note in found.notes)

    def test_a_tombstone_counts_for_a_copy_too(self, tmp_path: Path) -> None:
        stone = (
            "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
            "|---|---|---|---|---|---|---|\n| T-001 | go-live | 2026-09-01 | — | — | late | — |\n"
        )
        put(tmp_path / "t", {"TOMBSTONES.md": stone})
        put(tmp_path / "s", {"plan.md": memory("plan", "When", "We go live on 2026-09-01.")})
        topic = open_store(f"memory-compiler:{tmp_path / 't'}")
        found = planned(
            f"claude-code:{tmp_path / 's'}", f"claude-code:{tmp_path / 'c'}", tombstones=(topic,)
        )
        assert actions(found) == {"plan.md": "refuse"}

    def test_an_edit_of_the_first_paragraph_brings_no_claim_along(self, tmp_path: Path) -> None:
        put(tmp_path / "s", {"a.md": memory("a", "A claim", "First para.\n\nSecond para.")})
        h = f"memhtml:{tmp_path / 'h'}"
        no_git = HostOptions(commit=False)
        kinds = {"project": "semantic"}
        convert(f"claude-code:{tmp_path / 's'}", h, kind_map=kinds, host=no_git)
        (page,) = (p for p in (tmp_path / "h").rglob("*.html") if b"First para" in p.read_bytes())
        page.write_bytes(page.read_bytes().replace(b"First para", b"First CHANGED para"))
        convert(h, f"claude-code:{tmp_path / 's'}", host=no_git)
        assert b"\n\nFirst CHANGED para.\n\nSecond para.\n" in files(tmp_path / "s")["a.md"]
        assert b"<mark>" not in files(tmp_path / "s")["a.md"]

    def test_rows_are_told_by_what_they_say(self, tmp_path: Path) -> None:
        """An id that a table allots is no name: without a common past the text decides."""
        head = (
            "| ID | Item | Status | Opened | Evidence / Reason | Notes |\n"
            "|---|---|---|---|---|---|\n"
        )
        one = "| OI-001 | Oil the chains | BLOCKED | 2026-08-01 | e | — |\n"
        other = "| OI-002 | After the winter | BLOCKED | 2026-08-02 | f | — |\n"
        put(tmp_path / "m", {"OPEN_ITEMS.md": head + one + other})
        put(tmp_path / "n", {"OPEN_ITEMS.md": head + one + other})
        h = f"memhtml:{tmp_path / 'h'}"
        convert(f"memory-compiler:{tmp_path / 'm'}", h, host=HostOptions(commit=False))
        found = planned(h, f"memory-compiler:{tmp_path / 'n'}")
        assert not found.blocked
        assert {o.to for o in found.outcomes} == {"OPEN_ITEMS.md#OI-001", "OPEN_ITEMS.md#OI-002"}
        assert [c.path for c in found.changes if c.path != COMPLEMENT] == []

    def test_an_encoded_text_gets_only_the_edit(self, tmp_path: Path) -> None:
        put(tmp_path / "s", {"a.md": memory("a", "A", "Line one.\nLine two.\n\nPara two.")})
        t = f"memory-compiler:{tmp_path / 't'}"
        convert(f"claude-code:{tmp_path / 's'}", t)
        page = tmp_path / "t/CONTEXT.md"
        page.write_bytes(page.read_bytes().replace(b"Line one", b"Line ONE"))
        convert(t, f"claude-code:{tmp_path / 's'}")
        assert b"\n\nLine ONE.\nLine two.\n\nPara two.\n" in files(tmp_path / "s")["a.md"]

    def test_an_archived_copy_with_a_number_is_followed(self, tmp_path: Path) -> None:
        """Where the archive has the name already, sleep puts a number behind it."""
        put(tmp_path / "s", {"a.md": memory("a", "A claim", "Text one.")})
        h, no_git = f"memhtml:{tmp_path / 'h'}", HostOptions(commit=False)
        convert(f"claude-code:{tmp_path / 's'}", h, kind_map={"project": "semantic"}, host=no_git)
        (page,) = (p for p in (tmp_path / "h").rglob("*.html") if b"Text one" in p.read_bytes())
        inside = page.relative_to(tmp_path / "h").as_posix().replace(".html", "-2.html")
        put(tmp_path / "h", {f"archive/2026/{inside}": page.read_text("utf-8")})
        page.unlink()
        found = planned(h, f"claude-code:{tmp_path / 's'}")
        assert [(o.action, o.to) for o in found.outcomes] == [("pending", "a.md")]

    @pytest.mark.parametrize(
        ("edit", "action"),
        [
            (('<meta name="memhtml-created"', '{decay}\n<meta name="memhtml-created"'), "gone"),
            (("Text one.", "Text two."), "conflict"),
        ],
    )
    def test_what_sleep_counts_brings_no_removed_record_back(
        self, tmp_path: Path, edit: tuple[str, str], action: str
    ) -> None:
        a, h, no_git = tmp_path / "s", f"memhtml:{tmp_path / 'h'}", HostOptions(commit=False)
        put(a, {"a.md": memory("a", "A claim", "Text one."), "b.md": memory("b", "B", "Of b.")})
        convert(f"claude-code:{a}", h, kind_map={"project": "semantic"}, host=no_git)
        (page,) = (p for p in (tmp_path / "h").rglob("*.html") if b"Text one" in p.read_bytes())
        was, becomes = edit
        decay = '<meta name="memhtml-confidence" content="0.920">'
        text = page.read_text("utf-8").replace(was, becomes.format(decay=decay))
        assert text != page.read_text("utf-8")
        page.write_text(text, "utf-8")
        (a / "a.md").unlink()
        found = planned(h, f"claude-code:{a}")
        key = page.relative_to(tmp_path / "h").as_posix()
        assert actions(found)[key] == action
        assert bool(found.blocked) is (action == "conflict")

    @pytest.mark.parametrize("renamed", ["one-x", "one-y"])
    @pytest.mark.parametrize("by_hand", [True, False])
    @pytest.mark.parametrize("kind", ["bantamkit", "theokit"])
    def test_a_record_that_comes_back_is_as_whole_as_a_new_one(
        self, tmp_path: Path, kind: str, by_hand: bool, renamed: str
    ) -> None:
        """The source keeps the destination's file of last time, and what was supplied in it."""
        a, b = tmp_path / "a", tmp_path / "b"
        spec = f"{kind}:{b}"
        nine = "The harbour has nine docks and a crane."
        put(a, {"one.md": memory("one-x", '""', nine), "two.md": memory("two", "Of two", "Green.")})
        convert(f"claude-code:{a}", spec)
        convert(spec, a)
        (place,) = (path for path, data in files(b).items() if b"nine" in data and "one" in path)
        if by_hand:
            (b / place).unlink()
        else:
            (a / "one.md").unlink()
            convert(a, spec, delete=True)
            assert place not in files(b)
        put(a, {"one.md": memory(renamed, '""', nine.replace("nine", "ten"))})
        convert(a, spec, decisions={"one.md": {"take": "source"}})
        # it is what a store without any past would be given, but for the order of the index
        put(tmp_path / "plain", {path: data.decode() for path, data in files(a).items()})
        convert(f"claude-code:{tmp_path / 'plain'}", f"{kind}:{tmp_path / 'new'}")
        fresh, back = files(tmp_path / "new"), files(b)
        assert back.keys() == fresh.keys()
        assert {p: sorted(data.splitlines()) for p, data in back.items()} == {
            p: sorted(data.splitlines()) for p, data in fresh.items()
        }
        assert back[place] == fresh[place]
        assert not lint.lint(open_store(spec))
        told = planned(a, spec)
        assert set(actions(told).values()) == {"same"}
        assert set(actions(planned(spec, a)).values()) == {"same"}


TOPIC = {
    "CONTEXT.md": "# Context\n\n## Current facts\n\n- Docks are numbered from the river.\n",
    "OPEN_ITEMS.md": (
        "# Open items\n\n| ID | Item | Status | Opened | Evidence / Reason | Notes |\n"
        "|---|---|---|---|---|---|\n"
        "| OI-001 | Ask the town about the lane | OPEN | 2026-08-01 |  |  |\n"
        "| OI-002 | Pump the tyres | OPEN | 2026-08-02 |  |  |\n"
    ),
    "TOMBSTONES.md": (
        "# Tombstones\n\n"
        "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |\n"
        "|---|---|---|---|---|---|---|\n"
        "| T-001 | go-live | 2026-09-01 | mail | 2026-08-20 | the ferry is late | minutes |\n"
    ),
    "memory_tests.yaml": "tests:\n",
}
STONE = "tombstone-t-001.md"


class TestRows:
    """Rows of a topic and their renderings: an id is an identity, and a role is one, too."""

    @pytest.fixture
    def topic(self, tmp_path: Path) -> Path:
        put(tmp_path / "topic", TOPIC)
        return tmp_path / "topic"

    @pytest.fixture
    def there(self, topic: Path, tmp_path: Path) -> Path:
        convert(topic, f"claude-code:{tmp_path / 'there'}")
        return tmp_path / "there"

    def edit(self, path: Path, old: str, new: str) -> None:
        text = path.read_bytes().decode("utf-8")
        assert old in text
        path.write_bytes(text.replace(old, new).encode("utf-8"))

    def break_it(self, there: Path) -> None:
        self.edit(there / STONE, "- **Rejected value:** 2026-09-01", "rejected: 2026-09-01")

    def test_a_row_in_anothers_place_is_a_new_record(self, topic: Path, there: Path) -> None:
        before = files(there)
        self.edit(topic / "OPEN_ITEMS.md", "| OI-002 | Pump the tyres |", "| OI-003 | Sell vans |")
        found = convert(topic, there)
        assert actions(found)["OPEN_ITEMS.md#OI-003"] == "add"
        assert actions(found)["task-oi-002.md"] == "pending"
        after_it = files(there)
        assert {p for p in before if after_it[p] != before[p]} == {"MEMORY.md"}
        assert b"Sell vans" in after_it["task-oi-003.md"]

    def test_what_a_format_never_removes_is_said_to_stay_at_once(
        self, topic: Path, there: Path
    ) -> None:
        (there / "task-oi-002.md").unlink()
        for delete in (False, True):
            found = planned(there, topic, delete=delete)
            (outcome,) = [o for o in found.outcomes if o.to == "OPEN_ITEMS.md#OI-002"]
            assert (outcome.action, outcome.remedy) == ("stays", "")

    def test_a_broken_rendering_is_a_decision_that_says_so(self, topic: Path, there: Path) -> None:
        self.break_it(there)
        found = planned(there, topic)
        (outcome,) = [o for o in found.outcomes if o.undecided]
        assert (outcome.key, outcome.action) == (STONE, "conflict")
        assert "no longer reads as the tombstone" in outcome.reason
        assert "{take: destination}" in outcome.remedy
        assert "source" not in outcome.remedy, "a row cannot become a bullet"
        # seen from the topic only the other store changed: that stays, and is said
        back = planned(topic, there)
        assert not back.blocked
        (kept,) = [o for o in back.outcomes if o.to == STONE]
        assert kept.action == "keep"
        assert "no longer reads as a tombstone" in kept.reason

    def test_take_the_destination_holds_and_mends_the_other(self, topic: Path, there: Path) -> None:
        self.break_it(there)
        rows, whole = files(topic), (there / STONE).read_bytes()
        convert(there, topic, decisions={STONE: {"take": "destination"}})
        assert files(topic) == rows
        again = planned(there, topic)
        assert not again.blocked
        assert again.changes == ()
        convert(topic, there)
        assert (there / STONE).read_bytes() != whole
        assert b"- **Rejected value:** 2026-09-01" in (there / STONE).read_bytes()
        assert set(actions(planned(there, topic)).values()) == {"same"}

    def test_take_both_gives_it_a_place_of_its_own(self, topic: Path, there: Path) -> None:
        self.break_it(there)
        rows = files(topic)["TOMBSTONES.md"]
        found = convert(there, topic, decisions={STONE: {"take": "both"}})
        assert found.count("add") == 1
        assert files(topic)["TOMBSTONES.md"] == rows
        assert b"rejected: 2026-09-01" in files(topic)["CONTEXT.md"]
        assert not [f for f in lint.lint(open_store(str(topic))) if f.code == lint.TOMBSTONED]
        again = planned(there, topic)
        assert not again.blocked
        assert again.changes == ()
        convert(topic, there)  # both have both
        assert not planned(there, topic).blocked
        assert set(actions(planned(topic, there)).values()) == {"same"}

    @pytest.mark.parametrize("take", ["source", "destination", "both"])
    def test_every_decision_holds_where_both_have_files(
        self, there: Path, tmp_path: Path, take: str
    ) -> None:
        convert(there, f"theokit:{tmp_path / 'other'}")
        self.break_it(there)
        found = planned(there, tmp_path / "other")
        assert found.template == {STONE: {"take": None}}
        convert(there, tmp_path / "other", decisions={STONE: {"take": take}})
        again = planned(there, tmp_path / "other")
        assert not again.blocked
        assert again.changes == ()
        said = [p for p, data in files(tmp_path / "other").items() if b"\nrejected: 2026" in data]
        assert len(said) == (take != "destination")

    @pytest.mark.parametrize("name", ["theokit", "memhtml"])
    def test_a_new_text_with_a_broken_marker_is_told_of(self, tmp_path: Path, name: str) -> None:
        broken = "<!-- interop: tombstone T-1 -->\n- **Fact / Key:** go-live\nrejected: spring"
        put(tmp_path / "a", {"x.md": memory("x", "Go-live", broken)})
        kinds = {"project": "semantic"} if name == "memhtml" else {}
        found = convert(tmp_path / "a", f"{name}:{tmp_path / 'b'}", kind_map=kinds)
        (note,) = [n for n in found.notes if n.startswith("x.md: ")]
        assert "no longer reads as one" in note
        there = open_store(str(tmp_path / "b"))
        assert [r.role for r in there.seen.records] == ["memory"], "nor does it there"
        before = files(tmp_path / "a")
        convert(tmp_path / "b", tmp_path / "a")
        assert files(tmp_path / "a") == before

    def test_an_id_that_was_changed_in_a_marker_is_told_of(self, topic: Path, there: Path) -> None:
        assert not [n for n in planned(there, topic).notes if "its marker says" in n]
        self.edit(there / STONE, "tombstone T-001 -->", "tombstone T-777 -->")
        found = planned(there, topic)
        (note,) = [n for n in found.notes if "its marker says" in n]
        assert "T-777" in note
        assert "T-001" in note
        assert set(actions(found).values()) == {"same"}

    def test_what_a_rendering_says_is_said_by_the_source(self, topic: Path, there: Path) -> None:
        self.edit(there / STONE, "the ferry is late", "the ferry was late")
        found = planned(there, topic)
        (outcome,) = [o for o in found.outcomes if o.action == "update"]
        assert [(f.field, f.fate) for f in outcome.fields] == [("reason", "exact")]

    def test_what_is_told_by_its_place_is_not_told_by_its_text(
        self, topic: Path, there: Path
    ) -> None:
        convert(there, topic)
        self.edit(topic / "CONTEXT.md", "Docks are numbered from the river.", "Vans: 2.")
        (note,) = [n for n in planned(there, topic).notes if "recognised" in n]
        assert note.endswith("by its place between the same neighbours alone")
