"""Two stores compared by record and field: data with a law, printed elsewhere.

``patch(a, compare(a, b)) == b`` in records, order and carried files, and comparing a store with
itself gives nothing. Every change found is tagged; which tags are shown, and which count for the
exit status, is decided where it is printed. With a common ancestor a change also says on which side
it was made, and whether the two sides contradict each other.

Spec: docs/diff.md.
"""

from __future__ import annotations

from interop.diff.changes import Change, Diff, Side, Tag, What, patch
from interop.diff.comparing import compare, diff

__all__ = ["Change", "Diff", "Side", "Tag", "What", "compare", "diff", "patch"]
