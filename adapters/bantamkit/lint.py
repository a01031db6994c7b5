"""Everything in a store that the runtime chokes on, drops or silently caps.

Spec: docs/formats/bantamkit.md, "Pitfalls".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from interop.adapter import Finding
from interop.adapters.bantamkit import fact_file, index, oddities
from interop.adapters.bantamkit.fact_file import Fact, is_fact
from interop.model import Files, Store

_LOOKED_AT = 1000
"""Facts that one fact is compared with at most: a store near its budget has some 300."""
_SIMILAR = 0.5
"""Share of tokens in common (Jaccard) from which the runtime takes a save for a duplicate."""


def lint(files: Files, store: Store) -> Iterable[Finding]:
    """Find what breaks, what is lost later, and what the runtime will not tell."""
    facts: list[Fact] = []
    for path in sorted(path for path in files if is_fact(path)):
        found = fact_file.read(path, files[path])
        if isinstance(found, Fact):
            facts.append(found)
            for odd in oddities.of(found):
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
    yield from _duplicates(live)
    yield from _index(files, live)


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
    """Find pairs that the runtime's duplicate rule would not let in one after the other.

    Only the rarest tokens of each fact are looked up: two sets that share half of their union
    share one of those, so a large store costs no square. One finding a fact is enough.
    """
    sets = [
        frozenset(re.findall("[a-z0-9]+", f"{fact.named()} {fact.record.description}".lower()))
        for fact in live
    ]
    count = Counter(token for tokens in sets for token in tokens)
    by_token: dict[str, list[int]] = {}
    for n, tokens in enumerate(sets):
        rare = sorted(tokens, key=lambda token: (count[token], token))
        prefix = rare[: len(rare) - -(-len(rare) // 2) + 1]
        near = (m for token in prefix for m in by_token.get(token, ()))
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
        for token in prefix:
            by_token.setdefault(token, []).append(n)


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
