"""Waits that end at a state, work that is counted, costs compared as ratios: no wall clock."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from types import FrameType

HANG_S = 600.0
"""Seconds after which a wait is taken for a hang: no bound on how long anything may take.

A worker that leaves the processors to everything else gets one or two hundredths of one that
two others want.
"""
HANG_MS = 180_000.0
"""Milliseconds after which a page of the browser is."""
WORK_MS = 1_800_000.0
"""Milliseconds after which work in the background is, which a page shows.

A search goes on for 450 seconds of processor time, of what others leave.
"""
BETWEEN = 1.5
"""The exponent of growth that a linear cost stays below, and a quadratic one above."""


def until(true: Callable[[], object], pause: float = 0.02) -> None:
    """Look again and again until something is true."""
    end = time.monotonic() + HANG_S
    while not true():
        assert time.monotonic() < end, "a hang: what is waited for has not come"
        time.sleep(pause)


def processor_seconds(call: Callable[[], object]) -> float:
    """Processor time of this process in a call, which other programs do not lengthen."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def calls(call: Callable[[], object]) -> int:
    """How many functions a call enters in this thread: work that no other program changes."""
    entered = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal entered
        entered += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


def _least(cost: Callable[[int], float], size: int, rounds: int) -> float:
    return min(cost(size) for _ in range(rounds))


def growth(cost: Callable[[int], float], n: int, *, rounds: int = 3) -> float:
    """Exponent p of a cost that grows as the p-th power of a size: 1 is linear, 2 quadratic.

    The slope of a line through n, 2n and 4n on logarithmic axes. Of each size the least of some
    rounds counts, since a processor that is shared takes more time for the same work and never
    less; a first call, which imports and compiles, counts for nothing.
    """
    cost(n)
    least = [_least(cost, size, rounds) for size in (n, 2 * n, 4 * n)]
    # the middle one of three places at equal distances has no say in the slope of least squares
    return math.log2(least[2] / max(least[0], 1e-9)) / 2
