"""The law of correlated noise: a joint density of all numbers of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.mechanism.changed_table import is_whole
from rwn_core.mechanism.moments import Moments
from rwn_core.mechanism.noise_law import UNLISTED
from rwn_core.mechanism.privacy import NORMAL_NOISE, Privacy

FINE = 0.7  # standard deviation from which rounding adds 1/12 to a variance, to within 0.1 %


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrelatedNoiseOn:
    """Normal noise on several variables together, then shrunk toward their means; see `UnitLaw`.

    A released row is mean + shrink (own + noise - mean). Where numbers are rounded, the density at
    the rounded ones stands for their probability.

    Attributes
    ----------
    original : Microdata
        Never rounded.
    names : tuple of str
    covariance : ndarray of float64, shape (len(names), len(names))
        Of the noise; positive definite.
    mean : ndarray of float64, shape (len(names),)
    shrink : float
        Above 0.
    """

    original: Microdata
    names: tuple[str, ...]
    covariance: NDArray[np.float64]
    mean: NDArray[np.float64]
    shrink: float

    exchanged: ClassVar[bool] = False
    privacy: ClassVar[Privacy] = NORMAL_NOISE

    @property
    def kept(self) -> NDArray[np.float64]:
        """P(no value changes): 0 unless all are missing, or one is rounded to a whole number."""
        own = self.original.matrix(self.names)
        missing = np.isnan(own).all(axis=1)
        if len(self.names) > 1 or not is_whole(self.original, self.names[0]):
            return np.asarray(missing, dtype=np.float64)
        sd = self.shrink * np.sqrt(self.covariance[0, 0])
        off = (1 - self.shrink) * (own - self.mean)[:, 0]  # how far the value is drawn
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = ndtr((off + 0.5) / sd) - ndtr((off - 0.5) / sd)
        return np.where(missing, 1.0, np.where(sd > 0, chance, np.abs(off) < 0.5))

    def chances(
        self, masked: Microdata, rows: NDArray[np.int64], people: Microdata | None = None
    ) -> NDArray[np.float64]:
        """The density of the rows' values for each person, relative to the densest."""
        own = (people or self.original).matrix(self.names)
        released = masked.matrix(self.names)[rows]
        before = (released - self.mean) / self.shrink + self.mean
        logs = np.full((len(rows), len(own)), -np.inf)
        patterns, pattern = np.unique(np.isnan(own), axis=0, return_inverse=True)
        gone = np.isnan(released)
        for number, missing in enumerate(patterns):
            here = np.flatnonzero(pattern.ravel() == number)
            there = np.flatnonzero((gone == missing).all(axis=1))
            if there.size:
                logs[np.ix_(there, here)] = self._logs(before[there], own[here], ~missing)
        top = logs.max(axis=1, keepdims=True)
        return np.asarray(np.exp(logs - np.where(np.isfinite(top), top, 0.0)))

    def _logs(
        self, rows: NDArray[np.float64], own: NDArray[np.float64], known: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Log density up to a constant, of rows and people with the same known variables."""
        from scipy.spatial.distance import cdist

        if not known.any():
            return np.zeros((len(rows), len(own)))
        values, vectors = np.linalg.eigh(self.covariance[np.ix_(known, known)])
        some = values > values.max() * 1e-12
        white = vectors[:, some] / np.sqrt(values[some])
        # what lies off the noise's own directions is never changed
        fixed = vectors[:, ~some]
        logs = -0.5 * cdist(rows[:, known] @ white, own[:, known] @ white, "sqeuclidean")
        if fixed.size:
            apart = cdist(rows[:, known] @ fixed, own[:, known] @ fixed)
            logs = np.where(apart <= 1e-6 * np.sqrt(values.max()), logs, -np.inf)
        return np.asarray(logs)

    def moments(self) -> Moments:
        """Shrunk numbers with the noise's shrunk covariance; rounding to whole ones adds 1/12."""
        own = self.original.matrix(self.names)
        spread = self.shrink**2 * self.covariance
        sd = np.sqrt(np.diag(spread))
        whole = np.array([is_whole(self.original, name) for name in self.names])
        if (whole & (sd > 0) & (sd < FINE)).any():
            raise NotApplicable(
                "What is expected is known of noise that is wide against the whole numbers it "
                "is rounded to."
            )
        spread = spread + np.diag(np.where(whole & (sd > 0), 1 / 12, 0.0))
        known = (~np.isnan(own)).astype(np.float64)
        together = spread * (known.T @ known)
        return Moments(
            names=self.names,
            means=self.mean + self.shrink * (own - self.mean),
            variances=np.diag(spread) * known,
            together=together,
            totals=together,
        )

    def table(self) -> tuple[sparse.csr_array, list[Any]]:
        """There is none.

        Raises
        ------
        NotApplicable
        """
        raise NotApplicable(UNLISTED)

    def on(self, names: frozenset[str]) -> CorrelatedNoiseOn:
        """The law of some of the variables."""
        chosen = np.array([name in names for name in self.names])
        return replace(
            self,
            names=tuple(name for name in self.names if name in names),
            covariance=self.covariance[np.ix_(chosen, chosen)],
            mean=self.mean[chosen],
        )

    def rounded(self, precision: Mapping[str, float]) -> CorrelatedNoiseOn:
        """The same: the density at the rounded numbers."""
        return self
