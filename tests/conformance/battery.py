"""Try to refute that a masking draws as it says: tests on whose value each released cell has.

Each test reads `sources`, shape (R, n, p): the donor of every cell in R releases of one table,
or the record itself where its value was kept. It returns the probability of a deviation at
least as large as the one seen, if the mechanism is right. The expected neighborhoods are
computed here, from the table, by code that rwn_core does not share. The releases are thousands
at once: every replicate has its own secret key, as if run one by one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from rwn_core import Neighborhoods, SecretKey, draw_donors
from tests.oracles.record_chain import RecordChain

ALPHA = 1e-6
LEAST_EXPECTED = 5  # draws of a donor, below which chi-square is no measure of it


def replicate_keys(base: str, count: int) -> list[bytes]:
    """The 32 bytes of each replicate's key."""
    return [hashlib.sha256(f"{base}:{number}".encode()).digest() for number in range(count)]


class ManyKeys(SecretKey):
    """Stands in for a key: block number b of a call is under key number b."""

    __slots__ = ("_words",)

    def __init__(self, keys: list[bytes], each: int) -> None:
        words = np.frombuffer(b"".join(keys), dtype="<u4").astype(np.uint32).reshape(-1, 8)
        self._words = np.repeat(words, each, axis=0).T.copy()

    @property
    def words(self) -> np.ndarray:
        """Key words of every record of every replicate, shape (8, R * n)."""
        return self._words


def replicate_draws(keys: list[bytes], n: int, p: int) -> RecordChain:
    """The random numbers of all R * n records, replicate by replicate."""
    records = np.tile(np.arange(n), len(keys))
    return RecordChain(ManyKeys(keys, n), records, range(p))


def replicate_sources(neighborhoods: Neighborhoods, draws: RecordChain, q: object) -> np.ndarray:
    """Whose value each cell of each replicate has, shape (R, n, p)."""
    p = len(draws.streams)
    probabilities = np.broadcast_to(np.asarray(q, dtype=float), p)
    return draw_donors(neighborhoods, draws, probabilities).reshape(-1, neighborhoods.n, p)


@dataclass(frozen=True, kw_only=True)
class Design:
    """The table that is masked and the setting it is masked with."""

    table: np.ndarray
    k: int
    epsilon: float
    q: float

    def members(self) -> list[np.ndarray]:
        """S_i of every record: within epsilon, or the k nearest with their ties."""
        scaled = (self.table - self.table.mean(0)) / self.table.std(0, ddof=1)
        sets = []
        for own, record in enumerate(scaled):
            distance = np.sqrt(((scaled - record) ** 2).sum(1))
            distance[own] = np.inf
            radius = max(self.epsilon, np.sort(distance)[self.k - 1])
            sets.append(np.flatnonzero(distance <= radius * (1 + 5e-10)))
        return sets


class Evidence:
    """Sources with what several tests derive from them."""

    def __init__(
        self,
        sources: np.ndarray,
        members: list[np.ndarray],
        q: float,
        weights: list[np.ndarray] | None = None,
    ) -> None:
        self.sources, self.members, self.q = sources, members, q
        self.releases, self.n, self.p = sources.shape
        self.modified = sources != np.arange(self.n)[:, None]
        self.weights = weights or [np.full(len(each), 1 / len(each)) for each in members]

    def place(self) -> np.ndarray:
        """Where in S_i, by record number, the donor is: -1/2 to 1/2, 0 on average; NaN if kept."""
        places = np.full((self.n, self.n), np.nan)
        for record, (each, weights) in enumerate(zip(self.members, self.weights, strict=True)):
            places[record, each] = np.cumsum(weights) - weights / 2 - 0.5
        return places[np.arange(self.n)[:, None], self.sources]

    def donor_counts(self) -> Iterator[tuple[int, np.ndarray]]:
        """Each record with how often each member gave each column, shape (|S_i|, p)."""
        cells = np.arange(self.n * self.p).reshape(self.n, self.p)
        counts = np.bincount((cells * self.n + self.sources).ravel(), minlength=self.n**2 * self.p)
        counts = counts.reshape(self.n, self.p, self.n)
        for record, each in enumerate(self.members):
            yield record, counts[record][:, each].T


def _two_sided(scores: list[float]) -> float:
    """The largest of several standard normal scores, by Bonferroni."""
    return float(min(1.0, len(scores) * 2 * stats.norm.sf(max(map(abs, scores)))))


def _mean_score(products: np.ndarray) -> float:
    """How many standard errors the mean of numbers that should average 0 is away from it."""
    return float(products.sum() / np.sqrt((products**2).sum() + 1e-300))


def donors_are_members(evidence: Evidence) -> float:
    """Exact: every donor is in S_i, or the value was kept."""
    allowed = np.eye(evidence.n, dtype=bool)
    for record, each in enumerate(evidence.members):
        allowed[record, each] = True
    return float(allowed[np.arange(evidence.n)[:, None], evidence.sources].all())


def modification_rate(evidence: Evidence) -> float:
    """Binomial: the share of modified cells is q."""
    modified = evidence.modified
    return float(stats.binomtest(int(modified.sum()), modified.size, evidence.q).pvalue)


def modification_rate_of_each_cell(evidence: Evidence) -> float:
    """Chi-square over the n * p cells: each is modified in a share q of the releases."""
    expected = evidence.releases * evidence.q
    counts = evidence.modified.sum(0)
    statistic = ((counts - expected) ** 2).sum() / (expected * (1 - evidence.q))
    return float(stats.chi2.sf(statistic, counts.size))


def uniformity(evidence: Evidence) -> Iterator[tuple[float, int]]:
    """The chi-square statistic of each record, over its columns, with its degrees of freedom."""
    for record, counts in evidence.donor_counts():
        weights = evidence.weights[record]
        often = weights * counts.sum(0).max() >= LEAST_EXPECTED  # the others are taken together
        if not often.all():
            counts = np.vstack((counts[often], counts[~often].sum(0)))
            weights = np.append(weights[often], weights[~often].sum())
        expected = np.maximum(weights[:, None] * counts.sum(0), 1e-300)
        degrees = (len(counts) - 1) * int((counts.sum(0) > 0).sum())
        yield float(((counts - expected) ** 2 / expected).sum()), degrees


def donors_are_uniform(evidence: Evidence) -> float:
    """Chi-square pooled over all cells: every member has its weight; an even kernel, the same."""
    statistic, degrees = np.sum(list(uniformity(evidence)), axis=0)
    return float(stats.chi2.sf(statistic, max(degrees, 1)))


def donors_of_each_record_are_uniform(evidence: Evidence) -> float:
    """The worst single record, by Holm: pooling would dilute one bad record among many."""
    worst = min(stats.chi2.sf(value, max(degrees, 1)) for value, degrees in uniformity(evidence))
    return float(min(1.0, evidence.n * worst))


def likeliest_donors_have_their_weight(evidence: Evidence) -> float:
    """All records together take from the member with the largest weight as often as it says."""
    seen, expected, variance = 0.0, 0.0, 1e-300
    for record, counts in evidence.donor_counts():
        top = int(evidence.weights[record].argmax())
        weight, total = float(evidence.weights[record][top]), float(counts.sum())
        seen += float(counts[top].sum())
        expected += total * weight
        variance += total * weight * (1 - weight)
    return _two_sided([(seen - expected) / np.sqrt(variance)])


def donors_are_independent_across_columns(evidence: Evidence) -> float:
    """Two modified cells of a row have the same donor with probability sum w^2, or 1/|S_i|."""
    share = np.array([(weights**2).sum() for weights in evidence.weights])
    scores = []
    for one, two in combinations(range(evidence.p), 2):
        both = evidence.modified[:, :, one] & evidence.modified[:, :, two]
        same = both & (evidence.sources[:, :, one] == evidence.sources[:, :, two])
        expected = both.sum(0) * share
        variance = (expected * (1 - share)).sum() + 1e-300
        scores.append((same.sum() - expected.sum()) / np.sqrt(variance))
    return _two_sided(scores)


def hits_are_independent_across_columns(evidence: Evidence) -> float:
    """Whether one cell is modified says nothing about another of its row."""
    centered = evidence.modified - evidence.q
    pairs = combinations(range(evidence.p), 2)
    return _two_sided([_mean_score(centered[:, :, a] * centered[:, :, b]) for a, b in pairs])


def hits_are_independent_across_rows(evidence: Evidence) -> float:
    """Nor about the same column of the next row."""
    centered = evidence.modified - evidence.q
    return _two_sided([_mean_score(centered[:, :-1] * centered[:, 1:])])


def donors_are_independent_across_rows(evidence: Evidence) -> float:
    """The donor's place in S_i says nothing about that of the next row's donor."""
    place = evidence.place()
    products = place[:, :-1] * place[:, 1:]
    return _two_sided([_mean_score(products[~np.isnan(products)])])


def releases_are_independent(evidence: Evidence) -> float:
    """A release under one key says nothing about the release under the next."""
    place = evidence.place()
    centered = evidence.modified - evidence.q
    products = place[:-1] * place[1:]
    return _two_sided(
        [_mean_score(products[~np.isnan(products)]), _mean_score(centered[:-1] * centered[1:])]
    )


BATTERY: tuple[Callable[[Evidence], float], ...] = (
    donors_are_members,
    modification_rate,
    modification_rate_of_each_cell,
    donors_are_uniform,
    donors_of_each_record_are_uniform,
    likeliest_donors_have_their_weight,
    donors_are_independent_across_columns,
    hits_are_independent_across_columns,
    hits_are_independent_across_rows,
    donors_are_independent_across_rows,
    releases_are_independent,
)


def verdicts(
    sources: np.ndarray,
    members: list[np.ndarray],
    q: float,
    weights: list[np.ndarray] | None = None,
) -> dict[str, float]:
    """The probability that each test gives to what was seen."""
    evidence = Evidence(sources, members, q, weights)
    return {test.__name__: test(evidence) for test in BATTERY}


def refuted(*given: Any) -> dict[str, float]:
    """The tests that a mechanism fails, with their probabilities; it is given as to `verdicts`."""
    result = verdicts(*given)
    return {name: value for name, value in result.items() if not value >= ALPHA}
