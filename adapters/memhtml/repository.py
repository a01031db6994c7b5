"""Git around a store: the runtime sees only what is committed.

Not pure, as are ``git`` and ``own_data``, which it is made of. It refuses a repository that is busy
with something else, makes one commit of the paths that were applied and no others, and takes it
back with a revert commit.

Spec: docs/formats/memhtml.md, "Git".
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from interop.adapters.memhtml import scaffold
from interop.adapters.memhtml.git import FROM_STDIN, command, git, ignored, listed, run, tracked
from interop.adapters.memhtml.own_data import COMPLEMENT, OWN, exclude, is_recorded
from interop.errors import InteropError, RefusedError
from interop.host import HostOptions, Token

_RUNNING: Final = {
    "MERGE_HEAD": ("merge", "git merge --continue, or git merge --abort"),
    "CHERRY_PICK_HEAD": ("cherry-pick", "git cherry-pick --continue, or --abort"),
    "REVERT_HEAD": ("revert", "git revert --continue, or --abort"),
    "rebase-merge": ("rebase", "git rebase --continue, or --abort"),
    "rebase-apply": ("rebase", "git rebase --continue, or --abort"),
    "BISECT_LOG": ("bisect", "git bisect reset"),
}
_GIT: Final = ".git"
_SLEEP: Final = "sleep/"
_LISTED: Final = 20
"""Up to so many paths are named one by one in the commands that are left to the user."""


class Repository:
    """The host of a memhtml store."""

    def before(self, root: Path, paths: Sequence[str], options: HostOptions) -> None:
        """Refuse a repository that is busy: staged changes, a sleep run, a running operation."""
        if not _is_repository(root):
            _check_identity(_existing(root), options)
            return
        _check_branch(root)
        _check_running(root)
        if options.commit:
            _check_staged(root)
            _check_identity(root, options)

    def lays_out(self, root: Path) -> Mapping[str, bytes | None]:
        """Give the scaffold of a directory that is to become a repository, and its ``.git``."""
        try:
            if _is_repository(root):
                return {}
        except RefusedError:
            return {}  # which ``before`` says
        missing = (path for path in scaffold.FILES if not os.path.lexists(root / path))
        laid_out = {path: scaffold.FILES[path].encode() for path in missing}
        return laid_out if os.path.lexists(root / _GIT) else {_GIT: None, **laid_out}

    def after(self, root: Path, paths: Sequence[str], message: str, options: HostOptions) -> Token:
        """Commit the paths that were applied; a fresh directory becomes a repository first."""
        if _is_repository(root):
            return _recorded(root, paths, message, options)
        wrote = [path for path in scaffold.FILES if not os.path.lexists(root / path)]
        broken = os.path.lexists(root / _GIT)  # git mends what it did not know as a repository
        with ExitStack() as failed:
            if not broken:
                failed.callback(_unmake, root, wrote)
            _scaffold(root, wrote, options)
            token = _recorded(root, paths, message, options, wrote)
            failed.pop_all()
        if broken or token.commit is not None:
            return token
        made = {path: digest for path in (_GIT, *wrote) if (digest := _digest(root / path))}
        return replace(token, made=made)

    def undo(self, root: Path, token: Token) -> None:
        """Make the revert commit, and put back the files that nobody touched since.

        A repository that was made without a commit goes, if it is as it was made.
        """
        was = token.complement_was_in_git
        if token.commit is None:
            if was is not None:
                exclude(root, keeps=was)
            if token.made and _digest(root / _GIT) == token.made.get(_GIT):
                made = {path: digest for path, digest in token.made.items() if path != _GIT}
                _unmake(root, [path for path in made if _digest(root / path) == made[path]])
            return
        _check_branch(root)
        _check_running(root)
        _check_staged(root)
        _check_identity(root, HostOptions())
        changed = _changed(root, token.commit)
        now = _entries(root)
        since = [p for p, (_, new) in changed.items() if now.get(p) != new]
        if since:
            raise RefusedError(
                str(root),
                f"later commits changed the files of {token.commit[:12]}, so it cannot be undone",
                f"{command(root)} revert {token.commit[:12]}, and mend what differs",
                since,
            )
        edited = set(listed(root, ["diff", "--name-only", "-z", "HEAD"], ()))
        _restore(root, changed, edited)
        words = git(root, "log", "-1", "--format=%s", token.commit).strip()
        text = f'Revert "{words}"\n\nThis reverts commit {token.commit}.\n'
        try:
            git(root, "commit", "--quiet", "-F", "-", data=text)
        except InteropError:
            run(root, "reset", "--quiet")  # nothing was staged before
            raise
        if was is not None:
            exclude(root, keeps=was)


def _recorded(
    root: Path,
    paths: Sequence[str],
    message: str,
    options: HostOptions,
    laid_out: Sequence[str] = (),
) -> Token:
    """Commit the paths, or say the commands that would; ``laid_out`` has no commit of its own."""
    was = is_recorded(root)
    keeps = was is not False if options.complement_in_git is None else options.complement_in_git
    exclude(root, keeps=keeps, asked=options.complement_in_git is not None)
    ours = sorted(p for p in set(paths) if _belongs(p, keeps=keeps))
    known = tracked(root, [*ours, COMPLEMENT])
    there = [p for p in ours if p in known or os.path.lexists(root / p)]
    forgets = not keeps and COMPLEMENT in known
    subject = scaffold.subject("batch", message)
    changed = was if was is not keeps else None
    if not options.commit:
        commands = _commands(root, [*laid_out, *there], subject, forgets=forgets)
        return Token(commands=commands, complement_was_in_git=changed)
    if not there and not forgets:
        return Token(complement_was_in_git=changed)
    try:
        commit = _commit(root, there, subject, forgets=forgets)
    except InteropError:
        _unstage(root, [*there, COMPLEMENT] if forgets else there)
        if changed is not None:
            exclude(root, keeps=changed)
        raise
    return Token(commit=commit, complement_was_in_git=changed)


_Entry = tuple[str, str] | None
"""Mode and object of a path in a tree; None where it is not there."""


def _existing(root: Path) -> Path:
    """Give the nearest folder above that is there."""
    return next((p for p in (root, *root.absolute().parents) if p.is_dir()), Path("/"))


def _is_repository(root: Path) -> bool:
    """Is the store's root the root of a repository?

    Raises:
        RefusedError: it lies inside another repository, or git may not work on it.
    """
    done = run(_existing(root), "rev-parse", "--show-toplevel")
    if done.returncode:
        if "not a git repository" in done.stderr:
            return False
        raise RefusedError(
            str(root), f"git will not work here: {done.stderr.strip()}", "do what git says"
        )
    top = Path(done.stdout.rstrip("\n"))
    if root.exists() and top.samefile(root):
        return True
    place = shlex.quote(str(root))
    raise RefusedError(
        str(root),
        f"lies inside the repository {top}, and memhtml needs one of its own",
        f"choose another folder, or make a repository there: git init -b main {place}",
    )


def _check_branch(root: Path) -> None:
    done = run(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    branch = done.stdout.strip()
    if done.returncode:
        raise RefusedError(
            str(root),
            "HEAD is detached: a commit here would be on no branch",
            f"{command(root)} switch main",
        )
    if branch.startswith(_SLEEP):
        raise RefusedError(
            str(root),
            f"the branch is {branch}: a sleep run is under way, and what is written now is merged"
            " or dropped with it",
            f"end the run with `memhtml sleep merge {branch}`, or {command(root)} switch main",
        )


def _check_running(root: Path) -> None:
    folder = root / git(root, "rev-parse", "--git-dir").strip()
    for name, (what, way_out) in _RUNNING.items():
        if (folder / name).exists():
            raise RefusedError(str(root), f"a {what} is under way in git", way_out)
    lock = folder / "index.lock"
    if lock.exists():
        raise RefusedError(
            str(root),
            "another git is at work: there is an index.lock",
            f"wait for it; if none is running, remove {lock}",
        )


def _check_staged(root: Path) -> None:
    staged = _staged(root)
    if staged:
        raise RefusedError(
            str(root),
            "changes are staged in git, and would get into the next commit",
            "commit them, or git restore --staged .",
            staged,
        )


def _staged(root: Path) -> list[str]:
    if _head(root) is None:
        return listed(root, ["ls-files", "-z"], ())
    return listed(root, ["diff", "--cached", "--name-only", "-z"], ())


def _head(root: Path) -> str | None:
    done = run(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return None if done.returncode else done.stdout.strip()


def _check_identity(root: Path, options: HostOptions) -> None:
    if options.commit and run(root, "var", "GIT_COMMITTER_IDENT").returncode:
        raise RefusedError(
            str(root),
            "git does not know who commits",
            "git config --global user.name and user.email, or convert with --no-commit",
        )


def _scaffold(root: Path, missing: Sequence[str], options: HostOptions) -> None:
    """Make a repository as ``memhtml init`` makes it, without touching what is there."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet", "-b", "main", ".")
    git(root, "config", *scaffold.CONFIG)
    for path in missing:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(scaffold.FILES[path], encoding="utf-8", newline="")
    if options.commit and missing:
        _commit(root, missing, scaffold.INIT)


def _unmake(root: Path, paths: Iterable[str]) -> None:
    """Remove a repository that is as interop made it, and these files around it."""
    if (root / _GIT).is_dir() and not (root / _GIT).is_symlink():
        shutil.rmtree(root / _GIT)
    for path in paths:
        (root / path).unlink(missing_ok=True)
        _prune(root, path)


def _digest(place: Path) -> str:
    """Give the digest of a file, or of all that a folder holds; "" where there is nothing."""
    if not place.is_dir():
        return hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else ""
    found = sorted(p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file())
    lines = "".join(f"{path}\0{_digest(place / path)}\0" for path in found)
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def _belongs(path: str, *, keeps: bool) -> bool:
    if path.startswith(OWN):
        return path == COMPLEMENT and keeps
    return True


def _commit(root: Path, paths: Sequence[str], subject: str, *, forgets: bool = False) -> str | None:
    """Commit these paths and no others; None when they are as they were.

    ``forgets``: the complement is recorded no longer, and stays where it is.
    """
    if paths:
        listed(root, ["add", "--all", "--force", *FROM_STDIN], paths)
    if forgets:
        git(root, "rm", "--cached", "--quiet", "--", COMPLEMENT)
    if not _staged(root):
        return None
    # given paths, git commits what lies there: of one that is to be forgotten, its text again
    named = () if forgets else FROM_STDIN
    listed(root, ["commit", "--quiet", "-m", subject, *named], () if forgets else paths)
    return _head(root)


def _unstage(root: Path, paths: Sequence[str]) -> None:
    data = "".join(f"{p}\0" for p in paths)
    if _head(root) is None:
        run(root, "rm", "--cached", "--quiet", "--ignore-unmatch", *FROM_STDIN, data=data)
    else:
        run(root, "reset", "--quiet", *FROM_STDIN, data=data)


def _commands(root: Path, paths: Sequence[str], subject: str, *, forgets: bool) -> tuple[str, ...]:
    """Give the commands that record what was left, for the user to run.

    What an ignore file hides is named path by path, and added all the same; in a folder there may
    be more that it hides.
    """
    if not paths and not forgets:
        return ()
    start = command(root)
    hidden = ignored(root, paths)
    named = [p for p in paths if p not in hidden]
    if len(named) > _LISTED:
        named = sorted({p if p == COMPLEMENT else p.partition("/")[0] for p in named})
    steps = [("add --all", named), ("add --force", sorted(hidden))]
    steps.append(("rm --cached --quiet", [COMPLEMENT] if forgets else []))
    return (
        *(f"{start} {how} -- {' '.join(map(shlex.quote, which))}" for how, which in steps if which),
        f"{start} commit -m {shlex.quote(subject)}",
        f"memhtml --repo {shlex.quote(str(root))} index update",
    )


def _entries(root: Path) -> dict[str, _Entry]:
    found: dict[str, _Entry] = {}
    for line in listed(root, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"], ()):
        about, _, path = line.partition("\t")
        mode, _, name = about.split(" ")
        found[path] = (mode, name)
    return found


def _changed(root: Path, commit: str) -> dict[str, tuple[_Entry, _Entry]]:
    """Give each path that a commit changed, as it was before and after."""
    known = run(root, "cat-file", "-e", f"{commit}^{{commit}}")
    if known.returncode:
        raise RefusedError(
            str(root),
            f"commit {commit[:12]} is not there any more",
            "its files were put back; commit them by hand",
        )
    args = ["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", commit]
    words = listed(root, args, ())
    found: dict[str, tuple[_Entry, _Entry]] = {}
    for about, path in zip(words[::2], words[1::2], strict=True):
        old_mode, new_mode, old, new, _ = about.removeprefix(":").split(" ")
        found[path] = (_entry(old_mode, old), _entry(new_mode, new))
    return found


def _entry(mode: str, name: str) -> _Entry:
    return None if set(mode) == {"0"} else (mode, name)


def _restore(root: Path, changed: dict[str, tuple[_Entry, _Entry]], edited: set[str]) -> None:
    """Give index and files their state from before; files that somebody touched stay."""
    lines: list[str] = []
    for path, (old, new) in changed.items():
        mode, name = old or ("0", "0" * len(new[1] if new else ""))
        lines.append(f"{mode} {name}\t{path}\0")
    back: list[str] = []
    for path, (old, new) in changed.items():
        there = os.path.lexists(root / path)
        if old is None:
            if there and path not in edited:
                (root / path).unlink()
                _prune(root, path)
        elif not there or (new is not None and path not in edited):
            back.append(path)
    git(root, "update-index", "-z", "--index-info", data="".join(lines))
    listed(root, ["checkout-index", "--force", "--quiet", "-z", "--stdin"], back)


def _prune(root: Path, path: str) -> None:
    """Remove the folders that a removed file leaves empty, as git does."""
    for folder in (root / path).parents:
        if folder == root or (folder.is_dir() and any(folder.iterdir())):
            return
        if folder.is_dir():
            folder.rmdir()
