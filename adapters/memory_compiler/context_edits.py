"""Changes to ``CONTEXT.md``: bullets are spliced, new ones go to the end of the current facts."""

from __future__ import annotations

from collections.abc import Sequence

from interop.adapters.memory_compiler import context_bullets
from interop.adapters.memory_compiler.context_bullets import Bullets
from interop.adapters.memory_compiler.reading import Part
from interop.adapters.memory_compiler.settling import Change, Made, Refused
from interop.model import Body, Memory, Record
from interop.syntax.splice import Edit, splice

_BLANK = "# Context\n\n## Current facts\n"


class ContextEdits:
    """How changes are made in ``CONTEXT.md``."""

    def __init__(self, part: Part | None) -> None:
        self.bullets = part if isinstance(part, Bullets) else context_bullets.read(_BLANK)

    def blank(self) -> str:
        """Give a new file without bullets."""
        return _BLANK

    def impossible(self, change: Change) -> Refused | None:
        """Every bullet has a place."""
        return None

    def takes_new(self, others: Sequence[Change]) -> bool:
        """Try one plain bullet: behind an open comment, or in a fence, none is read."""
        plain = Change("", None, Memory(key="", body=Body(text="x")))
        return self.made([*others, plain]) is not None

    def made(self, changes: Sequence[Change]) -> Made | None:
        """Make the changes, and follow every bullet by its place."""
        bullets = self.bullets
        place = context_bullets.place(bullets)
        by_key = {c.current.key: c for c in changes if c.current is not None}
        edits: list[Edit] = []
        due: list[tuple[str, str, bool]] = []
        """Key before (of a new one the key in the put), text, was it to change?"""
        new = [(c.key, _words(c.meant)) for c in changes if c.current is None and c.meant]
        added = False
        for key, number in bullets.items.items():
            if not added and number >= place.items:
                due += [(at, text, True) for at, text in new]
                added = True
            item = bullets.lines.items[number]
            change = by_key.get(key)
            if change is None:
                due.append((key, bullets.records[key].body.text, False))
            elif change.meant is None:
                edits.append(Edit(item.start, item.stop, ""))
            else:
                words = _words(change.meant)
                edits.append(Edit(item.text_start, item.text_end, words))
                due.append((change.key, words, True))
        if not added:
            due += [(at, text, True) for at, text in new]
        if new:
            edits.append(Edit(place.offset, place.offset, self._added(new, place)))
        text = splice(bullets.text, edits)
        now = tuple(context_bullets.read(text).records.values())
        if [memory.body.text for memory in now] != [words for _, words, _ in due]:
            return None
        found = list(zip(due, now, strict=True))
        records: dict[str, Record] = {key: memory for (key, _, meant), memory in found if meant}
        moved: dict[str, Record] = {key: memory for (key, _, meant), memory in found if not meant}
        return Made(text, records, moved)

    def _added(self, new: Sequence[tuple[str, str]], place: context_bullets.Place) -> str:
        lines = [f"- {words}" for _, words in new]
        body = place.line_end.join(lines)
        return place.before + body + (place.line_end if place.ended else "")


def _words(record: Record) -> str:
    assert isinstance(record, Memory), "bullets are memories"
    return record.body.text
