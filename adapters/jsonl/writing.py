"""Writing a snapshot: in the lines of changed records, the values that changed; others stay."""

from __future__ import annotations

from collections.abc import Sequence

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Written, repeat_key
from interop.adapters.jsonl.header import BLANK, BOM
from interop.adapters.jsonl.lines import (
    DEEPEST,
    PATH,
    Line,
    id_of,
    key_of,
    said,
    scan,
)
from interop.model import Files, Json, Record, Store
from interop.syntax import json_spans
from interop.syntax.splice import splice


def fit(record: Record, present: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as a line says it; only what no line can hold is refused."""
    if record == present:
        return Fitted(record=record)
    refusal = _refusal(record)
    return refusal if refusal is not None else Fitted(record=_normal(record))


def write(store: Store, onto: Files, context: Context) -> Written:
    """Splice what differs into the lines that are there; new records come last, in their order."""
    before = onto.get(PATH)
    lines = scan(before or b"")
    present = {line.record.key: line.record for line in lines if line.record is not None}
    refused = {r.key: no for r in store.records if r != present.get(r.key) and (no := _refusal(r))}
    target = {r.key: r for r in store.records if r.key not in refused}
    out: list[_Out] = []
    for line in lines:
        if line.record is None:
            out.append(_Out(line.raw, None))
            continue
        key = line.record.key
        if key in target:
            out.append(_Out(_spliced(line, target[key], first=line is lines[0]), key))
        elif key in refused:
            out.append(_Out(line.raw, key))
    new = [r for r in target.values() if r.key not in present]
    _append(out, new, context, fresh=before is None)
    after = b"".join(x.raw for x in out)
    files = dict(onto)
    if out or before is not None:
        files[PATH] = after
    stands = [line.record for line in (lines if after == before else scan(after))]
    return Written(
        files=dict(sorted(files.items())),
        records={
            x.key: record
            for x, record in zip(out, stands, strict=True)
            if x.key is not None and record is not None
        },
        refused=tuple(refused.values()),
    )


class _Out:
    """A line that is written, and the key in the store that was put of the record that it says."""

    __slots__ = ("key", "raw")

    def __init__(self, raw: bytes, key: str | None) -> None:
        self.raw = raw
        self.key = key


def _append(out: list[_Out], new: Sequence[Record], context: Context, *, fresh: bool) -> None:
    """Put new lines behind the last record."""
    if not new:
        return
    if fresh:
        out.append(_Out(BLANK, None))
    end = b"\r\n" if out and out[0].raw.endswith(b"\r\n") else b"\n"
    at = max((i for i, x in enumerate(out, 1) if x.key is not None), default=len(out))
    if at and not out[at - 1].raw.endswith(b"\n"):
        out[at - 1].raw += end
    taken = {key_of(id_of(x.key)) for x in out if x.key is not None}
    for record in new:
        address = repeat_key(key_of(id_of(context.addresses.get(record.key, record.key))), taken)
        taken.add(address)
        raw = fields.dumps(said(record, id_of(address))) + end
        out.insert(at, _Out(raw, record.key))
        at += 1


def _spliced(line: Line, record: Record, *, first: bool) -> bytes:
    """Give the line with the values in it that the record says differently."""
    assert line.record is not None
    if record == line.record:
        return line.raw
    mark = BOM if first and line.raw.startswith(BOM) else b""
    text = line.raw.removeprefix(mark).decode("utf-8")
    key = id_of(record.key)
    start = len(text) - len(text.lstrip())
    edits = json_spans.edits(text, start, said(line.record, key), said(_normal(record), key))
    return mark + splice(text, edits).encode("utf-8")


def _normal(record: Record) -> Record:
    """Give the record as it is read back from a line of its own."""
    (line,) = scan(fields.dumps(said(record, id_of(record.key))))
    assert line.record is not None
    return fields.with_key(line.record, record.key)


def _refusal(record: Record) -> Refusal | None:
    extra: Json = fields.value_to_json(fields.get(record, "extra"))
    if _deeper(extra, DEEPEST - 1):
        return Refusal(
            key=record.key,
            field="extra",
            reason=f"values lie deeper than {DEEPEST} levels in one another",
            remedy="write it in a flatter way, or let it travel with --carry",
        )
    return None


def _deeper(value: Json, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return any(isinstance(inner, dict | list) for inner in layer)
