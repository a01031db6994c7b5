"""The map between Markdown and articles: laws that hold for any text."""

from __future__ import annotations

import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from turbohtml import Element, Node

from interop.markup import HTML, MARKDOWN, carry_over, split, translate
from interop.markup.reading import parser
from interop.markup.to_markdown import spans_of_html
from interop.markup.vocabulary import attributes, claims, clean, parse, same_meaning, serialise

# ruff: noqa: E501
NASTY = [
    "a", "bike", "lock 7", " ", "  ", "\n", "\n\n", "\n    ", "\n\t", "\t", "\\", "\\\\", "_", "__",
    "*", "**", "***", "`", "``", "```", "\n```\n", "\n~~~ py\n", "<b>", "</b>", "<em>", "</em>",
    "<mark>", "</mark>", "<env>", "<br>", "<div>", "<", ">", "\n> ", "&amp;", "&", "&lt;", "&nbsp;",
    "&#13;", "---", "\n---\n", "\n===\n", "===", "[x](y)", "[", "]", "(", ")", "](", "![", "!", "|",
    "\n| a | b |\n| - | :-: |\n| c | d |\n", "\\|", "\n- ", "\n  - ", "\n1. ", "\n3) ", "\n* ", "\n+ ",
    "# ", "\n## ", " #", "\u00a0", "\u3000", "日本語", "שלום", "🚲", "e\u0301", ":", "[r]: /u 't'\n", "[r]",
    "\n[r]: /u\n\n", "<!-- c -->", "<!--", "-->", "<a@b.c>", "<https://x.y/z>", "[[wiki]]", "'", '"',
    "<time datetime='2026-01-01'>", "</time>", "<details><summary>s</summary>", "</details>",
    "\n<dl><dt>k</dt><dd>v</dd></dl>\n\n", "<p>", "</p>", "\r\n", "\x0c", "\x0b", "\x85", "\u2028",
    "\\\n", "  \n", "=", "-", "+", "1.", "<script>", "</script>", "<a href='javascript:x'>", "</a>",
]  # fmt: skip
markdown = st.one_of(
    st.lists(st.sampled_from(NASTY), max_size=14).map("".join),
    st.text(
        st.one_of(
            st.sampled_from("\\`*_<>&[]()#+-=|!~ \n\t\"'.:1ab"),
            st.characters(exclude_categories=["Cs"]),
        ),
        max_size=40,
    ),
)


def shown(text: str, reader: MarkdownIt) -> str:
    """What a reader shows, whatever the white space."""
    # A fence that the end of the text closes lacks its last line end otherwise.
    text += "" if text.endswith("\n") else "\n"
    return re.sub(
        r"<!--.*?-->|<p></p>", "", same_meaning(parse(reader.render(text))), flags=re.DOTALL
    )


def stock() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    setattr(reader, "normalizeLinkText", str)  # noqa: B010 - a method, to the type checkers
    return reader


@given(markdown)
@settings(deadline=None, max_examples=400)
def test_markdown_comes_back_saying_the_same(text: str) -> None:
    html = translate(text, MARKDOWN, HTML)
    back = translate(html, HTML, MARKDOWN)
    assert shown(back, parser()) == shown(text, parser()), (html, back)
    # A reader with raw HTML turned off shows the same, where the map itself needs none.
    if not re.search("<|&#13;", text) and not re.search(r"<!--|<p>\s*</p>", html):
        assert shown(back, stock()) == shown(text, stock()), (html, back)


@given(markdown)
@settings(deadline=None, max_examples=300)
def test_an_article_made_from_markdown_keeps_the_constraints(text: str) -> None:
    html = translate(text, MARKDOWN, HTML)
    nodes = parse(html)
    assert all(legal(node) for node in nodes), html
    # The canonical form: what a parser reads and writes again is the same.
    assert "".join(map(serialise, nodes)) == html
    marks = claims(nodes)
    assert len(marks) <= 1
    assert all(good for _, good in marks)


def legal(node: Node) -> bool:
    if not isinstance(node, Element):
        return True
    values = attributes(node)
    names = node.tag not in ("script", "style", "article", "title", "template")
    order = list(node.attrs) == sorted(node.attrs)
    return names and order and clean(node.tag, values.items()) and all(map(legal, node.children))


WORDS = [
    "bike", " ", "lock 7", "\n", " a ", "*", "_", "**x**", "a_b", "&amp;", "&lt;b&gt;", "`", "\\", "#",
    "- ", "1. ", "[x](y)", "[[wiki]]", "[r]: u", "|", "&nbsp;", "日本", "🚲", "!", "---", "===", "&gt;",
    "~~~", "&amp;amp;", "\t", "x", ".", "\"q\"", "(z)", ":",
]  # fmt: skip
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map("".join)
values = words.map(lambda w: w.replace('"', "&quot;"))


def wrap(tag: str, inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return inner.map(
        lambda text: f"<{tag.split()[0]}{tag[len(tag.split()[0]) :]}>{text}</{tag.split()[0]}>"
    )


TIME = 'time datetime="2026-03-01"'
PHRASE_TAGS = [
    "em", "strong", "code", "dfn", "cite", "q", "kbd", "samp", "var", "b", "i", "sub", TIME,
    'abbr title="T"', 'data value="1"', 'a href="/x.html"', 'a href="javascript:x"', "a",
    'q cite="u&amp;v"', 'em lang="de"', 'code id="1"', "span",
]  # fmt: skip
phrases = st.recursive(
    words,
    lambda inner: st.one_of(
        st.sampled_from(PHRASE_TAGS).flatmap(lambda t: wrap(t, inner)),
        st.just("<br>"),
        st.just("<!-- c -->"),
        values.map(lambda v: f'<a href="{v}">t</a>'),
        values.map(lambda v: f'<img alt="{v}" src="s" title="{v}">'),
        st.lists(inner, min_size=2, max_size=3).map("".join),
    ),
    max_leaves=5,
)
paragraphs = wrap("p", phrases)
code = st.one_of(
    words.map(lambda w: f'<figure><pre><code data-lang="py">{w}</code></pre></figure>'),
    words.map(lambda w: f"<figure><pre><code>{w}</code></pre><figcaption>c</figcaption></figure>"),
    words.map(lambda w: f"<pre>\n\n{w}\n\n {w}</pre>"),
)
tables = st.lists(phrases, min_size=1, max_size=3).map(
    lambda cells: (
        "<table><thead><tr>"
        + "".join(f"<th>{c}</th>" for c in cells)
        + "</tr></thead><tbody><tr>"
        + "".join(f"<td>{c}</td>" for c in cells)
        + "</tr></tbody></table>"
    )
)
BLOCK_TAGS = ["blockquote", "section", "aside", "address", "div", 'section id="s"']


def items(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.lists(wrap("li", inner), min_size=1, max_size=3).map("\n".join)
    return st.tuples(st.sampled_from(["ul", "ol", 'ol start="3"']), lists).map(
        lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0].split()[0]}>"
    )


html_blocks = st.recursive(
    st.one_of(
        paragraphs,
        phrases.map(lambda p: f"<h2>{p}</h2>"),
        st.just("<hr>"),
        st.just("<!-- note\n-->"),
        code,
        tables,
        phrases.map(lambda p: f"<dl><dt>k</dt><dd>{p}</dd></dl>"),
        phrases.map(lambda p: f"<details><summary>{p}</summary><p>x</p></details>"),
        words.map(
            lambda p: f"<table><caption>{p}</caption><tbody><tr><td>d</td></tr></tbody></table>"
        ),
    ),
    lambda inner: st.one_of(
        items(phrases),
        items(inner),
        items(st.tuples(phrases, inner).map("".join)),
        items(st.tuples(paragraphs, inner).map("".join)),
        st.sampled_from(BLOCK_TAGS).flatmap(lambda t: wrap(t, inner)),
    ),
    max_leaves=4,
)
articles = st.lists(st.one_of(html_blocks, st.just("<!-- a\n\n b -->")), max_size=4).map("\n".join)


@given(articles)
@settings(deadline=None, max_examples=400)
def test_an_article_comes_back_as_the_same_tree(html: str) -> None:
    # Tags that a parser moves (a link in a link) are no article that anything writes.
    assume("".join(map(serialise, parse(html))).count("<a") == html.count("<a"))
    back = translate(html, HTML, MARKDOWN)
    assert same_meaning(parse(translate(back, MARKDOWN, HTML))) == same_meaning(parse(html)), back


@given(st.one_of(markdown, articles, st.text(max_size=30)), st.sampled_from([MARKDOWN, HTML]))
@settings(deadline=None, max_examples=300)
def test_blocks_and_separators_are_the_whole_text(text: str, media: str) -> None:
    at = 0
    for block in split(text, media):
        assert at <= block.start <= block.end <= len(text)
        assert not text[at : block.start].strip(), text
        at = block.end
    assert not text[at:].strip()


@given(st.one_of(markdown, articles, st.just("<div>" * 300 + "x")))
@settings(deadline=None)
def test_the_blocks_of_an_article_are_found_without_saying_them(html: str) -> None:
    assert spans_of_html(html) == [(b.start, b.end) for b in split(html, HTML)]


@given(st.one_of(markdown, articles), st.sampled_from([MARKDOWN, HTML]))
@settings(deadline=None, max_examples=100)
def test_without_edits_the_rich_text_comes_back(text: str, media: str) -> None:
    other = HTML if media == MARKDOWN else MARKDOWN
    seen = translate(text, media, other)
    assert carry_over(text, media, seen, seen, other) == text
    assert carry_over(text, media, seen, f"\n{seen}\n", other) == text
    assert carry_over(text, media, seen, seen.strip(" \n").replace("\n", "\r\n"), other) == text


@given(st.lists(html_blocks, min_size=1, max_size=5), st.data())
@settings(deadline=None, max_examples=200)
def test_an_edit_of_markdown_changes_its_block_of_the_article_only(
    rich: list[str], data: st.DataObject
) -> None:
    text = "\n".join(rich)
    blocks = split(text, HTML)
    seen = translate(text, HTML, MARKDOWN)
    assume(blocks and len(split(seen, MARKDOWN)) == len(blocks))
    at = data.draw(st.integers(0, len(blocks) - 1))
    told = [block.other for block in blocks]
    now = "\n\n".join([*told[:at], "Bike 12 is *back*.", *told[at + 1 :]])
    start, end = blocks[at].start, blocks[at].end
    expected = f"{text[:start]}<p>Bike 12 is <em>back</em>.</p>{text[end:]}"
    assert carry_over(text, HTML, seen, now, MARKDOWN) == expected


@given(st.lists(markdown, max_size=4), st.data())
@settings(deadline=None, max_examples=200)
def test_the_outcome_says_what_the_edited_article_says(
    rich: list[str], data: st.DataObject
) -> None:
    text = "\n\n".join(rich)
    seen = translate(text, MARKDOWN, HTML)
    blocks = [seen[block.start : block.end] for block in split(seen, HTML)]
    new = st.sampled_from(["<p>Bike 12</p>", "<h2>Fees</h2>", "<ul><li>lock</li></ul>", ""])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(blocks)))
        blocks[at : at + data.draw(st.integers(0, 2))] = [data.draw(new)]
    now = "\n".join(blocks)
    outcome = carry_over(text, MARKDOWN, seen, now, HTML)
    # A claim can only stand in the first paragraph; moved from there it is text.
    assume("<mark>" not in now)
    assert spoken(translate(outcome, MARKDOWN, HTML)) == spoken(now)


def spoken(html: str) -> str:
    return re.sub(r"<!--.*?-->", "", same_meaning(parse(html)), flags=re.DOTALL)
