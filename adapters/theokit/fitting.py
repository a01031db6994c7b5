"""What theokit can say of a record: everything lossy stands here, ``write`` only splices.

Spec: docs/formats/theokit.md, section 10.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import PurePosixPath

from interop import fields
from interop.adapter import Context, Fitted, Refusal, Supplied, path_of
from interop.adapters.theokit import facts, header, index, layout, memory_file, names, reading
from interop.adapters.theokit.ecmascript import one_line, trim, visible
from interop.adapters.theokit.index import NAME
from interop.adapters.theokit.memory_file import TERMS, VOCABULARY
from interop.model import Body, Memory, Record
from interop.syntax.marked import says

_MARKDOWN = "text/markdown"
_LINE_END = re.compile(r"[ \t]*[\r\n]+[ \t]*")
_CARRY = "let it travel in the complement with --carry"


JSON_IS_THE_RUNTIMES = (
    "facts in JSON are never written: the runtime moves them and deletes the file when it first "
    "touches the store"
)


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as this format can say it, given what stands there now."""
    if record == current:
        return Fitted(record=record)
    if type(record) is not Memory:
        reason = f"theokit has no place for a {record.role}"
        return Refusal(key=record.key, field="role", reason=reason, remedy=_CARRY)
    if record.state == "archived":
        return Refusal(
            key=record.key,
            field="state",
            reason="theokit has no archive: what is in the directory is live",
            remedy="it travels in the complement",
            travels=True,
        )
    assert current is None or isinstance(current, Memory), "this format reads memories only"
    then = current or original(record, context)
    kind = record.kinds.get(VOCABULARY)
    if kind is not None and kind not in TERMS and (not then or kind != then.kinds.get(VOCABULARY)):
        return Refusal(
            key=record.key,
            field="kinds",
            reason=f"theokit has no kind {kind!r}; it takes {', '.join(TERMS)}",
            remedy="declare one with --kind-map or --decisions, or let the record travel with "
            "--carry",
        )
    place = current.key if current is not None else wanted(record, context)
    if current is None and then is not None and not _same_sort(record.key, place):
        then = None  # it stood there as something else, so its own text is none to splice
    if current is not None and layout.is_facts_json(path_of(current.key)):
        if record.body == current.body:
            return Fitted(record=current)
        return Refusal(
            key=record.key,
            field="body",
            reason=JSON_IS_THE_RUNTIMES,
            remedy=f"let the runtime touch the store once and convert again, or {_CARRY}",
        )
    fitting = _Fitting(record, then, is_new=current is None)
    if place is not None and is_fact(place):
        return fitting.fact(then)
    if place is not None and layout.is_note(place):
        return Fitted(record=fitting.only_text(), supplied=tuple(fitting.supplied))
    return Fitted(record=fitting.memory(), supplied=tuple(fitting.supplied))


def _same_sort(key: str, place: str | None) -> bool:
    if place is None:
        return layout.is_memory(key)
    sorts = (is_fact, layout.is_note, layout.is_memory)
    return [sort(key) for sort in sorts] == [sort(place) for sort in sorts]


def is_fact(key: str) -> bool:
    """Is this the key of a fact in a shared file?"""
    return "#" in key and (key.startswith(f"{NAME}#") or layout.is_facts_json(path_of(key)))


def wanted(record: Memory, context: Context) -> str | None:
    """Say where a new record is to stand because it stood there: as a fact or a note, or a file.

    It takes such a place again only where that can say all that the record says.
    """
    then = original(record, context)
    places = [context.addresses.get(record.key), record.key if then is not None else None]
    for place in places:
        if place is None:
            continue
        if place.startswith(f"{NAME}#"):
            if _is_bare(record, then) and _fact_line(record) is not None:
                return place
        elif layout.is_note(place):
            if _is_bare(record, then) and not record.kinds:
                return place
        elif layout.is_memory(place):
            return place
    return None


def original(record: Record, context: Context) -> Memory | None:
    """Read the record's own place in the store that it comes from, where that is one of ours."""
    path = path_of(record.key)
    data = context.originals.get(path)
    then = _records(path, data).get(record.key) if data is not None else None
    listed = context.originals.get(NAME)
    if then is None or listed is None or not layout.is_memory(path):
        return then
    entry = _entries(listed).get(path)
    return then if entry is None else replace(then, title=entry.title, hook=entry.hook)


@lru_cache(maxsize=8)
def _records(path: str, data: bytes) -> Mapping[str, Memory]:
    """Read one file; kept, since a file of many facts is asked for once for each."""
    return reading.read({path: data}).records


@lru_cache(maxsize=2)
def _entries(data: bytes) -> Mapping[str, index.Entry]:
    """Read what an index says of the memories, the first entry of each."""
    found = reading.read({NAME: data}).index
    return {} if found is None else {entry.path: entry for entry in reversed(found.entries)}


def _is_bare(record: Memory, then: Memory | None) -> bool:
    """Does the record say nothing but a text, a kind and a date?"""
    said = set(fields.stated(record)) - {"body", "links", "kinds", "modified", "state", "extra"}
    dated = record.modified is None or record.kinds.get(VOCABULARY) in TERMS or then is not None
    return not said and dated and record.body.media == _MARKDOWN


def _fact_line(record: Memory) -> str | None:
    """Write the record as one line among the facts, or None where that would not be read back."""
    kind = record.kinds.get(VOCABULARY)
    line = facts.line_of(record.body.text, kind, record.modified)
    says = (record.body.text, kind, record.modified if kind else None)
    return line if facts.says(line) == says else None


class _Fitting:
    """One record on its way into the format; collects what had to be supplied."""

    def __init__(self, record: Memory, then: Memory | None, *, is_new: bool) -> None:
        self.record = record
        self.then = then
        self.is_new = is_new
        self.supplied: list[Supplied] = []

    def supply(self, field: str, value: str, reason: str) -> str:
        self.supplied.append(Supplied(key=self.record.key, field=field, value=value, reason=reason))
        return value

    # --- a file of its own ---------------------------------------------------------------------

    def memory(self) -> Memory:
        record, then = self.record, self.then
        body = self.body(trim, "the runtime trims a text")
        text = says(body.text)
        name = self.name(text)
        description = self.description(text)
        title, hook = self.entry(text, name, description)
        kind = record.kinds.get(VOCABULARY)
        return Memory(
            key=record.key,
            name=name,
            title=title,
            description=description,
            hook=hook,
            body=body,
            kinds={VOCABULARY: kind} if kind else {},
            links=memory_file.links(body.text),
            modified=self.said("modified", visible),
            observations=self.observations(),
            extra=then.extra if then is not None else {},
        )

    def said(self, field: str, encode: Callable[[str], str]) -> str | None:
        """Give a field's value as it can be said; one that stands there is left alone."""
        value: str | None = fields.get(self.record, field)
        if value is None or (self.then is not None and value == fields.get(self.then, field)):
            return value
        said = encode(value)
        if said != value:
            self.supply(field, said, f"this {field} cannot stand here as it is")
        return said or None

    def body(self, encode: Callable[[str], str], reason: str) -> Body:
        given = self.record.body
        if self.then is not None and given == self.then.body:
            return given
        text = encode(visible(given.text))
        if text != given.text:
            self.supply("body", text, reason)
        elif given.media != _MARKDOWN:
            self.supply("body", text, f"{given.media} stands as it is in a Markdown file")
        return Body(text=text)

    def name(self, text: str) -> str | None:
        given, then = self.record.name, self.then
        if then is not None:
            if given is None and then.name is not None:
                return self.supply("name", then.name, "every memory has a name: its own")
            if not self.is_new or given == then.name:
                return self.said("name", visible)
        stem = stem_for(self.record, text)
        if given is None or names.slug_for(visible(given)) == stem != given:
            self.supply("name", stem, "the name of a memory is the stem of its file")
        return stem  # one that was stated and is not this one travels in the complement

    def description(self, text: str) -> str | None:
        then = self.then
        if then is not None and (not self.is_new or self.record.description == then.description):
            return self.said("description", visible)
        if trim(self.record.description or ""):
            return self.said("description", _trimmed)
        if text:
            self.supply("description", text, "every memory has a description: its text")
        return text or None

    def entry(
        self, text: str, name: str | None, description: str | None
    ) -> tuple[str | None, str | None]:
        """Give title and hook, which stand in the index."""
        title = self.said("title", partial(_on_line, "title"))
        hook = self.said("hook", partial(_on_line, "hook"))
        then = self.then
        if self.is_new:
            unlisted = title is None
            if unlisted:
                made = _on_line("title", names.title_for(text)) or name or ""
                if made:
                    title = self.supply("title", made, "an entry has a title: words of the text")
            # an entry of its own without a hook was meant so; one may also have been supplied
            bare = then is not None and then.title is not None and then.hook is None
            if hook is None and (unlisted or not bare):
                shown = _on_line("hook", index.hook_for(description, title) or "")
                if shown:
                    reason = "an entry says what the memory is of: the description"
                    hook = self.supply("hook", shown, reason)
        elif then is not None and hook == then.hook and description != then.description:
            # an entry that only repeats the description follows it, as when the runtime writes it
            repeats = hook is not None and hook == index.hook_for(then.description, then.title)
            shown = _on_line("hook", index.hook_for(description, title) or "") if repeats else ""
            if shown:
                hook = self.supply("hook", shown, "the entry repeats the description")
        return title, hook

    def observations(self) -> int | None:
        count = self.record.observations
        if self.then is not None and count == self.then.observations:
            return count
        return count if count is not None and 0 < count <= header.MOST else None

    # --- facts and notes -----------------------------------------------------------------------

    def only_text(self) -> Memory:
        """Say the record as a hand-written note, which has a text and nothing else."""
        body = self.body(lambda text: text, "half characters cannot stand in a file")
        return Memory(key=self.record.key, body=body, links=memory_file.links(body.text))

    def fact(self, then: Memory | None) -> Fitted | Refusal:
        """Say the record as a fact among others: a line of text, perhaps a kind and a date."""
        record = self.record
        in_json = layout.is_facts_json(path_of(then.key if then is not None else record.key))
        reason = "a fact is one line, trimmed"
        if in_json:
            body = self.body(lambda t: t, "half characters cannot stand in a file")
        else:
            body = self.body(lambda t: trim(_LINE_END.sub(" ", trim(t))), reason)
        kind, modified = record.kinds.get(VOCABULARY), record.modified
        if in_json or (then is not None and not self.is_new and VOCABULARY not in then.kinds):
            kind = modified = None  # nothing here states a kind or a date
        elif kind is None:
            modified = None
        elif then is not None and modified != then.modified:
            line = facts.line_of("x", kind, modified)
            modified = modified if facts.says(line) == ("x", kind, modified) else then.modified
        said = Memory(
            key=record.key,
            body=body,
            kinds={VOCABULARY: kind} if kind else {},
            links=memory_file.links(body.text),
            modified=modified,
        )
        stands = trim(body.text) != "" if in_json else _fact_line(said) is not None
        if stands or (then is not None and body == then.body):
            return Fitted(record=said, supplied=tuple(self.supplied))
        return Refusal(
            key=record.key,
            field="body",
            reason="the runtime would not read this text as a fact, or read another one",
            remedy=f"give it a file of its own, or {_CARRY}",
        )


def stem_for(record: Memory, text: str) -> str:
    """Give the stem of a new file: the one that it had, else its name, else a topic slug.

    A record of a shared file has no stem, so the name that its author gave it is taken; a slug is
    made of that name, else of the title or the text.
    """
    path = path_of(record.key)
    if path == record.key and path.endswith(".md"):
        stem = PurePosixPath(path).stem
        if names.is_usable(stem):
            return stem
    name = one_line(record.name or "")
    if names.is_usable(name):
        return name
    words = name if names.topic_words(name) else one_line(record.title or "")
    return names.slug_for(visible(words or says(text)))


def _trimmed(value: str) -> str:
    return trim(visible(value))


def _on_line(field: str, value: str) -> str:
    """Give a title or hook that can stand in an entry, changed as little as that needs."""

    def stands(words: str) -> bool:
        title, hook = (words, "y") if field == "title" else ("x", words)
        return index.stands("x.md", title, hook)

    words = visible(value)
    calm = one_line(words)
    plain = calm.replace(facts.HEADING, "##Facts")
    ways = (words, calm, plain, plain.replace("](", "] ("))
    return next((way for way in ways if way and stands(way)), "")
