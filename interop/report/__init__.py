"""A diff as a page of HTML that stands by itself, and as entries that any printer can show.

The page is one file without scripts, fonts or images, and loads nothing: its policy allows its own
style sheet alone. It follows the reader's light or dark theme, and filters by kind of change with
radio buttons. Every text from a store is escaped, and what would not be seen (control characters,
marks that turn the direction of text around) is shown as an escape.

Spec: docs/diff.md.
"""

from __future__ import annotations

from interop.report.page import html

__all__ = ["html"]
