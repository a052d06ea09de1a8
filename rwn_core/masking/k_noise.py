"""k-noise: noise as wide as the neighborhoods of k records, variable by variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.noise_law import Shape
from rwn_core.masking.lever import Lever, check_known, check_records, count_lever, range_of_known
from rwn_core.masking.method import NoiseMethod, Prepared
from rwn_core.masking.option import Others


@dataclass(frozen=True, slots=True, kw_only=True)
class KNoise(NoiseMethod):
    """The parameters of k-noise.

    For each numeric variable delta is the smallest length such that at least k records lie within
    2 delta of every record, and each number gets independent noise: uniform on [-delta, delta], or
    of another shape with the same variance delta^2 / 3. With uniform noise at least half of the
    records within 2 delta of a value are expected to be released within 2 delta of it (theorem 1
    of the source). Missing values stay missing; counts stay whole.

    Parameters
    ----------
    k : int
        Records within 2 delta of every record, itself among them; 1 for no noise.
    shape : {"uniform", "laplace", "gaussian"}
        Of the noise; all three have the same variance.
    others : {"keep", "refuse"}
        What happens to variables that have no numbers: they are released unmasked, or the
        table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For single numbers, such as an age, where at least k people shall have values about as near as
    noise reaches, and the noise may be published. It is no k-anonymity: an intruder with the
    bounds of uniform noise excludes all records beyond them.

    What it destroys
    ----------------
    Detail everywhere, because of the loneliest record: noise is as wide as the farthest one needs,
    so that a single outlier makes it wide for all. Correlations and slopes shrink as with any noise
    that is added to each variable by itself. Normal and Laplace noise leave the range of the data.
    Categories are not masked at all.

    References
    ----------
    Biswal, Arbuckle, Kulik, "Disclosure Metrics Born From Statistical Evaluations of Data
    Utility", theorem 1.

    Examples
    --------
    >>> KNoise(k=10).shape
    'uniform'
    """

    k: int = 10
    shape: Shape = "uniform"
    others: Others = "keep"

    method: ClassVar[str] = "k_noise"
    title: ClassVar[str] = "k-noise"
    levers: ClassVar[tuple[Lever, ...]] = (
        count_lever(
            "Records within reach of the noise k",
            help="Noise is so wide that at least k records lie within twice its range; 1: none.",
            range=range_of_known,
            presets={"Light": 5, "Standard": 10, "Strong": 50},
        ),
    )
    keeps: ClassVar[tuple[Keeps, ...]] = (Keeps(what="records", when={"k": 1}),)
    warns: ClassVar[tuple[str, ...]] = (
        "k counts records near each value of one variable; several variables together may "
        "still single a person out.",
    )

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without numbers, or of fewer than k records."""
        check_records(self.k, microdata)
        check_known(self.k, microdata, self.masked_names(microdata))

    def spread(self, table: Prepared, name: str) -> float:
        """The standard deviation of uniform noise as wide as the neighborhoods."""
        values = table.microdata.values(name)
        order = table.cached(("sorted", name), lambda: np.sort(values[~np.isnan(values)]))
        return float(delta(order, self.k) / np.sqrt(3))


def delta(values: Floats, k: int) -> float:
    """Return the smallest delta such that k values lie within 2 delta of each, itself included.

    `values` ascend and are complete, shape (n,); k is from 1 to n.

    >>> delta(np.array([1.0, 2.0, 4.0]), 2)
    1.0
    """
    n = len(values)
    if n == 0 or k <= 1:
        return 0.0
    # the k nearest of a sorted value, itself among them, are k in a row; the later the row starts,
    # the nearer is its lower end and the farther its upper end: halve until they are as far
    own = np.arange(n)
    low = np.maximum(own - k + 1, 0)
    high = np.minimum(own, n - k)
    first, last = low, high
    while (low < high).any():
        middle = (low + high) // 2
        enough = values[middle + k - 1] - values >= values - values[middle]
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        low = np.minimum(low, high)
    rows = np.stack([low, np.maximum(low - 1, first)])
    farther = np.maximum(values - values[rows], values[np.minimum(rows, last) + k - 1] - values)
    return float(farther.min(axis=0).max()) / 2
