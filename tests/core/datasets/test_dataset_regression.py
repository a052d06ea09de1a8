"""Least squares of a dataset from its sums, against those of its records."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.data.question import Question
from rwn_core.datasets.column_sums import ColumnStatistics
from rwn_core.datasets.dataset_regression import coefficients, standard_errors
from rwn_core.datasets.dataset_statistics import DatasetStatistics
from rwn_core.errors import NotApplicable


def found(**columns: np.ndarray) -> DatasetStatistics:
    values = np.column_stack(list(columns.values()))
    n = len(values)
    return DatasetStatistics(
        n=n,
        columns={
            name: ColumnStatistics(
                count=int(np.isfinite(each).sum()),
                mean=float(each.mean()),
                sd=1,
                least=0,
                greatest=1,
            )
            for name, each in columns.items()
        },
        levels={},
        numeric=tuple(columns),
        covariance=np.cov(values, rowvar=False),
        correlation=np.corrcoef(values, rowvar=False),
        bins=np.zeros((len(columns), 1), dtype=np.int64),
    )


def test_slopes_and_their_errors_are_those_of_the_records() -> None:
    numbers = np.random.default_rng(3)
    x, z = 1e6 + 1e3 * numbers.normal(size=50), 1e-3 * numbers.normal(size=50)
    y = 5 + 2e-3 * x - 400 * z + numbers.normal(size=50)
    statistics = found(x=x, z=z, y=y)
    question = Question(response="y", predictors=("x", "z"))
    design = np.column_stack([np.ones(50), x - x.mean(), z])
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    rest = y - design @ beta
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (rest @ rest) / 47)
    slopes = coefficients(statistics, question)
    assert [slopes["x"], slopes["z"]] == pytest.approx(beta[1:], rel=1e-8)
    assert slopes["intercept"] == pytest.approx(beta[0] - slopes["x"] * x.mean(), rel=1e-8)
    assert standard_errors(statistics, question) == pytest.approx(errors[1:], rel=1e-8)


def test_there_is_not_always_an_answer() -> None:
    x = np.arange(20.0)
    y = np.sin(x)
    cases = {
        "follow from each other": (found(x=x, z=3 - 2 * x, y=y), ("x", "z")),
        "exactly": (found(x=x, y=7 - 2 * x), ("x",)),
        "missing values": (found(x=np.where(x == 4, np.nan, x), y=y), ("x",)),
        "continuous or count": (found(x=x, y=y), ("place",)),
        "fewer": (found(x=x[:2], y=y[:2]), ("x",)),
    }
    for reason, (statistics, predictors) in cases.items():
        with pytest.raises(NotApplicable, match=reason):
            standard_errors(statistics, Question(response="y", predictors=predictors))
