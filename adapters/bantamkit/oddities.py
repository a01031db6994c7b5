"""What the runtime trips over in a fact that it can read, and what it does to it later.

One list for two readers: ``read`` reports what breaks something, ``lint`` reports everything.
Spec: docs/formats/bantamkit.md, "Pitfalls".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple

from interop.adapters.bantamkit import names
from interop.adapters.bantamkit.fact_file import KEYS, NOT_ONE_LINE, Fact
from interop.adapters.bantamkit.names import TERMS
from interop.model import Problem
from interop.syntax.substring_fence import fence_is_a_line
from interop.syntax.yaml_header import Listing, Scalar

Severity = Literal["error", "warning", "note"]


class Oddity(NamedTuple):
    """One thing about one fact."""

    code: str
    severity: Severity
    problem: str
    remedy: str


def problems(fact: Fact) -> Iterable[Problem]:
    """Give what breaks something in the runtime; a canonical fact has nothing."""
    return [
        Problem(path=fact.path, problem=odd.problem) for odd in of(fact) if odd.severity != "note"
    ]


def of(fact: Fact, is_taken: Callable[[str], bool] = lambda name: False) -> Iterator[Oddity]:
    """Give everything that is odd about a fact.

    ``is_taken`` says of a name whether another fact has it, or another file: a way out must not
    lead over somebody's text.
    """
    if fact.is_usual:
        return _name(fact, is_taken)
    return chain(
        _fences(fact),
        _name(fact, is_taken),
        _description(fact),
        _kind(fact),
        _dates(fact),
        _links(fact),
        _losses(fact),
    )


def _fences(fact: Fact) -> Iterator[Oddity]:
    if not fence_is_a_line(fact.text, fact.parts):
        yield Oddity(
            "BK102",
            "error",
            'a header line ends in "---": the header is cut there, and the rest is body',
            'reword the line so that it does not end in "---"',
        )
    elif "---" in fact.text[fact.parts.header : fact.parts.closing] and _cut_by_a_dump(fact):
        yield Oddity(
            "BK103",
            "error",
            'a value ends a line in "---" once the runtime writes it anew: its next recall cuts'
            " the header there",
            "reword the value; quoting it does not help, the runtime drops the quotes",
        )


def _cut_by_a_dump(fact: Fact) -> bool:
    import yaml  # a command that only asks whose a store is has no use for it

    meta = {key: value for key, value in fact.header.values.items() if key in KEYS}
    try:
        return "---\n" in yaml.safe_dump(meta, sort_keys=False, allow_unicode=True)
    except yaml.YAMLError:
        return False


def _name(fact: Fact, is_taken: Callable[[str], bool]) -> Iterator[Oddity]:
    name, stem = fact.named(), names.stem(fact.path)
    if name == stem and names.is_legal(name):
        return
    if name != stem:
        yield Oddity(
            "BK104",
            "warning",
            f"file name and name differ: the next recall writes {name}.md "
            + ("over what is there" if is_taken(name) else "beside it"),
            _one_name(name, stem, is_taken),
        )
    if name in names.RESERVED:
        yield Oddity("BK105", "warning", f"{name!r} is a device on Windows", "give it another name")
    elif len(name) > names.LONGEST:
        yield Oddity(
            "BK105",
            "warning",
            f"a name of {len(name)} characters: since 0.35.8 at most {names.LONGEST} are saved",
            "shorten the name",
        )
    elif not names.is_legal(name):
        yield Oddity(
            "BK105",
            "warning",
            f"{name!r} is no name that the runtime saves or restores",
            "use lower-case letters, digits and single hyphens",
        )


def _one_name(name: str, stem: str, is_taken: Callable[[str], bool]) -> str:
    """Say how file and fact get one name, which has to be free and one that the runtime takes."""
    ways: list[str] = []
    if names.is_legal(name) and not is_taken(name):
        ways.append(f"rename the file to {name}.md")
    if names.is_legal(stem) and not is_taken(stem):
        verb = "" if ways else "rename "
        ways.append(f"{verb}the fact to {stem}, and the links to it")
    return ", or ".join(ways) or "give the file and the fact one name that no other fact has"


def _description(fact: Fact) -> Iterator[Oddity]:
    value = fact.header.values["description"]
    if not isinstance(value, str):
        yield Oddity(
            "BK106",
            "warning",
            "the description is no text",
            "write it as text, in quotes if YAML takes it for something else",
        )
    elif NOT_ONE_LINE.search(value):
        yield Oddity(
            "BK106",
            "warning",
            "the description is not one line: lint fails, and 0.27 forges index lines from it",
            "write it on one line",
        )
    elif not value.strip():
        yield Oddity("BK106", "warning", "the description is empty", "say what the fact is about")


def _kind(fact: Fact) -> Iterator[Oddity]:
    values = fact.header.values
    if "type" not in values:
        yield Oddity(
            "BK108",
            "error",
            "type under metadata: 0.27 cannot read the file",
            "state type as a key of its own",
        )
        return
    kind = values["type"]
    if isinstance(kind, str) and kind in TERMS:
        return
    node = fact.header.get("type")
    shape = "a list" if isinstance(node, Listing) else "outside the four"
    yield Oddity(
        "BK107", "error", f"type is {shape}: lint fails", f"make it one of {', '.join(TERMS)}"
    )


def _dates(fact: Fact) -> Iterator[Oddity]:
    for key in ("created", "last_recalled"):
        node = fact.header.get(key)
        if node is None or (isinstance(node, Scalar) and node.tag in ("str", "null")):
            continue
        unquoted = isinstance(node, Scalar) and node.tag == "timestamp"
        yield Oddity(
            "BK109",
            "error",
            f"unquoted date in {key}: 0.27 cannot compact, 0.36 fails lint"
            if unquoted
            else f"{key} is no text",
            f"write {key}: '2026-03-01', with the quotes",
        )


def _links(fact: Fact) -> Iterator[Oddity]:
    node = fact.header.get("links")
    if isinstance(node, Listing):
        if not all(isinstance(item, Scalar) and item.tag == "str" for item in node.items):
            yield Oddity(
                "BK110", "warning", "a link is no text", "write each link as a name, in quotes"
            )
    elif isinstance(node, Scalar) and node.tag == "str" and node.text:
        yield Oddity(
            "BK110",
            "error",
            "links is a string: the runtime reads single letters",
            "write it as a list",
        )
    elif node is not None and not isinstance(node, Scalar):
        yield Oddity(
            "BK110", "warning", "links is a map: the runtime reads its keys", "write it as a list"
        )


def _losses(fact: Fact) -> Iterator[Oddity]:
    """Notes on what the next recall of the fact takes away."""
    if fact.parts.opening:
        yield Oddity(
            "BK111",
            "note",
            "what stands before the header is ignored, and lost at the next recall",
            "move it into the body",
        )
    odd = [e.key for e in fact.header.entries if e.key not in KEYS]
    if odd:
        yield Oddity(
            "BK112",
            "note",
            f"keys that are not the runtime's are lost at the next recall: {', '.join(odd)}",
            "keep them in the body or beside the store",
        )
