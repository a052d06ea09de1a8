"""Axis of the share of a limit: linear up to the limit, logarithmic beyond; each takes a half."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_STEPS = (1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
_BETWEEN = 0.17  # of a half, from one tick beyond the limit to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitScale:
    """Position of a share: itself up to 1, from 1 to 2 by its logarithm beyond."""

    top: float  # the largest share, at position 2; at most 1 if every setting keeps its limits

    def __call__(self, share: float) -> float:
        """Return the position of a share."""
        return share if share <= 1 else 1 + math.log(share) / math.log(max(self.top, share))

    @property
    def ends(self) -> tuple[float, float]:
        """Return the range of positions, with room for markers and names."""
        return (-0.15, 2.15) if self.top > 1 else (-0.06, 1.12)

    @property
    def ticks(self) -> dict[str, Any]:
        """Return tick positions with the shares that they stand for."""
        shares = [0.0, 0.5, 1.0]
        powers = (step * 10**power for power in range(0, 300, 2) for step in _STEPS)
        for share in powers:
            if share > self.top * (1 + 1e-9):
                break
            if self(share) - self(shares[-1]) >= _BETWEEN:
                shares.append(share)
        texts = [f"{share:g}" for share in shares]
        return {"tickvals": [self(s) for s in shares], "ticktext": texts, "tickmode": "array"}


def fit_scale(shares: Iterable[float]) -> LimitScale:
    """Return the scale that holds all shares."""
    return LimitScale(top=max(shares, default=1.0))
