# Runs in the peer's environment, which the type checkers of this project do not see.
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Runs inside a bantamkit's own Python: real operations on a store, JSON in and out.

    {"store": PATH, "operations": [{"op": "recall", "query": "pump", "today": "2026-11-30"}, …]}

Operations, all on the store in place unless said otherwise:

    read                        every live fact as the runtime reads it
    archived                    stems of archive/
    lint                        the runtime's own check
    rewrite                     each fact of both folders, alone in a scratch store, as it is read,
                                and dumped by the runtime's writer: the same bytes, and the same
                                fact when read again
    index                       index.md against what the runtime would write
    recall query [k] [stamp]    stamps the hits
    save type name description body [links] [outcome] [status]
    archive name, restore name
    compact budget [reserve]
"""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import shutil
import sys
import tempfile
from pathlib import Path

from bantamkit.memory.store import DEFAULT_INDEX_BUDGET, MemoryStore

TODAY = "2026-11-30"


def plain(value):
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return str(value)


def fact(f):
    keys = ("name", "description", "type", "body", "links", "created", "last_recalled")
    out = {key: plain(getattr(f, key)) for key in keys}
    for key in ("outcome", "status"):
        if getattr(f, key, None) is not None:
            out[key] = getattr(f, key)
    return out


def read(store, op):
    return {"facts": [fact(f) for f in store._facts()]}


def archived(store, op):
    return {"names": store.archived()}


def lint(store, op):
    store.lint()
    return {}


def rewrite(store, op):
    out = {}
    for side in ("facts", "archive"):
        for path in sorted((store.root / side).glob("*.md")):
            with tempfile.TemporaryDirectory() as scratch:
                out[f"{side}/{path.name}"] = rewritten(path, Path(scratch))
    return {"files": out}


def rewritten(path, scratch):
    one = MemoryStore(scratch / "one")
    shutil.copy2(path, one.root / "facts" / path.name)
    try:
        (found,) = one._facts()
    except Exception as error:  # the runtime's failure is the answer
        return {"unread": f"{type(error).__name__}: {error}"}
    out = {"fact": fact(found)}
    two = MemoryStore(scratch / "two")
    try:
        two._write_fact(found)
        again = (two.root / "facts" / f"{found.name}.md").read_bytes()
        (later,) = two._facts()
    except Exception as error:  # the runtime's failure is the answer
        return out | {"broken": f"{type(error).__name__}: {error}"}
    return out | {"same": again == path.read_bytes(), "stable": fact(later) == fact(found)}


def index(store, op):
    path = store.root / "index.md"
    there = path.read_text(encoding="utf-8") if path.is_file() else None
    due = store.index_text()
    return {"there": there, "due": due, "same": there == due, "bytes": len(due.encode())}


def recall(store, op):
    hits = store.recall(op["query"], k=op.get("k"), stamp=op.get("stamp", True))
    return {"names": [hit.name for hit in hits]}


def save(store, op):
    keys = ("type", "name", "description", "body", "outcome", "status")
    known = inspect.signature(store.save).parameters
    given = {key: op[key] for key in keys if key in op and key in known}
    result = store.save(**given, links=tuple(op.get("links", ())))
    return {"status": result.status, "similar": result.similar}


def archive(store, op):
    store.archive(op["name"])
    return {}


def restore(store, op):
    store.restore(op["name"])
    return {}


def compact(store, op):
    result = store.compact(reserve=op.get("reserve"))
    return {"names": result.names}


OPERATIONS = {
    f.__name__: f
    for f in (read, archived, lint, rewrite, index, recall, save, archive, restore, compact)
}


def main():
    request = json.load(sys.stdin)
    results = []
    for op in request["operations"]:
        store = MemoryStore(
            request["store"],
            index_budget=op.get("budget", DEFAULT_INDEX_BUDGET),
            today=lambda op=op: op.get("today", TODAY),
        )
        try:
            results.append({"op": op["op"], "ok": True, **OPERATIONS[op["op"]](store, op)})
        except Exception as error:  # the runtime's failure is the answer
            results.append(
                {"op": op["op"], "ok": False, "error": f"{type(error).__name__}: {error}"}
            )
    answer = {"version": importlib.metadata.version("bantamkit"), "results": results}
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
