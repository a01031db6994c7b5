"""Serve the stores to an agent, as an MCP server.

It speaks MCP on stdin and stdout. The agent gets tools to search, get, remember, forget and
compare, and the records as resources. With --read-only, or where there is no store to write, the
tools that write are not there at all. Without --read and --write the stores of the settings take
part (`interop stores`), as they are at each call. It can reach no other store.

It needs `pip install 'memory-interop[mcp]'`. Nothing but the protocol is printed on stdout.
docs/agents.md says how agents are told of it, and what they are given.

--json serves nothing, and prints one object a line for each tool as an agent would be told of it:
name, title, description, inputSchema, outputSchema, annotations.
"""

from __future__ import annotations

from typing import Annotated

import typer

from interop import configured
from interop.bridge import Bridge
from interop.cli.text import json_lines, tell
from interop.configured import Chosen
from interop.errors import UsageError


def run(
    read: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="STORE", help="A store to read (may be repeated)."),
    ] = None,
    write: Annotated[
        str | None, typer.Option("--write", metavar="STORE", help="The store to write.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Write nothing.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say which tools would be served, and end.")
    ] = False,
) -> int:
    """Serve until the agent leaves."""
    try:
        from interop import server
    except ImportError as error:  # it is not there, or is a version 1
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise UsageError(
            "the MCP server needs version 2 of the MCP SDK", "`pip install 'memory-interop[mcp]'`"
        ) from error

    def choose() -> Chosen:
        return configured.chosen(read=read or (), write=write, read_only=read_only)

    found = choose()
    if as_json:
        json_lines(server.described(writing=found.write is not None))
        return 0
    bridge = Bridge(read=found.read, write=found.write)
    if not bridge.stores:
        bridge.records()  # which says why there is none
    if found.write is None and not read_only:
        tell("no store to write is set, so nothing will be written")
    tell(*map(str, found.problems))
    server.serve(choose)
    return 0
