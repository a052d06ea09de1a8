"""Additive noise: an independent random number is added to every number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.law import Law
from rwn_core.laws.noise_law import Shape
from rwn_core.masking.lever import Lever, LeverRange
from rwn_core.masking.method import Method, NoiseMethod, Prepared
from rwn_core.masking.option import Others, kept_as_they_are

LARGEST = 100.0  # standard deviations; beyond, nothing of the data is left to see


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditiveNoise(NoiseMethod):
    """The parameters of uncorrelated additive noise.

    Each number x_ij becomes x_ij + e_ij with independent e_ij of mean 0 and standard deviation
    size times that of the variable. Variances grow by the factor 1 + size^2, correlations shrink
    by 1 / (1 + size^2), and slopes of a regression shrink toward 0. Missing values stay missing;
    counts stay whole.

    Parameters
    ----------
    size : float
        Standard deviation of the noise in standard deviations of the variable, from 0 to 100.
    shape : {"gaussian", "laplace", "uniform"}
        Of the noise; all three have the same variance.
    reflected : bool
        A variable without negative values is released without them: a number below 0 loses its
        sign. This changes means near 0.
    others : {"keep", "refuse"}
        What happens to variables that have no numbers: they are released unmasked, or the
        table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For numbers, where an analyst knows the size of the noise and corrects for it, and where
    impossible values do no harm. Nothing is copied from other records.

    What it destroys
    ----------------
    Correlations: at size 0.5 they are 0.8 of what they were, and slopes of a regression shrink
    toward 0. Variances grow, bounds and peaks at single values are blurred, and a positive number
    may become negative. Outliers stay outliers. Categories are not masked at all.

    References
    ----------
    Hundepool et al. 2012, section 3.4.2; Tendick 1991.

    Examples
    --------
    >>> AdditiveNoise(size=0.5, shape="laplace").size
    0.5
    """

    size: float = 0.3
    shape: Shape = "gaussian"
    reflected: bool = False
    others: Others = "keep"

    method: ClassVar[str] = "additive_noise"
    title: ClassVar[str] = "Additive noise"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="size",
            title="Size of the noise (standard deviations)",
            unit="standard deviations",
            help="How far noise moves each number; at 0 nothing is masked.",
            largest=100.0,
            range=LeverRange(low=0.0, high=2.0, step=0.05),
            presets={"Light": 0.1, "Standard": 0.3, "Strong": 1.0},
        ),
    )
    keeps: ClassVar[tuple[Keeps, ...]] = (Keeps(what="records", when={"size": 0}),)

    def spread(self, table: Prepared, name: str) -> float:
        """The size of the noise times the variable's own standard deviation."""
        return self.size * table.cached(("sd", name), partial(known_spread, table.microdata, name))

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks: variables released unchanged, and possible negative numbers."""
        names = self.masked_names(microdata)
        remarks = kept_as_they_are(microdata, names)
        unsigned = [n for n in names if np.nanmin(microdata.values(n), initial=np.inf) >= 0]
        if unsigned and self.size and not self.reflected:
            remarks.append(
                f"noise may make numbers of {', '.join(unsigned)} negative, which the original "
                "has none of; reflected=true prevents it"
            )
        return remarks

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        return Method.cautions(self) or [
            f"Noise of {self.size:g} standard deviations multiplies every variance by "
            f"{1 + self.size**2:.3g} and every correlation by {1 / (1 + self.size**2):.3g}.",
            "Outliers stay outliers: noise moves them by as much as everybody else.",
        ]


def known_spread(microdata: Microdata, name: str) -> float:
    """Standard deviation (divisor n - 1) of a variable's known numbers; 0 of fewer than two."""
    values = microdata.values(name)
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0
