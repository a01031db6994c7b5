"""What an agent is to know when a session begins.

For the hooks of its runtime. EVENT is session-start: a digest of the stores, at most so many bytes
long. First what could not be read, then tombstones (what was rejected, and what stands in its
place), the decisions in force, the open tasks, and the memories, the most recently dated first. A
record is given whole or by its title and never in parts; how many are left out stands at the end.
Everything is marked as data.

--tokens takes three bytes for a token, which is on the safe side for most texts. Without a budget
it is 8,000 bytes: Claude Code shows 10,000 characters of what a hook says. The least is 1,000 bytes
or 334 tokens: the frame, and what could not be read, have to fit.

--format claude-code prints the JSON that Claude Code's SessionStart hook takes (hookSpecificOutput,
additionalContext); text, which that hook takes as well, is for every agent that reads stdout.

--json prints one object: digest, bytes, problems, and by role how many are shown, titled (of these
by their title only) and left_out.

A session is never stopped: what cannot be read is named in the digest, and the exit code is 0, also
without any store, when nothing is printed. Only a wrong option is an error (2).
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import digest
from interop.cli.text import json_lines, tell
from interop.errors import UsageError

EVENTS = ("session-start",)
FORMATS = ("text", "claude-code")


def run(
    event: Annotated[str, typer.Argument(help="session-start.", metavar="EVENT")],
    size: Annotated[
        int | None,
        typer.Option(
            "--bytes",
            min=digest.LEAST,
            metavar="N",
            help="At most so many bytes, from 1,000 (8,000).",
        ),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            "--tokens",
            min=-(-digest.LEAST // digest.BYTES_A_TOKEN),
            metavar="N",
            help="At most about so many tokens, from 334.",
        ),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="STORE", help="A store to read (may be repeated)."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text (default) or claude-code.")
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> int:
    """Print the digest."""
    if event not in EVENTS:
        raise UsageError(f"unknown event {event!r}", f"one of {', '.join(EVENTS)}")
    if form not in FORMATS:
        raise UsageError(f"unknown format {form!r}", f"one of {', '.join(FORMATS)}")
    if as_json and form != "text":
        raise UsageError("--json and --format exclude each other", "give one of them")
    if size is not None and tokens is not None:
        raise UsageError("--bytes and --tokens exclude each other", "give one of them")
    budget = size or (tokens or 0) * digest.BYTES_A_TOKEN or digest.BUDGET
    made = digest.of_settings(budget, read=read or ())
    if as_json:
        json_lines([made.to_json()])
    elif form == "claude-code":
        json_lines(
            [
                {
                    "hookSpecificOutput": {
                        "hookEventName": "SessionStart",
                        "additionalContext": made.text,
                    }
                }
            ]
        )
    elif made.text:
        # the digest has its control characters as escapes already; its lines stay lines
        print(made.text)
    tell(*made.problems)
    return 0
