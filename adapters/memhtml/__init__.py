r"""Stores of memhtml: one memory a semantic HTML file, in PARA folders, in a git repository.

    resources/docks/dock-seven.html           <meta name="memhtml-type" content="semantic">
                                              <link rel="memhtml-part-of" href="/areas/…">
                                              <article>
                                              <p><mark>Dock 7 jams below zero.</mark> …</p>
                                              </article>
    projects/<workspace>/tasks/…              tasks
    archive/2026/resources/docks/…            archived, with the path that it had
    index.html, sitemap.xml                   written by the runtime from the memories

Spec: docs/formats/memhtml.md, version 1, measured on memhtml 0.15.1.
Cannot hold: names, hooks, recalls, observations, relations outside its fourteen, parts of seconds,
decisions, tombstones.
"""

from __future__ import annotations

from collections.abc import Iterable

from interop.adapter import Adapter, Context, Finding, Fitted, Hold, Kinds, Refusal, Written
from interop.adapters.memhtml import placement, signs
from interop.adapters.memhtml.location import discover, locate
from interop.adapters.memhtml.repository import Repository
from interop.adapters.memhtml.vocabulary import FORMAT, OWN, ROLE, TASK, TASK_STATUSES, TYPES
from interop.model import Files, Memory, Record, Store

__all__ = ["ADAPTER"]

_DATABASES = (".memhtml/index.db", ".memhtml/state.db")
_REPEATED = ("status", "content-hash")


def detect(files: Files) -> str | None:
    """Say why files look like a store: a memory's head, or the runtime's own folder."""
    for path in sorted(files):
        if placement.is_memory(path) and signs.has_type(files[path]):
            return f"{path} has the head of a memory"
    own = next((path for path in sorted(files) if path.startswith(".memhtml/")), None)
    return f"there is a {own}" if own is not None else None


def read(files: Files) -> Store:
    """Read every memory that the runtime indexes."""
    from interop.adapters.memhtml import reading

    return reading.read(files)


def write(store: Store, onto: Files, context: Context) -> Written:
    """Put a store over files, statement by statement."""
    from interop.adapters.memhtml import store as stores  # a parser that most commands never need

    return stores.write(store, onto, context)


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as memhtml can say it."""
    from interop.adapters.memhtml import fitting

    return fitting.fit(record, current, context)


def calm(record: Record) -> Record:
    """Give the record without the marks that sleep leaves."""
    from interop.adapters.memhtml import noise

    return noise.calm(record)


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find what the runtime chokes on."""
    from interop.adapters.memhtml import pitfalls

    return pitfalls.find(files)


def _handle(record: Record) -> str:
    """Take the path before archiving, of a correction that of what it corrects.

    The runtime moves a memory to archive it; to correct one, it archives it and writes the new
    text to a file of its own. The corrected one is no longer the memory that it was.
    """
    own = record.extra.get(FORMAT)
    stated = own if isinstance(own, dict) else {}
    if placement.is_archived(record.key):
        return record.key if "superseded-by" in stated else placement.origin(record.key)
    # a memory that was there before, and into which sleep merged another, stays itself
    if isinstance(record, Memory) and record.created and record.created == stated.get("valid-from"):
        for link in record.links:
            if link.rel == "supersedes" and placement.is_archived(link.target):
                return placement.origin(link.target)
    return record.key


def _ignored(path: str) -> bool:
    return path.startswith((".git/", *_DATABASES))


def _own_keys() -> dict[str, Hold]:
    return {f"extra.{n}": Hold.VIEW if n in _REPEATED else Hold.EXACT for n in OWN}


ADAPTER = Adapter(
    name=FORMAT,
    title="memhtml stores (PARA, HTML, git)",
    spec=1,
    holds={
        "title": Hold.EXACT,
        "description": Hold.VIEW,
        "body": Hold.EXACT,
        "kinds": Hold.EXACT,
        "tags": Hold.EXACT,
        "entities": Hold.EXACT,
        "links": Hold.EXACT,
        "created": Hold.EXACT,
        "modified": Hold.EXACT,
        "session": Hold.EXACT,
        "state": Hold.EXACT,
        "archived": Hold.EXACT,
        "status": Hold.EXACT,
        "due": Hold.EXACT,
        **_own_keys(),
    },
    detect=detect,
    read=read,
    write=write,
    fit=fit,
    kinds=Kinds(vocabulary=FORMAT, terms=TYPES, required=True, closed=True, roles={TASK: "task"}),
    roles=frozenset({"memory", "task"}),
    statuses={"task": TASK_STATUSES},
    media="text/html",
    marker=ROLE,
    handle=_handle,
    calm=calm,
    derived=placement.is_generated,
    ignored=_ignored,
    lint=lint,
    locate=locate,
    discover=discover,
    host=Repository(),
)
