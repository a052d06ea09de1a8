"""What several tests of the intruder start from: tables, and published numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata


def table(generator: np.random.Generator, n: int, p: int) -> Microdata:
    """Numbers with and without ties, a category, missing values."""
    frame = pd.DataFrame(
        {f"x{j}": generator.normal(size=n).round(1 if j % 2 else 6) for j in range(p)}
    )
    frame["sex"] = generator.choice(["f", "m"], n)
    frame.loc[generator.random(n) < 0.2, "x0"] = np.nan
    return Microdata.from_frame(frame)


def number(text: Any) -> float:
    """A published fraction as a number."""
    return float(Fraction(str(text)))
