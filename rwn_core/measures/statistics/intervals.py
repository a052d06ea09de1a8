"""Success rates of attacks, with their errors, against a control group."""

from __future__ import annotations

import math

Z95 = 1.959963984540054


def wilson(successes: float, attacks: int) -> tuple[float, float]:
    """Center and half-width of the 95 % Wilson score interval of a success rate.

    Parameters
    ----------
    successes : float
        From 0 to `attacks`.
    attacks : int
        At least 1.

    References
    ----------
    Wilson 1927; Giomi et al. 2023, section 5.
    """
    squared = Z95 * Z95
    rate = (successes + squared / 2) / (attacks + squared)
    spread = successes * (attacks - successes) / attacks + squared / 4
    return rate, Z95 / (attacks + squared) * math.sqrt(max(spread, 0.0))


def excess_risk(attack: tuple[float, float], control: tuple[float, float]) -> tuple[float, float]:
    """Risk beyond a control group, (r - c) / (1 - c), with its half-width; not cut.

    Parameters
    ----------
    attack, control : tuple of float
        Rate and half-width.

    References
    ----------
    Giomi et al. 2023, section 5; errors by propagation.
    """
    rate, error = attack
    other, other_error = control
    if other >= 1:
        return 0.0, 1.0
    risk = (rate - other) / (1 - other)
    return risk, math.hypot(error / (1 - other), other_error * (rate - 1) / (1 - other) ** 2)
