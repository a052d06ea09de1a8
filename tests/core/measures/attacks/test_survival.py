"""Which values come through, against exact values of the worked example."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.predicate import Condition, Predicate, answer
from rwn_core.measures.attacks.value_survival import appearance, count_distribution, expected_copies
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.membership import fingerprints
from tests.core.measures.attacks.intruder_examples import number
from tests.oracles.extreme_values import extreme_distribution

MAXIMUM = 11.0


@pytest.mark.parametrize(("q", "key"), [(0.5, "q_half"), (1.0, "q_one")])
def test_EXT_1_survival_and_copies_of_the_maximum(e1_law, check_values, q, key):
    table, values = e1_law(q).table("x")
    place = values.index(MAXIMUM)
    survival, _, copies = check_values["EXT-1"][key]
    assert appearance(table)[place] == pytest.approx(number(survival))
    assert expected_copies(table)[place] == pytest.approx(number(copies))


@pytest.mark.parametrize(("q", "key"), [(0.5, "q_half"), (1.0, "q_one")])
def test_EXT_2_distribution_of_the_released_maximum(e1_law, check_values, q, key):
    values, found = extreme_distribution(e1_law(q), "x")
    expected = {float(v): number(p) for v, p in check_values["EXT-2"][key].items()}
    assert dict(zip(values, found, strict=True)) == pytest.approx(expected)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize(("q", "key"), [(0.5, "q_half"), (1.0, "q_one")])
def test_EXT_3_number_of_copies(e1_law, check_values, q, key):
    table, values = e1_law(q).table("x")
    chances = table[:, [values.index(MAXIMUM)]].toarray().ravel()
    expected = [number(p) for p in check_values["EXT-3"][key]]
    found = count_distribution(chances)
    np.testing.assert_allclose(found[: len(expected)], expected, atol=1e-14)
    assert np.abs(found[len(expected) :]).max(initial=0) < 1e-14


def test_EXT_4_delta_of_differential_privacy(e1_law, e1, check_values):
    law = e1_law(0.5)
    table, values = law.table("x")
    assert appearance(table)[values.index(MAXIMUM)] == pytest.approx(check_values["EXT-4"])
    reading = MEASURES["differential_privacy"].compute(Comparison(original=e1, masked=e1, law=law))
    assert reading.value >= check_values["EXT-4"]
    assert "not differentially private" in reading.detail["statement"]


@pytest.mark.parametrize(("q", "key"), [(0.5, "q_half"), (1.0, "q_one")])
def test_ATT_6_membership(e1_law, check_values, q, key):
    appears, own = fingerprints(e1_law(q))
    np.testing.assert_allclose(appears, check_values["ATT-6"][key], atol=1e-6)
    assert own.tolist() == [0, 1, 1, 0, 1, 1]


def test_QRY_1_the_lone_member(e1_law, check_values):
    expected = check_values["QRY-1"]
    predicate = Predicate(
        conditions=(
            Condition(name="x", sign="at least", value=10.0),
            Condition(name="y", sign="at least", value=1.0),
        )
    )
    law = e1_law(0.5)
    np.testing.assert_allclose(predicate.chances(law), [number(p) for p in expected["p"]])
    counts, alone = answer(law, predicate)
    np.testing.assert_allclose(counts, [number(p) for p in expected["count_dist"]])
    assert alone[5] == pytest.approx(number(expected["exactly_one_and_target"]))
    assert counts[1] == pytest.approx(alone.sum())


def test_count_distribution_by_enumeration():
    chances = np.array([0.2, 0.9, 1.0, 0.0, 0.5])
    slow = np.zeros(6)
    for outcome in product((0, 1), repeat=5):
        slow[sum(outcome)] += np.prod(np.where(outcome, chances, 1 - chances))
    np.testing.assert_allclose(count_distribution(chances), slow, atol=1e-14)
    short = count_distribution(chances, largest=2)
    np.testing.assert_allclose(short, [slow[0], slow[1], slow[2:].sum()], atol=1e-14)


@pytest.mark.parametrize("sure", [[True, False], [True, True]])
def test_an_answer_that_is_certain(e1_law, sure):
    """Chances of exactly 1 must not divide by zero."""
    law = e1_law(0.0)
    values = [0.0, 0.0] if all(sure) else [10.0, 11.0]
    predicate = Predicate(conditions=(Condition(name="x", sign="at least", value=values[1]),))
    _, alone = answer(law, predicate)
    assert np.isfinite(alone).all()
    assert alone[5] == (0.0 if all(sure) else 1.0)


def test_membership_speaks_of_those_who_have_a_value_of_their_own() -> None:
    """Two of forty: their mean, not diluted by the 38 whom no value betrays."""
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20), "y": np.tile([0.0, 1.0], 20)})
    frame.loc[[3, 30], "x"] = [7.0, 9.0]
    data = Microdata.from_frame(frame)
    measure = MEASURES["membership"]
    release = mask(data, RWN(epsilon=0.5, k=5, q=0.5), seed=1)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    found = measure.compute(comparison)
    appears, own = fingerprints(release.law)
    assert np.flatnonzero(own).tolist() == [3, 30]
    assert found.value == pytest.approx(appears[[3, 30]].mean())
    assert found.value >= 0.5  # over everybody: 0.03
    assert measure.sentence(found, 40).startswith("2 of 40 records have a value that nobody else")
    nobody = Microdata.from_frame(frame.drop(index=[3, 30]).reset_index(drop=True))
    release = mask(nobody, RWN(epsilon=0.5, k=5, q=0.5), seed=1)
    empty = measure.compute(Comparison(original=nobody, masked=release.masked, law=release.law))
    assert empty.value == 0.0
    assert measure.sentence(empty, 38).startswith("Nobody has a value")
