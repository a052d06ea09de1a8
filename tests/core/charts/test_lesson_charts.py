"""The pictures of the lessons: each shows its numbers, and moves with them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.charts import CHARTS, serialise
from rwn_core.charts.parts.style import EPSILON, NEUTRAL, ORIGINAL, RELEASED
from rwn_core.evaluation.lessons import intruder, k_methods, neighborhood, sampling, theorem
from rwn_core.evaluation.lessons import standard_errors as errors
from rwn_core.evaluation.lessons.densities import points_of
from rwn_core.randomness import SecretKey


def the_theorem(epsilon: float = 0.8) -> theorem.Theorem:
    table = rwn.RWN(epsilon=epsilon, k=1).prepare(points_of("normal", 60))
    return theorem.theorem(table, record=6)


def the_intruder(known: int = 3) -> intruder.Intruder:
    table = rwn.RWN(epsilon=0.0, k=5).prepare(rwn.load_demo("bodyfat"))
    return intruder.intruder(table.release(SecretKey.from_seed(1)), row=0, known=known)


def the_neighborhood(record: int, weight: float = 0.1) -> neighborhood.Neighborhood:
    table = rwn.RWN(epsilon=0.6, k=5).prepare(neighborhood.table(weight))
    return neighborhood.neighborhood(table, record=record)


def the_errors() -> errors.StandardErrors:
    slope, error = np.array([1.0, 2.0, 1.1]), np.array([0.2, 0.3, 0.1])
    side = errors.Slopes(slope=slope, error=error)
    return errors.StandardErrors(original=side, released=side)


def all_charts() -> dict[str, Any]:
    ages = k_methods.table(k_methods.TABLES[0])
    return {
        "theorem": CHARTS["lesson_theorem"](the_theorem()),
        "intruder": CHARTS["lesson_intruder"](the_intruder()),
        "neighborhood": CHARTS["lesson_neighborhood"](the_neighborhood(19)),
        "standard_errors": CHARTS["lesson_standard_errors"](the_errors()),
        "k_methods": CHARTS["lesson_k_methods"](k_methods.k_methods(ages, k=10)),
        "k_values": CHARTS["lesson_k_values"](k_methods.k_methods(ages, k=10)),
        "k_near": CHARTS["lesson_k_near"](k_methods.near_released(ages, k=10)),
        "sampling": CHARTS["lesson_sampling"](
            sampling.sampling(fraction=0.02, keys=11, change=0.2)
        ),
    }


def test_each_keeps_what_every_chart_keeps() -> None:
    for key, drawn in all_charts().items():
        assert drawn["key"] == f"lesson_{key}"
        parsed = json.loads(serialise(drawn), parse_constant=pytest.fail)
        table = json.loads(parsed["table"])
        assert table["rows"]
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
        assert len(drawn["alt"].split()) >= 5
        assert not drawn["alt"].endswith(".")
        for name in ("xaxis", "yaxis"):
            axis = drawn["layout"][name]
            assert len(axis["tickvals"]) == len(axis["ticktext"]) > 0
            assert axis["automargin"] is False
        for trace in drawn["data"]:
            if "markers" in trace.get("mode", ""):
                color, symbol = trace["marker"]["color"], trace["marker"]["symbol"]
                assert color in {ORIGINAL, RELEASED, NEUTRAL}
                assert symbol.endswith("-open") == (color != RELEASED)


def traces(drawn: Any) -> dict[str, Any]:
    return {trace["name"]: trace for trace in drawn["data"]}


def test_the_ball_is_as_large_as_epsilon_on_axes_of_one_unit() -> None:
    lesson = the_theorem(0.9)
    drawn = CHARTS["lesson_theorem"](lesson)
    ball = traces(drawn)["the ball"]
    center = lesson.original[6]
    away = np.hypot(np.asarray(ball["x"]) - center[0], np.asarray(ball["y"]) - center[1])
    np.testing.assert_allclose(away, 0.9, rtol=1e-5)
    assert drawn["layout"]["yaxis"]["scaleanchor"] == "x"
    shown = traces(drawn)["released as (U, V)"]
    u, v = lesson.original[lesson.donors[0], 0], lesson.original[lesson.donors[1], 1]
    np.testing.assert_allclose([shown["x"][0], shown["y"][0]], [u, v], rtol=1e-6)


def test_the_true_source_is_told_only_when_it_is_asked_for() -> None:
    lesson = the_intruder()
    hidden, told = (CHARTS["lesson_intruder"](lesson, answered) for answered in (False, True))
    assert hidden["layout"]["annotations"] == []
    assert [note["text"] for note in told["layout"]["annotations"]] == ["the true source"]
    colors = [trace["marker"]["color"] for trace in hidden["data"]]
    assert len(set(colors)) == 1
    assert [float(trace["x"][0]) for trace in hidden["data"]] == pytest.approx(list(lesson.belief))
    assert f"{lesson.candidates} possible" in hidden["note"]


def test_the_other_group_s_circle_shrinks_with_the_weight_and_k_s_is_the_outlier_s() -> None:
    names = traces(CHARTS["lesson_neighborhood"](the_neighborhood(19)))
    inner = names["the other group must be in here"]
    radius = np.ptp(np.asarray(inner["x"])) / 2
    lesson = the_neighborhood(19)
    assert radius == pytest.approx(np.sqrt(0.6**2 - lesson.apart**2), rel=1e-3)
    far = CHARTS["lesson_neighborhood"](the_neighborhood(neighborhood.OUTLIER, weight=1.0))
    assert "the other group must be in here" not in traces(far)
    assert far["note"] == "5 donors · k decides"
    donors = [trace for name, trace in traces(far).items() if name.endswith("donors")]
    assert sum(len(trace["x"]) for trace in donors) == 5


def test_intervals_that_miss_the_truth_are_counted_and_red() -> None:
    drawn = CHARTS["lesson_standard_errors"](the_errors())
    assert drawn["note"] == "1 of 3 miss it"
    missed = traces(drawn)["misses the truth"]
    assert missed["line"]["color"] == EPSILON
    np.testing.assert_allclose(missed["x"][:2], [2 - 1.96 * 0.3, 2 + 1.96 * 0.3], rtol=1e-6)


def test_the_ages_before_and_after_are_counted_in_the_same_bins() -> None:
    lesson = k_methods.k_methods(k_methods.table(k_methods.TABLES[0]), k=10)
    drawn = CHARTS["lesson_k_values"](lesson)
    counts = np.array([row[2:] for row in drawn["table"]["rows"]])
    np.testing.assert_array_equal(counts.sum(axis=0), [241, 241, 241])
    true = lesson.values
    beyond = ((lesson.noisy < true.min()) | (lesson.noisy > true.max())).sum()
    assert drawn["note"] == f"{beyond} beyond the range"
    assert 0 < beyond < 30
    assert set(lesson.drawn) <= set(true)
