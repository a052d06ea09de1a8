"""Later slices of a chain from donors that are predicted about as the row's other values predict.

Predictive mean matching with the law of a chain: the score of a row is that of a fit without the
people that it shows values of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, product
from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import Term
from rwn_core.data.use import Use
from rwn_core.data.variable import Kind
from rwn_core.laws.cell_law import Predicted
from rwn_core.laws.chained_slices import Chain
from rwn_core.laws.unit_law import Unit
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.table import Neighborhoods
from rwn_core.randomness import SecretKey, uniforms

PLACE_STEP = 3 * 2**30 + 1  # the block of random numbers of the lots of rows
RECORD_STEP = 3 * 2**30 + 2  # and of records
RIDGE = 1e-6  # times the records: it makes a fit unique, and no more
RESIDUAL_RIDGE = 1e-6  # of the mean variance of residuals, added to each
LEAST_VARIANCE = 1e-12  # added, too: where a fit leaves no residuals
SURE = 0.999  # a leverage above it cancels in closed form; the fit is made anew
WELL_BELOW = 0.99  # of `SURE`: a bound of a leverage up to there is enough, however it is rounded
MOST_AXES = 3
LEAST_AXIS = 0.1  # of the spread of the first axis
NOTHING = 1e-9  # spread of scores that predict nothing
DIGITS = 9  # of scores, so that equal ones are equal on every processor
SUMMED = 4_096  # records that are added at a time, in the order of the file

Lots = Callable[[Sequence[str], int, int], tuple[Floats, Floats]]
"""Returns a lot of each row and of each record: shapes (n,), (m,), given the slice, n and m."""


def keyed_lots(key: SecretKey, streams: Mapping[str, int]) -> Lots:
    """Return the lots of a key; `streams` are the streams of random numbers of variables."""

    def lots(names: Sequence[str], rows: int, records: int) -> tuple[Floats, Floats]:
        stream = streams[names[0]]
        of_rows = uniforms(key, np.arange(rows), stream, PLACE_STEP)[0]
        of_records = uniforms(key, np.arange(records), stream, RECORD_STEP)[0]
        return of_rows, of_records

    return lots


class Coordinates(NamedTuple):
    """The standardized coordinates of the records of a table and of the rows of its release."""

    records: Floats  # shape (m, d)
    rows: Floats  # shape (n, d)


class Fit(NamedTuple):
    """A ridge fit of all records with a free intercept; the ridge only makes it unique."""

    predictors: Floats  # shape (m, d), centered
    responses: Floats  # shape (m, c)
    inverse: Floats  # shape (d, d): of their squares with the ridge
    coefficients: Floats  # shape (d, c)
    scores: Floats  # shape (m, c)


class Scores(NamedTuple):
    """The scores of records and rows on axes on which the residuals of the fit have unit spread."""

    records: Floats  # shape (m, a)
    rows: Floats  # shape (n, a)
    spreads: Floats  # shape (a,): of the records, falling; all 0 where nothing predicts


def fit_records(predictors: Floats, responses: Floats) -> Fit:
    """Fit responses, shape (m, c), by predictors, shape (m, d), with their mean free."""
    m, d = predictors.shape
    centered = predictors - predictors.mean(axis=0)
    means = responses.mean(axis=0)
    squares = summed_products(centered, centered) + RIDGE * m * np.eye(d)
    coefficients = np.linalg.solve(squares, summed_products(centered, responses - means))
    scores = means + centered @ coefficients
    return Fit(centered, responses, np.linalg.inv(squares), coefficients, scores)


def summed_products(one: Floats, other: Floats) -> Floats:
    """Return the products of columns, added over records in blocks in the order of the file."""
    # Shapes: one (m, d), other (m, c); the answer (d, c).
    total = np.zeros((one.shape[1], other.shape[1]))
    for first in range(0, len(one), SUMMED):
        some = slice(first, first + SUMMED)
        total += one[some].T @ other[some]
    return total


def scores_without(fit: Fit, asked: Floats, left_out: Sequence[Integers]) -> Floats:
    """Return the scores of points by the fit without some records, others for each point.

    By the values that a row shows, never by the number of its donor: two records of one content
    would else give rows that show it unlike scores, and tell which of them gave it.

    Parameters
    ----------
    fit : Fit
        Of all m records.
    asked : ndarray of float64, shape (k, d)
        Centered as the predictors of the fit.
    left_out : sequence of ndarray of int64
        For each point the records that its fit does not have.

    Returns
    -------
    ndarray of float64, shape (k, c)
    """
    scores: Floats = fit.responses.mean(axis=0) + asked @ fit.coefficients
    turned = fit.predictors @ fit.inverse
    sizes = np.array([len(each) for each in left_out])
    for size in np.unique(sizes[sizes > 0]):
        points = np.flatnonzero(sizes == size)
        for some in np.array_split(points, -(-len(points) * int(size) // SUMMED)):
            records = np.stack([left_out[point] for point in some])
            moved, cancels = _moved(fit, turned, asked[some], records)
            scores[some[~cancels]] += moved[~cancels]
            for point in some[cancels]:
                scores[point] = _refitted(fit, asked[point], left_out[point])
    return scores


def _moved(fit: Fit, turned: Floats, asked: Floats, records: Integers) -> tuple[Floats, Booleans]:
    """Return how leaving out records moves scores of points, and where that cancels too much."""
    # Shapes: turned (m, d), the predictors times the inverse; asked (k, d), records (k, g); the
    # answer (k, c) and (k,).
    m = len(fit.predictors)
    g = records.shape[1]
    residuals = (fit.responses - fit.scores)[records]
    # what these records have of their own scores, and of the point's
    leverage = 1 / m + turned[records] @ fit.predictors[records].transpose(0, 2, 1)
    pull = 1 / m + (turned[records] @ asked[:, :, np.newaxis])[:, :, 0]
    cancels = _largest_above(leverage, SURE)
    leverage[cancels] = 0.0
    solved = np.linalg.solve(np.eye(g) - leverage, residuals)
    moved: Floats = -(pull[:, np.newaxis, :] @ solved)[:, 0]
    return moved, cancels


def _largest_above(matrices: Floats, limit: float) -> Booleans:
    """Return which symmetric matrices, shape (k, g, g), have an eigenvalue above a limit."""
    above = np.zeros(len(matrices), dtype=bool)
    # none is above the root of the sum of all squares, which is far below of nearly all
    open_ = np.sqrt((matrices**2).sum(axis=(1, 2))) > WELL_BELOW * limit
    if open_.any():
        above[open_] = np.linalg.eigvalsh(matrices[open_])[:, -1] > limit
    return above


def _refitted(fit: Fit, point: Floats, records: Integers) -> Floats:
    """Return the score of a point by a fit of the others; the ridge stays that of all."""
    # Shapes: point (d,), the answer (c,).
    m, d = fit.predictors.shape
    others = np.delete(np.arange(m), records)
    predictors = fit.predictors[others]
    responses = fit.responses[others]
    centers = predictors.mean(axis=0)
    means = responses.mean(axis=0)
    centered = predictors - centers
    squares = summed_products(centered, centered) + RIDGE * m * np.eye(d)
    coefficients = np.linalg.solve(squares, summed_products(centered, responses - means))
    score: Floats = means + (point - centers) @ coefficients
    return score


class Axes(NamedTuple):
    """The axes of scores."""

    covariance: Floats  # shape (c, c): of residuals, divisor m, before anything is added
    factor: Floats  # shape (c, a): scores without their mean, times it, lie on the axes
    spreads: Floats  # shape (a,)


def axes_of(fit: Fit) -> Axes:
    """Return at most three axes of scores, in units of residuals, in the order of spread."""
    m, c = fit.scores.shape
    residuals = fit.responses - fit.scores
    residuals = residuals - residuals.mean(axis=0)
    covariance = summed_products(residuals, residuals) / m
    added = RESIDUAL_RIDGE * np.diag(covariance).mean() + LEAST_VARIANCE
    scale = np.linalg.inv(np.linalg.cholesky(covariance + added * np.eye(c))).T
    scaled = (fit.scores - fit.scores.mean(axis=0)) @ scale
    squares, vectors = np.linalg.eigh(summed_products(scaled, scaled) / (m - 1))
    falling = np.argsort(-squares, kind="stable")[:MOST_AXES]
    spreads = np.sqrt(np.maximum(squares[falling], 0.0))
    own = spreads >= LEAST_AXIS * spreads[0]
    chosen = vectors[:, falling[own]]
    largest = np.abs(chosen).argmax(axis=0)
    signs = np.sign(chosen[largest, np.arange(chosen.shape[1])])
    return Axes(covariance, scale @ (chosen * signs), spreads[own])


def places(scores: Floats, lots: Floats, spreads: Floats) -> Floats:
    """Return the places of scores, shape (n, a): their ranks, ties by lot, in spreads of axes."""
    # Shapes: scores (n, a), lots (n,), spreads (a,).
    found = np.empty_like(scores)
    for axis, spread in enumerate(spreads):
        order = np.lexsort((lots, scores[:, axis]))
        found[order, axis] = np.arange(len(scores)) / len(scores) * spread
    return found


@dataclass(slots=True, kw_only=True, eq=False)
class PredictedChain(Chain):
    """A chain with later slices from records that are predicted as the row is.

    Records and rows lie where a prediction of the later slice places them.
    """

    table: Microdata  # the m records with their values as they will be released
    # shape (n,), (m,): secret, and so averaged over by an intruder
    lots: Lots
    terms: tuple[Term, ...] = ()  # products of variables that predict besides them
    use: Use | None = None  # what the file is stated for: products of its regressions join them
    said: list[Predicted] = field(default_factory=list)  # of the slices drawn so far
    metric: Metric | None = None  # of all variables, each with weight 1

    def next_slice(self, names: Unit) -> Neighborhoods:
        """Return the possible donors of the next slice; see `Chain.donors_nearby`."""
        self.refuse_few(names)
        coordinates = self.coordinates(names)
        scores = self.scores(names, coordinates)
        self.placed = np.concatenate(self.lying(names, scores))
        found = self.donors_nearby()
        kept = kept_share(found, scores)
        known = self.known
        self.said.append(
            Predicted(
                names=tuple(names),
                regressors=tuple(chain.from_iterable(each.names for each in self.shown)),
                terms=tuple(
                    ":".join(map(str, term))
                    for term in self.terms_for(names)
                    if within(term, known)
                ),
                later=self.later,
                records=self.records,
                columns=coordinates.records.shape[1],
                kept=kept,
            )
        )
        return found

    @property
    def known(self) -> set[str]:
        """The variables that the rows show already."""
        return set(chain.from_iterable(each.names for each in self.shown))

    def terms_for(self, names: Sequence[str]) -> tuple[Term, ...]:
        """Return the products that predict some variables: the given and the stated ones."""
        terms = {frozenset(term): term for term in self.terms}
        for term in () if self.use is None else self.use.products_for(names):
            squared = [self.table.schema.variable(each.name) for each in term if each.transform]
            if all(each.kind is not Kind.CATEGORICAL for each in squared):
                terms.setdefault(frozenset(term), term)
        return tuple(terms.values())

    def coordinates(self, names: Sequence[str] = ()) -> Coordinates:
        """Return what predicts some variables: the earlier slices and their terms."""
        records = self._coordinates()
        rows = np.empty((self.rows, records.shape[1]))
        own: list[int] = []
        for each in self.shown:
            columns = self._columns(each.names)
            rows[:, columns] = records[each.donors][:, columns]
            own += columns
        own.sort()
        parts = [Coordinates(records[:, own], rows[:, own])]
        known = self.known
        for term in self.terms_for(names):
            for factors in self._products(term) if within(term, known) else ():
                of_records = records[:, factors].prod(axis=1)
                of_rows = rows[:, factors].prod(axis=1)
                spread = float(of_records.std(ddof=1))
                if spread > NOTHING:
                    center = of_records.mean()
                    scaled = [(each - center) / spread for each in (of_records, of_rows)]
                    parts.append(Coordinates(*(each[:, np.newaxis] for each in scaled)))
        return Coordinates(*(np.concatenate(each, axis=1) for each in zip(*parts, strict=True)))

    def scores(self, names: Sequence[str], coordinates: Coordinates) -> Scores:
        """Return the scores of records, in the sample, and of rows, without those they show."""
        responses = self._coordinates()[:, self._columns(names)]
        m, n = len(responses), len(coordinates.rows)
        if not responses.shape[1]:  # a slice of constants
            return Scores(np.zeros((m, 1)), np.zeros((n, 1)), np.zeros(1))
        # what depends on the table alone
        about = (
            "prediction of a later slice",
            tuple(each.names for each in self.shown),
            tuple(names),
            self.terms_for(names),
        )
        fit = self.table.cached(about, lambda: fit_records(coordinates.records, responses))
        axes = axes_of(fit)
        # rows that show the same have the same score
        contents = np.column_stack([of[donors] for _, of, donors in self.shown])
        _, first, like = np.unique(contents, axis=0, return_index=True, return_inverse=True)
        asked = coordinates.rows[first] - coordinates.records.mean(axis=0)
        of_rows = scores_without(fit, asked, self.holders(first))[like.ravel()]
        means = fit.scores.mean(axis=0)
        own = ((fit.scores - means) @ axes.factor).round(DIGITS)
        others = ((of_rows - means) @ axes.factor).round(DIGITS)
        spreads = axes.spreads.round(DIGITS)
        return Scores(own, others, spreads if spreads[0] > NOTHING else np.zeros(len(spreads)))

    def lying(self, names: Sequence[str], scores: Scores) -> tuple[Floats, Floats]:
        """Return where records and rows lie: at matched places, or at their scores."""
        if not self.balanced:
            return scores.records, scores.rows
        of_rows, of_records = self.lots(names, len(scores.rows), len(scores.records))
        # where nothing predicts, all scores are ties, and places are lots
        spreads = scores.spreads if scores.spreads.any() else np.ones(len(scores.spreads))
        return places(scores.records, of_records, spreads), places(scores.rows, of_rows, spreads)

    def holders(self, rows: Integers) -> list[Integers]:
        """Return for each row the records that its score is without."""
        # As those that are no donors of it.
        left_out = self.left_out(rows)
        held = left_out.indices.astype(np.int64)
        return [held[first:last] for first, last in pairwise(left_out.indptr.tolist())]

    def _coordinates(self) -> Floats:
        """Return the coordinates of all records in all variables, shape (m, D)."""

        def found() -> tuple[Metric, Floats]:
            metric = Metric.fit(self.table, equal_weights=True)
            return metric, metric.points(self.table)

        self.metric, points = self.table.cached(("coordinates", *self.table.names), found)
        return points

    def _columns(self, names: Sequence[str]) -> list[int]:
        """Return the coordinates of some variables."""
        assert self.metric is not None
        return [at for at, axis in enumerate(self.metric.axes) if axis.variable.name in names]

    def _products(self, term: Term) -> list[list[int]]:
        """Return the coordinates to multiply: of numbers their own, of categories each level's."""
        assert self.metric is not None
        choices: list[list[int]] = []
        for factor in term:
            columns = [
                at
                for at in self._columns([factor.name])
                if self.metric.axes[at].variable.kind is Kind.CATEGORICAL
                or not self.metric.axes[at].missing
            ]
            choices += [columns] * (2 if factor.transform == "square" else 1)
        return [list(each) for each in product(*choices)]


def within(term: Term, names: set[str]) -> bool:
    """True if all variables of a term are among some."""
    return {factor.name for factor in term} <= names


def kept_share(found: Neighborhoods, scores: Scores) -> float:
    """Return the slope of the expected score of what is drawn on a row's own, on the first axis.

    A regression of the slice on what predicts it has about this share of its slopes.
    """
    assert found.shares is not None  # as `Chain.donors_nearby` makes them
    own = scores.rows[:, 0] - scores.rows[:, 0].mean()
    if not scores.spreads.any() or not own.any():
        return float("nan")
    given = found.shares * scores.records[found.table.records, 0]
    expected = np.add.reduceat(given, found.table.offsets[:-1])
    return float(own @ (expected - expected.mean()) / (own @ own))
