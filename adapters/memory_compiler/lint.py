"""Everything in a topic that the checker rejects, overlooks or crashes on.

Tables (MC101 to MC118) are in lint_tables; here are values that return (MC121, MC122), files (MC131
to MC134), sessions (MC141 to MC146) and retrieval tests (MC151 to MC154).

Spec: docs/formats/memory-compiler.md, "What lint looks for".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from interop.adapter import Finding
from interop.adapters.memory_compiler import ledger, lint_tables, memory_tests, reading
from interop.adapters.memory_compiler.lint_tables import TOO_SHORT, rejected
from interop.adapters.memory_compiler.reading import Topic
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import CONTEXT, FILES, SESSIONS, TESTS, TOMBSTONES
from interop.model import Files, Store

_CONFLICT = re.compile(r"\((?i:conflict)\)")
"""A name that the checker takes for a copy of a sync conflict, and that no sync tool gives."""
_DEVICE = re.compile(
    r"(.+?)-(?!(?:MBP|MBA|DESKTOP|LAPTOP|NOTEBOOK|WORKSTATION|SURFACE)\.)[A-Z][A-Z0-9]{2,}(\.[^./]+)"
)
"""A name with that of a machine behind it, where every format's own finding knows no such one."""
_TO_DELETE = "_to_delete/"


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Yield what is wrong in a topic: file by file, then what concerns the whole."""
    topic = reading.read(files)
    for path in FILES:
        part = topic.parts.get(path)
        if part is None:
            continue
        yield from _fences(path, part.text)
        yield from _mark(path, part.text)
        if isinstance(part, TableFile):
            yield from lint_tables.lint(part, topic.version)
        else:
            yield from lint_tables.width(path, part.text)
        yield from lint_tables.foreign(path, part.text)
        yield from _last_line(path, part.text)
    yield from _files(topic)
    yield from _collisions(topic)
    yield from _copies(files)
    yield from _sessions(files)
    yield from _recoveries(files)
    yield from _tests(files)


def _fences(path: str, text: str) -> Iterator[Finding]:
    if text.count("```") % 2:
        yield Finding(
            code="MC110",
            severity="error",
            path=path,
            problem='an odd number of "```": the checker takes the file for cut off',
            remedy="close the fence, or write &#96; for a mark in a text",
        )


def _mark(path: str, text: str) -> Iterator[Finding]:
    if re.match("\ufeff[ \t]*\\|", text):
        yield Finding(
            code="MC114",
            severity="error",
            path=f"{path}:1",
            problem="a byte order mark before the table hides its header from the checker",
            remedy="begin the file with a heading, or take the mark away",
        )


def _last_line(path: str, text: str) -> Iterator[Finding]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[-1].startswith("|") and not lines[-1].endswith("|"):
        yield Finding(
            code="MC118",
            severity="error",
            path=path,
            problem="the last line begins with a pipe and does not end with one: it looks cut off",
            remedy="close the row with ` |`",
        )


def _files(topic: Topic) -> Iterator[Finding]:
    for problem in topic.unread:
        yield Finding(
            code="MC131",
            severity="error",
            path=problem.path,
            problem=problem.problem,
            remedy="save the file as UTF-8",
        )
    has_table = any(isinstance(p, TableFile) and p.scan.tables for p in topic.parts.values())
    missing = [path for path in FILES if path not in topic.files]
    if has_table and missing and topic.version == 1:
        yield Finding(
            code="MC132",
            severity="warning",
            path=missing[0],
            problem=f"{', '.join(missing)} missing: no session can be opened",
            remedy="create it, with its header",
        )


def _collisions(topic: Topic) -> Iterator[Finding]:
    """Report rejected values that stand in the other files, by the checker's own rule."""
    stones = topic.parts.get(TOMBSTONES)
    if not isinstance(stones, TableFile):
        return
    for record in stones.records.values():
        value = rejected(record)
        if len(value) < TOO_SHORT:
            continue
        for path in FILES:
            part = topic.parts.get(path)
            if path != TOMBSTONES and part is not None and value in part.text:
                yield Finding(
                    code="MC122",
                    severity="warning",
                    path=f"{path}:{part.text.count(chr(10), 0, part.text.index(value)) + 1}",
                    problem=f"holds {value!r}, which {record.key.split('#', 1)[1]} rejects; "
                    "the checker reports it even where it is history",
                    remedy="reword it so that it does not repeat the value",
                )


def _copies(files: Files) -> Iterator[Finding]:
    """Report copies by names that mean one in a topic alone; the others any format is told of."""
    for path in sorted(files):
        name = path.rpartition("/")[2]
        if path.startswith(_TO_DELETE):
            continue
        device = _DEVICE.fullmatch(name)
        if _CONFLICT.search(name):
            yield Finding(
                code="MC133",
                severity="error",
                path=path,
                problem="a copy that a sync conflict left: the checker stops at it",
                remedy=f"merge it by hand, then remove it or move it to {_TO_DELETE}",
            )
        elif device and device[1] + device[2] in FILES:
            yield Finding(
                code="MC134",
                severity="warning",
                path=path,
                problem="looks like a copy that a sync conflict left, which the checker overlooks",
                remedy=f"merge it by hand, then remove it or move it to {_TO_DELETE}",
            )


def _sessions(files: Files) -> Iterator[Finding]:
    waiting = [e for e in ledger.entries(files) if e.is_open]
    for entry in ledger.entries(files):
        if entry.said is None:
            yield Finding(
                code="MC142",
                severity="error",
                path=entry.path,
                problem="no JSON object: the lock overlooks it, and --status crashes on it",
                remedy="mend it, or move it out of _sessions/",
            )
            continue
        if entry.session != entry.path.rpartition("/")[2][: -len(".json")]:
            yield Finding(
                code="MC143",
                severity="note",
                path=entry.path,
                problem=f"is called otherwise than its session {entry.session!r}",
                remedy="nothing; the checker goes by the file name",
            )
        if entry.said.get("status") not in ("OPEN", "CLOSED"):
            yield Finding(
                code="MC146",
                severity="warning",
                path=entry.path,
                problem=f"the status {entry.said.get('status')!r} is neither OPEN nor CLOSED",
                remedy="mend it; only OPEN holds the lock",
            )
        if entry.is_open:
            several = f", one of {len(waiting)}" if len(waiting) > 1 else ""
            changed = _changed(entry, files)
            lost = (
                f"; {', '.join(changed)} changed since, so --close will not close it"
                if changed
                else ""
            )
            yield Finding(
                code="MC141",
                severity="warning",
                path=entry.path,
                problem=f"session {entry.session} is open{several}: nothing is written to this "
                f"topic{lost}",
                remedy=ledger.WAY_OUT,
            )


def _changed(entry: ledger.Entry, files: Files) -> list[str]:
    hashes = entry.said.get("baseline_hashes") if entry.said is not None else None
    if not isinstance(hashes, dict):
        return []
    now = {p: hashlib.sha256(files[p]).hexdigest() if p in files else None for p in FILES}
    return [path for path in FILES if path in hashes and hashes[path] != now[path]]


def _recoveries(files: Files) -> Iterator[Finding]:
    for entry in ledger.entries(files, ledger.RECOVERY):
        if entry.said is None or entry.said.get("resolved") is not True:
            yield Finding(
                code="MC145",
                severity="note",
                path=entry.path,
                problem="candidates of a recovery that nobody resolved: they are no facts yet",
                remedy="merge what is true by hand, then --resolve-recovery",
            )


def _tests(files: Files) -> Iterator[Finding]:
    data = files.get(TESTS)
    if data is None:
        if any(path.startswith(SESSIONS) for path in files):
            yield Finding(
                code="MC153",
                severity="warning",
                path=TESTS,
                problem="is missing: no session can be closed",
                remedy="write at least one test",
            )
        return
    found = memory_tests.parse(data.decode("utf-8", "replace"))
    if not found.tests:
        yield Finding(
            code="MC152",
            severity="error",
            path=TESTS,
            problem="no test is read from it",
            remedy="begin each with `  - id: …`: a dash with no or two blanks before it",
        )
    for line, why in found.dropped.items():
        yield Finding(
            code="MC152",
            severity="warning",
            path=f"{TESTS}:{line}",
            problem=why,
            remedy="the grammar is not YAML: two blanks and a dash, double quotes, no #",
        )
    for test in found.tests:
        where = f"{TESTS}:{test.line}"
        for odd, remedy in memory_tests.oddities(test):
            yield Finding(
                code="MC154",
                severity="warning",
                path=where,
                problem=f"test {test.id} {odd}",
                remedy=remedy,
            )
        failed = memory_tests.run(test, files)
        if failed is not None:
            yield Finding(
                code="MC151",
                severity="error",
                path=where,
                problem=f"test {test.id} fails: {failed}",
                remedy=f"mend the test or {test.said.get('file', CONTEXT)}",
            )
