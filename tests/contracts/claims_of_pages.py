"""Facts that pages, lessons and notices state, their checks, and a planted falsehood for each."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import rwn_core as rwn
from tests.contracts import method_checks as methods
from tests.contracts import release_checks as released
from tests.contracts import risk_checks as risk


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a page, and what decides if it is true.

    Attributes
    ----------
    page : str
        A file of the project.
    sentence : str
        Words of the page, white space aside.
    check : callable
        Says if what it is given is so.
    true, false : tuple
        What the sentence states, and something else that the check must reject.
    """

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


def claims(*rows: tuple[Any, ...]) -> tuple[Claim, ...]:
    """Return the claims of rows: page, sentence, check, what is true, and what is false."""
    return tuple(Claim(*row) for row in rows)


CLAIMS = claims(
    (README, "the same settings and seed give the same bytes",
     released.same_bytes, (7, 7), (7, 8)),
    (README, "Every released value was really observed",
     released.only_observed_values, (rwn.RWN(k=5),), (rwn.AdditiveNoise(size=0.1),)),
    (README, "With small neighborhoods and many finely measured variables, nearly all of them",
     risk.worst_case, (0.0, 5, 0.99, 1.0), (8.0, 5, 0.99, 1.0)),
    (README, "even the best intruder links only 3 % of the rows; but an intruder who "
     "knows age, weight and height finds the person's own row, with the true "
     "body fat, beyond chance for 61 % of the people",
     risk.slices_row, ("rows", 3.2, 61, 0.055), ("rows", 3.2, 70, 0.055)),
    (README, "Each further release of the same people, corrected or extended or with "
     "other parameters, gives an intruder more evidence",
     risk.more_releases_link_more, (False,), (True,)),
    (README, "means drift to where records are dense",
     released.means_drift_to_the_crowd, (EVEN,), (BALANCED,)),
    (README, "Small groups shrink",
     released.small_groups_shrink, (EVEN,), (BALANCED,)),
    (README, "standard errors computed from the release are too small",
     released.standard_errors_too_small, (1.0,), (0.0,)),
    (README, "This is what balance mends *inside a slice*: robust standard errors times 1.42 cover "
     "sampling and masking together",
     released.intervals_cover, (1.42,), (1.0,)),
    (COSTS, "the expected share of cells that really change is at most q",
     released.changed_cells, (operator.le,), (operator.ge,)),
    (COSTS, "at least the k nearest records are donors",
     released.least_neighborhood, (5,), (6,)),
    (COSTS, "A category changes only where neighborhoods reach across categories, "
     "which small ones rarely do",
     released.changed_regions, (0.02,), (-0.01,)),
    (SLICES, "| each variable alone (RWN 2022) | 14 % | 0.6 % | 0.40 |",
     risk.slices_row, ("alone", 14.4, 0.6, 0.40), ("alone", 12, 0.6, 0.40)),
    (SLICES, "| keys together, body fat alone, the others together | 6.1 % | 1.3 % | 0.18 |",
     risk.slices_row, ("confidential", 6.1, 1.3, 0.18), ("confidential", 6.1, 4.9, 0.18)),
    (SLICES, "| keys together, the others together | 5.0 % | 61 % | 0.14 |",
     risk.slices_row, ("two", 5.0, 61, 0.14), ("two", 5.0, 61, 0.18)),
    (SLICES, "| whole rows | 3.2 % | 61 % | 0.05 |",
     risk.slices_row, ("rows", 3.2, 61, 0.055), ("rows", 5.0, 61, 0.055)),
    (SLICES, "Slices do not change the means of variables; relations between two "
     "slices weaken as between single variables",
     released.covariance_with_slices, (("age", "siri"),), (("age", "weight"),)),
    (SLICES, "the values in a slice are one real person's values, side by side",
     released.true_fragments, ("two",), ("alone",)),
    (ROUND, "| about 0.5 SD | 34 % | 0.103 | 90 % | 0.067 |",
     risk.rounding_row, (0.5, 25, 34, 0.103), (0.5, 25, 34, 0.092)),
    (ROUND, "in small ones nine in ten rows are linked all the same",
     risk.rounding_row, (0.5, 5, 90, 0.067), (0.5, 5, 80, 0.067)),
    (ROUND, "halves go to the even multiple",
     risk.rounds, (2.5, 1.0, 2.0), (2.5, 1.0, 3.0)),
    (RISK, "| epsilon 0, k = 50 | 73 % | 90 % | 89 % |",
     risk.three_attacks, (0.0, 50, (73, 90, 89)), (0.0, 50, (73, 87, 89))),
    (RISK, "| epsilon 4, k = 5 | 46 % | 48 % | 51 % |",
     risk.three_attacks, (4.0, 5, (46, 48, 51)), (4.0, 5, (46, 48, 55))),
    (RISK, "the success beyond the control group, (r − c) / (1 − c)",
     risk.excess, (lambda r, c: (r - c) / (1 - c),), (lambda r, c: r - c,)),
    (RISK, "61 % of the people are named rightly beyond chance by age, weight and height",
     risk.slices_row, ("rows", 3.2, 61, 0.055), ("rows", 3.2, 64, 0.055)),
    (SETTING, "In 9 of 10 releases of bodyfat at epsilon 2, k 5 it is 10 to 16 %",
     risk.distance_linkage, (10, 16), (12, 16)),
    (SETTING, "an intruder who knows the method and holds the original file links over 99 %",
     risk.worst_case, (2.0, 5, 0.99, 1.0), (2.0, 5, 0.0, 0.99)),
    (SWEEP, "from 19 releases on by their order, right for any distribution",
     methods.range_of_one_more, (19,), (8,)),
    (SETTING, "Where everybody gives the same confidential answer, nothing is gained "
     "by knowing it",
     risk.unmasked_gain, ("constant", 0.0), ("rare", 0.05)),
    (SWEEP, "checked on 59 new ones: at 95 % confidence at most 1 in 20 further "
     "releases lies beyond each limit",
     methods.confirmed_by, (59,), (58,)),
    (UTILITY, "a number from 0, as in the original, to 1, no relation left",
     methods.relations_lost, ("permuted", 1.0), ("permuted", 0.9)),
    (UTILITY, "Counts, intact cells and means of variables without missing values are exact",
     released.forecast_is_exact, (5,), (40,)),
    (COMPARE, "Microaggregation of `bodyfat` loses 0.034 of the correlations at k 2 "
     "and 0.065 at k 3",
     methods.match_steps, ((0.034, 0.065),), ((0.034, 0.034),)),
    (MATHEMATICS, r"1 - \prod_i \big( 1 - P(\text{row } i \text{ shows } t \text{ on } A) \big)",
     released.shown_somewhere, (lambda p: 1 - np.prod(1 - p, axis=0),), (lambda p: p.sum(axis=0),)),
    (MATHEMATICS, "$E[X^2Y^2] = 1/24$, while $E[X^2]\\,E[Y^2] = 1/16$",
     methods.disc_moment, (1 / 24,), (1 / 16,)),
    (MATHEMATICS, r"\max_b \big( \ln \max_a T_{ab} - \ln \min_a T_{ab} \big)",
     methods.matrix_epsilon, (lambda t: float((np.log(t.max(0)) - np.log(t.min(0))).max()),),
     (lambda t: float(np.log(t.max() / t.min())),)),
    (KERNELS, "Then the expected mean of every variable",
     released.means_are_right, (BALANCED,), (EVEN,)),
    ("rwn_ui/learn/lessons.toml", "at a small ε it can rise a little",
     methods.correlation_of_theorem, (0.3, 1.0, 1.1), (1.5, 1.0, 1.1)),
    ("rwn_ui/learn/lessons.toml", "One variable leaves a few dozen originals",
     risk.candidates, (1, 24, 96), (2, 24, 96)),
    ("rwn_ui/learn/lessons.toml", "three together leave a handful",
     risk.candidates, (3, 2, 8), (1, 2, 8)),
    ("rwn_ui/learn/lessons.toml", "nearly always leave one",
     risk.candidates, (15, 1, 1), (2, 1, 1)),
    ("rwn_ui/learn/lessons.toml", "20. Another group is more than four standard deviations",
     methods.groups_mix_at, (20,), (15,)),
    ("rwn_ui/learn/lessons.toml", "exp(−λ(1 − π))",
     methods.unique_in_population, (lambda mean, share: np.exp(-mean * (1 - share)),),
     (lambda mean, _: np.exp(-mean),)),
    ("rwn_ui/learn/lessons.toml", "it is missed with a chance of at most 1/e = 37 %",
     methods.missed_outlier, (1 / np.e,), (0.30,)),
    (PAPERS, "leakage of 11 yes-no keys | 0.016 | 0.0210035",
     methods.leakage, (0.0210035,), (0.016,)),
    (K_NOISE, "at least half of the records within 2 delta of a value are expected to "
     "be released within 2 delta of it",
     methods.within_reach, (0.5,), (0.6,)),
    (METHODS, "every single distribution must stay exactly as it is",
     methods.keeps_distributions, (rwn.RankSwapping(p=0.2),), (rwn.RWN(k=5),)),
    (METHODS, "published counts must not change by one",
     methods.keeps_counts, (rwn.RandomSwapping(share=0.8),), (rwn.PRAM(change=0.4),)),
    (METHODS, "these are kept in expectation, at any size of the noise",
     methods.keeps_covariances, (rwn.CorrelatedNoise(size=2.0),), (rwn.AdditiveNoise(size=0.5),)),
    (METHODS, "each released row shall stand for at least k people",
     methods.stands_for, (rwn.Microaggregation(k=10), 10), (rwn.RWN(k=10), 10)),
    (NOTICE, "An interval may miss the original's value however wide it is",
     released.wide_intervals_miss, (rwn.RWN(epsilon=2.0, k=5),), (rwn.RWN(k=1, q=0.0),)),
)  # fmt: skip
