"""Taking the search indexes away, after a record was purged: they repeat the text of the stores.

An index is a cache, made anew when it is asked for. What it has of a record that went stays in its
file until SQLite needs the room, and which stores it ever read cannot be told from it: so all go,
the unfinished ones of other processes too, which then make theirs from the stores.

Spec: docs/bridge.md, section "Forgetting".
"""

from __future__ import annotations

import os

from interop.bridge.index import directory


def drop() -> tuple[str, ...]:
    """Take every search index away, and say in lines for a person what was done."""
    folder = directory() / "bridge"
    gone = 0
    left: list[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()  # none was ever made
    for name in names:
        if ".sqlite3" not in name and not name.endswith(".new"):
            continue
        try:
            os.unlink(folder / name)
            gone += 1
        except FileNotFoundError:
            pass  # its process has put it in its place, or has taken it away
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            left.append(f"{folder / name} may still have its text: it cannot be removed ({why})")
    told = f"{gone} search index{'es' if gone != 1 else ''}: removed, made anew when needed"
    return (*((told,) if gone else ()), *left)
