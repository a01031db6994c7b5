"""Stores of so many records of about a kilobyte, the same ones every time, all invented.

A record is what a bike rental writes down: a header, a text of a few paragraphs with a link to
another record, and a line in the index where the format has one.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

_THINGS = """
adapter alarm anchor axle badge bag basket battery bay bearing bell bolt bracket brake bridge
bucket cable canal cargo chain charger child clamp cleaning clip coffee corner cover crank
customer deposit depot derailleur dock drawer driver fender ferry fleet fork frame frost gate
gear glove grease grip hall hammer handlebar harbour helmet hinge hook hub invoice jack key
ladder lamp lane latch lever lock lubricant map market meter mirror mount nut oil order
paint panel parcel park patch pedal permit pin plate platform pliers plug pocket post pouch
pressure pump quay rack rain reflector rental repair rim ring river roof rope route saddle
sample screen screw sensor shed shelf shift shop sign sleeve socket spanner spoke spring
square stand station steel step sticker strap street summer switch tank tape terminal ticket
toolbox trailer tram tube tunnel tyre valve van varnish vest wall washer wheel winter workshop
"""
_DOINGS = (
    "carries keeps loses meets moves needs opens reaches replaces rubs shows stops takes wears"
)
_WORDS, _VERBS = _THINGS.split(), _DOINGS.split()
_TIMES = ("before noon", "after rain", "every Monday", "in May", "on arrival", "since June")
_KINDS = ("project", "reference", "feedback", "user")
_TYPES = ("semantic", "episodic", "procedural", "precedent")
_BYTES = 700
"""Of text; with its header a file has about a kilobyte."""


class Note(NamedTuple):
    """One record, in no format."""

    name: str
    title: str
    line: str
    """What it says in one line."""
    paragraphs: tuple[str, ...]
    link: str
    """The name of another one."""
    kind: int
    day: str


def notes(count: int) -> list[Note]:
    """Invent so many records; the first ones of a larger number are those of a smaller one."""
    out: list[Note] = []
    for n in range(count):
        dice = random.Random(n)
        one, two = dice.choice(_WORDS), dice.choice(_WORDS)
        name = f"{one}-{two}-{n:06}"
        link = out[dice.randrange(n)].name if n else name
        room = _BYTES
        paragraphs: list[str] = []
        while room > 0:
            text = " ".join(_sentence(dice) for _ in range(3))
            paragraphs.append(text)
            room -= len(text) + 2
        day = f"2026-{dice.randint(1, 11):02}-{dice.randint(1, 28):02}"
        line = f"The {one} of the {two} {dice.choice(_VERBS)} number {n}"
        out.append(
            Note(name, f"{one.title()} {two} {n}", line, tuple(paragraphs), link, n % 4, day)
        )
    return out


def _sentence(dice: random.Random) -> str:
    one, two, three = dice.sample(_WORDS, 3)
    verb, when = dice.choice(_VERBS), dice.choice(_TIMES)
    return f"The {one} {verb} a {two} by the {three} {when}, {dice.randint(2, 99)} times."


def make(name: str, root: Path, count: int) -> None:
    """Write a store of a format that is not there yet."""
    files = MAKERS[name](notes(count))
    for folder in {(root / path).parent for path in files}:
        folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (root / path).write_bytes(text.encode("utf-8"))


def change(root: Path, count: int) -> None:
    """Change the text of so many records of a store, spread over it."""
    files = [p for p in sorted(root.rglob("*.md")) if p.name not in ("MEMORY.md", "index.md")]
    for path in files[:: max(1, len(files) // count)][:count]:
        path.write_bytes(path.read_bytes().replace(b"The ", b"This ", 1) + b"\nSeen again.\n")


def _claude_code(many: list[Note]) -> dict[str, str]:
    files: dict[str, str] = {}
    lines = ["# Memory Index", ""]
    for note in many:
        files[f"{note.name}.md"] = (
            f"---\nname: {note.name}\ndescription: {note.line}\nmetadata: \n  node_type: memory\n"
            f"  type: {_KINDS[note.kind]}\n  originSessionId: {_session(note)}\n---\n\n"
            f"{_markdown(note)}\n"
        )
        lines.append(f"- [{note.title}]({note.name}.md) — {note.line}")
    return files | {"MEMORY.md": "\n".join([*lines, ""])}


def _bantamkit(many: list[Note]) -> dict[str, str]:
    files: dict[str, str] = {}
    lines: list[str] = []
    for note in sorted(many):
        kind = _KINDS[note.kind]
        files[f"facts/{note.name}.md"] = (
            f"---\nname: {note.name}\ndescription: {note.line}\ntype: {kind}\n"
            f"created: '{note.day}'\nlast_recalled: null\nlinks:\n- {note.link}\n---\n\n"
            f"{_markdown(note)}\n"
        )
        lines.append(f"- [[{note.name}]] ({kind}) — {note.line}\n")
    return files | {"index.md": "".join(lines)}


def _theokit(many: list[Note]) -> dict[str, str]:
    files: dict[str, str] = {}
    lines = ["# Memory Index", ""]
    for note in many:
        files[f"{note.name}.md"] = (
            f"---\nname: {note.name}\ndescription: {note.line}\nmetadata:\n  node_type: memory\n"
            f"  type: {_KINDS[note.kind]}\n  modified: {note.day}T12:00:00.000Z\n"
            f"  observations: {note.kind + 1}\n---\n\n{_markdown(note)}\n"
        )
        lines.append(f"- [{note.title}]({note.name}.md) — {note.line}")
    return files | {"MEMORY.md": "\n".join([*lines, ""])}


def _memhtml(many: list[Note]) -> dict[str, str]:
    files = {".memhtml/state/.gitkeep": "", ".memhtml/sleep/.gitkeep": ""}
    for note in many:
        claim = f"{note.line}."
        # as its canonical text has it: the line ends between the paragraphs are blanks
        said = " ".join((claim, *note.paragraphs))
        paragraphs = "\n".join(f"<p>{text}</p>" for text in note.paragraphs)
        stamp = f"{note.day}T12:00:00Z"
        digest = hashlib.sha256(said.encode("utf-8")).hexdigest()
        files[f"areas/inbox/{note.name}.html"] = (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{note.title}</title>\n"
            f'<meta name="memhtml-type" content="{_TYPES[note.kind]}">\n'
            f'<meta name="memhtml-status" content="active">\n'
            f'<meta name="memhtml-created" content="{stamp}">\n'
            f'<meta name="memhtml-updated" content="{stamp}">\n'
            f'<meta name="memhtml-content-hash" content="sha256:{digest}">\n'
            f'<link rel="memhtml-relates_to" href="/areas/inbox/{note.link}.html">\n'
            f"</head>\n<body>\n<article>\n<p><mark>{claim}</mark></p>\n{paragraphs}\n</article>\n"
            f"</body>\n</html>\n"
        )
    return files


def _memory_compiler(many: list[Note]) -> dict[str, str]:
    """Everything stands in tables, so a record is a row."""
    items = [
        "| ID | Item | Status | Opened | Evidence / Reason | Notes |",
        "|---|---|---|---|---|---|",
    ]
    decisions = [
        "| ID | Decision | Why | Date | Evidence | Supersedes | Status |",
        "|---|---|---|---|---|---|---|",
    ]
    for n, note in enumerate(many, 1):
        text = " ".join(note.paragraphs)
        if n % 2:
            items.append(f"| OI-{n:06} | {note.line} | OPEN | {note.day} | — | {text} |")
        else:
            decisions.append(f"| D-{n:06} | {note.line} | {text} | {note.day} | — | — | Active |")
    stones = "| ID | Fact / Key | Rejected value | Replacement | Date | Reason | Source |"
    return {
        "CONTEXT.md": "# Context\n\n## Current facts\n\n- The depot is at the river.\n",
        "OPEN_ITEMS.md": "\n".join(["# Open items", "", *items, ""]),
        "DECISIONS.md": "\n".join(["# Decisions", "", *decisions, ""]),
        "TOMBSTONES.md": f"# Tombstones\n\n{stones}\n|---|---|---|---|---|---|---|\n",
    }


def _markdown(note: Note) -> str:
    return "\n\n".join((*note.paragraphs, f"See [[{note.link}]]."))


def _session(note: Note) -> str:
    hexes = hashlib.md5(note.day.encode(), usedforsecurity=False).hexdigest()
    return f"{hexes[:8]}-{hexes[8:12]}-4{hexes[13:16]}-9{hexes[17:20]}-{hexes[20:]}"


MAKERS: Mapping[str, Callable[[list[Note]], dict[str, str]]] = {
    "bantamkit": _bantamkit,
    "claude-code": _claude_code,
    "memhtml": _memhtml,
    "memory-compiler": _memory_compiler,
    "theokit": _theokit,
}
