"""Figures 1 to 9 of the 2022 paper: title, measure and values of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

BOX = ("lower whisker", "lower quartile", "median", "upper quartile", "upper whisker")
Values = dict[str, float]


def measure_reading(key: str, comparison: Comparison) -> Reading:
    """Return the reading of a measure, or raise NotApplicable."""
    found = MEASURES[key].compute(comparison)
    if isinstance(found, NotApplicable):
        raise found
    return found


def _terms(what: str, part: str) -> Callable[[Reading, str], Values]:
    def read(reading: Reading, side: str) -> Values:
        detail = reading.detail
        names = ["intercept", *detail["terms"][1:]]
        return {
            f"{what} {name}": float(value)
            for name, value in zip(names, detail[f"{part}_{side}"], strict=True)
        }

    return read


def _largest(name: str, power: int) -> Callable[[Reading, str], Values]:
    return lambda reading, side: {name: float(reading.detail[f"max_{side}"]) ** power}


def _nearest(reading: Reading, side: str) -> Values:
    found = np.asarray(reading.detail[side], dtype=np.float64)
    found = found[np.isfinite(found)]
    q1, median, q3 = np.quantile(found, (0.25, 0.5, 0.75))
    reach = 1.5 * (q3 - q1)
    low, high = found[found >= q1 - reach].min(), found[found <= q3 + reach].max()
    named = zip(BOX, (low, q1, median, q3, high), strict=True)
    return {f"nearest distance, {name}": float(cut) for name, cut in named}


def _components(reading: Reading, side: str) -> Values:
    detail = reading.detail
    first, five = float(detail[f"share_{side}"][0]), float(detail[f"cumulative5_{side}"])
    return {"first component": first, "five components": five}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """Define a figure of section 8."""

    # title, sees: title, and what to look for, in sentences
    title: str
    sees: str
    measure: str  # key in MEASURES; its chart shows one release where there are no curves
    axis: str = ""  # name of the vertical axis of the curves
    # returns the values by name from a reading and "original" or "released"; None where the figure
    # has no curves
    read: Callable[[Reading, str], Values] | None = None


PAPER_FIGURES: Mapping[int, PaperFigure] = MappingProxyType(
    {
        1: PaperFigure(
            title="Nearest distance against the size of the neighborhood",
            sees="Each point is a record. Records with k donors and a far nearest neighbor are "
            "the outliers: for them k decides, not epsilon.",
            measure="neighborhood_size",
        ),
        2: PaperFigure(
            title="Correlations, weak masking",
            sees="Original below the diagonal, one release above it. Where both halves have the "
            "same colors, the release retains the correlations.",
            measure="correlation",
        ),
        3: PaperFigure(
            title="Correlations, strong masking",
            sees="Original below the diagonal, one release above it. The paler the upper half, "
            "the more of the correlations is lost.",
            measure="correlation",
        ),
        4: PaperFigure(
            title="Regression coefficients",
            sees="A curve that leaves its unperturbed line is a biased coefficient; the intercept "
            "has a scale of its own.",
            axis="coefficient",
            measure="regression",
            read=_terms("coefficient", "coefficient"),
        ),
        5: PaperFigure(
            title="Standard errors of the coefficients",
            sees="A curve below its unperturbed line states more precision than the original "
            "has, a curve above it less.",
            axis="standard error",
            measure="regression",
            read=_terms("se", "se"),
        ),
        6: PaperFigure(
            title="Largest Cook’s distance",
            sees="The number is that of the most influential record. Where the curve is below the "
            "unperturbed line, no released record has that much influence on the regression.",
            axis="Cook’s distance",
            measure="cooks_distance",
            read=_largest("max cook", 1),
        ),
        7: PaperFigure(
            title="Largest squared Mahalanobis distance",
            sees="The number is that of the record farthest from the mean. Where the curve is "
            "below the unperturbed line, no released record is that far from the mean.",
            axis="squared Mahalanobis distance",
            measure="mahalanobis",
            read=_largest("max squared mahalanobis", 2),
        ),
        8: PaperFigure(
            title="Distance to the nearest record",
            sees="Box plots of each record’s distance to its nearest other record. Long upper "
            "whiskers show outliers that stand alone.",
            axis="distance (standard deviations)",
            measure="nearest_distance",
            read=_nearest,
        ),
        9: PaperFigure(
            title="Shares of the principal components",
            sees="The share of the variance that one component and five components explain. A "
            "falling curve shows that relations between the variables are lost.",
            axis="share of the variance",
            measure="principal_components",
            read=_components,
        ),
    }
)
"""By the figure's number in the paper."""

CURVES = tuple(number for number, figure in PAPER_FIGURES.items() if figure.read)
"""Numbers of the figures with curves."""
