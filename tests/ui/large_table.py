"""A table that is large on screen, as a table and as a file."""

from __future__ import annotations

import numpy as np
import pandas as pd

import rwn_core as rwn

RECORDS = 2600


def frame(n: int = RECORDS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {"x": x, "y": x + rng.normal(size=n), "z": rng.integers(0, 9, n), "g": np.arange(n) % 3}
    )


def table(n: int = RECORDS, seed: int = 0) -> rwn.Microdata:
    question = rwn.Question(response="y", predictors=("x", "z"))
    data = rwn.Microdata.from_frame(frame(n, seed))
    return data.with_schema(rwn.Schema(variables=data.schema.variables, question=question))


def csv(n: int = RECORDS, seed: int = 0) -> bytes:
    return frame(n, seed).to_csv(index=False).encode()
