"""Name stores, list them, and find those without a name.

A named store is written @NAME wherever a store is expected. ACTION is one of

list (or nothing): every named store, whether it can be opened, and how many records it has. That
two names are one place is said on stderr.

add NAME STORE: name a store. A relative path is stored absolute; a format without a path
(`claude-code:`) is the present project's store, wherever the name is used. --write makes it the one
that is written where none is named.

remove NAME: forget the name, also where it is read or written. The store itself is not touched.

discover: find the stores of this machine by each format's own rules. --add names all of them that
have no name yet. Links are not followed out of the places; what cannot be looked at is named on
stderr.

The names stand in config.toml in the user's configuration directory, or in the directory that
INTEROP_CONFIG_DIR names.

--json prints one object a line for each store: name, spec, format, path, reachable, records,
problem, and for a named one write (is it written by default) and read (its place in the order of
reading, from 1, or null); for a found one named (has it a name already). add and remove print one
object: name, spec, and action (added, kept or removed).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated

import typer

from interop import config, discovery
from interop.cli.text import amount, json_lines, say, table, tell
from interop.config import MARK
from interop.discovery import Glance
from interop.errors import UsageError
from interop.model import Json


def run(
    action: Annotated[
        str, typer.Argument(help="list, add, remove or discover.", metavar="[ACTION]")
    ] = "list",
    name: Annotated[str | None, typer.Argument(help="The name.", metavar="[NAME]")] = None,
    store: Annotated[
        str | None, typer.Argument(help="The store: PATH or FORMAT:PATH.", metavar="[STORE]")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="With add: the store to write by default.")
    ] = False,
    add: Annotated[bool, typer.Option("--add", help="With discover: name what is found.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
) -> int:
    """Do one of the four."""
    if action not in _TAKES:
        raise UsageError(f"unknown action {action!r}", f"one of {', '.join(_TAKES)}")
    given = {"NAME": name, "STORE": store, "--write": write or None, "--add": add or None}
    for word, value in given.items():
        if value is not None and word not in _TAKES[action]:
            raise UsageError(f"{action} takes no {word}", _USES[action])
        if value is None and not word.startswith("-") and word in _TAKES[action]:
            raise UsageError(f"{action} needs {word}", _USES[action])
    if action == "list":
        _list(as_json)
    elif action == "discover":
        _discover(add, as_json)
    elif action == "add":
        assert name is not None
        assert store is not None
        _add(config.bare(name), store, write, as_json)
    else:
        assert name is not None
        _remove(config.bare(name), as_json)
    return 0


_TAKES: Mapping[str, tuple[str, ...]] = {
    "list": (),
    "add": ("NAME", "STORE", "--write"),
    "remove": ("NAME",),
    "discover": ("--add",),
}
_USES: Mapping[str, str] = {
    "list": "`interop stores list`",
    "add": "`interop stores add NAME STORE [--write]`",
    "remove": "`interop stores remove NAME`",
    "discover": "`interop stores discover [--add]`",
}


def _list(as_json: bool) -> None:
    settings = config.load()
    reading = [named.name for named in config.read_stores(settings)]
    looks = {name: discovery.glance(spec) for name, spec in settings.stores.items()}
    if as_json:
        json_lines(
            {
                "name": name,
                "spec": settings.stores[name],
                **_seen(seen),
                "write": name == settings.write,
                "read": reading.index(name) + 1 if name in reading else None,
            }
            for name, seen in looks.items()
        )
        return
    rows = [
        [
            MARK + name,
            _records(seen),
            "write" if name == settings.write else "",
            settings.stores[name],
        ]
        for name, seen in looks.items()
    ]
    say(*table(["name", "records", "", "store"], rows))
    tell(f"{settings.path}: {amount(len(looks), 'named store')}")
    for name, seen in looks.items():
        if seen.problem is not None:
            tell(f"{MARK}{name}: {seen.problem}", *_of_project(name, settings.stores[name]))
        elif name not in reading:
            tell(f"{MARK}{name}: not in `read`, so not read where none is named")
    places: dict[str, list[str]] = {}
    for name, seen in looks.items():
        if seen.path is not None:
            places.setdefault(os.path.realpath(seen.path), []).append(MARK + name)
    for names in places.values():
        if len(names) > 1:
            tell(f"{', '.join(names)}: names of one place; answers use the first that is read")


def _discover(add: bool, as_json: bool) -> None:
    settings = config.load()
    seen = discovery.discover(settings)
    looks = {found: discovery.glance(found.spec) for found in seen.found}
    new = {f.name: f.spec for f, look in looks.items() if not f.named and look.problem is None}
    if add and new:
        settings = config.add(new)
    if as_json:
        json_lines(
            {
                "name": found.name,
                "spec": found.spec,
                **_seen(look),
                "named": found.named or (add and found.name in new),
            }
            for found, look in looks.items()
        )
    else:
        rows = [
            [
                MARK + found.name,
                "named" if found.named else "added" if add and found.name in new else "found",
                _records(look),
                found.spec,
            ]
            for found, look in looks.items()
        ]
        say(*table(["name", "", "records", "store"], rows))
        if add:
            tell(f"{settings.path}: {amount(len(new), 'store')} added")
        elif new:
            tell(f"{amount(len(new), 'store')} without a name: --add names them so")
    for look in looks.values():
        if look.problem is not None:
            tell(look.problem)
    for problem in seen.problems:
        tell(f"{problem.path}: {problem.problem}")
    if add and new:
        _tell_unread(settings, list(new))


def _add(name: str, spec: str, write: bool, as_json: bool) -> None:
    known = config.load().stores
    settings = config.add({name: spec}, write=name if write else None)
    stated = settings.stores[name]
    action = "kept" if name in known else "added"
    _done(name, stated, action, as_json)
    seen = discovery.glance(stated)
    for line in _of_project(name, stated):
        tell(f"{line}; here that is {seen.path}" if seen.path is not None else line)
    if seen.problem is not None:
        tell(f"{MARK}{name}: {seen.problem}")
    _tell_unread(settings, [name])


def _of_project(name: str, spec: str) -> list[str]:
    """Say of a store without a path that it is another one in another project."""
    if config.path_in(spec):
        return []
    return [f"{MARK}{name} is the store of whichever project it is used in"]


def _tell_unread(settings: config.Config, names: list[str]) -> None:
    """Say which new names the stated order of reading leaves out."""
    if settings.read is not None:
        for name in names:
            if name not in settings.read:
                tell(f"{MARK}{name} is not read until it stands in `read` in {settings.path}")


def _remove(name: str, as_json: bool) -> None:
    before = config.load()
    spec = config.spec_of(name)
    after = config.remove(name)
    _done(name, spec, "removed", as_json)
    tell(f"the store itself is not touched: {spec}")
    if before.write == name:
        tell("it was the store to write: none is set now")
    if before.read and not after.read:
        tell(
            f"`read` in {after.path} names no store now, so none is read where none is named: "
            "name some in it, or take the line out to read all"
        )


def _done(name: str, spec: str, action: str, as_json: bool) -> None:
    if as_json:
        json_lines([{"name": name, "spec": spec, "action": action}])
    else:
        say(f"{action} {MARK}{name}: {spec}")


def _records(seen: Glance) -> str:
    return "unreachable" if seen.records is None else f"{seen.records:,}"


def _seen(seen: Glance) -> dict[str, Json]:
    return {
        "format": seen.format,
        "path": None if seen.path is None else str(seen.path),
        "reachable": seen.problem is None,
        "records": seen.records,
        "problem": seen.problem,
    }
