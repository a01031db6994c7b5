"""The style sheet of the page, and the rules that its filter needs."""

from __future__ import annotations

from collections.abc import Iterable

_SHEET = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --ink: #1c2128; --soft: #59636e; --line: #d5dae1;
  --focus: #0b62d6; --gone: #fdecea; --gone-word: #f7bab2; --gone-ink: #8c1d12;
  --new: #e7f6ea; --new-word: #a6dfb2; --new-ink: #10602a;
  --moved-ink: #5a3aa5; --quiet-ink: #6b5200; --pick: #1c2128; --pick-ink: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --card: #171c23; --ink: #e4e8ee; --soft: #9aa5b1; --line: #2c343e;
    --focus: #7ab4ff; --gone: #331a1a; --gone-word: #7a2a26; --gone-ink: #ff9d92;
    --new: #13291b; --new-word: #1f6337; --new-ink: #7fdb9a;
    --moved-ink: #c0a8ff; --quiet-ink: #e0c26a; --pick: #e4e8ee; --pick-ink: #0f1318;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
header, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.75rem; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1rem; line-height: 1.4; margin: 0; min-width: 0; flex: 1 1 16rem; }
h1, h2, dd, td, .sum { overflow-wrap: anywhere; }
.stores { margin: 0; display: grid; grid-template-columns: auto 1fr; gap: .15rem .7rem; }
.stores dt { font-weight: 700; }
.stores dd { margin: 0; unicode-bidi: isolate; }
code, .key, .stores dd, .lines { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: .875rem; }
.sum { color: var(--soft); margin: .75rem 0 0; }
.filter {
  position: sticky; top: 0; z-index: 1; background: var(--page);
  border-bottom: 1px solid var(--line); margin-top: 1rem;
}
fieldset + fieldset { padding-top: 0; }
fieldset {
  border: 0; margin: 0 auto; max-width: 76rem; padding: .6rem 1.25rem;
  display: flex; flex-wrap: wrap; gap: .4rem; min-width: 0;
}
legend, .away { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
fieldset input { position: absolute; opacity: 0; pointer-events: none; }
fieldset label {
  position: relative; border: 1px solid var(--line); border-radius: 99px; background: var(--card);
  padding: .15rem .75rem; cursor: pointer; white-space: nowrap;
}
fieldset label b { font-weight: 600; font-variant-numeric: tabular-nums; margin-left: .35rem; }
fieldset label:hover { border-color: var(--soft); }
fieldset label:has(:checked) { background: var(--pick); border-color: var(--pick);
  color: var(--pick-ink); }
fieldset label:has(:focus-visible) { outline: 2px solid var(--focus); outline-offset: 2px; }
main { padding-top: 1.1rem; }
.entry {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  margin: 0 0 .9rem; overflow: hidden; scroll-margin-top: 4rem;
  content-visibility: auto; contain-intrinsic-size: auto 12rem;
}
.entry:target { outline: 2px solid var(--focus); outline-offset: 1px; }
.head { display: flex; flex-wrap: wrap; gap: .35rem .75rem; align-items: baseline;
  padding: .65rem 1rem; }
.head a { color: inherit; text-decoration: none; }
.head a:hover, .head a:focus-visible { text-decoration: underline; }
.key { font-size: .9rem; unicode-bidi: isolate; }
.arrow { color: var(--soft); font-weight: 400; padding: 0 .2rem; }
.mark { font-size: .8rem; font-weight: 600; border: 1px solid; border-radius: 99px;
  padding: 0 .55rem; white-space: nowrap; }
.marks { display: flex; flex-wrap: wrap; gap: .3rem; }
.m-added, .m-restored { color: var(--new-ink); }
.m-removed, .m-archived { color: var(--gone-ink); }
.m-moved, .m-carried { color: var(--moved-ink); }
.m-omission, .m-noise, .m-order, .m-probable, .m-agreed { color: var(--quiet-ink); }
.m-side-a, .m-side-b, .m-side-both { color: var(--soft); border-style: dashed; }
.m-side-conflict { color: var(--card); background: var(--gone-ink); border-color: var(--gone-ink); }
.says { margin: 0; padding: 0 1rem .65rem; color: var(--soft); overflow-wrap: anywhere;
  unicode-bidi: isolate; }
.before .says { white-space: pre-wrap; padding-top: .2rem; }
.facet { border-top: 1px solid var(--line); }
.facet > h3, summary { font-size: .85rem; font-weight: 600; margin: 0; padding: .4rem 1rem;
  color: var(--soft); overflow-wrap: anywhere; }
.facet > h3 i { font-weight: 400; margin-left: .5rem; color: var(--quiet-ink); }
summary { cursor: pointer; border-top: 1px solid var(--line); }
summary:focus-visible { outline: 2px solid var(--focus); outline-offset: -2px; }
table.lines { width: 100%; border-collapse: collapse; table-layout: fixed; margin-bottom: .4rem; }
.lines td { padding: .05rem .5rem; vertical-align: top; }
.lines .n { width: 3.2rem; text-align: right; color: var(--soft); font-size: .75rem;
  line-height: 1.75; user-select: none; font-variant-numeric: tabular-nums; }
.lines .m { width: 1.6rem; text-align: center; user-select: none; font-weight: 700; }
.lines .t { white-space: pre-wrap; tab-size: 4; unicode-bidi: isolate; text-align: start; }
.lines .skip td { color: var(--soft); padding: .2rem 1rem; font-size: .8rem; }
.removed { background: var(--gone); } .removed .m { color: var(--gone-ink); }
.added { background: var(--new); } .added .m { color: var(--new-ink); }
del, ins { text-decoration: none; border-radius: .2rem; padding: .05rem 0;
  box-decoration-break: clone; -webkit-box-decoration-break: clone; }
del { background: var(--gone-word); } ins { background: var(--new-word); }
.esc { border: 1px dashed var(--soft); border-radius: .2rem; font-size: .8em; padding: 0 .15rem;
  unicode-bidi: isolate; direction: ltr; }
.none { color: var(--soft); padding: 2rem 0; text-align: center; }
footer { color: var(--soft); font-size: .85rem; padding-bottom: 2rem; }
@media (max-width: 40rem) {
  header, main, footer, fieldset { padding-left: .75rem; padding-right: .75rem; }
  .filter { position: static; }
  .lines .n { width: 0; padding: 0; font-size: 0; }
}
@media print {
  .filter { display: none; } .entry { break-inside: avoid-page; content-visibility: visible; }
  del { text-decoration: line-through; } ins { text-decoration: underline; }
}
@media (forced-colors: active) {
  del { text-decoration: line-through; } ins { text-decoration: underline; }
  fieldset label:has(:checked) { outline: 2px solid; }
}
"""


def sheet(kinds: Iterable[str], sides: Iterable[str] = ()) -> str:
    """Give the style sheet, with a rule for each kind of change and side that is filtered by."""
    rules = (
        f"body:has(#{group}-{name}:checked) .entry:not(.{mark}-{name}) {{ display: none; }}"
        for group, mark, names in (("only", "k", kinds), ("side", "s", sides))
        for name in names
    )
    return "\n".join([_SHEET.rstrip(), *rules, ""])
