"""The map between Markdown and articles: what each thing becomes, and how edits are carried."""

from __future__ import annotations

import subprocess
import sys

import pytest

from interop.markup import HTML, MARKDOWN, carry_over, claim, split, translate

NATIVE = [
    ("Bike 7 is *back*.", "<p>Bike 7 is <em>back</em>.</p>"),
    ("**Lock** it.", "<p><strong>Lock</strong> it.</p>"),
    ("one\ntwo", "<p>one\ntwo</p>"),
    ("one\\\ntwo", "<p>one<br>\ntwo</p>"),
    ("See [[bike_7]] and a_b_c.", "<p>See [[bike_7]] and a_b_c.</p>"),
    ("Use `a < b | c`.", "<p>Use <code>a &lt; b | c</code>.</p>"),
    ("[Station](/s.html)", '<p><a href="/s.html">Station</a></p>'),
    ('[S](/s.html "The & station")', '<p><a href="/s.html" title="The &amp; station">S</a></p>'),
    ("<https://example.org/x>", '<p><a href="https://example.org/x">https://example.org/x</a></p>'),
    ("![Map](map.png)", '<p><img alt="Map" src="map.png"></p>'),
    ("## Stations", "<h2>Stations</h2>"),
    ("---", "<hr>"),
    ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"),
    ("3. one\n4. two", '<ol start="3">\n<li>one</li>\n<li>two</li>\n</ol>'),
    ("- one\n\n- two", "<ul>\n<li><p>one</p></li>\n<li><p>two</p></li>\n</ul>"),
    ("- one\n  - two", "<ul>\n<li>one\n<ul>\n<li>two</li>\n</ul>\n</li>\n</ul>"),
    ("> quote", "<blockquote>\n<p>quote</p>\n</blockquote>"),
    ("```sh\nrent 7\n```", '<figure><pre><code data-lang="sh">rent 7</code></pre></figure>'),
    ("```\n```", "<figure><pre><code></code></pre></figure>"),
    ("```\n\n```", "<figure><pre><code>\n</code></pre></figure>"),
    (
        "```sh run=no\nx\n```",
        '<figure><pre><code data-info="sh run=no" data-lang="sh">x</code></pre></figure>',
    ),
    (
        "| bike | fee |\n| --- | ---: |\n| 7 | 3\\|4 |",
        '<table>\n<thead>\n<tr>\n<th>bike</th>\n<th align="right">fee</th>\n</tr>\n</thead>\n'
        '<tbody>\n<tr>\n<td>7</td>\n<td align="right">3|4</td>\n</tr>\n</tbody>\n</table>',
    ),
    ("R\u00e9nt\u00a07", "<p>R\u00e9nt&nbsp;7</p>"),
]

RAW = [
    ("<mark>Bike 7.</mark> It is red.", "<p><mark>Bike 7.</mark> It is red.</p>"),
    (
        'On <time datetime="2026-03-01">March 1</time>.',
        '<p>On <time datetime="2026-03-01">March 1</time>.</p>',
    ),
    ("<dl><dt>Fee</dt><dd>3</dd></dl>", "<dl><dt>Fee</dt><dd>3</dd></dl>"),
    (
        "<details><summary>How</summary><p>Asked.</p></details>",
        "<details><summary>How</summary><p>Asked.</p></details>",
    ),
    ("<aside><p>x</p></aside>", "<aside><p>x</p></aside>"),
    ("<!-- check in May -->", "<!-- check in May -->"),
    ("press <kbd>Q</kbd><br>", "<p>press <kbd>Q</kbd><br></p>"),
]

TEXT = [
    ("deploy <env> now", "<p>deploy &lt;env&gt; now</p>"),
    ("a <b> c", "<p>a &lt;b&gt; c</p>"),
    ("<script>x()</script>", "<p>&lt;script&gt;x()&lt;/script&gt;</p>"),
    ('<p class="x">y</p>', '<p>&lt;p class="x"&gt;y&lt;/p&gt;</p>'),
    ("<em onclick='x'>y</em>", "<p>&lt;em onclick='x'&gt;y&lt;/em&gt;</p>"),
    ("<time>now</time>", "<p>&lt;time&gt;now&lt;/time&gt;</p>"),
    (
        '<time datetime="2026-02-30">x</time>',
        '<p>&lt;time datetime="2026-02-30"&gt;x&lt;/time&gt;</p>',
    ),
    ("[x](javascript:y)", "<p>[x](javascript:y)</p>"),
    ("<mark></mark>x", "<p>&lt;mark&gt;&lt;/mark&gt;x</p>"),
    ("a\n\n<mark>b</mark>", "<p>a</p>\n<p>&lt;mark&gt;b&lt;/mark&gt;</p>"),
]


@pytest.mark.parametrize(("markdown", "html"), NATIVE + RAW)
def test_what_each_thing_becomes_and_back(markdown: str, html: str) -> None:
    assert translate(markdown, MARKDOWN, HTML) == html
    assert translate(html, HTML, MARKDOWN) == markdown


@pytest.mark.parametrize(("markdown", "html"), TEXT)
def test_raw_html_that_may_not_stand_is_text(markdown: str, html: str) -> None:
    assert translate(markdown, MARKDOWN, HTML) == html
    assert translate(translate(html, HTML, MARKDOWN), MARKDOWN, HTML) == html


def test_the_same_medium_is_the_same_text() -> None:
    assert translate(" *a*\r\n", MARKDOWN, MARKDOWN) == " *a*\r\n"


def test_definitions_of_links_are_kept_out_of_sight() -> None:
    html = translate("[lock][l]\n\n[l]: /lock.html\n", MARKDOWN, HTML)
    assert html == '<p><a href="/lock.html">lock</a></p>\n<!--[l]: /lock.html-->'


@pytest.mark.parametrize("media", [MARKDOWN, HTML])
def test_too_deep_a_text_is_shown_as_code(media: str) -> None:
    text = ">" * 300 + " x" if media == MARKDOWN else "<div>" * 3000 + "x"
    other = HTML if media == MARKDOWN else MARKDOWN
    assert "x" in translate(text, media, other)
    assert text in translate(translate(text, media, other), other, media).replace(
        "&gt;", ">"
    ).replace("&lt;", "<")


NOTE = """# Bike 7

Bike 7 has a *new*  lock.
It squeaks.
* brakes are __fine__
* bell is missing


See [the log][l].

[l]: /log.html
"""


def test_an_edit_in_html_changes_its_block_of_markdown_only() -> None:
    seen = translate(NOTE, MARKDOWN, HTML)
    now = seen.replace("bell is missing", "bell is <strong>back</strong>")
    assert carry_over(NOTE, MARKDOWN, seen, now, HTML) == NOTE.replace(
        "* brakes are __fine__\n* bell is missing", "- brakes are **fine**\n- bell is **back**"
    )


def test_blocks_come_and_go() -> None:
    seen = translate(NOTE, MARKDOWN, HTML)
    more = f"{seen}\n<p>Checked in May.</p>"
    assert carry_over(NOTE, MARKDOWN, seen, more, HTML) == f"{NOTE[:-1]}\n\nChecked in May.\n"
    less = seen.replace("<h1>Bike 7</h1>\n", "")
    assert carry_over(NOTE, MARKDOWN, seen, less, HTML) == NOTE.removeprefix("# Bike 7\n\n")
    first = f"<p>New.</p>\n{seen}"
    assert carry_over(NOTE, MARKDOWN, seen, first, HTML) == f"New.\n\n{NOTE}"
    assert carry_over(NOTE, MARKDOWN, seen, "", HTML).strip() == ""


def test_new_text_has_the_line_ends_of_the_rest() -> None:
    rich = "One\r\n\r\nTwo\r\n"
    seen = translate(rich, MARKDOWN, HTML)
    now = f"{seen}\n<p>Three<br>Four</p>"
    assert carry_over(rich, MARKDOWN, seen, now, HTML) == (
        "One\r\n\r\nTwo\r\n\r\nThree\\\r\nFour\r\n"
    )


def test_a_moved_block_keeps_its_bytes() -> None:
    rich = "First  *a*.\n\n\nSecond __b__.\n"
    seen = translate(rich, MARKDOWN, HTML)
    now = "\n".join(reversed(seen.split("\n")))
    assert carry_over(rich, MARKDOWN, seen, now, HTML) == "Second __b__.\n\nFirst  *a*.\n"


def test_an_edit_in_markdown_changes_its_block_of_the_article_only() -> None:
    rich = (
        "<p><mark>Bike 7.</mark>  It is\n  red.</p><dl><dt>Fee</dt><dd>3</dd></dl>\n\n"
        '<p id="x">End</p>\n'
    )
    seen = translate(rich, HTML, MARKDOWN)
    now = seen.replace("<dd>3</dd>", "<dd>4</dd>")
    assert carry_over(rich, HTML, seen, now, MARKDOWN) == rich.replace("3", "4")


def test_what_was_seen_may_be_of_an_older_map_trimmed_and_with_other_line_ends() -> None:
    seen = translate(NOTE, MARKDOWN, HTML).replace(
        "<h1>Bike 7</h1>", "<p><strong>Bike 7</strong></p>"
    )
    seen = seen.strip().replace("\n", "\r\n")
    assert carry_over(NOTE, MARKDOWN, seen, seen, HTML) == NOTE
    now = seen.replace("missing", "back")
    assert carry_over(NOTE, MARKDOWN, seen, now, HTML).startswith(
        "# Bike 7\n\nBike 7 has a *new*  lock.\n"
    )


def test_neighbours_do_not_run_into_one_another() -> None:
    rich = "# Bike 7\nIt is red.\n"
    seen = translate(rich, MARKDOWN, HTML)
    now = seen.replace("h1>", "p>")
    assert carry_over(rich, MARKDOWN, seen, now, HTML) == "Bike 7\n\nIt is red.\n"


def test_a_removed_definition_does_not_unlink_others() -> None:
    seen = translate(NOTE, MARKDOWN, HTML)
    now = seen.replace("<!--[l]: /log.html-->", "").strip()
    outcome = carry_over(NOTE, MARKDOWN, seen, now, HTML)
    assert translate(outcome, MARKDOWN, HTML) == now


def test_blocks_are_spans_of_the_text() -> None:
    html = "<p>a</p>\r\n<!-- c -->\r\nloose <em>text</em><p>b<p>c</article>"
    assert [html[b.start : b.end] for b in split(html, HTML)] == [
        "<p>a</p>",
        "<!-- c -->\r\nloose <em>text</em>",
        "<p>b",
        "<p>c</article>",
    ]


def test_importing_the_map_loads_no_parser() -> None:
    code = "import sys, interop.markup; print({'turbohtml', 'markdown_it'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- the claim that was made for a text

SAID = "<p><mark>About bikes</mark></p>\n"
BIKES = "<p>Bike 7 is back.</p>\n<p>It was lent.</p>"


@pytest.mark.parametrize(
    ("now", "bare"),
    [
        (f"{SAID}{BIKES}", BIKES),
        (f"<p><mark>Else</mark></p>\n{BIKES}", BIKES),
        (f"{SAID}<p>Quite another.</p>", "<p>Quite another.</p>"),
        ("<p><mark>Else</mark></p>\n<p>Bike 8 is back.</p>", "<p>Bike 8 is back.</p>"),
        ("<p><mark>Else</mark></p>\n<p>It was lent.</p>", "<p>It was lent.</p>"),
        ("<p><mark>Else</mark></p>\n<p>New</p>", "<p>Else</p>\n<p>New</p>"),
        ("<p><mark>Else</mark></p>\n", "<p>Else</p>\n"),
        (SAID, "<p>About bikes</p>\n"),
    ],
)
def test_a_claim_is_taken_out_where_it_is_the_one_that_was_supplied(now: str, bare: str) -> None:
    rich = translate(BIKES, HTML, MARKDOWN)
    found = claim.without_claim(rich, MARKDOWN, f"{SAID}{BIKES}", now)
    assert found == (BIKES, bare)
    supplied = not bare.startswith(("<p>Else", "<p>About"))
    assert claim.is_changed_alone(rich, MARKDOWN, f"{SAID}{BIKES}", now) == supplied


@pytest.mark.parametrize("rich", ["", " ", "\n\n"])
def test_before_an_empty_text_there_is_nothing_but_a_claim(rich: str) -> None:
    now = "<p><mark>Else</mark></p>"
    assert claim.without_claim(rich, MARKDOWN, SAID, now) == ("", "")
    assert claim.is_changed_alone(rich, MARKDOWN, SAID, now)


def test_a_long_text_is_looked_through_for_lines_that_stayed() -> None:
    rich = "\n\n".join(f"Bike {n} is back." for n in range(200))
    html = translate(rich, MARKDOWN, HTML)
    last = html.rpartition("\n")[2]
    now = f"<p><mark>Else</mark></p>\n{last}"
    assert claim.without_claim(rich, MARKDOWN, SAID + html, now) == (html, last)
