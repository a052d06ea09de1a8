"""The law of correlated noise: a joint density of all numbers of a record."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.moments import Moments
from rwn_core.laws.transition_law import is_discrete
from rwn_core.laws.unit_law import NORMAL_NOISE, Privacy, UnitLaw

ROUNDED_OFF = 1e-6  # standard deviations that arithmetic may move a value that is never changed
TINY = 1e-300
FINE = 0.7  # standard deviation from which rounding adds 1/12 to a variance, to within 0.1 %


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrelatedNoiseOn(UnitLaw):
    """The law of normal noise on several variables, then shrunk to their means; see `UnitLaw`.

    A released row is mean + shrink (own + noise - mean). Where numbers are rounded, a density at
    the rounded ones stands for their probability: rounding counts as further noise.
    """

    covariance: Floats  # shape (len(names), len(names)): of the noise; may be singular
    mean: Floats  # shape (len(names),)
    shrink: float  # above 0

    @property
    def privacy(self) -> Privacy:
        """None: the noise is normal."""
        return NORMAL_NOISE

    @property
    def retained(self) -> Floats:
        """P(no value changes): 0 unless all are missing, or one is rounded to a whole number."""
        # Shape: (n,).
        own = self.original.matrix(self.names)
        missing = np.isnan(own).all(axis=1)
        if len(self.names) > 1 or not is_discrete(self.original, self.names[0]):
            return np.asarray(missing, dtype=np.float64)
        sd = self.shrink * np.sqrt(self.covariance[0, 0])
        off = (1 - self.shrink) * (own - self.mean)[:, 0]  # how far the value is drawn
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = ndtr((off + 0.5) / sd) - ndtr((off - 0.5) / sd)
        return np.where(missing, 1.0, np.where(sd > 0, chance, np.abs(off) < 0.5))

    def chances(self, masked: Microdata, rows: Integers, people: Microdata | None = None) -> Floats:
        """The density of the rows' values for each person, relative to the densest."""
        own = (people or self.original).matrix(self.names)
        released = masked.matrix(self.names)[rows]
        before = (released - self.mean) / self.shrink + self.mean
        logs = np.full((len(rows), len(own)), -np.inf)
        patterns, pattern = np.unique(np.isnan(own), axis=0, return_inverse=True)
        gone = np.isnan(released)
        for number, missing in enumerate(patterns):
            ours = np.flatnonzero(pattern.ravel() == number)
            there = np.flatnonzero((gone == missing).all(axis=1))
            if there.size:
                logs[np.ix_(there, ours)] = self._logs(before[there], own[ours], ~missing)
        top = logs.max(axis=1, keepdims=True)
        return np.asarray(np.exp(logs - np.where(np.isfinite(top), top, 0.0)))

    def _logs(self, rows: Floats, own: Floats, known: Booleans) -> Floats:
        """Log density up to a constant, of rows and people with the same known variables."""
        from scipy.spatial.distance import cdist

        if not known.any():
            return np.zeros((len(rows), len(own)))
        # the rounding steps of released numbers, 0 if not rounded
        unit_steps = [float(is_discrete(self.original, name)) for name in self.names]
        steps = np.maximum(unit_steps, [self.precision.get(name, 0.0) for name in self.names])
        rounding = steps[known] ** 2 / 12 / self.shrink**2
        covariance = self.covariance[np.ix_(known, known)] + np.diag(rounding)
        scale, values, vectors = spread_axes(covariance)
        # a constant has no spread; any length will do for what is never changed
        length = np.where(scale > 0, scale, np.maximum(np.abs(own[:, known]).max(axis=0), TINY))
        one, other = (table[:, known] / length for table in (rows, own))
        some = values > 0
        white = vectors[:, some] / np.sqrt(values[some])
        logs = -0.5 * cdist(one @ white, other @ white, "sqeuclidean")
        # what lies off the noise's own directions is never changed
        fixed = vectors[:, ~some]
        if fixed.size:
            rounded_off = ROUNDED_OFF * max(1.0, float(np.abs(other).max()))
            logs = np.where(cdist(one @ fixed, other @ fixed) <= rounded_off, logs, -np.inf)
        return np.asarray(logs)

    def moments(self) -> Moments:
        """Shrunk numbers with the noise's shrunk covariance; rounding to whole ones adds 1/12."""
        own = self.original.matrix(self.names)
        spread = self.shrink**2 * self.covariance
        sd = np.sqrt(np.diag(spread))
        discrete = np.array([is_discrete(self.original, name) for name in self.names])
        if (discrete & (sd > 0) & (sd < FINE)).any():
            raise NotApplicable(
                "What is expected is known of noise that is wide against the whole numbers it "
                "is rounded to."
            )
        spread = spread + np.diag(np.where(discrete & (sd > 0), 1 / 12, 0.0))
        known = (~np.isnan(own)).astype(np.float64)
        together = spread * (known.T @ known)
        return Moments(
            names=self.names,
            means=self.mean + self.shrink * (own - self.mean),
            variances=np.diag(spread) * known,
            together=together,
            totals=together,
        )

    def restricted_to(self, names: frozenset[str]) -> CorrelatedNoiseOn:
        """The law of some of the variables."""
        chosen = np.array([name in names for name in self.names])
        return replace(
            UnitLaw.restricted_to(self, names),
            covariance=self.covariance[np.ix_(chosen, chosen)],
            mean=self.mean[chosen],
        )


def spread_axes(covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """The axes of a covariance in standard deviations, so that no unit decides which are none."""
    # Shapes: covariance, vectors (d, d); scale, values (d,).
    scale = np.sqrt(np.diag(covariance))
    length = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / length[:, np.newaxis] / length)
    return scale, np.where(values > values.max(initial=0.0) * 1e-12, values, 0.0), vectors
