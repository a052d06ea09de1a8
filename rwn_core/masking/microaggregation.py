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
from rwn_core.masking.lever import Lever, check_records, range_of_groups
from rwn_core.masking.method import FixedMethod, NumberMethod, Prepared
from rwn_core.masking.unmasked_variables import Others


@dataclass(frozen=True, slots=True, kw_only=True)
class Microaggregation(NumberMethod, FixedMethod):
    """Hold the parameters of multivariate microaggregation by maximum distance to the average.

    Records are put into groups of k similar ones (at most 2k - 1) by their scaled numbers, and
    each number is replaced by its group's mean. Nothing is random. Missing values stay missing and
    count as the mean for the distance; counts stay whole.

    Parameters
    ----------
    k : int
        Size of the groups, at least 1; 1 changes nothing.
    others : {"keep", "refuse"}
        What happens to variables that have no numbers: they are released as they are, or the
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
        Lever(
            name="k",
            title="Records in a group k",
            short="k",
            help="Each number becomes the mean of k similar records; at 1 nothing is masked.",
            whole_number=True,
            neutral=1,
            range=range_of_groups,
            presets={"Light": 3, "Standard": 5, "Strong": 15},
        ),
    )
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"k": 1}),
        Keeps(what="totals", measured=True),
        Keeps(what="fixed"),
    )

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without numbers, or of fewer than k records."""
        self.masked_names(microdata)
        check_records(self.k, microdata)

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

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        if self.k == 1:
            return ["k = 1 masks nothing: the release is the original."]
        return [
            f"Who holds the original file knows the group of every row, and links one of {self.k} "
            "correctly by chance; means of groups are smoother than the data, so that variances "
            "shrink and correlations grow."
        ]


def _scaled(values: Floats) -> Floats:
    """Numbers in standard deviations from their means; a missing one at its mean."""
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.nansum(values, axis=0) / count
    apart = np.where(known, values - mean, 0.0)
    spread = np.sqrt((apart**2).sum(axis=0) / np.maximum(count - 1, 1))
    return np.asarray(apart / np.where(spread > 0, spread, 1.0))


def mdav(points: Floats, k: int) -> Integers:
    """Return the group of each point, of k to 2k - 1 points, shape (n,)."""
    # MDAV-generic (Domingo-Ferrer and Torra 2005, section 2): about n^2 / k distances. Of points as
    # far apart the first is taken.
    group = np.empty(len(points), dtype=np.int64)
    left, number = _Left(points), -1
    while left.count >= 2 * k:
        first = left.farthest_from(left.mean())
        number += 1
        group[left.take_nearest(first, k)] = number
        if left.count >= 2 * k:  # the point farthest from the first one founds a group, too
            number += 1
            group[left.take_nearest(left.farthest_from(first), k)] = number
    group[left.records()] = number + 1
    return group


class _Left:
    """Points that have no group yet, shape (n, d)."""

    def __init__(self, points: Floats) -> None:
        self._points, self._records = points.T.copy(), np.arange(len(points))
        self.count = len(points)

    def _apart(self, center: Floats) -> Floats:
        """Squared distance of each point from a center."""
        apart = np.zeros(self.count)
        for own, middle in zip(self._points, center, strict=True):
            difference = own[: self.count] - middle
            apart += difference * difference
        return apart

    def mean(self) -> Floats:
        """Return the mean of the points."""
        return np.asarray(self._points[:, : self.count].mean(axis=1))

    def farthest_from(self, center: Floats) -> Floats:
        """The point farthest from a center."""
        return self._points[:, self._apart(center).argmax()].copy()

    def take_nearest(self, center: Floats, k: int) -> Integers:
        """The k records nearest to a center, which leave."""
        apart = self._apart(center)
        nearest = np.argpartition(apart, k - 1)[:k] if k < self.count else np.arange(self.count)
        taken = self._records[nearest]
        self.count -= len(nearest)
        # the last points fill the gaps
        last = np.setdiff1d(np.arange(self.count, self.count + len(nearest)), nearest)
        gaps = nearest[nearest < self.count]
        self._points[:, gaps] = self._points[:, last]
        self._records[gaps] = self._records[last]
        return taken

    def records(self) -> Integers:
        """Those that are left."""
        return self._records[: self.count]
