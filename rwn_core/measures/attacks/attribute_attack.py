"""The attribute attack: what people who know the keys and the method read off a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.measures.attacks.donor_belief import Beliefs
from rwn_core.measures.attacks.likeliest_value import EVEN, ReleasedValues

STRATEGIES: Mapping[str, str] = {
    "majority": "naming what most released rows say",
    "source": "reading the rows that probably come from the person",
    "donor": "weighing the rows by how likely they show the person's own value",
    "surest": "reading the row that most likely shows the person's own value",
    "nearest": "reading the row with the person's keys, or the nearest keys",
}
"""What an intruder may do, in the order of what is needed for it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Success:
    """How often each strategy names one confidential value rightly.

    Attributes
    ----------
    right : dict of str to ndarray of float64, shape (people,)
        By strategy: P(the named value is right) for each person.
    """

    right: dict[str, NDArray[np.float64]]

    @property
    def rates(self) -> dict[str, float]:
        """Mean success of each strategy."""
        return {key: float(right.mean()) for key, right in self.right.items()}

    @property
    def best(self) -> str:
        """The strategy that succeeds most often; the simplest of several."""
        rates = self.rates
        return max(rates, key=lambda key: rates[key])


def attack(
    beliefs: Iterable[tuple[Beliefs, NDArray[np.int64]]],
    nearest: sparse.csr_array,
    truths: list[NDArray[np.float64]],
    released: list[ReleasedValues],
) -> list[Success]:
    """Try every strategy on some people.

    Parameters
    ----------
    beliefs : iterable of (Beliefs, ndarray of int64 of shape (c,))
        Of one row of each class of rows with equal keys, and the numbers of those classes.
    nearest : sparse array, shape (people, m)
        Which released rows have a person's keys, or else the nearest keys.
    truths : list of ndarray of float64, shape (people,)
        For each confidential variable the people's values or level numbers.
    released : list of ReleasedValues

    Returns
    -------
    list of Success
        For each confidential variable.

    Notes
    -----
    All rows of a class weigh the same: what is believed of a row depends on its keys alone.
    """
    parts = list(beliefs)
    order = np.argsort(np.concatenate([classes for _, classes in parts]), kind="stable")
    source = _joined([part.source for part, _ in parts], order)
    found = []
    for number, (truth, values) in enumerate(zip(truths, released, strict=True)):
        donor = _joined([part.donor[number] for part, _ in parts], order)
        masses = {
            "source": values.told_by(source),
            "donor": values.told_by(donor),
            "surest": values.told_by(_surest(donor)),
            "nearest": values.told_by_rows(nearest),
        }
        right = {"majority": values.majority(truth)}
        for key, mass in masses.items():
            named = values.right(mass, truth)
            # of whom nothing is known he says what most rows say
            right[key] = np.where(np.isnan(named), right["majority"], named)
        found.append(Success(right=right))
    return found


def _joined(parts: list[sparse.csc_array], order: NDArray[np.int64]) -> sparse.csr_array:
    """Beliefs of all classes in their order, shape (people, classes)."""
    if len(parts) == 1 and (np.diff(order) > 0).all():
        return sparse.csr_array(parts[0])
    return sparse.csr_array(sparse.csc_array(sparse.hstack(parts))[:, order])


def _surest(belief: sparse.csr_array) -> sparse.csr_array:
    """1 where a person's belief is largest, shape (people, classes)."""
    counts = np.diff(belief.indptr)
    person = np.repeat(np.arange(len(counts)), counts)
    best = np.zeros(len(counts))
    some = np.flatnonzero(counts)
    if some.size:
        best[some] = np.maximum.reduceat(belief.data, belief.indptr[:-1][some])
    leads = (belief.data >= best[person] * (1 - EVEN)) & (belief.data > 0)
    ones = np.ones(int(leads.sum()))
    return sparse.csr_array((ones, (person[leads], belief.indices[leads])), shape=belief.shape)
