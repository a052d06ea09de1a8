"""Shares are of the rows that leave: lost and left-out rows dilute nothing (finding A5)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import NBRS2015, LocalSuppression, RandomSample, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.assignment import all_rows, blocks
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Reading
from rwn_core.tuning.policy import Policy

SURE = (  # of a file in which every row is a true row of one person
    *("bayes_linkage", "linked_over_half", "intruder_levels", "whole_file_linkage"),
    *("abstaining_linkage", "distance_linkage", "global_linkage", "interval_disclosure"),
    *("attribute_inference", "uniqueness", "k_anonymity", "l_diversity", "suda"),
    "replicated_uniques",
)
BEYOND = ("attribute_gain", "true_matches", "linkability", "inference")  # beyond a guess
OF_PEOPLE = {
    # chances of people, not shares of rows: who is left out is part of the chance
    *("membership", "extremes", "queries", "differential_privacy", "misclassification"),
    *("repeated_releases", "homogeneity", "neighborhood_size", "cells_changed"),
    "posterior_odds",
    # of rows that are complete in both files, of attacks, or of no share
    *("mahalanobis_linkage", "singling_out", "closest_record", "nearest_distance"),
    *("cooks_distance", "mahalanobis"),
}


def table(n: int, seed: int = 3) -> Microdata:
    """Three keys and a confidential number, all with many values."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(draw.normal(50, 9, size=(n, 3)), columns=["a", "b", "c"])
    frame["s"] = draw.normal(100, 20, n).round(1)
    data = Microdata.from_frame(frame)
    schema = data.schema
    for name in ("a", "b", "c"):
        schema = schema.replace_variable(name, role=Role.KEY)
    return data.with_schema(schema.replace_variable("s", role=Role.CONFIDENTIAL))


def sampled(n: int, left_out: float) -> Comparison:
    data = table(n)
    release = mask(data, RandomSample(left_out=left_out), seed=1)
    return Comparison(original=data, masked=release.masked, law=release.law)


@pytest.mark.parametrize(("n", "left_out"), [(1000, 0.96), (400, 0.97)])
def test_a_sample_of_true_rows_breaks_the_limits(n: int, left_out: float) -> None:
    comparison, policy = sampled(n, left_out), Policy()
    readings = {key: MEASURES[key].read(comparison) for key in policy.measures}
    linkage = readings["bayes_linkage"]
    assert isinstance(linkage, Reading)
    assert linkage.value == pytest.approx(1.0)
    assert linkage.value * (1 - left_out) <= 0.05  # what a share of all records would say
    assert linkage.released_share == pytest.approx(1 - left_out, abs=1 / n)
    verdict = policy.judge(readings)
    assert not verdict.kept
    assert {"bayes_linkage", "linked_over_half"} <= set(verdict.broken)
    rows = round(n * (1 - left_out))
    said = MEASURES["bayes_linkage"].sentence(linkage, n)
    assert f"{rows} of {rows} records" in said
    assert f"Only {rows:,} of {n:,} records" in said


@pytest.mark.parametrize("key", SURE)
def test_what_is_sure_of_every_row_is_sure_of_a_sample(key: str) -> None:
    for left_out in (0.5, 0.95):
        reading = MEASURES[key].read(sampled(400, left_out))
        assert isinstance(reading, Reading)
        assert reading.value > 0.95


@pytest.mark.parametrize("key", BEYOND)
def test_what_is_learned_does_not_shrink_with_the_sample(key: str) -> None:
    whole, part = (MEASURES[key].read(sampled(600, share)) for share in (0.0, 0.9))
    assert isinstance(whole, Reading)
    assert isinstance(part, Reading)
    assert part.value > 0.8 * whole.value > 0.5  # a share of all records would be a tenth of it


def test_every_measure_of_risk_says_of_what_its_share_is() -> None:
    """A new measure is a share of the rows that leave, or stands in the list with its reason."""
    risks = {key for key, measure in MEASURES.items() if measure.side == "risk"}
    of_released = {key for key in risks if MEASURES[key].of_released}
    assert of_released | OF_PEOPLE == risks
    assert not of_released & OF_PEOPLE


@pytest.mark.parametrize("params", [NBRS2015(epsilon=0.6, q=1.0), RandomSample(left_out=0.5)])
def test_right_links_are_counted_among_the_rows_that_leave(params: object) -> None:
    """An independent count: the best belief of each row that leaves, from the posteriors."""
    data = table(250)
    release = mask(data, params, seed=2)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    leaves = ~release.masked.frame.isna().all(axis=1).to_numpy()
    assert 0 < leaves.sum() < data.n
    belief = posteriors(release.law, release.masked, np.arange(data.n)).toarray()
    by_hand = belief.max(axis=0)[leaves].mean()
    reading = MEASURES["bayes_linkage"].read(comparison)
    assert isinstance(reading, Reading)
    assert reading.detail.row_by_row == pytest.approx(by_hand)
    assert reading.detail.row_by_row != pytest.approx(belief.max(axis=0).mean(), rel=0.05)
    np.testing.assert_array_equal(reading.detail.records, np.flatnonzero(leaves))
    assert reading.detail.top1 <= 1.0


def test_all_rows_together_count_the_same_rows() -> None:
    """With the truth certain for rows that leave and unknown for the others: all, not a part."""
    comparison = sampled(60, 0.5)
    belief = posteriors(comparison.law, comparison.masked, np.arange(60))
    leaves = np.isin(np.arange(60), released_rows(comparison.original, comparison.masked))
    share, truth = all_rows(belief, blocks(belief), leaves=leaves)
    assert share == pytest.approx(1.0)
    np.testing.assert_allclose(truth[leaves], 1.0)
    assert all_rows(belief, blocks(belief))[0] < 0.6  # among all rows, as before


def test_a_row_with_one_value_left_is_a_row_that_leaves() -> None:
    data = table(40)
    release = mask(data, LocalSuppression(k=2), seed=1)
    rows = released_rows(data, release.masked)
    assert len(rows) == data.n  # the confidential value stays
    empty = data.frame.copy()
    empty.iloc[3:5] = np.nan
    missing = Microdata(empty, data.schema)
    assert released_rows(data, missing).tolist() == [*range(3), *range(5, 40)]
    assert len(released_rows(missing, missing)) == 40  # nothing was lost
    everything = Microdata(data.frame * np.nan, data.schema)
    assert len(released_rows(data, everything)) == 40  # nothing is in such a file
