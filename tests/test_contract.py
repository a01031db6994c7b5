"""The contract of every adapter, by its being there: the laws, purity, and manners."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interop import check, fields
from interop.adapter import Adapter, Context, Fitted, Hold
from interop.model import Body, Files, Link, Memory, Problem, Store
from interop.rendering import lower
from tests.samples import Sample, samples
from tests.strategies import damage, records

NOW = Context(now="2026-09-01T08:30:00.000Z")


def test_get_put(sample: Sample) -> None:
    law = check.get_put(sample.opened())
    assert law.ok, law.difference


def test_put_get(sample: Sample) -> None:
    law = check.put_get(sample.opened())
    assert law.ok, law.difference


def test_minimal_edit(sample: Sample) -> None:
    law = check.minimal_edit(sample.opened())
    assert law.ok, law.difference


def test_purity(sample: Sample) -> None:
    files = dict(sample.tree.files)
    first = sample.adapter.read(files)
    assert sample.adapter.read(dict(reversed(files.items()))) == first, "the order of files counts"
    assert files == sample.tree.files
    once = sample.adapter.write(first, files, NOW)
    assert sample.adapter.write(first, files, NOW) == once
    assert files == sample.tree.files


def test_what_was_read_fits(sample: Sample) -> None:
    for record in sample.adapter.read(sample.tree.files).records:
        fitted = sample.adapter.fit(record, record, NOW)
        assert isinstance(fitted, Fitted), fitted
        assert fitted.record == record
        assert not fitted.supplied


def test_every_file_is_accounted_for(sample: Sample) -> None:
    """A file is a record's, carried, derived, or an index of what is."""
    store = sample.adapter.read(sample.tree.files)
    read = {r.key.split("#")[0] for r in store.records}
    carried = {p.removesuffix("#") for p in store.carried}
    for path in sample.tree.files:
        named = sample.adapter.derived(path) or sample.adapter.index(path)
        assert path in read | carried or named, path


@pytest.mark.parametrize("seed", range(40))
def test_damaged_stores(adapter: Adapter, seed: int) -> None:
    """Cut, flipped, shuffled: a store or named problems, never an exception, never a lost byte."""
    chance = random.Random(f"{adapter.name} {seed}")
    sample = chance.choice([s for s in samples() if s.adapter is adapter and s.tree.files])
    files: Files = damage(dict(sample.tree.files), chance)
    store = adapter.read(files)
    assert all(isinstance(p, Problem) for p in store.problems)
    assert adapter.write(store, files, NOW).files == files
    list(adapter.lint(files, store))


@settings(max_examples=150)
@given(data=st.data())
def test_new_records_are_read_back(adapter: Adapter, data: st.DataObject) -> None:
    """What fits is written, and is read back as the adapter said; nothing else appears."""
    new = data.draw(st.lists(records(adapter.kinds), max_size=4))
    keyed = tuple(lower(fields.with_key(r, f"{i}-{r.key}"), adapter) for i, r in enumerate(new))
    written = adapter.write(Store(format=adapter.name, records=keyed), {}, NOW)
    found = {r.key: r for r in adapter.read(written.files).records}
    assert found == {r.key: r for r in written.records.values()}
    refused = {r.key for r in written.refused}
    assert refused | set(written.records) == {r.key for r in keyed}
    again = adapter.write(adapter.read(written.files), written.files, NOW)
    assert again.files == written.files


@settings(max_examples=150)
@given(data=st.data())
def test_edits_say_just_what_they_say(adapter: Adapter, data: st.DataObject) -> None:
    """An edit of one record is read back as written, and the others are as they were."""
    sample = data.draw(
        st.sampled_from([s for s in samples() if s.adapter is adapter and s.opened().raw.records])
    )
    store = sample.opened().raw
    at = data.draw(st.integers(0, len(store.records) - 1))
    old = store.records[at]
    donor = data.draw(records(adapter.kinds))
    name = data.draw(st.sampled_from([f for f in fields.FIELDS[old.role] if f != "extra"]))
    new = lower(fields.replace(old, {name: fields.get(donor, name)}), adapter)
    target = tuple(new if i == at else r for i, r in enumerate(store.records))
    written = adapter.write(Store(format=adapter.name, records=target), sample.tree.files, NOW)
    found = {r.key: r for r in adapter.read(written.files).records}
    assert found == {r.key: r for r in written.records.values()}
    for i, r in enumerate(store.records):
        if i != at:
            assert fields.with_key(written.records[r.key], r.key) == r
    if written.refused:
        assert written.records[old.key] == old


@settings(max_examples=80)
@given(data=st.data())
def test_removal_removes_just_that(adapter: Adapter, data: st.DataObject) -> None:
    sample = data.draw(
        st.sampled_from([s for s in samples() if s.adapter is adapter and s.opened().raw.records])
    )
    store = sample.opened().raw
    gone = data.draw(st.sets(st.integers(0, len(store.records) - 1), min_size=1, max_size=3))
    target = tuple(r for i, r in enumerate(store.records) if i not in gone)
    written = adapter.write(Store(format=adapter.name, records=target), sample.tree.files, NOW)
    found = {r.key: r for r in adapter.read(written.files).records}
    assert found == {r.key: r for r in written.records.values()}
    for r in target:
        assert fields.with_key(written.records[r.key], r.key) == r


def test_holds_is_measured(adapter: Adapter) -> None:
    """What the adapter pins for each field is what a record that it creates says."""
    kinds = adapter.kinds
    record = Memory(
        key="spare-key.md",
        name="spare-key",
        title="Spare key",
        description="Where the spare key hangs",
        hook="grey box",
        body=Body(text="Behind the last dock. See [[pump]]."),
        kinds={kinds.vocabulary: kinds.terms[0]} if kinds else {},
        tags=("keys",),
        entities=("person:mira",),
        links=(Link(target="pump"),),
        created="2026-05-01",
        modified="2026-05-02T10:00:00.000Z",
        recalled="2026-05-03",
        observations=3,
        session="5b0c2f6e-1a44-4e0b-9a51-0d7c3e8f1a01",
    )
    lowered = lower(record, adapter)
    fitted = adapter.fit(lowered, None, NOW)
    assert isinstance(fitted, Fitted), fitted
    if adapter.holds.get("links") is Hold.EXACT and not fields.get(fitted.record, "links"):
        # a format with relations of its own
        link = Link(rel="relates_to", target="areas/inbox/pump.html")
        lowered = fields.replace(lowered, {"links": (link,)})
        fitted = adapter.fit(lowered, None, NOW)
        assert isinstance(fitted, Fitted), fitted
    written = adapter.write(Store(format=adapter.name, records=(lowered,)), {}, NOW)
    (found,) = adapter.read(written.files).records
    supplied = {s.field for s in written.supplied}
    for name in fields.FIELDS["memory"]:
        if name in ("extra", "state", "archived"):
            continue
        hold = adapter.holds.get(name, Hold.NO)
        meant, says = fields.get(lowered, name), fields.get(found, name)
        if hold is Hold.NO:
            assert says is None or name in supplied, name
        elif hold is Hold.EXACT and name not in supplied:
            assert says == meant, name
        assert says == fields.get(fitted.record, name) or hold is Hold.VIEW, name
    if adapter.holds.get("links") is Hold.VIEW:
        edited = fields.replace(found, {"links": (Link(target="elsewhere"),)})
        again = adapter.write(Store(format=adapter.name, records=(edited,)), written.files, NOW)
        assert again.files == written.files, "a view is not written"


def test_archiving_is_said_or_travels(adapter: Adapter) -> None:
    kinds = adapter.kinds
    record = Memory(
        key="old.md",
        name="old",
        description="Retired",
        body=Body(text="Gone."),
        kinds={kinds.vocabulary: kinds.terms[0]} if kinds else {},
        state="archived",
    )
    written = adapter.write(Store(format=adapter.name, records=(record,)), {}, NOW)
    if adapter.holds.get("state") is Hold.EXACT:
        (found,) = adapter.read(written.files).records
        assert fields.get(found, "state") == "archived"
    else:
        assert [r.travels for r in written.refused] == [True]
