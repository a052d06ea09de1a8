"""The rule by which a method finds neighborhoods: distance, radius and candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.neighbors import Neighborhoods, find_and_draw
from rwn_core.neighbors.candidates import Scheme
from rwn_core.neighbors.distance import TIE, Points, squared_between, squared_distances
from rwn_core.neighbors.excluded import OutsideSource
from rwn_core.neighbors.kernel import EVEN, Kernel, Radius, RadiusAndK, one_radius
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.soft_neighborhoods import SoftSource

LARGEST_PAIRS = 2_000_000  # of an outsider and a record, with distances held at a time


class EnlargedNeighborhoods(NamedTuple):
    """Changes of the neighborhoods that added people join."""

    # shape (m, n): row i holds each record's probability to take outsider i for its donor, then
    # that of each of its members
    shares: sparse.csr_array
    # shape (n, n): 1 for a member that leaves a record's neighborhood if a nearer person takes the
    # place of the last of the k nearest; one that is as near stays
    leaving: sparse.csr_array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighborhoodRule:
    """The rule by which a release's neighborhoods were found."""

    metric: Metric  # the distance, fitted on the original: its scale, its encoding and its weights
    k: int | None  # every neighborhood has at least the k nearest
    epsilon: Radius | None  # shape (n,): radius of the ball, or of each record's own
    strict: bool = False  # whether records at exactly the radius are left out (the 2015 method)
    scheme: Scheme = field(default_factory=Scheme)  # which records may be neighbors
    # shape (n,): members of one household are no neighbors of each other
    households: Integers | None = field(default=None, repr=False)
    kernel: Kernel = EVEN  # how likely each member is to be the donor

    def restricted_to(self, names: Sequence[str]) -> NeighborhoodRule:
        """Return the rule for an intruder who knows some variables only."""
        return replace(self, metric=self.metric.restricted_to(names))

    def find(self, table: Microdata) -> Neighborhoods:
        """The neighborhoods of a table's records, among all of them."""
        points = self.metric.coded(table)
        if not self.kernel.is_even:
            source = SoftSource(points=points, households=self.households)
            return source.find(RadiusAndK(k=None, epsilon=None, kernel=self.kernel))[0]
        ball = RadiusAndK(k=self.k, epsilon=self.epsilon, strict=self.strict)
        if self.households is not None:
            return OutsideSource(points=points, households=self.households).find(ball)[0]
        return find_and_draw(points, ball)[0]

    def shares(self, people: Microdata, table: Microdata) -> sparse.csr_array:
        """Return the neighborhoods of people outside a table if each of them were added."""
        if not one_radius(self.epsilon):
            raise NotApplicable("With a radius for each record there is none for people outside.")
        self._refuse_unknown()
        outside, points = self.metric.coded(people), self.metric.coded(table)
        size = max(1, LARGEST_PAIRS // len(points))
        starts = range(0, len(outside), size)
        parts = [self._near(outside[_block(start, size, outside)], points) for start in starts]
        return sparse.csr_array(sparse.vstack(parts))

    def joins(
        self, people: Microdata, table: Microdata, neighborhoods: Neighborhoods
    ) -> EnlargedNeighborhoods:
        """The neighborhoods that people outside a table join, were each of them added to it."""
        self._refuse_unknown()
        outside, points = self.metric.coded(people), self.metric.coded(table)
        edges = neighborhoods.radius**2
        leaving = self._leaving(points, neighborhoods)
        leave, sizes = np.diff(leaving.indptr), neighborhoods.sizes
        size = max(1, LARGEST_PAIRS // len(points))
        parts = []
        for start in range(0, max(1, len(outside)), size):
            squared = squared_between(outside[_block(start, size, outside)], points)
            nearer = squared < edges * (1 - TIE)
            inside = nearer if self.strict else squared <= edges * (1 + TIE)
            grown = sizes + 1 - np.where(nearer, leave, 0)
            parts.append(sparse.csr_array(self.kernel.mean(inside, grown)))
        return EnlargedNeighborhoods(sparse.csr_array(sparse.vstack(parts)), leaving)

    def _leaving(self, points: Points, found: Neighborhoods) -> sparse.csr_array:
        """Return the members that leave each neighborhood for a nearer added one, shape (n, n)."""
        n = found.n
        few = np.flatnonzero(found.within < (self.k or 0))  # those beyond epsilon are there for k
        members = [found.members(record) for record in few.tolist()]
        record = np.repeat(few, [len(each) for each in members])
        member = np.concatenate([np.empty(0, np.int64), *members]).astype(np.int64)
        squared = squared_distances(points, record, member)
        last = squared >= found.radius[record] ** 2 * (1 - TIE)
        nearer = np.bincount(record[~last], minlength=n)
        gone = last & (nearer[record] + 1 >= (self.k or 0))
        ones = np.ones(int(gone.sum()))
        return sparse.csr_array((ones, (record[gone], member[gone])), shape=(n, n))

    def _refuse_unknown(self) -> None:
        if not self.kernel.is_even:
            raise NotApplicable(
                f"With a {self.kernel.shape} kernel one more record changes all weights; "
                "add the person to the table, and find its law."
            )
        self.refuse_outsiders()

    def refuse_outsiders(self) -> None:
        """Refuse people outside the file where their donors are not defined."""
        if not self.scheme.exact:
            raise NotApplicable("With random candidates there are none for people outside.")
        if self.households is not None:
            raise NotApplicable(
                "With outside_household there are no neighborhoods for people outside the file: "
                "their households are not known."
            )

    def _near(self, outside: Points, points: Points) -> sparse.csr_array:
        """The same of a few people."""
        squared = squared_between(outside, points)
        inside = np.zeros(squared.shape, dtype=bool)
        if self.epsilon is not None:
            edge = float(self.epsilon) ** 2  # type: ignore[arg-type]  # one radius, as checked
            inside |= (squared < edge * (1 - TIE)) if self.strict else (squared <= edge * (1 + TIE))
        if self.k is not None:
            kth = np.partition(squared, self.k - 1, axis=1)[:, self.k - 1]
            inside |= squared <= kth[:, None] * (1 + TIE)
        return sparse.csr_array(self.kernel.rows(inside, squared))


def _block(start: int, size: int, people: Points) -> Integers:
    """The numbers of some people, one after the other."""
    return np.arange(start, min(start + size, len(people)))
