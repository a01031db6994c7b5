"""What a page says beside its text, in a format whose descriptions repeat their text.

    <p><mark>Opening day was moved</mark></p>           the claim, a view of the first line
    <ul><li><strong>Fact / Key:</strong> Opening day</li> …

A claim that was made for a text, because the text has none, says the description; where that is
edited elsewhere, the claim is made anew. Of a decision or a tombstone it repeats the first line:
the record is what the text says, and where somebody changed the view alone, that has to be said,
or it would be lost in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from interop import fields, roles
from interop.adapter import Hold
from interop.fields import Value
from interop.merge import TEXT_MEDIA, carry_over, same
from interop.model import Body, Record
from interop.rendering import HTML
from interop.stores import Opened


def carried(target: Record, raw: Record, there: Record, merged: Record) -> Record:
    """Carry edits of a text and of its description into a text that has a claim made for it.

    Args:
        target: what is to stand, said in the format's own words.
        raw: what stands there now.
        there: the same, restored.
        merged: what is to stand, in full.

    A claim that no longer says what it was made to say is taken out, for the format to make another
    one; a title that nobody stated and that repeats it goes with it. A claim that the text has of
    itself is its author's, and stays.
    """
    values: dict[str, Value] = {"body": fields.get(target, "body")}
    shown, full, meant = (fields.get(r, "body") for r in (raw, there, merged))
    stated = fields.get(merged, "description")
    edited = fields.get(target, "description") != fields.get(raw, "description")
    if not (isinstance(shown, Body) and isinstance(full, Body) and isinstance(meant, Body)):
        return target
    if shown.media != HTML or full.media not in TEXT_MEDIA or (not edited and same(full, meant)):
        return target
    from interop.markup import claim  # parsers that most commands never need

    bare = claim.unclaimed(full.text, full.media, shown.text)
    if bare is not None:
        values["body"] = carry_over(replace(shown, text=bare.text), full, meant)
    body = values["body"]
    if not isinstance(body, Body) or claim.is_claimed(body.text):
        return fields.replace(target, values)  # its own
    kept = None
    if bare is not None and not edited and not (bare.supplied and stated is None):
        kept = claim.claimed_again(bare, body.text)
    if kept is not None:
        return fields.replace(target, {"body": replace(body, text=kept)})
    values["description"] = stated
    titles = fields.get(there, "title"), fields.get(merged, "title")
    if titles == (None, None) and fields.get(raw, "title") == fields.get(raw, "description"):
        values["title"] = None
    return fields.replace(target, values)


def changed_alone(store: Opened, bases: Mapping[str, Record | None]) -> Iterator[str]:
    """Name the claims of a store that say something else than the texts that they repeat.

    ``bases`` has what was last agreed on, by the store's keys: where the text was changed since,
    its claim is only late.
    """
    if store.adapter.holds.get("description") is not Hold.VIEW:
        return
    said = {record.key: record for record in store.raw.records}
    for record in store.seen.records:
        if record.role not in roles.LABELS or record.role in store.adapter.roles:
            continue
        claim, told = fields.get(said[record.key], "description"), _told(record)
        if not isinstance(claim, str) or not told or _plain(claim) == told:
            continue
        base = bases.get(record.key)
        if base is not None and base.role == record.role and _told(base) != told:
            continue
        label = next(iter(roles.LABELS[record.role].values()))
        yield (
            f"{record.key}: its claim, {claim!r}, only repeats its text and was changed alone, so "
            f"the {record.role} stays as it is; change {label}, {told!r}, in the text"
        )


def _told(record: Record) -> str:
    """Give what a claim repeats of a record."""
    return _plain(roles.to_memory(record).description or "")


def _plain(text: str) -> str:
    """Give a text as any format can show it, on one line."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
