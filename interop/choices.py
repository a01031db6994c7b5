"""What the user decided before a conversion: flags, kinds, and decisions by record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interop.host import HostOptions
from interop.model import Json
from interop.stores import Opened

if TYPE_CHECKING:
    from interop.outgoing import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Everything that a conversion may be told."""

    kind_map: Mapping[str, str] = field(default_factory=dict[str, str])
    status_map: Mapping[str, str] = field(default_factory=dict[str, str])
    """Status as stated -> the status of the destination that means the same."""
    decisions: Mapping[str, Mapping[str, Json]] = field(
        default_factory=dict[str, Mapping[str, Json]]
    )
    """Key of a record -> ``kind``, ``status``, ``take`` or ``carry``."""
    carry: bool = False
    """Let records that cannot stand in the destination travel in its complement."""
    delete: bool = False
    """Remove what the source removed."""
    skip_refused: bool = False
    """Go on without the records that are refused or in conflict."""
    override: bool = False
    """Let the kind map change kinds that the destination accepts."""
    tombstones: tuple[Opened, ...] = ()
    """Further stores whose tombstones count."""
    allow_tombstoned: frozenset[str] = frozenset()
    """Keys of records that may state a rejected value."""
    complement: bool = True
    allow_loss: bool = False
    accept_stale: bool = False
    secrets: Policy | None = None
    """What to do about secrets on their way into a store that leaves the machine; None: as the
    user's settings say."""
    host: HostOptions = field(default_factory=HostOptions)
    """What is to follow around the files, where the format has something there."""

    def about(self, key: str) -> Mapping[str, Json]:
        """Give what was decided about one record."""
        return self.decisions.get(key, {})


NO_CHOICES = Choices()
