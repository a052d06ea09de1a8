"""Release precision: the same bytes in every way to ask for it, and the exact law of a release."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.rounding import rounded, rounded_values
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.draws import draws, ensemble
from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.masking import Rounded
from rwn_core.masking.method import unrounded
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from tests.core.laws.cell_probability import probability
from tests.oracles.exact_cells import exact_probability

METHODS = {
    "rwn": rwn.RWN(epsilon=1.0, k=3, q=0.6),
    "nbrs2015": rwn.NBRS2015(epsilon=1.5, q=0.7, record_selection="bernoulli"),
}
STEPS = {"age": 5.0, "income": 1000.0}


def people(n: int = 12) -> rwn.Microdata:
    """A small table with every trouble: whole numbers, missing ones, texts, dates, names."""
    place = np.arange(n)
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in place],
            "number": 100 + place,
            "age": 20 + place * 7 % 41,
            "income": np.where(place == 4, np.nan, 900.5 * (place * 5 % 13)),
            "town": np.where(place % 3 == 0, "Ost", "West"),
            "since": pd.Timestamp(2020, 1, 1) + pd.to_timedelta(place * 11 % 17, unit="D"),
        }
    )
    schema = rwn.Microdata.from_frame(frame).schema
    for name in ("name", "number"):
        schema = schema.replace_variable(name, role=Role.IDENTIFIER)
    return rwn.Microdata.from_frame(frame, schema)


@pytest.mark.parametrize("method", METHODS)
def test_a_release_is_the_exact_one_rounded(method):
    data, params = people(40), METHODS[method]
    exact = rwn.mask(data, params, seed=7)
    coarse = rwn.mask(data, params, precision=STEPS, seed=7)
    assert exact.precision == ()
    assert coarse.precision == (("age", 5.0), ("income", 1000.0))
    assert coarse.masked.frame.equals(rounded(exact.masked, STEPS).frame)
    np.testing.assert_array_equal(coarse.donors, exact.donors)
    np.testing.assert_array_equal(coarse.order, exact.order)
    frame = coarse.published().frame
    assert set(frame["age"].dropna() % 5) == {0}
    assert set(frame["income"].dropna() % 1000) == {0}
    assert frame["town"].equals(exact.published().frame["town"])


def test_no_precision_is_no_rounding():
    data = people(40)
    plain = rwn.mask(data, METHODS["rwn"], seed=7)
    for precision in (None, {}):
        other = rwn.mask(data, METHODS["rwn"], precision=precision, seed=7)
        assert other.to_bytes("parquet") == plain.to_bytes("parquet")
        assert other.law.original is data


def test_the_same_step_is_the_same_release_whatever_its_type():
    data = people(40)
    found = {
        rwn.mask(data, METHODS["rwn"], precision={"age": step}, seed=7).to_bytes("csv")
        for step in (5, 5.0, np.int64(5), np.float32(5))
    }
    assert len(found) == 1


def test_a_method_that_rounds_is_the_method_with_that_precision():
    data, params = people(40), METHODS["rwn"]
    both = Rounded(params=params, precision=(("age", 5.0),))
    release = rwn.mask(data, both, seed=7)
    expected = rwn.mask(data, params, precision={"age": 5}, seed=7)
    assert release.to_bytes("csv") == expected.to_bytes("csv")
    assert (release.params, release.precision) == (params, expected.precision)
    assert unrounded(both) == (params, {"age": 5.0})
    assert Rounded(params=params, precision={"age": np.int64(5)}) == both
    assert len({both, Rounded(params=params, precision={"age": 5})}) == 1
    with pytest.raises(ParameterError, match="above 0"):
        Rounded(params=params, precision={"age": 0})
    wider = rwn.mask(data, both, precision={"age": 10, "income": 50}, seed=7)
    assert dict(wider.precision) == {"age": 10.0, "income": 50.0}


@pytest.mark.parametrize("method", METHODS)
def test_draws_of_a_setting_are_rounded(method):
    data = rwn.load_demo("bodyfat").take(np.arange(60))
    params = rwn.RWN(k=3) if method == "rwn" else rwn.NBRS2015(epsilon=6.0)
    made = Rounded(params=params, precision=(("age", 10.0), ("wrist", 0.5)))
    for number, work in enumerate(draws(data, made, 2, seed=3)):
        masked, law = work.masked, work.law
        expected = rwn.mask(data, made, seed=3 + number)
        assert masked.frame.equals(expected.masked.frame)
        assert set(law.table("age")[1]) <= {None, *np.arange(0.0, 100.0, 10.0).tolist()}
    drawn = ensemble(data, made, repeats=2, measures=["marginals"], seed=3)
    exact = ensemble(data, params, repeats=2, measures=["marginals"], seed=3)
    assert drawn.median("marginals") > exact.median("marginals")


def test_prediction_is_on_rounded_records():
    data = rwn.load_demo("bodyfat")
    made = Rounded(params=rwn.RWN(k=3), precision=tuple((n, 1e6) for n in data.numeric_names[1:]))
    trial = predict_on_holdout(data, made, seed=1, repeats=1)
    assert trial.errors.released[0, 0] > 0.9  # nothing is left to predict with


@pytest.mark.parametrize(
    ("precision", "message"),
    [
        ({"age": 0}, "precision of age must be a number above 0"),
        ({"age": -5}, "above 0"),
        ({"age": float("nan")}, "above 0"),
        ({"age": float("inf")}, "above 0"),
        ({"age": "5"}, "above 0"),
        ({"age": True}, "above 0"),
        ({"age": None}, "above 0"),
        ({"town": 5}, "town is no numeric variable"),
        ({"since": 5}, "since is no numeric variable"),
        ({"number": 5}, "number is no numeric variable"),
        ({"agee": 5}, "agee is no numeric variable"),
    ],
)
def test_a_step_that_cannot_be_used_is_refused_before_the_search(precision, message, monkeypatch):
    params = METHODS["rwn"]
    monkeypatch.setattr(type(params), "prepare", lambda *a, **k: pytest.fail("searched"))
    with pytest.raises(ParameterError, match=message):
        rwn.mask(people(), params, precision=precision)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["age", "income", "town"])
def test_the_law_of_a_rounded_release_is_exact(method, name):
    data = people()
    release = rwn.mask(data, METHODS[method], precision=STEPS, seed=1)
    law, values = release.law, data.frame[name].tolist()
    if name in STEPS:
        numbers = rounded_values(data.values(name), STEPS[name])
        values = [None if np.isnan(number) else float(number) for number in numbers]
    share = Fraction("0.6") if method == "rwn" else Fraction("0.7")
    probabilities, known = law.table(name)
    assert set(known) <= {*values, None}
    for record in range(data.n):
        members = law.neighborhoods.members(record)
        expected = Counter({values[record]: 1 - share})
        for member in members:
            expected[values[member]] += share / len(members)
        if not len(members):
            expected[None] += share
        for value in {*values, None}:
            exact = exact_probability(law, record, name, value)
            assert exact == expected[value]
            assert probability(law, record, name, value) == pytest.approx(float(exact), abs=1e-12)
    np.testing.assert_allclose(np.asarray(probabilities.sum(axis=1)).ravel(), 1.0)


def readings(data: rwn.Microdata, precision: dict[str, float]) -> dict[str, object]:
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=5, q=0.7), precision=precision, seed=5)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    return {key: measure.read(comparison) for key, measure in MEASURES.items()}


def test_a_step_that_leaves_one_value_gives_every_measure_a_value_or_a_reason():
    data = rwn.load_demo("bodyfat").take(np.arange(80))
    coarsest = dict.fromkeys(data.numeric_names, 1e9)
    some = dict.fromkeys(data.numeric_names[:2], 1e9)
    for precision in (some, coarsest):
        found = readings(data, precision)
        for key, reading in found.items():
            if isinstance(reading, Reading):
                assert np.isfinite(reading.value), key
            else:
                assert isinstance(reading, NotApplicable), key
                assert reading.reason.endswith("."), key
    assert found["bayes_linkage"].value == pytest.approx(1 / data.n)
    assert found["marginals"].value > 0.5
