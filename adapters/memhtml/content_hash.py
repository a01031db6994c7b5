"""The canonical text of an article, and the hash that no two active memories may share.

Spec: docs/formats/memhtml.md, "The content hash".
"""

from __future__ import annotations

import hashlib
import re
from itertools import groupby

from turbohtml import Element

from interop.adapters.memhtml.document import segments
from interop.adapters.memhtml.vocabulary import collapse

_SPACE = re.compile(r" [ \t\n\f\r]+|[\t\n\f\r][ \t\n\f\r]*")
"""White space that is not one blank already."""


def canonical_text(root: Element, *, without_code: bool = False) -> str:
    """Give an element's text with white space collapsed outside ``<pre>``."""
    runs = [
        (verbatim, "".join(s.text for s in run))
        for verbatim, run in groupby(
            segments(root, without_code=without_code), key=lambda s: s.verbatim
        )
    ]
    parts: list[str] = []
    for n, (verbatim, run) in enumerate(runs):
        text = run
        if not verbatim:
            text = _SPACE.sub(" ", text)
            if n == 0:
                text = text.removeprefix(" ")
            if n == len(runs) - 1:
                text = text.removesuffix(" ")
        parts.append(text)
    return "".join(parts)


def content_hash(article: Element) -> str:
    """Give the hash of an article's canonical text, as the index computes it."""
    digest = hashlib.sha256(canonical_text(article).encode("utf-8", "replace"))
    return f"sha256:{digest.hexdigest()}"


def claim_of(mark: Element) -> str:
    """Give the claim: the mark's text on one line, without code."""
    return collapse(canonical_text(mark, without_code=True))
