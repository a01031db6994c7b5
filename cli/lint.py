"""What a store's runtime would choke on, drop or cap.

One line a finding, "path: severity code: problem; way out". Exit code 1 when any finding is an
error or a warning; notes alone are fine. docs/lint.md lists every code.

Beside the format's own findings: live records that state a value which a tombstone rejects (here,
or in the stores given with --tombstones; a paraphrase is not recognised), copies that sync tools
left, a store in two places, and secrets, in the files and in what interop keeps beside them
(complement, undo). A secret is never printed.

--json prints one object a line for each finding: code, severity (error, warning, note), path,
problem, remedy. path is a path, a path:line, or the key of a record.
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import guard, lint, stores
from interop.adapter import Finding
from interop.cli.text import amount, json_lines, say, tell


def run(
    store: Annotated[str, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="STORE")],
    tombstones: Annotated[
        list[str] | None,
        typer.Option(
            help="A further store whose tombstones count (may be repeated).", metavar="STORE"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a finding.")] = False,
) -> int:
    """Print the findings."""
    opened = stores.open_damaged(store)
    others = [stores.open_store(spec) for spec in tombstones or ()]
    findings = lint.lint(opened, others)
    if as_json:
        json_lines(
            {
                "code": f.code,
                "severity": f.severity,
                "path": f.path,
                "problem": f.problem,
                "remedy": f.remedy,
            }
            for f in findings
        )
    else:
        say(*map(_line, findings))
        tell(f"{opened.label}: {amount(len(findings), 'finding')}")
    if any(f.code == lint.TOMBSTONED for f in findings):
        tell(f"note: {guard.VERBATIM}")
    return int(any(f.severity != "note" for f in findings))


def _line(finding: Finding) -> str:
    remedy = f"; {finding.remedy}" if finding.remedy else ""
    return f"{finding.path}: {finding.severity} {finding.code}: {finding.problem}{remedy}"
