"""Linkage by who is told a row's part of the file, beside the worst case where that is known.

``python -m benchmarks.upper_bound`` prints for small tables, over some releases, the mean worst
case and the mean share that is linked by who is told parts of a third to a ninth of the file; for
the large demo tables both bounds and what they cost, in processor seconds, beside what is linked by
who weighs all rows of the file together, and by who is told which random people some rows come
from. It exits with 1 if a share lies below the worst case by more than three standard errors, more
than 1 of 10 upper ends below theirs, or one below what weighing a large file links or what naming
the likeliest source of other rows hits, of three releases where each slider ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

import rwn_core as rwn
from rwn_core.data.rounding import steps_of
from rwn_core.evaluation.audit import compare
from rwn_core.masking import Method
from rwn_core.measures.attacks import assignment, upper_bound
from rwn_core.measures.attacks.all_rows import joint_posterior_success
from rwn_core.measures.attacks.assignment import blocks
from rwn_core.measures.attacks.posterior import posteriors, weigh
from rwn_core.measures.attacks.upper_bound import InformedIntruder, UpperBound
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison

SEEDS, MOST = 8, 0.1
METHODS: tuple[tuple[str, Method, float], ...] = (
    ("rwn, epsilon 2, k 5", rwn.RWN(epsilon=2.0, k=5), 0.0),
    ("rwn, epsilon 4, k 5", rwn.RWN(epsilon=4.0, k=5), 0.0),
    ("rwn, k 50, q .7", rwn.RWN(epsilon=0.0, k=50, q=0.7), 0.0),
    ("rwn, k 10, rounded to .5 SD", rwn.RWN(epsilon=0.0, k=10), 0.5),
    ("rwn, whole rows, epsilon 4", rwn.RWN(epsilon=4.0, k=5), -1.0),
    ("nbrs2015, epsilon 4, q .7", rwn.NBRS2015(epsilon=4.0, q=0.7), 0.0),
    ("additive noise 1.5", rwn.AdditiveNoise(size=1.5), 0.0),
)
LARGE: dict[str, tuple[rwn.RWN, ...]] = {
    "randhie": (
        rwn.RWN(epsilon=0.0, k=150),
        rwn.RWN(epsilon=1.0, k=25, q=0.8),
        rwn.RWN(epsilon=2.0, k=5),
        rwn.RWN(epsilon=2.85, k=5),
    ),
    "cps1988": (
        rwn.RWN(epsilon=0.0, k=150),
        rwn.RWN(epsilon=0.38, k=5),
        rwn.RWN(epsilon=1.14, k=5),
        rwn.RWN(epsilon=2.0, k=5),
        rwn.RWN(epsilon=4.0, k=5),
    ),
}
ENDS: tuple[tuple[str, rwn.RWN], ...] = (
    ("randhie", rwn.RWN(epsilon=0.0, k=150)),
    ("randhie", rwn.RWN(epsilon=2.85, k=5)),
    ("cps1988", rwn.RWN(epsilon=0.0, k=150)),
    ("cps1988", rwn.RWN(epsilon=2.0, k=5)),
)
ROWS = 1000  # linked outright at the ends, others than the bound is made of
RANDOM_PEOPLE = 1500
MOST_PAIRS = 25_000_000  # of rows and people whose beliefs are scaled as a whole


def releases(name: str, params: Method, share: float) -> Iterator[Comparison]:
    """Some releases beside their original; a share below 0 puts all variables in one group."""
    data = rwn.load_demo(name)
    if share < 0:
        data = rwn.Microdata(data.frame, data.schema.with_slices((data.names,)))
    for seed in range(SEEDS):
        precision = steps_of(data, max(share, 0.0))
        yield compare(data, rwn.mask(data, params, seed=seed, precision=precision))


def told(comparison: Comparison) -> UpperBound:
    """What is linked who is told the parts."""
    assert comparison.law is not None
    n, names = comparison.original.n, released(comparison)
    parts = InformedIntruder(comparison.law, comparison, names)
    weigh(comparison.law, comparison.masked, names, work=n * n, whole=n * n, look=parts.add_rows)
    found = parts.upper_bound()
    assert found is not None
    return found


def released(comparison: Comparison) -> list[str]:
    """The variables by which rows are linked."""
    return [variable.name for variable in comparison.masked.schema.released]


def random_people(comparison: Comparison) -> float:
    """What is linked row by row who is told which random people some rows come from."""
    assert comparison.law is not None
    numbers = np.random.default_rng(20151126)
    people = np.sort(numbers.choice(comparison.original.n, RANDOM_PEOPLE, replace=False))
    belief = posteriors(comparison.law, comparison.masked, people, released(comparison), people)
    return float(np.minimum(belief.max(axis=0).toarray(), 1.0).mean())


def small(name: str, parts: int) -> int:
    """Print a line for each method; how many lines show no upper bound."""
    missed = 0
    upper_bound.SIZES = (rwn.load_demo(name).n // parts,)
    for title, params, share in METHODS:
        whole, bound = [], []
        for comparison in releases(name, params, share):
            found = worst_case(comparison)
            whole.append(found.success)
            found = told(comparison)
            bound.append((found.share, found.at_most))
        shares, ends = np.array(bound).T
        mean = np.mean(whole)
        error = np.sqrt(max(mean * (1 - mean), 0.01) / (SEEDS * found.rows))
        below = float(np.mean(ends < np.array(whole) - 1e-12))
        ends_well = shares.mean() >= mean - 3 * error and below <= MOST
        missed += not ends_well
        sys.stdout.write(
            f"{name}, {found.parts} parts, {title}: worst case {mean:.3f}, told "
            f"{shares.mean():.3f}, at most {ends.mean():.3f}, ends below {below:.2f} "
            f"{'' if ends_well else 'MISSED'}\n"
        )
        sys.stdout.flush()
    return missed


def weighed_whole(comparison: Comparison, candidates: float) -> float | None:
    """What is linked who weighs all rows of the file together; None where that takes too long."""
    assert comparison.law is not None
    n = comparison.original.n
    if candidates * n > MOST_PAIRS:
        return None
    belief = posteriors(comparison.law, comparison.masked, np.arange(n), released(comparison))
    return joint_posterior_success(comparison, belief, blocks(belief))


def large(name: str) -> int:
    """Print both bounds of a table too large for the worst case; how many are too low."""
    data, missed = rwn.load_demo(name), 0
    for params in LARGE[name]:
        comparison = compare(data, rwn.mask(data, params, seed=1))
        start = time.process_time()
        worst_case(comparison, bounded=False)
        middle = time.process_time()
        found = worst_case(comparison)
        stop = time.process_time()
        assert found.bound is not None
        whole = weighed_whole(comparison, float(found.links.candidates.mean()))
        together = "not weighed" if whole is None else f"{whole:.4f}"
        missed += whole is not None and whole > (found.at_most or 0.0)
        words = f"epsilon {params.epsilon:g}, k {params.k}, q {params.q:g}"
        sys.stdout.write(
            f"{name}, {data.n:,} records, {words}: at least {found.success:.4f}, all rows "
            f"together {together}, told one of {found.bound.parts} parts {found.bound.share:.4f} "
            f"(row by row {found.bound.row_by_row:.4f}), at most {found.at_most:.4f}; told random "
            f"people row by row {random_people(comparison):.4f}; {middle - start:.2f} s and "
            f"{stop - middle:.2f} s of processor time\n"
        )
        sys.stdout.flush()
    return missed


def ends() -> int:
    """Print bounds of some releases where sliders end, and the hits of an attack on other rows."""
    missed = 0
    for name, params in ENDS:
        data = rwn.load_demo(name)
        for seed in (11, 12, 13):
            comparison = compare(data, rwn.mask(data, params, seed=seed))
            found = worst_case(comparison)
            assert comparison.law is not None
            assert found.at_most is not None
            rows = np.sort(np.random.default_rng(seed).choice(data.n, ROWS, replace=False))
            belief = posteriors(comparison.law, comparison.masked, rows, released(comparison))
            hits = float(np.mean(np.asarray(belief.argmax(axis=0)).ravel() == rows))
            missed += hits > found.at_most
            sys.stdout.write(
                f"{name}, epsilon {params.epsilon:g}, k {params.k}, release {seed}: at least "
                f"{found.success:.4f}, at most {found.at_most:.4f}, hits {hits:.4f}\n"
            )
            sys.stdout.flush()
    return missed


def main() -> int:
    """Print all lines; exit with 1 if the bound failed to be one."""
    sizes = upper_bound.SIZES
    assignment.LARGEST_SCALING = MOST_PAIRS
    missed = small("bodyfat", 2) + small("pima", 3) + small("pima", 6)
    upper_bound.SIZES = sizes
    missed += sum(large(name) for name in LARGE) + ends()
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
