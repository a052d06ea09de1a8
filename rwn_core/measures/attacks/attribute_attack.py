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
    people : int
        How many people have a value that can be named.
    rates : dict of str to float
        Mean success of each strategy among them; 0 if nobody has a value.
    """

    people: int
    rates: dict[str, float]

    @property
    def best(self) -> str:
        """The strategy that succeeds most often; the simplest of several."""
        return max(self.rates, key=lambda key: self.rates[key])


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
    nearest : sparse array, shape (people, classes)
        Which classes of rows have a person's keys, or else the nearest keys.
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
        weights = {
            "source": source,
            "donor": donor,
            "surest": _surest(donor, values.readable),
            "nearest": nearest,
        }
        right = {"majority": values.majority(truth)}
        for key, weight in weights.items():
            named = values.right(weight, truth)
            # of whom nothing is known he says what most rows say
            right[key] = np.where(np.isnan(named), right["majority"], named)
        known = ~np.isnan(truth)  # of others there is nothing to learn
        people = int(known.sum())
        sums = {key: float(np.where(known, each, 0.0).sum()) for key, each in right.items()}
        rates = {key: total / max(people, 1) for key, total in sums.items()}
        found.append(Success(people=people, rates=rates))
    return found


def _joined(parts: list[sparse.csc_array], order: NDArray[np.int64]) -> sparse.csr_array:
    """Beliefs of all classes in their order, shape (people, classes)."""
    if len(parts) == 1 and (np.diff(order) > 0).all():
        return parts[0].tocsr()
    return sparse.hstack(parts).tocsc()[:, order].tocsr()


def _surest(belief: sparse.csr_array, readable: NDArray[np.float64]) -> sparse.csr_array:
    """1 where a person's belief is largest, of the classes that say something."""
    share = belief.data * readable[belief.indices]
    counts = np.diff(belief.indptr)
    person = np.repeat(np.arange(len(counts)), counts)
    best = np.zeros(len(counts))
    some = np.flatnonzero(counts)
    if some.size:
        best[some] = np.maximum.reduceat(share, belief.indptr[:-1][some])
    leads = (share >= best[person] * (1 - EVEN)) & (share > 0)
    ones = np.ones(int(leads.sum()))
    return sparse.csr_array((ones, (person[leads], belief.indices[leads])), shape=belief.shape)
