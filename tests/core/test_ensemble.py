from __future__ import annotations

import pickle

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.ensemble import ensemble
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import NBRS2015
from rwn_core.measures import MEASURES
from rwn_core.reading import Reading

KEYS = ["correlation", "regression", "principal_components", "prediction"]


@pytest.fixture(scope="module")
def drawn():
    data = rwn.load_demo("bodyfat")
    told: list[float] = []
    made = ensemble(
        data, rwn.RWN(epsilon=2.0, k=5), repeats=12, measures=KEYS, seed=4, progress=told.append
    )
    return data, made, told


def test_each_draw_is_the_release_of_its_seed(drawn):
    data, made, _ = drawn
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=6)
    reading = rwn.audit(data, release, measures=["correlation"])["correlation"]
    assert made.values["correlation"][2] == pytest.approx(reading.value, rel=1e-12)


def test_median_and_interval(drawn):
    _, made, _ = drawn
    low, high = made.interval("correlation")
    values = made.values["correlation"]
    assert len(values) == made.repeats == 12
    assert values.min() <= low < made.median("correlation") < high <= values.max()
    reading = made.reading("correlation")
    assert isinstance(reading, Reading)
    assert reading.interval == (low, high)


def test_progress_ends_at_one(drawn):
    assert drawn[2][-1] == 1.0
    assert len(drawn[2]) == 12


def test_parts_hold_small_arrays_of_every_draw(drawn):
    _, made, _ = drawn
    assert made.parts["regression"]["coefficient_released"].shape == (12, 6)
    assert made.parts["principal_components"]["share_released"].shape[0] == 12


def test_a_measure_without_an_answer_keeps_its_reason(drawn):
    _, made, _ = drawn
    assert isinstance(made.reading("prediction"), NotApplicable)
    frame = made.frame().set_index("measure")
    assert "held-out" in frame.loc["prediction", "not_applicable"]
    assert frame.loc["correlation", "draws"] == 12


def test_it_travels_between_processes(drawn):
    _, made, _ = drawn
    other = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(other.values["correlation"], made.values["correlation"])


def test_any_method_and_every_utility_measure():
    data = rwn.load_demo("pima").take(np.arange(120))
    keys = [key for key, measure in MEASURES.items() if measure.side == "utility"]
    made = ensemble(data, NBRS2015(epsilon=3.0), repeats=2, measures=keys, seed=1)
    for key in keys:
        assert key in made.values or made.reasons[key].endswith(".")


def test_refusals():
    data = rwn.load_demo("bodyfat")
    with pytest.raises(ParameterError, match="repeats"):
        ensemble(data, rwn.RWN(k=5), repeats=1)
    with pytest.raises(ParameterError, match="no measure nothing"):
        ensemble(data, rwn.RWN(k=5), measures=["nothing"])
