"""A table with a column of every type, and missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd

BASE = pd.DataFrame(
    {
        "x": [1.5, np.nan, 3.0],
        "i": pd.array([1, None, 3], dtype="Int64"),
        "t": ["a", None, "b"],
        "c": pd.Categorical(["a", "b", "b"]),
        "d": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        "b": [True, False, True],
    }
)
