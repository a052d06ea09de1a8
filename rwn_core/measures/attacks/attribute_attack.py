"""Attribute disclosure: strategies of an intruder with the keys and the method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.measures.attacks.confidential_value import EXACT
from rwn_core.measures.attacks.donor_belief import Beliefs
from rwn_core.measures.attacks.joint_belief import jointly
from rwn_core.measures.attacks.likeliest_value import EVEN, Names, ReleasedValues
from rwn_core.measures.attacks.named_levels import Named, People, count_names

STRATEGIES: Mapping[str, str] = {
    "majority": "naming what most released rows say",
    "source": "reading the rows that probably come from the person",
    "donor": "weighing the rows by how likely they show the person's own value",
    "surest": "reading the row that most likely shows the person's own value",
    "nearest": "reading the row with the person's keys, or the nearest keys",
    "file": "reading the person's row by the joint posterior of all rows",
    "line": "predicting it from the keys by least squares on the release",
    "corrected": "predicting it from the keys by least squares freed of the noise on them",
    "less_noise": "predicting it from the keys by least squares less the covariances of the noise",
    "tree": "predicting it from the keys by a tree grown on the release",
}
"""What an intruder may do, in the order of what is needed for it."""

PREDICTIONS = ("line", "corrected", "less_noise", "tree")
"""What says something about people who are not in the file, too."""


OWN_VALUE = ("donor", "surest")
"""Strategies that weigh rows by the target's own value: a person left out discloses it, unless
values are copied whatever they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Success:
    """Success of each strategy on one confidential variable.

    Attributes
    ----------
    who : People
    rates : dict of str to float
        Mean success of each strategy among people with a value; 0 if there are none.
    exact : dict of str to float
        The same for the exact value.
    named : dict of str to Named
        Counts at each level and certainty, without the majority's.
    """

    who: People
    rates: dict[str, float]
    exact: dict[str, float]
    named: dict[str, Named]

    @property
    def people(self) -> int:
        """Number of people with a value that can be named."""
        return self.who.known

    @property
    def best(self) -> str:
        """The strategy with the highest success; the simplest of several."""
        return max(self.rates, key=lambda key: self.rates[key])


def attack(
    beliefs: Iterable[tuple[Beliefs, NDArray[np.int64]]],
    nearest: sparse.csr_array,
    truths: list[NDArray[np.float64]],
    released: list[ReleasedValues],
    predicted: Sequence[Mapping[str, Names]] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> list[Success]:
    """Return the success of every strategy on some people, for each confidential variable."""
    # a posterior depends on the row's keys alone, so all rows of a class weigh the same; `rows`
    # counts them for the joint posterior, if the people are all of the file
    parts = list(beliefs)
    order = np.argsort(np.concatenate([classes for _, classes in parts]), kind="stable")
    source = _joined([part.source for part, _ in parts], order)
    together = None if rows is None else jointly(source, rows)
    found = []
    for number, (truth, values) in enumerate(zip(truths, released, strict=True)):
        donor = _joined([part.donor[number] for part, _ in parts], order)
        weights = {
            "source": source,
            "donor": donor,
            "surest": _surest(donor, values.readable),
            "nearest": nearest,
        }
        if together is not None:
            weights["file"] = together
        names = {key: values.named(weight) for key, weight in weights.items()}
        names |= {} if predicted is None else predicted[number]
        found.append(_success(names, values, truth))
    return found


def _success(names: Mapping[str, Names], values: ReleasedValues, truth: NDArray[np.float64]) -> (
    Success
):  # fmt: skip
    who = People(truth=truth, near=values.near, levels=values.levels)
    known = ~np.isnan(truth)  # of others there is nothing to learn

    def rate(right: NDArray[np.float64]) -> float:
        return float(np.where(known, right, 0.0).sum()) / max(who.known, 1)

    majority = values.majority(truth)
    rates = {"majority": rate(majority)}
    exact: dict[str, float] = {}
    for key, each in names.items():
        right = each.right(truth, values.near)
        # of whom nothing is known he says what most rows say
        rates[key] = rate(np.where(np.isnan(right), majority, right))
        if values.levels is None:
            exact[key] = rate(np.nan_to_num(each.right(truth, EXACT), nan=0.0))
    by_own = () if values.copied else OWN_VALUE
    answers = {
        key: values.everybody(each, len(truth)) if key in by_own else each
        for key, each in names.items()
    }
    counted = {key: count_names(each, who) for key, each in answers.items()}
    exact = exact or {key: rates[key] for key in names}
    return Success(who=who, rates=rates, exact=exact, named=counted)


def _joined(parts: list[sparse.csc_array], order: NDArray[np.int64]) -> sparse.csr_array:
    """Return the beliefs of all classes in their order, shape (people, classes)."""
    if len(parts) == 1 and (np.diff(order) > 0).all():
        return parts[0].tocsr()
    return sparse.hstack(parts).tocsc()[:, order].tocsr()


def _surest(belief: sparse.csr_array, readable: NDArray[np.float64]) -> sparse.csr_array:
    """Return 1 where a person's belief is largest among readable classes."""
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
