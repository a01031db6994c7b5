"""The page of a diff and its JSON: escaped, without scripts, selected by field."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given

from interop import fields, report
from interop.cli import diff_text
from interop.diff import Diff, compare, patch
from interop.errors import UsageError
from interop.model import Json, Store
from interop.report import entries
from interop.report.escape import shown
from tests.diff_samples import HOSTILE, A, B, every_kind, hostile
from tests.test_diff import stores

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "docs" / "diff.schema.json").read_text(encoding="utf-8"))
RECORDS = json.loads((ROOT / "docs" / "record.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


class Page(HTMLParser):
    """The elements of a page, their attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said += data


def attribute(page: Page, tag: str, name: str, value: str) -> dict[str, str | None]:
    (found,) = (a for t, a in page.tags if t == tag and a.get(name) == value)
    return found


PAGES = [
    report.html(every_kind(), A, B),
    report.html(hostile(), HOSTILE, HOSTILE),
    report.html(Diff(changes=()), A, B, left_out=3),
]


@pytest.mark.parametrize("text", PAGES, ids=["every-kind", "hostile", "same"])
def test_a_page_has_no_scripts_loads_nothing_and_says_so(text: str) -> None:
    page = Page(text)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "img", "link", "iframe", "object", "embed", "svg", "base"}
    names = {name for _, attributes in page.tags for name in attributes}
    assert not [n for n in names if n.startswith("on") or n in ("src", "style", "action")]
    links = [a["href"] for t, a in page.tags if t == "a"]
    assert all(re.fullmatch(r"#r\d+", link or "") for link in links)
    assert "url(" not in text.split("</style>")[0]
    policy = attribute(page, "meta", "http-equiv", "Content-Security-Policy")["content"]
    style = text.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "prefers-color-scheme: dark" in style
    assert attribute(page, "meta", "name", "color-scheme")["content"] == "light dark"


def test_hostile_texts_are_text() -> None:
    text = PAGES[1]
    page = Page(text)
    text.encode()  # a lone surrogate is shown as an escape
    for raw in ("\x00", "\x1b", "\u202e", "\u2066", "\u200b", "\U000e0041", "\ud800"):
        assert raw not in text
        assert raw.encode("unicode_escape").decode() in page.said
    assert "<script>alert(1)</script><img src=x onerror=alert(2)>" in page.said
    assert text.count("<style>") == 1
    ids = [a["id"] for _, a in page.tags if a.get("id")]
    assert len(ids) == len(set(ids))
    # the style sheet is made of what the page shows, never of what a store says
    assert "evil" not in text.split("<style>")[1].split("</style>")[0]


@pytest.mark.parametrize(
    ("raw", "html"),
    [
        ("a<b & \"c'", "a&lt;b &amp; &quot;c&#x27;"),
        ("\r\x1b", "<code class=esc>\\r</code><code class=esc>\\x1b</code>"),
        ("Größe 轮胎 👩‍🔧 \t\n", "Größe 轮胎 👩‍🔧 \t\n"),
        ("&#x202e;", "&amp;#x202e;"),
    ],
)
def test_escaping(raw: str, html: str) -> None:
    assert shown(raw) == html


def test_every_kind_has_its_filter_with_its_count() -> None:
    page = Page(PAGES[0])
    counts = entries.counts(list(entries.entries(every_kind())))
    assert tuple(counts) == entries.KINDS
    radios = [a for t, a in page.tags if t == "input" and a["name"] == "only"]
    assert [a["id"] for a in radios] == [f"only-{k}" for k in ("all", *entries.KINDS)]
    assert [a["id"] for a in radios if "checked" in a] == ["only-all"]
    classes = [str(a["class"]).split() for t, a in page.tags if t == "article"]
    for kind, number in counts.items():
        assert sum(f"k-{kind}" in c for c in classes) == number
        assert f"#only-{kind}:checked" in PAGES[0]


def test_words_are_marked_and_the_rest_is_left_out() -> None:
    assert "<del>at</del> the ramp" in PAGES[0]
    assert "<ins>by</ins> the<ins> big</ins> ramp" in PAGES[0]
    assert "lines the same" in PAGES[0]
    assert "renamed" in Page(PAGES[0]).said
    assert "probably the same" in Page(PAGES[0]).said
    assert '<span class="mark m-changed">changed</span><span class="mark m-omission">' in PAGES[0]


# --- which changes


def test_only_and_ignore_choose_by_field() -> None:
    found = every_kind()
    body = entries.select(found, ["body"])
    assert {c.field for c in body.changes} == {"body", None}
    assert {c.what for c in body.changes} == {"changed", "removed", "added"}
    assert {c.what for c in entries.select(found, ["status"]).changes} == set()
    assert {c.what for c in entries.select(found, ["key"]).changes} >= {"moved"}
    without = entries.select(found, ignore=["key", "carried", "order", "state"])
    assert {c.what for c in without.changes} == {"changed", "removed", "added"}
    assert all(c.tag != "noise" for c in entries.select(found, noise=False).changes)
    with pytest.raises(UsageError, match="no field 'text'"):
        entries.select(found, ["text"])


def test_an_omission_says_which_side_is_silent() -> None:
    (omission,) = (c for c in every_kind().changes if c.tag == "omission")
    assert entries.remark(omission) == "not declared in A, changed in B"
    assert entries.remark(omission, side=False) == "not declared in A"
    assert [(f.label, f.a, f.b) for f in entries.facets(omission)] == [
        ("kinds.claude", None, "project")
    ]


# --- the JSON form


def lawful(found: Diff) -> None:
    """Every line is as the schema says, and each record in it as the schema of records says."""
    for change in found.changes:
        data = json.loads(fields.dumps(entries.to_json(change)))
        VALIDATOR.validate(data)  # pyright: ignore[reportUnknownMemberType]
        assert entries.from_json(data) == change


def test_the_schema_describes_every_kind_of_change() -> None:
    lawful(every_kind())
    wrong: list[Json] = [{}, {"what": "changed", "tag": "content"}, {"what": "x", "tag": "content"},
             {"what": "added", "tag": "content", "key_a": "a", "b": {}}]  # fmt: skip
    for data in wrong:
        assert not VALIDATOR.is_valid(data)  # pyright: ignore[reportUnknownMemberType]
    assert SCHEMA["$id"].rsplit(":", 1)[-1] == RECORDS["$id"].rsplit(":", 1)[-1]


@given(a=stores(), b=stores())
def test_the_json_of_a_diff_makes_one_store_the_other(a: Store, b: Store) -> None:
    changes = compare(a, b)
    for_json = [c for c in changes if "\\ud" not in repr(c)]
    lawful(Diff(changes=tuple(for_json)))
    assert patch(a, [entries.from_json(entries.to_json(c)) for c in changes]) == b


# --- the command


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interop.cli.main", "diff", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT)


FACT = "---\nname: {0}\ndescription: {1}\ntype: project\n{2}---\n{3}\n"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two bantamkit stores: a description differs, a recall date, and one fact is new."""
    for side, says, recalled in (
        ("a", "How hard they are", ""),
        ("b", "How soft they are", "last_recalled: 2026-09-01\n"),
    ):
        for folder in ("facts", "archive"):
            (tmp_path / side / folder).mkdir(parents=True)
        fact = tmp_path / side / "facts" / "tyres.md"
        fact.write_text(FACT.format("tyres", says, recalled, "Two bar."), encoding="utf-8")
    new = tmp_path / "b" / "facts" / "pump.md"
    new.write_text(FACT.format("pump", "Where it is", "", "At the ramp."), encoding="utf-8")
    return tmp_path / "a", tmp_path / "b"


def test_the_command_selects_by_field(two: tuple[Path, Path]) -> None:
    a, b = (f"bantamkit:{path}" for path in two)
    every = run(a, b)
    assert every.returncode == 1
    assert (
        "  - description: How hard they are\n  + description: How soft they are\n" in every.stdout
    )
    assert "  added: Where it is\n" in every.stdout
    assert "\x1b" not in every.stdout
    only = run(a, b, "--only", "description", "--ignore", "key")
    assert (only.returncode, "added" in only.stdout) == (1, True)
    ignored = run(a, b, "--only", "title")
    assert (ignored.returncode, ignored.stdout) == (0, "")
    assert run(a, b, "--only", "text").returncode == 2
    assert run(a, b, "--stat", "--json").returncode == 2
    stat = run(a, b, "--stat").stdout
    assert re.search(r"^added +1$", stat, re.M)
    assert re.search(r"^description +1 ", stat, re.M)
    assert run(a, f"bantamkit:{two[0]}/nowhere").returncode == 4


def test_the_command_writes_a_page(two: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = (f"bantamkit:{path}" for path in two)
    done = run(a, b, "--html", tmp_path / "page.html")
    assert (done.returncode, done.stdout) == (1, "")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<del>hard</del>" in page
    assert run(a, b, "--html", "-").stdout == page
    inside = run(a, b, "--html", two[0] / "page.html")
    assert (inside.returncode, (two[0] / "page.html").exists()) == (2, False)
    assert run(a, b, "--html", tmp_path / "nowhere" / "page.html").returncode == 5


def test_colours_are_for_a_terminal_and_what_a_store_says_is_not_obeyed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # as main does
    diff_text.show(list(diff_text.rows(hostile(), A, B)))
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert "\\x1b[31m" in plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for name, value in {"TERM": "xterm-256color", "PAGER": "cat", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    diff_text.show(list(diff_text.rows(every_kind(), A, B))[:12])
    coloured = capsys.readouterr().out
    assert "\x1b[1;4;32mby\x1b[0m" in coloured


def test_a_long_line_shows_what_changed_in_it() -> None:
    change = next(c for c in hostile().changes if c.field == "body")
    rows = diff_text.rows(Diff(changes=(change,)), A, B)
    added = ["".join(s.text for s in row) for row in rows if row and row[0].text == "    +"]
    assert len(added) == 1
    assert len(added[0]) < 100
    assert added[0].endswith(" more")
    assert "…" in added[0]
