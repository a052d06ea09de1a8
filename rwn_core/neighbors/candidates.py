"""Random candidates for donors: Methods 1 to 3 of the paper for large tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.variable import check_count
from rwn_core.errors import ParameterError
from rwn_core.neighbors.distance import Points, squared_distances
from rwn_core.neighbors.kernel import Radius, RadiusAndK, check_radius_and_k
from rwn_core.neighbors.record_draws import random_order
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable, complete_table
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.parallel.threads import current_work, steps, work
from rwn_core.randomness import (
    ISOLATED_STREAM,
    OTHERS_STREAM,
    PAIRS_STREAM,
    PARTS_STREAM,
    SAMPLE_STREAM,
    UNIFORMS_A_BLOCK,
    SecretKey,
    uniforms,
    words64,
)

if TYPE_CHECKING:
    from rwn_core.neighbors.index import Index

ESTIMATED = 1000  # records; their sizes say how large a table will be


def neighbor_table(
    points: Points,
    *,
    k: int | None,
    epsilon: Radius | None,
    index: Index | None = None,
    groups: Integers | None = None,
) -> NeighborTable:
    """The ranked others of every record, at least out to k and epsilon."""
    # Shapes: points (n, d); epsilon, groups (n,): records of one number leave each other out. With
    # an index, a small table is searched too.
    n = len(points)
    check_radius_and_k(k, epsilon, n)
    if index is None and n <= LARGEST_DENSE:
        table = complete_table(points)
        return table if groups is None else table.without_group(groups)
    from rwn_core.neighbors.index import build_index
    from rwn_core.neighbors.search import FEWER, TABLE, Search, check_search

    ball = RadiusAndK(k=k, epsilon=epsilon)
    allowed = budget_bytes()
    if index is None:
        check_search(points, 0)
        index = build_index(points, epsilon=epsilon)
    if pairs_bytes(float(n) * (n - 1)) > allowed and n > ESTIMATED:
        some = np.unique(np.linspace(0, n - 1, ESTIMATED).astype(np.int64))
        with current_work().quiet():
            sizes = Search.of_some(index, points, some, ball, groups).run().sizes
        check_fits(pairs_bytes(sizes.mean() * n), allowed, TABLE, FEWER)
    with work(memory=allowed):  # what is free now counts, not what is left halfway
        table = Search(index, ball=ball, groups=groups).table()
    current_work().report(1.0)
    return table


Candidates = Literal["exact", "sample", "pairs", "partition"]
TITLES: dict[str, str] = {
    "exact": "all records",
    "sample": "Method 1: m random records",
    "pairs": "Method 2: about m random partners of each record",
    "partition": "Method 3: the record's own part of u random ones",
}
CROWDED = 3  # a sample of more than one in so many is drawn by ordering all records
BLOCK_PAIRS = 1_000_000  # pairs held at a time
LARGEST_N = 1_518_500_250  # 8 r + 1 fits into 63 bits for every pair number r
LARGEST_ROOT = isqrt(2**63 - 1)
WORDS_A_BLOCK = 8
BLOCKS = 1 << 16  # cipher blocks made at a time
BYTES_A_PARTNER = 100  # while they are ranked: numbers, distances, and two orders of them
COMPARED = 1000  # records with neighborhoods that are compared with the exact ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """The candidates that neighborhoods are taken from.

    Raises
    ------
    ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, section 11.
    """

    # all records; a random sample of m records (Method 1); about m random partners of each record
    # (Method 2); the record's own part of u random ones (Method 3)
    neighbors: Candidates = "exact"
    # Sample size, or mean number of partners. With "partition": only about m random partners within
    # the part.
    m: int | None = None
    u: int | None = None  # number of parts
    fresh: bool = False  # with "sample": another sample for each record, instead of one for all

    def __post_init__(self) -> None:
        """Check what does not depend on the table."""
        if self.neighbors not in get_args(Candidates):
            raise ParameterError(f"neighbors must be one of: {', '.join(get_args(Candidates))}.")
        for name, users in (("m", ("sample", "pairs", "partition")), ("u", ("partition",))):
            value = getattr(self, name)
            if value is not None and self.neighbors not in users:
                raise ParameterError(f"{name} needs neighbors to be one of: {', '.join(users)}.")
            if value is not None:
                check_count(name, value, least=1)
        for name, user in (("m", "sample"), ("m", "pairs"), ("u", "partition")):
            if self.neighbors == user and getattr(self, name) is None:
                raise ParameterError(f"neighbors={user} needs {name}.")
        if self.fresh and self.neighbors != "sample":
            raise ParameterError("fresh needs neighbors to be sample.")

    @property
    def exact(self) -> bool:
        """True if all records are candidates."""
        return self.neighbors == "exact"

    def check(self, n: int, k: int | None) -> None:
        """Refuse a scheme that does not fit a table of n records."""
        least = (k or 0) + 1
        if self.neighbors == "sample":
            _check_between("m", self.m, least, n - 1 if self.fresh else n)
        elif self.neighbors == "pairs":
            _check_between("m", self.m, 1, n - 1)
        elif self.neighbors == "partition":
            _check_between("u", self.u, 1, n // max(least, 2))
            _check_between("m", self.m, 1, n // (self.u or 1) - 1)


def usual_sizes(neighbors: str, n: int) -> dict[str, int | None]:
    """Return the first m and u of a table of n records."""
    if neighbors == "partition":
        return {"u": max(2, min(20, n // 50)), "m": None}
    most = {"sample": 20_000, "pairs": 200}.get(neighbors)
    return {} if most is None else {"m": max(1, min(most, n // 2))}


def _check_between(name: str, value: int | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise ParameterError(
            f"{name} must be a whole number from {least:,} to {most:,} for this table and k."
        )


def restricted_table(
    points: Points, ball: RadiusAndK, scheme: Scheme, key: SecretKey
) -> NeighborTable:
    """Rank each record's others among its candidates, which depend on the key only."""
    # Perry, Matloff, Tendick 2022, section 11, Methods 1, 2, 3(1) and 3(2).
    scheme.check(len(points), ball.k)
    n = len(points)
    m = int(scheme.m or 0)
    parts = list[NeighborTable]()
    epsilon = 0.0 if ball.epsilon is None else ball.epsilon
    if scheme.neighbors == "pairs":
        return _paired(points, ball.k, m=m, key=key)
    if scheme.neighbors == "partition":
        # each record's others in its part: all of them, or m random partners (Method 3)
        for number, records in enumerate(steps(random_parts(key, n, int(scheme.u or 1)))):
            own = points[records]
            mine = ball.of_records(records)
            if m:
                table = _paired(own, ball.k, m=m, key=key.derived(f"part {number}"))
            else:
                from rwn_core.neighbors.index import build_index

                index = build_index(own, epsilon=mine.epsilon) if n > LARGEST_DENSE else None
                table = _cut(neighbor_table(own, k=ball.k, epsilon=mine.epsilon, index=index), mine)
            placed = records[table.records].astype(np.int32)
            parts.append(replace(table, records=placed, numbers=records))
        if m:
            return replace(NeighborTable.joined(parts), k=n - 1)
        return replace(NeighborTable.joined(parts), epsilon=epsilon)
    if scheme.fresh:  # a sample of m others for each record (Method 1), some records at a time
        step = max(1, BLOCK_PAIRS // m)
        for start in steps(range(0, n, step)):
            records = np.arange(start, min(start + step, n))
            others = random_others(key, records, n, m, OTHERS_STREAM).ravel()
            rows = np.repeat(np.arange(len(records)), m)
            squared = squared_distances(points, np.repeat(records, m), others)
            table = NeighborTable.ranked(len(records), rows, others, squared)
            parts.append(replace(_cut(table, ball.of_records(records)), numbers=records))
        return replace(NeighborTable.joined(parts), epsilon=epsilon)
    sample = np.sort(random_order(key, n, SAMPLE_STREAM)[:m])
    if n > LARGEST_DENSE:
        from rwn_core.neighbors.index import build_index
        from rwn_core.neighbors.search import Search

        query = build_index(points, epsilon=ball.epsilon)
        target = build_index(points[sample], numbers=sample, frame=query.frame)
        return Search(target, query, ball=ball).table()
    rows = np.repeat(np.arange(n), m)
    others = np.tile(sample, n)
    is_other = rows != others
    rows = rows[is_other]
    others = others[is_other]
    squared = squared_distances(points, rows, others)
    return _cut(NeighborTable.ranked(n, rows, others, squared), ball)


def random_others(key: SecretKey, records: Integers, n: int, m: int, stream: int) -> Integers:
    """Draw m different others of each of c records, each set equally likely, shape (c, m)."""
    if CROWDED * m > n - 1:
        marks = _random_numbers(key, records, n - 1, stream)[:, : n - 1]
        others = np.argpartition(marks, m - 1, axis=1)[:, :m]
        return others + (others >= records[:, None])  # a record is not among its others
    # the first m different ones of a sequence drawn with replacement, as long as it takes
    count = m
    while True:
        count += m // 4 + 8
        # 52 random bits make the bias of the product at most n / 2^52
        drawn = (_random_numbers(key, records, count, stream) * (n - 1)).astype(np.int64)
        order = np.argsort(drawn, axis=1, kind="stable")
        together = np.take_along_axis(drawn, order, 1)
        repeated = np.zeros(drawn.shape, dtype=bool)
        repeated[:, 1:] = together[:, 1:] == together[:, :-1]
        new = np.empty_like(repeated)
        np.put_along_axis(new, order, ~repeated, 1)
        wanted = new & (np.cumsum(new, axis=1) <= m)
        if (wanted.sum(axis=1) == m).all():
            others = drawn[wanted].reshape(len(records), m)
            return others + (others >= records[:, None])


def _random_numbers(key: SecretKey, records: Integers, count: int, stream: int) -> Floats:
    """Return uniform numbers of each record, shape (c, at least count)."""
    blocks = range(-(-count // UNIFORMS_A_BLOCK))
    return np.concatenate([uniforms(key, records, stream, block) for block in blocks]).T


def _paired(points: Points, k: int | None, *, m: int, key: SecretKey) -> NeighborTable:
    """Rank each record's partners in floor(n m / 2) random pairs (Method 2)."""
    # A record without a pair gets max(1, k) random others, which do not get it in return: so no
    # other record's partners depend on it.
    n = len(points)
    needed = BYTES_A_PARTNER * float(n) * m
    check_fits(needed, budget_bytes(), "Ranking these pairs", "take a smaller m")
    i, j = random_pairs(key, n, n * m // 2)
    rows, others = np.concatenate((i, j)), np.concatenate((j, i))
    isolated = np.flatnonzero(np.bincount(rows, minlength=n) == 0)
    if len(isolated):
        count = min(max(1, k or 0), n - 1)
        given = random_others(key, isolated, n, count, ISOLATED_STREAM)
        rows = np.concatenate((rows, np.repeat(isolated, count)))
        others = np.concatenate((others, given.ravel()))
    return NeighborTable.ranked(n, rows, others, squared_distances(points, rows, others))


def random_pairs(key: SecretKey, n: int, count: int) -> tuple[Integers, Integers]:
    """Draw different pairs i < j of n records, each set of `count` equally likely."""
    if n > LARGEST_N:
        raise ParameterError(f"Pairs can be sampled from at most {LARGEST_N:,} records.")
    total = n * (n - 1) // 2
    if 2 * count > total:  # fewer are left out than taken
        left_out = _different_numbers(key, total, total - count)
        numbers = np.setdiff1d(np.arange(1, total + 1), left_out, assume_unique=True)
    else:
        numbers = _different_numbers(key, total, count)
    i, j = numbered_pairs(numbers)
    return i - 1, j - 1


def numbered_pairs(numbers: Integers) -> tuple[Integers, Integers]:
    """Return the pairs i < j, from 1, of numbers from 1 to n (n - 1) / 2, n at most `LARGEST_N`."""
    square = 8 * numbers + 1
    # above 2^53 the float root may be off by one: integers put it right, without a product that
    # could exceed 63 bits
    root = np.minimum(np.sqrt(square.astype(np.float64)).astype(np.int64), LARGEST_ROOT)
    root -= root * root > square
    root += square - root * root > 2 * root
    j = np.where(root * root == square, (1 + root) // 2, (3 + root) // 2)
    return numbers - (j - 1) * (j - 2) // 2, j


def _different_numbers(key: SecretKey, total: int, count: int) -> Integers:
    """Return the first `count` different ones of a sequence of uniform numbers 1 to `total`."""
    numbers = np.empty(0, dtype=np.int64)
    counter = 0
    # words from here on would make the smallest remainders more likely than the others
    fair = np.uint64((1 << 64) - (1 << 64) % total - 1)
    while len(numbers) < count:
        wanted = (count - len(numbers)) // WORDS_A_BLOCK + 8
        blocks = np.arange(counter, counter + min(wanted, BLOCKS))
        counter += len(blocks)
        words = words64(key, blocks, PAIRS_STREAM).T.ravel()
        words = words[words <= fair]
        numbers = np.concatenate((numbers, (words % np.uint64(total)).astype(np.int64) + 1))
        if len(numbers) >= count:
            _, first = np.unique(numbers, return_index=True)
            numbers = numbers[np.sort(first)]
    return numbers[:count]


def random_parts(key: SecretKey, n: int, u: int) -> list[Integers]:
    """Part n records at random into u parts of sizes that differ by at most one."""
    return [np.sort(part) for part in np.array_split(random_order(key, n, PARTS_STREAM), u)]


def _cut(table: NeighborTable, ball: RadiusAndK) -> NeighborTable:
    """Return a table without the entries that a ball does not need."""
    sizes = table.cut(k=ball.k, epsilon=ball.epsilon).sizes
    epsilon = 0.0 if ball.epsilon is None else ball.epsilon
    needed, _ = table.part(table.offsets[:-1], sizes)
    return replace(needed, k=ball.k or 0, epsilon=epsilon)


def restriction_cost(points: Points, neighborhoods: Neighborhoods) -> dict[str, float]:
    """Compare neighborhoods with the exact ones of the same k and epsilon, on 1,000 records.

    Of both: the median radius, and the share of records with fewer than k candidates within
    epsilon, which fall back to k. Recall: the share of an exact neighborhood's members that are
    still members, on average.
    """
    n = len(points)
    k = neighborhoods.k
    epsilon = neighborhoods.epsilon
    some = np.sort(np.random.default_rng(0).permutation(n)[:COMPARED])
    if n <= LARGEST_DENSE:
        exact = complete_table(points).cut(k=k, epsilon=epsilon)
        rows = some
    else:
        from rwn_core.neighbors.index import build_index
        from rwn_core.neighbors.search import Search

        search = Search.of_some(build_index(points), points, some, RadiusAndK(k=k, epsilon=epsilon))
        exact = search.neighborhoods()[0]
        rows = np.arange(len(some))
    recall = [
        len(np.intersect1d(exact.members(row), neighborhoods.members(record)))
        / max(1, exact.sizes[row])
        for row, record in zip(rows, some, strict=True)
    ]
    both = (neighborhoods, some), (exact, rows)
    radii = [float(np.median(found.radius[own])) for found, own in both]
    by_k = [float((found.within[own] < (k or 0)).mean()) for found, own in both]
    found = {"radius": radii[0], "by k": by_k[0], "exact radius": radii[1], "exact by k": by_k[1]}
    return found | {"recall": float(np.mean(recall))}
