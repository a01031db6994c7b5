"""The decisions file: what a person says about single records, as YAML.

feedback_x.md:
  kind: feedback        # the kind it is to have in the destination
OPEN_ITEMS.md#OI-003:
  status: todo          # the status that it is to have there
notes/pier.md:
  take: source          # of two versions: source, destination or both
facts/old.md:
  carry: true           # let it travel in the complement only
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from interop.errors import UsageError
from interop.model import Json

_MEANINGS: Mapping[str, str] = {
    "kind": "the kind that it is to have in the destination",
    "status": "the status that it is to have in the destination",
    "take": "source, destination or both",
    "carry": "true lets it travel in the complement only",
}
_TAKE = ("source", "destination", "both")


def load(path: Path) -> dict[str, dict[str, Json]]:
    """Read a decisions file; entries that are still empty decide nothing.

    Raises:
        UsageError: it cannot be read, or says something that is no decision.
    """
    try:
        text = path.read_text("utf-8")
        data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})", "check the path") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        what = getattr(error, "problem", None) or "is not UTF-8"
        raise UsageError(f"{path}{line}: not valid YAML ({what})", _WAY) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise UsageError(f"{path}: is no mapping of keys to decisions", _WAY)
    out: dict[str, dict[str, Json]] = {}
    entries: dict[object, object] = data  # pyright: ignore[reportUnknownVariableType]
    for key, entry in entries.items():
        out[str(key)] = _entry(path, str(key), entry)
    return out


def dump(template: Mapping[str, Json], decided: Mapping[str, Mapping[str, Json]]) -> str:
    """Write a decisions file: what is decided, then what is not, for a person to fill in."""
    lines = ["# One entry for each record; fill in what is empty."]
    for key, entry in decided.items():
        if entry:
            lines += _text({key: dict(entry)})
    for key, ways in template.items():
        if decided.get(key):
            continue
        lines += [f"{_text({key: None})[0].removesuffix(' null')}"]
        lines += (
            f"  {way}:  # {_MEANINGS[way]}" for way in (ways if isinstance(ways, dict) else {})
        )
    return "\n".join(lines) + "\n"


_WAY = "convert --dry-run --decisions FILE writes a template"


def _entry(path: Path, key: str, entry: object) -> dict[str, Json]:
    if entry is None:
        return {}
    if not isinstance(entry, dict):
        raise UsageError(f"{path}: {key}: is no decision", f"one of {', '.join(_MEANINGS)}")
    out: dict[str, Json] = {}
    items: dict[object, object] = entry  # pyright: ignore[reportUnknownVariableType]
    for way, value in items.items():
        if way not in _MEANINGS:
            raise UsageError(
                f"{path}: {key}: {way!r} is no decision", f"one of {', '.join(_MEANINGS)}"
            )
        if value is None:
            continue
        good = (
            isinstance(value, bool)
            if way == "carry"
            else isinstance(value, str) and (way != "take" or value in _TAKE)
        )
        if not good:
            raise UsageError(f"{path}: {key}: {way}: {value!r} is not {_MEANINGS[str(way)]}", _WAY)
        assert isinstance(value, (str, bool))
        out[str(way)] = value
    return out


def _text(data: Mapping[str, Json]) -> list[str]:
    text: str = yaml.safe_dump(dict(data), allow_unicode=True, sort_keys=False, width=10_000)
    return text.rstrip("\n").split("\n")
