"""Facts that lessons, README, docs and notices state are on their page, and are so."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.rounding import given_steps, rounded_values
from rwn_core.evaluation.lessons import sampling, standard_errors
from rwn_core.evaluation.lessons.densities import points_of
from rwn_core.masking import SoftRWN
from rwn_core.measures.statistics.intervals import excess_risk, prediction_interval
from tests.oracles.expected_moments import expected_of
from tests.oracles.reach_of_noise import AGES, GAP, least_within_reach
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
        release = rwn.mask(data, params, seed=seed, precision=steps)
        audit = rwn.audit(data, release, measures=list(measures))
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
    changed = [(t.frame["region"] != data.frame["region"]).mean() for t in tables]
    return bool(np.mean(changed) <= most)


def means_drift_to_the_crowd(params: Params) -> bool:
    """The expected mean of a skewed variable falls, toward where records are dense."""
    data = people()
    drift = expected_of(data, params).means["income"] / data.values("income").mean() - 1
    return bool(drift < -0.005)


def small_groups_shrink(params: Params) -> bool:
    """The expected number of people in a small group is below the original's."""
    counts = expected_of(people(), params).category_counts["ill"]
    return bool(dict(counts)["yes"] < 12 - 0.01)


def means_are_right(params: Params) -> bool:
    """The expected mean of every number is that of the original."""
    data = people()
    means = expected_of(data, params).means
    return all(abs(means[c] / data.values(c).mean() - 1) < 1e-4 for c in ("age", "income"))


def covariance_with_slices(pair: tuple[str, str]) -> bool:
    """Slices leave the means and the expected covariance of this pair as without slices."""
    alone, two = (expected_of(bodyfat(s), rwn.RWN(epsilon=6.0, k=5)) for s in ("alone", "two"))
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
    """Standard errors of means times a factor hold the truth, over 100 balanced releases.

    Three means of each: 95 % is held within 3 x sqrt(0.95 x 0.05 / 300), which is 3.8 %.
    """
    rng = np.random.default_rng(4)
    held = []
    for number in range(100):
        frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
        balanced = SoftRWN(kernel="gaussian", balance=1.0, width=3.0)
        file = rwn.mask(rwn.Microdata.from_frame(frame), balanced, seed=number).masked.frame
        held.append(abs(file.mean()) <= 2.01 * factor * file.std() / 10)
    return bool(0.912 < np.mean(held) < 0.988)


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


def worst_case(epsilon: float, k: int, low: float, high: float) -> bool:
    """The worst-case linkage of bodyfat lies between these shares, on average."""
    return low <= readings(rwn.RWN(epsilon=epsilon, k=k), ("bayes_linkage",), n=4).mean() <= high


def three_attacks(epsilon: float, k: int, stated: Sequence[float]) -> bool:
    """Linkage row by row, by the assignment and given all rows, within a point."""
    data = bodyfat()
    found = []
    for seed in range(1, 9):
        release = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=k), seed=seed)
        detail = rwn.audit(data, release, measures=["bayes_linkage"])["bayes_linkage"].detail
        found.append([detail.row_by_row, detail.at_once, detail.joint])
    return bool(np.abs(np.mean(found, axis=0) - np.array(stated) / 100).max() < 0.011)


def distance_linkage(low: float, high: float) -> bool:
    """Nine in ten releases of bodyfat at epsilon 2, k 5 have a distance linkage between these."""
    found = readings(rwn.RWN(epsilon=2.0, k=5), ("distance_linkage",), n=60)
    rounded = np.round(100 * found)
    return bool(((rounded >= low) & (rounded <= high)).mean() >= 0.9)


def slices_row(slices: str, linked: float, found: float, change: float) -> bool:
    """A row of the table of slices: linkage and true matches in percent, change of correlations."""
    keys = ("bayes_linkage", "true_matches", "correlation")
    one, other, third = readings(rwn.RWN(epsilon=6.0, k=5), keys, slices).mean(axis=0)
    near = abs(100 * one - linked) < 0.6 and abs(100 * other - found) < 1
    return bool(near and abs(third - change) < 0.01)


def rounding_row(step: float, k: int, linked: float, change: float) -> bool:
    """A cell of the table of steps: linkage in percent, change of correlations (medians of 8)."""
    keys = ("bayes_linkage", "correlation")
    one, other = np.median(readings(rwn.RWN(epsilon=2.0, k=k), keys, step=step), axis=0)
    return bool(abs(100 * one - linked) < 1.5 and abs(other - change) < 0.0015)


def rounds(value: float, step: float, to: float) -> bool:
    """A value is released as this multiple of the step."""
    return bool(rounded_values(np.array([value]), step)[0] == to)


def more_releases_link_more(same_key: bool) -> bool:
    """A second release lets the intruder link more rows, by the product of both likelihoods."""
    data = points_of("normal", 80)
    law = rwn.RWN(k=20).prepare(data).law
    donors = np.asarray(law.probabilities.toarray())
    codes = [np.unique(data.values(name), return_inverse=True) for name in ("x", "y")]
    drawn = releases(data, rwn.RWN(k=20), 1 if same_key else 2)
    one, two = drawn[0], drawn[-1]

    def likelihood(table: rwn.Microdata) -> NDArray[np.float64]:
        result = np.ones((data.n, data.n))
        for (values, code), name in zip(codes, ("x", "y"), strict=True):
            cells = np.zeros((data.n, len(values)))
            np.add.at(cells.T, code, donors.T)
            result *= cells[:, np.searchsorted(values, table.values(name))]
        return result  # of each original (row) for each released record (column)

    def linked(weight: NDArray[np.float64]) -> float:
        return float((weight.max(axis=0) / weight.sum(axis=0)).mean())

    first, second = likelihood(one), likelihood(two)
    again = first if same_key else first * second
    return linked(again) > linked(first) + 0.02


def unmasked_gain(confidential: str, at_most: float) -> bool:
    """The unmasked file of people keeps this limit on attribute gain."""
    data = people(200)
    if confidential == "constant":
        data = rwn.Microdata.from_frame(data.frame.assign(ill="no"), data.schema)
    unmasked = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1)
    reading = rwn.audit(data, unmasked, measures=["attribute_gain"])["attribute_gain"]
    return not isinstance(reading, rwn.Reading) or reading.value <= at_most


def excess(formula: Callable[[float, float], float]) -> bool:
    """What is learned beyond a control group: a third learn, one guess in five is right."""
    rng = np.random.default_rng(1)
    lucky = rng.random((2, 200_000)) < 0.2
    attack = np.mean(lucky[0] | (rng.random(200_000) < 1 / 3))
    found = formula(float(attack), float(lucky[1].mean()))
    return abs(found - 1 / 3) < 0.01 and math.isclose(found, excess_risk(attack, lucky[1].mean()))


def relations_lost(tables: str, stated: float) -> bool:
    """The loss of relations of the original, or of columns permuted one by one."""
    data = bodyfat()
    rng = np.random.default_rng(5)
    frame = data.frame.copy()
    for name in frame if tables == "permuted" else []:
        frame[name] = rng.permutation(frame[name].to_numpy())
    other = rwn.Microdata.from_frame(frame, data.schema)
    read = rwn.audit(data, other, measures=["association_loss"])["association_loss"]
    return abs(read.value - stated) < 0.02


def range_of_one_more(releases: int) -> bool:
    """Ranges from so many skewed draws, by their order, hold one more draw 9 times in 10."""
    draws = np.random.default_rng(2).lognormal(0, 2, (releases + 1, 40_000))
    ordered = np.sort(draws[:-1], axis=0)
    rank = max(1, int((releases + 1) * 0.05))
    held = np.mean((ordered[rank - 1] <= draws[-1]) & (draws[-1] <= ordered[-rank]))
    if releases >= 19:  # and this is the interval that the program states
        assert np.array_equal(prediction_interval(draws[:-1])[0], ordered[rank - 1])
    return bool(held > 0.89)


def confirmed_by(releases: int) -> bool:
    """So many releases within a limit show, at 95 %, that at most 1 in 20 lies beyond it."""
    return 0.95**releases <= 0.05 < 0.95 ** (releases - 1)


def match_steps(at: tuple[float, float]) -> bool:
    """The loss of correlations of microaggregation at k 2 and k 3."""
    found = [readings(rwn.Microaggregation(k=k), ("correlation",), n=1).item() for k in (2, 3)]
    return bool(np.allclose(np.round(found, 3), at))


def disc_moment(stated: float) -> bool:
    """E[X²Y²] in a disc of radius 1, by simulation."""
    x, y = np.random.default_rng(4).uniform(-1, 1, (2, 400_000))
    inside = x**2 + y**2 <= 1
    return bool(abs(np.mean((x * y)[inside] ** 2) - stated) < 0.001)


def unique_in_population(formula: Callable[[float, float], float]) -> bool:
    """P(unique in the population | unique in the sample), for λ people per key."""
    rng = np.random.default_rng(6)
    fraction = 0.2
    mean = 2.0
    size = rng.poisson(mean, 400_000)
    sampled = rng.binomial(size, fraction)
    return abs(np.mean(size[sampled == 1] == 1) - formula(mean, fraction)) < 0.01


def leakage(stated: float) -> bool:
    """The leakage of the design on the slides, by simulated populations."""
    rng = np.random.default_rng(7)
    found = []
    shares = np.array([sampling.SHARE ** sum(c) * (1 - sampling.SHARE) ** (11 - sum(c))
                       for c in product((0, 1), repeat=11)])  # fmt: skip
    for _ in range(400):
        everyone = rng.multinomial(100_000, shares)
        in_sample = rng.multivariate_hypergeometric(everyone, 2_000)
        alone = in_sample == 1
        found.append((everyone[alone] == 1).sum() / alone.sum())
    return abs(np.mean(found) - stated) < 4 * np.std(found) / 20


def missed_outlier(most: float) -> bool:
    """A record that gives once on average is missed with at most this chance, over many laws."""
    shares = np.random.default_rng(8).dirichlet(np.full(40, 0.5), 500)
    missed = np.prod(1 - np.minimum(shares, 1), axis=1)
    worst = (1 - 1 / 10_000) ** 10_000
    return bool(missed.max() <= most and worst <= most and worst > most - 0.01)


def keeps_distributions(params: Params) -> bool:
    """Every single distribution of numbers stays exactly as it is."""
    (masked,) = releases(people(), params, 1)
    pairs = [(masked.frame[each], people().frame[each]) for each in ("age", "income")]
    return all(sorted(one) == sorted(other) for one, other in pairs)


def keeps_counts(params: Params) -> bool:
    """The counts of every category stay exactly as they are."""
    (masked,) = releases(people(), params, 1)
    regions = (t.frame["region"].astype(str) for t in (people(), masked))
    before, after = (each.value_counts().to_dict() for each in regions)
    return before == after


def keeps_covariances(params: Params) -> bool:
    """Means and covariances are kept in expectation: two slopes, mean of 60 releases."""
    data = bodyfat()
    names = ["abdomen", "weight", "siri"]
    tables = releases(data, params, 60)
    covariances = np.array([np.cov(t.matrix(names).T) for t in tables])
    error = covariances.std(axis=0) / math.sqrt(len(tables))
    off = np.abs(covariances.mean(axis=0) - np.cov(data.matrix(names).T))
    return bool((off < 4.5 * error).all())


def stands_for(params: Params, k: int) -> bool:
    """Each released row of numbers stands for at least k people."""
    (masked,) = releases(bodyfat(), params, 1)
    return int(masked.frame.round(9).value_counts().min()) >= k


def within_reach(least: float) -> bool:
    """Of the people within reach, at least this share is expected within reach after noise."""
    return min(least_within_reach(name, k) for name in (AGES, GAP) for k in (2, 10, 30)) >= least


def matrix_epsilon(formula: Callable[[NDArray[np.float64]], float]) -> bool:
    """Epsilon of a matrix: the largest log ratio of the chances of one released level."""
    matrix = np.random.default_rng(9).dirichlet(np.ones(4), 4)
    ratios = [math.log(matrix[a, b] / matrix[c, b]) for a, c, b in product(range(4), repeat=3)]
    return math.isclose(formula(matrix), max(ratios))


@dataclass(frozen=True, slots=True)
class Claim:
    """Words of a file, a check, what they state, and something else that the check must reject."""

    page: str
    sentence: str
    check: Callable[..., bool]
    true: tuple[Any, ...]
    false: tuple[Any, ...]


README, COSTS = "README.md", "docs/explanation/cost-and-protection.md"
SLICES, ROUND = "docs/how-to/choose-slices.md", "docs/how-to/round-values.md"
RISK, SETTING = "docs/explanation/intruders.md", "docs/how-to/find-a-setting.md"
SWEEP = "docs/how-to/sweep-a-grid.md"
UTILITY, COMPARE = "docs/how-to/know-the-utility.md", "docs/how-to/compare-methods.md"
MATHEMATICS, KERNELS = "docs/explanation/mathematics.md", "docs/explanation/kernels.md"
PAPERS = "docs/explanation/reproduced.md"
METHODS, NOTICE = "docs/methods/index.md", "rwn_core/reporting/public_words.toml"
K_NOISE = "docs/methods/k_noise.md"
EVEN = rwn.RWN(k=15)
BALANCED = rwn.SoftRWN(kernel="gaussian", width=1.0, balance=1.0)


ROWS: tuple[tuple[Any, ...], ...] = (
    (README, "the same settings and seed give the same bytes",
     same_bytes, (7, 7), (7, 8)),
    (README, "Every released value was really observed",
     only_observed_values, (rwn.RWN(k=5),), (rwn.AdditiveNoise(size=0.1),)),
    (README, "With small neighborhoods and many finely measured variables, nearly all of them",
     worst_case, (0.0, 5, 0.99, 1.0), (8.0, 5, 0.99, 1.0)),
    (README, "even the best intruder links only 3 % of the rows; but an intruder who "
     "knows age, weight and height finds the person's own row, with the true "
     "body fat, beyond chance for 61 % of the people",
     slices_row, ("rows", 3.2, 61, 0.055), ("rows", 3.2, 70, 0.055)),
    (README, "Each further release of the same people, corrected or extended or with "
     "other parameters, gives an intruder more evidence",
     more_releases_link_more, (False,), (True,)),
    (README, "means drift to where records are dense",
     means_drift_to_the_crowd, (EVEN,), (BALANCED,)),
    (README, "Small groups shrink",
     small_groups_shrink, (EVEN,), (BALANCED,)),
    (README, "standard errors computed from the release are too small",
     standard_errors_too_small, (1.0,), (0.0,)),
    (README, "This is what balance mends *inside a slice*: robust standard errors times 1.42 cover "
     "sampling and masking together",
     intervals_cover, (1.42,), (1.0,)),
    (COSTS, "the expected share of cells that really change is at most q",
     changed_cells, (operator.le,), (operator.ge,)),
    (COSTS, "at least the k nearest records are donors",
     least_neighborhood, (5,), (6,)),
    (COSTS, "A category changes only where neighborhoods reach across categories, "
     "which small ones rarely do",
     changed_regions, (0.02,), (-0.01,)),
    (SLICES, "| each variable alone (RWN 2022) | 14 % | 0.6 % | 0.40 |",
     slices_row, ("alone", 14.4, 0.6, 0.40), ("alone", 12, 0.6, 0.40)),
    (SLICES, "| keys together, body fat alone, the others together | 6.1 % | 1.3 % | 0.18 |",
     slices_row, ("confidential", 6.1, 1.3, 0.18), ("confidential", 6.1, 4.9, 0.18)),
    (SLICES, "| keys together, the others together | 5.0 % | 61 % | 0.14 |",
     slices_row, ("two", 5.0, 61, 0.14), ("two", 5.0, 61, 0.18)),
    (SLICES, "| whole rows | 3.2 % | 61 % | 0.05 |",
     slices_row, ("rows", 3.2, 61, 0.055), ("rows", 5.0, 61, 0.055)),
    (SLICES, "Slices do not change the means of variables; relations between two "
     "slices weaken as between single variables",
     covariance_with_slices, (("age", "siri"),), (("age", "weight"),)),
    (SLICES, "the values in a slice are one real person's values, side by side",
     true_fragments, ("two",), ("alone",)),
    (ROUND, "| about 0.5 SD | 34 % | 0.103 | 90 % | 0.067 |",
     rounding_row, (0.5, 25, 34, 0.103), (0.5, 25, 34, 0.092)),
    (ROUND, "in small ones nine in ten rows are linked all the same",
     rounding_row, (0.5, 5, 90, 0.067), (0.5, 5, 80, 0.067)),
    (ROUND, "halves go to the even multiple",
     rounds, (2.5, 1.0, 2.0), (2.5, 1.0, 3.0)),
    (RISK, "| epsilon 0, k = 50 | 73 % | 90 % | 89 % |",
     three_attacks, (0.0, 50, (73, 90, 89)), (0.0, 50, (73, 87, 89))),
    (RISK, "| epsilon 4, k = 5 | 46 % | 48 % | 51 % |",
     three_attacks, (4.0, 5, (46, 48, 51)), (4.0, 5, (46, 48, 55))),
    (RISK, "the success beyond the control group, (r − c) / (1 − c)",
     excess, (lambda r, c: (r - c) / (1 - c),), (lambda r, c: r - c,)),
    (RISK, "61 % of the people are named rightly beyond chance by age, weight and height",
     slices_row, ("rows", 3.2, 61, 0.055), ("rows", 3.2, 64, 0.055)),
    (SETTING, "In 9 of 10 releases of bodyfat at epsilon 2, k 5 it is 10 to 16 %",
     distance_linkage, (10, 16), (12, 16)),
    (SETTING, "the worst-case intruder, with the method and the original file, links over 99 %",
     worst_case, (2.0, 5, 0.99, 1.0), (2.0, 5, 0.0, 0.99)),
    (SWEEP, "from 19 releases on by their order, right for any distribution",
     range_of_one_more, (19,), (8,)),
    (SETTING, "Where everybody gives the same confidential answer, nothing is gained "
     "by knowing it",
     unmasked_gain, ("constant", 0.0), ("rare", 0.05)),
    (SWEEP, "checked on 59 new ones: at 95 % confidence at most 1 in 20 further "
     "releases lies beyond each limit",
     confirmed_by, (59,), (58,)),
    (UTILITY, "a number from 0, as in the original, to 1, no relation left",
     relations_lost, ("permuted", 1.0), ("permuted", 0.9)),
    (COMPARE, "Microaggregation of `bodyfat` loses 0.034 of the correlations at k 2 "
     "and 0.065 at k 3",
     match_steps, ((0.034, 0.065),), ((0.034, 0.034),)),
    (MATHEMATICS, r"1 - \prod_i \big( 1 - P(\text{row } i \text{ shows } t \text{ on } A) \big)",
     shown_somewhere, (lambda p: 1 - np.prod(1 - p, axis=0),), (lambda p: p.sum(axis=0),)),
    (MATHEMATICS, "$E[X^2Y^2] = 1/24$, while $E[X^2]\\,E[Y^2] = 1/16$",
     disc_moment, (1 / 24,), (1 / 16,)),
    (MATHEMATICS, r"\max_b \big( \ln \max_a T_{ab} - \ln \min_a T_{ab} \big)",
     matrix_epsilon, (lambda t: float((np.log(t.max(0)) - np.log(t.min(0))).max()),),
     (lambda t: float(np.log(t.max() / t.min())),)),
    (KERNELS, "Then the expected mean of every variable",
     means_are_right, (BALANCED,), (EVEN,)),
    ("rwn_ui/learn/lessons.toml", "exp(−λ(1 − π))",
     unique_in_population, (lambda mean, share: np.exp(-mean * (1 - share)),),
     (lambda mean, _: np.exp(-mean),)),
    ("rwn_ui/learn/lessons.toml", "it is missed with a chance of at most 1/e = 37 %",
     missed_outlier, (1 / np.e,), (0.30,)),
    (PAPERS, "leakage of 11 yes-no keys | 0.016 | 0.0210035",
     leakage, (0.0210035,), (0.016,)),
    (K_NOISE, "at least half of the records within 2 delta of a value are expected to "
     "be released within 2 delta of it",
     within_reach, (0.5,), (0.6,)),
    (METHODS, "every single distribution must stay exactly as it is",
     keeps_distributions, (rwn.RankSwapping(p=0.2),), (rwn.RWN(k=5),)),
    (METHODS, "published counts must not change by one",
     keeps_counts, (rwn.RandomSwapping(share=0.8),), (rwn.PRAM(change=0.4),)),
    (METHODS, "these are kept in expectation, at any size of the noise",
     keeps_covariances, (rwn.CorrelatedNoise(size=2.0),), (rwn.AdditiveNoise(size=0.5),)),
    (METHODS, "each released row shall stand for at least k people",
     stands_for, (rwn.Microaggregation(k=10), 10), (rwn.RWN(k=10), 10)),
    (NOTICE, "An interval may miss the original's value however wide it is",
     wide_intervals_miss, (rwn.RWN(epsilon=2.0, k=5),), (rwn.RWN(k=1, q=0.0),)),
)  # fmt: skip
CLAIMS = [Claim(*row) for row in ROWS]


ROOT = Path(__file__).resolve().parents[2]


def words_of(page: str) -> str:
    """The text of a page: one blank for white space."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if page.endswith(".toml"):
        text = text.replace("\\\n", "")
    return " ".join(text.split())


def test_the_sentences_are_on_their_pages() -> None:
    assert len(CLAIMS) >= 40
    lost = [(one.page, one.sentence) for one in CLAIMS if one.sentence not in words_of(one.page)]
    assert lost == []


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.sentence[:60])
def test_a_stated_fact_is_so_and_another_one_is_not(claim: Claim) -> None:
    assert claim.check(*claim.true), claim.sentence
    assert not claim.check(*claim.false), f"a false variant passes: {claim.sentence}"
