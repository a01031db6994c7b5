"""The complement as a file: JSON lines in a stable order, so that versions of it merge and compare.

    {"type": "complement", "version": 1, "store": …, "format": …, "generation": …, "tree": {…}}
    {"type": "source", "source": …, "format": …, "generation": …, "tree": {path: digest}}
    {"type": "file", "source": …, "digest": …, "text": …}            (or "base64")
    {"type": "record", "source": …, "key": …, "to": …, "generation": …, "base": {…}, …}

Spec: docs/model.md, section "The complement".
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import cast

import orjson

from interop import fields
from interop.complement import EARLIER, Allowed, Complement, Line, Source
from interop.errors import FormatError
from interop.fields import Value
from interop.model import Json
from interop.plan import COMPLEMENT, digest

VERSION = 1


def dumps(complement: Complement) -> bytes:
    """Encode; equal complements have equal bytes."""
    # One line after the other into one buffer: it is the largest thing that a process holds.
    out = BytesIO()
    for line in _lines_to_json(complement):
        try:
            out.write(orjson.dumps(line, fields.value_to_json, _OPTIONS))
        except TypeError:  # half of a surrogate pair, or a number of more than 64 bits
            out.write(fields.dumps(fields.value_to_json(line)) + b"\n")
    return out.getvalue()


_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS


def _lines_to_json(complement: Complement) -> Iterator[Mapping[str, Value]]:
    """Give the lines, in which the values of fields have not yet their JSON form."""
    yield {
        "type": "complement",
        "version": VERSION,
        "store": complement.store,
        "format": complement.format,
        "generation": complement.generation,
        "tree": dict(sorted(complement.tree.items())),
        "order": list(complement.order),
        **({"retired": list(complement.retired)} if complement.retired else {}),
        "older": {p: list(d) for p, d in sorted(complement.older.items()) if d},
    }
    owner: dict[str, str] = {}
    for source in sorted(complement.sources.values(), key=lambda s: s.id):
        tree: Json = dict(sorted(source.tree.items()))
        yield {
            "type": "source",
            "source": source.id,
            "format": source.format,
            "generation": source.generation,
            "tree": tree,
            "order": list(source.order),
            **({"settled": source.settled} if source.settled else {}),
            **({"heard": True} if source.heard else {}),
            **({"stood": dict(sorted(source.stood.items()))} if source.stood else {}),
        }
        for file_digest in source.digests:
            owner.setdefault(file_digest, source.id)
    for file_digest, source_id in sorted(owner.items()):
        yield {
            "type": "file",
            "source": source_id,
            "digest": file_digest,
            **_content(complement.files[file_digest]),
        }
    for line in sorted(complement.lines, key=lambda x: (x.source, x.key)):
        yield _line_to_json(line)


def loads(data: bytes, where: str) -> Complement:
    """Decode; what a version-control merge left (both sides, its markers) is read as one set.

    Raises:
        FormatError: a line is damaged, or was made by a newer version.
    """
    heads: list[dict[str, Json]] = []
    sources: dict[str, Source] = {}
    files: dict[str, bytes] = {}
    lines: list[Line] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip() or raw.startswith(_MARKERS):
            continue
        at = f"{where}:{number}"
        try:
            item = _item(raw)
            kind = item["type"]
            if kind == "complement":
                if _number(item["version"]) > VERSION:
                    raise FormatError(at, "made by a newer interop", "upgrade memory-interop")
                _complement(item, {}, (), {})  # says now what is wrong with it
                heads.append(item)
            elif kind == "source":
                source = _source(item)
                if source.generation >= getattr(sources.get(source.id), "generation", 0):
                    sources[source.id] = source
            elif kind == "file":
                content = _bytes(item)
                if digest(content) != item["digest"]:
                    raise FormatError(at, "a file differs from its digest", _DAMAGED)
                files[_text(item["digest"])] = content
            elif kind == "record":
                lines.append(_line_from_json(item, at))
        except KeyError as error:
            raise FormatError(at, f"damaged ({error} is missing)", _DAMAGED) from error
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            raise FormatError(at, f"damaged ({error})", _DAMAGED) from error
    if not heads:
        raise FormatError(where, "has no header line", _DAMAGED)
    for source in sources.values():
        for path, file_digest in (*source.tree.items(), *source.stood.items()):
            if file_digest not in files:
                raise FormatError(where, f"lacks the content of {path!r}", _DAMAGED)
    head = max(heads, key=lambda h: cast("int", h["generation"]))
    return _complement(head, sources, lines, files)


def head_of(data: bytes) -> Complement | None:
    """Give what the first lines say, without the files and records in the others.

    None where they are not whole, or where version control put two complements together.
    """
    sources: dict[str, Source] = {}
    first: dict[str, Json] | None = None
    if any(b"\n" + mark in data for mark in (*_MARKERS, b'{"type":"complement"')):
        return None
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        try:
            item = orjson.loads(data[at:end])
            if item["type"] == "complement" and first is None and item["version"] <= VERSION:
                first = item
            elif item["type"] == "source":
                sources[item["source"]] = _source(item)
            else:
                break
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
        at = end + 1
    return None if first is None else _complement(first, sources, (), {})


def generation_of(data: bytes | None) -> int | None:
    """Give the generation of a complement; None without one, 0 of one that cannot be read."""
    if data is None:
        return None
    try:
        return (head_of(data) or loads(data, COMPLEMENT)).generation
    except FormatError:
        return 0


def generation_in(start: bytes) -> int | None:
    """Give the generation that the first ``START`` bytes of a complement state, as they are made.

    None where they are of another form; all of it has to be read then.
    """
    found = _GENERATION.match(start)
    return int(found[1]) if found is not None else None


START = 4096
"""Bytes in which a complement states its generation: before the digests of its store's files."""
_GENERATION = re.compile(
    rb'\{"type":"complement","version":\d+,"store":"[^"]*","format":"[^"]*","generation":(\d+),'
)


def keys_of(data: bytes, source: str) -> list[tuple[str, str | None]]:
    """Give the key of each record of a source, and its key here, and read no more of the lines."""
    start = b'{"type":"record","source":' + orjson.dumps(source) + b","
    out: list[tuple[str, str | None]] = []
    at = data.find(start)
    while at >= 0:
        # no text in JSON can hold this: a quotation mark in it would be escaped
        end = data.index(b',"generation":', at)
        item = orjson.loads(data[at:end] + b"}")
        out.append((item["key"], item["to"]))
        at = data.find(b"\n" + start, end) + 1
        if at == 0:
            break
    return out


def _source(item: Mapping[str, Json]) -> Source:
    return Source(
        id=_text(item["source"]),
        format=_text(item["format"]),
        generation=_number(item["generation"]),
        tree=_texts(item["tree"]),
        order=_list(item["order"]),
        settled=_text(item.get("settled", "")),
        heard=item.get("heard") is True,
        stood=_texts(item.get("stood", {})),
    )


def _complement(
    head: Mapping[str, Json],
    sources: Mapping[str, Source],
    lines: Iterable[Line],
    files: Mapping[str, bytes],
) -> Complement:
    older = head.get("older", {})
    if not isinstance(older, dict):
        raise TypeError("older is no object")
    return Complement(
        store=_text(head["store"]),
        format=_text(head["format"]),
        generation=_number(head["generation"]),
        tree=_texts(head["tree"]),
        order=_list(head["order"]),
        retired=_list(head.get("retired", [])),
        older={p: _list(d) for p, d in older.items()},
        sources=sources,
        lines=tuple(lines),
        files=files,
    )


def _item(raw: bytes) -> dict[str, Json]:
    """Read one line; a complement may come from anybody.

    Raises:
        ValueError: it is no JSON.
        TypeError: it is no object.
    """
    try:
        item = cast("Json", orjson.loads(raw))
    except orjson.JSONDecodeError:
        if b"\\ud" not in raw and b"\\uD" not in raw:
            raise
        item = cast("Json", json.loads(raw.decode("utf-8")))
    if not isinstance(item, dict):
        raise TypeError("it is no object")
    return item


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _number(value: Json) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r:.40} is no number")
    return value


def _texts(value: Json) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise TypeError(f"{value!r:.40} is no object of texts")
    return cast("dict[str, str]", value)


def _numbers(value: Json) -> dict[str, int]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.40} is no object of numbers")
    return {key: _number(number) for key, number in value.items()}


def _list(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise TypeError(f"{value!r:.40} is no list of texts")
    return tuple(cast("list[str]", value))


_MARKERS = (b"<<<<<<< ", b"=======", b">>>>>>> ", b"||||||| ")
_DAMAGED = "take it from a backup, or move it away to go on without it (what it kept is lost then)"


def _content(data: bytes) -> dict[str, Json]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _bytes(item: Mapping[str, Json]) -> bytes:
    if "text" in item:
        return _text(item["text"]).encode("utf-8")
    return base64.b64decode(_text(item["base64"]), validate=True)


def _line_to_json(line: Line) -> dict[str, Value]:
    out: dict[str, Value] = {
        "type": "record",
        "source": line.source,
        "key": line.key,
        "to": line.to,
        "generation": line.generation,
        "base": {"role": line.base.role, **fields.stated(line.base)},
    }
    if line.to is not None:
        out["expected"] = dict(sorted(line.expected.items()))
        out["seal"] = line.seal
    if line.gone:
        out["gone"] = True
    if line.parted:
        out["parted"] = True
    if line.kept:
        out["kept"] = sorted(line.kept)
    if line.declared:
        out["declared"] = dict(line.declared)
    if line.allowed:
        only = line.allowed == (EARLIER,)
        out["allowed"] = True if only else [list(x) for x in line.allowed]
    if line.keys:
        out["keys"] = dict(sorted(line.keys.items()))
    if line.since:
        out["since"] = {s: dict(sorted(v.items())) for s, v in sorted(line.since.items())}
    if line.when:
        out["when"] = dict(sorted(line.when.items()))
    return out


def _line_from_json(item: Mapping[str, Json], at: str) -> Line:
    base, to = item["base"], item["to"]
    if not isinstance(base, dict):
        raise TypeError("base is no object")
    since = item.get("since", {})
    if not isinstance(since, dict):
        raise TypeError("since is no object")
    return Line(
        source=_text(item["source"]),
        key=_text(item["key"]),
        to=None if to is None else _text(to),
        generation=_number(item["generation"]),
        base=fields.from_json({**base, "key": item["key"]}, at),
        expected=_values_from_json(item.get("expected", {})),
        gone=item.get("gone") is True,
        parted=item.get("parted") is True,
        seal=_text(item.get("seal", "")),
        kept=frozenset(_list(item.get("kept", []))),
        declared=_texts(item.get("declared", {})),
        allowed=_allowed(item.get("allowed", [])),
        keys=_texts(item.get("keys", {})),
        since={s: _values_from_json(v) for s, v in since.items()},
        when=_numbers(item.get("when", {})),
    )


def _allowed(value: Json) -> tuple[Allowed, ...]:
    if value is True:
        return (EARLIER,)
    if not isinstance(value, list):
        return ()
    stated = [_list(entry) for entry in value]
    return tuple(Allowed(*x) for x in stated if len(x) == 3)


def _values_from_json(values: Json) -> dict[str, Value]:
    if not isinstance(values, dict):
        raise TypeError("values are no object")
    return {f: None if v is None else fields.value_from_json(f, v) for f, v in values.items()}


def store_of(data: bytes) -> str | None:
    """Give the id of the store that a complement belongs to, reading its first line only."""
    return _stated(data, "store")


def format_of(data: bytes) -> str | None:
    """Give the format of the store that a complement belongs to, reading its first line only."""
    return _stated(data, "format")


def _stated(data: bytes, key: str) -> str | None:
    try:
        head = orjson.loads(data.partition(b"\n")[0])
    except orjson.JSONDecodeError:
        return None
    found = cast("dict[str, Json]", head).get(key) if isinstance(head, dict) else None
    return found if isinstance(found, str) else None
