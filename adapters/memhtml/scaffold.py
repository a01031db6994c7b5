"""The files that ``memhtml init`` lays out, and the words of its commits.

Spec: docs/formats/memhtml.md, "Git".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_README: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Memory</title>
</head>
<body>
<article>
<p><mark>This repository is one agent's memory: one fact per file, as semantic HTML5.</mark>
Directories follow PARA — <code>projects/</code>, <code>areas/</code>, <code>resources/</code>,
<code>archive/</code>. Nothing is ever deleted; eviction moves a file to
<code>archive/&lt;YYYY&gt;/</code> with its original path mirrored beneath, so
<code>git log --follow</code> reads straight through.</p>
<p>The index under <code>.memhtml/</code> is derived and gitignored. This tree is the system of
record.</p>
</article>
</body>
</html>
"""
_FOLDERS: Final = (
    "projects",
    "areas",
    "resources",
    "archive",
    "areas/arcs",
    "resources/people",
    "areas/inbox",
    ".memhtml/state",
    ".memhtml/sleep",
)
FILES: Final[Mapping[str, str]] = {
    **{f"{folder}/.gitkeep": "" for folder in _FOLDERS},
    ".gitignore": (
        ".memhtml/index.db\n.memhtml/state.db\n.memhtml/index.db-*\n.memhtml/state.db-*\n"
    ),
    ".gitattributes": "index.html merge=ours\nsitemap.xml merge=ours\n*.html diff=html\n",
    "README.html": _README,
}
"""Path -> text of every file that ``init`` writes where it is missing."""
CONFIG: Final = ("merge.ours.driver", "true")
INIT: Final = "memhtml(init): scaffold the memory repository"
_LONGEST: Final = 72


def subject(operation: str, text: str) -> str:
    """Give a commit's subject as the runtime words it: one line, 72 characters at most."""
    flat = re.sub(r"\s+", " ", text).strip()
    if len(flat) > _LONGEST:
        flat = f"{flat[: _LONGEST - 1].strip()}…"
    return f"memhtml({operation}): {flat or '(untitled)'}"
