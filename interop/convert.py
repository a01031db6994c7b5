"""Converting one store into another: planned in memory, measured, then applied as it was shown.

Planning is pure. Every record becomes a case (interop.cases), the destination's adapter writes what
is to change over what is there, and the result is read back: exact, supplied or carried is what was
measured, never what was hoped.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from interop import at_rest, outgoing, standing
from interop.applying import apply_changes, as_one_file
from interop.choices import NO_CHOICES, Choices
from interop.complement_file import loads as load_complement
from interop.disk import state
from interop.errors import FormatError, RefusedError, UsageError
from interop.host import Token
from interop.kinds import check_terms
from interop.plan import COMPLEMENT, Plan
from interop.planning import Planning
from interop.stores import Opened, assemble


def plan(source: Opened, destination: Opened, choices: Choices = NO_CHOICES, *, now: str) -> Plan:
    """Plan a conversion of one store into another; ``now`` is ISO 8601 in UTC.

    Raises:
        RefusedError: a complement does not belong to its files, or records would change that are
            not meant to.
        FormatError: a file cannot be read, so what it says would be left behind, written over, or
            not be compared with what is rejected.
        UsageError: the two stores are one, or the kind map or a decision says what the destination
            cannot hold.
    """
    _check_apart(source, destination)
    _check_readable(source, destination, choices)
    doubts = [f"{s.label}: {d}" for s in (source, destination) for d in s.doubts]
    if doubts and not choices.accept_stale:
        raise RefusedError(
            destination.label,
            "files and complement are not of one time",
            "bring both halves (a sync may be under way), or take them as they are with "
            "--accept-stale",
            doubts,
        )
    check_terms(choices.kind_map, destination.adapter.kinds, destination.adapter.name)
    standing.check_stones(destination)
    made = Planning(source, destination, choices, now).plan()
    standing.check_places(destination, made.changes)
    made = outgoing.warned(made, destination, choices.secrets, commits=choices.host.commit)
    lost = made.lost and not choices.allow_loss
    secret = made.secrets and outgoing.policy(choices.secrets) == "refuse"
    return replace(made, refused=bool(made.blocked or lost or secret))


def _check_apart(source: Opened, destination: Opened) -> None:
    """Refuse to convert a store into itself, or into a folder that holds it or is held by it."""
    if source.stream or destination.stream:
        return
    one, other = source.root.resolve(), destination.root.resolve()
    if one == other:
        raise UsageError(f"{source.label} and {destination.label} are one folder", "name two")
    if one in other.parents or other in one.parents:
        raise UsageError(
            f"{source.label} and {destination.label} lie within each other",
            "each would take the other's files for its own; choose a folder beside it",
        )


def _check_readable(source: Opened, destination: Opened, choices: Choices) -> None:
    """Refuse where the disk does not give a file: it would be taken for one that was removed."""
    unread = [
        f"{s.root / p.path if s.adapter.file is None else s.root}: {p.problem}"
        for s in (source, destination)
        for p in s.tree.problems
        if p.unread
    ]
    if unread and not choices.skip_refused:
        raise FormatError(
            source.label if source.tree.problems else destination.label,
            "these cannot be read, and nothing was written",
            "see to them, or leave them where they are with --skip-refused",
            unread,
        )


def apply_plan(
    plan: Plan, source: Opened, destination: Opened, choices: Choices = NO_CHOICES
) -> Token | None:
    """Do what a plan says, or nothing at all.

    Gives what followed around the files, where the format has something there (a commit).

    Raises:
        RefusedError: something is undecided, would be lost, or changed since the plan was made.
        WriteError: writing failed, and was taken back.
    """
    _check_decided(plan, choices)
    if not plan.changes:
        return None
    token = apply_changes(
        destination,
        plan.changes,
        label=f"convert {plan.source}",
        # what others will read says where from in kind only: paths are this machine's business
        message=f"convert from {source.adapter.name}",
        options=choices.host,
    )
    _remember(destination, plan.generation)
    _remember_source(source)
    return token


def stream(plan: Plan, source: Opened, destination: Opened, choices: Choices = NO_CHOICES) -> bytes:
    """Give what a plan would write to a place, for a destination that has none: stdout.

    Raises:
        RefusedError: something is undecided, or would be lost.
    """
    _check_decided(plan, choices)
    _remember_source(source)
    return as_one_file(destination, plan.changes)


def _remember_source(source: Opened) -> None:
    """Note a source by the id that its destination now knows it by."""
    if not source.stream:
        _remember(source, source.complement.generation if source.complement is not None else 0)


def _remember(store: Opened, generation: int) -> None:
    """Note what a store is; it is no longer locked, and may have been taken back meanwhile."""
    stands = partial(at_rest.generation_at, store.root)
    state.remember(store.root, store.raw.id, generation, generation > 0, stands=stands)


def _check_decided(plan: Plan, choices: Choices) -> None:
    if plan.blocked:
        raise RefusedError(
            plan.destination,
            "nothing was written: decisions are needed",
            "see the way out of each, or go on without them with --skip-refused",
            [f"{o.key}: {o.reason}; {o.remedy}" for o in plan.outcomes if o.undecided],
        )
    if plan.lost and not choices.allow_loss:
        raise RefusedError(
            plan.destination,
            "nothing was written: without a complement this would be lost",
            "leave out --no-complement, or accept the loss with --allow-loss",
            plan.lost,
        )
    outgoing.check(plan.destination, plan.secrets, choices.secrets)


def check_host(plan: Plan, destination: Opened, choices: Choices) -> None:
    """Ask what is around the destination whether it can follow now; changes nothing.

    Raises:
        RefusedError: it cannot, and says what has to be done first.
    """
    if destination.adapter.host is not None and plan.changes:
        paths = [c.path for c in plan.changes]
        destination.adapter.host.before(destination.root, paths, choices.host)


def after(plan: Plan, destination: Opened) -> Opened:
    """Give the destination as it will be, in memory: nothing is written."""
    files = dict(destination.tree.files)
    if plan.laid_out:
        around = destination.around().items()
        files |= {p: data for p, data in around if data is not None and p in plan.laid_out}
    kept = destination.tree.complement
    for change in plan.changes:
        if change.path == COMPLEMENT:
            kept = change.after
        elif change.after is None:
            del files[change.path]
        else:
            files[change.path] = change.after
    tree = replace(destination.tree, files=dict(sorted(files.items())), complement=kept)
    complement = load_complement(kept, COMPLEMENT) if kept is not None else None
    return assemble(destination.adapter, destination.root, tree, complement, destination.raw.id)
