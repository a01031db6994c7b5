"""The page of a diff in a real browser: filtered with the mouse, light and dark, wide and narrow.

Pictures are kept in ``.artifacts/``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop import report
from interop.report import entries
from tests.browser import INSTALL, Tab, browser, find
from tests.diff_samples import HOSTILE, A, B, every_kind, hostile

ARTIFACTS = Path(__file__).parents[1] / ".artifacts"
VISIBLE = "[...document.querySelectorAll('.entry')].filter(e => e.offsetParent).map(e => e.id)"
SIDEWAYS = (
    "[document.documentElement, ...document.querySelectorAll('body *:not(.away):not(legend)')]"
    ".filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')"
    ".map(e => e.outerHTML.slice(0, 80))"
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    program = find()
    if program is None and os.environ.get("CI") == "true":
        pytest.fail(f"no Chromium: {INSTALL}")
    if program is None:
        pytest.skip(f"THE PAGE IS NOT TESTED, there is no Chromium: {INSTALL}")
    with browser(program, tmp_path_factory.mktemp("browser") / "profile") as opened:
        yield opened


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "diff.html"
    file.write_bytes(report.html(every_kind(), A, B, left_out=2).encode())
    return file


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("light", 1200, "light"), ("dark", 1200, "dark"), ("narrow", 380, "light")],
)
def test_a_page_fits_and_follows_the_theme(
    tab: Tab, page: Path, name: str, width: int, scheme: str
) -> None:
    tab.size(width, 900, scheme)
    tab.open(page)
    tab.draw_all()
    assert tab.ask(SIDEWAYS) == []
    narrow = "[...document.querySelectorAll('td.t')].map(e => e.clientWidth).filter(w => w < 250)"
    assert tab.ask(narrow) == [], "the text has nearly all the width of its card"
    background = tab.ask("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, background[4:-1].split(","))) / 3
    assert (brightness < 60) == (scheme == "dark")
    picture = tab.screenshot(ARTIFACTS / f"diff-{name}.png")
    assert len(picture) > 20_000


def test_a_click_shows_one_kind_of_change(tab: Tab, page: Path) -> None:
    tab.size(1200, 900, "light")
    tab.open(page)
    every = list(entries.entries(every_kind()))
    ids = [f"r{n}" for n in range(1, len(every) + 1)]
    assert tab.ask(VISIBLE) == ids
    for kind in entries.KINDS:
        tab.click(f"label:has(#only-{kind})")
        assert tab.ask(f"document.querySelector('#only-{kind}').checked") is True
        assert tab.ask(VISIBLE) == [
            id_ for id_, entry in zip(ids, every, strict=True) if kind in entry.kinds
        ]
    tab.click("label:has(#only-all)")
    assert tab.ask(VISIBLE) == ids


def test_a_click_shows_one_side_and_both_filters_go_together(tab: Tab, page: Path) -> None:
    tab.size(1200, 900, "light")
    tab.open(page)
    every = list(enumerate(entries.entries(every_kind()), 1))
    for side in entries.SIDES:
        tab.click(f"label:has(#side-{side})")
        assert tab.ask(f"document.querySelector('#side-{side}').checked") is True
        shown = [f"r{n}" for n, entry in every if side in entry.sides]
        assert tab.ask(VISIBLE) == shown != []
        badge = f"document.querySelectorAll('.m-side-{side}').length"
        assert tab.ask(badge) == len(shown)
    tab.screenshot(ARTIFACTS / "diff-conflicts.png")
    tab.click("label:has(#only-omission)")
    both = [f"r{n}" for n, e in every if "conflict" in e.sides and "omission" in e.kinds]
    assert tab.ask(VISIBLE) == both != []
    tab.click("label:has(#side-all)")
    tab.click("label:has(#only-all)")
    assert len(tab.ask(VISIBLE)) == len(every)


def test_what_the_ancestor_said_unfolds_without_a_script(tab: Tab, page: Path) -> None:
    tab.size(1200, 900, "light")
    tab.open(page)
    tab.draw_all()
    said = "document.querySelector('details.before p').checkVisibility()"
    assert tab.ask(said) is False
    tab.click("details.before summary")
    assert tab.ask(said) is True
    assert "in the yard" in tab.ask("document.querySelector('details.before p').innerText")


def test_keys_choose_too_and_a_link_shows_its_record(tab: Tab, page: Path) -> None:
    tab.size(1200, 900, "light")
    tab.open(page, "#r4")
    outlined = "[...document.querySelectorAll('.entry')].filter(e => e.matches(':target')"
    outlined += " && getComputedStyle(e).outlineStyle === 'solid').map(e => e.id)"
    assert tab.ask(outlined) == ["r4"]
    tab.ask("document.querySelector('#only-all').focus()")
    key = {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39}
    for kind in ("keyDown", "keyUp"):
        tab.call("Input.dispatchKeyEvent", type=kind, **key)
    assert tab.ask("document.querySelector('#only-added').checked") is True


def test_hostile_texts_stay_texts(tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "hostile.html"
    file.write_bytes(report.html(hostile(), HOSTILE, HOSTILE).encode())
    tab.size(800, 900, "light")
    tab.open(file)
    tab.draw_all()
    assert tab.ask("document.querySelectorAll('script, img, main style').length") == 0
    assert tab.ask("document.querySelectorAll('style').length") == 1
    assert "<script>alert(1)</script>" in tab.ask("document.body.innerText")
    assert tab.ask(SIDEWAYS) == []
    methods = [e.get("method") for e in tab.events]
    assert "Page.javascriptDialogOpening" not in methods
    asked = [e["params"]["request"]["url"] for e in tab.events
             if e.get("method") == "Network.requestWillBeSent"]  # fmt: skip
    assert [url for url in asked if not url.endswith("/hostile.html")] == []
    told = [e["params"]["entry"]["text"] for e in tab.events if e.get("method") == "Log.entryAdded"]
    assert told == [], "the page's own policy lets all of the page through"
    tab.screenshot(ARTIFACTS / "diff-hostile.png")


def test_a_script_would_not_run(tab: Tab, page: Path) -> None:
    """The policy holds even where escaping would fail."""
    text = page.read_text(encoding="utf-8")
    bad = "<script>document.title = 'ran'</script><style>h1 { color: rgb(1, 2, 3) }</style>"
    page.write_text(text.replace("<main>", f"<main>{bad}"), encoding="utf-8")
    tab.open(page)
    assert tab.ask("document.title") != "ran"
    assert tab.ask("getComputedStyle(document.querySelector('h1')).color") != "rgb(1, 2, 3)"
