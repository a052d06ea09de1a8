"""What is expected of variables whose values change places along their ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.value_codes import value_codes
from rwn_core.data.variable import Kind
from rwn_core.laws.expectations import Expectations
from rwn_core.laws.moments import Moments

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedVariable:
    """Hold one variable along its ranking.

    Attributes
    ----------
    name : str
    order : ndarray of int64, shape (N,)
        The records with a value, the largest first. Ties are broken at random in every release.
    values : ndarray of float64, shape (N,)
        Theirs.
    first : int
        Ranks before it take the mean of their values, and so do those behind the exchanged ones.
    chances : sparse array of float64, shape (m, m)
        Which of the m exchanged ranks gives each its value.
    releases : int
        From how many rankings the chances are counted; 0 where they are exact.
    """

    name: str
    order: NDArray[np.int64]
    values: Floats
    first: int
    chances: sparse.csr_array
    releases: int

    @property
    def written(self) -> Floats:
        """The values with those of both ends replaced by the ends' means, shape (N,)."""
        written, last = self.values.copy(), self.first + self.chances.shape[0]
        for end in (slice(0, self.first), slice(last, len(written))):
            if written[end].size:
                written[end] = written[end].mean()
        return written

    @property
    def ties(self) -> NDArray[np.int64]:
        """Numbers of the different values along the ranking, shape (N,)."""
        return np.unique(-self.values, return_inverse=True)[1].astype(np.int64)

    def expected(self, shown: Floats) -> Floats:
        """The expectation of what a rank would show, of each rank, averaged over ties.

        Parameters
        ----------
        shown : ndarray of float64, shape (N, c)
            What each rank gives.
        """
        last = self.first + self.chances.shape[0]
        moved = np.vstack(
            [shown[: self.first], self.chances @ shown[self.first : last], shown[last:]]
        )
        return self._over_ties(moved)

    def kept(self) -> Floats:
        """P(a rank shows the value that it had), averaged over ties, shape (N,)."""
        ties, last = self.ties, self.first + self.chances.shape[0]
        same = np.asarray(self.written == self.values, dtype=np.float64)
        inside, pairs = ties[self.first : last], self.chances.tocoo()
        alike = inside[pairs.row] == inside[pairs.col]
        same[self.first : last] = np.bincount(pairs.row[alike], pairs.data[alike], len(inside))
        return self._over_ties(same[:, None])[:, 0]

    def _over_ties(self, shown: Floats) -> Floats:
        ties = self.ties
        some = sparse.csr_array((np.ones(len(ties)), (ties, np.arange(len(ties)))))
        mean = (some @ shown) / np.bincount(ties)[:, None]
        return np.asarray(mean[ties])


def expectations_of(microdata: Microdata, parts: Mapping[str, RankedVariable]) -> Expectations:
    """What is expected of a release in which these variables change, each by itself.

    Parameters
    ----------
    microdata : Microdata
    parts : mapping of str to RankedVariable
        By name.
    """
    names = microdata.numeric_names
    means = microdata.matrix(names).astype(np.float64)
    variances = np.zeros(means.shape)
    stays = {}
    for name, part in parts.items():
        stays[name] = np.ones(microdata.n)
        stays[name][part.order] = part.kept()
        if name in names:
            column = names.index(name)
            center = part.values.mean()
            written = part.written - center
            found = part.expected(np.column_stack([written, written**2]))
            means[part.order, column] = center + found[:, 0]
            variances[part.order, column] = np.maximum(found[:, 1] - found[:, 0] ** 2, 0.0)
    return Expectations(
        original=microdata,
        moments=Moments(
            names=tuple(names),
            means=means,
            variances=variances,
            together=np.diag(variances.sum(axis=0)),
            totals=np.zeros((len(names),) * 2),
        ),
        stays=stays,
        levels={
            name: _levels(microdata, part)
            for name, part in parts.items()
            if microdata.schema.variable(name).kind is Kind.ORDERED
        },
        releases=max((part.releases for part in parts.values()), default=0),
    )


def _levels(microdata: Microdata, part: RankedVariable) -> Floats:
    codes, values = value_codes(microdata, part.name)
    own = codes[part.order]
    chances, found = np.eye(len(values)), part.expected(np.eye(len(values))[own])
    chances[own] = found
    return chances
