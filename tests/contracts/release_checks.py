"""Checks of stated facts by simulation or formula; each takes what is stated and says if it holds.

Random numbers have fixed seeds. Shared releases are drawn once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.rounding import given_steps
from rwn_core.evaluation.lessons import standard_errors
from rwn_core.masking import SoftRWN
from tests.tables import described

KEYS = ("age", "weight", "height")
Params = Any


@cache
def bodyfat(slices: str = "alone") -> rwn.Microdata:
    """Return the demo table, with variables that travel together."""
    data = rwn.load_demo("bodyfat")
    rest = [variable.name for variable in data.schema.released if variable.name not in KEYS]
    return data.with_slices({
        "alone": [],
        "confidential": [KEYS, [name for name in rest if name != "siri"]],
        "two": [KEYS, rest],
        "rows": [[*KEYS, *rest]],
    }[slices])  # fmt: skip


@cache
def readings(
    params: Params, measures: tuple[str, ...], slices: str = "alone", n: int = 8, step: float = 0
) -> NDArray[np.float64]:
    """Return the values of measures on n releases of bodyfat, shape (n, len(measures))."""
    data = bodyfat(slices)
    steps = given_steps(data, step) if step else None
    found = []
    for seed in range(1, n + 1):
        audit = rwn.audit(
            data, rwn.mask(data, params, seed=seed, precision=steps), measures=list(measures)
        )
        found.append([audit[key].value for key in measures])
    return np.array(found)


def releases(data: rwn.Microdata, params: Params, n: int) -> list[rwn.Microdata]:
    """Return n masked tables of a setting, row by row as the original."""
    prepared = params.prepare(data)
    return [prepared.release(rwn.SecretKey.from_seed(seed)).masked for seed in range(n)]


@cache
def people(n: int = 600, seed: int = 3) -> rwn.Microdata:
    """Return a made-up table: skewed income, age, a region of three, an illness that 2 % have."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    income = np.round(np.exp(rng.normal(0, 0.8, n) + age / 60), 3)
    region = rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2])
    ill = np.where(np.arange(n) % 50 == 0, "yes", "no")
    frame = pd.DataFrame({"age": age, "income": income, "region": region, "ill": ill})
    return described(frame, ill="confidential", age="key", income="key", region="key")


def same_bytes(one: int, other: int) -> bool:
    """Two releases with these seeds are the same file."""
    data = bodyfat()
    made = [rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=seed) for seed in (one, other)]
    return made[0].to_bytes("csv") == made[1].to_bytes("csv")


def only_observed_values(params: Params) -> bool:
    """Every released value stands in its original column."""
    data = people()
    (masked,) = releases(data, params, 1)
    return all(set(masked.frame[name]) <= set(data.frame[name]) for name in ("age", "income"))


def changed_cells(stated: Callable[[float, float], bool]) -> bool:
    """The expected share of changed cells compares so with q, in every variable."""
    law = rwn.RWN(k=5, q=0.5).prepare(people()).law
    intact = [law.retained(variable.name).mean() for variable in law.original.schema.released]
    return all(stated(round(1 - share, 9), 0.5) for share in intact)


def least_neighborhood(k: int) -> bool:
    """Where the radius holds nobody, every record has at least so many donors, and some no more."""
    law = rwn.RWN(epsilon=1e-6, k=5).prepare(bodyfat()).law
    return int(law.neighborhoods.sizes.min()) == k


def changed_regions(most: float) -> bool:
    """Small neighborhoods change at most this share of the cells of a category."""
    data = people()
    tables = releases(data, rwn.RWN(k=5), 5)
    return bool(
        np.mean([(t.frame["region"] != data.frame["region"]).mean() for t in tables]) <= most
    )


def means_drift_to_the_crowd(params: Params) -> bool:
    """The expected mean of a skewed variable falls, toward where records are dense."""
    data = people()
    drift = rwn.forecast(data, params).means["income"] / data.values("income").mean() - 1
    return bool(drift < -0.005)


def small_groups_shrink(params: Params) -> bool:
    """The expected number of people in a small group is below the original's."""
    counts = rwn.forecast(people(), params).category_counts["ill"]
    return bool(dict(counts)["yes"] < 12 - 0.01)


def means_are_right(params: Params) -> bool:
    """The expected mean of every number is that of the original."""
    data = people()
    means = rwn.forecast(data, params).means
    return all(abs(means[c] / data.values(c).mean() - 1) < 1e-4 for c in ("age", "income"))


def forecast_is_exact(k: int) -> bool:
    """The mean of income over 150 releases at k = 5 is that of the forecast at this k."""
    data = people()
    drawn = [t.values("income").mean() for t in releases(data, rwn.RWN(k=5), 150)]
    expected = rwn.forecast(data, rwn.RWN(k=k)).means["income"]
    return bool(abs(np.mean(drawn) - expected) < 4 * np.std(drawn) / 12)


def covariance_with_slices(pair: tuple[str, str]) -> bool:
    """Slices leave the means and the expected covariance of this pair as without slices."""
    alone, two = (rwn.forecast(bodyfat(s), rwn.RWN(epsilon=6.0, k=5)) for s in ("alone", "two"))
    same = np.allclose(alone.means, two.means)
    return bool(same and np.isclose(alone.covariances.loc[pair], two.covariances.loc[pair]))


def true_fragments(slices: str) -> bool:
    """Age, weight and height of every released row are those of one real person."""
    data = bodyfat(slices)
    (masked,) = releases(data, rwn.RWN(epsilon=6.0, k=5), 1)
    real, shown = (set(map(tuple, t.frame[list(KEYS)].to_numpy())) for t in (data, masked))
    return shown <= real


def shown_somewhere(formula: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> bool:
    """How often a person's values appear in a release of rows, against 300 releases."""
    data = bodyfat("rows")
    law = rwn.RWN(epsilon=3.0, k=5).prepare(data).law
    donors = np.asarray(law.probabilities.toarray())
    draws = [rwn.SecretKey.from_seed(seed) for seed in range(300)]
    prepared = rwn.RWN(epsilon=3.0, k=5).prepare(data)
    shown = np.array([np.isin(np.arange(data.n), prepared.release(key).donors) for key in draws])
    return bool(np.abs(shown.mean(axis=0) - formula(donors)).max() < 0.15)


def standard_errors_too_small(q: float) -> bool:
    """Reported standard errors of masked samples are smaller than the real ones by a tenth."""
    prepared = [rwn.RWN(k=5, q=q).prepare(standard_errors.sample(i)) for i in range(100)]
    found = standard_errors.slopes([standard_errors.release(p, i) for i, p in enumerate(prepared)])
    return found.ratio < 0.9


def intervals_cover(factor: float) -> bool:
    """Standard errors of means times a factor hold the truth, over 300 balanced releases."""
    rng, held = np.random.default_rng(4), []
    for number in range(300):
        frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
        balanced = SoftRWN(kernel="gaussian", balance=1.0, width=3.0)
        file = rwn.mask(rwn.Microdata.from_frame(frame), balanced, seed=number).masked.frame
        held.append(abs(file.mean()) <= 2.01 * factor * file.std() / 10)
    return bool(0.93 < np.mean(held) < 0.98)


def wide_intervals_miss(params: Params) -> bool:
    """Twice as wide intervals of the slope of abdomen miss the original's in most releases."""

    def slope(table: rwn.Microdata) -> tuple[float, float]:
        x = table.matrix(["age", "abdomen", "weight", "height"])
        x = np.column_stack([np.ones(len(x)), x])
        y = table.values("siri")
        inverse = np.linalg.inv(x.T @ x)
        b = inverse @ x.T @ y
        s = ((y - x @ b) ** 2).sum() / (len(y) - x.shape[1])
        return float(b[2]), float(np.sqrt(s * inverse[2, 2]))

    truth = slope(bodyfat())[0]
    found = [slope(t) for t in releases(bodyfat(), params, 20)]
    return float(np.mean([abs(b - truth) > 2 * 1.96 * e for b, e in found])) > 0.5
