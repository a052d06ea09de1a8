"""The lesson on the analyst's side: its claims hold over fresh releases, its tie is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.lessons import analyst as lesson
from rwn_core.evaluation.lessons.standard_errors import TRUTH, sample
from rwn_core.evaluation.validity import Regression

SAMPLES = 150  # of the population
FRESH = 100  # releases that did not judge the claims
SETTING = rwn.RWN(epsilon=0.0, k=5)


def fresh(data: rwn.Microdata) -> np.ndarray:
    """Slopes and standard errors of fresh releases, shape (m, 2, t)."""
    model = Regression(data, data.schema.question)
    seeds = range(1_000, 1_000 + FRESH)
    fits = [model.fit(rwn.mask(data, SETTING, seed=seed).masked) for seed in seeds]
    return np.array(fits)[:, :, 1:]


def test_intervals_with_the_factor_hold_the_population_s_slope_and_printed_ones_do_not() -> None:
    found = lesson.analyst(lesson.table(sample(0)), SETTING)
    factors = np.array(found.factors, dtype=float)
    fits = []
    for number in range(1, SAMPLES + 1):
        data = lesson.table(sample(number))
        model = Regression(data, data.schema.question)
        fits.append(model.fit(rwn.mask(data, SETTING, seed=number).masked))
    reach = found.reach
    slopes, errors = np.array(fits)[:, :, 1:].transpose(1, 0, 2)
    printed, corrected = (
        (np.abs(slopes - TRUTH) <= reach * factor * errors).mean() for factor in (1.0, factors)
    )
    assert corrected > 0.93
    assert printed < 0.9  # so that the factor has something to do


def test_two_measurements_of_x1_are_refused_though_the_masked_file_prints_short_intervals() -> None:
    data = lesson.table(sample(0), tied=True)
    found = lesson.analyst(data, SETTING)
    design = np.column_stack([np.ones(data.n), data.matrix(list(data.schema.question.predictors))])
    own = np.linalg.lstsq(design, data.values("y"), rcond=None)[0]
    np.testing.assert_allclose(found.original[0], own[1:], rtol=1e-6)
    assert found.factors == (None,) * 4
    assert "collinear" in found.claims.refusal
    assert found.released[1].max() < found.original[1, 0] / 10  # "very wide" against "short"
    # no multiplication by any factor of the table would hold the original's slope
    slopes, errors = fresh(data).transpose(1, 0, 2)
    held = np.abs(slopes[:, 0] - found.original[0, 0]) <= 3 * found.reach * errors[:, 0]
    assert held.mean() < 0.5


def test_a_release_without_an_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    data = lesson.table(sample(0))
    constant = rwn.Microdata.from_frame(data.frame.assign(x1=0.0), data.schema)
    monkeypatch.setattr(lesson, "mask", lambda *_, **__: SimpleNamespace(masked=constant))
    with pytest.raises(NotApplicable, match="in the release"):
        lesson.analyst(data, SETTING)


def test_the_change_of_a_slope_stays_within_its_bound_in_fresh_releases() -> None:
    data = lesson.table(sample(0))
    found = lesson.analyst(data, SETTING)
    change = np.abs(fresh(data)[:, 0] - found.original[0]) / found.original[1]
    within = np.array([claim.within_standard_errors for claim in found.claims.claims])
    assert (change <= within).mean(axis=0).min() >= 0.9
