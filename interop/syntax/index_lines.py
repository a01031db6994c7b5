r"""The lines of a Markdown index: items, links, tables, headings, with the span of each statement.

    # Index

    - [Dock sensor](dock-sensor.md) — two of nine report late
    - **[Ferry](ferry.md)** — pier full by nine
    - `tariff.md`: until October
    | [vans.md](vans.md) | two vans, one trailer |

A reference is a link, a wiki link, or a path in backticks or bare. Whether it refers to anything is
for the caller to say; this module knows where references, titles and hooks stand. Fences and
comments are not read.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from interop.syntax.splice import lines as split_lines

Form = Literal["link", "wiki", "code", "bare"]
Kind = Literal[
    "item", "more", "heading", "row", "quote", "rule", "blank", "fence", "comment", "text"
]
Span = tuple[int, int]


class Line(NamedTuple):
    """One line; ``more`` is a line that continues the item above it."""

    start: int
    end: int
    stop: int
    """Behind the line end."""
    kind: Kind


class Item(NamedTuple):
    """A top-level list item with the indented lines directly below it."""

    start: int
    text_start: int
    text_end: int
    stop: int


class Ref(NamedTuple):
    """One reference in the index."""

    form: Form
    target: str
    """What is referred to, as written: without angle brackets, anchor and alias."""
    start: int
    end: int
    outer_start: int
    outer_end: int
    """The reference with the ``**`` around it."""
    target_start: int
    target_end: int
    title: Span | None
    """Only a link has one."""
    hook: Span | None
    stop: int
    """Where what the reference states ends: its hook's end, else ``outer_end``."""
    line: int
    item: int
    """Number of the item that holds it, -1 outside of items."""
    within: bool
    """A mention inside the hook of an earlier reference, which states nothing of its own."""


class Index(NamedTuple):
    """An index, read."""

    lines: tuple[Line, ...]
    items: tuple[Item, ...]
    refs: tuple[Ref, ...]
    open_from: int
    """Where a fence or comment begins that nothing closes; -1 when all are closed."""


Refers = Callable[[Form, str], bool]

_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*\Z)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_TOKEN = re.compile(r"\\.|\[|\]")
_TARGET = re.compile(r"\([ \t]*(?:<([^<>]*)>[^()]*|((?:[^()<>]|\([^()]*\))*+))\)")
_WIKI = re.compile(r"\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_SEPARATOR = re.compile("[ \t]*(?:—|â€”|:)[ \t]*|[ \t]+[–-](?:[ \t]+|\\Z)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|#")
_BAR = re.compile(r"(?<!\\)\|")
_WORD = re.compile(r"[\w./%\\-]")


class _Found(NamedTuple):
    form: Form
    target: str
    start: int
    end: int
    target_start: int
    target_end: int
    title: Span | None = None


def relative(target: str, suffix: str) -> str | None:
    """Give a link's target without its anchor if it is a relative path with this suffix."""
    cut = target.find(suffix)
    while cut > 0:
        end = cut + len(suffix)
        if end == len(target) or target[end] == "#":
            return None if _SCHEME.match(target) else target[:end]
        cut = target.find(suffix, end)
    return None


def parse(text: str, refers: Refers, suffix: str = ".md", *, short: bool = True) -> Index:
    """Read an index; ``refers(form, target)`` says which possible references are some.

    A link is offered when its target is a relative path with the suffix, a bare one for each run
    of characters that ends in the suffix and does not begin or end inside a word. ``short`` may
    be false to read every line the long way: the result is the same.
    """
    rows, masked, open_from = _classify(text)
    items: list[Item] = []
    refs: list[Ref] = []
    for number, row in enumerate(rows):
        start, end, stop, kind = row
        if short and kind == "item" and number not in masked:
            usual = USUAL.fullmatch(text, start, end)
            if usual is not None and usual[2].endswith(suffix) and suffix not in usual[3]:
                if refers("link", target := usual[2]):
                    refs.append(_usual(usual, target, number, len(items)))
                items.append(Item(start, start + 2, end, stop))
                continue
        if kind == "item":
            marker = _MARKER.match(text, start, end)
            items.append(Item(start, marker.end() if marker else start, end, stop))
        elif kind == "more":
            items[-1] = items[-1]._replace(text_end=end, stop=stop)
        if kind in ("fence", "comment", "blank"):
            continue
        line = masked.get(number) or text[start:end]
        if "[" in line or suffix in line:
            item = len(items) - 1 if kind in ("item", "more") else -1
            found = _found(line, refers, suffix)
            refs += _states(line, found, start, kind, number, item)
    return Index(tuple(rows), tuple(items), tuple(refs), open_from)


def _classify(text: str) -> tuple[list[Line], dict[int, str], int]:
    """Name the kind of each line, and blank out comments inside lines."""
    rows: list[Line] = []
    masked: dict[int, str] = {}
    fence = ""
    comment = False
    in_item = False
    open_from = -1
    for start, end, stop in split_lines(text):
        if start == 0 and text[0] == "\ufeff":
            start = 1  # a byte order mark is no part of the first line
        line = text[start:end]
        kind: Kind = "text"
        if fence:
            kind = "fence"
            closer = line.strip(" \t")
            if len(closer) >= len(fence) and not closer.strip(fence[0]):
                fence, open_from = "", -1
            in_item = in_item and line[:1] in (" ", "\t") and line.strip(" \t") != ""
            rows.append(Line(start, end, stop, kind))
            continue
        began = comment
        if comment or "<!--" in line:
            visible, comment, opened = _mask(text, line, start, stop, comment)
            if comment and not began:
                open_from = start + opened
            elif not comment:
                open_from = -1
            masked[len(rows)] = visible
            line = visible
        if not began and line.startswith("- ["):  # nearly every line of an index
            in_item = True
            rows.append(Line(start, end, stop, "item"))
            continue
        opener = None if began else FENCE.match(line)
        if began:
            kind = "comment"
            in_item = False
        elif opener:
            fence, open_from = opener.group(1), start
            kind = "fence"
        if opener and _MARKER.match(line):
            kind, in_item = "item", True
        elif opener:
            in_item = in_item and line[0] in " \t"
        elif not began:
            kind = _kind(line, in_item)
            if kind == "blank" and len(rows) in masked:
                kind = "comment"
            in_item = kind in ("item", "more")
        rows.append(Line(start, end, stop, kind))
    return rows, masked, open_from


def _kind(line: str, in_item: bool) -> Kind:
    words = line.lstrip(" \t")
    if not words:
        return "blank"
    if _RULE.match(line):
        return "more" if in_item and line[0] in " \t" else "rule"
    if line[0] in " \t" and in_item:
        return "more"
    if _MARKER.match(line):
        return "item"
    if words[0] == "#" and _HEADING.match(line):
        return "heading"
    if words[0] == "|":
        return "row"
    return "quote" if words[0] == ">" else "text"


def _mask(text: str, line: str, start: int, stop: int, inside: bool) -> tuple[str, bool, int]:
    """Blank out comments: (visible line, still inside one, where that one began)."""
    out = list(line)
    at = 0
    while True:
        if not inside:
            code = [m.span() for m in _CODE.finditer(line, at)] if "`" in line else []
            opened = line.find("<!--", at)
            while opened >= 0 and any(s < opened < e for s, e in code):
                opened = line.find("<!--", opened + 1)
            if opened < 0:
                return "".join(out), False, 0
            if line.find("-->", opened) < 0:
                closed_later = text.find("-->", stop) >= 0
                if not closed_later and line[:opened].strip(" \t"):
                    return "".join(out), False, 0  # a stray mark in a text comments nothing out
        else:
            opened = at
        closed = line.find("-->", opened)
        inside = closed < 0
        until = len(line) if inside else closed + 3
        out[opened:until] = " " * (until - opened)
        if inside:
            return "".join(out), True, opened
        at = until


# The short path: an item that is one link and its hook, without any other mark. Nearly all lines of
# an index are such; a property test holds it and the long path together.

USUAL = re.compile(
    r"[-*+] \[([^][\\`]+)\]\((\w[\w./-]*\.\w+)\) — ([^][`\\ \t](?:[^][`\\]*[^][`\\ \t])?)"
)


def _usual(found: re.Match[str], target: str, number: int, item: int) -> Ref:
    title, hook = found.span(1), found.span(3)
    begin, stop = found.span(2)
    start, end = title[0] - 1, stop + 1
    return Ref(
        "link", target, start, end, start, end, begin, stop, title, hook, hook[1], number, item,
        False,
    )  # fmt: skip


def _found(line: str, refers: Refers, suffix: str) -> list[_Found]:
    """Every reference of a line, in order."""
    code = list(_CODE.finditer(line)) if "`" in line else []
    spans = [m.span() for m in code]
    taken = bytearray(len(line))  # 1 where a link, a wiki link or code stands
    out: list[_Found] = []
    if "](" in line:
        for link in _links(line, spans):
            _take(taken, link.start, link.end)
            path = relative(link.target, suffix)
            if path is not None and refers("link", path):
                end = link.target_start + len(path)
                out.append(link._replace(target=path, target_end=end))
    for match in code:
        target = match.group(2)
        if suffix in target and not taken[match.start()] and refers("code", target):
            out.append(_Found("code", target, *match.span(), *match.span(2)))
    for start, end in spans:
        _take(taken, start, end)
    if "[[" in line:
        for match in _WIKI.finditer(line):
            target = match.group(1)
            if not taken[match.start()] and refers("wiki", target):
                out.append(_Found("wiki", target, *match.span(), *match.span(1)))
                _take(taken, *match.span())
    if suffix in line:
        out += _bare(line, taken, refers, suffix)
    out.sort(key=lambda f: f.start)
    return out


def _take(taken: bytearray, start: int, end: int) -> None:
    taken[start:end] = b"\1" * (end - start)


def _links(line: str, code: list[Span]) -> Iterator[_Found]:
    """Yield inline links, brackets balanced; of nested ones the outer."""
    found: list[_Found] = []
    starts: list[int] = []
    code_starts = [s for s, _ in code]
    for token in _TOKEN.finditer(line):
        at = token.start()
        if code:
            near = bisect_right(code_starts, at) - 1
            if near >= 0 and at < code[near][1]:
                continue
        mark = token.group()
        if mark == "[":
            starts.append(at)
        elif mark == "]" and starts:
            start = starts.pop()
            target = _TARGET.match(line, at + 1)
            if target is None:
                continue
            group = 1 if target.group(1) is not None else 2
            while found and found[-1].start > start:
                found.pop()
            words = target.group(group)
            if group == 2:
                words = _untitled(words.rstrip(" \t"))
            span = target.start(group), target.start(group) + len(words)
            title = (start + 1, at)
            found.append(_Found("link", words, start, target.end(), *span, title))
    return iter(found)


def _untitled(words: str) -> str:
    """Take a quoted title off the end of a link's target."""
    mark = words[-1:]
    if mark and mark in "\"'":
        opened = words.rfind(mark, 0, -1)
        if opened > 0 and words[opened - 1] in " \t":
            return words[:opened].rstrip(" \t")
    return words


def _bare(line: str, taken: bytearray, refers: Refers, suffix: str) -> Iterator[_Found]:
    """Yield paths that stand bare in a line, the longest first."""
    floor = 0
    cut = line.find(suffix)
    while cut >= 0:
        end = cut + len(suffix)
        if taken[cut]:
            cut = line.find(suffix, end)
            continue
        follows = line[end : end + 2]
        beyond = follows[1:] if follows[:1] == "." else follows[:1]  # a full stop ends a sentence
        if not _WORD.match(beyond):
            lowest = max(floor, taken.rfind(1, 0, cut) + 1, cut - 255)
            for start in range(lowest, cut):
                if (start and _WORD.match(line[start - 1])) or line[start] in " \t":
                    continue
                if refers("bare", line[start:end]):
                    yield _Found("bare", line[start:end], start, end, start, end)
                    floor = end
                    break
        cut = line.find(suffix, end)


def _states(
    line: str, found: list[_Found], offset: int, kind: Kind, number: int, item: int
) -> Iterator[Ref]:
    """Add to each reference what it states: its title, and its hook up to the next one."""
    covered = 0
    bars = [m.start() for m in _BAR.finditer(line)] if kind == "row" else []
    for n, ref in enumerate(found):
        outer_start, outer_end = ref.start, ref.end
        if line.startswith("**", outer_end):
            outer_end += 2
            if line.startswith("**", outer_start - 2) and outer_start >= 2:
                outer_start -= 2
        within = ref.form != "link" and ref.start < covered
        hook: Span | None = None
        if kind == "row":
            hook = _cell(line, bars, outer_end)
        elif not within:
            hook = _hook(line, found, n, outer_end)
        title = ref.title if ref.title and ref.title[0] < ref.title[1] else None
        stop = outer_end
        if hook and kind != "row":
            stop = covered = hook[1]
        yield Ref(
            ref.form, ref.target, ref.start + offset, ref.end + offset,
            outer_start + offset, outer_end + offset,
            ref.target_start + offset, ref.target_end + offset,
            (title[0] + offset, title[1] + offset) if title else None,
            (hook[0] + offset, hook[1] + offset) if hook else None,
            stop + offset, number, item, within,
        )  # fmt: skip


def _hook(line: str, found: list[_Found], n: int, outer_end: int) -> Span | None:
    separator = _SEPARATOR.match(line, outer_end)
    if separator is None:
        return None
    start = separator.end()
    end = len(line)
    for after in found[n + 1 :]:
        before = after.start
        if line.startswith("**", before - 2) and before - 2 >= start:
            before -= 2
        words = line[start:before].rstrip(" \t")
        if after.form == "link" or words.endswith("·"):
            end = start + len(words.removesuffix("·"))
            break
    end = start + len(line[start:end].rstrip(" \t"))
    return (start, end) if start < end else None


def _cell(line: str, bars: list[int], at: int) -> Span | None:
    """Give the cell behind the one at a place, without the blanks around it."""
    n = bisect_left(bars, at)
    if n == len(bars):
        return None
    start = bars[n] + 1
    cell = line[start : bars[n + 1] if n + 1 < len(bars) else len(line)]
    end = start + len(cell.rstrip(" \t"))
    start += len(cell) - len(cell.lstrip(" \t"))
    return (start, end) if start < end else None
