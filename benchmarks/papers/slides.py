"""Replays the slides on sampling, swapping and differential privacy."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.replay import Attempt, Found, Number, Replay, Request
from rwn_core.evaluation.lessons.sampling import POPULATION, leakage
from rwn_core.laws.transition_matrix import disjoint_share, mixed_matrix, privacy_epsilon

KEYS, SAMPLE = 11, 2_000
_COUNTS = np.array([3.0, 2.0, 1.0])
_MERGED = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def swapped_pairs(counts: NDArray[np.float64], swaps: int) -> NDArray[np.float64]:
    """Expected swapped pairs by their two categories, as the slide has them, shape (K, K)."""
    found = np.outer(counts, counts)
    np.fill_diagonal(found, counts * (counts - 1) / 2)
    return np.asarray(swaps * found / comb(int(counts.sum()), 2))


def sampled_counts(population: int, sample: int) -> NDArray[np.float64]:
    """P(count in the sample | count in the population) of one category, shape (N + 1, n + 1)."""
    from scipy.stats import hypergeom

    have, drawn = np.arange(population + 1), np.arange(sample + 1)
    return np.asarray(hypergeom.pmf(drawn, population, have[:, np.newaxis], sample))


def _slides(_: Request) -> Found:
    leak, swap = (
        "leakage of 11 yes-no keys",
        "swapping, counts 3, 2, 1: entry of categories 1 and 2",
    )
    n = int(_COUNTS.sum())
    matrix = mixed_matrix(disjoint_share(1, n), _COUNTS / n)
    numbers: dict[str, Number | str] = {
        leak: Number(value=leakage(KEYS, POPULATION, SAMPLE)),
        swap: Number(value=float(matrix[0, 1])),
        "epsilon of recoding three of five categories": Number(value=privacy_epsilon(_MERGED)[0]),
        "epsilon of sampling alone": Number(value=privacy_epsilon(sampled_counts(10, 2))[0]),
    }
    attempts = {
        leak: tuple(
            Attempt(words=words, number=Number(value=value))
            for words, value in (
                ("with 10 keys", leakage(10, POPULATION, SAMPLE)),
                ("with 12 keys", leakage(12, POPULATION, SAMPLE)),
                ("with a sample of 1,000", leakage(KEYS, POPULATION, 1_000)),
                ("with a share of 0.25", leakage(KEYS, POPULATION, SAMPLE, 0.25)),
            )
        ),
        swap: (
            Attempt(
                words="as the expected number of swapped pairs, which is no probability",
                number=Number(value=float(swapped_pairs(_COUNTS, 1)[0, 1])),
            ),
        ),
    }
    notes = (
        f"Leakage: sample uniques that are population uniques, for {KEYS} independent keys with a "
        f"share of 0.2 of yes, a population of {POPULATION:,} and a sample of {SAMPLE:,}; in "
        "closed form.",
        "An infinite epsilon says that there is no differential privacy.",
    )
    return Found(numbers=numbers, attempts=attempts, notes=notes)


SLIDES = Replay(
    key="slides-sampling", title="Sampling, swapping and differential privacy", run=_slides
)
