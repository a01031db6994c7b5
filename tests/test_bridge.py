"""The bridge's reading side: what several stores say, once, and searching all of it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from interop import stores
from interop.bridge import Bridge, Found, fingerprint
from interop.convert import apply_plan, plan
from interop.disk import stamp as stamps
from interop.errors import FormatError, UsageError
from interop.model import Memory
from tests.samples import GOLDEN

NOW = "2026-11-30T12:00:00.000Z"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(folder))
    return folder


def claude(root: Path, **texts: str) -> str:
    """Make a store of Claude Code with one memory a text, and name it."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (root / f"{name}.md").write_text(
            f"---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: project\n---\n\n"
            f"{text}\n",
            encoding="utf-8",
        )
    return f"claude-code:{root}"


def copied(name: str, case: str, to: Path) -> str:
    shutil.copytree(GOLDEN / name / case / "store", to)
    return f"{name}:{to}"


def converted(source: str, destination: str) -> None:
    one, other = stores.open_store(source), stores.open_store(destination, must_exist=False)
    apply_plan(plan(one, other, now=NOW), one, other)


def keys(found: Sequence[Found]) -> list[str]:
    return [one.key for one in found]


def test_every_format_is_read_and_every_record_says_where_it_stands(tmp_path: Path) -> None:
    specs = [
        copied(name, "basic", tmp_path / name)
        for name in ("claude-code", "theokit", "bantamkit", "memhtml", "memory-compiler")
    ]
    found = Bridge(read=specs).records().found
    for spec in specs:
        opened = stores.open_store(spec)
        said = {s.key for one in found for s in one.sources if s.place == opened.label}
        assert said == {r.key for r in opened.restored.store.records}
    for one in found:
        assert one.store in specs
        assert one.record.key == one.key


def test_a_converted_record_is_one_fact_with_all_its_sources(tmp_path: Path) -> None:
    a = claude(tmp_path / "a", locks="All locks open with 4711.", racks="Racks are numbered.")
    b = f"theokit:{tmp_path / 'b'}"
    converted(a, b)
    found = Bridge(read=[b, a]).records().found
    assert len(found) == 2
    assert [[s.store for s in one.sources] for one in found] == [[b, a], [b, a]]
    assert not any(s.differs for one in found for s in one.sources)


def test_a_fact_with_two_texts_is_one_result_that_shows_both(tmp_path: Path) -> None:
    a = claude(tmp_path / "a", locks="All locks open with 4711.")
    b = f"theokit:{tmp_path / 'b'}"
    converted(a, b)
    path = tmp_path / "a" / "locks.md"
    path.write_text(path.read_text().replace("4711", "0815"), encoding="utf-8")
    (found,) = Bridge(read=[a, b]).records().found
    assert [s.differs for s in found.sources] == [False, True]
    assert "0815" in str(found.data["body"])
    assert "4711" in str(found.sources[1].data)
    # found by the words of either text, and precedence decides which is shown first
    assert keys(Bridge(read=[a, b]).search("4711").found) == ["locks.md"]
    (other,) = Bridge(read=[b, a]).search("0815").found
    assert "4711" in str(other.data["body"])
    assert other.store == b


def test_two_stores_made_from_a_third_that_nobody_reads_are_linked(tmp_path: Path) -> None:
    a = claude(tmp_path / "a", locks="All locks open with 4711.")
    b, c = f"theokit:{tmp_path / 'b'}", f"bantamkit:{tmp_path / 'c'}"
    converted(a, b)
    converted(a, c)
    path = next((tmp_path / "c" / "facts").glob("*.md"))
    path.write_text(path.read_text().replace("4711", "0815"), encoding="utf-8")
    (found,) = Bridge(read=[b, c]).records().found
    assert [s.store for s in found.sources] == [b, c]


def test_equal_texts_are_one_fact_and_near_ones_two(tmp_path: Path) -> None:
    a = claude(tmp_path / "a", one="The pump stands by the door.", two="Oil weekly, in spring.")
    b = claude(tmp_path / "b", one="The pump stands by the door.", two="Oil weekly, in autumn.")
    found = Bridge(read=[a, b]).records().found
    assert sorted(len(one.sources) for one in found) == [1, 1, 2]


def test_equal_texts_within_one_store_stay_two_records(tmp_path: Path) -> None:
    a = claude(tmp_path / "a", one="x y z")
    (tmp_path / "a" / "two.md").write_bytes((tmp_path / "a" / "one.md").read_bytes())
    assert len(Bridge(read=[a]).records().found) == 2


def test_get_knows_keys_stores_and_ambiguity(tmp_path: Path) -> None:
    a = claude(tmp_path / "a", locks="Locks of the depot.")
    b = claude(tmp_path / "b", locks="Locks of the harbour.")
    bridge = Bridge(read=[b, a])
    got = bridge.get("locks.md")
    assert got.found.store == b
    assert [(o.store, o.key) for o in got.others] == [(a, "locks.md")]
    assert bridge.get(f"{a}:locks.md").found.store == a
    assert bridge.get(f"{tmp_path / 'a'}:locks.md").found.store == a
    assert bridge.get(f"{a}:locks.md").others == ()
    with pytest.raises(UsageError, match=r"no record 'pumps\.md'"):
        bridge.get("pumps.md")


def test_a_missing_store_is_named_and_the_others_answer(tmp_path: Path) -> None:
    a = claude(tmp_path / "a", locks="Locks of the depot.")
    bridge = Bridge(read=[str(tmp_path / "gone"), a, "nonsense:"])
    answer = bridge.search("depot")
    assert keys(answer.found) == ["locks.md"]
    assert [p.store for p in answer.problems] == ["nonsense:", str(tmp_path / "gone")] or {
        p.store for p in answer.problems
    } == {"nonsense:", str(tmp_path / "gone")}
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(FormatError, match="no such folder"):
        bridge.search("depot")


def test_an_unreadable_file_is_a_problem_and_not_silent(tmp_path: Path) -> None:
    spec = copied("claude-code", "not-utf8", tmp_path / "a")
    assert any("UTF-8" in p.problem for p in Bridge(read=[spec]).records().problems)


def test_archived_records_are_found_only_when_asked_for(tmp_path: Path) -> None:
    spec = copied("memhtml", "archive", tmp_path / "a")
    archived = [
        r
        for r in stores.open_store(spec).raw.records
        if isinstance(r, Memory) and r.state == "archived"
    ]
    assert archived
    word = archived[0].title or ""
    bridge = Bridge(read=[spec])
    live = {(s.key) for one in bridge.search(word, 50).found for s in one.sources}
    both = {(s.key) for one in bridge.search(word, 50, archived=True).found for s in one.sources}
    assert archived[0].key not in live
    assert archived[0].key in both


def test_tasks_decisions_and_tombstones_are_found_with_their_role(tmp_path: Path) -> None:
    spec = copied("memory-compiler", "basic", tmp_path / "a")
    bridge = Bridge(read=[spec])
    roles = {one.role for one in bridge.records().found}
    assert roles == {"memory", "task", "decision", "tombstone"}
    for one in bridge.records().found:
        name = one.key.partition("#")[2]
        if one.role != "memory":
            assert one.key in keys(bridge.search(f'"{name}"', 20).found)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("東京の倉庫に鍵を置く。", ["倉庫", "鍵", "東京の倉庫", '"鍵を置く"', "倉庫 鍵"]),
        ("自行车钥匙在仓库里", ["钥匙", "仓", "自行车"]),
        ("กุญแจอยู่ในโรงรถของเรา", ["โรงรถ", "กุญแจ", "รถ"]),
        ("المفتاح في المستودع الكبير", ["مفتاح", "مستودع", "الْمِفْتَاح", "كب"]),
        ("המפתח תלוי במחסן", ["מחסן", "מפתח"]),
        ("열쇠는 창고에서 찾으세요", ["창고", "열쇠", "창"]),
        ("Der Schlüssel hängt über der Straße", ["schlussel", "SCHLÜSSEL", "strasse", "hangt"]),
        ("Ключ висит в мастерской", ["ключ", "мастерск"]),
        ("Το κλειδί είναι στο εργαστήριο", ["κλειδι", "ΕΡΓΑΣΤΗΡΙΟ"]),
        ("The code is C++ & <b>4711</b> 🚲", ["c++", "4711", "🚲", "&", "<b>"]),
        ("Ｆｕｌｌ ｗｉｄｔｈ ｶﾀｶﾅ", ["full width", "カタカナ"]),
    ],
)
def test_every_script_is_found_whatever_its_spaces(
    tmp_path: Path, text: str, queries: list[str]
) -> None:
    spec = claude(tmp_path / "a", wanted=text, other="Nothing of it: racks and pumps.")
    bridge = Bridge(read=[spec])
    for query in queries:
        found = bridge.search(query).found
        assert keys(found)[:1] == ["wanted.md"], query
        assert not found[0].partial


@pytest.mark.parametrize(
    "query",
    [
        *(
            '"',
            '""',
            "AND",
            "NOT x",
            "a OR b",
            "text:oil",
            "oil*",
            "(oil",
            "oil)",
            "^oil",
            "oil NEAR x",
        ),
        *(
            "-oil",
            "+",
            "'; DROP TABLE records; --",
            "\0",
            "a\0b",
            "{x}: y",
            "\\",
            "%",
            "_",
            "x" * 5000,
        ),
        *(" ".join(f"w{i}" for i in range(500)), "\ud800", "column:", '"oil', "۱۲۳", "́"),
    ],
)
def test_a_query_is_data_whatever_its_signs(tmp_path: Path, query: str) -> None:
    spec = claude(tmp_path / "a", chain="Oil the chain.", near="and NEAR not x or b text")
    answer = Bridge(read=[spec]).search(query)
    assert answer.problems == ()


def test_words_in_a_name_count_more_and_all_words_before_some(tmp_path: Path) -> None:
    spec = claude(
        tmp_path / "a",
        pump="Stands by the door.",
        door="The pump, and much more besides: racks, locks, tyres and chains.",
        rack="Only racks.",
    )
    found = Bridge(read=[spec]).search("pump").found
    assert keys(found)[0] == "pump.md"
    both = Bridge(read=[spec]).search("pump rack").found
    assert keys(both)[0] == "door.md"
    assert [one.partial for one in both] == [False, True, True]


def test_a_limit_counts_facts_and_not_records(tmp_path: Path) -> None:
    texts = {f"n{i}": f"chain number {i}" for i in range(12)}
    a, b = claude(tmp_path / "a", **texts), claude(tmp_path / "b", **texts)
    found = Bridge(read=[a, b]).search("chain", 10).found
    assert len({one.key for one in found}) == 10
    assert all(len(one.sources) == 2 for one in found)


def test_html_is_searched_as_people_read_it(tmp_path: Path) -> None:
    spec = copied("memhtml", "basic", tmp_path / "a")
    bridge = Bridge(read=[spec])
    assert bridge.search("article").found == () or all(
        "<article" not in (one.excerpt or "") for one in bridge.search("article").found
    )
    assert not any("<" in (one.excerpt or "") for one in bridge.search("battery", 20).found)
    assert bridge.search("battery").found


# --- the index


def index_files(cache: Path) -> list[Path]:
    return sorted((cache / "bridge").glob("*"))


def test_the_index_is_private_and_used_again(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = claude(tmp_path / "a", locks="Locks of the depot.")
    _age(tmp_path / "a")
    Bridge(read=[spec]).search("depot")
    (file,) = index_files(cache)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    before = file.stat().st_ino

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the store is opened though nothing changed")

    monkeypatch.setattr(stores, "open_store", never)
    assert keys(Bridge(read=[spec]).search("depot").found) == ["locks.md"]
    assert file.stat().st_ino == before


def _age(root: Path) -> None:
    """Make files look as if they had been written some time ago; their ctime is still new."""
    for path in root.rglob("*"):
        os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))


def test_a_write_in_the_same_tick_with_the_same_size_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = claude(tmp_path / "a", locks="Code 4711 it is.")
    path = tmp_path / "a" / "locks.md"
    real = stamps._add  # pyright: ignore[reportPrivateUsage]

    def coarse(name: str, info: os.stat_result, *rest: object) -> None:
        """As on a file system whose clock has but one tick, which is not over yet."""

        class Info:
            st_mode, st_size, st_ino = info.st_mode, info.st_size, info.st_ino
            st_mtime_ns = st_ctime_ns = 1 << 62

        real(name, Info, *rest)  # type: ignore[arg-type]  # a stat result of a coarse clock

    monkeypatch.setattr(stamps, "_add", coarse)
    bridge = Bridge(read=[spec])
    assert keys(bridge.search("4711").found) == ["locks.md"]
    path.write_bytes(path.read_bytes().replace(b"4711", b"0815"))
    assert keys(bridge.search("0815").found) == ["locks.md"]
    assert bridge.search("4711").found == ()


def test_what_changes_appears_and_goes_is_followed(tmp_path: Path) -> None:
    spec = claude(tmp_path / "a", locks="Locks of the depot.", racks="Racks are numbered.")
    bridge = Bridge(read=[spec])
    assert keys(bridge.search("depot").found) == ["locks.md"]
    claude(tmp_path / "a", pumps="Pumps of the depot.")
    assert set(keys(bridge.search("depot").found)) == {"locks.md", "pumps.md"}
    (tmp_path / "a" / "locks.md").unlink()
    assert keys(bridge.search("depot").found) == ["pumps.md"]
    assert keys(bridge.search("racks").found) == ["racks.md"]


def test_a_store_that_was_only_touched_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = claude(tmp_path / "a", locks="Locks of the depot.")
    bridge = Bridge(read=[spec])
    bridge.search("depot")
    _age(tmp_path / "a")
    monkeypatch.setattr(stores, "open_store", None)
    assert keys(bridge.search("depot").found) == ["locks.md"]


@pytest.mark.parametrize("damage", ["empty", "garbage", "half", "inside", "another", "older"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, cache: Path, damage: str) -> None:
    texts = {f"n{i}": f"chain number {i} " * 50 for i in range(40)}
    spec = claude(tmp_path / "a", **texts)
    bridge = Bridge(read=[spec])
    assert len(bridge.search("chain", 100).found) == 40
    (file,) = index_files(cache)
    data = bytearray(file.read_bytes())
    if damage == "empty":
        data.clear()
    elif damage == "garbage":
        data[:] = os.urandom(len(data))
    elif damage == "half":
        del data[len(data) // 2 :]
    elif damage == "inside":
        data[4096:-4096] = bytes(len(data) - 8192)
    file.write_bytes(data)
    if damage in ("another", "older"):
        pragma = "application_id" if damage == "another" else "user_version"
        with sqlite3.connect(file) as connection:
            connection.execute(f"PRAGMA {pragma} = 7")
        connection.close()
    assert len(bridge.search("chain", 100).found) == 40
    assert len(bridge.records().found) == 40


def test_other_code_makes_the_index_anew(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = claude(tmp_path / "a", locks="Locks of the depot.")
    Bridge(read=[spec]).search("depot")
    (file,) = index_files(cache)
    before = file.stat().st_ino
    monkeypatch.setattr(fingerprint, "_code", ["other"])
    assert keys(Bridge(read=[spec]).search("depot").found) == ["locks.md"]
    assert file.stat().st_ino != before


def test_without_a_place_for_the_index_it_is_made_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = claude(tmp_path / "a", locks="Locks of the depot.")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("INTEROP_CACHE_DIR", str(tmp_path / "file"))
    assert keys(Bridge(read=[spec]).search("depot").found) == ["locks.md"]


def test_what_is_kept_is_what_would_be_made_anew(tmp_path: Path, cache: Path) -> None:
    a = claude(tmp_path / "a", **{f"n{i}": f"chain {i} 鍵{i}" for i in range(30)})
    b = f"theokit:{tmp_path / 'b'}"
    converted(a, b)
    bridge = Bridge(read=[a, b])
    bridge.records()
    for step in range(4):
        (tmp_path / "a" / f"n{step}.md").unlink()
        claude(tmp_path / "a", **{f"m{step}": f"new chain {step} 錠", f"n{20 + step}": "edited 鎖"})
        kept = (bridge.records().to_json(), bridge.search("chain 鍵", 50).to_json())
        kept_two = bridge.search("鎖", 50).to_json()
        shutil.rmtree(cache)
        anew = (bridge.records().to_json(), bridge.search("chain 鍵", 50).to_json())
        assert kept[0] == anew[0]
        assert [f["record"] for f in kept[1]["found"]] == [f["record"] for f in anew[1]["found"]]  # type: ignore[index, union-attr, call-overload]
        assert kept_two["found"]
