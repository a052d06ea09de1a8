"""Attribute inference: what the worst-case intruder learns of a person's confidential value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.comparison import Comparison
from rwn_core.errors import NotApplicable
from rwn_core.intruder.posterior import posteriors
from rwn_core.key_variables import key_names, required_confidential
from rwn_core.original_terms import codes, numbers
from rwn_core.reading import Measure, Reading
from rwn_core.schema import Kind

LARGEST = 3000  # records: the posterior of every row is needed
NEAR = 0.1  # standard deviations within which a number counts as learned


def target_weights(belief: sparse.csc_array) -> sparse.csr_array:
    """How the intruder weighs the rows when he asks about one person.

    Parameters
    ----------
    belief : sparse array, shape (n, m)
        Posteriors of originals (rows of the array) for every released row.

    Returns
    -------
    sparse array, shape (n, m)
        Each row sums to 1; zero throughout where no released row can be this person's.
    """
    rows = sparse.csr_array(belief)
    total = np.asarray(rows.sum(axis=1)).ravel()
    factor = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return sparse.csr_array(sparse.diags_array(factor) @ rows)


def learned(
    weights: sparse.csr_array, truth: NDArray[np.float64], told: NDArray[np.float64], reach: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(the intruder names a person's true value), and the same for one who links nobody.

    Parameters
    ----------
    weights : sparse array, shape (n, m)
    truth : ndarray of float64, shape (n,)
        True values or level numbers, NaN where missing.
    told : ndarray of float64, shape (m,)
        Released values.
    reach : float
        How near a value must be, in its own unit.

    Returns
    -------
    informed, ignorant : ndarray of float64, shape (n,)
    """
    entries = sparse.coo_array(weights)
    person, row = entries.coords
    with np.errstate(invalid="ignore"):
        fits = np.abs(truth[person] - told[row]) <= reach
    informed = np.bincount(person[fits], entries.data[fits], len(truth))
    ordered = np.sort(told[~np.isnan(told)])
    above = np.searchsorted(ordered, truth + reach * (1 + 1e-12), side="right")
    below = np.searchsorted(ordered, truth - reach * (1 + 1e-12), side="left")
    ignorant = np.where(np.isnan(truth), 0.0, (above - below) / max(len(told), 1))
    # a person whom no row can be keeps only what everybody knows
    unlinked = np.diff(sparse.csr_array(weights).indptr) == 0
    return np.where(unlinked, ignorant, np.minimum(informed, 1.0)), np.clip(ignorant, 0.0, 1.0)


def _values(
    comparison: Comparison, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """A confidential variable of both tables as numbers, and what counts as the same."""
    original, masked = comparison.original, comparison.masked
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        before, after = codes(original, original, name)[0], codes(original, masked, name)[0]
        one, two = (np.where(c < 0, np.nan, c.astype(np.float64)) for c in (before, after))
        return one, two, 0.0
    before_values = original.values(name)
    known = before_values[~np.isnan(before_values)]
    reach = NEAR * float(known.std(ddof=1)) if len(known) > 1 else 0.0
    return before_values, numbers(original, masked, name), reach


def compute(comparison: Comparison) -> Reading:
    """Mean chance that the intruder who knows the keys names a confidential value rightly."""
    secrets = required_confidential(comparison)
    law, n = comparison.law, comparison.original.n
    if law is None:
        raise NotApplicable("The worst case needs the law of the method that made the release.")
    keys = tuple(name for name in key_names(comparison) if name not in secrets)
    if not keys:
        raise NotApplicable("No key variable is left beside the confidential ones.")
    if n > LARGEST:
        raise NotApplicable(
            f"Attribute inference weighs every pair of records and is computed for at most "
            f"{LARGEST:,}; the table has {n:,}."
        )
    weights = target_weights(
        posteriors(law, comparison.masked, np.arange(comparison.masked.n), keys)
    )
    found = [learned(weights, *_values(comparison, name)) for name in secrets]
    informed = np.array([one.mean() for one, _ in found])
    ignorant = np.array([two.mean() for _, two in found])
    detail: dict[str, Any] = {
        "names": list(keys),
        "secrets": list(secrets),
        "informed": informed,
        "ignorant": ignorant,
    }
    return Reading(value=float(informed.mean()), baseline=float(ignorant.mean()), detail=detail)


MEASURE = Measure(
    key="attribute_inference",
    title="Attribute inference, worst case",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="mean probability",
    question="How likely does an intruder who knows everybody's key variables and the method name "
    "a confidential value rightly (a number within 0.1 standard deviations)?",
    source="Posterior of Bayes' rule on the cell law; excess over the marginal distribution",
    compute=compute,
)
