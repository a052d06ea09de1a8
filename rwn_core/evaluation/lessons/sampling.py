"""Compares three promises: being in a sample only, keys that may be wrong, and privacy by law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import ParameterError
from rwn_core.laws.transition_matrix import Matrix, mixed_matrix, privacy_epsilon
from rwn_core.measures.statistics.population import expected_inverse, probability_unique

POPULATION = 100_000
SHARE = 0.2  # of people with the answer yes to each key
CATEGORIES = 3  # of the key that is misclassified
MOST = 12.0  # population mean of a cell at the end of the curve
_STEPS = 121


def leakage(keys: int, population: int, sample: int, share: float = SHARE) -> float:
    """Expected share of sample uniques that are population uniques, for independent yes-no keys.

    >>> round(leakage(11, 100_000, 2_000), 4)
    0.021
    """
    if not 1 <= sample <= population:
        raise ParameterError("The sample must have from 1 record to the whole population.")
    both = alone = 0.0
    for yes in range(keys + 1):
        cells = math.comb(keys, yes)
        chance = share**yes * (1 - share) ** (keys - yes)
        both += cells * sample * chance * math.exp((population - 1) * math.log1p(-chance))
        alone += cells * sample * chance * math.exp((sample - 1) * math.log1p(-chance))
    return both / alone


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleRisk:
    """The risk of a sample unique, and the bounds that a matrix promises."""

    fraction: float  # the sampling fraction pi
    # shape (m,): lambda, how many people of the population share a key on average
    rate: Floats
    unique: Floats  # shape (m,): P(F = 1 | f = 1) = exp(-(1 - pi) lambda)
    # shape (m,): E(1/F | f = 1): chance that a match of a sample unique is right
    match: Floats
    # shape (m,): the same where the key of the row may be wrong: times the chance that it is right
    misclassified: Floats
    right: float  # that chance
    matrix: Matrix  # shape (3, 3): P(released | true) of the key
    epsilon: float  # of local differential privacy; infinite for none
    leakage: float


def sampling(*, fraction: float, keys: int, change: float) -> SampleRisk:
    """Give the risk under sampling and misclassification."""
    rate = np.linspace(0.0, MOST, _STEPS)
    matrix = mixed_matrix(change, np.full(CATEGORIES, 1 / CATEGORIES))
    right = float(matrix[0, 0])
    match = expected_inverse(rate, fraction)
    return SampleRisk(
        fraction=fraction,
        rate=rate,
        unique=probability_unique(rate, fraction),
        match=match,
        misclassified=right * match,
        right=right,
        matrix=matrix,
        epsilon=privacy_epsilon(matrix)[0],
        leakage=leakage(keys, POPULATION, max(1, round(fraction * POPULATION))),
    )
