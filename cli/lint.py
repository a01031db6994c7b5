"""What a store's runtime would choke on, drop or cap.

One line a finding, "path: severity code: problem; way out". Exit code 1 when any finding is an
error or a warning; notes alone are fine.

--json prints one object a line for each finding: code, severity (error, warning, note), path,
problem, remedy.
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import lint, stores
from interop.adapter import Finding
from interop.cli.text import amount, json_lines, say, tell


def run(
    store: Annotated[str, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="STORE")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a finding.")] = False,
) -> int:
    """Print the findings."""
    opened = stores.open_store(store)
    findings = list(lint.lint(opened))
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
    return int(any(f.severity != "note" for f in findings))


def _line(finding: Finding) -> str:
    remedy = f"; {finding.remedy}" if finding.remedy else ""
    return f"{finding.path}: {finding.severity} {finding.code}: {finding.problem}{remedy}"
