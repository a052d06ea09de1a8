"""The attacks of the worst case beside the best that anybody could do, which a long chain finds.

``python -m benchmarks.worst_case``; it needs no browser. Of each case it prints, as means over
releases, the share of records linked rightly one row at a time, by the likeliest assignment, and by
all rows weighed together; the same by other code that scales beliefs (what truly happened); the
worst case as it is stated; and the best of all: the names that a long chain over matchings (plain
swaps of a dense table, other code) prefers, counted in a second one. Then milliseconds of the row
by row reading and of all. It exits with 1 if the best links more than the worst case states, by
more than `ROOM` of the records.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.rounding import rounded, steps_of
from rwn_core.measures.attacks.posterior import link, posteriors
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison
from rwn_core.parallel.jit import jit_entry

CASES = (
    ("bodyfat", 4.0, 5, 0.0),
    ("bodyfat", 6.0, 5, 0.0),
    ("bodyfat", 0.0, 50, 0.0),
    ("bodyfat", 0.0, 10, 0.5),
    ("pima", 2.0, 5, 0.0),
    ("pima", 4.0, 5, 0.0),
    ("pima", 0.0, 25, 0.0),
)
SEEDS, SWEEPS, ROOM = 8, 20_000, 0.01
IMPOSSIBLE = -1e6  # below the logarithm of any belief
HEADS = ("rows", "assigned", "weighed", "scaled", "worst case", "best of all", "ms rows", "ms all")


def released(data: rwn.Microdata, epsilon: float, k: int, share: float, seed: int) -> Comparison:
    """A release at q 1, rounded to so many standard deviations."""
    release = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=k), seed=seed)
    steps = steps_of(data, share)
    law = release.law.rounded(steps)
    return Comparison(original=data, masked=rounded(release.masked, steps), law=law)


@jit_entry
def _matched(
    logs: NDArray[np.float64], begun: NDArray[np.int64], sweeps: int, seed: int
) -> NDArray[np.float64]:
    """How often each original (first) was each row's in the later half of a chain of swaps."""
    np.random.seed(seed)  # noqa: NPY002 (numba's own)
    n = len(logs)
    source, row_of = begun.copy(), np.argsort(begun)
    counts = np.zeros((n, n))
    possible = [np.flatnonzero(logs[:, row] > IMPOSSIBLE) for row in range(n)]
    for sweep in range(sweeps):
        for _ in range(n):
            a = np.random.randint(n)  # noqa: NPY002
            i = possible[a][np.random.randint(len(possible[a]))]  # noqa: NPY002
            b, j = row_of[i], source[a]
            gain = logs[i, a] + logs[j, b] - logs[j, a] - logs[i, b]
            if gain >= 0 or np.random.random() < np.exp(gain):  # noqa: NPY002
                source[a], source[b] = i, j
                row_of[i], row_of[j] = a, b
        if 2 * sweep >= sweeps:
            for row in range(n):
                counts[source[row], row] += 1
    return counts / counts.sum(axis=0)


def others(comparison: Comparison, linked: NDArray[np.int64]) -> tuple[float, float]:
    """By other code: how many he truly links who scales beliefs, and the best of all expects.

    The chain that finds names begins with the likeliest assignment, which an intruder knows; the
    one that counts them with the truth.
    """
    n = comparison.original.n
    assert comparison.law is not None
    belief = posteriors(comparison.law, comparison.masked, np.arange(n)).toarray()
    logs = np.where(belief > 0, np.log(np.maximum(belief, 1e-300)), 2 * IMPOSSIBLE)
    for _ in range(200):
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
        belief /= np.maximum(belief.sum(axis=0, keepdims=True), 1e-300)
    truly = float(np.mean(belief.argmax(axis=0) == np.arange(n)))
    named = _matched(logs, linked, SWEEPS, 1).argmax(axis=0)
    again = _matched(logs, np.arange(n), SWEEPS, 2)
    return truly, float(again[named, np.arange(n)].mean())


def one(comparison: Comparison) -> tuple[float, ...]:
    """The numbers of one release, as `HEADS` names them."""
    assert comparison.law is not None
    link(comparison.law, comparison.masked)  # what is built once is built
    begun = time.process_time()
    link(comparison.law, comparison.masked)
    alone = time.process_time() - begun
    begun = time.process_time()
    found = worst_case(comparison)
    took = time.process_time() - begun
    assert found.linked is not None
    attacks = (found.links.success, found.at_once or 0.0, found.joint_success or 0.0)
    truly, best = others(comparison, found.linked)
    return (*attacks, truly, found.success, best, 1000 * alone, 1000 * took)


def main() -> int:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds, beaten = parser.parse_args().seeds, 0
    sys.stdout.write(" ".join(("case".ljust(44), *(head.rjust(11) for head in HEADS))) + "\n")
    for name, epsilon, k, share in CASES:
        data = rwn.load_demo(name)
        rows = [one(released(data, epsilon, k, share, seed)) for seed in range(seeds)]
        shares, times = np.mean(rows, axis=0)[:6], np.median(rows, axis=0)[6:]
        beaten += shares[5] > shares[4] + ROOM
        steps = f", rounded to {share:g} SD" if share else ""
        title = f"{name} epsilon {epsilon:g}, k {k}{steps}".ljust(44)
        numbers = [*(f"{x:11.3f}" for x in shares), *(f"{x:11.1f}" for x in times)]
        sys.stdout.write(" ".join((title, *numbers)) + "\n")
    return int(beaten > 0)


if __name__ == "__main__":
    sys.exit(main())
