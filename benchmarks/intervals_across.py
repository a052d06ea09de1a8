"""Whether intervals hold across slices: slopes of a response that is drawn tied or by prediction.

``python -m benchmarks intervals across [--populations N] [--records 150 300 1000]`` draws samples
of populations whose slopes are known, masks each with the response in a slice of its own, and
counts how often the estimate of the release, with the robust standard error HC3 of the release
times 1.42, covers the slopes. The response is linear in five predictors, or has a product, too,
that the regression leaves out and that moves none of its slopes; or its spread grows with a
predictor. Each way has a condition that the program can check on the original before it promises
an interval: of a prediction that (1 - kept) max |t| is at most .5, of ties that no slope is
expected to shift by more than half a standard error.
The planted fault is the product as a term of the regression, which neither prediction nor tie
contains: it is covered too seldom.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

import rwn_core as rwn
from benchmarks.pages import say
from rwn_core.evaluation.valid_intervals import FACTOR

NAMES = ("x1", "x2", "x3", "x4", "flag")
SLOPES = np.array([1.0, -0.5, 0.25, 0.0, 0.5])
PRODUCT = 0.6  # of x1 and x2, which are centered
SETTING = rwn.SoftRWN(balance=1.0, own=True, width=2.0)
WAYS = {
    "by prediction": replace(SETTING, by_prediction=True),
    "tied": replace(SETTING, tie=True),
}
MOST_SHIFT = 0.5  # standard errors
LEAST = 0.93


def linear(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """A response with equal spread."""
    return x @ SLOPES + 1.5 * rng.standard_normal(len(x))


def with_product(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """A response with a product that the regression leaves out."""
    return linear(rng, x) + PRODUCT * x[:, 0] * x[:, 1]


def spreading(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """A response whose spread grows with the first predictor's distance from its mean."""
    return x @ SLOPES + (0.5 + np.abs(x[:, 0])) * rng.standard_normal(len(x))


TRUTHS = {"linear": linear, "product left out": with_product, "spread grows": spreading}


@dataclass(frozen=True, kw_only=True)
class Robust:
    """Coefficients of least squares with their standard errors HC3, without the intercept."""

    slopes: np.ndarray
    errors: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray) -> Robust:
        """Regress y on the columns of x."""
        design = np.column_stack([np.ones(len(x)), x])
        inverse = np.linalg.inv(design.T @ design)
        slopes = inverse @ design.T @ y
        leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
        pulled = design * ((y - design @ slopes) / (1 - leverage))[:, np.newaxis]
        variances = np.diag(inverse @ (pulled.T @ pulled) @ inverse)
        return cls(slopes=slopes[1:], errors=np.sqrt(variances[1:]))

    def covers(self, truth: np.ndarray, factor: float, freedom: float) -> np.ndarray:
        """Whether each slope's interval of 95 % has the truth."""
        reach = stats.t.ppf(0.975, freedom) * factor * self.errors
        return np.abs(self.slopes - truth) <= reach


def shift(release: rwn.Release, own: Robust, x: np.ndarray) -> float:
    """The largest expected shift of a slope, in standard errors of the original."""
    law = release.law
    if law.tied is None:
        return (1 - law.predicted[0].kept) * float(np.abs(own.slopes / own.errors).max())
    # inside the first slice covariances are those of the original in expectation
    values = np.vstack([x.T, release.original.frame["y"]])
    means = values @ law.donors.matrix.T
    made = np.cov(means, bias=True) + law.tied.covariances(values, [*NAMES, "y"]) / len(x)
    missing = np.linalg.solve(np.cov(x.T, bias=True), (made - np.cov(values, bias=True))[:-1, -1])
    return float(np.abs(missing / own.errors).max())


def covered(
    way: str, truth: Callable[..., np.ndarray], records: int, populations: int
) -> pd.DataFrame:
    """Return for each sample the slopes that are covered and whether an interval is promised."""
    found = []
    for number in range(populations):
        rng = np.random.default_rng((8, records, number))
        mixed = rng.standard_normal((records, 4))
        mixed[:, 2] = 0.6 * mixed[:, 0] + 0.8 * mixed[:, 2]
        x = np.column_stack([mixed, rng.random(records) < 0.3]).astype(float)
        y = truth(rng, x)
        frame = pd.DataFrame(dict(zip(NAMES, x.T, strict=True)) | {"y": y})
        table = rwn.Microdata.from_frame(frame).with_slices((NAMES,))
        release = rwn.mask(table, WAYS[way], seed=number)
        own = Robust.fit(x, y)
        released = release.masked.frame
        shown = released[[*NAMES]].to_numpy(float)
        responses = released["y"].to_numpy()
        freedom = records / 2 - len(SLOPES) - 1
        masked = Robust.fit(shown, responses).covers(SLOPES, FACTOR, freedom)
        # the product as a term: 0 in the truths that have none
        product = np.column_stack([shown, shown[:, 0] * shown[:, 1]])
        fault = Robust.fit(product, responses)
        size = PRODUCT * (truth is with_product)
        found.append({
            "masked": masked,
            "unmasked": own.covers(SLOPES, 1.0, records - len(SLOPES) - 1),
            "shift": shift(release, own, x),
            "fault": fault.covers(np.append(SLOPES, size), FACTOR, freedom - 1)[-1],
        })  # fmt: skip
    return pd.DataFrame(found)


def main(arguments: list[str]) -> int:
    """Print the coverage of each way, truth and number of records, and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--populations", type=int, default=300)
    parser.add_argument("--records", type=int, nargs="+", default=[150, 300, 1000])
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    given = parser.parse_args(arguments)
    began = time.process_time()
    holds = dict.fromkeys(given.ways, True)
    for way in given.ways:
        for name, truth in TRUTHS.items():
            for records in given.records:
                found = covered(way, truth, records, given.populations)
                promised = found["shift"] <= MOST_SHIFT
                masked, unmasked = (np.stack(found[each]) for each in ("masked", "unmasked"))
                error = masked.mean(axis=1).std(ddof=1) / math.sqrt(len(found))
                offered = masked[promised].mean() if promised.any() else math.nan
                say(
                    f"{way:13} {name:16} n {records:5} slopes {masked.mean():.3f} (se {error:.3f}) "
                    f"worst {masked.mean(axis=0).min():.3f} unmasked {unmasked.mean():.3f} "
                    f"promised {promised.mean():4.0%}, of these {offered:.3f}, "
                    f"shift {found['shift'].median():.2f}, product {found['fault'].mean():.3f}"
                )
                holds[way] &= not promised.any() or bool(offered >= LEAST)
    for way, kept in holds.items():
        say(f"{way}: {'at least' if kept else 'NOT everywhere at least'} {LEAST} where promised")
    say(f"{given.populations} populations; {time.process_time() - began:.0f} s")
    return 0 if all(holds.values()) else 1
