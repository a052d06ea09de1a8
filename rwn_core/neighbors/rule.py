"""The rule by which a method finds neighborhoods: distance, radius and candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.neighbors import Finder, Neighborhoods
from rwn_core.neighbors.candidates import Scheme
from rwn_core.neighbors.distance import TIE, squared_between, squared_distances
from rwn_core.neighbors.kernel import RadiusAndK, one_radius
from rwn_core.neighbors.metric import Metric

LARGEST_PAIRS = 2_000_000  # of an outsider and a record, with distances held at a time


class EnlargedNeighborhoods(NamedTuple):
    """The changes of the neighborhoods that added people join."""

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
    ball: RadiusAndK  # which others belong to a neighborhood, and how likely each is to give
    scheme: Scheme = field(default_factory=Scheme)  # which records may be neighbors
    # shape (n,): members of one household are no neighbors of each other
    households: Integers | None = field(default=None, repr=False)

    def restricted_to(self, names: Sequence[str]) -> NeighborhoodRule:
        """Return the rule for an intruder who knows some variables only."""
        return replace(self, metric=self.metric.restricted_to(names))

    def find(self, table: Microdata) -> Neighborhoods:
        """The neighborhoods of a table's records, among all of them."""
        return Finder(points=self.metric.coded(table), groups=self.households).find(self.ball)[0]

    def shares(self, people: Microdata, table: Microdata) -> sparse.csr_array:
        """Return the neighborhoods of people outside a table if each of them were added, (m, n)."""
        ball = self.ball
        parts = []
        if not one_radius(ball.epsilon):
            raise NotApplicable("With a radius for each record there is none for people outside.")
        for squared in self._squared(people, table):
            inside = np.zeros(squared.shape, dtype=bool)
            if ball.epsilon is not None:
                edge = float(ball.epsilon) ** 2  # type: ignore[arg-type]  # one radius, as checked
                inside |= squared < edge * (1 - TIE) if ball.strict else squared <= edge * (1 + TIE)
            if ball.k is not None:
                kth = np.partition(squared, ball.k - 1, axis=1)[:, ball.k - 1]
                inside |= squared <= kth[:, None] * (1 + TIE)
            sizes = inside.sum(axis=1)[:, np.newaxis]
            parts.append(sparse.csr_array(ball.kernel.mean(inside, sizes)))
        return sparse.csr_array(sparse.vstack(parts))

    def joins(
        self, people: Microdata, table: Microdata, neighborhoods: Neighborhoods
    ) -> EnlargedNeighborhoods:
        """The neighborhoods that people outside a table join, were each of them added to it."""
        ball = self.ball
        found = neighborhoods
        edges = neighborhoods.radius**2
        self.refuse_outsiders(weighed=True)
        # members that leave a neighborhood for a nearer added one: the last of those that are there
        # for k, beyond epsilon
        few = np.flatnonzero(found.within < (ball.k or 0))
        members = [found.members(record) for record in few.tolist()]
        record = np.repeat(few, [len(each) for each in members])
        member = np.concatenate([np.empty(0, np.int64), *members]).astype(np.int64)
        squared = squared_distances(self.metric.coded(table), record, member)
        last = squared >= edges[record] * (1 - TIE)
        nearer = np.bincount(record[~last], minlength=found.n)
        gone = last & (nearer[record] + 1 >= (ball.k or 0))
        places = (np.ones(int(gone.sum())), (record[gone], member[gone]))
        leaving = sparse.csr_array(places, shape=(found.n, found.n))
        # each person with those that they are near enough to, and what these share then
        leave = np.diff(leaving.indptr)
        parts = []
        for squared in self._squared(people, table):
            closer = squared < edges * (1 - TIE)
            inside = closer if ball.strict else squared <= edges * (1 + TIE)
            grown = found.sizes + 1 - np.where(closer, leave, 0)
            parts.append(sparse.csr_array(ball.kernel.mean(inside, grown)))
        return EnlargedNeighborhoods(sparse.csr_array(sparse.vstack(parts)), leaving)

    def refuse_outsiders(self, *, weighed: bool = False) -> None:
        """Refuse people outside the file where their donors are not defined."""
        if weighed and not self.ball.kernel.is_even:
            kernel = self.ball.kernel
            what = "balance" if kernel.has_edge else f"a {kernel.shape} kernel"
            raise NotApplicable(
                f"With {what} one more record changes all weights; add the person to the table, "
                "and find its law."
            )
        if not self.scheme.exact:
            raise NotApplicable("With random candidates there are none for people outside.")
        if self.households is not None:
            raise NotApplicable(
                "With outside_household there are no neighborhoods for people outside the file: "
                "their households are not known."
            )

    def _squared(self, people: Microdata, table: Microdata) -> Iterator[Floats]:
        """Yield the squared distances of a few people at a time to all records, shape (b, n)."""
        self.refuse_outsiders(weighed=True)
        outside, points = self.metric.coded(people), self.metric.coded(table)
        size = max(1, LARGEST_PAIRS // len(points))
        for start in range(0, max(1, len(outside)), size):
            yield squared_between(outside[start : start + size], points)
