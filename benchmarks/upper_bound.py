"""Linkage by who is told some people, beside the worst case where that is known, and where not.

``python -m benchmarks.upper_bound`` prints for small tables, over some releases, the mean worst
case and the mean share that is linked by who is told 100 or 300 random people; for the large demo
tables both bounds and what they cost, in processor seconds. It exits with 1 if a share lies below
the worst case by more than three standard errors, or more than 1 of 10 upper ends below theirs.
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
from rwn_core.measures.attacks.upper_bound import upper_bound
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
LARGE = (rwn.RWN(epsilon=2.0, k=5), rwn.RWN(epsilon=3.0, k=5), rwn.RWN(epsilon=4.0, k=5))


def releases(name: str, params: Method, share: float) -> Iterator[Comparison]:
    """Some releases beside their original; a share below 0 puts all variables in one group."""
    data = rwn.load_demo(name)
    if share < 0:
        data = rwn.Microdata(data.frame, data.schema.with_slices((data.names,)))
    for seed in range(SEEDS):
        precision = steps_of(data, max(share, 0.0))
        yield compare(data, rwn.mask(data, params, seed=seed, precision=precision))


def told(comparison: Comparison, people: int) -> tuple[float, float]:
    """The share that is linked who is told so many people, and the end of its interval."""
    assert comparison.law is not None
    names = [variable.name for variable in comparison.masked.schema.released]
    found = upper_bound(comparison.law, comparison, names, people=people)
    return found.share, found.at_most


def small(name: str, people: int) -> int:
    """Print a line for each method; how many lines show no upper bound."""
    missed = 0
    for title, params, share in METHODS:
        whole, bound = [], []
        for comparison in releases(name, params, share):
            found = worst_case(comparison)
            whole.append(found.success)
            bound.append(told(comparison, people))
        shares, ends = np.array(bound).T
        mean = np.mean(whole)
        error = np.sqrt(mean * (1 - mean) / (SEEDS * people))
        below = float(np.mean(ends < np.array(whole) - 1e-12))
        ends_well = shares.mean() >= mean - 3 * error and below <= MOST
        missed += not ends_well
        sys.stdout.write(
            f"{name}, {people} told, {title}: worst case {mean:.3f}, told {shares.mean():.3f}, at "
            f"most {ends.mean():.3f}, ends below {below:.2f} {'' if ends_well else 'MISSED'}\n"
        )
        sys.stdout.flush()
    return missed


def large(name: str) -> None:
    """Print both bounds of a table too large for the worst case, and what they cost."""
    data = rwn.load_demo(name)
    for params in LARGE:
        comparison = compare(data, rwn.mask(data, params, seed=1))
        start = time.process_time()
        low = worst_case(comparison, bounded=False)
        middle = time.process_time()
        share, end = told(comparison, 1500)
        stop = time.process_time()
        sys.stdout.write(
            f"{name}, {data.n:,} records, epsilon {params.epsilon:g}: at least {low.success:.4f}, "
            f"told {share:.4f}, at most {end:.4f}; {middle - start:.2f} s and {stop - middle:.2f} s"
            " of processor time\n"
        )
        sys.stdout.flush()


def main() -> int:
    """Print all lines; exit with 1 if the bound failed to be one."""
    missed = small("bodyfat", 100) + small("pima", 100) + small("pima", 300)
    for name in ("randhie", "cps1988"):
        large(name)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
