"""The law of added noise: densities, or probabilities where released numbers are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded_values
from rwn_core.errors import NotApplicable
from rwn_core.laws.moments import Moments, independent
from rwn_core.laws.unit_law import NORMAL_NOISE, STILL_MISSING, Privacy, UnitLaw

FAR = 40.0  # standard deviations beyond which no noise has a weight that counts
# decides: integers in the sum of probabilities; for wider noise, rounding adds 1/12 to the
# variance
SUMMED_INTEGERS = 100_000


Shape = Literal["gaussian", "laplace", "uniform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A symmetric random number with mean 0."""

    shape: Shape
    sd: float  # standard deviation, above 0

    @property
    def half_width(self) -> float:
        """Half the length of the interval that uniform noise fills."""
        return float(self.sd * np.sqrt(3))

    def draw(self, uniform: Floats) -> Floats:
        """The noise that belongs to some uniform numbers between 0 and 1."""
        if self.shape == "gaussian":
            return np.asarray(self.sd * ndtri(uniform))
        if self.shape == "uniform":
            return self.half_width * (2 * uniform - 1)
        lower = uniform < 0.5
        tail = np.log(2 * np.where(lower, uniform, 1 - uniform))
        return np.asarray(self.sd / np.sqrt(2) * np.where(lower, tail, -tail))

    def density(self, at: Floats) -> Floats:
        """The density at some distances from the true value."""
        if self.shape == "gaussian":
            scaled = at / self.sd
            return np.asarray(np.exp(-0.5 * scaled * scaled) / (self.sd * np.sqrt(2 * np.pi)))
        if self.shape == "uniform":
            return np.where(np.abs(at) <= self.half_width, 0.5 / self.half_width, 0.0)
        scale = self.sd / np.sqrt(2)
        return np.asarray(np.exp(-np.abs(at) / scale) / (2 * scale))

    def below(self, at: Floats) -> Floats:
        """P(the noise is at most so much)."""
        if self.shape == "gaussian":
            return np.asarray(ndtr(at / self.sd))
        if self.shape == "uniform":
            return np.asarray(np.clip(0.5 + at / (2 * self.half_width), 0.0, 1.0))
        tail = 0.5 * np.exp(-np.abs(at) * np.sqrt(2) / self.sd)
        return np.asarray(np.where(at < 0, tail, 1 - tail))

    @property
    def discrete_variance(self) -> float:
        """Variance of the noise if it is rounded to integers."""
        if self.sd * FAR > SUMMED_INTEGERS:
            return self.sd**2 + 1 / 12
        steps = np.arange(1, np.ceil(self.sd * FAR) + 2)
        # E[k^2] = sum over k of (2 k - 1) P(|K| >= k)
        return float(2 * ((2 * steps - 1) * self.below(0.5 - steps)).sum())

    def shortfall(self, own: Floats, *, discrete: bool) -> Floats:
        """Return E[max(0, -own - noise)], the expected shortfall below 0."""
        sd = self.sd
        if discrete and sd * FAR <= SUMMED_INTEGERS:
            steps = np.arange(1, np.ceil(sd * FAR) + 2)
            tails = np.append(np.cumsum(self.below(0.5 - steps)[::-1])[::-1], 0.0)
            return np.asarray(tails[np.minimum(own, len(steps)).astype(np.int64)])
        if self.shape == "gaussian":
            at = own / sd
            return np.asarray(sd * np.exp(-0.5 * at * at) / np.sqrt(2 * np.pi) - own * ndtr(-at))
        if self.shape == "laplace":
            scale = sd / np.sqrt(2)
            return np.asarray(scale / 2 * np.exp(-own / scale))
        return np.asarray(np.maximum(self.half_width - own, 0.0) ** 2 / (4 * self.half_width))


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseOn(UnitLaw):
    """The noise on one numeric variable."""

    noise: Noise
    discrete: bool = False  # whether the noisy numbers are rounded to whole ones
    reflected: bool = False  # whether a number below 0 is released without its sign

    @property
    def step(self) -> float:
        """The step to which released numbers are rounded; 0 for not at all."""
        return self.precision.get(self.names[0], 0.0)

    @property
    def privacy(self) -> Privacy:
        """No epsilon: scale and range of the noise come from the file; see `UnitLaw`."""
        if np.isnan(self.original.values(self.names[0])).any():
            return STILL_MISSING
        if self.noise.shape == "gaussian":
            return NORMAL_NOISE
        if self.noise.shape == "uniform":
            return Privacy(np.inf, "can only take values within reach of its noise")
        return Privacy(np.inf, "has noise of a scale that follows from the file")

    @property
    def retained(self) -> Floats:
        """P(the value does not change): 0 of continuous numbers, and a missing one is kept."""
        # Shape: (n,).
        own = self.original.values(self.names[0])
        missing = np.isnan(own)
        if not (self.discrete or self.step):
            return missing.astype(np.float64)
        written = np.rint(own) if self.discrete else own
        written = rounded_values(written, self.step) if self.step else written
        return np.where(missing, 1.0, self._between(*self._ends(written), own))

    def chances(self, masked: Microdata, rows: Integers, people: Microdata | None = None) -> Floats:
        """The density, or the probability, of the rows' values for each person; see `UnitLaw`."""
        # Shapes: rows (m,); the answer (m, people.n).
        own = (people or self.original).values(self.names[0])
        released = masked.values(self.names[0])[rows][:, None]
        if self.discrete or self.step:
            likely = self._between(*self._ends(released), own)
        else:
            likely = self.noise.density(released - own)
            if self.reflected:
                likely = np.where(released < 0, 0.0, likely + self.noise.density(-released - own))
        lost, none = np.isnan(released), np.isnan(own)
        return np.where(lost | none, (lost & none).astype(np.float64), likely)

    def _ends(self, released: Floats) -> tuple[Floats, Floats]:
        """Between which noisy numbers a released one lies."""
        # Shapes: released, and both ends, (m, 1) or (n,).
        if not self.discrete:
            return released - self.step / 2, released + self.step / 2
        if not self.step:
            return released - 0.5, released + 0.5
        low = np.ceil(released - self.step / 2)
        high = np.floor(released + self.step / 2)
        # at the very half a whole number goes to the even multiple
        low = low + (rounded_values(low.ravel(), self.step).reshape(low.shape) != released)
        high = high - (rounded_values(high.ravel(), self.step).reshape(high.shape) != released)
        return low - 0.5, high + 0.5

    def _between(self, low: Floats, high: Floats, own: Floats) -> Floats:
        """P(a released number lies between two ends)."""
        # Shapes: low, high (m, 1) or (n,); own (n,); the answer as they broadcast.
        below = self.noise.below
        if not self.reflected:
            return np.asarray(np.maximum(below(high - own) - below(low - own), 0.0))
        low = np.maximum(low, 0.0)
        either = below(high - own) - below(low - own) + below(-low - own) - below(-high - own)
        return np.where(high <= 0, 0.0, np.maximum(either, 0.0))

    def moments(self) -> Moments:
        """The number itself and the noise's variance; more where it is rounded or reflected."""
        if self.step:
            raise NotApplicable("What is expected of noise is known before it is rounded.")
        own = self.original.values(self.names[0])
        sd = self.noise.sd
        variance = self.noise.discrete_variance if self.discrete else sd**2
        mean = own
        spread = np.where(np.isnan(own), 0.0, variance)
        if self.reflected:
            known = np.nan_to_num(own)
            mean = own + 2 * self.noise.shortfall(known, discrete=self.discrete)
            spread = np.where(np.isnan(own), 0.0, known**2 + variance - np.nan_to_num(mean) ** 2)
        return independent(self.names, mean[:, np.newaxis], spread[:, np.newaxis])
