"""The weakest place of a strength that passes, found by halves."""

from __future__ import annotations

from collections.abc import Callable


def first_that(passes: Callable[[int], bool], last: int, near: int | None = None) -> int | None:
    """Find the first place up to the last that passes, where all after it do, too.

    By halves; from a place that it is expected near by growing steps first. None where the last
    does not pass.
    """
    low = -1
    high = last
    step = 1
    if near is None:
        if not passes(last):
            return None
    elif passes(near):
        high = near
        while high > 0 and passes(max(high - step, 0)):
            high = max(high - step, 0)
            step = 2 * step
        low = max(high - step, -1)
    else:
        low = near
        high = min(near + 1, last)
        while low < last and not passes(high):
            low = high
            step = 2 * step
            high = min(high + step, last)
        if low == last:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
