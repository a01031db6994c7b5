"""The signs of a format are found however far behind in their file they stand.

A runtime that copies a long text into the header pushes every later key back; a person writes above
what the runtime keeps. A file's first few kilobytes decide nothing.
"""

from __future__ import annotations

import json

import pytest

from interop import registry
from interop.adapters.memhtml import pitfalls

LONG = ("The cargo bikes are charged in the back room before noon. " * 200).strip()
"""Some 12 KB."""
PROSE = "What we know about the bikes, kept by hand above the rest.\n" * 200
QUOTED = json.dumps(LONG)


def counted(observations: str = "  observations: 2\n") -> str:
    return (
        f"---\nname: cargo-bikes\ndescription: {QUOTED}\nmetadata:\n  node_type: memory\n"
        f"  type: project\n  modified: 2026-11-30T12:00:00.000Z\n{observations}---\n\n{LONG}\n"
    )


def of_claude(keys: str, blank: str = " ") -> str:
    return f"---\nname: cargo-bikes\ndescription: {QUOTED}\n{keys}metadata:{blank}\n---\n\nBikes.\n"


INDEX = "# Memory Index\n\n- [Cargo bikes](cargo-bikes.md)\n"
MANAGED = "> Auto-managed by @theokit/sdk. Edit freely — the SDK reads from here.\n"
FACT = f"---\ndescription: {QUOTED}\nname: cargo-bikes\ntype: project\n---\n\nBikes.\n"
PAGE = (
    f"<!doctype html>\n<title>Bikes</title>\n<!-- {LONG} -->\n"
    '<meta name="memhtml-type" content="semantic">\n<article><p><mark>Bikes.</mark></article>\n'
)


@pytest.mark.parametrize(
    ("files", "formats"),
    [
        ({"MEMORY.md": INDEX, "cargo-bikes.md": counted()}, {"theokit"}),
        ({"cargo-bikes.md": counted()}, {"theokit"}),
        ({"MEMORY.md": f"# Memory\n\n{PROSE}\n## Facts\n\n- Bikes are heavy\n"}, {"theokit"}),
        ({"MEMORY.md": f"{PROSE}\n{MANAGED}"}, {"theokit"}),
        (
            {"MEMORY.md": f"# Memory Index\n\n{PROSE}\n## Facts\n\n- Bikes are heavy\n"},
            {"claude-code", "theokit"},
        ),
        (
            {"MEMORY.md": INDEX, "cargo-bikes.md": counted("")},
            {"claude-code", "theokit"},
        ),
        (
            {"MEMORY.md": INDEX, "cargo-bikes.md": counted(), "b.md": of_claude("")},
            {"claude-code", "theokit"},
        ),
        (
            {"MEMORY.md": INDEX, "cargo-bikes.md": counted(), "b.md": of_claude("type: x\n", "")},
            {"claude-code", "theokit"},
        ),
        ({"MEMORY.md": INDEX, "cargo-bikes.md": of_claude("")}, {"claude-code"}),
        ({"cargo-bikes.md": of_claude("")}, {"claude-code"}),
        (
            {"demo/agent-u1.json": json.dumps({"note": LONG, "facts": [{"text": "Bikes"}]})},
            {"theokit"},
        ),
        ({"facts/cargo-bikes.md": FACT}, {"bantamkit"}),
        ({"areas/inbox/cargo-bikes.html": PAGE}, {"memhtml"}),
    ],
)
def test_a_sign_is_found_behind_a_long_text(files: dict[str, str], formats: set[str]) -> None:
    data = {path: text.encode() for path, text in files.items()}
    assert {a.name for a in registry.adapters() if a.detect(data)} == formats


@pytest.mark.parametrize(
    ("files", "formats"),
    [
        # a text that shows a header of the other runtime is no header
        (
            {"MEMORY.md": INDEX, "a.md": of_claude("") + "\n---\nx: 1\n  observations: 2\n---\n"},
            {"claude-code"},
        ),
        ({"MEMORY.md": INDEX, "a.md": f"# A\n\n{MANAGED}"}, {"claude-code"}),
        ({"MEMORY.md": INDEX, "a.md": "# Memory\n\n## Facts\n\n- a\n"}, {"claude-code"}),
        (
            {"MEMORY.md": INDEX, "a.md": counted() + "\n---\nmetadata: \ntype: user\n---\n"},
            {"theokit"},
        ),
        (
            {"areas/about.html": "<article><p>Write <code>memhtml-type</code>.</p></article>\n"},
            set[str](),
        ),
        ({"facts/a.md": "---\na: 1\n---\nname: x\ndescription: y\n---\n"}, set[str]()),
    ],
)
def test_what_a_text_says_is_no_sign(files: dict[str, str], formats: set[str]) -> None:
    data = {path: text.encode() for path, text in files.items()}
    assert {a.name for a in registry.adapters() if a.detect(data)} == formats


def test_lint_of_memhtml_finds_what_only_looks_like_a_memory_behind_a_long_head() -> None:
    found = [
        f.path for f in pitfalls.find({"cargo-bikes.html": PAGE.encode()}) if f.code == "MH114"
    ]
    assert found == ["cargo-bikes.html"]


@pytest.mark.parametrize(
    "piece", [b"---\n", b"\n---", b"---\nname: x\n", b"<meta ", b"\n  ", b'"facts" ', b"# Facts\n"]
)
def test_a_large_file_of_the_very_bytes_is_looked_through_once(piece: bytes) -> None:
    """Were it looked through once from each place, this would take hours."""
    data = b"---\n" + piece * (4_000_000 // len(piece))
    names = ("MEMORY.md", "a.md", "facts/a.md", "areas/a.html", "demo/agent-u.json", "index.md")
    for adapter in registry.adapters():
        for name in names:
            adapter.detect({name: data, "b.md": b"---\nname: b\n---\n"})
