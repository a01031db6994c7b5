"""What an agent is to know when a session begins: the stores in so many bytes, at most.

    tombstones      every one, whole: what was rejected, and what stands in its place
    decisions       those in force, whole
    tasks           those that are open, whole
    memories        the most recently dated first, undated ones last in the order of the stores:
                    the titles of as many as fit, then the whole texts of the first ones

A record stands there whole or by its title, never in parts. What could not be read is named before
everything else, what was left out is counted at the end. Text from stores is quoted, as data.

Spec: docs/agents.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from interop import quoted, wording
from interop.bridge import Answer, Bridge, Found
from interop.errors import InteropError
from interop.model import Json

BUDGET: Final = 8_000
"""Bytes of a digest where nothing is said: less than the 10,000 characters that Claude Code shows
of what a hook says."""
LEAST: Final = 1_000
"""The smallest budget: room for the frame, for what could not be read, and for something to say."""
BYTES_A_TOKEN: Final = 3
"""Bytes of UTF-8 that are taken for one token. English has four and more, so a budget in tokens is
rather kept than used up."""
_TITLE = 160
"""Characters of a record's own words in its title line; whole words are never needed there."""
_PROBLEM = 200
"""Characters of the name of what could not be read."""

_CLOSED = frozenset({"done", "dropped", "closed", "cancelled", "completed"})
"""Statuses of tasks that nobody has to do any more, folded."""
_PAST = ("superseded", "rejected", "revoked", "withdrawn", "deprecated")
"""What a decision's status begins with, folded, when it is in force no longer."""

_SECTIONS: Mapping[str, str] = {
    "tombstone": "Rejected values; do not use them again:",
    "decision": "Decisions in force:",
    "task": "Open tasks:",
    "memory": "Memories, the most recently dated first:",
}
_MANY: Mapping[str, str] = {
    "tombstone": "tombstones",
    "decision": "decisions",
    "task": "tasks",
    "memory": "memories",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """A digest, and what stands in it."""

    text: str
    """Empty where no store has anything to say and nothing went wrong."""
    shown: Mapping[str, int] = field(default_factory=dict[str, int])
    """Role -> how many of its records are shown, whole or by their title."""
    titled: Mapping[str, int] = field(default_factory=dict[str, int])
    """Role -> of how many of these the title only."""
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    """Role -> how many are not shown, for want of room."""
    problems: tuple[str, ...] = ()
    """What could not be read, and why."""

    def to_json(self) -> dict[str, Json]:
        """Give its JSON form."""
        return {
            "digest": self.text,
            "bytes": _size(self.text),
            "shown": dict(self.shown),
            "titled": dict(self.titled),
            "left_out": dict(self.left_out),
            "problems": list(self.problems),
        }


def of_settings(budget: int = BUDGET, *, read: Sequence[str] = ()) -> Digest:
    """Digest the stores that are named, else those of the settings; nothing that fails is raised.

    A session that begins is not to be stopped by a broken store, a broken setting or a full disk:
    what went wrong is said in the digest.
    """
    import sqlite3

    from interop import config, configured

    try:
        if not read and not config.read_stores(config.load()):
            return Digest(text="", problems=("no store to read is set",))
        bridge = configured.bridge(read=read, read_only=True)
        answer = bridge.records(archived=False)
    except InteropError as error:
        return of_answer(Answer(found=()), budget, problems=[str(error)])
    except (OSError, sqlite3.Error) as error:
        return of_answer(Answer(found=()), budget, problems=[f"the stores cannot be read: {error}"])
    return of_answer(answer, budget)


def of_bridge(bridge: Bridge, budget: int = BUDGET) -> Digest:
    """Digest the stores of a bridge.

    Raises:
        InteropError: not one of the stores can be read.
    """
    return of_answer(bridge.records(archived=False), budget)


def _masked(problems: tuple[str, ...]) -> tuple[str, ...]:
    """Mask what problems repeat of a secret, before they are cut short."""
    if not problems:
        return ()
    from interop.secrets import mask  # most digests have no problem

    return tuple(map(mask, problems))


def of_answer(answer: Answer, budget: int, *, problems: Iterable[str] = ()) -> Digest:
    """Digest what stores say; the text has at most ``budget`` bytes, of which ``LEAST`` are needed.

    Args:
        answer: the records, in order of precedence.
        budget: bytes of UTF-8.
        problems: what else went wrong.
    """
    assert budget >= LEAST, "the frame and what could not be read have to fit"
    unread = _masked((*problems, *map(str, answer.problems)))
    ordered = _ordered(answer.found)
    if not any(ordered.values()) and not unread:
        return Digest(text="")
    page = _Page(budget, unread, ordered)
    for role, found in ordered.items():
        page.add(role, found, titles_first=role == "memory")
    return Digest(
        text=page.text(),
        shown={role: n for role, n in page.shown.items() if n},
        titled={role: n for role, n in page.titled.items() if n},
        left_out=page.left_out(),
        problems=unread,
    )


def _ordered(found: Iterable[Found]) -> dict[str, list[Found]]:
    """Give what is worth saying, by role, the most important first."""
    by_role: dict[str, list[Found]] = {role: [] for role in _SECTIONS}
    for one in found:
        if _matters(one):
            by_role[one.role].append(one)
    # stable: undated ones keep the order of the stores, behind all that have a date
    by_role["memory"].sort(key=lambda one: -_moment(one))
    return by_role


def _matters(one: Found) -> bool:
    status = str(one.data.get("status") or "").strip().casefold()
    if one.role == "task":
        return status not in _CLOSED
    if one.role == "decision":
        return not status.startswith(_PAST)
    return True


def _moment(one: Found) -> float:
    """Give when a record was last said, by its own statement; undated is before everything."""
    stated = (one.data.get(name) for name in ("modified", "created"))
    for value in stated:
        if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value.strip())
            except ValueError:
                continue  # a date in other words: it cannot be compared, and is not guessed
            at = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            return (at - _EPOCH).total_seconds()
    return float("-inf")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Page:
    """Lines, section by section, as long as they fit."""

    def __init__(
        self, budget: int, unread: Sequence[str], ordered: Mapping[str, Sequence[Found]]
    ) -> None:
        self.every = {role: len(found) for role, found in ordered.items()}
        self.shown: Counter[str] = Counter()
        self.titled: Counter[str] = Counter()
        self._lines: list[str] = []
        head = [_short(problem, _PROBLEM) for problem in unread]
        # longer than any end can be: as if everything were left out and shown by its title, too
        end = max(_size(_end(self.every, self.every)), _size(_EVERYTHING)) + 1
        self._left = budget - _size(quoted.quote(())) - end
        for place, problem in enumerate(head):
            rest = len(head) - place
            line = f"Not read: {problem}"
            more = f"Not read: {rest} more"
            # the first of them may take half of the page, the others are counted
            if self._cost([line]) + self._cost([more]) > self._left - LEAST // 4:
                self._put([more])
                break
            self._put([line])

    def add(self, role: str, found: Sequence[Found], *, titles_first: bool) -> None:
        """Add the records of a role.

        With ``titles_first`` the titles of as many as fit, then whole texts in place of the first
        titles; otherwise each whole where that fits, else by its title.
        """
        head = [_SECTIONS[role]]
        chosen: list[list[str]] = []
        left = self._left - self._cost(head)
        wholes: list[list[str]] = []
        for one in found:
            whole, title = _whole(one), [_title(one)]
            if self._cost(whole) < self._cost(title):
                title = whole
            first = title if titles_first or self._cost(whole) > left else whole
            if self._cost(first) > left:
                break  # what comes later matters less, and does not take the place of what comes
            left -= self._cost(first)
            chosen.append(first)
            wholes.append(whole)
        for place, whole in enumerate(wholes if titles_first else ()):
            more = self._cost(whole) - self._cost(chosen[place])
            if more <= left:
                left -= more
                chosen[place] = whole
        if chosen:
            self._put([*head, *(line for lines in chosen for line in lines)])
            self.shown[role] = len(chosen)
            self.titled[role] = sum(
                lines != whole for lines, whole in zip(chosen, wholes, strict=True)
            )

    def left_out(self) -> dict[str, int]:
        """Say how many of each role are not shown."""
        return {r: n - self.shown[r] for r, n in self.every.items() if n > self.shown[r]}

    def text(self) -> str:
        """Give the whole digest."""
        return f"{quoted.quote(self._lines)}\n{_end(self.left_out(), self.titled)}"

    def _put(self, lines: Sequence[str]) -> None:
        self._lines += lines
        self._left -= self._cost(lines)

    def _cost(self, lines: Sequence[str]) -> int:
        """Give the bytes that lines take as they are quoted, with their line ends."""
        shown = (part for line in lines for part in quoted.lines(line))
        return sum(_size(quoted.MARK) + _size(part) + 1 for part in shown)


_EVERYTHING = "That is everything that was read."


def _end(left_out: Mapping[str, int], titled: Mapping[str, int]) -> str:
    """Say what is not there: whole records, and the texts of those with their title only."""
    parts = [
        f"{what}: {_counts(numbers)}."
        for what, numbers in (("Left out for want of room", left_out), ("By title only", titled))
        if any(numbers.values())
    ]
    return " ".join([*parts, "Searching the memory finds them."]) if parts else _EVERYTHING


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {r if n == 1 else _MANY[r]}" for r, n in numbers.items() if n)


def _title(one: Found) -> str:
    """Give one line that says what a record is, where it stands, and that it goes on."""
    head, said = wording.heading(one.data), wording.says(one.data)
    words = f"{head}: {said}" if head and said and said != head else head or said
    return f"- {_short(words, _TITLE)} [{_short(one.store, 60)}:{one.key}]"


def _whole(one: Found) -> list[str]:
    """Give everything that a record says, and where it stands."""
    data = one.data
    head, said = wording.heading(data), wording.says(data)
    words = f"{head}: {said}" if head and said and said != head else head or said
    if one.role == "tombstone":
        words = said
    kind = wording.kind(data)
    label = "" if kind in (one.role, wording.UNTYPED) else f" ({kind})"
    lines = [f"- {words}{label} [{', '.join(f'{s.store}:{s.key}' for s in one.sources)}]"]
    if one.role == "task" and data.get("due"):
        lines.append(f"  due: {data['due']}")
    text = wording.text(data)
    if " ".join(text.split()) != said:
        lines += [f"  {line}" for line in text.splitlines() if line.strip()]
    for source in one.sources:
        if source.data is not None:
            lines.append(f"  {source.store} says it in other words: {wording.says(source.data)}")
    return lines


def _short(text: str, width: int) -> str:
    """Give the beginning of a text on one line, whole words where it has some."""
    line = " ".join(text[: width * 8].split())
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))
