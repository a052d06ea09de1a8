"""The methods as one would write them in plain NumPy, to hold their time against.

Each function masks a frame with its numbers and categories as our method does at the same
setting, without missing values, types, a law or a secret key; none shares code with ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

Plain = Callable[[pd.DataFrame, Any, np.random.Generator], pd.DataFrame]
BLOCK = 500
MAKERS = ["ethnicity", "smsa", "region"]
SECRET = "wage"


def numbers(frame: pd.DataFrame) -> list[str]:
    """The columns that hold numbers."""
    return [name for name in frame if frame[name].dtype.kind in "if"]


def categories(frame: pd.DataFrame) -> list[str]:
    """The other columns."""
    return [name for name in frame if name not in numbers(frame)]


def _written(frame: pd.DataFrame, name: str, values: np.ndarray) -> np.ndarray:
    return np.rint(values).astype(int) if frame[name].dtype.kind == "i" else values


def additive(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Noise on every number."""
    masked = frame.copy()
    for name in numbers(frame):
        own = frame[name].to_numpy(np.float64)
        noise = rng.normal(0.0, params.size * own.std(ddof=1), len(own))
        masked[name] = _written(frame, name, own + noise)
    return masked


def correlated(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Noise with the covariance of the numbers, shrunk to the mean."""
    masked, names = frame.copy(), numbers(frame)
    own = frame[names].to_numpy(np.float64)
    noise = rng.multivariate_normal(
        np.zeros(len(names)), params.size * np.cov(own, rowvar=False), len(own)
    )
    mean = own.mean(axis=0)
    shown = mean + (own + noise - mean) / np.sqrt(1 + params.size)
    for j, name in enumerate(names):
        masked[name] = _written(frame, name, shown[:, j])
    return masked


def k_noise(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Uniform noise as wide as the loneliest number needs, searched outward from each."""
    masked = frame.copy()
    for name in numbers(frame):
        own = np.sort(frame[name].to_numpy(np.float64))
        padded = np.pad(own, params.k, constant_values=(-np.inf, np.inf))
        near = np.lib.stride_tricks.sliding_window_view(padded, 2 * params.k + 1)
        apart = np.partition(np.abs(near - own[:, None]), params.k - 1, axis=1)[:, params.k - 1]
        half = apart.max() / 2
        noisy = frame[name].to_numpy(np.float64) + rng.uniform(-half, half, len(own))
        masked[name] = _written(frame, name, noisy)
    return masked


def rank_swapping(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Each rank with a free one of those that follow, one after the other."""
    masked = frame.copy()
    for name in numbers(frame):
        values = frame[name].to_numpy().copy()
        order = np.argsort(-values, kind="stable")
        free, far = np.ones(len(values), dtype=bool), int(params.p * len(values))
        for rank in range(len(values)):
            if free[rank]:
                near = np.flatnonzero(free[rank + 1 : rank + far])
                if len(near):
                    other = rank + 1 + rng.choice(near)
                    one, two = order[rank], order[other]
                    values[one], values[two] = values[two], values[one]
                    free[other] = False
                free[rank] = False
        masked[name] = values
    return masked


def random_swapping(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Disjoint random pairs exchange their category."""
    masked, swaps = frame.copy(), int(params.share * len(frame) / 2)
    for name in categories(frame):
        order = rng.permutation(len(frame))
        one, two = order[:swaps], order[swaps : 2 * swaps]
        donors = np.arange(len(frame))
        donors[one], donors[two] = two, one
        masked[name] = frame[name].to_numpy()[donors]
    return masked


def record_swapping(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """In each block of equal categories some records exchange their wage."""
    masked, values = frame.copy(), frame[SECRET].to_numpy().copy()
    for rows in frame.groupby(MAKERS, observed=True).indices.values():
        some = rng.permutation(rows)[: int(np.ceil(params.share * len(rows)))]
        values[some] = values[rng.permutation(some)]
    masked[SECRET] = values
    return masked


def pram(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Each level by the row of its invariant matrix."""
    masked = frame.copy()
    for name in categories(frame):
        codes, levels = pd.factorize(frame[name])
        count = len(levels)
        share = np.bincount(codes) / len(codes)
        first = (1 - params.change) * np.eye(count) + params.change / count
        second = (first * share[:, None] / (share @ first)).T
        matrix, shown = first @ second, codes.copy()
        for level in range(count):
            here = codes == level
            shown[here] = rng.choice(count, here.sum(), p=matrix[level])
        masked[name] = np.asarray(levels)[shown]
    return masked


def _interval(own: np.ndarray, k: int) -> np.ndarray:
    """The interval of each value: as many of equal length as leave k values in each."""
    for count in range(len(own) // k, 0, -1):
        edges = np.linspace(own.min(), own.max(), count + 1)[1:-1]
        group = np.searchsorted(edges, own, side="right")
        if np.bincount(group, minlength=count).min() >= k:
            break
    return group


def k_pram(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Each number from its interval's records."""
    masked = frame.copy()
    for name in numbers(frame):
        own = frame[name].to_numpy()
        group, shown = _interval(own.astype(np.float64), params.k), own.copy()
        for number in range(group.max() + 1):
            rows = np.flatnonzero(group == number)
            shown[rows] = own[rng.choice(rows, len(rows))]
        masked[name] = shown
    return masked


def recoding(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers as means of intervals, rare levels as one."""
    masked = frame.copy()
    for name in numbers(frame):
        own = frame[name].to_numpy(np.float64)
        group = _interval(own, params.k)
        means = np.bincount(group, own) / np.bincount(group)
        masked[name] = _written(frame, name, means[group])
    for name in categories(frame):
        sizes = frame[name].value_counts()
        rare = sizes.index[sizes < params.k]
        masked[name] = frame[name].where(~frame[name].isin(rare), rare[0] if len(rare) else None)
    return masked


def _points(frame: pd.DataFrame) -> np.ndarray:
    dummies = pd.get_dummies(frame, columns=categories(frame)).to_numpy(np.float64)
    return (dummies - dummies.mean(axis=0)) / dummies.std(axis=0, ddof=1)


def _donors(frame: pd.DataFrame, params: Any, rng: np.random.Generator, each: int) -> np.ndarray:
    """Random neighbors of every record, by blocks of all distances, shape (n, each)."""
    points = _points(frame)
    squares, n = (points**2).sum(axis=1), len(points)
    k = getattr(params, "k", None)
    donors = np.tile(np.arange(n)[:, None], (1, each))
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(start + BLOCK, n))
        apart = squares[rows, None] + squares - 2 * points[rows] @ points.T
        apart[np.arange(len(rows)), rows] = np.inf
        reach = np.full(len(rows), params.epsilon**2)
        if k:
            reach = np.maximum(reach, np.partition(apart, k - 1, axis=1)[:, k - 1])
        for row, near in zip(rows, apart <= reach[:, None] + 1e-9, strict=True):
            members = np.flatnonzero(near)
            if len(members):
                donors[row] = rng.choice(members, each)
    return donors


def neighborhoods(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Every cell from a random neighbor of its own."""
    donors = _donors(frame, params, rng, frame.shape[1])
    return pd.DataFrame(
        {name: frame[name].to_numpy()[donors[:, j]] for j, name in enumerate(frame)}
    )


def row_copy(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Every row from one random neighbor."""
    return frame.iloc[_donors(frame, params, rng, 1)[:, 0]].reset_index(drop=True)


def microaggregation(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """MDAV: groups around the record farthest from the mean, and around the one opposite."""
    masked, names = frame.copy(), numbers(frame)
    own = frame[names].to_numpy(np.float64)
    points = (own - own.mean(axis=0)) / own.std(axis=0, ddof=1)
    left, shown, k = np.arange(len(own)), own.copy(), params.k
    while len(left) >= 3 * k:
        here = points[left]
        center = here[((here - here.mean(axis=0)) ** 2).sum(axis=1).argmax()]
        for _ in range(2):
            here = points[left]
            apart = ((here - center) ** 2).sum(axis=1)
            near = np.argpartition(apart, k - 1)[:k]
            shown[left[near]] = own[left[near]].mean(axis=0)
            center = here[apart.argmax()]
            left = np.delete(left, near)
    shown[left] = own[left].mean(axis=0)
    for j, name in enumerate(names):
        masked[name] = _written(frame, name, shown[:, j])
    return masked


def sampling(frame: pd.DataFrame, params: Any, rng: np.random.Generator) -> pd.DataFrame:
    """A random part of the rows."""
    return frame.iloc[rng.permutation(len(frame))[int(params.left_out * len(frame)) :]]


PLAIN: Mapping[str, Plain] = MappingProxyType(
    {
        "rwn": neighborhoods,
        "nbrs2015": neighborhoods,
        "additive_noise": additive,
        "correlated_noise": correlated,
        "k_noise": k_noise,
        "rank_swapping": rank_swapping,
        "random_swapping": random_swapping,
        "record_swapping": record_swapping,
        "pram": pram,
        "k_pram": k_pram,
        "recoding": recoding,
        "row_copy": row_copy,
        "microaggregation": microaggregation,
        "sampling": sampling,
    }
)
"""By the key of the method; suppression has no few lines of its own."""
