"""The user's settings: named stores, which of them are read and written, and defaults.

    write = "@garage"                  # the store that is written where none is named
    read = ["@garage", "@workshop"]    # which are read, in order of precedence; all, if left out

    [stores]
    garage = "claude-code:~/.claude/projects/-home-mira-garage/memory"
    workshop = "bantamkit:~/repairs/.bantamkit/memory"

    [convert]
    secrets = "refuse"                 # or "warn"

For a program that reads and writes by these settings (the bridge, its server and its commands)::

    from interop import config, stores

    settings = config.load()                        # Config, frozen
    for named in config.read_stores(settings):      # in order of precedence
        opened = stores.open_store(named.spec)      # named.name is what the user calls it
    target = config.write_store(settings)           # UsageError, with the way out, if there is none

``stores.open_store("@garage")`` and whatever else takes a store take a name as well.

Spec: docs/configuration.md.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, TypeGuard, cast

from interop import registry
from interop.disk import config_file
from interop.errors import FormatError, UsageError, WriteError

Secrets: TypeAlias = Literal["refuse", "warn"]
"""What to do about secrets on their way into a store that leaves the machine."""

MARK = "@"
"""What a store's name begins with, wherever a store is expected."""
_NAME = re.compile(r"\w[\w.-]*")
_SECRETS: tuple[Secrets, ...] = ("refuse", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A store that has a name of the user's."""

    name: str
    """Without the mark: ``garage``."""
    spec: str
    """What stands for it wherever a store is expected: ``FORMAT:PATH`` or ``PATH``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the user has set; everything not stated has its default."""

    path: Path
    """The file that says so, or would."""
    stores: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name -> spec, in the order of the file. A path in a spec is absolute or begins with ``~``."""
    read: tuple[str, ...] | None = None
    """Names of the stores to read, in order of precedence; None reads all, in their order."""
    write: str | None = None
    """Name of the store to write where none is named."""
    secrets: Secrets = "warn"


def load() -> Config:
    """Give the user's settings; without a file everything is as by default.

    Raises:
        FormatError: the file cannot be read, or says what it cannot mean.
    """
    place = config_file.path()
    data = config_file.read(place)
    return Config(path=place) if data is None else parse(data, place)


def read_stores(config: Config) -> tuple[Named, ...]:
    """Give the stores that are to be read, in order of precedence; there may be none."""
    names = config.stores if config.read is None else config.read
    return tuple(Named(name=name, spec=config.stores[name]) for name in names)


def write_store(config: Config) -> Named:
    """Give the store that is to be written where none is named.

    Raises:
        UsageError: the user has not said which; it is never guessed, not even from a single one.
    """
    if config.write is None:
        raise UsageError(
            f"no store to write is set in {config.path}",
            "`interop stores add NAME STORE --write` sets one",
        )
    return Named(name=config.write, spec=config.stores[config.write])


def spec_of(name: str) -> str:
    """Give what a store's name stands for.

    Raises:
        UsageError: no store has that name.
        FormatError: the settings cannot be read.
    """
    config = load()
    spec = config.stores.get(bare(name))
    if spec is None:
        known = ", ".join(MARK + n for n in config.stores)
        raise UsageError(
            f"no store is named {MARK + bare(name)!r}",
            f"one of {known}; a folder of that name is ./{MARK}{bare(name)}"
            if known
            else f"{config.path} names none: `interop stores add NAME STORE` does",
        )
    return spec


# --- reading


def parse(data: bytes, where: Path) -> Config:
    """Read settings from the bytes of their file.

    Raises:
        FormatError: it is not TOML, or says what it cannot mean; every problem is named.
    """
    import tomllib  # not at the top, for the sake of start-up

    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{where}:{line}", "is not UTF-8", "save it as UTF-8") from error
    try:
        said = cast("dict[str, object]", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        problem, line = _placed(str(error), text)
        remedy = "mend that line; docs/configuration.md shows the form"
        raise FormatError(f"{where}:{line}", f"is not TOML ({problem})", remedy) from error
    except RecursionError as error:
        raise FormatError(str(where), "is nested too deeply", "it needs no nesting") from error
    return _Reading(text, where).config(said)


def _placed(message: str, text: str) -> tuple[str, int]:
    """Split what tomllib says into the problem and the line."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.S)
    if found is None:
        return message, 1
    return found[1].lower(), int(found[2] or text.rstrip("\n").count("\n") + 1)


class _Reading:
    """Takes the settings out of what the file says, and notes every problem on the way."""

    def __init__(self, text: str, where: Path) -> None:
        self.text = text
        self.where = where
        self.problems: list[FormatError] = []

    def config(self, said: Mapping[str, object]) -> Config:
        """Give the settings.

        Raises:
            FormatError: the first problem; the others are its details.
        """
        self._known(said, ("write", "read", "stores", "convert"))
        stores = self._stores(self._table(said, "stores"))
        config = Config(
            path=self.where,
            stores=stores,
            read=self._read(said, stores),
            write=self._reference(said["write"], stores, "write") if "write" in said else None,
            secrets=self._secrets(self._table(said, "convert")),
        )
        if self.problems:
            first, *others = self.problems
            first.details = tuple(map(str, others))
            raise first
        return config

    def _problem(self, keys: Sequence[str], problem: str, remedy: str) -> None:
        where = f"{self.where}:{extent(self.text, keys)[0]}"
        self.problems.append(FormatError(where, problem, remedy))

    def _known(self, said: Mapping[str, object], known: Sequence[str], *above: str) -> None:
        for key in said:
            if key not in known:
                name = ".".join((*above, key))
                self._problem((*above, key), f"unknown key {name!r}", f"one of {', '.join(known)}")

    def _table(self, said: Mapping[str, object], key: str) -> Mapping[str, object]:
        value = said.get(key, {})
        if isinstance(value, dict):
            return cast("dict[str, object]", value)
        self._problem((key,), f"{key!r} is no table", f"write it as [{key}]")
        return {}

    def _stores(self, said: Mapping[str, object]) -> dict[str, str]:
        stores: dict[str, str] = {}
        for name, spec in said.items():
            problem = self._store(name, spec)
            if problem is None:
                stores[bare(name)] = str(spec)
            else:
                self._problem(("stores", name), *problem)
        return stores

    def _store(self, name: str, spec: object) -> tuple[str, str] | None:
        """Say what is wrong with one named store, and the way out."""
        if isinstance(spec, dict):
            return f"store {name!r} is a table", f'a name with a dot stands in quotes: "{name}.…"'
        if not isinstance(spec, str):
            return f"store {name!r} is no text", 'write it as "FORMAT:PATH"'
        if not is_name(name):
            return f"{name!r} is no name for a store", NAMES
        if spec.startswith(MARK):
            remedy = f"`{name}` stands above [stores]" if name in ("read", "write") else "name it"
            return f"store {name!r} is {spec!r}, a name and no store", remedy
        path = path_in(spec)
        if path and not path.startswith("~") and not Path(path).is_absolute():
            return (
                f"store {name!r} has neither a known format nor an absolute path",
                f"write it as FORMAT:PATH, where FORMAT is one of {', '.join(registry.names())}",
            )
        if not path and spec == "":
            return f"store {name!r} is empty", 'write it as "FORMAT:PATH"'
        return None

    def _read(
        self, said: Mapping[str, object], stores: Mapping[str, str]
    ) -> tuple[str, ...] | None:
        if "read" not in said:
            return None
        value = said["read"]
        if not isinstance(value, list):
            self._problem(("read",), "'read' is no list", 'write it as ["@NAME", "@NAME"]')
            return None
        names = [self._reference(item, stores, "read") for item in cast("list[object]", value)]
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def _reference(self, value: object, stores: Mapping[str, str], key: str) -> str | None:
        if not isinstance(value, str) or not value.startswith(MARK):
            self._problem((key,), f"{key!r} has {value!r}, which is no name", f'write "{MARK}NAME"')
            return None
        name = bare(value)
        if name not in stores:
            known = ", ".join(MARK + n for n in stores)
            remedy = f"one of {known}" if known else "name it in [stores]"
            self._problem((key,), f"{key!r} has {value!r}, and no store has that name", remedy)
            return None
        return name

    def _secrets(self, said: Mapping[str, object]) -> Secrets:
        self._known(said, ("secrets",), "convert")
        value = said.get("secrets", "warn")
        if _is_secrets(value):
            return value
        problem = f"'convert.secrets' is {value!r}"
        self._problem(("convert", "secrets"), problem, f"one of {', '.join(_SECRETS)}")
        return "warn"


def _is_secrets(value: object) -> TypeGuard[Secrets]:
    return value in _SECRETS


NAMES = "a name has letters, digits, `-`, `_` and `.`, and begins with none of `-` and `.`"


def bare(name: str) -> str:
    """Give a name without its mark, and in one form of those that Unicode has for the same name."""
    return unicodedata.normalize("NFC", name.removeprefix(MARK))


def is_name(text: str) -> bool:
    """Say whether a text can name a store."""
    return _NAME.fullmatch(text) is not None


def path_in(spec: str) -> str:
    """Give the path part of a spec."""
    head, colon, rest = spec.partition(":")
    return rest if colon and head in registry.names() else spec


def extent(text: str, keys: Sequence[str]) -> tuple[int, int]:
    """Give the first and the last line of the statement that states a key, counted from 1.

    TOML's own reader is asked how many lines it takes until the key is there: a beginning of the
    file that ends within a statement is not TOML, and comments and blank lines state nothing.
    """
    import tomllib  # not at the top, for the sake of start-up

    lines = text.split("\n")
    first = 1
    for number in range(1, len(lines) + 1):
        try:
            said: object = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        for key in keys:
            said = cast("dict[str, object]", said).get(key) if isinstance(said, dict) else None
        if said is not None:
            return first, number
        first = number + 1
    return 1, 1


# --- changing


def add(stores: Mapping[str, str], *, write: str | None = None) -> Config:
    """Name stores, and perhaps say which is written by default; comments and layout stay.

    Args:
        stores: name -> spec; a relative path is made absolute.
        write: the name of the store to write by default; None leaves that as it is.

    Raises:
        UsageError: a name is none, or is another store's already; a spec is none.
        FormatError: the settings cannot be read.
        WriteError: the settings cannot be written.
    """
    for spec in stores.values():
        _check_spec(spec)
    meant = {bare(n): absolute(spec) for n, spec in stores.items()}
    for name, spec in meant.items():
        if not is_name(name):
            raise UsageError(f"{name!r} is no name for a store", NAMES)
        if not spec or spec.startswith(MARK):
            raise UsageError(f"{spec!r} is no store", "give FORMAT:PATH or PATH")
        if not _is_text(spec):
            raise UsageError(f"{spec!r} cannot stand in {config_file.path()}", "rename the folder")
    return _change(meant, (), None if write is None else bare(write))


def remove(name: str) -> Config:
    """Forget a store's name, also where it is read or written; the store itself is not touched.

    Raises:
        UsageError: no store has that name.
        FormatError: the settings cannot be read.
        WriteError: the settings cannot be written.
    """
    spec_of(name)
    return _change({}, (bare(name),), None)


def _check_spec(spec: str) -> None:
    """Refuse a stream, and what is meant as a format and is none: both would be taken for paths."""
    if path_in(spec) == "-":
        raise UsageError(f"{spec!r} is a stream, which has no name", "give FORMAT:PATH or PATH")
    head, colon, rest = spec.partition(":")
    if head in registry.names() and colon and not rest and registry.get(head).locate is None:
        raise UsageError(f"{head} stores have no place of their own", f"give {head}:PATH")
    meant = colon and re.fullmatch(r"\w[\w-]+", head)  # one letter is a drive
    if meant and head not in registry.names() and not os.path.lexists(spec):
        known = ", ".join(registry.names())
        raise UsageError(f"unknown format {head!r}", f"one of {known}; a folder is ./{spec}")


def _is_text(spec: str) -> bool:
    """Say whether a spec can be written as UTF-8: the name of a folder may be any bytes."""
    return not any("\ud800" <= char <= "\udfff" for char in spec)


def absolute(spec: str) -> str:
    """Give a spec with its path made absolute; ``~`` stays, and a format alone has no path."""
    path = path_in(spec)
    if not path or path.startswith("~") or spec.startswith(MARK):
        return spec
    return spec[: len(spec) - len(path)] + os.path.abspath(path)


def _change(added: Mapping[str, str], removed: Sequence[str], write: str | None) -> Config:
    """Change the file, and make sure that it says what was meant and nothing else changed."""
    from interop import config_edits  # and with it a parser that keeps layout

    place = config_file.path()
    with config_file.alone(place):
        before = config_file.read(place)
        config = Config(path=place) if before is None else parse(before, place)
        for name, spec in added.items():
            if config.stores.get(name, spec) != spec:
                raise UsageError(
                    f"{MARK}{name} is {config.stores[name]} already",
                    f"choose another name, or `interop stores remove {name}` first",
                )
        new = {n: s for n, s in added.items() if n not in config.stores}
        meant = Config(
            path=place,
            stores={n: s for n, s in {**config.stores, **new}.items() if n not in removed},
            read=None if config.read is None else tuple(n for n in config.read if n not in removed),
            write=write or (None if config.write in removed else config.write),
            secrets=config.secrets,
        )
        if meant == config:
            return config
        after = config_edits.edited(before or b"", new, removed, write)
        if not _says(after, meant):
            raise WriteError(str(place), "cannot be changed as it is laid out", "edit it by hand")
        config_file.replace(place, after)
    return meant


def _says(data: bytes, meant: Config) -> bool:
    """Say whether a file says what was meant, in the order that was meant."""
    try:
        said = parse(data, meant.path)
    except FormatError:
        return False
    return said == meant and list(said.stores) == list(meant.stores)
