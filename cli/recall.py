"""What the stores say about something, the best first.

QUERY is data: words that a record has to say, and "quoted phrases"; no sign in it has another
meaning. Names, titles, descriptions, tags, texts, and the cells of tasks, decisions and tombstones
are searched, in every script. A record that says all the words comes before one that says some,
which is marked. A word also finds longer ones that begin with it. Of a long query the first 32
words are looked for.

What several stores say is one result with several sources. Where they say it in different words,
both texts are shown. Without --read the stores of the settings are read (`interop stores`), in
their order of precedence. A source is shown as the STORE:KEY that `interop forget` takes.

--json prints one object a line for each result: record (as docs/record.schema.json describes it),
sources (store, place, key, state, differs, and record where it differs), score, excerpt, partial;
then one for each thing that could not be read: store, problem, remedy.

Exit code 1 when nothing is found; 4 when nothing is found and something could not be read, or no
store could be read at all. What could not be read is named on stderr in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from interop import configured
from interop.bridge import Found
from interop.bridge.results import Data
from interop.cli.text import amount, json_lines, say, tell
from interop.errors import FormatError, UsageError


def run(
    query: Annotated[str, typer.Argument(help='Words and "phrases".', metavar="QUERY")],
    limit: Annotated[
        int, typer.Option("--limit", min=1, metavar="N", help="At most so many results (10).")
    ] = 10,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="STORE", help="A store to read (may be repeated)."),
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Also what is archived.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a result.")] = False,
) -> int:
    """Search, and print what is found."""
    if not query.strip():
        raise UsageError("there is nothing to look for", "give words of what you look for")
    bridge = configured.bridge(read=read or (), read_only=True)
    answer = bridge.search(query, limit, archived=archived)
    if as_json:
        json_lines(one.to_json() for one in answer.found)
        json_lines(problem.to_json() for problem in answer.problems)
    else:
        for number, one in enumerate(answer.found):
            if number:
                say("")
            for line in _shown(one):
                say(*line.split("\n"))
        tell(f"{amount(len(answer.found), 'result')} in {amount(len(bridge.stores), 'store')}")
    tell(*answer.notes)
    tell(*map(str, answer.problems))
    if answer.found:
        return 0
    return FormatError.exit_code if answer.problems else 1


def _shown(found: Found) -> Iterator[str]:
    """Give the lines of one result: what it is, where it stands, and what it says."""
    from interop import wording  # --json does without

    head, said = wording.heading(found.data), wording.says(found.data)
    some = "  (some of the words)" if found.partial else ""
    yield f"{head or found.key}  [{wording.kind(found.data)}]{some}"
    yield from (f"  {source}" for source in wording.sources(found))
    if said and said != head:
        yield f"  {said}"
    if found.excerpt and found.excerpt not in (head, said):
        yield f"  … {found.excerpt}"
    others = [source for source in found.sources if source.data is not None]
    if others:
        yield from _text(found.store, found.data)
        for source in others:
            assert source.data is not None
            yield from _text(source.store, source.data)


def _text(store: str, data: Data) -> Iterator[str]:
    from interop import wording

    yield f"  {store} says:"
    for line in wording.in_full(data):
        yield from (f"    {part}" for part in line.split("\n"))
