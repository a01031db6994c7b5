# ruff: noqa: E501, RUF028  # a row or a call is one line
"""Stores that somebody made to do harm: bounded, named, never followed, never obeyed.

Spec: docs/limits.md.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from interop import complement_file, inline, limits, markup, registry, stores
from interop.complement import Complement, Line, Source
from interop.disk import layout
from interop.disk.transaction import apply
from interop.errors import FormatError, RefusedError, UsageError
from interop.model import Body, Memory
from interop.plan import FileChange
from tests.samples import golden_samples
from tests.work import SQUARE, growth

ROOT = Path(__file__).parents[1]
FORMATS = registry.names()
HEADER = '---\nname: pump\ndescription: "Where the pump is"\nmetadata:\n  type: project\n---\n\n'
SECONDS = 900
"""Of processor time in which a command on a hostile store of a few megabytes has to end: it takes
seconds, on a slow machine minutes, and what grows with a square or worse takes hours."""


def run(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a user does, with bounds on its time and memory."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    command = [sys.executable, "-m", "interop.cli.main", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, cwd=ROOT, env={**os.environ, **env}, preexec_fn=bound
    )


def fine(done: subprocess.CompletedProcess[bytes], *codes: int) -> str:
    """Hold a run to its exit code, and to saying so without a traceback."""
    said = done.stderr.decode()
    assert done.returncode in codes, (done.returncode, said[-2000:])
    assert "Traceback" not in said
    return said


def put(root: Path, files: Mapping[str, bytes | str]) -> Path:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def snapshot_of(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


# --- what is no regular file


def special(root: Path) -> Path:
    """A store with a record, links of every kind, a pipe, a socket, and another store outside."""
    outside = put(root / "outside", {"secret.md": f"{HEADER}The code of the safe is 4711.\n"})
    store = put(root / "store", {"pump.md": f"{HEADER}In the shed.\n"})
    (store / "file.md").symlink_to(outside / "secret.md")
    (store / "folder").symlink_to(outside)
    (store / "loop").symlink_to(store)
    (store / "self.md").symlink_to("self.md")
    os.mkfifo(store / "pipe.md")
    # by its name, since a socket's path may only be so long
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(store):
        server.bind("socket.md")
    return store


def test_links_and_pipes_are_never_opened(tmp_path: Path) -> None:
    store = special(tmp_path)
    for command in (["show", "--json"], ["lint"], ["detect"]):
        where = store if command[0] == "detect" else f"claude-code:{store}"
        done = run(*command, where)
        fine(done, 0, 1, 4)
        assert b"4711" not in done.stdout + done.stderr
    for name in FORMATS:
        target = tmp_path / f"to-{name}.jsonl"
        done = run("convert", f"claude-code:{store}", f"{name}:{target}", "--skip-refused")
        fine(done, 0, 1, 3)
    assert "4711" not in "".join(
        p.read_text("utf-8", "replace") for p in tmp_path.glob("to-*/**/*") if p.is_file()
    )


def test_a_second_name_is_refused_unless_allowed_and_never_written_through(tmp_path: Path) -> None:
    elsewhere = put(tmp_path / "elsewhere", {"pump.md": f"{HEADER}In the shed.\n"}) / "pump.md"
    source = put(tmp_path / "source", {"pump.md": f"{HEADER}On the wall.\n"})
    target = put(tmp_path / "target", {"other.md": f"{HEADER}x\n"})
    os.link(elsewhere, target / "pump.md")
    said = fine(run("convert", f"claude-code:{target}", f"jsonl:{tmp_path}/a.jsonl"), 4)
    assert "2 names on this disk (hard links)" in said
    assert "--limit links=2" in said
    assert not (tmp_path / "a.jsonl").exists()
    fine(
        run("--limit", "links=2", "convert", f"claude-code:{target}", f"jsonl:{tmp_path}/a.jsonl"),
        0,
    )
    # written to: the name in the store is another file afterwards
    decided = put(tmp_path, {"d.yaml": "pump.md:\n  take: source\n"}) / "d.yaml"
    arguments: list[str | Path] = [
        "convert",
        f"claude-code:{source}",
        f"claude-code:{target}",
        "--decisions",
        decided,
    ]
    fine(run("--limit", "links=2", *arguments), 0)
    assert "On the wall." in (target / "pump.md").read_text("utf-8")
    assert "In the shed." in elsewhere.read_text("utf-8")
    assert os.stat(elsewhere).st_ino != os.stat(target / "pump.md").st_ino


# --- sizes


def test_a_huge_file_is_named_and_hides_no_other(tmp_path: Path) -> None:
    store = put(tmp_path / "store", {"pump.md": f"{HEADER}In the shed.\n"})
    with (store / "huge.md").open("wb") as file:
        file.truncate(1 << 30)  # sparse: it takes no room on the disk
    done = run("show", f"claude-code:{store}")
    said = fine(done, 4)
    assert b"pump" in done.stdout
    assert "huge.md: is larger than 64 MiB (1,024 MiB)" in said
    said = fine(run("convert", f"claude-code:{store}", f"bantamkit:{tmp_path}/b"), 4)
    assert "interop --limit file=1024M" in said
    assert not (tmp_path / "b").exists()
    one = tmp_path / "huge.jsonl"
    with one.open("wb") as file:
        file.truncate(1 << 30)
    assert "is larger than 512 MiB" in fine(run("show", f"jsonl:{one}"), 4)


def test_a_huge_store_and_a_huge_complement(tmp_path: Path) -> None:
    small = {"INTEROP_LIMITS": "store=10K"}
    store = put(tmp_path / "store", {f"{n}.md": HEADER + "x" * 3000 for n in range(4)})
    said = fine(run("show", f"claude-code:{store}", **small), 4)
    assert "holds more than 10,240 bytes" in said
    beside = put(tmp_path / "beside", {"a.md": "x", ".interop/complement": "{}\n" * 5000})
    said = fine(run("show", f"claude-code:{beside}", **small), 4)
    assert "complement: is larger than 10,240 bytes" in said
    done = subprocess.run(
        [sys.executable, "-m", "interop.cli.main", "show", "-"],
        input=b"x" * 20_000, capture_output=True, cwd=ROOT, env={**os.environ, **small}, check=False,
    )  # fmt: skip
    assert "-: is larger than 10,240 bytes" in fine(done, 4)


@pytest.mark.parametrize("how", ["huge", "pipe"])
def test_a_journal_that_is_none_is_named_by_every_command(how: str, tmp_path: Path) -> None:
    store = put(tmp_path / "store", {"pump.md": f"{HEADER}In the shed.\n"})
    journal = store / ".interop" / "journal"
    journal.parent.mkdir()
    if how == "huge":
        journal.touch()
        os.truncate(journal, 40 << 30)
    else:
        os.mkfifo(journal)
    spec = f"claude-code:{store}"
    for command in (
        ["show", spec],
        ["lint", spec],
        ["recall", "shed", "--read", spec],
        ["undo", spec],
        ["remember", "The rack is red.", "--write", spec],
        ["convert", spec, f"jsonl:{tmp_path}/a.jsonl"],
    ):
        said = fine(run(*command), 3 if command[0] == "undo" else 4)
        if command[0] == "undo":
            continue  # there is nothing to take back, whatever the journal says
        assert str(journal) in said
        assert "move it away" in said
        assert ("--limit store=65536M" in said) == (how == "huge")
    assert sorted(p.name for p in store.rglob("*")) == [".interop", "journal", "pump.md"]


def test_many_files(tmp_path: Path) -> None:
    store = put(tmp_path / "store", {f"{n // 100}/{n}.md": "" for n in range(500)})
    said = fine(run("--limit", "files=300", "show", f"claude-code:{store}"), 4)
    assert "has more than 300 files and folders" in said
    assert "--limit files=3000" in said
    fine(run("--limit=files=300", "detect", store), 4)
    fine(run("--limit", "files=600", "show", f"claude-code:{store}"), 0, 1)


@pytest.mark.parametrize("said", ["file", "file=", "file=-1", "files=2G", "size=1", "links=1K", ""])
def test_what_is_no_limit_is_a_usage_error(said: str) -> None:
    with pytest.raises(UsageError):
        limits.parse([said], limits.Limits(), "--limit")
    assert "is no limit" in fine(run("--limit", said, "formats"), 2)


def test_limits_are_said_by_the_environment_and_then_by_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(limits.VARIABLE, "file=1G, files=7")
    assert limits.current() == limits.Limits(file=1 << 30, files=7)
    try:
        limits.give(["files=9"])
        assert limits.current() == limits.Limits(file=1 << 30, files=9)
    finally:
        limits.give([])
    assert limits.current().files == 7


# --- shapes: twice the size takes about twice the work, never four times as much


MEMHTML = next(
    data
    for s in golden_samples()
    if s.id == "golden/memhtml/basic"
    for path, data in s.tree.files.items()
    if b'<meta name="type"' in data or b'"memory-type"' in data or b"<mark>" in data
    if not path.endswith("index.html")
).decode()


def in_article(text: str) -> str:
    start, end = MEMHTML.index("<article>") + 9, MEMHTML.index("</article>")
    return f"{MEMHTML[:start]}\n{text}\n{MEMHTML[end:]}"


BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}, *{chr(97 + n)}]\n"
    for n in range(20)
)
SHAPES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "alias bomb": ("claude-code", {"a.md": f"---\nname: x\n{BOMB}---\nx\n"}),
    "alias bomb in facts": ("bantamkit", {"facts/a.md": f"---\nname: a\n{BOMB}---\nx\n"}),
    "deep YAML": ("claude-code", {"a.md": f"---\nname: {'[' * 50_000}\n---\nx\n"}),
    "deep YAML blocks": (
        "bantamkit",
        {"facts/a.md": "---\n" + "".join(" " * n + "a:\n" for n in range(1500)) + "---\nx\n"},
    ),
    "deep YAML tests": (
        "memory-compiler",
        {"CONTEXT.md": "# Context\n", "memory_tests.yaml": "[" * 100_000},
    ),
    "deep JSON": ("theokit", {"memory.json": "[" * 200_000, "MEMORY.md": "# Memory\n"}),
    "deep JSON objects": ("theokit", {"memory.json": '{"a":' * 100_000}),
    "a megabyte line": ("claude-code", {"a.md": f"{HEADER}{'pump ' * 300_000}\n"}),
    "a megabyte value": (
        "theokit",
        {"a.md": f"---\nname: {'x' * 1_500_000}\ndescription: y\n---\n"},
    ),
    "100,000 columns": (
        "memory-compiler",
        {
            "CONTEXT.md": "# Context\n",
            "DECISIONS.md": "| ID " * 100_000
            + "|\n"
            + "|---" * 100_000
            + "|\n"
            + "| x " * 100_000
            + "|\n",
        },
    ),  # fmt: skip
    "100,000 tags": ("memhtml", {"areas/a.html": in_article("<div>" * 100_000)}),
    "10,000 quotes": ("claude-code", {"a.md": f"{HEADER}{'>' * 10_000} pump\n"}),
    "unclosed blocks": ("claude-code", {"a.md": HEADER + "<div>\n" * 10_000}),
    "unclosed comments": ("claude-code", {"a.md": HEADER + "<!--\n" * 10_000}),
    "brackets": ("claude-code", {"a.md": HEADER + "[" * 100_000}),
    "NUL": ("claude-code", {"a.md": HEADER + "\0" * 100_000}),
    "repeated keys": ("claude-code", {"a.md": "---\n" + "k: v\n" * 20_000 + "---\nx\n"}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_read_linted_and_converted_in_bounds(shape: str, tmp_path: Path) -> None:
    name, files = SHAPES[shape]
    store = put(tmp_path / "store", files)
    before = snapshot_of(store)
    fine(run("show", f"{name}:{store}", "--json"), 0, 1, 4)
    fine(run("lint", f"{name}:{store}"), 0, 1)
    for other in ("jsonl", "memhtml" if name != "memhtml" else "claude-code"):
        target = tmp_path / f"{other}.jsonl"
        arguments = ["--carry", "--skip-refused", "--kind-map", "untyped=semantic"]
        if other != "memhtml":
            arguments = arguments[:2]
        done = run("convert", f"{name}:{store}", f"{other}:{target}", "--dry-run", *arguments)
        fine(done, 0, 1, 2, 3)
    assert snapshot_of(store) == before


GROWING: Mapping[str, str] = {
    "blocks": "<div>\n",
    "comments": "<!--\n",
    "paragraphs": "<p>\n",
    "fences": "```\n",
    "headings": "# a\n",
    "lines": "<p>a</p>\r\n",
    "tabs": "\t",
    "ticks": "`",
}


@pytest.mark.parametrize("shape", GROWING)
def test_work_does_not_grow_with_the_square_of_the_text(shape: str) -> None:
    """Measured where it was quadratic once."""

    def act(times: int) -> None:
        text = f"pump {times}\n\n" + GROWING[shape] * times
        for media, other in ((markup.MARKDOWN, markup.HTML), (markup.HTML, markup.MARKDOWN)):
            seen = markup.translate(text, media, other)
            markup.carry_over(text, media, seen, f"{seen}\n\nq", other)

    assert growth(act, 200) < SQUARE


# --- bytes that are no text, and names


def test_bytes_that_are_no_text_are_carried(tmp_path: Path) -> None:
    files = {
        "a.md": f"{HEADER}x\n".encode() + b"\xff\xfe\x00\n",
        "b.md": f"{HEADER}pump\n".encode(),
    }
    store = put(tmp_path / "store", files)
    fine(run("convert", f"claude-code:{store}", f"claude-code:{tmp_path}/copy"), 0, 1)
    assert (tmp_path / "copy" / "a.md").read_bytes() == files["a.md"]


def test_half_a_surrogate_pair_crosses_and_comes_back(tmp_path: Path) -> None:
    line = '{"role":"memory","key":"a.md","name":"a\\ud800","body":{"text":"x","media":"text/markdown"}}'
    head = '{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n'
    shot = tmp_path / "a.jsonl"
    shot.write_text(f"{head}{line}\n")
    fine(run("convert", f"jsonl:{shot}", f"claude-code:{tmp_path}/c", "--carry"), 0, 1, 3)
    (found,) = stores.open_store(f"jsonl:{shot}").raw.records
    kept = Complement(
        store="s", format="jsonl", generation=1,
        lines=(Line(source="o", key=found.key, to=None, generation=1, base=found),),
    )  # fmt: skip
    assert complement_file.loads(complement_file.dumps(kept), "c") == kept


BAD_PATHS = [
    *("../out.md", "a/../../out.md", "/etc/out.md", "a//b.md", "./a.md", "a\nb.md", "a\x1b[2J.md"),
    *(".git/hooks/post-commit", ".interop/journal", "x/.GIT/config", ".Interop/undo/1/0", "a\x00b"),
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_no_path_leads_out_of_a_store(path: str, tmp_path: Path) -> None:
    """The one place where changes reach the disk: for conversions, the bridge and hosts alike."""
    root = put(tmp_path / "store", {"a.md": "x"})
    change = FileChange(path=path, before=None, after=b"harm")
    with pytest.raises(RefusedError):
        apply(root, [change], label="x", verify=lambda _: None)
    assert snapshot_of(tmp_path) == {"store/a.md": b"x"}


def test_windows_names_are_known() -> None:
    """On Windows no change may name them; elsewhere they are names like any other."""
    taken = [
        "CON",
        "con.md",
        "NUL.md",
        "COM1",
        "lpt9.txt",
        "aux ",
        "a.",
        "b ",
        "C:x",
        "a\\b",
        "a?.md",
    ]
    assert all(map(layout.reserved, taken))
    assert not any(
        map(layout.reserved, ["console.md", "com.md", "com10.md", "nul-a.md", "看板.md"])
    )


def test_the_longest_names(tmp_path: Path) -> None:
    name = "p" * 252 + ".md"
    store = put(tmp_path / "store", {name: f"{HEADER}x\n"})
    for other in FORMATS:
        target = tmp_path / f"{other}.jsonl"
        done = run(
            "convert", f"claude-code:{store}", f"{other}:{target}", "--skip-refused", "--carry"
        )
        fine(done, 0, 1, 2, 3, 5)


# --- complements and snapshots from somebody else


def hostile_complement(format_name: str) -> bytes:
    """A complement whose source has files outside of any store."""
    bodies = {p: f"{HEADER}harm\n".encode() for p in ("../../out.md", "/stores/interop-out.md")}
    digests = {p: hashlib.sha256(b).hexdigest() for p, b in bodies.items()}
    lines = tuple(
        Line(source="origin", key=p, to=None, generation=1,
             base=Memory(key=p, name="pump", body=Body(text="harm\n")))
        for p in bodies
    )  # fmt: skip
    source = Source(id="origin", format="claude-code", generation=1, tree=digests)
    return complement_file.dumps(
        Complement(
            store="theirs", format=format_name, generation=1, sources={"origin": source},
            lines=lines, files={digests[p]: b for p, b in bodies.items()},
        )
    )  # fmt: skip


@pytest.mark.parametrize("other", FORMATS)
def test_a_complement_writes_nothing_outside(other: str, tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    store = put(
        deep / "store", {"facts/a.md": "---\nname: a\ndescription: b\ntype: project\n---\nx\n"}
    )
    (store / ".interop").mkdir()
    (store / ".interop" / "complement").write_bytes(hostile_complement("bantamkit"))
    shot = deep / "shot.jsonl"
    head = b'{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n'
    shot.write_bytes(inline.join(head, hostile_complement("jsonl")))
    before = {p for p in tmp_path.rglob("*") if "state" not in p.parts}
    for n, source in enumerate((f"bantamkit:{store}", f"jsonl:{shot}")):
        target = deep / f"target-{n}.jsonl"
        fine(run("convert", source, f"{other}:{target}", "--carry", "--skip-refused"), 0, 1, 2, 3)
        fine(run("diff", source, f"jsonl:{shot}"), 0, 1, 2, 3)
    new = {p for p in tmp_path.rglob("*") if p not in before}
    new = {p for p in new if not p.is_relative_to(tmp_path / "interop-state")}
    assert all(p.relative_to(deep).parts[0].startswith("target-") for p in new), new
    assert not Path("/stores/interop-out.md").exists()


@pytest.mark.parametrize(
    "line",
    [
        b"[]", b"1", b'{"type":"file","digest":1,"text":"x"}', b"[" * 100_000,
        b'{"type":"file","source":"s","digest":"00","base64":"' + base64.b64encode(b"x") + b'"}',
        b'{"type":"record","source":"s","key":"k","to":null,"generation":1,"base":{"role":"memory","name":5}}',
        b'{"type":"record","source":"s","key":"k","to":1,"generation":1,"base":{"role":"memory"}}',
        b'{"type":"source","source":"s","format":"x","generation":1,"tree":{"a":"b"},"order":[]}',
        b'{"type":"complement","version":1,"store":[],"format":"claude-code","generation":9}',
    ],
)  # fmt: skip
def test_a_damaged_complement_is_named(line: bytes, tmp_path: Path) -> None:
    good = complement_file.dumps(Complement(store="s", format="claude-code", generation=1))
    with pytest.raises(FormatError):
        complement_file.loads(good + line + b"\n", "c")
    store = put(
        tmp_path / "s", {"a.md": f"{HEADER}x\n", ".interop/complement": good + line + b"\n"}
    )
    assert "complement" in fine(run("show", f"claude-code:{store}"), 4)


# --- nothing leaves the machine


GUARD = """
import sys
def hook(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind",
                 "socket.sendto", "urllib.Request", "http.client.connect"):
        sys.stderr.write("NETWORK " + event + chr(10))
        import os
        os._exit(99)
sys.addaudithook(hook)
"""


def test_no_command_speaks_to_a_network(tmp_path: Path) -> None:
    put(tmp_path / "site", {"sitecustomize.py": GUARD})
    env = {"PYTHONPATH": str(tmp_path / "site")}
    probe = "import socket; socket.create_connection(('127.0.0.1', 9))"
    caught = subprocess.run(
        [sys.executable, "-c", probe], env={**os.environ, **env}, capture_output=True, check=False
    )
    assert caught.returncode == 99, "the test does not see what it forbids"
    for name in FORMATS:
        case = next(s.case for s in golden_samples() if s.adapter.name == name and s.tree.files)
        store = tmp_path / f"{name}-store"
        shutil.copytree(case / "store", store)
        inner = next((p for p in store.glob("*.jsonl")), store) if name == "jsonl" else store
        spec = f"{name}:{inner}"
        shot = f"jsonl:{tmp_path}/{name}.jsonl"
        for arguments in (
            ["show", spec], ["lint", spec], ["check", spec, "--via", "jsonl"], ["detect", str(inner)],
            ["convert", spec, shot, "--skip-refused", "--carry"], ["diff", spec, shot],
            ["export", spec, f"{tmp_path}/{name}.db"], ["recall", "pump", "--store", spec],
            ["undo", shot],
        ):  # fmt: skip
            done = run(*arguments, **env)
            assert b"NETWORK" not in done.stderr
            fine(done, 0, 1, 2, 3)


# --- what a terminal obeys


EVIL = "\x1b[31m\x1b]0;t\x07\x9b2J\u202e\u2066\u200b\u2028\U000e0041<script>x</script>"
OBEYED = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u200b", "\u2028", "\U000e0041")


def evil_stores(root: Path) -> list[str]:
    name = f"p{EVIL.replace('/', '')}"
    one = put(
        root / f"one{EVIL.replace('/', '')}",
        {
            f"{name}.md": HEADER.replace("pump", json.dumps(f"x{EVIL}")[1:-1]) + f"{EVIL}\n",
            "broken.md": f"---\nname: [{EVIL}\n---\n{EVIL}\n",
            "MEMORY.md": f"- [{EVIL}](broken.md) — {EVIL}\n- [gone{EVIL}](no{EVIL}.md)\n",
        },
    )
    row = f"| {EVIL} | {EVIL} |"
    two = put(
        root / "two",
        {
            "CONTEXT.md": f"# {EVIL}\n\n- {EVIL}\n",
            "DECISIONS.md": f"| ID | {EVIL} |\n|---|---|\n{row}\n",
            "TOMBSTONES.md": "| ID | Subject | Rejected | Replacement | Date | Reason | Source |\n"
            f"|---|---|---|---|---|---|---|\n| T-001 | {EVIL} | a{EVIL} | {EVIL} | x | {EVIL} | y |\n",
        },
    )
    head = '{"type":"snapshot","format":"interop-jsonl","version":1,"model":1}\n'
    record = {
        "role": "memory",
        "key": f"k{EVIL}.md",
        "body": {"text": EVIL, "media": "text/markdown"},
    }
    record |= {
        f: f"{f}{EVIL}" for f in ("name", "title", "description", "hook", "created", "session")
    }
    record |= {"tags": [EVIL], "kinds": {EVIL: EVIL}, "extra": {EVIL: {EVIL: EVIL}}}
    three = put(root, {"three.jsonl": f"{head}{json.dumps(record)}\n{json.dumps(EVIL)}\n"})
    return [f"claude-code:{one}", f"memory-compiler:{two}", f"jsonl:{three / 'three.jsonl'}"]


def test_nothing_that_a_terminal_obeys_is_printed(tmp_path: Path) -> None:
    """In keys, names, paths, bodies and errors; by every command that looks at a store."""
    specs = evil_stores(tmp_path)
    shown = 0
    for n, spec in enumerate(specs):
        target = f"jsonl:{tmp_path}/to{EVIL.replace('/', '')}{n}.jsonl"
        calls = [
            ["show", spec], ["show", spec, f"none{EVIL}"], ["lint", spec], ["detect", spec.split(":", 1)[1]],
            ["check", spec, "--via", "jsonl"], ["convert", spec, target, "--dry-run"],
            ["convert", spec, f"bantamkit:{tmp_path}/b{n}", "--dry-run"],
            ["convert", spec, target], ["diff", spec, specs[n - 1]], ["diff", spec, target],
            ["recall", "x", "--store", spec], ["export", spec, f"{tmp_path}/e{n}.db"], ["undo", target],
            ["show", f"{spec}{EVIL}"], ["remember", EVIL, "--store", spec],
            ["forget", f"k{EVIL}", "--store", spec], ["complement", "prune", spec], ["stores", "add", EVIL, spec],
            ["hook", EVIL],
        ]  # fmt: skip
        for call in calls:
            for more in ([], ["--json"]) if n == 0 else ([],):
                done = run(*call, *more)
                text = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
                assert "Traceback" not in text, (call, text[-1500:])
                # JSON is for programs: what JSON itself does not escape is data there
                obeyed = [c for c in OBEYED if c in (done.stderr.decode() if more else text)]
                assert not obeyed, (call, more, obeyed, text[:1500])
                assert "\x1b" not in text
                shown += "\\x1b" in text
    assert shown > 10, "nothing of it was shown at all"
