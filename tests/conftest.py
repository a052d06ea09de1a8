"""What several test folders share: the worked example E1 and the key that tests draw from."""

from __future__ import annotations

import os
import secrets

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from rwn_core.data.microdata import Microdata

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fresh" if "RWN_TEST_SEED" in os.environ else "repeatable")

KEY_BASE = os.environ.get("RWN_TEST_SEED", "rwn")
if KEY_BASE == "any":
    KEY_BASE = secrets.token_hex(16)


def pytest_report_header() -> str:
    """Show what a failure needs to be repeated."""
    return f"RWN_TEST_SEED={KEY_BASE}"


@pytest.fixture(scope="session")
def key_base() -> str:
    """What the keys of the statistical tests are made from; RWN_TEST_SEED, if it is set."""
    return KEY_BASE


@pytest.fixture(scope="session")
def e1_points() -> np.ndarray:
    """The records of the worked example E1 as unscaled points, shape (6, 2)."""
    return np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [10, 0], [11, 1]])


@pytest.fixture(scope="session")
def e1(e1_points: np.ndarray) -> Microdata:
    """The worked example E1: six records of two variables, x and y."""
    return Microdata.from_frame(pd.DataFrame(e1_points, columns=["x", "y"]))
