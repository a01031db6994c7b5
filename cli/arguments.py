"""Arguments as people write them: texts that begin with a dash, and mistakes said on one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import typer
from typer.core import TyperCommand

Mistake: type[Exception] = typer.BadParameter.__mro__[1]
"""What is raised for wrong arguments: click's UsageError, or that of the click that typer has."""


class Command(TyperCommand):
    """A command that takes `- a text` for a text: no option has a space in its name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, such texts put where nothing is taken for an option."""
        flags: Mapping[str, bool] = {
            name: getattr(option, "is_flag", False)
            for option in self.params
            for name in (*option.opts, *option.secondary_opts)
            if name.startswith("-")
        }
        return super().parse_args(ctx, list(_texts_last(args, flags)))


def _texts_last(args: list[str], flags: Mapping[str, bool]) -> Iterator[str]:
    """Give the arguments in their order, the options first where a text looks like one.

    Args:
        args: as they were written.
        flags: name of each option -> does it take no value?
    """
    options: list[str] = []
    texts: list[str] = []
    is_needed = False
    rest = iter(args)
    for word in rest:
        name, stated, _ = word.partition("=")
        if word == "--":
            texts += rest
        elif word == "-" or not word.startswith("-"):
            texts.append(word)
        elif name not in flags and any(map(str.isspace, word)):
            texts.append(word)
            is_needed = True
        else:
            options.append(word)
            if not stated and not flags.get(name, True):
                options += [value for value in [next(rest, None)] if value is not None]
    yield from [*options, "--", *texts] if is_needed else args


def sentence(error: Any) -> str:
    """Say what is wrong with the arguments, and the way out: of a ``Mistake``."""
    text = str(error.format_message()).rstrip(".")
    said = " ".join((text[:1].lower() + text[1:]).split())
    path = "interop" if error.ctx is None else error.ctx.command_path
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        return f"{said}; a text that begins with a dash stands behind --, as in `{path} -- -TEXT`"
    return f"{said}; `{path} --help` says what it takes"
