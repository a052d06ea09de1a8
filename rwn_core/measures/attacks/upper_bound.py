"""What an intruder links who is told more: by the same attacks, more than who is not told it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.measures.attacks.all_rows import weighed
from rwn_core.measures.attacks.assignment import Blocks, blocks, most_likely
from rwn_core.measures.attacks.exchangeable_records import canonical_order, expected_right
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.intervals import share_interval
from rwn_core.measures.statistics.key_variables import cell_codes
from rwn_core.mechanism.law import Law

PEOPLE = 1500  # as many as are assigned at once in any case
_SEED = 20151126  # of the people: fixed, so that a number changes only with the setting


@dataclass(frozen=True, slots=True, kw_only=True)
class UpperBound:
    """The attacks of an intruder who is told which random people some of the rows come from.

    Attributes
    ----------
    people : int
        How many people, and as many rows: theirs.
    of : int
        How many records there are.
    row_by_row, at_once : float
        Shares of these rows that he links rightly, one row at a time and all of them at once.
    weighed : float or None
        The share given all of them, see `all_rows.weighed`; None where the truth is not possible.
    """

    people: int
    of: int
    row_by_row: float
    at_once: float
    weighed: float | None

    @property
    def share(self) -> float:
        """The largest share of right links of the attacks."""
        return max(self.row_by_row, self.at_once, self.weighed or 0.0)

    @property
    def at_most(self) -> float:
        """The upper end of the share's 95 % interval; the share itself where all were told."""
        if self.people == self.of:
            return self.share
        return float(share_interval(self.share * self.people, self.people)[1])

    @property
    def detail(self) -> dict[str, Any]:
        """What a reading says of it."""
        return {"people": self.people, "share": self.share}


def upper_bound(
    law: Law, comparison: Comparison, known: Sequence[str], *, people: int = PEOPLE
) -> UpperBound:
    """Link the rows of some random people to these people, by all attacks.

    Parameters
    ----------
    law : Law
        Of the comparison.
    comparison : Comparison
        As many released rows as originals, in the same order.
    known : sequence of str
        The variables the intruder knows.
    people : int
        How many are drawn, all of them at most; independently of all values.

    Returns
    -------
    UpperBound

    Notes
    -----
    Whoever is told more can do as if he were not: the best attack with the people known links at
    least the share that the best attack without links, of random rows and so of all. Row by row
    the beliefs are those of Bayes' rule, L_ir over the sum of L_jr of the people j alone; the
    likelihoods keep the neighborhoods of the full table.
    """
    n = law.original.n
    chosen = np.arange(n)
    if people < n:
        generator = np.random.default_rng(_SEED)
        chosen = np.sort(generator.choice(n, people, replace=False)).astype(np.int64)
    belief = posteriors(law, comparison.masked, chosen, known, chosen)
    alone = np.minimum(belief.max(axis=0).toarray().ravel(), 1.0)
    parts = blocks(belief)
    _, at_once = assigned(comparison, known, belief, parts, chosen)
    return UpperBound(
        people=len(chosen),
        of=n,
        row_by_row=float(alone.mean()),
        at_once=at_once,
        weighed=weighed(comparison, belief, parts, chosen),
    )


def assigned(
    comparison: Comparison,
    known: Sequence[str],
    belief: sparse.csc_array,
    parts: Blocks,
    people: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], float]:
    """The most likely assignment of rows to their people, and the share that it links rightly.

    Parameters
    ----------
    comparison : Comparison
    known : sequence of str
        The variables by which rows can be told apart.
    belief : sparse array, shape (m, m)
        Of people and of their rows, in the same order.
    parts : Blocks
        Of the belief.
    people : ndarray of int64, shape (m,), optional
        Their records; all by default.
    """
    released = [variable.name for variable in comparison.original.schema.released]
    before, after = cell_codes(comparison, released)
    if people is not None:
        before, after = before[people], after[people]
    linked = most_likely(belief, parts, (canonical_order(before), canonical_order(after)))
    places = [released.index(name) for name in known]
    right = expected_right(linked, before, after[:, places])
    return linked, min(right / len(linked), 1.0)
