"""What Claude Code can say of a record: everything lossy stands here, ``write`` only splices."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Supplied
from interop.adapters.claude_code import memory_file, naming
from interop.adapters.claude_code.memory_file import VOCABULARY
from interop.model import Body, Memory, Record
from interop.syntax import index_lines

_MARKDOWN = "text/markdown"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\s*\n\s*")


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as this format can say it, given what stands there now."""
    if record == current:
        return Fitted(record=record)
    if type(record) is not Memory:
        return Refusal(
            key=record.key,
            field="role",
            reason=f"Claude Code has no place for a {record.role}",
            remedy="let it travel in the complement with --carry",
        )
    if record.state == "archived":
        return Refusal(
            key=record.key,
            field="state",
            reason="Claude Code has no archive: what is in the directory is live",
            remedy="it travels in the complement",
            travels=True,
        )
    assert current is None or isinstance(current, Memory), "this format reads memories only"
    supplied: list[Supplied] = []
    if current is not None and is_item(current.key):
        return _item(record, current)
    original = None if current else _original(record, context)
    then = current or original or Memory(key=record.key)
    kind = record.kinds.get(VOCABULARY)
    body = _body(record, then, supplied)
    fitted = Memory(
        key=record.key,
        name=_said(record, then, "name", _characters, supplied),
        title=_said(record, current, "title", title, supplied),
        description=_said(record, then, "description", _characters, supplied),
        hook=_said(record, current, "hook", hook, supplied),
        body=body,
        kinds={VOCABULARY: _characters(kind)} if kind else {},
        links=memory_file.wiki_links(body.text),
        modified=_said(record, then, "modified", _characters, supplied),
        session=_said(record, then, "session", _characters, supplied),
        extra=then.extra,
    )
    if current is None:
        fitted = _complete(fitted, original, supplied)
    return Fitted(record=fitted, supplied=tuple(supplied))


def is_item(key: str) -> bool:
    """Is this the key of a record kept in an index?"""
    return not key.endswith(".md")


def _original(record: Memory, context: Context) -> Memory | None:
    """Give what the record's own file says, where it comes from a store of this format."""
    path = naming.path_in(record.key, context.originals)
    file = memory_file.read(record.key, context.originals[path]) if path else None
    return None if file is None else file.memory


def _said(
    record: Memory,
    then: Memory | None,
    field: str,
    encode: Callable[[str], str],
    supplied: list[Supplied],
) -> str | None:
    """Give a field's value as it can be said; one that stands there already is left alone."""
    value: str | None = fields.get(record, field)
    if value is None or (then is not None and value == fields.get(then, field)):
        return value
    said = encode(value)
    if said != value:
        supplied.append(
            Supplied(
                key=record.key,
                field=field,
                value=said,
                reason=f"this {field} cannot stand here as it is",
            )
        )
    return said or None


def _characters(value: str) -> str:
    """Write half characters, which no UTF-8 file can hold, as visible escapes."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", value)


def title(value: str) -> str:
    """Give a title that can stand between the brackets of a link."""
    return _on_line(value, _is_title)


def hook(value: str) -> str:
    """Give a hook that can stand behind a link."""
    return _on_line(value, _is_hook)


def _on_line(value: str, stands: Callable[[str], bool]) -> str:
    value = _characters(value)
    if stands(value):
        return value
    value = _LINE_END.sub(" ", value).strip(" \t\r")
    if stands(value):
        return value
    value = value.replace("<!--", "<! --").replace("](", "] (")
    if stands(value):
        return value
    for mark, calm in (("`", "'"), ("[", "("), ("]", ")"), ("\\", "/")):
        value = value.replace(mark, calm)
        if stands(value):
            return value
    return " ".join(re.findall(r"[\w.,;'-]+", value)) if stands(value) else _words(value, stands)


def _words(value: str, stands: Callable[[str], bool]) -> str:
    words = " ".join(re.findall(r"[\w,;']+", value))
    return words if stands(words) else ""


def _only_ref(line: str) -> index_lines.Ref | None:
    found = index_lines.parse(f"- {line}\n- [z](z.md) — z", lambda form, _: form == "link")
    whole = len(found.refs) == 2 and len(found.items) == 2
    return found.refs[0] if whole else None


def _is_title(value: str) -> bool:
    ref = _only_ref(f"[{value}](x.md) — y")
    whole = ref is not None and ref.title == (3, 3 + len(value)) and ref.hook is not None
    return whole and "<!--" not in value


def _is_hook(value: str) -> bool:
    line = f"[x](x.md) — {value}"
    ref = _only_ref(line)
    whole = ref is not None and ref.hook == (14, 14 + len(value)) and ref.title is not None
    return whole and "<!--" not in value  # one that nothing closes yet may be closed below


def _body(record: Memory, then: Memory, supplied: list[Supplied]) -> Body:
    if record.body == then.body:
        return record.body
    text = _characters(record.body.text)
    body = Body(text=text)
    if body != record.body:
        reason = "half characters cannot stand in a file"
        if record.body.media != _MARKDOWN:
            reason = f"{record.body.media} stands as it is in a Markdown file"
        supplied.append(Supplied(key=record.key, field="body", value=text, reason=reason))
    return body


def _complete(fitted: Memory, original: Memory | None, supplied: list[Supplied]) -> Memory:
    """Supply what every new file of the CLI has: name, description, an entry in the index."""
    stem = naming.stem_of(fitted)
    values: dict[str, str] = {}
    # What its own file elsewhere says and the record does not was supplied there, or is demanded
    # anew; what neither says was left out by its author.
    if fitted.name is None and (original is None or original.name is not None):
        values["name"] = stem
    if fitted.description is None and (original is None or original.description is not None):
        values["description"] = naming.first_line(fitted.body.text)
    name = fitted.name or stem
    description = fitted.description or values.get("description") or ""
    if fitted.title is None:
        values["title"] = title(name)
    if fitted.hook is None:
        values["hook"] = hook(description)
    reasons = {
        "name": "every memory has a name: the stem of its file",
        "description": "every memory has a description: the first line of its text",
        "title": "an entry in the index has a title: the name",
        "hook": "an entry in the index says what the memory is of: the description",
    }
    for field, value in values.items():
        if value:
            supplied.append(
                Supplied(key=fitted.key, field=field, value=value, reason=reasons[field])
            )
    complete = fields.replace(fitted, {f: v for f, v in values.items() if v})
    assert isinstance(complete, Memory), "replacing fields keeps the role"
    return complete


def _item(record: Memory, current: Memory) -> Fitted | Refusal:
    """Fit a record kept in an index: it has a text and nothing else."""
    supplied: list[Supplied] = []
    text = _characters(record.body.text)
    if text != current.body.text and not is_item_text(text):
        lines = [w for raw in text.split("\n") if (w := raw.rstrip("\r")).strip()]
        text = "\n  ".join(line.strip(" \t") for line in lines)
    if text != current.body.text and not is_item_text(text):
        return Refusal(
            key=record.key,
            field="body",
            reason="this text cannot stand as a list item that refers to no file",
            remedy="give it a file of its own, or let it travel with --carry",
        )
    if text != record.body.text:
        supplied.append(
            Supplied(
                key=record.key,
                field="body",
                value=text,
                reason="a list item has no blank lines, and its further lines are indented",
            )
        )
    links = memory_file.wiki_links(text)
    return Fitted(
        record=dataclasses.replace(current, key=record.key, body=Body(text=text), links=links),
        supplied=tuple(supplied),
    )


def is_item_text(text: str) -> bool:
    """Can a text stand as a top-level list item, and be read back as it is?"""
    if text.rfind("<!--") > text.rfind("-->"):
        return False  # it may be closed further below
    for marker in ("- ", "1. "):
        whole = f"{marker}{text}\n- z"
        found = index_lines.parse(whole, lambda form, _: form == "link")
        if len(found.items) != 2 or found.refs or text[:1] in ("", " ", "\t"):
            return False
        first = found.items[0]
        if whole[first.text_start : first.text_end] != text or not text.strip():
            return False
    return True
