"""Which format a directory or a file is in, and why.

Formats are printed best first; where several fit, say which is meant with FORMAT:PATH. Exit code 4
when none fits.

--json prints one object a line for each format that fits: format, reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interop import registry, stores
from interop.cli.text import json_lines, say, table
from interop.disk import stream
from interop.errors import FormatError


def run(
    path: Annotated[str, typer.Argument(help="The directory or file; - is stdin.", metavar="PATH")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a format.")] = False,
) -> int:
    """Print the formats that fit."""
    found = stores.detect_file(stream.take()) if path == "-" else stores.detect(Path(path))
    if not found:
        known = ", ".join(registry.names())
        raise FormatError(
            path,
            "no known format",
            f"name it with FORMAT:PATH, where FORMAT is one of {known}",
        )
    if as_json:
        json_lines({"format": d.format, "reason": d.reason} for d in found)
    else:
        say(*table(["format", "because"], [[d.format, d.reason] for d in found]))
    return 0
