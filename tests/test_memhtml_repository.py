"""Git around a memhtml store, on real repositories."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from interop import settled
from interop.adapters.memhtml.repository import Repository
from interop.adapters.memhtml.scaffold import FILES
from interop.choices import Choices
from interop.convert import after, apply_plan, plan
from interop.errors import FormatError, RefusedError, WriteError
from interop.host import Host, HostOptions, Token
from interop.stores import open_store
from interop.undoing import dump_note, token_of, undo

ROOT = Path(__file__).parents[1]
HOST: Host = Repository()
ASKED = HostOptions()
PATH = "resources/docks/dock-seven.html"
COMPLEMENT = ".interop/complement"
MEMORY = """\
<!doctype html>
<title>Bells</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-05-01">
<meta name="memhtml-updated" content="2026-05-01">
<article><p><mark>Bells are loud.</mark></p></article>
"""


@pytest.fixture(autouse=True)
def identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as somebody, and with no configuration but this."""
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Mira\n\temail = mira@example.org\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def git(root: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def put(root: Path, path: str, text: str = "one\n") -> str:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return path


def apply(root: Path, *paths: str, options: HostOptions = ASKED) -> Token:
    HOST.before(root, paths, options)
    return HOST.after(root, paths, "3 records from claude-code", options)


@pytest.fixture
def live(root: Path) -> Path:
    """A store with one commit of somebody's besides the scaffold's."""
    apply(root)
    put(root, "areas/inbox/old.html", "old\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "memhtml(write): Old")
    return root


def test_a_fresh_directory_becomes_a_repository(root: Path) -> None:
    HOST.before(root, [PATH], ASKED)
    assert not root.exists(), "before changes nothing"
    put(root, PATH)
    put(root, COMPLEMENT, "{}\n")
    token = HOST.after(root, [PATH, COMPLEMENT], "3 records from claude-code", ASKED)
    assert git(root, "log", "--format=%s").splitlines() == [
        "memhtml(batch): 3 records from claude-code",
        "memhtml(init): scaffold the memory repository",
    ]
    assert token.commit == git(root, "rev-parse", "HEAD").strip()
    assert git(root, "show", "--name-only", "--format=", "HEAD").splitlines() == [COMPLEMENT, PATH]
    assert set(git(root, "ls-tree", "-r", "--name-only", "HEAD~").splitlines()) == set(FILES)
    assert git(root, "symbolic-ref", "--short", "HEAD").strip() == "main"
    assert git(root, "config", "merge.ours.driver").strip() == "true"
    assert git(root, "status", "--porcelain") == ""


def test_what_is_there_is_kept(root: Path) -> None:
    put(root, "README.html", "mine\n")
    put(root, PATH)
    apply(root, PATH)
    assert (root / "README.html").read_text() == "mine\n"
    assert git(root, "status", "--porcelain") == "?? README.html\n", "not ours to commit"


def test_one_commit_of_our_paths_only(live: Path) -> None:
    put(live, "areas/inbox/somebody's.html")
    put(live, "areas/inbox/old.html", "edited by somebody\n")
    put(live, PATH)
    (live / "areas/inbox/gone.html").unlink(missing_ok=True)
    apply(live, PATH, "areas/inbox/gone.html")
    assert git(live, "show", "--name-status", "--format=", "HEAD") == f"A\t{PATH}\n"
    status = git(live, "status", "--porcelain", "-z").split("\0")
    assert status == [" M areas/inbox/old.html", "?? areas/inbox/somebody's.html", ""]


def test_removed_and_odd_paths(live: Path) -> None:
    odd = put(live, "areas/My Notes/*[x]\\ näme.html")
    (live / "areas/inbox/old.html").unlink()
    apply(live, odd, "areas/inbox/old.html")
    shown = git(
        live, "-c", "core.quotePath=off", "show", "--name-status", "-z", "--format=", "HEAD"
    )
    assert set(shown.strip("\0").split("\0")) == {"A", "D", "areas/inbox/old.html", odd}


def test_an_ignored_path_is_committed_all_the_same(live: Path) -> None:
    put(live, ".git/info/exclude", "*.html\n")
    put(live, PATH)
    assert apply(live, PATH).commit is not None
    assert git(live, "ls-files", PATH).strip() == PATH


def test_nothing_changed_makes_no_commit(live: Path) -> None:
    before = git(live, "rev-parse", "HEAD")
    assert apply(live, "areas/inbox/old.html") == Token()
    assert git(live, "rev-parse", "HEAD") == before


def test_the_complement_can_stay_out_of_git(live: Path) -> None:
    put(live, PATH)
    put(live, COMPLEMENT)
    put(live, ".interop/lock")
    apply(live, PATH, COMPLEMENT, options=HostOptions(complement_in_git=False))
    assert git(live, "ls-files", ".interop") == ""
    assert git(live, "status", "--porcelain") == "", "a dirty tree would keep sleep from running"


IGNORE, KEEP = HostOptions(complement_in_git=False), HostOptions(complement_in_git=True)
EXCLUDE = ".git/info/exclude"


def clean(root: Path) -> bool:
    return git(root, "status", "--porcelain", "--untracked-files=all") == ""


def choose(root: Path, text: str, options: HostOptions = ASKED) -> Token:
    """Write a memory and a complement that say something new."""
    put(root, ".interop/lock")
    put(root, ".interop/undo/7/0")
    return apply(root, put(root, PATH, text), put(root, COMPLEMENT, text), options=options)


@pytest.mark.parametrize("options", [ASKED, HostOptions(commit=False)])
@pytest.mark.parametrize("how", ["option", "gitignore", "gitignore of it alone", "exclude", "user"])
def test_an_ignored_complement_stays_ignored(
    live: Path, tmp_path: Path, how: str, options: HostOptions
) -> None:
    """Whoever said so: the option of an earlier conversion, or a person in some ignore file."""
    if how == "option":
        choose(live, "one\n", IGNORE)
    elif how == "exclude":
        put(live, EXCLUDE, ".interop\n")
    elif how == "user":
        put(tmp_path, "ignored", ".interop/\n")
        git(live, "config", "core.excludesFile", str(tmp_path / "ignored"))
    else:
        line = COMPLEMENT if how.endswith("alone") else ".interop"
        put(live, ".gitignore", f"{FILES['.gitignore']}{line}\n")
        git(live, "commit", "-q", "-a", "-m", "ignore")
    for text in ("two\n", "three\n"):
        token = choose(live, text, options)
        for command in token.commands[:-1]:
            subprocess.run(command, shell=True, check=True, capture_output=True)
        assert git(live, "show", f"HEAD:{PATH}") == text
        assert git(live, "log", "--all", "--format=%h", "--", ".interop") == "", "in no history"
        assert clean(live)
    if how == "exclude":
        assert (live / EXCLUDE).read_text() == ".interop\n", "a person's own rule is enough"
    choose(live, "four\n", KEEP)
    assert git(live, "show", f"HEAD:{COMPLEMENT}") == "four\n"
    choose(live, "five\n")
    assert git(live, "show", f"HEAD:{COMPLEMENT}") == "five\n", "and kept it stays"
    assert clean(live)


def test_undo_gives_back_what_was_ignored(live: Path) -> None:
    choose(live, "one\n", IGNORE)
    before = (live / EXCLUDE).read_text()
    token = choose(live, "two\n", KEEP)
    assert token_of(orjson.loads(dump_note("memhtml", token))) == token
    put(live, PATH, "one\n")  # as the core does before
    put(live, COMPLEMENT, "one\n")
    HOST.undo(live, token)
    assert (live / EXCLUDE).read_text() == before
    assert (live / COMPLEMENT).read_text() == "one\n"
    assert git(live, "ls-files", ".interop") == ""
    assert clean(live)


def test_undo_without_a_commit_gives_back_what_was_ignored(live: Path) -> None:
    choose(live, "one\n", IGNORE)
    before = (live / EXCLUDE).read_text()
    token = choose(live, "two\n", HostOptions(commit=False, complement_in_git=True))
    put(live, PATH, "one\n")
    put(live, COMPLEMENT, "one\n")
    HOST.undo(live, token)
    assert (live / EXCLUDE).read_text() == before
    assert clean(live)


@pytest.mark.parametrize("commit", [True, False])
def test_a_recorded_complement_that_is_to_be_ignored_leaves_the_tree(
    live: Path, commit: bool
) -> None:
    choose(live, "one\n", KEEP)
    before = (live / EXCLUDE).read_text()
    put(live, "areas/inbox/old.html", "edited by somebody\n")
    options = HostOptions(commit=commit, complement_in_git=False)
    token = choose(live, "two\n", options)
    for command in token.commands[:-1]:
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert git(live, "ls-files", ".interop") == ""
    assert git(live, "show", f"HEAD:{PATH}") == "two\n"
    assert (live / COMPLEMENT).read_text() == "two\n"
    assert git(live, "status", "--porcelain") == " M areas/inbox/old.html\n"
    choose(live, "three\n")
    assert git(live, "ls-files", ".interop") == ""
    if commit:
        git(live, "reset", "-q", "--hard", "HEAD~")  # of the third
        put(live, COMPLEMENT, "one\n")
        put(live, PATH, "one\n")
        HOST.undo(live, token)
        assert git(live, "show", f"HEAD:{COMPLEMENT}") == "one\n"
        assert (live / EXCLUDE).read_text() == before


def test_a_commit_that_fails_leaves_the_choice_as_it_was(live: Path) -> None:
    choose(live, "one\n", KEEP)
    before, head = (live / EXCLUDE).read_text(), git(live, "rev-parse", "HEAD")
    put(live, ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    (live / ".git/hooks/pre-commit").chmod(0o755)
    with pytest.raises(WriteError):
        choose(live, "two\n", IGNORE)
    assert (live / EXCLUDE).read_text() == before
    assert git(live, "rev-parse", "HEAD") == head
    assert git(live, "diff", "--cached", "--name-only") == ""
    assert git(live, "ls-files", COMPLEMENT).strip() == COMPLEMENT


def test_a_note_that_says_no_such_thing_of_the_complement_is_refused(live: Path) -> None:
    note = orjson.loads(dump_note("memhtml", choose(live, "one\n")))
    with pytest.raises(FormatError):
        token_of({**note, "complement_was_in_git": "yes"})


def test_the_whole_way_with_an_ignored_complement(tmp_path: Path) -> None:
    """The option once, a conversion without it, something forgotten, an undo of each."""
    put(tmp_path, "home/bells.md", BELLS)
    root, home = tmp_path / "m", f"claude-code:{tmp_path / 'home'}"
    for n, options in enumerate((IGNORE, ASKED, ASKED)):
        put(tmp_path, "home/bells.md", BELLS + f"{n} of them.\n")
        source, there = open_store(home), open_store(f"memhtml:{root}", must_exist=False)
        choices = Choices(kind_map=SEMANTIC, host=options)
        made = plan(source, there, choices, now=f"2026-09-0{n + 1}T08:30:00.000Z")
        apply_plan(made, source, there, choices)
        assert clean(root)
    assert (root / COMPLEMENT).is_file()
    for _ in range(2):
        undo(root)
        assert (root / COMPLEMENT).is_file()
        assert clean(root)
    assert git(root, "log", "--all", "--format=%h", "--", ".interop") == ""


def test_the_commands_record_what_the_commit_would(live: Path) -> None:
    """With paths that are ignored, many paths, one that is gone, and one that never was there."""
    put(live, ".gitignore", f"{FILES['.gitignore']}hidden-*\n")
    git(live, "commit", "-q", "-a", "-m", "ignore")
    paths = [put(live, f"areas/inbox/m{n}.html") for n in range(30)]
    hidden = [put(live, f"areas/inbox/hidden-{n} [x].html") for n in range(2)]
    other = put(live, "areas/inbox/hidden-mine.html")
    (live / "areas/inbox/old.html").unlink()
    changed = [*paths, *hidden, "areas/inbox/old.html", "resources/never.html"]
    token = apply(live, *changed, options=HostOptions(commit=False))
    assert max(map(len, token.commands)) < 400, "many are named by their folder"
    for command in token.commands[:-1]:
        subprocess.run(command, shell=True, check=True, capture_output=True)
    shown = git(live, "show", "--name-only", "-z", "--format=", "HEAD").strip("\0").split("\0")
    assert set(shown) == {*paths, *hidden, "areas/inbox/old.html"}
    assert other not in git(live, "ls-files")
    assert clean(live)


def test_only_what_never_was_recorded_leaves_no_commands(live: Path) -> None:
    assert apply(live, "areas/inbox/never.html", options=HostOptions(commit=False)) == Token()


def test_interops_own_data_is_never_seen(live: Path) -> None:
    for path in (PATH, COMPLEMENT, ".interop/lock", ".interop/undo/7/0"):
        put(live, path)
    apply(live, PATH, COMPLEMENT)
    assert git(live, "ls-files", ".interop").split() == [COMPLEMENT]
    assert git(live, "status", "--porcelain", "--untracked-files=all") == ""


def test_without_a_commit_the_commands_are_said(live: Path) -> None:
    before = git(live, "rev-parse", "HEAD")
    put(live, PATH)
    put(live, "areas/inbox/it's.html")
    options = HostOptions(commit=False)
    token = apply(live, PATH, "areas/inbox/it's.html", options=options)
    assert git(live, "rev-parse", "HEAD") == before
    assert git(live, "diff", "--cached", "--name-only") == ""
    assert token.commit is None
    for command in token.commands[:2]:
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert git(live, "status", "--porcelain") == ""
    assert git(live, "log", "-1", "--format=%s").startswith("memhtml(batch): ")
    HOST.undo(live, token)


def test_without_a_commit_in_a_fresh_directory(root: Path) -> None:
    put(root, PATH)
    token = apply(root, PATH, options=HostOptions(commit=False))
    for command in token.commands[:2]:
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert git(root, "status", "--porcelain") == ""
    assert (root / "areas/arcs/.gitkeep").is_file()


def refused(root: Path, options: HostOptions = ASKED) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        HOST.before(root, [PATH], options)
    assert caught.value.remedy
    return caught.value


def test_staged_changes_are_refused(live: Path) -> None:
    git(live, "add", put(live, "areas/inbox/new.html"))
    error = refused(live)
    assert "staged" in error.problem
    assert error.details == ["areas/inbox/new.html"]
    HOST.before(live, [PATH], HostOptions(commit=False))


def test_a_sleep_branch_is_refused(live: Path) -> None:
    git(live, "switch", "-q", "-c", "sleep/2026-09-01")
    assert "sleep/2026-09-01" in refused(live).problem
    assert "sleep" in refused(live, HostOptions(commit=False)).problem


def test_a_detached_head_is_refused(live: Path) -> None:
    git(live, "checkout", "-q", "--detach")
    assert "detached" in refused(live).problem


@pytest.mark.parametrize("name", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"])
def test_a_running_operation_is_refused(live: Path, name: str) -> None:
    head = git(live, "rev-parse", "HEAD")
    (live / ".git" / name).write_text(head)
    assert "under way" in refused(live).problem


def test_a_real_merge_conflict_is_refused(live: Path) -> None:
    for branch in ("one", "two"):
        git(live, "switch", "-q", "-c", branch, "main")
        put(live, "areas/inbox/old.html", f"{branch}\n")
        git(live, "commit", "-q", "-a", "-m", branch)
    subprocess.run(["git", "-C", str(live), "merge", "one"], capture_output=True, check=False)
    assert "merge is under way" in refused(live).problem


def test_a_lock_is_refused(live: Path) -> None:
    (live / ".git" / "index.lock").write_text("")
    assert "index.lock" in refused(live).problem


def test_a_folder_of_another_repository_is_refused(live: Path) -> None:
    assert "inside the repository" in refused(live / "nested" / "store").problem
    (live / "nested").mkdir()
    assert "inside the repository" in refused(live / "nested").problem


def test_nobody_to_commit_is_refused(live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = live.parent / "empty"
    empty.write_text("[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(empty))
    assert "who commits" in refused(live).problem


def test_a_commit_that_fails_leaves_nothing_staged(live: Path) -> None:
    hook = live / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    hook.chmod(0o755)
    put(live, PATH)
    with pytest.raises(WriteError, match="no"):
        apply(live, PATH)
    assert git(live, "status", "--porcelain") == "?? resources/docks/\n"


def test_another_repository_in_the_environment_is_not_touched(
    live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(live.parent / "elsewhere"))
    put(live, PATH)
    assert apply(live, PATH).commit is not None


@pytest.mark.parametrize("core_first", [True, False])
def test_undo_is_a_revert_commit(live: Path, core_first: bool) -> None:
    """Whether the core has put the old files back already or not."""
    put(live, "areas/inbox/both.html", "before\n")
    git(live, "add", "-A")
    git(live, "commit", "-q", "-m", "both")
    tree = git(live, "rev-parse", "HEAD^{tree}")
    put(live, PATH)
    put(live, "areas/inbox/both.html", "after\n")
    (live / "areas/inbox/old.html").unlink()
    token = apply(live, PATH, "areas/inbox/both.html", "areas/inbox/old.html")
    if core_first:
        (live / PATH).unlink()
        put(live, "areas/inbox/both.html", "before\n")
        put(live, "areas/inbox/old.html", "old\n")
    HOST.undo(live, token)
    assert git(live, "rev-parse", "HEAD^{tree}") == tree
    assert git(live, "status", "--porcelain") == ""
    assert git(live, "log", "-1", "--format=%B").splitlines() == [
        'Revert "memhtml(batch): 3 records from claude-code"',
        "",
        f"This reverts commit {token.commit}.",
        "",
    ]


def test_undo_of_the_first_commit_of_all(root: Path) -> None:
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    put(root, PATH)
    token = apply(root, PATH)
    HOST.undo(root, token)
    assert git(root, "ls-files") == ""
    assert not (root / "resources").exists()


def test_undo_after_other_commits(live: Path) -> None:
    put(live, PATH)
    token = apply(live, PATH)
    put(live, "areas/inbox/old.html", "later\n")
    git(live, "commit", "-q", "-a", "-m", "later")
    HOST.undo(live, token)
    assert not (live / PATH).exists()
    assert (live / "areas/inbox/old.html").read_text() == "later\n"


def test_undo_of_what_changed_since_is_refused(live: Path) -> None:
    put(live, PATH)
    token = apply(live, PATH)
    put(live, PATH, "two\n")
    git(live, "commit", "-q", "-a", "-m", "later")
    with pytest.raises(RefusedError, match=r"dock-seven"):
        HOST.undo(live, token)
    assert git(live, "status", "--porcelain") == ""


def test_undo_leaves_what_somebody_edited(live: Path) -> None:
    put(live, PATH)
    token = apply(live, PATH)
    put(live, PATH, "edited, not committed\n")
    HOST.undo(live, token)
    assert (live / PATH).read_text() == "edited, not committed\n"
    assert git(live, "ls-files", PATH) == ""


NO_COMMIT = HostOptions(commit=False)


def everything(root: Path) -> set[str]:
    return {p.relative_to(root).as_posix() for p in root.rglob("*")}


def test_undo_without_a_commit_leaves_what_was_there(root: Path) -> None:
    put(root, "notes/mine.txt", "mine\n")
    put(root, "README.html", "mine too\n")
    there = everything(root)
    put(root, PATH)
    token = apply(root, PATH, options=NO_COMMIT)
    assert (root / ".git").is_dir()
    assert set(token.made) == {".git", *FILES} - {"README.html"}
    (root / PATH).unlink()  # as the core does before,
    (root / PATH).parent.rmdir()  # with the folders that it made and that are empty
    git(root, "status")  # looking is no work
    HOST.undo(root, token)
    assert everything(root) == there
    assert (root / "README.html").read_text() == "mine too\n"


def test_undo_of_a_conversion_into_a_fresh_store(tmp_path: Path) -> None:
    """The whole way: the plan, the disk, git, and what interop remembers of it."""
    put(tmp_path, "home/bells.md", "---\nname: bells\ndescription: Loud\n---\n\nBells are loud.\n")
    root = tmp_path / "m"
    source, fresh = open_store(f"claude-code:{tmp_path / 'home'}"), f"memhtml:{root}"
    choices = Choices(kind_map={"untyped": "semantic"}, host=NO_COMMIT)
    for _ in range(2):  # what was taken back can be done again
        there = open_store(fresh, must_exist=False)
        made = plan(source, there, choices, now="2026-09-01T08:30:00.000Z")
        token = apply_plan(made, source, there, choices)
        assert token is not None
        assert len(token.commands) == 3
        assert (root / "areas/inbox/bells.html").is_file()
        undo(root)
        assert [p.name for p in root.iterdir()] == [".interop"]


# --- what is laid out around a new store


BELLS = "---\nname: bells\ndescription: Loud\n---\n\nBells are loud.\n"
SEMANTIC = {"untyped": "semantic"}


@pytest.mark.parametrize("there", ["nothing", "a scaffold file", "a .git that is none"])
def test_what_would_be_laid_out_is_what_is_laid_out(root: Path, there: str) -> None:
    if there == "a scaffold file":
        put(root, "README.html", "mine\n")
    elif there == "a .git that is none":
        put(root, ".git/notes", "mine\n")
    before = everything(root)
    said = HOST.lays_out(root)
    assert everything(root) == before
    apply(root, put(root, PATH))
    new = {p for p in everything(root) - before if (root / p).is_file() and p[:5] != ".git/"}
    assert new - {PATH} == {path for path, data in said.items() if data is not None}
    assert all((root / p).read_bytes() == data for p, data in said.items() if data is not None)
    assert (".git" in said) == (there != "a .git that is none")
    assert HOST.lays_out(root) == {}


def test_nothing_is_laid_out_where_it_would_be_refused(live: Path) -> None:
    assert HOST.lays_out(live / "nested" / "store") == {}


@pytest.mark.parametrize("options", [ASKED, NO_COMMIT, HostOptions(complement_in_git=False)])
@pytest.mark.parametrize("mine", [False, True])
def test_a_second_conversion_into_a_new_store_changes_nothing(
    tmp_path: Path, options: HostOptions, mine: bool
) -> None:
    """And one undo takes back the first."""
    put(tmp_path, "home/bells.md", BELLS)
    root, home = tmp_path / "m", f"claude-code:{tmp_path / 'home'}"
    if mine:
        put(root, "README.html", "mine\n")
        put(root, "areas/inbox/bells.html", "no memory\n")
    before = {p for p in everything(root) if (root / p).is_file()}
    choices = Choices(kind_map=SEMANTIC, host=options)
    for now in ("2026-09-01T08:30:00.000Z", "2026-09-02T08:30:00.000Z"):
        source, there = open_store(home), open_store(f"memhtml:{root}", must_exist=False)
        made = plan(source, there, choices, now=now)
        if now.startswith("2026-09-01"):
            assert set(made.laid_out) == {".git", *FILES} - ({"README.html"} if mine else set())
            promised = after(made, there)
            apply_plan(made, source, there, choices)
            found = open_store(f"memhtml:{root}")
            assert found.tree.files == promised.tree.files
            assert found.complement is not None
            assert found.complement.tree.keys() == found.tree.files.keys()
        else:
            assert (made.changes, made.laid_out) == ((), ())
    assert settled.plan(home, f"memhtml:{root}", choices) is not None
    commits = git(root, "rev-list", "--count", "--all").strip()
    assert commits == ("2" if options.commit else "0")
    undo(root)
    left = {p for p in everything(root) if (root / p).is_file() and p[:5] not in (".git/", ".inte")}
    assert left == (before | FILES.keys() if options.commit else before)
    assert not (root / COMPLEMENT).exists()


def test_a_copy_of_a_store_brings_its_own_scaffold(live: Path, tmp_path: Path) -> None:
    put(live, "areas/inbox/old.html", MEMORY)
    put(live, "README.html", "edited\n")
    copy = tmp_path / "copy"
    for n in (1, 2):
        source, there = (
            open_store(f"memhtml:{live}"),
            open_store(f"memhtml:{copy}", must_exist=False),
        )
        made = plan(source, there, now="2026-09-01T08:30:00.000Z")
        if n == 1:
            assert made.laid_out == (".git",)
            apply_plan(made, source, there)
        else:
            assert made.changes == ()
    assert (copy / "README.html").read_text() == "edited\n"
    assert git(copy, "status", "--porcelain") == ""


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "interop.cli.main", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, encoding="utf-8", cwd=ROOT, check=False)


def test_a_dry_run_shows_what_would_be_laid_out(tmp_path: Path) -> None:
    put(tmp_path, "home/bells.md", BELLS)
    root = tmp_path / "m"
    words = ("convert", f"claude-code:{tmp_path / 'home'}", f"memhtml:{root}", "--dry-run")
    shown = command(*words, "--kind-map", "untyped=semantic")
    assert shown.returncode == 0, shown.stderr
    assert "\nfiles: 2 to create\nlaid out around them: .git, .gitattributes, " in shown.stdout
    said = orjson.loads(command(*words, "--kind-map", "untyped=semantic", "--json").stdout)
    assert said["laid_out"] == sorted([".git", *FILES])
    assert [c["path"] for c in said["changes"]] == ["areas/inbox/bells.html", COMPLEMENT]
    assert not root.exists()


@pytest.mark.parametrize("dry", [True, False])
@pytest.mark.parametrize("why", ["undecided", "lost", "secret"])
def test_a_refused_run_lists_no_changes(tmp_path: Path, why: str, dry: bool) -> None:
    token = "ghp_" + "q7Rk2Vx9Tz4Lm8Wb3Nc6Yd1Hf5Jg0Ps2Aa7"
    put(
        tmp_path, "home/bells.md", BELLS + (f"\nThe token is {token}.\n" if why == "secret" else "")
    )
    put(
        tmp_path,
        "home/lamps.md",
        BELLS.replace("ells", "amps").replace("---\n\n", "type: t\n---\n\n"),
    )
    root = tmp_path / "m"
    words = ["convert", f"claude-code:{tmp_path / 'home'}", f"memhtml:{root}"]
    words += ["--kind-map", "untyped=semantic" + ("" if why == "undecided" else ",t=semantic")]
    words += {"lost": ["--no-complement"], "secret": ["--secrets", "refuse"]}.get(why, [])
    words += ["--dry-run"] if dry else []
    shown = command(*words)
    assert shown.returncode == 3, shown.stdout + shown.stderr
    assert "files:" not in shown.stdout
    assert "laid out" not in shown.stdout
    done = command(*words, "--json")
    said = orjson.loads(done.stdout)
    assert (done.returncode, said["changes"], said["laid_out"]) == (3, [], [])
    assert said["written"] is False
    assert not (root / ".git").exists()
    assert not (root / COMPLEMENT).exists()


@pytest.mark.parametrize("work", ["commit", "add", "config", "branch"])
def test_undo_leaves_a_repository_that_somebody_works_with(root: Path, work: str) -> None:
    put(root, PATH)
    token = apply(root, PATH, options=NO_COMMIT)
    if work == "commit":
        for command in token.commands[:2]:
            subprocess.run(command, shell=True, check=True, capture_output=True)
    elif work == "add":
        git(root, "add", PATH)
    elif work == "config":
        git(root, "remote", "add", "origin", "https://example.org/m.git")
    else:
        git(root, "symbolic-ref", "HEAD", "refs/heads/other")
    before = everything(root)
    HOST.undo(root, token)
    assert everything(root) == before


def test_undo_leaves_a_git_folder_that_was_there_and_was_no_repository(root: Path) -> None:
    put(root, ".git/notes", "mine\n")
    token = apply(root, put(root, PATH), options=NO_COMMIT)
    assert token.made == {}
    HOST.undo(root, token)
    assert (root / ".git/notes").read_text() == "mine\n"


def test_undo_leaves_a_scaffold_file_that_somebody_edited(root: Path) -> None:
    token = apply(root, put(root, PATH), options=NO_COMMIT)
    put(root, ".gitignore", "*.swp\n")
    HOST.undo(root, token)
    assert not (root / ".git").exists()
    assert {p for p in everything(root) if (root / p).is_file()} == {".gitignore", PATH}


def test_what_fails_in_a_fresh_directory_leaves_no_repository(root: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    put(hooks, "commit-msg", "#!/bin/sh\ngrep -q init $1 || { echo no >&2; exit 1; }\n")
    (hooks / "commit-msg").chmod(0o755)
    with (tmp_path / "gitconfig").open("a", encoding="utf-8") as config:
        config.write(f"[core]\n\thooksPath = {hooks}\n")
    put(root, PATH)
    there = everything(root)
    with pytest.raises(WriteError, match="no"):
        apply(root, PATH)
    assert everything(root) == there, "neither the repository nor the scaffold's commit"


def test_an_older_note_says_nothing_of_what_was_made(live: Path) -> None:
    token = apply(live, put(live, PATH))
    note = orjson.loads(dump_note("memhtml", token))
    del note["made"]
    assert token_of(note) == token


def test_long_messages_are_cut_as_the_runtime_cuts_them(live: Path) -> None:
    put(live, PATH)
    HOST.after(live, [PATH], "word\n" * 40, ASKED)
    subject = git(live, "log", "-1", "--format=%s").strip()
    assert subject == "memhtml(batch): " + ("word " * 15)[:71].strip() + "…"
