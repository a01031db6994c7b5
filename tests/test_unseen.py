"""One rule for what a terminal and a page must not obey, or would not show."""

from __future__ import annotations

import pytest

from interop import unseen
from interop.cli import text
from interop.report.escape import plain, shown

CHARS = (
    "\x00\x07\x1b\x7f\x85\x9b\xad\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u2028\u202e\u2060"
    "\u2066\u3164\ufeff\ufffb\U000e0001\U000e0041\U000e0100\ud800\udc80\ufffe"
)


@pytest.mark.parametrize("char", CHARS, ids=lambda c: f"{ord(c):x}")
def test_it_is_an_escape_everywhere(char: str) -> None:
    escape = char.encode("unicode_escape").decode("ascii")
    assert unseen.visible(f"a{char}b") == f"a{escape}b"
    assert shown(f"a{char}b") == f"a<code class=esc>{escape}</code>b"
    assert plain(f"a{char}b") == f"a{escape}b"


@pytest.mark.parametrize(
    "said", ["Größe 轮胎 🚲", "👩‍🔧", "نمی‌خواهم", "❤️", "क्‍ष", "\tx\n", "e\u0301", "\u00a0", "\u3000"]
)
def test_what_scripts_need_stays(said: str) -> None:
    assert unseen.visible(said, keep="\t\n") == said
    assert shown(said) == said


def test_a_joiner_takes_no_column() -> None:
    assert text.columns("نمی‌خواهم") == 8
