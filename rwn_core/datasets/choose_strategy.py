"""Chooses between the exact way and random candidates for a dataset, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rwn_core.datasets.planner import Offer
from rwn_core.neighbors.points import Points, point_values

MANY_DIMENSIONS = 20  # from here on a tree looks at most of the table
MUCH_SLOWER = 20  # times as long as Method 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Say which way suits a dataset.

    Attributes
    ----------
    offer : Offer
    why : str
        One sentence.
    dimensions : float
        Effective dimensions of the distance.
    """

    offer: Offer
    why: str
    dimensions: float


def effective_dimensions(points: Points) -> float:
    """Return the effective number of dimensions: one for each direction of equal variance."""
    values = point_values(points)
    variances = np.clip(
        np.linalg.eigvalsh(np.cov(values, rowvar=False).reshape(values.shape[1], -1)), 0, None
    )
    return float(variances.sum() ** 2 / max(float((variances**2).sum()), 1e-300))


def choose(offers: Sequence[Offer], points: Points) -> Choice:
    """Choose the exact way wherever it is feasible: all others change the neighborhoods."""
    exact, sample = offers[0], offers[1]
    dimensions = effective_dimensions(points)
    if dimensions >= MANY_DIMENSIONS:
        why = (
            f"the records spread in {dimensions:.0f} directions, where a search of everybody looks "
            "at most of the table"
        )
        return Choice(offer=sample, why=why, dimensions=dimensions)
    if exact.seconds > MUCH_SLOWER * sample.seconds:
        why = f"a search of everybody would take {exact.seconds / sample.seconds:.0f} times as long"
        return Choice(offer=sample, why=why, dimensions=dimensions)
    why = (
        f"the records spread in {dimensions:.1f} directions, so that everybody can be searched, "
        "and only then are the neighborhoods those of the setting"
    )
    return Choice(offer=exact, why=why, dimensions=dimensions)


def effect_on_risk(offer: Offer, n: int) -> str:
    """Say what random candidates do to the records; empty for the exact strategy."""
    params = offer.params
    if params.neighbors == "sample":
        m = int(params.m or 1)
        return (
            f"only {m:,} people give values, each {n / m:,.0f} times as often on average: what is "
            "rare about them is copied as often, and to know who was sampled is to know whose "
            "values these are"
        )
    if params.neighbors == "pairs":
        return (
            f"each record has about {params.m:,} random partners, so that an intruder who knows "
            "the pairs has so few candidates for its values"
        )
    if params.neighbors == "partition":
        return (
            f"values never leave a record's part of {n // (params.u or 1):,}: an intruder who "
            "knows the parts searches one of them, not everybody"
        )
    return ""
