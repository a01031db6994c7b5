"""A topic that begins: with the files of the one that its records come from, else with new ones.

Spec: docs/formats/memory-compiler.md, "A new topic".
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from interop.adapter import Context, path_of
from interop.adapters.memory_compiler import reading
from interop.adapters.memory_compiler.context_bullets import Bullets
from interop.adapters.memory_compiler.reading import Part
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import FILES, TABLES, TESTS
from interop.model import Files, Record
from interop.syntax.splice import Edit, splice


def begin(put: Iterable[Record], context: Context, anew: Set[str]) -> Files:
    """Give the source's own files, without the rows and bullets that are not put.

    In a place without files these keep the ids they have, unless one was given there once. A file
    whose rows would not be what they were without the others is not among them. ``anew`` are keys
    of records that are put as new ones.
    """
    roles = {r.key: r.role for r in put if r.key not in anew and _keeps(r.key, context)}
    source = reading.read(context.originals)
    if not any(roles.get(record.key) == record.role for record in source.records()):
        return {}
    out: dict[str, bytes] = {}
    for path in FILES:
        part = source.parts.get(path)
        if part is not None:
            wanted = {k for k, record in part.records.items() if roles.get(k) == record.role}
            text = _without(part, part.records.keys() - wanted)
            now = reading.part_of(path, text)
            before = {key: part.records[key] for key in part.records if key in wanted}
            if now.records == before and _problems(now) <= _problems(part):
                out[path] = text.encode("utf-8")
    if TESTS in context.originals:
        out[TESTS] = context.originals[TESTS]
    return out


def _keeps(key: str, context: Context) -> bool:
    """May a record have the key that it has where it comes from?"""
    address = context.addresses.get(key)
    if address is not None:
        return address == key
    return key not in context.given or path_of(key) not in TABLES


def _without(part: Part, keys: Iterable[str]) -> str:
    spans = (part.item(k) if isinstance(part, Bullets) else part.rows[k] for k in keys)
    return splice(part.text, sorted(Edit(span.start, span.stop, "") for span in spans))


def _problems(part: Part) -> set[str]:
    return {p.problem for p in part.problems} if isinstance(part, TableFile) else set()
