"""Searching an index: every word's records, ranked by BM25, those that say all words first."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass

from interop.bridge.query import Term, fold, terms

WEIGHTS = (6.0, 6.0, 4.0, 4.0, 1.0)
"""How much a word counts in title, name, description, tags and text."""
WIDTH = 160
"""How many characters of a text are shown of a match."""
_AT_ONCE = 200
_ALL = "title || ' ' || name || ' ' || description || ' ' || tags || ' ' || text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A group of records that a search found."""

    group: int
    score: float
    excerpt: str
    partial: bool
    """It says some of the words only."""


def search(connection: sqlite3.Connection, query: str, limit: int, *, archived: bool) -> list[Hit]:
    """Give the groups that match, the best first: all words before some, then by score."""
    wanted = terms(query)
    scores: Counter[int] = Counter()
    said: Counter[int] = Counter()
    total = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    for term in wanted:
        for number, score in _matches(connection, term, total):
            scores[number] += score  # type: ignore[assignment]  # a sum of floats
            said[number] += 1
    ranked = sorted(scores, key=lambda n: (-said[n], -scores[n], n))
    hits: dict[int, Hit] = {}
    for start in range(0, len(ranked), _AT_ONCE):
        if len(hits) >= limit:
            break
        some = ranked[start : start + _AT_ONCE]
        rows = connection.execute(
            f"SELECT id, grp, state FROM records WHERE id IN ({','.join(map(str, some))})"
        ).fetchall()
        about = {number: (group, state) for number, group, state in rows}
        for number in some:
            group, state = about[number]
            if group in hits or len(hits) >= limit or (state != "live" and not archived):
                continue
            hits[group] = Hit(
                group=group,
                score=round(scores[number], 4),
                excerpt=_excerpt(connection, number, wanted),
                partial=said[number] < len(wanted),
            )
    return list(hits.values())


def _matches(connection: sqlite3.Connection, term: Term, total: int) -> list[tuple[int, float]]:
    """Give the records that say one word or phrase, each with its score."""
    if term.table:
        weights = ", ".join(map(str, WEIGHTS))
        query = (
            f"SELECT rowid, -bm25({term.table}, {weights}) FROM {term.table} "
            f"WHERE {term.table} MATCH ?"
        )
        found: list[tuple[int, float]] = connection.execute(query, [term.match]).fetchall()
        if term.is_short:
            # so many words begin with it that the word itself comes first
            itself = dict(connection.execute(query, [term.exact]).fetchall())
            found = [(number, score + itself.get(number, 0.0)) for number, score in found]
        return found
    query = (
        f"SELECT id, instr(title || ' ' || name, ?1) > 0 FROM records WHERE instr({_ALL}, ?1) > 0"
    )
    rows = connection.execute(query, [term.text]).fetchall()
    # as BM25 weighs a rare word against a common one
    rare = math.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5))
    return [(number, rare * (WEIGHTS[0] if in_name else 1.0)) for number, in_name in rows]


def _excerpt(connection: sqlite3.Connection, number: int, wanted: list[Term]) -> str:
    """Give the line of a text that says most of the words, cut to what can be shown."""
    plain: str = connection.execute("SELECT plain FROM records WHERE id = ?", [number]).fetchone()[
        0
    ]
    best, most = "", -1
    for line in plain.split("\n"):
        if not line.strip():
            continue
        folded = fold(line)
        count = sum(term.text in folded for term in wanted)
        if count > most:
            best, most = " ".join(line.split()), count
    if len(best) <= WIDTH:
        return best
    place = min((m.start() for t in wanted if (m := _place(t, best))), default=0)
    start = max(0, min(place - WIDTH // 3, len(best) - WIDTH))
    shown = best[start : start + WIDTH]
    return ("…" if start else "") + shown + ("…" if start + WIDTH < len(best) else "")


def _place(term: Term, line: str) -> re.Match[str] | None:
    # a space may be one that folding put between two scripts
    pattern = re.escape(term.text).replace(r"\ ", r"\s*")
    return re.search(pattern, line, re.IGNORECASE)
