"""Moments, as 0.15.1 takes them: a day, or whole seconds in UTC.

Spec: docs/formats/memhtml.md, "Dates".
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache

_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)Z)?", re.ASCII
)
_LENGTHS = (len("2026-05-01"), len("2026-05-01T10:00:00Z"))
_OTHER = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*"
    r"(?:[Zz]|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII,
)


def is_moment(value: str) -> bool:
    """Does the runtime take this for a date or a moment?"""
    return len(value) in _LENGTHS and _is_moment(value)


@lru_cache(maxsize=1024)
def _is_moment(value: str) -> bool:
    match = _MOMENT.fullmatch(value)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    if year == 0:  # JavaScript has a year 0, Python has not; 1900 and later are told from 0 to 99
        return False
    try:
        date(year, month, day)
    except ValueError:
        return False
    return year > 99


def folded(value: str) -> str | None:
    """Give a moment as the runtime takes it: fractions dropped, offsets counted in, or None.

    A moment without a zone is taken as UTC, as 0.4.0 took it.
    """
    value = value.strip()
    if is_moment(value):
        return value
    match = _OTHER.fullmatch(value)
    if match is None:
        return None
    year, month, day, hour, minute = (int(part) for part in match.groups()[:5])
    second = int(match[6] or 0)
    sign = -1 if match[7] == "-" else 1
    try:
        zone = timezone(sign * timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0)))
        there = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
        at = there.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    stamp = f"{at.year:04}-{at.month:02}-{at.day:02}T{at.hour:02}:{at.minute:02}:"
    stamp += f"{second if second == 60 else at.second:02}Z"
    return stamp if is_moment(stamp) else None


def year_of(value: str | None) -> str | None:
    """Give the year of a moment."""
    return value[:4] if value is not None and is_moment(value) else None
