r"""What on disk tells this format from its neighbour with the same headers, and what does not.

Both keep ``MEMORY.md`` and files with ``name``, ``description`` and ``metadata``. Signs of this
one: the line ``> Auto-managed by @theokit/sdk``, ``observations`` in a header, the section
``## Facts`` below ``# Memory``, facts in JSON, and the files of the dream sweep, the sessions and
the search index. Signs against it: ``metadata: `` with a blank behind it, ``originSessionId``, a
kind at the top level, memories in sub-folders. A header that has neither could be either.

A header is looked at up to its end and an index as a whole, however long: the runtime writes a text
into the header once more, and people write above the facts. So that this costs little, a few bytes
are searched for before anything is matched.

Spec: docs/formats/theokit.md, section 11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from interop.adapters.theokit import layout
from interop.adapters.theokit.index import NAME
from interop.model import Files

_MANAGED = re.compile(rb"^> Auto-managed by @(?:theokit|usetheo)/sdk", re.MULTILINE)
_MEMORY = re.compile(rb"(?:\xef\xbb\xbf)?# Memory[ \t]*\r?\n")
_FACTS = re.compile(rb"^#{2,3} Facts", re.MULTILINE)
_OPENING = re.compile(rb"---[ \t]*\r?\n")
_CLOSING = re.compile(rb"\n---[ \t]*\r?\n")
_KEYS = re.compile(rb"^(?=name:)|^(?=description:)", re.MULTILINE)
_OBSERVED = re.compile(rb"^[ \t]+observations:", re.MULTILINE)
_OTHERS = re.compile(rb"^metadata:[ \t]+\r?$|^[ \t]*originSessionId:|^type:", re.MULTILINE)
_AS_WRITTEN = re.compile(
    rb'name: [a-z0-9][a-z0-9_-]*\ndescription: ".*"\nmetadata:\n  node_type: memory\n'
    rb"(?:  type: [a-z]+\n)?(?:  modified: \S+\n)?"
)
"""The header of a memory that was never counted, just as this runtime writes it."""
_SESSION = re.compile(rb"---\r?\nrunId:")
_DIARY = re.compile(rb"# Dream Diary")
_JSON = re.compile(rb"\s*\{")
_FACTS_IN_JSON = re.compile(rb'"facts"\s*:\s*\[')


def detect(files: Files) -> str | None:
    """Say why these files look like a theokit store, or could be one; None if they do not."""
    sure = next(_sure(files), None)
    if sure is not None:
        return sure
    headers = {p: inner for p in sorted(files) if (inner := _header(files, p)) is not None}
    if any(_OTHERS.search(inner) or "/" in path for path, inner in headers.items()):
        return None
    data = files.get(NAME, b"")
    if b"## Facts" in data and _FACTS.search(data):
        return f"{NAME} has a section of facts, and nothing says whose"
    could = next((p for p, inner in headers.items() if _AS_WRITTEN.fullmatch(inner)), None)
    return f"{could} could have been written by theokit" if could is not None else None


def _sure(files: Files) -> Iterator[str]:
    """Yield the signs that are this format's alone."""
    if NAME in files:
        data = files[NAME]
        if b"> Auto-managed by " in data and _MANAGED.search(data):
            yield f"{NAME} is auto-managed by the theokit SDK"
        if _MEMORY.match(data) and b"## Facts" in data:
            yield f"{NAME} has a section of facts below `# Memory`"
    for path in sorted(files):
        if layout.is_memory(path):
            inner = _header(files, path)
            if inner is not None and _OBSERVED.search(inner):
                yield f"{path} counts observations in its header"
        elif layout.is_facts_json(path):
            if _JSON.match(files[path]) and _FACTS_IN_JSON.search(files[path]):
                yield f"{path} has facts of the oldest generation"
        elif path == layout.DIARY and _DIARY.match(files[path]):
            yield f"{path} is a dream diary"
        elif path.startswith("sessions/") and _SESSION.match(files[path]):
            yield f"{path} is the summary of a run"
        elif path.startswith("transcripts/active-memory/"):
            yield "there are transcripts of active memory"
        elif path == f"{layout.SEARCH_INDEX}memory.sqlite":
            yield f"{path} is the search index of theokit"


def _header(files: Files, path: str) -> bytes | None:
    """Give the inside of a file's header if it has a name or a description."""
    if (
        not path.endswith(".md")
        or path == NAME
        or path.startswith((*layout.LOGS, "notes/", "wiki/"))
    ):
        return None
    data = files[path]
    opening = _OPENING.match(data)
    closing = _CLOSING.search(data, opening.end() - 1) if opening is not None else None
    if opening is None or closing is None:
        return None
    inner = data[opening.end() : closing.start() + 1]
    return inner if _KEYS.search(inner) else None
