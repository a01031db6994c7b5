"""The closed vocabularies of the format, and how its text is folded, hashed and escaped.

Spec: docs/formats/memhtml.md, "The file".
"""

from __future__ import annotations

import hashlib
import re
from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FORMAT: Final = "memhtml"
PREFIX: Final = "memhtml-"
BUCKETS: Final = ("projects", "areas", "resources", "archive")
TYPES: Final = (
    "episodic",
    "semantic",
    "procedural",
    "agent_insight",
    "user_preference",
    "error_pattern",
    "verdict",
    "precedent",
    "arc",
    "task",
)
STATUSES: Final = ("active", "archived")
TASK: Final = "task"
TASK_STATUSES: Final = ("todo", "doing", "blocked", "done")
RELS: Final = (
    "supersedes",
    "contradicts",
    "caused_by",
    "leads_to",
    "part_of",
    "relates_to",
    "example_of",
    "supports",
    "laterally_related",
    "about_person",
    "authored_by",
    "from_session",
    "blocks",
    "subtask_of",
)
META_ORDER: Final = (
    "type",
    "status",
    "created",
    "updated",
    "confidence",
    "importance",
    "content-hash",
    "author",
    "session",
    "prompt",
    "turn",
    "valid-from",
    "valid-until",
    "reprieves",
    "archived",
    "superseded-by",
    "needs-revision",
    "task-status",
    "due",
    "entity",
    "tag",
    "alias",
)
"""The head's statements without their prefix, in the order in which they are written."""
ROLE: Final = "interop-role"
"""The whole name of the one statement that is none of the runtime's: what the record is that the
core says as a memory."""
STATEMENTS: Final = (*META_ORDER, ROLE)
"""Every statement that is read and written, in the order in which they are written."""
REQUIRED: Final = ("type", "status", "created", "updated")
REPEATED: Final = ("entity", "tag", "alias")
MOMENTS: Final = ("created", "updated", "valid-from", "valid-until", "archived")
"""Statements that hold a date; ``due`` does, too, and is checked with the task's."""
OWN: Final = (
    "status",
    "confidence",
    "importance",
    "content-hash",
    "author",
    "prompt",
    "turn",
    "valid-from",
    "valid-until",
    "reprieves",
    "superseded-by",
    "needs-revision",
    "due",
    "alias",
    ROLE,
)
"""Statements that no field of the model holds: keys of ``extra["memhtml"]``, in their order."""
KNOWN_ELEMENTS: Final = _names(
    "html head body title meta link article mark time dl dt dd data cite q dfn figure figcaption"
    " details summary aside section abbr pre code kbd samp var table caption thead tbody tr th td"
    " p ul ol li a strong em address"
)
FIGURE_ELEMENTS: Final = ("div", "span")
"""Elements that only a figure may hold."""
INLINE: Final = _names("mark time data cite q dfn abbr code kbd samp var a strong em span")
"""Elements whose edges are no word boundary in the canonical text."""
LANGUAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#.-]*")

JS_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's ``trim`` takes off; Python's ``strip`` takes off other characters."""
_QUERY = re.compile("[?#]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def collapse(text: str) -> str:
    """Give a text on one line, as the runtime shows titles and claims."""
    return one_blank(text).strip(JS_SPACE)


def one_blank(text: str) -> str:
    """Give a text with every run of HTML's white space as one blank."""
    text = text.replace(" \n ", " ")  # most runs are such, between two blocks: done at one go
    for space in "\t\n\f\r":
        text = text.replace(space, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def hash_of(canonical: str) -> str:
    """Give the hash of an article's canonical text, as the index computes it."""
    return f"sha256:{hashlib.sha256(canonical.encode('utf-8', 'replace')).hexdigest()}"


def escape_text(text: str) -> str:
    """Escape running text as the runtime's serialiser does."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("\u00a0", "&nbsp;")


def escape_attribute(value: str) -> str:
    """Escape an attribute's value as the runtime's serialiser does."""
    escaped = value.replace("&", "&amp;").replace('"', "&quot;").replace("\u00a0", "&nbsp;")
    return escaped.replace("\r", "&#13;").replace("\n", "&#10;")


def storable(text: str) -> str:
    """Write what no HTML file can hold, NUL and half characters, as visible escapes."""
    return _UNSTORABLE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def meta_line(name: str, content: str) -> str:
    """Write one statement of the head."""
    whole = name if name == ROLE else PREFIX + name
    return f'<meta name="{whole}" content="{escape_attribute(content)}">'


def link_line(rel: str, target: str) -> str:
    """Write one link of the head."""
    token = PREFIX + rel.replace("_", "-")
    return f'<link rel="{token}" href="{escape_attribute("/" + target)}">'


def rel_of(token: str) -> str | None:
    """Give the relation behind a ``rel`` token; None outside the closed vocabulary."""
    rel = token.removeprefix(PREFIX).replace("-", "_")
    return rel if token.startswith(PREFIX) and rel in RELS else None


def is_target(target: str) -> bool:
    """Can this be the target of a link, from the root of the store?"""
    path = _QUERY.split(target, maxsplit=1)[0]
    return not {"", ".", ".."}.intersection(path.split("/"))


def is_href(href: str) -> bool:
    """Does this lead from the root of the store to a file in it?"""
    return href.startswith("/") and not href.startswith("//") and is_target(href[1:])
