"""How long a forecast of sixty settings takes, beside drawing one release of each."""

import sys
import time
from collections.abc import Callable

import numpy as np

import rwn_core as rwn
from rwn_core.evaluation.forecast import forecast_scan

SETTINGS = [
    rwn.RWN(epsilon=float(epsilon), k=5, q=q)
    for epsilon in np.linspace(0, 6, 20)
    for q in (0.3, 0.6, 1.0)
]
LIMIT = 0.2


def seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The median time of some repeats, after one to warm up."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def main() -> None:
    """Measure on bodyfat; fail when the scan takes longer than it may."""
    data = rwn.load_demo("bodyfat")
    scan = seconds(lambda: forecast_scan(data, SETTINGS))
    prepared = SETTINGS[0].prepare(data, settings=SETTINGS)
    ready = seconds(lambda: forecast_scan(data, SETTINGS, prepared=prepared))
    draws = seconds(lambda: [rwn.mask(data, params, seed=1) for params in SETTINGS], 3)
    lines = [
        f"forecast of {len(SETTINGS)} settings, bodyfat: {1000 * scan:.0f} ms "
        f"(limit {1000 * LIMIT:.0f} ms)",
        f"  with the neighbor table at hand: {1000 * ready:.0f} ms",
        f"one release of each setting: {1000 * draws:.0f} ms",
        f"ratio: {draws / scan:.1f}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    if scan > LIMIT:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
