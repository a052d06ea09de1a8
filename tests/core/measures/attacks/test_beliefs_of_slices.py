"""What an intruder believes of donors where variables share one, and no row came about in a way."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.measures.attacks.donor_belief import beliefs
from rwn_core.tuning.slice_presets import preset_slices


@pytest.mark.parametrize("q", [1.0, 0.9])
def test_a_way_that_no_row_came_about_in_adds_nothing(q: float) -> None:
    """The 2015 method at q = 1 keeps no record: nothing is known of that way, and nothing fails."""
    data = rwn.load_demo("bodyfat")
    data = data.with_slices(preset_slices(data, "whole"))
    work = rwn.NBRS2015(epsilon=6.0, q=q).prepare(data).release(rwn.SecretKey.from_seed(1))
    rows, everybody = np.arange(data.n), np.arange(data.n)
    found = beliefs(work.law, work.masked, rows, ("age", "weight"), ("siri",), everybody)
    (shown,) = found.donor
    named = np.asarray(shown.toarray().argmax(axis=0)).ravel()
    some = work.donors[:, 0] >= 0
    # whole rows name their donors
    assert (named[some] == work.donors[some, 0]).mean() > 0.95
