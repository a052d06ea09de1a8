"""Tables that several benchmarks read, and the radius of a mean neighborhood size."""

from __future__ import annotations

import numpy as np
import pandas as pd

import rwn_core as rwn

PAIRS = 4e8  # distances that the radius is found from
BLOCK = 1000


def mixed(n: int, p: int) -> np.ndarray:
    """Three latent factors; 2/5 numbers, 2/5 rounded (half of them skewed), 1/5 0/1 columns."""
    rng = np.random.default_rng(p)
    factors = rng.standard_normal((n, 3))
    table = np.empty((n, p), order="F")
    for column in range(p):
        value = 0.6 * (factors @ rng.standard_normal(3)) + 0.6 * rng.standard_normal(n)
        kind = column % 5
        weight = 1.0
        if kind == 2:
            value = np.round(20 * np.exp(value / 2))
        elif kind == 3:
            value = np.round(2 * value)
        elif kind == 4:
            value = (value > 0.8).astype(float)
            weight = 0.6
        table[:, column] = (value - value.mean()) / value.std(ddof=1) * weight
    return table


def radius_of(points: np.ndarray, size: float) -> float:
    """The radius within which a record has this many others on average."""
    n = len(points)
    sampled = min(n, int(np.clip(PAIRS / n, 400, 4000)))
    some = np.random.default_rng(5).choice(n, sampled, replace=False)
    kept = np.empty(0)
    most = np.inf
    rank = int((size + 1) * len(some))
    for start in range(0, n, BLOCK):
        block = points[start : start + BLOCK]
        squared = np.zeros((len(some), len(block)))
        for column in range(points.shape[1]):
            squared += (points[some, column, None] - block[None, :, column]) ** 2
        kept = np.concatenate((kept, squared[squared <= most]))
        if len(kept) > rank + 1:
            kept = np.partition(kept, rank)[: rank + 1]
            most = kept.max()
    return float(np.sqrt(kept.max()))


def sampled(demo: str, records: int, seed: int = 0) -> tuple[rwn.Microdata, int]:
    """A demo table, or random records of it, and how many it has."""
    data = rwn.load_demo(demo)
    if data.n <= records:
        return data, data.n
    chosen = np.random.default_rng(seed).permutation(data.n)[:records]
    return data.take(np.sort(chosen)), data.n


def survey(n: int) -> rwn.Microdata:
    """Households, a weight, 6 keys, 7 confidential variables and 8 more that hang together."""
    draw = np.random.default_rng(5)
    status = 0.6 * np.repeat(draw.normal(size=n // 2), 2) + 0.8 * draw.normal(size=n)
    health = draw.normal(size=n)
    key = rwn.Role.KEY
    confidential = rwn.Role.CONFIDENTIAL

    def steps(value: np.ndarray, low: int, high: int) -> np.ndarray:
        noisy = value + 0.6 * draw.normal(size=n)
        return np.clip(np.round(noisy), low, high).astype(int)

    columns = {
        "household": (rwn.Role.HOUSEHOLD, np.repeat(np.arange(n // 2), 2)),
        "weight": (rwn.Role.SAMPLING_WEIGHT, np.round(draw.uniform(0.4, 3.1, n), 4)),
        "region": (key, draw.choice(list("ABCDEFGHI"), n)),
        "sex": (key, draw.choice(["m", "w"], n)),
        "age": (key, steps(45 + 16 * draw.normal(size=n), 18, 95)),
        "education": (key, steps(3 + status, 1, 6)),
        "children": (key, draw.poisson(1.2, n)),
        "job": (key, draw.choice([f"job {number}" for number in range(12)], n)),
        "income": (confidential, np.round(np.exp(steps(760 + 50 * status, 0, 999) / 100))),
        "rent": (confidential, np.round(np.exp(steps(620 + 35 * status, 0, 999) / 100))),
        "hours": (confidential, steps(36 + 6 * draw.normal(size=n), 0, 70)),
        "bmi": (confidential, steps(250 + 40 * health, 150, 450) / 10),
        "health": (confidential, steps(3 - health, 1, 5)),
        "illness": (confidential, draw.choice(list("0abc"), n, p=[0.6, 0.2, 0.15, 0.05])),
        "smokes": (confidential, draw.choice(["no", "yes"], n, p=[0.75, 0.25])),
    }
    for number in range(8):
        opinion = steps(4 + (status if number % 2 else health), 1, 7)
        columns[f"opinion {number}"] = (rwn.Role.OTHER, opinion)
    table = rwn.Microdata.from_frame(pd.DataFrame({name: c for name, (_, c) in columns.items()}))
    schema = table.schema
    for name, (role, _) in columns.items():
        schema = schema.replace_variable(name, role=role)
    return table.with_schema(schema)


def written(n: int, p: int) -> pd.DataFrame:
    """Return a table for a text file: numbers with three decimals, and one column of texts."""
    frame = pd.DataFrame(mixed(n, p), columns=[f"v{i}" for i in range(p)]).round(3)
    frame["group"] = np.where(frame["v0"] > 0, "above", "below")
    return frame.drop(columns=f"v{p - 1}")
