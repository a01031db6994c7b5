"""What a query finds: scripts that meet, short words, signs, strokes, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.bridge import Bridge
from interop.bridge.query import LONGEST, MOST, fold, left_out, terms
from tests.test_bridge import cache, claude, keys

assert cache  # the fixture, used by every test here

MIXED = {
    "ja": "新しいiPhoneを買う。電話は8080番です",
    "th": "ร้านBikeMaxเปิด 24ชม",
    "ar": "المفتاحBOSCHهنا",
    "ko": "서울에서 Shimano가 최고",
    "zh": "备用A4纸在车间B2左边",
    "he": "המפתחKRYPTONITEכאן",
    "km": "សោABUSនៅ",
}


@pytest.fixture
def mixed(tmp_path: Path) -> Bridge:
    return Bridge(read=[claude(tmp_path / "mixed", **MIXED)])


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("iPhone", "ja"), ("8080", "ja"), ("iPhoneを", "ja"), ("新しいiPhone", "ja"),
        ("電話は8080番", "ja"), ("80", "ja"), ("BikeMax", "th"), ("24", "th"), ("24ชม", "th"),
        ("BOSCH", "ar"), ("المفتاح", "ar"), ("Shimano", "ko"), ("shimano가", "ko"), ("A4", "zh"),
        ("B2", "zh"), ("A4纸", "zh"), ("kryptonite", "he"), ("ABUS", "km"), ('"は8080"', "ja"),
    ],
)  # fmt: skip
def test_words_of_another_script_are_found_inside_one_without_spaces(
    mixed: Bridge, query: str, where: str
) -> None:
    (found,) = [one for one in mixed.search(query).found if not one.partial]
    assert found.key == f"{where}.md"
    assert found.excerpt
    assert found.excerpt in MIXED[where]


def test_a_word_that_is_not_there_is_not_found(mixed: Bridge) -> None:
    for query in ("Phone", "808", "KeMax", "iPad"):
        found = mixed.search(query).found
        # 8080 begins with 808; the others begin no word
        assert keys(found) == (["ja.md"] if query == "808" else []), query


def test_every_word_begins_longer_ones_and_a_short_one_comes_first_itself(tmp_path: Path) -> None:
    spec = claude(
        tmp_path / "a",
        longer="The depot has items, itemised, and an oil can: öl.",
        itself="Ask it.",
    )
    bridge = Bridge(read=[spec])
    for query in ("de", "dep", "d", "oi", "öl", "ö", "it", "i"):
        assert "longer.md" in keys(bridge.search(query).found), query
    assert keys(bridge.search("it").found)[0] == "itself.md"


def test_a_short_word_with_signs_is_not_the_word_without(tmp_path: Path) -> None:
    spec = claude(tmp_path / "a", plus="Written in C++.", sharp="In C# now", plain="Plan C: cargo.")
    bridge = Bridge(read=[spec])
    assert keys(bridge.search("C++").found) == ["plus.md"]
    assert keys(bridge.search('"c++",').found) == ["plus.md"]
    assert keys(bridge.search("C#").found) == ["sharp.md"]
    assert len(bridge.search("C").found) == 3
    # no other sign has a meaning
    for query in ("c*", "(c)", "c.", "c:", "-c"):
        assert len(bridge.search(query).found) == 3, query


@pytest.mark.parametrize(
    ("written", "asked"),
    [("Đorđe", "dorde"), ("Łódź", "lodz"), ("Øresund", "oresund"), ("ışık", "isik"),
     ("smørrebrød", "smorrebrod"), ("cœur", "coeur")],
)  # fmt: skip
def test_strokes_and_missing_dots_are_folded(written: str, asked: str, tmp_path: Path) -> None:
    assert fold(written) == fold(asked)
    bridge = Bridge(read=[claude(tmp_path / "a", one=f"Call {written} first.")])
    for query in (written, asked, written.upper()):
        assert keys(bridge.search(query).found) == ["one.md"], query


def test_what_is_not_looked_for_is_said(tmp_path: Path) -> None:
    bridge = Bridge(read=[claude(tmp_path / "a", one="word0 is here")])
    assert bridge.search("word0").notes == ()
    many = " ".join(f"word{n}" for n in range(MOST + 8))
    answer = bridge.search(many)
    assert keys(answer.found) == ["one.md"]
    (note,) = answer.notes
    assert f"first {MOST} words" in note
    assert note.endswith("8 are not")
    assert answer.to_json()["notes"] == [note]


def test_a_phrase_that_is_too_long_is_cut_between_words(tmp_path: Path) -> None:
    said = "the brown crate behind the shelf " * 9
    bridge = Bridge(read=[claude(tmp_path / "a", one=said)])
    for words in range(33, 54):
        phrase = " ".join(said.split()[:words])
        assert keys(bridge.search(f'"{phrase}"').found) == ["one.md"], words
        assert bool(left_out(f'"{phrase}"')) == (len(phrase) > LONGEST)
    (term,) = terms(f'"{said}"')
    assert said.startswith(f"{term.text} ")
