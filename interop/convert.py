"""Converting one store into another: planned in memory, measured, then applied as it was shown.

Planning is pure. Every record becomes a case (interop.cases), the destination's adapter writes what
is to change over what is there, and the result is read back: exact, supplied or carried is what was
measured, never what was hoped.
"""

from __future__ import annotations

from dataclasses import replace

from interop import undoing
from interop.choices import NO_CHOICES, Choices
from interop.complement import loads as load_complement
from interop.disk import state, transaction
from interop.disk.tree import Tree
from interop.errors import FormatError, RefusedError, UsageError, WriteError
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
        FormatError: a file cannot be read, so what it says would be left behind.
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
    return Planning(source, destination, choices, now).plan()


def _check_apart(source: Opened, destination: Opened) -> None:
    """Refuse to convert a store into itself, or into a folder that holds it or is held by it."""
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
        f"{s.root / p.path}: {p.problem}"
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
    if not plan.changes:
        return None
    check_host(plan, destination, choices)
    meant = {c.path: c.after for c in plan.changes}
    files: dict[str, bytes] = {
        p: b for p, b in {**destination.tree.files, **meant}.items() if b is not None
    }
    files.pop(COMPLEMENT, None)

    def verify(found: Tree) -> None:
        for path in {*files, *found.files}:
            if files.get(path) != found.files.get(path):
                raise WriteError(f"{destination.root}/{path}", "is not what was written")
        if COMPLEMENT in meant and found.complement != meant[COMPLEMENT]:
            raise WriteError(f"{destination.root}/{COMPLEMENT}", "is not what was written")

    host = destination.adapter.host
    done: list[Token] = []
    label = f"convert {plan.source}"

    def follow() -> bytes:
        assert host is not None
        paths = [c.path for c in plan.changes]
        # what others will read says where from in kind only: paths are this machine's business
        message = f"convert from {source.adapter.name}"
        done.append(host.after(destination.root, paths, message, choices.host))
        return undoing.dump_note(destination.adapter.name, done[0])

    transaction.apply(
        destination.root,
        plan.changes,
        label=label,
        verify=verify,
        ignored=destination.adapter.ignored,
        follow=follow if host is not None else None,
    )
    state.remember(
        destination.root, destination.raw.id, plan.generation, complement=plan.generation > 0
    )
    known = source.complement.generation if source.complement is not None else 0
    state.remember(source.root, source.raw.id, known, complement=known > 0)
    return done[0] if done else None


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
