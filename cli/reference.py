"""The reference of the command line, made from the commands: ``python -m interop.cli.reference``.

It is made from the signatures and docstrings, not from a help screen, so that it does not depend on
the version of typer.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from interop.cli.main import COMMANDS, INTERRUPTED, PIPE_CLOSED
from interop.cli.text import say

HEAD = f"""# Command line

Made from the commands by `make docs`; a test compares the two.

    interop COMMAND …

A store is written `PATH`, and its format is detected, or `FORMAT:PATH`. Only the name of a known
format is a prefix, so `C:\\store` is a path. `claude-code:` without a path is the memory directory
of the current project, by Claude Code's own rules. `@NAME` is a store that has been [given a
name](configuration.md). `interop --version` says the version, `interop COMMAND --help` what stands
here. `interop --limit NAME=NUMBER COMMAND …` raises [how much is read at most](limits.md).

Results go to stdout, everything else to stderr. With `--json` the result is JSON, one object a line
or one object, as each command says. Control characters in a store's text are shown as escapes.

## Exit codes

| code | meaning |
|---|---|
| 0 | fine, or the same |
| 1 | differences, findings, or something pending |
| 2 | the command was given something that it cannot mean |
| 3 | refused, nothing was written: a decision is needed, a conflict, a rejected value, a loss that was not allowed, a stale complement |
| 4 | unreadable or invalid input |
| 5 | writing failed, and what had been written was taken back |
| {INTERRUPTED} | interrupted |
| {PIPE_CLOSED} | whoever read the result went away |

An error is one line on stderr for each thing that is wrong: where, what, and the way out.
"""  # noqa: E501  # a row of a table is one line


def reference() -> str:
    """Give the whole page."""
    return "\n".join([HEAD, *(line for name in COMMANDS for line in _section(name))])


def _section(name: str) -> Iterator[str]:
    module = importlib.import_module(f"interop.cli.{name}")
    parameters = list(_parameters(module))
    arguments = [info for info, _ in parameters if isinstance(info, ArgumentInfo)]
    options = [(info, field) for info, field in parameters if isinstance(info, OptionInfo)]
    usage = " ".join(["interop", name, *(str(info.metavar) for info in arguments), "[OPTIONS]"])
    yield from (f"## interop {name}", "", f"    {usage}", "")
    yield from (inspect.getdoc(module) or "").splitlines()
    yield from ("", "| argument or option | meaning |", "|---|---|")
    yield from (f"| `{info.metavar}` | {info.help} |" for info in arguments)
    for info, field in options:
        # Inside Annotated the first name stands where the default would be.
        names = [n for n in (info.default, *(info.param_decls or ())) if isinstance(n, str)]
        name = names[0] if names else f"--{field.replace('_', '-')}"
        value = f" {info.metavar}" if info.metavar else ""
        yield f"| `{name}{value}` | {info.help} |"
    yield ""


def _parameters(module: ModuleType) -> Iterator[tuple[ParameterInfo, str]]:
    """Give what typer is told of each parameter of a command, and the parameter's name."""
    for field, hint in get_type_hints(module.run, include_extras=True).items():
        for told in getattr(hint, "__metadata__", ()):
            if isinstance(told, ParameterInfo):
                yield told, field


if __name__ == "__main__":
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
    else:
        say(*reference().splitlines())
