r"""The bullets of ``## Facts`` in ``MEMORY.md``: how facts were kept before they had files.

    ## Facts

    - no kind given
    - the depot closes at ten  <!-- theokit:fact kind=project modified=2026-05-02T20:06:00.000Z -->

What counts as a fact is the runtime's own rule, odd as it is: the section begins at the first
``## Facts`` anywhere in the text and ends at the next heading of level 1 or 2; each of its lines
that begins with ``- ``, blanks aside, is a fact, unless it is an index pointer. The trailing
comment, which today's runtime takes for text, declares kind and date.

Spec: docs/formats/theokit.md, section 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from interop.adapters.theokit.ecmascript import BLANK, trim, trim_end, trimmed
from interop.syntax.splice import Edit, lines

HEADING = "## Facts"
NEW = (
    "# Memory\n\n> Auto-managed by @theokit/sdk. Edit freely — the SDK reads from here.\n"
    "\n## Facts\n\n"
)
"""What the generation of bullets began a new file with."""

_STOP = re.compile(f"\n#{{1,2}}[{BLANK}]")
_POINTER = re.compile(rf"\[[^\]]*\]\([^)]+\.md\)(?:[{BLANK}]+—[{BLANK}][^\n\r\u2028\u2029]*)?\Z")
_COMMENT = re.compile(
    rf"<!--[{BLANK}]*theokit:fact[{BLANK}]+kind=(?P<kind>[a-z]+)"
    rf"(?P<dated>[{BLANK}]+modified=(?P<modified>[^{BLANK}]+))?[{BLANK}]*-->\Z"
)
_NOTHING = re.compile(r"#{3,6}\s|```|~~~|<!--|(?:[-*_]\s*){3,}\Z")
_NUMBERED = re.compile(r"\d+[.)]\s")
_OTHER = re.compile(rf"#{{1,6}}[{BLANK}]+Facts\b")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Comment:
    """Where the comment behind a bullet, and what it declares, stand."""

    start: int
    end: int
    kind: Span
    modified: Span | None
    dated: Span | None
    """The date with its key and the blanks before it."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """One fact."""

    text: Span
    comment: Comment | None
    line: Span
    """The whole line with its end; only the part behind the heading where it begins there."""


@dataclass(frozen=True, slots=True)
class Section:
    """The section of facts in a text."""

    heading: int
    """Where ``## Facts`` stands."""
    start: int
    stop: int
    bullets: tuple[Bullet, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """A line that somebody wrote among the facts and the runtime does not read."""

    line: int
    problem: str


def read(text: str) -> Section | None:
    """Find the section and its facts, or None."""
    heading = text.find(HEADING)
    if heading < 0:
        return None
    start = heading + len(HEADING)
    stopped = _STOP.search(text, start)
    stop = stopped.start() if stopped else len(text)
    bullets: list[Bullet] = []
    for begin, end, after in lines(text[start:stop]):
        # what begins on the heading's own line leaves that line's end alone
        found = _bullet(text, start + begin, start + end, start + (after if begin else end))
        if found is not None:
            bullets.append(found)
    if stopped and bullets and bullets[-1].line[1] == stop and text[stop - 1] != "\n":
        # the line end before the stop belongs to the last line
        last = bullets[-1]
        bullets[-1] = Bullet(last.text, last.comment, (last.line[0], stop + 1))
    return Section(heading, start, stop, tuple(bullets))


def _bullet(text: str, start: int, end: int, after: int) -> Bullet | None:
    first, last = trimmed(text[:end], start)
    if not text.startswith("- ", first, last):
        return None
    first, last = trimmed(text[:last], first + 2)
    if _POINTER.match(text, first, last):
        return None
    comment = None
    at = text.rfind("<!--", first, last)
    found = _COMMENT.match(text, at, last) if at >= 0 else None
    if found is not None:
        whole = first + len(trim_end(text[first:at]))
        if whole > first:  # a comment alone is all the text there is
            comment = Comment(
                whole,
                last,
                found.span("kind"),
                found.span("modified") if found["modified"] else None,
                found.span("dated") if found["dated"] else None,
            )
            last = whole
    return Bullet((first, last), comment, (start, after))


def is_pointer(line: str) -> bool:
    """Would this line, among the facts, be skipped as a pointer to a file?"""
    line = trim(line)
    return line.startswith("- ") and _POINTER.match(trim(line[2:])) is not None


def line_of(text: str, kind: str | None, modified: str | None) -> str:
    """Write one fact, without a line end; only one of a kind has the comment."""
    if kind is None:
        return f"- {text}"
    dated = f" modified={modified}" if modified else ""
    return f"- {text}  <!-- theokit:fact kind={kind}{dated} -->"


def says(line: str) -> tuple[str, str | None, str | None] | None:
    """Read one line as if it stood among the facts: text, kind, date."""
    whole = f"{HEADING}\n{line}\n- z"
    section = read(whole)
    if section is None or len(section.bullets) != 2 or "\n" in line:
        return None
    return stated(whole, section.bullets[0])


def stated(text: str, bullet: Bullet) -> tuple[str, str | None, str | None]:
    """Give what a fact says: text, kind, date."""
    comment = bullet.comment
    if comment is None:
        return text[slice(*bullet.text)], None, None
    modified = text[slice(*comment.modified)] if comment.modified else None
    return text[slice(*bullet.text)], text[slice(*comment.kind)], modified


def edits(
    text: str, bullet: Bullet, words: str, kind: str | None, modified: str | None
) -> Iterator[Edit]:
    """Give the edits that make a fact say this; kinds and dates only where it has a comment."""
    now = stated(text, bullet)
    if words != now[0]:
        yield Edit(*bullet.text, words)
    comment = bullet.comment
    if comment is None:
        return
    if kind is None:
        yield Edit(comment.start, comment.end, "")
        return
    if kind != now[1]:
        yield Edit(*comment.kind, kind)
    if modified == now[2]:
        return
    if comment.dated is None:
        yield Edit(comment.kind[1], comment.kind[1], f" modified={modified}")
    elif modified is None:
        yield Edit(*comment.dated, "")
    elif comment.modified is not None:
        yield Edit(*comment.modified, modified)


def added(text: str | None, new: list[str]) -> str:
    """Give the text with facts added at the end of their section, which is made if need be."""
    if not text:
        return NEW + "".join(f"{line}\n" for line in new)
    section = read(text)
    cut = text.find("\n")
    eol = "\r\n" if cut > 0 and text[cut - 1] == "\r" else "\n"
    block = eol.join(new)
    if section is None:
        gap = "" if text.endswith("\n") else eol
        return f"{text}{gap}{eol}{HEADING}{eol}{eol}{block}{eol}"
    at = section.start + len(trim_end(text[section.start : section.stop]))
    end = text.find("\n", at)
    if end < 0:
        gap = eol if at > section.start else eol + eol
        return f"{text}{gap}{block}{eol}"
    gap = eol if at == section.start or not section.bullets else ""
    return f"{text[: end + 1]}{gap}{block}{eol}{text[end + 1 :]}"


def lost(text: str) -> Iterator[Lost]:
    """Name the lines among the facts, or below a second heading, that are not read."""
    section = read(text)
    if section is None:
        return
    known = {b.line[0] for b in section.bullets}
    number = text.count("\n", 0, section.start)
    hangs = False
    for n, (begin, end, _) in enumerate(lines(text[section.start : section.stop])):
        line = text[section.start + begin : section.start + end]
        words = trim(line)
        if section.start + begin in known:
            hangs = True
        elif n and words and not is_pointer(line) and not _NOTHING.match(words):
            what = _what(line, words, hangs)
            yield Lost(number + n + 1, f"{what} is not read by the runtime")
        elif words:
            hangs = False
    below = False
    number = text.count("\n", 0, section.stop)
    for n, (begin, end, _) in enumerate(lines(text[section.stop :])):
        line = text[section.stop + begin : section.stop + end]
        if _STOP.match("\n" + line + "\n"):
            below = False
        if _OTHER.match(line):
            below = True
        elif below and trim(line).startswith("- ") and not is_pointer(line):
            what = "bullet below a second Facts heading"
            yield Lost(number + n + 1, f"{what} is not read by the runtime")


def _what(line: str, words: str, hangs: bool) -> str:
    if words[:2] in ("* ", "+ "):
        return f'"{words[:2]}" bullet in Facts'
    if _NUMBERED.match(words):
        return "numbered item in Facts"
    if words[0] == "-":
        return "bullet without a space"
    if hangs and line[0] in " \t":
        return "continuation line in Facts"
    return "prose in Facts"
