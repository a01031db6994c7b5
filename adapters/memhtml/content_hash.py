"""The canonical text of an article, and the hash that no two active memories may share.

Spec: docs/formats/memhtml.md, "The content hash".
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from turbohtml import Element

from interop.adapters.memhtml.document import NOSCRIPT, running_text, segments
from interop.adapters.memhtml.vocabulary import INLINE, collapse, hash_of, one_blank

_verbatim, _text = itemgetter(0), itemgetter(1)


def canonical_text(root: Element, *, without_code: bool = False, written: bool = False) -> str:
    """Give an element's text with white space collapsed outside ``<pre>``.

    ``written``: as it is once the runtime has written the file anew, and read it again.
    """
    odd = (
        "pre",
        "template",
        *(("code",) if without_code else ()),
        *((NOSCRIPT,) if written else ()),
    )
    if root.tag not in odd and root.find(list(odd)) is None:
        text = running_text(root) if root.tag in INLINE else f" {running_text(root)} "
        return one_blank(text).removeprefix(" ").removesuffix(" ")
    # other rules hold in these; few texts have any, so that most are read at one go
    pieces = segments(root, without_code=without_code, written=written)
    runs = [
        (verbatim, "".join(map(_text, run))) for verbatim, run in groupby(pieces, key=_verbatim)
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
    return hash_of(canonical_text(article, written=True))


def claim_of(mark: Element) -> str:
    """Give the claim: the mark's text on one line, without code."""
    return collapse(canonical_text(mark, without_code=True))
