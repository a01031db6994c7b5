"""The short ways of a conversion give what the long ones give: writing, linting and restoring."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import convert, registry, restore
from interop.adapter import Context, Fitted
from interop.adapters.bantamkit import ADAPTER as BANTAMKIT
from interop.adapters.bantamkit import fact_file
from interop.adapters.bantamkit.fact_file import Fact
from interop.choices import Choices
from interop.complement import Line
from interop.kinds import parse_kind_map
from interop.model import Body, Link, Memory, Problem, Record, Store
from interop.plan import COMPLEMENT, digest
from interop.rendering import lower
from interop.stores import Opened, assemble, holds
from tests.samples import Sample, golden_samples

NOW = "2026-03-01T12:00:00.000Z"
CHOICES = Choices(
    kind_map=parse_kind_map("untyped=project"), carry=True, skip_refused=True, accept_stale=True
)
ODD = st.one_of(
    st.sampled_from([
        "", "yes", "null", "on", "12", "2026-03-01", "'x'", "a: b", "a:b", "x---", "---", "- a",
        "a # b", "#", "a ", " a", "é", "雨天", "None", "a\nb", "a\rb", "\udc80", "a.", "a/",
        "a-" * 33, "a" * 67, "a" * 68, "a" * 74, "a" * 75, "b-" * 40, "word " * 14 + "end",
    ]),
    st.text("ab-_.,;/():# \n", max_size=12),
)  # fmt: skip


def _or(usual: str) -> st.SearchStrategy[str]:
    return st.one_of(st.just(usual), st.just(usual), st.just(usual), ODD)


@given(
    st.builds(
        Memory,
        key=st.just("facts/a.md"),
        name=_or("pump-pressure"),
        description=st.one_of(_or("Pressure of the cargo bikes"), st.none()),
        # a body with half of a surrogate pair is said otherwise before
        body=st.builds(
            Body, text=_or("3.5 bar in front.\n\n4 behind.").filter(lambda x: x != "\udc80")
        ),
        kinds=st.dictionaries(st.just("claude"), _or("project"), min_size=1),
        links=st.lists(st.builds(Link, target=_or("tyre-order")), max_size=3).map(tuple),
        created=st.one_of(_or("2026-03-01"), st.none()),
        recalled=st.one_of(_or("2026-03-02"), st.none()),
        extra=st.sampled_from([{}, {}, {}, {"bantamkit": {"status": "done"}}]),
    )
)
def test_a_new_fact_is_as_the_runtime_writes_it_and_is_read_back(record: Memory) -> None:
    new = fact_file.as_it_is(record.key, record)
    if new is not None:
        assert new == Fact(record.key, fact_file.canonical(record), record, True)
        assert fact_file.read(record.key, new.text.encode("utf-8")) == new


def test_a_usual_fact_takes_the_short_way() -> None:
    record = Memory(
        key="facts/a.md",
        name="pump-pressure",
        description="Pressure of the cargo bikes (in bar), front/back; see below.",
        body=Body(text="3.5 bar in front — 4 behind."),
        kinds={"claude": "project"},
        links=(Link(target="tyre-order"), Link(target="no-rain")),
        created="2026-03-01",
    )
    new = fact_file.as_it_is(record.key, record)
    assert new is not None
    assert new.text == fact_file.canonical(record)


def _in_store(golden: Sample) -> tuple[Opened, Opened]:
    """Give a golden store, and what it becomes in a new store of bantamkit."""
    source = golden.opened("source")
    target = replace(golden.tree, files={}, complement=None, problems=())
    empty = assemble(BANTAMKIT, golden.case / "to", target, None, "destination")
    return source, convert.after(convert.plan(source, empty, CHOICES, now=NOW), empty)


GOLDEN = pytest.mark.parametrize("golden", golden_samples(), ids=lambda s: s.id)


@GOLDEN
def test_what_was_fitted_need_not_be_fitted_again(golden: Sample) -> None:
    records = [lower(r, BANTAMKIT) for r in golden.opened().seen.records]
    store = Store(format="bantamkit", records=tuple(records))
    context = Context(now=NOW)
    said = {r.key: BANTAMKIT.fit(r, None, context) for r in records}
    known = {key: fitted for key, fitted in said.items() if isinstance(fitted, Fitted)}
    again = BANTAMKIT.write(store, {}, replace(context, fitted=known))
    assert again == BANTAMKIT.write(store, {}, context)


@GOLDEN
@pytest.mark.parametrize("name", [a.name for a in registry.adapters() if a.grave is not None])
def test_what_is_grave_is_what_lint_finds_but_for_the_notes(golden: Sample, name: str) -> None:
    adapter = registry.get(name)
    files = golden.tree.files if golden.adapter is adapter else _in_store(golden)[1].tree.files
    store = adapter.read(files)
    assert adapter.grave is not None
    found = [f for f in adapter.lint(files, store) if f.severity != "note"]
    assert list(adapter.grave(files, store)) == found


@GOLDEN
def test_each_file_of_a_plan_has_the_digest_of_what_is_written(golden: Sample) -> None:
    source = golden.opened()
    target = replace(golden.tree, files={}, complement=None, problems=())
    empty = assemble(BANTAMKIT, golden.case / "to", target, None, "destination")
    for choices in (CHOICES, replace(CHOICES, complement=False, allow_loss=True)):
        changes = convert.plan(source, empty, choices, now=NOW).changes
        assert [c.written for c in changes] == [digest(c.after or b"") for c in changes]


@GOLDEN
def test_a_fact_whose_record_is_known_is_read_as_any_other(golden: Sample) -> None:
    _, made = _in_store(golden)
    for path, data in made.tree.files.items():
        found = fact_file.read(path, data)
        if not isinstance(found, Problem):
            assert fact_file.read(path, data, found.record) == found


@GOLDEN
@pytest.mark.parametrize("edited", [False, True], ids=["as-written", "edited"])
def test_restoring_at_once_is_restoring_field_by_field(
    golden: Sample, edited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, made = _in_store(golden)
    files = dict(made.tree.files)
    for path in list(files)[::2] if edited else ():
        files[path] = files[path].replace(b"the ", b"a ") + b"Seen again.\n"
    raw = BANTAMKIT.read(files)
    short = restore.restore(raw, made.complement, files, BANTAMKIT, holds)

    def never(record: Record, line: Line) -> bool:
        return False

    monkeypatch.setattr(restore, "_as_expected", never)
    long = restore.restore(raw, made.complement, files, BANTAMKIT, holds)
    assert short == long
    assert COMPLEMENT not in files
