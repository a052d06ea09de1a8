"""Mean and spread of released numbers, and expected cells of methods without a law of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata, value_codes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Hold what is expected of the numbers of a release, given the original."""

    names: tuple[str, ...]  # m numeric variables
    # means, variances: shape (n, m): of each released number; NaN and 0 where the release has none
    means: Floats
    variances: Floats
    # shape (m, m): sum over the records of the covariance of two numbers of one record
    together: Floats
    # shape (m, m): covariance of the sums of two variables over the records. It is `together` where
    # records are independent, and 0 where they exchange their values.
    totals: Floats


def numbers_among(microdata: Microdata, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some variables that have numbers, in the order of the names."""
    return tuple(name for name in names if name in microdata.numeric_names)


def certain(shown: Microdata, names: Sequence[str]) -> Moments:
    """Return the moments of constants."""
    some = numbers_among(shown, names)
    values = shown.matrix(some)
    nothing = np.zeros((len(some), len(some)))
    return Moments(
        names=some, means=values, variances=np.zeros(values.shape), together=nothing, totals=nothing
    )


def independent(names: Sequence[str], means: Floats, variances: Floats) -> Moments:
    """The moments of numbers that are drawn each by itself."""
    # Shapes: means, variances (n, m).
    spread = np.diag(variances.sum(axis=0))
    return Moments(
        names=tuple(names), means=means, variances=variances, together=spread, totals=spread
    )


def joined(parts: Sequence[Moments]) -> Moments:
    """The moments of variables that are changed in several parts, each by itself."""
    some, nothing = [part for part in parts if part.together.size], np.empty((0, 0))
    return Moments(
        names=tuple(name for part in parts for name in part.names),
        means=np.column_stack([part.means for part in parts]),
        variances=np.column_stack([part.variances for part in parts]),
        together=np.asarray(block_diag(*[part.together for part in some] or [nothing])),
        totals=np.asarray(block_diag(*[part.totals for part in some] or [nothing])),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expectations:
    """Hold what is expected of a release in which every variable is changed by itself."""

    original: Microdata
    moments: Moments  # of all released numbers
    # shape (n,): P(a changed variable shows the record's own value); the others always show it
    stays: Mapping[str, Floats]
    # shape (V, V): P(each level is released for a record of each), of the changed variables with
    # levels, which have the numbers of `value_codes`
    levels: Mapping[str, Floats]
    # from how many simulated releases the chances are estimated; 0 where they are exact
    releases: int

    def retained(self, *names: str) -> Floats:
        """P(the released value of a variable equals the original's), shape (n,)."""
        return self.stays.get(names[0], np.ones(self.original.n))

    def rows_unchanged(self) -> Floats:
        """P(no value of a record changes), shape (n,)."""
        return np.asarray(np.prod([np.ones(self.original.n), *self.stays.values()], axis=0))

    def table(self, name: str) -> tuple[sparse.csr_array, list[Any]]:
        """P(each level of a variable is released), shape (n, V), and the levels."""
        codes, values = value_codes(self.original, name)
        chances = self.levels.get(name, np.eye(len(values)))
        return sparse.csr_array(chances[codes]), values
