"""Worst-case linkage: an intruder who holds the original file and knows the method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.cell_law import CellLaw
from rwn_core.comparison import Comparison
from rwn_core.errors import NotApplicable
from rwn_core.microdata import Microdata
from rwn_core.reading import Measure, Reading

SAMPLE = 200  # released records looked at in a large file; all originals are candidates
LARGEST_WHOLE = 4000


def posteriors(law: CellLaw, masked: Microdata, rows: NDArray[np.int64]) -> sparse.csc_array:
    """What the intruder believes of each released record.

    Parameters
    ----------
    law : CellLaw
        Of n original records.
    masked : Microdata
        The released table.
    rows : ndarray of int64, shape (m,)
        Released records to link.

    Returns
    -------
    sparse array, shape (n, m)
        Column r holds P(released record rows[r] comes from original i | its values), with
        every original equally likely beforehand; zero throughout if no original can have
        produced it.

    References
    ----------
    Bayes' rule on the cell law; cells of one record are independent given the original.
    """
    likelihood: sparse.csc_array | None = None
    for names in law.units():
        table, columns = law.likelihood_columns(names, masked, rows)
        chosen = sparse.csc_array(table[:, np.maximum(columns, 0)])
        chosen = chosen @ sparse.diags_array((columns >= 0).astype(np.float64))
        likelihood = chosen if likelihood is None else _multiply(likelihood, chosen)
    if likelihood is None:
        raise NotApplicable("The release has no variables to link by.")
    return _scale(likelihood, np.asarray(likelihood.sum(axis=0)).ravel())


def _multiply(left: sparse.csc_array, right: sparse.csc_array) -> sparse.csc_array:
    product = sparse.csc_array(left.multiply(right))
    # many columns of small probabilities would underflow: only ratios within a record matter
    return _scale(product, product.max(axis=0).toarray().ravel())


def _scale(matrix: sparse.csc_array, by: NDArray[np.float64]) -> sparse.csc_array:
    factor = np.divide(1.0, by, out=np.zeros_like(by), where=by > 0)
    return sparse.csc_array(matrix @ sparse.diags_array(factor))


def _compute(comparison: Comparison) -> Reading:
    law = comparison.law
    if law is None:
        raise NotApplicable("The worst case needs the law of the method that made the release.")
    n = comparison.masked.n
    whole = n <= LARGEST_WHOLE
    rows = np.arange(n) if whole else np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))
    belief = posteriors(law, comparison.masked, rows)
    best = belief.max(axis=0).toarray().ravel()
    truth = np.asarray(belief[rows, np.arange(len(rows))]).ravel()
    return Reading(
        value=float(best.mean()),
        baseline=1.0 / n,
        detail={"best": best, "truth": truth, "records": rows, "sampled": not whole, "of": n},
    )


MEASURE = Measure(
    key="bayes_linkage",
    title="Worst-case linkage",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="How many released records would an intruder link rightly who holds the whole "
    "original file and knows the method and its parameters, but not the key?",
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5",
    compute=_compute,
)
