"""What a store's runtime would choke on, drop or silently cap, and what nobody wants to find in it.

A format's own findings come from its adapter; those of every format are made here, each by one
function in ``_CHECKS``. No finding repeats a secret: what is found is masked in all of them.

Spec: docs/lint.md.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, cast

import orjson

from interop import guard, guarding, secrets, stores, sync_copies
from interop.adapter import Finding
from interop.disk import kept, tree
from interop.disk.kept import Kept
from interop.model import Json
from interop.plan import COMPLEMENT
from interop.stores import Opened

UNREAD = "IO001"
REPORTED = "IO002"
DOUBT = "IO003"
COPY = "IO011"
PERHAPS_COPY = "IO012"
SPLIT = "IO013"
NOT_HERE = "IO014"
SECRET = "IO021"
SECRET_KEPT = "IO022"
UNREAD_KEPT = "IO023"
TOMBSTONED = "IO031"
UNCHECKED = "IO032"

CODES: Mapping[str, str] = {
    UNREAD: "a file that was meant as a record and cannot be read",
    REPORTED: "something that the reader noticed and the format's own findings do not name",
    DOUBT: "files and complement are not of one time",
    COPY: "a copy that a sync tool made of a conflict",
    PERHAPS_COPY: "a name that a sync tool gives to copies, beside the file it would copy",
    SPLIT: "one project's memory in two folders, with files of the same name in both",
    NOT_HERE: "a placeholder of a file that a sync tool has not brought here",
    SECRET: "a secret in a file of the store",
    SECRET_KEPT: "a secret in what interop keeps beside the store: complement, undo, staging",
    UNREAD_KEPT: "something that interop keeps and that cannot be read",
    TOMBSTONED: "a live record that states a value which a tombstone rejects",
    UNCHECKED: "a tombstone whose value has no letter or digit, so nothing is checked against it",
}
"""Code of every format -> what it finds; docs/lint.md is held to it."""


def lint(store: Opened, tombstones: Sequence[Opened] = ()) -> list[Finding]:
    """Give every finding, in the order of paths; what the reader reported comes with them.

    ``tombstones`` are further stores whose tombstones count.
    """
    own = list(store.adapter.lint(store.tree.files, store.raw))
    found = _Found(own, _in_files(store), tuple(tombstones))
    findings = [*found.own, *(f for check in _CHECKS for f in check(store, found))]
    pieces = secrets.pieces(hit.value for hits in found.secrets.values() for hit in hits)
    return sorted((_masked(f, pieces) for f in findings), key=_place)


def _place(finding: Finding) -> tuple[str, int, str]:
    """Sort by path, then by line as a number."""
    path, _, line = finding.path.rpartition(":")
    if path and line.isascii() and line.isdigit():
        return path, int(line), finding.code
    return finding.path, 0, finding.code


class _Found(NamedTuple):
    """What is found once and used by several checks."""

    own: list[Finding]
    """The format's own findings."""
    secrets: Mapping[str, list[_Hit]]
    """Path -> the secrets in that file."""
    tombstones: tuple[Opened, ...]
    """Further stores whose tombstones count."""


class _Hit(NamedTuple):
    rule: str
    line: int
    value: str


def _reported(store: Opened, found: _Found) -> Iterator[Finding]:
    named = {f.path.partition(":")[0] for f in found.own}
    for problem in store.seen.problems:
        if problem.path == COMPLEMENT:
            yield Finding(
                code=UNREAD_KEPT,
                severity="error",
                path=COMPLEMENT,
                problem=problem.problem,
                remedy="take it from a backup, or move it away to go on without it: what it kept"
                " is lost then",
            )
            continue
        whole = store.adapter.file is not None and problem in store.tree.problems
        if whole or problem.path not in named:
            yield Finding(
                code=UNREAD if problem.unread else REPORTED,
                severity="error" if problem.unread else "warning",
                path=problem.path,
                problem=problem.problem,
                remedy="take it again where it came from"
                if whole
                else "interop carries it as it is; mend it by hand",
            )


def _doubts(store: Opened, found: _Found) -> Iterator[Finding]:
    for doubt in store.doubts:
        yield Finding(
            code=DOUBT,
            severity="error",
            path=store.label,
            problem=doubt,
            remedy="bring both halves of the store",
        )


def _tombstoned(store: Opened, found: _Found) -> Iterator[Finding]:
    taking_part = (store, *found.tombstones)
    stones = guarding.stones(taking_part)
    if not stones.values and not stones.unchecked:
        return
    told = guarding.history(taking_part)
    for hit in guard.collisions(store.restored.store.records, stones, told=told):
        yield Finding(
            code=TOMBSTONED,
            severity="warning",
            path=hit.key,
            problem=guard.sentence(hit),
            remedy="correct it; a decision that tells of the change has its id in the tombstone",
        )
    for stone in stones.unchecked:
        if stone.store == store.label:
            yield Finding(
                code=UNCHECKED,
                severity="note",
                path=stone.record.key,
                problem="its rejected value has no letter or digit: nothing is compared with it",
                remedy="state the value that is rejected",
            )


def _copies(store: Opened, found: _Found) -> Iterator[Finding]:
    files = store.tree.files
    for path in files:
        original = sync_copies.placeholder_of(path)
        if original is not None and original not in files:
            yield Finding(
                code=NOT_HERE,
                severity="warning",
                path=path,
                problem=f"stands for {original!r}, which iCloud has not brought here: for runtimes"
                " and for interop it is not there",
                remedy="download it in the Finder before anything is converted",
            )
    for copy in sync_copies.find(files):
        folder = copy.path not in files
        what = "a folder" if folder else "a copy"
        if copy.certain:
            yield Finding(
                code=COPY,
                severity="warning",
                path=copy.path,
                problem=f"{what} that {copy.tool} left of a conflict with {copy.original!r}",
                remedy=f"take what is new in it into {copy.original!r} and remove it"
                if copy.original in files or folder
                else f"give it the name {copy.original!r}, which no other file has",
            )
        else:
            same = not folder and files[copy.path] == files.get(copy.original)
            yield Finding(
                code=PERHAPS_COPY,
                severity="warning" if same or folder else "note",
                path=copy.path,
                problem=f"named as {copy.tool} names a copy of {copy.original!r}"
                + (", and has the same bytes" if same else ""),
                remedy="remove it, or merge the two"
                if same or folder
                else "merge the two, or give it another name if it is a memory of its own",
            )


def _split(store: Opened, found: _Found) -> Iterator[Finding]:
    """Find the other places that this format reads for the project, where they hold the same."""
    if store.adapter.locate is None:
        return
    around = stores.surroundings()
    real = os.path.realpath(store.root)
    places = [place for place in store.adapter.locate(around) if around.is_dir(place)]
    if real not in map(os.path.realpath, places):
        return
    # all files, records or not: what is one here may be unreadable there, and the other way round
    told_of = (store.adapter.index, store.adapter.derived)
    mine = {path for path in store.tree.files if not any(of(path) for of in told_of)}
    for place in places:
        if os.path.realpath(place) == real:
            continue
        both = sorted(mine & set(tree.peek(place, store.adapter.ignored)))
        if both:
            first = ", ".join(map(repr, both[:3])) + (" …" if len(both) > 3 else "")
            yield Finding(
                code=SPLIT,
                severity="warning",
                path=str(place),
                problem=f"holds memory of this project too, and {len(both)} of the same name as"
                f" in {store.root}: {first}",
                remedy="convert one into the other, and move the one that is left away",
            )


def _in_files(store: Opened) -> dict[str, list[_Hit]]:
    # in a file of JSON lines a text is read as its reader reads it, without the escapes
    lines = store.adapter.file is not None
    found = {
        path: _json_hits(data) if lines else _hits(_text(data))
        for path, data in store.tree.files.items()
    }
    for path in found:
        found[path] += (hit._replace(line=0) for hit in _hits(path))
    return {path: hits for path, hits in found.items() if hits}


def _secrets(store: Opened, found: _Found) -> Iterator[Finding]:
    for path, hits in found.secrets.items():
        for hit in _once_a_line(hits):
            yield Finding(
                code=SECRET,
                severity=_severity(hit),
                path=f"{path}:{hit.line}" if hit.line else path,
                problem=_says(hit) if hit.line else f"the name says {_says(hit)}",
                remedy="take it out, and change it where it is used: it was read by whoever read"
                " the store",
            )


def _kept_secrets(store: Opened, found: _Found) -> Iterator[Finding]:
    """Look into the complement, the displaced bytes of undo, and what an apply left behind."""
    if store.tree.complement is not None:
        remedy = "take it out of the store that it came from, and convert again"
        hits = _once_a_line(_json_hits(store.tree.complement))
        yield from _grouped(_Left(hit, COMPLEMENT, "", remedy) for hit in hits)
    now = {**store.tree.files, COMPLEMENT: store.tree.complement}
    left: list[_Left] = []
    for item in kept.kept(store.root):
        if item.data is None:
            yield Finding(
                code=UNREAD_KEPT,
                severity="warning",
                path=item.place,
                problem="cannot be read, so nobody knows whether a secret is in it",
                remedy="check its permissions",
            )
        elif item.data != now.get(item.path or ""):  # what stands in the store is told of there
            left += _in_kept(item, item.data, lines=store.adapter.file is not None)
    yield from _grouped(left)


class _Left(NamedTuple):
    """A secret in what interop keeps."""

    hit: _Hit
    place: str
    of: str
    """What that says of a file of the store, as part of a sentence."""
    remedy: str
    """The way out; empty where removing the folder of the place is it."""


def _grouped(left: Iterable[_Left]) -> Iterator[Finding]:
    """Tell of each secret of a file once: every conversion since keeps it once more."""
    groups: dict[tuple[str, str, str], list[_Left]] = {}
    for one in left:
        groups.setdefault((one.hit.rule, one.of, one.remedy), []).append(one)
    for (_, of, remedy), group in groups.items():
        first = group[0]
        folders = list(dict.fromkeys(one.place.rpartition("/")[0] for one in group))
        shown = ", ".join(folders[:3])
        if len(folders) > 3:
            shown += f" … {folders[-1]} ({len(folders):,} folders)"
        several = f", {len(group):,} times" if len(group) > 1 else ""
        yield Finding(
            code=SECRET_KEPT,
            severity=_severity(first.hit),
            path=f"{first.place}:{first.hit.line}",
            problem=f"{_says(first.hit)}{of}{several}",
            remedy=remedy or f"remove {shown} once what was done then need not be taken back",
        )


def _in_kept(item: Kept, data: bytes, *, lines: bool) -> Iterator[_Left]:
    lines = lines or item.path in (COMPLEMENT, None)
    remedy = of = ""
    if "/staging/" in f"/{item.place}":
        of = f", in what was to be written to {item.path!r}" if item.path is not None else ""
        remedy = "run `interop undo` or convert again: it ends what was interrupted"
    elif item.path is not None:
        of = f", in what undo keeps of {item.path!r}"
    for hit in _once_a_line(_json_hits(data) if lines else _hits(_text(data))):
        yield _Left(hit, item.place, of, remedy)


def _says(hit: _Hit) -> str:
    return f"{secrets.what(hit.rule)} ({hit.rule}, {len(hit.value):,} characters)"


def _severity(hit: _Hit) -> Literal["error", "warning"]:
    return "error" if secrets.certain(hit.rule) else "warning"


def _hits(text: str, line: int | None = None) -> list[_Hit]:
    """Give the secrets of a text; ``line`` is where all of it stands, else it is counted."""
    out: list[_Hit] = []
    number, at = 1, 0
    for secret in secrets.find(text):
        number += text.count("\n", at, secret.start)
        at = secret.start
        said = text[secret.start : secret.end]
        out.append(_Hit(secret.rule, number if line is None else line, said))
    return out


def _json_hits(data: bytes) -> list[_Hit]:
    """Give the secrets of JSON lines, in the texts they state; other lines as they are."""
    out: list[_Hit] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        try:
            item = cast("Json", orjson.loads(raw))
        except orjson.JSONDecodeError:
            out += _hits(_text(raw), number)
            continue
        for text in _texts(item):
            out += _hits(text, number)
    return out


def _texts(item: Json) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, list):
        for value in item:
            yield from _texts(value)
    elif isinstance(item, dict):
        for name, value in item.items():
            if name == "base64" and isinstance(value, str):
                yield _text(_decoded(value))
            elif isinstance(value, str):
                # A key and its value say together what neither says alone.
                yield f"{name}={value}"
            else:
                yield from _texts(value)


def _decoded(value: str) -> bytes:
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return value.encode()


def _text(data: bytes) -> str:
    """Give the text of bytes; UTF-16 by its mark, else UTF-8, with what is neither replaced."""
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if utf16 else "utf-8", "replace")


def _once_a_line(hits: Iterable[_Hit]) -> Iterator[_Hit]:
    seen: set[tuple[str, int]] = set()
    for hit in hits:
        if (hit.rule, hit.line) not in seen:
            seen.add((hit.rule, hit.line))
            yield hit


def _masked(finding: Finding, pieces: frozenset[str]) -> Finding:
    """Mask what a finding repeats of a secret, also where it was cut to an excerpt."""
    return dataclasses.replace(
        finding,
        path=secrets.mask(finding.path),  # a piece of one in a path is a coincidence
        problem=secrets.mask(finding.problem, pieces),
        remedy=secrets.mask(finding.remedy, pieces),
    )


_CHECKS: tuple[Callable[[Opened, _Found], Iterable[Finding]], ...] = (
    _reported,
    _doubts,
    _tombstoned,
    _copies,
    _split,
    _secrets,
    _kept_secrets,
)
"""Every check that any format gets; one more is one more function here, with its code above."""
