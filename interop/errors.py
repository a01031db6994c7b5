"""Every error that interop raises for a user's mistake or a user's data.

Data in fields, the sentence in ``__str__``, the exit code on the class. Sentences say where, what
and the way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass
class InteropError(Exception):
    """Something that a user can understand and mend."""

    exit_code: ClassVar[int] = 5


@dataclass
class UsageError(InteropError):
    """The command was given something that it cannot mean."""

    problem: str
    remedy: str = ""
    exit_code: ClassVar[int] = 2

    def __str__(self) -> str:
        """Say the problem, and the way out where there is one."""
        return f"{self.problem}; {self.remedy}" if self.remedy else self.problem


@dataclass
class PlacedError(InteropError):
    """Something that went wrong at a place: a store, a file, a line."""

    where: str
    problem: str
    remedy: str = ""
    details: Sequence[str] = ()

    def __str__(self) -> str:
        """`where: problem; way out`, so editors and people can jump to it, then the details."""
        text = f"{self.where}: {self.problem}"
        if self.remedy:
            text = f"{text}; {self.remedy}"
        return "\n".join([text, *(f"  {line}" for line in self.details)])


class FormatError(PlacedError):
    """The input is not what its format says it is."""

    exit_code: ClassVar[int] = 4


class RefusedError(PlacedError):
    """Nothing was written, because a person has to decide something first."""

    exit_code: ClassVar[int] = 3


class WriteError(PlacedError):
    """Writing failed; what had been written was taken back."""

    exit_code: ClassVar[int] = 5
