"""Replays the figures of the 2022 paper's section 8 on the body fat table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.published_results.replay import Found, Number, Replay, Request, mean_number
from rwn_core.io.demo import load_demo
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import NeighborTable, neighbor_table
from rwn_core.neighbors.metric import coordinates

K, SHOWN, SEED = 5, 2.0, 1
RELEASES, FEW = 100, 12
_AT = ", epsilon "
_ITSELF = ", original"
_HOW = (
    "Releases of the 241 men with q = 1 and k = 5; the picture shows one of them at epsilon = 2.",
    "Radius epsilon in standard deviations of the scaled variables; not the epsilon of "
    "differential privacy.",
)
Statistics = Callable[[Comparison], dict[str, float]]


def _read(key: str, comparison: Comparison) -> Reading:
    reading = MEASURES[key].compute(comparison)
    assert isinstance(reading, Reading)
    return reading


def _cook(comparison: Comparison) -> dict[str, float]:
    return {"max cook": float(_read("cooks_distance", comparison).value)}


def _mahalanobis(comparison: Comparison) -> dict[str, float]:
    return {"max squared mahalanobis": float(_read("mahalanobis", comparison).value) ** 2}


def _components(comparison: Comparison) -> dict[str, float]:
    detail = _read("principal_components", comparison).detail
    first = float(detail["share_released"][0])
    return {
        "first component": first,
        "five components": float(detail["cumulative5_released"]),
        "rise of the first component": first - float(detail["share_original"][0]),
    }


def _correlations(comparison: Comparison) -> dict[str, float]:
    return {"correlation change": float(_read("correlation", comparison).value)}


def _regression(comparison: Comparison) -> dict[str, float]:
    detail = _read("regression", comparison).detail
    found: dict[str, float] = {}
    for what, part in (("slope", "coefficient_released"), ("se", "se_released")):
        pairs = zip(detail["terms"][1:], detail[part][1:], strict=True)
        found |= {f"{what} {term}": float(value) for term, value in pairs}
    return found


def _nearest(comparison: Comparison) -> dict[str, float]:
    return {"nearest distance": float(_read("nearest_distance", comparison).value)}


STATISTICS: dict[str, Statistics] = {
    "correlation": _correlations,
    "regression": _regression,
    "cooks_distance": _cook,
    "mahalanobis": _mahalanobis,
    "nearest_distance": _nearest,
    "principal_components": _components,
}
"""By the measure, which is also the key of its chart."""


def statistics(comparison: Comparison) -> dict[str, float]:
    """Read all that section 8 reports of one release, by name."""
    return {name: value for each in STATISTICS.values() for name, value in each(comparison).items()}


@cache
def _start() -> Comparison:
    data = load_demo("bodyfat")
    return Comparison(original=data, masked=data)


@cache
def released(epsilon: float, number: int) -> Comparison:
    """The comparison of one release of the demo table bodyfat with q = 1 and k = 5."""
    start = _start()
    return start.with_masked(
        mask(start.original, RWN(epsilon=epsilon, k=K), seed=SEED + number).masked
    )


def _replay(request: Request, *, measure: str, epsilons: tuple[float, ...]) -> Found:
    read = STATISTICS[measure]
    numbers: dict[str, Number | str] = {
        name + _ITSELF: Number(value=value) for name, value in read(_start()).items()
    }
    for epsilon in epsilons:
        repeats = range(request.repetitions(RELEASES, FEW))
        rows = [read(released(epsilon, number)) for number in repeats]
        for name in rows[0]:
            numbers[f"{name}{_AT}{epsilon:g}"] = mean_number([row[name] for row in rows])
    picture = _read(measure, released(SHOWN, 0))
    return Found(numbers=numbers, pictures=((measure, picture),), notes=_HOW)


def _table(data: Microdata) -> NeighborTable:
    return neighbor_table(coordinates(data), k=K, epsilon=4.0)


def _figure_1(_: Request) -> Found:
    data, raw = load_demo("bodyfat"), load_demo("bodyfat_raw")
    table = _table(data)
    numbers: dict[str, Number | str] = {
        "records": Number(value=data.n),
        "records left out": Number(value=raw.n - data.n),
    }
    for epsilon in (1.0, 2.0, 3.0, 4.0):
        within = table.narrow(k=K, epsilon=epsilon).within
        numbers[f"others within epsilon, mean{_AT}{epsilon:g}"] = Number(value=float(within.mean()))
        alone = Number(value=float(np.sum(within == 0)))
        numbers[f"records without others within epsilon{_AT}{epsilon:g}"] = alone
    law = RWN(epsilon=SHOWN, k=K).prepare(data).law
    reading = _read("neighborhood_size", Comparison(original=data, masked=data, law=law))
    notes = (
        "The paper leaves out 11 of 252 records without saying which; the rule used here is a "
        "reconstruction (demo_data/SOURCES.md).",
        _HOW[1],
    )
    return Found(numbers=numbers, pictures=(("neighborhood_size", reading),), notes=notes)


def _assessment(measure: str, title: str, *epsilons: float) -> Replay:
    run: Any = partial(_replay, measure=measure, epsilons=epsilons)
    return Replay(key=f"rwn2022-{measure.replace('_', '-')}", title=title, run=run)


SECTION_8: tuple[Replay, ...] = (
    Replay(
        key="rwn2022-figure-1",
        title="Nearest distance against the size of the neighborhood",
        run=_figure_1,
    ),
    _assessment("correlation", "Correlations before and after", 0.0, 2.0, 6.0),
    _assessment("regression", "Regression of body fat on five measurements", 0.0, 2.0),
    _assessment("cooks_distance", "Cook's distance of each record", 0.0, 2.0),
    _assessment("mahalanobis", "Mahalanobis distance of each record", 0.0, 2.0),
    _assessment("nearest_distance", "Distance to the nearest record", 0.0, 2.0),
    _assessment("principal_components", "Principal components", 0.0, 2.0, 6.0),
)
"""Figure 1 and the other assessments of section 8, which its figures 2 to 9 draw."""
