"""What a store's runtime would choke on, drop or silently cap."""

from __future__ import annotations

from interop.adapter import Finding
from interop.stores import Opened

UNREAD = "IO001"
"""A file that was meant as a record and cannot be read."""
REPORTED = "IO002"
"""Something that the reader noticed and the format's own findings do not name."""
DOUBT = "IO003"
"""Files and complement are not of one time."""


def lint(store: Opened) -> list[Finding]:
    """Give every finding, in the order of paths; what the reader reported comes with them."""
    findings = list(store.adapter.lint(store.tree.files, store.raw))
    named = {f.path.partition(":")[0] for f in findings}
    for problem in store.raw.problems:
        if problem.path in named:
            continue
        findings.append(
            Finding(
                code=UNREAD if problem.unread else REPORTED,
                severity="error" if problem.unread else "warning",
                path=problem.path,
                problem=problem.problem,
                remedy="interop carries it as it is; mend it by hand",
            )
        )
    findings += (
        Finding(
            code=DOUBT,
            severity="error",
            path=store.label,
            problem=doubt,
            remedy="bring both halves of the store",
        )
        for doubt in store.doubts
    )
    return sorted(findings, key=lambda f: (f.path, f.code))
