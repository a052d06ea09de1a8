"""PRAM: matrices given and built, in one stage and two; what they keep and what they promise."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.laws.transition_matrix import invariant, privacy_epsilon
from rwn_core.laws.unit_law import FROM_FILE
from rwn_core.masking import PRAM, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.tuning import Setting
from tests.check_values import check_values

ENTRIES = check_values("risk")
P = ENTRIES["PRAM-1"]["input"]["P"]


def levels(counts: tuple[int, ...], **columns: Any) -> Microdata:
    values = np.repeat([f"l{i}" for i in range(len(counts))], counts)
    return Microdata.from_frame(pd.DataFrame({"g": values, **columns}))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"invariant": False}, "P"),
        ({"invariant": True}, "R"),
        ({"invariant": True, "alpha": 0.5}, "Rstar_half"),
    ],
)
def test_PRAM_1_matrices_of_a_release(options, expected):
    data, given = levels((50, 30, 20)), ENTRIES["PRAM-1"]["expected"]
    method = PRAM(matrices={"g": P}, **options)
    np.testing.assert_allclose(method.matrix(data, "g"), given[expected], rtol=1e-9)
    table, _ = method.prepare(data).law.table("g")
    np.testing.assert_allclose(table.toarray()[[0, 50, 80]], given[expected], rtol=1e-9)


def test_PRAM_1_epsilon_of_a_release():
    data, given = levels((50, 30, 20)), ENTRIES["PRAM-1"]["expected"]
    release = mask(data, PRAM(matrices={"g": P}, invariant=False), seed=1)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    reading = MEASURES["differential_privacy"].compute(comparison)
    assert reading.detail.total_epsilon == pytest.approx(given["epsilon"], rel=1e-9)
    assert reading.value == 0


def test_MIS_1_the_risk_of_a_row_with_a_persons_own_key():
    """The file is the population here, for which the check value has its limit of small samples."""
    given = ENTRIES["MIS-1"]
    data = levels(tuple(given["input"]["F"]))
    data = data.with_schema(
        replace(data.schema, variables=(replace(data.schema.variables[0], role=Role.KEY),))
    )
    method = PRAM(matrices={"g": given["input"]["T_rows_true_cols_released"]}, invariant=False)
    release = mask(data, method, seed=1)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    risk = MEASURES["misclassification"].compute(comparison).detail.truth
    np.testing.assert_allclose(risk[[0, 1, 4]], given["expected"]["approx_pi0"], rtol=1e-9)


@pytest.mark.parametrize("spread", ["even", "margins"])
@pytest.mark.parametrize("second", [True, False])
@pytest.mark.parametrize(("change", "alpha"), [(0.0, 1.0), (0.2, 0.3), (1.0, 0.3)])
def test_built_matrices_are_those_of_the_definition(spread, second, change, alpha):
    data = levels((50, 30, 15, 5))
    v = np.array([0.5, 0.3, 0.15, 0.05])
    anew = np.tile(v if spread == "margins" else np.full(4, 0.25), (4, 1))
    full = (1 - change) * np.eye(4) + change * anew
    if second and spread == "even":
        full = invariant(full, v)
    method = PRAM(change=change, spread=spread, invariant=second, alpha=alpha)
    found = method.matrix(data, "g")
    np.testing.assert_allclose(found, alpha * full + (1 - alpha) * np.eye(4), atol=1e-12)
    if second or spread == "margins":
        assert np.abs(v @ found - v).max() < 1e-12


def test_a_matrix_survives_a_file_of_settings():
    rows = [[0.9, 0.1], [0.2, 0.8]]
    one = PRAM(matrices={"test": rows})
    assert hash(one) == hash(PRAM(matrices=one.matrices))
    setting = Setting.of("pram", {"matrices": {"test": rows}})
    assert Setting.from_dict(json.loads(json.dumps(setting.to_dict()))) == setting


@pytest.mark.parametrize(
    ("matrices", "words"),
    [
        ({"g": [[0.5, 0.6], [0.5, 0.5]]}, "probabilities whose sum is 1"),
        ({"g": [[1.5, -0.5], [0.5, 0.5]]}, "probabilities whose sum is 1"),
        ({"g": [[np.nan, 1.0], [0.5, 0.5]]}, "probabilities whose sum is 1"),
        ({"g": [[0.5, 0.5]]}, "must be square"),
        ({"g": [[0.5, 0.5], [1.0]]}, "rows of numbers by variable"),
        ("g=0.5", "rows of numbers by variable"),
        (5, "rows of numbers by variable"),
        ({"g": "ab"}, "rows of numbers by variable"),
    ],
)
def test_what_is_no_matrix_is_refused(matrices, words):
    with pytest.raises(ParameterError, match=words):
        PRAM(matrices=matrices)


def test_a_matrix_must_fit_the_levels_and_a_variable_that_is_changed():
    data = levels((5, 5, 5))
    two = [[0.9, 0.1], [0.2, 0.8]]
    with pytest.raises(ParameterError, match="g must have 3 rows and columns"):
        PRAM(matrices={"g": two}).prepare(data)
    with pytest.raises(ParameterError, match="one for x, which is not changed"):
        PRAM(matrices={"x": two}).prepare(data)
    numbers = Microdata.from_frame(pd.DataFrame({"x": [1.5, 2.5, 3.5]}))
    with pytest.raises(ParameterError, match="masks categories and counts only"):
        PRAM().prepare(numbers)


def test_5000_levels_need_no_matrix():
    rng = np.random.default_rng(6)
    data = Microdata.from_frame(
        pd.DataFrame({"g": [f"l{i}" for i in rng.integers(0, 5000, 20000)]})
    )
    method = PRAM(change=0.3)
    law = method.prepare(data).law
    assert 0.3 < law.modification("g") < 2 * 0.3  # in two stages
    changed = (mask(data, method, seed=7).masked.frame["g"] != data.frame["g"]).mean()
    assert changed == pytest.approx(law.modification("g"), abs=0.02)
    assert law.privacy()[("g",)] == FROM_FILE
    small, stated = levels((6, 3, 2)), replace(method, invariant=False)
    assert stated.prepare(small).law.privacy()[("g",)] == FROM_FILE
    g = small.schema.variables[0]
    known = small.with_schema(Schema(variables=(replace(g, levels=("l0", "l1", "l2")),)))
    part = stated.prepare(known).law.privacy()[("g",)]
    assert part.epsilon == pytest.approx(privacy_epsilon(stated.matrix(known, "g"))[0])
