"""The worst case is the best of three attacks, and is called so only where all were tried."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.errors import NotApplicable
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison

SEEDS = 4
CASES = {
    # table, k, rounded to so many standard deviations: one row at a time, all at once
    "bodyfat 50": ("bodyfat", 50, 0.0, 0.732, 0.908),
    "pima 25": ("pima", 25, 0.0, 0.680, 0.845),
    "bodyfat 10, rounded": ("bodyfat", 10, 0.5, 0.628, 0.767),
}


def released(data: Microdata, params, seed: int, share: float = 0.0) -> Comparison:
    release = mask(data, params, seed=seed)
    steps = given_steps(data, share)
    return Comparison(
        original=data, masked=rounded(release.masked, steps), law=release.law.rounded(steps)
    )


@pytest.mark.parametrize("case", CASES)
def test_the_whole_file_at_once_links_more_where_it_did_not_count(case, request):
    name, k, share, before, after = CASES[case]
    data = request.getfixturevalue(name)
    readings = [
        MEASURES["bayes_linkage"].compute(released(data, RWN(epsilon=0.0, k=k), seed, share))
        for seed in range(SEEDS)
    ]
    alone = np.mean([reading.detail.row_by_row for reading in readings])
    best = np.mean([reading.detail.at_once for reading in readings])
    error = np.sqrt(after * (1 - after) / (SEEDS * data.n))
    assert alone == pytest.approx(before, abs=3 * error)
    assert best == pytest.approx(after, abs=3 * error)
    assert abs(alone - after) > 3 * error  # row by row only would be caught
    assert {reading.detail.attack for reading in readings} <= {"file", "weighed"}
    assert all(reading.value >= reading.detail.at_once for reading in readings)
    assert {reading.detail.standing for reading in readings} == {"worst"}


def test_E1_by_hand_and_by_trying_all_assignments(e1, e1_law, e1_rows):
    """Rows 2 and 3 are equal, as are 1 and 4: they change places at random."""
    law = e1_law(0.5)
    masked = e1_rows([[0, 0], [1, 0], [1, 0], [0, 0], [10, 0], [11, 1]])
    found = worst_case(Comparison(original=e1, masked=masked, law=law))
    # products of the possible links of 1 to 4: 1 and 4 take (0, 0) twice, 2 and 3 (1, 0) twice
    likelihood = posteriors(law, masked, np.arange(6)).toarray().T
    weight = {
        order: np.prod(likelihood[np.arange(6), list(order)]) for order in permutations(range(6))
    }
    best = [order for order, w in weight.items() if w == pytest.approx(max(weight.values()))]
    right = np.mean([np.mean(np.array(order) == np.arange(6)) for order in best])
    assert found.matched == pytest.approx(right) == pytest.approx(4 / 6)
    expected = (9 / 23 * 2 + 8 / 17 * 2 + 3 / 4 + 4 / 5) / 6
    assert found.links.success == pytest.approx(expected)
    assert found.success == pytest.approx(4 / 6)
    assert (found.detail.attack, found.earned) == ("file", True)


PARAMS = {
    "kept in part": RWN(epsilon=2.0, k=5, q=0.5),
    "2015": NBRS2015(epsilon=2.0, q=0.5),
    "uninformative": RWN(epsilon=50.0, k=5),
}


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_with_missing_values_and_other_laws(params):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60).round(0)})
    frame["sex"] = rng.choice(["f", "m"], 60)
    frame.loc[rng.random(60) < 0.15, ["x"]] = np.nan
    data = Microdata.from_frame(frame)
    comparison = released(data, params, 1)
    found = worst_case(comparison)
    assert found.earned
    assert found.success == max(found.links.success, found.matched, found.joint_success)
    assert sorted(found.linked) == list(range(60))
    of_some = worst_case(comparison, ["x"])
    assert of_some.earned
    assert worst_case(comparison, ["x"]) is of_some  # computed once


@pytest.fixture
def too_large(monkeypatch):
    """No block of more than two records is assigned."""
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 2)


def test_above_the_affordable_size_it_is_at_least_and_an_estimate(request, too_large):
    name, k, share, before, after = CASES["bodyfat 50"]
    data = request.getfixturevalue(name)
    comparison = released(data, RWN(epsilon=0.0, k=k), 1, share)
    for key in ("bayes_linkage", "intruder_levels"):
        measure = MEASURES[key]
        reading = measure.compute(comparison)
        words = measure.sentence(reading, data.n)
        assert reading.value == reading.detail.row_by_row
        assert reading.detail.standing == "at least"
        assert "at least" in words
        assert "an estimate" in words
        assert "worst" not in words + measure.reading_title(reading)
    found = MEASURES["bayes_linkage"].compute(comparison).detail
    assert found.row_by_row == pytest.approx(before, abs=0.05)
    assert found.estimate == pytest.approx(after, abs=0.08)
    assert found.estimate > found.row_by_row + 0.05


def test_a_sample_of_rows_is_at_least(pima):
    comparison = released(pima, RWN(epsilon=2.0, k=5), 1)
    found = worst_case(comparison, work=200 * pima.n)
    assert found.links.sampled
    assert (found.matched, found.joint_success, found.earned) == (None, None, False)


def test_a_title_claims_a_worst_case_only_where_it_is_one():
    measure = MEASURES["bayes_linkage"]
    assert measure.title_for(1500) == measure.title == "Worst-case linkage"
    assert measure.title_for(1501) == measure.at_least == "Linkage, at least"
    assert measure.reading_title(NotApplicable("No law.")) == measure.title
    assert MEASURES["correlation"].title_for(10**6) == MEASURES["correlation"].title
