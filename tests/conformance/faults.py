"""Wrong mechanisms, each one slip away from the right one.

A fault of the neighborhoods runs the real search with something wrong; a fault of the draws
assigns donors by random numbers that are wrong; a fault of the release spoils the sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rwn_core.neighbors import Neighborhoods, NeighborTable, find_neighborhoods
from tests.conformance.battery import Design, replicate_sources
from tests.oracles.record_chain import RecordChain, assigned


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The right mechanism's parts; a fault replaces one of them."""

    design: Design
    points: np.ndarray
    neighborhoods: Neighborhoods
    draws: RecordChain
    rng: np.random.Generator

    def run(self, *, neighborhoods: Neighborhoods | None = None, q: object = None) -> np.ndarray:
        """The sources of every release, shape (R, n, p)."""
        return replicate_sources(
            neighborhoods or self.neighborhoods, self.draws, self.design.q if q is None else q
        )

    def search(self, **rule: object) -> np.ndarray:
        """The sources with neighborhoods by another rule."""
        return self.run(neighborhoods=find_neighborhoods(self.points, **rule))

    def with_draws(
        self,
        *,
        modify: np.ndarray | None = None,
        ranks: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> np.ndarray:
        """The sources with other random numbers."""
        sources = assigned(
            self.neighborhoods,
            self.draws.records,
            self.draws.modify if modify is None else modify,
            ranks or self.draws.ranks,
            self.design.q,
        )
        return sources.reshape(-1, *self.design.table.shape)

    def with_unit(self, unit: np.ndarray) -> np.ndarray:
        """The sources with donors by numbers of the unit interval."""
        return self.with_draws(ranks=lambda sizes: (unit * sizes[:, None]).astype(np.int32) + 1)

    def with_members(
        self, points: np.ndarray, *, order: int = 2, keep_self: bool = False
    ) -> np.ndarray:
        """The sources with neighborhoods by a distance of these points."""
        n = len(points)
        distances = np.linalg.norm(points[:, None] - points[None], ord=order, axis=-1)
        if not keep_self:
            distances = distances + np.diag(np.full(n, np.inf))
        nearest = np.argsort(distances, axis=1, kind="stable")
        table = NeighborTable(
            offsets=np.arange(n + 1) * n,
            records=nearest.ravel().astype(np.int32),
            squared=np.square(np.take_along_axis(distances, nearest, 1)).ravel(),
            k=n,
            epsilon=np.inf,
        )
        return self.run(neighborhoods=table.cut(k=self.design.k, epsilon=self.design.epsilon))


def smaller_of_the_two_sets(machine: Machine) -> np.ndarray:
    right = machine.neighborhoods
    smaller = np.where(right.within > 0, np.minimum(right.within, right.k), right.k)
    return machine.run(neighborhoods=replace(right, sizes=smaller))


def one_donor_per_row(machine: Machine) -> np.ndarray:
    def ranks(sizes: np.ndarray) -> np.ndarray:
        right = machine.draws.ranks(sizes)
        return np.repeat(right[:, :1], right.shape[1], axis=1)

    return machine.with_draws(ranks=ranks)


def rows_share_their_numbers(machine: Machine) -> np.ndarray:
    n, p = machine.design.table.shape
    shared = machine.rng.random((len(machine.draws.records) // n, 1, p))
    return machine.with_unit(np.repeat(shared, n, axis=1).reshape(-1, p))


def rows_share_their_hits(machine: Machine) -> np.ndarray:
    n, p = machine.design.table.shape
    modify = machine.draws.modify.reshape(-1, n, p)[:, :1].repeat(n, axis=1)
    return np.where(modify < machine.design.q, machine.run(q=1.0), np.arange(n)[:, None])


def modulo_of_four_bits(machine: Machine) -> np.ndarray:
    bits = machine.rng.integers(0, 16, machine.draws.modify.shape)
    return machine.with_draws(ranks=lambda sizes: (bits % sizes[:, None]).astype(np.int32) + 1)


def donors_without_replacement(machine: Machine) -> np.ndarray:
    def ranks(sizes: np.ndarray) -> np.ndarray:
        chosen = np.empty(machine.draws.modify.shape, dtype=np.int32)
        for column in range(chosen.shape[1]):
            place = machine.draws.ranks(sizes - column)[:, column]
            for earlier in np.sort(chosen[:, :column], axis=1).T:
                place = place + (place >= earlier)  # the place among those not yet taken
            chosen[:, column] = place
        return chosen

    return machine.with_draws(ranks=ranks)


def last_row_skipped(machine: Machine) -> np.ndarray:
    sources = machine.run()
    sources[:, -1] = sources.shape[1] - 1
    return sources


def one_bad_record_among_sixty(machine: Machine) -> np.ndarray:
    """Pooled uniformity is too blunt for it; the worst record is not."""
    sources = machine.run()
    members = machine.design.members()[0]
    sources[:, 0][sources[:, 0] == members[0]] = members[1]
    return sources


def read_from_the_masked_table(machine: Machine) -> np.ndarray:
    """A row that comes later copies what earlier rows have already been given."""
    donors = machine.run()
    releases, n, p = donors.shape
    result = np.broadcast_to(np.arange(n)[:, None], donors.shape).copy()
    release = np.arange(releases)[:, None]
    column = np.arange(p)
    for record in range(n):
        result[:, record] = result[release, donors[:, record], column]
    return result


FAULTS: dict[str, Callable[[Machine], np.ndarray]] = {
    "the record itself is a member": lambda m: m.with_members(m.points, keep_self=True),
    "k and 1": lambda m: m.search(k=m.design.k + 1, epsilon=m.design.epsilon),
    "k less 1": lambda m: m.search(k=m.design.k - 1, epsilon=m.design.epsilon),
    "the smaller of the two sets": smaller_of_the_two_sets,
    # one member where nobody is within epsilon, as the search must return something
    "epsilon only": lambda m: m.search(k=1, epsilon=m.design.epsilon),
    "k only": lambda m: m.search(k=m.design.k),
    "not scaled": lambda m: m.with_members(m.design.table),
    "Manhattan distance": lambda m: m.with_members(m.points, order=1),
    "q inverted": lambda m: m.run(q=1 - m.design.q),
    "q 3 percent low": lambda m: m.run(q=0.97 * m.design.q),
    "one coin a row": lambda m: m.with_draws(modify=m.draws.modify[:, [0, 0, 0, 0]]),
    "one donor a row": one_donor_per_row,
    "rows share their numbers": rows_share_their_numbers,
    "rows share their hits": rows_share_their_hits,
    "biased to the near": lambda m: m.with_unit(m.rng.random(m.draws.modify.shape) ** 1.08),
    "the last member never drawn": lambda m: m.with_draws(
        ranks=lambda sizes: m.draws.ranks(np.maximum(sizes - 1, 1))
    ),
    "modulo of four bits": modulo_of_four_bits,
    "donors without replacement": donors_without_replacement,
    "last row skipped": last_row_skipped,
    "last column skipped": lambda m: m.run(q=m.design.q * np.array([1.0, 1.0, 1.0, 0.0])),
    "one bad record among sixty": one_bad_record_among_sixty,
    "two releases of one key": lambda m: np.repeat(m.run()[::2], 2, axis=0),
    "read from the masked table": read_from_the_masked_table,
}
