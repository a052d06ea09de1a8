"""The worst case of linkage: the better of one row at a time and the whole file at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.assignment import blocks, scaled
from rwn_core.measures.attacks.posterior import AT_ONCE, LARGEST_WORK, Linkage, weigh
from rwn_core.measures.attacks.upper_bound import UpperBound, assigned, upper_bound
from rwn_core.measures.comparison import Comparison

_TIED = 1e-6  # beliefs that differ by a smaller share are taken for equal


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCase:
    """Both attacks of an intruder who knows the method, on one release.

    Attributes
    ----------
    links : Linkage
        Row by row.
    linked : ndarray of int64, shape (n,), or None
        The original that the most likely assignment of all rows gives to each; None where the
        table is too large for it.
    at_once : float or None
        Share of rows that it links rightly, equal rows changing places at random.
    estimate : float or None
        Where it is too large: the share that he links rightly who names for each row the most
        likely original by `scaled` beliefs; None where that is too large, too.
    bound : UpperBound or None
        Where it is too large: what more than he knows would let him link.
    """

    links: Linkage
    linked: NDArray[np.int64] | None
    at_once: float | None
    estimate: float | None
    bound: UpperBound | None = None

    @property
    def earned(self) -> bool:
        """Whether both attacks were tried on every row; else the success is a lower bound."""
        return self.at_once is not None

    @property
    def success(self) -> float:
        """The larger share of right links of the two attacks."""
        return max(self.links.success, self.at_once or 0.0)

    @property
    def at_most(self) -> float | None:
        """What he links at most who is not told more, see `UpperBound`; None where not known."""
        if self.earned:
            return self.success
        return None if self.bound is None else max(self.bound.at_most, self.success)

    @property
    def detail(self) -> dict[str, Any]:
        """What a reading says of it."""
        return {
            "row_by_row": self.links.success,
            "at_once": self.at_once,
            "attack": "rows" if self.success == self.links.success else "file",
            "standing": "worst" if self.earned else "at least",
            "estimate": self.estimate,
            "at_most": self.at_most,
            "told": None if self.bound is None else self.bound.detail,
        }


def worst_case(
    comparison: Comparison,
    names: Sequence[str] | None = None,
    *,
    work: int = LARGEST_WORK,
    whole: int = AT_ONCE,
    bounded: bool = True,
) -> WorstCase:
    """Try both attacks with some of the released variables; once for all that ask.

    Parameters
    ----------
    comparison : Comparison
        With the law of the method.
    names : sequence of str, optional
        The variables the intruder knows; all by default.
    work : int
        Candidate pairs of a sample of rows, which are linked one by one.
    whole : int
        Candidate pairs up to which all rows are linked, one by one and at once.
    bounded : bool
        Whether an upper bound is found where that is too many.

    Raises
    ------
    NotApplicable
        The law is unknown, or the release has none of these variables.

    Notes
    -----
    The likelihoods are computed once. Row by row the success is what Bayes' rule expects; of the
    assignment it is what happened in this release, which only the data steward can see.
    """
    released = [variable.name for variable in comparison.original.schema.released]
    known = tuple(name for name in released if names is None or name in set(names))
    return comparison.here(
        ("worst case", known, work, whole, bounded),
        lambda: _both(comparison, known, work=work, whole=whole, bounded=bounded),
    )


def _both(
    comparison: Comparison, known: tuple[str, ...], *, work: int, whole: int, bounded: bool
) -> WorstCase:
    law = comparison.law
    if law is None:
        raise NotApplicable("The worst case needs the law of the method that made the release.")
    links, belief = weigh(law, comparison.masked, known, work=work, whole=whole)
    linked = at_once = estimate = bound = None
    aligned = comparison.masked.n == law.original.n
    if belief is not None and aligned:
        parts = blocks(belief)
        if parts.affordable:
            linked, at_once = assigned(comparison, known, belief, parts)
        else:
            estimate = _estimate(scaled(belief, parts))
    if at_once is None and aligned and bounded:
        bound = upper_bound(law, comparison, known)
    return WorstCase(links=links, linked=linked, at_once=at_once, estimate=estimate, bound=bound)


def _estimate(marginals: sparse.csc_array | None) -> float | None:
    """Share of rows whose most likely original by scaled beliefs is the true one; ties share."""
    if marginals is None or not np.all(np.isfinite(marginals.data)):
        return None
    column = np.repeat(np.arange(marginals.shape[1]), np.diff(marginals.indptr))
    largest = marginals.max(axis=0).toarray() * (1 - _TIED)
    ties = np.bincount(column[marginals.data >= largest[column]], minlength=len(largest))
    return float(np.mean((marginals.diagonal() >= largest) / ties))
