"""The share of relations kept, and intervals, on files that mislead a measure."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.valid_intervals import FACTOR, valid_intervals
from rwn_core.measures.comparison import Comparison
from rwn_core.reporting.readers import rwn_claims
from tests.core.measures.attacks.attribute_tables import released as release
from tests.tables import described

N = 160
APART = rwn.SoftRWN(kernel="gaussian", width=1.0, balance=1.0, own=True, cap=0.5)
WAYS = {
    "apart": APART,
    "chained": replace(APART, chain=True, later=10),
    "tied": replace(APART, tie=True),
}
FOLLOWING = ["chained", "tied"]
SLICES = [["x", "w"], ["y", "z"]]


def people(seed=0, n=N):
    """Two pairs of related numbers that are related with each other, and a rare flag."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=n)
    frame = pd.DataFrame({"x": x, "w": x + 0.5 * draw.normal(size=n)})
    frame["y"] = x + 0.4 * draw.normal(size=n)
    frame["z"] = frame["y"] - 0.5 * draw.normal(size=n)
    frame["flag"] = np.where(draw.permutation(n) < 4, "yes", "no")
    return frame


def released(frame, way, *, seed=1, **roles):
    """Return the comparison of a release whose slices are drawn in this way."""
    return release(described(frame, slices=SLICES, **roles), WAYS[way], seed)


@cache
def usual(way, seed=1):
    return released(people(), way, seed=seed)


def loss(compared):
    return rwn.MEASURES["association_loss"].read(compared).value


def reader(compared, factor=FACTOR):
    """Return the reader that an analyst has."""
    judged = valid_intervals(compared.original, compared.law, compared.masked.n)
    assert judged["refusal"] == ""
    about = {"refusal": "", "slices": judged["slices"], "factor": factor}
    columns = {name: compared.masked.frame[name].tolist() for name in compared.masked.frame}
    return rwn_claims.Survey(columns, {"variables": (), "intervals": about})


def interval(compared, model):
    """Return estimate and ends."""
    (row,) = reader(compared).interval(model, "linear").rows
    return row.estimate, *row.interval


def test_the_unmasked_file_keeps_all_and_claims_nothing():
    data = usual("apart").original
    same = Comparison(original=data, masked=data)
    assert loss(same) == 0.0
    assert valid_intervals(data, None, N)["refusal"] == "drift"


@pytest.mark.parametrize("way", FOLLOWING)
def test_slices_that_follow_each_other_keep_more(way):
    # also with what drawing apart is: the planted fault would read the same
    lost = [np.mean([loss(usual(each, seed)) for seed in (1, 2, 3)]) for each in ("apart", way)]
    assert lost[1] < lost[0] - 0.03
    shuffled = usual(way).masked.frame.copy()
    shuffled["y"], shuffled["z"] = shuffled["y"].to_numpy()[::-1], shuffled["z"].to_numpy()[::-1]
    masked = rwn.Microdata.from_frame(shuffled, usual(way).masked.schema)
    assert loss(Comparison(original=usual(way).original, masked=masked)) > lost[1] + 0.2


@pytest.mark.parametrize("way", WAYS)
def test_a_rare_level_is_counted_as_often_on_average(way):
    counts = [(usual(way, seed).masked.frame["flag"] == "yes").sum() for seed in range(1, 13)]
    assert abs(np.mean(counts) - 4) < 4 * np.sqrt(4 / 12)
    estimate, low, high = interval(usual(way), "share(flag = yes)")
    assert 0 <= low < estimate <= high < 0.15  # never a width of 0 where few or none appear


@pytest.mark.parametrize("way", WAYS)
def test_units_do_not_matter(way):
    wide = people()
    wide["x"], wide["y"] = 2.0**20 * wide["x"], wide["y"] / 2.0**10
    other = released(wide, way)
    assert loss(other) == pytest.approx(loss(usual(way)), abs=1e-9)
    one, two = interval(usual(way), "mean(x)"), interval(other, "mean(x)")
    np.testing.assert_allclose(np.array(two) / 2.0**20, one, rtol=1e-9)
    if way == "tied":
        kept = [each.law.tied.fitted.kept for each in (usual(way), other)]
        assert kept[0] == pytest.approx(kept[1], abs=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_a_second_release_differs_by_what_the_interval_allows(way):
    means = np.array([usual(way, seed).masked.frame["z"].mean() for seed in range(1, 25)])
    _, low, high = interval(usual(way), "mean(z)")
    sampling = people()["z"].var() / N
    assert means.var(ddof=1) < 1.9 * sampling  # masking adds at most as much as sampling did
    assert abs(means.mean() - people()["z"].mean()) < 4 * np.sqrt(sampling / 24)
    assert high - low > 2 * 1.96 * np.sqrt(sampling)
    # a drift is found: without balance means move to where records are dense
    data = usual(way).original
    drifting = rwn.mask(data, replace(WAYS[way], balance=0.0), seed=1).law
    assert valid_intervals(data, drifting, N)["refusal"] == "drift"


def test_intervals_hold_inside_a_later_slice_of_a_balanced_chain():
    # samples of one population; `python -m benchmarks intervals` has real tables
    population = people(seed=5, n=4000)
    models = ("mean(z)", "z ~ y", "median(y)")
    slope = np.polyfit(population["y"], population["z"], 1)[0]
    truth = (population["z"].mean(), slope, population["y"].median())
    chained, held = replace(WAYS["chained"], order=("x",)), {FACTOR: [], 1.0: []}
    for seed in range(60):
        sample = population.sample(N, random_state=seed).drop(columns="flag").reset_index(drop=True)
        data = described(sample, slices=SLICES)
        made = release(data, chained, seed)
        assert next(iter(made.law.later)) == "y"
        for factor, inside in held.items():
            read = reader(made, factor)
            ends = [read.interval(model, "linear").rows[-1].interval for model in models]
            each = zip(ends, truth, strict=True)
            inside.append([low <= true <= high for (low, high), true in each])
    coverage = {factor: np.mean(inside, axis=0) for factor, inside in held.items()}
    assert min(coverage[FACTOR]) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 60)
    assert np.mean(coverage[FACTOR]) > 0.93
    # planted fault: printed intervals, without the factor
    assert np.mean(coverage[1.0]) < 0.91
    plain = rwn.mask(data, replace(chained, later_balance=False), seed=1)
    assert valid_intervals(data, plain.law, N)["slices"] == [["x", "w"]]
