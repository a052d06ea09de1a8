"""Mean and spread of released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.linalg import block_diag

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """The expected moments of the numbers of a release, given the original."""

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
    return independent(some, values, np.zeros(values.shape))


def independent(names: Sequence[str], means: Floats, variances: Floats) -> Moments:
    """The moments of numbers that are drawn each by itself."""
    # Shapes: means, variances (n, m).
    spread = np.diag(variances.sum(axis=0))
    return Moments(
        names=tuple(names), means=means, variances=variances, together=spread, totals=spread
    )


def joined(parts: Sequence[Moments]) -> Moments:
    """The moments of variables that are changed in several parts, each by itself."""
    some = [part for part in parts if part.together.size]
    nothing = np.empty((0, 0))
    return Moments(
        names=tuple(chain.from_iterable(part.names for part in parts)),
        means=np.column_stack([part.means for part in parts]),
        variances=np.column_stack([part.variances for part in parts]),
        together=np.asarray(block_diag(*[part.together for part in some] or [nothing])),
        totals=np.asarray(block_diag(*[part.totals for part in some] or [nothing])),
    )
