"""Correlated noise: noise with the data's own covariance, and a file shrunk back to its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import ndtri

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.correlated_noise_law import CorrelatedNoiseOn, spread_axes
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.transition_law import with_numbers
from rwn_core.masking.lever import Lever, LeverRange
from rwn_core.masking.method import NumberMethod, Prepared
from rwn_core.masking.option import Others
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.randomness import SecretKey

Form = Literal["population", "sample", "plain"]

LARGEST = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelatedNoise(NumberMethod):
    """The parameters of correlated noise.

    Normal noise with covariance c S is added to the numbers of a record, S being their sample
    covariance; then every variable is shrunk toward its mean by a factor a. Correlations are kept
    in expectation, and means and covariances where a restores them. Higher moments are not, and
    values need not be possible ones. Missing values stay missing; counts stay whole.

    Parameters
    ----------
    size : float
        c, the covariance of the noise as a share of the data's, from 0 to 100. The noise of
        sdcMicro is a percentage of it: method = "correlated", noise = 50 is size = 0.5 with form =
        "plain".
    form : {"population", "sample", "plain"}
        a = 1/sqrt(1 + c): under normality the release has the data's own law, so that queries
        with conditions are unbiased (Tendick and Matloff 1994); a = sqrt((n - 1 - c) / ((n - 1)
        (1 + c))), Kim's form for a sample of n records; or a = 1, noise alone.
    others : {"keep", "refuse"}
        What happens to variables that have no numbers: they are released unmasked, or the
        table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For numbers near to a normal distribution of which means, covariances, regressions or principal
    components will be computed: these are kept in expectation, at any size of the noise.

    What it destroys
    ----------------
    All that means and covariances do not say: skewness, bounds, many equal values such as zeros,
    and relations that are not linear. Group means are drawn toward the mean of all, because noise
    and shrinking do not know the groups. Outliers stay outliers. Categories are not masked at all.

    References
    ----------
    Kim 1986; Tendick 1991; Tendick and Matloff 1994.

    Examples
    --------
    >>> CorrelatedNoise(size=0.25).form
    'population'
    """

    size: float = 0.25
    form: Form = "population"
    others: Others = "keep"

    method: ClassVar[str] = "correlated_noise"
    title: ClassVar[str] = "Correlated noise"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="size",
            title="Covariance of the noise (share of the data's)",
            help="How much noise, with the same correlations as the data; at 0 nothing is masked.",
            largest=100.0,
            range=LeverRange(low=0.0, high=4.0, step=0.05),
            presets={"Light": 0.05, "Standard": 0.25, "Strong": 1.0},
        ),
    )
    keeps: ClassVar[tuple[Keeps, ...]] = (Keeps(what="records", when={"size": 0}),)
    warns: ClassVar[tuple[str, ...]] = (
        "Means and covariances are kept in expectation; skewness, bounds and whole groups of "
        "equal values are not, and values may be impossible ones.",
        "Outliers stay outliers: noise moves them by as much as everybody else.",
    )

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without numbers, or with too few records."""
        self.masked_names(microdata)
        if self.form == "sample" and self.size >= microdata.n - 1:
            raise ParameterError(
                f"size must be below {microdata.n - 1:,}, the number of records less one, in Kim's "
                "form; take a smaller one."
            )

    def shrink(self, n: int) -> float:
        """The factor a by which the noisy numbers are drawn toward their means."""
        if self.form == "plain":
            return 1.0
        exact = (n - 1 - self.size) / (n - 1) if self.form == "sample" else 1.0
        return float(np.sqrt(exact / (1 + self.size)))

    def _noise(self, table: Prepared) -> CorrelatedNoiseOn:
        names = self.masked_names(table.microdata)
        values = table.microdata.matrix(names)
        mean, covariance = table.cached("moments", lambda: moments(values))
        return CorrelatedNoiseOn(
            original=table.microdata,
            names=names,
            covariance=self.size * covariance,
            mean=mean,
            shrink=self.shrink(table.microdata.n),
        )

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with noise."""
        if self.size == 0:
            return with_numbers(table.microdata, {})
        part = self._noise(table)
        if "root" not in table.made:  # a matrix R with R R' equal to the covariance
            scale, values, vectors = spread_axes(part.covariance / self.size)
            table.made["root"] = scale[:, np.newaxis] * ((vectors * np.sqrt(values)) @ vectors.T)
        root = table.made["root"]
        draws = [two_uniforms(key, table.records, j)[0] for j in range(len(part.names))]
        normal = np.column_stack([ndtri(drawn) for drawn in draws])
        noisy = table.microdata.matrix(part.names) + np.sqrt(self.size) * normal @ root.T
        released = part.mean + part.shrink * (noisy - part.mean)
        return with_numbers(table.microdata, dict(zip(part.names, released.T, strict=True)))

    def law(self, table: Prepared) -> SeparateLaw:
        """A joint density of all numbers."""
        return SeparateLaw.of_changes(table.microdata, [self._noise(table)] if self.size else [])


def moments(values: Floats) -> tuple[Floats, Floats]:
    """Means of the known numbers, and covariances of the records that are complete."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    mean = np.divide(np.nansum(values, axis=0), count, out=np.zeros(len(count)), where=count > 0)
    complete = values[known.all(axis=1)]
    if len(complete) < 2:
        return mean, np.diag(np.nansum((values - mean) ** 2, axis=0) / np.maximum(count - 1, 1))
    varies = (complete != complete[0]).any(axis=0)  # of a constant only rounding would be left
    return mean, np.atleast_2d(np.cov(complete, rowvar=False)) * np.outer(varies, varies)
