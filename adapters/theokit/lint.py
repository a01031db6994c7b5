"""What the theokit runtime would skip, misread, refuse, mask, overwrite or warn of.

Codes: TK101 file that is skipped, TK102 root note without a header, TK103 kind at the top level,
TK104 kind outside the four, TK105 date or count that is dropped, TK106 description with escapes,
TK107 memory in a sub-folder, TK108 names that are one on some disks, TK111 text that a write
refuses, TK112 text that a write masks, TK121 line among the facts that is not read, TK122 entry
that is read as a fact, TK123 fact whose comment is read as text, TK124 facts in JSON, TK125 facts
that begin where nobody meant them to, TK131 index beyond the cap, TK132 entry without a file, TK133
file that the index does not name, TK134 negation lost in a name, TK135 line of several entries,
TK136 wiki link to nothing.

Spec: docs/formats/theokit.md, section 12.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from interop.adapter import Finding
from interop.adapters.theokit import facts, header, layout, names, reading, screening
from interop.adapters.theokit.index import NAME
from interop.adapters.theokit.memory_file import TERMS, VOCABULARY, MemoryFile
from interop.adapters.theokit.reading import MISPLACED, Reading
from interop.model import Files, Memory, Store

MAX_LINES = 200
MAX_BYTES = 25 * 1024
"""How much of an index is loaded where the store is a Claude Code directory."""

_NEGATED = re.compile(r"\b(?:not|no)\b", re.IGNORECASE)
_TARGET = re.compile(r"\]\(([^()]+\.md)\)")
_HINTS = (
    "private key", "eyj", "sig=", "sk-", "gh", "glpat-", "akia", "aiza", "xox", "npm_", "hf_",
    "sg.", "bearer", "key", "secret", "password", "passwd", "token", "credential",
)  # fmt: skip
"""One of these is in every text that a write would mask; most texts have none."""
_CUT = re.compile(r"\[[^\]]*\]\([^)]+\.md\)")


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Yield what is wrong in a store, file by file."""
    found = reading.read(files)
    yield from _skipped(found)
    for path, file in found.memories.items():
        yield from _header(path, file)
    for record in found.records.values():
        yield from _text(record)
    yield from _same_names(files)
    yield from _facts(found)
    yield from _json(found)
    yield from _index(found)
    yield from _links(found)


def _finding(
    code: str, severity: Literal["error", "warning", "note"], path: str, problem: str, remedy: str
) -> Finding:
    return Finding(code=code, severity=severity, path=path, problem=problem, remedy=remedy)


def _skipped(found: Reading) -> Iterator[Finding]:
    for path, why in found.unread.items():
        if why == MISPLACED:
            yield _finding(
                "TK107", "warning", path,
                "a memory in a sub-folder: the runtime reads the root only",
                "move it into the root, or into notes/ as a note, under a name that is free there",
            )  # fmt: skip
        elif why == "no header":
            yield _finding(
                "TK102", "note", path,
                "a note without a header: the runtime skips it, and overwrites it if a fact gets "
                "this name",
                "move it into notes/, where the runtime finds it and never writes over it",
            )  # fmt: skip
        elif layout.is_memory(path) or path == NAME:
            yield _finding(
                "TK101", "error", path, f"{why}, so it is skipped without a word",
                "mend its header: `---`, name and description on a line each, `---`, and a line "
                "end" if path != NAME else "save it as UTF-8",
            )  # fmt: skip


def _header(path: str, file: MemoryFile) -> Iterator[Finding]:
    entries = file.header.entries
    metadata = header.get(entries, "metadata")
    inner = metadata.below if metadata is not None else ()

    def line(entry: header.Entry) -> str:
        return f"{path}:{file.text.count(chr(10), 0, entry.start) + 1}"

    above, kind = header.get(entries, "type"), header.get(inner, "type")
    if above is not None and kind is None:
        yield _finding(
            "TK103", "warning", line(above),
            f"the runtime ignores a top-level type, so this {header.decoded(above.raw)} memory is "
            "untyped",
            "write it as `type:` under `metadata:`",
        )  # fmt: skip
    if kind is not None and kind.raw and file.memory.kinds.get(VOCABULARY) not in TERMS:
        yield _finding(
            "TK104", "warning", line(kind),
            f"the runtime reads the kind {header.decoded(kind.raw)!r} as none",
            f"one of {', '.join(TERMS)}",
        )  # fmt: skip
    modified, count = header.get(inner, "modified"), header.get(inner, "observations")
    if modified is not None and modified.shape != "string":
        yield _finding(
            "TK105", "warning", line(modified),
            f"the date {modified.raw} is a {modified.shape} to the runtime, which drops it",
            "write it with dashes, or in quotes",
        )  # fmt: skip
    if count is not None and header.count(count) is None:
        yield _finding(
            "TK105", "note", line(count),
            f"observations {count.raw or 'without a value'!s} is no positive whole number, so it "
            "counts as unknown",
            "remove the line, or write a number from 1 on",
        )  # fmt: skip
    description = header.get(entries, "description")
    if description is not None and header.decoded(description.raw) != _as_runtime(description.raw):
        yield _finding(
            "TK106", "note", line(description),
            "the runtime decodes no escapes: it shows the backslashes and quotes as written",
            "nothing, if that does not matter; the runtime itself wrote it so",
        )  # fmt: skip


def _as_runtime(raw: str) -> str:
    """Take one quote off each end, as the runtime does."""
    start = 1 if raw[:1] in ('"', "'") else 0
    end = len(raw) - 1 if len(raw) > start and raw[-1:] in ('"', "'") else len(raw)
    return raw[start:end]


def _text(record: Memory) -> Iterator[Finding]:
    if layout.is_note(record.key):
        return  # the runtime never writes them
    text = record.body.text
    refused = screening.threat(text)
    if refused is not None:
        yield _finding(
            "TK111", "warning", record.key,
            f"the runtime would refuse to write this text ({refused.rule}): {refused.excerpt!r}",
            "it stands, and is read; change its words if it is to be recorded again",
        )  # fmt: skip
    lower = text.lower()
    for masked in screening.redacted(text) if any(h in lower for h in _HINTS) else ():
        yield _finding(
            "TK112", "warning", record.key,
            f"the runtime would mask {masked.rule} in this text: {masked.excerpt!r}",
            "take a secret out; anything else stands as long as nobody records it again",
        )  # fmt: skip
    stem = record.key.removesuffix(".md")
    negated = _NEGATED.search(text) is not None  # making the name of a text takes longer
    if negated and layout.is_memory(record.key) and names.loses_negation(stem, text):
        yield _finding(
            "TK134", "note", record.key,
            "the name says the opposite of the text: `not` and `no` fall away in names",
            "give it a title that says it without them, and a name to match",
        )  # fmt: skip


def _same_names(files: Files) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for path in sorted(files, key=lambda p: (p != NAME, p)):
        other = seen.setdefault(names.fold(path), path)
        if other != path:
            yield _finding(
                "TK108", "warning", path,
                f"differs from {other} in case or Unicode form alone: one file on some disks",
                "rename one of the two",
            )  # fmt: skip


def _facts(found: Reading) -> Iterator[Finding]:
    if found.index is None:
        return
    text = found.index.text
    for lost in facts.lost(text):
        yield _finding(
            "TK121", "warning", f"{NAME}:{lost.line}", lost.problem,
            "write it as one line that begins with `- `",
        )  # fmt: skip
    if found.index.section is None:
        return
    heading = found.index.section.heading
    start = text.rfind("\n", 0, heading) + 1
    line = text[start:].partition("\n")[0]
    if line.strip() != facts.HEADING:
        yield _finding(
            "TK125", "warning", f"{NAME}:{text.count(chr(10), 0, start) + 1}",
            f"the runtime takes {line.strip()[:40]!r} for its heading {facts.HEADING!r}, and every "
            "bullet below for a fact",
            f"say it without {facts.HEADING!r}",
        )  # fmt: skip
    for bullet in found.index.section.bullets:
        at = f"{NAME}:{text.count(chr(10), 0, bullet.text[0]) + 1}"
        words, kind, _ = facts.stated(text, bullet)
        if _CUT.match(words):
            yield _finding(
                "TK122", "warning", at, "looks like an entry of a file, and is read as a fact",
                "write ` — ` before its hook, and no `]` in its title",
            )  # fmt: skip
        if bullet.comment is not None:
            yield _finding(
                "TK123", "note", at, "today's runtime takes the comment for text of the fact",
                "nothing; interop reads kind and date from it",
            )  # fmt: skip
        if kind is not None and kind not in TERMS:
            yield _finding(
                "TK104", "warning", at, f"the runtime knows no kind {kind!r}",
                f"one of {', '.join(TERMS)}",
            )  # fmt: skip


def _json(found: Reading) -> Iterator[Finding]:
    for path in sorted({*found.json, *filter(layout.is_facts_json, found.unread)}):
        if path in found.unread:
            yield _finding("TK124", "error", path, found.unread[path], "mend it by hand")
        elif NAME in found.files:
            yield _finding(
                "TK124", "warning", path,
                f"the runtime does not look into it, since there is a {NAME}",
                f"move its facts under `## Facts` in {NAME}",
            )  # fmt: skip
        else:
            yield _finding(
                "TK124", "note", path,
                f"the runtime moves these facts into {NAME} and deletes the file when it next "
                "runs; fields beside `text` are lost then",
                "nothing, or keep a copy of the file",
            )  # fmt: skip


def _index(found: Reading) -> Iterator[Finding]:
    if found.index is None:
        return
    text = found.index.text
    parts, size = text.count("\n") + 1, len(text.encode("utf-8"))
    if parts > MAX_LINES or size > MAX_BYTES:
        yield _finding(
            "TK131", "warning", NAME,
            f"{parts} lines and {size:,} bytes: where this is a Claude Code directory, only "
            f"{MAX_LINES} lines and {MAX_BYTES:,} bytes are loaded",
            "shorten hooks, or remove entries of what is no longer true",
        )  # fmt: skip
    for entry in found.index.entries:
        if entry.path not in found.files:
            yield _finding(
                "TK132", "warning", f"{NAME}:{text.count(chr(10), 0, entry.start) + 1}",
                f"the entry names {entry.path!r}, and there is no such file",
                "remove the entry, or restore the file",
            )  # fmt: skip
    for path in found.memories:
        if path not in found.entries:
            yield _finding(
                "TK133", "note", path, f"{NAME} does not name this file",
                "nothing; the runtime reads it all the same",
            )  # fmt: skip
    for number, line in enumerate(text.split("\n"), 1):
        targets = {t for t in _TARGET.findall(line) if t in found.memories}
        if line.startswith("- [") and len(targets) > 1:
            yield _finding(
                "TK135", "warning", f"{NAME}:{number}",
                f"one line names {len(targets)} files: the runtime removes it when it writes one "
                "of them, and writes an entry for that one alone",
                "give each file a line of its own",
            )  # fmt: skip


def _links(found: Reading) -> Iterator[Finding]:
    """Find wiki links that lead to no file and no name; the runtime shows them as they are."""
    known = {names.fold(path.removesuffix(".md").rpartition("/")[2]) for path in found.files}
    known |= {names.fold(r.name) for r in found.records.values() if r.name}
    for key, record in found.records.items():
        for link in record.links:
            target = re.split(r"[|#]", link.target, maxsplit=1)[0].strip().removesuffix(".md")
            if target and names.fold(target.rpartition("/")[2]) not in known:
                yield _finding(
                    "TK136", "note", key, f"[[{link.target}]] leads to no memory",
                    "nothing, if that memory is still to be written",
                )  # fmt: skip
