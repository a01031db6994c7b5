"""The canonical text of an article, and the hash that no two active memories may share.

Spec: docs/formats/memhtml.md, "The content hash".
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from turbohtml import Element

from interop.adapters.memhtml.document import running_text, segments
from interop.adapters.memhtml.vocabulary import INLINE, collapse, hash_of, one_blank

_APART = ("pre", "template", "code")
"""Elements in which other rules hold; few texts have any, so that most are read at one go."""
_verbatim, _text = itemgetter(0), itemgetter(1)


def canonical_text(root: Element, *, without_code: bool = False) -> str:
    """Give an element's text with white space collapsed outside ``<pre>``."""
    odd = _APART if without_code else _APART[:2]
    if root.tag not in odd and root.find(list(odd)) is None:
        text = running_text(root) if root.tag in INLINE else f" {running_text(root)} "
        return one_blank(text).removeprefix(" ").removesuffix(" ")
    runs = [
        (verbatim, "".join(map(_text, run)))
        for verbatim, run in groupby(segments(root, without_code=without_code), key=_verbatim)
    ]
    parts: list[str] = []
    for n, (verbatim, run) in enumerate(runs):
        text = run
        if not verbatim:
            text = one_blank(text)
            if n == 0:
                text = text.removeprefix(" ")
            if n == len(runs) - 1:
                text = text.removesuffix(" ")
        parts.append(text)
    return "".join(parts)


def content_hash(article: Element) -> str:
    """Give the hash of an article's canonical text, as the index computes it."""
    return hash_of(canonical_text(article))


def claim_of(mark: Element) -> str:
    """Give the claim: the mark's text on one line, without code."""
    return collapse(canonical_text(mark, without_code=True))
