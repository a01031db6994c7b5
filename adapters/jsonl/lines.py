"""The lines of a snapshot: what each says, and which are no records."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import orjson

from interop import fields
from interop.adapter import repeat_key
from interop.adapters.jsonl import header
from interop.adapters.jsonl.values import ImpossibleError, value_of
from interop.fields import FIELDS
from interop.model import ROLES, Files, Json, Problem, Record, Store

FORMAT = "jsonl"
PATH = "snapshot.jsonl"
"""What the file is called here, whatever its name is on a disk."""
DEEPEST = 100
"""How deep values may lie within one another in a line."""

_LONG = re.compile(rb"\d{18}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its line end."""

    raw: bytes
    record: Record | None = None
    """With its key in the store."""
    problem: str = ""
    unread: bool = False
    repeats: bool = False
    """Does an earlier line state the same key?"""
    wrong: bool = False
    """Has it a value that its field cannot have?"""
    unknown: bytes = b""
    """What it says that no field has a place for, in a form that equal statements share."""


def key_of(stated: str) -> str:
    """Give the address of the record whose line states this key."""
    return f"{PATH}#{stated}"


def id_of(key: str) -> str:
    """Give the key that a line states for the record at an address; other keys are taken whole."""
    return key.removeprefix(f"{PATH}#")


def read(files: Files) -> Store:
    """Read every line that is a record; whatever else is there is carried."""
    found = scan(files.get(PATH, b""))
    problems = [
        Problem(path=PATH, problem=f"line {n}: {line.problem}", unread=line.unread)
        for n, line in enumerate(found, 1)
        if line.problem
    ]
    return Store(
        format=FORMAT,
        records=tuple(line.record for line in found if line.record is not None),
        carried=_carried(files, found),
        problems=tuple(problems),
    )


def _carried(files: Files, lines: list[Line]) -> dict[str, str]:
    out = {p: hashlib.sha256(data).hexdigest() for p, data in sorted(files.items()) if p != PATH}
    rest = [line.unknown for line in lines if line.unknown]
    if PATH in files and (rest or not any(line.record for line in lines)):
        out[f"{PATH}#"] = hashlib.sha256(b"\n".join(rest)).hexdigest()
    return out


def scan(data: bytes) -> list[Line]:
    """Take a snapshot apart into its lines."""
    found: list[Line] = []
    taken: set[str] = set()
    for number, raw in enumerate(split(data)):
        line = _line(raw, taken, first=number == 0)
        if line.record is not None:
            taken.add(line.record.key)
        found.append(line)
    return found


def split(data: bytes) -> list[bytes]:
    r"""Give the lines with their ends; a line ends with ``\n`` and nothing else."""
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


class _TooDeepError(ValueError):
    """Values lie deeper in one another than anybody writes."""


def parsed(text: bytes) -> Json:
    """Read one JSON value.

    Raises:
        ValueError: it is none, or is nested too deeply.
    """
    if text.count(b"[") + text.count(b"{") > DEEPEST and _depth(text) > DEEPEST:
        raise _TooDeepError
    if not _LONG.search(text):
        try:
            return cast("Json", orjson.loads(text))
        except orjson.JSONDecodeError:
            if b"\\ud" not in text and b"\\uD" not in text:
                raise
    # numbers of more than 64 bits, and half of a surrogate pair, are beyond orjson
    return cast("Json", json.loads(text.decode("utf-8"), parse_constant=_no_constant))


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


_OUTSIDE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def _depth(text: bytes) -> int:
    deepest = depth = 0
    for found in _OUTSIDE.finditer(text):
        if found[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in (b"]", b"}"):
            depth -= 1
    return deepest


def _line(raw: bytes, taken: set[str], *, first: bool) -> Line:
    text = raw.removeprefix(header.BOM) if first else raw
    if not text.strip():
        return Line(raw)
    if first and header.check(raw) is None:
        return Line(raw)
    rest = text.strip()
    try:
        item = parsed(text)
    except _TooDeepError:
        return Line(raw, problem=f"nested deeper than {DEEPEST} levels", unread=True, unknown=rest)
    except ValueError:  # its words are the library's, and change with it
        return Line(raw, problem="damaged: it is not JSON", unread=True, unknown=rest)
    if not isinstance(item, dict) or ("role" not in item and "type" not in item):
        return Line(raw, problem="neither a record nor anything else that is known", unknown=rest)
    if "type" in item:
        return Line(raw, unknown=rest)  # of a later version, or of another program
    role, key = item["role"], item.get("key")
    if not isinstance(role, str) or role not in ROLES:
        return Line(raw, problem=f"role is {role!r}", unread=True, unknown=rest)
    if not isinstance(key, str) or not key:
        return Line(raw, problem=f"a {role} without a key", unread=True, unknown=rest)
    address = repeat_key(key_of(key), taken)
    wrong: list[str] = []
    record = _record(item, role, address, wrong)
    said = list(wrong)
    if address != key_of(key):
        said.append(f"the key {key!r} is stated by an earlier line")
    return Line(
        raw,
        record=record,
        problem="; ".join(said),
        repeats=address != key_of(key),
        wrong=bool(wrong),
        unknown=_unknown(item, role, key),
    )


def _record(item: Mapping[str, Json], role: str, address: str, wrong: list[str]) -> Record:
    values: dict[str, fields.Value] = {}
    for name in FIELDS[role]:
        if name in item:
            try:
                value = value_of(name, item[name])
            except ImpossibleError as error:
                wrong.append(f"{name} {error}")
                continue
            if value is not None:
                values[name] = value
    return ROLES[role](key=address, **values)


def _unknown(item: Mapping[str, Json], role: str, key: str) -> bytes:
    known = {"role", "key", *FIELDS[role]}
    if known.issuperset(item):
        return b""  # a value that its field cannot have says nothing, so it is no difference
    return fields.canonical({"key": key, **{n: v for n, v in item.items() if n not in known}})


def said(record: Record, stated: str) -> dict[str, Json]:
    """Give what the line of a record says, with the key that it states."""
    return {**fields.to_json(record), "key": stated}
