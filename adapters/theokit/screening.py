r"""What the runtime's own write would refuse or change in a text: a model of its published rules.

interop moves data and edits none, so it writes such texts as they are, and lint reports them. The
list of vendor patterns is not published whole: these are the documented ones and the best known.

Spec: docs/formats/theokit.md, section 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_THREATS = (
    ("invisible_unicode", re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")),
    (
        "instruction_override",
        re.compile(
            r"\b(?:ignore|disregard|forget|override)\s+"
            r"(?:(?:all|any|the|your|my|our|these|those|of|previous|prior|earlier|above)\s+)*"
            r"(?:instruction|prompt|rule|directive|guideline|system\s+prompt)",
            re.IGNORECASE,
        ),
    ),
    (
        "role_reassignment",
        re.compile(
            r"\byou\s+are\s+now\b|\bfrom\s+now\s+on,?\s+you\s+(?:are|will|must)\b"
            r"|\bnew\s+system\s+prompt\b"
            r"|\bact\s+as\s+(?:\S+\s+){0,4}?(?:unrestricted|jailbroken|developer\s+mode)",
            re.IGNORECASE,
        ),
    ),
    ("encoded_payload", re.compile("[A-Za-z0-9+/]{256,}={0,2}")),
)
"""In the runtime's order: the first that matches is the one it names."""

_SECRETS = (
    ("a private key", re.compile("-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("a web token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    ("a signed address", re.compile(r"[?&]sig=[^&\s]+")),
    # not anchored at a word: it also masks `task-management` and `disk-encryption`
    ("what looks like a key (`sk-…`)", re.compile("sk-[A-Za-z0-9_-]{10,}")),
    (
        "a vendor's key",
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
            r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|xox[abprs]-[\w-]{10,}|npm_[A-Za-z0-9]{20,}"
            r"|hf_[A-Za-z0-9]{20,}|SG\.[\w-]{16,}\.[\w-]{16,})"
        ),
    ),
    ("a bearer token", re.compile(r"\bBearer\s+[^\s*]{8,}")),
    (
        "a value behind a word like `password`",
        re.compile(
            r"(?:access_token|refresh_token|api_?key|client_secret|password|passwd|secret|token"
            r"|credentials?)[\"']?\s*[:=]\s*[\"']?(?!\*\*\*)[^\s\"']+",
            re.IGNORECASE,
        ),
    ),
)


class Found(NamedTuple):
    """One place that the runtime stops at."""

    rule: str
    excerpt: str


def threat(text: str) -> Found | None:
    """Give the rule by which a write of this text would be refused, or None."""
    for rule, pattern in _THREATS:
        found = pattern.search(text)
        if found is not None:
            return Found(rule, _excerpt(text, *found.span()))
    return None


def redacted(text: str) -> Iterator[Found]:
    """Yield what a write of this text would mask."""
    for what, pattern in _SECRETS:
        found = pattern.search(text)
        if found is not None:
            yield Found(what, found[0][:6] + "…")


def _excerpt(text: str, start: int, end: int) -> str:
    around = text[max(0, start - 40) : min(end, start + 40) + 40]
    return "".join(c if c.isprintable() else "␣" for c in around)
