"""What the runtime makes of a fact that it is told again: one more observation of it.

Spec: docs/formats/theokit.md, "Names".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from interop.adapter import Context
from interop.adapters.theokit.names import normal
from interop.model import Memory, Record


def repeated(new: Record, present: Sequence[Record], context: Context) -> Record | None:
    """Count a fact of the same normal form; a bullet of the old list has no count and stays."""
    if not isinstance(new, Memory):
        return None
    text = normal(new.body.text)
    for record in present:
        if isinstance(record, Memory) and normal(record.body.text) == text:
            if "#" in record.key:
                return record
            return replace(
                record,
                kinds=new.kinds or record.kinds,
                observations=(record.observations or 1) + 1,
                modified=context.now,
            )
    return None
