"""Two stores on which nothing changed since both agreed: told by digests, before a file is parsed.

A conversion that left nothing open puts a mark into the destination's complement. While every file
of both stores has the digest that stands there, the same conversion has nothing to do.
"""

from __future__ import annotations

from interop import at_rest, complement_file, stores
from interop.adapter import Adapter, path_of
from interop.choices import Choices
from interop.disk import state, tree
from interop.disk.tree import Tree
from interop.kinds import check_terms
from interop.model import MODEL_VERSION
from interop.plan import COMPLEMENT, Outcome, Plan, digest


def mark(source: Adapter, kept: bytes | None, destination: Adapter) -> str:
    """Give the mark of a conversion that left nothing open.

    It names the readers, as a newer one may find more in the same bytes, and the complement that
    lay beside the source.
    """
    readers = f"{source.name} {source.spec}, {destination.name} {destination.spec}, {MODEL_VERSION}"
    return digest(readers.encode() + b"\0" + (kept or b""))[:16]


def plan(source: str, destination: str, choices: Choices) -> Plan | None:
    """Give the plan of a conversion that has nothing to do; None where only planning can tell.

    Raises:
        UsageError: a store or the kind map is not what it should be.
        FormatError: a store cannot be found, or no format fits.
    """
    if not _leaves_alone(choices) or stores.is_stream(source) or stores.is_stream(destination):
        return None
    to = stores.root_of(destination, existing=False)
    if not (to / COMPLEMENT).is_file():
        return None
    (one, root), (other, to) = stores.place(source), stores.place(destination, must_exist=False)
    if one.file is not None or other.file is not None:
        return None
    check_terms(choices.kind_map, other.kinds, other.name)
    here, there = tree.load(root, one.ignored), tree.load(to, other.ignored)
    head = complement_file.head_of(there.complement or b"")
    known = at_rest.known_id(root, here.complement)
    if head is None or known is None or at_rest.known_id(to, there.complement) != head.store:
        return None
    agreed = head.sources.get(known)
    if agreed is None or agreed.settled != mark(one, here.complement, other):
        return None
    if not (_is_as_written(here, agreed.tree) and _is_as_written(there, head.tree)):
        return None
    remembered = state.remembered(to)
    if remembered is not None and remembered.generation > head.generation:
        return None
    remembered = state.remembered(root)
    if remembered is not None and remembered.complement and here.complement is None:
        return None
    place = {key: n for n, key in enumerate(agreed.order)}
    keys = complement_file.keys_of(there.complement or b"", known)
    keys.sort(key=lambda pair: (path_of(pair[0]), place.get(pair[0], -1)))
    return Plan(
        source=f"{one.name}:{root}",
        destination=f"{other.name}:{to}",
        changes=(),
        outcomes=tuple(Outcome(action="same", key=key, to=now) for key, now in keys),
        generation=head.generation,
    )


def _leaves_alone(choices: Choices) -> bool:
    """Do these choices say nothing of records on which both stores agree?"""
    return choices.complement and not (
        choices.decisions or choices.override or choices.tombstones or choices.allow_tombstoned
    )


def _is_as_written(found: Tree, digests: object) -> bool:
    return not found.problems and {p: digest(d) for p, d in found.files.items()} == digests
