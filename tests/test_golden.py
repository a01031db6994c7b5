"""Every golden store is read as its model.json says; only --update-golden rewrites one."""

from __future__ import annotations

import json

import orjson
import pytest

from interop import fields, registry
from interop.model import Store
from tests.samples import GOLDEN, Sample, golden_samples


@pytest.mark.parametrize("golden", golden_samples(), ids=lambda s: s.id)
def test_golden(golden: Sample, request: pytest.FixtureRequest) -> None:
    said = as_json(golden.adapter.read(golden.tree.files))
    expected = golden.case / "model.json"
    if request.config.getoption("--update-golden"):
        text = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
        expected.write_text(text, encoding="utf-8")
    assert expected.is_file(), f"{expected} is missing: pytest --update-golden writes it"
    assert said == orjson.loads(expected.read_bytes())


def test_every_case_is_of_a_format() -> None:
    for folder in GOLDEN.iterdir():
        if folder.name != "convert":
            assert folder.name in registry.names(), folder
            for case in folder.iterdir():
                assert {p.name for p in case.iterdir()} <= {"store", "model.json", "README.md"}


def test_every_format_has_cases() -> None:
    for name in registry.names():
        assert len([s for s in golden_samples() if s.adapter.name == name]) >= 5, name


def as_json(store: Store) -> dict[str, object]:
    return {
        "records": [fields.to_json(r) for r in store.records],
        "problems": [
            {"path": p.path, "problem": p.problem, "unread": p.unread} for p in store.problems
        ],
        "carried": sorted(store.carried),
    }
