"""Remember something in the one store that is written.

TEXT is Markdown; - reads it from stdin, and a text that begins with a dash and has no space stands
behind --. Nothing is inferred: without --kind it has no kind. What
the store's format demands and nobody said (a name, a description) is supplied, without secrets of
the text, and said on stderr; a description that the store's runtime would choke on is asked for.
A text that the store knows already follows its format's own rule: it is left as it is, or counted
once more. A text that states a value which a tombstone of one of the stores rejects is refused, as
is a kind that the format does not know.

Without --write the store that the settings write is written (`interop stores add --write`).

--json prints one object: key, store, place, supplied (field, value, reason), already ("", "known"
or "counted"), notes, commands, problems.

Exit code 3 when it is refused: nothing was written.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from interop import configured
from interop.cli.text import json_lines, policy_of, say, tell
from interop.errors import FormatError
from interop.host import HostOptions


def run(
    text: Annotated[str, typer.Argument(help="The text; - is stdin.", metavar="TEXT")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The handle that agents use.")
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", metavar="LINE", help="What it is, on one line.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="A heading for people.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="TERM", help="A kind that the format knows.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag (may be repeated).")
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option("--link", metavar="TARGET", help="What it refers to (may be repeated)."),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option(
            "--read", metavar="STORE", help="A store whose tombstones count (may be repeated)."
        ),
    ] = None,
    write: Annotated[
        str | None, typer.Option("--write", metavar="STORE", help="The store to write.")
    ] = None,
    allow_tombstoned: Annotated[
        bool, typer.Option("--allow-tombstoned", help="Let it state a rejected value.")
    ] = False,
    no_commit: Annotated[
        bool,
        typer.Option(
            "--no-commit", help="In a store that lives in git: leave the commit to yourself."
        ),
    ] = False,
    secrets: Annotated[
        str | None,
        typer.Option(
            "--secrets",
            metavar="warn|refuse|allow",
            help="A secret on its way into a store in git or in a sync folder; set by"
            " convert.secrets in the settings, else warn.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> int:
    """Write it, and say where it stands."""
    bridge = configured.bridge(read=read or (), write=write)
    done = bridge.remember(
        _stdin() if text == "-" else text,
        name=name,
        description=description,
        title=title,
        kind=kind,
        tags=tag or (),
        links=link or (),
        allow_tombstoned=allow_tombstoned,
        secrets=policy_of(secrets),
        host=HostOptions(commit=not no_commit),
    )
    if as_json:
        json_lines([done.to_json()])
    else:
        say(f"{_DONE[done.already]} {done.store}:{done.key}")
        tell(*map(str, done.supplied))
        tell(*done.notes)
        tell(*(f"to commit it: {command}" for command in done.commands))
    tell(*map(str, done.problems))
    return 0


_DONE = {"": "remembered", "known": "known already:", "counted": "counted once more:"}


def _stdin() -> str:
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("-", "is not UTF-8", "give it as UTF-8") from error
