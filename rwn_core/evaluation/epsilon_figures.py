"""Figures 4 to 9 of the 2022 paper for any table: statistics of many releases along epsilon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.masking import Prepared
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey

EPSILONS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
BOX = ("lower whisker", "lower quartile", "median", "upper quartile", "upper whisker")
_TENTHS = 5.0, 95.0  # 9 of 10 releases lie between these percentiles
Values = dict[str, float]


def measure_reading(key: str, comparison: Comparison) -> Reading:
    """Return the reading of a measure."""
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


def _cook(reading: Reading, side: str) -> Values:
    return {"max cook": float(reading.detail[f"max_{side}"])}


def _mahalanobis(reading: Reading, side: str) -> Values:
    return {"max squared mahalanobis": float(reading.detail[f"max_{side}"]) ** 2}


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
class EpsilonFigure:
    """Define a figure of section 8 over epsilon.

    Attributes
    ----------
    title, axis : str
        Title, and name of the vertical axis.
    measure : str
        Key in MEASURES.
    read : callable
        Returns the values by name from a reading and "original" or "released".
    """

    title: str
    axis: str
    measure: str
    read: Callable[[Reading, str], Values]


EPSILON_FIGURES: Mapping[int, EpsilonFigure] = MappingProxyType(
    {
        4: EpsilonFigure(
            title="Regression coefficients",
            axis="coefficient",
            measure="regression",
            read=_terms("coefficient", "coefficient"),
        ),
        5: EpsilonFigure(
            title="Standard errors of the coefficients",
            axis="standard error",
            measure="regression",
            read=_terms("se", "se"),
        ),
        6: EpsilonFigure(
            title="Largest Cook’s distance",
            axis="Cook’s distance",
            measure="cooks_distance",
            read=_cook,
        ),
        7: EpsilonFigure(
            title="Largest squared Mahalanobis distance",
            axis="squared Mahalanobis distance",
            measure="mahalanobis",
            read=_mahalanobis,
        ),
        8: EpsilonFigure(
            title="Distance to the nearest record",
            axis="distance (standard deviations)",
            measure="nearest_distance",
            read=_nearest,
        ),
        9: EpsilonFigure(
            title="Shares of the principal components",
            axis="share of the variance",
            measure="principal_components",
            read=_components,
        ),
    }
)
"""By the figure's number in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonCurves:
    """Hold the curves of a figure.

    Attributes
    ----------
    title, axis : str
    epsilons : ndarray, shape (m,)
        Radii in standard deviations.
    original : mapping of str to float
        Value of the unmasked table, by the curve's name.
    values : mapping of str to ndarray, shape (m, releases)
        Value of each release.
    records : tuple of (int, float)
        For each epsilon the number, from 1, of the record that most often has the maximum, and
        its share of the releases; empty where no record has the value.
    original_record : int
        Number of the record with the maximum in the unmasked table; 0 for none.
    """

    title: str
    axis: str
    epsilons: NDArray[np.float64]
    original: Mapping[str, float]
    values: Mapping[str, NDArray[np.float64]]
    records: tuple[tuple[int, float], ...] = field(default=(), repr=False)
    original_record: int = 0

    def mean(self, name: str) -> NDArray[np.float64]:
        """Return the mean over releases at each epsilon, shape (m,)."""
        return np.asarray(self.values[name].mean(axis=1), dtype=np.float64)

    def band(self, name: str) -> NDArray[np.float64]:
        """Return the ends of 9 of 10 releases at each epsilon, shape (2, m)."""
        return np.asarray(np.percentile(self.values[name], _TENTHS, axis=1), dtype=np.float64)

    def only(self, names: Sequence[str], title: str) -> EpsilonCurves:
        """Return some of the curves under another title."""
        return EpsilonCurves(
            title=title,
            axis=self.axis,
            epsilons=self.epsilons,
            original={name: self.original[name] for name in names},
            values={name: self.values[name] for name in names},
        )


def epsilon_curves(
    number: int,
    prepared: Prepared,
    *,
    releases: int,
    epsilons: Sequence[float] = EPSILONS,
    seed: int = 1,
) -> EpsilonCurves:
    """Compute a figure of section 8 from releases of a table."""
    figure = EPSILON_FIGURES[number]
    data = prepared.microdata
    start = Comparison(original=data, masked=data)
    itself = measure_reading(figure.measure, start)
    rows: list[list[Values]] = []
    records: list[tuple[int, float]] = []
    for epsilon in epsilons:
        setting = prepared.with_levers(epsilon=epsilon)
        drawn = (setting.release(SecretKey.from_seed(seed + one)) for one in range(releases))
        readings = [
            measure_reading(figure.measure, start.with_masked(each.masked)) for each in drawn
        ]
        rows.append([figure.read(reading, "released") for reading in readings])
        if "argmax_released" in itself.detail:
            count = Counter(int(reading.detail["argmax_released"]) + 1 for reading in readings)
            record, often = count.most_common(1)[0]
            records.append((record, often / releases))
    original = figure.read(itself, "original")
    return EpsilonCurves(
        title=figure.title,
        axis=figure.axis,
        epsilons=np.array(epsilons, dtype=np.float64),
        original=original,
        values={name: np.array([[one[name] for one in row] for row in rows]) for name in original},
        records=tuple(records),
        original_record=int(itself.detail.get("argmax_original", -1)) + 1,
    )
