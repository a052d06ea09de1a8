"""Pearson and Spearman correlations of columns with missing values."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import complete, matrix, standardized, varies
from rwn_core.measures.comparison import Comparison

CORRELATIONS = "correlations"  # what a comparison calls those of all its numbers
NO_VARIATION = 1e-12  # share of a variance that rounding alone leaves


def correlation_matrix(values: Floats) -> Floats:
    """Return Pearson correlations, shape (m, m); pairwise complete, NaN if a column is constant."""
    known = ~np.isnan(values)
    if not known.all():
        return _pairwise(values, known)
    result = np.full((values.shape[1],) * 2, np.nan)
    (different,) = np.nonzero(varies(values))
    scaled = standardized(values[:, different])
    result[np.ix_(different, different)] = scaled.T @ scaled / (len(values) - 1)
    return np.asarray(np.clip(result, -1.0, 1.0), dtype=np.float64)


def numbers_of_both(comparison: Comparison, what: str) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return the numeric variables that vary in the original, and both complete matrices."""
    original = comparison.original
    tables = []
    for table, where in ((original, "original"), (comparison.masked, "released table")):
        values = matrix(original, table, original.numeric_names)
        values = values[complete(values)]
        if len(values) < 2:
            raise NotApplicable(
                f"The {where} has {len(values)} records without a missing number; {what} need at "
                "least 2."
            )
        tables.append(values)
    return _only(original.numeric_names, tables[0], tables[1], varies(tables[0]), what)


def varying_columns(comparison: Comparison, what: str) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return the numeric variables that vary in both tables, and both complete matrices."""
    names, before, after = numbers_of_both(comparison, what)
    return _only(names, before, after, varies(after), what)


def _only(
    names: tuple[str, ...], before: Floats, after: Floats, different: Booleans, what: str
) -> tuple[tuple[str, ...], Floats, Floats]:
    if different.sum() < 2:
        raise NotApplicable(
            f"{what.capitalize()} need at least two continuous or count variables that vary in "
            "both tables."
        )
    kept = tuple([name for name, varied in zip(names, different, strict=True) if varied])
    return kept, before[:, different], after[:, different]


def shared_correlations(values: Floats) -> Floats:
    """Return correlations, shape (m, m); a constant column has none with any other."""
    found = correlation_matrix(values)
    return np.where(np.isnan(found), np.eye(len(found)), found)


def pair_changes(before: Floats, after: Floats, refusal: str) -> Floats:
    """Return the absolute changes of all pairs that vary in both tables, or refuse."""
    change = np.abs(after - before)[np.triu_indices(len(before), 1)]
    change = change[~np.isnan(change)]
    if not len(change):
        raise NotApplicable(refusal)
    return change


def standardized_known(values: Floats, otherwise: float) -> Floats:
    """Standardize each column's known values; `otherwise` where missing or constant."""
    result = np.full_like(values, otherwise, order="F")
    for column, own in enumerate(values.T):
        known = ~np.isnan(own)
        present = own[known][:, None]
        if varies(present).all():
            result[known, column] = standardized(present)[:, 0]
    return result


def _pairwise(values: Floats, known: Booleans) -> Floats:
    """Return the correlations from cross products over the records that each pair has in common."""
    filled = standardized_known(values, 0.0)
    both = known.astype(np.float64)
    count = np.maximum(both.T @ both, 1.0)
    total = filled.T @ both  # [j, h]: sum of column j over the records where h is known too
    covariance = filled.T @ filled - total * total.T / count
    variance = (filled**2).T @ both - total**2 / count
    defined = np.minimum(variance, variance.T) > NO_VARIATION * len(values)
    scale = np.sqrt(np.where(defined, variance * variance.T, 1.0))
    return np.asarray(np.where(defined, np.clip(covariance / scale, -1.0, 1.0), np.nan))


def rank_correlation_matrix(values: Floats) -> Floats:
    """Return Spearman correlations, shape (m, m); each pair ranks its complete records."""
    from scipy.stats import rankdata

    known = ~np.isnan(values)
    if known.all():
        return correlation_matrix(rankdata(values, axis=0))
    m = values.shape[1]
    result = np.full((m, m), np.nan)
    for one in range(m):
        for two in range(one + 1):
            both = values[known[:, one] & known[:, two]][:, [one, two]]
            if len(both):
                pair = correlation_matrix(rankdata(both, axis=0))[0, 1]
                result[one, two] = result[two, one] = pair
    return result
