"""What the tests of the measures share: comparisons from frames, and published check values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core import Comparison, Microdata, Question
from tests.check_values import check_values

Compare = Callable[..., Comparison]


@pytest.fixture
def compare() -> Compare:
    """A comparison of two frames; `response` and `predictors` make its question."""

    def make(
        original: pd.DataFrame,
        masked: pd.DataFrame,
        response: str | None = None,
        predictors: tuple[str, ...] = (),
        **others: Any,
    ) -> Comparison:
        before = Microdata.from_frame(original)
        # as a masking method builds it: without the gate, so that columns may lose all values
        after = Microdata(masked.reset_index(drop=True), before.schema)
        question = None
        if response is not None:
            question = Question(response=response, predictors=predictors)
        return Comparison(original=before, masked=after, question=question, **others)

    return make


@pytest.fixture(scope="session", name="check_values")
def measure_check_values() -> dict[str, Any]:
    """Published check values by id."""
    return check_values("measure")


@pytest.fixture(scope="session")
def ut_frames(check_values: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The six records of the UT check values, original and released."""
    given = check_values["UT-corr"]["input"]
    return tuple(pd.DataFrame(given[side], columns=["one", "two"]) for side in ("X", "Y"))


@pytest.fixture(scope="session")
def numeric_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sixty correlated records of four variables, and a release of them with noise."""
    rng = np.random.default_rng(20220615)
    shared = rng.normal(size=(60, 1))
    values = shared + rng.normal(size=(60, 4)) * [0.5, 1.0, 2.0, 0.7] + [0.0, 100.0, -5.0, 3.0]
    original = pd.DataFrame(values, columns=["a", "b", "c", "d"])
    noise = rng.normal(scale=0.4, size=values.shape)
    return original, original + noise
