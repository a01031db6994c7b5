"""The short paths of readers agree with the long ones, on everything near the usual form."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interop.adapter import repeat_key
from interop.adapters.bantamkit import fact_file, oddities
from interop.adapters.bantamkit.fact_file import Fact
from interop.adapters.claude_code import memory_file
from interop.adapters.memhtml import memory_file as html_file
from interop.adapters.memhtml import usual
from interop.adapters.memhtml.source import Source, source
from interop.adapters.memhtml.vocabulary import META_ORDER, RELS, REPEATED
from interop.adapters.memhtml.vocabulary import TASK_STATUSES as TASKS
from interop.syntax import index_lines, wiki_links
from tests.samples import Sample, golden_samples

VALUES = st.one_of(
    st.sampled_from([
        "", "yes", "null", "Null", "~", "on", "12", "1e3", "2026-03-01", "'2026-03-01'", "'x'",
        '"quoted"', '"a \\" b"', "'it''s'", "[a, b]", "{a: 1}", "|", ">-", "- a", "#", "a # b",
        "a: b", "a:", "a:b", "x---", "---", "&a", "*a", "!t", "%", "@", "`", "a\tb", "a ", " a",
        "é", "ein Käfig", "雨天", "a\u2028b", "a\x85b", "a\xa0", "\ufeffa", "a\r", "user", "a 'b",
        "[]", "project", "pump-pressure", "no", "long words\n  that are folded", "a\n  # b",
        "a:\n  b", "a\n   b", "a \n  b", "a\n- b", "a\n\n  b",
    ]),
    st.text("ab:#-'\"[]{}|> \t\n\rä—`\\", max_size=12),
)  # fmt: skip
CLAUDE = (
    "name: ", "description: ", "metadata: ", "metadata:", "  node_type: ", "  type: ",
    "  originSessionId: ", "  modified: ", "type: ", "  other: ", "\ttype: ",
)  # fmt: skip
BANTAMKIT = (
    "name: ", "description: ", "type: ", "created: ", "last_recalled: ", "links:", "links: []",
    "links:\n- ", "outcome: ", "metadata:\n  type: ",
)  # fmt: skip
FENCES = st.sampled_from(
    ["---\n", "---\n", "---\n", "--- \n", "---\r\n", "x---\n", "", "\ufeff---\n"]
)
BODIES = st.sampled_from(["", "\nA text.\n", "A [[link]].\n", "\n\n x\r\n", "---\n", " \n"])
USUAL_CLAUDE = {
    "name: ": "dock-sensor", "description: ": "Two of nine report late", "metadata: ": "",
    "  node_type: ": "memory", "  type: ": "project", "  originSessionId: ": "5b0c2f6e",
    "  modified: ": "2026-05-02T07:14:09.211Z",
}  # fmt: skip
USUAL_BANTAMKIT = {
    "name: ": "pump-pressure", "description: ": "Pressure of the cargo bikes", "type: ": "project",
    "created: ": "'2026-03-01'", "last_recalled: ": "null", "links:": "\n- tyre-order\n- no-rain",
}  # fmt: skip


@st.composite
def texts(draw: st.DrawFn, usual: dict[str, str], keys: tuple[str, ...]) -> str:
    """A file in the usual form, with something else in a place or two."""
    rows = [key + value for key, value in usual.items()]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(rows) - 1))
        key = list(usual)[at] if at < len(usual) else draw(st.sampled_from(keys))
        what = draw(st.sampled_from(["value", "line", "gone", "more"]))
        if what == "value":
            rows[at] = key + draw(VALUES)
        elif what == "line":
            rows[at] = draw(st.sampled_from(keys)) + draw(VALUES)
        elif what == "more":
            rows.insert(at, draw(st.sampled_from(keys)) + draw(VALUES))
        elif len(rows) > 1:
            del rows[at]
    head = "".join(f"{row}\n" for row in rows)
    return draw(FENCES) + head + draw(FENCES) + draw(BODIES)


@given(text=texts(USUAL_CLAUDE, CLAUDE))
def test_claude_code(text: str) -> None:
    data = text.encode("utf-8")
    assert memory_file.read("a.md", data) == memory_file.read_any("a.md", data, text)


@given(st.lists(st.sampled_from(["[[", "]]", "[", "`", "~", "~~~", "\n", "a", "|", "#", " "])))
def test_wiki_links(parts: list[str]) -> None:
    text = "".join(parts)
    outside = wiki_links._CODE.sub(" ", text)  # pyright: ignore[reportPrivateUsage]
    found = wiki_links._WIKI.findall(outside)  # pyright: ignore[reportPrivateUsage]
    assert wiki_links.targets(text) == tuple(dict.fromkeys(found))


@given(text=texts(USUAL_BANTAMKIT, BANTAMKIT), folder=st.sampled_from(["facts", "archive"]))
def test_bantamkit(text: str, folder: str) -> None:
    path = f"{folder}/pump-pressure.md"
    short, long = fact_file.read(path, text.encode("utf-8")), fact_file.read_any(path, text)
    if not isinstance(short, Fact) or not isinstance(long, Fact):
        assert short == long
        return
    assert short.record == long.record
    assert (short.layout, short.named(), short.index_line()) == (
        long.layout, long.named(), long.index_line()
    )  # fmt: skip
    assert list(oddities.of(short)) == list(oddities.of(long))


# --- memhtml: the parser and its tree on one side, a few regular expressions on the other

HTML_WORDS = st.lists(
    st.sampled_from([
        "Dock 7 jams.", " ", "\n", "  ", "freezes", "ä", "雨天", "\u00a0", "\u2028", "\x0b", "\f",
        "\t", "&amp;", "&lt;", "&gt;", "&nbsp;", "&amp;lt;", ">", "'", "\ufeff", "\x85", ".",
    ]),
    max_size=4,
).map("".join)  # fmt: skip
ODDITIES = (
    "&", "& ", "&amp", "&#39;", "&copy;", "&nbsp", "&quot;", '"', "<", "< ", "</", "<!-- x -->",
    "<!--", "-->", "\0", "\r", "\r\n", "\ufffe", "<br>", "<br/>", "</br>", "</p>", "<p>", "<P>",
    "<p/>", "<p >", "</p >", '<p="x">', "<mark>", "</mark>", "<mark>x</mark>", "<x>", "<em>",
    "</em>", "<li>", "</li>", "</ul>", "<a>", "<a href>", "<a href=x>", "<a href=>", '<a href="',
    "<time>", "<time datetime=>", "<code>", "<pre>", "<pre>\n", "</pre>", "<pre>\n a\n</pre>",
    "<table>", "<tr>", "<td>", "<template>", "<script>", "</script>", "<style>", "<svg>", "<?x?>",
    "<title>x</title>", "</title>", "<article>", "</article>", "</body>", "</html>", "<h1>",
    "\n</article>\n</body>\n</html>\n", "<![CDATA[x]]>", "</h1>", "<textarea>", "<plaintext>",
    '<meta name="memhtml-tag" content="x">', "<aside>", "</aside>", "<details>", "<div>", "</div>",
    "<span>", "<select>", "<frameset>", "<image>", "<nobr>", ' class="x"', " onclick=x",
    ' style="x"', " lang='de'", "\udcff", "\udce2\udc82", "\ufeff", "\u00a0", "\x0b", "\f", " \n ",
)  # fmt: skip
INLINE = (
    "em", "strong", "code", "cite", "q", "dfn", "kbd", "samp", "var", "span", "a", "data", "abbr",
    'a href="/areas/x.html?a=1&amp;b=2#&lt;p>"', 'time datetime="2026-05-01"', 'data value="2"',
    'time datetime="2026-05-01T10:00:00Z"', 'code data-lang="bash"', 'abbr title="x"', "mark",
)  # fmt: skip
BLOCKS = (
    "p", "p", "li", "ul", "ol", "dl", "dt", "dd", "section", "aside", "figure", "figcaption",
    "details", "summary", "pre", "div", "table", "blockquote", "h2", "button", "b", "article",
    "address", "template", 'p class="x"', 'time datetime="soon"', "time",
)  # fmt: skip


def _in(tag: str, *parts: str) -> str:
    return f"<{tag}>{''.join(parts)}</{tag.partition(' ')[0]}>"


def _elements(
    tags: tuple[str, ...], inside: st.SearchStrategy[str], most: int = 2
) -> st.SearchStrategy[str]:
    parts = st.lists(inside, max_size=most).map("".join)
    return st.builds(_in, st.sampled_from(tags), parts)


RUNNING = st.lists(
    HTML_WORDS | st.recursive(HTML_WORDS, lambda s: _elements(INLINE[:-1], s), max_leaves=3),
    max_size=3,
).map("".join)
ITEMS = _elements(("li",), RUNNING | _elements(("p", "ul"), RUNNING))
FLOW = st.one_of(
    _elements(("p",), RUNNING),
    _elements(("ul", "ol"), ITEMS | st.just("\n")),
    _elements(("dl",), _elements(("dt", "dd"), RUNNING)),
    _elements(("section", "aside", "figure"), _elements(("p", "figcaption"), RUNNING)),
    st.builds("<details><summary>{}</summary>{}</details>".format, RUNNING, RUNNING),
    st.builds("<figure><pre>{}<code>{}</code></pre></figure>".format, HTML_WORDS, RUNNING),
    _elements(("pre",), st.just("\n") | st.just("  ") | RUNNING),
    RUNNING,
)
ANY = st.recursive(HTML_WORDS, lambda s: _elements((*INLINE, *BLOCKS), s), max_leaves=6)
LEADS = (
    "<p><mark>{}</mark>{}</p>", "<ul>\n<li><mark>{}</mark>{}</li>\n</ul>",
    "<p>{}<em><mark>{}</mark></em></p>", "<p>{}<strong>x<mark>{}</mark></strong></p>",
    "<section><p><mark>{}<code>x</code></mark>{}</p></section>",
    "<p><code>a<mark>{}</mark></code>{}</p>",
)  # fmt: skip
WRONG_LEADS = (
    "<p>{}{}</p>", "<p>{}</p><p><mark>{}</mark></p>", "<p><mark><code>{}</code></mark>{}</p>",
    "<aside><p><mark>{}{}</mark></p></aside>", "<details><p><mark>{}</mark>{}</p></details>",
    "<ul><li><p><mark>{}</mark></p>{}</li></ul>", "<ul><li><pre><mark>{}{}</mark></pre></li></ul>",
    "<mark>{}{}</mark>", "<p></p><mark>{}{}</mark>", "<dl><dt><mark>{}{}</mark></dt></dl>",
    "<p>x</p><ul><li><mark>{}{}</mark></li></ul>", "<p>x<p><mark>{}{}</mark></p>",
)  # fmt: skip
NAMES = (
    *(f"memhtml-{name}" for name in META_ORDER), "interop-role", "memhtml-interop-role",
    "memhtml-x", "author", "memhtml-Type", "memhtml-", "memhtml-memhtml-type",
)  # fmt: skip
CONTENTS = (
    "semantic", "task", "active", "archived", "2026-05-01", "2026-05-01T10:00:00Z", "todo",
    "2026-02-30", "done", "soon", "", " ", "x", "person:Mira", "&amp;", "&quot;", "&nbsp;", "&",
    "a\nb", "<p>", "&#10;", "0.9", "arc", "a'b", "&amp;lt;", "&amp;nbsp;",
)  # fmt: skip
ODD_METAS = st.builds(
    '<meta name="{}" content="{}">'.format,
    st.sampled_from(NAMES),
    st.sampled_from(CONTENTS) | HTML_WORDS,
)
METAS = st.lists(
    st.builds(
        '<meta name="{}" content="{}">'.format,
        st.sampled_from(
            [
                *(f"memhtml-{n}" for n in META_ORDER if n not in ("type", "status", "task-status")),
                *(f"memhtml-{n}" for n in REPEATED),
                "interop-role",
            ]
        ),
        st.sampled_from(
            ["2026-05-01", "2026-05-01", "2026-05-01T10:00:00Z", "2026-02-30", "a&amp;b"]
        ),
    ),
    max_size=4,
    unique_by=lambda line: line if "-tag" in line or "-entity" in line else line.split()[1],
).map(lambda lines: [line for line in lines if "-created" not in line and "-updated" not in line])
LINKS_HTML = st.builds(
    '<link rel="{}" href="{}">'.format,
    st.sampled_from([f"memhtml-{rel}" for rel in RELS] + ["memhtml-part-of"]),
    st.sampled_from(["/areas/x.html", "/a b", "/a?b/..", "/&amp;", "/a/&quot;#c"]),
)
TOKENS = (
    "memhtml-part-of", "memhtml-other", "memhtml-", "icon", "memhtml-memhtml-blocks", "blocks",
    "memhtml-part_of memhtml-blocks",
)  # fmt: skip
TARGETS = (
    "/areas/x.html", "areas/x.html", "//x", "/", "/a/../b", "", "/#", "/&", "/a?b/..", "/&amp;",
    "/a/&amp;#b/..", "/a b", "/&nbsp;", "/a&lt;b&gt;",
)  # fmt: skip
ODD_LINKS = st.builds(
    '<link rel="{}" href="{}">'.format, st.sampled_from(TOKENS), st.sampled_from(TARGETS)
)
TOP = ("<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">')
REQUIRED = {
    "memhtml-type": "semantic", "memhtml-status": "active", "memhtml-created": "2026-05-01",
    "memhtml-updated": "2026-05-02T10:00:00Z",
}  # fmt: skip
BOTTOM = ("</article>", "</body>", "</html>", "")


@st.composite
def pages(draw: st.DrawFn) -> str:
    """A file of the usual form, most of the time with something else in a place or two."""
    odd = draw(
        st.sampled_from(["", "", "", "metas", "links", "lead", "article", "lines", "text", "text"])
    )
    stated = [f'<meta name="{name}" content="{value}">' for name, value in REQUIRED.items()]
    if draw(st.booleans()):
        stated[0] = stated[0].replace("semantic", "task")
        stated.append(f'<meta name="memhtml-task-status" content="{draw(st.sampled_from(TASKS))}">')
    lines = [*TOP, f"<title>Dock{draw(HTML_WORDS)}</title>", *stated, *draw(METAS)]
    if odd == "metas":
        at = draw(st.integers(5, len(lines)))
        lines[at : at + draw(st.integers(0, 1))] = draw(st.lists(ODD_METAS, min_size=1, max_size=2))
    lines += draw(st.lists(LINKS_HTML, max_size=2))
    if odd == "links":
        lines.append(draw(ODD_LINKS))
    lead = draw(st.sampled_from(WRONG_LEADS if odd == "lead" else LEADS))
    more = draw(st.lists(FLOW | ANY if odd == "article" else FLOW, max_size=3))
    article = "".join([lead.format(draw(HTML_WORDS) + "x", draw(RUNNING)), *more])
    lines += ["</head>", "<body>", "<article>", article, *BOTTOM]
    if odd == "lines":
        at, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        lines[at : at + 1] = draw(
            st.sampled_from([[], [line, line], [line.upper()], [f" {line}"], [lines[other]]])
        )
    text = "\n".join(lines)
    return draw(edited(text)) if odd == "text" else text


@st.composite
def edited(draw: st.DrawFn, text: str) -> str:
    """A text with a span or two in it taken out, or replaced by something odd."""
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5, 30]))
        text = (
            text[:at] + draw(st.just("") | st.sampled_from(ODDITIES) | st.characters()) + text[end:]
        )
    if draw(st.integers(0, 9)) == 0:
        text = text.replace("\n", "\r\n")
    return text


def both_ways_agree(path: str, data: bytes) -> None:
    short, long = html_file.read(path, data), html_file.read_any(path, source(data))
    assert short == long
    if isinstance(short, html_file.MemoryFile) and isinstance(long, html_file.MemoryFile):
        assert repr(short.record) == repr(long.record)  # the order in mappings, too


@settings(max_examples=300)
@given(
    data=pages().map(lambda text: text.encode("utf-8", "surrogateescape")),
    path=st.sampled_from(["areas/x.html", "archive/2026/areas/x.html"]),
)
def test_memhtml(path: str, data: bytes) -> None:
    both_ways_agree(path, data)


def whole(
    *metas: str, article: str = "<p><mark>Dock 7 jams.</mark></p>", title: str = "D"
) -> bytes:
    """A file of the usual form, with one thing or another in it."""
    stated = [f'<meta name="{name}" content="{value}">' for name, value in REQUIRED.items()]
    head = [*TOP, f"<title>{title}</title>", *stated, *metas, "</head>", "<body>", "<article>"]
    return "\n".join([*head, article, *BOTTOM]).encode("utf-8", "surrogateescape")


PLACES = """\
@<p>@a<mark>b@c@</mark>d @</p>@
<ul>@<li>@e <em>f@</em></li>@</ul>
<p><a href="/x@">g</a>@<time datetime="2026-05-01@">h@</time></p>
<figure>@<pre>@<code data-lang="x@">@i</code>@</pre></figure>@<pre>@</pre>@
"""


@pytest.mark.parametrize("odd", ODDITIES, ids=ascii)
def test_memhtml_with_an_oddity_anywhere(odd: str) -> None:
    pieces = PLACES.split("@")
    for n in range(1, len(pieces)):
        both_ways_agree("a/x.html", whole(article="".join(pieces[:n]) + odd + "".join(pieces[n:])))
    both_ways_agree("a/x.html", whole(title=odd))
    both_ways_agree("a/x.html", whole(title=f"a{odd}b"))
    both_ways_agree("a/x.html", whole(odd))
    both_ways_agree("a/x.html", whole(f'<meta name="memhtml-tag" content="a{odd}b">'))
    both_ways_agree("a/x.html", whole(f'<meta name="memhtml-tag{odd}" content="a">'))
    both_ways_agree("a/x.html", whole(f'<link rel="memhtml-blocks{odd}" href="/a{odd}b">'))


def test_memhtml_with_an_odd_statement() -> None:
    for name, content in itertools.product(NAMES, CONTENTS):
        meta = f'<meta name="{name}" content="{content}">'
        status = '<meta name="memhtml-task-status" content="todo">'
        task = whole(status, meta).replace(b"semantic", b"task")
        required = re.sub(f'<meta name="{name}"[^>]*>\n', "", whole().decode())
        for data in (whole(meta), whole(meta, meta), whole(status, meta), task, required.encode()):
            both_ways_agree("a/x.html", data)
        both_ways_agree("a/x.html", required.replace("</title>\n", f"</title>\n{meta}\n").encode())
    for token, target in itertools.product(TOKENS, TARGETS):
        both_ways_agree("a/x.html", whole(f'<link rel="{token}" href="{target}">'))


TAGS = sorted({tag.partition(" ")[0] for tag in (*INLINE, *BLOCKS)})


@pytest.mark.parametrize("tag", TAGS)
def test_memhtml_with_two_elements_in_each_other(tag: str) -> None:
    given = {"time": 'time datetime="2026-05-01"'}
    outer = given.get(tag, tag)
    for inner in (given.get(name, name) for name in TAGS):
        nested = _in(outer, "a ", _in(inner, " b "), " c")
        leading = f"<p><mark>d</mark></p>{nested}<p>e</p>"
        for article in (
            leading,
            leading.replace(f"</{inner.partition(' ')[0]}>", "", 1),
            nested + leading,
            f"<p><mark>d{nested}e</mark></p>",
            f"<p><mark>d</mark> {nested} e</p>",
            nested.replace(" b ", "<mark>b</mark>"),
            _in("p", _in(outer, "a ", _in("mark", " b ", _in(inner, " c "), " d"))),
        ):
            both_ways_agree("a/x.html", whole(article=article))


@pytest.mark.parametrize("lead", [*LEADS, *WRONG_LEADS])
def test_memhtml_with_leads(lead: str) -> None:
    for one, two in itertools.product(["", "a", " ", "\u00a0", "&nbsp;"], repeat=2):
        both_ways_agree("a/x.html", whole(article=lead.format(one, two), title=one))


MEMHTML = [s for s in golden_samples() if s.adapter.name == "memhtml"]


@given(data=st.data())
@pytest.mark.parametrize("golden", MEMHTML, ids=lambda s: s.id)
def test_memhtml_stores(golden: Sample, data: st.DataObject) -> None:
    files = {p: f for p, f in golden.tree.files.items() if p.endswith(".html")}
    path = data.draw(st.sampled_from(sorted(files)))
    both_ways_agree(path, files[path])
    text = data.draw(edited(files[path].decode("utf-8", "surrogateescape")))
    both_ways_agree(path, text.encode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("golden", MEMHTML, ids=lambda s: s.id)
def test_memhtml_stores_and_what_lint_says(golden: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    def said() -> tuple[object, ...]:
        html_file.read.cache_clear()
        store = golden.adapter.read(golden.tree.files)
        return store, list(golden.adapter.lint(golden.tree.files, store))

    def never(source: Source) -> None:
        """Take the long way."""

    short = said()
    monkeypatch.setattr(usual, "read", never)
    assert said() == short


ARTICLES = (
    "<p><mark>Dock 7 jams.</mark> It freezes &amp; needs de-icer.</p>\n<p>Ask <em>Mira</em>.</p>",
    '<ul>\n<li><mark>Dock 7 jams</mark>\n<ul><li>at <a href="/areas/x.html">night</a></li></ul>'
    "</li></ul>",
    "<p><mark>Use <code>bikectl</code>.</mark></p><dl><dt>since</dt>"
    '<dd><time datetime="2026-05-01">May</time></dd></dl>',
    "<section><p><mark>Closed.</mark></p></section><details><summary>why</summary><p>Rain.</p>"
    "</details><aside>Not <strong>always</strong>.</aside>"
    "<figure><figcaption>The quay</figcaption>"
    '<pre><code data-lang="bash">bikectl  eject \\\n  --force</code></pre></figure>',
)


@pytest.mark.parametrize("article", ARTICLES)
def test_usual_pages_take_the_short_path(article: str) -> None:
    data = whole('<link rel="memhtml-part-of" href="/areas/x.html">', article=article)
    assert usual.read(source(data)) is not None
    both_ways_agree("areas/x.html", data)


@pytest.mark.parametrize("more", ["<p>x</p>" * 600, "<section>" * 600 + "</section>" * 600])
def test_articles_without_end_take_no_place_in_a_cache(more: str) -> None:
    data = whole(article=f"<p><mark>Dock 7 jams.</mark></p>{more}")
    assert usual.read(source(data)) is None
    both_ways_agree("areas/x.html", data)


def test_what_the_runtime_wrote_takes_the_short_path() -> None:
    (basic,) = (s for s in MEMHTML if s.case.name == "basic")
    keys = [r.key for r in basic.adapter.read(basic.tree.files).records]
    long = [k for k in keys if usual.read(source(basic.tree.files[k])) is None]
    assert len(keys) > 8
    assert not long


def test_the_short_path_needs_no_parser() -> None:
    (basic,) = (s for s in MEMHTML if s.case.name == "basic")
    code = (
        "import sys; from pathlib import Path\n"
        "from interop import registry; from interop.disk import tree\n"
        "adapter = registry.get('memhtml'); store = Path(sys.argv[1])\n"
        "found = adapter.read(tree.load(store, adapter.ignored).files)\n"
        "print(len(found.records), 'turbohtml' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(basic.case / "store")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(said[0]) > 8
    assert said[1] == "False"


def test_the_usual_forms_take_the_short_paths() -> None:
    claude = "".join(f"{k}{v}\n" for k, v in USUAL_CLAUDE.items())
    assert memory_file.USUAL.match(f"---\n{claude}---\n\nText.\n")
    bantamkit = "".join(f"{k}{v}\n" for k, v in USUAL_BANTAMKIT.items())
    found = fact_file.read("facts/x.md", f"---\n{bantamkit}---\n\nText.\n".encode())
    assert isinstance(found, Fact)
    assert found.is_usual
    assert index_lines.USUAL.fullmatch("- [Dock sensor](dock-sensor.md) — two of nine report late")


LINES = st.lists(
    st.sampled_from([
        "- ", "* ", "  ", "[", "]", "[Dock](dock.md)", "(dock.md)", "(a/b.md)", "(dock.md#x)",
        "(https://x.md)", "(/x.md)", "Dock", " — ", " - ", ": ", "two of nine", "`", "`x.md`",
        "x.md", "dock.md", "[[dock]]", "**", "·", "|", "<!-- ", " -->", "\\", "```", "\n", "\r\n",
        "\t", " ", "é", "!", "#", "<", ">",
    ]),
    max_size=14,
).map("".join)  # fmt: skip


@given(
    text=st.lists(LINES | st.just("- [Dock](dock.md) — two of nine"), max_size=4).map("\n".join),
    known=st.sets(st.sampled_from(["dock.md", "a/b.md", "x.md", "dock"])),
)
@pytest.mark.parametrize("links", [True, False])
def test_index_lines(text: str, known: set[str], links: bool) -> None:
    def refers(form: index_lines.Form, target: str) -> bool:
        return (links and form == "link") or target in known

    assert index_lines.parse(text, refers) == index_lines.parse(text, refers, short=False)


class Counting(dict[str, object]):
    """A mapping that knows how often it was asked."""

    asked = 0

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)


def test_repeats_are_numbered_without_gaps_and_without_counting_through() -> None:
    taken = Counting()
    keys: list[str] = []
    for _ in range(1000):
        keys.append(repeat_key("a.md#x", taken))
        taken[keys[-1]] = None
    assert keys == ["a.md#x", *(f"a.md#x~{n}" for n in range(2, 1001))]
    assert taken.asked < 1000 * 25


@given(st.sets(st.integers(2, 12)))
def test_a_repeat_never_takes_a_key_that_stands_there(numbers: set[int]) -> None:
    taken = {"k", *(f"k~{n}" for n in numbers)}
    found = repeat_key("k", taken)
    assert found not in taken
    assert found.startswith("k~")
