"""`interop recall`, `remember` and `forget`, as a person and as a program run them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from interop import stores
from interop.disk import layout
from tests.busy import WAITED, busy
from tests.test_cli_stores import Shell

ROOT = Path(__file__).parents[1]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Give a user with three named stores, of which one is written."""
    shell = Shell(tmp_path)
    shell.env["INTEROP_CACHE_DIR"] = str(tmp_path / "cache")
    lines = [
        f'{name} = "{f}:{shell.put(shell.home / name, f)}"'
        for name, f in (
            ("garage", "claude-code"),
            ("van", "bantamkit"),
            ("topic", "memory-compiler"),
        )
    ]
    shell.say('write = "@van"\n[stores]\n' + "\n".join(lines).replace("\\", "\\\\") + "\n")
    return shell


def tell_apart(shell: Shell) -> Path:
    """Let two stores say one fact in different words."""
    shell.fine("convert", "@van", f"claude-code:{shell.home / 'twin'}", "--carry")
    shell.fine("stores", "add", "twin", f"claude-code:{shell.home / 'twin'}")
    (page,) = (p for p in (shell.home / "twin").glob("*.md") if "pump" in p.name)
    page.write_bytes(page.read_bytes().replace(b"3.5 bar in front", b"3.2 bar in front"))
    return page


def data_of(store: Path) -> dict[str, bytes]:
    """Give a store's own files."""
    return {
        p.relative_to(store).as_posix(): p.read_bytes()
        for p in store.rglob("*")
        if p.is_file() and ".interop" not in p.parts
    }


def recalled(shell: Shell, *arguments: str) -> list[dict[str, Any]]:
    """Give the records that a search finds, in JSON form."""
    lines = shell.fine("recall", *arguments, "--json").splitlines()
    return [json.loads(line)["record"] for line in lines]


# --- recall


def test_recall_names_the_source_of_what_it_finds(shell: Shell) -> None:
    done = shell.run("recall", "tyres ordered", "--limit", "1")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "tyre-order  [reference]",
        "  @van:facts/tyre-order.md",
        "  Where spare tyres are ordered: the dealer's page",
    ]
    assert done.stderr == "1 result in 3 stores\n"


def test_recall_shows_both_texts_where_they_differ(shell: Shell) -> None:
    page = tell_apart(shell)
    out = shell.fine("recall", "pump-pressure")
    assert "  @van:facts/pump-pressure.md\n" in out
    assert f"  @twin:{page.name} (in other words)\n" in out
    here, there = out.index("  @van says:"), out.index("  @twin says:")
    assert here < out.index("3.5 bar in front", here) < there
    assert there < out.index("3.2 bar in front", there)
    found = json.loads(shell.fine("recall", "pump-pressure", "--json"))
    sources: list[dict[str, Any]] = found["sources"]
    assert [(s["store"], s["differs"]) for s in sources] == [("@van", False), ("@twin", True)]
    assert "3.2 bar" in json.dumps(sources[1]["record"])


def test_recall_finds_every_role_and_script(shell: Shell) -> None:
    roles = {
        record["role"]
        for query in ("hall", "chains", "820", "heater")
        for record in recalled(shell, query)
    }
    assert roles == {"memory", "task", "decision", "tombstone"}
    for query, key in (("ท่าริมน้ำ", "dock-thai"), ("شمس", "vendor-arabic")):
        (record,) = recalled(shell, query)
        assert key in record["key"]
    told = shell.fine("recall", "820", "--limit", "1")
    assert "820 € a month is rejected; in its place: D-002; reason: first offer" in told


@pytest.mark.parametrize("query", ['"', "* OR (", "tyre AND", "-- x", "NEAR(", "a\\", ":^~"])
def test_no_sign_of_a_query_has_a_meaning(shell: Shell, query: str) -> None:
    done = shell.run("recall", "--read", "@van", "--", query)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr


def test_recall_says_that_it_finds_nothing(shell: Shell) -> None:
    done = shell.run("recall", "submarine")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "0 results in 3 stores\n"
    assert shell.run("recall", "submarine", "--json").stdout == ""
    assert shell.run("recall", " ").returncode == 2
    assert shell.run("recall", "tyre", "--limit", "0").returncode == 2


def test_recall_leaves_archived_ones_alone_unless_asked(shell: Shell) -> None:
    shell.fine("forget", "@van:facts/tyre-order.md", "--reason", "another dealer")
    keys = [record["key"] for record in recalled(shell, "bestellung", "--archived")]
    assert keys == ["archive/tyre-order.md"]
    assert shell.run("recall", "bestellung").returncode == 1


def test_a_store_that_cannot_be_read_is_named_and_no_failure(shell: Shell) -> None:
    shell.fine("stores", "add", "gone", f"bantamkit:{shell.home / 'gone'}")
    done = shell.run("recall", "tyres ordered", "--json")
    assert done.returncode == 0
    *_, problem = [json.loads(line) for line in done.stdout.splitlines()]
    assert problem["store"] == "@gone"
    assert "no such folder" in problem["problem"]
    assert "@gone: " in done.stderr
    nothing = shell.run("recall", "submarine")
    assert nothing.returncode == 4, "it cannot say that nothing is there"
    none = shell.run("recall", "tyre", "--read", "@gone")
    assert (none.returncode, none.stdout) == (4, "")
    unknown = shell.run("recall", "tyre", "--read", "@nobody")
    assert (unknown.returncode, unknown.stdout) == (2, "")


def test_what_a_terminal_would_obey_is_escaped(shell: Shell) -> None:
    page = "---\nname: bell\ndescription: The \x1b[2J bell\u202e rings\n---\n\nbell \x07\n"
    (shell.home / "garage" / "bell.md").write_text(page, encoding="utf-8")
    out = shell.fine("recall", "bell rings")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\x07" not in out
    assert "\\x1b[2J bell\\u202e rings" in out


# --- remember


def test_remember_writes_to_the_one_store(shell: Shell) -> None:
    others = data_of(shell.home / "garage"), data_of(shell.home / "topic")
    arguments = ["The spare key hangs in the workshop.", "--name", "spare-key", "--kind", "project"]
    done = shell.run("remember", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "remembered @van:facts/spare-key.md\n"
    assert "description supplied: 'The spare key hangs in the workshop.'" in done.stderr
    assert (data_of(shell.home / "garage"), data_of(shell.home / "topic")) == others
    known = shell.run("remember", *arguments)
    assert (known.returncode, known.stdout) == (0, "known already: @van:facts/spare-key.md\n")
    (record,) = recalled(shell, '"spare key hangs"')
    assert record["kinds"] == {"claude": "project"}
    shell.fine("undo", "@van")
    assert shell.run("recall", '"spare key hangs"').returncode == 1


def test_remember_takes_what_is_said_and_infers_nothing(shell: Shell) -> None:
    command = ["remember", "-", "--write", "@garage", "--json"]
    command += ["--description", "Where the pump is", "--name", "pump-place"]
    done = subprocess.run(
        [sys.executable, "-m", "interop.cli.main", *command],
        input="Die Pumpe steht im Büro.\nEs ist ein Projekt.\n".encode(),
        capture_output=True,
        cwd=shell.cwd,
        env=shell.env,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["key"], told["store"], told["already"]) == ("pump-place.md", "@garage", "")
    record = shell.objects("show", "@garage", told["key"])[0]
    assert "kinds" not in record
    assert record["description"] == "Where the pump is"
    bad = subprocess.run(
        [sys.executable, "-m", "interop.cli.main", *command],
        input=b"\xff\xfe",
        capture_output=True,
        cwd=shell.cwd,
        env=shell.env,
    )
    assert (bad.returncode, bad.stdout) == (4, b"")
    assert b"is not UTF-8" in bad.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["The hall costs 820 € a month.", "--kind", "project"], 3, "T-001"),
        (["A rumour.", "--kind", "gossip"], 3, "gossip"),
        (["A rumour."], 3, "demands a kind"),
        ([" "], 2, "nothing to remember"),
        (["A rumour.", "--write", "@nowhere"], 2, "@nowhere"),
    ],
)
def test_what_is_refused_writes_nothing(
    shell: Shell, arguments: list[str], code: int, says: str
) -> None:
    before = data_of(shell.home / "van")
    done = shell.run("remember", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert data_of(shell.home / "van") == before


def test_a_rejected_value_can_be_let_through_on_purpose(shell: Shell) -> None:
    text = "The hall costs 820 € a month."
    done = shell.run("remember", text, "--kind", "project", "--allow-tombstoned")
    assert done.returncode == 0, done.stderr
    assert "T-001" in done.stderr


# --- forget


def test_forget_rejects_a_value_where_there_are_tombstones(shell: Shell) -> None:
    (record,) = recalled(shell, '"Bikes in the depot"')
    key = record["key"]
    arguments = ["forget", key, "--reason", "recount", "--write", "@topic"]
    refused = shell.run(*arguments)
    assert refused.returncode == 3
    assert "rejected value" in refused.stderr
    done = shell.run(*arguments, "--rejected", "64 bikes", "--replacement", "61 bikes")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"tombstoned: @topic:{key}, now TOMBSTONES.md#T-")
    refused = shell.run("remember", "There are 64 bikes.", "--kind", "project")
    assert refused.returncode == 3
    assert "recount" in refused.stderr
    assert "61 bikes" in refused.stderr


def test_a_removal_is_agreed_to_and_can_be_undone(shell: Shell) -> None:
    before = data_of(shell.home / "garage")
    arguments = ["forget", "ask-first.md", "--reason", "void", "--write", "@garage"]
    refused = shell.run(*arguments)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "--yes" in refused.stderr
    assert data_of(shell.home / "garage") == before
    done = shell.run(*arguments, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["how"] == "removed"
    assert "ask-first.md" not in data_of(shell.home / "garage")
    shell.fine("undo", "@garage")
    assert data_of(shell.home / "garage") == before


def test_forget_names_the_stores_that_still_say_it(shell: Shell) -> None:
    page = tell_apart(shell)
    done = shell.run("forget", "facts/pump-pressure.md", "--reason", "sold")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("archived: @van:facts/pump-pressure.md, now archive/pump-pressure.md\n")
    assert f"still said in @twin:{page.name}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["no-such-key", "--reason", "x"], 2, "no-such-key"),
        (["facts/tyre-order.md", "--reason", " "], 2, "no reason"),
        (["facts/tyre-order.md"], 2, "--reason"),
        (["@garage:ask-first.md", "--reason", "x"], 3, "@van"),
        (["facts/tyre-order.md", "--reason", "x", "--purge"], 3, "--yes"),
    ],
)
def test_what_cannot_be_forgotten_is_said(
    shell: Shell, arguments: list[str], code: int, says: str
) -> None:
    before = data_of(shell.home / "van")
    done = shell.run("forget", *arguments)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert data_of(shell.home / "van") == before


def test_purging_leaves_no_copy_of_the_text(shell: Shell) -> None:
    arguments = ["--reason", "private", "--purge", "--yes"]
    shell.fine("forget", "@van:facts/coffee-anneke.md", *arguments)
    everything = [
        p for p in shell.home.parent.rglob("*") if p.is_file() and "garage" not in p.parts
    ]
    left = [p for p in everything if b"Anneke trinkt" in p.read_bytes()]
    assert [p for p in left if "cache" not in p.parts] == []
    assert shell.run("recall", "Anneke trinkt").returncode == 1


# --- many at once


HOLDS = """
import sys
from pathlib import Path
from interop.disk import lock
root, facts = Path(sys.argv[1]), Path(sys.argv[1]) / "facts"
with lock.locked(root, "a long conversion", 60):
    print("held", flush=True)
    sys.stdin.read()
    print(*sorted(p.name for p in facts.iterdir()))
"""
WAITS = """
import sys
import filelock
from interop.cli.main import main
acquire = filelock.FileLock.acquire
def told(self, timeout=None):
    try:
        return acquire(self, timeout=0)
    except filelock.Timeout:
        print("waits", file=sys.stderr, flush=True)
    return acquire(self, timeout=900)
filelock.FileLock.acquire = told
main()
"""
"""The command, which says when it begins to wait for its turn."""


def test_a_writer_waits_and_then_says_who_holds_the_store(shell: Shell) -> None:
    van = shell.home / "van"
    shell.fine("remember", "Bells are red.", "--kind", "project", "--name", "bells")

    def begin(program: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=shell.cwd,
            env=shell.env,
        )

    facts = sorted(p.name for p in (van / "facts").iterdir())
    words = ["remember", "Saddles are blue.", "--kind", "project", "--name", "saddles"]
    with begin(HOLDS, str(van)) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == "held\n"
        with begin(WAITS, *words) as writing:
            assert writing.stderr is not None
            assert writing.stderr.readline() == "waits\n"
            listed, _ = holding.communicate()  # which closes its stdin, and ends it
            assert listed.split() == facts, "as long as it was held nothing was written"
            done, said = writing.communicate()
            assert (writing.returncode, done) == (0, "remembered @van:facts/saddles.md\n"), said
    assert (van / "facts" / "saddles.md").exists()
    before = data_of(van)
    with begin(HOLDS, str(van)) as holding:  # until it is ended
        try:
            assert holding.stdout is not None
            assert holding.stdout.readline() == "held\n"
            readable = shell.run("recall", "Saddles", "--read", "@van")
            assert readable.returncode == 0, "readers do not wait"
            start = time.monotonic()
            refused = shell.run(
                "remember", "Pedals are grey.", "--kind", "project", "--name", "pedals"
            )
            waited = time.monotonic() - start
        finally:
            holding.kill()
    assert (refused.returncode, refused.stdout) == (5, "")
    assert f"{WAITED} for 10 seconds (a long conversion" in refused.stderr
    assert "nothing was written" in refused.stderr
    assert waited > 9
    assert data_of(van) == before
    shell.fine("remember", "Pedals are grey.", "--kind", "project", "--name", "pedals")


def test_many_processes_write_and_no_reader_sees_half_of_it(shell: Shell) -> None:
    garage = shell.home / "garage"
    spec = f"claude-code:{garage}"
    words = ["anchor", "basket", "chain", "dynamo", "engine", "fender", "gear", "hub"]
    before = {record.key for record in stores.open_store(spec).raw.records}

    def remember(word: str) -> str:
        text = f"The {word} of bike nine was seen to by {word}-smith."
        arguments = ["--name", f"part-{word}", "--write", spec, "--read", spec, "--json"]
        while True:  # until it is not overtaken
            done = shell.run("remember", text, *arguments)
            if done.returncode == 0:
                return str(json.loads(done.stdout)["key"])
            assert busy(done.stderr), done.stderr

    seen: list[set[str]] = []

    def look(*, alone: bool) -> None:
        done = shell.run("recall", "bike nine", "--read", spec, "--limit", "50", "--json")
        if not alone and busy(done.stderr):
            return
        assert done.returncode in (0, 1), done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        for one in found:
            key = one["record"]["key"]
            if key not in before:
                word = key.removeprefix("part-").removesuffix(".md")
                assert one["record"]["body"]["text"].strip() == (
                    f"The {word} of bike nine was seen to by {word}-smith."
                ), "whole, or not at all"
                # the index line is written with it
                assert one["record"]["hook"]
        seen.append({one["record"]["key"] for one in found})

    with ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(remember, word) for word in words]
        while not all(job.done() for job in writing):
            look(alone=False)
        keys = {job.result() for job in writing}
    look(alone=True)
    assert keys == {f"part-{word}.md" for word in words} <= seen[-1]
    after = {record.key for record in stores.open_store(spec).raw.records}
    assert after == before | keys
    assert all(one <= two for one, two in pairwise(seen)), "nothing goes again"
    assert not (layout.own(garage) / "journal").exists()


# --- start-up


@pytest.mark.parametrize("named", [False, True])
def test_a_warm_recall_imports_no_more_than_it_needs(shell: Shell, named: bool) -> None:
    arguments = ["recall", "tyre", "--json"]
    if not named:
        arguments += ["--read", f"bantamkit:{shell.home / 'van'}"]
    shell.fine(*arguments)  # makes the index
    program = (
        "import sys; from interop.cli.main import main\n"
        "try: main()\n"
        "finally: print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=shell.cwd,
        env=shell.env,
    )
    assert done.returncode == 0, done.stderr
    modules = set(done.stderr.split())
    heavy = {"yaml", "rich", "turbohtml", "markdown_it", "rapidfuzz", "sqlite_utils", "tomlkit"}
    heavy |= {"filelock", "mcp", "asyncio", "interop.guard", "interop.planning"}
    if not named:
        heavy |= {"interop.stores", "interop.registry", "interop.config", "tomllib"}
    assert not modules & heavy
    assert not {name for name in modules if name.startswith("interop.adapters.")}
    assert "interop.bridge.searching" in modules


# --- what a newcomer meets


def test_what_says_only_some_of_the_words_is_marked(shell: Shell) -> None:
    lines = shell.fine("recall", "tyres ordered zanzibar", "--limit", "1").splitlines()
    assert lines[0] == "tyre-order  [reference]  (some of the words)"
    assert "(some" not in shell.fine("recall", "tyres ordered", "--limit", "1")


def test_a_memory_without_a_kind_is_untyped_and_a_task_is_said_once(shell: Shell) -> None:
    shell.fine("remember", "Zebra bells are loud.", "--write", "@garage")
    assert "  [untyped]\n" in shell.fine("recall", "zebra")
    for role in ("task", "decision", "tombstone", "memory"):
        assert f"[{role} {role}]" not in shell.fine("recall", "the a of in", "--limit", "200")


def test_what_of_a_query_is_left_out_is_said(shell: Shell) -> None:
    query = " ".join(f"tyre{n}" for n in range(40)) + " tyres"
    assert "only the first 32 words are looked for, and 9 are not" in (
        shell.run("recall", query).stderr
    )


@pytest.mark.parametrize("command", ["remember", "forget"])
def test_without_a_store_to_write_the_way_to_one_is_said(shell: Shell, command: str) -> None:
    words = [command, "x", *(["--reason", "y"] if command == "forget" else [])]
    shell.say("")
    for more in ([], ["--read", f"claude-code:{shell.home / 'garage'}"]):
        done = shell.run(*words, *more)
        assert done.returncode == 2
        assert "--write" in done.stderr
        assert "`interop stores add NAME STORE --write`" in done.stderr


def test_broken_settings_do_not_stop_who_names_the_store(shell: Shell) -> None:
    garage = f"claude-code:{shell.home / 'garage'}"
    van = f"bantamkit:{shell.home / 'van'}"
    shell.say("x = [")
    for named in ([], ["--read", van]):
        done = shell.run("remember", f"Bell {len(named)} is loud.", "--write", garage, *named)
        assert done.returncode == 0, done.stderr
        said = "the stores that the settings read are left out" in done.stderr
        assert said == (not named), "only where they would have been asked"
    done = shell.run("forget", "bell-0-is-loud.md", "--reason", "x", "--yes", "--write", garage)
    assert done.returncode == 0, done.stderr
    assert "are left out" in done.stderr
    assert shell.fine("recall", "bell", "--read", garage)
    assert shell.run("mcp", "--json", "--write", garage).returncode == 0
    # who relies on them is stopped
    for words in (["recall", "bell"], ["remember", "x"], ["remember", "x", "--read", van]):
        assert shell.run(*words).returncode == 4, words


def test_a_name_that_differs_in_white_space_only_is_shown_as_it_would_stand(shell: Shell) -> None:
    root = shell.put(shell.home / "notes", "memhtml")
    words = ["--name", "oil  can", "--kind", "semantic", "--write", f"memhtml:{root}"]
    done = shell.run("remember", "Oil the chains.", *words, "--no-commit")
    assert done.returncode == 3
    assert "name: would be written as 'oil can'; give it so" in done.stderr
