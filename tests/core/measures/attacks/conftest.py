"""What the tests of the intruder share: E1's law and releases, and published check values."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core
from rwn_core import Microdata, find_neighborhoods
from rwn_core.laws.cell_law import CellLaw
from tests.check_values import check_values

MakeLaw = Callable[[float], CellLaw]


@pytest.fixture(scope="session", name="check_values")
def expected_check_values() -> dict[str, Any]:
    """Expected values by id."""
    return {id_: entry["expected"] for id_, entry in check_values("risk").items()}


@pytest.fixture
def e1_law(e1: Microdata, e1_points: np.ndarray) -> MakeLaw:
    """The law of E1 at epsilon 1 and k 2, for a modification probability."""
    neighborhoods = find_neighborhoods(e1_points, k=2, epsilon=1.0)
    return lambda q: CellLaw(e1, neighborhoods, np.full(2, q))


@pytest.fixture
def e1_rows() -> Callable[[Any], Microdata]:
    """A released table of E1 from its rows."""

    def make(rows: Any) -> Microdata:
        frame = pd.DataFrame(np.asarray(rows, dtype=float), columns=["x", "y"])
        schema = Microdata.from_frame(frame if len(frame) > 1 else pd.concat([frame] * 2)).schema
        return Microdata(frame, schema)

    return make


@cache
def demo(name: str) -> Microdata:
    """A demo table, read once."""
    return rwn_core.load_demo(name)


@pytest.fixture(scope="session")
def bodyfat() -> Microdata:
    return demo("bodyfat")


@pytest.fixture(scope="session")
def pima() -> Microdata:
    return demo("pima")
