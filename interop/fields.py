"""Records field by field: which there are, which are stated, and their JSON form.

The JSON form is one object per record; absent stays absent, so there are no nulls in it. It is
described by docs/record.schema.json, and its version is ``model.MODEL_VERSION``.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import orjson

from interop.errors import FormatError
from interop.model import ROLES, Body, Json, Link, Record

Value = Any
"""A value of a record's field, or None for "not stated"."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    role: tuple(f.name for f in dataclasses.fields(cls) if f.name != "key")
    for role, cls in ROLES.items()
}
"""Role -> the names of its fields in their fixed order, without ``key``."""


def get(record: Record, field: str) -> Value:
    """Give the value of a field, None when it is not stated or the role has no such field."""
    value: Value = getattr(record, field, None)
    return value if value or value == 0 else None  # a count of none is a statement


def row(record: Record) -> list[Value]:
    """Give what ``get`` gives for every field, in the order of ``FIELDS``; ten times as fast."""
    values, count = _ROWS[record.role]
    said = values(record)
    found = [value or None for value in said]
    if count is not None and said[count] == 0:
        found[count] = 0
    return found


def alike(one: Record, other: Record) -> bool:
    """Say whether two records are in every field the very same, whatever their keys."""
    values, _ = _ROWS[one.role]
    return one.role == other.role and values(one) == values(other)


def stated(record: Record) -> dict[str, Value]:
    """Every field that says something, in the fixed order; ``body`` always does."""
    pairs = zip(FIELDS[record.role], row(record), strict=True)
    return {field: value for field, value in pairs if value is not None}


def replace(record: Record, values: Mapping[str, Value]) -> Record:
    """Give the record with some fields set; None makes a field unstated."""
    if not values:
        return record
    defaults = _DEFAULTS[record.role]
    new = {f: (defaults[f] if v is None else v) for f, v in values.items() if f in defaults}
    return _with(record, new)


def with_key(record: Record, key: str) -> Record:
    """Give the record under another address."""
    return record if record.key == key else _with(record, {"key": key})


def _with(record: Record, new: Mapping[str, Value]) -> Record:
    # What dataclasses.replace does, in an eighth of the time: it is done for every record of a
    # store. A frozen class sets its fields by their names, one by one; a slot needs none.
    values, slots = _SLOTS[record.role]
    made = object.__new__(type(record))
    for put, value in zip(slots.values(), values(record), strict=True):
        put(made, value)
    for name, value in new.items():
        slots[name](made, value)
    return made


_COUNT = "observations"
"""The field of which nought is a statement."""
_Values = Callable[[Record], tuple[Value, ...]]
_Put = Callable[[Record, Value], None]
_ROWS: Mapping[str, tuple[_Values, int | None]] = {
    role: (attrgetter(*names), names.index(_COUNT) if _COUNT in names else None)
    for role, names in FIELDS.items()
}
"""Role -> what gives the values of its fields, and the place of the count among them."""
_SLOTS: Mapping[str, tuple[_Values, Mapping[str, _Put]]] = {
    role: (
        attrgetter("key", *FIELDS[role]),
        {name: getattr(cls, name).__set__ for name in ("key", *FIELDS[role])},
    )
    for role, cls in ROLES.items()
}
"""Role -> what gives the values of all its fields, and what puts one into a new record."""
_DEFAULTS: Mapping[str, Mapping[str, Value]] = {
    role: {
        f.name: f.default if f.default is not dataclasses.MISSING else {}
        for f in dataclasses.fields(cls)
        if f.name != "key"
    }
    for role, cls in ROLES.items()
}


def value_to_json(value: Value) -> Json:
    """Give the JSON form of one field's value."""
    if isinstance(value, Body):
        return {"text": value.text, "media": value.media}
    if isinstance(value, Link):
        return {"rel": value.rel, "target": value.target}
    if isinstance(value, tuple):
        items: tuple[Value, ...] = value  # pyright: ignore[reportUnknownVariableType]
        return [value_to_json(item) for item in items]
    if isinstance(value, Mapping):
        pairs: Mapping[str, Value] = value  # pyright: ignore[reportUnknownVariableType]
        return {k: value_to_json(v) for k, v in pairs.items()}
    return value  # type: ignore[no-any-return]  # a scalar is its own form


def value_from_json(field: str, value: Json) -> Value:
    """Read one field's value from its JSON form.

    Raises:
        TypeError: the field cannot have such a value; anybody may have written it.
        KeyError: a part of it is missing.
    """
    if field == "body":
        body = _object(field, value)
        return Body(text=_text(field, body["text"]), media=_text(field, body["media"]))
    if field == "links":
        links = [_object(field, v) for v in _list(field, value)]
        return tuple(
            Link(rel=_text(field, v["rel"]), target=_text(field, v["target"])) for v in links
        )
    if field in ("tags", "entities"):
        return tuple(_text(field, v) for v in _list(field, value))
    if field == "kinds":
        return {k: _text(field, v) for k, v in _object(field, value).items()}
    if field == "extra":
        return _object(field, value)
    if field == "observations":
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{field} is no whole number")
        return value
    if field == "state" and value not in ("live", "archived"):
        raise TypeError(f"{field} is neither live nor archived")
    return _text(field, value)


def _text(field: str, value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{field} is no text")
    return value


def _list(field: str, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError(f"{field} is no list")
    return value


def _object(field: str, value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError(f"{field} is no object")
    return value


def to_json(record: Record) -> dict[str, Json]:
    """Give a record's JSON form."""
    out: dict[str, Json] = {"role": record.role, "key": record.key}
    for field, value in stated(record).items():
        out[field] = value_to_json(value)
    return out


def from_json(data: Mapping[str, Json], where: str = "record") -> Record:
    """Read a record from its JSON form.

    Raises:
        FormatError: when a field is missing, unknown or of the wrong shape.
    """
    role = data.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise FormatError(where, f"role is {role!r}", f"one of {', '.join(ROLES)}")
    values: dict[str, Value] = {}
    try:
        for field, value in data.items():
            if field == "key":
                values["key"] = str(value)
            elif field != "role":
                values[field] = value_from_json(field, value)
        return ROLES[role](**values)
    except (KeyError, TypeError) as error:
        raise FormatError(where, f"not a {role} in JSON form ({error})") from error


def dumps(data: Json | Mapping[str, Json]) -> bytes:
    r"""Encode as one line of JSON, without the line end.

    What UTF-8 cannot say (half of a surrogate pair, as paths that are no UTF-8 have it) is JSON's
    own escape, ``\udc80``.
    """
    try:
        return orjson.dumps(data)
    except TypeError:
        return _dumps_all(data)


def canonical(data: Json | Mapping[str, Json]) -> bytes:
    """Encode with sorted keys, so that equal values have equal bytes."""
    try:
        return orjson.dumps(data, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return _dumps_all(data, sort=True)


_HALF = re.compile("[\ud800-\udfff]")


def _dumps_all(data: Json | Mapping[str, Json], *, sort: bool = False) -> bytes:
    """Encode what orjson does not: lone surrogates, and integers of more than 64 bits."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=sort)
    # they stand nowhere but inside of strings, where their escape says the same
    return _HALF.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode("utf-8")
