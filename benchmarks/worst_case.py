"""What the whole file at once adds to one row at a time, on releases where it adds much.

``python benchmarks/worst_case.py``; it needs no browser. Of each case it prints the share of
records linked rightly one row at a time (before), by the better of both attacks (after) and by
scaled beliefs (the estimate where a table is too large), with standard errors over the seeds; then
what the assignment of the rows costs beside the rest of the reading.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import rwn_core as rwn
from rwn_core.data.rounding import rounded, steps_of
from rwn_core.measures.attacks import assignment
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.attacks.worst_case import WorstCase, worst_case
from rwn_core.measures.comparison import Comparison

CASES = (
    ("bodyfat", 50, 0.0),
    ("pima", 25, 0.0),
    ("bodyfat", 10, 0.5),
)
SEEDS = 20


def released(data: rwn.Microdata, k: int, share: float, seed: int) -> Comparison:
    """A release at epsilon 0 and q 1, rounded to so many standard deviations."""
    release = rwn.mask(data, rwn.RWN(epsilon=0.0, k=k), seed=seed)
    steps = steps_of(data, share)
    law = release.law.rounded(steps)
    return Comparison(original=data, masked=rounded(release.masked, steps), law=law)


def estimated(comparison: Comparison) -> float:
    """What would be shown if the table were too large to be assigned."""
    usual = assignment.LARGEST_ASSIGNMENT
    assignment.LARGEST_ASSIGNMENT = 0
    try:
        again = Comparison(
            original=comparison.original, masked=comparison.masked, law=comparison.law
        )
        found = worst_case(again).estimate
    finally:
        assignment.LARGEST_ASSIGNMENT = usual
    return float("nan") if found is None else found


def timed(comparison: Comparison) -> tuple[WorstCase, float, float]:
    """Both attacks, and milliseconds of the rows alone and of both."""
    link(comparison.law, comparison.masked)  # what is built once is built
    begun = time.perf_counter()
    link(comparison.law, comparison.masked)
    alone = time.perf_counter() - begun
    begun = time.perf_counter()
    found = worst_case(comparison)
    return found, 1000 * alone, 1000 * (time.perf_counter() - begun)


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = parser.parse_args().seeds
    for name, k, share in CASES:
        data = rwn.load_demo(name)
        rows = []
        for seed in range(seeds):
            comparison = released(data, k, share, seed)
            found, alone, both = timed(comparison)
            rows.append((found.links.success, found.success, estimated(comparison), alone, both))
        before, after, estimate = np.mean(rows, axis=0)[:3]
        alone, both = np.median(rows, axis=0)[3:]
        error = np.std(rows, axis=0, ddof=1) / np.sqrt(seeds)
        steps = f" rounded to {share:g} SD" if share else ""
        sys.stdout.write(
            f"{name} k={k}{steps}: before {before:.3f} ({error[0]:.3f}), after {after:.3f} "
            f"({error[1]:.3f}), estimate {estimate:.3f} ({error[2]:.3f}); rows alone {alone:.1f} "
            f"ms, both {both:.1f} ms\n"
        )


if __name__ == "__main__":
    main()
