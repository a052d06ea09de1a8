"""A table of related variables, with key and confidential roles."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rwn_core import Microdata
from tests.tables import described


def related(n: int, seed: int) -> Microdata:
    """Records of one population: five numbers, of which one is confidential."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 5)) + rng.normal(size=(n, 1))
    frame = pd.DataFrame(values, columns=["a", "b", "c", "d", "s"])
    frame["s"] += 20
    return described(frame, **dict.fromkeys("abcd", "key"), s="confidential")
