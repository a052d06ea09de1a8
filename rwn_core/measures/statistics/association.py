"""Correlations, associations of all pairs of variables of either kind, and the share lost.

Squared associations are corrected for the number of levels: a category of many levels has about 0
with an unrelated variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, codes, complete, matrix, standardized, varies
from rwn_core.measures.measure import Detail

NO_VARIATION = 1e-12  # share of a variance that rounding alone leaves


def correlation_matrix(values: Floats) -> Floats:
    """Return Pearson correlations, shape (m, m); pairwise complete, NaN if a column is constant."""
    if np.isnan(values).any():  # of standardized columns: large units and means cost no digits
        return pd.DataFrame(standardized_known(values, np.nan)).corr().to_numpy()
    result = np.full((values.shape[1],) * 2, np.nan)
    (different,) = np.nonzero(varies(values))
    scaled = standardized(values[:, different])
    result[np.ix_(different, different)] = scaled.T @ scaled / (len(values) - 1)
    return np.asarray(np.clip(result, -1.0, 1.0), dtype=np.float64)


def complete_numbers(original: Microdata, table: Microdata, what: str) -> tuple[Integers, Floats]:
    """Return the complete records of either table, and their numbers; refuse fewer than two."""
    # Shapes: records (m,), numbers (m, v). `what` needs them, with its verb.
    values = matrix(original, table, original.numeric_names)
    records = complete(values)
    if len(records) < 2:
        where = "original" if table is original else "released table"
        raise NotApplicable(
            f"The {where} has {len(records)} records without a missing number; {what} at least 2."
        )
    return records, values[records]


def numbers_of_both(comparison: Comparison, what: str) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return the numeric variables that vary in the original, and both complete matrices."""
    # Shapes: the matrices (n, v) and (m, v), of the complete records of either table.
    original = comparison.original
    said = f"{what} need"
    tables = [complete_numbers(original, table, said)[1] for table in comparison.tables]
    different = varies(tables[0])
    if different.sum() < 2:
        raise NotApplicable(
            f"{what.capitalize()} need at least two continuous or count variables that vary in "
            "the original."
        )
    names = np.array(original.numeric_names, dtype=object)[different]
    return tuple(names), tables[0][:, different], tables[1][:, different]


def pair_changes(before: Floats, after: Floats, refusal: str) -> Floats:
    """Return the absolute changes of all pairs that vary in the original, or refuse."""
    # Shapes: before, after (p, p); the answer (d,), of the defined pairs.
    pairs = np.triu_indices(len(before), 1)
    # a pair that no longer varies in the release has lost all of its relation
    change = np.abs(np.nan_to_num(after) - before)[pairs]
    change = change[~np.isnan(change)]
    if not len(change) or np.isnan(after[pairs]).all():
        raise NotApplicable(refusal)
    return change


def standardized_known(values: Floats, otherwise: float) -> Floats:
    """Standardize each column's known values; `otherwise` where missing or constant."""
    # Shapes: values, the answer (n, p).
    result = np.full_like(values, otherwise, order="F")
    for column, own in enumerate(values.T):
        known = ~np.isnan(own)
        present = own[known][:, None]
        if varies(present).all():
            result[known, column] = standardized(present)[:, 0]
    return result


def rank_correlation_matrix(values: Floats) -> Floats:
    """Return Spearman correlations, shape (m, m); each pair ranks its complete records."""
    return pd.DataFrame(values).corr(method="spearman").to_numpy()


Codes = NDArray[np.integer]

NUMBERS = (Kind.CONTINUOUS, Kind.COUNT, Kind.DATE)
DENSE = 1_000_000  # cells of a table up to which every one is counted, empty ones among them


def association_matrix(
    numbers: Floats, categories: Sequence[Codes], correlations: Floats | None = None
) -> Floats:
    """Return the association of all pairs of variables, shape (m + c, m + c)."""
    # Correlations, correlation ratios (Kelley 1935), Cramer's V. `numbers` has shape (n, m),
    # `categories` holds c arrays of level codes, -1 if missing. An association with a category is
    # negative below its expectation under independence. NaN for constants.
    m = numbers.shape[1]
    c = len(categories)
    result = np.full((m + c, m + c), np.nan)
    result[:m, :m] = correlation_matrix(numbers) if correlations is None else correlations
    scaled = standardized_known(numbers, np.nan) if c else numbers
    for at, own in enumerate(categories, start=m):
        result[at, :m] = result[:m, at] = [_ratio(column, own) for column in scaled.T]
        for before, other in enumerate(categories[: at - m + 1], start=m):
            result[at, before] = result[before, at] = cramers_v(own, other)
    return result


def _root(squared: float) -> float:
    """Return the square root, at most 1; of a negative number minus the root of its size."""
    return float(np.sign(squared) * np.sqrt(abs(min(squared, 1.0))))


def _ratio(values: Floats, codes: Codes) -> float:
    """Return the corrected correlation ratio of a number and a category."""
    known = (codes >= 0) & ~np.isnan(values)
    if not known.all():
        values = values[known]
        codes = codes[known]
    sizes = np.bincount(codes)
    n = len(codes)
    k = int(np.count_nonzero(sizes))
    if k < 2 or n <= k:
        return float("nan")
    # one pass over the records for the sums of the levels; a dot product would start threads
    shift = float(values.sum()) ** 2 / n
    total = float(np.einsum("i,i->", values, values)) - shift
    if total <= NO_VARIATION * n:
        return float("nan")
    sums = np.bincount(codes, weights=values)
    between = float((sums**2 / np.maximum(sizes, 1)).sum()) - shift
    corrected = 1.0 - (1.0 - between / total) * (n - 1) / (n - k)
    return _root(corrected)


def cramers_v(one: Codes, other: Codes) -> float:
    """Return Cramer's V with the bias correction of Bergsma (2013); NaN if undefined."""
    known = (one >= 0) & (other >= 0)
    if not known.all():
        one = one[known]
        other = other[known]
    n = len(one)
    if n < 2:
        return float("nan")
    rows, columns = np.bincount(one), np.bincount(other)
    r, c = (int(np.count_nonzero(sizes)) for sizes in (rows, columns))
    # sum count^2 / (row count x column count) over the cells: 1 + chi^2 / n
    cell = one.astype(np.int64) * len(columns) + other
    if len(rows) * len(columns) <= DENSE:
        counts = np.bincount(cell, minlength=len(rows) * len(columns))
        (cells,) = np.nonzero(counts)
        counts = counts[cells]
    else:  # most cells of long tables are empty
        cells, counts = np.unique(cell, return_counts=True)
    expected = rows[cells // len(columns)] * columns[cells % len(columns)].astype(np.float64)
    squares = float((counts.astype(np.float64) ** 2 / expected).sum())
    phi = squares - 1.0 - (r - 1) * (c - 1) / (n - 1)
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1.0
    if least <= 1e-12:
        return float("nan")
    return _root(phi / least)


def correlations(comparison: Comparison, table: Microdata) -> Floats:
    """Return the correlations of all numbers of either table, shape (m, m)."""
    original = comparison.original
    names = comparison.original.numeric_names
    return comparison.cache_of(table)(
        "correlations", lambda: correlation_matrix(matrix(original, table, names))
    )


def associations(comparison: Comparison, table: Microdata) -> Floats:
    """Return the signed associations of either table in the schema's order, shape (p, p)."""
    numbers, categories = _names(comparison.original)
    dates = numbers != comparison.original.numeric_names  # which correlations leave out
    known = None if dates else correlations(comparison, table)
    if known is not None and not categories:
        return known
    make = partial(_signed, comparison.original, table, known)
    return comparison.cache_of(table)("associations", make)


def original_chance(comparison: Comparison) -> Floats:
    """Return the chance levels of the original's variables, shape (p, p)."""
    original = comparison.original
    numbers, categories = _names(original)

    def levels() -> Floats:
        # Shapes: each of coded (n,); the answer (p, p).
        coded = [codes(original, original, name)[0] for name in categories]
        return _ordered(original, chance_levels(matrix(original, original, numbers), coded))

    return comparison.cached_for_original("chance levels", levels)


def shown(associations: Floats, category: Integers) -> Floats:
    """Set negative associations with a category to 0: they have no direction."""
    # Shapes: associations, the answer (p, p); category (p,), 1 or 0.
    with_category = (category[:, None] + category[None, :]) > 0
    return np.where(with_category, np.maximum(associations, 0.0), associations)


def is_mixed(table: Microdata) -> bool:
    """True if some released variables are not numeric."""
    return len(table.schema.numeric_names) < len(table.schema.released)


def is_category(original: Microdata) -> Integers:
    """Return 1 for each released variable that counts by its levels, else 0."""
    return np.array([v.kind not in NUMBERS for v in original.schema.released], dtype=np.int64)


def _signed(original: Microdata, table: Microdata, known: Floats | None) -> Floats:
    """Associate all pairs, those of numbers as `known`; shapes (m, m) and (p, p)."""
    numbers, categories = _names(original)
    coded = [codes(original, table, name)[0] for name in categories]
    return _ordered(original, association_matrix(matrix(original, table, numbers), coded, known))


def _names(original: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
    released = original.schema.released
    numbers = tuple([v.name for v in released if v.kind in NUMBERS])
    return numbers, tuple([v.name for v in released if v.kind not in NUMBERS])


def _ordered(original: Microdata, found: Floats) -> Floats:
    """Reorder a matrix of numbers, then categories, into the schema's order."""
    place = {name: at for at, name in enumerate(sum(_names(original), ()))}
    order = [place[variable.name] for variable in original.schema.released]
    return found[np.ix_(order, order)]


NAMED = 3  # relations that are named
FADED = 0.2  # least lost share of a relation that is reported
GONE = 0.8  # lost share of a relation that leaves almost none of it
MOST_OF_A_PAIR = 2.0  # a relation that turned into its opposite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loss(Detail):
    """The loss of all relations of p variables, and of each pair.

    Attributes
    ----------
    value : float
        From 0 to 1; NaN if no pair of the original is related beyond chance.
    weight : ndarray of float64, shape (p, p)
        By how much the original's association exceeds chance; 0 if it does not.
    lost : ndarray of float64, shape (p, p)
        Change relative to the original's association, from 0 to 2; 0 of unrelated pairs.
    invented : float
        Part of the value that comes from pairs which only the release relates.
    pairs : int
        Related pairs of the original.
    faded, gone : list of list of str
        Pairs of names that count most in the loss; those of which almost nothing is left.
    """

    value: float
    weight: Floats
    lost: Floats
    invented: float
    pairs: int = 0
    faded: list[list[str]] = field(default_factory=list)
    gone: list[list[str]] = field(default_factory=list)


def relation_loss(
    before: Floats, after: Floats, chance: Floats, pairs: Booleans | None = None
) -> Loss:
    """Return how much of the relations is lost, given both associations and `chance_levels`."""
    # Shapes: before, after, chance (p, p); pairs (p, p), symmetric, those that count, or all.
    # The mean of the pairs' losses, weighted by their excess over chance, plus the excess of
    # relations that only the release shows. Relations of a constant released variable are lost.
    upper = np.triu(np.ones(before.shape, dtype=bool) if pairs is None else pairs, 1)
    size = np.abs(before)
    found = np.where(np.isnan(after), 0.0, after)
    related = upper & (size > chance)
    weight = np.where(related, size - chance, 0.0)
    change = np.abs(found - before) / np.where(related, size, 1.0)
    lost = np.where(related, np.minimum(change, MOST_OF_A_PAIR), 0.0)
    unrelated = upper & (size <= chance)
    new = float(np.where(unrelated, np.maximum(np.abs(found) - chance, 0.0), 0.0).sum())
    total = float(weight.sum())
    if total == 0.0:
        return Loss(value=float("nan"), weight=weight, lost=lost, invented=0.0)
    value = (float((weight * lost).sum()) + new) / total
    return Loss(value=min(value, 1.0), weight=weight, lost=lost, invented=new / total)


def faded(
    names: Sequence[str], before: Floats, after: Floats, loss: Loss, least: float = FADED
) -> list[list[str]]:
    """Return the weakened pairs of names that count most in the loss, the largest first."""
    # Shapes: before, after (p, p), in the order of the p names.
    # Only pairs that lost at least the share `least` of their relation.
    weaker = np.sign(before) * np.nan_to_num(after) < np.abs(before)
    counted = np.where(weaker & (loss.lost >= least), loss.weight * loss.lost, 0.0)
    largest = np.argsort(-counted, axis=None, kind="stable")[:NAMED]
    places = [divmod(int(at), len(names)) for at in largest if counted.flat[at] > 0]
    return [[names[one], names[other]] for one, other in places]


# Association that unrelated variables reach by chance, for numbers and categories

CHANCE = 0.05  # of tables of unrelated variables with a strongest pair above its level
LEAST_RECORDS = 4  # below, the variance over permutations is not defined


def chance_levels(numbers: Floats, categories: Sequence[Codes]) -> Floats:
    """Return the association that each pair of unrelated variables rarely exceeds."""
    # On the scale of `association_matrix`. If no variables are related, some pair exceeds its level
    # in at most `CHANCE` of the tables. Moments: Kazi-Aoual, Hitier, Sabatier, Lebreton 1995.
    from scipy.special import betaincinv

    # Shapes: numbers (n, m); each of categories (n,).
    rank, leverage, known = _margins(numbers, categories)
    is_category = np.arange(len(rank)) >= numbers.shape[1]
    mean, variance, ceiling = permutation_moments(rank, leverage, known)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, spread = mean / ceiling, variance / ceiling**2
        size = share * (1 - share) / spread - 1
        tail = CHANCE / max(len(mean) * (len(mean) - 1) / 2, 1.0)
        reached = ceiling * betaincinv(share * size, (1 - share) * size, 1 - tail)
    # the corrections of the association itself
    reached = np.where(np.isfinite(reached) & (size > 0), reached, np.nan)
    count = rank + 1
    one, other = is_category[:, None], is_category[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.where(one, count[:, None], count[None, :])
        ratio = 1 - (1 - reached) * (known - 1) / (known - k)
        corrected = count[:, None] - (count[:, None] - 1) ** 2 / (known - 1)
        least = np.minimum(corrected, corrected.T) - 1
        v = (reached - rank[:, None] * rank[None, :] / (known - 1)) / least
        squared = np.where(one & other, v, np.where(one | other, ratio, reached))
        levels = np.asarray(np.sqrt(np.clip(squared, 0.0, 1.0)), dtype=np.float64)
    # the largest part of each correlation that one record contributes, shape (m, m)
    n, m = numbers.shape
    parts = np.zeros((n, m), order="F")
    for column, values in enumerate(numbers.T):
        there = ~np.isnan(values)
        away = values[there] - values[there].mean() if there.any() else values[there]
        largest = float(np.abs(away).max(initial=0.0))
        if largest > 0:
            parts[there, column] = np.abs(away / largest) / np.linalg.norm(away / largest)
    found = [(parts * parts[:, one][:, None]).max(axis=0, initial=0.0) for one in range(m)]
    levels[:m, :m] = np.maximum(levels[:m, :m], np.array(found, dtype=np.float64).reshape(m, m))
    return levels


def permutation_moments(
    rank: Floats, leverage: Floats, known: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance and maximum of the shared variation over all permutations."""
    # Shapes: rank (p,), 1 of a number and levels less 1 of a category; leverage (p,), the sum of
    # squared leverages, near 1 where one record has nearly all the variation; known (p, p), records
    # with a value of both; each answer (p, p).
    # Squared correlation, eta squared, or chi squared over n: the trace of a product of
    # projections.
    n = known
    rank = rank[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = rank * (n - 1 - rank)
        peaked = n * (n + 1) * leverage[:, None] - (n - 1) * (rank**2 + 2 * rank)
        variance = 2 * plain * plain.T / ((n - 1) ** 2 * (n + 1) * (n - 2))
        variance += peaked * peaked.T / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
        mean = rank * rank.T / (n - 1)
    blank = np.where((n >= LEAST_RECORDS) & (mean > 0) & (variance > 0), 1.0, np.nan)
    return mean * blank, variance * blank, np.minimum(rank, rank.T) * blank


def _margins(numbers: Floats, categories: Sequence[Codes]) -> tuple[Floats, Floats, Floats]:
    # Shapes: numbers (n, m); each of categories (n,); the answers, see `permutation_moments`, are
    # of their p variables.
    known = [~np.isnan(column) for column in numbers.T] + [codes >= 0 for codes in categories]
    both = np.array(known, dtype=np.float64).reshape(len(known), len(numbers))
    parts = [_of_number(column) for column in numbers.T] + [_of_category(c) for c in categories]
    rank, leverage = np.array(parts, dtype=np.float64).reshape(-1, 2).T
    return rank, leverage, both @ both.T


def _of_number(values: Floats) -> tuple[float, float]:
    # Shapes: values (n,), NaN where missing.
    present = values[~np.isnan(values)]
    if not len(present):
        return 0.0, 0.0
    away = present - present.mean()
    largest = float(np.abs(away).max())
    if largest == 0.0:
        return 0.0, 0.0
    squares = (away / largest) ** 2
    return 1.0, float((squares**2).sum() / squares.sum() ** 2)


def _of_category(codes: Codes) -> tuple[float, float]:
    sizes = np.bincount(codes[codes >= 0]).astype(np.float64)
    sizes = sizes[sizes > 0]
    n = sizes.sum()
    return max(len(sizes) - 1.0, 0.0), float((sizes * (1 / sizes - 1 / n) ** 2).sum())
