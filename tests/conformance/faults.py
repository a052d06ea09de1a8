"""Twenty wrong mechanisms, each one slip away from the right one.

A fault of the neighborhoods runs the real search with something wrong; a fault of the draws
assigns donors by random numbers that are wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rwn_core.neighbors import Neighborhoods, NeighborTable, find_neighborhoods
from tests.conformance.battery import Design
from tests.conformance.replicates import replicate_sources
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

    def with_members(self, distances: np.ndarray, *, keep_self: bool = False) -> np.ndarray:
        """The sources with neighborhoods from other distances, shape (n, n)."""
        n = len(distances)
        if not keep_self:
            distances = distances + np.diag(np.full(n, np.inf))
        order = np.argsort(distances, axis=1, kind="stable")
        nearest_first = np.take_along_axis(distances, order, 1)
        table = NeighborTable(
            offsets=np.arange(n + 1) * n,
            records=order.ravel().astype(np.int32),
            squared=np.square(nearest_first).ravel(),
            k=n,
            epsilon=np.inf,
        )
        return self.run(neighborhoods=table.cut(k=self.design.k, epsilon=self.design.epsilon))


def scaled_up(sizes: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """A rank from 1 to the size for each number of the unit interval."""
    return (unit * sizes[:, None]).astype(np.int32) + 1


def pairwise_distances(points: np.ndarray, order: int) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], ord=order, axis=-1)


def self_included(machine: Machine) -> np.ndarray:
    return machine.with_members(pairwise_distances(machine.points, 2), keep_self=True)


def k_plus_1(machine: Machine) -> np.ndarray:
    return machine.search(k=machine.design.k + 1, epsilon=machine.design.epsilon)


def k_minus_1(machine: Machine) -> np.ndarray:
    return machine.search(k=machine.design.k - 1, epsilon=machine.design.epsilon)


def smaller_of_the_two_sets(machine: Machine) -> np.ndarray:
    right = machine.neighborhoods
    smaller = np.where(right.within > 0, np.minimum(right.within, right.k), right.k)
    return machine.run(neighborhoods=replace(right, sizes=smaller))


def epsilon_only(machine: Machine) -> np.ndarray:
    # one member where nobody is within epsilon, as the search must return something
    return machine.search(k=1, epsilon=machine.design.epsilon)


def k_only(machine: Machine) -> np.ndarray:
    return machine.search(k=machine.design.k)


def not_scaled(machine: Machine) -> np.ndarray:
    return machine.with_members(pairwise_distances(machine.design.table, 2))


def manhattan_distance(machine: Machine) -> np.ndarray:
    return machine.with_members(pairwise_distances(machine.points, 1))


def q_inverted(machine: Machine) -> np.ndarray:
    return machine.run(q=1 - machine.design.q)


def q_3_percent_low(machine: Machine) -> np.ndarray:
    return machine.run(q=0.97 * machine.design.q)


def one_coin_per_row(machine: Machine) -> np.ndarray:
    modify = machine.draws.modify
    return machine.with_draws(modify=np.repeat(modify[:, :1], modify.shape[1], axis=1))


def one_donor_per_row(machine: Machine) -> np.ndarray:
    def ranks(sizes: np.ndarray) -> np.ndarray:
        right = machine.draws.ranks(sizes)
        return np.repeat(right[:, :1], right.shape[1], axis=1)

    return machine.with_draws(ranks=ranks)


def rows_share_their_numbers(machine: Machine) -> np.ndarray:
    n, p = machine.design.table.shape
    shared = machine.rng.random((len(machine.draws.records) // n, 1, p))
    unit = np.repeat(shared, n, axis=1).reshape(-1, p)
    return machine.with_draws(ranks=lambda sizes: scaled_up(sizes, unit))


def biased_to_the_near(machine: Machine) -> np.ndarray:
    unit = machine.rng.random(machine.draws.modify.shape) ** 1.08
    return machine.with_draws(ranks=lambda sizes: scaled_up(sizes, unit))


def last_member_never_drawn(machine: Machine) -> np.ndarray:
    return machine.with_draws(ranks=lambda sizes: machine.draws.ranks(np.maximum(sizes - 1, 1)))


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


def last_column_skipped(machine: Machine) -> np.ndarray:
    q = np.full(machine.design.table.shape[1], machine.design.q)
    q[-1] = 0.0
    return machine.run(q=q)


def read_from_the_masked_table(machine: Machine) -> np.ndarray:
    """A row that comes later copies what earlier rows have already been given."""
    donors = machine.run()
    releases, n, p = donors.shape
    result = np.broadcast_to(np.arange(n)[:, None], donors.shape).copy()
    release, column = np.arange(releases)[:, None], np.arange(p)
    for record in range(n):
        result[:, record] = result[release, donors[:, record], column]
    return result


FAULTS: tuple[Callable[[Machine], np.ndarray], ...] = (
    self_included,
    k_plus_1,
    k_minus_1,
    smaller_of_the_two_sets,
    epsilon_only,
    k_only,
    not_scaled,
    manhattan_distance,
    q_inverted,
    q_3_percent_low,
    one_coin_per_row,
    one_donor_per_row,
    rows_share_their_numbers,
    biased_to_the_near,
    last_member_never_drawn,
    modulo_of_four_bits,
    donors_without_replacement,
    last_row_skipped,
    last_column_skipped,
    read_from_the_masked_table,
)
