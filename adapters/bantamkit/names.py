"""Names of facts: what the runtime takes, and how a name is made where there is none.

A name is the file's stem, the handle that links use, and the identity that survives every move.
Spec: docs/formats/bantamkit.md, "Names".
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container

TERMS = ("user", "feedback", "project", "reference")
"""The kinds that a fact can have."""
LONGEST = 128
"""Characters that a name may have since 0.35.8; names are ASCII, so bytes too."""
RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))]
)
"""Names that are devices on Windows, with any extension."""
_LEGAL = re.compile(rf"[a-z0-9][a-z0-9-]{{,{LONGEST - 1}}}(?<!---)")
_FROM_TEXT = 64


def is_fact(path: str) -> bool:
    """Does the runtime list this path: a ``.md`` right in ``facts/`` or ``archive/``?"""
    folder, slash, name = path.partition("/")
    return bool(slash) and folder in ("facts", "archive") and "/" not in name and name[-3:] == ".md"


def is_legal(name: str) -> bool:
    """Can the runtime save a fact of this name, on every system, and read it back?

    A name that ends in ``---`` would close the header that states it.
    """
    return _LEGAL.fullmatch(name) is not None and name not in RESERVED


def slug(text: str, longest: int = LONGEST) -> str:
    """Give the nearest legal name for a text, or ``""`` where nothing of it is left."""
    bare = "".join(
        c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c)
    )
    name = re.sub(r"[^a-z0-9]+", "-", bare.lower()).strip("-")
    if len(name) > longest:
        cut = name[: longest + 1].rpartition("-")[0] if longest < LONGEST else ""
        name = (cut or name[:longest]).strip("-")
    return f"{name}-fact" if name in RESERVED else name


def from_text(text: str) -> str:
    """Give a name made of the first words of a text, or of its digest."""
    line = next((row for row in text.splitlines() if slug(row)), "")
    return slug(line, _FROM_TEXT) or digest_name(text)


def digest_name(text: str) -> str:
    """Give a name to a text that has no letter or digit of the name's alphabet."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"memory-{digest[:8]}"


def free(name: str, taken: Container[str]) -> str:
    """Give the name, or the first of ``name-2``, ``name-3`` … that is not taken."""
    if name not in taken:
        return name
    n = 2
    while True:
        suffix = f"-{n}"
        other = name[: LONGEST - len(suffix)].rstrip("-") + suffix
        if other not in taken:
            return other
        n += 1


def stem(path: str) -> str:
    """Give the file name of a path without its folder and its last extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
