"""How near the planner's times come to the maskings that it forecasts, in processor seconds.

``python benchmarks/planner.py`` takes about two minutes; it does not mind a busy machine.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.datasets.planner import RANGE, plan_large
from rwn_core.datasets.warm_up import warm
from rwn_core.randomness import SecretKey

CASES = ((100_000, 5, 0.3, 5), (100_000, 10, 0.8, 5), (300_000, 3, 0.05, 5), (200_000, 6, 0.3, 10))
SLOW = 60.0  # seconds; a forecast beyond is believed


def normal(n: int, p: int) -> rwn.Microdata:
    """Independent normal variables."""
    values = np.random.default_rng(9).normal(size=(n, p))
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=[f"x{j}" for j in range(p)]))


def main() -> int:
    """Print a line for each way to mask each table; exit with 1 if one is out of range."""
    warm()
    missed = 0
    for n, p, epsilon, k in CASES:
        params, data = rwn.RWN(epsilon=epsilon, k=k), normal(n, p)
        for offer in plan_large(params, n=n, p=p, threads=1):
            name = f"{n:,} x {p}, epsilon {epsilon}, k {k}, {offer.params.neighbors}"
            if offer.seconds > SLOW:
                sys.stdout.write(f"{name}: forecast {offer.seconds:.0f} s, not tried\n")
                continue
            start = time.process_time()
            offer.params.prepare(data).release(SecretKey.from_seed(1), threads=1)
            took = time.process_time() - start
            ratio = offer.seconds / took
            kept = 1 / RANGE <= ratio <= RANGE
            missed += not kept
            sys.stdout.write(
                f"{name}: forecast {offer.seconds:.2f} s, took {took:.2f} s, ratio {ratio:.2f} "
                f"(limit {RANGE}) {'kept' if kept else 'MISSED'}\n"
            )
            sys.stdout.flush()
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
