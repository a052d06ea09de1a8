"""Microaggregation: groups of k similar records are released as their means (MDAV)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.transition_law import with_numbers
from rwn_core.masking.intervals import group_means
from rwn_core.masking.lever import Lever, count_lever, range_of_groups
from rwn_core.masking.method import FixedMethod, NumberMethod, Prepared
from rwn_core.masking.option import Others


@dataclass(frozen=True, slots=True, kw_only=True)
class Microaggregation(NumberMethod, FixedMethod):
    """The parameters of multivariate microaggregation by maximum distance to the average.

    Records are put into groups of k similar ones (at most 2k - 1) by their scaled numbers, and
    each number is replaced by its group's mean. Nothing is random. Missing values stay missing and
    count as the mean for the distance; counts stay whole.

    Parameters
    ----------
    k : int
        Size of the groups, at least 1; 1 changes nothing.
    others : {"keep", "refuse"}
        What happens to variables that have no numbers: they are released unmasked, or the
        table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For numbers, where each released row shall stand for at least k people and nothing may be
    random. Means of
    measured numbers are kept exactly.

    What it destroys
    ----------------
    Variation within groups: variances shrink, correlations and fits look better than they are, and
    no released number need be a possible one. Categories are not masked at all, and may still tell
    the members of a group apart.

    References
    ----------
    Domingo-Ferrer and Torra 2005 (MDAV); Domingo-Ferrer and Mateo-Sanz 2002.

    Examples
    --------
    >>> Microaggregation(k=5).k
    5
    """

    k: int = 5
    others: Others = "keep"

    method: ClassVar[str] = "microaggregation"
    title: ClassVar[str] = "Microaggregation (MDAV)"
    levers: ClassVar[tuple[Lever, ...]] = (
        count_lever(
            "Records in a group k",
            help="Each number becomes the mean of k similar records; at 1 nothing is masked.",
            range=range_of_groups,
            presets={"Light": 3, "Standard": 5, "Strong": 15},
        ),
    )
    moves_together: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"k": 1}),
        Keeps(what="totals", measured=True),
        Keeps(what="fixed"),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "Who holds the original file knows the group of every row, and links one of {setting.k} "
        "correctly by chance; means of groups are smoother than the data, so that variances "
        "shrink and correlations grow.",
    )

    def result(self, table: Prepared) -> Microdata:
        """The table of group means."""
        microdata = table.microdata
        if self.k == 1:
            return with_numbers(microdata, {})
        names = self.masked_names(microdata)
        values = microdata.matrix(names)
        group = mdav(table.cached("scaled", partial(_scaled, values)), self.k)
        columns = zip(names, values.T, strict=True)
        return with_numbers(microdata, {name: group_means(own, group) for name, own in columns})


def _scaled(values: Floats) -> Floats:
    """Numbers in standard deviations from their means; a missing one at its mean."""
    # Shapes: values, the answer (n, d).
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.nansum(values, axis=0) / count
    apart = np.where(known, values - mean, 0.0)
    spread = np.sqrt((apart**2).sum(axis=0) / np.maximum(count - 1, 1))
    return np.asarray(apart / np.where(spread > 0, spread, 1.0))


def mdav(points: Floats, k: int) -> Integers:
    """Return the group of each point, of k to 2k - 1 points, shape (n,)."""
    # MDAV-generic (Domingo-Ferrer and Torra 2005, section 2): about n^2 / k distances. Of points as
    # far apart the first is taken. Shapes: points (n, d).
    group = np.empty(len(points), dtype=np.int64)
    left = points.T.copy()
    records = np.arange(len(points))
    count = len(points)
    number = 0
    first: Floats | None = None

    def apart(center: Floats) -> Floats:
        """Squared distance from a center to each point that has no group yet, shape (count,)."""
        total = np.zeros(count)
        for own, middle in zip(left, center, strict=True):
            difference = own[:count] - middle
            total += difference * difference
        return total

    while count >= 2 * k:
        # the point farthest from the mean founds a group, and the one farthest from it the next
        start = np.asarray(left[:, :count].mean(axis=1)) if first is None else first
        center = left[:, apart(start).argmax()].copy()
        first = center if first is None else None
        nearest = np.argpartition(apart(center), k - 1)[:k]
        group[records[nearest]] = number
        number, count = number + 1, count - k
        # the last points fill the gaps of those that leave
        last = np.setdiff1d(np.arange(count, count + k), nearest)
        gaps = nearest[nearest < count]
        left[:, gaps] = left[:, last]
        records[gaps] = records[last]
    group[records[:count]] = number
    return group
