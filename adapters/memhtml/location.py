"""Where the store lies: the runtime knows one a machine, not one a project.

Spec: docs/formats/memhtml.md, "Where a store lies".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from interop.adapter import Place, Surroundings
from interop.adapters.memhtml.vocabulary import JS_SPACE

_NO = ("", "0", "false", "no", "off")


def locate(at: Surroundings) -> Sequence[Path]:
    """Give ``$MEMHTML_ROOT``, else ``~/memhtml``; nothing where the environment forbids both."""
    if at.env.get("MEMHTML_REFUSE_ENV_ROOT", "").strip().lower() not in _NO:
        return ()
    stated = at.env.get("MEMHTML_ROOT")
    if stated is None:
        return (at.home / "memhtml",)
    text = stated.strip(JS_SPACE)
    if text == "~":
        return (at.home,)
    if text.startswith("~/"):
        return (at.home / text[2:],)
    return (at.cwd / text,)


def discover(at: Surroundings) -> Iterator[Place]:
    """Give the store that the environment names, and the one that there is without it."""
    for path in dict.fromkeys((*locate(at), at.home / "memhtml")):
        yield Place(path=path)
