r"""``memory_tests.yaml``: retrieval tests in a grammar of their own, which is not YAML.

    tests:
      - id: opening-day
        type: must_reference
        file: CONTEXT.md
        expect_contains: "2026-06-20"

A line ends at the first ``#``, in quotes too; a test begins at a dash with no or two blanks before
it; only double quotes are taken off. Spec: docs/formats/memory-compiler.md, "memory_tests.yaml".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from interop.model import Files

FRESH = """tests:
  - id: context-has-its-title
    type: must_reference
    file: CONTEXT.md
    expect_contains: "Context"
"""
"""The tests of a new topic: no session can be closed without the file, and none may be empty."""
EXPECTS = {"must_reference": "expect_contains", "must_not_return": "expect_not_contains"}
"""Type of a test -> the key that says what it expects."""
_BEGINS = re.compile(r"(?: {2})?- (\w+):(.*)", re.DOTALL)
_GOES_ON = re.compile(r"\s+(\w+):(.*)", re.DOTALL)
_OTHER_KEY = re.compile(r"\s*(?:- )?[\w.-]+:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Test:
    """One test as the checker reads it."""

    line: int
    """Where it begins, from 1."""
    said: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def id(self) -> str:
        """Give its name; the checker calls a nameless one ``?``."""
        return self.said.get("id", "?")

    @property
    def expected(self) -> str:
        """Give what the file is searched for; nothing where nothing is stated."""
        return self.said.get(EXPECTS.get(self.said.get("type", ""), ""), "")


@dataclass(frozen=True, slots=True)
class Tests:
    """The file, read."""

    tests: tuple[Test, ...]
    dropped: Mapping[int, str]
    """Number of a line that says something the checker drops or cuts -> what happens to it."""


def parse(text: str) -> Tests:
    """Read the file by the checker's rules, and note what they lose."""
    tests: list[Test] = []
    dropped: dict[int, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#")[0]
        cut = raw != line and line.strip() != ""
        if cut and line.count('"') % 2:
            dropped[number] = "a # in quotes ends the line, and the value is cut there"
        words = line.rstrip()
        if not words.strip() or words.strip() == "tests:":
            continue
        begins = _BEGINS.fullmatch(words)
        goes_on = _GOES_ON.fullmatch(words)
        if begins:
            tests.append(Test(number, {begins[1]: _value(begins[2])}))
        elif goes_on and tests:
            tests[-1].said[goes_on[1]] = _value(goes_on[2])
        elif _OTHER_KEY.match(words):
            dropped[number] = "not indented, named or placed as the checker reads it: it is dropped"
        else:
            dropped[number] = "no key and no test: it is dropped"
    return Tests(tuple(tests), dropped)


def _value(words: str) -> str:
    words = words.strip()
    if len(words) > 1 and words[0] == words[-1] == '"':
        return words[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return words


def run(test: Test, files: Files) -> str | None:
    """Run one test on a topic: None when it passes, else what is wrong."""
    kind, path = test.said.get("type", ""), test.said.get("file", "")
    if kind not in EXPECTS:
        return f"type {kind!r} is none of {', '.join(EXPECTS)}"
    data = files.get(posixpath.normpath(path)) if path else None
    if data is None:
        return f"{path!r} is not a file of this topic"
    holds = test.expected in data.decode("utf-8", "replace")
    if kind == "must_reference":
        return None if holds else f"{path} does not hold {test.expected!r}"
    return f"{path} holds {test.expected!r}" if holds else None


def oddities(test: Test) -> Iterator[tuple[str, str]]:
    """Name what makes a test say nothing, or something else than it seems to, and the way out."""
    kind = test.said.get("type", "")
    stated = f"state {EXPECTS[kind] if kind in EXPECTS else ' or '.join(EXPECTS.values())}"
    if kind == "must_reference" and not test.expected:
        yield "expects nothing, so it always passes", f"{stated} in double quotes"
    if kind == "must_not_return" and not test.expected:
        yield "expects nothing, so it always fails", f"{stated} in double quotes"
    if "id" not in test.said:
        yield "has no id, so a report calls it '?'", "give it an id"
    if posixpath.normpath(test.said.get("file", "")).startswith("../"):
        yield "looks at a file outside of the topic", "name a file of this topic"
    if test.expected[:1] == "'" == test.expected[-1:]:
        yield (
            "has single quotes, which are part of the text that is searched for",
            f"{stated} in double quotes",
        )
    if test.expected in ("|", ">", "|-", ">-"):
        yield (
            "has a block scalar, which the checker takes for a text of one character",
            f"{stated} on one line, in double quotes",
        )
