"""Expected measures of settings in closed form, before any release is drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import RWNError
from rwn_core.evaluation.forecast import Forecast, forecast_sample, forecast_scan
from rwn_core.masking import family, lever_values
from rwn_core.measures.statistics.association import correlation_matrix
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.point import Setting

_TOGETHER = 500  # settings of one pass
FEWEST = 1000  # records of a sample, or its own noise would be what is seen

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The records that a forecast is about, as they are."""

    records: int
    cells: int  # number of cells of the release
    # means, spreads: shape (m,): of each number; its standard deviation, NaN where that is 0
    means: Floats
    spreads: Floats
    correlations: Floats  # shape (m, m)

    @classmethod
    def from_table(cls, microdata: Microdata) -> Before:
        """Return those of a table, or of a sample of one."""
        values = microdata.matrix(microdata.numeric_names)
        known = ~np.isnan(values)
        count = np.maximum(known.sum(axis=0), 1)
        means = np.where(known, values, 0.0).sum(axis=0) / count
        squares = np.where(known, values - means, 0.0) ** 2
        spreads = np.sqrt(squares.sum(axis=0) / np.maximum(count - 1, 1))
        return cls(
            records=microdata.n,
            cells=microdata.n * len(microdata.schema.released),
            means=means,
            spreads=np.where(spreads > 0, spreads, np.nan),
            correlations=correlation_matrix(values),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A measure that can be forecast."""

    key: str  # that of the measure of which it is the expectation, or one of its own
    title: str
    unit: str
    share: bool
    better: str  # {"lower", "higher", "neutral"}
    # from a forecast and the records it is about to the number; NaN without an answer
    compute: Callable[[Forecast, Before], float]


def _correlation(forecast: Forecast, before: Before) -> float:
    change = np.abs(forecast.correlations.to_numpy() - before.correlations)
    return _mean(change[np.triu_indices(len(change), 1)])


def _components(forecast: Forecast, before: Before) -> float:
    """Largest change of the cumulative share of variance, of numbers that keep a variance."""
    after = forecast.correlations.to_numpy()
    finite = np.isfinite(np.diag(after)) & np.isfinite(np.diag(before.correlations))
    if finite.sum() < 2:
        return np.nan
    shares = [_shares(square[np.ix_(finite, finite)]) for square in (before.correlations, after)]
    return float(np.abs(shares[1] - shares[0]).max())


def _shares(correlations: Floats) -> Floats:
    # Shapes: correlations (v, v); the answer (v,), cumulative from the largest component on.
    if not np.isfinite(correlations).all():
        return np.full(len(correlations), np.nan)
    variances = np.maximum(np.linalg.eigvalsh(correlations)[::-1], 0.0)
    return np.asarray(np.cumsum(variances) / variances.sum(), dtype=np.float64)


def _means(forecast: Forecast, before: Before) -> float:
    return _mean(np.abs(forecast.means.to_numpy() - before.means) / before.spreads)


def _mean(values: Floats) -> float:
    # Shapes: values (m,).
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _changed(forecast: Forecast, before: Before) -> float:
    return 1.0 - float(forecast.cells_intact.sum()) / before.cells


def _rows(forecast: Forecast, before: Before) -> float:
    return forecast.rows_intact / before.records


EXPECTED: Mapping[str, Expected] = {
    key: Expected(key=key, title=title, unit=unit, share=share, better=better, compute=compute)
    for key, title, unit, share, better, compute in (
        ("correlation", "Correlations", "mean absolute change", False, "lower", _correlation),
        (
            "principal_components",
            "Principal components",
            "largest change of the cumulative share of variance",
            True,
            "lower",
            _components,
        ),
        ("cells_changed", "Cells changed", "share of cells", True, "neutral", _changed),
        (
            "expected_means",
            "Shift of the means",
            "mean over the variables, in standard deviations",
            False,
            "lower",
            _means,
        ),
        ("expected_rows", "Records intact", "share of records", True, "lower", _rows),
    )
}
"""By key, in the order on screen. The first three are expectations of measures of that name."""


def expected(
    microdata: Microdata, settings: Sequence[Setting]
) -> Iterator[dict[str, dict[str, float]]]:
    """Forecast settings of methods that have closed forms."""
    for same in _prepared_together(microdata, settings):
        try:
            forecasts, sample = _forecasts(microdata, same)
        except RWNError:
            continue  # no neighbor within the radius, or too many to be held
        if sample.n < min(FEWEST, microdata.n):
            continue
        before, said = Before.from_table(sample), dict[str, dict[str, float]]()
        for setting, each in zip(same, forecasts, strict=True):
            values = {key: float(one.compute(each, before)) for key, one in EXPECTED.items()}
            known = {key: value for key, value in values.items() if np.isfinite(value)}
            known |= {"releases": float(each.releases)} if each.releases else {}
            said[setting.key] = known | {"records": float(before.records)}
        yield said


def _forecasts(microdata: Microdata, same: Sequence[Setting]) -> tuple[list[Forecast], Microdata]:
    """A forecast for each setting, and the records that they are about."""
    if microdata.n > LARGEST_DENSE:
        return forecast_sample(same[0].applied_to(microdata), [each.params for each in same])
    tables, found = PreparedTables(microdata, same), dict[str, Forecast]()
    for slices in dict.fromkeys(each.slices for each in same):  # neighbors are ranked once
        own = [each for each in same if each.slices == slices]
        table = own[0].applied_to(microdata)
        scan = forecast_scan(table, [x.params for x in own], prepared=tables.start(own[0]))
        found |= {each.key: one for each, one in zip(own, scan, strict=True)}
    return [found[each.key] for each in same], microdata


def _prepared_together(microdata: Microdata, settings: Sequence[Setting]) -> list[list[Setting]]:
    """The plain settings in groups that one table of neighbors serves."""
    groups: dict[object, list[Setting]] = defaultdict(list)
    for setting in settings:
        params = setting.params
        if getattr(params, "has_forecast", False) and not setting.precision:
            large, strength = microdata.n > LARGEST_DENSE, params.strength
            reach = lever_values(params)[strength] if strength != "width" else None
            apart = (reach, setting.slices) if large else None
            groups[(setting.weights, family(params), apart)].append(setting)
    return [
        same[first : first + _TOGETHER]
        for same in groups.values()
        for first in range(0, len(same), _TOGETHER)
    ]
