"""What each path of a store is: an index, a memory, a note, facts in JSON, or something carried.

Spec: docs/formats/theokit.md, section 1.
"""

from __future__ import annotations

import re

from interop.adapters.theokit import legacy_json
from interop.adapters.theokit.index import NAME

DIARY = "dream-diary.md"
SEARCH_INDEX = ".index/"
NOTE_FOLDERS = ("notes", "wiki")
LOGS = ("sessions/", "transcripts/")

_DREAMED = re.compile(r"notes/dreamed-[0-9T-]+\.md")


def is_index(path: str) -> bool:
    """Is this the index?"""
    return path == NAME


def is_derived(path: str) -> bool:
    """Does this belong to the search index, which the runtime rebuilds and nobody loads?"""
    return path.startswith(SEARCH_INDEX) or path + "/" == SEARCH_INDEX


def is_memory(path: str) -> bool:
    """Is this a file that the runtime tries to read as a memory?"""
    return path.endswith(".md") and "/" not in path and path not in (NAME, DIARY)


def is_note(path: str) -> bool:
    """Is this a note that somebody wrote by hand? What the dream sweep wrote is none."""
    folder, _, name = path.rpartition("/")
    return folder in NOTE_FOLDERS and name.endswith(".md") and not _DREAMED.fullmatch(path)


def is_facts_json(path: str) -> bool:
    """Is this where the oldest generation kept facts?"""
    return legacy_json.is_path(path)


def may_be_misplaced(path: str) -> bool:
    """Is this a Markdown file in a folder that the runtime never looks into?"""
    folder = path.partition("/")[0]
    known = folder in NOTE_FOLDERS or path.startswith(LOGS)
    return path.endswith(".md") and "/" in path and not known and folder[0] != "."
