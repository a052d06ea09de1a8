"""k-anonymity and its relatives: published values, sdcMicro's conventions, slow counting."""

from __future__ import annotations

import json
from ast import literal_eval
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.audit import compare as compare_release
from rwn_core.comparison import Comparison
from rwn_core.errors import NotApplicable
from rwn_core.key_variables import class_sizes, confidential_names, key_names
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.risk.l_diversity import distinct_values, entropies, recursive_diverse
from rwn_core.measures.risk.suda import scores
from rwn_core.measures.risk.t_closeness import distances
from rwn_core.microdata import Microdata
from rwn_core.schema import Kind, Question, Role, Schema, Variable

PATH = Path(__file__).parents[2] / "golden" / "risk_check_values.json"
ENTRIES: dict[str, Any] = {
    entry["id"]: entry for entry in json.loads(PATH.read_text(encoding="utf-8"))["values"]
}


def kan_table() -> Microdata:
    given = ENTRIES["KAN-1"]["input"]
    schema = Schema(
        variables=(
            Variable(name="key", kind=Kind.CATEGORICAL, role=Role.KEY),
            Variable(name="secret", kind=Kind.CATEGORICAL, role=Role.CONFIDENTIAL),
        )
    )
    return Microdata.from_frame(
        pd.DataFrame({"key": given["keys"], "secret": given["sensitive"]}), schema
    )


def test_KAN_1_k_anonymity():
    expected = ENTRIES["KAN-1"]["expected"]
    data = kan_table()
    reading = MEASURES["k_anonymity"].compute(Comparison(original=data, masked=data))
    assert reading.detail["smallest_released"] == expected["kmin"]
    assert reading.detail["violations_released"][:2] == [expected["viol2"], expected["viol3"]]
    assert reading.value == reading.baseline == expected["viol3"] / 8


def test_KAN_1_l_diversity_and_t_closeness():
    expected = ENTRIES["KAN-1"]["expected"]
    data = kan_table()
    groups, secret = data.codes("key")[0].astype(int), data.codes("secret")[0].astype(int)
    assert distinct_values(groups, secret).min() == expected["distinct_l"]
    found = dict(zip(data.codes("key")[1], entropies(groups, secret), strict=True))
    for name, value in expected["entropies"].items():
        letter, number = literal_eval(name)
        assert found[f"{letter}{number}"] == pytest.approx(value, abs=1e-12)
    far = dict(zip(data.codes("key")[1], distances(groups, secret, ordered=False), strict=True))
    for name, value in expected["t_equal"].items():
        letter, number = literal_eval(name)
        assert far[f"{letter}{number}"] == pytest.approx(value, abs=1e-12)
    reading = MEASURES["l_diversity"].compute(Comparison(original=data, masked=data))
    assert reading.detail["smallest_released"].tolist() == [expected["distinct_l"]]


def test_KAN_2_ordered_t_closeness():
    """Nine salaries, three classes of three: Li et al. 2007."""
    secret = np.arange(9)
    classes_ = {"P1_345": [0, 1, 2], "P2_6_8_11": [3, 5, 8]}
    for name, members in classes_.items():
        groups = np.ones(9, dtype=int)
        groups[members] = 0
        found = distances(groups, secret, ordered=True)[0]
        assert found == pytest.approx(ENTRIES["KAN-2"]["expected"][name], abs=1e-9)


def test_recursive_diversity():
    assert recursive_diverse(np.array([3, 2, 2]), 1.0, 2)
    assert not recursive_diverse(np.array([5, 2, 2]), 1.0, 2)
    assert not recursive_diverse(np.array([5, 2, 2]), 2.0, 3)


def test_a_missing_value_matches_any():
    cells = np.array([[0, 0], [0, -1], [-1, -1], [1, 0], [0, 1]])
    slow = [
        sum(
            all(a == b or a < 0 or b < 0 for a, b in zip(one, other, strict=True))
            for other in cells.tolist()
        )
        for one in cells.tolist()
    ]
    assert class_sizes(cells).tolist() == slow
    rng = np.random.default_rng(1)
    cells = rng.integers(-1, 3, (60, 4))
    slow = [int((((cells == one) | (cells < 0) | (one < 0)).all(axis=1)).sum()) for one in cells]
    assert class_sizes(cells).tolist() == slow


def test_roles_and_what_takes_their_place():
    frame = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0], "c": ["x", "y"]})
    plain = Microdata.from_frame(frame)
    alone = Comparison(original=plain, masked=plain)
    assert key_names(alone) == ("a", "b", "c")
    assert confidential_names(alone) == ()
    asked = Comparison(
        original=plain, masked=plain, question=Question(response="b", predictors=("a",))
    )
    assert confidential_names(asked) == ("b",)
    assert key_names(asked) == ("a", "c")
    data = kan_table()
    assert key_names(Comparison(original=data, masked=data)) == ("key",)


def test_suda_by_its_definition():
    rng = np.random.default_rng(4)
    cells = rng.integers(0, 3, (40, 4))
    score, smallest = scores(cells)
    for record in range(40):
        minimal: list[tuple[int, ...]] = []
        for size in (1, 2, 3):
            for chosen in combinations(range(4), size):
                alone = ((cells[:, chosen] == cells[record, chosen]).all(axis=1)).sum() == 1
                if alone and not any(set(known) < set(chosen) for known in minimal):
                    minimal.append(chosen)
        expected = sum({1: 3 * 2 * 1, 2: 2 * 1, 3: 1}[len(chosen)] for chosen in minimal)
        assert score[record] == expected
        assert smallest[record] == (min(map(len, minimal)) if minimal else 0)


def test_uniqueness_beside_links(numeric_frames):
    data = Microdata.from_frame(numeric_frames[0].round(0))
    release = mask(data, RWN(k=4, q=0.8), seed=3)
    detail = MEASURES["uniqueness"].compute(compare_release(data, release)).detail
    assert sum(cell["records"] for cell in detail["table"]) == data.n
    assert all(0 <= cell["linked"] <= cell["records"] for cell in detail["table"])
    alone = (~data.frame.duplicated(keep=False)).sum()
    assert detail["original"] == alone


def test_individual_risk_of_a_sample():
    data = kan_table()
    comparison = Comparison(original=data, masked=data)
    whole = MEASURES["individual_risk"].compute(comparison)
    assert whole.value == pytest.approx(4 / 8)  # four classes
    assert whole.detail["expected_released"] == pytest.approx(4)
    from rwn_core.measures.risk import individual_risk

    sample = individual_risk.compute(comparison, population=800)
    assert sample.value < whole.value / 10


def test_nothing_is_confidential(compare, numeric_frames):
    comparison = compare(*numeric_frames)
    for key in ("l_diversity", "t_closeness", "inference"):
        with pytest.raises(NotApplicable, match="No variable is confidential"):
            MEASURES[key].compute(comparison)


def test_homogeneous_neighborhoods():
    frame = pd.DataFrame({"x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2], "ill": ["y"] * 3 + ["n", "y", "n"]})
    schema = Schema(
        variables=(
            Variable(name="x", kind=Kind.CONTINUOUS, role=Role.KEY),
            Variable(name="ill", kind=Kind.CATEGORICAL, role=Role.CONFIDENTIAL, weight=0.0),
        )
    )
    data = Microdata.from_frame(frame, schema)
    release = mask(data, RWN(k=2), seed=1)
    reading = MEASURES["homogeneity"].compute(compare_release(data, release))
    assert reading.value == 0.5
    assert reading.baseline == 0.0


def test_loglinear_risk_of_a_sample(pima_data):
    from rwn_core.measures.risk import loglinear_risk

    release = mask(pima_data, RWN(epsilon=1.0, k=5), seed=1)
    comparison = compare_release(pima_data, release)
    whole = loglinear_risk.compute(comparison)
    assert whole.detail["tau2_released"] == whole.detail["uniques_released"]
    sample = loglinear_risk.compute(comparison, population=100_000)
    assert sample.value < whole.value
    assert 0 <= sample.detail["leakage_released"] <= 1
    assert sample.detail["path"]


@pytest.fixture(scope="module")
def pima_data() -> Microdata:
    import rwn_core

    return rwn_core.load_demo("pima")
