"""The user's settings: what they may say, what is wrong with them where, and how they change."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import config, config_edits, stores
from interop.config import Config, Named
from interop.disk import config_file
from interop.errors import FormatError, UsageError, WriteError

ROOT = Path(__file__).parents[1]
WHERE = Path("config.toml")

LAID_OUT = """\
# Mira's settings

write = "@garage"   # what the team reads
read = [
  "@garage",   # first
  "@workshop",
]

# --- stores
[stores]
# the shop's own
garage = "claude-code:~/garage"   # since May
workshop = 'bantamkit:/stores/repairs'

# what may leave
[convert]
secrets = "refuse"
"""


def say(text: str) -> Path:
    """Write the settings that everything in this test is to find."""
    place = config_file.path()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode())
    return place


def text() -> str:
    return config_file.path().read_bytes().decode()


# --- reading


def test_without_a_file_everything_is_as_by_default() -> None:
    assert config.load() == Config(path=config_file.path())
    assert config.read_stores(config.load()) == ()
    with pytest.raises(UsageError, match="no store to write is set"):
        config.write_store(config.load())
    assert not config_file.path().parent.exists()


def test_what_the_settings_say() -> None:
    place = say(LAID_OUT)
    found = config.load()
    assert found == Config(
        path=place,
        stores={"garage": "claude-code:~/garage", "workshop": "bantamkit:/stores/repairs"},
        read=("garage", "workshop"),
        write="garage",
        secrets="refuse",
    )
    assert config.write_store(found) == Named(name="garage", spec="claude-code:~/garage")
    assert [named.name for named in config.read_stores(found)] == ["garage", "workshop"]


def test_reading_is_in_the_order_of_the_file_unless_stated() -> None:
    say('[stores]\nb = "/b"\na = "/a"\nc = "/c"\n')
    assert [n.name for n in config.read_stores(config.load())] == ["b", "a", "c"]
    say('read = ["@c", "@b", "@c"]\n[stores]\nb = "/b"\na = "/a"\nc = "/c"\n')
    assert [n.spec for n in config.read_stores(config.load())] == ["/c", "/b"]
    say('read = []\n[stores]\nb = "/b"\n')
    assert config.read_stores(config.load()) == ()


def test_a_mark_at_the_start_and_windows_line_ends_are_no_matter() -> None:
    say("\ufeff" + LAID_OUT.replace("\n", "\r\n"))
    assert config.load().write == "garage"


@pytest.mark.parametrize(
    ("said", "line", "problem"),
    [
        ("[stores\n", 1, "is not TOML"),
        ('# a\n\nwrite = "@a\n', 3, "is not TOML"),
        ("read = [\n", 1, "is not TOML"),
        ("# a\nstore = 1\n", 2, "unknown key 'store'; one of write, read, stores, convert"),
        ('[convert]\n\nsecret = "warn"\n', 3, "unknown key 'convert.secret'; one of secrets"),
        ('[convert]\nsecrets = "never"\n', 2, "'convert.secrets' is 'never'; one of refuse, warn"),
        ("convert = 1\n", 1, "'convert' is no table; write it as [convert]"),
        ('stores = ["/a"]\n', 1, "'stores' is no table; write it as [stores]"),
        ("[stores]\na = 1\n", 2, "store 'a' is no text"),
        ('[stores]\n# x\na.b = "/x"\n', 3, "store 'a' is a table; a name with a dot"),
        ('[stores]\n"a/b" = "/x"\n', 2, "'a/b' is no name for a store; a name has letters"),
        ('[stores]\n"-a" = "/x"\n', 2, "'-a' is no name for a store"),
        ('[stores]\na = ""\n', 2, "store 'a' is empty"),
        ('[stores]\na = "x/y"\n', 2, "store 'a' has neither a known format nor an absolute path"),
        ('[stores]\na = "claude:/x"\n', 2, "one of bantamkit, claude-code,"),
        ('[stores]\na = "/a"\n\nwrite = "@a"\n', 4, "`write` stands above [stores]"),
        ('[stores]\na = "/a"\nb = "@a"\n', 3, "a name and no store"),
        ('\nwrite = "@b"\n[stores]\na = "/a"\n', 2, "no store has that name; one of @a"),
        ('write = "@b"\n', 1, "no store has that name; name it in [stores]"),
        ('write = "b"\n', 1, "'write' has 'b', which is no name"),
        ("write = 1\n", 1, "'write' has 1, which is no name"),
        ('read = "@a"\n[stores]\na = "/a"\n', 1, "'read' is no list"),
        ('read = [\n  "@a",\n  "@b"\n]\n[stores]\na = "/a"\n', 1, "'read' has '@b'"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_line(said: str, line: int, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        config.parse(said.encode(), WHERE)
    assert caught.value.where == f"{WHERE}:{line}"
    assert problem in str(caught.value)
    assert caught.value.remedy
    assert caught.value.exit_code == 4


def test_every_problem_is_told() -> None:
    with pytest.raises(FormatError) as caught:
        config.parse(b'reed = 1\n[stores]\na = 1\nb = "c"\n', WHERE)
    lines = str(caught.value).splitlines()
    assert [re.match(r" *config\.toml:(\d)", line)[1] for line in lines] == ["1", "3", "4"]  # type: ignore[index] # no match fails the test


def test_bytes_that_are_no_text_and_nesting_without_end() -> None:
    with pytest.raises(FormatError, match=r"config\.toml:2: is not UTF-8; save it as UTF-8"):
        config.parse(b"# a\n# \xff\n", WHERE)
    with pytest.raises(FormatError):
        config.parse(b"a = " + b"[" * 100_000, WHERE)


@given(st.binary(max_size=200) | st.text(alphabet="[]{}=\".\n#@ab\\'", max_size=60).map(str.encode))
def test_anything_else_is_settings_or_a_clear_error(data: bytes) -> None:
    with suppress(FormatError):
        assert config.parse(data, WHERE).path == WHERE


def test_a_file_that_cannot_be_read_is_an_error() -> None:
    config_file.path().mkdir(parents=True)
    with pytest.raises(FormatError, match="cannot be read"):
        config.load()


# --- names instead of stores


def test_a_name_stands_for_its_store(tmp_path: Path) -> None:
    say(f"[stores]\n'ö.1' = 'bantamkit:{tmp_path}'\nhome = '~/x'\nhere = 'claude-code:'\n")
    assert stores.parse("@ö.1") == ("bantamkit", str(tmp_path))
    assert stores.parse("@o\u0308.1") == ("bantamkit", str(tmp_path))
    assert stores.root_of("@home") == Path.home() / "x"
    assert stores.root_of("@here") == stores.root_of("claude-code:")
    assert stores.open_store("@ö.1").label == f"bantamkit:{tmp_path}"
    assert stores.parse("./@ö.1") == (None, "./@ö.1")
    assert stores.parse("bantamkit:@x") == ("bantamkit", "@x")


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no store is named '@x'.*config\.toml names none"):
        stores.open_store("@x")
    say('[stores]\na = "/a"\nb = "/b"\n')
    with pytest.raises(UsageError, match=r"no store is named '@x'; one of @a, @b; .* \./@x"):
        stores.root_of("@x")


def test_only_a_name_reads_the_settings() -> None:
    say("this is no TOML")
    assert stores.parse("bantamkit:/x") == ("bantamkit", "/x")
    with pytest.raises(FormatError):
        stores.parse("@x")


def test_a_home_that_nobody_has_is_no_traceback() -> None:
    with pytest.raises(UsageError, match="no such user"):
        stores.root_of("~nobody-of-this-name/x")


# --- changing


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """Give the lines that went and the lines that came; all others stand in the same order."""
    old, new = before.splitlines(), after.splitlines()
    gone = [line for line in old if line not in new]
    came = [line for line in new if line not in old]
    assert [line for line in old if line in new] == [line for line in new if line in old]
    return gone, came


def test_a_store_is_named_below_the_others() -> None:
    say(LAID_OUT)
    meant = config.add({"van": "theokit:/stores/van"})
    assert changed(LAID_OUT, text()) == ([], ['van = "theokit:/stores/van"'])
    assert text().index("workshop = ") < text().index("van = ") < text().index("# what may leave")
    assert config.load() == meant
    assert meant.stores["van"] == "theokit:/stores/van"
    assert "van" not in meant.read if meant.read else False


def test_the_store_to_write_is_changed_where_it_is_stated() -> None:
    say(LAID_OUT)
    config.add({"workshop": "bantamkit:/stores/repairs"}, write="workshop")
    gone, came = changed(LAID_OUT, text())
    assert gone == ['write = "@garage"   # what the team reads']
    assert came == ['write = "@workshop"   # what the team reads']


def test_what_names_a_removed_store_goes_with_it_and_nothing_else() -> None:
    say(LAID_OUT)
    meant = config.remove("garage")
    gone, came = changed(LAID_OUT, text())
    assert came == []
    assert gone == [
        'write = "@garage"   # what the team reads',
        '  "@garage",   # first',
        'garage = "claude-code:~/garage"   # since May',
    ]
    assert (meant.write, meant.read, list(meant.stores)) == (None, ("workshop",), ["workshop"])
    with pytest.raises(UsageError, match="no store is named '@garage'"):
        config.remove("garage")


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# nothing yet",
        "\n\n",
        '[convert]\nsecrets = "warn"\n',
        '[stores]\na = "/a"',
        "[stores]\n",
        '# one\n\n# two\n[stores]\na = "/a"\n# three\n\n[convert]\n',
        'stores.a = "/a" # one\nstores.b = "/b"\n[convert]\nsecrets = "warn"\n',
        '"stores".a = "/a"\n',
        'stores = { a = "/a", b = "/b" } # all\n',
        "stores = {}\n",
        '  [ "stores" ]   # x\n  a = """/a"""\n',
        "read = [ # all\n\"@a\"\n]\n[stores]\na = '/a'\n",
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_whatever_the_layout_the_settings_say_what_was_meant(
    before: str, ends: str, mark: str
) -> None:
    said = mark + before.replace("\n", ends)
    say(said)
    was = config.load()
    config.add({"ö.1": "/new", "z": "bantamkit:/z"}, write="z")
    now = config.load()
    assert dict(now.stores) == {**was.stores, "ö.1": "/new", "z": "bantamkit:/z"}
    assert list(now.stores)[: len(was.stores)] == list(was.stores)
    assert (now.write, now.read, now.secrets) == ("z", was.read, was.secrets)
    comments = re.findall("#.*", said)
    assert [c for c in comments if c.rstrip() not in text()] == []
    assert text().startswith(mark)
    if "\n" in before:
        assert text().count("\n") == text().count(ends)
    config.remove("z")
    config.remove("ö.1")
    again = config.load()
    assert (again.stores, again.write, again.read) == (was.stores, None, was.read)


names = st.text(alphabet="abz09_.-äé", min_size=1, max_size=6).filter(config.is_name)
specs = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map("bantamkit:/{}".format)


@given(
    st.dictionaries(names.map(config.bare), specs, max_size=4),
    st.dictionaries(names.map(config.bare), specs, min_size=1, max_size=3),
    st.data(),
)
def test_edits_say_what_was_meant_and_keep_other_lines(
    there: Mapping[str, str], new: Mapping[str, str], data: st.DataObject
) -> None:
    new = {name: spec for name, spec in new.items() if name not in there}
    gone = data.draw(
        st.lists(st.sampled_from(sorted(there)), unique=True) if there else st.just([])
    )
    quoted = (
        f'"{n}" = {_quoted(s)}  # of {i}\n\n# {i}\n' for i, (n, s) in enumerate(there.items())
    )
    before = "# head\n\n[stores]\n" + "".join(quoted) + '[convert]\nsecrets = "warn" # yes\n'
    after = config_edits.edited(before.encode(), new, gone, None).decode()
    stores = tomllib.loads(after)["stores"]
    assert list(stores.items()) == [
        (n, s) for n, s in {**there, **new}.items() if n in new or n not in gone
    ]
    kept = [line for line in before.split("\n") if not re.match(f'"({_any(gone)})" =', line)]
    rest = iter(after.split("\n"))
    assert all(line in rest for line in kept)


def _quoted(value: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08X}" if not c.isalnum() else c for c in value) + '"'


def _any(words: list[str]) -> str:
    return "|".join(map(re.escape, words)) or r"(?!)"


def test_the_same_again_changes_no_byte() -> None:
    place = say(LAID_OUT)
    before = place.stat()
    config.add({"garage": "claude-code:~/garage"}, write="@garage")
    assert (place.stat().st_ino, place.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert text() == LAID_OUT


def test_relative_paths_are_stored_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    meant = config.add(
        {"a": "x/../y", "b": "bantamkit:x", "c": "~/x", "d": "theokit:~/x", "e": "claude-code:"}
    )
    assert dict(meant.stores) == {
        "a": str(tmp_path / "y"),
        "b": f"bantamkit:{tmp_path / 'x'}",
        "c": "~/x",
        "d": "theokit:~/x",
        "e": "claude-code:",
    }


@pytest.mark.parametrize(
    ("name", "spec", "problem"),
    [
        ("a/b", "/x", "'a/b' is no name"),
        ("", "/x", "'' is no name"),
        (".a", "/x", "'.a' is no name"),
        ("a b", "/x", "'a b' is no name"),
        ("x", "", "'' is no store"),
        ("x", "bantamkit:-", "is a stream"),
        ("x", "claude:/x", "unknown format 'claude'; one of bantamkit, claude-code,"),
        ("x", "@garage", "'@garage' is no store"),
        ("x", "/\udcff", "cannot stand in"),
        ("garage", "/elsewhere", "@garage is claude-code:~/garage already"),
    ],
)
def test_what_cannot_be_named_so_changes_nothing(name: str, spec: str, problem: str) -> None:
    say(LAID_OUT)
    with pytest.raises(UsageError) as caught:
        config.add({name: spec})
    assert problem in str(caught.value)
    assert text() == LAID_OUT


def test_a_layout_that_would_be_changed_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the editing, injected: what it gives is read before it is written."""
    say(LAID_OUT)

    def giving(data: bytes) -> Callable[..., bytes]:
        def edited(*_: object) -> bytes:
            return data

        return edited

    for wrong in (b"", b"[stores", LAID_OUT.encode()):
        monkeypatch.setattr(config_edits, "edited", giving(wrong))
        with pytest.raises(WriteError, match="edit it by hand"):
            config.add({"van": "/van"})
        assert text() == LAID_OUT


# --- on the disk


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_new_file_is_its_owners_alone_and_an_old_one_keeps_its_mode() -> None:
    config.add({"a": "/a"})
    place = config_file.path()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.with_name("config.lock").stat().st_mode) == 0o600
    place.chmod(0o640)
    config.add({"b": "/b"})
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_link_into_a_folder_of_dotfiles_stays(tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles.toml"
    dotfiles.write_text(LAID_OUT)
    config_file.path().parent.mkdir(parents=True)
    config_file.path().symlink_to(dotfiles)
    config.add({"van": "/van"})
    assert config_file.path().is_symlink()
    assert 'van = "/van"' in dotfiles.read_text()


def test_a_file_that_cannot_be_replaced_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    say(LAID_OUT)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, step, full)
            with pytest.raises(WriteError, match=r"no space left on device.*INTEROP_CONFIG_DIR"):
                config.add({"van": "/van"})
        assert text() == LAID_OUT
        assert not config_file.path().with_name("config.new").exists()


def test_waiting_for_another_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    place = say(LAID_OUT)
    monkeypatch.setattr(config_file, "WAIT", 0.05)
    with (
        config_file.alone(place),
        pytest.raises(WriteError, match="another interop is changing it; try again"),
    ):
        config.add({"van": "/van"})
    assert text() == LAID_OUT
    config.add({"van": "/van"})


def test_two_at_once_both_stand(tmp_path: Path) -> None:
    say(LAID_OUT)
    code = (
        "import sys; from interop import config; from interop.disk import config_file\n"
        "config_file.WAIT = 300.0\n"  # a machine may be as slow as it likes
        "config.add({sys.argv[1]: '/' + sys.argv[1]})"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, f"van{n}"], cwd=ROOT) for n in range(4)
    ]
    assert [done.wait() for done in running] == [0, 0, 0, 0]
    assert {f"van{n}" for n in range(4)} < set(config.load().stores)


@pytest.mark.skipif(os.name == "nt", reason="names of POSIX")
def test_a_folder_with_a_colon_is_no_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "garage:old").mkdir()
    meant = config.add({"a": "garage:old", "b": "./van:x"})
    assert dict(meant.stores) == {"a": f"{tmp_path}/garage:old", "b": f"{tmp_path}/van:x"}


def test_the_place_is_the_platforms_unless_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs import user_config_dir

    monkeypatch.delenv("INTEROP_CONFIG_DIR")
    assert config_file.path() == Path(user_config_dir("interop")) / "config.toml"
