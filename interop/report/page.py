"""The page: head, filter, one card a record."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from interop import textdiff
from interop.diff import Change, Diff, Side
from interop.report import entries
from interop.report.entries import Entry, Facet, Kind
from interop.report.escape import plain, shown
from interop.report.style import sheet
from interop.textdiff import Line, Skip

CONTEXT = 3
"""Equal lines shown around changed ones."""
OPEN = 30
"""Lines of a record that is on one side alone up to which it is shown unfolded."""

_LABELS: Mapping[Kind, str] = {
    "added": "added",
    "removed": "removed",
    "moved": "renamed or moved",
    "archived": "archived",
    "restored": "restored",
    "changed": "changed",
    "omission": "omission",
    "carried": "other files",
    "order": "order",
    "noise": "noise",
    "agreed": "both alike",
}
_MARK = {"equal": "", "removed": "−", "added": "+"}


def html(found: Diff, a: str, b: str, *, left_out: int = 0) -> str:
    """Give a diff as one page.

    ``a`` and ``b`` name the stores; ``left_out`` is how many changes are counted but not shown.
    """
    every = list(entries.entries(found))
    counts, sides = entries.counts(every), _sides(every)
    style = sheet(counts, sides)
    title = f"{plain(a)} → {plain(b)}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>Memory diff: {title}</title>",
            f"<style>{style}</style>",
            *_header(a, b, found, len(every), left_out),
            *_filter(counts, sides, len(every)),
            "<main>",
            *chain.from_iterable(_entry(n, entry) for n, entry in enumerate(every, 1)),
            *([] if every else ["<p class=none>The stores say the same.</p>"]),
            "</main>",
            "<footer>Made by interop. The page repeats text of both stores; nothing in it is sent"
            " or loaded.</footer>",
            "",
        ]
    )


def _policy(style: str) -> str:
    """Allow the one style sheet of the page, by its digest, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _header(a: str, b: str, found: Diff, records: int, left_out: int) -> Iterator[str]:
    yield "<header><h1>What differs between two memory stores</h1><dl class=stores>"
    yield f"<dt>A<span class=away>, removed lines</span></dt><dd>{shown(a)}</dd>"
    yield f"<dt>B<span class=away>, added lines</span></dt><dd>{shown(b)}</dd></dl>"
    if found.since is not None:
        yield f"<p class=sum>Who changed what since {shown(found.since)}.</p>"
    number = len(found.changes)
    alike = " or alike on both sides" if found.since is not None else ""
    rest = f" {left_out:,} of order or noise{alike} left out." if left_out else ""
    yield (
        f"<p class=sum>{_amount(number, 'change')} in {_amount(records, 'record')} or file"
        f"{'' if records == 1 else 's'}.{rest}</p></header>"
    )


def _amount(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _sides(every: Sequence[Entry]) -> Mapping[Side, int]:
    """Count the records that have a change of each side; one may have several."""
    number = Counter(side for entry in every for side in entry.sides)
    return {side: number[side] for side in entries.SIDES if number[side]}


def _filter(counts: Mapping[Kind, int], sides: Mapping[Side, int], records: int) -> Iterator[str]:
    # autocomplete: some browsers keep the choice over a reload, and records would seem to be gone
    yield '<form class=filter autocomplete="off"><fieldset><legend>Show</legend>'
    yield _choice("only", "all", "all", records, checked=True)
    for kind, number in counts.items():
        yield _choice("only", kind, _LABELS[kind], number)
    yield "</fieldset>"
    if sides:
        yield "<fieldset><legend>Changed where</legend>"
        yield _choice("side", "all", "anywhere", records, checked=True)
        for side, number in sides.items():
            yield _choice("side", side, entries.SIDES[side], number)
        yield "</fieldset>"
    yield "</form>"


def _choice(group: str, name: str, label: str, number: int, *, checked: bool = False) -> str:
    mark = " checked" if checked else ""
    choice = f'<input type=radio name={group} id="{group}-{name}"{mark}>'
    return f"<label>{choice}{label}<b>{number:,}</b></label>"


def _entry(n: int, entry: Entry) -> Iterator[str]:
    marks = (*(f"k-{kind}" for kind in entry.kinds), *(f"s-{side}" for side in entry.sides))
    classes = " ".join(("entry", *marks))
    yield f'<article class="{classes}" id="r{n}"><div class=head>'
    yield f'<h2><a href="#r{n}">{_keys(entry)}</a></h2><div class=marks>{_marks(entry)}</div></div>'
    for change in entry.changes:
        yield from _change(change)
    yield "</article>"


def _keys(entry: Entry) -> str:
    keys = [f"<span class=key>{shown(k)}</span>" for k in dict.fromkeys(_named(entry))]
    return '<span class=arrow aria-label="became">→</span>'.join(keys) or "The whole store"


def _named(entry: Entry) -> Iterator[str]:
    yield from (key for key in (entry.key_a, entry.key_b) if key is not None)


def _marks(entry: Entry) -> str:
    marks = dict.fromkeys((entries.kind(c), _word(c)) for c in entry.changes)
    said = [f'<span class="mark m-{kind}">{word}</span>' for kind, word in marks]
    said += (
        f'<span class="mark m-side-{side}">{entries.SIDES[side]}</span>' for side in entry.sides
    )
    if entry.probable:
        said.append(f'<span class="mark m-probable">{entry.probably}</span>')
    return "".join(said)


def _word(change: Change) -> str:
    """Name a change; where what happened would say too much, what it is."""
    kind = entries.kind(change)
    quiet = kind in ("omission", "noise", "agreed") and change.what not in ("added", "removed")
    return _LABELS[kind] if quiet else entries.verb(change)


def _change(change: Change) -> Iterator[str]:
    facets = list(entries.facets(change))
    if change.what not in ("added", "removed"):
        for facet in facets:
            yield from _facet(facet, entries.remark(change))
        before = entries.before(change)
        if before is not None and before.a is not None:
            yield "<details class=before><summary>before, in the common ancestor</summary>"
            yield f'<p class=says dir="auto">{shown(before.a)}</p></details>'
        return
    yield f'<p class=says dir="auto">{shown(entries.first_words(change)[:300])}</p>'
    long = sum(len(facet.lines) for facet in facets) > OPEN
    yield f"<details{'' if long else ' open'}><summary>everything it says</summary>"
    for facet in facets:
        yield from _facet(facet, "")
    yield "</details>"


def _facet(facet: Facet, remark: str) -> Iterator[str]:
    note = f"<i>{remark}</i>" if remark else ""
    yield f"<section class=facet><h3>{shown(facet.label)}{note}</h3><table class=lines>"
    yield "<colgroup><col class=n><col class=n><col class=m><col></colgroup>"
    lines = facet.lines
    # a single line needs no number, an item of a list has none
    numbered = facet.label == "body" and any(2 in (line.a, line.b) for line in lines)
    for line in textdiff.hunks(lines, CONTEXT):
        yield _skip(line) if isinstance(line, Skip) else _line(line, numbered)
    yield "</table></section>"


def _skip(skip: Skip) -> str:
    return f"<tr class=skip><td colspan=4>{_amount(skip.number, 'line')} the same</td></tr>"


def _line(line: Line, numbered: bool) -> str:
    marked = len(line.parts) > 1 or (line.parts and line.parts[0].op == "equal")
    text = "".join(
        f"<{_TAGS[part.op]}>{shown(part.text)}</{_TAGS[part.op]}>"
        if marked and part.op != "equal"
        else shown(part.text)
        for part in line.parts
    )
    numbers = "".join(f"<td class=n>{(numbered and n) or ''}</td>" for n in (line.a, line.b))
    return (
        f"<tr class={line.op}>{numbers}<td class=m>{_MARK[line.op]}</td>"
        f'<td class=t dir="auto">{text}</td></tr>'
    )


_TAGS = {"removed": "del", "added": "ins"}
