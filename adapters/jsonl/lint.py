"""What is wrong in a snapshot: it has no runtime, so this is damage, and what hands wrote."""

from __future__ import annotations

from collections.abc import Iterator

from interop.adapter import Finding
from interop.adapters.jsonl.lines import PATH, scan
from interop.model import Files, Store


def lint(files: Files, store: Store) -> Iterator[Finding]:
    """Give every line that is not what it should be, by its number."""
    for number, line in enumerate(scan(files.get(PATH, b"")), 1):
        if line.unread:
            yield Finding(
                code="JL101",
                severity="error",
                path=f"{PATH}:{number}",
                problem=line.problem,
                remedy="take the line from a backup or take the snapshot anew; until then it is"
                " carried as it is",
            )
        elif line.problem:
            yield Finding(
                code="JL102",
                severity="warning",
                path=f"{PATH}:{number}",
                problem=line.problem,
                remedy="mend it by hand; until then it is carried and says nothing",
            )
