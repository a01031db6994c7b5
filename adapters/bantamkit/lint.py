"""Everything in a store that the runtime chokes on, drops or silently caps.

Spec: docs/formats/bantamkit.md, "Pitfalls".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import combinations, islice

from interop.adapter import Finding
from interop.adapters.bantamkit import fact_file, index, names, oddities
from interop.adapters.bantamkit.fact_file import Fact
from interop.adapters.bantamkit.names import is_fact
from interop.model import Files, Memory, Store

_SIMILAR = 0.5
"""Share of tokens in common (Jaccard) from which the runtime takes a save for a duplicate."""
_RARE = 14
"""How many of a fact's rarest tokens are looked up, in pairs: enough for 24 tokens."""
_LOOKED_AT = 300
"""Facts that one fact is compared with at most: a store near its budget has as many."""
_TOKEN = re.compile("[a-z0-9]+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATED = re.compile(r"\b(?:today|yesterday|tomorrow|\d+ (?:day|week|month)s? ago)\b", re.IGNORECASE)

_DATING = ("today", "yesterday", "tomorrow", " ago")
"""One of them is in every text that ``_DATED`` finds something in; most texts have none."""


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find what breaks, what is lost later, and what the runtime will not tell."""
    return _findings(files, store, notes=True)


def grave(files: Files, store: Store) -> Iterable[Finding]:
    """Find the same but for the notes, which take longer to find than all the rest."""
    return (found for found in _findings(files, store, notes=False) if found.severity != "note")


def _findings(files: Files, store: Store, *, notes: bool) -> Iterator[Finding]:
    known = {record.key: record for record in store.records if isinstance(record, Memory)}
    read = {
        path: fact_file.read(path, files[path], known.get(path))
        for path in sorted(files)
        if is_fact(path)
    }
    facts = [found for found in read.values() if isinstance(found, Fact)]

    @cache  # few stores have a fact of which it is asked
    def taken() -> Counter[str]:
        # case aside: on some systems two such names are one file
        known = Counter(names.stem(path).casefold() for path in read)
        known.update(fact.named().casefold() for fact in facts if not _is_named_alike(fact))
        return known

    def is_taken(name: str, mine: Fact) -> bool:
        own = {names.stem(mine.path).casefold(), mine.named().casefold()}
        return taken()[name.casefold()] > (name.casefold() in own)

    for path, found in read.items():
        if isinstance(found, Fact):
            for odd in oddities.of(found, partial(is_taken, mine=found)):
                yield Finding(
                    code=odd.code,
                    severity=odd.severity,
                    path=path,
                    problem=odd.problem,
                    remedy=odd.remedy,
                )
        else:
            yield Finding(
                code="BK101",
                severity="error" if path.startswith("facts/") else "warning",
                path=path,
                problem=found.problem,
                remedy="mend its header, or move it out of facts/ and archive/",
            )
    live = [fact for fact in facts if fact.record.state == "live"]
    yield from _folders(files)
    yield from _same_names(facts)
    if notes:
        yield from _duplicates(live)
        yield from _links(facts)
        for fact in facts:
            yield from _later(fact)
    yield from _index(files, live)


def _is_named_alike(fact: Fact) -> bool:
    return fact.named().casefold() == names.stem(fact.path).casefold()


def _folders(files: Files) -> Iterator[Finding]:
    folders = {"/".join(p.split("/")[:2]) for p in files if p.count("/") > 1}
    for folder in sorted(folder for folder in folders if is_fact(folder)):
        yield Finding(
            code="BK113",
            severity="error",
            path=folder,
            problem="a folder named like a fact: every strict read of the store fails",
            remedy="rename the folder so that it does not end in .md",
        )


def _same_names(facts: Sequence[Fact]) -> Iterator[Finding]:
    seen: dict[str, Fact] = {}
    for fact in sorted(facts, key=lambda fact: (fact.record.state == "archived", fact.path)):
        other = seen.setdefault(fact.named(), fact)
        if other is fact:
            continue
        both = other.record.state == fact.record.state
        yield Finding(
            code="BK114",
            severity="warning",
            path=fact.path,
            problem=f"{other.path} has the same name: the runtime knows only one of the two"
            if both
            else f"{other.path} has the same name: compact overwrites the archived one",
            remedy="give one of the two another name",
        )
    stems: dict[str, str] = {}
    for fact in facts:
        folded = fact.path.casefold()
        other_path = stems.setdefault(folded, fact.path)
        if other_path != fact.path:
            yield Finding(
                code="BK114",
                severity="warning",
                path=fact.path,
                problem=f"differs from {other_path} in case alone: one file on some systems",
                remedy="give one of the two another name",
            )


def _duplicates(live: Sequence[Fact]) -> Iterator[Finding]:
    """Find facts that the runtime's duplicate rule would not let in after another one.

    Only facts that share two of their rarest tokens are compared, which sets that share half of
    their union do, so a large store costs no square. The longer of two is named, since fewer
    tokens of the shorter one have to be looked up. One finding a fact is enough.
    """
    sets = [
        frozenset(_TOKEN.findall(f"{fact.named()} {fact.record.description}".lower()))
        for fact in live
    ]
    count = Counter(token for tokens in sets for token in tokens)
    by_pair: dict[tuple[str, ...], list[int]] = {}
    for n in sorted(range(len(sets)), key=lambda n: len(sets[n])):
        tokens = sets[n]
        rare = sorted(tokens, key=lambda token: (count[token], token))
        # with a shorter set it shares a half of its tokens, with a longer one two thirds
        keys = _pairs(rare, len(rare) - -(-len(rare) // 2))
        near = dict.fromkeys(m for key in keys for m in by_pair.get(key, ()))
        for m in islice(near, _LOOKED_AT):
            if len(tokens & sets[m]) >= _SIMILAR * len(tokens | sets[m]):
                yield Finding(
                    code="BK115",
                    severity="note",
                    path=live[n].path,
                    problem=f"by the runtime's rule a duplicate of {live[m].path}:"
                    " it would refuse to save a new fact like this",
                    remedy="merge the two, or tell them apart in name and description",
                )
                break
        for key in _pairs(rare, len(rare) // 3):
            by_pair.setdefault(key, []).append(n)


def _pairs(rare: Sequence[str], apart: int) -> Iterator[tuple[str, ...]]:
    """Give the pairs of rare tokens of which one is shared where at most ``apart`` are not."""
    yield from combinations(rare[: min(apart + 2, _RARE)], 2)
    if len(rare) <= 2:
        yield from ((token,) for token in rare)


def _links(facts: Sequence[Fact]) -> Iterator[Finding]:
    known = {name for fact in facts for name in (fact.named(), names.stem(fact.path))}
    for fact in facts:
        for link in fact.record.links:
            if link.target not in known:
                yield Finding(
                    code="BK118",
                    severity="note",
                    path=fact.path,
                    problem=f"links to {link.target!r}, and there is no such fact",
                    remedy="nothing, if that fact is still to be written",
                )


def _later(fact: Fact) -> Iterator[Finding]:
    """Say what the runtime does to a fact by itself."""
    text = fact.text[fact.parts.body :]
    if "\r" in text.rstrip("\r\n") or text.strip("\r\n") != text.strip():
        yield Finding(
            code="BK119",
            severity="note",
            path=fact.path,
            problem="the text begins or ends with blanks, or has CR in its line ends: both are "
            "lost at the next recall",
            remedy="nothing, if they do not matter; indent a first line behind a heading",
        )
    if fact.record.created is None:
        yield Finding(
            code="BK120",
            severity="note",
            path=fact.path,
            problem="no created: its age is the time of the file, which a copy makes new",
            remedy="write created: '2026-03-01', with the quotes, if the day is known",
        )
    elif not _DAY.fullmatch(fact.record.created):
        yield Finding(
            code="BK121",
            severity="note",
            path=fact.path,
            problem="created is no plain day: the runtime compares its first ten characters, and "
            "sorts it behind that day",
            remedy="write the day alone, in quotes",
        )
    folded = text.casefold() if fact.record.state == "live" else ""
    found = _DATED.search(text) if any(word in folded for word in _DATING) else None
    if found is not None:
        yield Finding(
            code="BK122",
            severity="note",
            path=fact.path,
            problem=f"says {found[0]!r}: dream writes the day behind such words, by the time of "
            "the file",
            remedy="write the day itself",
        )


def _index(files: Files, live: Sequence[Fact]) -> Iterator[Finding]:
    rows = [
        index.Line(fact.path.partition("/")[2], fact.named(), fact.index_line()) for fact in live
    ]
    due = index.whole(rows)
    if len(due) > index.BUDGET:
        yield Finding(
            code="BK116",
            severity="error",
            path=index.PATH,
            problem=f"the facts make an index of {len(due)} bytes, and the budget is"
            f" {index.BUDGET}: the next save is refused",
            remedy="shorten descriptions or archive facts",
        )
    elif len(due) >= index.NEAR * index.BUDGET:
        yield Finding(
            code="BK116",
            severity="note",
            path=index.PATH,
            problem=f"the facts make an index of {len(due)} bytes of {index.BUDGET}: the runtime"
            " calls that degraded, and compact archives facts",
            remedy="shorten descriptions or archive facts",
        )
    data = files.get(index.PATH)
    if data is None or data.replace(b"\r\n", b"\n") == due:
        return
    there = index.named(data.decode("utf-8", "replace"))
    wanted = {row.name for row in rows}
    gone = sorted(there.keys() - wanted)
    missing = sorted(wanted - there.keys())
    changed = sorted(row.name for row in rows if row.text not in there.get(row.name, [row.text]))
    said = [
        f"{what} {', '.join(some[:5])}{' …' if len(some) > 5 else ''}"
        for what, some in (("names", gone), ("misses", missing), ("is old for", changed))
        if some
    ]
    yield Finding(
        code="BK117",
        severity="warning" if gone or missing or changed else "note",
        path=index.PATH,
        problem=f"the index {'; '.join(said) or 'is not as the runtime would write it'}",
        remedy="the runtime writes it anew at its next save",
    )
