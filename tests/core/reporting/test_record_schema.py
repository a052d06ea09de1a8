"""Records of four releases follow the published schema, and planted faults do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import rwn_core as rwn
from tests.core.reporting.four_releases import categories, of_dataset, of_table

SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "release-record.schema.json"


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pima = rwn.SoftRWN(q=0.8, kernel="gaussian")
    return {
        "bodyfat": of_table(rwn.load_demo("bodyfat"), rwn.RWN(epsilon=2.0, k=5), "csv"),
        "pima": of_table(rwn.load_demo("pima"), pima, "parquet"),
        "categories": of_table(categories(), rwn.PRAM(change=0.3), "tsv"),
        "dataset": of_dataset(tmp_path_factory.mktemp("dataset")),
    }


def without(record: dict[str, Any], *path: str) -> dict[str, Any]:
    """A record that lacks a field."""
    first, *rest = path
    if rest:
        return {**record, first: without(record[first], *rest)}
    return {name: value for name, value in record.items() if name != first}


def with_value(record: dict[str, Any], value: Any, *path: str) -> dict[str, Any]:
    """A record with another value in a field."""
    first, *rest = path
    return {**record, first: with_value(record.get(first, {}), value, *rest) if rest else value}


def test_records_of_four_releases_follow_the_published_schema(four: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    validator.check_schema(validator.schema)
    for name, made in four.items():
        assert [each.message for each in validator.iter_errors(made)] == [], name
    record, many = four["bodyfat"], four["dataset"]
    (limit,) = record["limit"]
    assert (limit["source"], limit["set_by"]) == ("Handbook", "Board")
    faults = [
        *(without(record, name) for name in ("limit", "verdict", "program", "table", "identity")),
        without(record, "file", "sha256"),
        without(record, "table", "fingerprint"),
        without(record, "verdict", "not_judged"),
        without(many, "file", "parts"),
        without(many, "source"),
        with_value(record, [without(limit, "at_most")], "limit"),
        with_value(record, [{**limit, "at_most": "0.9"}], "limit"),
        with_value(record, [{**limit, "sourced": "x"}], "limit"),
        with_value(record, "0f" * 31, "file", "sha256"),
        with_value(record, "sorted", "file", "order"),
        with_value(record, -1, "table", "records"),
        with_value(record, ["number"], "table", "kinds"),
        with_value(record, "yes", "verdict", "kept"),
        with_value(record, "anybody", "context", "access"),
        with_value(record, {"reason": "none"}, "readings", "marginals"),
        with_value(record, "12", "donors"),
        with_value(record, "0f" * 32, "file", "secret"),
        with_value(record, "", "approval", "by"),
        with_value(record, "rwn internal record 1", "format"),
    ]
    assert [number for number, each in enumerate(faults) if validator.is_valid(each)] == []
