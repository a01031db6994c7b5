"""Records that people and programs could have written, and what goes wrong with files."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from interop.adapter import Kinds
from interop.model import Body, Link, Memory

_NASTY = [
    "---",
    "--- ",
    "a ---",
    "---\n",
    "\n---\nname: x\n---\n",
    ": ",
    " #",
    "# x",
    "- x",
    "* y",
    "1. z",
    "`code`",
    "[[wiki]]",
    "[[a|b]]",
    "[t](x.md)",
    "MEMORY.md",
    "CLAUDE.md",
    "'",
    '"',
    "\\",
    "\\n",
    "{",
    "}",
    "[",
    "]",
    "yes",
    "null",
    "007",
    "2026-05-01",
    "1e5",
    "\t",
    "\r\n",
    "\n\n",
    "\u2028",
    "\u0085",
    "\u000b",
    "\ufeff",
    "\u00a0",
    "\u3000",
    "\u200d",
    "e\u0301",
    "é",
    "看板",
    "ข้อมูล",
    "محطة",
    "🚲",
    "|",
    "| a | b |",
    "~~~",
    "```",
    "```\n---\n```",
    "<!-- c -->",
    "&amp;",
    "<b>",
    "~2",
    "%20",
    "?",
    "*",
    "/",
    "\x00",
    "\x1b[31m",
    "\x7f",
    " — ",
    " · ",
    "> q",
    "---\r\n",
    "x" * 90,
]
_PLAIN = ["Dock", "7", "needs", "the", "spare", "key", "from", "grey", "box", "before", "nine"]

pieces = st.one_of(
    st.sampled_from(_PLAIN), st.sampled_from(_NASTY), st.text(max_size=6), st.just(" ")
)
texts = st.lists(pieces, max_size=12).map("".join)
words = st.lists(st.sampled_from(_PLAIN), min_size=1, max_size=14).map(" ".join)
one_line = st.one_of(words, texts.map(lambda t: " ".join(t.split("\n"))))
stamps = st.sampled_from(
    ["2026-05-01", "2026-05-01T10:20:30Z", "2026-05-01T10:20:30.000Z", "last spring", "1e5"]
)


def maybe(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return st.one_of(st.none(), strategy)


def records(accepted: Kinds | None) -> st.SearchStrategy[Memory]:
    """Memories with a file of their own; kinds mostly such as are accepted."""
    vocabulary = accepted.vocabulary if accepted is not None else "claude"
    terms = list(accepted.terms) if accepted is not None else ["note"]
    kinds = st.one_of(
        st.just(dict[str, str]()),
        st.sampled_from([*terms, "technique"]).map(lambda t: {vocabulary: t}),
        st.sampled_from(terms).map(lambda t: {vocabulary: t}),
    )
    stems = st.one_of(
        st.sampled_from(["dock", "Spare_Key", "feedback_small_prs", "看板", "a b", "x.y", "con"]),
        st.text("abcXYZ-_ é.", min_size=1, max_size=12),
    )
    return st.builds(
        Memory,
        key=stems.map(lambda s: f"{s}.md"),
        name=maybe(one_line),
        title=maybe(one_line),
        description=maybe(st.one_of(one_line, texts)),
        hook=maybe(one_line),
        body=st.one_of(words, texts).map(lambda t: Body(text=t)),
        kinds=kinds,
        links=st.lists(words.map(lambda w: Link(target=w)), max_size=2).map(tuple),
        tags=st.lists(st.sampled_from(["a", "b c"]), max_size=2, unique=True).map(tuple),
        created=maybe(stamps),
        modified=maybe(stamps),
        recalled=maybe(stamps),
        session=maybe(one_line),
        state=st.sampled_from(["live", "live", "live", "archived"]),
    )


def damage(files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    """Do to some files what crashes, editors, sync tools and cats on keyboards do."""
    out = dict(files)
    for path in chance.sample(sorted(out), k=min(len(out), chance.randint(1, 4))):
        data = bytearray(out[path])
        for _ in range(chance.randint(1, 6)):
            at = chance.randint(0, len(data))
            what = chance.randrange(8)
            if what == 0:
                del data[at:]
            elif what == 1 and data:
                data[min(at, len(data) - 1)] ^= 1 << chance.randrange(8)
            elif what == 2:
                data[at:at] = chance.choice(_NASTY).encode("utf-8")
            elif what == 3:
                data[at:at] = bytes(chance.randrange(256) for _ in range(3))
            elif what == 4:
                data[:] = data.replace(b"\n", b"\r\n")
            elif what == 5:
                lines = bytes(data).split(b"\n")
                chance.shuffle(lines)
                data[:] = b"\n".join(lines)
            elif what == 6:
                del data[:at]
            else:
                end = min(len(data), at + chance.randint(1, 60))
                data[at:at] = data[at:end]
        out[path] = bytes(data)
    if chance.random() < 0.3:
        name = chance.choice(["x.md", "a/b.md", "MEMORY.md", "facts/z.md", "index.md", "n.bin"])
        out[name] = chance.choice(_NASTY).encode("utf-8")
    return dict(sorted(out.items()))
