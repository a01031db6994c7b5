"""Records field by field: which there are, which are stated, and their JSON form.

The JSON form is one object per record; absent stays absent, so there are no nulls in it. It is
described by docs/record.schema.json, and its version is ``model.MODEL_VERSION``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
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
    return None if value in _EMPTY else value


def stated(record: Record) -> dict[str, Value]:
    """Every field that says something, in the fixed order; ``body`` always does."""
    out: dict[str, Value] = {}
    for field in FIELDS[record.role]:
        value = get(record, field)
        if value is not None:
            out[field] = value
    return out


def replace(record: Record, values: Mapping[str, Value]) -> Record:
    """Give the record with some fields set; None makes a field unstated."""
    defaults = _DEFAULTS[record.role]
    new = {f: (defaults[f] if v is None else v) for f, v in values.items() if f in defaults}
    return dataclasses.replace(record, **new)


def with_key(record: Record, key: str) -> Record:
    """Give the record under another address."""
    return record if record.key == key else dataclasses.replace(record, key=key)


_EMPTY: tuple[Value, ...] = ("", (), {}, None)
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
    """Read one field's value from its JSON form."""
    if field == "body":
        assert isinstance(value, dict)
        return Body(text=str(value["text"]), media=str(value["media"]))
    if field == "links":
        assert isinstance(value, list)
        return tuple(
            Link(rel=str(v["rel"]), target=str(v["target"])) for v in value if isinstance(v, dict)
        )
    if field in ("tags", "entities"):
        assert isinstance(value, list)
        return tuple(str(v) for v in value)
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
    except (AssertionError, KeyError, TypeError) as error:
        raise FormatError(where, f"not a {role} in JSON form ({error})") from error


def dumps(data: Json | Mapping[str, Json]) -> bytes:
    """Encode as one line of JSON, without the line end."""
    return orjson.dumps(data)


def canonical(data: Json | Mapping[str, Json]) -> bytes:
    """Encode with sorted keys, so that equal values have equal bytes."""
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS)
