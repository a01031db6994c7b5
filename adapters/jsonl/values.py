"""Values of fields as a line states them: anybody may have written it, so each is looked at."""

from __future__ import annotations

from interop import fields
from interop.model import Body, Json, Link

_SHAPES = {
    "body": "is not an object with a text and a medium",
    "kinds": "is not an object of texts",
    "tags": "is not a list of texts",
    "entities": "is not a list of texts",
    "links": "is not a list of objects with a relation and a target",
    "observations": "is not a whole number",
    "state": "is neither live nor archived",
    "extra": "is not an object",
}


class ImpossibleError(Exception):
    """A value that its field cannot have; the text says what it should be."""


def value_of(name: str, value: Json) -> fields.Value:
    """Give the value of a field, None where it says nothing (``null``, or empty).

    Raises:
        ImpossibleError: the field cannot have such a value.
    """
    if value is None:
        return None
    found = _found(name, value)
    if found is None:
        raise ImpossibleError(_SHAPES.get(name, "is not a text"))
    return None if found in ("", (), {}) else found


def _found(name: str, value: Json) -> fields.Value:
    if name == "body":
        return _body(value)
    if name in ("tags", "entities"):
        return _texts(value)
    if name == "links":
        return _links(value)
    if name == "kinds":
        good = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        return value if good else None
    if name == "extra":
        return value if isinstance(value, dict) else None
    if name == "observations":
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if name == "state":
        return value if value in ("live", "archived") else None
    return value if isinstance(value, str) else None


def _body(value: Json) -> Body | None:
    if not isinstance(value, dict):
        return None
    text, media = value.get("text"), value.get("media", Body(text="").media)
    if not isinstance(text, str) or not isinstance(media, str):
        return None
    return Body(text=text, media=media)


def _texts(value: Json) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    texts = tuple(v for v in value if isinstance(v, str))
    return texts if len(texts) == len(value) else None


def _links(value: Json) -> tuple[Link, ...] | None:
    if not isinstance(value, list):
        return None
    links: list[Link] = []
    for item in value:
        if not isinstance(item, dict):
            return None
        rel, target = item.get("rel", "link"), item.get("target")
        if not isinstance(rel, str) or not isinstance(target, str):
            return None
        links.append(Link(rel=rel, target=target))
    return tuple(links)
