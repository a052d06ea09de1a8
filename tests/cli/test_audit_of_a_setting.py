"""`rwn audit` with a record or with parameters: the worst case, as Python tells it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rwn_core as rwn
from tests.cli.conftest import Run

MASK = ("mask", "demo:bodyfat", "m.csv", "--epsilon", "2", "--k", "5", "--seed", "7",
        "--order", "original", "--round", "age=5", "--weight", "age=2")  # fmt: skip
STATED = ("--set", "epsilon=2", "--set", "k=5", "--round", "age=5", "--weight", "age=2")
KEYS = ("bayes_linkage", "intruder_levels")
AUDIT = ("audit", "demo:bodyfat", "m.csv", "--json", "--measure", KEYS[0], "--measure", KEYS[1])


def test_the_worst_case_of_a_record_is_that_of_the_release(rwn_command: Run) -> None:
    def read(*more: str) -> dict[str, Any]:
        code, output, _ = rwn_command(*AUDIT, *more)
        assert code == 0
        return {row["measure"]: row["value"] for row in json.loads(output)["measures"]}

    assert rwn_command(*MASK, "--record", "r.toml")[0] == 0
    data = rwn.load_demo("bodyfat")
    data = data.with_schema(data.schema.with_weights({"age": 2.0}))
    release = rwn.mask(data, rwn.RWN(epsilon=2, k=5), seed=7, precision={"age": 5})
    own = rwn.audit(data, release, measures=KEYS)
    expected = {key: pytest.approx(own[key].value) for key in KEYS}
    assert read("--record", "r.toml") == expected
    assert read(*STATED) == expected
    assert read() == dict.fromkeys(KEYS), "without a setting there is no worst case"
