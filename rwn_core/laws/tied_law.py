"""Tied slices: one latent class a row ties their donors, and each slice keeps its law.

Where one slice of a row takes a donor with high values among the neighbors, so do the others. Given
the class the slices are independent, and over the classes each follows the weights of its
neighborhood exactly, so that only the joint law of a row changes: a mixture over the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby, product
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtr, ndtri

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.data.microdata import Microdata, codes_together, joint_codes, numbered
from rwn_core.data.sizes import ATTACKED_PAIRS, LIVE_RECORDS
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import lists_of
from rwn_core.laws.lists import Lists
from rwn_core.laws.tie_kernel import (
    CodedRows,
    DonorScores,
    Tie,
    Ways,
    draw_tied,
    fit_products,
    scale_table,
    tied_logs,
    tied_pair_logs,
    weigh_scores,
)
from rwn_core.laws.unit_law import Unit
from rwn_core.neighbors import Neighborhoods
from rwn_core.neighbors.metric import CODED_LEVELS, Axis, Metric
from rwn_core.neighbors.rule import NeighborhoodRule
from rwn_core.parallel.threads import current_work
from rwn_core.randomness import TIE_STREAM, SecretKey, uniforms

Coded = Sequence[tuple[Integers, Integers]]  # numbers of values, of records and of rows
CLASSES = {1: 128, 2: 256}  # of a row, by the number of factors
BINS = 64  # of the order of a slice
LIMIT = 0.92  # of a squared loading: classes that are nearer to the slices could be recognized
ROUNDS, PART = 4, 0.8  # of correction, each by a part of what is missing
LARGEST_NEEDED = 0.995  # correlation
DIGITS = 10  # of scores and loadings: below them platforms differ
TIE_BLOCK = 2**31 + 2**30  # where the blocks of random numbers of ties begin
AT_ONCE = 20_000_000  # pairs of a source and a row


def directions_of(microdata: Microdata, units: Sequence[Unit]) -> tuple[Metric, list[Floats]]:
    """Return one direction of each unit, along which it is tied, by coordinates of a metric."""
    # Each direction has shape (coordinates of its unit,).
    # Of one number its own; else the direction most related to all other units.
    by_name = microdata.schema.by_name
    plain = microdata.with_weights({v.name: 1.0 for v in microdata.schema.released})
    axes: list[Axis] = []
    for name, own in groupby(Metric.fit(plain).axes, key=lambda axis: axis.variable.name):
        some = list(own)
        if len(some) > CODED_LEVELS:  # the frequent levels
            codes = microdata.codes(name, [axis.level for axis in some])[0]
            counts = np.bincount(codes[codes >= 0], minlength=len(some))
            some = [some[at] for at in np.sort(np.argsort(-counts, kind="stable")[:CODED_LEVELS])]
        axes += some
    metric = Metric(axes=tuple(axes))
    directions = []
    points = metric.points(plain)
    for names in units:
        inside = np.isin([v.variable.name for v in axes], names)
        direction = np.zeros(len(axes))
        if len(names) == 1 and by_name[names[0]].kind is not Kind.CATEGORICAL:
            direction[np.flatnonzero(inside)[:1]] = 1.0  # missing values stand at the mean
        elif inside.any():
            direction[inside] = canonical_direction(points[:, inside], points[:, ~inside])
        directions.append(direction)
    return metric, directions


def canonical_direction(own: Floats, others: Floats) -> Floats:
    """Return the first canonical direction of columns, of length 1, its largest component above 0.

    Shapes: own (n, a), others (n, b); the answer (a,).
    """
    own, others = own - own.mean(axis=0), others - others.mean(axis=0)
    cross = own.T @ others
    ridges = [0.01 * len(own) * np.eye(len(x.T)) for x in (own, others)]
    explained = cross @ np.linalg.solve(others.T @ others + ridges[1], cross.T)
    direction = eigh((explained + explained.T) / 2, own.T @ own + ridges[0])[1][:, -1]
    direction *= np.sign(direction[np.abs(direction).argmax()]) / np.linalg.norm(direction)
    return np.asarray(direction)


def class_points(classes: int, factors: int) -> Floats:
    """Return the factors of each class, shape (classes, factors), with mean 0 and variance 1."""
    points = ndtri((np.arange(classes) + 0.5) / classes)[:, np.newaxis]
    if factors == 2:
        golden = 1.324717957244746  # phi^3 = phi + 1
        steps = np.arange(1, classes // 2 + 1)[:, np.newaxis] / golden ** np.arange(1.0, 3.0)
        half = ndtri(np.mod(0.5 + steps, 1.0))
        points = np.concatenate((half, -half))
    values, vectors = np.linalg.eigh(points.T @ points / classes)
    return np.asarray(points @ (vectors / np.sqrt(values)) @ vectors.T)


def checkerboard(points: Floats, loading: Floats, bins: int = BINS) -> Floats:
    """Return P(bin of the order | class), shape (classes, bins), even over all classes."""
    edges = ndtri(np.arange(bins + 1) / bins) - (points @ loading)[:, np.newaxis]
    below = ndtr(edges / np.sqrt(1.0 - float((loading * loading).sum())))
    table = np.maximum(np.diff(below, axis=1), 1e-12)
    table /= table.sum(axis=0)
    scale_table(table, 1e-13)
    return np.asarray(table)


@lru_cache(maxsize=256)
def _table(loading: tuple[float, ...]) -> Floats:
    """Return the table of a loading, shape (bins, classes)."""
    factors = len(loading)
    return checkerboard(class_points(CLASSES[factors], factors), np.array(loading)).T.copy()


def fit_loadings(needed: Floats, weights: Floats, factors: int = 1) -> Floats:
    """Return loadings with products near the needed correlations, shape (units, factors)."""
    # Shapes: needed, weights (units, units).
    values, vectors = np.linalg.eigh(needed)
    loadings = (vectors * np.sqrt(np.maximum(values, 1e-6)))[:, ::-1][:, :factors].copy()
    fit_products(needed, weights**2 * (1 - np.eye(len(needed))), loadings, LIMIT)
    return np.asarray(loadings * np.where(loadings[0] < 0, -1.0, 1.0))


def needed_correlations(
    scores: Floats, mean: Floats, variance: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the correlation needed inside neighborhoods, its weight, and what is missing."""
    # Shapes: scores (units, n), standardized; mean, variance (units, r); the answers (units,
    # units). What is missing is the covariance that slices drawn apart do not have.
    between = np.atleast_2d(np.cov(mean, bias=True))
    spread = np.sqrt(variance)
    total = np.sqrt(np.diag(between) + variance.mean(axis=1))
    products = spread @ spread.T
    both = np.outer(total, total)
    products = products / mean.shape[1]
    missing = scores @ scores.T / scores.shape[1] * both - between
    needed = missing / np.where(products > 0, products, np.inf)
    np.fill_diagonal(needed, 1.0)
    weights = np.divide(products, both, out=np.zeros_like(both), where=both > 0)
    return np.clip(needed, -LARGEST_NEEDED, 1.0), weights, missing


class Fit(NamedTuple):
    """The loadings, shape (units, factors), what they keep of the relations, and their tie."""

    loadings: Floats
    kept: float
    tie: Tie


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedTie:
    """The tie between the slices of a row, once it is fitted."""

    units: tuple[Unit, ...]
    # of the relations between slices that drawing them apart would lose, the share that is kept
    kept: float
    tie: Tie
    loadings: Floats | None = None  # shape (units, factors)
    metric: Metric | None = None  # what scores of other people need
    directions: Sequence[Floats] = ()  # shape (d,) each: by the coordinates of the metric

    @classmethod
    def fit(
        cls,
        microdata: Microdata,
        units: Sequence[Unit],
        found: Neighborhoods,
        factors: int = 1,
        records: Integers | None = None,
    ) -> FittedTie:
        """Fit loadings to a table and the neighborhoods of its records, or of some."""
        # what does not depend on the neighborhoods
        key = ("tied", tuple(units))
        metric, directions = microdata.cached(key, lambda: directions_of(microdata, units))
        about = (metric, directions, units, microdata)
        scores, ranks = microdata.cached((*key, "ranks"), lambda: scores_of(*about))
        # means and variances of the donors' scores, and their quantile functions by bins
        parts = [found_scores(each, ranks, scores) for each in lists_of(found, records)]
        joined = DonorScores(*(np.concatenate(each, axis=1) for each in zip(*parts, strict=True)))
        return cls(
            units=tuple(units),
            metric=metric,
            directions=directions,
            **cls.fitted_to(scores, ranks, joined, factors)._asdict(),
        )

    @staticmethod
    def fitted_to(scores: Floats, ranks: Integers32, of_donors: DonorScores, factors: int) -> Fit:
        """Fit loadings to the scores of the donors of some records."""
        # Shapes: scores, ranks (units, n).
        mean = of_donors.mean
        variance = of_donors.variance
        bins = of_donors.bins
        u = len(scores)
        varies = scores.std(axis=1) > 0
        needed, weights, missing = needed_correlations(scores, mean, variance)
        r = mean.shape[1]
        pairs = [(one, other) for one, other in product(range(u), range(u)) if other < one]
        common = [bins[one].T @ bins[other] / r for one, other in pairs]
        products, apart = np.sqrt(variance) @ np.sqrt(variance).T / r, mean @ mean.T / r
        safe = np.maximum(products, 1e-12)
        total = sum(abs(missing[pair]) for pair in pairs)
        # the round with the smallest error, in correlations
        goal = needed
        best = (np.inf, np.zeros((u, factors)), 1.0)
        for _ in range(ROUNDS + 1):
            loadings = np.round(fit_loadings(goal, weights, factors), DIGITS)
            loadings[~varies] = 0.0
            tables = [_table(tuple(each.tolist())) for each in loadings]
            left = np.zeros((u, u))
            for (one, other), both in zip(pairs, common, strict=True):
                made = ((tables[one].T @ both) * tables[other].T).sum() / tables[one].shape[1]
                left[one, other] = missing[one, other] - made + apart[one, other]
            error = float((np.abs(left) * weights / safe).sum())
            if error < best[0]:
                best = error, loadings, 1.0 - float(np.abs(left).sum()) / total if total else 1.0
            goal = goal + PART * (left + left.T) / safe
            goal = np.clip(goal, -LARGEST_NEEDED, LARGEST_NEEDED)
            np.fill_diagonal(goal, 1.0)
        table = np.array([_table(tuple(each.tolist())) for each in best[1]])
        tie = Tie(ranks, table, np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0), (0, 0))))
        return Fit(loadings=best[1], kept=best[2], tie=tie)

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the places of the units that some masked variables belong to."""
        return [next(at for at, each in enumerate(self.units) if name in each) for name in names]


def scores_of(
    metric: Metric, directions: Sequence[Floats], units: Sequence[Unit], microdata: Microdata
) -> tuple[Floats, Integers32]:
    """Return the scores of a table's records and their places in the order of each unit."""
    # Shapes: both answers (units, n). Records of the same content stand together. Scores have mean
    # 0 and, where they differ, variance 1.
    points = metric.points(microdata)
    ranks = np.empty((len(units), microdata.n), np.int32)
    scores = np.array([np.round(points @ each, DIGITS) for each in directions])
    for names, score, rank in zip(units, scores, ranks, strict=True):
        rank[np.lexsort((joint_codes(microdata, names), score))] = np.arange(microdata.n)
    varies = scores.std(axis=1) > 0
    scores -= scores.mean(axis=1, keepdims=True)
    scores[varies] /= scores[varies].std(axis=1, keepdims=True)
    return scores, ranks


def fitted_records(fingerprint: str, n: int) -> Integers:
    """Return the records that loadings are fitted to, ascending: those that a screen shows."""
    drawn = np.random.default_rng(int(fingerprint[:16], 16)).permutation(n)
    return np.sort(drawn[:LIVE_RECORDS])


def found_scores(lists: Lists, ranks: Integers32, scores: Floats) -> DonorScores:
    """Weigh the scores of each row's donors."""
    shape = len(ranks), len(lists.records)
    of_donors = DonorScores(np.empty(shape), np.empty(shape), np.empty((*shape, BINS)))
    current_work().quiet().run(partial(weigh_scores, lists, ranks, scores, of_donors), shape[1])
    return of_donors


class TiedLaw(CellLaw):
    """The law of a release of tied slices; each slice alone follows `CellLaw`.

    Given source i and class g the slices are independent, and
    P(row | i) = mean over g of the product over slices u of P_iu(values | g). All modified values
    are drawn; variables that are not masked stay.
    """

    def __init__(
        self,
        original: Microdata,
        neighborhoods: Neighborhoods,
        q: Floats,
        rule: NeighborhoodRule | None,
        fitted: FittedTie,
    ) -> None:
        # q, shape (variables,), is 1 for all that are masked.
        super().__init__(original, neighborhoods, q, rule=rule)
        self.fitted = fitted
        self.tie = fitted.tie

    @property
    def tied(self) -> TiedLaw:
        """Itself."""
        return self

    def numbers(self, key: SecretKey, records: Integers) -> Floats:
        """Return a uniform number for the class of each record and one for each of its units."""
        released = [variable.name for variable in self.original.schema.released]
        firsts = [min(map(released.index, names)) for names in self.fitted.units]
        streams = [(TIE_STREAM, 0), *((first, TIE_BLOCK) for first in firsts)]
        return np.array([uniforms(key, records, *stream)[0] for stream in streams])

    def drawn(self, records: Integers, numbers: Floats) -> Integers:
        """Draw the donors of records, shape (m, p); themselves where nothing is masked."""
        # Shape: numbers (1 + units, m).
        classes = (numbers[0] * self.tie.tables.shape[2]).astype(np.int64)
        columns = np.repeat(records[:, np.newaxis], len(self.q), axis=1)
        order = np.argsort(records, kind="stable")
        for lists in lists_of(self.neighborhoods, records[order]):
            rows = order[np.searchsorted(records[order], lists.records)]
            donors = np.empty((len(rows), len(numbers) - 1), np.int64)
            asked = classes[rows], np.ascontiguousarray(numbers[1:, rows]), donors
            current_work().quiet().run(partial(draw_tied, lists, self.tie, *asked), len(rows))
            for place, variable in enumerate(self.original.schema.released):
                if self.q[place] > 0:
                    columns[rows, place] = donors[:, self.fitted.places([variable.name])[0]]
        return columns

    def with_people(self, people: Microdata) -> Self:
        """Return the law of the file with people added, tied as without them."""
        plain = super().with_people(people)
        other = copy(self)
        fitted = self.fitted
        assert fitted.metric is not None  # only datasets on disk are without
        about = (fitted.metric, fitted.directions, fitted.units, plain._unrounded)
        other.__dict__ |= plain.__dict__
        other.tie = self.tie._replace(ranks=scores_of(*about)[1])
        return other

    def logs_of(
        self, names: Sequence[str], coded: Coded, *, without: bool = False, own: bool = False
    ) -> Floats:
        """Return log P(values numbered from 0 | source), one variable of each unit named.

        With `without`, of rows that show none of them (-1 excludes nothing); with `own`, of each
        record's own row only.
        """
        # Shapes: coded: numbers of the records (n,) and of the rows (m,); the answer (n, m), or
        # (n, 1) with `own`.
        logs = np.zeros((self.original.n, 1 if own else len(coded[0][1])))
        drawn = [place for place, name in enumerate(names) if self.modification(name) > 0]
        if drawn:
            tie = self.tie.of(self.fitted.places([names[place] for place in drawn]))
            rows = _slots([coded[place] for place in drawn])
            if own:
                logs = self._drawn_logs(tie, rows, Ways(without=without, own=True))
            else:  # rows that show the same are as likely
                kind = numbered(rows.released.T)
                first = np.unique(kind, return_index=True)[1]
                kinds = rows._replace(released=np.ascontiguousarray(rows.released[:, first]))
                logs = self._drawn_logs(tie, kinds, Ways(without=without, own=False))[:, kind]
        for place in set(range(len(names))) - {*drawn}:
            values, released = coded[place]
            same = np.equal(values[:, None], values[:, None] if own else released)
            logs[same if without else ~same] = -np.inf
        return logs

    def _drawn_logs(self, tie: Tie, rows: CodedRows, ways: Ways) -> Floats:
        """Return the logs of `logs_of` of variables that are drawn, numbered as kernels read."""
        logs = np.full((self.original.n, 1 if ways.own else rows.released.shape[1]), -np.inf)
        for lists in self._lists(some=ways.own):
            work = partial(tied_logs, lists, tie, rows, ways, logs)
            if len(tie.tables) == 2 and not ways.without:
                one, other = tie.tables
                together = one @ other.T / one.shape[1]
                work = partial(tied_pair_logs, lists, tie, rows, together, ways.own, logs)
            current_work().quiet().run(work, len(lists.records))
        return logs

    def _lists(self, *, some: bool = False) -> Iterator[Lists]:
        """Yield the donors of all records, or of those that have any."""
        if self.neighborhoods.table.numbers is not None and not some:
            raise NotApplicable("This needs the law of every record, not of some of the file.")
        return lists_of(self.neighborhoods)

    def logs(
        self, units: list[Unit], masked: Microdata, rows: Integers, people: Microdata | None = None
    ) -> Floats:
        """Return log P(each record releases the rows' values of some units), shape (m, n)."""
        coded = [codes_together(self.original, masked, each, rows) for each in units]
        return self.logs_of([each[0] for each in units], coded).T

    def rows_unchanged(self) -> Floats:
        """P(no value of a record changes), shape (n,)."""
        units = self.units()
        codes = [joint_codes(self.original, names) for names in units]
        pairs = [(each, each) for each in codes]
        return np.asarray(np.exp(self.logs_of([each[0] for each in units], pairs, own=True)[:, 0]))

    def fitting(self, fits: Mapping[str, Floats]) -> Floats:
        """Return P(a record's released row fits in the unit of each variable), shape (n,)."""
        # Shapes: fits (n,), 1 for donors that fit.
        pairs = [(each.astype(np.int64), np.ones(1, np.int64)) for each in fits.values()]
        return np.asarray(np.exp(self.logs_of(list(fits), pairs)[:, 0]))

    def showing(self, held: Sequence[Integers], count: int) -> Floats:
        """Return P(some row shows a value that only a record, or a group of them, has)."""
        # Shapes: held (n,) for each unit: the number of the record or group that alone has the
        # record's value, or -1; the answer (count,), for each of them, 0 where it has none.
        n = len(held[0])
        if n * count > 10 * ATTACKED_PAIRS:
            raise NotApplicable("Tied slices of so many records are too many pairs to look at.")
        every = np.arange(count)
        names = [unit[0] for unit in self.units()]
        logs = []
        for some in np.array_split(every, n * count // AT_ONCE + 1):
            pairs = [
                (np.where(each < 0, count, each), np.where(np.isin(some, each), some, -1))
                for each in held
            ]
            logs.append(self.logs_of(names, pairs, without=True).sum(axis=0))
        return np.asarray(-np.expm1(np.concatenate(logs)))


def _slots(coded: Coded) -> CodedRows:
    """Return values, a slot for each that a row shows, and the rows' slots, for kernels."""
    most = max(int(max(own.max(), shown.max())) + 1 for own, shown in coded)
    slots = np.full((len(coded), most), -1)
    released = []
    for slot, (_, shown) in zip(slots, coded, strict=True):
        used = np.unique(shown[shown >= 0])
        slot[used] = np.arange(len(used))
        released.append(np.where(shown >= 0, slot[shown], -1))
    codes = np.array([own for own, _ in coded], dtype=np.int64)
    return CodedRows(codes, slots, np.array(released))
