"""The entry point: one lazy application, and the one place where errors become exit codes.

Agents call ``interop`` from hooks, so start-up matters: only the module of the invoked command is
imported. The others are known by their one line in ``COMMANDS``.
"""

from __future__ import annotations

import errno
import functools
import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, TypeAlias, cast

import typer

from interop import __version__
from interop.cli.arguments import Command, Mistake, sentence
from interop.errors import FormatError, InteropError, UsageError
from interop.unseen import visible

COMMANDS: Mapping[str, str] = {
    "formats": "What each format can hold, and where its stores lie.",
    "detect": "Which format a directory or a file is in, and why.",
    "show": "The records of a store, as the canonical model says them.",
    "convert": "Write one store's memory into another.",
    "diff": "What differs between two stores, by record and field.",
    "check": "Prove on stores that nothing of them gets lost.",
    "lint": "What a store's runtime would choke on, drop or cap.",
    "export": "Write stores into a SQLite database for searching.",
    "undo": "Take back the last write into a store.",
    "complement": "Take removed records' text out of what interop keeps.",
    "stores": "Name stores, list them, and find those without a name.",
    "recall": "What the stores say about something, the best first.",
    "remember": "Remember something in the one store that is written.",
    "forget": "Forget a record, as gently as its store's format can.",
    "hook": "What an agent is to know when a session begins.",
    "mcp": "Serve the stores to an agent, as an MCP server.",
}
"""Command -> the first line of its module's docstring, so that help imports none of them."""

INTERRUPTED = 130
PIPE_CLOSED = 141
"""What a shell reports for a program that ended because nobody read on."""

Run: TypeAlias = Callable[..., int]
"""What a command's module gives: parsed arguments -> exit code."""


def application(arguments: Sequence[str]) -> typer.Typer:
    """Give the application, with the command that the arguments name and stand-ins for the rest."""
    chosen = _command(arguments)
    app = typer.Typer(
        name="interop",
        help="Move AI-agent memory between runtimes without losing any of it.",
        epilog="A store is PATH, FORMAT:PATH or @NAME; `interop COMMAND --help` says more.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name, line in COMMANDS.items():
        if name == chosen:
            module = importlib.import_module(f"interop.cli.{name}")
            if any(word.endswith("-") for word in arguments):
                _offer_stdin()
            app.command(name, help=module.__doc__, cls=Command)(_leaving(module.run))
        else:
            app.command(name, help=line)(_stand_in)
    return app


def _command(arguments: Sequence[str]) -> str | None:
    """Find the command among the arguments: the first that is no option and no option's value."""
    before = ""
    for word in arguments:
        if not word.startswith("-") and before != "--limit":
            return word
        before = word
    return None


def main() -> None:
    """Run the command that the process was called with, and exit."""
    # A store's records are many small values without cycles, and live until the end: looking for
    # garbage among them again and again costs a fifth of reading them.
    gc.set_threshold(200_000, 20, 100)
    # Paths and texts may hold what the terminal's encoding cannot say: they are shown escaped.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    app = application(sys.argv[1:])
    if not sys.argv[1:]:
        app(prog_name="interop")  # which shows the help, and exits
    try:
        code = app(prog_name="interop", standalone_mode=False)
    except Mistake as error:
        _tell(sentence(error))
        code = UsageError.exit_code
    except typer.Abort:
        _tell("interrupted")
        code = INTERRUPTED
    # The interpreter looks for garbage once more before it ends, through every module and record:
    # that would take longer than most commands, and the process's end frees all of it anyway.
    gc.freeze()
    sys.exit(code)


def _offer_stdin() -> None:
    """Let a store be ``-``: this process's stdin is nobody else's."""
    from interop import limits  # not at the top, for the sake of start-up
    from interop.disk import stream

    stream.offer(lambda: sys.stdin.buffer.read(limits.current().store + 1))


def run_safely(run: Callable[[], int]) -> int:
    """Run a command and give its exit code; what a user can mend becomes a line on stderr."""
    try:
        code = run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered has no reader: without this the interpreter complains on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (InteropError, OSError, ExceptionGroup) as error:
        problems = list(_leaves(error))
        from interop.secrets import mask  # most runs have no problem

        told = [mask(_sentence(problem)) for problem in problems]
        for sentence in told:
            _tell(sentence)
        return max(_exit_code(problem) for problem in problems)
    return code


def _leaves(error: Exception) -> Iterator[Exception]:
    """Give the errors of a group one by one."""
    if isinstance(error, ExceptionGroup):
        for inner in cast("ExceptionGroup[Exception]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _sentence(problem: Exception) -> str:
    if isinstance(problem, InteropError):
        return str(problem)
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"{problem.filename}: {(problem.strerror or 'cannot be used').lower()}"
    if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
        return "the output cannot be written: no space left"
    raise problem  # a fault of ours: the traceback is wanted


def _exit_code(problem: Exception) -> int:
    return problem.exit_code if isinstance(problem, InteropError) else FormatError.exit_code


def _tell(sentence: str) -> None:
    print("interop:", visible(sentence, keep="\n"), file=sys.stderr)


def _leaving(run: Run) -> Callable[..., None]:
    """Give the command as typer wants it: leaving with its exit code."""

    @functools.wraps(run)
    def leave(**arguments: object) -> None:
        raise typer.Exit(run_safely(functools.partial(run, **arguments)))

    return leave


def _stand_in() -> None:
    """Stand in help for a command that is not invoked."""


def _print_version(asked: bool) -> None:
    if asked:
        print(f"interop {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version."),
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=NUMBER",
            help="How much of a store is read at most: file=SIZE, store=SIZE, files=NUMBER or"
            " links=NUMBER; may be given several times.",
        ),
    ] = None,
) -> None:
    if limit:
        from interop import limits  # most runs give none

        said = limit

        def give() -> int:
            limits.give(said)
            return 0

        if code := run_safely(give):
            raise typer.Exit(code)


if __name__ == "__main__":
    main()
