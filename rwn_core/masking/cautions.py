"""Cautions about methods that copy values from neighborhoods."""

from __future__ import annotations

EVERY_COLUMN = (
    "ε counts standard deviations of this file: one more column or one outlier changes every "
    "neighborhood, so state the scaling with the release."
)


def kept_values(q: float, what: str) -> str:
    """Say what a modification probability keeps as it was."""
    if q == 0:
        return "q = 0 masks nothing: the release is the original."
    if q == 1:
        return (
            "At q = 1 nobody keeps a unique own value, but the values are real values of near "
            "neighbors, and donors reveal the neighborhood."
        )
    return (
        f"At q = {q:g} every {what} with probability {1 - q:.2g} at least, also the extremes; kept "
        "values identify."
    )
