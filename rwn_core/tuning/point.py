"""A finished point: what the measures read over the releases of one setting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from scipy.special import stdtrit

from rwn_core.measures import MEASURES
from rwn_core.tuning.setting import Setting

COVERAGE = 0.9
"""Share of further releases that an interval should hold."""


def prediction_interval(
    values: tuple[float, ...], coverage: float = COVERAGE
) -> tuple[float, float] | None:
    """Where one more release should fall, given some independent ones.

    Parameters
    ----------
    values : tuple of float
        A measure's values over releases of one setting.
    coverage : float
        Probability, between 0 and 1.

    Returns
    -------
    tuple of float, or None
        Of R values, the j-th smallest and the j-th largest, j = (R + 1) (1 - coverage) / 2: right
        for any distribution. Where R is too small for that (below 19 for 0.9),
        mean +- t s sqrt(1 + 1/R), the exact interval for normal values. None for fewer than two.

    References
    ----------
    Prediction intervals for a further observation: order statistics, and of a normal sample.

    Examples
    --------
    >>> low, high = prediction_interval((1.0, 2.0, 3.0))
    >>> round(low, 2), round(high, 2)
    (-1.37, 5.37)
    >>> prediction_interval(tuple(range(39)))
    (1.0, 37.0)
    """
    count = len(values)
    if count < 2:
        return None
    sample = np.sort(np.array(values, dtype=np.float64))
    place = math.floor((count + 1) * (1 - coverage) / 2 + 1e-9)
    if place >= 1:
        return float(sample[place - 1]), float(sample[-place])
    spread = float(sample.std(ddof=1)) * math.sqrt(1 + 1 / count)
    reach = float(stdtrit(count - 1, 0.5 + coverage / 2)) * spread
    return float(sample.mean()) - reach, float(sample.mean()) + reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measure over the releases of a setting.

    Attributes
    ----------
    measure : str
    values : tuple of float
        One for each release, in the order of the seeds; empty if there is no answer.
    baseline : float, optional
        As the measure gave it.
    reason : str, optional
        Why there is no answer.
    """

    measure: str
    values: tuple[float, ...] = ()
    baseline: float | None = None
    reason: str | None = None

    @property
    def median(self) -> float | None:
        """The middle value, None without an answer."""
        return float(median(self.values)) if self.values else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where one more release falls 9 times in 10, within the measure's bounds."""
        found = prediction_interval(self.values)
        if found is None:
            return None
        low, high = MEASURES[self.measure].bounds
        return max(found[0], low), min(found[1], high)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        return {"values": list(self.values), "baseline": self.baseline, "reason": self.reason}

    @classmethod
    def from_dict(cls, measure: str, plain: Mapping[str, Any]) -> Spread:
        """The spread that `to_dict` wrote."""
        return cls(
            measure=measure,
            values=tuple(math.nan if v is None else float(v) for v in plain["values"]),
            baseline=plain["baseline"],
            reason=plain["reason"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A setting with its readings: numbers about releases, and nothing of the data.

    Attributes
    ----------
    setting : Setting
        Resolved against its table.
    spreads : mapping of str to Spread
        By measure key.
    seconds : float
        What its releases and readings took.
    """

    setting: Setting
    spreads: Mapping[str, Spread]
    seconds: float = 0.0

    def median(self, measure: str) -> float | None:
        """A measure's middle value, None where it has no answer."""
        spread = self.spreads.get(measure)
        return None if spread is None else spread.median

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        return {
            "setting": self.setting.to_dict(),
            "readings": {key: spread.to_dict() for key, spread in self.spreads.items()},
            "seconds": round(self.seconds, 4),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Point:
        """The point that `to_dict` wrote."""
        return cls(
            setting=Setting.from_dict(plain["setting"]),
            spreads={key: Spread.from_dict(key, each) for key, each in plain["readings"].items()},
            seconds=float(plain["seconds"]),
        )
