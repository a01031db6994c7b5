"""A record as bantamkit can say it: everything lossy is here, and everything lossy is named.

Spec: docs/formats/bantamkit.md, "What a record becomes".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from interop.adapter import Context, Fitted, Refusal, Supplied, path_of
from interop.adapters.bantamkit import fact_file, names
from interop.adapters.bantamkit.fact_file import NOT_ONE_LINE, OUTCOMES, own_extra
from interop.adapters.bantamkit.names import TERMS, is_fact
from interop.model import Body, Json, Link, Memory, Record
from interop.syntax import yaml_header
from interop.syntax.marked import says
from interop.syntax.substring_fence import universal

WAY_OUT_KIND = "declare it with --kind-map or --decisions, or let the record travel with --carry"
WAY_OUT_ROLE = "let it travel in the complement with --carry"
_MARKDOWN = "text/markdown"
_SURROGATE = re.compile("[\ud800-\udfff]")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ].*", re.DOTALL)
_MANY = ("the runtime keeps a description on one line", "the header cannot hold it as it is")


def fit(record: Record, current: Record | None, context: Context) -> Fitted | Refusal:
    """Give the record as a fact, leaving alone what the fact that stands there says already."""
    if not isinstance(record, Memory) or record.role != "memory":
        return Refusal(
            key=record.key,
            field="role",
            reason=f"bantamkit holds memories, and this is a {record.role}",
            remedy=WAY_OUT_ROLE,
        )
    standing = current if isinstance(current, Memory) else None
    base = standing or original(record, context)
    kind = record.kinds.get("claude")
    if (base is None or kind != base.kinds.get("claude")) and kind not in TERMS:
        return _no_kind(record, kind)
    fitting = _Fitting(record, base, context, is_new=standing is None)
    return Fitted(record=fitting.fitted(), supplied=tuple(fitting.supplied))


def original(record: Record, context: Context) -> Memory | None:
    """Read the record's own file in the store that it comes from, where that is a store of ours."""
    data = context.originals.get(record.key)
    if data is None or not is_fact(record.key):
        return None
    found = fact_file.read(record.key, data)
    return found.record if isinstance(found, fact_file.Fact) else None


def one_line(text: str) -> str:
    """Give a text on one line, without controls and lone surrogates, stripped."""
    if text.isprintable():
        return text.strip()  # none of them is printable
    return _text(NOT_ONE_LINE.sub(" ", text)).strip()


def safe(key: str, text: str) -> str:
    """Reword a text whose YAML line would end in ``---``, which cuts the header there.

    The runtime dumps every value anew at the next recall, so no quoting by hand helps: the text
    itself has to change. Folding at 80 columns can end a line after any ``---``.
    """
    if "---" not in text:
        return text
    return _reworded(text, lambda value: yaml_header.dump(key, value))


def safe_link(text: str) -> str:
    """Reword a link as ``safe`` does; at its end the dashes go, as they do from a name."""
    if "---" not in text:
        return text
    return _reworded(text, lambda value: yaml_header.dump("links", [value]), link=True)


def _text(text: str) -> str:
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def _reworded(text: str, dump: Callable[[str], str], *, link: bool = False) -> str:
    if "---\n" not in dump(text):
        return text
    if text.endswith("---"):
        text = text.rstrip("-").rstrip() if link else f"{text} (dashes)"
    if "---\n" in dump(text):
        text = re.sub(r"-{3,}(?=\s|\Z)", "—", text)
    return text if "---\n" not in dump(text) else re.sub("-{3,}", "—", text)


def _no_kind(record: Memory, kind: str | None) -> Refusal:
    reason = (
        f"bantamkit has no kind {kind!r}"
        if kind is not None
        else "bantamkit demands a kind, and none is declared"
    )
    return Refusal(
        key=record.key,
        field="kinds",
        reason=f"{reason}; it takes {', '.join(TERMS)}",
        remedy=WAY_OUT_KIND,
    )


class _Fitting:
    """One record on its way into the format; collects what had to be supplied."""

    def __init__(
        self, record: Memory, base: Memory | None, context: Context, *, is_new: bool
    ) -> None:
        self.record = record
        self.base = base
        self.context = context
        self.is_new = is_new
        self.supplied: list[Supplied] = []

    def fitted(self) -> Memory:
        record, base = self.record, self.base
        body = self._body()
        said = says(body.text)
        name = self._name(said)
        same_kind = base is not None and record.kinds.get("claude") == base.kinds.get("claude")
        return Memory(
            key=record.key,
            name=name,
            description=self._description(said, name or ""),
            body=body,
            kinds=base.kinds if base and same_kind else {"claude": record.kinds["claude"]},
            links=self._links(),
            created=self._created(),
            recalled=self._day("recalled", "last_recalled", record.recalled),
            state=record.state,
            extra=self._extra(),
        )

    def _supply(self, field: str, value: str, reason: str) -> str:
        self.supplied.append(Supplied(key=self.record.key, field=field, value=value, reason=reason))
        return value

    def _name(self, text: str) -> str | None:
        given, base = self.record.name, self.base
        if base is not None:
            if given == base.name:
                return given
            if given is None:
                return self._supply("name", base.name or "", "a fact needs a name: its own")
            if not self.is_new and names.is_legal(given):
                return given
            if not self.is_new:
                made = names.slug(given) or names.from_text(text)
                return self._supply("name", made, f"{given!r} cannot be the name of a fact")
        path, shared = path_of(self.record.key), "#" in self.record.key
        ours = path.startswith(("facts/", "archive/")) and not shared
        if ours and base is None and given is not None and names.is_legal(given):
            return given
        source = (given or "") if shared else names.stem(path)
        if not shared and names.is_legal(source):
            made = source
        else:
            made = names.slug(source) or names.slug(given or "") or names.from_text(text)
        if made == given or (given is not None and made != names.slug(given)):
            return made  # one that gives way to the name of the file travels in the complement
        where = "the text" if shared and given is None else "the name" if shared else "the file"
        return self._supply("name", made, f"a fact needs a name of its own; made from {where}")

    def _description(self, body: str, name: str) -> str | None:
        given, base = self.record.description, self.base
        if base is not None and given == base.description:
            return given
        if given is not None and one_line(given):
            line = one_line(given)
            fitted = safe("description", line)
            if fitted == given:
                return given
            reason = _MANY[0] if fitted == line else 'a header line that ends in "---" is cut there'
            return self._supply("description", fitted, reason)
        first = next((row for row in map(one_line, body.split("\n")) if row), "")
        where = "the first line of its text" if first else "its name"
        line = safe("description", first or name)
        return self._supply("description", line, f"a fact needs a description; {where}")

    def _body(self) -> Body:
        given, base = self.record.body, self.base
        if base is not None and given == base.body:
            return given
        text = _text(universal(given.text)).strip()
        if text != given.text:
            # Which characters went is plain from the two texts; the reason names the rule.
            self._supply("body", text, "the runtime strips a text and reads its line ends as LF")
        elif given.media != _MARKDOWN:
            reason = f"bantamkit holds Markdown; {given.media} stands in it as it is"
            self._supply("body", text, reason)
        else:
            return given
        return Body(text=text)

    def _links(self) -> tuple[Link, ...]:
        base = self.base
        held = tuple([link for link in self.record.links if link.rel == "link"])
        if base is not None and held == base.links:
            return held
        before: set[Link] = set(base.links) if base is not None else set()
        out: list[Link] = []
        for link in held:
            target = link.target
            # A link that stands there already is as the file has it, but its line is written anew.
            fitted = safe_link(_text(target) if link in before else one_line(target))
            if fitted != target:
                reason = "a link is one line that does not end in dashes"
                self._supply("links", fitted, f"{reason}; it was {target!r}")
            if fitted:
                out.append(link if fitted == target else Link(target=fitted))
        links = tuple(out)
        return self.record.links if links == self.record.links else links  # one of them is enough

    def _created(self) -> str | None:
        day = self._day("created", "created", self.record.created)
        # A new file begun from one of ours has a date where that had one: it may be one that was
        # supplied then, which the record itself never stated.
        lacked = self.base is not None and self.base.created is None
        if day is None and self.is_new and not lacked:
            today = self.context.now[:10]
            return self._supply("created", today, "a fact has a date: today's")
        return day

    def _day(self, field: str, key: str, given: str | None) -> str | None:
        """Give the day of an instant; a text that is no date stays, since the runtime reads it."""
        base: str | None = getattr(self.base, field, None)
        if given is None or given == base or _DAY.fullmatch(given):
            return given
        instant = _INSTANT.fullmatch(given)
        if instant:
            return self._supply(field, instant[1], "a fact's dates are days")
        fitted = safe(key, one_line(given))
        if not fitted:
            return None
        if fitted != given:
            self._supply(field, fitted, "the header cannot hold the text as it is")
        return fitted

    def _extra(self) -> dict[str, Json]:
        """Give the extra keys of the file as they stand, with outcome and status as stated."""
        before = own_extra(self.base.extra) if self.base is not None else {}
        wanted = own_extra(self.record.extra)
        own = dict(before)
        for key, legal in (("outcome", OUTCOMES), ("status", ("done",))):
            value = wanted.get(key)
            if value == before.get(key):
                continue
            if value in legal and (key == "status" or self._takes_outcome()):
                own[key] = value
            elif value is None or value == "active":
                own.pop(key, None)
        return {"bantamkit": own} if own else {}

    def _takes_outcome(self) -> bool:
        return self.record.kinds.get("claude") in ("feedback", "project")
